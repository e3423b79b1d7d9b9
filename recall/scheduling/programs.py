"""Finding and running the machine's own programs, never one in a stranger's checkout."""

from __future__ import annotations

import os
from contextlib import suppress

from index_cache.errors import RootUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATIENCE = 20.0  # seconds that a program may take
_WITHOUT_PATH = "/usr/local/bin:/usr/bin:/bin"


class Done:
    """What a program that was run has left: ``status``, ``out`` and, as one line, ``said``."""

    __slots__ = ("out", "said", "status")

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.out = out
        self.said = " ".join(err.decode("utf-8", "replace").split())[:500]


def find(name: str, environ: Mapping[str, str]) -> str | None:
    """Return the path of a program, None if there is none in an absolute directory of PATH."""
    for directory in environ.get("PATH", _WITHOUT_PATH).split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.isabs(directory) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def run(words: Sequence[str], environ: Mapping[str, str], data: bytes = b"") -> Done:
    """Run a program with ``data`` for its input, from ``/`` and in English, and wait for it.

    Raises RootUnavailable when it can't be run or takes over ``PATIENCE`` seconds.
    """
    import subprocess

    name = os.path.basename(words[0])
    try:
        process = subprocess.Popen(  # noqa: S603 - found by ``find``, no shell
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={**environ, "LC_ALL": "C"},
            process_group=0,  # so that it ends with all that it started
        )
    except OSError as error:
        raise RootUnavailable(
            f"{name} can't be run: {error.strerror or error}", where=words[0]
        ) from error
    with process:
        try:
            out, err = process.communicate(data, timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            _kill(process.pid)
            raise RootUnavailable(f"{name} took over {PATIENCE:g} s", where=words[0]) from error
        except BaseException:
            _kill(process.pid)
            raise
    return Done(process.returncode, out, err)


def _kill(group: int) -> None:
    """Kill a program that was not waited for yet, with its children."""
    import signal

    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
