"""What has moved between two reports."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from bench_support import record, report
from cli_support import check
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import InvalidInput
from recall.bench import compare, table
from recall.envelope import encode, success

GOOD, BAD = ["a", "b"], ["b", "a"]


def one(run: list[str], name: str = "q") -> dict[str, Any]:
    return record(name, run, {"a": 1})


def compared(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Any:
    found = json.loads(json.dumps(compare.compare(report(old), report(new))))
    check(found, "bench.json#/$defs/compare")
    return found


def test_what_is_equal_has_not_moved() -> None:
    found = compared([one(GOOD)], [one(GOOD)])
    assert (found["compared"], found["left_out"], found["moved"]) == (1, 0, [])
    assert found["measures"]["ndcg_at_10"]["p"] == 1


def test_what_has_moved_is_told_the_worst_first() -> None:
    old = [one(GOOD, "1"), one(BAD, "2"), one(GOOD, "3")]
    new = [one(BAD, "1"), one(GOOD, "2"), one(["b"], "3")]
    found = compared(old, new)
    assert [(m["id"], m["old_rank"], m["new_rank"]) for m in found["moved"]] == [
        ("3", 1, None),
        ("1", 1, 2),
        ("2", 2, 1),
    ]
    hit = found["measures"]["hit_at_1"]
    assert (hit["up"], hit["down"], hit["difference"]) == (1, 2, pytest.approx(-1 / 3))
    lines = "\n".join(table.comparison(found))
    assert (
        "worse:\n    3: rank 1 -> not found (nDCG -1.00): query 3\n    1: rank 1 -> rank 2" in lines
    )
    assert "better:\n    2: rank 2 -> rank 1 (nDCG +0.37): query 2" in lines


def test_false_recall_moves_too() -> None:
    silent, spoke = record("q", [], {}), record("q", [], {}, cards=["a"], tokens=90)
    found = compared([silent], [spoke])
    assert found["measures"]["false_recall"]["difference"] == 1
    assert found["measures"]["hit_at_1"] | {"p": None} == {
        "queries": 0,
        "old": None,
        "new": None,
        "difference": None,
        "up": 0,
        "down": 0,
        "p": None,
    }
    assert [move["by"] for move in found["moved"]] == [-1]
    lines = "\n".join(table.comparison(found))
    assert "    q: spoke: query q" in lines
    # Of false recall and of tokens less is better.
    (row,) = [line.split() for line in lines.splitlines() if "false recall" in line]
    assert row[-3:] == ["0", "1", "1.0000"]
    (back,) = compared([spoke], [silent])["moved"]
    assert back["by"] == 1


def test_only_equal_questions_are_compared() -> None:
    other = one(GOOD, "other")
    asked = one(GOOD) | {"query": "something else", "label": "other"}
    judged = record("q", GOOD, {"a": 2})
    assert asked["judged"] == one(GOOD)["judged"]
    asked["judged"] = "of another question"
    for new in (other, asked, judged, record("q", [], {})):
        found = compared([one(GOOD)], [new])
        assert (found["compared"], found["left_out"], found["gone"]) == (0, 1, 1)
        assert table.comparison(found) == [
            (
                "against 0 of 2026-11-30T08:00:00Z: 0 queries in both,"
                " 1 of its own and 1 new ones left out"
            )
        ]


def test_a_document_that_is_gone_or_moved_is_still_asked_for() -> None:
    gone = record("q", ["b"], {"old name": 1}) | {"label": one(GOOD)["label"]}
    assert [move["new_rank"] for move in compared([one(GOOD)], [gone])["moved"]] == [None]
    renamed = one(GOOD) | {"label": "in other words"}
    assert compared([one(GOOD)], [renamed])["compared"] == 1


def test_whether_notes_and_labels_are_the_same_is_told() -> None:
    old = report([one(GOOD)])
    new = copy.deepcopy(old)
    assert compare.compare(old, new)["old"] == {
        "recall": "0",
        "time": "2026-11-30T08:00:00Z",
        "queries": 1,
        "same_labels": True,
        "same_corpus": True,
    }
    new["corpus"]["digest"] = "2" * 64
    found = compare.compare(old, new)
    assert "  the notes have changed as well" in table.comparison(found)


def test_a_report_is_read_with_its_envelope_and_without() -> None:
    whole = report([one(GOOD)])
    assert compare.load(json.dumps(whole).encode(), "x") == whole
    assert compare.load(encode(success("bench", whole)), "x") == whole


def without(query: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in query.items() if key != "measures"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: b"{", "that is no JSON"),
        (lambda _: b"\xff", "that is no JSON"),
        (lambda _: b"[" * 100_000, "that is no JSON"),
        (lambda _: b"[]", "that is no report of recall bench"),
        (lambda _: b'{"data": null}', "that is no report of recall bench"),
        (lambda r: r | {"format": "recall-bench/2"}, "that report is of another version"),
        (lambda r: r | {"queries": {}}, "that report is not whole"),
        (lambda r: r | {"queries": [{"id": "q"}]}, "that report is not whole"),
        (lambda r: r | {"labels": None}, "that report is not whole"),
        (lambda r: r | {"time": ""}, "that report is not whole"),
        (lambda r: r | {"queries": r["queries"] * 2}, "that report is not whole"),
        (lambda r: r | {"queries": [without(r["queries"][0])]}, "that report is not whole"),
        (
            lambda r: r | {"queries": [record("q", [], {"a": 1}) | {"measures": {"x": 1}}]},
            "that report is not whole",
        ),
    ],
)
def test_what_is_no_report_is_told(change: Any, message: str) -> None:
    changed = change(report([one(GOOD)]))
    data = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
    with pytest.raises(InvalidInput) as raised:
        compare.load(data, "old.json")
    assert (raised.value.message, raised.value.where) == (message, "old.json")
    assert raised.value.hint


VALUES: st.SearchStrategy[object] = (
    st.none() | st.integers() | st.floats() | st.text(max_size=2) | st.just([]) | st.just({})
)


@given(st.sampled_from(sorted(one(GOOD))), VALUES)
def test_any_value_in_an_old_query_is_taken_or_told(key: str, value: object) -> None:
    old = report([one(GOOD)])
    old["queries"][0][key] = value
    try:
        loaded = compare.load(json.dumps(old).encode(), "old.json")
    except InvalidInput:
        return
    found = compare.compare(loaded, report([one(GOOD)]))
    assert table.comparison(found)
