"""Find the documents that go by a name: a path, the end of one, or an id.

Ids and the names of files are in no FTS table. See "Asked for by name" in ``spec/hook.md``.
"""

from __future__ import annotations

from index_cache.filters import is_whole
from index_cache.guard import guarded, is_path
from index_cache.model import Hit
from index_cache.search import ORPHAN, ROW, SOUND, check_hit, conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeVar

    from index_cache.filters import Filter
    from index_cache.store import Store

    T = TypeVar("T")

# The end of a path that SQL compares, in bytes: 10,000 paths take .5 ms however many names are
# asked for. Comparing whole names takes as much for each length that these have.
_TAIL = 9
_AT_ONCE = 500  # values in one statement; SQLite takes 32,766: https://sqlite.org/limits.html
_IDS = (
    "SELECT e.path, d.line, d.id FROM document AS d LEFT JOIN entry AS e ON e.id = d.entry"
    " WHERE d.record_id COLLATE NOCASE IN"
)
# The index has no ids like these, which notes without one of their own have: all documents are
# read, 10,000 in 2 ms. Nobody types them, but what prints them may be quoted.
_NOT_INDEXED = "path:"
_INDEXED = f"d.record_id NOT LIKE '{_NOT_INDEXED}%'"
_ROWS = (
    f"n.id, {SOUND}, {ROW} FROM n"
    " LEFT JOIN document AS d ON d.id = n.id LEFT JOIN entry AS e ON e.id = coalesce(d.entry, n.id)"
    " WHERE NOT (d.id IS NULL AND e.id IS NOT NULL AND e.digest IS NULL)"
)


@guarded
def by_name(
    store: Store,
    wanted: Filter,
    paths: Sequence[bytes],
    names: Sequence[bytes],
    ids: Sequence[str],
    most: int,
) -> list[Hit]:
    """Return the documents that pass the filter and go by one of these names, in path order.

    ``paths`` are relative and whole, ``names`` what a path ends with after a ``/`` (or is), and
    ``ids`` record ids in any (ASCII) case. Of more than ``most`` documents those with such a path
    come first, then those with such an id. ``length``, ``occurrences`` and ``score`` of the hits
    are empty: nothing was searched for. Raises Damaged as all that reads a store.
    """
    found: dict[int, Hit] = {}
    for numbers in (
        _by_path(store, [*paths, *names]),
        _by_id(store, ids),
        _by_end(store, names),
    ):
        left = [number for number in numbers if number not in found]
        for part in _parts(left):
            if len(found) >= most:
                break
            found.update(_hits(store, wanted, part, most - len(found)))
    hits = sorted(found.values(), key=lambda hit: (hit.path, hit.line))
    for hit in hits:
        check_hit(hit, store)
    return hits


@guarded
def by_number(store: Store, wanted: Filter, numbers: Sequence[int]) -> dict[int, Hit]:
    """Return the documents of some rows that pass the filter, as ``by_name`` does."""
    found: dict[int, Hit] = {}
    for part in _parts(numbers):
        found.update(_hits(store, wanted, part, len(part)))
    for hit in found.values():
        check_hit(hit, store)
    return found


def _by_path(store: Store, paths: Iterable[bytes]) -> list[int]:
    different = sorted(set(paths))
    return [
        number
        for part in _parts(different)
        for (number,) in store.connection.execute(
            f"SELECT id FROM entry WHERE path IN ({_marks(part)})",  # noqa: S608 - marks alone
            part,
        )
    ]


def _by_id(store: Store, ids: Iterable[str]) -> list[int]:
    """Return the row ids of documents with such an id, in path order."""
    # Half of a character is in no text of ours.
    different = sorted({each for each in ids if is_whole(each)})
    hashes = [each for each in different if each[: len(_NOT_INDEXED)].lower() == _NOT_INDEXED]
    rows: list[tuple[bytes, int, int]] = []
    for asked, where in ((different, f" AND {_INDEXED}"), (hashes, f" AND NOT {_INDEXED}")):
        for part in _parts(asked):
            statement = f"{_IDS} ({_marks(part)}){where}"
            for path, line, number in store.connection.execute(statement, part):
                if not is_path(path):
                    raise store.damaged(ORPHAN)
                rows.append((path, line, number))
    return [number for _, _, number in sorted(rows)]


def _by_end(store: Store, names: Iterable[bytes]) -> list[int]:
    """Return the row ids of what a path ends with, in path order."""
    different = set(names) - {b""}
    # With the slash before it, as what is the whole path has been looked for.
    tails: dict[int, set[bytes]] = {}
    for name in different:
        tail = (b"/" + name)[-_TAIL:]
        tails.setdefault(len(tail), set()).add(tail)
    rows: list[tuple[bytes, int]] = []
    for length, ends in tails.items():
        for part in _parts(sorted(ends)):
            statement = (
                f"SELECT path, id FROM entry WHERE substr(path, -{length}) IN ({_marks(part)})"  # noqa: S608 - a number and marks
            )
            for path, number in store.connection.execute(statement, part):
                if not is_path(path):
                    raise store.damaged("a row of its manifest can't be read")
                if any(end in different for end in _ends(path)):
                    rows.append((path, number))
    return [number for _, number in sorted(rows)]


def _ends(path: bytes) -> Iterator[bytes]:
    """Yield what stands after each slash of a path."""
    at = path.find(b"/")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find(b"/", at + 1)


def _hits(
    store: Store, wanted: Filter, numbers: Sequence[int], most: int
) -> Iterator[tuple[int, Hit]]:
    """Yield the documents of some rows that pass the filter, with their numbers.

    A file without a document is passed over; rows that should have one must be noticed.
    """
    clauses, values = conditions(store, wanted)
    listed = ", ".join(f"({number})" for number in numbers)
    statement = (
        f"WITH n (id) AS (VALUES {listed}) SELECT {_ROWS}"
        f" AND ({SOUND} IS NOT TRUE OR (1{clauses})) ORDER BY e.path, d.line LIMIT ?"
    )
    for number, sound, *columns in store.connection.execute(statement, (*values, most)):
        if not sound:
            raise store.damaged(ORPHAN)
        yield number, Hit(0, 0, [], [], *columns)


def _parts(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
