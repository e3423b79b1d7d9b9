"""The file system and the clock, in one place, so that tests can put their own there.

And whose a directory is, and in which repository. Free of the database, for the prompt hook.
See ``spec/staleness.md`` for what a signature proves, and when.
"""

from __future__ import annotations

import os
import stat
import time
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class StatResult(Protocol):
        """The fields of os.stat_result that are used."""

        @property
        def st_mode(self) -> int:
            """Type and permissions."""

        @property
        def st_mtime_ns(self) -> int:
            """When the content was last changed, in ns since the epoch."""

        @property
        def st_ctime_ns(self) -> int:
            """When the inode was last changed, in ns since the epoch."""

        @property
        def st_size(self) -> int:
            """Size in bytes."""

        @property
        def st_ino(self) -> int:
            """Inode."""

        @property
        def st_dev(self) -> int:
            """Device."""

    class DirEntry(Protocol):
        """What is used of os.DirEntry[bytes]."""

        @property
        def name(self) -> bytes:
            """The name in its directory."""

        def is_dir(self, *, follow_symlinks: bool = True) -> bool:
            """Tell whether it is a directory."""

        def is_file(self, *, follow_symlinks: bool = True) -> bool:
            """Tell whether it is a regular file."""

        def is_symlink(self) -> bool:
            """Tell whether it is a symlink."""

        def stat(self, *, follow_symlinks: bool = True) -> StatResult:
            """Return its state."""


_PRIVATE = 0o700  # of a directory of ours
# A time stamp is trusted only when it is this much older than the scan that saw it: FAT keeps
# 2 s, HFS+ and some network file systems 1 s, and Linux stamps with the last clock tick.
GRANULARITY_NS = 2_000_000_000

_UNSIGNED = 0xFFFFFFFFFFFFFFFF
DEVICE_MASK = _UNSIGNED  # device numbers may be negative
_LATEST = 2**63 - 1
_DAY_NS = 86_400_000_000_000
_READ_TRIES = 3
_CHUNK = 1024 * 1024
_DATALESS = 0x40000000  # macOS, SF_DATALESS
# Windows: FILE_ATTRIBUTE_OFFLINE, _RECALL_ON_OPEN, _RECALL_ON_DATA_ACCESS.
_PLACEHOLDER = 0x1000 | 0x40000 | 0x400000


class Moving(OSError):
    """A file changed each time while it was being read."""


def signature(st: StatResult) -> bytes:
    """Return (mtime_ns, ctime_ns, size, inode, device) of a file as 40 bytes."""
    # Without struct, which takes .2 ms to import: ``scan``, which signs all files, has it.
    written, changed = st.st_mtime_ns, st.st_ctime_ns
    if (written | changed) >> 63:  # before 1970, or outside of the years 1678 to 2262
        written, changed = (
            max(-_LATEST, min(time_ns, _LATEST)) & _UNSIGNED for time_ns in (written, changed)
        )
    numbers = written | changed << 64 | st.st_size << 128 | st.st_ino << 192
    return (numbers | (st.st_dev & DEVICE_MASK) << 256).to_bytes(40, "little")


def _number(sig: bytes, place: int, *, signed: bool = True) -> int:
    return int.from_bytes(sig[8 * place : 8 * place + 8], "little", signed=signed)


def mtime_ns(sig: bytes) -> int:
    """Return the modification time in a signature, in ns since the epoch."""
    return _number(sig, 0)


def size(sig: bytes) -> int:
    """Return the size in a signature, in bytes."""
    return _number(sig, 2)


def device(sig: bytes) -> int:
    """Return the device in a signature."""
    return _number(sig, 4, signed=False)


def is_suspect(sig: bytes, clock_ns: int) -> bool:
    """Tell whether an edit could still hide behind this signature ("racily clean").

    ``clock_ns`` is the time read before the scan that took the signature. A file written in the
    same tick of its clock as the scan can be written once more without its signature changing.
    A modification time of more than a day ahead was set by hand: another edit would not leave it
    there, and the file need not be read again on every scan until that day comes.
    """
    written, changed = _number(sig, 0), _number(sig, 1)
    young = clock_ns - GRANULARITY_NS
    return bool(changed >= young or young <= written <= clock_ns + _DAY_NS)


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

    def is_below(self, directory: bytes, top: bytes) -> bool:
        """Tell whether the way from ``top`` to a directory in it leads over no symlink.

        ``directory`` is a path that begins with ``top``.
        """
        top = top.rstrip(b"/")
        below = directory[len(top) :].rstrip(b"/")
        base = os.path.realpath(top or b"/").rstrip(b"/")
        return os.path.realpath(directory) == (base + below or b"/")

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
                data = _read(descriptor, before.st_size, limit)
                after = signature(self.fstat(descriptor))
            finally:
                os.close(descriptor)
            if after == signature(before):
                return after, data
        message = "the file kept changing while it was read"
        raise Moving(message)


def _read(descriptor: int, size: int, limit: int) -> bytes:
    """Read up to ``limit`` bytes of a file that should have ``size``, in one call if it does."""
    data = os.read(descriptor, min(size + 1, limit))
    # Having read one byte less than was asked for, no byte is left: no second call to see that.
    if len(data) == size:
        return data
    parts = [data]
    left = limit - len(data)
    while left and parts[-1]:
        parts.append(os.read(descriptor, min(left, _CHUNK)))
        left -= len(parts[-1])
    return b"".join(parts)


def refuse_foreign_directory(directory: str) -> None:
    """Raise OSError when a symlink or another person's directory is in our directory's place.

    What is written there could be read, or changed, by others.
    """
    try:
        st = os.lstat(directory)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(st.st_mode):
        raise NotADirectoryError("it is a symlink, or no directory")
    if st.st_uid != os.geteuid():
        raise PermissionError("it belongs to somebody else")


def refuse_directory(directory: str) -> None:
    """Raise OSError when no cache can be kept in a directory: by its name, or whose it is."""
    refuse_name(directory)
    refuse_foreign_directory(directory)


def refuse_name(directory: str) -> None:
    """Raise OSError when SQLite can't open a file in a directory: it takes names in UTF-8 alone."""
    try:
        directory.encode()
    except UnicodeEncodeError:
        import errno

        raise OSError(errno.EILSEQ, "its name is not UTF-8", directory) from None


def repository(root: bytes) -> bytes | None:
    """Return the top directory of the repository that a directory lies in, None outside of one."""
    directory = root
    while True:
        if os.path.lexists(os.path.join(directory, b".git")):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def is_jsonl(path: bytes) -> bool:
    """Tell whether a file's name says that each of its lines is a record."""
    return path[-6:].lower() == b".jsonl"


def describe(error: OSError) -> str:
    """Return an OSError's reason alone: its path may be one that must not be shown."""
    return error.strerror or str(error)


def portable(path: bytes) -> bytes:
    """Return a relative path as NFC, as which it is the same on every machine.

    macOS may give a name as NFD that was written as NFC. Bytes that are not UTF-8 stay.
    """
    if path.isascii():
        return path
    text = path.decode("utf-8", "surrogateescape")
    return unicodedata.normalize("NFC", text).encode("utf-8", "surrogateescape")


def display(path: bytes) -> str:
    r"""Return a path as text; bytes that are not UTF-8 appear escaped (``\xff``)."""
    return path.decode("utf-8", "backslashreplace")


def ensure_directory(directory: str) -> None:
    """Make the cache directory and what is missing above it, 0700 whatever the umask.

    One that exists is closed to others; its owner's rights stay as they are. Raises OSError.
    """
    try:
        os.mkdir(directory, _PRIVATE)
    except FileNotFoundError:
        ensure_directory(os.path.dirname(directory))
        os.mkdir(directory, _PRIVATE)
    except FileExistsError:
        mode = stat.S_IMODE(os.stat(directory).st_mode)
        if mode & 0o077:
            os.chmod(directory, mode & _PRIVATE)
        return
    os.chmod(directory, _PRIVATE)
