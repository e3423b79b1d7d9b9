"""One root with its open cache: kept fresh, and replaced when it proves to be damaged."""

from __future__ import annotations

import os

import apsw

from index_cache import db, locks
from index_cache.errors import RecallError, RootUnavailable
from index_cache.model import Root, Skipped
from index_cache.refresh import Options, Report, in_memory, left_out, open_store, refresh
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from index_cache.files import FileSystem

    T = TypeVar("T")


class RootStatus:
    """The state of one root's cache, as ``recall status`` shows it.

    ``withheld`` counts what is private and in no list, ``cache_bytes`` and ``text_bytes`` are sizes
    on disk of the cache and of the indexed files, ``last_refresh`` is in seconds since the epoch,
    ``last_failure`` has when, message, where, hint.
    """

    __slots__ = (
        "built",
        "cache_bytes",
        "cache_file",
        "documents",
        "last_failure",
        "last_refresh",
        "root",
        "skipped",
        "text_bytes",
        "unavailable",
        "withheld",
    )

    def __init__(self, root: Root) -> None:
        self.root = root
        self.documents = 0
        self.skipped: tuple[Skipped, ...] = ()
        self.unavailable: tuple[Skipped, ...] = ()
        self.withheld = 0
        self.cache_file: str | None = None
        self.cache_bytes = 0
        self.text_bytes = 0
        self.built = False
        self.last_refresh: float | None = None
        self.last_failure: dict[str, object] | None = None


class OpenRoot:
    """A root's cache for as long as it is needed; ``store`` is None until ``ready``."""

    def __init__(self, root: Root, directory: str | None, fs: FileSystem) -> None:
        self.root = root
        self.store: Store | None = None
        self._directory = directory
        self._fs = fs

    @property
    def view(self) -> Store | None:
        """The cache, if it has ever been built to its end."""
        return self.store if self.store is not None and self.store.built else None

    def close(self) -> None:
        """Close the cache; ``ready`` opens it again."""
        if self.store is not None:
            self.store.close()
            self.store = None

    def refresh(self, options: Options) -> Report:
        """Bring the cache up to date. Never raises RecallError: the report has the failure."""
        return self._reported(
            lambda store: refresh(store, self._fs, options),
            options.wait,
            anyhow=not options.insist,
        )

    def as_it_is(self, wait: float) -> Report:
        """Open the cache as it is, without looking at the files; refresh it if it has no view."""
        return self._reported(lambda store: self._viewed(store, wait), wait)

    def _reported(
        self, use: Callable[[Store], Report], wait: float, *, anyhow: bool = True
    ) -> Report:
        """Return the report that ``use`` gives, or one of its failure.

        ``anyhow`` lets a cache in memory answer where there is no view and none can be written.
        """
        if self.store is None and not os.path.isdir(self.root.path):
            return self._failed(_missing(self.root))
        try:
            report = self.guarded(use, wait)
        except RecallError as error:
            return self._failed(error)
        except (apsw.Error, OSError) as error:
            if not anyhow or isinstance(error, apsw.BusyError) or self.view is not None:
                return self._failed(self._told(error))
            self.close()
            self.store = in_memory(self.root, str(error))
            report = use(self.store)
        if report.cache_file is None:
            why = self.store.why_in_memory if self.store else None
            place = f"in {self._directory}: {why}" if self._directory else ": there is no home"
            report.notices += (f"no cache can be kept {place}; everything was read anew",)
        return report

    def probe(self, wait: float) -> None:
        """Check every page of the cache, and make it anew if it is damaged.

        Raises what making it anew raises.
        """
        if self.store is not None:
            self.guarded(_check_pages, wait)

    def _viewed(self, store: Store, wait: float) -> Report:
        if not store.built:
            return refresh(store, self._fs, Options(wait=wait))
        report = Report(self.root, store.path)
        report.documents = report.unchanged = store.documents()
        report.skipped, report.unavailable, report.withheld = _left_out(store)
        return report

    def status(self, told: Mapping[str, dict[str, object]]) -> RootStatus:
        """Return the state of the cache as it is; ``told`` are the last failures by identity."""
        from index_cache import files
        from recall.caches import size_on_disk

        state = RootStatus(self.root)
        state.last_failure = told.get(db.identity(self.root))
        if self._directory is None:
            return state
        path = db.cache_path(self._directory, self.root)
        try:
            store = Store(self.root, path)
        except (apsw.Error, db.Damaged):
            return state
        try:
            store.check()
            state.built = store.built
            state.documents = store.documents()
            state.skipped, state.unavailable, state.withheld = _left_out(store)
            state.text_bytes = sum(map(files.size, store.signatures().values()))
        except db.TROUBLE as error:
            if not db.is_damage(error):
                raise
            state.last_failure = {"when": None, "message": f"the cache is damaged: {error}"}
        finally:
            store.close()
        state.cache_file = path
        state.cache_bytes = size_on_disk(path)
        state.last_refresh = locks.last_used(path)
        return state

    def guarded(self, use: Callable[[Store], T], wait: float) -> T:
        """Return what ``use`` makes of the open cache; of a damaged one it gets a new one, once.

        ``wait`` is how many seconds to wait for another process that is making the cache. Raises
        what ``use`` and opening raise.
        """
        if self.store is not None and not self.store.in_place():
            self.close()  # swept or replaced by another process: what we write there is for nobody
        if self.store is None:
            self.store = open_store(self.root, self._directory, wait)
        try:
            return use(self.store)
        except db.TROUBLE as error:
            if not db.is_damage(error):
                raise
            self._discard(wait)
        self.store = open_store(self.root, self._directory, wait)
        refresh(self.store, self._fs, Options(wait=wait))
        return use(self.store)

    def _discard(self, wait: float) -> None:
        store, self.store = self.store, None
        if store is None or store.path is None:
            return
        store.close()
        with locks.WriterLock(store.path) as lock:
            if not lock.acquire(wait):
                raise locks.busy(self.root, wait)
            # Who was quicker has a new cache there already, and may be using it.
            if store.in_place():
                db.discard(store.path)

    def _failed(self, error: RecallError) -> Report:
        """Return the report of a root that could not be refreshed: an older view may answer."""
        report = Report(self.root, self.store.path if self.store else None)
        report.failure = error
        if isinstance(error, RootUnavailable):
            report.unavailable = (Skipped(b"", error.message),)
        return report

    def _told(self, error: Exception) -> RecallError:
        where = self.store.path if self.store else self._directory
        if isinstance(error, apsw.BusyError):
            return locks.busy(self.root, 0)
        if isinstance(error, apsw.FullError) or getattr(error, "errno", None) == 28:  # noqa: PLR2004
            return RootUnavailable(
                f"the cache of root {self.root.name} can't be written: the disk is full",
                where=where,
                hint="free some space; until then the older cache answers",
            )
        return RootUnavailable(
            f"the cache of root {self.root.name} can't be used: {error}",
            where=where,
            hint="recall cache list shows where it is; it may be deleted at any time",
        )


def _missing(root: Root) -> RootUnavailable:
    return RootUnavailable(
        f"root {root.name} can't be read: there is no such directory",
        where=root.path,
        hint="check that the directory exists and is mounted",
    )


def _left_out(store: Store) -> tuple[tuple[Skipped, ...], tuple[Skipped, ...], int]:
    return left_out(
        store, store.notes("skipped"), store.notes("unavailable"), store.number("withheld")
    )


def _check_pages(store: Store) -> None:
    found = store.connection.pragma("integrity_check")
    if found != "ok":
        raise db.Damaged(str(found))
