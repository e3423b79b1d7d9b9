"""Where the next look at a root's directories goes on, if the last one ran out of time.

One file for all roots, ``looks/next``, in the state directory: with one a root, 49 roots cost a
prompt 15 ms. A line has a root's identity and the number of a directory. Anything else in it means
the first directory, which costs no more than looking at some twice; and so does what one of two
prompts at once has kept and the other not seen. ``pages/next`` likewise has the page of each cache
with which ``recall health`` goes on.
"""

from __future__ import annotations

from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PAGES = "pages"
_DIRECTORIES = "looks"
_MOST = 1_000  # roots: the ones that were looked at last
_MAX_BYTES = 128 * 1024


def starts(state_dir: str | None, of: str = _DIRECTORIES) -> dict[str, int]:
    """Return the number of the directory, or of the page (``of`` PAGES), to begin with, by root.

    A root that is not in it begins with the first.
    """
    if state_dir is None:
        return {}
    try:
        lines = state.read(state_dir, _name(of), _MAX_BYTES).decode("ascii", "replace").split("\n")
    except (OSError, Unreadable):
        return {}
    pairs = (line.partition(" ") for line in lines)
    return {root: int(number) for root, _, number in pairs if number.isdecimal()}


def keep(state_dir: str | None, numbers: Mapping[str, int], of: str = _DIRECTORIES) -> None:
    """Keep the numbers for the next looks, and those of other roots. Never raises."""
    if state_dir is None or not numbers:
        return
    known = starts(state_dir, of)
    others = {root: number for root, number in known.items() if root not in numbers}
    now = {root: number for root, number in (others | {**numbers}).items() if number}
    if now == known:
        return
    lines = [f"{root} {number}\n" for root, number in now.items()][-_MOST:]
    try:
        state.write(state_dir, _name(of), "".join(lines).encode(), sync=False)
    except OSError:
        return  # the next look begins with the first directory


def _name(of: str) -> str:
    return f"{of}/next"
