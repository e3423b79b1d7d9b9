"""Delete the small files of ours that have had their time, one a hash, in a directory of ours."""

from __future__ import annotations

import os
import time

from recall.files import unlinked

LEFTOVER = 3600.0  # seconds after which a temporary file has no writer any more
_HEX = "0123456789abcdef"


def sweep(
    directory: str, suffix: str, digits: int, *, expiry: float, most: int, now: float | None = None
) -> int:
    """Delete what has expired, the oldest of too many, and what a crash left; return how many.

    Ours are files called ``digits`` hex digits and ``suffix``, and temporary ones beside them: all
    others stay, and what can't be deleted. ``expiry`` is in seconds after a file's last change,
    ``most`` are kept, ``now`` is in seconds since the epoch. Raises OSError when the directory
    can't be listed.
    """
    now = time.time() if now is None else now
    gone: list[str] = []
    live: list[tuple[float, str]] = []
    for name in os.listdir(directory):
        head, found, rest = name.partition(suffix)
        if not found or len(head) != digits or head.strip(_HEX):
            continue
        path = os.path.join(directory, name)
        try:
            # Either way: a time far ahead comes from a clock that was wrong.
            age = abs(now - os.lstat(path).st_mtime)
        except OSError:
            continue
        if rest:  # a temporary file beside it
            if rest.endswith(".tmp") and age > LEFTOVER:
                gone.append(path)
        elif age > expiry:
            gone.append(path)
        else:
            live.append((age, path))
    live.sort()
    return sum(map(unlinked, [*gone, *(path for _, path in live[most:])]))
