"""Include and exclude globs of a root. See ``spec/canonical-view.md`` for what they mean."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_TOKEN = re.compile(r"/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|\[!?[^]/]+\]|[^*?[]+|\[")
_REGEX = {
    "/**/": "/(?:.*/)?",
    "**/": "(?:.*/)?",
    "/**": "/.*",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
    "[": r"\[",
}


class Globs:
    """Paths (relative, ``/`` between the parts) that match at least one of some globs."""

    def __init__(self, globs: Iterable[str]) -> None:
        self._globs = tuple(globs)
        self._regex = re.compile("|".join(map(to_regex, self._globs)) or r"(?!)", re.DOTALL)

    def __bool__(self) -> bool:
        return bool(self._globs)

    def match(self, path: bytes) -> bool:
        """Tell whether a file, or a directory above it, is named by one of the globs."""
        return bool(self._regex.fullmatch(path.decode("utf-8", "surrogateescape")))

    def spells(self, directory: bytes) -> bool:
        """Tell whether a glob spells this directory out, up to the directory's own name."""
        path = directory.decode("utf-8", "surrogateescape").strip("/")
        return any(
            f"/{glob}/".startswith(f"/{path}/") or f"/{path}/" in f"/{glob}/"
            for glob in (each.strip("/") for each in self._globs)
        )


def to_regex(glob: str) -> str:
    """Return the regular expression of one glob; it also matches all that lies below a match."""
    anchored = "/" in glob.rstrip("/")
    tokens = _TOKEN.findall(glob.strip("/"))
    body = "".join(_one(token) for token in tokens)
    return f"{'' if anchored else '(?:.*/)?'}{body}(?:/.*)?"


def _one(token: str) -> str:
    if token in _REGEX:
        return _REGEX[token]
    if token.startswith("["):
        inside = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
    return re.escape(token)
