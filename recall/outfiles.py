"""Reports and exports on disk: each has a name of its own, and none is ever overwritten."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from index_cache.errors import InvalidInput, NotFound, RootUnavailable
from recall.notice import shell_quoted

_LONGEST = 64  # characters of a name that a file of labels gives a report
_NUMBERED = "-v{version}-{number}.json"


def refuse_existing(path: str) -> None:
    """Refuse a name that can't be written to: before the work, not after it.

    Raises InvalidInput when something has that name, and as ``refuse_directory``.
    """
    if not path or "\0" in path:
        raise InvalidInput("a file needs a name", hint="name one that is not there yet")
    refuse_directory(os.path.dirname(path) or ".")
    if os.path.isfile(path) or os.path.islink(path):
        raise InvalidInput(
            "that file exists, and nothing is ever overwritten",
            where=path,
            hint=f"{shell_quoted(free_name(path))} is free",
        )
    if os.path.lexists(path):
        raise InvalidInput(
            "that is no file, and something has its name",
            where=path,
            hint="name a file that is not there yet, or redirect the output: > FILE",
        )


def refuse_directory(directory: str) -> None:
    """Refuse a directory that nothing can be written to.

    Raises NotFound when there is none, RootUnavailable when it may not be written to.
    """
    if not os.path.isdir(directory):
        raise NotFound("there is no such directory", where=directory, hint="create it first")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise RootUnavailable("the directory can't be written to", where=directory)


def free_name(path: str) -> str:
    """Return a name like ``path`` that nothing has: ``report-2.html``."""
    stem, suffix = os.path.splitext(path)
    number = 2
    while os.path.lexists(f"{stem}-{number}{suffix}"):
        number += 1
    return f"{stem}-{number}{suffix}"


def create(path: str, data: bytes) -> None:
    """Write a new file whole, or none.

    Raises InvalidInput when something has that name by now, RootUnavailable when it can't be
    written.
    """
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(temporary, path)  # fails where a name is taken, as no rename does
        except FileExistsError:
            raise
        except OSError:  # no links in this file system
            _copied(path, data)
    except FileExistsError:
        refuse_existing(path)
        raise
    except OSError as error:
        told = f"the file can't be written: {error.strerror or error}"
        raise RootUnavailable(told, where=path) from error
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def _copied(path: str, data: bytes) -> None:
    with open(path, "xb") as stream:
        try:
            stream.write(data)
            stream.flush()
        except BaseException:
            with suppress(OSError):
                os.unlink(path)
            raise


def save(directory: str, labels: str, version: str, data: bytes) -> str:
    """Write a report to ``directory`` under the next free number, and return its path.

    ``labels`` is the name of the file of labels, ``version`` the program's. Raises as ``create``.
    """
    refuse_directory(directory)
    stem = os.path.splitext(os.path.basename(labels))[0]
    name = re.sub(r"[^\w.-]", "-", stem)[:_LONGEST].lstrip(".-") or "labels"
    number = _highest(directory, name, version) + 1
    while True:
        file = name + _NUMBERED.format(version=version, number=number)
        path = os.path.join(directory, file)
        if not os.path.lexists(path):
            try:
                create(path, data)
            except InvalidInput:  # another run was quicker
                pass
            else:
                return path
        number += 1


def _highest(directory: str, name: str, version: str) -> int:
    """Return the highest number there is of reports over these labels by this version."""
    begin, end = (name + _NUMBERED).format(version=version, number="\0").split("\0")
    try:
        names = os.listdir(directory)
    except OSError as error:
        told = f"the directory can't be read: {error.strerror or error}"
        raise RootUnavailable(told, where=directory) from error
    numbers = (
        each[len(begin) : -len(end)]
        for each in names
        if each.startswith(begin) and each.endswith(end)
    )
    return max((int(each) for each in numbers if each.isdecimal() and len(each) < 10), default=0)  # noqa: PLR2004
