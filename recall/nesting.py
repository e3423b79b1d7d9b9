"""Which part of each root a search looks at: ``--under``, types, and roots inside other roots."""

from __future__ import annotations

import os

from index_cache.filters import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Root
    from index_cache.store import Store


class Nesting:
    """What roots inside other roots of the same search do to it, root by root.

    A file is found once, under the deepest root that has it: ``without`` are the directories of
    deeper roots, which these take away, each with the files there that stay. And it counts once:
    ``counted`` tells which roots' statistics count. One whose files a root around it has as well
    does not, else a term of its notes would be as common as if there were two of each.
    """

    __slots__ = ("counted", "without")

    def __init__(self, roots: Sequence[Root], stores: Sequence[Store | None]) -> None:
        """Compare the paths in the roots' caches, ``stores``, None where there is no view."""
        self.without: list[dict[bytes, list[bytes]]] = []
        self.counted = [True] * len(roots)
        for outer, outer_store in zip(roots, stores, strict=True):
            taken: dict[bytes, list[bytes]] = {}
            for number, (inner, inner_store) in enumerate(zip(roots, stores, strict=True)):
                if inner.path == outer.path or not _inside(inner.path, outer.path):
                    continue
                if outer_store and inner_store:
                    directory = os.fsencode(os.path.relpath(inner.path, outer.path))
                    theirs = {directory + b"/" + path for path in inner_store.paths()}
                    ours = outer_store.paths(directory)
                    taken[directory] = sorted(ours - theirs)
                    if theirs <= ours:
                        self.counted[number] = False
            self.without.append(taken)


def filters(
    roots: Sequence[Root],
    nesting: Nesting,
    types: Sequence[str] | None,
    under: str | None,
    cwd: str,
    journal: bool,  # noqa: FBT001 - one of a search's plain values
    *,
    valid_at: int | None = None,
) -> list[Filter | None]:
    """Return each root's filter, None for a root that ``under`` leaves out.

    ``nesting`` is that of the ``roots``. ``under`` is a path relative to the root, or to ``cwd``,
    or absolute. ``valid_at`` is as in ``Filter``. Raises NotFound when ``under`` is in none of the
    roots.
    """
    if types is not None:
        # What came from an argument's odd bytes is no type, and SQLite takes only UTF-8.
        types = [each.encode("utf-8", "replace").decode() for each in types]
    parts = [below(root, under, cwd) for root in roots]
    if under is not None and all(part is None for part in parts):
        from index_cache.errors import NotFound

        raise NotFound(
            "no root has such a directory or file",
            where=under,
            hint="--under takes a path relative to a root, to the working directory, or absolute",
        )
    return [
        None if part is None else Filter(types, part, kept, journal=journal, valid_at=valid_at)
        for part, kept in zip(parts, nesting.without, strict=True)
    ]


def below(root: Root, under: str | None, cwd: str) -> bytes | None:
    """Return ``under`` relative to the root, b"" for all of it, None when it is not in it."""
    if under is None:
        return b""
    for base in (root.path, cwd):
        try:
            path = os.path.realpath(os.path.join(base, os.path.expanduser(under)))
        except ValueError:
            return None  # NUL, or half of a character: no path has these
        if not os.path.lexists(path):
            continue
        if _inside(root.path, path):
            return b""
        if _inside(path, root.path):
            return os.fsencode(os.path.relpath(path, root.path))
    return None


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(os.path.join(directory, ""))
