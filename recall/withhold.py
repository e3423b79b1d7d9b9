"""What one root withholds, every root that covers the same files withholds.

Privacy must not depend on which of several roots a search names, or how it spells it: a person's
``private`` globs hold for a directory whatever another root, a project or a flag says.
"""

from __future__ import annotations

import os

from index_cache.model import Root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # A directory (real path) and the private globs that are relative to it.
    Withheld = tuple[str, tuple[str, ...]]


def shared(roots: Sequence[Root], withheld: Iterable[Withheld] = ()) -> tuple[Root, ...]:
    """Return the roots, each with what all of them, and ``withheld``, keep private in it."""
    known = {
        (path, globs)
        for path, globs in (*withheld, *((root.path, root.rules.private) for root in roots))
        if globs
    }
    return tuple(_with(root, known) for root in roots) if known else tuple(roots)


def _with(root: Root, known: Iterable[Withheld]) -> Root:
    elsewhere = tuple(
        sorted(
            (path, globs)
            for path, globs in known
            if (path, globs) != (root.path, root.rules.private) and _overlap(path, root.path)
        )
    )
    return Root(root.name, root.path, root.rules.withholding(elsewhere)) if elsewhere else root


def _overlap(one: str, other: str) -> bool:
    first, second = os.path.join(one, ""), os.path.join(other, "")
    return first.startswith(second) or second.startswith(first)
