"""What lies in recall's own directories: sizes, modes, times; the names of files and no content."""

from __future__ import annotations

import os
import stat

from index_cache import mounts
from index_cache.files import refuse_directory
from recall.health.evidence import Exposed, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 20_000  # files of one directory that are looked at
_DEPTH = 2  # directories of ours in one another
_OTHERS, _EVERYBODY_WRITES = 0o077, 0o002


class Look:
    """One directory of recall's own with what lies in it.

    ``files`` are path, size and time of the last change (seconds since the epoch), ``exposed`` the
    path and mode of what others may get at.
    """

    __slots__ = ("exposed", "files")

    def __init__(self, directory: str | None) -> None:
        self.files: list[tuple[str, int, float]] = []
        self.exposed: list[tuple[str, int]] = []
        if directory is not None:
            for path, st in _walked(directory):
                if path == directory and not stat.S_ISDIR(st.st_mode):
                    break  # not ours, and told as what is in the way
                if not stat.S_ISDIR(st.st_mode):
                    self.files.append((path, st.st_size, st.st_mtime))
                if not stat.S_ISLNK(st.st_mode) and st.st_mode & _OTHERS:
                    self.exposed.append((path, stat.S_IMODE(st.st_mode)))


def place(what: str, directory: str | None, look: Look) -> Place:
    """Return what is known of a directory of ours; it need not exist yet."""
    if directory is None:
        return Place(what, None)
    there = _existing(directory)
    device, free = None, None
    try:
        device, space = os.stat(there).st_dev, os.statvfs(there)
        free = space.f_bavail * space.f_frsize
    except OSError:
        pass
    return Place(
        what,
        directory,
        fault=_fault(directory, there),
        remote=what == "cache" and mounts.is_remote(there),
        device=device,
        free=free,
        size=sum(size for _, size, _ in look.files) if what == "state" else 0,
    )


def exposed(what: str, directory: str | None, look: Look) -> list[Exposed]:
    """Return what others may get at in a directory of ours, as one."""
    if directory is None or not look.exposed:
        return []
    path, mode = look.exposed[0]
    for _, other in look.exposed[1:]:
        mode |= other & 0o022
    return [Exposed(what, path, mode, directory, len(look.exposed))]


def exposed_configuration(file: str | None) -> list[Exposed]:
    """Return the person's own file, or its directory, if everybody may write it."""
    found = []
    for path in [] if file is None else [file, os.path.dirname(file)]:
        try:
            mode = os.stat(path).st_mode
        except OSError:
            continue
        if mode & _EVERYBODY_WRITES and not mode & stat.S_ISVTX:
            found.append(Exposed("config", path, stat.S_IMODE(mode), path))
    return found


def _walked(directory: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a directory and what is below it, the directory first; what can't be seen is not."""
    left = MOST
    waiting = [(directory, 0)]
    try:
        yield directory, os.lstat(directory)
    except OSError:
        return
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return
                    st = _stat(entry)
                    if st is None:
                        continue
                    yield entry.path, st
                    if stat.S_ISDIR(st.st_mode) and depth < _DEPTH:
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _existing(directory: str) -> str:
    """Return a directory, or the nearest above it that exists."""
    while not os.path.isdir(directory) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def _fault(directory: str, there: str) -> str | None:
    """Return why nothing can be kept in a directory, None if something can."""
    try:
        refuse_directory(directory)
    except OSError as error:
        return error.strerror or str(error)
    if there != directory and os.path.lexists(_next(there, directory)):
        return "what is in its place is no directory"
    if not os.access(there, os.W_OK | os.X_OK):
        return "it can't be written"
    return None


def _next(there: str, directory: str) -> str:
    """Return what would have to lie in ``there`` on the way to ``directory``."""
    return os.path.join(there, os.path.relpath(directory, there).partition(os.sep)[0])
