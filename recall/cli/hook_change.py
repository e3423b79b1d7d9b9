"""What installing and uninstalling the prompt hook share: options, the diff, the answer."""

from __future__ import annotations

import os

import click

from index_cache.errors import InvalidInput, RecallError
from recall.cli import completing
from recall.cli.common import Console, installed_program, required, working_directory
from recall.cli.diffs import unified
from recall.hostfiles import HOST_FILES, PROJECT, SCOPES, host_files, place
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recall.hostfiles import Place
    from recall.hostreading import Complaint
    from recall.installing import Change
    from recall.terminal import Look

_SAME = "a project's file and your own are one and the same here"

host_option = click.option(
    "--host",
    "names",
    required=True,
    multiple=True,
    metavar="HOST",
    shell_complete=completing.one_of(HOST_FILES),
    help=f"One of {', '.join(HOST_FILES)}. Repeatable.",
)
scope_option = click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    default=SCOPES[:1],
    help="Your own settings, or those of the project that you are in. Repeatable.  [default: user]",
)


def this_program() -> list[str]:
    """Return the words that start the hook of this installation.

    Raises InvalidInput where it has no path that a settings file can hold.
    """
    from recall.hookcommand import PROGRAM

    words = installed_program(PROGRAM)
    try:
        words[0].encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "a settings file can't hold a path that is not UTF-8", where=words[0]
        ) from error
    return words


def the_state() -> str:
    """Return the state directory. Raises InvalidInput without a home."""
    from recall import dirs

    return required(dirs.state_dir(os.environ), "what was there before")


def answer(
    console: Console,
    names: Sequence[str],
    scopes: Sequence[str],
    work: Callable[[Place, str], tuple[Change, list[str]]],
    *,
    dry_run: bool,
) -> int:
    """Do ``work`` for each host and scope and write what was done, or would be.

    It returns a change and what to do next. Of several, what can't be done for one keeps nothing
    from the others; the first such error is that of the answer. Raises InvalidInput for a host
    that can't have the hook, before anything is done; for one file what ``work`` raises.
    """
    asked = _asked(names, scopes)
    done: list[tuple[Change, list[str]]] = []
    failed: RecallError | None = None
    for where, scope in asked:
        try:
            change, then = work(where, scope)
        except RecallError as error:
            if len(asked) == 1:
                raise
            if failed is not None:
                place = error.where or where.file
                console.note(f"{where.host.title}: {error.message} ({place})", error.hint)
            failed = failed or error
            continue
        _note_left(console, change)
        done.append((change, then))

    def data() -> dict[str, object]:
        made = [_fields(change, then, dry_run=dry_run) for change, then in done]
        return made[0] if len(asked) == 1 else {"changes": made}

    return console.finish(
        data,
        lambda look: "".join(_text(change, then, look, dry_run=dry_run) for change, then in done),
        failed,
    )


def _asked(names: Sequence[str], scopes: Sequence[str]) -> list[tuple[Place, str]]:
    """Return the settings files that are meant, each once, and the scope by which it was asked."""
    hosts = [host_files(name) for name in dict.fromkeys(names)]
    asked: dict[str, tuple[Place, str]] = {}
    for host in hosts:
        for scope in dict.fromkeys(scopes):
            where = place(host, scope, os.environ, working_directory())
            asked.setdefault(where.file, (where, scope))
    return list(asked.values())


def _note_left(console: Console, change: Change) -> None:
    for each in change.left:
        console.note(
            f"{each.event} has a command that calls the hook in a form of its own; it stays:"
            f" {each.command}",
            f"edit {change.settings.place.file} if it is not wanted",
        )


def _fields(change: Change, then: list[str], *, dry_run: bool) -> dict[str, object]:
    where = change.settings.place
    return {
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


def uninstall_line(host: str, scope: str) -> str:
    """Return the command that takes the hook out of a host's file again."""
    return f"recall hook uninstall --host {host} --scope {scope}"


def one_is_enough(host: str, scope: str) -> str:
    """Return what to do about a hook in two files: which one goes."""
    return f"one is enough: {uninstall_line(host, scope)}"


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
    return unified(change.settings.data, change.after, change.settings.place.file, look)
