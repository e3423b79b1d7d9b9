"""The file system and the clock, in one place, so that tests can put their own there.

See ``spec/staleness.md`` for what a signature proves, and when.
"""

from __future__ import annotations

import os
import stat
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class StatResult(Protocol):
        """The fields of os.stat_result that are used."""

        st_mode: int
        st_mtime_ns: int
        st_ctime_ns: int
        st_size: int
        st_ino: int
        st_dev: int

    class DirEntry(Protocol):
        """What is used of os.DirEntry[bytes]."""

        @property
        def name(self) -> bytes: ...
        def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
        def is_symlink(self) -> bool: ...
        def stat(self, *, follow_symlinks: bool = True) -> StatResult: ...


# A time stamp is trusted only when it is this much older than the scan that saw it: FAT keeps
# 2 s, HFS+ and some network file systems 1 s, and Linux stamps with the last clock tick.
GRANULARITY_NS = 2_000_000_000

DEVICE_MASK = 0xFFFFFFFFFFFFFFFF  # device numbers may be negative
_SIGNATURE = struct.Struct("<qqqQQ")
_READ_TRIES = 3
_DATALESS = 0x40000000  # macOS, SF_DATALESS
_PLACEHOLDER = 0x1000 | 0x40000 | 0x400000  # Windows: OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS


class Moving(OSError):
    """A file changed each time while it was being read."""


def signature(st: StatResult) -> bytes:
    """Return (mtime_ns, ctime_ns, size, inode, device) of a file as 40 bytes."""
    return _SIGNATURE.pack(
        st.st_mtime_ns, st.st_ctime_ns, st.st_size, st.st_ino, st.st_dev & DEVICE_MASK
    )


def mtime_ns(sig: bytes) -> int:
    """Return the modification time in a signature, in ns since the epoch."""
    return int(_SIGNATURE.unpack(sig)[0])


def size(sig: bytes) -> int:
    """Return the size in a signature, in bytes."""
    return int(_SIGNATURE.unpack(sig)[2])


def device(sig: bytes) -> int:
    """Return the device in a signature."""
    return int(_SIGNATURE.unpack(sig)[4])


def is_suspect(sig: bytes, clock_ns: int) -> bool:
    """Tell whether an edit could still hide behind this signature ("racily clean").

    ``clock_ns`` is the time read before the scan that took the signature. A file written in the
    same tick of its clock as the scan can be written once more without its signature changing.
    """
    written, changed, *_ = _SIGNATURE.unpack(sig)
    return bool(max(written, changed) + GRANULARITY_NS >= clock_ns)


def is_placeholder(st: StatResult) -> bool:
    """Tell whether a file's content is not on this disk, so that reading would fetch it."""
    flags: int = getattr(st, "st_flags", 0)
    attributes: int = getattr(st, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _PLACEHOLDER)


class FileSystem:
    """The operating system's own files and clock; tests override single methods."""

    def now_ns(self) -> int:
        """Return the time of day in ns since the epoch, on the clock that stamps files."""
        return time.time_ns()

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        """List a directory. Raises OSError."""
        with os.scandir(path) as listing:
            return list(listing)

    def stat(self, path: bytes) -> StatResult:
        """Return a file's own state, not that of what a symlink points to. Raises OSError."""
        return os.lstat(path)

    def fstat(self, descriptor: int) -> StatResult:
        """Return the state of an open file. Raises OSError."""
        return os.fstat(descriptor)

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        """Return a regular file's signature and its first ``limit`` bytes, which belong together.

        Raises OSError, among them Moving when the file changed at each of three readings. Opening
        never blocks on a FIFO that took the file's place, and never follows a symlink.
        """
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        for _ in range(_READ_TRIES):
            descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
            try:
                before = self.fstat(descriptor)
                if not stat.S_ISREG(before.st_mode):
                    message = "not a regular file any more"
                    raise OSError(message)
                data = _read(descriptor, min(before.st_size, limit), limit)
                after = signature(self.fstat(descriptor))
            finally:
                os.close(descriptor)
            if after == signature(before):
                return after, data
        message = "the file kept changing while it was read"
        raise Moving(message)


def _read(descriptor: int, expected: int, limit: int) -> bytes:
    """Read up to ``limit`` bytes; one system call more than ``expected`` needs, to see the end."""
    parts = []
    left = limit
    while left:
        part = os.read(descriptor, min(left, max(expected, 0) + 1))
        if not part:
            break
        parts.append(part)
        left -= len(part)
        expected -= len(part)
    return b"".join(parts) if len(parts) != 1 else parts[0]


def describe(error: OSError) -> str:
    """Return an OSError's reason alone: its path may be one that must not be shown."""
    return error.strerror or str(error)


def display(path: bytes) -> str:
    """Return a path as text; bytes that are not UTF-8 appear escaped (``\\xff``)."""
    return path.decode("utf-8", "backslashreplace")
