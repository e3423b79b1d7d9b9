"""``recall export``: whole records as one file that other programs read."""

from __future__ import annotations

import os

import click

from index_cache.digests import sha256
from recall.cli import completing
from recall.cli.common import Console, write_bytes
from recall.cli.consult import Consulted, wait_option
from recall.cli.options import Strict, examples, group_option, json_option, root_option
from recall.outfiles import create, refuse_existing
from recall.output import number, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.consult.records import Record


@click.command(
    cls=Strict,
    epilog=examples("recall export d-12 d-14 --out decisions.json", "recall export d-12 | jq ."),
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--out",
    metavar="FILE",
    shell_complete=completing.a_file,
    help='Write to this new file instead; it must not exist yet. "-" is the output.',
)
@root_option
@group_option
@json_option
@wait_option
def command(
    *,
    ids: tuple[str, ...],
    out: str | None,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    as_json: bool,
    wait: float | None,
) -> int:
    """Print whole records as one JSON object, recall-export/v1.

    1 to 100 ids, all or nothing. All files are looked at first. The same records give the same
    bytes. With --out they are in FILE whole, or there is no FILE; nothing is ever overwritten.
    """
    from recall.consult.consulting import SWEPT
    from recall.consult.readout import asked_ids
    from recall.envelope import encode

    console = Console("export", as_json=as_json)
    asked = asked_ids(ids)
    if out == "-":
        out = None
    if out is not None:
        refuse_existing(out)
    consulted = Consulted(console, names, groups, wait)
    records = consulted.ask(lambda readout: readout.get(asked), SWEPT)
    made = _export(records)
    if out is None:
        if as_json:
            return console.finish(lambda: made, lambda _: "")
        write_bytes(encode(made))
        return 0
    data = encode(made)
    create(out, data)
    written = {"file": os.path.abspath(out), "bytes": len(data), "count": len(records)}
    written["sha256"] = sha256(data).hexdigest()
    told = f"{visible(out)}: {number(len(records), 'record')}, {size(len(data))}\n"
    return console.finish(lambda: written, lambda _: told)


def _export(records: Sequence[Record]) -> dict[str, object]:
    from recall.consult.records import EXPORT, whole

    return {"schema": EXPORT, "count": len(records), "records": [*map(whole, records)]}
