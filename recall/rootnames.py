"""What a root may be called, and what it is called when nobody says; pure."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def name_fault(name: str) -> str | None:
    """Return why ``name`` can't be a root's name, or None if it can.

    A name has to be told from a directory and from an option on the command line, and shown
    safely.
    """
    if not name or len(name) > 100 or not name.isprintable():  # noqa: PLR2004 - a line's worth
        return "it must be 1 to 100 printable characters"
    if "/" in name or name in {".", ".."}:
        return "it would be taken for a directory"
    if name[0] in "~-" or name != name.strip():
        return "it may not begin with ~, - or a space, nor end with a space"
    return None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that ``word`` was probably meant to be, or None."""
    from difflib import get_close_matches

    spelled = {item.lower(): item for item in known}
    return next((spelled[n] for n in get_close_matches(word.lower(), list(spelled), n=1)), None)


def base_name(path: str) -> str:
    """Return what a root at ``path`` is called when nobody says."""
    return os.path.basename(os.path.abspath(path)) or "root"


def unique(name: str, taken: set[str]) -> str:
    """Return ``name``, with a number if it is one of ``taken``, to which it is added."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(candidate)
    return candidate
