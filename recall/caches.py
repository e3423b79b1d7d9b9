"""The cache files of all roots and versions: what there is, and sweeping it."""

from __future__ import annotations

import os
import time

from index_cache import db, locks, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from index_cache.model import Root

_DAY = 86_400.0
_MONTH = 30 * _DAY
_MOST_TYPES = 1000
_STEPS = 10_000  # of SQLite's machine between two looks at the clock


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
    """Return the cache files in a directory, by path; none if the directory is missing.

    Raises OSError when it can't be read, and when no cache can be in it.
    """
    db.refuse_name(cache_dir)
    try:
        names = sorted(filter(db.is_cache_name, os.listdir(cache_dir)))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    current = schema.fingerprint()
    for name in names:
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


def different(cache_dir: str, roots: Iterable[Root], seconds: float, column: str) -> set[str]:
    """Return the different texts of a column of documents: ``type``, ``source`` or ``session``.

    No cache is built or mended. Those that were found when ``seconds`` are over; a cache that can't
    be read has none. Raises OSError when the directory is not the person's own.
    """
    db.refuse_foreign_directory(cache_dir)
    end = time.monotonic() + seconds
    found: set[str] = set()
    for root in roots:
        try:
            connection, _ = db.connect(db.cache_path(cache_dir, root), 0)
        except (*db.TROUBLE, ValueError):
            continue
        try:
            connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            question = f"SELECT DISTINCT {column} FROM document LIMIT {_MOST_TYPES}"  # noqa: S608
            for (kind,) in connection.execute(question):
                if isinstance(kind, str):
                    found.add(kind)
        except db.TROUBLE:
            continue  # what was found is true all the same
        finally:
            connection.close()
    return found


def _orphans(cache_dir: str) -> list[str]:
    """Return the cache files that are gone, but beside which SQLite's files are left.

    Who was killed while deleting leaves them.
    """
    names = set(os.listdir(cache_dir))
    lost = {
        name.removesuffix(suffix) for suffix in db.BESIDE for name in names if name.endswith(suffix)
    }
    return [os.path.join(cache_dir, name) for name in filter(db.is_cache_name, lost - names)]


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
    return _delete(cache_dir, _of(root_path))


def kept(cache_dir: str, root_path: str) -> tuple[int, list[CacheFile]]:
    """Return how many notes of one root are kept, and the cache files, whatever its rules.

    Files by other rules, or of other versions, have mostly the same notes: the most in one count.
    """
    found = list(filter(_of(root_path), list_caches(cache_dir)))
    return max((_documents(cache.path) for cache in found), default=0), found


def _of(root_path: str) -> Callable[[CacheFile], bool]:
    real = os.path.realpath(root_path)
    return lambda cache: cache.root_path == real


def sweep(
    cache_dir: str, roots: Container[str | None], used: Container[str], *, compact: bool
) -> list[CacheFile]:
    """Delete what nobody has used for a month, and what was made of some roots by other rules.

    ``roots`` are the roots' real paths, ``used`` their cache files. Their other files go at once
    with ``compact``, else after half a day: what the rules have since made private may be in them.
    One that can't be deleted is left for the next time.
    """
    now = time.time()

    def unwanted(cache: CacheFile) -> bool:
        last = cache.last_used or 0.0
        if cache.root_path in roots and cache.path not in used:
            return compact or last < now - _DAY / 2
        return last < now - _MONTH

    try:
        return _delete(cache_dir, unwanted)
    except OSError:
        return []


def _delete(cache_dir: str, unwanted: Callable[[CacheFile], bool]) -> list[CacheFile]:
    """Delete cache files and return them, and what a killed deletion left.

    Raises OSError after the last if one would not go, and before the first when the directory is
    not the person's own.
    """
    removed = []
    trouble: OSError | None = None
    db.refuse_foreign_directory(cache_dir)
    for cache in list_caches(cache_dir):
        if unwanted(cache):
            try:
                with locks.WriterLock(cache.path) as lock:
                    if lock.acquire(0):
                        db.discard(cache.path)
                        removed.append(cache)
            except OSError as error:
                trouble = trouble or error
    if os.path.isdir(cache_dir):
        for path in _orphans(cache_dir):
            try:
                with locks.WriterLock(path) as lock:
                    if lock.acquire(0):
                        db.discard(path)
            except OSError as error:
                trouble = trouble or error
    if trouble is not None:
        raise trouble
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
    value = _asked(path, "SELECT value FROM meta WHERE key = 'root'")
    return os.fsdecode(value) if isinstance(value, bytes) else None


def _documents(path: str) -> int:
    value = _asked(path, "SELECT count(*) FROM document")
    return value if isinstance(value, int) else 0


def _asked(path: str, question: str) -> object:
    """Return one value from a file that may be anything; None if it has no answer."""
    try:
        connection, _ = db.connect(path)
    except (*db.TROUBLE, ValueError):  # a name that is no UTF-8 is none of ours
        return None
    try:
        for (value,) in connection.execute(question):
            return value
    except db.TROUBLE:
        return None
    finally:
        connection.close()
    return None
