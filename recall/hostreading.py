"""Whether a host reads a settings file as it stands; pure.

We take comments and trailing commas as people write them. Not every host does, and one that does
not tells nobody: it goes on without the file, or does not start.
"""

from __future__ import annotations

from recall.jsonedit import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hostfiles import HostFiles
    from recall.jsonedit import Document

COMMENT, COMMA, MARK, EMPTY = "comment", "comma", "mark", "empty"


class Complaint:
    """What a host minds in ``line`` (from 1) of its settings, and what to do about it."""

    __slots__ = ("hint", "line", "message")

    def __init__(self, message: str, line: int, hint: str) -> None:
        self.message = message
        self.line = line
        self.hint = hint


def complaints(host: HostFiles, document: Document, *, mark: bool) -> list[Complaint]:
    """Return what ``host`` minds in its settings; ``mark`` says that they begin with a BOM."""
    found: list[tuple[str, int, str]] = []
    text = document.text
    if mark and MARK in host.minds:
        found.append(("a byte order mark", 1, "save it as UTF-8 without one"))
    if document.is_empty and EMPTY in host.minds:
        found.append(("nothing but blanks and comments", 1, "write {} into it, or delete it"))
    if document.comments and COMMENT in host.minds:
        line = line_of(text, min(document.comments)[0])
        found.append((_all("a comment", len(document.comments)), line, "take comments out"))
    if document.trailing and COMMA in host.minds:
        line = line_of(text, min(document.trailing))
        what = _all("a comma behind the last element", len(document.trailing))
        found.append((what, line, "take such commas out"))
    members = document.value if isinstance(document.value, dict) else {}
    for key in members if host.keys is not None else ():
        if key not in (host.keys or ()):
            line = line_of(text, document.element((key,)).first)
            known = " and ".join(f'"{each}"' for each in host.keys or ())
            found.append((f'the key "{key}"', line, f"leave only {known} at the top"))
    return [
        Complaint(
            f"{host.title} {host.then}: it has {what} in line {line}",
            line,
            f"{hint}, in an editor; recall leaves it as it is",
        )
        for what, line, hint in found
    ]


def _all(what: str, count: int) -> str:
    return what if count == 1 else f"{what} (one of {count:,})"
