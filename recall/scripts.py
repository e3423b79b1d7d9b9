"""What runs a script: the interpreter that its first line names."""

from __future__ import annotations

import os
import shlex

from recall.files import Unreadable, read_start

_HEAD = 4096  # bytes of a script that are looked at
# So installers write an interpreter whose path is too long for a first line, or has blanks.
_SECOND = "'''exec' "


def interpreter_gone(path: str) -> str | None:
    """Return the interpreter that the script at ``path`` names, if it is not there."""
    try:
        lines = read_start(path, _HEAD).decode("utf-8", "replace").splitlines()
    except (OSError, Unreadable):
        return None
    words = lines[0][2:].split() if lines and lines[0].startswith("#!") else []
    if words == ["/bin/sh"] and lines[1:] and lines[1].startswith(_SECOND):
        try:
            words = shlex.split(lines[1].removeprefix(_SECOND))
        except ValueError:
            return None
    gone = words and os.path.isabs(words[0]) and not os.path.exists(words[0])
    return words[0] if gone else None
