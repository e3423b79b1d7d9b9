"""The one line of a note that a card shows: its description, else the sentence that answers best.

Pure, and in linear time: it runs for every card of every search. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

from index_cache.model import HEADING, LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from index_cache.analyze import Analyzer
    from index_cache.blocks import Block
    from index_cache.model import Term

# A card needs one good line, not the best of a book.
MAX_BODY = 256 * 1024  # characters of the body that are looked at
LONGEST = 240  # characters of one piece; a longer sentence is taken apart between words
_LINE_COST = 1e-6  # a row or code loses to a sentence that says as much, and to no other

# Where a sentence may end: Latin ones before white space, those of Han and Devanagari anywhere.
_LATIN_ENDS, _AFTER_LATIN = ".!?…", "\"')]”’»"
_OTHER_ENDS, _AFTER_OTHERS = "。！？।", '"”’」』）》'
_SHORT_WORD = 2  # letters of an abbreviation such as "Dr." or "No."


class Line:
    """The piece of a body that answers best: its text, its 1-based line, and its section."""

    __slots__ = ("number", "section", "text")

    def __init__(self, text: str, number: int, section: str | None) -> None:
        self.text = text
        self.number = number
        self.section = section


def best_line(body: str, weights: Mapping[Term, float], analyzer: Analyzer) -> Line | None:
    """Return the piece of ``body`` that has the rarest terms of the query.

    A piece is a sentence, a heading, or a line of code or of a table. ``weights`` maps the query's
    terms to their idf. Of pieces with the same terms a sentence counts first, then the first one;
    None when no piece has any. Headings answer only if nothing else does, since a card names the
    section anyway.
    """
    from index_cache.blocks import blocks

    known = {form: term for term in weights for form in term.forms}

    best: Line | None = None
    most = 0.0
    section: str | None = None
    for block in blocks(body[:MAX_BODY]):
        if block.kind == HEADING:
            section = " ".join(text for _, text in block.lines)
        for number, piece in pieces(block):
            matched = {known[form] for form in analyzer.terms(piece) if form in known}
            score = sum(weights[term] for term in matched)
            if block.kind == HEADING:
                score /= len(weights) + 1
            elif block.kind == LINE:
                score *= 1 - _LINE_COST
            if score > most * (1 + 1e-9):
                best, most = Line(piece, number, section), score
    return best


def pieces(block: Block) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a block, each with the 1-based line it begins on.

    A line of code or a row of a table is one piece, if it is not too long.
    """
    starts: list[tuple[int, int]] = []  # of each line: where it begins in the text, its number
    length = 0
    for number, text in block.lines:
        starts.append((length, number))
        length += len(text) + 1
    whole = " ".join(text for _, text in block.lines)
    at = 0
    for begin, piece in _parts(whole, 0, length - 1) if block.kind == LINE else _sentences(whole):
        while at + 1 < len(starts) and starts[at + 1][0] <= begin:
            at += 1
        yield starts[at][1], piece


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a text, each with where it begins; none is longer than LONGEST."""
    begin = 0
    for mark, end in _stops(text):
        if end < len(text) and _ends(text, mark, end):
            yield from _parts(text, begin, end)
            begin = end
    yield from _parts(text, begin, len(text))


def _stops(text: str) -> Iterator[tuple[int, int]]:
    """Yield where a sentence may end: the place of its last mark, and where the next may begin."""
    places = []
    for mark in _LATIN_ENDS + _OTHER_ENDS:
        at = text.find(mark)
        while at >= 0:
            places.append(at)
            at = text.find(mark, at + 1)
    for at in sorted(places):
        latin = text[at] in _LATIN_ENDS
        end = _past(text, at + 1, _AFTER_LATIN if latin else _AFTER_OTHERS)
        if not latin or text[end : end + 1].isspace():
            yield at, _past(text, end)


def _past(text: str, at: int, these: str | None = None) -> int:
    """Return where what follows ``these`` characters (None: white space) begins."""
    while at < len(text) and (text[at].isspace() if these is None else text[at] in these):
        at += 1
    return at


def _ends(text: str, mark: int, end: int) -> bool:
    """Tell whether a sentence ends where one may: not after "e.g." or "Dr."."""
    if text[mark] != ".":
        return not text[end].islower()
    word = text[max(0, mark - _SHORT_WORD - 1) : mark].rpartition(" ")[2]
    abbreviated = len(word) <= _SHORT_WORD and word[:1].isupper()
    return not abbreviated and not text[end].islower()


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    while end - begin > LONGEST:
        blank = text.rfind(" ", begin + LONGEST // 2, begin + LONGEST)
        cut = begin + LONGEST if blank < 0 else blank + 1
        yield begin, text[begin:cut].rstrip()
        begin = cut
    if begin < end:
        yield begin, text[begin:end].rstrip()
