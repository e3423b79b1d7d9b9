"""``recall hook uninstall``: have a host no longer call the prompt hook."""

from __future__ import annotations

import click

from recall.cli.common import Console
from recall.cli.hook_change import (
    answer,
    dry_run_option,
    host_option,
    same_file,
    say,
    scope_option,
    the_place,
    the_state,
)
from recall.cli.options import examples, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.installing import Change


@click.command(epilog=examples("recall hook uninstall --host claude"))
@host_option
@scope_option
@dry_run_option
@json_option
def command(*, name: str, scope: str, dry_run: bool, as_json: bool) -> int:
    """Have a host no longer call the prompt hook.

    A settings file that is as "recall hook install" left it is put back to the byte, and deleted
    if there was none; another one loses the commands that install writes, and nothing else.
    """
    from recall import hookremarks, installing

    console = Console("hook uninstall", as_json=as_json)
    where = the_place(name, scope)
    change = installing.uninstall(where, the_state(), dry_run=dry_run)
    if change.changed and where.host.by_place and _moves_others(change):
        console.note(
            f"{where.host.title} knows trusted hooks by their places, and others stand behind this"
            " one: it may ask for them again"
        )
    after = installing.Settings(where, change.settings.target, change.after)
    say(console, where.file, hookremarks.after_uninstall(where.host, after.document))
    running = f"sessions of {where.host.title} that are open may still call it"
    then = [*same_file(change, scope), *([running] if change.changed else [])]
    return answer(console, change, then, dry_run=dry_run)


def _moves_others(change: Change) -> bool:
    """Tell whether hooks of others stand behind ours at its event."""
    settings = change.settings
    for each in settings.found:
        groups = settings.document.at(each.path[:2])
        if each.call.exact and isinstance(groups, list) and each.group < len(groups) - 1:
            return True
    return False
