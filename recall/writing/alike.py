"""How much two texts say the same in the same words: resemblance and containment of shingles. Pure.

A shingle is two terms that follow each other, as the analyzer makes them, so that it works for
scripts without blanks, and whatever the case and the form of a word. Both measures are A. Broder's,
*On the resemblance and containment of documents* (1997): of two sets the share of what they have in
common in what they have at all, and in the first of them. Punctuation does not count. Another
number or negation makes another statement, however near the words are.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.analyze import Analyzer

    Shingles = frozenset[tuple[str, ...]]

_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
)
_HAN = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
_BETWEEN = re.compile(rf"(?<={_HAN})[^\w]+(?={_HAN})")  # punctuation, of scripts without blanks
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# What turns a statement round; a text that has one more or less corrects the other.
_NEGATION = re.compile(
    r"n['’]t\b|\b(?:not|no|never|none|nor|without|nicht|nie|niemals|ohne|kein\w{0,2}|pas|jamais|sans"
    r"|nunca|sin|não|nem|sem|non|mai|не|нет|без|никогда)\b|[不没沒未无無非]|ない|ません"
)
_HEADING = re.compile(r"(?m)^#{1,6} .*$")
RESEMBLES = 0.8
CONTAINS = 0.9
LEAST = 8  # shingles of a text that another one may contain; fewer stand in many a note


def shingles(text: str, analyzer: Analyzer) -> Shingles:
    """Return the pairs of terms of a text; its one term, or the text, where there are none."""
    plain = unicodedata.normalize("NFC", text).translate(_UMLAUTS)
    terms = analyzer.terms(_BETWEEN.sub("", plain))
    return frozenset(pairwise(terms)) or frozenset({tuple(terms) or (text.strip(),)})


def says(new: str, body: str, analyzer: Analyzer) -> bool:
    """Tell whether a note's body, or a section of it, is nearly a new text, or contains it."""
    wanted = shingles(new, analyzer)
    turns = _turns(new)
    parts = (body, *_HEADING.split(body))
    near = [turns == _turns(each) for each in parts if _resembles(wanted, shingles(each, analyzer))]
    if near:
        return any(near)
    whole = shingles(body, analyzer)
    numbers, negations = _turns(body)
    return (
        len(wanted) >= LEAST
        and len(wanted & whole) >= CONTAINS * len(wanted)
        and turns[0] <= numbers
        and turns[1] <= negations
    )


def _turns(text: str) -> tuple[frozenset[str], int]:
    """Return the numbers of a text, and how often it says no: what a correction changes."""
    low = text.lower()
    return frozenset(_NUMBER.findall(low)), len(_NEGATION.findall(low))


def _resembles(one: Shingles, other: Shingles) -> bool:
    return len(one & other) >= RESEMBLES * len(one | other)
