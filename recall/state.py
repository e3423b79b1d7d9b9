"""The files of the state directory: the person's own, and nobody else's.

The directory is 0700 and its files 0600 whatever the umask. A symlink, or what belongs to another
person, is refused in either's place: it could be read, or be made to say things, by others. The
names of files may begin with a directory of ours (``shown/…``), which is treated alike.
"""

from __future__ import annotations

import os
import stat

from index_cache.files import refuse_foreign_directory
from recall.files import Unreadable, read_small

_DIRECTORY = 0o700
_FILE = 0o600
# O_NONBLOCK: a FIFO in a file's place is not waited for.
_OURS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_FOREIGN = "it is a symlink, or belongs to somebody else"


def read(state_dir: str, name: str, limit: int) -> bytes:
    """Return the bytes of a state file of at most ``limit`` bytes.

    Raises FileNotFoundError when there is none, Unreadable for anything that is not the person's.
    """
    path = os.path.join(state_dir, name)
    try:
        for directory in _directories(state_dir, name):
            refuse_foreign_directory(directory)
        st = os.lstat(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    if st.st_uid != os.geteuid() or os.path.islink(path):
        raise Unreadable(_FOREIGN)
    return read_small(path, limit)


def read_end(state_dir: str, name: str, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the last ``limit`` bytes of a state file, and the file's state when it was read.

    Raises as ``read`` does, but for a file of any length.
    """
    try:
        for directory in _directories(state_dir, name):
            refuse_foreign_directory(directory)
        descriptor = _opened(os.path.join(state_dir, name), os.O_RDONLY)
        try:
            st = os.fstat(descriptor)
            return os.pread(descriptor, limit, max(0, st.st_size - limit)), st
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error


def write(state_dir: str, name: str, data: bytes, *, sync: bool = True) -> None:
    """Replace a state file atomically, its directory made and closed to others first.

    ``sync`` waits until the disk has it. Raises OSError; then nothing was changed.
    """
    from recall.replace import replace

    for directory in _directories(state_dir, name):
        own(directory)
    replace(os.path.join(state_dir, name), data, mode=_FILE, follow=False, sync=sync)


def append(state_dir: str, name: str, line: bytes) -> int:
    """Append whole lines to a state file in one write; return how long the file is then.

    Many processes may do so at once. A line that a full disk cut off is ended first, so that it
    costs nothing but itself. Raises OSError; then at most a part of a line was written.
    """
    descriptor = open_to_append(state_dir, name)
    try:
        return append_to(descriptor, line)
    finally:
        os.close(descriptor)


def open_to_append(state_dir: str, name: str) -> int:
    """Open a state file for ``append_to``, made if it is missing. Raises OSError."""
    for directory in _directories(state_dir, name):
        own(directory)
    path = os.path.join(state_dir, name)
    flags = os.O_RDWR | os.O_APPEND
    try:
        return _opened(path, flags)
    except FileNotFoundError:
        descriptor = _opened(path, flags | os.O_CREAT)
        os.fchmod(descriptor, _FILE)
        return descriptor


def append_to(descriptor: int, line: bytes) -> int:
    """Append whole lines to an open state file, as ``append`` does; readers skip empty ones."""
    size = os.fstat(descriptor).st_size
    # In the middle of another's write the size may end within a line: then there is an empty one.
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        line = b"\n" + line
    written = os.write(descriptor, line)
    if written != len(line):
        import errno

        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return size + written


def own(state_dir: str) -> None:
    """Make the state directory, or close it to others. Raises OSError if it is not the person's."""
    refuse_foreign_directory(state_dir)
    try:
        mode = os.stat(state_dir).st_mode
    except FileNotFoundError:
        from recall.replace import make_private

        make_private(state_dir)
        mode = os.stat(state_dir).st_mode
    if mode & 0o077:
        os.chmod(state_dir, _DIRECTORY)


def _directories(state_dir: str, name: str) -> list[str]:
    """Return the directories of ours that a file lies in, the outermost first."""
    below = os.path.dirname(name)
    return [state_dir, os.path.join(state_dir, below)] if below else [state_dir]


def _opened(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _OURS, _FILE)
    st = os.fstat(descriptor)
    if stat.S_ISREG(st.st_mode) and st.st_uid == os.geteuid():
        return descriptor
    os.close(descriptor)
    raise PermissionError("it is not a regular file, or belongs to somebody else")
