"""A note's body as blocks of plain text with their line numbers, from a real Markdown parser.

Link targets, images, HTML and comments are no text. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

from index_cache.markdown import text_of
from index_cache.model import HEADING, LINE, PROSE
from index_cache.pulldown import OPTIONS, events_with_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_KINDS = {
    "Paragraph": PROSE,
    "Item": PROSE,
    "Heading": HEADING,
    "TableHead": LINE,
    "TableRow": LINE,
    "CodeBlock": LINE,
    "HtmlBlock": None,
}


class Block:
    """One block: its kind, and its lines as (1-based line number, plain text)."""

    __slots__ = ("kind", "lines")

    def __init__(self, kind: str, lines: list[tuple[int, str]]) -> None:
        self.kind = kind
        self.lines = lines


def blocks(body: str) -> Iterator[Block]:
    """Yield the blocks of a note's body in order; none is empty."""
    return _Blocks(body).walk()


class _Blocks:
    """One walk over the parser's events, which carry ranges of UTF-8 bytes."""

    def __init__(self, body: str) -> None:
        self._body = body
        self._source = body.encode()
        self._kind: str | None = PROSE
        self._lines: dict[int, list[str]] = {}
        self._images = 0
        self._line = 1
        self._counted = 0

    def walk(self) -> Iterator[Block]:
        events: Iterator[tuple[Any, Any]] = events_with_range(self._body, options=OPTIONS)
        for event, span in events:
            if not isinstance(event, dict):
                self._add(self._at(span["start"]), " ")  # a soft or a hard break
                continue
            for edge in ("Start", "End"):
                if edge in event:
                    name = event[edge]
                    name = name if isinstance(name, str) else next(iter(name))
                    if name in _KINDS:
                        yield from self._take()
                        self._kind = _KINDS[name] if edge == "Start" else PROSE
                    self._images += (name == "Image") * (1 if edge == "Start" else -1)
                    if edge == "End" and name == "TableCell":
                        self._add(self._line, " ")
                    break
            else:
                self._text(event, span["start"])
        yield from self._take()

    def _text(self, event: dict[str, object], start: int) -> None:
        if self._kind is not None and not self._images:
            first = self._at(start)
            for number, text in enumerate(text_of(event).split("\n"), first):
                self._add(number, text)

    def _add(self, line: int, text: str) -> None:
        self._lines.setdefault(line, []).append(text)

    def _at(self, offset: int) -> int:
        """Return the line of a byte that is not before the last one asked for."""
        if offset > self._counted:
            self._line += self._source.count(b"\n", self._counted, offset)
            self._counted = offset
        return self._line

    def _take(self) -> Iterator[Block]:
        """Yield what was gathered since the last block's edge."""
        joined = [
            (number, " ".join("".join(parts).split())) for number, parts in self._lines.items()
        ]
        lines = [(number, text) for number, text in joined if text]
        self._lines = {}
        if self._kind == LINE:
            for each in lines:
                yield Block(LINE, [each])
        elif lines and self._kind is not None:
            yield Block(self._kind, lines)
