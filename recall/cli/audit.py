"""``recall audit``: show what was written into a root by agents, and verify the record of it."""

from __future__ import annotations

import os

import click

from index_cache.errors import CheckFailed
from recall.cli.common import Console, working_directory
from recall.cli.options import Strict, examples, json_option
from recall.cli.writing import one_root_option
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.writing.audit import MachineAudit
    from recall.writing.auditchain import Fields


@click.command(
    cls=Strict,
    epilog=examples("recall audit --root notes", "recall audit --root notes -n 100 --json"),
)
@one_root_option
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 100_000),
    default=20,
    metavar="N",
    help="How many of the latest entries.  [default: 20]",
)
@json_option
def command(*, name: str | None, count: int, as_json: bool) -> int:
    """Show and verify what agents wrote.

    The latest entries of all machines, newest last: when, which agent, by which command, what was
    done to which note. Each line of a machine's file names the one before it: one that was changed,
    moved or taken out is named, with exit 2. What was cut off at the end does not show.
    """
    from recall.writing import audit, writetarget

    console = Console("audit", as_json=as_json)
    target = writetarget.find(name, working_directory(), os.environ)
    console.note_all(target.notices)
    machines = audit.read(target.root.path)
    lines = sorted((line for each in machines for line in each.lines), key=_when)
    for each in machines:
        if each.pending is not None:
            console.note(
                f"a write of {each.pending} was interrupted",
                "the next write to this root settles it",
            )
    errors = [_error(each) for each in machines if each.broken is not None]
    for other in errors[1:]:
        console.note(f"{other.message}: {other.where}", other.hint)
    return console.finish(
        lambda: {
            "root": target.root.name,
            "path": target.root.path,
            "machines": [_fields(each) for each in machines],
            "total": len(lines),
            "entries": lines[-count:],
        },
        lambda _: _text(machines, lines[-count:]),
        errors[0] if errors else None,
    )


def _when(line: Fields) -> tuple[str, str, int]:
    return str(line["t"]), str(line["machine"]), int(str(line["n"]))


def _error(each: MachineAudit) -> CheckFailed:
    broken = each.broken
    assert broken is not None  # noqa: S101 - asked for these alone
    return CheckFailed(
        f"the audit of machine {each.machine} does not hold: {broken.why}",
        where=each.file if broken.line is None else f"{each.file}:{broken.line}",
        hint="look at it, and move it away if it is not yours"
        if broken.line is None
        else "compare it with a copy, in git or a backup",
    )


def _fields(each: MachineAudit) -> dict[str, object]:
    broken = each.broken
    return {
        "machine": each.machine,
        "file": each.file,
        "lines": len(each.lines),
        "holds": broken is None,
        "broken": None if broken is None else {"line": broken.line, "why": broken.why},
        "pending": each.pending,
    }


def _text(machines: list[MachineAudit], lines: list[Fields]) -> str:
    if not machines:
        return "nothing was written here\n"
    text = "".join(_line(line) for line in lines)
    for each in machines:
        state = "holds" if each.broken is None else "does NOT hold"
        text += f"machine {visible(each.machine)}: {number(len(each.lines), 'line')}, {state}\n"
    return text


def _line(line: Fields) -> str:
    moved = f" from {line['from']}" if line["from"] else ""
    parts = (line["t"], line["adapter"], line["action"], f"{line['path']}{moved}", line["id"])
    return " · ".join(visible(str(part)) for part in parts) + "\n"
