"""``recall refresh``: bring the caches up to date with the notes."""

from __future__ import annotations

import os
import sys
from functools import partial

import click

from index_cache.errors import CacheBusy, RootUnavailable
from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import (
    Strict,
    examples,
    group_option,
    json_option,
    quiet_option,
    root_option,
    wait_option,
)
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.errors import RecallError
    from index_cache.refresh import Report
    from recall.settings import Config, LeftOut

    Forgotten = tuple[LeftOut, int]  # and how many notes its caches had


@click.command(
    cls=Strict, epilog=examples("recall refresh", "recall refresh --root notes --prune --json")
)
@root_option
@group_option
@click.option("--compact", is_flag=True, help="Also give unused space in the caches back.")
@click.option(
    "--prune",
    is_flag=True,
    help=(
        "Also forget the notes of roots that are empty or gone, and of directories in them that "
        "are empty or can't be read. What is not mounted looks the same."
    ),
)
@quiet_option
@wait_option("another refresh")
@json_option
def command(
    *,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    wait: float,
    compact: bool,
    prune: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Bring the caches up to date with the notes.

    Says for each root what was added, changed, removed and skipped, and why. Safe beside any other
    command, and from cron. A root that fails or is missing does not stop the others; the exit
    status tells of it, unless --prune is to forget what is missing.
    """
    cwd = working_directory()
    console = Console("refresh", as_json=as_json)
    settings = _settings(cwd, names, groups, prune=prune)
    forgotten, others = _forget(settings.left_out) if prune else ([], [])
    missing = [
        left.notice
        for left in settings.left_out
        if left.notice is not None and not (prune and left.gone)
    ]
    told_elsewhere = [*missing, *(left.notice for left, _ in forgotten)]
    console.note_all(each for each in settings.notices if each not in told_elsewhere)
    reports = _refreshed(settings, cwd, prune=prune, compact=compact, wait=wait, quiet=quiet)
    error = next((entry.failure for entry in reports if entry.failure is not None), None)
    others += [RootUnavailable(notice.message, hint=notice.hint) for notice in missing]
    if error is None and others:
        error = others.pop(0)
    if error is None and not names and not groups:
        _ended()
    for other in others:
        console.note(other.message, other.hint)
    console.note_reports(reports, error)
    return console.finish(
        lambda: _data(reports, forgotten),
        lambda _: "" if quiet else _text(reports) + "".join(map(_gone, forgotten)),
        error,
    )


def _ended() -> None:
    """Note that what kept the refresh beside the prompt hook from going well is over."""
    from recall import dirs, hookfault

    hookfault.worked(dirs.state_dir(os.environ), hookfault.REFRESH)


def _settings(cwd: str, names: tuple[str, ...], groups: tuple[str, ...], *, prune: bool) -> Config:
    """Return what is configured; with ``prune`` roots that are all gone are no error."""
    from recall import config

    load = partial(config.load, cwd, os.environ, names, groups=groups, fallback=False)
    settings = load(demand=not prune)
    if settings.roots or any(left.gone for left in settings.left_out):
        return settings
    return load()  # which says what is wrong


def _forget(left_out: Sequence[LeftOut]) -> tuple[list[Forgotten], list[RecallError]]:
    """Delete the caches of roots whose directories are gone.

    Return these roots, each with how many notes are forgotten, and what went wrong. A root of
    which nothing was kept is in neither.
    """
    from recall import caches, dirs
    from recall.cli.cache import unusable

    directory = dirs.cache_dir(os.environ)
    forgotten: list[Forgotten] = []
    failed: list[RecallError] = []
    for left in left_out:
        if not left.gone or directory is None:
            continue
        try:
            documents, files = caches.kept(directory, left.path)
            if len(caches.purge(directory, left.path)) < len(files):
                failed.append(_in_use(left))
            elif files:
                forgotten.append((left, documents))
        except OSError as error:
            failed.append(unusable(error, directory, "deleted"))
    return forgotten, failed


def _in_use(left: LeftOut) -> RecallError:
    return CacheBusy(
        f'root "{left.name}" is not forgotten: another process is writing its cache',
        where=left.path,
        hint="run recall refresh --prune again in a moment",
    )


def _refreshed(
    settings: Config, cwd: str, *, prune: bool, compact: bool, wait: float, quiet: bool
) -> list[Report]:
    from recall.service import Recall

    with (
        progress_on(sys.stderr, quiet=quiet) as progress,
        Recall(settings.roots, cwd=cwd, environ=os.environ) as recall,
    ):
        return recall.refresh(prune=prune, compact=compact, wait=wait, progress=progress)


def _data(reports: Sequence[Report], forgotten: Sequence[Forgotten]) -> dict[str, object]:
    from recall.cli.fields import pruned_fields, refreshed_fields

    gone = [pruned_fields(left, documents) for left, documents in forgotten]
    return {"roots": [*map(refreshed_fields, reports), *gone]}


def _gone(forgotten: Forgotten) -> str:
    left, documents = forgotten
    are = "is" if documents == 1 else "are"
    return f"{visible(left.name)}: gone; its {number(documents, 'note')} {are} forgotten\n"


def _text(reports: Sequence[Report]) -> str:
    return "".join(map(report_lines, reports))


def report_lines(report: Report) -> str:
    """Return what a refresh did in one root, for people."""
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
