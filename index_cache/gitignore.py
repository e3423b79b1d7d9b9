"""What git ignores below a root: one question to git a scan, and no program of the repository's.

``git ls-files`` tells it for a whole tree at once (10 ms for 10,000 files); ``git check-ignore``
needs 85 µs a path. See ``spec/canonical-view.md``.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TIMEOUT = 5  # seconds; a search may be waiting
# A repository's own settings must not run programs (fsmonitor, hooks) nor write to it.
_COMMAND = [
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "submodule.recurse=false"),
    *("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--"),
]
_SETTINGS = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# git up to at least 2.39 ends so when a directory two levels above the question is ignored.
_ABOVE_IS_IGNORED = b"directory entry not superset of prefix"


class Ignored:
    """What git ignores below a root: relative paths, a directory's with a ``/`` at its end."""

    __slots__ = ("notice", "paths")

    def __init__(self, paths: frozenset[bytes] = frozenset(), notice: str | None = None) -> None:
        self.paths = paths
        self.notice = notice


def repository(root: bytes) -> bytes | None:
    """Return the top directory of the repository that a directory lies in, None outside of one."""
    directory = root
    while True:
        if os.path.lexists(os.path.join(directory, b".git")):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def ask(root: bytes, environ: dict[bytes, bytes]) -> Ignored:
    """Ask git what it ignores below ``root``.

    Nothing is ignored outside of a repository, and when the root itself is ignored: an agent's
    memory directory was named on purpose. When git is missing or fails, ``notice`` says so.
    """
    top = repository(root)
    if top is None:
        return Ignored()
    program = next(_programs(environ), None)
    if program is None:
        return Ignored(notice="git was not found: its ignore rules were not applied")
    below = os.path.relpath(root, top)
    try:
        paths = _ls_files([program, b"-C", top], below, environ)
    except _Failed as error:
        return Ignored(notice=str(error))
    return Ignored(_below(paths, b"" if below == b"." else below + b"/"))


class _Failed(Exception):
    """Git gave no answer; the message says why."""


def _ls_files(git: list[bytes], below: bytes, environ: dict[bytes, bytes]) -> list[bytes]:
    """Return what git lists as ignored at and below a path. Raises _Failed."""
    import subprocess  # 5 ms that a root outside of a repository need not pay

    variables = {k: v for k, v in environ.items() if not k.startswith(b"GIT_")}
    variables |= {os.fsencode(k): os.fsencode(v) for k, v in _SETTINGS.items()}
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, found without the current directory
            [*git, *_COMMAND, below],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            env=variables,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Failed(f"git took over {_TIMEOUT} s: its ignore rules were not applied") from None
    except (OSError, subprocess.SubprocessError) as error:
        raise _Failed(f"git could not be asked what it ignores: {error}") from error
    if done.returncode and _ABOVE_IS_IGNORED not in done.stderr:
        reason = (done.stderr.decode("utf-8", "replace").strip() or "no reason given").splitlines()
        raise _Failed(f"git could not say what it ignores: {reason[0]}")
    return [] if done.returncode else done.stdout.split(b"\0")


def _below(paths: list[bytes], prefix: bytes) -> frozenset[bytes]:
    """Return the paths relative to the root; nothing when the root or one above is among them."""
    if any(path.endswith(b"/") and prefix.startswith(path) for path in paths if path):
        return frozenset()
    return frozenset(p[len(prefix) :] for p in paths if p.startswith(prefix)) - {b"", b"./"}


def _programs(environ: dict[bytes, bytes]) -> Iterator[bytes]:
    """Find git on PATH, absolute directories only: never one in a stranger's checkout."""
    for directory in environ.get(b"PATH", os.fsencode(os.defpath)).split(os.fsencode(os.pathsep)):
        program = os.path.join(directory, b"git")
        if os.path.isabs(directory) and os.access(program, os.X_OK):
            yield program
