# ruff: noqa: T201 - a report to read
"""The table of public sets in ``docs/benchmark.md``, by ``recall bench`` itself.

``python tests/bench_sets.py --offtopic FILE SET...`` takes directories with ``docs/`` and
``queries.jsonl`` (labels, one a line), adds to each the prompts of a file (one a line) as labels
that nothing is relevant to, and prints a row for each. ``--limit N`` asks the first N questions.
Caches are made anew, in a temporary directory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MEASURES = ("hit_at_1", "hit_at_5", "recall_at_10", "mrr_at_10", "ndcg_at_10")


def labels(questions: list[str], prompts: list[str]) -> str:
    """Return a file of labels; a ``scope`` of the set's own means nothing here."""
    made = []
    for number, line in enumerate(questions):
        fields = json.loads(line)
        made.append({"id": f"q-{number}", **{key: fields[key] for key in ("query", "relevant")}})
    for number, prompt in enumerate(prompts):
        made.append({"id": f"off-{number}", "query": prompt, "relevant": [], "category": "off"})
    return "".join(json.dumps(label) + "\n" for label in made)


def measured(directory: Path, questions: list[str], prompts: list[str]) -> Any:
    """Return the report of one set."""
    with tempfile.TemporaryDirectory(prefix="bench-sets-") as place:
        path = Path(place, "labels.jsonl")
        path.write_text(labels(questions, prompts), "utf-8")
        command = [sys.executable, "-m", "recall", "bench", "--json"]
        command += ["--labels", str(path), "--root", str(directory.resolve() / "docs")]
        variables = dict.fromkeys(("XDG_CACHE_HOME", "XDG_STATE_HOME"), place)
        environ = {**os.environ, **variables, "XDG_CONFIG_HOME": place}
        done = subprocess.run(command, env=environ, capture_output=True, check=True)
        return json.loads(done.stdout)["data"]


def row(directory: Path, report: Any) -> str:
    """Return a line of the table."""
    summary, injected = report["summary"], report["summary"]["injected"]
    false = summary["false_recall"]
    cells = [
        directory.name,
        f"{report['corpus']['documents']:,}",
        f"{summary['judged']:,}",
        *(f"{100 * summary[each]:.1f}" for each in MEASURES),
        *(f"{injected[each]:,.0f}" for each in ("full_tokens", "cards_tokens")),
        f"{false['spoke']} of {false['queries']}",
        f"{report['cost']['seconds']:.1f} s",
        f"{report['cost']['peak_memory_bytes'] / 2**20:.0f} MiB",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--offtopic", type=Path, required=True, metavar="FILE")
    parser.add_argument("--limit", type=int, default=1500)
    given = parser.parse_args()
    prompts = [line for line in given.offtopic.read_text("utf-8").splitlines() if line.strip()]
    for directory in given.sets:
        questions = (directory / "queries.jsonl").read_text("utf-8").splitlines()[: given.limit]
        print(row(directory, measured(directory, questions, prompts)), flush=True)


if __name__ == "__main__":
    main()
