"""Documents by record id, and the ids that several of them have. See ``spec/records.md``."""

from __future__ import annotations

import os
from unicodedata import normalize

from index_cache.filters import is_whole
from index_cache.guard import guarded, is_path, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from typing import Any

    from index_cache.store import Store

# Ids like this are hashes of places, and in no index (``schema``): no two documents have one.
_HASHED = "path:"
_FROM = "d.id, e.path, d.line FROM document AS d LEFT JOIN entry AS e ON e.id = d.entry"
_SELECT = f"SELECT {_FROM} WHERE "
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

    Ids that are made of one relative path in several roots tell nothing, and are left out. Raises
    Damaged as all that reads a store.
    """
    several = _twice(stores, _OWN)
    found = {record_id: with_id(stores, record_id) for record_id in several}
    found.update(_forged(stores))
    return {record_id: found[record_id] for record_id in sorted(found) if len(found[record_id]) > 1}


def _twice(stores: Sequence[Store], where: str) -> set[str]:
    """Return the ids that are there twice, of documents for which an SQL condition is true."""
    seen: set[str] = set()
    several: set[str] = set()
    for store in stores:
        for record_id in _ids(store, where):
            (several if record_id in seen else seen).add(record_id)
    return several


@guarded
def _ids(store: Store, where: str) -> list[str]:
    ids: Iterable[Any] = store.connection.execute(
        f"SELECT d.record_id FROM document AS d WHERE {where}"  # noqa: S608 - ours
    )
    found = [record_id for (record_id,) in ids]
    if not all(map(is_text, found)):
        raise store.damaged("a row of a document can't be read")
    return found


def _forged(stores: Sequence[Store]) -> dict[str, list[Place]]:
    """Return the ids in the form of one that is made of a path, typed or twice in one root."""
    several = _twice(stores, f"NOT {_OWN}")
    if not several:
        return {}
    from index_cache.reader import place_id  # few roots have such ids

    found: dict[str, list[Place]] = {}
    for root, store in enumerate(stores):
        for record_id, place in _hashed(store, root, several):
            found.setdefault(record_id, []).append(place)
    told = {}
    for record_id, all_of_it in found.items():
        places = once(stores, sorted(all_of_it, key=lambda each: (each.root, *_in_order(each))))
        typed = any(place_id(each.path, each.line) != record_id for each in places)
        if typed or len({each.root for each in places}) < len(places):
            told[record_id] = places
    return told


@guarded
def _hashed(store: Store, root: int, several: Container[str]) -> list[tuple[str, Place]]:
    rows = store.connection.execute(f"SELECT d.record_id, {_FROM} WHERE NOT {_OWN}")
    return [
        (record_id, _place(store, root, row)) for record_id, *row in rows if record_id in several
    ]


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


def _place(store: Store, root: int, row: Sequence[Any]) -> Place:
    number, path, line = row
    if not (isinstance(number, int) and is_path(path) and isinstance(line, int)):
        raise store.damaged("a document's file is missing")
    return Place(root, number, path, line)


def _in_order(place: Place) -> tuple[bytes, int]:
    return place.path, place.line
