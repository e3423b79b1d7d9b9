"""Two reports of ``recall bench``: what has moved, and whether it is more than chance; pure."""

from __future__ import annotations

import json

from index_cache.errors import InvalidInput
from recall.bench.metrics import MEASURES, mean
from recall.bench.significance import p_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from recall.bench.figures import Record

FORMAT = "recall-bench/"
_KNOWN = FORMAT + "1"
_HINT = "--compare takes what recall bench --save DIR, or --json, has written"


def load(data: bytes, where: str) -> dict[str, Any]:
    """Return the report that a file holds, as ``--save`` or ``--json`` wrote it.

    Raises InvalidInput, naming ``where``, when it is none.
    """
    try:
        report = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("that is no JSON", where=where, hint=_HINT) from error
    if isinstance(report, dict) and "data" in report:
        report = report["data"]
    known = report.get("format") if isinstance(report, dict) else None
    if known != _KNOWN:
        newer = isinstance(known, str) and known.startswith(FORMAT)
        what = "that report is of another version" if newer else "that is no report of recall bench"
        raise InvalidInput(what, where=where, hint=_HINT)
    queries = report.get("queries")
    if not isinstance(queries, list) or not all(map(_is_record, queries)):
        raise InvalidInput("that report is not whole", where=where, hint=_HINT)
    parts = (report.get(part) for part in ("corpus", "labels"))
    told = (report.get(part) for part in ("recall", "time"))
    names = {each["id"] for each in queries}
    if not (
        all(isinstance(part, dict) for part in parts)
        and all(isinstance(text, str) and text for text in told)
        and len(names) == len(queries)
    ):
        raise InvalidInput("that report is not whole", where=where, hint=_HINT)
    return dict(report)


def _is_record(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return False
    measures, hook, run = value.get("measures", ""), value.get("hook"), value.get("run")
    return (
        (measures is None or (isinstance(measures, dict) and all(map(_in(measures), MEASURES))))
        and isinstance(hook, dict)
        and isinstance(hook.get("cards"), list)
        and _is_number(hook.get("cards_tokens"))
        and isinstance(run, list)
        and all(isinstance(name, str) for name in run)
        and isinstance(value.get("query"), str)
        and isinstance(value.get("grades"), dict)
        and all(map(_is_number, value["grades"].values()))
    )


def _in(measures: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a predicate for map
    return lambda name: _is_number(measures.get(name)) and 0 <= measures[name] <= 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18  # noqa: PLR2004 - NaN and infinity are no figures


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, object]:
    """Return what has moved between two reports (``spec/schema/bench.json``, ``compare``)."""
    before: dict[str, Record] = {record["id"]: record for record in old["queries"]}
    pairs = [
        (before[record["id"]], record)
        for record in new["queries"]
        if record["id"] in before and _is_same(before[record["id"]], record)
    ]
    judged = [pair for pair in pairs if pair[0]["measures"] and pair[1]["measures"]]
    silent = [pair for pair in pairs if pair[1]["measures"] is None]
    return {
        "old": {
            "recall": str(old.get("recall", "")),
            "time": str(old.get("time", "")),
            "queries": len(before),
            "same_labels": _digest(old, "labels") == _digest(new, "labels"),
            "same_corpus": _digest(old, "corpus") == _digest(new, "corpus"),
        },
        "compared": len(pairs),
        "judged": len(judged),
        "left_out": len(new["queries"]) - len(pairs),
        "gone": len(before) - len(pairs),
        "measures": {
            **{
                name: _tested((a["measures"][name], b["measures"][name]) for a, b in judged)
                for name in MEASURES
            },
            "false_recall": _tested((_spoke(a), _spoke(b)) for a, b in silent),
            "cards_tokens": _tested(
                (a["hook"]["cards_tokens"], b["hook"]["cards_tokens"]) for a, b in pairs
            ),
        },
        "moved": sorted(
            (_move(a, b) for a, b in pairs if _has_moved(a, b)),
            key=lambda each: (each["by"], each["id"]),
        ),
    }


def _is_same(old: Record, new: Record) -> bool:
    """Tell whether two queries are one: by the words of their labels, or by what these name.

    By words, since a document may be gone: that is worse, not another question. By what they name,
    since a label may follow a document that has moved.
    """
    if (old["measures"] is None) != (new["measures"] is None):
        return False
    if old.get("label") is not None and old["label"] == new["label"]:
        return True
    return old.get("judged") is not None and old["judged"] == new["judged"]


def _digest(report: Mapping[str, Any], part: str) -> object:
    return report[part].get("digest")


def _spoke(record: Record) -> float:
    return float(bool(record["hook"]["cards"]))


def _tested(pairs: Iterable[tuple[float, float]]) -> dict[str, object]:
    found = list(pairs)
    old, new = mean(a for a, _ in found), mean(b for _, b in found)
    differences = [b - a for a, b in found]
    return {
        "queries": len(found),
        "old": old,
        "new": new,
        "difference": mean(differences),
        "up": sum(each > 0 for each in differences),
        "down": sum(each < 0 for each in differences),
        "p": p_value(differences) if found else None,
    }


def _has_moved(old: Record, new: Record) -> bool:
    if new["measures"] is None:
        return _spoke(old) != _spoke(new)
    return any(old["measures"][name] != new["measures"][name] for name in MEASURES)


def _move(old: Record, new: Record) -> dict[str, Any]:
    """Return how one query has moved; ``by`` is negative for worse."""
    if new["measures"] is None:
        by = _spoke(old) - _spoke(new)
    else:
        by = new["measures"]["ndcg_at_10"] - old["measures"]["ndcg_at_10"]
    return {
        "id": new["id"],
        "query": new["query"],
        "by": by,
        "judged": new["measures"] is not None,
        "old_rank": _rank(old),
        "new_rank": _rank(new),
        "old_first": next(iter(old["run"]), None),
        "new_first": next(iter(new["run"]), None),
    }


def _rank(record: Record) -> int | None:
    """Return the rank of the first relevant document, None if there is none among those found."""
    grades = record["grades"]
    ranks = (at for at, name in enumerate(record["run"], 1) if grades.get(name, 0) > 0)
    return next(ranks, None)
