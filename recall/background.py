"""The refresh beside the prompt hook: started when the answer is out, in a process of its own.

``ask`` is the hook's part, which costs it a millisecond; ``main`` is the process. Of those that ask
for the same roots one starts it, holding the lock that the process goes on to hold, and the others
leave a request that it finds. The races are in ``spec/hook.md``, *Refresh*.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

from index_cache.digests import hashed
from index_cache.owned import refuse_directory
from recall import __version__, dirs, state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from index_cache.model import Root
    from index_cache.refresh import Report
    from recall.resolved import Resolved

STARTED, RUNNING, RECENT, UNAVAILABLE = "started", "running", "recent", "unavailable"
MIN_INTERVAL = 2.0  # seconds from the end of one sweep to the beginning of the next
SHARE = 20  # and so many times as long as the last one took
LONGEST_WAIT = 30.0  # seconds; a process that would wait longer is none
MAX_SWEEPS = 100  # of one process: then what the next prompt starts has the code that is there now
EXPIRY = 30 * 86_400.0  # seconds after which the files of roots that nobody asks for are deleted

_DIRECTORY = "background"
_LOCK, _REQUEST = ".lock", ".asked"
_DIGITS = 32
_RECORD_BYTES = 64
_ARGUMENTS = 3
_STANDARD = 2  # the highest descriptor that any program expects to be open
_ATTEMPTS = 3  # to lock a file that others delete
_MOST = 256  # descriptors to look at where the system lists none
_NICE = 10
_FOR_WRITER = 30.0  # seconds to wait for another process that writes a cache
# HUP, INT, QUIT, PIPE, ALRM, TERM: the same numbers on every system. What our parent ignores, as
# Python does a broken pipe, would be ignored by the new process. The module signal takes 2 ms.
_SIGNALS = (1, 2, 3, 13, 14, 15)


def ask(
    cwd: str,
    environ: Mapping[str, str],
    roots: Sequence[Root],
    interval: float,
    *,
    now: float | None = None,
) -> str:
    """Ask for a refresh of ``roots``, as they are configured in ``cwd``; return what came of it.

    ``started``; ``running``: a process is at it and finds the request; ``recent``: it would have to
    wait for over 30 seconds, until ``interval`` seconds and 20 times what the last sweep took have
    gone by since its end; or ``unavailable: WHY``. ``now`` is in seconds since the epoch. The
    process is a child of this one, which does not wait for it. Raises nothing.
    """
    try:
        return _asked(cwd, environ, roots, interval, time.time() if now is None else now)
    except (OSError, ValueError, Unreadable) as error:
        return f"{UNAVAILABLE}: {getattr(error, 'strerror', None) or error}"


def _asked(
    cwd: str, environ: Mapping[str, str], roots: Sequence[Root], interval: float, now: float
) -> str:
    directory = dirs.state_dir(environ)
    if directory is None:
        raise OSError("no home directory is known")
    caches = dirs.cache_dir(environ)
    if caches is not None:
        try:
            refuse_directory(caches)
        except OSError as error:  # else all would be read into memory at each prompt, for nobody
            raise OSError(f"no cache can be kept in {caches}: {error.strerror or error}") from error
    if not os.path.isabs(cwd):
        raise OSError("the working directory is not an absolute path")
    turn = Turn(directory, key(roots, environ))
    turn.request()
    if not turn.take():
        return RUNNING
    try:
        if turn.wait(interval, now) > LONGEST_WAIT:
            return RECENT
        _spawn([cwd, turn.key, str(turn.descriptor)], environ, turn.descriptor)
    finally:
        turn.give_back()
    return STARTED


def key(roots: Sequence[Root], environ: Mapping[str, str]) -> str:
    """Return 32 hex digits of what one process refreshes: the roots, where, by which version."""
    parts = sorted({repr((os.fsencode(root.path), root.rules.as_key())) for root in roots})
    return hashed(repr((__version__, dirs.cache_dir(environ), parts)))


class Turn:
    """Whose turn it is to refresh the roots of a key: a kernel lock, a record and a request.

    ``descriptor`` holds the lock, -1 without it. It is that of an open file, so a process that
    inherits it goes on holding it. All methods raise OSError.
    """

    def __init__(self, state_dir: str, key: str, descriptor: int = -1) -> None:
        self.key = key
        self.descriptor = descriptor
        self._state = state_dir
        self._lock = f"{_DIRECTORY}/{key}{_LOCK}"
        self._request = f"{_DIRECTORY}/{key}{_REQUEST}"

    def request(self) -> None:
        """Leave a request, before looking who holds the lock: the holder looks after letting go."""
        os.close(state.open_to_append(self._state, self._request))

    def is_requested(self) -> bool:
        """Tell whether there is a request that no sweep has begun for."""
        return os.path.lexists(os.path.join(self._state, self._request))

    def begin(self) -> None:
        """Take the request away: a sweep begins after it."""
        try:
            os.unlink(os.path.join(self._state, self._request))
        except FileNotFoundError:
            return

    def take(self) -> bool:
        """Take the lock if nobody holds it, or has it already by inheritance."""
        for _ in range(_ATTEMPTS):
            if self.descriptor < 0:
                self.descriptor = state.open_to_append(self._state, self._lock)
            try:
                fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                break
            except OSError:  # a file system without locks
                self.give_back()
                raise
            if self._in_place():
                return True
            self.give_back()  # it was deleted as disused between the opening and the lock
        self.give_back()
        return False

    def _in_place(self) -> bool:
        try:
            there = os.lstat(os.path.join(self._state, self._lock))
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self.descriptor))

    def give_back(self) -> None:
        """Let go of the lock; a process that inherited it keeps it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def wait(self, interval: float, now: float) -> float:
        """Return how many seconds it is too soon for the next sweep. The lock must be held."""
        last = _parsed(os.pread(self.descriptor, _RECORD_BYTES, 0))
        if last is None or now < last[0]:  # the clock was set back: when it ended is not known
            return 0.0
        ended, seconds = last
        return max(0.0, ended + max(interval, MIN_INTERVAL, SHARE * seconds) - now)

    def ended(self, now: float, seconds: float) -> None:
        """Record when a sweep ended and what it took. The lock must be held."""
        os.ftruncate(self.descriptor, 0)
        os.write(self.descriptor, b"%.3f %.3f\n" % (now, seconds))


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
    """Refresh the roots that are configured in a directory: what ``ask`` starts.

    ``arguments`` are that directory, the key and the descriptor that holds its lock. Returns 0, or
    1 when something went wrong, which ``recall status`` then shows; nothing is printed.
    """
    directory = dirs.state_dir(os.environ)
    if directory is None or len(arguments) != _ARGUMENTS:
        return 1
    cwd, name, descriptor = arguments
    try:
        _leave()
        turn = Turn(directory, name, int(descriptor))
        os.set_inheritable(turn.descriptor, False)  # noqa: FBT003 - its only form
        if turn.take():
            _serve(turn, cwd, directory)
    except Exception as error:  # noqa: BLE001 - nobody else would ever hear of it
        _record(directory, error)
        return 1
    return 0


def _serve(turn: Turn, cwd: str, state_dir: str) -> None:
    from recall import resolved

    def interval() -> float:
        return resolved.load(cwd, os.environ).hook.refresh_interval

    def sweep() -> float:
        # Loaded again: it may have waited, and what was made private since must not be read.
        return _swept(resolved.load(cwd, os.environ), cwd, state_dir)

    serve(turn, interval, sweep)
    if turn.descriptor >= 0:
        _spawn([cwd, turn.key, str(turn.descriptor)], os.environ, turn.descriptor)
        turn.give_back()
    sweep_files(state_dir)


def _swept(settings: Resolved, cwd: str, state_dir: str) -> float:
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
    directory = os.path.join(state_dir, _DIRECTORY)
    try:
        state.own(directory)
        names = os.listdir(directory)
    except OSError:
        return
    for name in sorted(names):  # the request before the lock, which it may need
        stem, suffix = os.path.splitext(name)
        known = len(stem) == _DIGITS and not stem.strip("0123456789abcdef")
        if known and suffix in {_LOCK, _REQUEST} and _is_old(os.path.join(directory, name), now):
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


def _parsed(data: bytes) -> tuple[float, float] | None:
    """Return when the last sweep ended and what it took, None if a record does not say."""
    try:
        ended, seconds = map(float, data.split())
    except ValueError:
        return None
    limit = float("inf")
    return (ended, seconds) if 0 <= ended < limit and 0 <= seconds < limit else None


def _spawn(arguments: list[str], environ: Mapping[str, str], lock: int) -> None:
    """Start ``main`` in a session of its own, with nothing open but the lock."""
    if not sys.executable:
        raise OSError("where the interpreter is, is not known")
    # -P: the working directory may be a stranger's repository.
    command = [sys.executable, "-P", "-m", "recall.background", *arguments]
    options: dict[str, Any] = {
        "file_actions": list(_file_actions(lock)),
        "setsigmask": (),
        "setsigdef": _SIGNALS,
    }
    os.set_inheritable(lock, True)  # noqa: FBT003 - its only form
    try:
        os.posix_spawn(sys.executable, command, environ, setsid=True, **options)
    except NotImplementedError:  # the process does it itself, a moment later
        os.posix_spawn(sys.executable, command, environ, **options)


def _file_actions(lock: int) -> Iterator[tuple[Any, ...]]:
    for descriptor in _descriptors():
        if descriptor > _STANDARD and descriptor != lock and _is_inheritable(descriptor):
            yield (os.POSIX_SPAWN_CLOSE, descriptor)
    yield (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    yield (os.POSIX_SPAWN_DUP2, 0, 1)
    yield (os.POSIX_SPAWN_DUP2, 0, 2)


def _descriptors() -> Iterator[int]:
    try:
        return map(int, os.listdir("/dev/fd"))
    except (OSError, ValueError):
        return iter(range(_MOST))


def _is_inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:  # that of the listing itself, closed by now
        return False


def _leave() -> None:
    """Leave the host's session, its directory, and the person's work in front."""
    os.chdir("/")
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.nice(_NICE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
