"""``recall schedule run``: what a scheduler starts: a refresh, then a check."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress

import click

from index_cache.errors import CacheBusy, RecallError, RootUnavailable
from recall.cli.common import Console, required
from recall.cli.fields import local, moment, report_fields
from recall.cli.options import Strict, examples, json_option, quiet_option, root_option
from recall.cli.rebuild import by_kind, proof_errors, proof_lines
from recall.cli.refresh import report_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Root
    from index_cache.refresh import Report
    from index_cache.verify import Proof
    from recall.scheduling.lastrun import Run

_NICE = 10
_PATIENCE = 600.0  # seconds to wait for another writer: nobody else waits for us
# What came while it ran is the next run's, and no fault.
_NO_FAULT = {"pending", "moving"}


@click.command(
    cls=Strict, epilog=examples("recall schedule run", "recall schedule run --quiet --root notes")
)
@root_option
@quiet_option
@json_option
def command(*, names: tuple[str, ...], quiet: bool, as_json: bool) -> int:
    """Do what the schedule does, now.

    Brings the caches up to date, then checks them against the notes (refresh, rebuild --check), as
    configured in the home directory. What changes meanwhile is no fault. A run that finds another
    one at work leaves everything to it and ends with 0. What came of it is kept for "recall
    schedule status".
    """
    from recall import dirs
    from recall.scheduling import lastrun

    console = Console("schedule run", as_json=as_json)
    state_dir = required(dirs.state_dir(os.environ), "what came of the run")
    with suppress(OSError):
        os.nice(_NICE)
    with ExitStack() as stack:
        is_mine = True
        try:
            is_mine = stack.enter_context(lastrun.turn(state_dir))
        except OSError as error:
            _unkept(console, error)
        if not is_mine:
            return _overlapped(console, state_dir, quiet=quiet)
        return _run(console, state_dir, names, quiet=quiet)


def _unkept(console: Console, error: Exception) -> None:
    why = getattr(error, "strerror", None) or str(error)
    console.note(f"what comes of this run can't be kept: {why}", "recall status")


def _overlapped(console: Console, state_dir: str, *, quiet: bool) -> int:
    """Say that another run is at work; only one that never ends is worth a cron's mail."""
    from recall.scheduling import lastrun

    now = time.time()
    known = lastrun.read(state_dir)
    since = None if known is None else known.begun
    with suppress(OSError, RootUnavailable):
        lastrun.overlap(state_dir, now)
    if since is not None and now - since > lastrun.STUCK:
        raise CacheBusy(
            f"an earlier run has been at work since {local(since)}",
            hint="ps shows whether it still does anything; no other run begins before it ends",
        )
    said = "another run is at work: nothing to do\n"
    return console.finish(
        lambda: {"overlapped": True, "begun": moment(since), "refreshed": [], "checked": []},
        lambda _: "" if quiet else said,
    )


def _run(console: Console, state_dir: str, names: Sequence[str], *, quiet: bool) -> int:
    from recall.scheduling import lastrun

    run = lastrun.Run(time.time())
    try:
        lastrun.begin(state_dir, run.begun)
    except (OSError, RootUnavailable) as error:
        _unkept(console, error)
    reports: list[Report] = []
    proofs: list[Proof] = []
    failed: RecallError | None = None
    try:
        failed = _work(console, names, reports, proofs, quiet=quiet)
    except RecallError as error:
        failed = error
    except Exception as error:
        # What it says may quote a note; what it is can't.
        _end(state_dir, run, RecallError(f"a fault in recall itself: {type(error).__name__}"))
        raise
    _count(run, reports, proofs)
    _end(state_dir, run, failed)
    return console.finish(
        lambda: {
            "overlapped": False,
            "begun": moment(run.begun),
            "refreshed": [report_fields(each) for each in reports],
            "checked": [_checked(each) for each in proofs],
        },
        lambda _: "" if quiet else _text(reports, proofs),
        failed,
    )


def _work(
    console: Console,
    names: Sequence[str],
    reports: list[Report],
    proofs: list[Proof],
    *,
    quiet: bool,
) -> RecallError | None:
    """Refresh, then check what could be refreshed; return the first error and tell the others."""
    from recall import config, dirs
    from recall.service import Recall

    home = dirs.home_dir(os.environ) or "/"
    settings = config.load(home, os.environ, names, fallback=False)
    missing = [left.notice for left in settings.left_out if left.notice is not None]
    if not quiet:  # advice, which each command gives
        console.note_all(notice for notice in settings.notices if notice not in missing)
    with Recall(settings.roots, cwd=home, environ=os.environ) as recall:
        reports += recall.refresh(wait=_PATIENCE)
    errors = [entry.failure for entry in reports if entry.failure is not None]
    console.note_reports(reports, errors[0] if errors else None)
    proofs += _proofs([entry.root for entry in reports if entry.failure is None], home)
    for proof in proofs:
        console.note_all(f"{proof.root.name}: {notice}" for notice in proof.notices)
    found = proof_errors([proof for proof in proofs if _is_faulty(proof)], only_check=True)
    found += [RootUnavailable(notice.message, hint=notice.hint) for notice in missing]
    for other in found if errors else found[1:]:
        console.note(other.message, other.hint)
    return next(iter([*errors, *found]), None)


def _proofs(roots: Sequence[Root], home: str) -> list[Proof]:
    from recall.service import Recall

    if not roots:  # without any, the configuration's would be taken
        return []
    with Recall(roots, cwd=home, environ=os.environ) as recall:
        return recall.rebuild(only_check=True, wait=_PATIENCE)


def _is_faulty(proof: Proof) -> bool:
    kinds = set(by_kind(proof))
    only_news = proof.damage is None and bool(kinds) and kinds <= _NO_FAULT
    return proof.failure is not None or not (proof.equivalent or only_news)


def _count(run: Run, reports: Sequence[Report], proofs: Sequence[Proof]) -> None:
    run.refreshed = sum(entry.failure is None for entry in reports)
    done = [proof for proof in proofs if proof.failure is None]
    run.checked = len(done)
    run.damaged = sum(proof.damage is not None for proof in done)
    for proof in done:
        for kind, count in by_kind(proof).items():
            run.differences[kind] += count


def _end(state_dir: str, run: Run, error: RecallError | None) -> None:
    from recall.scheduling import lastrun

    run.ended = time.time()
    if error is not None:
        run.status = error.exit_status
        run.message, run.where, run.hint = error.message, error.where, error.hint
    # Where nothing can be kept, that was said when it began.
    with suppress(OSError, RootUnavailable):
        lastrun.end(state_dir, run)


def _checked(proof: Proof) -> dict[str, object]:
    from recall.envelope import error_fields

    return {
        "name": proof.root.name,
        "path": proof.root.path,
        "equivalent": proof.equivalent,
        "documents": proof.documents,
        "counts": by_kind(proof),
        "damage": proof.damage,
        "seconds": round(proof.seconds, 6),
        "error": None if proof.failure is None else error_fields(proof.failure),
    }


def _text(reports: Sequence[Report], proofs: Sequence[Proof]) -> str:
    checked = (proof_lines(each, only_check=True) for each in proofs)
    return "".join([*map(report_lines, reports), *checked])
