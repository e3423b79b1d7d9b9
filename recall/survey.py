"""Walking directories for places that hold notes: repositories, vaults, memory, plain notes.

See ``spec/discover.md``. Nothing is decided here about which of them become roots.
"""

from __future__ import annotations

import os
import stat

from index_cache.files import describe
from index_cache.scan import VIRTUAL_ENVIRONMENT
from recall import places
from recall.files import Unreadable, read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.files import DirEntry, FileSystem

REPOSITORY, VAULTS, MEMORIES, PLAIN = "repository", "vault", "memory", "notes"
ENOUGH = 3  # notes that make a directory one of notes
TOGETHER = 2  # directories of notes that make the one around them a root
BARREN = 24  # directories without notes that are no reason against it
_LINK_BYTES = 64 * 1024
_BARE = frozenset({b"HEAD", b"objects", b"refs"})


class Spot:
    """A directory of a place: ``what`` is in it, its relative path, and a ``glob`` below it."""

    __slots__ = ("glob", "what", "where")

    def __init__(self, what: str, where: bytes, glob: str = "") -> None:
        self.what = what
        self.where = where
        self.glob = glob


class Place:
    """What could be a root, as its names tell.

    ``spots`` are the directories in it that have a name of notes. ``whole`` says that all of it
    are notes, ``own`` how many of those at its top count, ``suffixes`` those of them all there;
    ``glob`` what of it is meant, "" for all. ``markdown`` and ``others`` count its files, but
    what is attached to notes. ``vendored`` are the names of directories that were passed over.
    ``key`` is what worktrees of one repository have in common, ``linked`` says it is one.
    """

    __slots__ = (
        "glob",
        "key",
        "kind",
        "linked",
        "markdown",
        "others",
        "own",
        "path",
        "spots",
        "suffixes",
        "vendored",
        "whole",
    )

    def __init__(self, path: bytes, kind: str, *, whole: bool = False, glob: str = "") -> None:
        self.path = path
        self.kind = kind
        self.whole = whole
        self.glob = glob
        self.spots: list[Spot] = []
        self.own = self.markdown = self.others = 0
        self.suffixes: set[bytes] = set()
        self.vendored: set[bytes] = set()
        self.key = path
        self.linked = False


class _Node:
    """A directory outside of every place, with what is known of it and of what lies below.

    ``own`` are the notes in it that count, ``all`` those in it and below; ``loose`` of them are in
    no directory of notes. ``below`` are the directories below it, ``barren`` those that have no
    note, ``groups`` its children all of whose notes lie in directories of notes. ``breaks`` says
    that what is no root's with others is in it or below, ``unseen`` that not all was looked at.
    """

    __slots__ = (
        "all",
        "barren",
        "below",
        "breaks",
        "groups",
        "loose",
        "named",
        "own",
        "parent",
        "path",
        "suffixes",
        "taken",
        "unseen",
        "vendored",
    )

    def __init__(self, path: bytes, parent: _Node | None, named: str | None) -> None:
        self.path = path
        self.parent = parent
        self.named = named
        self.own = self.all = self.loose = self.below = self.barren = self.groups = 0
        self.suffixes: set[bytes] = set()
        self.vendored: set[bytes] = set()
        self.breaks = self.taken = self.unseen = False

    def is_of_notes(self) -> bool:
        """Tell whether it is a directory of notes by itself."""
        return self.own >= ENOUGH or bool(self.named and self.all)

    def joins(self) -> bool:
        """Tell whether it is one because directories of notes lie side by side in it."""
        if self.breaks or self.unseen or self.groups < TOGETHER:
            return False
        return self.barren <= max(BARREN, self.below - self.barren)

    def hand_up(self) -> None:
        """Add what is known of it to its parent; of what lies below it all is known."""
        around = self.parent
        if around is None:
            return
        within = not self.breaks and (self.is_of_notes() or self.joins())
        loose = 0 if within else self.loose
        around.all += self.all
        around.loose += loose
        around.groups += bool(self.all) and not loose
        around.below += self.below + 1
        around.barren += self.barren + (not self.all)
        around.vendored |= self.vendored
        around.breaks = around.breaks or self.breaks
        around.unseen = around.unseen or self.unseen


class Survey:
    """One walk over one or several directories, and what it has found.

    ``fs`` is where, ``depth`` how deep at most, ``is_over`` tells that time is over, ``home`` is
    the person's home, which is never a directory of notes as a whole; ``told`` is called with the
    numbers of directories and places so far. ``unreadable`` are directories with the reason,
    ``deeper`` how many were too deep, ``passed_over`` how many by their names, ``submodules`` how
    many were not walked; ``late`` says that there would have been more.
    """

    def __init__(
        self,
        fs: FileSystem,
        depth: int,
        is_over: Callable[[], bool],
        told: Callable[[int, int], None] | None = None,
        home: bytes | None = None,
    ) -> None:
        self._fs = fs
        self._home = home
        self._depth = depth
        self._is_over = is_over
        self._told = told
        self._seen: set[bytes] = set()
        self._nodes: list[_Node] = []
        self.found: dict[bytes, Place] = {}
        self.unreadable: list[tuple[bytes, str]] = []
        self.directories = self.deeper = self.passed_over = self.submodules = 0
        self.late = False

    def walk(self, top: bytes) -> None:
        """Walk ``top``, an absolute path without symlinks. Raises OSError if it can't be listed."""
        self._fs.scandir(top)
        node = self._node(top, None)
        pending: list[tuple[bytes, int, Place | None, _Node]] = [(top, 0, None, node)]
        while pending:
            if self._is_over():
                self.late = True
                for _, _, _, node in pending:
                    node.unseen = True
                return
            path, depth, place, node = pending.pop()
            listing = self._listing(path)
            names = {entry.name for entry in listing}
            if names >= _BARE or (depth and VIRTUAL_ENVIRONMENT in names):
                self.passed_over += 1
                continue
            owner, goes_on = self._owner(path, names, place, node)
            if not goes_on:
                continue
            below = self._take(path, listing, owner, node)
            if depth >= self._depth:
                self.deeper += len(below)
                continue
            for name in sorted(below, reverse=True):  # popped in their order
                child = os.path.join(path, name)
                inner = node if owner else self._node(child, node)
                pending.append((child, depth + 1, owner, inner))

    def _listing(self, path: bytes) -> Sequence[DirEntry]:
        """List a directory, once; nothing for one that can't be listed."""
        if path in self._seen:
            return ()
        self._seen.add(path)
        try:
            listing = self._fs.scandir(path)
        except (FileNotFoundError, NotADirectoryError):
            return ()  # gone since its parent was listed
        except OSError as error:
            self.unreadable.append((path, describe(error)))
            return ()
        self.directories += 1
        if self._told:
            self._told(self.directories, len(self.found))
        return listing

    def _node(self, path: bytes, parent: _Node | None) -> _Node:
        node = _Node(path, parent, places.WHAT.get(os.path.basename(path).lower()))
        node.breaks = path == self._home
        self._nodes.append(node)
        return node

    def _owner(
        self, path: bytes, names: set[bytes], place: Place | None, node: _Node
    ) -> tuple[Place | None, bool]:
        """Return the place that a directory is of, and whether to walk on in it."""
        is_vault = b".obsidian" in names or (
            b"logseq" in names and os.path.lexists(os.path.join(path, b"logseq", b"config.edn"))
        )
        if b".git" in names:
            key, kind = _repository(path)
            if kind == "submodule" and place is not None:
                self.submodules += 1
                return place, False
            made = Place(path, VAULTS if is_vault else REPOSITORY, whole=is_vault)
            made.key, made.linked = key, kind == "worktree"
            return self._add(made, node), True
        if not is_vault:
            return place, True
        if place is None:
            return self._add(Place(path, VAULTS, whole=True), node), False
        place.spots.append(Spot(places.VAULT, path[len(place.path) + 1 :]))
        return place, False

    def _add(self, place: Place, node: _Node) -> Place:
        node.breaks = True
        return self.found.setdefault(place.path, place)

    def _take(
        self, path: bytes, listing: Sequence[DirEntry], place: Place | None, node: _Node
    ) -> list[bytes]:
        """Note what lies in a directory; return the names of the directories to be walked."""
        below = []
        for entry in listing:
            name = entry.name
            try:
                if entry.is_symlink():
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    self._file(path, name, place, node)
                    continue
            except OSError as error:
                self.unreadable.append((os.path.join(path, name), describe(error)))
                continue
            if name in places.KEPT:
                self._kept(path, name, place)
            elif name[:1] == b"." or places.is_passed_over(name):
                self.passed_over += name != b".git"
                if name in places.VENDORED:
                    (place or node).vendored.add(name)
            else:
                what = places.WHAT.get(name.lower())
                if place is not None and what is not None:
                    inside = os.path.join(path, name)[len(place.path) + 1 :]
                    place.spots.append(Spot(what, inside))
                below.append(name)
        return below

    def _file(self, path: bytes, name: bytes, place: Place | None, node: _Node) -> None:
        if not places.is_markdown(name):
            if place is not None and not places.is_attached(name):
                place.others += 1
            return
        at_top = place is None or path == place.path
        counts = not places.is_community(name)
        holder: Place | _Node = node if place is None else place
        if at_top:
            holder.suffixes.add(name[name.rindex(b".") :])
            holder.own += counts
        if place is None:
            node.all += 1
            node.loose += 1
        else:
            place.markdown += 1

    def _kept(self, path: bytes, name: bytes, place: Place | None) -> None:
        """Note what an agent keeps in the hidden directory ``name``."""
        for below, glob in places.KEPT[name]:
            where = os.path.join(path, name, below).rstrip(b"/")
            try:
                if not stat.S_ISDIR(self._fs.stat(where).st_mode):
                    continue
            except OSError:
                continue
            if place is not None:
                place.spots.append(Spot(places.MEMORY, where[len(place.path) + 1 :], glob))
            else:
                self.found.setdefault(where, Place(where, MEMORIES, whole=True, glob=glob))

    def places(self) -> list[Place]:
        """Return what was found, by path."""
        for node in reversed(self._nodes):  # what lies below comes after
            node.hand_up()
        for node in self._nodes:
            if node.parent is not None and node.parent.taken:
                node.taken = True
            elif node.is_of_notes() or node.joins():
                self._plain(node)
        return sorted(self.found.values(), key=lambda place: place.path)

    def _plain(self, node: _Node) -> None:
        kind = MEMORIES if node.named == places.MEMORY else PLAIN
        place = Place(node.path, kind, whole=not node.breaks)
        place.own, place.suffixes, place.vendored = node.own, node.suffixes, node.vendored
        if not node.breaks:
            node.taken = True
        elif node.own < ENOUGH:
            return  # of what lies below, each speaks for itself
        self.found.setdefault(node.path, place)


def _repository(path: bytes) -> tuple[bytes, str]:
    """Return what the worktrees of a repository have in common, and what kind of one it is."""
    link = os.path.join(path, b".git")
    try:
        line = read_small(os.fsdecode(link), _LINK_BYTES)
    except (OSError, Unreadable):
        return os.path.realpath(link), "main"  # a directory
    target = line.removeprefix(b"gitdir:").strip()
    if not line.startswith(b"gitdir:") or b"\0" in target:
        return os.path.realpath(link), "main"
    entry = os.path.realpath(os.path.join(path, target))
    parent = os.path.dirname(entry)
    if os.path.basename(parent) == b"worktrees":
        return os.path.dirname(parent), "worktree"
    return entry, "submodule" if b"/modules/" in entry else "main"
