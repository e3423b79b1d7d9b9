"""Groups of roots: ``groups = ["work"]`` at a root, and the roots that ``--group`` names.

A root says which groups it is of, so a group has no list of its own that could name what is not
there, and whoever takes a root out takes it out of its groups.
"""

from __future__ import annotations

from index_cache.errors import InvalidInput, NotFound
from recall.rootnames import name_fault, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.configfile import Entry

EXAMPLE = 'groups = ["work"]'


def fault(value: object) -> str | None:
    """Return what is wrong with what a file gives as a root's groups, None if nothing."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return "must be a list of names"
    wrong = next((each for each in value if name_fault(each)), None)
    return None if wrong is None else f'has "{wrong}", which is no name: {name_fault(wrong)}'


def read(value: object) -> tuple[str, ...]:
    """Return a root's groups, each once; ``value`` has no fault."""
    return tuple(dict.fromkeys(value)) if isinstance(value, list) else ()


def known(entries: Sequence[Entry]) -> list[str]:
    """Return the groups of some roots, sorted."""
    return sorted({group for entry in entries for group in entry.groups})


def members(group: str, entries: Sequence[Entry], told: Sequence[Entry]) -> list[Entry]:
    """Return those of ``entries`` that are of a group.

    Raises NotFound when none is, with the nearest name among the groups of ``told``, and
    InvalidInput for no name at all.
    """
    if not group:
        raise InvalidInput("--group needs a name", where="--group ''")
    found = [entry for entry in entries if group in entry.groups]
    if found:
        return found
    near = nearest(group, known(told))
    raise NotFound(
        f'no root is of a group "{group}"' + (f'; did you mean "{near}"?' if near else ""),
        where=f"--group {group}",
        hint="recall roots list",
    )
