"""Kernel locks, and who may write a root's cache: such a lock, and what its file's time says.

Nothing else takes locks of the kernel. See ``spec/cache-format.md``.
"""

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from index_cache.errors import CacheBusy
    from index_cache.model import Root

SUFFIX = ".lock"
POLL = 0.005  # seconds
_PRIVATE_FILE = 0o600


def take(descriptor: int) -> bool:
    """Take the lock of an open file for this process alone, without waiting for it.

    False when another process has it; True also when this one has it by inheritance. It is gone
    when the last descriptor of that opening is closed. Raises OSError: that file system has none.
    """
    import fcntl  # searches import this module, and lock nothing

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class WriterLock:
    """The right to write a root's cache: a kernel lock, gone with the process that held it.

    The lock's file is never deleted by a writer, so that all lock the same one; its time says
    when the cache was last found fresh. ``path`` is the cache file's; None locks nothing.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else lock_file(path)
        self._descriptor: int | None = None

    def acquire(self, wait: float) -> bool:
        """Take the lock, waiting up to ``wait`` seconds; True when it is held."""
        if self._path is None or self._descriptor is not None:
            return True
        descriptor = _open(self._path)
        deadline = time.monotonic() + wait
        try:
            while not take(descriptor):
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    return False
                # The kernel knows no lock with a time limit but by a signal, which is the caller's.
                time.sleep(POLL)
        except OSError:  # a file system that knows no locks
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _open(path: str) -> int:
    """Open a lock's file, made if need be. An empty directory in its place is taken away.

    A file that lost its owner's rights gets them back. Anything else is left: between seeing and
    unlinking it another process may have put its lock there. Raises OSError.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags, _PRIVATE_FILE)
    except IsADirectoryError:
        _remove_directory(path)
        descriptor = os.open(path, flags, _PRIVATE_FILE)
    except PermissionError as error:
        if not os.path.isfile(path) or os.path.islink(path):
            raise
        try:
            os.chmod(path, _PRIVATE_FILE)
        except OSError:
            raise error from None
        descriptor = os.open(path, flags, _PRIVATE_FILE)
    try:
        if not os.fstat(descriptor).st_mode & stat.S_IWUSR:  # a umask that denies its owner
            os.fchmod(descriptor, _PRIVATE_FILE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_directory(path: str) -> None:
    try:
        os.rmdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return  # another process was quicker


def lock_file(path: str) -> str:
    """Return the path of a cache file's lock."""
    return os.path.splitext(path)[0] + SUFFIX


def mark_used(path: str) -> None:
    """Note, as the time of its lock file, that a cache was found fresh just now."""
    try:
        os.utime(lock_file(path))
    except OSError:
        return  # a read-only home: there is nothing to sweep there either


def last_used(path: str) -> float | None:
    """Return when ``mark_used`` was last called, in seconds since the epoch."""
    try:
        return os.stat(lock_file(path)).st_mtime
    except OSError:
        return None


def busy(root: Root, wait: float) -> CacheBusy:
    """Return the error for a cache that another process is still building."""
    from index_cache.errors import CacheBusy  # rare, and the prompt hook imports this module

    return CacheBusy(
        f"another process is still building the cache of root {root.name} (waited {wait:g} s)",
        where=root.path,
        hint="try again in a moment, or wait longer: recall search --wait 120 …",
    )
