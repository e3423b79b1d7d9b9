"""The one line of a note that a card shows: its description, else the line that answers best.

Pure. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from index_cache.analyze import Analyzer

# A card needs one good line, not the best of a book.
MAX_BODY = 256 * 1024  # characters of the body that are looked at
_LONGEST = 240  # characters; a longer line is taken apart at its sentences

_SENTENCE = re.compile(r"(?<=[.!?;。！？；।])\s*(?=\S)")
_FENCE = re.compile(r"\s*(```|~~~)")
_LEADING_MARKUP = re.compile(r"^\s*(?:>\s?|[-*+]\s+|\d+[.)]\s+|#{1,6}\s+|\|\s*)*(?:\[[ xX]\]\s+)?")


def best_line(
    body: str, weights: Mapping[str, float], analyzer: Analyzer
) -> tuple[str, int] | None:
    """Return the line of ``body`` that has the rarest terms of the query, and its number there.

    ``weights`` maps the query's terms to their idf. Of lines with the same terms the first one
    counts; None when no line has any. Headings answer only if nothing else does, since a card
    names the section anyway.
    """
    best: tuple[float, int, str] | None = None
    for number, piece in _pieces(body[:MAX_BODY]):
        matched = {term for term in analyzer.terms(piece) if term in weights}
        if not matched:
            continue
        score = sum(weights[term] for term in matched)
        if piece.lstrip().startswith("#"):
            score /= len(weights) + 1
        if best is None or score > best[0] * (1 + 1e-9):
            best = (score, number, piece)
    return (clean(best[2]), best[1]) if best else None


def _pieces(body: str) -> Iterator[tuple[int, str]]:
    """Yield a body's lines, long ones by sentence, each with its 1-based line number."""
    for number, line in enumerate(body.splitlines(), 1):
        if not line or line.isspace() or _FENCE.match(line):
            continue
        if len(line) <= _LONGEST:
            yield number, line
        else:
            for sentence in _SENTENCE.split(line):
                for at in range(0, len(sentence), _LONGEST):
                    yield number, sentence[at : at + _LONGEST]


def clean(line: str) -> str:
    """Return a line of Markdown as plain text: no bullet, quote mark, emphasis or link target."""
    from index_cache.markdown import plain

    return plain(_LEADING_MARKUP.sub("", line, count=1).rstrip(" |"))
