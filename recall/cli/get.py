"""``recall get``: the full text of records."""

from __future__ import annotations

import click

from recall.cli.common import Console
from recall.cli.consult import Consulted, no_refresh_option, wait_option
from recall.cli.options import Strict, examples, group_option, json_option, root_option


@click.command(cls=Strict, epilog=examples("recall get deploy-keys", "recall get d-12 d-14 --json"))
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@root_option
@group_option
@json_option
@no_refresh_option
@wait_option
def command(
    *,
    ids: tuple[str, ...],
    names: tuple[str, ...],
    groups: tuple[str, ...],
    as_json: bool,
    no_refresh: bool,
    wait: float | None,
) -> int:
    """Print whole records by their ids.

    1 to 100 ids, as cards show them. All or nothing: an id that no record has is exit 3, one that
    several have exit 4. What is private is left out; each is read from its file at this moment.
    """
    from recall.consult.consulting import KEPT, LOOKED
    from recall.consult.readout import asked_ids

    console = Console("get", as_json=as_json)
    asked = asked_ids(ids)
    consulted = Consulted(console, names, groups, wait)
    records = consulted.ask(lambda readout: readout.get(asked), KEPT if no_refresh else LOOKED)
    from recall.cli import recordtext

    status = console.finish(
        lambda: {
            "items": [recordtext.whole(record) for record in records],
            "roots": recordtext.reports(consulted.reports),
        },
        lambda _: "\n".join(map(recordtext.full, records)),
    )
    consulted.follow_up()
    return status
