"""How a JSON text is laid out, so that what is put into it looks as if it had been there; pure."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.jsonedit import Document, Element, Path

NEWLINE = re.compile(r"\r\n|\n|\r")


class Style:
    """How a text is laid out: the end of its lines, its indentation, what follows , and :."""

    def __init__(self, document: Document) -> None:
        text = document.text
        newline = NEWLINE.search(text)
        self.newline = newline[0] if newline else "\n"
        self.unit = "  "
        root = document.element(())
        members = [] if document.is_empty else document.elements(root)
        self.is_flat = bool(members) and not NEWLINE.search(text, root.start, root.end)
        base = line_indent(text, root.start) or ""
        for member in () if self.is_flat else members:
            margin = line_indent(text, member.first)
            if margin is not None and margin.startswith(base) and margin != base:
                self.unit = margin[len(base) :]
                break
        tight = _is_tight('":', document.blank)
        self.colon = ":" if tight else ": "
        self.comma = "," if tight or _is_tight(",", document.blank) else ", "

    def dumped(self, value: object, margin: str | None) -> str:
        """Return ``value`` as text; ``margin`` is its indentation, None for all on one line."""
        flat = margin is None
        text = json.dumps(
            value,
            ensure_ascii=False,
            indent=None if flat else self.unit,
            separators=(self.comma if flat else ",", self.colon),
        )
        return text if flat else text.replace("\n", f"{self.newline}{margin}")


def _is_tight(mark: str, text: str) -> bool:
    """Return whether nothing follows a mark on its line but the next thing, wherever it stands."""
    return bool(re.search(rf"{mark}[^\s]", text)) and not re.search(rf"{mark}[ \t]", text)


def line_indent(text: str, at: int) -> str | None:
    """Return the white space before what begins its line at ``at``, None if it does not."""
    begin = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    margin = text[begin:at]
    return margin if not margin.strip(" \t") else None


def line_start(text: str, element: Element) -> int:
    """Return where the first thing on the line of an element is."""
    begin = max(text.rfind("\n", 0, element.first), text.rfind("\r", 0, element.first)) + 1
    return begin + len(text[begin:]) - len(text[begin:].lstrip(" \t"))


def margin_in(document: Document, style: Style, path: Path, elements: Sequence[Element]) -> str:
    """Return how far what is put into the container at ``path`` is indented."""
    if elements:
        margin = line_indent(document.text, elements[-1].first)
        if margin is not None:
            return margin
    place = line_start(document.text, document.element(path))
    return (line_indent(document.text, place) or "") + style.unit
