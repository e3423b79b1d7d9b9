"""Files below one root, reached name by name from its open directory: never over a symlink.

So nothing is read or written outside of the root whatever is put in a directory's place meanwhile.
Paths are relative, with ``/`` between the names, which ``filenames`` has checked.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from hashlib import sha256

from index_cache.errors import WriteRefused
from recall.writes import existing_above, unwritten
from recall.writing.filenames import decoded, encoded, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from index_cache.errors import RecallError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# Where there are no hard links: FAT, some network and user file systems.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_CHUNK = 1024 * 1024


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes, as the audit has it."""
    return sha256(data).hexdigest()


class Tree:
    """The directory of a root, open. ``path`` is absolute and free of symlinks. Raises OSError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._top = os.open(path, _DIRECTORY)

    def close(self) -> None:
        """Close it."""
        os.close(self._top)

    def where(self, path: str) -> str:
        """Return the absolute path of one below the root."""
        return os.path.join(self.path, os.fsdecode(encoded(path)))

    @contextmanager
    def directory(self, path: str, *, make: bool = False) -> Iterator[int]:
        """Open a directory, ``""`` for the root's own; ``make`` makes it and those above it.

        Raises FileNotFoundError, and WriteRefused for a symlink or a file in its place.
        """
        descriptor = os.dup(self._top)
        try:
            for name in filter(None, encoded(path).split(b"/")):
                below = self._below(descriptor, name, path, make=make)
                os.close(descriptor)
                descriptor = below
            yield descriptor
        finally:
            os.close(descriptor)

    def _below(self, descriptor: int, name: bytes, path: str, *, make: bool) -> int:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=descriptor)
                    os.fsync(descriptor)
            return os.open(name, _DIRECTORY, dir_fd=descriptor)
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR}:
                raise self._in_the_way(path) from error
            raise

    def _in_the_way(self, path: str) -> WriteRefused:
        return WriteRefused(
            "what is in its place is a symlink, or no file of ours",
            where=self.where(path),
            hint="a root is never left over a link; move it away",
        )

    def names(self, directory: str) -> list[str]:
        """Return the names in a directory, none if it is not there."""
        try:
            with self.directory(directory) as descriptor:
                return [decoded(os.fsencode(name)) for name in os.listdir(descriptor)]
        except FileNotFoundError:
            return []

    def spelled(self, path: str) -> str:
        """Return a path with the names that are there in place of its own, where they are alike.

        Some file systems take names that differ in case or composition for one: so do we on all.
        """
        found: list[str] = []
        for name in filter(None, path.split("/")):
            there = self._names("/".join(found))
            like = [] if name in there else [each for each in there if fold(each) == fold(name)]
            found.append(min(like, default=name))
        return "/".join(found)

    def _names(self, directory: str) -> list[str]:
        try:
            return self.names(directory)
        except (WriteRefused, PermissionError):
            return []  # what is done there says so

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        """Return the bytes of a regular file, None if there is none.

        Raises WriteRefused for anything else in its place, and for what is longer than ``limit``.
        """
        try:
            with self._opened(path, _FILE) as descriptor:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise self._in_the_way(path)
                data = b""
                while chunk := os.read(descriptor, _CHUNK):
                    data += chunk
                    if limit is not None and len(data) > limit:
                        raise WriteRefused(
                            f"it is longer than {limit:,} bytes", where=self.where(path)
                        )
                return data
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise self._in_the_way(path) from error
            raise

    @contextmanager
    def _opened(self, path: str, flags: int) -> Iterator[int]:
        above, name = _split(path)
        with self.directory(above) as directory:
            descriptor = os.open(name, flags, 0o666, dir_fd=directory)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def inode(self, path: str) -> tuple[int, int] | None:
        """Return device and inode of what is at a path, None if nothing is."""
        above, name = _split(path)
        try:
            with self.directory(above) as directory:
                st = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return st.st_dev, st.st_ino

    def stage(self, path: str, data: bytes, *, like: str | None = None) -> None:
        """Write a new file, to the disk. It gets the mode of the file ``like``.

        And its owner, where that may be. Raises OSError; then there is no such file.
        """
        above, name = _split(path)
        try:
            with self.directory(above, make=True) as directory:
                descriptor = os.open(name, _NEW, 0o666, dir_fd=directory)
                try:
                    if like is not None:
                        self._take_over(like, descriptor)
                    _write(descriptor, data)
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except BaseException:
            with suppress(OSError, WriteRefused):
                self.remove(path)
            raise

    def _take_over(self, path: str, descriptor: int) -> None:
        with self._opened(path, _FILE) as old:
            st = os.fstat(old)
        with suppress(PermissionError):
            os.fchown(descriptor, st.st_uid, st.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(st.st_mode))

    def put(self, staged: str, path: str) -> None:
        """Give a staged file a name that nothing has. Raises FileExistsError when something has."""
        with self._two(staged, path) as (source, old, target, new):
            try:
                os.link(old, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                _refuse_existing(new, target)
                os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)
            else:
                os.unlink(old, dir_fd=source)

    def replace(self, staged: str, path: str) -> None:
        """Give a staged file the name of one that is there."""
        with self._two(staged, path) as (source, old, target, new):
            os.rename(old, new, src_dir_fd=source, dst_dir_fd=target)

    @contextmanager
    def _two(self, one: str, other: str) -> Iterator[tuple[int, bytes, int, bytes]]:
        """Open the directories of two files; they are on the disk at the end."""
        above, old = _split(one)
        below, new = _split(other)
        with self.directory(above) as source, self.directory(below, make=True) as target:
            yield source, old, target, new
            _sync(target)
            _sync(source)

    def remove(self, path: str) -> None:
        """Delete a file, if it is there."""
        above, name = _split(path)
        with suppress(FileNotFoundError), self.directory(above) as directory:
            os.unlink(name, dir_fd=directory)
            _sync(directory)

    def remove_empty(self, path: str) -> None:
        """Delete a directory, if it is there and has nothing in it."""
        above, name = _split(path)
        with suppress(OSError, WriteRefused), self.directory(above) as directory:
            os.rmdir(name, dir_fd=directory)

    def append(self, path: str, data: bytes) -> None:
        """Append to a file, made if need be, and wait until the disk has it."""
        above = path.rpartition("/")[0]
        with self.directory(above, make=True) as directory, self._opened(path, _APPEND) as file:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise self._in_the_way(path)
            _write(file, data)
            os.fsync(file)
            _sync(directory)

    def _is_open(self, path: str) -> bool:
        return os.access(existing_above(self.where(path)), os.W_OK | os.X_OK)

    def unwritten(self, path: str, error: OSError, *others: str) -> RecallError:
        """Return what to say of a file that can't be written, or one of ``others`` with it."""
        if error.errno == errno.ELOOP:
            return self._in_the_way(path)
        if error.errno in {errno.EACCES, errno.EPERM} and self._is_open(path):
            path = next((each for each in others if not self._is_open(each)), path)
        return unwritten("the note can't be written", self.where(path), error)


def _split(path: str) -> tuple[str, bytes]:
    above, _, name = path.rpartition("/")
    return above, encoded(name)


def _refuse_existing(name: bytes, directory: int) -> None:
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=directory, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _sync(directory: int) -> None:
    with suppress(OSError):  # some file systems can't; the change has happened all the same
        os.fsync(directory)
