"""What git ignores below a root: one question to git a scan, and no program of the repository's.

``git ls-files`` tells it for a whole tree at once (10 ms for 10,000 files); ``git check-ignore``
needs 85 µs a path. See ``spec/canonical-view.md``.
"""

from __future__ import annotations

import os

from index_cache.files import repository
from index_cache.ignorefiles import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from subprocess import CompletedProcess

_TIMEOUT = 5  # seconds; a search may be waiting
# A repository's own settings must not run programs (fsmonitor, hooks) nor write to it.
_SAFELY = [
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "submodule.recurse=false"),
]
_COMMAND = [
    *_SAFELY,
    "--literal-pathspecs",
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
    """What git ignores below a root: relative paths, a directory's with a ``/`` at its end.

    ``top`` is the repository, b"" outside of one. ``filters`` says whether git's rules apply to
    the root at all; ``files`` are the ignore files that the root's own walk does not meet.
    """

    __slots__ = ("files", "filters", "notice", "paths", "top")

    def __init__(
        self,
        paths: frozenset[bytes] = frozenset(),
        notice: str | None = None,
        *,
        top: bytes = b"",
        filters: bool = False,
        files: Sequence[bytes] = (),
    ) -> None:
        self.paths = paths
        self.notice = notice
        self.top = top
        self.filters = filters
        self.files = files


def ask(root: bytes, environ: dict[bytes, bytes], *, watch: bool = False) -> Ignored:
    """Ask git what it ignores below ``root``; with ``watch`` also by which files.

    Nothing is ignored outside of a repository, and when the root itself is ignored: an agent's
    memory directory was named on purpose. When git is missing or fails, ``notice`` says so.
    """
    top = repository(root)
    if top is None:
        return Ignored()
    program = next(_programs(environ), None)
    watched: Sequence[bytes] = ()
    if watch:
        watched = outside(root, top, environ, _excludes(program, top, environ))
    if program is None:
        notice = "git was not found: its ignore rules were not applied"
        return Ignored(notice=notice, top=top, files=watched)
    below = os.path.relpath(root, top)
    try:
        paths = _ls_files([program, b"-C", top], below, environ)
    except _Failed as error:
        return Ignored(notice=str(error), top=top, files=watched)
    found = None if paths is None else _below(paths, b"" if below == b"." else below + b"/")
    return Ignored(found or frozenset(), top=top, filters=found is not None, files=watched)


def would_ignore(root: bytes, path: bytes, environ: dict[bytes, bytes]) -> bool:
    """Tell whether git would ignore a file below ``root``, at a relative path, once it is there.

    By the same rules as ``ask``. Where git can't tell it does not.
    """
    program = next(_programs(environ), None)
    if program is None or not ask(root, environ).filters:
        return False
    question = [*_SAFELY, "check-ignore", "--quiet", "--", os.fsdecode(path)]
    try:
        return _run([program, b"-C", root], question, environ).returncode == 0
    except _Failed:
        return False


class _Failed(Exception):
    """Git gave no answer; the message says why."""


def _excludes(program: bytes | None, top: bytes, environ: dict[bytes, bytes]) -> bytes | None:
    """Return what git says of the person's excludes file, None when it says nothing."""
    if program is None:
        return None
    question = ["config", "--get", "-z", "--type=path", "core.excludesFile"]
    try:
        done = _run([program, b"-C", top], question, environ)
    except _Failed:
        return None  # it will fail again, and be told of, when asked what it ignores
    return None if done.returncode else done.stdout.removesuffix(b"\0")


def _ls_files(git: list[bytes], below: bytes, environ: dict[bytes, bytes]) -> list[bytes] | None:
    """Return what git lists as ignored at and below a path, None if all of it. Raises _Failed."""
    done = _run(git, [*_COMMAND, os.fsdecode(below)], environ)
    if done.returncode and _ABOVE_IS_IGNORED not in done.stderr:
        reason = (done.stderr.decode("utf-8", "replace").strip() or "no reason given").splitlines()
        raise _Failed(f"git could not say what it ignores: {reason[0]}")
    return None if done.returncode else done.stdout.split(b"\0")


def _run(
    git: list[bytes], question: list[str], environ: dict[bytes, bytes]
) -> CompletedProcess[bytes]:
    """Run git without waiting for long, nor for anybody. Raises _Failed."""
    import subprocess  # 5 ms that a root outside of a repository need not pay

    variables = {k: v for k, v in environ.items() if not k.startswith(b"GIT_")}
    variables |= {os.fsencode(k): os.fsencode(v) for k, v in _SETTINGS.items()}
    try:
        return subprocess.run(  # noqa: S603 - a fixed command, found without the current directory
            [*git, *question],
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


def _below(paths: list[bytes], prefix: bytes) -> frozenset[bytes] | None:
    """Return the paths relative to the root; None when the root or one above is among them."""
    if any(path.endswith(b"/") and prefix.startswith(path) for path in paths if path):
        return None
    found = frozenset(p[len(prefix) :] for p in paths if p.startswith(prefix))
    return None if b"./" in found else found - {b""}


def _programs(environ: dict[bytes, bytes]) -> Iterator[bytes]:
    """Find git on PATH, absolute directories only: never one in a stranger's checkout."""
    for directory in environ.get(b"PATH", os.fsencode(os.defpath)).split(os.fsencode(os.pathsep)):
        program = os.path.join(directory, b"git")
        if os.path.isabs(directory) and os.access(program, os.X_OK):
            yield program
