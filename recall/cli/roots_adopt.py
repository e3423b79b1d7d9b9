"""``recall roots adopt``: write the roots that other programs name into our configuration."""

from __future__ import annotations

import os

import click

from index_cache.errors import NotFound
from recall.cli.common import Console, required, working_directory
from recall.cli.options import Strict, examples, json_option
from recall.notice import shell_quoted
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.adopting import Others
    from recall.configfile import Entry


@click.command(cls=Strict, epilog=examples("recall roots adopt --dry-run", "recall roots adopt"))
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@json_option
def command(*, dry_run: bool, as_json: bool) -> int:
    """Write the roots of .locus.toml, LOCUS_PALACE or CORTEX_MEMORY_ROOT into your configuration.

    They are read for as long as you have no roots of your own. Adopted, they hold wherever you are.
    The first of the three that names a directory that can be read counts; what you have already is
    left as it is.
    """
    from recall import adopting, configedit, dirs

    console = Console("roots adopt", as_json=as_json)
    others = adopting.look(working_directory(), os.environ)
    wanted = _present(others)
    console.note_all(others.faults)
    file = required(dirs.config_file(os.environ), "a configuration file")
    made = configedit.add_missing(
        file,
        [(adopting.derived_name(entry.path), entry.path) for entry in wanted],
        os.environ,
        write=not dry_run,
    )
    _tell_of_others(others, console)
    return console.finish(
        lambda: {
            "source": others.source,
            "file": file,
            "roots": [{"name": name, "path": path, "added": new} for name, path, new in made],
            "dry_run": dry_run,
        },
        lambda _: _text(others, file, made, dry_run=dry_run),
    )


def _present(others: Others) -> list[Entry]:
    """Return the roots whose directories are there, and note the others as faults.

    Raises NotFound when none is, with all that was wrong.
    """
    from recall.adopting import unusable
    from recall.files import directory_fault

    wanted = []
    for entry in others.entries:
        fault = directory_fault(entry.path)
        if fault is None:
            wanted.append(entry)
        else:
            others.faults.append(unusable(entry, fault))
    if not wanted:
        nothing = (
            "nothing to adopt: .locus.toml, LOCUS_PALACE and CORTEX_MEMORY_ROOT name no directory "
            "that can be read"
        )
        raise NotFound(
            "; ".join([nothing, *(fault.message for fault in others.faults)]),
            where=next((entry.source for entry in others.entries), None),
            hint="recall roots add NAME DIR",
        )
    return wanted


def _tell_of_others(others: Others, console: Console) -> None:
    for entry in others.passed_over:
        console.note(
            f"{entry.source} names {entry.path}, which is not adopted: "
            f"{others.source} comes before it",
            f"recall roots add {shell_quoted(entry.name)} {shell_quoted(entry.path)}",
        )


def _text(others: Others, file: str, made: list[tuple[str, str, bool]], *, dry_run: bool) -> str:
    if not any(new for _, _, new in made):
        return (
            f"nothing to adopt: {visible(file)} has every root of {visible(str(others.source))}\n"
        )
    added = "would add" if dry_run else "added"
    lines = [
        f"{added if new else 'there already'}: {visible(name)}: {visible(path)}\n"
        for name, path, new in made
    ]
    if not dry_run:
        lines.append(
            f"from now on {visible(file)} counts, and {visible(str(others.source))} is not read\n"
        )
    return "".join(lines)
