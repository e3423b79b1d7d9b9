"""``recall timeline``: what was recorded before and after."""

from __future__ import annotations

import click

from recall.cli.common import Console
from recall.cli.consult import (
    Consulted,
    lifecycle,
    no_refresh_option,
    session_option,
    source_option,
    type_option,
    wait_option,
)
from recall.cli.options import Strict, examples, group_option, json_option, root_option
from recall.consult.readout import AROUND, MOST_AROUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.consult.readout import Timeline


@click.command(
    cls=Strict,
    epilog=examples(
        "recall timeline --anchor 2026-03-01",
        "recall timeline --anchor d-12 --before 0 --after 20 --type Decision",
    ),
)
@click.option(
    "--anchor", required=True, metavar="ID|TIME", help="A record's id, or an ISO 8601 date or time."
)
@click.option(
    "--before",
    type=click.IntRange(0, MOST_AROUND),
    default=AROUND,
    metavar="N",
    help="At most N records before it, 0 to 100.  [default: 5]",
)
@click.option(
    "--after",
    type=click.IntRange(0, MOST_AROUND),
    default=AROUND,
    metavar="N",
    help="At most N records after it, 0 to 100.  [default: 5]",
)
@root_option
@group_option
@type_option
@source_option
@session_option
@json_option
@no_refresh_option
@wait_option
def command(
    *,
    anchor: str,
    before: int,
    after: int,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    types: tuple[str, ...],
    sources: tuple[str, ...],
    sessions: tuple[str, ...],
    as_json: bool,
    no_refresh: bool,
    wait: float | None,
) -> int:
    """Show what was recorded before and after.

    Records in the order in which they were created, around one of them or a time. How many there
    are before and after is exact. Those whose created can't be read are counted only.
    """
    from recall.cli import recordtext
    from recall.consult.consulting import KEPT, LOOKED
    from recall.consult.readout import refuse_empty

    refuse_empty(anchor)
    console = Console("timeline", as_json=as_json)
    consulted = Consulted(console, names, groups, wait)
    made = consulted.ask(
        lambda readout: readout.timeline(anchor, before, after),
        KEPT if no_refresh else LOOKED,
        types,
        lifecycle(sources, sessions),
    )
    status = console.finish(
        lambda: {**_data(made, before, after), "roots": recordtext.reports(consulted.reports)},
        lambda _: recordtext.timeline(made),
    )
    consulted.follow_up()
    return status


def _data(made: Timeline, before: int, after: int) -> dict[str, object]:
    from recall.consult.records import event, iso

    return {
        "anchor": {"id": made.anchor, "at": iso(made.at)},
        "before": before,
        "after": after,
        "total": {"before": made.before, "at": made.at_anchor, "after": made.after},
        "items": [*map(event, made.items)],
        "truncated": made.truncated,
        "undated": made.undated,
    }
