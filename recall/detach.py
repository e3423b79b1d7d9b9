"""Starting a process that outlives this one, apart from its session, terminal and files.

Nothing else detaches. For Linux and macOS: it takes ``posix_spawn`` and sessions.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_STANDARD = 2  # the highest descriptor that any program expects to be open
_MOST = 256  # descriptors to look at where the system lists none
# HUP, INT, QUIT, PIPE, ALRM, TERM: the same numbers on every system. What our parent ignores, as
# Python does a broken pipe, would be ignored by the new process. The module signal takes 2 ms.
_SIGNALS = (1, 2, 3, 13, 14, 15)


def spawn(module: str, arguments: list[str], environ: Mapping[str, str], keep: int) -> None:
    """Run a module of ours in a session of its own, with nothing open but one descriptor.

    ``arguments`` are those of ``module``, ``keep`` is the descriptor, of a held lock. The process
    is a child of this one, which need not wait for it. Raises OSError.
    """
    if not sys.executable:
        raise OSError("where the interpreter is, is not known")
    # -P: the working directory may be a stranger's repository.
    command = [sys.executable, "-P", "-m", module, *arguments]
    options: dict[str, Any] = {
        "file_actions": list(_file_actions(keep)),
        "setsigmask": (),
        "setsigdef": _SIGNALS,
    }
    os.set_inheritable(keep, True)  # noqa: FBT003 - its only form
    try:
        os.posix_spawn(sys.executable, command, environ, setsid=True, **options)
    except NotImplementedError:  # the process does it itself, a moment later: ``leave``
        os.posix_spawn(sys.executable, command, environ, **options)


def leave() -> None:
    """Leave the session and the directory of whoever started this process."""
    os.chdir("/")
    if os.getsid(0) != os.getpid():
        os.setsid()


def _file_actions(keep: int) -> Iterator[tuple[Any, ...]]:
    for descriptor in _descriptors():
        if descriptor > _STANDARD and descriptor != keep and _is_inheritable(descriptor):
            yield (os.POSIX_SPAWN_CLOSE, descriptor)
    yield (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    yield (os.POSIX_SPAWN_DUP2, 0, 1)
    yield (os.POSIX_SPAWN_DUP2, 0, 2)


def _descriptors() -> Iterator[int]:
    try:
        return map(int, os.listdir("/dev/fd"))
    except (OSError, ValueError):
        return iter(range(_MOST))


def _is_inheritable(descriptor: int) -> bool:
    try:
        return os.get_inheritable(descriptor)
    except OSError:  # that of the listing itself, closed by now
        return False
