"""The one line of a note that a card shows: its description, else the sentence that answers best.

Pure, in linear time and without a Markdown parser: it runs for every card of every search.
See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from index_cache.analyze import Analyzer

# A card needs one good line, not the best of a book.
MAX_BODY = 256 * 1024  # characters of the body that are looked at
LONGEST = 240  # characters of one piece; a longer sentence is taken apart between words

# What a piece is.
SENTENCE, HEADING, LINE = "sentence", "heading", "line"
_LINE_COST = 1e-6  # a row or code loses to a sentence that says as much, and to no other

_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*\Z")
_RULE = re.compile(r"\s*(?:(?:\*\s*){3,}|(?:_\s*){3,})\Z")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_QUOTE = re.compile(r"\s{0,3}>\s?")
_LEADING_MARKUP = re.compile(r"\s*(?:>\s?|[-*+]\s+|\d+[.)]\s+|#{1,6}\s+|\|\s*)*(?:\[[ xX]\]\s+)?")
# Where a sentence may end: Latin ones before white space, those of Han and Devanagari anywhere.
_END = re.compile(r"[.!?…][\"')\]”’»*_`]*\s+|[。！？।][\"”’」』）》]*\s*")
_SHORT_WORD = 2  # letters of an abbreviation such as "Dr." or "No."


def best_line(
    body: str, weights: Mapping[str, float], analyzer: Analyzer
) -> tuple[str, int] | None:
    """Return the piece of ``body`` that has the rarest terms of the query, and its line.

    A piece is a sentence, a heading, or a line of code or of a table. ``weights`` maps the query's
    terms to their idf. Of pieces with the same terms a sentence counts first, then the first one;
    None when no piece has any. Headings answer only if nothing else does, since a card names the
    section anyway.
    """
    best: tuple[float, int, str] | None = None
    for number, piece, kind in pieces(body[:MAX_BODY]):
        matched = {term for term in analyzer.terms(piece) if term in weights}
        if not matched:
            continue
        score = sum(weights[term] for term in matched)
        if kind == HEADING:
            score /= len(weights) + 1
        elif kind == LINE:
            score *= 1 - _LINE_COST
        if best is None or score > best[0] * (1 + 1e-9):
            best = (score, number, piece)
    return (clean(best[2]), best[1]) if best else None


def pieces(body: str) -> Iterator[tuple[int, str, str]]:
    """Yield a body's pieces, each with the 1-based line it begins on, and what it is.

    The lines of a paragraph or of a list's item are joined, and taken apart into sentences. Lines
    of a comment are passed over.
    """
    paragraph = _Paragraph()
    fence = ""
    comment = False
    for number, line in enumerate(body.split("\n"), 1):
        if comment or (not fence and line.lstrip().startswith("<!--")):
            comment = "-->" not in line
            continue
        mark = _FENCE.match(line)
        if mark and (not fence or mark[0].lstrip().startswith(fence)):
            yield from paragraph.take()
            fence = "" if fence else mark[0].lstrip()
        elif fence or not paragraph.takes(line):
            yield from paragraph.take()
            yield from _alone(number, line, code=bool(fence))
        elif _UNDERLINE.match(line):
            yield from paragraph.take(HEADING)
        else:
            if paragraph.begins_anew(line):
                yield from paragraph.take()
            paragraph.add(number, line)
    yield from paragraph.take()


def _alone(number: int, line: str, *, code: bool) -> Iterator[tuple[int, str, str]]:
    """Yield what a line is that joins with no other, in parts if it is long."""
    kind = HEADING if not code and _HEADING.match(line) else LINE
    for at in range(0, len(line), LONGEST):
        part = line[at : at + LONGEST]
        if not part.isspace():
            yield number, part, kind


class _Paragraph:
    """The lines of one paragraph, or of one item of a list, so far."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._starts: list[tuple[int, int]] = []  # of each line: where in the text, and its number
        self._length = 0
        self._quoted = False

    def takes(self, line: str) -> bool:
        """Tell whether a line is prose: no heading, rule, row of a table, code in indent, blank."""
        if not line or line.isspace() or _HEADING.match(line) or _RULE.match(line):
            return False
        if not self._lines and line.startswith(("    ", "\t")) and not _ITEM.match(line):
            return False
        return not line.lstrip().startswith("|")

    def begins_anew(self, line: str) -> bool:
        """Tell whether a line of prose begins another paragraph than this one."""
        quoted = bool(_QUOTE.match(line))
        return bool(_ITEM.match(line)) or (quoted and not self._quoted)

    def add(self, number: int, line: str) -> None:
        """Take a line in, without the quote mark or bullet in front of it."""
        quote = _QUOTE.match(line)
        self._quoted = bool(quote)
        markup = _LEADING_MARKUP.match(line) if quote or not self._lines else None
        text = line[markup.end() :].strip() if markup else line.strip()
        if text:
            self._starts.append((self._length, number))
            self._lines.append(text)
            self._length += len(text) + 1

    def take(self, kind: str = SENTENCE) -> Iterator[tuple[int, str, str]]:
        """Yield the pieces of the lines so far, and forget the lines."""
        starts, text = self._starts, " ".join(self._lines)
        self._lines, self._starts, self._length = [], [], 0
        at = 0
        for start, piece in _sentences(text):
            while at + 1 < len(starts) and starts[at + 1][0] <= start:
                at += 1
            yield starts[at][1], piece, kind


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a text, each with where it begins; none is longer than LONGEST."""
    begin = 0
    for end in _END.finditer(text):
        if end.end() < len(text) and _ends(text, end):
            yield from _parts(text, begin, end.end())
            begin = end.end()
    yield from _parts(text, begin, len(text))


def _ends(text: str, end: re.Match[str]) -> bool:
    """Tell whether a sentence ends where one may: not after "e.g." or "Dr."."""
    if text[end.start()] != ".":
        return not text[end.end()].islower()
    word = text[max(0, end.start() - _SHORT_WORD - 1) : end.start()].rpartition(" ")[2]
    abbreviated = len(word) <= _SHORT_WORD and word[:1].isupper()
    return not abbreviated and not text[end.end()].islower()


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    while end - begin > LONGEST:
        blank = text.rfind(" ", begin + LONGEST // 2, begin + LONGEST)
        cut = begin + LONGEST if blank < 0 else blank + 1
        yield begin, text[begin:cut].rstrip()
        begin = cut
    if begin < end:
        yield begin, text[begin:end].rstrip()


def clean(piece: str) -> str:
    """Return a piece of Markdown as plain text: no bullet, quote mark, emphasis or link target."""
    from index_cache.markdown import plain

    text = _LEADING_MARKUP.sub("", piece, count=1).rstrip(" |")
    if text.count("**") % 2:
        text = text.replace("**", "")  # the other half is in another sentence
    return plain(text)
