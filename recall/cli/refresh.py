"""``recall refresh``: bring the caches up to date with the notes."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import RootUnavailable
from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import examples, json_option, root_option, seconds
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.refresh import Report


@click.command(epilog=examples("recall refresh", "recall refresh --root notes --prune --json"))
@root_option
@click.option("--compact", is_flag=True, help="Also give unused space in the caches back.")
@click.option(
    "--prune",
    is_flag=True,
    help="Also forget notes of a root or directory that is empty, not mounted or can't be read.",
)
@click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")
@click.option(
    "--wait",
    type=float,
    default=30.0,
    callback=seconds,
    metavar="SECONDS",
    help="How long to wait for another refresh of the same root.  [default: 30]",
)
@json_option
def command(
    *,
    names: tuple[str, ...],
    wait: float,
    compact: bool,
    prune: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Bring the caches up to date with the notes.

    Says for each root what was added, changed, removed and skipped, and why. Safe beside any other
    command, and from cron. A root that fails or is missing does not stop the others; the exit
    status tells of it.
    """
    from recall import config

    cwd = working_directory()
    console = Console("refresh", as_json=as_json)
    settings = config.load(cwd, os.environ, names, fallback=False)
    gone = [left.notice for left in settings.left_out if left.notice is not None]
    console.note_all(notice for notice in settings.notices if notice not in gone)
    from recall.service import Recall

    progress = None if quiet else progress_on(sys.stderr)
    try:
        with Recall(settings.roots, cwd=cwd, environ=os.environ) as recall:
            reports = recall.refresh(prune=prune, compact=compact, wait=wait, progress=progress)
    finally:
        if progress is not None:
            progress.close()
    error = next((entry.failure for entry in reports if entry.failure is not None), None)
    if error is None and gone:
        first = gone.pop(0)
        error = RootUnavailable(first.message, hint=first.hint)
    console.note_all(gone)
    console.note_reports(reports, error)
    return console.finish(lambda: _data(reports), lambda _: "" if quiet else _text(reports), error)


def _data(reports: Sequence[Report]) -> dict[str, object]:
    from recall.cli.fields import refreshed_fields

    return {"roots": [refreshed_fields(entry) for entry in reports]}


def _text(reports: Sequence[Report]) -> str:
    return "".join(_lines(entry) for entry in reports)


def _lines(report: Report) -> str:
    from recall.cli.fields import by_reason, skipped_path

    name = visible(report.root.name)
    if report.failure is not None:
        return f"{name}: not refreshed\n"
    if report.busy:
        return f"{name}: another process is refreshing it; {number(report.documents, 'note')}\n"
    counts = (
        (report.added, "added"),
        (report.changed, "changed"),
        (report.removed, "removed"),
        (report.unchanged, "unchanged"),
        (len(report.skipped), "skipped"),
        *([(report.withheld, "withheld")] if report.withheld else []),
    )
    text = ", ".join(f"{count:,} {what}" for count, what in counts)
    lines = [f"{name}: {number(report.documents, 'note')}: {text} in {report.seconds:.2f} s"]
    lines += [f"  skipped {n:,}: {visible(why)}" for why, n in by_reason(report.skipped).items()]
    lines += [
        f"  kept as it was: {skipped_path(entry)}: {visible(entry.reason)}"
        for entry in report.unavailable
    ]
    return "\n".join(lines) + "\n"
