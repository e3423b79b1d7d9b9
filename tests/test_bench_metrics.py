"""The measures of ``recall bench`` are trec_eval's."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import vectors
from bench_support import LABELLED, record
from hypothesis import given
from hypothesis import strategies as st

from recall.bench import metrics, trec

if TYPE_CHECKING:
    from collections.abc import Callable

THEIRS = {
    "hit_at_1": "success_1",
    "hit_at_3": "success_3",
    "hit_at_5": "success_5",
    "recall_at_5": "recall_5",
    "recall_at_10": "recall_10",
    "mrr_at_10": "recip_rank",
    "ndcg_at_10": "ndcg_cut_10",
}
ASKED = {"success.1,3,5", "recall.5,10", "recip_rank", "ndcg_cut.10"}
CLOSE = 1e-9


@pytest.mark.parametrize("vector", vectors.load("bench.json"), ids=vectors.named)
def test_the_measures_are_those_of_the_page(vector: dict[str, Any]) -> None:
    found = metrics.measures(vector["run"], vector["grades"])
    assert found == pytest.approx(vector["measures"], abs=CLOSE)


def theirs(records: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return what trec_eval makes of a run file and a file of judgements, as we write them."""
    trec_eval = pytest.importorskip("pytrec_eval", reason="pytrec-eval-terrier is not installed")
    qrels = trec_eval.parse_qrel(trec.qrels(records).splitlines())
    run = trec_eval.parse_run(trec.run(records).splitlines())
    found: dict[str, dict[str, float]] = trec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    return found


def compare(records: list[dict[str, Any]]) -> int:
    """Compare the measures with trec_eval's; return of how many queries."""
    evaluated = theirs(records)
    compared = 0
    for each in records:
        if each["measures"] is None:
            continue
        other = evaluated.get(trec.word(each["id"]))
        # trec_eval leaves out a query that found nothing; it is in our means, as 0.
        assert (other is None) == (not each["run"])
        for name, value in each["measures"].items():
            assert value == pytest.approx(other[THEIRS[name]] if other else 0.0, abs=CLOSE), name
        compared += 1
    return compared


def test_two_hundred_random_runs_are_measured_as_by_trec_eval() -> None:
    chance = random.Random(8)  # noqa: S311 - a test's own chance
    documents = [f"root:dir {n}/note%{n}.md" for n in range(40)]
    records = []
    for number in range(200):
        grades = {
            name: chance.choice((0, 0, 1, 1, 2, 3, 1000))
            for name in chance.sample(documents, chance.randint(1, 30))
        }
        grades[documents[0]] = 1
        run = chance.sample(documents, chance.randint(0, 10))
        records.append(record(f"q {number}", run, grades))
    assert compare(records) == 200


@pytest.mark.parametrize(
    "name", ["devmembench", "precisionmembench", "astro-ja", "astro-ko", "k8s-en", "xquad-en"]
)
def test_the_labelled_sets_are_measured_as_by_trec_eval(
    name: str, tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    from recall import config
    from recall.bench.running import Bench

    directory = Path(LABELLED) / name
    if not LABELLED or not directory.is_dir():
        pytest.skip("RECALL_LABELLED names no directory with the labelled sets")
    lines = []
    for line in (directory / "queries.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        fields.pop("scope", None)  # of that set's own meaning
        lines.append(json.dumps(fields))
    data = "\n".join(lines[: long_count(1000)]).encode()
    settings = config.load(str(tmp_path), os.environ, (str(directory / "docs"),), fallback=False)
    bench = Bench("queries.jsonl", data, settings, cwd=str(tmp_path), environ=os.environ)
    report = bench.run(jobs=1)
    assert compare(report["queries"]) == report["summary"]["judged"] > 0


@given(
    st.lists(st.sampled_from("abcdefghijklmnop"), unique=True),
    st.dictionaries(st.sampled_from("abcdefghijklmnopqrst"), st.integers(0, 9), min_size=1),
)
def test_measures_stay_within_their_bounds(run: list[str], grades: dict[str, int]) -> None:
    if not any(grades.values()):
        with pytest.raises(ZeroDivisionError):
            metrics.measures(run, grades)
        return
    found = metrics.measures(run, grades)
    assert all(0 <= value <= 1 + CLOSE for value in found.values())
    assert found["hit_at_1"] <= found["hit_at_3"] <= found["hit_at_5"]
    assert found["recall_at_5"] <= found["recall_at_10"]
    assert (found["mrr_at_10"] > 0) == (found["recall_at_10"] > 0) == (found["ndcg_at_10"] > 0)
    best = sorted(grades, key=lambda name: -grades[name])
    assert metrics.measures(best, grades)["ndcg_at_10"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("run", "kept"),
    [(["a", "b"], 1), (["b", "a"], 0), (["a"], 1), (["b"], 0), ([], 0), (["x", "a", "y", "b"], 1)],
)
def test_a_pair_is_kept_if_its_first_is_found_before_its_second(run: list[str], kept: int) -> None:
    assert metrics.kept_pairs(run, [("a", "b")]) == kept


def test_means_and_percentiles() -> None:
    assert metrics.mean([]) is None
    assert metrics.mean([0.1] * 10) == 0.1
    assert metrics.percentile([], 50) is None
    times = [float(each) for each in range(25, 0, -1)]
    assert (metrics.percentile(times, 50), metrics.percentile(times, 95)) == (13.0, 24.0)


def test_trec_files_are_words_between_blanks() -> None:
    each = record("a\tb", ["r:x y.md", "r:é%.md"], {"r:x y.md": 2, "gone\n.md": 0})
    assert trec.run([each]) == "a%09b Q0 r:x%20y.md 1 10 recall\na%09b Q0 r:é%25.md 2 9 recall\n"
    assert trec.qrels([each]) == "a%09b 0 r:x%20y.md 2\na%09b 0 gone%0A.md 0\n"


@given(st.text(st.characters()))
def test_no_name_is_two_words(text: str) -> None:
    assert trec.word(text).split() == ([trec.word(text)] if text else [])


def test_many_labels_over_many_notes_take_little_memory(
    tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    """1,500 labels over 7,000 notes, under stress alone."""
    from cli_support import recall

    directory = Path(LABELLED) / "tldr-en"
    if not LABELLED or not directory.is_dir() or long_count(10) < 10:
        pytest.skip("only under RECALL_STRESS=1, with RECALL_LABELLED")
    path = tmp_path / "l.jsonl"
    path.write_bytes(b"".join((directory / "queries.jsonl").read_bytes().splitlines(True)[:1500]))
    report = recall(
        *("bench", "--labels", str(path), "--root", str(directory / "docs"), "--json"), timeout=600
    ).data()
    assert report["labels"]["count"] == 1500
    assert report["corpus"]["documents"] > 7000
    assert report["cost"]["peak_memory_bytes"] < 256 * 1024 * 1024
