"""Tell what of a cache file's content can't have been written there.

See "Damage" in ``spec/cache-format.md``.
"""

from __future__ import annotations

from functools import wraps

import apsw

from index_cache import db

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Concatenate, ParamSpec, TypeVar

    from index_cache.store import Store

    P = ParamSpec("P")
    T = TypeVar("T")

_SIGNATURE_BYTES = 40
_DIGEST_BYTES = 32


class Guard:
    """Lets damage that shows within it leave as ``db.Damaged``, with the path of the cache."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or (isinstance(error, db.Damaged) and error.path is not None):
            return
        # A statement of ours that does not fit its tables is a fault of ours, unless the tables
        # are not as they were made.
        if isinstance(error, apsw.SQLError):
            self._store.check_tables()
        elif db.is_damage(error):
            raise db.Damaged(str(error), self._store.path) from error


def guarded(use: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Decorate what uses a store, its first argument, with ``Guard``."""

    @wraps(use)
    def call(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with Guard(store):
            return use(store, *args, **kwargs)

    return call


# A page of zeros passes its checksum, and may be the last of a long row.


def is_path(value: object) -> bool:
    """Tell whether a value from a cache can be a path: it has no NUL."""
    return isinstance(value, bytes) and b"\0" not in value


def is_signature(value: object) -> bool:
    """Tell whether a value from a cache can be a signature."""
    return isinstance(value, bytes) and len(value) == _SIGNATURE_BYTES


def is_digest(value: object) -> bool:
    """Tell whether a value from a cache can be a digest."""
    return isinstance(value, bytes) and len(value) == _DIGEST_BYTES


def is_text(value: object) -> bool:
    """Tell whether a value from a cache can be text: none of ours has a NUL."""
    return isinstance(value, str) and "\0" not in value


def is_manifest(found: dict[bytes, bytes]) -> bool:
    """Tell whether all paths and signatures of a manifest can be such, at the speed of C."""
    try:
        paths, signatures = b"".join(found), b"".join(found.values())
    except TypeError:
        return False
    return len(signatures) == _SIGNATURE_BYTES * len(found) and b"\0" not in paths
