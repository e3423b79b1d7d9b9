"""Documents by record id, and the ids that several of them have. See ``spec/records.md``."""

from __future__ import annotations

import os
from unicodedata import normalize

from index_cache.filters import is_whole
from index_cache.guard import guarded, is_path, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from index_cache.store import Store

# Ids like this are hashes of places, and in no index (``schema``): no two documents have one.
_HASHED = "path:"
_SELECT = (
    "SELECT d.id, e.path, d.line FROM document AS d LEFT JOIN entry AS e ON e.id = d.entry WHERE "
)
_OWN = "d.record_id NOT LIKE 'path:%'"


class Place:
    """Where a document is: the number of its root, its row, its path and its line, 0 for a note."""

    __slots__ = ("line", "number", "path", "root")

    def __init__(self, root: int, number: int, path: bytes, line: int) -> None:
        self.root = root
        self.number = number
        self.path = path
        self.line = line

    def __repr__(self) -> str:
        return f"Place({self.root}, {self.number}, {self.path!r}, {self.line})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.root, self.number) == (other.root, other.number)

    def __hash__(self) -> int:
        return hash((self.root, self.number))


def with_id(stores: Sequence[Store], record_id: str) -> list[Place]:
    """Return the documents with an id, in the order of the roots, then of paths and lines.

    A file that two of the roots have comes once, under the deepest. Raises Damaged as all that
    reads a store.
    """
    asked = normalize("NFC", record_id)
    if not is_whole(asked):
        return []  # half of a character is in no text of ours
    found = [each for root, store in enumerate(stores) for each in _with_id(store, root, asked)]
    return once(stores, found)


@guarded
def _with_id(store: Store, root: int, asked: str) -> list[Place]:
    same = "d.record_id = ?"
    if not asked.lower().startswith(_HASHED):
        same += f" AND d.record_id COLLATE NOCASE = ? AND {_OWN}"
    rows = store.connection.execute(_SELECT + same, (asked,) * same.count("?"))
    return sorted((_place(store, root, row) for row in rows), key=_in_order)


def duplicates(stores: Sequence[Store]) -> dict[str, list[Place]]:
    """Return the ids that several documents have, in order, each with all of these.

    Raises Damaged as all that reads a store.
    """
    seen: set[str] = set()
    several: set[str] = set()
    for store in stores:
        for record_id in _ids(store):
            (several if record_id in seen else seen).add(record_id)
    found = {record_id: with_id(stores, record_id) for record_id in sorted(several)}
    return {record_id: places for record_id, places in found.items() if len(places) > 1}


@guarded
def _ids(store: Store) -> list[str]:
    """Return the ids that documents have of their own, as often as they are there."""
    ids: Iterable[Any] = store.connection.execute(
        f"SELECT d.record_id FROM document AS d WHERE {_OWN}"  # noqa: S608 - ours
    )
    found = [record_id for (record_id,) in ids]
    if not all(map(is_text, found)):
        raise store.damaged("a row of a document can't be read")
    return found


def once(stores: Sequence[Store], places: Iterable[Place]) -> list[Place]:
    """Return places without those that a deeper root has as well, in the same order."""
    deepest: dict[tuple[bytes, int], Place] = {}
    places = [*places]
    for place in places:
        file = os.path.join(os.fsencode(stores[place.root].root.path), place.path), place.line
        other = deepest.get(file)
        if other is None or len(place.path) < len(other.path):
            deepest[file] = place
    kept = set(deepest.values())
    return [place for place in places if place in kept]


def _place(store: Store, root: int, row: tuple[Any, ...]) -> Place:
    number, path, line = row
    if not (isinstance(number, int) and is_path(path) and isinstance(line, int)):
        raise store.damaged("a document's file is missing")
    return Place(root, number, path, line)


def _in_order(place: Place) -> tuple[bytes, int]:
    return place.path, place.line
