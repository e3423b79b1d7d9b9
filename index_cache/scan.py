"""Walk a root: which files belong to it, with their signatures, and what was left out and why.

See ``spec/canonical-view.md`` and, for incomplete scans, ``spec/staleness.md``.
"""

from __future__ import annotations

import os
import re
import stat
import struct

from index_cache import files, ignorefiles
from index_cache.directories import ABSENT, UNKNOWN
from index_cache.errors import RootUnavailable
from index_cache.gitignore import Ignored, ask
from index_cache.globs import Globs
from index_cache.model import Root, Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from index_cache.files import DirEntry, FileSystem

IGNORED = "ignored by git"
SUFFIXES = (b".md", b".markdown")
SKIPPED_DIRECTORIES = frozenset(
    {b"node_modules", b"__pycache__", b"_metrics", b"venv", b"virtualenv"}
)
VIRTUAL_ENVIRONMENT = b"pyvenv.cfg"
# Dropbox and Nextcloud, then Syncthing.
_CONFLICT = re.compile(
    rb"(?P<stem>.+?)(?: \([^()]*conflicted copy[^()]*\)|\.sync-conflict-\d{8}-\d{6}-\w+)"
    rb"(?P<suffix>\.\w+)",
    re.IGNORECASE,
)
_SIGNATURE = struct.Struct("<qqqQQ")


def quick_signature(st: files.StatResult) -> bytes:
    """Return what ``files.signature`` does, a fifth faster: a scan signs 100,000 files."""
    try:
        return _SIGNATURE.pack(
            st.st_mtime_ns, st.st_ctime_ns, st.st_size, st.st_ino, st.st_dev & files.DEVICE_MASK
        )
    except struct.error:  # a time out of range
        return files.signature(st)


class Scan:
    """What a walk saw. ``entries`` maps each file's relative path to its signature.

    ``unavailable`` names the directories (with a ``/`` at the end) and files that could not be
    looked at: from the absence of what is below them nothing follows. ``clock_ns`` was read
    before the first directory. ``empty`` maps each directory in which there is nothing at all to
    its device. ``withheld`` counts the files and directories that the rules make private, and
    which are nowhere named. ``directories`` maps each directory that was walked to its signature,
    None if these were not asked for, ``ignores`` the ignore files to theirs, and ``top`` and
    ``filters`` say what git is to the root; see ``directories.Directories``.
    """

    __slots__ = (
        "clock_ns",
        "directories",
        "empty",
        "entries",
        "filters",
        "ignores",
        "notices",
        "skipped",
        "top",
        "unavailable",
        "withheld",
    )

    def __init__(self, clock_ns: int) -> None:
        self.clock_ns = clock_ns
        self.entries: dict[bytes, bytes] = {}
        self.empty: dict[bytes, int] = {}
        self.skipped: list[Skipped] = []
        self.unavailable: list[Skipped] = []
        self.notices: list[str] = []
        self.withheld = 0
        self.directories: dict[bytes, bytes] | None = None
        self.ignores: dict[bytes, bytes] = {}
        self.top = b""
        self.filters = False


def scan(
    root: Root, fs: FileSystem, ignored: Callable[[bytes], Ignored], *, directories: bool = False
) -> Scan:
    """Walk ``root`` and return what belongs to it.

    ``ignored`` tells, for the root's path, what git ignores in it; it is called once, and not at
    all when the root's rules say so. ``directories`` takes in the signatures of directories and
    ignore files. Raises RootUnavailable when the root itself can't be listed.
    """
    found = Scan(fs.now_ns())
    top = os.fsencode(root.path)
    if directories:
        found.directories = {}
    git = ignored(top) if root.rules.gitignore else Ignored()
    found.top, found.filters = git.top, git.filters
    if git.notice:
        found.notices.append(git.notice)
    walk = Walk(root, fs, git.paths, found)
    if directories:
        for path in git.files:
            walk.ignore_file(path)
    walk.run(top)
    _apply_limit(found, root.rules.max_files)
    return found


def look(root: Root, fs: FileSystem, *, directories: bool = True) -> Scan:
    """Walk a root, asking git what it ignores. Raises RootUnavailable when it can't be listed.

    Without ``directories`` their signatures, which cost 2 µs each, are not taken.
    """

    def ignored(path: bytes) -> Ignored:
        return ask(path, dict(os.environb), watch=directories)

    return scan(root, fs, ignored, directories=directories)


class Walk:
    """One walk: the rules, made ready, and the Scan that it fills."""

    def __init__(self, root: Root, fs: FileSystem, ignored: frozenset[bytes], found: Scan) -> None:
        self.root = root
        self.fs = fs
        self.ignored = ignored
        self.found = found
        self.include = Globs(root.rules.include)
        self.exclude = Globs(root.rules.exclude)
        self.private = _Private(root)
        self.suffixes = (*SUFFIXES, b".jsonl") if root.rules.jsonl else SUFFIXES
        self.max_bytes = root.rules.max_file_bytes
        self.top = os.path.join(os.fsencode(root.path), b"")
        self.watches = bool(found.top) and found.directories is not None

    def run(self, top: bytes) -> None:
        """Walk all of the root, whose path is ``top``."""
        pending = [b""]
        found = self.found.directories
        while pending:
            prefix = pending.pop()
            if found is not None:
                # Before the listing: what comes in between is not in this signature.
                found[prefix] = self._signature(os.path.join(top, prefix[:-1]) if prefix else top)
            try:
                listing = self.fs.scandir(os.path.join(top, prefix))
            except (FileNotFoundError, NotADirectoryError) as error:
                if not prefix:
                    raise _root_unavailable(self.root, error) from error
                if found is not None:
                    found.pop(prefix, None)
                continue  # gone since its parent was listed: so is all that was below it
            except OSError as error:
                if not prefix:
                    raise _root_unavailable(self.root, error) from error
                self.found.unavailable.append(Skipped(prefix, files.describe(error)))
                if found is not None:
                    found[prefix] = UNKNOWN  # nothing is known of what is in it
                continue
            pending += self.directory(prefix, listing)
            if not listing:
                self._nothing_in(os.path.join(top, prefix), prefix)

    def _signature(self, directory: bytes) -> bytes:
        try:
            return quick_signature(self.fs.stat(directory))
        except OSError:
            return UNKNOWN  # whether it is there is for its listing to say

    def _nothing_in(self, directory: bytes, prefix: bytes) -> None:
        try:
            self.found.empty[prefix] = self.fs.stat(directory).st_dev & files.DEVICE_MASK
        except OSError:
            return  # gone meanwhile

    def directory(
        self, prefix: bytes, listing: Sequence[DirEntry], known: Collection[bytes] = ()
    ) -> list[bytes]:
        """Take a directory's files in; return the directories below it that are to be walked.

        The paths in ``known`` are passed over.
        """
        below = []
        names: set[bytes] | None = None
        for entry in listing:
            name = entry.name
            if known and prefix + name in known:
                continue
            if self.private and self.hides(prefix + name, entry):
                continue
            if name.endswith(self.suffixes) or name.lower().endswith(self.suffixes):
                if b"onflict" in name:
                    names = names or {each.name for each in listing}
                if self.file(prefix, entry, names):
                    below.append(prefix + name + b"/")
            elif self.other(prefix, entry):
                below.append(prefix + name + b"/")
            elif name == VIRTUAL_ENVIRONMENT and prefix:
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
        self.found.withheld += directory or path.lower().endswith(self.suffixes)
        return True

    def other(self, prefix: bytes, entry: DirEntry) -> bool:
        """Look at an entry that is not called Markdown. True when it is a directory to walk."""
        path = prefix + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                return self.wanted(path + b"/", entry.name)
            if self.watches and entry.name == ignorefiles.NAME:
                self.ignore_file(self.top + path)
            if entry.is_symlink():
                self.symlink(path, entry)
            elif entry.name.endswith(b".icloud") and path[:-7].lower().endswith(self.suffixes):
                self._skip(path, "not on this disk (cloud placeholder)")
        except OSError as error:  # where listing a directory does not tell what is in it
            self.found.unavailable.append(Skipped(path + b"/", files.describe(error)))
        return False

    def ignore_file(self, path: bytes) -> None:
        """Note the signature of an ignore file, at an absolute path."""
        try:
            self.found.ignores[path] = quick_signature(self.fs.stat(path))
        except OSError:
            self.found.ignores[path] = ABSENT

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
                self._skip(path, reason)
            else:
                self.found.entries[path] = quick_signature(st)
                if st.st_size > self.max_bytes:
                    self._skip(path, f"only its first {self.max_bytes:,} bytes are indexed")
            return False
        if stat.S_ISDIR(st.st_mode):
            return self.wanted(path + b"/", entry.name)
        if stat.S_ISLNK(st.st_mode):
            self.symlink(path, entry)
        else:
            self._skip(path, "not a regular file")
        return False

    def refusal(self, path: bytes, st: files.StatResult, names: set[bytes] | None) -> str | None:
        """Return why a regular Markdown file does not belong to the root, None if it does."""
        if self.ignored and path in self.ignored:
            return IGNORED
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
            reason = IGNORED
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
            self._skip(path, reason)
        return reason is None

    def symlink(self, path: bytes, entry: DirEntry) -> None:
        """Count a symlink to Markdown or to a directory; none is followed."""
        try:
            directory = entry.is_dir(follow_symlinks=True)
        except OSError:
            directory = False
        if directory or path.lower().endswith(self.suffixes):
            self._skip(path, "symlink")

    def _skip(self, path: bytes, reason: str) -> None:
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
