"""What is at a path that may hold anything: a small file to read, or a directory to search."""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Unreadable(Exception):
    """Something is there that can't be read as a small file; the message is the reason."""


def read_small(path: str, limit: int) -> bytes:
    """Return the bytes of a regular file of at most ``limit`` bytes.

    Raises ``FileNotFoundError`` when nothing is there and ``Unreadable`` for anything else: a
    directory, a larger file, one without permission, a FIFO (which is not waited for).
    """
    try:
        descriptor = os.open(path, _FLAGS)
        try:
            return _read(descriptor, limit)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from error


def read_start(path: str, length: int) -> bytes:
    """Return the first ``length`` bytes of a regular file. Raises OSError, Unreadable."""
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable("it is not a regular file")
        return os.read(descriptor, length)
    finally:
        os.close(descriptor)


def _read(descriptor: int, limit: int) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise Unreadable("it is a directory")
    if not stat.S_ISREG(mode):
        raise Unreadable("it is not a regular file")
    data = b""
    while len(data) <= limit:
        block = os.read(descriptor, limit + 1 - len(data))
        if not block:
            return data
        data += block
    raise Unreadable(f"it is larger than {limit} bytes")


def reason_of(error: Exception) -> str:
    """Return why something failed, in words: of the system's errors without number and path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class DirectoryFault:
    """Why a path can't be searched as a directory; ``missing`` if there is no directory at all."""

    __slots__ = ("missing", "reason")

    def __init__(self, reason: str, *, missing: bool) -> None:
        self.reason = reason
        self.missing = missing


def directory_fault(path: str) -> DirectoryFault | None:
    """Return why ``path`` can't be searched, or None if it is a directory that can be listed."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, UnicodeEncodeError):
        # The last: half a surrogate pair, from a caller in Python. No file can have that name.
        return DirectoryFault("does not exist", missing=True)
    except OSError as error:
        return DirectoryFault(f"can't be read: {error.strerror}", missing=False)
    if not stat.S_ISDIR(mode):
        return DirectoryFault("is not a directory", missing=True)
    if not os.access(path, os.R_OK | os.X_OK):
        return DirectoryFault("can't be read: Permission denied", missing=False)
    return None


def unlinked(path: str) -> bool:
    """Delete a file; return whether that was possible."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
