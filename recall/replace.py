"""Replacing a file atomically, one writer at a time."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress

from index_cache.errors import RootUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from index_cache.errors import RecallError

PATIENCE = 5.0  # seconds that another process's lock is waited for
_PACE = 0.05  # seconds between two tries
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def replace(
    path: str,
    data: bytes,
    *,
    mode: int | None = None,
    follow: bool = True,
    sync: bool = True,
    last_look: Callable[[], None] | None = None,
) -> None:
    """Write ``data`` to ``path`` so that a reader or a crash finds the old file or the new one.

    A symlink's target is replaced, not the link, unless ``follow`` is False. ``mode`` is set
    whatever the umask; without it an existing file keeps its mode and a new one gets what the
    umask leaves. Without ``sync`` the disk is not waited for: after a power cut the file may be
    empty. ``last_look`` is called right before the file is replaced, when the slow part is over: it
    may raise if that is no longer the file that was read.
    Raises ``OSError`` and what ``last_look`` does; then nothing was changed and no temporary file
    is left.
    """
    if follow:
        path = os.path.realpath(path)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
    try:
        with open(descriptor, "wb") as stream:
            if follow or mode is None:
                _take_over(path, descriptor, mode)
            else:  # what is there may be a link to somebody else's file
                os.fchmod(descriptor, mode)
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(descriptor)
        if last_look is not None:
            last_look()
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if sync:
        _sync_directory(os.path.dirname(path))


def _take_over(path: str, descriptor: int, mode: int | None) -> None:
    try:
        old = os.stat(path)
    except FileNotFoundError:
        if mode is not None:
            os.fchmod(descriptor, mode)
        return
    with suppress(PermissionError):  # only root may give files away; the content matters more
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) if mode is None else mode)


def _sync_directory(directory: str) -> None:
    # Some file systems can't sync a directory; the rename has happened all the same.
    with suppress(OSError):
        descriptor = os.open(directory, _DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_private(directory: str) -> None:
    """Create ``directory`` and its missing parents, each 0700 whatever the umask."""
    if os.path.isdir(directory):
        return
    parent = os.path.dirname(directory)
    if parent != directory:
        make_private(parent)
    with suppress(FileExistsError):
        os.mkdir(directory, 0o700)
        os.chmod(directory, 0o700)


@contextmanager
def locked(
    directory: str, patience: float | None = None, busy: type[RecallError] = RootUnavailable
) -> Iterator[bool]:
    """Hold the lock of ``directory``, so that two edits of a file in it don't lose one of them.

    The lock is on the directory itself: no lock file appears beside a person's files, and the
    kernel frees it when a process dies. Where the file system has no locks, none is taken, and
    False given. Raises ``busy`` when another process keeps it for ``patience`` seconds.
    """
    descriptor = os.open(directory, _DIRECTORY)
    try:
        yield _is_locked(descriptor, directory, PATIENCE if patience is None else patience, busy)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, directory: str, patience: float, busy: type[RecallError]) -> bool:
    import time

    from index_cache import locks

    end = time.monotonic() + patience
    try:
        while not locks.take(descriptor):
            if time.monotonic() >= end:
                raise busy(
                    f"another process has had the lock of a directory for {patience:g} s",
                    where=directory,
                    hint="try again when it is done; nothing was changed",
                )
            time.sleep(_PACE)
    except OSError:
        return False
    return True
