"""Notes, labels and reports for the tests of ``recall bench``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from hook_support import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

# Where the labelled sets are unpacked, if they are: "RECALL_LABELLED=DIR pytest".
LABELLED = os.environ.get("RECALL_LABELLED", "")

NOTES = {
    "keys.md": (
        "---\nid: K-1\ntitle: Rotate the deploy keys\n"
        "description: How deploy keys are rotated each quarter.\n---\n"
        "The deploy keys live in the vault.\n"
    ),
    "kestrel.md": "# Kestrel feeder\n\nThe kestrel feeder drops pellets at dawn.\n",
    "sub/sqlite.md": "# Why SQLite\n\nSQLite checkpoints its write-ahead log by itself.\n",
    "sub/tokens.md": "# Refresh tokens\n\nRefresh tokens of the billing portal expire weekly.\n",
    "copy/feeder.md": "# Kestrel feeder\n\nThe kestrel feeder drops pellets at dawn.\n",
}
KEYS: dict[str, Any] = {
    "id": "keys",
    "query": "where do the deploy keys live?",
    "relevant": ["keys.md"],
}
KESTREL: dict[str, Any] = {
    "id": "kestrel",
    "query": "when does the kestrel feeder drop pellets",
    "relevant": [],
}
LABELS: list[dict[str, Any]] = [
    KEYS | {"category": "ops"},
    {
        "id": "sqlite",
        "query": "does sqlite checkpoint the write-ahead log?",
        "relevant": {"sub/sqlite.md": 2, "keys.md": 1},
        "category": "why",
    },
    {"id": "bread", "query": "how long does sourdough bread rise?", "relevant": []},
]


def root(tmp_path: Path, notes: Mapping[str, str] = NOTES) -> Path:
    """Write some notes below a directory, and return it."""
    directory = tmp_path / "notes"
    write(directory, dict(notes))
    return directory


def labels(directory: Path, lines: Iterable[Mapping[str, object]], name: str = "l.jsonl") -> Path:
    """Write a file of labels, and return its path."""
    path = directory / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def record(
    name: str,
    run: list[str],
    grades: dict[str, int],
    *,
    cards: list[str] | None = None,
    tokens: int = 0,
) -> dict[str, Any]:
    """Return one of the queries of a report."""
    from recall.bench import metrics

    return {
        "id": name,
        "query": f"query {name}",
        "scope": None,
        "category": "",
        "provenance": None,
        "draft": False,
        "label": f"{name} {sorted(grades.items())}",
        "judged": f"contents {name} {sorted(grades.items())}",
        "grades": grades,
        "run": run,
        "scores": [],
        "order": {"pairs": 0, "kept": 0},
        "measures": metrics.measures(run, grades) if any(grades.values()) else None,
        "unwanted": [],
        "hook": {
            "why": "gate",
            "cards": cards or [],
            "block_tokens": tokens,
            "cards_tokens": tokens,
            "full_tokens": tokens,
        },
        "ms": 1.0,
    }


def report(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a whole report over some queries."""
    from recall.bench import figures

    times = figures.times([float(each) for each in range(1, 26)])
    return {
        "format": "recall-bench/1",
        "recall": "0",
        "command": "recall bench",
        "time": "2026-11-30T08:00:00Z",
        "labels": {"file": "l.jsonl", "digest": "0" * 64, "count": len(records), "drafts": 0},
        "corpus": {"digest": "1" * 64, "documents": 3, "roots": []},
        "settings": {"sensitivity": "normal", "max_cards": 3, "include_journal": False},
        "summary": figures.figures(records),
        "categories": figures.by_category(records),
        "latency": {"samples": 25, "search": times, "hook": times},
        "cost": {"cache_bytes": 1, "peak_memory_bytes": 1, "seconds": 1.0, "jobs": 1},
        "queries": records,
        "compare": None,
        "files": [],
        "notices": [],
    }
