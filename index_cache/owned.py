"""Whose a directory is. Free of the database, for the prompt hook."""

from __future__ import annotations

import os
import stat


def refuse_foreign_directory(directory: str) -> None:
    """Raise OSError when a symlink or another person's directory is in our directory's place.

    What is written there could be read, or changed, by others.
    """
    try:
        st = os.lstat(directory)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(st.st_mode):
        raise NotADirectoryError("it is a symlink, or no directory")
    if st.st_uid != os.geteuid():
        raise PermissionError("it belongs to somebody else")
