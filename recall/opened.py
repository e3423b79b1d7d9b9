"""One root with its open cache: kept fresh, and replaced when it proves to be damaged."""

from __future__ import annotations

import os

import apsw

from index_cache import db, locks
from index_cache.errors import CacheBusy, RecallError, RootUnavailable
from index_cache.guard import check_pages
from index_cache.model import Skipped
from index_cache.peek import has_changed
from index_cache.refresh import Options, Report, in_memory, left_out, open_store, refresh
from index_cache.scan import missing
from recall.withhold import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.store import Store

    T = TypeVar("T")


def unreadable(error: Exception) -> RecallError:
    """Return what to say when a search could not read on in some cache that is not damaged."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return CacheBusy("a cache is locked by another process", hint="try again in a moment")
    return RootUnavailable(
        f"a cache can't be read: {error}",
        hint="recall cache list shows where they are; they may be deleted at any time",
    )


def open_roots(roots: Sequence[Root], directory: str | None, fs: FileSystem) -> list[OpenRoot]:
    """Return the caches of some roots, of one directory under two names the first."""
    found = shared(roots)
    different = {db.identity(root): root for root in reversed(found)}
    kept = [root for root in found if different[db.identity(root)] is root]
    return [OpenRoot(root, directory, fs) for root in kept]


def repair(
    opened: Sequence[OpenRoot], error: Exception, reports: list[Report], options: Options
) -> None:
    """Make the caches anew that a reading found damaged, each at most once a reading.

    One that is damaged again is replaced by one in memory. ``reports`` are those of the roots, and
    are replaced. Raises ``error`` when it comes from none of the files.
    """
    filed = [each for each in opened if each.store is not None and each.store.path]
    path = getattr(error, "path", None)
    blamed = [(each, error) for each in filed if each.store and each.store.path == path]
    if not blamed:
        found = [(each, each.fault()) for each in filed]
        blamed = [(each, fault) for each, fault in found if fault is not None]
    if not blamed:
        raise error
    for each, fault in blamed:
        at = opened.index(each)
        reports[at] = each.repair(fault, reports[at], options)


class OpenRoot:
    """A root's cache for as long as it is needed; ``store`` is None until ``ready``."""

    def __init__(self, root: Root, directory: str | None, fs: FileSystem) -> None:
        self.root = root
        self.store: Store | None = None
        self._directory = directory
        self._fs = fs
        self._damage: str | None = None  # what was found and is in no report yet
        self._refused: RecallError | None = None

    @property
    def view(self) -> Store | None:
        """The cache, if it has ever been built to its end.

        Raises the error for which a strict root is not to be answered from.
        """
        if self._refused is not None:
            raise self._refused
        return self.store if self._has_view() else None

    def refuse(self, report: Report, error: RecallError | None) -> None:
        """Let nothing be answered from this root, which is strict, if there is an error."""
        report.failure = self._refused = error

    def close(self) -> None:
        """Close the cache; ``ready`` opens it again."""
        if self.store is not None:
            self.store.close()
            self.store = None

    def release(self) -> None:
        """Close the cache if it is a file, and none that is compared with others."""
        if self.store is not None and self.store.path is not None and not self.root.rules.strict:
            self.close()

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

    def look(self, options: Options) -> Report:
        """Open the cache as it is, unless the root's directories show that a refresh is due.

        Then that is done. See "Freshness" in ``spec/reading.md``.
        """

        def use(store: Store) -> Report:
            known = store.built and not self.root.rules.strict  # which is proven by all its files
            if known and not has_changed(self.root, store, self._fs):
                return self._viewed(store, options.wait)
            return refresh(store, self._fs, options)

        return self._reported(use, options.wait)

    def repair(self, error: Exception, report: Report, options: Options) -> Report:
        """Make the cache anew in which a search found damage; return the report of that.

        ``error`` is what the search met, ``report`` what was told of the root before. If that has
        damage as well, the new file does not last, and a cache in memory takes its place.
        """
        self._damage = report.damage
        try:
            self._condemn(error, options.wait)
        except RecallError as busy:
            failed = self._failed(busy)
            self._tell(failed)
            return failed
        return self.refresh(options)

    def _reported(
        self, use: Callable[[Store], Report], wait: float, *, anyhow: bool = True
    ) -> Report:
        """Return the report that ``use`` gives, or one of its failure.

        ``anyhow`` lets a cache in memory answer where there is no view and none can be written.
        """
        report = self._attempt(use, wait, anyhow=anyhow)
        self._tell(report)
        self._refused = None
        if self.root.rules.strict:
            self.refuse(report, self._verdict(report))
        return report

    def _verdict(self, report: Report) -> RecallError | None:
        """Return why a strict root is not to be answered from, None if it is."""
        from index_cache import strict, verdict

        error = report.failure
        if isinstance(error, RootUnavailable) and error.where == self.root.path:
            return strict.unavailable(self.root, error)
        if error is not None or self.store is None:
            return error
        try:
            if report.violations is None and self.store.built:
                report.violations = verdict.violations(self.store)
        except db.TROUBLE as trouble:
            return db.unusable(self.root, trouble, self.store.path, 0)
        return strict.refusal(self.root, report.violations or [])

    def _attempt(self, use: Callable[[Store], Report], wait: float, *, anyhow: bool) -> Report:
        if self.store is None and not os.path.isdir(self.root.path):
            return self._failed(missing(self.root))
        try:
            return self.guarded(use, wait)
        except RecallError as error:
            return self._failed(error)
        except (apsw.Error, OSError) as error:
            if not anyhow or isinstance(error, apsw.BusyError) or self._still_has_view():
                where = self.store.path if self.store else self._directory
                return self._failed(db.unusable(self.root, error, where, 0))
            self.close()
            self.store = in_memory(self.root, getattr(error, "strerror", None) or str(error))
            return use(self.store)

    def _has_view(self) -> bool:
        return self.store is not None and self.store.built

    def _still_has_view(self) -> bool:
        try:
            return self._has_view()
        except db.TROUBLE:
            return False

    def _tell(self, report: Report) -> None:
        """Say in a report what was damaged, and why there is no cache file."""
        report.damage, self._damage = self._damage, None
        filed = report.cache_file is not None
        if report.failure is None and not filed:
            why = self.store.why_in_memory if self.store else None
            place = f"in {self._directory}: {why}" if self._directory else ": there is no home"
            report.notices += (f"no cache can be kept {place}; everything was read anew",)
        if report.damage is not None:
            anew = report.failure is None and filed
            then = "has been made anew" if anew else "could not be made anew"
            notice = f"its cache was damaged ({report.damage}) and {then}"
            report.notices = (notice, *report.notices)

    def fault(self) -> Exception | None:
        """Check every page and table of the cache file; return what is damaged in it, if any is.

        It takes as long as reading the whole file.
        """
        if self.store is None or self.store.path is None:
            return None
        try:
            check_pages(self.store)
        except db.TROUBLE as error:
            return error if db.is_damage(error) else None
        return None

    def _viewed(self, store: Store, wait: float) -> Report:
        if not store.built:
            return refresh(store, self._fs, Options(wait=wait))
        report = Report(self.root, store.path)
        report.documents = report.unchanged = store.documents()
        report.skipped, report.unavailable, report.withheld = _left_out(store)
        if self.root.rules.strict:
            from index_cache.verdict import violations

            report.violations = violations(store)
        return report

    def guarded(self, use: Callable[[Store], T], wait: float) -> T:
        """Return what ``use`` makes of the open cache.

        Of a damaged one it gets a new one, and if that is damaged too, one in memory. ``wait`` is
        how many seconds to wait for another process that is making the cache. Raises what ``use``
        and opening raise.
        """
        if self.store is not None and not self.store.in_place():
            self.close()  # swept or replaced by another process: what we write there is for nobody
        while True:
            store = self.store = self.store or self._open(wait)
            try:
                return use(store)
            except db.TROUBLE as error:
                if not db.is_damage(error) or store.path is None:
                    raise
                self._condemn(error, wait)

    def _open(self, wait: float) -> Store:
        try:
            store = open_store(self.root, self._directory, wait)
        except db.TROUBLE as error:
            if not db.is_damage(error):
                raise
            store = in_memory(self.root, db.reason(error))
            store.replaces = db.reason(error)
        self._damage = store.replaces or self._damage
        return store

    def _condemn(self, error: Exception, wait: float) -> None:
        """Delete the damaged file, so that the next opening makes it anew.

        If it can't be deleted, or was made just now, an empty cache in memory takes its place.
        Raises CacheBusy when another process is writing it for longer than ``wait`` seconds.
        """
        again, self._damage = self._damage, db.reason(error)
        store, self.store = self.store, None
        if store is None:
            return
        why = "it is damaged as soon as it is made" if again else None
        try:
            with locks.WriterLock(store.path) as lock:
                if not lock.acquire(wait):
                    raise locks.busy(self.root, wait)
                # Who was quicker has a new cache there already, and may be using it. Asked before
                # closing: until then no other file gets the number of this one.
                ours = store.in_place()
                store.close()
                if ours and store.path is not None:
                    db.discard(store.path)
        except OSError as trouble:
            why = trouble.strerror or str(trouble)
        finally:
            store.close()
        if why is not None:
            self.store = in_memory(self.root, why)

    def _failed(self, error: RecallError) -> Report:
        """Return the report of a root that could not be refreshed: an older view may answer."""
        report = Report(self.root, self.store.path if self.store else None)
        report.failure = error
        if isinstance(error, RootUnavailable):
            report.unavailable = (Skipped(b"", error.message),)
        return report


def _left_out(store: Store) -> tuple[tuple[Skipped, ...], tuple[Skipped, ...], int]:
    return left_out(
        store, store.notes("skipped"), store.notes("unavailable"), store.number("withheld")
    )


def demand(opened: Sequence[OpenRoot], reports: Sequence[Report]) -> None:
    """Raise the error of the first strict root that is refused: then nothing is answered."""
    compare(opened, reports)
    for each, report in zip(opened, reports, strict=True):
        if each.root.rules.strict and report.failure is not None:
            raise report.failure


def compare(opened: Sequence[OpenRoot], reports: Sequence[Report]) -> None:
    """Refuse the strict roots that share ids with one another."""
    strict = [
        (each, report, each.store)
        for each, report in zip(opened, reports, strict=True)
        if each.root.rules.strict and report.failure is None and each.store is not None
    ]
    if len(strict) > 1:
        from index_cache.verdict import across

        for number, error in across([store for _, _, store in strict]).items():
            each, report, _ = strict[number]
            each.refuse(report, error)
