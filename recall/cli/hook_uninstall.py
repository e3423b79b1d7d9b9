"""``recall hook uninstall``: have a host no longer call the prompt hook."""

from __future__ import annotations

import os

import click

from recall.cli.common import Console, working_directory
from recall.cli.hook_change import (
    answer,
    host_option,
    same_file,
    say,
    scope_option,
    the_state,
    uninstall_line,
)
from recall.cli.options import Strict, dry_run_option, examples, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hostfiles import Place
    from recall.installing import Change


@click.command(
    cls=Strict,
    epilog=examples(
        "recall hook uninstall --host claude",
        "recall hook uninstall --host claude --host codex --scope user --scope project",
    ),
)
@host_option
@scope_option
@dry_run_option
@json_option
def command(
    *, names: tuple[str, ...], scopes: tuple[str, ...], dry_run: bool, as_json: bool
) -> int:
    """Have a host no longer call the prompt hook.

    A settings file that is as "recall hook install" left it is put back to the byte, and deleted
    if there was none; another one loses the commands that install writes, and nothing else.
    """
    console = Console("hook uninstall", as_json=as_json)
    state_dir = the_state()

    def work(where: Place, scope: str) -> tuple[Change, list[str]]:
        change, then = _one(console, where, state_dir, scopes, dry_run=dry_run)
        return change, [*same_file(change, scope), *then]

    return answer(console, names, scopes, work, dry_run=dry_run)


def _one(
    console: Console, where: Place, state_dir: str, scopes: tuple[str, ...], *, dry_run: bool
) -> tuple[Change, list[str]]:
    from recall import hookremarks, hookstatus, installing

    change = installing.uninstall(where, state_dir, dry_run=dry_run)
    if change.changed and where.host.by_place and _moves_others(change):
        console.note(
            f"{where.host.title} knows trusted hooks by their places, and others stand behind this"
            " one: it may ask for them again"
        )
    after = installing.Settings(where, change.settings.target, change.after)
    say(console, where.file, hookremarks.after_uninstall(where.host, after.document))
    cwd = working_directory()
    for other, is_shared in hookstatus.elsewhere(after.target, where.host, os.environ, cwd):
        if is_shared or other.place.scope not in scopes:
            by_hand = "take it out there, in an editor: recall leaves a shared file as it is"
            console.note(
                f"the hook is installed in {other.place.file} too, and still called from there",
                by_hand if is_shared else uninstall_line(where.host.name, other.place.scope),
            )
    running = f"sessions of {where.host.title} that are open may still call it"
    return change, [running] if change.changed else []


def _moves_others(change: Change) -> bool:
    """Tell whether hooks of others stand behind ours at its event."""
    settings = change.settings
    for each in settings.found:
        groups = settings.document.at(each.path[:2])
        if each.call.exact and isinstance(groups, list) and each.group < len(groups) - 1:
            return True
    return False
