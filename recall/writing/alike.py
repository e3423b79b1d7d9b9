"""How much two texts say the same in the same words: resemblance and containment of shingles. Pure.

A shingle is two terms that follow each other, as the analyzer makes them, so that it works for
scripts without blanks, and whatever the case and the form of a word. Both measures are A. Broder's,
*On the resemblance and containment of documents* (1997): of two sets the share of what they have in
common in what they have at all, and in the first of them.
"""

from __future__ import annotations

import re
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.analyze import Analyzer

    Shingles = frozenset[tuple[str, ...]]

_HEADING = re.compile(r"(?m)^#{1,6} .*$")
RESEMBLES = 0.8
CONTAINS = 0.9
LEAST = 8  # shingles of a text that another one may contain; fewer stand in many a note


def shingles(text: str, analyzer: Analyzer) -> Shingles:
    """Return the pairs of terms of a text; its one term, or the text, where there are none."""
    terms = analyzer.terms(text)
    return frozenset(pairwise(terms)) or frozenset({tuple(terms) or (text.strip(),)})


def says(new: str, body: str, analyzer: Analyzer) -> bool:
    """Tell whether a note's body, or a section of it, is nearly a new text, or contains it."""
    wanted = shingles(new, analyzer)
    sections = [shingles(each, analyzer) for each in _HEADING.split(body)]
    whole = shingles(body, analyzer)
    if any(_resembles(wanted, each) for each in (whole, *sections)):
        return True
    return len(wanted) >= LEAST and len(wanted & whole) >= CONTAINS * len(wanted)


def _resembles(one: Shingles, other: Shingles) -> bool:
    return len(one & other) >= RESEMBLES * len(one | other)
