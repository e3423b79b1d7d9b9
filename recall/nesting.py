"""Which part of each root a search looks at: ``--under``, types, and roots inside other roots."""

from __future__ import annotations

import os

from index_cache.errors import NotFound
from index_cache.search import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Root


def filters(
    roots: Sequence[Root],
    types: Sequence[str] | None,
    under: str | None,
    cwd: str,
    journal: bool,  # noqa: FBT001 - one of a search's plain values
) -> list[Filter | None]:
    """Return each root's filter, None for a root that ``under`` leaves out.

    ``under`` is a path relative to the root, or to ``cwd``, or absolute. A root inside another
    one of the same search takes its files away from the outer one, so that a file is found once.
    Raises NotFound when ``under`` is in none of the roots.
    """
    if types is not None:
        # What came from an argument's odd bytes is no type, and SQLite takes only UTF-8.
        types = [each.encode("utf-8", "replace").decode() for each in types]
    parts = [_under(root, under, cwd) for root in roots]
    if under is not None and all(part is None for part in parts):
        raise NotFound(
            "no root has such a directory or file",
            where=under,
            hint="--under takes a path relative to a root, to the working directory, or absolute",
        )
    return [
        None if part is None else Filter(types, part, _deeper(root, roots), journal=journal)
        for root, part in zip(roots, parts, strict=True)
    ]


def _under(root: Root, under: str | None, cwd: str) -> bytes | None:
    """Return ``under`` relative to the root, b"" for all of it, None when it is not in it."""
    if under is None:
        return b""
    for base in (root.path, cwd):
        path = os.path.normpath(os.path.join(base, os.path.expanduser(under)))
        if not os.path.lexists(path):
            continue
        if _inside(root.path, path):
            return b""
        if _inside(path, root.path):
            return os.fsencode(os.path.relpath(path, root.path))
    return None


def _deeper(root: Root, roots: Sequence[Root]) -> list[bytes]:
    return [
        os.fsencode(os.path.relpath(other.path, root.path))
        for other in roots
        if other.path != root.path and _inside(other.path, root.path)
    ]


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(os.path.join(directory, ""))
