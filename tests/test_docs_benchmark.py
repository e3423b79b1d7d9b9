"""What ``docs/benchmark.md`` shows is run, and its labels name pages that are there."""

from __future__ import annotations

import json
from typing import Any

from cli_support import recall
from docs_support import ROOT, blocks

from recall.bench import labels

PAGE = "docs/benchmark.md"
LABELS = "docs/benchmark-labels.jsonl"


def words(marker: str) -> list[str]:
    """Return the words of the command in the block of the page that has a marker."""
    (text,) = [text for mark, _, text in blocks(PAGE) if mark == marker]
    program, *rest = text.split()
    assert program == "recall"
    return rest


def test_the_command_of_the_page_runs_over_this_project() -> None:
    report: Any = recall(*words("run"), "--json", cwd=ROOT).data()
    assert report["labels"] | {"digest": ""} == {
        "file": "benchmark-labels.jsonl",
        "digest": "",
        "count": 38,
        "drafts": 0,
    }
    # Of labels; what git may have to say of a clone of somebody else's is no matter here.
    assert not [each for each in report["notices"] if "label" in each["message"]]
    assert report["summary"]["judged"] == 30
    assert report["summary"]["false_recall"]["queries"] == 8


def test_the_labels_name_pages_that_are_there() -> None:
    done = recall(
        "bench", "check", "--labels", LABELS, "--root", "./docs", "--root", "./spec", cwd=ROOT
    )
    assert (done.status, done.stdout) == (0, "38 labels: all documents are there\n")


def test_no_page_quotes_a_question() -> None:
    # Else that page would be what is found.
    asked = [json.loads(line)["query"] for line in (ROOT / LABELS).read_text("utf-8").splitlines()]
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / "spec").glob("*.md")]:
        text = " ".join(page.read_text("utf-8").split()).lower()
        for query in asked:
            assert query.lower() not in text, (page.name, query)


def test_the_labels_that_the_page_shows_are_labels() -> None:
    (shown,) = [text for _, language, text in blocks(PAGE) if language == "json"]
    found = labels.parse(shown.encode())
    assert not found.problems
    assert not found.unknown
    assert len(found.labels) == 3
