"""Finding the project that a directory belongs to, without running git.

What is found decides which notes are read, so nothing is taken from another user's files (anyone
can write ``/tmp/.recall.toml``), nor from a repository that only claims to be a worktree.
"""

from __future__ import annotations

import os

from recall.files import Unreadable, read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from index_cache.model import Root
    from recall.looked import Looked
    from recall.notice import Notice

PROJECT_FILE = ".recall.toml"
_MAX_LINK_BYTES = 64 * 1024  # git's own files of one path each


def find_project_file(cwd: str, notices: list[Notice], looked: Looked | None = None) -> str | None:
    """Return the nearest ``.recall.toml`` of ``cwd``, its parents and its main worktree, or None.

    In a linked git worktree the main worktree's directory is asked after the worktree's own, its
    parents last of all. Files of other users are passed over, with a notice each. ``looked`` notes
    all that decides.
    """
    if looked:
        looked.real(cwd)
    return _first(_places(os.path.realpath(cwd), looked), PROJECT_FILE, notices, looked)


def find_above(
    cwd: str, name: str, notices: list[Notice], looked: Looked | None = None
) -> str | None:
    """Return the nearest ``name`` in ``cwd`` or above it, not another user's, or None."""
    if looked:
        looked.real(cwd)
    return _first(upwards(os.path.realpath(cwd)), name, notices, looked)


def find_repository(cwd: str, notices: list[Notice]) -> str | None:
    """Return the nearest directory at or above ``cwd`` that holds ``.git`` (of ours), or None."""
    found = _first(upwards(os.path.realpath(cwd)), ".git", notices)
    return None if found is None else os.path.dirname(found)


def holds(place: str, name: str, looked: Looked | None = None) -> bool:
    """Tell whether there is a ``name`` in the directory ``place`` that is not another user's."""
    return _first(iter((place,)), name, [], looked) is not None


def near(cwd: str, roots: Sequence[Root]) -> list[bool]:
    """Tell of each root whether it belongs to the project that a person in ``cwd`` stands in.

    It lies in the repository or the directory of the project's file, or ``cwd`` lies in it.
    """
    here = os.path.realpath(cwd)
    places = []
    for name in (".git", PROJECT_FILE):
        found = _first(upwards(here), name, [])
        if found is not None:
            places.append(os.path.dirname(found))
    return [
        is_inside(here, root.path) or any(is_inside(root.path, place) for place in places)
        for root in roots
    ]


def is_inside(path: str, directory: str) -> bool:
    """Return whether ``path`` is ``directory`` or lies in it; both absolute, without symlinks."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def main_worktree(directory: str, looked: Looked | None = None) -> str | None:
    """Return the main worktree of the linked worktree whose top is ``directory``, or None.

    git's records have to agree in both directions: ``.git`` names the worktree's entry, which
    lies where git keeps such entries and names ``.git`` in turn. So a directory can't make itself
    a part of a repository that doesn't know it.
    """
    link = os.path.join(directory, ".git")
    target = _line_of(link, looked)
    if target is None or not target.startswith("gitdir:"):
        return None
    entry = _real(os.path.join(directory, target.removeprefix("gitdir:").strip()), looked)
    back = _line_of(os.path.join(entry, "gitdir"), looked)
    common = _line_of(f"{entry}/commondir", looked)
    if not back or not common:
        return None
    common = _real(os.path.join(entry, common), looked)
    names_us = _real(os.path.join(entry, back), looked) == _real(link, looked)
    # A bare repository has no main worktree, and the directory around it is not one.
    if not names_us or os.path.dirname(entry) != f"{common}/worktrees":
        return None
    return os.path.dirname(common) if os.path.basename(common) == ".git" else None


def _places(directory: str, looked: Looked | None) -> Iterator[str]:
    mains = []
    for place in upwards(directory):
        yield place
        main = main_worktree(place, looked)
        if main is not None:
            mains.append(main)
            yield main
    for main in mains:
        yield from upwards(os.path.dirname(main))


def upwards(directory: str) -> Iterator[str]:
    """Return a directory and those above it, the nearest first."""
    yield directory
    while (parent := os.path.dirname(directory)) != directory:
        directory = parent
        yield directory


def _first(
    places: Iterator[str], name: str, notices: list[Notice], looked: Looked | None = None
) -> str | None:
    seen = set()
    for place in places:
        path = os.path.join(place, name)
        if path in seen:
            continue
        seen.add(path)
        if looked:
            looked.entry(path)
            looked.file(path)
        try:
            owners = {os.lstat(path).st_uid, *_owner_of_target(path)}
        except OSError:
            # Nothing there, or a parent that can't be looked into: nothing to be found either way.
            continue
        strangers = owners - {os.geteuid(), 0}
        if not strangers:
            return path
        from recall.notice import Notice  # hardly ever

        notices.append(
            Notice(
                f"{path} is ignored: it belongs to another user (uid {min(strangers)})",
                "use a copy of your own, or name directories with --root",
            )
        )
    return None


def _owner_of_target(path: str) -> tuple[int, ...]:
    try:
        return (os.stat(path).st_uid,)
    except OSError:
        return ()  # a link that leads nowhere: its reader says so


def _real(path: str, looked: Looked | None) -> str:
    if looked:
        looked.real(path)
    return os.path.realpath(path)


def _line_of(path: str, looked: Looked | None) -> str | None:
    if looked:
        looked.file(path)
    try:
        line = os.fsdecode(read_small(path, _MAX_LINK_BYTES)).rstrip("\r\n")
    except (FileNotFoundError, Unreadable):
        return None
    return None if "\0" in line else line
