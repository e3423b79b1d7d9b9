"""Whole rows of documents, and their order in time. See ``spec/reading.md``."""

from __future__ import annotations

from index_cache.guard import guarded, is_digest, is_path, is_signature, is_text
from index_cache.moments import FIRST, LAST
from index_cache.search import ORPHAN, SOUND, conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from index_cache.filters import Filter
    from index_cache.store import Store

    # When it was created, its id, the number of its root, path, line; then its row.
    Key = tuple[int, str, int, bytes, int, int]

TEXTS = (
    *("record_id", "title", "description", "type", "tags", "aliases", "language", "created"),
    *("updated", "modified", "status", "stale_after", "tier", "excerpt", "source", "session"),
    *("related", "valid_from", "valid_until"),
)
INSTANTS = ("created_at", "valid_from_at", "valid_until_at")
_AT_ONCE = 500
_FILE = "e.path, e.signature, e.suspect, d.line, coalesce(d.digest, e.digest)"
_COLUMNS = ", ".join(f"d.{name}" for name in (*TEXTS, *INSTANTS))
# The index is in this order as far as the id; what is the same till then is put in order by SQLite.
_UP = "ORDER BY d.created_at, d.record_id, e.path, d.line"
_DOWN = "ORDER BY d.created_at DESC, d.record_id DESC, e.path DESC, d.line DESC"


class Row:
    """A document as a cache has it.

    ``root`` is the number of its root in that reading, ``number`` its row, ``line`` 0 for a note.
    ``texts`` and ``instants`` (microseconds since 1970 UTC, or None) are the columns of the table
    ``document`` by their names.
    """

    __slots__ = (
        *("digest", "instants", "line", "number", "path", "root", "signature", "suspect", "texts"),
    )

    def __init__(self, root: int, number: int, columns: Sequence[Any]) -> None:
        self.root = root
        self.number = number
        path, signature, suspect, line, digest, *rest = columns
        self.path: bytes = path
        self.signature: bytes = signature
        self.suspect = bool(suspect)
        self.line: int = line
        self.digest: bytes = digest
        self.say(rest)

    @property
    def record_id(self) -> str:
        """Its id."""
        return self.texts["record_id"]

    @record_id.setter
    def record_id(self, value: str) -> None:
        self.texts["record_id"] = value

    def say(self, columns: Sequence[Any]) -> None:
        """Put the document's own columns into it."""
        self.texts: dict[str, str] = dict(zip(TEXTS, columns, strict=False))
        self.instants: dict[str, int | None] = dict(
            zip(INSTANTS, columns[len(TEXTS) :], strict=True)
        )

    def is_sound(self) -> bool:
        """Tell whether all of it can be what was written."""
        return (
            is_path(self.path)
            and is_signature(self.signature)
            and is_digest(self.digest)
            and all(map(is_text, self.texts.values()))
            and all(map(_is_instant, self.instants.values()))
        )


def _is_instant(value: object) -> bool:
    return value is None or (isinstance(value, int) and FIRST <= value <= LAST)


@guarded
def rows(store: Store, root: int, numbers: Sequence[int]) -> dict[int, Row]:
    """Return the documents of some rows, by these. Raises Damaged as all that reads a store."""
    found: dict[int, Row] = {}
    for at in range(0, len(numbers), _AT_ONCE):
        listed = ", ".join(map(str, numbers[at : at + _AT_ONCE]))
        select = (
            f"SELECT {SOUND}, d.id, {_FILE}, {_COLUMNS} FROM document AS d"  # noqa: S608 - ours
            f" LEFT JOIN entry AS e ON e.id = d.entry WHERE d.id IN ({listed})"
        )
        for sound, number, *columns in store.connection.execute(select):
            row = Row(root, number, columns)
            if not (sound and row.is_sound()):
                raise store.damaged(ORPHAN)
            found[number] = row
    return found


@guarded
def number(store: Store, path: bytes, line: int) -> int | None:
    """Return the row of a document at a place, None if it is not there; ``line`` 0 for a note."""
    row = "d.entry = e.id AND d.line = ?" if line else "d.id = e.id AND ? = 0"
    select = f"SELECT d.id FROM entry AS e JOIN document AS d ON {row} WHERE e.path = ?"  # noqa: S608 - ours
    for (found,) in store.connection.execute(select, (line, path)):
        return int(found)
    return None


class Span:
    """Which part of the order in time is asked for: an SQL condition over ``d``, and its values."""

    __slots__ = ("values", "where")

    def __init__(self, where: str, *values: int | str) -> None:
        self.where = where
        self.values = values


def before(at: int, record_id: str | None) -> Span:
    """Return what comes before a record, or before an instant."""
    if record_id is None:
        return Span("d.created_at < ?", at)
    return Span("(d.created_at, d.record_id) < (?, ?)", at, record_id)


def after(at: int, record_id: str | None) -> Span:
    """Return what comes after a record, or after an instant."""
    if record_id is None:
        return Span("d.created_at > ?", at)
    return Span("(d.created_at, d.record_id) > (?, ?)", at, record_id)


def during(at: int) -> Span:
    """Return what was created at an instant."""
    return Span("d.created_at = ?", at)


@guarded
def keys(
    store: Store, root: int, wanted: Filter, span: Span, most: int, *, last: bool = False
) -> list[Key]:
    """Return the first ``most`` documents of a span that pass the filter, or the last; in order."""
    if not most:
        return []
    clauses, values = conditions(store, wanted)
    statement = (
        f"SELECT {SOUND}, d.created_at, d.record_id, e.path, d.line, d.id"  # noqa: S608 - ours
        " FROM document AS d LEFT JOIN entry AS e ON e.id = d.entry"
        f" WHERE d.created_at IS NOT NULL AND {span.where}"
        f" AND ({SOUND} IS NOT TRUE OR (1{clauses})) {_DOWN if last else _UP} LIMIT ?"
    )
    found: list[Key] = []
    for sound, at, record_id, path, line, number in store.connection.execute(
        statement, (*span.values, *values, most)
    ):
        if not (sound and is_text(record_id) and is_path(path)):
            raise store.damaged(ORPHAN)
        found.append((at, record_id, root, path, line, number))
    return sorted(found)


_MARKED = "d.id IN (SELECT rowid FROM fts WHERE fts MATCH ?)"


@guarded
def count(store: Store, wanted: Filter, span: Span | None) -> int:
    """Return how many documents of a span pass the filter; of None, how many have no place."""
    where = "d.created_at IS NULL"
    if span is not None:
        where = f"d.created_at IS NOT NULL AND {span.where}"
    asked = () if span is None else span.values
    if wanted.is_plain and not (wanted.phrases or wanted.excluded):
        # All less those that are left out: to look at the types of 60,000 rows takes 150 ms.
        marked = wanted.marked_out()
        out = _number(store, f"{where} AND {_MARKED}", (*asked, marked)) if marked else 0
        if span is None:
            return store.documents() - _number(store, "d.created_at IS NOT NULL", ()) - out
        return _number(store, where, asked) - out
    clauses, values = conditions(store, wanted)
    source = f"document AS d LEFT JOIN entry AS e ON e.id = d.entry WHERE {where}"
    where = f"{source} AND ({SOUND} IS NOT TRUE OR (1{clauses}))"
    statement = f"SELECT count(*), total({SOUND}) FROM {where}"  # noqa: S608 - ours
    ((found, sound),) = store.connection.execute(statement, (*asked, *values))
    if found != sound:
        raise store.damaged(ORPHAN)
    return int(found)


def _number(store: Store, where: str, values: Iterable[int | str]) -> int:
    # The index alone answers that.
    statement = f"SELECT count(*) FROM document AS d WHERE {where}"  # noqa: S608 - ours
    ((found,),) = store.connection.execute(statement, (*values,))
    return int(found)
