"""Keep what a scan saw: the rows of files that differ, what was left out, and the directories.

Looks at directories alone compare these with what is there, and need the rows that they go with.
See ``spec/staleness.md``. The ingest costs 3 ms, so whoever may have nothing to write imports this
module when it has.
"""

from __future__ import annotations

from index_cache import db, locks, reader, verdict
from index_cache.diff import Diff
from index_cache.ingest import Ingest, OtherParsers
from index_cache.model import by_path
from index_cache.packing import doubted, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from index_cache.files import FileSystem
    from index_cache.ingest import Observer, Progress
    from index_cache.scan import Scan
    from index_cache.store import Store


def write(
    store: Store,
    fs: FileSystem,
    found: Scan,
    changes: Diff,
    progress: Progress | None = None,
    observe: Observer | None = None,
    *,
    again: bool = False,
    withheld: Container[bytes] = frozenset(),
) -> Ingest:
    """Bring what differs into a cache, and what the scan told; the caller holds the lock.

    ``observe`` is shown each row before it is written; ``again`` reads all notes that were found,
    ``withheld`` are those that withheld themselves when they could last be read.
    """
    generation = store.generation
    if store.meta("parsers") is None and not store.built:
        store.set_meta("parsers", reader.parsers())

    def ingest() -> Ingest:
        clock = found.clock_ns
        work = Ingest(store, fs, clock, progress, observe, again=again, withheld=withheld)
        if again:
            return work.run(Diff(sorted(found.entries), changes.removed, changes.unavailable))
        return work.run(changes)

    try:
        done = ingest()
    except OtherParsers:
        again = True
        done = ingest()
    left = [*changes.unavailable, *done.unavailable]
    with db.Transaction(store.connection):
        store.set_notes("skipped", sorted(found.skipped, key=by_path))
        store.set_meta("withheld", found.withheld)
        store.set_notes("unavailable", left)
        unread = [*(each.path for each in left), *done.gone]
        keep(store, found, changes, unread, generation)
        if again and not left:  # else rows that other versions made are still there
            store.set_meta("parsers", reader.parsers())
        if store.root.rules.strict:
            verdict.keep(store)
        store.set_meta("built", 1)
    return done


def keep(
    store: Store, found: Scan, changes: Diff, unread: Iterable[bytes], generation: int
) -> None:
    """Keep what a refresh saw of directories; the caller is in its last transaction.

    A scan that has not looked at them casts doubt on what is kept. ``unread`` are files that the
    scan found, but of which there may be no row; ``generation`` is that of the rows before the
    first change. Raises Damaged.
    """
    packed = pack(found, unread)
    if packed is None and (changes.read or changes.removed):
        packed = _doubted(store, changes, generation)
    if packed is not None:
        _set(store, packed)


def _doubted(store: Store, changes: Diff, generation: int) -> bytes | None:
    """Return what is kept, with doubts, None if it was not that of the rows before."""
    kept = store.meta("directories")
    if kept is None or store.number("directories_of") != generation:
        return None
    try:
        return doubted(kept, [*changes.read, *changes.removed])
    except ValueError as error:
        raise store.damaged("its list of directories can't be read") from error


def _set(store: Store, packed: bytes) -> None:
    store.set_meta("directories", packed)
    store.set_meta("directories_of", store.generation)


def note(store: Store, found: Scan, changes: Diff, generation: int) -> None:
    """Keep how the directories are now, if that is all that differs. Nobody waits for it.

    ``generation`` is that of the rows that the scan was compared with.
    """
    packed = pack(found, (each.path for each in changes.unavailable))
    if packed is None or not store.writable or _is_kept(store, packed, generation):
        return
    with locks.WriterLock(store.path) as lock:
        # Other rows than those that this scan was compared with may lack what it saw.
        if lock.acquire(0) and store.generation == generation:
            db.prepare_writer(store.connection)
            with db.Transaction(store.connection):
                _set(store, packed)
            store.checkpoint()


def _is_kept(store: Store, packed: bytes, generation: int) -> bool:
    return packed == store.meta("directories") and store.number("directories_of") == generation
