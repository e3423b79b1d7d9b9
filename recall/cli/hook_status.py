"""``recall hook status``: where the prompt hook is installed, and whether it runs there."""

from __future__ import annotations

import os

import click

from recall.cli import completing
from recall.cli.common import Console, working_directory
from recall.cli.fields import fault_fields, fault_text, local, moment
from recall.cli.hook_change import this_program
from recall.cli.options import examples, json_option
from recall.envelope import error_fields
from recall.hostfiles import HOST_FILES, host_files
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hookstatus import Installation, Runs
    from recall.recalllog import Entry


@click.command(epilog=examples("recall hook status", "recall hook status --host codex --json"))
@click.option(
    "--host",
    "name",
    metavar="HOST",
    shell_complete=completing.one_of(HOST_FILES),
    help="Only one of " + ", ".join(HOST_FILES) + ".",
)
@json_option
def command(*, name: str | None, as_json: bool) -> int:
    """Show where the prompt hook is installed.

    For each host, your own settings and those of the project that you are in: whether the hook is
    there, whether its program is, whether the host trusts it as far as that can be seen, and when
    it last ran, spoke, failed or hit its deadline.
    """
    from recall import dirs, hookfault
    from recall.call import LATE
    from recall.hook import FAILED
    from recall.hookstatus import Runs, installations

    console = Console("hook status", as_json=as_json)
    hosts = list(HOST_FILES) if name is None else [host_files(name).name]
    state_dir = dirs.state_dir(os.environ)
    found = installations(hosts, os.environ, working_directory(), this_program())
    entries = _entries(console, state_dir)
    runs = [Runs(host, entries, LATE, FAILED) for host in hosts]
    fault = hookfault.read(state_dir)
    for one in found:
        _warn(console, one)
    if fault is not None:
        console.note(f"the prompt hook failed: {fault_text(fault)}", fault.hint)
    return console.finish(
        lambda: {
            "installations": [_fields(one) for one in found],
            "hosts": [_run_fields(each) for each in runs],
            "hook_failure": fault_fields(fault),
        },
        lambda _: "".join([*map(_text, found), *map(_run_text, runs)]),
    )


def _entries(console: Console, state_dir: str | None) -> list[Entry]:
    from recall import recalllog
    from recall.files import Unreadable

    try:
        return recalllog.read(state_dir)[0]
    except Unreadable as error:
        console.note(f"when the hook last ran can't be told: its log can't be read: {error}")
        return []


def _warn(console: Console, one: Installation) -> None:
    title = HOST_FILES[one.host].title
    again = f"recall hook install --host {one.host}" + (
        "" if one.scope == "user" else f" --scope {one.scope}"
    )
    if one.fault is not None:
        hint = one.fault.hint
        console.note(f"{title}: {one.fault.message} ({one.fault.where or one.scope})", hint)
    for each in one.unread:
        console.note(f"{each.message} ({one.file}:{each.line})", each.hint)
    for program in one.gone:
        console.note(f"{title}: the program that it calls is gone: {program}", again)
    if one.missing:
        console.note(f"{title}: the hook is not called at {', '.join(one.missing)}", again)


def _fields(one: Installation) -> dict[str, object]:
    return {
        "host": one.host,
        "scope": one.scope,
        "file": one.file,
        "exists": one.exists,
        "installed": bool(one.events),
        "events": one.events,
        "missing": one.missing,
        "commands": one.commands,
        "own_form": one.own_form,
        "gone": one.gone,
        "elsewhere": one.elsewhere,
        "unread": [each.message for each in one.unread],
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


def _text(one: Installation) -> str:
    head = f"{HOST_FILES[one.host].title}, {one.scope}: "
    if one.fault is not None:
        return f"{head}{visible(one.file or '')}: can't be told\n"
    if not one.events:
        return f"{head}not installed: {visible(one.file or '')}\n"
    lines = [f"{head}installed: {visible(one.file or '')}"]
    lines += [f"  command: {visible(command)}" for command in one.commands]
    if one.own_form:
        lines.append("  in a form of its own")
    if one.elsewhere:
        lines.append("  of another version or place than this one")
    if one.unread:
        lines.append("  the host can't read this file as it stands")
    if one.trust is not None:
        lines.append(f"  trust: {one.trust}: {visible(one.why or '')}")
    return "\n".join(lines) + "\n"


def _run_text(runs: Runs) -> str:
    title = HOST_FILES[runs.host].title
    return (
        f"{title}: last ran {local(runs.ran)}, spoke {local(runs.spoke)},"
        f" failed {local(runs.failed)}, hit its deadline {local(runs.late)}\n"
    )
