"""``recall hook uninstall``: have a host no longer call the prompt hook."""

from __future__ import annotations

import click

from recall.cli.common import Console
from recall.cli.hook_change import (
    answer,
    dry_run_option,
    host_option,
    scope_option,
    the_place,
    the_state,
)
from recall.cli.options import examples, json_option


@click.command(epilog=examples("recall hook uninstall --host claude"))
@host_option
@scope_option
@dry_run_option
@json_option
def command(*, name: str, scope: str, dry_run: bool, as_json: bool) -> int:
    """Have a host no longer call the prompt hook.

    A settings file that is as "recall hook install" left it is put back to the byte, and deleted
    if there was none; another one loses what was added, and nothing else.
    """
    from recall import installing

    console = Console("hook uninstall", as_json=as_json)
    change = installing.uninstall(the_place(name, scope), the_state(), dry_run=dry_run)
    running = f"sessions of {change.settings.place.host.title} that are open may still call it"
    then = [running] if change.changed else []
    return answer(console, change, then, dry_run=dry_run)
