"""Page checksums: SQLite's own extension, a VFS that keeps one in the last 8 bytes of each page.

SQLite's integrity checks do not see most flipped bits; reading a page through this VFS sees all.
See https://sqlite.org/cksumvfs.html and ``spec/cache-format.md``.
"""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

import apsw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

RESERVED = 8  # bytes of each page
_NAME = "cksmvfs"
_SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
_LOADING = allocate_lock()
_UNAVAILABLE: list[bool] = []  # what can't be loaded is not tried again in every search


def vfs() -> str | None:
    """Return the name of the VFS to open cache files with; None where apsw ships none.

    It is loaded at first use, 0.5 ms once a process. SQLite knows it from then on.
    """
    return _NAME if _NAME in apsw.vfs_names() or _load() else None


def are_checked(connection: apsw.Connection) -> bool:
    """Tell whether the pages that a connection reads are compared with their checksums.

    One byte of a file's header switches that off. Without the VFS there is nothing to switch off.
    """
    return vfs() is None or connection.pragma("checksum_verification") == "1"


def _load() -> bool:
    # Loaded twice at once, it would be its own base.
    with _LOADING:
        if _NAME in apsw.vfs_names():
            return True
        if _UNAVAILABLE:
            return False
        default = apsw.vfs_names()[0]
        for path in _files():
            try:
                _register(path)
            except (apsw.Error, AttributeError):  # the latter: built without extensions
                continue
            finally:
                apsw.set_default_vfs(default)  # it makes itself everybody's
            return True
        _UNAVAILABLE.append(True)
    return False


def _register(path: str) -> None:
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)  # noqa: FBT003 - apsw's own name for it
        connection.load_extension(path)
    finally:
        connection.close()


def _files() -> Iterator[str]:
    """Yield where the extension may be: beside apsw, else where apsw says, which takes 25 ms."""
    directory = os.path.join(os.path.dirname(apsw.__file__), "sqlite_extra_binaries")
    beside = os.path.join(directory, "cksumvfs" + _SUFFIX)
    if os.path.isfile(beside):
        yield beside
        return
    try:
        from apsw import sqlite_extra

        yield sqlite_extra.path("cksumvfs")
    except Exception:  # noqa: BLE001 - however an apsw without it says so
        return
