"""Bring a root's cache up to date with its files: scan, diff, read what differs, write.

The order of events, and why each race is harmless, is in ``spec/staleness.md``.
"""

from __future__ import annotations

import time

import apsw

from index_cache import db, locks
from index_cache.diff import Diff, diff
from index_cache.errors import CacheBusy, RootUnavailable
from index_cache.model import by_path
from index_cache.scan import look, original_of
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from index_cache.errors import RecallError
    from index_cache.files import FileSystem
    from index_cache.ingest import Progress
    from index_cache.model import Root, Skipped
    from index_cache.scan import Scan
    from index_cache.strict import Violation

_LINGER = 12 * 3600  # seconds that deleted text may stay in a file before it is compacted


class Report:
    """What one refresh of one root found and did.

    ``skipped`` lists what is not indexed, or not wholly, with reasons; ``unavailable`` the
    directories and files that could not be looked at, whose rows stay; ``withheld`` counts what
    is private and in no list. ``busy`` says that another
    process was writing, so that its older view counts; ``built`` that this call made the first
    view. ``failure`` is why this root could not be refreshed at all, or, of a strict root, why it
    is refused: its ``violations``, None where nobody has looked. ``damage`` is what was wrong with
    the cache file, if it was damaged. ``seconds`` is elapsed time.
    """

    __slots__ = (
        "added",
        "built",
        "busy",
        "cache_file",
        "changed",
        "damage",
        "documents",
        "failure",
        "notices",
        "removed",
        "root",
        "seconds",
        "skipped",
        "unavailable",
        "unchanged",
        "violations",
        "withheld",
    )

    def __init__(self, root: Root, cache_file: str | None = None) -> None:
        self.root = root
        self.cache_file = cache_file
        self.added = self.changed = self.removed = self.unchanged = self.documents = 0
        self.skipped: tuple[Skipped, ...] = ()
        self.unavailable: tuple[Skipped, ...] = ()
        self.notices: tuple[str, ...] = ()
        self.withheld = 0
        self.seconds = 0.0
        self.busy = False
        self.built = False
        self.failure: RecallError | None = None
        self.damage: str | None = None
        self.violations: list[Violation] | None = None


class Options:
    """How to refresh.

    ``wait`` is how long to wait for another writer (seconds) when there is no view yet, or when
    ``insist``; without ``insist`` an older view is good enough at once. ``directories``: keep also
    how the directories are, as ``insist`` does, for later looks at these alone.
    """

    __slots__ = ("compact", "directories", "insist", "progress", "prune", "wait")

    def __init__(
        self,
        *,
        wait: float = 30.0,
        insist: bool = False,
        prune: bool = False,
        compact: bool = False,
        progress: Progress | None = None,
        directories: bool = False,
    ) -> None:
        self.wait = wait
        self.insist = insist
        self.directories = directories or insist
        self.prune = prune
        self.compact = compact
        self.progress = progress


def refresh(store: Store, fs: FileSystem, options: Options | None = None) -> Report:
    """Make ``store`` agree with its root's files, as far as they can be read; return what was done.

    Raises RootUnavailable when the root can't be listed, CacheBusy when another process holds the
    lock for longer than the wait and there is no view to fall back to.
    """
    return _Refresh(store, fs, options or Options()).run()


class _Refresh:
    """One refresh of one root."""

    def __init__(self, store: Store, fs: FileSystem, options: Options) -> None:
        self.store = store
        self.fs = fs
        self.options = options
        self.report = Report(store.root, store.path)
        self.started = time.perf_counter()

    def run(self) -> Report:
        generation = self.store.generation
        found, changes = self._look()
        if not self._needs_writing(found, changes):
            if found.directories is not None:
                from index_cache.keeping import note  # a search's has not looked at them

                note(self.store, found, changes, generation)
            return self._finish(found, changes)
        if not self.store.writable:
            return self._read_only(found, changes)
        with locks.WriterLock(self.store.path) as lock:
            if not self._lock(lock):
                self.report.busy = True
                return self._finish(found, changes)
            if self.store.generation != generation:
                # Somebody wrote since our scan began. What it lacks may be what they have just
                # seen appear, and would be taken for deleted: look again.
                found, changes = self._look()
            self._write(found, changes)
        return self._finish(found, changes)

    def _read_only(self, found: Scan, changes: Diff) -> Report:
        """Let the older view answer, unless bringing it up to date was the whole point."""
        if self.options.insist:
            raise RootUnavailable(
                f"the cache of root {self.store.root.name} can't be written",
                where=self.store.path,
                hint="make the directory writable, or name another one in XDG_CACHE_HOME",
            )
        self.report.notices += ("the cache can't be written; an older view answered",)
        return self._finish(found, changes)

    def _look(self) -> tuple[Scan, Diff]:
        # A search compares every file itself, and has no time for more.
        directories = self.options.directories or not self.store.built
        found = look(self.store.root, self.fs, directories=directories)
        changes = diff(
            found, self.store.signatures(), self.store.suspects(), prune=self.options.prune
        )
        return found, changes

    def _needs_writing(self, found: Scan, changes: Diff) -> bool:
        return bool(
            changes.differ
            or self.options.compact
            or not self.store.built
            or self._lingers()
            or (self.options.insist and self._is_outdated())
            or self.store.notes("skipped") != sorted(found.skipped, key=by_path)
            or self.store.number("withheld") != found.withheld
            or self.store.notes("unavailable") != changes.unavailable
        )

    def _lock(self, lock: locks.WriterLock) -> bool:
        """Take the lock. False when another writer has it and there is a view to answer from."""
        built = self.store.built
        wait = self.options.wait if self.options.insist or not built else 0
        if lock.acquire(wait):
            return True
        if built and not self.options.insist:
            return False
        raise locks.busy(self.store.root, wait)

    def _write(self, found: Scan, changes: Diff) -> None:
        from index_cache.keeping import write  # most searches write nothing

        store = self.store
        self.report.built = not store.built
        db.prepare_writer(store.connection)
        again = self.options.insist and self._is_outdated()
        done = write(store, self.fs, found, changes, self.options.progress, again=again)
        self.report.added = done.added
        self.report.changed = done.changed
        self.report.removed = len(changes.removed) + done.lost
        if self.options.compact or self._lingers():
            if not store.compact() and self.options.compact:
                raise CacheBusy(
                    f"root {store.root.name} is not compacted: its cache is being read",
                    where=store.path,
                    hint="run recall refresh --compact again in a moment",
                )
        elif done.written:
            store.checkpoint()

    def _is_outdated(self) -> bool:
        """Tell whether other versions of the parsers made what the cache holds."""
        if not self.store.built:
            return False
        from index_cache.reader import parsers  # which imports them: 20 ms

        return self.store.meta("parsers") != parsers()

    def _lingers(self) -> bool:
        since = self.store.meta("lingers_since")
        if since is None:
            return False
        if not isinstance(since, int | float):
            raise self.store.damaged("it does not say since when deleted text lingers")
        return not 0 <= time.time() - since < _LINGER

    def _finish(self, found: Scan, changes: Diff) -> Report:
        report = self.report
        report.documents = self.store.documents()
        report.unchanged = report.documents - report.added - report.changed
        unavailable = self.store.notes("unavailable") or changes.unavailable
        report.skipped, report.unavailable, report.withheld = left_out(
            self.store, found.skipped, unavailable, found.withheld
        )
        if self.store.root.rules.strict:
            from index_cache.verdict import violations

            # Of what an earlier refresh could not look at, it is not known that this one could.
            seen = {*self.store.notes("unavailable"), *changes.unavailable}
            report.violations = violations(self.store, found.skipped, seen)
        report.notices += tuple(found.notices)
        report.seconds = time.perf_counter() - self.started
        if self.store.path and not report.busy:
            locks.mark_used(self.store.path)
        return report


def left_out(
    store: Store, skipped: Iterable[Skipped], unavailable: Iterable[Skipped], withheld: int
) -> tuple[tuple[Skipped, ...], tuple[Skipped, ...], int]:
    """Return what is skipped and unavailable, by path, and how much is withheld.

    To what a scan left out comes what the cache knows of bad files; ``withheld`` counts what the
    rules withhold. Notes that withhold themselves, and sync tools' copies of them, are counted but
    in no list.
    """
    hidden = store.withheld()

    def public(notes: Iterable[Skipped]) -> tuple[Skipped, ...]:
        named = (each for each in notes if original_of(each.path) not in hidden)
        return tuple(sorted(named, key=by_path))

    return public([*skipped, *store.problems()]), public(unavailable), len(hidden) + withheld


def open_store(root: Root, directory: str | None, wait: float) -> Store:
    """Open a root's cache, making an empty one when there is none or it can't be read.

    ``directory`` is where cache files live; None keeps the cache in memory, and so does a
    directory that can't be written and holds none for this root, or that is not the person's own,
    or whose file system knows no locks. ``replaces`` of the store says what was wrong with a
    damaged file. ``wait`` is in seconds. Raises CacheBusy when another process keeps the lock for
    longer.
    """
    if directory is None:
        return Store.create(root, None)
    path = db.cache_path(directory, root)
    damage = None
    try:
        db.refuse_directory(directory)
        try:
            store = existing(root, path, wait)
            if store.writable or store.built:
                return store
        except (db.Damaged, apsw.CantOpenError) as error:
            damage = _damage(error)
            db.ensure_directory(directory)
            return _replace(root, path, wait)
    except (OSError, apsw.ReadOnlyError, apsw.CantOpenError) as error:
        store = in_memory(root, getattr(error, "strerror", None) or str(error))
        store.replaces = damage
        return store
    store.close()  # its first build was cut short, and can't be continued
    return in_memory(root, "it can't be written")


def in_memory(root: Root, why: str) -> Store:
    """Return an empty cache in memory, with the reason why it is there."""
    store = Store.create(root, None)
    store.why_in_memory = why
    return store


def existing(root: Root, path: str, wait: float) -> Store:
    """Open an existing cache; of one that is just being made, wait for the end of that.

    SQLite lets nobody in, or fails to read, while a new file becomes a WAL database. What fails
    while no writer of ours is at work has another cause, and is not waited for.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            return _opened(root, path)
        except (apsw.BusyError, apsw.IOError):
            with locks.WriterLock(path) as lock:
                if lock.acquire(0):
                    return _opened(root, path)
            if time.monotonic() >= deadline:
                raise locks.busy(root, wait) from None
            time.sleep(locks.POLL)  # as in WriterLock: the kernel has no lock with a limit


def _opened(root: Root, path: str) -> Store:
    store = Store(root, path)
    try:
        store.check()
    except BaseException:
        store.close()
        raise
    return store


def _replace(root: Root, path: str, wait: float) -> Store:
    """Make a new cache file under its lock, unless somebody else has just done so."""
    with locks.WriterLock(path) as lock:
        if not lock.acquire(wait):
            raise locks.busy(root, wait)
        try:
            return _opened(root, path)
        except (db.Damaged, apsw.CantOpenError) as error:
            damage = _damage(error)
            db.discard(path)
        store = Store.create(root, path)
        store.replaces = damage
        return store


def _damage(error: Exception) -> str | None:
    """Return what is wrong with a file that can't be used; None when there is no file at all."""
    return db.reason(error) if isinstance(error, db.Damaged) else None
