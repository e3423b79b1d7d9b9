"""A file system whose clock, permissions and mounts a test decides, and ways to compare caches.

The files are real; their time stamps, inode and device numbers are not: recent kernels give each
edit its own time, which would hide every race of a coarse clock.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import struct
from contextlib import closing
from typing import TYPE_CHECKING

from index_cache.analyze import Analyzers
from index_cache.candidates import candidates
from index_cache.db import cache_path
from index_cache.files import DEVICE_MASK, FileSystem, signature
from index_cache.filters import Filter
from index_cache.model import Root, Rules
from index_cache.refresh import Options, Report, open_store, refresh
from index_cache.store import Store
from recall import rank
from recall.asked import Question
from recall.relevance import Scorer
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from index_cache.files import DirEntry, StatResult
    from recall.searching import Answer

# A note's path, a record's with its line.
_PLACE = "CAST(iif(d.line, e.path || ':' || d.line, e.path) AS BLOB)"
SECOND = 1_000_000_000
START = 1_790_000_000 * SECOND
DISK = 40  # the device of what lies under no mount point


class Stat:
    """What stat says of a file, with the numbers of ours."""

    def __init__(
        self, mode: int, mtime: int, ctime: int, size: int, inode: int, device: int
    ) -> None:
        self.st_mode = mode
        self.st_mtime_ns = mtime
        self.st_ctime_ns = ctime
        self.st_size = size
        self.st_ino = inode
        self.st_dev = device


class Entry:
    """A name in a directory, as os.scandir gives it."""

    def __init__(self, fs: FileSystem, directory: bytes, name: bytes, mode: int) -> None:
        self._fs = fs
        self._directory = directory
        self._mode = mode
        self.name = name

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        if follow_symlinks and self.is_symlink():
            return os.path.isdir(os.path.join(self._directory, self.name))
        return stat.S_ISDIR(self._mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        assert not follow_symlinks
        return stat.S_ISREG(self._mode)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._mode)

    def stat(self, *, follow_symlinks: bool = True) -> StatResult:
        assert not follow_symlinks
        return self._fs.stat(os.path.join(self._directory, self.name))


class _Node:
    """The times and the numbers of one inode."""

    def __init__(self, inode: int, stamp: int, mount: bytes | None) -> None:
        self.inode = inode
        self.mtime = self.ctime = stamp
        self.mount = mount


class FakeFileSystem(FileSystem):
    """Real files under a clock that ticks every ``granularity`` ns.

    ``time`` is the true time, which the program's own clock shows exactly; stamps on files are
    the last tick. ``denied`` are paths that give EACCES, ``opened`` the files that were opened,
    ``before_read`` and ``after_scandir`` are called with the path concerned.
    """

    def __init__(self, granularity: int = SECOND) -> None:
        self.granularity = granularity
        self.time = START
        self.denied: set[bytes] = set()
        self.unmounted: set[bytes] = set()
        self.opened: list[bytes] = []
        self.before_read: Callable[[bytes], None] = lambda _: None
        self.after_scandir: Callable[[bytes], None] = lambda _: None
        self._devices: dict[bytes, int] = {}
        self._nodes: dict[int, _Node] = {}
        self._directories: dict[bytes, tuple[int, int]] = {}  # mtime and ctime, START if not here
        self._settings_back = 0

    # -- what the program sees

    def now_ns(self) -> int:
        return self.time

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        path = path.rstrip(b"/")
        self._permit(path)
        if path in self.unmounted:
            return []
        with os.scandir(path) as listing:
            found = [
                Entry(self, path, each.name, each.stat(follow_symlinks=False).st_mode)
                for each in sorted(listing, key=lambda each: each.name)
            ]
        self.after_scandir(path)
        return found

    def stat(self, path: bytes) -> StatResult:
        path = path.rstrip(b"/")
        self._permit(os.path.dirname(path))
        if self._hidden(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        real = os.lstat(path)
        if stat.S_ISDIR(real.st_mode):
            mtime, ctime = self._directories.get(path, (START, START))
            return Stat(real.st_mode, mtime, ctime, 0, real.st_ino, self._device(path))
        return self._stat(real)

    def fstat(self, descriptor: int) -> StatResult:
        return self._stat(os.fstat(descriptor))

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        self.before_read(path)
        self._permit(path)
        if self._hidden(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self.opened.append(path)
        return super().read(path, limit)

    def _stat(self, real: os.stat_result) -> Stat:
        node = self._node(real)
        device = DISK if node.mount is None else self._devices[node.mount]
        return Stat(real.st_mode, node.mtime, node.ctime, real.st_size, node.inode, device)

    def _permit(self, path: bytes) -> None:
        while path != b"/":
            if path in self.denied:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            path = os.path.dirname(path)

    def _hidden(self, path: bytes) -> bool:
        return any(path.startswith(mount + b"/") for mount in self.unmounted)

    def _device(self, path: bytes) -> int:
        mount = self._mount(path + b"/")
        return DISK if mount is None or mount in self.unmounted else self._devices[mount]

    def _mount(self, path: bytes) -> bytes | None:
        return next((each for each in self._devices if path.startswith(each + b"/")), None)

    # -- what the world does

    @property
    def stamp(self) -> int:
        """What a file that is written now gets.

        After each setting back the ticks lie a nanosecond off. No signature shows an edit that
        falls into the very tick, with the very size, of one made before the clock was set back.
        """
        return self.time // self.granularity * self.granularity + self._settings_back

    def forward(self, nanoseconds: int) -> None:
        self.time += nanoseconds

    def set_back(self, nanoseconds: int) -> None:
        self.time -= nanoseconds
        self._settings_back += 1

    def write(self, path: bytes, data: bytes) -> None:
        """Write in place, so that an existing file keeps its inode."""
        new = not os.path.lexists(path)
        with open(path, "wb") as file:
            file.write(data)
        if new:
            self._born(path)
            self._named(path)
        else:
            self.touch(path)

    def touch(self, path: bytes, mtime: int | None = None) -> None:
        node = self._node(os.lstat(path))
        node.ctime = self.stamp
        node.mtime = self.stamp if mtime is None else mtime

    def mtime(self, path: bytes) -> int:
        return self._node(os.lstat(path)).mtime

    def rename(self, path: bytes, new: bytes) -> None:
        """Rename, replacing what is there; the harshest kind, which leaves the ctime alone."""
        if self._mount(path) != self._mount(new):
            with open(path, "rb") as file:
                data = file.read()
            self.delete(path)
            if os.path.lexists(new):
                self.delete(new)
            self.write(new, data)
            return
        if os.path.lexists(new):
            del self._nodes[os.lstat(new).st_ino]
        os.rename(path, new)
        self._named(path)
        self._named(new)

    def delete(self, path: bytes) -> None:
        self._nodes.pop(os.lstat(path).st_ino, None)
        os.unlink(path)
        self._named(path)

    def make_directory(self, path: bytes) -> None:
        os.mkdir(path)
        self._directories[path] = (self.stamp, self.stamp)
        self._named(path)

    def remove_directory(self, path: bytes) -> None:
        """Remove an empty directory."""
        os.rmdir(path)
        self._directories.pop(path, None)
        self._named(path)

    def rename_directory(self, path: bytes, new: bytes) -> None:
        """Rename a directory, with all that is in it, to a name that is free."""
        os.rename(path, new)
        for each in [*self._directories]:
            if each == path or each.startswith(path + b"/"):
                self._directories[new + each.removeprefix(path)] = self._directories.pop(each)
        self._named(path)
        self._named(new)

    def link(self, target: bytes, path: bytes) -> None:
        """Make a symlink."""
        os.symlink(target, path)
        self._born(path)
        self._named(path)

    def deny(self, path: bytes) -> None:
        self.denied.add(path)
        self._changed(path)

    def permit(self, path: bytes) -> None:
        self.denied.discard(path)
        self._changed(path)

    def mount(self, directory: bytes, device: int) -> None:
        self._devices[directory] = device
        self.unmounted.discard(directory)

    def unmount(self, directory: bytes) -> None:
        self.unmounted.add(directory)

    def _changed(self, path: bytes) -> None:
        if os.path.isfile(path):
            self._node(os.lstat(path)).ctime = self.stamp
        elif os.path.isdir(path):
            mtime, _ = self._directories.get(path, (START, START))
            self._directories[path] = (mtime, self.stamp)

    def _named(self, path: bytes) -> None:
        """A name came or went: its directory has changed."""
        self._directories[os.path.dirname(path)] = (self.stamp, self.stamp)

    def _born(self, path: bytes) -> None:
        # The lowest free number, as many file systems do: a new file may get a deleted one's.
        used = {node.inode for node in self._nodes.values()}
        free = next(number for number in range(1, len(used) + 2) if number not in used)
        self._nodes[os.lstat(path).st_ino] = _Node(free, self.stamp, self._mount(path))

    def _node(self, real: os.stat_result) -> _Node:
        node = self._nodes.get(real.st_ino)
        if node is None:
            node = self._nodes[real.st_ino] = _Node(10_000 + real.st_ino, self.stamp, None)
        return node


class Remembered:
    """A file as a cache last saw it: its signature's fields, and its bytes or None if denied."""

    def __init__(self, fields: tuple[int, int, int, int, int], data: bytes | None) -> None:
        self.fields = fields
        self.data = data


class RememberedFileSystem(FileSystem):
    """Files that exist in a dictionary alone: what a cache should hold, as a root to build from."""

    def __init__(self, top: str, files: Mapping[bytes, Remembered], time: int) -> None:
        self._top = os.fsencode(top) + b"/"
        self._files = files
        self._time = time

    def now_ns(self) -> int:
        return self._time

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        prefix = (path.rstrip(b"/") + b"/").removeprefix(self._top)
        modes: dict[bytes, int] = {}
        for each in self._files:
            if each.startswith(prefix):
                name, slash, _ = each.removeprefix(prefix).partition(b"/")
                modes[name] = stat.S_IFDIR if slash else stat.S_IFREG
        return [Entry(self, path.rstrip(b"/"), name, mode) for name, mode in modes.items()]

    def stat(self, path: bytes) -> StatResult:
        found = self._files.get(path.removeprefix(self._top))
        if found is None:
            return Stat(stat.S_IFDIR, 0, 0, 0, 0, DISK)
        return Stat(stat.S_IFREG, *found.fields)

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        found = self._files[path.removeprefix(self._top)]
        if found.data is None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return signature(self.stat(path)), found.data[:limit]


def fields(packed: bytes) -> tuple[int, int, int, int, int]:
    """Take a signature apart again."""
    mtime, ctime, size, inode, device = struct.unpack("<qqqQQ", packed)
    return mtime, ctime, size, inode, device & DEVICE_MASK


def make_root(top: Path, name: str, **rules: int) -> Root:
    """Return a root at ``top/name``; its directory is made if need be."""
    directory = top / name
    directory.mkdir(parents=True, exist_ok=True)
    return Root(name, str(directory), Rules(gitignore=False, **rules))  # type: ignore[arg-type]


def fresh(root: Root, fs: FileSystem) -> Store:
    """Build a cache of a root from nothing, in memory."""
    store = Store.create(root, None)
    refresh(store, fs)
    return store


def entries(store: Store) -> dict[bytes, tuple[bytes, bytes | None, str | None]]:
    """Return a cache's manifest by path: signature, digest, problem."""
    rows = store.connection.execute("SELECT path, signature, digest, problem FROM entry")
    return {path: (signature, digest, problem) for path, signature, digest, problem in rows}


class Content:
    """All that a cache holds, without the numbers of its rows, which depend on the past."""

    def __init__(self, store: Store) -> None:
        connection = store.connection
        self.entries = entries(store)
        columns = [row[1] for row in connection.execute("PRAGMA table_info(document)")]
        self.documents = {
            path: dict(zip(columns[2:], values, strict=True))
            for path, _, _, *values in connection.execute(
                f"SELECT {_PLACE}, d.* FROM document AS d LEFT JOIN entry AS e ON e.id = d.entry"  # noqa: S608
            )
        }
        self.vocabulary = list(connection.execute("SELECT term, doc, cnt FROM vocabulary"))
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING fts5vocab(main, fts, instance)"
        )
        self.postings = sorted(
            connection.execute(
                f"SELECT {_PLACE}, p.term, p.col, p.offset FROM temp.places AS p"  # noqa: S608
                " LEFT JOIN document AS d ON d.id = p.doc LEFT JOIN entry AS e ON e.id = d.entry"
            )
        )

    def differences(self, other: Content) -> dict[str, tuple[object, object]]:
        """Return what is not the same, for an assertion that shows it."""
        return {
            name: (mine, theirs)
            for name, mine in vars(self).items()
            if (theirs := getattr(other, name)) != mine
        }


def assert_same(store: Store, other: Store) -> None:
    """Fail unless two caches hold the same."""
    assert Content(store).differences(Content(other)) == {}


ANALYZERS = Analyzers()  # as one that searches keeps them: each knows the words that it has met


def ask(stores: Sequence[Store], text: str, k: int = 5) -> list[tuple[object, ...]]:
    """Return the ranked hits of a query over some caches, with their exact scores."""
    asked = Question(text, stores, ANALYZERS)
    if not asked.terms:
        return []
    wanted = [Filter() for _ in stores]
    hits = candidates(stores, wanted, asked.parts, asked.whole, asked.terms, k)
    scorer = Scorer(asked, [False] * len(stores))
    for hit in hits:
        scorer.score(hit)
    return [
        (hit.score.hex(), hit.root, hit.path, hit.title, hit.length, str(hit.occurrences))
        for hit in rank.ordered(hits)
    ]


def update(store: Store, fs: FileSystem, *, prune: bool = False, compact: bool = False) -> Report:
    """Refresh as ``recall refresh`` does."""
    return refresh(store, fs, Options(insist=True, prune=prune, compact=compact))


def cache_files(directory: str) -> Iterator[tuple[str, bytes]]:
    """Yield each file of a cache directory with its bytes."""
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            yield name, file.read()


def remove_tree(directory: str) -> None:
    """Delete a directory and all that is in it."""
    shutil.rmtree(directory)


class Place:
    """One root under a fake clock, with its cache on disk and ways to look at both."""

    def __init__(self, top: Path, granularity: int = SECOND) -> None:
        self.top = top.resolve()
        self.fs = FakeFileSystem(granularity)
        self.root = make_root(self.top, "notes")
        self.cache = str(self.top / "cache")

    def path(self, relative: str = "") -> bytes:
        return os.path.join(os.fsencode(self.root.path), os.fsencode(relative)).rstrip(b"/")

    def write(self, relative: str, text: str) -> None:
        path = self.path(relative)
        self.make_directories(os.path.dirname(path))
        self.fs.write(path, text.encode())

    def make_directories(self, path: bytes) -> None:
        if not os.path.isdir(path):
            self.make_directories(os.path.dirname(path))
            self.fs.make_directory(path)

    def store(self) -> Store:
        """Open the cache, which the caller closes; an empty one is made if there is none."""
        return open_store(self.root, self.cache, 0)

    def refresh(self, *, prune: bool = False, compact: bool = False) -> Report:
        """Refresh the cache with the files as they are, as a process of its own would."""
        with closing(self.store()) as store:
            return update(store, self.fs, prune=prune, compact=compact)

    def settle(self) -> None:
        """Refresh when all times are old enough to be trusted."""
        self.fs.forward(10 * SECOND)
        self.refresh()

    def paths(self) -> list[str]:
        """Return the documents that the cache holds."""
        with closing(self.store()) as store:
            return sorted(os.fsdecode(path) for path in Content(store).documents)

    def check(self) -> None:
        """Fail unless the cache holds what a fresh one would."""
        with closing(self.store()) as store, closing(fresh(self.root, self.fs)) as other:
            assert_same(store, other)

    def recall(self) -> Recall:
        return Recall(
            [self.root],
            cwd=str(self.top),
            environ={"HOME": str(self.top / "home")},
            cache_dir=self.cache,
            fs=self.fs,
        )

    def answer(self, text: str, *, refresh: bool = False, **options: Any) -> Answer:
        """Search, by default without looking at the files first."""
        with self.recall() as recall:
            return recall.answer(text, refresh=refresh, **options)

    def titles(self, text: str, **options: Any) -> list[str]:
        return [card.title for card in self.answer(text, **options).cards]

    @property
    def cache_file(self) -> str:
        return cache_path(self.cache, self.root)
