"""The documents that the hook could show: what the caches of some roots have."""

from __future__ import annotations

import os
from contextlib import closing

from index_cache import db, files
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Root

_JOURNAL = "journal"


def documents(
    cache_dir: str | None, roots: Sequence[Root]
) -> tuple[dict[str, tuple[str, str]], list[tuple[Root, str]]]:
    """Return root and relative path of each document but journals, by absolute path.

    And the roots whose documents are not known, each with why. A file that several roots have is
    told once. Reads the caches as they are; what is private is in none.
    """
    found: dict[str, tuple[str, str]] = {}
    unknown: list[tuple[Root, str]] = []
    for root in roots:
        try:
            paths = None if cache_dir is None else _paths(db.cache_path(cache_dir, root), root)
        except db.TROUBLE as error:
            unknown.append((root, db.reason(error) if db.is_damage(error) else str(error)))
            continue
        if paths is None:
            unknown.append((root, "it is not indexed yet"))
            continue
        for path in paths:
            file = files.display(os.path.join(os.fsencode(root.path), path))
            found.setdefault(file, (root.name, files.display(path)))
    return found, unknown


def _paths(cache_file: str, root: Root) -> list[bytes] | None:
    if not os.path.lexists(cache_file):
        return None
    with closing(Store(root, cache_file)) as store:
        if not store.built:
            return None
        rows = store.connection.execute(
            "SELECT path, type FROM document AS d JOIN entry AS e ON e.id = d.entry"
        )
        return [path for path, type_ in rows if str(type_).lower() != _JOURNAL]
