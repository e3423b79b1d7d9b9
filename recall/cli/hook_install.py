"""``recall hook install``: have a host call the prompt hook."""

from __future__ import annotations

import os
import time

import click

from index_cache.errors import RecallError
from recall.cli.common import Console, working_directory
from recall.cli.hook_change import (
    answer,
    committed,
    host_option,
    same_file,
    say,
    scope_option,
    the_state,
    this_program,
    uninstall_line,
)
from recall.cli.options import Strict, dry_run_option, examples, json_option
from recall.hostfiles import PROJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hostfiles import Place
    from recall.installing import Change


@click.command(
    cls=Strict,
    epilog=examples(
        "recall hook install --host claude",
        "recall hook install --host claude --host gemini",
        "recall hook install --host codex --dry-run",
    ),
)
@host_option
@scope_option
@dry_run_option
@json_option
def command(
    *, names: tuple[str, ...], scopes: tuple[str, ...], dry_run: bool, as_json: bool
) -> int:
    """Have a host call the prompt hook.

    Edits the host's settings file and nothing else in it: comments, order and layout stay. What
    was there is kept for "recall hook uninstall". Installing twice changes nothing.
    """
    console = Console("hook install", as_json=as_json)
    program, state_dir = this_program(), the_state()
    no_root = _no_root()

    def work(where: Place, scope: str) -> tuple[Change, list[str]]:
        change, then = _one(console, where, program, state_dir, dry_run=dry_run)
        return change, [*same_file(change, scope), *then, *no_root]

    return answer(console, names, scopes, work, dry_run=dry_run)


def _one(
    console: Console, where: Place, program: list[str], state_dir: str, *, dry_run: bool
) -> tuple[Change, list[str]]:
    from recall import hookremarks, hookstatus, hosttrust, installing
    from recall.hookcommand import command_line
    from recall.hostreading import unread

    cwd = working_directory()
    shared = _shared_already(where, cwd)
    if shared is not None:
        settings = installing.read(where)
        change = installing.Change(settings, installing.ALREADY, settings.data, [])
        return change, [f"{shared} calls it, which others have too and the host reads as well"]
    line = command_line(program, where.host.name, where.host.silence)
    change = installing.install(where, line, state_dir, dry_run=dry_run)
    # The file as it is then: what its host makes of that is what counts.
    after = installing.Settings(where, change.settings.target, change.after)
    ignored = unread(where.host, after.document, mark=bool(after.bom))
    say(console, where.file, ignored)
    off = hosttrust.off(after, os.environ, cwd)
    if off is not None:
        say(console, off[0], [off[1]])
    say(console, where.file, hookremarks.after_install(where.host, after.document))
    for other, is_shared in hookstatus.elsewhere(after.target, where.host, os.environ, cwd):
        console.note(
            f"the hook is installed in {other.place.file} too, and one is enough",
            # As status has it: nothing of ours is in a shared file, and your own is everywhere.
            uninstall_line(where.host.name, where.scope if is_shared else PROJECT),
        )
    if change.action == installing.ALREADY:
        return change, []
    mended = hookremarks.mended(where.host, change.settings.document, after.document)
    first = ["not used yet: first mend the file as the warnings say"] if ignored else []
    return change, [*mended, *committed(change), *first, where.host.restart]


def _shared_already(where: Place, cwd: str) -> str | None:
    """Return a project's file that others share, if that calls the hook and ``where`` does not."""
    from recall import hookstatus, installing

    if where.scope != PROJECT or where.host.shared is None:
        return None
    own = installing.read(where)
    if own.found:
        return None
    for other, is_shared in hookstatus.elsewhere(own.target, where.host, os.environ, cwd):
        if is_shared and hookstatus.is_whole(other, os.environ):
            return other.place.file
    return None


def _no_root() -> list[str]:
    from recall import heldback

    try:
        found = heldback.look(working_directory(), os.environ, time.time())
    except RecallError:
        return []  # status, and each command that needs it, tells of that
    none = heldback.NO_ROOT
    return [f"{none.message}: {none.hint}"] if none in found.reasons else []
