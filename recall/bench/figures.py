"""What many questions come to: records of queries to the figures of a report; pure."""

from __future__ import annotations

from recall.bench.metrics import MEASURES, mean, percentile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    # One of ``queries`` as ``spec/schema/bench.json`` has it.
    Record = dict[str, Any]

_DIGITS = 12  # of a figure that is written down; a comparison reckons with the queries' own


def figures(records: Sequence[Record]) -> dict[str, object]:
    """Return the figures of some queries; a share of nothing is None."""
    judged = [record for record in records if record["measures"] is not None]
    silent = [record for record in records if record["measures"] is None]
    return {
        "queries": len(records),
        "judged": len(judged),
        **{
            name: _rounded(mean(record["measures"][name] for record in judged)) for name in MEASURES
        },
        "order": _order(records),
        "false_recall": _false_recall(silent),
        "unwanted": _unwanted(records),
        "injected": _injected(records),
    }


def by_category(records: Iterable[Record]) -> list[dict[str, object]]:
    """Return the figures of each category, by name; "" are the queries without one."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record["category"], []).append(record)
    return [{"category": name, **figures(groups[name])} for name in sorted(groups)]


def times(milliseconds: Sequence[float]) -> dict[str, object]:
    """Return percentiles of some times, and the times."""
    return {
        "p50": percentile(milliseconds, 50),
        "p95": percentile(milliseconds, 95),
        "ms": list(milliseconds),
    }


def worst(records: Iterable[Record], most: int) -> list[Record]:
    """Return the queries whose answers were worst, by nDCG, then by rank; none that is perfect."""
    bad = [
        record
        for record in records
        if record["measures"] is not None and record["measures"]["ndcg_at_10"] < 1
    ]
    bad.sort(key=lambda each: (each["measures"]["ndcg_at_10"], each["measures"]["mrr_at_10"]))
    return bad[:most]


def false_recalls(records: Iterable[Record]) -> list[Record]:
    """Return the queries with nothing relevant at which the hook would have spoken."""
    return [each for each in records if each["measures"] is None and each["hook"]["cards"]]


def missed(record: Record) -> list[str]:
    """Return the relevant documents that are not among those found, the best first."""
    found = set(record["run"])
    grades = sorted(record["grades"].items(), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, grade in grades if grade > 0 and name not in found]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _share(part: int, whole: int) -> float | None:
    return _rounded(part / whole) if whole else None


def _order(records: Iterable[Record]) -> dict[str, object]:
    found = [record["order"] for record in records]
    pairs, kept = sum(each["pairs"] for each in found), sum(each["kept"] for each in found)
    return {"pairs": pairs, "kept": kept, "share": _share(kept, pairs)}


def _false_recall(silent: Sequence[Record]) -> dict[str, object]:
    spoke = len(false_recalls(silent))
    return {"queries": len(silent), "spoke": spoke, "share": _share(spoke, len(silent))}


def _unwanted(records: Iterable[Record]) -> dict[str, object]:
    named = [record for record in records if 0 in record["grades"].values()]
    shown = sum(
        any(record["grades"].get(name) == 0 for name in record["hook"]["cards"]) for record in named
    )
    found = sum(bool(record["unwanted"]) for record in named)
    return {"queries": len(named), "found": found, "injected": shown}


def _injected(records: Sequence[Record]) -> dict[str, object]:
    """Return how often the hook spoke, and what it cost a query, the silent ones among them."""
    hooks = [record["hook"] for record in records]
    return {
        "spoke": sum(bool(each["cards"]) for each in hooks),
        "cards": sum(len(each["cards"]) for each in hooks),
        "full_tokens": _rounded(mean(each["full_tokens"] for each in hooks)),
        "cards_tokens": _rounded(mean(each["cards_tokens"] for each in hooks)),
        "block_tokens": _rounded(mean(each["block_tokens"] for each in hooks)),
    }
