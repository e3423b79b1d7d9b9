# ruff: noqa: T201 - a report to read
"""How well searches find what is known to be right: the tables of ``docs/relevance.md``.

``python tests/relevance_report.py SET...`` takes directories with ``docs/`` and ``queries.jsonl``
(one object a line with ``query`` and ``relevant``, paths below docs) and prints hit@1 and nDCG@10
of each, and of all of them without each part of the score. ``--limit N`` asks the first N queries.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from recall import Recall, relevance

PARTS = ("PASSAGE", "TITLE", "PRECISION", "PATH", "GRAMS")
DEPTH = 10


def scored(recall: Recall, queries: list[dict[str, Any]]) -> tuple[float, float]:
    """Return hit@1 and nDCG@10 over some queries."""
    first = gain = 0.0
    for query in queries:
        relevant = set(query["relevant"])
        found = [card.path for card in recall.search(query["query"], k=DEPTH)]
        ranks = [rank for rank, path in enumerate(found) if path in relevant]
        first += 0 in ranks
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), DEPTH)))
        gain += sum(1 / math.log2(rank + 2) for rank in ranks) / ideal
    return first / len(queries), gain / len(queries)


def without(recall: Recall, queries: list[dict[str, Any]], part: str) -> tuple[float, float]:
    """Return the same with one part of the score left out."""
    weight = getattr(relevance, part)
    setattr(relevance, part, 0.0)
    try:
        return scored(recall, queries)
    finally:
        setattr(relevance, part, weight)


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--limit", type=int, default=1500)
    given = parser.parse_args()
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in ("all", *PARTS)}
    for directory in given.sets:
        os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="relevance-")
        lines = (directory / "queries.jsonl").read_text("utf-8").splitlines()
        queries = [each for line in lines if (each := json.loads(line)).get("relevant")]
        queries = queries[: given.limit]
        with Recall(roots=[directory / "docs"]) as recall:
            rows["all"].append(scored(recall, queries))
            for part in PARTS:
                rows[part].append(without(recall, queries, part))
        print(f"{directory.name:20} {rows['all'][-1][0]:.3f} {rows['all'][-1][1]:.3f}", flush=True)
    for name, found in rows.items():
        means = [sum(column) / len(found) for column in zip(*found, strict=True)]
        print(f"{'without ' * (name != 'all') + name.lower():20} {means[0]:.3f} {means[1]:.3f}")


if __name__ == "__main__":
    main()
