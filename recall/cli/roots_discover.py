"""``recall roots discover``: find what could be roots, and write those that the person accepts."""

from __future__ import annotations

import contextlib
import os
import sys

import click

from recall.cli import completing
from recall.cli.common import Console, progress_on, required, working_directory, write_error
from recall.cli.options import Strict, examples, json_option, seconds
from recall.output import number, size, visible
from recall.terminal import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.configfile import Entry
    from recall.discovering import Discovery, Proposal

    Made = list[tuple[str, str, bool]]  # name, directory, whether it is new

MANY = 50  # roots: with several hundred, prompts end at the hook's deadline
_LISTED = 5  # places that are not proposed, in a text; --json has all


@click.command(
    cls=Strict,
    epilog=examples(
        "recall roots discover ~/src ~/notes",
        "recall roots discover ~/src --dry-run",
        "recall roots discover ~/work --group work --yes",
    ),
)
@click.argument(
    "directories", nargs=-1, required=True, metavar="DIR...", shell_complete=completing.a_directory
)
@click.option("--yes", is_flag=True, help="Write all that is proposed, without asking.")
@click.option("--dry-run", is_flag=True, help="Print the TOML that would be written instead.")
@click.option("--group", metavar="NAME", shell_complete=completing.a_group, help="Their group.")
@click.option(
    "--depth",
    type=click.IntRange(0, 64),
    default=8,
    metavar="N",
    help="How many directories deep to look.  [default: 8]",
)
@click.option(
    "--time",
    "limit",
    type=float,
    default=60.0,
    callback=seconds,
    metavar="SECONDS",
    help="How long to look at most.  [default: 60]",
)
@json_option
def command(
    *,
    directories: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    group: str | None,
    depth: int,
    limit: float,
    as_json: bool,
) -> int:
    """Find what could be roots below each DIR, and write what you accept.

    Proposed are repositories with notes, documentation, decision records, runbooks or agent memory
    (one root each, with what of them counts), vaults, what agents keep, and directories of notes:
    how many notes there are, how large they are, and why. At a terminal you are asked about each:
    y yes, n no, a all from here, q no more. Otherwise nothing is written without --yes. What your
    configuration has already is told, and not proposed again.
    """
    from recall import dirs, told

    console = Console("roots discover", as_json=as_json)
    file = required(dirs.config_file(os.environ), "a configuration file")
    _check_group(group)
    with told.hushing(file, working_directory(), os.environ):
        entries = _entries(file)
    found = _find(directories, entries, depth, limit)
    aside = _set_aside(found, entries)
    _tell(console, found, depth, limit)
    if yes or dry_run:
        chosen = found.proposals
    elif not as_json and is_terminal(sys.stdin) and is_terminal(sys.stderr):
        chosen = _ask(found.proposals)
    else:
        chosen = []
        if found.proposals and not as_json:
            console.note("nothing is written yet", "--yes writes them all, --dry-run shows how")
    rules = {each.path: _rules(each, group) for each in chosen}
    made = _write(file, chosen, rules, dry_run=dry_run)
    if made and not entries and not dry_run:
        _tell_of_variables(console, file)
    return console.finish(
        lambda: {**_data(found, made, file, dry_run=dry_run), "aside": aside},
        lambda _: _toml(made, rules) if dry_run else _text(found, made, file, aside),
    )


def _check_group(group: str | None) -> None:
    from index_cache.errors import InvalidInput
    from recall.rootnames import name_fault

    if group is not None and (fault := name_fault(group)):
        raise InvalidInput(f'"{group}" can\'t be the name of a group: {fault}', where="--group")


def _entries(file: str) -> list[Entry]:
    from recall.configfile import read_config

    try:
        return read_config(file, os.environ).entries
    except FileNotFoundError:
        return []


def _find(
    directories: Sequence[str], entries: Sequence[Entry], depth: int, limit: float
) -> Discovery:
    from index_cache.files import FileSystem
    from recall.dirs import home_dir
    from recall.discovering import discover

    home = home_dir(os.environ)
    with progress_on(sys.stderr) as progress:
        return discover(
            [_top(each) for each in directories],
            entries,
            FileSystem(),
            depth=depth,
            seconds=limit,
            home=None if home is None else os.path.realpath(home),
            told=None if progress is None else progress.show,
        )


def _set_aside(found: Discovery, entries: Sequence[Entry]) -> int:
    """Take out the names of roots of other projects, and return how many places are theirs."""
    from recall import told

    may = told.here(working_directory(), os.environ)
    if may is None:
        return 0
    mine = may.names(entries)
    every = [(path, [n for n in names if n in mine]) for path, names in found.configured]
    found.configured = [(path, names) for path, names in every if names]
    return len(every) - len(found.configured)


def _top(directory: str) -> bytes:
    """Return where to look. Raises NotFound, or RootUnavailable for what can't be listed."""
    from index_cache.errors import InvalidInput, NotFound, RootUnavailable
    from recall.files import directory_fault
    from recall.notice import shell_quoted

    if not directory or "\0" in directory:
        raise InvalidInput("DIR must be a directory", where=repr(directory))
    path = os.path.join(working_directory(), directory)
    with contextlib.suppress(UnicodeEncodeError):  # no file has that name: a fault like others
        path = os.path.realpath(path)
    fault = directory_fault(path)
    if fault is not None and fault.missing and os.path.exists(path):
        raise NotFound(
            "DIR must be a directory, and this is a file",
            where=path,
            hint="name the directory that holds it: "
            f"recall roots discover {shell_quoted(os.path.dirname(path))}",
        )
    if fault is not None:
        error = NotFound if fault.missing else RootUnavailable
        raise error(f"the directory {fault.reason}", where=path)
    return os.fsencode(path)


def _tell(console: Console, found: Discovery, depth: int, limit: float) -> None:
    """Say what was not looked at, and why."""
    survey = found.survey
    if survey.late:
        what = (
            f"{number(found.uncounted, 'place')} could not be counted"
            if found.uncounted
            else (f"after {number(survey.directories, 'directory', 'directories')}")
        )
        console.note(f"the time of {limit:g} s was over: {what}", "raise --time, or name less")
    if survey.deeper:
        more = number(survey.deeper, "directory", "directories")
        console.note(f"{more} more than {depth} deep: not looked at", "raise --depth")
    unreadable = survey.unreadable
    if unreadable:
        count = number(len(unreadable), "directory", "directories")
        path, reason = unreadable[0]
        first = "" if len(unreadable) == 1 else ", the first"
        console.note(f"{count} could not be read{first}: {os.fsdecode(path)}: {reason}")
    if len(found.proposals) > MANY:
        console.note(
            f"{len(found.proposals):,} roots are proposed: each has a cache of its own, which "
            "every prompt opens and every refresh looks at, so with many of them prompts are "
            "answered late or not at all",
            "take few: one root around many (recall roots add NAME DIR), or y and n for each at a "
            "terminal; isolate = true searches in a project its own only",
        )


def _ask(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return those that the person accepts."""
    chosen: list[Proposal] = []
    for at, each in enumerate(proposals):
        write_error(_lines(each))
        answer = _answer(f"add it ({at + 1} of {len(proposals)})? [y/n/a/q] ")
        if answer == "a":
            return [*chosen, *proposals[at:]]
        if answer == "q":
            break
        if answer == "y":
            chosen.append(each)
    return chosen


def _answer(question: str) -> str:
    """Ask until one of the letters comes; the end of input is q."""
    while True:
        write_error(question)
        line = sys.stdin.readline()
        if not line:
            write_error("\n")
            return "q"
        letter = line.strip().lower()[:1]
        if letter and letter in "ynaq":
            return letter
        if letter:
            write_error("y adds it, n does not, a adds it and all others, q ends the questions\n")


def _tell_of_variables(console: Console, file: str) -> None:
    """Say what no longer counts now that the file names a root."""
    from recall import adopting, variable

    for name in (variable.NAME, *adopting.VARIABLES):
        if os.environ.get(name):
            console.note(f"from now on {file} counts, and {name} is not read")


def _rules(proposal: Proposal, group: str | None) -> Mapping[str, Sequence[str]]:
    groups = [] if group is None else [group]
    return {"include": proposal.include, "exclude": proposal.exclude, "groups": groups}


def _write(
    file: str,
    chosen: Sequence[Proposal],
    rules: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    dry_run: bool,
) -> Made:
    from recall import configedit

    if not chosen:
        return []
    wanted = [(each.name, each.path) for each in chosen]
    return configedit.add_missing(file, wanted, os.environ, rules=rules, write=not dry_run)


def _data(found: Discovery, made: Made, file: str, *, dry_run: bool) -> dict[str, object]:
    names = {path: name for name, path, new in made if new and not dry_run}
    survey = found.survey
    return {
        "file": file,
        "dry_run": dry_run,
        "proposals": [
            {
                "name": names.get(each.path, each.name),
                "path": each.path,
                "kind": each.kind,
                "include": list(each.include),
                "exclude": list(each.exclude),
                "notes": each.notes,
                "bytes": each.size,
                "why": [{"what": w, "where": at, "notes": count} for w, at, count in each.why],
                "added": each.path in names,
            }
            for each in found.proposals
        ],
        "configured": [{"path": path, "roots": roots} for path, roots in found.configured],
        "passed_over": [{"path": path, "reason": why} for path, why in found.passed_over],
        "unreadable": [
            {"path": os.fsdecode(path), "reason": why} for path, why in survey.unreadable
        ],
        "directories": survey.directories,
        "skipped": survey.passed_over,
        "submodules": survey.submodules,
        "deeper": survey.deeper,
        "complete": not survey.late,
    }


def _toml(made: Made, rules: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    from recall.configedit import lines_of

    lines = lines_of([(name, path) for name, path, new in made if new], rules)
    return "".join(f"{visible(line)}\n" for line in ("[roots]", *lines)) if lines else ""


def _text(found: Discovery, made: Made, file: str, aside: int) -> str:
    if made:
        lines = [
            f"{'added' if new else 'there already'}: {visible(name)}: {visible(path)}\n"
            for name, path, new in made
        ]
        return (
            "".join(lines) + f"in {visible(file)}; the next search or recall refresh indexes it\n"
        )
    lines = [_lines(each) for each in found.proposals]
    lines += [
        f"there already: {visible(path)}: {', '.join(map(visible, names))}\n"
        for path, names in found.configured
    ]
    if aside:
        lines.append(f"isolate sets {number(aside, 'place')} of other projects aside here\n")
    reasons: dict[str, list[str]] = {}
    for path, why in found.passed_over:
        reasons.setdefault(why, []).append(path)
    for why, paths in reasons.items():
        shown = ", ".join(map(visible, paths[:_LISTED]))
        more = f" and {len(paths) - _LISTED:,} more" if len(paths) > _LISTED else ""
        lines.append(f"not proposed: {visible(why)}: {shown}{more}\n")
    roots = number(len(found.proposals), "root")
    notes = number(sum(each.notes for each in found.proposals), "note")
    total = size(sum(each.size for each in found.proposals))
    lines.append(f"{roots} to add, with {notes}, {total}\n")
    return "".join(lines)


def _lines(proposal: Proposal) -> str:
    """Return what is said of one proposal."""
    why = [
        f"{what}{f' in {visible(where, 60)}' if where else ''} {count:,}"
        for what, where, count in proposal.why[:_LISTED]
    ]
    if len(proposal.why) > _LISTED:
        why.append(f"{len(proposal.why) - _LISTED:,} more")
    return (
        f"{visible(proposal.name)}: {visible(proposal.path)}\n"
        f"  {proposal.kind}, {number(proposal.notes, 'note')}, {size(proposal.size)}: "
        f"{'; '.join(why)}\n"
    )
