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
    same_file,
    say,
    scope_option,
    the_place,
    the_state,
    this_program,
)
from recall.cli.options import examples, json_option
from recall.hostfiles import SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.installing import Settings


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
    from recall import hookremarks, installing
    from recall.hookcommand import command_line
    from recall.hostreading import complaints

    console = Console("hook install", as_json=as_json)
    where = the_place(name, scope)
    line = command_line(this_program(), where.host.name, where.host.silence)
    change = installing.install(where, line, the_state(), dry_run=dry_run)
    # The file as it is then: what its host makes of that is what counts.
    after = installing.Settings(where, change.settings.target, change.after)
    say(console, where.file, complaints(where.host, after.document, mark=bool(after.bom)))
    say(console, where.file, hookremarks.after_install(where.host, after.document))
    _warn_of_another(console, after)
    then = same_file(change, scope)
    if change.action != installing.ALREADY:
        mended = hookremarks.mended(where.host, change.settings.document, after.document)
        then += [*mended, *committed(change), where.host.restart]
    return answer(console, change, then, dry_run=dry_run)


def _warn_of_another(console: Console, settings: Settings) -> None:
    """Say if the host has the hook from its other file too: some hosts then run it twice."""
    from recall import installing

    where = settings.place
    scope = next(each for each in SCOPES if each != where.scope)
    try:
        other = installing.read(the_place(where.host.name, scope))
    except RecallError:
        return  # that file is not what was asked about; status tells of it
    if other.found and other.target != settings.target:
        console.note(
            f"the hook is installed in {other.place.file} too, and one is enough",
            f"recall hook uninstall --host {where.host.name} --scope {scope}",
        )
