"""List the documents that pass a filter when nothing is searched for. See ``spec/operators.md``."""

from __future__ import annotations

from index_cache.guard import guarded
from index_cache.lookup import by_name
from index_cache.search import ORPHAN, SOUND, conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.filters import Filter
    from index_cache.model import Hit
    from index_cache.store import Store

    Place = tuple[int, bytes]  # the number of a root in the search, and a path in it


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
    found: list[tuple[str, int, bytes]] = []
    for number, (store, wanted) in enumerate(zip(stores, filters, strict=True)):
        if wanted is not None:
            rows = _rows(store, wanted)
            found += [(when(modified, sig), number, path) for path, modified, sig in rows]
    found.sort(key=lambda each: each[1:])
    found.sort(key=lambda each: each[0], reverse=True)
    return [(number, path) for _, number, path in found]


@guarded
def _rows(store: Store, wanted: Filter) -> list[tuple[bytes, str, bytes]]:
    clauses, values = conditions(store, wanted)
    if wanted.excluded:
        clauses += " AND e.id NOT IN (SELECT rowid FROM fts WHERE fts MATCH ?)"
        values = [*values, wanted.excluding()]
    columns = f"{SOUND}, e.path, d.modified, e.signature"
    statement = (
        f"SELECT {columns} FROM entry AS e LEFT JOIN document AS d ON d.id = e.id"  # noqa: S608 - ours
        f" WHERE e.digest IS NOT NULL AND ({SOUND} IS NOT TRUE OR (1{clauses}))"
    )
    rows = []
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
        paths = [path for root, path in places if root == number]
        if wanted is not None and paths:
            for hit in by_name(store, wanted, paths, [], [], len(paths)):
                hit.root = number
                found[number, hit.path] = hit
    return [found[place] for place in places if place in found]
