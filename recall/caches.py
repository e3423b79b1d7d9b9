"""The cache files of all roots and versions: what there is, and sweeping it."""

from __future__ import annotations

import os
import time

import apsw

from index_cache import db, locks, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container

_DAY = 86_400.0
_MONTH = 30 * _DAY


class CacheFile:
    """One cache file.

    ``bytes`` counts what SQLite keeps beside it too, ``last_used`` is in seconds since the epoch
    (None: never), ``current`` says that this version of the program would use it.
    """

    __slots__ = ("bytes", "current", "last_used", "path", "root_path")

    def __init__(
        self, path: str, root_path: str | None, size: int, last_used: float | None, *, current: bool
    ) -> None:
        self.path = path
        self.root_path = root_path
        self.bytes = size
        self.last_used = last_used
        self.current = current


def list_caches(cache_dir: str) -> list[CacheFile]:
    """Return the cache files in a directory, by path; none if the directory is missing."""
    try:
        names = sorted(os.listdir(cache_dir))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    current = schema.fingerprint()
    for name in names:
        if name.endswith(db.SUFFIX):
            path = os.path.join(cache_dir, name)
            found.append(
                CacheFile(
                    path,
                    _root_path(path),
                    size_on_disk(path),
                    locks.last_used(path),
                    current=name.endswith(f"-{current}{db.SUFFIX}"),
                )
            )
    return found


def prune(
    cache_dir: str,
    older_than_days: float = 30.0,
    all: bool = False,  # noqa: FBT001, FBT002 - the option's name
) -> list[CacheFile]:
    """Delete the cache files that were not used for some days, or all; return them.

    One that another process is writing is left alone.
    """
    limit = time.time() - older_than_days * _DAY
    return _delete(
        cache_dir, lambda cache: all or cache.last_used is None or cache.last_used < limit
    )


def purge(cache_dir: str, root_path: str) -> list[CacheFile]:
    """Delete the cache files of one root, whatever its rules; return them."""
    real = os.path.realpath(root_path)
    return _delete(cache_dir, lambda cache: cache.root_path == real)


def sweep(
    cache_dir: str, roots: Container[str | None], used: Container[str], *, compact: bool
) -> list[CacheFile]:
    """Delete what nobody has used for a month, and what was made of some roots by other rules.

    ``roots`` are the roots' real paths, ``used`` their cache files. Their other files go at once
    with ``compact``, else after half a day: what the rules have since made private may be in them.
    """
    now = time.time()

    def unwanted(cache: CacheFile) -> bool:
        last = cache.last_used or 0.0
        if cache.root_path in roots and cache.path not in used:
            return compact or last < now - _DAY / 2
        return last < now - _MONTH

    return _delete(cache_dir, unwanted)


def _delete(cache_dir: str, unwanted: Callable[[CacheFile], bool]) -> list[CacheFile]:
    removed = []
    for cache in list_caches(cache_dir):
        if unwanted(cache):
            with locks.WriterLock(cache.path) as lock:
                if lock.acquire(0):
                    db.discard(cache.path)
                    removed.append(cache)
    return removed


def size_on_disk(path: str) -> int:
    """Return the bytes of a cache file and of what SQLite keeps beside it."""
    total = 0
    for suffix in ("", "-wal", "-shm"):
        try:
            total += os.stat(path + suffix).st_size
        except OSError:
            continue
    return total


def _root_path(path: str) -> str | None:
    try:
        connection, _ = db.connect(path)
    except (apsw.Error, db.Damaged):
        return None
    try:
        for (value,) in connection.execute("SELECT value FROM meta WHERE key = 'root'"):
            return os.fsdecode(value) if isinstance(value, bytes) else None
    except (apsw.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()
    return None
