"""Finding and running the machine's own programs, never one in a stranger's checkout."""

from __future__ import annotations

import os

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

    try:
        done = subprocess.run(  # noqa: S603 - found by ``find``, no shell
            list(words),
            input=data,
            capture_output=True,
            cwd="/",
            env={**environ, "LC_ALL": "C"},
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RootUnavailable(
            f"{os.path.basename(words[0])} took over {PATIENCE:g} s", where=words[0]
        ) from error
    except OSError as error:
        raise RootUnavailable(
            f"{os.path.basename(words[0])} can't be run: {error.strerror or error}", where=words[0]
        ) from error
    return Done(done.returncode, done.stdout, done.stderr)
