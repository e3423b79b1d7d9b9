"""Directories that have changed since the last refresh, listed: which notes came and went there.

What ``index_cache.peek`` does where a directory's signature is another, which it seldom is.
"""

from __future__ import annotations

import os
import stat

from index_cache import files, ignorefiles
from index_cache.directories import ABSENT, UNKNOWN
from index_cache.guard import is_path
from index_cache.scan import IGNORED, VIRTUAL_ENVIRONMENT, Scan, Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.directories import Directories
    from index_cache.files import DirEntry, FileSystem
    from index_cache.model import Root
    from index_cache.peek import Peek
    from index_cache.store import Store

# Of a directory itself; and of directories below it that the last scan did not walk.
_DIRECT = (
    "SELECT path FROM entry WHERE path >= ? AND path < ? AND instr(substr(path, ?), x'2f') = 0"
)
_DEEPER = _DIRECT.removesuffix("= 0") + "> 0 LIMIT 1"


class Relisting:
    """The directories of one look that had to be listed.

    ``kept`` is what the last scan saw, ``found`` the look's result so far, which grows, and
    ``sweep`` notes why only a refresh can settle something.
    """

    def __init__(
        self,
        root: Root,
        store: Store,
        fs: FileSystem,
        kept: Directories,
        found: Peek,
        sweep: Callable[..., None],
    ) -> None:
        self.root = root
        self.store = store
        self.fs = fs
        self.kept = kept
        self.found = found
        self.sweep = sweep
        self.top = os.fsencode(root.path)
        self.ignores = dict(kept.ignores)
        self.decided: frozenset[bytes] | None = None

    def changed(self, prefix: bytes, before: bytes, state: files.StatResult) -> None:
        """Compare the names in one directory with those that the cache has."""
        self.found.listed += 1
        directory = os.path.join(self.top, prefix)
        if not stat.S_ISDIR(state.st_mode) or not self.fs.is_below(directory, self.top):
            self.sweep("a directory has become something else")
            return
        try:
            listing = self.fs.scandir(directory)
        except OSError as error:
            self.sweep("a directory can't be listed", error)
            return
        device = files.device(files.signature(state))
        if before != UNKNOWN and files.device(before) != device:
            # Not mounted, or mounted: what its files are is for a scan to say.
            self.sweep("a directory lies on another device than before")
            return
        if before == UNKNOWN and self.has_deeper(prefix):
            self.sweep("a directory can be listed again, and there may be others below it")
        self.compare(prefix, listing, self.known(prefix), unread=before == UNKNOWN)

    def has_deeper(self, prefix: bytes) -> bool:
        """Tell whether the manifest has files below a directory where the last scan did not go."""
        execute, begin = self.store.connection.execute, len(prefix) + 1
        return any(
            True
            for first, last in self.kept.gaps(prefix)
            for _ in execute(_DEEPER, (first, last, begin))
        )

    def known(self, prefix: bytes) -> set[bytes]:
        """Return the paths that the manifest has in a directory itself."""
        execute, begin = self.store.connection.execute, len(prefix) + 1
        known = {
            path
            for first, last in self.kept.gaps(prefix)
            for (path,) in execute(_DIRECT, (first, last, begin))
        }
        if not all(map(is_path, known)):
            raise self.store.damaged("its manifest can't be read")
        return known

    def compare(
        self, prefix: bytes, listing: Sequence[DirEntry], known: set[bytes], *, unread: bool
    ) -> None:
        """Find out what of a listing is new, and what the cache has that is not in it.

        ``unread`` says that the last scan could not list the directory.
        """
        if known and not listing:
            self.sweep("a directory is empty: all deleted, or not mounted")
            return
        # Conflict copies are judged by the names beside them: they are looked at again.
        still = {
            path
            for entry in listing
            if (path := prefix + entry.name) in known
            and b"onflict" not in entry.name
            and _is_plain(entry)
        }
        seen = Scan(0)
        seen.top, seen.directories = self.kept.top, {}
        below = Walk(self.root, self.fs, self.ignored(), seen).directory(prefix, listing, still)
        if any(each.path == prefix for each in seen.skipped):
            if known or unread or self.kept.below(prefix):
                self.sweep("a directory has become a virtual environment")
            return
        if seen.entries and self.is_in_environment(prefix):
            self.sweep("a directory above has become a virtual environment")
            return
        self.found.vanished |= known - still - seen.entries.keys()
        self.found.appeared.update(
            (path, sig) for path, sig in seen.entries.items() if path not in known
        )
        if any(path not in self.kept for path in below):
            self.sweep("there is a new directory")
        if seen.unavailable:
            self.sweep("a file can't be looked at")
        if seen.ignores.keys() - self.ignores.keys():
            self.ignores.update(seen.ignores)
            self.sweep("there is a new file that tells git what to ignore")

    def is_in_environment(self, prefix: bytes) -> bool:
        """Tell whether a directory above, which may not have been looked at, is not walked."""
        above = prefix[:-1].rpartition(b"/")[0]
        while above:
            try:
                self.fs.stat(os.path.join(self.top, above, VIRTUAL_ENVIRONMENT))
            except OSError:
                above = above.rpartition(b"/")[0]
            else:
                return True
        return False

    def ignored(self) -> frozenset[bytes]:
        """Return what git ignored when it was last asked, if its rules count."""
        if self.decided is None:
            notes = self.store.notes("skipped") if self.kept.filters else ()
            self.decided = frozenset(each.path for each in notes if each.reason == IGNORED)
        return self.decided

    def settle(self) -> None:
        """Keep back what only a refresh can tell of all that was found."""
        found = self.found
        # Their rows stayed at the last refresh, which did not see them either.
        unseen = tuple(each.path for each in self.store.notes("unavailable"))
        if b"" in unseen:
            # One note that is there now, and all the others are deleted, wherever they were.
            self.sweep("the root showed no notes at the last refresh")
        if not (found.appeared or found.vanished):
            return
        entries, most = self.store.number("entries"), self.root.rules.max_files
        if entries + len(found.appeared) > most or entries == most:
            self.sweep("the root has as many files as it may have")
            found.appeared, found.vanished = {}, set()
        elif not found.appeared and not self.is_any_left(unseen):
            self.sweep("the root shows no notes: not mounted, or all deleted")
            found.vanished = set()
        if self.kept.filters and found.appeared:
            self.keep_back_ignored()

    def is_any_left(self, unseen: tuple[bytes, ...]) -> bool:
        """Tell whether the manifest has a file that neither vanished nor is at or below ``unseen``.

        Most often the first one is.
        """
        for (path,) in self.store.connection.execute("SELECT path FROM entry"):
            if not is_path(path):
                raise self.store.damaged("its manifest can't be read")
            if path not in self.found.vanished and not path.startswith(unseen):
                return True
        return False

    def keep_back_ignored(self) -> None:
        """Take out of what appeared all that git may be told to ignore: it can't be asked here."""
        there = [path for path, sig in self.ignores.items() if sig != ABSENT]
        told: dict[bytes, list[bytes] | None] = {}
        top = os.path.join(self.kept.top, b"")
        for path in list(self.found.appeared):
            file = os.path.join(self.top, path)
            directory = os.path.dirname(file)
            if directory not in told:
                deciding = ignorefiles.deciding(there, directory)
                told[directory] = ignorefiles.patterns(self.fs, deciding)
            names = told[directory]
            if names is None or ignorefiles.might_ignore(names, file.removeprefix(top)):
                del self.found.appeared[path]
                self.sweep("there is a new file that git may ignore")


def _is_plain(entry: DirEntry) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False
