"""Ids that several records of the searched roots have, as ``recall status`` names them."""

from __future__ import annotations

from contextlib import ExitStack, closing

from index_cache import db, files, ids
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Root


class Duplicate:
    """An id, and of each record that has it the root's name, the path, and the line, 0 for a note.

    ``path`` is relative, with whatever is not UTF-8 escaped.
    """

    __slots__ = ("id", "places")

    def __init__(self, id: str, places: Sequence[tuple[str, str, int]]) -> None:
        self.id = id
        self.places = places


def duplicates(roots: Sequence[Root], directory: str | None) -> list[Duplicate]:
    """Return the ids that several records have, from the caches in a directory as they are.

    A cache that can't be read is left out: whoever shows the state of the roots tells of it.
    """
    if directory is None:
        return []
    with ExitStack() as opened:
        known: list[tuple[Root, Store]] = []
        for root in roots:
            try:
                db.refuse_directory(directory)
                store = opened.enter_context(closing(Store(root, db.cache_path(directory, root))))
                store.check()
                if store.built:
                    known.append((root, store))
            except (*db.TROUBLE, OSError):
                continue
        try:
            found = ids.duplicates([store for _, store in known])
        except db.TROUBLE:
            return []
        return [
            Duplicate(
                record_id,
                [(known[at.root][0].name, files.display(at.path), at.line) for at in places],
            )
            for record_id, places in found.items()
        ]
