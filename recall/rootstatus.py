"""The state of one root's cache, as ``recall status`` shows it."""

from __future__ import annotations

from contextlib import closing

import apsw

from index_cache import db, files, locks
from index_cache.refresh import left_out
from index_cache.store import Store
from index_cache.verdict import violations
from recall.caches import size_on_disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root, Skipped
    from index_cache.strict import Violation


class RootStatus:
    """The state of one root's cache, as ``recall status`` shows it.

    ``withheld`` counts what is private and in no list, ``cache_bytes`` and ``text_bytes`` are sizes
    on disk of the cache and of the indexed files, ``last_refresh`` is in seconds since the epoch.
    ``damage`` is what is wrong with a file that was found damaged just now, ``kept`` why it could
    not be deleted; ``trouble`` is why it can't be read at the moment. ``last_failure`` has when,
    message, where, hint; ``last_damage`` when, message, count, since, repaired. ``violations`` are
    those of a strict root, None for another.
    """

    __slots__ = (
        "built",
        "cache_bytes",
        "cache_file",
        "damage",
        "documents",
        "kept",
        "last_damage",
        "last_failure",
        "last_refresh",
        "root",
        "skipped",
        "text_bytes",
        "trouble",
        "unavailable",
        "violations",
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
        self.damage: str | None = None
        self.kept: str | None = None
        self.trouble: str | None = None
        self.last_failure: dict[str, object] | None = None
        self.last_damage: dict[str, object] | None = None
        self.violations: list[Violation] | None = None


def root_status(root: Root, directory: str | None) -> RootStatus:
    """Return the state of a root's cache as it is, without looking at its files.

    ``directory`` is where caches are kept, None for nowhere. A damaged one is deleted, so that the
    next search makes it anew: that may look up nothing in the part that is damaged, and would go
    on with the rest.
    """
    if directory is None:
        return RootStatus(root)
    path = db.cache_path(directory, root)
    try:
        db.refuse_directory(directory)
    except OSError as error:
        return _troubled(root, error)
    try:
        return _seen(root, path)
    except db.TROUBLE as error:
        if not db.is_damage(error):
            return _troubled(root, error)
    return _seen_alone(root, path)


def _seen_alone(root: Root, path: str) -> RootStatus:
    """Look again under the lock, since a file may have been replaced while it was opened."""
    with locks.WriterLock(path) as lock:
        try:
            kept = None if lock.acquire(0) else "another process is writing it"
        except OSError as error:
            kept = error.strerror or str(error)
        try:
            return _seen(root, path)
        except db.TROUBLE as error:
            if not db.is_damage(error):
                return _troubled(root, error)
            return _set_aside(root, path, error, kept)


def _seen(root: Root, path: str) -> RootStatus:
    """Return what a cache file says, if there is one. Raises what reading it raises."""
    state = RootStatus(root)
    try:
        store = Store(root, path)
    except apsw.CantOpenError:
        if db.file_identity(path) is not None:
            raise
        return state
    with closing(store):
        store.check()
        state.built = store.built
        state.documents = store.documents()
        state.skipped, state.unavailable, state.withheld = left_out(
            store, store.notes("skipped"), store.notes("unavailable"), store.number("withheld")
        )
        if root.rules.strict and state.built:
            state.violations = violations(store)
        state.text_bytes = sum(map(files.size, store.signatures().values()))
    state.cache_file = path
    state.cache_bytes = size_on_disk(path)
    state.last_refresh = locks.last_used(path)
    return state


def _troubled(root: Root, error: Exception) -> RootStatus:
    """Return the state of a root whose cache can't be read now, although it is not damaged."""
    state = RootStatus(root)
    state.trouble = getattr(error, "strerror", None) or str(error)
    return state


def _set_aside(root: Root, path: str, error: Exception, kept: str | None) -> RootStatus:
    """Delete a damaged file unless there is a reason to keep it; return the root's state."""
    state = RootStatus(root)
    state.damage = db.reason(error)
    state.kept = kept
    if kept is None:
        try:
            db.discard(path)
        except OSError as trouble:
            state.kept = trouble.strerror or str(trouble)
    return state
