"""The process that refreshes beside the prompt hook, which ``recall.background`` starts.

It sweeps as long as requests come, one process at a time for the same roots, with nothing of its
parent's but the lock. What goes wrong is kept for ``recall status``: nobody sees its output.
"""

from __future__ import annotations

import os
import sys
import time

from recall import detach, dirs, state
from recall.background import DIGITS, DIRECTORY, LOCK, LONGEST_WAIT, NAMED, REQUEST, Turn, start
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.model import Root
    from index_cache.refresh import Report
    from recall.resolved import Resolved
    from recall.settings import Config

MAX_SWEEPS = 100  # of one process: then what the next prompt starts has the code that is there now
EXPIRY = 30 * 86_400.0  # seconds after which the files of roots that nobody asks for are deleted

_ARGUMENTS = 3
_NICE = 10
_FOR_WRITER = 30.0  # seconds to wait for another process that writes a cache


def serve(
    turn: Turn,
    interval: Callable[[], float],
    sweep: Callable[[], float],
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Sweep once, and again as long as requests come; return how often. ``turn`` must be held.

    ``interval`` returns the seconds between two sweeps, ``sweep`` those that count for it. Stops at
    what they raise. ``turn`` is still held at the end only if ``MAX_SWEEPS`` left a request.
    """
    for done in range(MAX_SWEEPS):
        wait = turn.wait(interval(), clock())
        if wait > LONGEST_WAIT:  # the request stays for what a later prompt starts
            turn.give_back()
            return done
        sleep(wait)
        turn.begin()
        started, seconds = clock(), None
        try:
            seconds = sweep()
        finally:
            now = clock()
            turn.ended(now, now - started if seconds is None else seconds)
        if turn.is_requested():
            continue
        turn.give_back()
        # Whoever asked since the question before found the lock held, and counts on us.
        if not turn.is_requested() or not turn.take():
            return done + 1
    return MAX_SWEEPS


def main(arguments: Sequence[str]) -> int:
    """Refresh the roots that are configured in a directory: what ``background.ask`` starts.

    ``arguments`` are that directory, the key and the descriptor that holds its lock; behind ``--``
    what ``--root`` names, if it is not what is configured. Returns 0, or
    1 when something went wrong, which ``recall status`` then shows; nothing is printed.
    """
    directory = dirs.state_dir(os.environ)
    if (
        directory is None
        or len(arguments) < _ARGUMENTS
        or arguments[_ARGUMENTS:][:1] not in ([], [NAMED])
    ):
        return 1
    cwd, name, descriptor, *more = arguments
    try:
        _leave()
        turn = Turn(directory, name, int(descriptor))
        os.set_inheritable(turn.descriptor, False)  # noqa: FBT003 - its only form
        if turn.take():
            _serve(turn, cwd, directory, more)
    except Exception as error:  # noqa: BLE001 - nobody else would ever hear of it
        _record(directory, error)
        return 1
    return 0


def _serve(turn: Turn, cwd: str, state_dir: str, more: Sequence[str] = ()) -> None:
    def load() -> Config | Resolved:
        if more:
            from recall import config

            return config.load(cwd, os.environ, more[1:], fallback=True)
        from recall import resolved

        return resolved.load(cwd, os.environ)

    def interval() -> float:
        return load().hook.refresh_interval

    def sweep() -> float:
        # Loaded again: it may have waited, and what was made private since must not be read.
        return _swept(load(), cwd, state_dir)

    serve(turn, interval, sweep)
    if turn.descriptor >= 0:
        start([cwd, turn.key, str(turn.descriptor), *more], os.environ, turn.descriptor)
        turn.give_back()
    sweep_files(state_dir)


def _swept(settings: Config | Resolved, cwd: str, state_dir: str) -> float:
    """Refresh all roots; return how many seconds count for the time until the next sweep."""
    from recall import ledger
    from recall.service import Recall

    with Recall(settings.roots, cwd=cwd, environ=os.environ) as recall:
        # Waited for first: what another process takes is no measure of a sweep either.
        wait = _FOR_WRITER if _no_writer(recall.roots) else 0.0
        started = time.monotonic()
        reports = recall.refresh(wait=wait)
    ledger.sweep(state_dir)
    from recall import hookfault

    hookfault.worked(state_dir, hookfault.REFRESH)
    built = sum(report.seconds for report in reports if _is_first(report))
    return max(0.0, time.monotonic() - started - built)


def _no_writer(roots: Sequence[Root]) -> bool:
    """Wait until nobody else writes the caches of some roots; return whether that came to be."""
    from index_cache import db, locks

    directory = dirs.cache_dir(os.environ)
    if directory is None:
        return True
    for root in roots:
        try:
            with locks.WriterLock(db.cache_path(directory, root)) as lock:
                if not lock.acquire(_FOR_WRITER):
                    return False
        except OSError:  # none can be written, and the refresh says why
            continue
    return True


def _is_first(report: Report) -> bool:
    """Tell whether a report is of a first build, which comes once: no sweep will take as long."""
    return report.built and report.cache_file is not None and report.damage is None


def _record(state_dir: str, error: Exception) -> None:
    from index_cache.errors import RecallError
    from recall import hookfault

    if isinstance(error, RecallError):
        message, where, hint = error.message, error.where, error.hint
    else:
        # What it says may quote a note; what it is and where it arose can't.
        message, where, hint = f"a fault of ours, {type(error).__name__}", _arose(error), None
        if isinstance(error, OSError) and error.strerror:
            message = error.strerror
    hookfault.note(state_dir, message, where=where, hint=hint, part=hookfault.REFRESH)


def _arose(error: Exception) -> str | None:
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return None if at is None else f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}"


def sweep_files(state_dir: str, now: float | None = None) -> None:
    """Delete the files of keys that nobody has asked for in 30 days. Never raises."""
    now = time.time() if now is None else now
    directory = os.path.join(state_dir, DIRECTORY)
    try:
        state.own(directory)
        names = os.listdir(directory)
    except OSError:
        return
    for name in sorted(names):  # the request before the lock, which it may need
        stem, suffix = os.path.splitext(name)
        known = len(stem) == DIGITS and not stem.strip("0123456789abcdef")
        if known and suffix in {LOCK, REQUEST} and _is_old(os.path.join(directory, name), now):
            turn = Turn(state_dir, stem)
            try:
                if turn.take():
                    os.unlink(os.path.join(directory, name))
            except (OSError, Unreadable):
                continue
            finally:
                turn.give_back()


def _is_old(path: str, now: float) -> bool:
    try:
        return abs(now - os.lstat(path).st_mtime) > EXPIRY
    except OSError:
        return False


def _leave() -> None:
    """Leave the host's session, its directory, and the person's work in front."""
    detach.leave()
    os.nice(_NICE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
