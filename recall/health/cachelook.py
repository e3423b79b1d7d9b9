"""What one root's cache says of itself, in bounded time: no note is read and no row is walked."""

from __future__ import annotations

import os
import stat
from contextlib import closing

import apsw

from index_cache import db, guard, locks
from index_cache.refresh import left_out
from index_cache.sampling import sample
from index_cache.store import Store
from recall.health.evidence import RootEvidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from index_cache.model import Root, Skipped

_OWNERS = 0o600  # rights without which a cache can't be used
_FOR_WRITER = 0.3  # seconds
# Found by the index whatever the note's language made of the word; then it is compared as it is.
_PENDING = """SELECT count(*) FROM document
    WHERE id IN (SELECT rowid FROM fts WHERE fts MATCH 'type : propo*')
    AND type = 'proposal' COLLATE NOCASE AND status = 'pending' COLLATE NOCASE"""

Fields = dict[str, object]


class Seen:
    """What was seen of a cache: ``evidence`` without what is kept elsewhere of the root.

    ``damage`` is what is wrong with it, None if nothing is; ``next`` the page to go on with.
    """

    __slots__ = ("damage", "evidence", "next")

    def __init__(
        self, evidence: RootEvidence, following: int = 0, damage: str | None = None
    ) -> None:
        self.evidence = evidence
        self.next = following
        self.damage = damage


def look(root: Root, directory: str | None, start: int, count: int, *, deep: bool) -> Seen:
    """Look at a root's cache in ``directory``, and at ``count`` of its pages from ``start`` on.

    ``deep`` looks at all pages and at what they hold. Nothing is mended, and nothing raised.
    """
    if directory is None:
        return Seen(RootEvidence(root.name, root.path))
    path = db.cache_path(directory, root)
    try:
        db.refuse_directory(directory)
        bare = _without_rights(path)
        if bare is not None and os.access(directory, os.W_OK):
            return _troubled(root, path, OSError(f"the mode of {bare[0]} is {bare[1]:04o}"))
        return _seen(root, path, start, count, deep=deep)
    except db.TROUBLE as error:
        if not db.is_damage(error):
            return _troubled(root, path, error)
    except OSError as error:
        return _troubled(root, path, error)
    return _again(root, path, start, count, deep=deep)


def _without_rights(path: str) -> tuple[str, int] | None:
    """Return the first of a cache's files that its owner may not read and write, and its mode."""
    for each in (path, *(path + suffix for suffix in db.BESIDE)):
        try:
            mode = os.lstat(each).st_mode
        except OSError:
            continue
        if mode & _OWNERS != _OWNERS:
            return each, stat.S_IMODE(mode)
    return None


def _again(root: Root, path: str, start: int, count: int, *, deep: bool) -> Seen:
    """Look again under the lock: a page may have been half written, a file replaced."""
    with locks.WriterLock(path) as lock:
        try:
            if not lock.acquire(_FOR_WRITER):
                return _troubled(root, path, OSError("another process is writing it"))
        except OSError:
            pass  # a read-only home, where nobody writes
        try:
            return _seen(root, path, start, count, deep=deep)
        except db.TROUBLE as error:
            if not db.is_damage(error):
                return _troubled(root, path, error)
            last = locks.last_used(path)
            evidence = RootEvidence(root.name, root.path, cache=path, built=True, refreshed=last)
            return Seen(evidence, start, db.reason(error))


def _seen(root: Root, path: str, start: int, count: int, *, deep: bool) -> Seen:
    try:
        store = Store(root, path, mend=False)
    except apsw.CantOpenError:
        if db.file_identity(path) is not None:
            raise
        return Seen(RootEvidence(root.name, root.path))
    with closing(store):
        store.check()
        store.begin_reading()
        try:
            guard.check_totals(store)
            following, done, pages = sample(store, start, count)
            if deep:
                guard.check_pages(store)
            with guard.Guard(store):
                evidence = _evidence(root, store, pages if deep else done, pages)
            return Seen(evidence, following)
        finally:
            store.end_reading()


def _evidence(root: Root, store: Store, looked_at: int, pages: int) -> RootEvidence:
    skipped, unavailable, _ = left_out(store, store.notes("skipped"), store.notes("unavailable"), 0)
    ((pending,),) = store.connection.execute(_PENDING)
    return RootEvidence(
        root.name,
        root.path,
        cache=store.path,
        mark=store.mark,
        built=store.built,
        documents=store.documents(),
        refreshed=None if store.path is None else locks.last_used(store.path),
        pages=looked_at,
        all_pages=pages,
        skipped=_by_reason(skipped),
        unavailable=_by_reason(unavailable),
        proposals=pending,
    )


def _by_reason(skipped: Iterable[Skipped]) -> dict[str, int]:
    """Count by reason; of a conflict copy without its name, which would make a reason of each."""
    counts: dict[str, int] = {}
    for each in skipped:
        reason = "conflict copy" if each.reason.startswith("conflict copy of ") else each.reason
        counts[reason] = counts.get(reason, 0) + 1
    return counts


def _troubled(root: Root, path: str, error: Exception) -> Seen:
    trouble = getattr(error, "strerror", None) or str(error)
    where = path if os.path.lexists(path) else os.path.dirname(path)
    return Seen(RootEvidence(root.name, root.path, cache=where, trouble=trouble))
