"""The files that tell git what to ignore, without git: which they are, and what they might mean.

Asking git takes 10 ms, which a prompt has not. So nothing here decides that git ignores a file;
it only says of some that git can't.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from index_cache.files import FileSystem

NAME = b".gitignore"
_LIMIT = 1024 * 1024  # bytes of an ignore file that are read


def outside(
    root: bytes, top: bytes, environ: Mapping[bytes, bytes], person: bytes | None
) -> list[bytes]:
    """Return the paths of the ignore files of a root that its own walk does not meet.

    ``top`` is the repository's directory, ``person`` what git says of ``core.excludesFile``, None
    for its default.
    """
    paths = []
    directory = root
    while directory != top and len(directory) > len(top):
        directory = os.path.dirname(directory)
        paths.append(os.path.join(directory, NAME))
    common = _common(os.path.join(top, b".git"))
    if common:
        paths.append(os.path.join(common, b"info", b"exclude"))
    home = environ.get(b"HOME", b"")
    if person is None:
        # https://git-scm.com/docs/gitignore: the default of core.excludesFile
        config = environ.get(b"XDG_CONFIG_HOME") or (home and os.path.join(home, b".config"))
        person = config and os.path.join(config, b"git", b"ignore")
    if person and os.path.isabs(person):
        paths.append(os.path.realpath(person))  # kept among dotfiles, it is often a symlink
    return paths


def _common(git: bytes) -> bytes | None:
    """Return the directory that a repository's worktrees share, None if it can't be told."""
    if os.path.isdir(git):
        return git
    # https://git-scm.com/docs/gitrepository-layout: a file "gitdir: PATH" in worktrees, submodules
    said = _line(git)
    if not said.startswith(b"gitdir:"):
        return None
    directory = os.path.join(os.path.dirname(git), said[7:].strip())
    return os.path.join(directory, _line(os.path.join(directory, b"commondir")))


def _line(path: bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096).strip()
    except OSError:
        return b""


def patterns(fs: FileSystem, paths: Iterable[bytes]) -> list[bytes] | None:
    """Return the last names of the patterns in some ignore files; None if any might mean anything.

    A pattern can only match a path one of whose names its last name matches.
    """
    found = []
    for path in paths:
        try:
            _, data = fs.read(path, _LIMIT)
        except OSError:
            return None
        if len(data) == _LIMIT:
            return None
        for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
            name = line.rstrip().rstrip(b"/").rpartition(b"/")[2].lower()
            # What is only re-included, or a comment, ignores nothing.
            if not line.strip() or line.startswith((b"#", b"!")):
                continue
            if not name.strip(b"*") or b"\\" in name or b"[" in name:
                return None
            found.append(name)
    return found


def might_ignore(names: Iterable[bytes], path: bytes) -> bool:
    """Tell whether a pattern that ends in one of ``names`` might match a path or what it is in.

    Case does not count, as on some systems it does not for git.
    """
    parts = path.lower().split(b"/")
    return any(_matches(name, part) for name in names for part in parts)


def _matches(glob: bytes, name: bytes) -> bool:
    """Tell whether a name matches a glob of ``*`` and ``?`` alone."""
    if b"?" in glob:
        return True  # rare: bytes and characters need not be counted
    first, *rest = glob.split(b"*")
    if not rest:
        return glob == name
    if not name.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        at = name.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])


def deciding(ignores: Iterable[bytes], directory: bytes) -> Iterator[bytes]:
    """Yield those of some ignore files that may say something of what is in a directory."""
    for path in ignores:
        above, name = os.path.split(path)
        if name != NAME or (directory + b"/").startswith(os.path.join(above, b"")):
            yield path
