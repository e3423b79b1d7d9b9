"""Walk a root: which files belong to it, with their signatures, and what was left out and why.

See ``spec/canonical-view.md`` and, for incomplete scans, ``spec/staleness.md``.
"""

from __future__ import annotations

import os
import re
import stat

from index_cache import files
from index_cache.errors import RootUnavailable
from index_cache.gitignore import Ignored
from index_cache.globs import Globs
from index_cache.model import Root, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.files import DirEntry, FileSystem

SUFFIXES = (b".md", b".markdown")
SKIPPED_DIRECTORIES = frozenset(
    {b"node_modules", b"__pycache__", b"_metrics", b"venv", b"virtualenv"}
)
_VIRTUAL_ENVIRONMENT = b"pyvenv.cfg"
# Dropbox and Nextcloud, then Syncthing.
_CONFLICT = re.compile(
    rb"(?P<stem>.+?)(?: \([^()]*conflicted copy[^()]*\)|\.sync-conflict-\d{8}-\d{6}-\w+)"
    rb"(?P<suffix>\.\w+)",
    re.IGNORECASE,
)


class Scan:
    """What a walk saw. ``entries`` maps each file's relative path to its signature.

    ``unavailable`` names the directories (with a ``/`` at the end) and files that could not be
    looked at: from the absence of what is below them nothing follows. ``clock_ns`` was read
    before the first directory. ``empty`` maps each directory in which there is nothing at all to
    its device. ``withheld`` counts the files and directories that the rules make private, and
    which are nowhere named.
    """

    __slots__ = ("clock_ns", "empty", "entries", "notices", "skipped", "unavailable", "withheld")

    def __init__(self, clock_ns: int) -> None:
        self.clock_ns = clock_ns
        self.entries: dict[bytes, bytes] = {}
        self.empty: dict[bytes, int] = {}
        self.skipped: list[Skipped] = []
        self.unavailable: list[Skipped] = []
        self.notices: list[str] = []
        self.withheld = 0


def scan(root: Root, fs: FileSystem, ignored: Callable[[bytes], Ignored]) -> Scan:
    """Walk ``root`` and return what belongs to it.

    ``ignored`` tells, for the root's path, what git ignores in it; it is called once, and not at
    all when the root's rules say so. Raises RootUnavailable when the root itself can't be listed.
    """
    found = Scan(fs.now_ns())
    top = os.fsencode(root.path)
    git = ignored(top) if root.rules.gitignore else Ignored()
    if git.notice:
        found.notices.append(git.notice)
    _Walk(root, fs, git.paths, found).run(top)
    _apply_limit(found, root.rules.max_files)
    return found


class _Walk:
    """One walk: the rules, made ready, and the Scan that it fills."""

    def __init__(self, root: Root, fs: FileSystem, ignored: frozenset[bytes], found: Scan) -> None:
        self.root = root
        self.fs = fs
        self.ignored = ignored
        self.found = found
        self.include = Globs(root.rules.include)
        self.exclude = Globs(root.rules.exclude)
        self.private = _Private(root)
        self.max_bytes = root.rules.max_file_bytes

    def run(self, top: bytes) -> None:
        pending = [b""]
        while pending:
            prefix = pending.pop()
            try:
                listing = self.fs.scandir(os.path.join(top, prefix))
            except (FileNotFoundError, NotADirectoryError) as error:
                if not prefix:
                    raise _root_unavailable(self.root, error) from error
                continue  # gone since its parent was listed: so is all that was below it
            except OSError as error:
                if not prefix:
                    raise _root_unavailable(self.root, error) from error
                self.found.unavailable.append(Skipped(prefix, files.describe(error)))
                continue
            pending += self.directory(prefix, listing)
            if not listing:
                self.nothing_in(os.path.join(top, prefix), prefix)

    def nothing_in(self, directory: bytes, prefix: bytes) -> None:
        try:
            self.found.empty[prefix] = self.fs.stat(directory).st_dev & files.DEVICE_MASK
        except OSError:
            return  # gone meanwhile

    def directory(self, prefix: bytes, listing: Sequence[DirEntry]) -> list[bytes]:
        """Take a directory's files in; return the directories below it that are to be walked."""
        below = []
        names: set[bytes] | None = None
        for entry in listing:
            name = entry.name
            if self.private and self.hides(prefix + name, entry):
                continue
            if name.endswith(SUFFIXES) or name.lower().endswith(SUFFIXES):
                if b"onflict" in name:
                    names = names or {each.name for each in listing}
                if self.file(prefix, entry, names):
                    below.append(prefix + name + b"/")
            elif self.other(prefix, entry):
                below.append(prefix + name + b"/")
            elif name == _VIRTUAL_ENVIRONMENT and prefix:
                self.forget(prefix)
                self.found.skipped.append(Skipped(prefix, "virtual environment"))
                return []
        return below

    def hides(self, path: bytes, entry: DirEntry) -> bool:
        """Tell whether the rules make an entry private; if it would be walked or read, count it."""
        if not self.private.match(path):
            return False
        try:
            directory = entry.is_dir(follow_symlinks=False)
        except OSError:
            directory = True
        self.found.withheld += directory or path.lower().endswith(SUFFIXES)
        return True

    def other(self, prefix: bytes, entry: DirEntry) -> bool:
        """Look at an entry that is not called Markdown. True when it is a directory to walk."""
        path = prefix + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                return self.wanted(path + b"/", entry.name)
            if entry.is_symlink():
                self.symlink(path, entry)
            elif entry.name.endswith(b".icloud") and path[:-7].lower().endswith(SUFFIXES):
                self.skip(path, "not on this disk (cloud placeholder)")
        except OSError as error:  # where listing a directory does not tell what is in it
            self.found.unavailable.append(Skipped(path + b"/", files.describe(error)))
        return False

    def file(self, prefix: bytes, entry: DirEntry, names: set[bytes] | None) -> bool:
        """Take one file in, or say why not. True when it turns out to be a directory to walk."""
        path = prefix + entry.name
        try:
            st = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as error:
            self.found.unavailable.append(Skipped(path, files.describe(error)))
            return False
        if stat.S_ISREG(st.st_mode):
            reason = self.refusal(path, st, names)
            if reason:
                self.skip(path, reason)
            else:
                self.found.entries[path] = files.signature(st)
                if st.st_size > self.max_bytes:
                    self.skip(path, f"only its first {self.max_bytes:,} bytes are indexed")
            return False
        if stat.S_ISDIR(st.st_mode):
            return self.wanted(path + b"/", entry.name)
        if stat.S_ISLNK(st.st_mode):
            self.symlink(path, entry)
        else:
            self.skip(path, "not a regular file")
        return False

    def refusal(self, path: bytes, st: files.StatResult, names: set[bytes] | None) -> str | None:
        """Return why a regular Markdown file does not belong to the root, None if it does."""
        if self.ignored and path in self.ignored:
            return "ignored by git"
        if self.exclude and self.exclude.match(path):
            return "excluded by the root's rules"
        if self.include and not self.include.match(path):
            return "not included by the root's rules"
        if files.is_placeholder(st):
            return "not on this disk (cloud placeholder)"
        if names is not None:
            name = path.rpartition(b"/")[2]
            original = original_of(name)
            if original != name and original in names:
                return f"conflict copy of {files.display(original)}"
        return None

    def wanted(self, path: bytes, name: bytes) -> bool:
        """Tell whether a directory is to be walked; ``path`` ends with ``/``."""
        reason = None
        if path in self.ignored:
            reason = "ignored by git"
        elif self.exclude and self.exclude.match(path[:-1]):
            reason = "excluded by the root's rules"
        elif name[:1] == b"." or name in SKIPPED_DIRECTORIES:
            if self.include and self.include.spells(path):
                return True
            if name == b".git":
                return False
            reason = "skipped by default"
        elif self.include and not self.include.reaches(path):
            reason = "not included by the root's rules"
        if reason:
            self.skip(path, reason)
        return reason is None

    def symlink(self, path: bytes, entry: DirEntry) -> None:
        """Count a symlink to Markdown or to a directory; none is followed."""
        try:
            directory = entry.is_dir(follow_symlinks=True)
        except OSError:
            directory = False
        if directory or path.lower().endswith(SUFFIXES):
            self.skip(path, "symlink")

    def skip(self, path: bytes, reason: str) -> None:
        self.found.skipped.append(Skipped(path, reason))

    def forget(self, prefix: bytes) -> None:
        """Take back what a directory's listing has given before it proved not to be wanted."""
        for path in [path for path in self.found.entries if path.startswith(prefix)]:
            del self.found.entries[path]
        kept = [each for each in self.found.skipped if not each.path.startswith(prefix)]
        self.found.skipped = kept


class _Private:
    """What a root's own private globs, and those of roots around or within it, withhold."""

    def __init__(self, root: Root) -> None:
        # What a path must begin with to be meant, what then stands before the rest, and globs.
        self._rules = [(b"", b"", Globs(root.rules.private))] if root.rules.private else []
        for base, globs in root.rules.elsewhere:
            below = os.fsencode(os.path.relpath(base, root.path)) + b"/"
            above = os.fsencode(os.path.relpath(root.path, base)) + b"/"
            if base == root.path:
                self._rules.append((b"", b"", Globs(globs)))
            elif below.startswith(b"../"):
                self._rules.append((b"", above, Globs(globs)))
            else:
                self._rules.append((below, b"", Globs(globs)))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def match(self, path: bytes) -> bool:
        """Tell whether a path, or what it is a sync tool's copy of, is withheld."""
        paths = {path, original_of(path)}
        return any(
            globs.match(before + each[len(prefix) :])
            for prefix, before, globs in self._rules
            for each in paths
            if each.startswith(prefix)
        )


def original_of(name: bytes) -> bytes:
    """Return the name of the file that one named like this is a sync tool's conflict copy of.

    It may be a path as well; the name itself comes back when it is no such copy's.
    """
    copy = _CONFLICT.fullmatch(name)
    return copy["stem"] + copy["suffix"] if copy else name


def _apply_limit(found: Scan, max_files: int) -> None:
    if len(found.entries) > max_files:
        for path in sorted(found.entries)[max_files:]:
            del found.entries[path]
            found.skipped.append(Skipped(path, f"beyond the root's limit of {max_files:,} files"))


def _root_unavailable(root: Root, error: OSError) -> RootUnavailable:
    return RootUnavailable(
        f"root {root.name} can't be read: {files.describe(error)}",
        where=root.path,
        hint="check that the directory exists, is mounted and readable",
    )


def missing(root: Root) -> RootUnavailable:
    """Return what to say of a root whose directory is not there."""
    return RootUnavailable(
        f"root {root.name} can't be read: there is no such directory",
        where=root.path,
        hint="check that the directory exists and is mounted",
    )
