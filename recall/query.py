"""A prompt to the terms that are searched for: pure. See ``spec/query-and-ranking.md``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from index_cache.search import Statistics

MAX_LOOKED_UP = 1_000
MAX_TERMS = 32


def to_look_up(terms: Iterable[str]) -> list[str]:
    """Return the different terms of a prompt whose frequency is worth asking for.

    Of more than MAX_LOOKED_UP the longest are taken, wherever they stand: long words are rare.
    """
    different = list(dict.fromkeys(terms))
    if len(different) > MAX_LOOKED_UP:
        different = sorted(different, key=len, reverse=True)[:MAX_LOOKED_UP]
    return different


def choose(terms: Iterable[str], known: Statistics) -> list[str]:
    """Return the terms to search for: those that the corpus has, the rarest first.

    More than MAX_TERMS tell nothing more and cost time; a term that more than half of the
    documents have tells nothing (its weight is FTS5's floor) unless there is no other.
    """
    found = sorted(
        (term for term in terms if known.frequency.get(term)),
        key=lambda term: (known.frequency[term], term),
    )
    telling = [term for term in found if 2 * known.frequency[term] <= known.documents]
    return (telling or found)[:MAX_TERMS]
