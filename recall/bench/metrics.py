"""How good a ranking is: pure, and equal to trec_eval's (``spec/bench.md``).

A ranking is a list of documents, best first, each once. ``grades`` has each judged document's
grade: 1 or more is relevant, and a document that is in no ranking counts as well.
"""

from __future__ import annotations

from math import fsum, log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DEPTH = 10  # documents of a ranking that are looked at


def hit(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Return 1 if one of the first ``depth`` documents is relevant, else 0.

    trec_eval calls it ``success``.
    """
    return float(any(grades.get(name, 0) > 0 for name in ranking[:depth]))


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Return the share of the relevant documents that are among the first ``depth``.

    As trec_eval's ``recall``: the divisor is all relevant ones, be they more than ``depth``.
    Raises ZeroDivisionError when nothing is relevant.
    """
    found = sum(grades.get(name, 0) > 0 for name in ranking[:depth])
    return found / sum(grade > 0 for grade in grades.values())


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int = DEPTH) -> float:
    """Return 1 / rank of the first relevant document, 0 if it is not among the first ``depth``.

    Voorhees, "The TREC-8 Question Answering Track Report", TREC 1999.
    """
    ranks = (at for at, name in enumerate(ranking[:depth], 1) if grades.get(name, 0) > 0)
    first = next(ranks, None)
    return 0.0 if first is None else 1 / first


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int = DEPTH) -> float:
    """Return the discounted cumulative gain as a share of the best that was possible.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002,
    with the grade as the gain and log2(rank + 1) as the discount at every rank: trec_eval's
    ``ndcg_cut``. Raises ZeroDivisionError when nothing is relevant.
    """
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    return _gain(grades.get(name, 0) for name in ranking[:depth]) / _gain(best)


def _gain(grades: Iterable[int]) -> float:
    return fsum(grade / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def kept_pairs(ranking: Sequence[str], pairs: Iterable[tuple[str, str]]) -> int:
    """Return how many pairs (first, then) come in that order.

    The first must be found, and before the second if that is found, too.
    """
    place = {name: at for at, name in enumerate(ranking)}
    last = len(ranking)
    return sum(first in place and place[first] < place.get(then, last) for first, then in pairs)


def measures(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Return all measures of one query by their names in a report.

    Raises ZeroDivisionError when nothing is relevant.
    """
    return {
        "hit_at_1": hit(ranking, grades, 1),
        "hit_at_3": hit(ranking, grades, 3),
        "hit_at_5": hit(ranking, grades, 5),
        "recall_at_5": recall(ranking, grades, 5),
        "recall_at_10": recall(ranking, grades, DEPTH),
        "mrr_at_10": reciprocal_rank(ranking, grades),
        "ndcg_at_10": ndcg(ranking, grades),
    }


MEASURES = (
    "hit_at_1",
    "hit_at_3",
    "hit_at_5",
    "recall_at_5",
    "recall_at_10",
    "mrr_at_10",
    "ndcg_at_10",
)


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, None of nothing; it does not depend on the order of the values."""
    found = list(values)
    return fsum(found) / len(found) if found else None


def percentile(values: Iterable[float], percent: int) -> float | None:
    """Return the smallest of the values that so many percent of them do not exceed."""
    found = sorted(values)
    return found[max(0, -(-len(found) * percent // 100) - 1)] if found else None
