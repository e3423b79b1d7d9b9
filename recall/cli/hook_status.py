"""``recall hook status``: where the prompt hook is installed, and whether it runs there."""

from __future__ import annotations

import os
import time

import click

from index_cache.errors import RecallError
from recall.cli import completing
from recall.cli.common import Console, working_directory
from recall.cli.fields import fault_fields, fault_text, local, moment, paused_until
from recall.cli.hook_change import one_is_enough, say, this_program
from recall.cli.options import Strict, examples, json_option
from recall.envelope import error_fields
from recall.hostfiles import HOST_FILES, SCOPES, host_files
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hookstatus import Installation, Runs
    from recall.logreading import Entry
    from recall.terminal import Look


@click.command(
    cls=Strict,
    epilog=examples(
        "recall hook status",
        "recall hook status --host claude --scope project",
        "recall hook status --host codex --host gemini --json",
    ),
)
@click.option(
    "--host",
    "names",
    multiple=True,
    metavar="HOST",
    shell_complete=completing.one_of(HOST_FILES),
    help="Only these of " + ", ".join(HOST_FILES) + ". Repeatable.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="Only your own settings, or only those of the project that you are in.  [default: both]",
)
@json_option
def command(*, names: tuple[str, ...], scopes: tuple[str, ...], as_json: bool) -> int:
    """Show where the prompt hook is installed.

    For each host, your own settings and those of the project that you are in: whether the hook is
    there, whether its program is, whether the host runs it and trusts it as far as that can be
    seen, and when it last ran, spoke, failed or hit its deadline. What of recall's own keeps it
    silent (a pause, enabled = false, no roots) comes first.
    """
    from recall import dirs, hookfault
    from recall.call import LATE
    from recall.hook import FAILED
    from recall.hookstatus import Runs, doubled, installations

    console = Console("hook status", as_json=as_json)
    hosts = list(dict.fromkeys(host_files(name).name for name in names or HOST_FILES))
    state_dir = dirs.state_dir(os.environ)
    asked = tuple(dict.fromkeys(scopes)) or SCOPES
    found = installations(hosts, asked, os.environ, working_directory(), this_program())
    held_back, logs = _held_back(console)
    entries = _entries(console, state_dir)
    runs = [Runs(host, entries, LATE, FAILED) for host in hosts]
    fault = hookfault.read(state_dir)
    for one in found:
        _warn(console, one)
    for host, events, ones in doubled(found):
        _warn_of_two(console, host, events, ones)
    if fault is not None:
        console.note(f"the prompt hook failed: {fault_text(fault)}", fault.hint)
    return console.finish(
        lambda: {
            "installations": [_fields(one) for one in found],
            "hosts": [_run_fields(each) for each in runs],
            "hook_failure": fault_fields(fault),
            "held_back": held_back,
            "logs": logs,
        },
        lambda look: (
            "".join(f"{visible(line)}\n" for line in held_back)
            + _text(found, runs, look, logs=logs)
        ),
    )


def _held_back(console: Console) -> tuple[list[str], bool]:
    """Return what of recall's own keeps the hook silent, and whether its runs are logged."""
    from recall import heldback

    try:
        found = heldback.look(working_directory(), os.environ, time.time())
    except RecallError as error:
        told = f"{error.message} ({error.where})" if error.where else error.message
        console.note(f"what keeps the hook silent can't be told: {told}", error.hint)
        return [], True
    paused = [] if found.until is None else [f"the prompt hook is {paused_until(found.until)}"]
    return [*paused, *(f"{each.message}: {each.hint}" for each in found.reasons)], found.logs


def _entries(console: Console, state_dir: str | None) -> list[Entry]:
    from recall import logreading
    from recall.files import Unreadable

    try:
        return logreading.read(state_dir)[0]
    except Unreadable as error:
        console.note(f"when the hook last ran can't be told: its log can't be read: {error}")
        return []


def _warn(console: Console, one: Installation) -> None:
    title = HOST_FILES[one.host].title
    again = f"recall hook install --host {one.host}" + (
        "" if one.scope == "user" else f" --scope {one.scope}"
    )
    if one.shared:
        again = f"edit {one.file}: others have it too, and recall leaves it as it is"
    if one.fault is not None:
        hint = one.fault.hint
        console.note(f"{title}: {one.fault.message} ({one.fault.where or one.scope})", hint)
    say(console, one.file, one.unread)
    if one.off is not None:
        say(console, one.off[0], [one.off[1]])
    say(console, one.file, one.idle, f"{title}: ")
    for program in one.gone:
        own = f"edit {one.file}: recall leaves a command in a form of its own as it is"
        hint = own if program in one.own_gone else again
        gone = "is gone" if "/" in program else "is not in PATH"
        lacks = dict(one.broken).get(program)
        what = "the program that it calls"
        if lacks is not None:
            what, gone = f"the interpreter {lacks} of {what}", "is gone"
        console.note(f"{title}: {what} {gone}: {program}", hint)
    if one.absent:
        console.note(f"{title}: the hook is not called at {', '.join(one.absent)}", again)


def _warn_of_two(console: Console, host: str, events: list[str], ones: list[Installation]) -> None:
    files = " and ".join(one.file or "" for one in ones)
    hint = f"edit {files}: one is enough"
    ours = [one for one in ones if not one.own_forms and not one.shared]
    if len(ones) > 1 and ours:
        hint = one_is_enough(host, ours[-1].scope)
    at = " and ".join(events)
    console.note(
        f"{HOST_FILES[host].title}: the hook is called more than once at {at} ({files})", hint
    )


def _fields(one: Installation) -> dict[str, object]:
    return {
        "host": one.host,
        "scope": one.scope,
        "file": one.file,
        "exists": one.exists,
        "installed": one.installed,
        "events": one.events,
        "missing": one.missing,
        "commands": one.commands,
        "own_form": bool(one.own_forms),
        "own_forms": one.own_forms,
        "shared": one.shared,
        "gone": one.gone,
        "elsewhere": one.elsewhere,
        "unread": [each.message for each in one.unread],
        "idle": [each.message for each in one.idle],
        "trust": one.trust,
        "trust_reason": one.why,
        "error": None if one.fault is None else error_fields(one.fault),
    }


def _run_fields(runs: Runs) -> dict[str, object]:
    return {
        "host": runs.host,
        "last_ran": moment(runs.ran),
        "last_spoke": moment(runs.spoke),
        "last_failed": moment(runs.failed),
        "last_late": moment(runs.late),
    }


def _text(found: list[Installation], runs: list[Runs], look: Look, *, logs: bool = True) -> str:
    lines: list[str] = []
    for each in runs:
        title = look.paint("title", HOST_FILES[each.host].title)
        lines.append(f"{title}: {_run_text(each, logs=logs)}")
        for one in found:
            if one.host == each.host:
                lines += _lines(one)
    if not any(one.installed or one.fault for one in found):
        names = [each.host for each in runs]
        host = names[0] if len(names) == 1 else "HOST"
        lines.append(f"to install it: recall hook install --host {host}")
        if len(names) > 1:
            lines[-1] += f" ({', '.join(names)})"
    return "\n".join(lines) + "\n"


def _lines(one: Installation) -> list[str]:
    head, file = f"  {one.scope}{', shared' if one.shared else ''}: ", visible(one.file or "")
    if one.fault is not None:
        return [f"{head}can't be told: {file}" if file else f"{head}can't be told"]
    if not one.installed:
        return [f"{head}not installed: {file}"]
    lines = [f"{head}{'installed' if one.events else 'installed, never called'}: {file}"]
    for command in one.commands:
        lines.append(f"    command: {visible(command)}")
        if command in one.own_forms:
            lines.append("      in a form of its own, which recall leaves as it is")
    lacks = dict(one.broken)
    for program in one.gone:
        what = f"the interpreter of {program}" if program in lacks else "its program"
        lines.append(f"    {visible(what)} is gone: {visible(lacks.get(program, program))}")
    if one.elsewhere and not one.gone:
        lines.append("    of another version or place than this one")
    if one.unread:
        lines.append("    the host can't read this file as it stands")
    lines += [f"    {visible(each.message)}" for each in one.idle]
    if one.missing and one.events:
        lines.append(f"    not called at {', '.join(one.missing)}")
    if one.trust is not None and one.events:
        lines.append(f"    trust: {one.trust}: {visible(one.why or '')}")
    return lines


def _run_text(runs: Runs, *, logs: bool = True) -> str:
    """Return when the hook last ran and how that went; what never happened comes last."""
    if runs.ran is None:
        return "no run is logged yet" if logs else "no run is logged: log = false under [hook]"
    what = {"spoke": runs.spoke, "failed": runs.failed, "hit its deadline": runs.late}
    told = [f"{verb} {local(when)}" for verb, when in what.items() if when is not None]
    never = [verb for verb, when in what.items() if when is None]
    if never:
        first = f"{', '.join(never[:-1])} or " if never[:-1] else ""
        told.append(f"never {first}{never[-1]}")
    return ", ".join([f"last ran {local(runs.ran)}", *told])
