"""Where the next look at a root's directories goes on, if the last one ran out of time.

A file a root, ``looks/<identity>``, in the state directory: the number of a directory. Anything
else in it means the first one, which costs no more than looking at some directories twice.
``pages/<identity>`` likewise has the page of its cache with which ``recall health`` goes on.
"""

from __future__ import annotations

import os

from recall import state
from recall.files import Unreadable

PAGES = "pages"
_DIRECTORY = "looks"
_MAX_BYTES = 20


def start(state_dir: str | None, identity: str, of: str = _DIRECTORY) -> int:
    """Return the number of the directory, or of the page (``of`` PAGES), to begin with."""
    if state_dir is None:
        return 0
    try:
        said = state.read(state_dir, _name(of, identity), _MAX_BYTES)
    except (OSError, Unreadable):
        return 0
    return int(said) if said.isdigit() else 0


def keep(state_dir: str | None, identity: str, number: int, of: str = _DIRECTORY) -> None:
    """Keep the number for the next look; without one that stands in a file already, no file."""
    if state_dir is None:
        return
    try:
        if number or os.path.lexists(os.path.join(state_dir, _name(of, identity))):
            state.write(state_dir, _name(of, identity), b"%d" % number, sync=False)
    except OSError:
        return  # the next look begins with the first directory


def _name(of: str, identity: str) -> str:
    return f"{of}/{identity}"
