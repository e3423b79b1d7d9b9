"""Keep what a scan saw of a root's directories, beside the rows that it goes with.

Looks at directories alone compare both with what is there. See ``spec/staleness.md``.
"""

from __future__ import annotations

from index_cache import db, locks
from index_cache.directories import doubted, pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from index_cache.diff import Diff
    from index_cache.scan import Scan
    from index_cache.store import Store


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
