"""A prompt to the terms that are searched for: pure. See ``spec/query-and-ranking.md``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from index_cache.model import Term
    from index_cache.search import Statistics

MAX_LOOKED_UP = 4_000  # at 12 µs each
MAX_TERMS = 32
_HALF, _NEARLY_ALL = 0.5, 0.95  # of the documents

# English words that carry grammar, not a topic. A large corpus shows that by itself; in a small one
# their rarity is chance, and "how" in two notes of twenty would outweigh the topic.
FEW_DOCUMENTS = 1_000
FILLER = """
a about all also am an and any are as at be because been being both but by can could did do does
doing don each else few for from get gets getting had has have having he her here hers him his how
i if in into is isn it its itself just let ll me more most my no nor not now of on once only or
other our ours out over own please re s same she should so some such t than that the their theirs
them then there these they this those through to too up us ve very want was we were what when where
which while who whom why will with would you your yours
"""


def to_look_up(terms: Iterable[Term]) -> list[Term]:
    """Return the different terms of a prompt whose frequency is worth asking for.

    Of more than MAX_LOOKED_UP the longest plain words are taken, wherever they stand, then the
    longest identifiers, whose parts are words as well: long words are rare.
    """
    different = list(dict.fromkeys(terms))
    if len(different) > MAX_LOOKED_UP:
        different = sorted(different, key=lambda term: (term.isalpha(), len(term)), reverse=True)[
            :MAX_LOOKED_UP
        ]
    return different


def choose(
    terms: Iterable[Term], known: Statistics, filler: Container[str], *, common: bool = False
) -> list[Term]:
    """Return the terms to search for: those that the corpus has, the rarest first.

    More than MAX_TERMS tell nothing more and cost time. ``filler``, which there is among
    FEW_DOCUMENTS alone, counts only when there is nothing else, and so do terms that more than half
    of the documents have (their weight is FTS5's floor), with ``common`` more than 19 in 20.
    """
    found = sorted(
        (term for term in terms if known.frequency.get(term)),
        key=lambda term: (known.frequency[term], term),
    )
    topic = [term for term in found if term not in filler] or found
    most = (_NEARLY_ALL if common else _HALF) * known.documents
    telling = [term for term in topic if known.frequency[term] <= most]
    return (telling or topic)[:MAX_TERMS]


def rarest(phrase: Iterable[Term], known: Statistics, besides: Container[str]) -> list[Term]:
    """Return the rarest term of a phrase that the corpus has, alone; none if that is ``besides``.

    Any of its terms would do to find what has all of them: so does one that is searched for anyway.
    """
    found = [term for term in phrase if known.frequency.get(term)]
    if not found or any(term in besides for term in found):
        return []
    return [min(found, key=lambda term: (known.frequency[term], term))]
