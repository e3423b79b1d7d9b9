"""How much two texts say the same in the same words: resemblance and containment of shingles. Pure.

A shingle is two terms that follow each other, as the analyzer makes them, so that it works for
scripts without blanks, and whatever the case and the form of a word. Both measures are A. Broder's,
*On the resemblance and containment of documents* (1997): of two sets the share of what they have in
common in what they have at all, and in the first of them.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.analyze import Analyzer

    Shingles = frozenset[tuple[str, ...]]

RESEMBLES = 0.8
CONTAINS = 0.9
LEAST = 8  # shingles of a text that another one may contain; fewer stand in many a note


def shingles(text: str, analyzer: Analyzer) -> Shingles:
    """Return the pairs of terms of a text; its one term, or the text, where there are none."""
    terms = analyzer.terms(text)
    return frozenset(pairwise(terms)) or frozenset({tuple(terms) or (text.strip(),)})


def is_near(new: Shingles, old: Shingles) -> bool:
    """Tell whether a new text is, nearly, one that is there or a part of it."""
    common = len(new & old)
    if not common:
        return False
    if common >= RESEMBLES * len(new | old):
        return True
    return len(new) >= LEAST and common >= CONTAINS * len(new)
