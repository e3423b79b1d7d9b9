"""Which notes came and went since the last refresh, by the root's directories alone.

The prompt hook has 10 ms for that; a sweep over all files may take 400. What a directory's
signature can't tell is left to the next refresh, and said to be. See ``spec/staleness.md``.
"""

from __future__ import annotations

import os
import time

from index_cache import files
from index_cache.directories import ABSENT, SIGNATURE_BYTES, unpack
from index_cache.guard import Guard, guarded, is_path, is_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from index_cache.directories import Directories
    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.relisting import Relisting
    from index_cache.store import Store

_STRIDE = 16  # directories between two looks at the clock


class Peek:
    """What a look at some of a root's directories has shown.

    ``appeared`` maps new files that belong to the root to their signatures, ``vanished`` are
    files that the cache has and their directory has not; both in directories that the last scan
    walked. ``next`` is the number of the directory to go on from, ``complete`` says that none was
    left out, ``looked`` how many were looked at and ``listed`` how many of them had to be listed.
    ``sweep_due`` is why a refresh is needed to tell the rest, None if it is not.
    """

    __slots__ = ("appeared", "complete", "listed", "looked", "next", "sweep_due", "vanished")

    def __init__(self) -> None:
        self.appeared: dict[bytes, bytes] = {}
        self.vanished: set[bytes] = set()
        self.next = 0
        self.complete = False
        self.looked = 0
        self.listed = 0
        self.sweep_due: str | None = None


def peek(
    root: Root,
    store: Store,
    fs: FileSystem,
    budget: float,
    start: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Peek:
    """Look at directories of a root for a time; parameters and errors as those of ``Look``."""
    look = Look(root, store, fs, start, clock)
    look.go_on(budget)
    return look.finish()


def has_changed(root: Root, store: Store, fs: FileSystem) -> bool:
    """Tell whether notes came or went since the last refresh, or that can't be told.

    Looks at all directories, and at the files of many records, to which lines are appended. Raises
    Damaged.
    """
    store.begin_reading()
    try:
        found = peek(root, store, fs, float("inf"))
        if found.appeared or found.vanished or found.sweep_due is not None:
            return True
        top = os.fsencode(root.path)
        return root.rules.jsonl and not all(
            _is_same(os.path.join(top, path), signature, fs) for path, signature in _appended(store)
        )
    finally:
        store.end_reading()


@guarded
def _appended(store: Store) -> list[tuple[bytes, bytes]]:
    """Return path and signature of each file to which lines are appended."""
    ends = "lower(CAST(substr(path, -6) AS TEXT)) = '.jsonl'"
    select = f"SELECT path, signature FROM entry WHERE {ends}"  # noqa: S608 - ours
    found = [*store.connection.execute(select)]
    if not all(is_path(path) and is_signature(signature) for path, signature in found):
        raise store.damaged("a row of its manifest can't be read")
    return found


def _is_same(path: bytes, signature: bytes, fs: FileSystem) -> bool:
    try:
        return files.signature(fs.stat(path)) == signature
    except OSError:
        return False


class Look:
    """A look at the directories of a root whose cache has a view: what has changed.

    It begins with directory ``start``, the ``next`` of the last look, and goes on as often as it is
    told to; ``found`` is its result once it is finished. Nothing is written and no note is opened.
    To be used between ``begin_reading`` and ``end_reading``, so that it and the search see one
    state of the cache. All methods raise Damaged.
    """

    def __init__(
        self,
        root: Root,
        store: Store,
        fs: FileSystem,
        start: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.found = Peek()
        self.start = start
        self._root = root
        self._store = store
        self._fs = fs
        self._clock = clock
        self._top = os.fsencode(root.path)
        self._relisting: Relisting | None = None
        self._kept: Directories | None = None
        self._suspects: set[int] = set()
        with Guard(store):
            self._begin()

    def _begin(self) -> None:
        value = self._store.meta("directories")
        if value is None:
            self._sweep("the cache does not know the root's directories")
            return
        try:
            kept = self._kept = unpack(value)
        except ValueError as error:
            raise self._store.damaged("its list of directories can't be read") from error
        self._suspects = set(kept.suspects)
        self.found.next = self.start % len(kept.paths) if kept.paths else 0
        self.found.complete = not kept.paths
        if self._store.number("directories_of") != self._store.generation:
            # Its directories may have come after those that are kept, and gone again.
            self._sweep("a refresh is at work, or was cut short")
        self._check_ignore_files(kept)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to look at."""
        return self._kept is None or self.found.complete

    def go_on(self, budget: float) -> None:
        """Look at more directories for about ``budget`` seconds by the clock.

        At 16 in any case, or up to the first that has to be listed.
        """
        if self._kept is not None and not self.found.complete:
            with Guard(self._store):
                self._go_on(self._kept, self._clock() + budget)

    def _go_on(self, kept: Directories, until: float) -> None:
        found, paths, signatures, suspects = self.found, kept.paths, kept.signatures, self._suspects
        look, sign, base = self._fs.stat, files.signature, os.path.join(self._top, b"")
        listed, at, count = found.listed, found.next, len(paths)
        for looked in range(found.looked + 1, count + 1):
            begin = at * SIGNATURE_BYTES
            try:
                # Without the last slash, behind which a symlink would be followed.
                state = look((base + paths[at])[:-1] or b"/")
            except OSError as error:
                self._sweep("a directory is gone or can't be looked at", error)
            else:
                before = signatures[begin : begin + SIGNATURE_BYTES]
                if sign(state) != before or at in suspects:
                    self._relist(kept).changed(paths[at], before, state)
            at = at + 1 if at + 1 < count else 0
            found.looked = looked
            if (not looked % _STRIDE or found.listed > listed) and self._clock() >= until:
                break
        found.next = at
        found.complete = found.looked == count

    def finish(self) -> Peek:
        """Return what was found, but for what only a refresh can tell."""
        if self._relisting is not None:
            with Guard(self._store):
                self._relisting.settle()
        return self.found

    def _relist(self, kept: Directories) -> Relisting:
        if self._relisting is None:
            from index_cache.relisting import Relisting  # few looks find anything to list

            self._relisting = Relisting(
                self._root, self._store, self._fs, kept, self.found, self._sweep
            )
        return self._relisting

    def _sweep(self, why: str, error: OSError | None = None) -> None:
        """Note that only a refresh can settle something; the first reason is kept."""
        if self.found.sweep_due is None:
            self.found.sweep_due = f"{why}: {files.describe(error)}" if error else why

    def _check_ignore_files(self, kept: Directories) -> None:
        if not self._root.rules.gitignore:
            return
        if (files.repository(self._top) or b"") != kept.top:
            self._sweep("the root lies in another repository than before")
        for path, before in kept.ignores.items():
            try:
                now = files.signature(self._fs.stat(path))
            except OSError:
                now = ABSENT
            if now != before:
                self._sweep("a file that tells git what to ignore has changed")
