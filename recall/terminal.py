"""Text where people read it: how it may look there, and cards as a list. See ``look_at``."""

from __future__ import annotations

from recall.card import BETWEEN, INDENT, QUOTE, lines, path_of, tier_and_date

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

    from recall.card import Card, Line
    from recall.marks import Mark, Marker

    # A line as it is shown: role, text, marks.
    Shown = tuple[str, str, Sequence[Mark]]

_MIN_WIDTH = 16
_DEFAULT_WIDTH = 80
# Room for the line that says what was left out.
_REST_BYTES = 64


class Look:
    """How text may look where it goes.

    ``width`` in cells (None: never fold), ``colour``, and ``links``, which need colour.
    """

    __slots__ = ("colour", "links", "width")

    STYLES = {"title": "1", "meta": "2", "stale": "33", "note": "2"}  # noqa: RUF012 - constant
    MATCH = "4"  # of a word of the question, beside its role's

    def __init__(
        self, width: int | None = None, *, colour: bool = False, links: bool = False
    ) -> None:
        self.width = width
        self.colour = colour
        self.links = links and colour

    def paint(self, role: str, text: str, marks: Sequence[Mark] = ()) -> str:
        """Return ``text`` in the colours of ``role`` and with its ``marks``, or as it is."""
        code = self.STYLES.get(role)
        if marks and self.colour:
            from recall.marks import painted

            return painted(text, marks, code or "", self.MATCH)
        if not (self.colour and code):
            return text
        return f"\x1b[{code}m{text}\x1b[0m"

    def fold(self, text: str, indent: str) -> list[str]:
        """Return ``text`` in lines no wider than the terminal, each after the first indented.

        Without this a terminal would wrap at its edge, and what a note says could begin a line.
        """
        if self.width is None or len(text) * 2 <= self.width:
            return [text]
        return _fold(text, indent, max(_MIN_WIDTH, self.width))


def _fold(text: str, indent: str, width: int) -> list[str]:
    from unicodedata import combining, east_asian_width

    def cells(char: str) -> int:
        return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1

    lines: list[str] = []
    while True:
        used, space = 0, 0
        for at, char in enumerate(text):
            used += cells(char)
            if used > width:
                break
            # A break this early would leave a number or nothing alone on its line.
            if char == " " and at > len(indent):
                space = at
        else:
            return [*lines, text]
        end = space or at
        lines.append(text[:end])
        text = indent + text[end:].lstrip(" ")


def look_at(stream: TextIO, environ: Mapping[str, str]) -> Look:
    """Return how to write to ``stream``: folded and coloured only where a person sees it.

    ``NO_COLOR`` (not empty) and ``TERM=dumb`` switch colour off, as their conventions say. There
    are links where there is colour, but on Linux's own console, which would show nothing of them.
    """
    import os

    if not is_terminal(stream):
        return Look()
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        width = 0
    term = environ.get("TERM", "dumb")
    colour = not environ.get("NO_COLOR") and term != "dumb"
    return Look(width or _DEFAULT_WIDTH, colour=colour, links=term != "linux")


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a person reads or types at ``stream``; a closed or absent one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def as_text(
    cards: Sequence[Card],
    total: int,
    budget: int,
    *,
    base: str | None = None,
    look: Look | None = None,
    marker: Marker | None = None,
) -> str:
    """Return the cards as a numbered list of at most ``budget`` bytes, colours not counted.

    Cards are shown best first and whole; the first that does not fit, even without its summary,
    ends the list. A last line says how many of the ``total`` hits are not shown and what shows
    them. Paths below ``base`` (the working directory) are relative to it. No cards: no text.
    ``marker`` finds the words of the question, and what to link, where ``look`` shows such.

    The number, the tier and the path are ours and begin their lines; what a note says comes after
    them or on a line of its own, so no title can pass for another card or another tier.
    """
    look = look or Look()
    blocks: list[list[Shown]] = []
    used, shown = 0, 0
    for card in cards:
        room = budget - used - (_REST_BYTES if shown + 1 < total else 0)
        block = _folded(lines(card, shown + 1, base), look, card, base, marker)
        if _bytes(block) > room:
            block = [line for line in block if line[0] not in {"summary", "explain"}]
        if _bytes(block) > room:
            break
        blocks.append(block)
        used += _bytes(block)
        shown += 1
    rest: list[Shown] = []
    if cards and total > shown:
        rest.append(("note", _rest(total, len(cards), shown), ()))
    if used + _bytes(rest) <= budget:
        blocks.append(rest)
    return "".join(look.paint(*line) + "\n" for block in blocks for line in block)


def _folded(
    made: Sequence[Line], look: Look, card: Card, base: str | None, marker: Marker | None
) -> list[Shown]:
    """Return the lines as they fit the terminal, each with what is to be marked in it."""
    shown: list[Shown] = []
    for role, text in made:
        parts = look.fold(text, INDENT * 2)
        marks = _marks(role, text, card, base, look, marker) if marker and look.colour else []
        if marks:
            from recall.marks import along

            shown += [
                (role, part, each)
                for part, each in zip(parts, along(parts, text, marks), strict=True)
            ]
        else:
            shown += [(role, part, ()) for part in parts]
    return shown


def _marks(
    role: str, text: str, card: Card, base: str | None, look: Look, marker: Marker
) -> list[Mark]:
    if role == "title":
        return marker.words(text, text.index(" ") + 1)  # after the number, which is ours
    if role == "summary":
        return marker.words(text, len(INDENT + QUOTE))
    if role == "meta" and look.links:
        before = "".join(fact + BETWEEN for fact in tier_and_date(card))
        return marker.link(len(INDENT + before), path_of(card, base), card.abs_path)
    return []


def _rest(total: int, found: int, shown: int) -> str:
    options = [name for name, cut in (("--budget", shown < found), ("-k", found < total)) if cut]
    return f"{total - shown:,} more: raise {' or '.join(options)}"


def _bytes(block: Sequence[Shown]) -> int:
    return sum(len(text.encode()) + 1 for _, text, _ in block)
