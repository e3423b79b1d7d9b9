"""A disk that fails when a test says so, below everything that SQLite puts on top of it.

It becomes SQLite's default when it is imported, which conftest does before anything is opened: the
checksums' VFS stacks upon what is the default when it is loaded, so that a torn write tears a page
with its checksum.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Name = str | apsw.URIFilename | None


class Failures:
    """Which change of the disk fails: the ``number``-th and, if ``dead``, all later ones.

    Changes are writes, syncs, truncations, deletions, and openings that make a file; ``changes``
    counts them, ``kinds`` has what they were, ``failures`` counts those that failed.
    """

    def __init__(self, number: int, error: type[apsw.Error], *, dead: bool) -> None:
        self.changes = 0
        self.failures = 0
        self.kinds: set[str] = set()
        self.over = False
        self.error = error
        self._number = number
        self._dead = dead

    def come(self, kind: str) -> bool:
        """Count one change; True when it is to fail."""
        if self.over:
            return False
        self.changes += 1
        self.kinds.add(kind)
        fails = self.changes == self._number or (self._dead and self.changes > self._number)
        if fails:
            self.failures += 1
        return fails


class UnsyncedFile(apsw.VFSFile):
    """A file that nobody waits for to reach the disk: no test takes the power away."""

    def xSync(self, flags: int) -> None:
        del flags


class FailingFile(UnsyncedFile):
    """A file whose changes the disk counts, and may refuse."""

    def __init__(self, failures: Failures, base: str, name: Name, flags: list[int]) -> None:
        self._failures = failures
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._failures.come("write"):
            # A torn write: half of it reaches the disk.
            super().xWrite(data[: len(data) // 2], offset)
            raise self._failures.error("the disk has failed")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._failures.come("sync"):
            raise apsw.IOError("the disk has failed")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if self._failures.come("truncate"):
            raise apsw.IOError("the disk has failed")
        super().xTruncate(newsize)


class Disk(apsw.VFS):
    """Everybody's file system; ``failures`` are those to come, None while it is well.

    ``opener`` opens files in a way of its own, given the VFS below, the name and the flags.
    """

    def __init__(self) -> None:
        self.failures: Failures | None = None
        self.opener: Callable[[str, Name, list[int]], apsw.VFSFile] | None = None
        self._base = apsw.vfs_names()[0]
        super().__init__("disk", self._base, makedefault=True)

    def xOpen(self, name: Name, flags: list[int]) -> apsw.VFSFile:
        if self.opener:
            return self.opener(self._base, name, flags)
        if self.failures is None:
            return UnsyncedFile(self._base, name, flags)
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        makes = bool(flags[0] & apsw.SQLITE_OPEN_CREATE) and not os.path.exists(path or "")
        if makes and self.failures.come("open"):
            raise apsw.CantOpenError("the disk has failed")
        return FailingFile(self.failures, self._base, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if self.failures and os.path.exists(filename) and self.failures.come("delete"):
            raise apsw.IOError("the disk has failed")
        super().xDelete(filename, syncdir)


assert "cksmvfs" not in apsw.vfs_names(), "the disk must be there first"
DISK = Disk()


@contextmanager
def failing(number: int, error: type[apsw.Error], *, dead: bool) -> Iterator[Failures]:
    """Let the ``number``-th change of the disk fail, and all later ones if it is ``dead``."""
    # With a cache of a few pages, SQLite writes in the midst of a transaction too.
    small = partial(apsw.Connection.pragma, name="cache_size", value=4)
    apsw.connection_hooks.append(small)
    DISK.failures = failures = Failures(number, error, dead=dead)
    try:
        yield failures
    finally:
        DISK.failures = None
        failures.over = True
        apsw.connection_hooks.remove(small)


def sweep(
    act: Callable[[], None],
    check: Callable[[], None],
    restore: Callable[[], None],
    *,
    error: type[apsw.Error] = apsw.IOError,
    dead: bool = False,
    first: int = 1,
    every: int = 1,
) -> int:
    """Let each change that ``act`` makes to the disk fail in turn, from an equal beginning.

    ``act`` swallows what a failure may raise, ``check`` asserts on what is left when the disk is
    well again, ``restore`` makes the beginning anew. Every ``every``-th change from the ``first``
    on is tried. Returns how many failed.
    """
    points = 0
    for number in count(first, every):
        with failing(number, error, dead=dead) as failures:
            act()
        if not failures.failures:
            break
        points += 1
        check()
        restore()
    return points
