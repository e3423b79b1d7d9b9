"""``recall schedule install`` and ``remove``: a job for cron, systemd or launchd, or none."""

from __future__ import annotations

import os

import click

from index_cache.errors import RecallError, WriteRefused
from recall import dirs
from recall.cli.common import Console, required
from recall.cli.diffs import unified
from recall.cli.options import Strict, dry_run_option, examples, json_option, root_option
from recall.cli.schedule_plan import at_option, every_option, kind_option, planned
from recall.output import visible
from recall.scheduling import job, jobs, lastrun, schedulers
from recall.writes import refuse_foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.scheduling.schedulers import Change
    from recall.terminal import Look

force_option = click.option(
    "--force", is_flag=True, help="Even if what is there was changed by hand since."
)


@click.command(
    cls=Strict,
    epilog=examples(
        "recall schedule install",
        "recall schedule install --every 1h",
        "recall schedule install --kind cron --every 1d --at 07:45 --dry-run",
    ),
)
@kind_option
@every_option
@at_option
@root_option
@force_option
@dry_run_option
@json_option
def install(
    *,
    kind: str | None,
    every: str,
    at: str | None,
    names: tuple[str, ...],
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Have the job started by cron, systemd or launchd.

    The job brings the caches up to date and checks them against the notes, for all roots of your
    own or those that are named. It says nothing unless something is wrong. Not a byte of another
    entry is changed; installing twice leaves one, with the later time.
    """
    console = Console("schedule install", as_json=as_json)
    what = planned(console, every, at, names)
    chosen = kind or schedulers.default_kind(os.environ)
    # Root's job would keep its files in a home that sudo or a container kept.
    refuse_foreign(lastrun.path_of(required(dirs.state_dir(os.environ), "a schedule")))
    change = schedulers.install(chosen, what, os.environ, force=force, dry_run=dry_run)
    console.note_all(change.notices)
    for other in jobs.installed(os.environ):
        if other != chosen:
            console.note(
                f"{other} starts the job too, and one is enough",
                f"recall schedule remove --kind {other}",
            )
    return console.finish(
        lambda: {
            **_fields(change, dry_run=dry_run),
            "timing": what.timing.words,
            "command": what.words,
            "variables": what.variables,
        },
        lambda look: _text(change, look, f": {what.timing.words}", dry_run=dry_run),
    )


@click.command(
    cls=Strict, epilog=examples("recall schedule remove", "recall schedule remove --kind cron")
)
@kind_option
@force_option
@dry_run_option
@json_option
def remove(*, kind: str | None, force: bool, dry_run: bool, as_json: bool) -> int:
    """Have the job no longer started, wherever it is installed.

    A crontab that is otherwise as it was left is restored to the byte.
    """
    console = Console("schedule remove", as_json=as_json)
    kinds, failed = ([kind], None) if kind else _installed(console)
    done: list[Change] = []
    for each in kinds:
        try:
            change = schedulers.remove(each, os.environ, force=force, dry_run=dry_run)
        except RecallError as error:
            if failed is not None:
                console.note(f"{each}: {error.message}", error.hint)
            failed = failed or error
            continue
        console.note_all(change.notices)
        done.append(change)
    said = "" if kinds or failed else "not installed\n"
    return console.finish(
        lambda: {"changes": [_fields(change, dry_run=dry_run) for change in done]},
        lambda look: said + "".join(_text(change, look, "", dry_run=dry_run) for change in done),
        failed,
    )


def _installed(console: Console) -> tuple[list[str], RecallError | None]:
    """Return who starts the job, and the first reason why that can't be told of one."""
    failed: RecallError | None = None
    kinds: list[str] = []
    for kind in job.KINDS:
        found = schedulers.look(kind, os.environ)
        if found.texts:
            kinds.append(kind)
        elif isinstance(found.error, WriteRefused):
            # Somebody else's file, and nothing of ours: there is nothing to remove.
            console.note(f"{kind}: {found.error.message} ({found.error.where})")
            continue
        if found.error is not None and failed is None:
            failed = found.error
        elif found.error is not None:
            console.note(f"{kind}: {found.error.message}", found.error.hint)
    return kinds, failed


def _fields(change: Change, *, dry_run: bool) -> dict[str, object]:
    return {
        "kind": change.kind,
        "action": change.action,
        "changed": bool(change.edits) and not dry_run,
        "dry_run": dry_run,
        "where": [where for where, _, _ in change.edits],
        "diff": _diff(change, None) if dry_run else None,
        "next": change.then,
    }


def _text(change: Change, look: Look, more: str, *, dry_run: bool) -> str:
    if dry_run and change.edits:
        return _diff(change, look)
    where = "".join(f"  {visible(where)}\n" for where, _, _ in change.edits)
    left = "".join(f"  to be done: {visible(line)}\n" for line in change.then)
    done = change.action
    if change.then:
        made = done if done == schedulers.REMOVED else "written"
        done = f"{made}, but the scheduler was not told"
    return f"{done}: {change.kind}{more}\n{where}{left}"


def _diff(change: Change, look: Look | None) -> str:
    return "".join(unified(before, after, where, look) for where, before, after in change.edits)
