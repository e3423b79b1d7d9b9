"""Removing the temporary files of writers that were killed, and no other file.

A writer that ends in any other way removes its own (``recall.replace``). What is left holds a copy
of what was to be written, which may be private.
"""

from __future__ import annotations

import os
import stat
import time

from index_cache.mounts import is_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ENDING = ".tmp"
_RANDOM = 8  # hex digits
_HEX = frozenset("0123456789abcdef")
# Longer than any write takes. By then a process of that number is another one than the writer.
_OLD = 60  # seconds


def sweep(directory: str, is_ours: Callable[[str], bool]) -> None:
    """Remove from ``directory`` what killed writers left of the files for which ``is_ours``.

    The caller holds the lock of the directory, as writers do: nobody is writing. Only regular files
    of the person's own go, with exactly the name that ``replace`` gives. What can't be removed
    stays.
    """
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        writer = _writer(name, is_ours)
        if writer is not None:
            try:
                _remove(os.path.join(directory, name), writer)
            except OSError:
                continue


def _remove(path: str, writer: int) -> None:
    st = os.lstat(path)
    if not stat.S_ISREG(st.st_mode) or st.st_uid != os.geteuid():
        return
    # Another machine's writer is no process of ours, and its lock may not be seen here.
    is_gone = not _is_running(writer) and not is_remote(os.path.dirname(path))
    if is_gone or st.st_mtime < time.time() - _OLD:
        os.unlink(path)


def _writer(name: str, is_ours: Callable[[str], bool]) -> int | None:
    """Return the process that wrote the temporary file ``name``, None if it is none of ours."""
    if not name.endswith(_ENDING):
        return None
    base, _, middle = name.removesuffix(_ENDING).rpartition(".")
    number, _, random = middle.partition("-")
    if len(random) != _RANDOM or not _HEX.issuperset(random):
        return None
    if not (number.isascii() and number.isdigit()) or number.startswith("0"):
        return None
    return int(number) if is_ours(base) else None


def _is_running(process: int) -> bool:
    """Tell whether another process than this one has that number; in doubt it does."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
