"""The refresh beside the prompt hook: asked for when the answer is out.

It costs the hook a millisecond; ``recall.sweeper`` is the process that does it. Of those that ask
for the same roots one starts it, holding the lock that the process goes on to hold, and the others
leave a request that it finds. The races are in ``spec/hook.md``, *Refresh*.
"""

from __future__ import annotations

import os
import time

from index_cache import locks
from index_cache.digests import hashed
from index_cache.files import refuse_directory
from recall import __version__, dirs, state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from index_cache.model import Root

STARTED, RUNNING, RECENT, UNAVAILABLE = "started", "running", "recent", "unavailable"
MIN_INTERVAL = 2.0  # seconds from the end of one sweep to the beginning of the next
SHARE = 20  # and so many times as long as the last one took
LONGEST_WAIT = 30.0  # seconds; a process that would wait longer is none

NAMED = "--"  # behind it come values of --root, in the arguments of ``recall.sweeper``
DIRECTORY = "background"
LOCK, REQUEST = ".lock", ".asked"  # behind a key, the names of its files
DIGITS = 32  # of a key

_RECORD_BYTES = 64
_ATTEMPTS = 3  # to lock a file that others delete


def ask(
    cwd: str,
    environ: Mapping[str, str],
    roots: Sequence[Root],
    interval: float,
    *,
    now: float | None = None,
    names: Sequence[str] | None = None,
) -> str:
    """Ask for a refresh of ``roots``, as they are configured in ``cwd``; return what came of it.

    With ``names`` they are those that these values of ``--root`` mean there, or without any the
    repository's own.

    ``started``; ``running``: a process is at it and finds the request; ``recent``: it would have to
    wait for over 30 seconds, until ``interval`` seconds and 20 times what the last sweep took have
    gone by since its end; or ``unavailable: WHY``. ``now`` is in seconds since the epoch. The
    process is a child of this one, which does not wait for it. Raises nothing.
    """
    try:
        more = [] if names is None else [NAMED, *names]
        return _asked(cwd, environ, roots, interval, time.time() if now is None else now, more)
    except (OSError, ValueError, Unreadable) as error:
        return f"{UNAVAILABLE}: {getattr(error, 'strerror', None) or error}"


def _asked(
    cwd: str,
    environ: Mapping[str, str],
    roots: Sequence[Root],
    interval: float,
    now: float,
    more: Sequence[str],
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
        start([cwd, turn.key, str(turn.descriptor), *more], environ, turn.descriptor)
    finally:
        turn.give_back()
    return STARTED


def start(arguments: list[str], environ: Mapping[str, str], lock: int) -> None:
    """Start the process, which goes on to hold the descriptor ``lock``. Raises OSError.

    ``arguments`` are those of ``recall.sweeper``.
    """
    from recall import detach  # most prompts find a process at work, or one that was

    detach.spawn("recall.sweeper", arguments, environ, lock)


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
        self._lock = f"{DIRECTORY}/{key}{LOCK}"
        self._request = f"{DIRECTORY}/{key}{REQUEST}"

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
                if not locks.take(self.descriptor):
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


def _parsed(data: bytes) -> tuple[float, float] | None:
    """Return when the last sweep ended and what it took, None if a record does not say."""
    try:
        ended, seconds = map(float, data.split())
    except ValueError:
        return None
    limit = float("inf")
    return (ended, seconds) if 0 <= ended < limit and 0 <= seconds < limit else None
