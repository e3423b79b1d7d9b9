"""Tell what of a cache file's content can't have been written there, and what is missing of it.

See "Damage" in ``spec/cache-format.md``.
"""

from __future__ import annotations

import marshal

import apsw

from index_cache import checksums, db, schema

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
_STRUCTURE = "SELECT block FROM fts_data WHERE id = 10"  # FTS5_STRUCTURE_ROWID in its source


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
            check_tables(self._store)
        elif db.is_damage(error):
            raise db.Damaged(str(error), self._store.path) from error


def guarded(use: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Decorate what uses a store, its first argument, with ``Guard``."""

    def call(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with Guard(store):
            return use(store, *args, **kwargs)

    # By hand: functools takes .6 ms to import.
    call.__module__, call.__doc__ = use.__module__, use.__doc__
    call.__name__, call.__qualname__ = use.__name__, use.__qualname__
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


def is_column(value: object) -> bool:
    """Tell whether a value from a cache can be what a document says: a text, or a moment."""
    return value is None or isinstance(value, int) or is_text(value)


def is_manifest(found: dict[bytes, bytes]) -> bool:
    """Tell whether all paths and signatures of a manifest can be such, at the speed of C."""
    try:
        paths, signatures = b"".join(found), b"".join(found.values())
    except TypeError:
        return False
    return len(signatures) == _SIGNATURE_BYTES * len(found) and b"\0" not in paths


class Totals:
    """How much a cache holds: what it noted when it was last written, or what FTS5 counts now.

    ``documents`` and ``terms`` are those of FTS5's own bm25. ``leaves`` counts the pages of terms
    that it finds its way to by the table ``fts_idx``, ``structure`` is its list of segments:
    without a row of the one, or a part of the other, terms would be missing.
    """

    __slots__ = ("documents", "leaves", "structure", "terms")

    def __init__(self, documents: int, terms: int, leaves: int, structure: object) -> None:
        self.documents = documents
        self.terms = terms
        self.leaves = leaves
        self.structure = structure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Totals) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.documents, self.terms, self.leaves, self.structure


def counted(connection: apsw.Connection) -> Totals:
    """Return what there is now.

    Within a transaction that wrote, ``flush`` comes first.
    """
    # apsw's types leave out that the result may be a blob, as any SQLite value.
    connection.register_fts5_function("recall_totals", _totals)  # type: ignore[arg-type]
    found = list(connection.execute("SELECT recall_totals(fts) FROM fts LIMIT 1"))
    documents, terms = marshal.loads(found[0][0]) if found else (0, 0)  # noqa: S302 - ours
    (leaves,) = next(connection.execute("SELECT count(*) FROM fts_idx"))
    structure = [block for (block,) in connection.execute(_STRUCTURE)]
    return Totals(documents, terms, leaves, structure[0] if structure else None)


def flush(connection: apsw.Connection) -> None:
    """Let FTS5 write out its pending terms and open its tables: it does when asked for a word."""
    for _ in connection.execute("SELECT 1 FROM vocabulary WHERE term = ''"):
        pass


def _totals(api: apsw.FTS5ExtensionApi) -> bytes:
    return marshal.dumps((api.row_count, api.column_total_size(-1)))


def check_tables(store: Store) -> None:
    """Raise Damaged unless the tables are as ``db.create`` makes them, and FTS5 opens its own.

    Numbers of pages are not looked at: VACUUM and SQLite's backup change these.
    """
    try:
        found = dict(store.connection.execute("SELECT name, sql FROM sqlite_schema"))
        flush(store.connection)
    except db.TROUBLE as error:
        if not (db.is_damage(error) or isinstance(error, apsw.SQLError)):
            raise
        raise store.damaged(str(error)) from error
    for name in schema.IMPLIED:
        if found.pop(name, "") == "":
            raise store.damaged(f"the table {name} is missing")
    if found != schema.OBJECTS:
        raise store.damaged("its tables are not those of a cache")


@guarded
def check_pages(store: Store) -> None:
    """Raise Damaged unless every page is as it was written, used or not, and all that is noted.

    It takes as long as reading the whole file: https://sqlite.org/pragma.html#pragma_integrity_check
    """
    check_tables(store)
    check_totals(store)
    store.number("generation")
    store.number("directories_of")
    store.number("withheld")
    store.notes("skipped")
    store.notes("unavailable")
    (found,) = next(store.connection.execute("PRAGMA integrity_check(1)"))
    if found != "ok":
        raise store.damaged("its pages contradict one another")


def check_header(store: Store) -> None:
    """Raise Damaged when the file's header says that its pages have no checksums."""
    if store.path is not None and not checksums.are_checked(store.connection):
        raise store.damaged("its header is damaged")


def check_totals(store: Store) -> Totals:
    """Return what FTS5 counts now. Raises Damaged when it is not what was noted.

    Rows that went missing otherwise than by ``Store.write`` belie no checksum.
    """
    now = counted(store.connection)
    documents, terms, leaves = map(store.number, ("documents", "terms", "leaves"))
    if now != Totals(documents, terms, leaves, store.meta("structure")):
        raise store.damaged("the FTS table is not as it was written")
    check_header(store)
    return now
