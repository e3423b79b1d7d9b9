"""The caches that a prompt is answered from, opened as they are: nothing is built for it.

For each root its cache, what has come and gone since the last refresh, and the new notes in memory.
See "The way of a prompt" in ``spec/hook.md``.
"""

from __future__ import annotations

import os
import stat
import time

from index_cache import db
from index_cache.filters import Filter
from index_cache.peek import Look
from index_cache.store import Store
from recall import looks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.peek import Peek
    from index_cache.strict import RootRefused

LOOK = 0.010  # seconds for the directories of all roots

ANSWERS, MISSING, BUSY, DAMAGED, UNUSABLE = "answers", "missing", "busy", "damaged", "unusable"
REFUSED = "refused"


class View:
    """One root and its cache.

    ``state`` is ``ANSWERS``, or why it doesn't: there is no whole cache yet (``MISSING``), SQLite
    is busy with it, ``trouble`` is what is wrong with it, or ``refused`` why a strict root does
    not answer. ``near`` says that the root belongs to
    the project that the person stands in. ``peek`` is what its directories have shown, ``new`` a
    cache in memory of files that appeared, ``chosen`` how many of these were read. ``go_on`` is the
    directory at which the next look begins, None if that is where this one did.
    """

    __slots__ = (
        "_look",
        "_path",
        "chosen",
        "go_on",
        "identity",
        "near",
        "new",
        "peek",
        "refused",
        "root",
        "state",
        "store",
        "trouble",
    )

    def __init__(self, root: Root, *, near: bool) -> None:
        self.root = root
        self.identity = db.identity(root)
        self.near = near
        self.state = MISSING
        self.trouble: Exception | None = None
        self.refused: RootRefused | None = None
        self.store: Store | None = None
        self.peek: Peek | None = None
        self._look: Look | None = None
        self.new: Store | None = None
        self.chosen = 0
        self.go_on: int | None = None
        self._path: str | None = None

    def open(self, directory: str, wait: int) -> None:
        """Open the cache in a directory, if there is a whole one, and begin to read it.

        ``wait`` is how many ms SQLite may wait for others.
        """
        self._path = path = db.cache_path(directory, self.root)
        try:
            db.refuse_directory(directory)
            if _is_missing(path):
                return
            try:
                self._begin(path, wait)
            except db.TROUBLE as error:
                if not db.is_damage(error):
                    raise
                # What is just being made looks like it: again, while nobody else writes.
                if not self._alone(lambda: self._begin(path, wait)):
                    self.trouble, self.state = error, BUSY
        except (*db.TROUBLE, OSError) as error:
            self.fail(error)

    def _begin(self, path: str, wait: int) -> None:
        if self.store is not None:
            self.store.close()
            self.store = None
        self.store = Store(self.root, path, wait)
        self.store.begin_reading()  # before the checks: else each takes SQLite's locks anew
        self.store.check()
        if self.store.built:
            self.state = ANSWERS
            if self.root.rules.strict:
                self._judge(self.store)

    def _judge(self, store: Store) -> None:
        """Do without a strict root that is refused, by what the last refresh found out."""
        from index_cache import scan, strict, verdict  # few roots are

        if not os.path.isdir(self.root.path):
            self.refuse(strict.unavailable(self.root, scan.missing(self.root)))
        elif (error := strict.refusal(self.root, verdict.violations(store))) is not None:
            self.refuse(error)

    def refuse(self, error: RootRefused) -> None:
        """Do without this root, which is strict and has a violation."""
        self.state, self.refused = REFUSED, error

    def _alone(self, do: Callable[[], None]) -> bool:
        """Do something under the writer's lock; False if another process has that.

        Where there are no locks, nobody writes. Nothing is made: without a file of the lock nobody
        has ever written either.
        """
        from index_cache import locks  # few caches look damaged

        if self._path is None or not os.path.lexists(locks.lock_file(self._path)):
            do()
            return True
        with locks.WriterLock(self._path) as lock:
            try:
                if not lock.acquire(0):
                    return False
            except OSError:
                pass
            do()
        return True

    def begin_look(self, begin: int, fs: FileSystem) -> None:
        """Look at the first of the root's directories, from the one with number ``begin`` on."""
        if self.store is None or self.state != ANSWERS:
            return
        try:
            self._look = Look(self.root, self.store, fs, begin)
        except (*db.TROUBLE, OSError) as error:
            self.fail(error)
        self.look_on(0)

    @property
    def looks(self) -> bool:
        """Whether there are directories left to look at."""
        return self._look is not None and not self._look.is_over

    def look_on(self, budget: float) -> None:
        """Look at more of the root's directories for ``budget`` seconds."""
        if self._look is None:
            return
        try:
            self._look.go_on(budget)
        except (*db.TROUBLE, OSError) as error:
            self._look = None
            self.fail(error)

    def end_look(self, fs: FileSystem) -> None:
        """Read what is new in the directories that were looked at."""
        if self._look is None:
            return
        try:
            self.peek = self._look.finish()
            if self._look.start or not self.peek.complete:
                self.go_on = 0 if self.peek.complete else self.peek.next
            if self.peek.appeared and not self.root.rules.strict:  # nobody has judged them
                from index_cache.beside import beside, choose  # reads notes: loads the parsers

                chosen = choose(self.peek.appeared)
                self.chosen = len(chosen)
                self.new = beside(self.root, fs, chosen)
        except (*db.TROUBLE, OSError) as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Do without this cache, for this prompt.

        What looks damaged while another process writes it is not condemned: it may be half made.
        """
        self.trouble = error
        if db.is_damage(error):
            self.state = DAMAGED if self._alone(lambda: None) else BUSY
        else:
            self.state = BUSY if isinstance(error, db.WAITS) else UNUSABLE

    @property
    def stores(self) -> list[Store]:
        """The caches to be searched: none if this root does not answer."""
        if self.state != ANSWERS:
            return []
        return [store for store in (self.store, self.new) if store is not None]


class Views:
    """The views of all roots of a prompt: those of the person's project first."""

    def __init__(self, roots: Sequence[Root], near: Sequence[bool]) -> None:
        pairs = zip(roots, near, strict=True)
        self.all = [View(root, near=is_near) for root, is_near in pairs]
        self.all.sort(key=lambda view: not view.near)

    def open(self, directory: str | None, state_dir: str | None, fs: FileSystem) -> None:
        """Open what there is, and look at the directories: at some of each root, in any case."""
        if directory is None:
            return
        self.open_caches(directory)
        if sum(view.root.rules.strict for view in self.all) > 1:
            self._compare()
        starts = looks.starts(state_dir)
        until = time.monotonic() + LOOK
        for view in self.all:
            view.begin_look(starts.get(view.identity, 0), fs)
        self._look_on(until)
        for view in self.all:
            view.end_look(fs)

    def open_caches(self, directory: str) -> None:
        """Open the caches there are, without a look at directories."""
        wait = db.READ_WAIT
        for view in self.all:
            view.open(directory, wait)
            if view.state == BUSY:
                wait = 0  # what holds one so long may hold them all

    def _look_on(self, until: float) -> None:
        """Look at more directories: half of the time for a project's own root, else equal parts.

        What one does not need is the others', who take turns until the time is over.
        """
        while rest := [view for view in self.all if view.looks]:
            for number, view in enumerate(rest):
                left = until - time.monotonic()
                if left <= 0:
                    return
                many = len(rest) - number
                view.look_on(left / min(many, 2 if view.near else many))

    def _compare(self) -> None:
        """Do without the strict roots that share ids with one another."""
        from index_cache.verdict import across

        views = [view for view in self.all if view.root.rules.strict and view.state == ANSWERS]
        stores = [view.store for view in views if view.store is not None]
        for number, error in across(stores).items():
            views[number].refuse(error)

    def refuse(self, error: Exception) -> bool:
        """Do without the strict root in which a search found a violation; False if it is none."""
        strict = [view for view in self.all if view.root.rules.strict]
        if not strict:
            return False
        from index_cache.strict import RootRefused

        if not isinstance(error, RootRefused):
            return False
        found = [view for view in strict if view.root == error.root]
        for view in found:
            view.refuse(error)
        return bool(found)

    def keep_places(self, state_dir: str | None) -> None:
        """Keep where the next prompt's looks go on. Never raises."""
        numbers = {view.identity: view.go_on for view in self.all if view.go_on is not None}
        looks.keep(state_dir, numbers)

    def searched(
        self, cwd: str, *, journal: bool, valid_at: int
    ) -> list[tuple[View, Store, Filter, bool]]:
        """Return the caches to be searched, each with its filter and whether it is counted.

        ``valid_at`` is as in ``Filter``.
        """
        if len(self.all) == 1:
            (view,) = self.all
            wanted = Filter(journal=journal, valid_at=valid_at)
            return [(view, store, wanted, True) for store in view.stores]
        from recall.nesting import Nesting, filters

        stores = [view.store if view.state == ANSWERS else None for view in self.all]
        roots = [view.root for view in self.all]
        nesting = Nesting(roots, stores)
        for view in self.all:
            if view.root.rules.strict and view.state != ANSWERS:
                nesting.close(roots, view.root)
        parts = filters(roots, nesting, None, None, cwd, journal, valid_at=valid_at)
        return [
            (view, store, part, counted)
            for view, part, counted in zip(self.all, parts, nesting.counted, strict=True)
            for store in view.stores
            if part is not None
        ]

    def blame(self, error: Exception) -> bool:
        """Do without the cache that an error in a search comes from; False if it is none's."""
        path = getattr(error, "path", None)
        for view in self.all:
            if view.store is not None and path is not None and view.store.path == path:
                view.fail(error)
                return True
        return False

    def condemn(self, directory: str) -> list[tuple[View, bool]]:
        """Delete the damaged files, if nobody writes them; return whose they were, and if they are.

        A refresh makes them anew.
        """
        return [
            (view, _deleted(db.cache_path(directory, view.root), view.store))
            for view in self.all
            if view.state == DAMAGED
        ]


def _is_missing(path: str) -> bool:
    """Tell whether there is no cache file, or an empty one: the first that a writer makes."""
    try:
        st = os.lstat(path)
    except OSError:
        return True
    return stat.S_ISREG(st.st_mode) and not st.st_size


def _deleted(path: str, store: Store | None) -> bool:
    from index_cache import locks  # few caches are damaged

    try:
        with locks.WriterLock(path) as lock:
            # Who was quicker may have a new cache there already.
            if not lock.acquire(0) or (store is not None and not store.in_place()):
                return False
            if store is not None:
                store.close()
            db.discard(path)
    except OSError:
        return False
    return True
