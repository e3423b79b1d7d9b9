"""What speaks for a hit, feature by feature, and its score: pure.

The sum, and where its weights come from, are in ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import time

from index_cache import schema
from index_cache.search import SATURATED, norm
from recall import rank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from index_cache.model import Hit
    from recall.asked import Question

WINDOW = 200  # terms of a passage
_USUAL = 140  # terms, the length at which a passage's saturation is that of an average document

PASSAGE, TITLE, PRECISION, PATH, GRAMS = 0.5, 0.5, 6.0, 0.4, 0.25
# Of the idf of a word that no document has: what a word of a title counts that is not asked for.
# Its own idf is no better, and looking it up takes as long as all the rest.
UNSAID = 0.5
_LEAST_TITLE = 2.0  # idfs: a title of one common word is no exact answer


# Shares of that sum by which a note's standing moves it. None makes up for a better answer.
NEAR = 0.3
TIERS = {"machine-confirmed": 0.01, "human-reviewed": 0.02}
STALE = 0.25
SHARES = ("near", "tier", "recency", "stale")
_HALF_LIFE = 90 * 86_400.0  # seconds in which a note loses half of what it has for being new
# What is as true in three years as it was on the day it was written.
_EVERGREEN = """adr concept convention decision definition evergreen glossary guide policy principle
    reference runbook spec specification standard"""


def freshness(modified: str, type: str, now: float) -> float:
    """Return how new a note is: 1 now, half of it after 90 days, 1 for what does not age.

    ``modified`` is an ISO 8601 date or time, ``now`` in seconds since the epoch; what is no date is
    as old as can be.
    """
    if type.lower() in _EVERGREEN.split():
        return 1.0
    from index_cache.moments import local  # where recency counts at all

    then = local(modified)
    return 0.0 if then is None else 0.5 ** (max(0.0, now - then) / _HALF_LIFE)


def share(recency: float) -> float:
    """Return by what share of itself the score of a new note grows: never by two or more.

    ``recency`` is a weight, finite and not negative; up to 1 it is that share.
    """
    return recency if recency <= 1 else 2 - 1 / recency


def passage(hit: Hit, weights: Sequence[float]) -> float:
    """Return the bm25 of the best ``WINDOW`` terms of the body in a row.

    ``weights`` are the idfs of the query's terms. A long note neither loses by its length nor wins
    by what stands far apart.
    """
    events = sorted((place, number) for number, places in enumerate(hit.places) for place in places)
    against = norm(min(WINDOW, hit.length), _USUAL)
    counts = [0] * len(weights)
    best = now = 0.0
    first = 0
    for place, number in events:
        while events[first][0] <= place - WINDOW:
            gone = events[first][1]
            counts[gone] -= 1
            now -= weights[gone] * _step(counts[gone], against)
            first += 1
        now += weights[number] * _step(counts[number], against)
        counts[number] += 1
        best = max(best, now)
    return best


def _step(count: int, against: float) -> float:
    """Return what one more occurrence adds to a saturation of ``count`` ones."""
    return SATURATED * ((count + 1) / (count + 1 + against) - count / (count + against))


def in_fields(hit: Hit, weights: Sequence[float], fields: Collection[int]) -> float:
    """Return the sum of the idfs of the query's terms that any of some fields has."""
    return sum(
        weight
        for weight, counts in zip(weights, hit.occurrences, strict=True)
        if counts and any(counts[field] for field in fields)
    )


def precision(
    weights: Mapping[str, float],
    titles: Iterable[Iterable[tuple[str, ...]]],
    unsaid: float,
) -> float:
    """Return how much of a note's title the query says, of the best of its names: 1 for all of it.

    ``weights`` are the idfs of the query's terms by form, ``titles`` the different words of the
    title and of each alias, with their forms, ``unsaid`` what a word counts that the query has not.
    """
    best = 0.0
    for title in titles:
        said, others = 0.0, 0
        for forms in title:
            known = [weights[form] for form in forms if form in weights]
            said += max(known, default=0.0)
            others += not known
        if said:
            best = max(best, said / max(said + unsaid * others, _LEAST_TITLE))
    return best


class Scorer:
    """Scores the hits of one question.

    ``near`` tells of each root of the search whether it belongs to the project that the person
    stands in. ``recency`` is the weight of being new (``share``).
    """

    def __init__(self, asked: Question, near: Sequence[bool], recency: float = 0.0) -> None:
        self._asked = asked
        self._near = near
        self._recency = share(recency)
        self._now = time.time()
        self._weights = [asked.whole.weight(term) for term in asked.terms]
        # All of the question: grammar is not searched for, and is said of a title all the same.
        self._by_form = {
            form: asked.whole.weight(term) for term in asked.looked_up for form in term.forms
        }
        self._unsaid = UNSAID * asked.whole.weight_of(0)

    def score(self, hit: Hit) -> None:
        """Put the score of all that is known of a hit into it, and each of its parts.

        What its file's grams said stays.
        """
        weights = self._weights
        said = in_fields(hit, weights, (schema.TITLE, schema.ALIASES))
        parts = {
            "bm25": hit.bm25,
            "passage": PASSAGE * passage(hit, weights),
            "title": TITLE * said,
            "precision": PRECISION * self._precision(hit) if said else 0.0,
            "path": PATH * in_fields(hit, weights, (schema.PATH,)),
        }
        if "grams" in hit.parts:
            parts["grams"] = hit.parts["grams"]
        hit.parts = parts
        self._sum(hit)

    def add_grams(self, hit: Hit, said: float) -> None:
        """Add to a hit's score what the grams of its text say (``recall.grams``)."""
        hit.parts["grams"] = GRAMS * said
        self._sum(hit)

    def _sum(self, hit: Hit) -> None:
        """Add up what speaks for a hit, and the shares of that by which its standing moves it."""
        said = sum(value for name, value in hit.parts.items() if name not in SHARES)
        shares = {
            "near": NEAR if self._near[hit.root] else 0.0,
            "tier": TIERS.get(hit.tier, 0.0),
            "recency": self._recency
            and self._recency * freshness(rank.modified(hit), hit.type, self._now),
            "stale": -STALE if rank.stale(hit, self._now) else 0.0,
        }
        hit.parts.update((name, said * share) for name, share in shares.items())
        hit.score = sum(hit.parts.values())

    def _precision(self, hit: Hit) -> float:
        analyzer = self._asked.wording.analyzers[hit.language]
        names = [hit.title, *hit.aliases.split("\n")]
        titles = [dict.fromkeys(analyzer.words(name)) for name in names if name]
        return precision(self._by_form, titles, self._unsaid)
