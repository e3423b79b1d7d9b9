"""Include and exclude globs of a root. See ``spec/canonical-view.md`` for what they mean.

A glob may come from a stranger's repository, so none may be wrong and none may be slow: what
follows a ``*`` is looked for once, in an atomic group, and never again further right. That is
enough, since the first place where the next fixed piece fits leaves most for the rest.
"""

from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_TOKEN = re.compile(r"\*+|\?|\[!?[^]/]+\]|[^*?[]+|\[")
_ALWAYS = r"(?=)"
_NEVER = r"(?!)"
_END = r"(?=/|\Z)"


class Globs:
    """Paths (relative, ``/`` between the parts) that match at least one of some globs."""

    def __init__(self, globs: Iterable[str]) -> None:
        # Sync tools and macOS spell one name in two ways; a rule must not depend on that.
        self._globs = tuple(unicodedata.normalize("NFC", glob) for glob in globs)
        self._matches = _any_of(map(to_regex, self._globs))
        self._spells = _any_of(part for glob in self._globs for part in _spelt(glob))
        self._reaches = _any_of(part for glob in self._globs for part in _above(glob))

    def __bool__(self) -> bool:
        return bool(self._globs)

    def match(self, path: bytes) -> bool:
        """Tell whether a file, or a directory above it, is named by one of the globs."""
        return bool(self._matches.match(_text(path)))

    def spells(self, directory: bytes) -> bool:
        """Tell whether a glob spells this directory out, up to the directory's own name."""
        return bool(self._spells.match(_text(directory).rstrip("/")))

    def reaches(self, directory: bytes) -> bool:
        """Tell whether anything below this directory may match one of the globs."""
        path = _text(directory).rstrip("/")
        return bool(self._reaches.match(path)) or bool(self._matches.match(path))


def _text(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _any_of(regexes: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(regexes) or _NEVER, re.DOTALL)


def to_regex(glob: str) -> str:
    """Return the regular expression of one glob; it also matches all that lies below a match."""
    return _joined(_parts(glob), _END)


def _parts(glob: str) -> list[str]:
    """Return a glob's names; ``**`` stands before one that matches at any depth."""
    parts: list[str] = [] if "/" in glob.rstrip("/") else ["**"]
    for part in filter(None, glob.split("/")):
        if part.strip("*") and part.startswith("**"):
            parts += ["**", part[1:]]
        else:
            parts.append("**" if len(part) > 1 and not part.strip("*") else part)
    return parts if glob.strip("/") else []


def _spelt(glob: str) -> Iterator[str]:
    """Yield, for each name in a glob that has no wildcard, the expression of the glob up to it."""
    parts = _parts(glob)
    for end, name in enumerate(parts, 1):
        if not set(name) & set("*?["):
            yield _joined(parts[:end], r"\Z")


def _above(glob: str) -> Iterator[str]:
    """Yield expressions of the directories below which a glob may match something."""
    parts = _parts(glob)
    for end, name in enumerate(parts):
        if name == "**":
            yield _joined(parts[:end], _END) if end else _ALWAYS
            return
        if end:
            yield _joined(parts[:end], r"\Z")


def _joined(parts: list[str], end: str) -> str:
    """Return the expression of several names, with slashes between and ``end`` behind."""
    out = ""
    run: list[str] = []
    deep = False
    for part in parts:
        if part != "**":
            run.append(_name(part))
            continue
        if run:
            out += _run(run, deep=deep, atomic=True) + "/"
            run = []
        deep = True
    if run:
        return out + _run(run, deep=deep, atomic=False) + end
    # At the end ``**`` means all that is below, and not the directory itself.
    return out + "." if deep else _NEVER


def _run(names: list[str], *, deep: bool, atomic: bool) -> str:
    """Return the expression of names that follow one another, ``deep`` at any depth."""
    joined = "/".join(names)
    if not deep:
        return joined
    return f"(?>(?:[^/]+/)*?{joined}{_END})" if atomic else f"(?:[^/]+/)*?{joined}"


def _name(glob: str) -> str:
    """Return the expression of one name without slashes."""
    pieces = [""]
    for token in _TOKEN.findall(glob):
        if token.startswith("*"):
            pieces.append("")
        else:
            pieces[-1] += _one(token)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"[^/]*{last}{_END}"


def _one(piece: str) -> str:
    if piece == "?":
        return "[^/]"
    if not piece.startswith("[") or piece == "[":
        return re.escape(piece)
    inside = piece[1:-1]
    negated = inside.startswith("!")
    members = [_member(part) for part in re.findall(r".-.|.", inside[negated:], re.DOTALL)]
    return f"[^/{''.join(members)}]" if negated else f"[{''.join(members)}]"


def _member(part: str) -> str:
    """Return one character or range of a class, a backwards range as its three characters."""
    if len(part) == 1 or part[0] > part[2]:
        return re.escape(part)
    return f"{re.escape(part[0])}-{re.escape(part[2])}"
