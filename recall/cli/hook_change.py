"""What installing and uninstalling the prompt hook share: options, the diff, the answer."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import InvalidInput
from recall.cli import completing
from recall.cli.common import Console, required, working_directory
from recall.hostfiles import HOST_FILES, PROJECT, SCOPES, host_files, place
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.hostfiles import Place
    from recall.hostreading import Complaint
    from recall.installing import Change
    from recall.output import Look

_SAME = "a project's file and your own are one and the same here"
_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"

host_option = click.option(
    "--host",
    "name",
    required=True,
    metavar="HOST",
    shell_complete=completing.one_of(HOST_FILES),
    help=f"One of {', '.join(HOST_FILES)}.",
)
scope_option = click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=SCOPES[0],
    help="Your own settings, or those of the project that you are in.  [default: user]",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)


def this_program() -> list[str]:
    """Return the words that start the hook of this installation.

    Raises InvalidInput where it has no path that a settings file can hold.
    """
    from recall.hookcommand import program_words

    words = program_words(sys.executable or "", sys.argv[0], isolated=sys.prefix != sys.base_prefix)
    try:
        words[0].encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "a settings file can't hold a path that is not UTF-8", where=words[0]
        ) from error
    if not os.path.isabs(words[0]):
        raise InvalidInput(
            "the program's own path is not known", hint="run recall by its absolute path"
        )
    return words


def the_place(name: str, scope: str) -> Place:
    """Return the settings file that is meant. Raises InvalidInput, ConfigInvalid."""
    return place(host_files(name), scope, os.environ, working_directory())


def the_state() -> str:
    """Return the state directory. Raises InvalidInput without a home."""
    from recall import dirs

    return required(dirs.state_dir(os.environ), "what was there before")


def answer(console: Console, change: Change, then: list[str], *, dry_run: bool) -> int:
    """Write what was done, or would be; ``then`` is what to do next."""
    where = change.settings.place
    for each in change.left:
        console.note(
            f"{each.event} has a command that calls the hook in a form of its own; it stays:"
            f" {each.command}",
            f"edit {where.file} if it is not wanted",
        )
    fields: dict[str, object] = {
        "host": where.host.name,
        "scope": where.scope,
        "file": where.file,
        "action": change.action,
        "changed": change.changed and not dry_run,
        "dry_run": dry_run,
        "diff": _diff(change, None) if dry_run else None,
        "events": list(where.host.events),
        "next": then,
    }
    return console.finish(lambda: fields, lambda look: _text(change, then, look, dry_run=dry_run))


def _text(change: Change, then: list[str], look: Look, *, dry_run: bool) -> str:
    title, file = change.settings.place.host.title, visible(change.settings.place.file)
    if dry_run and change.changed:
        return _diff(change, look)
    said = f"{change.action}: {title}: {file}\n"
    return said + "".join(f"  {visible(line)}\n" for line in then)


def say(
    console: Console, file: str | None, complaints: Sequence[Complaint], about: str = ""
) -> None:
    """Warn of what is wrong in a settings file, with its lines; ``about`` comes before each."""
    for each in complaints:
        console.note(f"{about}{each.message} ({file}:{each.line})", each.hint)


def same_file(change: Change, scope: str) -> list[str]:
    """Return what to know where a project was meant and the file is the person's own."""
    return [] if change.settings.place.scope == scope else [_SAME]


def committed(change: Change) -> list[str]:
    """Return what to know of a file that others get too."""
    where = change.settings.place
    if where.scope != PROJECT:
        return []
    if where.host.committed:
        shared = "this file may be shared: the command names a program of this machine, and does"
        return [f"{shared} nothing where there is none"]
    return ["this file is yours alone: keep it out of commits"]


def _diff(change: Change, look: Look | None) -> str:
    """Return a unified diff, each line made harmless; coloured where ``look`` says so."""
    from difflib import unified_diff

    file = change.settings.place.file
    lines = unified_diff(
        _lines(change.settings.data),
        _lines(change.after),
        "/dev/null" if change.settings.data is None else file,
        "/dev/null" if change.after is None else file,
        lineterm="",
    )
    return "".join(_shown(line, look) for line in lines)


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _shown(line: str, look: Look | None) -> str:
    text = visible(line.replace("\t", "    "))
    colour = {"+": _GREEN, "-": _RED}.get(line[:1]) if look is not None and look.colour else None
    return f"{colour}{text}{_PLAIN}\n" if colour else f"{text}\n"
