"""The files of a job for systemd and launchd: ours alone, written and deleted together."""

from __future__ import annotations

import os
from contextlib import suppress

from index_cache.errors import RootUnavailable, WriteRefused
from recall import replace
from recall.files import Unreadable, read_small
from recall.scheduling.job import is_intact, is_ours
from recall.writes import refuse_foreign, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Contents = Mapping[str, bytes | None]  # by path; None is no file

_MAX_BYTES = 1024 * 1024


def read(paths: Iterable[str]) -> dict[str, bytes | None]:
    """Return what is at some paths, None for nothing.

    Raises WriteRefused for what is not a file of ours, RootUnavailable for what can't be read.
    """
    return {path: _read(path) for path in paths}


def _read(path: str) -> bytes | None:
    if os.path.islink(path):
        raise _foreign(path, "is a link")
    try:
        data = read_small(path, _MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Unreadable as reason:
        raise RootUnavailable(
            f"what is there can't be read: {reason}", where=path, hint="nothing was changed"
        ) from reason
    if not is_ours(data):
        raise _foreign(path, "is not recall's")
    return data


def _foreign(path: str, why: str) -> WriteRefused:
    return WriteRefused(
        f"the file {why}, so it stays as it is",
        where=path,
        hint="move it away, or choose another --kind; nothing was changed",
    )


def changed_by_hand(found: Contents) -> list[str]:
    """Return the paths of files that are no longer as they were written."""
    return [path for path, data in found.items() if data is not None and not is_intact(data)]


def put(before: Contents, after: Contents) -> None:
    """Write or delete files; ``before`` is what they hold now, and again if one fails.

    Raises InvalidInput and RootUnavailable for what can't be written, WriteRefused where root would
    write in somebody else's directory.
    """
    for path, data in after.items():
        if data is not None:
            refuse_foreign(path)
    done: list[str] = []
    try:
        for path, data in after.items():
            if data != before[path]:
                done.append(path)
                _set(path, data)
    except OSError as error:
        for path in done:
            with suppress(OSError):
                _set(path, before[path])
        raise unwritten("the file can't be written", done[-1], error) from error


def _set(path: str, data: bytes | None) -> None:
    if data is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace.replace(path, data, follow=False)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def sweep(directories: Iterable[str]) -> None:
    """Delete directories, one in the other, the innermost first, as far as they are empty."""
    with suppress(OSError):
        for directory in directories:
            os.rmdir(directory)
