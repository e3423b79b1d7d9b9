"""Which notes came and went since the last refresh, by the root's directories alone.

The prompt hook has 15 ms for that; a sweep over all files may take 400. What a directory's
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
    """Look at the directories of a root whose cache has a view; return what has changed.

    It ends after about ``budget`` seconds by ``clock``, but never before 16 directories or the
    first one that has to be listed, and begins with directory ``start``, the ``next`` of the last
    look. Nothing is written and no note is opened. Call it between ``begin_reading`` and
    ``end_reading``, so that it and the search see one state of the cache. Raises Damaged.
    """
    value = store.meta("directories")
    if value is None:
        found = Peek()
        found.sweep_due = "the cache does not know the root's directories"
        return found
    try:
        kept = unpack(value)
    except ValueError as error:
        raise store.damaged("its list of directories can't be read") from error
    with Guard(store):
        return _Look(root, store, fs, kept).run(start, budget, clock)


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


class _Look:
    """One look; ``found`` is its result."""

    def __init__(self, root: Root, store: Store, fs: FileSystem, kept: Directories) -> None:
        self.root = root
        self.store = store
        self.fs = fs
        self.kept = kept
        self.found = Peek()
        self.top = os.fsencode(root.path)

    def run(self, start: int, budget: float, clock: Callable[[], float]) -> Peek:
        until = clock() + budget
        if self.store.number("directories_of") != self.store.generation:
            # Its directories may have come after those that are kept, and gone again.
            self.sweep("a refresh is at work, or was cut short")
        self.check_ignore_files()
        found, paths, signatures = self.found, self.kept.paths, self.kept.signatures
        count = len(paths)
        suspects = set(self.kept.suspects)
        look, sign, base = self.fs.stat, files.signature, os.path.join(self.top, b"")
        relisting: Relisting | None = None
        at = start % count if count else 0
        for looked in range(1, count + 1):
            begin = at * SIGNATURE_BYTES
            try:
                # Without the last slash, behind which a symlink would be followed.
                state = look((base + paths[at])[:-1] or b"/")
            except OSError as error:
                self.sweep("a directory is gone or can't be looked at", error)
            else:
                before = signatures[begin : begin + SIGNATURE_BYTES]
                if sign(state) != before or at in suspects:
                    relisting = relisting or self.relisting()
                    relisting.changed(paths[at], before, state)
            at = at + 1 if at + 1 < count else 0
            found.looked = looked
            if (not looked % _STRIDE or found.listed) and clock() >= until:
                break
        found.next = at
        found.complete = found.looked == count
        if relisting is not None:
            relisting.settle()
        return found

    def relisting(self) -> Relisting:
        from index_cache.relisting import Relisting  # few looks find anything to list

        return Relisting(self.root, self.store, self.fs, self.kept, self.found, self.sweep)

    def sweep(self, why: str, error: OSError | None = None) -> None:
        """Note that only a refresh can settle something; the first reason is kept."""
        if self.found.sweep_due is None:
            self.found.sweep_due = f"{why}: {files.describe(error)}" if error else why

    def check_ignore_files(self) -> None:
        if not self.root.rules.gitignore:
            return
        if (files.repository(self.top) or b"") != self.kept.top:
            self.sweep("the root lies in another repository than before")
        for path, before in self.kept.ignores.items():
            try:
                now = files.signature(self.fs.stat(path))
            except OSError:
                now = ABSENT
            if now != before:
                self.sweep("a file that tells git what to ignore has changed")
