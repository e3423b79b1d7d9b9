"""``recall hook install``: have a host call the prompt hook."""

from __future__ import annotations

import click

from index_cache.errors import RecallError
from recall.cli.common import Console
from recall.cli.hook_change import (
    answer,
    committed,
    dry_run_option,
    host_option,
    scope_option,
    the_place,
    the_state,
    this_program,
    warn_of_reading,
)
from recall.cli.options import examples, json_option
from recall.hostfiles import SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hostfiles import Place


@click.command(
    epilog=examples(
        "recall hook install --host claude", "recall hook install --host codex --dry-run"
    )
)
@host_option
@scope_option
@dry_run_option
@json_option
def command(*, name: str, scope: str, dry_run: bool, as_json: bool) -> int:
    """Have a host call the prompt hook.

    Edits the host's settings file and nothing else in it: comments, order and layout stay. What
    was there is kept for "recall hook uninstall". Installing twice changes nothing.
    """
    from recall import installing
    from recall.hookcommand import command_line

    console = Console("hook install", as_json=as_json)
    where = the_place(name, scope)
    line = command_line(this_program(), where.host.name, where.host.silence)
    change = installing.install(where, line, the_state(), dry_run=dry_run)
    warn_of_reading(console, where, change.after)
    _warn_of_another(console, where)
    then = [] if change.action == installing.ALREADY else [*committed(change), where.host.restart]
    return answer(console, change, then, dry_run=dry_run)


def _warn_of_another(console: Console, where: Place) -> None:
    """Say if the host has the hook from its other file too: some hosts then run it twice."""
    from recall import installing

    scope = next(each for each in SCOPES if each != where.scope)
    try:
        other = the_place(where.host.name, scope)
        found = other.file != where.file and installing.read(other).found
    except RecallError:
        return  # that file is not what was asked about; status tells of it
    if found:
        console.note(
            f"the hook is installed in {other.file} too, and one is enough",
            f"recall hook uninstall --host {where.host.name} --scope {scope}",
        )
