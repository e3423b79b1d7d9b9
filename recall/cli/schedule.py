"""``recall schedule``: the job that cron, systemd or launchd starts, and how it went."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import WriteRefused
from recall.cli import schedule_change, schedule_run
from recall.cli.common import Console, working_directory, write_bytes
from recall.cli.fields import local, moment
from recall.cli.options import SETTINGS, StrictGroup, examples, json_option, root_option
from recall.cli.schedule_plan import at_option, every_option, kind_option, planned
from recall.envelope import error_fields
from recall.output import number, visible
from recall.scheduling import job, jobs, lastrun, schedulers
from recall.terminal import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.scheduling.lastrun import Evidence, Run
    from recall.scheduling.schedulers import Found


@click.group(
    cls=StrictGroup,
    context_settings=SETTINGS,
    epilog=examples("recall schedule install", "recall schedule status"),
)
def command() -> None:
    """Have cron, systemd or launchd keep the caches up to date.

    Searches and prompts bring them up to date by themselves. A job does it beforehand, and proves
    them against the notes: what is wrong is mailed by cron, or is in the journal, and "status"
    shows it.
    """


@command.command(
    "print",
    short_help="Show what would be installed.",
    epilog=examples("recall schedule print", "recall schedule print --kind systemd --every 6h"),
)
@kind_option
@every_option
@at_option
@root_option
@json_option
def print_command(
    *, kind: str | None, every: str, at: str | None, names: tuple[str, ...], as_json: bool
) -> int:
    """Show what would be installed, to be put somewhere by hand. Nothing is changed."""
    console = Console("schedule print", as_json=as_json)
    what = planned(console, every, at, names)
    chosen = kind or schedulers.default_kind(os.environ)
    texts = schedulers.rendered(chosen, what, os.environ)
    if not as_json and not (sys.stdout is not None and is_terminal(sys.stdout)):
        write_bytes(_pasted(texts))  # the very bytes, whatever the locale
        return 0
    return console.finish(
        lambda: {
            "kind": chosen,
            "timing": what.timing.words,
            "command": what.words,
            "variables": what.variables,
            "entries": [
                {"where": where, "text": os.fsdecode(text)} for where, text in texts.items()
            ],
        },
        lambda _: "".join(
            f"{visible(line.expandtabs(4))}\n"
            for line in os.fsdecode(_pasted(texts)).rstrip("\n").split("\n")
        ),
    )


command.add_command(schedule_change.install, "install")
command.add_command(schedule_change.remove, "remove")


@command.command(
    "status",
    short_help="Show who starts the job, and how it went.",
    epilog=examples("recall schedule status", "recall schedule status --json"),
)
@json_option
def status_command(*, as_json: bool) -> int:
    """Show who starts the job, when it last ran, and what came of it."""
    from recall import dirs

    console = Console("schedule status", as_json=as_json)
    state_dir = dirs.state_dir(os.environ)
    found = [schedulers.look(kind, os.environ) for kind in job.KINDS]
    known, is_running = lastrun.read(state_dir), lastrun.is_running(state_dir)
    if known is not None and known.last is not None and known.last.message is not None:
        _hush(known.last)
    for each in found:
        _warn(console, each)
    kinds = [each.kind for each in found if each.texts]
    if len(kinds) > 1:
        console.note(
            f"{' and '.join(kinds)} start the job, and one is enough",
            f"recall schedule remove --kind {kinds[-1]}",
        )
    return console.finish(
        lambda: {
            "schedulers": [_fields(each) for each in found],
            "runs": None if known is None else _run_fields(known, is_running=is_running),
        },
        lambda _: (
            "".join(map(_line, found))
            + _runs(known, is_running=is_running)
            + ("" if kinds else "to install it: recall schedule install\n")
        ),
    )


command.add_command(schedule_run.command, "run")


def _hush(run: Run) -> None:
    """Take from a run what could name other projects, where isolation keeps them from this one."""
    from recall import told

    if told.here(working_directory(), os.environ):
        run.message, run.where, run.hint = told.NOT_HERE, None, "cd && recall schedule status"


def _pasted(texts: dict[str, bytes]) -> bytes:
    """Return the texts, several each under the name of its file."""
    if len(texts) == 1:
        return next(iter(texts.values()))
    return b"\n".join(b"# " + os.fsencode(where) + b"\n" + text for where, text in texts.items())


def _warn(console: Console, found: Found) -> None:
    if found.error is not None:
        where = "" if found.error.where is None else f" ({found.error.where})"
        console.note(f"{found.kind}: {found.error.message}{where}", found.error.hint)
    again = f"recall schedule install --kind {found.kind}"
    if found.changed:
        again += " --force"
    for name in found.changed:
        console.note(f"{found.kind}: it was changed by hand: {name}", again)
    if found.kind == job.CRON and len(found.texts) > 1:
        console.note(f"cron: {number(len(found.texts), 'line')} of ours start the job", again)
    if found.kind == job.SYSTEMD and len(found.where) == 1:
        console.note(f"systemd: one of its two files is missing beside {found.where[0]}", again)
    if found.active is False:
        console.note(f"{found.kind}: it is installed, but not active", again)
    if _is_unproven(found):
        console.note(
            f"{found.kind}: it is written, but not known to be enabled",
            schedulers.starting(found.kind, os.environ),
        )
    gone = _gone(found)
    if gone is not None:
        console.note(f"{found.kind}: the program that it starts is gone: {gone}", again)
    for line in found.others:
        console.note(f"cron: a line of your own does the same work: {os.fsdecode(line)}")


def _is_unproven(found: Found) -> bool:
    """Tell whether the job's files are there, and whether they are used is not known."""
    return found.kind != job.CRON and bool(found.where) and found.active is None


def _gone(found: Found) -> str | None:
    """Return what the job needs to run and is not there: its program, or what runs that."""
    texts = [] if found.changed else [(found.kind, text) for text in found.texts]
    return next(iter(jobs.gone(texts)), None)


def _fields(found: Found) -> dict[str, object]:
    return {
        "kind": found.kind,
        "available": found.program is not None,
        "installed": bool(found.texts),
        "where": found.where,
        "entries": [os.fsdecode(text) for text in found.texts],
        "changed_by_hand": found.changed,
        "active": found.active,
        "program_gone": _gone(found),
        "others": [os.fsdecode(line) for line in found.others],
        "error": None if found.error is None else error_fields(found.error),
    }


def _run_fields(known: Evidence, *, is_running: bool) -> dict[str, object]:
    last = known.last
    return {
        "begun": moment(known.begun),
        "running": is_running,
        "unfinished": _is_unfinished(known) and not is_running,
        "succeeded": moment(known.succeeded),
        "failed_since": known.failed,
        "overlapped": moment(known.overlapped),
        "last": None if last is None else _last_fields(last),
    }


def _last_fields(run: Run) -> dict[str, object]:
    return {
        "begun": moment(run.begun),
        "ended": moment(run.ended),
        "status": run.status,
        "message": run.message,
        "where": run.where,
        "hint": run.hint,
        "refreshed": run.refreshed,
        "checked": run.checked,
        "damaged": run.damaged,
        "differences": run.differences,
    }


def _is_unfinished(known: Evidence) -> bool:
    return known.begun is not None and (known.last is None or known.last.begun != known.begun)


def _line(found: Found) -> str:
    if not found.texts:
        there = "not installed" if found.program is not None else "not on this machine"
        is_unknown = found.error is not None and not isinstance(found.error, WriteRefused)
        return f"{found.kind}: {'can not be told' if is_unknown else there}\n"
    state = "installed" if found.active is not False else "installed, not active"
    if _is_unproven(found):
        state = "written, but not known to be enabled"
    if found.kind == job.CRON:
        lines = [visible(os.fsdecode(text)) for text in found.texts]
    else:
        lines = [visible(where) for where in found.where]
    return "".join([f"{found.kind}: {state}\n", *(f"  {line}\n" for line in lines)])


def _runs(known: Evidence | None, *, is_running: bool) -> str:
    """Return when the job ran, and what came of it."""
    if known is None:
        return "the job never ran\n"
    lines = []
    if is_running:
        lines.append(f"running since {local(known.begun)}")
    elif _is_unfinished(known):
        lines.append(f"the run of {local(known.begun)} never ended: it was stopped or killed")
    last = known.last
    if last is not None:
        roots = f"{number(last.refreshed, 'root')} refreshed, {last.checked:,} checked"
        seconds = max(0.0, last.ended - last.begun)
        how = "all well" if last.status == 0 else f"exit {last.status}: {last.message}"
        lines.append(f"last run {local(last.begun)}, {seconds:.1f} s: {roots}: {how}")
        if last.status != 0:
            lines.append(f"last without a fault {local(known.succeeded)}; {known.failed} since")
    if known.overlapped is not None:
        lines.append(f"another one was found at work {local(known.overlapped)}")
    return "".join(f"{visible(line)}\n" for line in lines)
