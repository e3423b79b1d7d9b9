"""List the documents that pass a filter when nothing is searched for. See ``spec/operators.md``."""

from __future__ import annotations

from index_cache.guard import guarded
from index_cache.lookup import by_number
from index_cache.search import ORPHAN, SOUND, conditions, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.filters import Filter
    from index_cache.model import Hit
    from index_cache.store import Store

    Place = tuple[int, int]  # the number of a root in the search, and of a row in its cache


def newest(
    stores: Sequence[Store],
    filters: Sequence[Filter | None],
    when: Callable[[str, bytes], str],
) -> list[Place]:
    """Return where the documents are that pass the filters, the latest first, then by place.

    ``filters`` belong to the ``stores`` one by one, None for a root that is left out; their phrases
    are not looked at. ``when`` makes a time to compare of a document's ``modified`` and signature.
    Raises Damaged as all that reads a store.
    """
    found: list[tuple[str, int, bytes, int, int]] = []
    for number, (store, wanted) in enumerate(zip(stores, filters, strict=True)):
        if wanted is not None:
            for row, path, line, modified, sig in _rows(store, wanted):
                found.append((when(modified, sig), number, path, line, row))
    found.sort(key=lambda each: each[1:])
    found.sort(key=lambda each: each[0], reverse=True)
    return [(number, row) for _, number, _, _, row in found]


def count_invalid(store: Store, wanted: Filter) -> int:
    """Return how many documents would pass the filter, but are not valid when they must be."""
    return len(_rows(store, wanted, valid=False)) if invalid(store, wanted) else 0


@guarded
def _rows(
    store: Store, wanted: Filter, *, valid: bool = True
) -> list[tuple[int, bytes, int, str, bytes]]:
    clauses, values = conditions(store, wanted, valid=valid)
    if wanted.excluded:
        clauses += " AND d.id NOT IN (SELECT rowid FROM fts WHERE fts MATCH ?)"
        values = [*values, wanted.excluding()]
    columns = f"{SOUND}, d.id, e.path, d.line, d.modified, e.signature"
    condition = f"({SOUND} IS NOT TRUE OR (1{clauses}))"
    rows = []
    for tables in (
        "entry AS e LEFT JOIN document AS d ON d.id = e.id WHERE e.digest IS NOT NULL",
        "document AS d LEFT JOIN entry AS e ON e.id = d.entry WHERE d.line > 0",
    ):
        statement = f"SELECT {columns} FROM {tables} AND {condition}"  # noqa: S608 - ours
        for sound, *row in store.connection.execute(statement, values):
            if not sound:
                raise store.damaged(ORPHAN)
            rows.append(tuple(row))
    return rows


def hits(
    stores: Sequence[Store], filters: Sequence[Filter | None], places: Sequence[Place]
) -> list[Hit]:
    """Return the documents at some places, in that order; what ``by_name`` leaves empty is so.

    Raises Damaged as all that reads a store.
    """
    found: dict[Place, Hit] = {}
    for number, (store, wanted) in enumerate(zip(stores, filters, strict=True)):
        rows = [row for root, row in places if root == number]
        if wanted is not None and rows:
            for row, hit in by_number(store, wanted, rows).items():
                hit.root = number
                found[number, row] = hit
    return [found[place] for place in places if place in found]
