"""What the prompt hook says at the start of a session, if it is to: that it is on, in one line.

The counts are those that the caches keep, proposals apart, a note that several roots have counted
once: no directory is looked at, nothing is built. See "Session start" in ``spec/hook.md``.
"""

from __future__ import annotations

import os

from recall import block
from recall.output import number
from recall.project import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.hosts import Cap
    from recall.views import View, Views

# Hosts keep the line in the conversation, and would get it again when that goes on.
SOURCES = ("startup", "clear")
MOST_NAMES = 8
NAME_BYTES = 40
_DELIMITERS = str.maketrans("(),;:", "-----")  # of ours in the line


def counted(views: Views, directory: str) -> list[tuple[View, int]]:
    """Return the views of those that have a whole cache, with how many notes each adds.

    A note in a root inside another is of the outer one, if that has it as well. Raises nothing for
    a cache that can't be read: its view says so.
    """
    from index_cache import db
    from index_cache.lookup import proposals

    found = []
    views.open_caches(directory)
    for view in views.all:
        if view.stores and view.store is not None:
            try:
                found.append((view, view.store.documents() - len(proposals(view.store))))
            except db.TROUBLE as error:
                view.fail(error)
    return _once(found)


def _once(found: list[tuple[View, int]]) -> list[tuple[View, int]]:
    """Take from each count what a root around it has as well; leave out what can't be read."""
    from index_cache import db
    from index_cache.lookup import proposals

    counts = []
    for at, (view, count) in enumerate(found):
        shared: set[bytes] = set()
        for place, (outer, _) in enumerate(found):
            # Of two roots with one directory, which differ in their rules, the first is around.
            same = outer.root.path == view.root.path
            if (
                place == at
                or (same and place > at)
                or not is_inside(view.root.path, outer.root.path)
            ):
                continue
            try:
                shared |= _paths_below(outer, view.root.path)
            except db.TROUBLE as error:
                outer.fail(error)
        try:
            # Only where there is something to compare: it reads the paths of a whole root.
            both = set[bytes]()
            if shared and view.store is not None:
                both = (shared & view.store.paths()) - proposals(view.store)
        except db.TROUBLE as error:
            view.fail(error)
        else:
            counts.append((view, count - len(both)))
    whole = [(view, count) for view, count in found if view.stores]
    return counts if len(whole) == len(found) else _once(whole)


def _paths_below(view: View, path: str) -> set[bytes]:
    """Return the paths that a root has in the directory ``path``, relative to that."""
    if view.store is None:
        return set()
    if path == view.root.path:
        return view.store.paths()
    directory = os.fsencode(os.path.relpath(path, view.root.path))
    return {each[len(directory) + 1 :] for each in view.store.paths(directory)}


def words(
    counts: Sequence[tuple[str | None, int]],
    waiting: Sequence[str | None],
    failing: Sequence[str | None],
    cap: Cap,
) -> str:
    """Return what is said, pure; "" for nothing.

    ``counts`` are the names of roots and how many notes each has; ``waiting`` those without a whole
    cache, which is made beside; ``failing`` those whose cache can't be read now. A root whose name
    nobody vouches for has None for it, and is counted alone. Without the names if the line would
    not stay within ``cap`` with them.
    """
    for named in (True, False):
        text = _words(counts, waiting, failing, named=named)
        if cap.fits(line(text)):
            return text
    return ""


def line(said: str) -> str:
    """Return the line that a model gets, in the delimiters of a block; "" for nothing."""
    return f"{block.MARK} {said} {block.END_MARK}\n" if said else ""


def _words(
    counts: Sequence[tuple[str | None, int]],
    waiting: Sequence[str | None],
    failing: Sequence[str | None],
    *,
    named: bool,
) -> str:
    parts = []
    if counts:
        notes = number(sum(count for _, count in counts), "note")
        parts.append(f"{notes} in {_roots([name for name, _ in counts], named=named)}")
    if waiting:
        parts.append(f"being indexed: {_roots(waiting, named=named)}")
    if failing:
        parts.append(f"not to be read now: {_roots(failing, named=named)}")
    return f"recall is on: {'; '.join(parts)}."


def _roots(names: Sequence[str | None], *, named: bool) -> str:
    count = number(len(names), "root")
    known = [name for name in names if name is not None]
    if not named or not known:
        return count
    shown = [block.name(name, NAME_BYTES).translate(_DELIMITERS) for name in known[:MOST_NAMES]]
    more = len(names) - len(shown)
    return f"{count} ({', '.join([*shown, *([f'{more} more'] if more else [])])})"
