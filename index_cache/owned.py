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


def refuse_directory(directory: str) -> None:
    """Raise OSError when no cache can be kept in a directory: by its name, or whose it is."""
    refuse_name(directory)
    refuse_foreign_directory(directory)


def refuse_name(directory: str) -> None:
    """Raise OSError when SQLite can't open a file in a directory: it takes names in UTF-8 alone."""
    try:
        directory.encode()
    except UnicodeEncodeError:
        import errno

        raise OSError(errno.EILSEQ, "its name is not UTF-8", directory) from None
