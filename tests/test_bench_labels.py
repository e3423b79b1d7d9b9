"""Labels: what is taken, and what is said of what is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import InvalidInput, NotFound
from recall.bench import labels

if TYPE_CHECKING:
    from pathlib import Path

    from recall.bench.labels import Label


def one(text: str) -> Label:
    found = labels.parse(text.encode())
    assert not found.problems
    (label,) = found.labels
    return label


def problem(text: str) -> str:
    (found,) = labels.parse(text.encode()).problems
    return found.message


def test_the_shortest_label_has_a_query_and_what_is_relevant() -> None:
    label = one('{"query": "q", "relevant": ["a.md", "b.md"]}')
    assert (label.query, label.grades, label.order) == ("q", {"a.md": 1, "b.md": 1}, [])
    assert (label.scope, label.category, label.draft) == (None, "", False)
    assert label.id.startswith("q-")
    assert label.id == one('{"relevant": [], "query": "q"}').id
    assert label.id != one('{"query": "q", "relevant": [], "scope": "docs"}').id


def test_a_label_with_all_there_is() -> None:
    label = one(
        '{"id": "x", "query": "q", "relevant": {"a.md": 3, "z.md": 0}, "irrelevant": ["b.md"],'
        ' "order": [["a.md", "c.md"]], "scope": "docs", "category": "c",'
        ' "provenance": {"by": "me"}, "draft": true, "why": "so"}'
    )
    assert label.grades == {"a.md": 3, "z.md": 0, "b.md": 0}
    assert label.order == [("a.md", "c.md")]
    assert label.names() == ["a.md", "z.md", "b.md", "c.md"]
    assert (label.id, label.scope, label.category, label.draft) == ("x", "docs", "c", True)
    assert label.provenance == {"by": "me"}


def test_a_list_in_order_is_all_its_pairs() -> None:
    label = one('{"query": "q", "relevant": [], "order": ["a", "b", "c"]}')
    assert label.order == [("a", "b"), ("a", "c"), ("b", "c")]


def test_blank_lines_a_mark_and_carriage_returns_are_no_matter() -> None:
    data = b'\xef\xbb\xbf{"query": "a", "relevant": []}\r\n\n  \n{"query": "b", "relevant": []}'
    found = labels.parse(data)
    assert [label.line for label in found.labels] == [1, 4]
    assert not found.problems


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "a label is an object: {...}"),
        ("{", "no JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{"relevant": []}', "it has no query"),
        ('{"query": " ", "relevant": []}', "query must be text that is not blank"),
        ('{"query": 1, "relevant": []}', "query must be text that is not blank"),
        ('{"query": "q"}', 'it has no relevant; "relevant": [] says that no document answers it'),
        (
            '{"query": "q", "relevant": "a.md"}',
            "relevant must be a list of documents or an object of document and grade",
        ),
        ('{"query": "q", "relevant": [1]}', "relevant names documents by path or id, as text"),
        ('{"query": "q", "relevant": [""]}', "relevant names documents by path or id, as text"),
        ('{"query": "q", "relevant": ["a", "a"]}', 'relevant has "a" twice'),
        (
            '{"query": "q", "relevant": {"a": -1}}',
            'the grade of "a" must be a whole number, 0 to 1,000',
        ),
        (
            '{"query": "q", "relevant": {"a": true}}',
            'the grade of "a" must be a whole number, 0 to 1,000',
        ),
        (
            '{"query": "q", "relevant": {"a": 1.5}}',
            'the grade of "a" must be a whole number, 0 to 1,000',
        ),
        ('{"query": "q", "relevant": {"a": NaN}}', "no JSON: NaN"),
        ('{"query": "q", "relevant": {"a": 1, "a": 2}}', '"a" stands twice in one object'),
        (
            '{"query": "q", "relevant": ["a"], "irrelevant": ["a"]}',
            '"a" is both relevant and irrelevant',
        ),
        (
            '{"query": "q", "relevant": [], "irrelevant": {}}',
            "irrelevant must be a list of documents",
        ),
        (
            '{"query": "q", "relevant": [], "order": "a"}',
            "order must be a list of pairs, or of documents in order",
        ),
        (
            '{"query": "q", "relevant": [], "order": [["a"]]}',
            "a pair of order must be two documents",
        ),
        (
            '{"query": "q", "relevant": [], "order": [["a", "b"], 1]}',
            "a pair of order must be a list of documents",
        ),
        (
            '{"query": "q", "relevant": [], "order": ["a", ["b", "c"]]}',
            "order names documents by path or id, as text",
        ),
        ('{"query": "q", "relevant": [], "id": ""}', "id is blank"),
        ('{"query": "q", "relevant": [], "id": null}', "id must be text"),
        ('{"query": "q", "relevant": [], "scope": 1}', "scope must be text"),
        ('{"query": "q", "relevant": [], "category": []}', "category must be text"),
        ('{"query": "q", "relevant": [], "draft": 1}', "draft must be true or false"),
        (
            '{"query": "q", "relevant": [], "provenance": 1}',
            "provenance must be text or an object",
        ),
        ("[" * 100_000, "no JSON: a number too long, or lists nested too deep"),
        (
            '{"query": "q", "relevant": {"a": ' + "9" * 5000 + "}}",
            "no JSON: a number too long, or lists nested too deep",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line: str, message: str) -> None:
    found = labels.parse(f'{{"query": "first", "relevant": []}}\n{line}\n'.encode())
    assert [(each.line, each.message) for each in found.problems] == [(2, message)]
    with pytest.raises(InvalidInput) as raised:
        labels.demand(found, "l.jsonl")
    assert (raised.value.message, raised.value.where) == (message, "l.jsonl:2")
    assert raised.value.hint


def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    found = labels.parse(b'\n{"query": "\xff", "relevant": []}')
    assert [(p.line, p.message) for p in found.problems] == [
        (2, "not UTF-8 at byte 12 of the line")
    ]


def test_an_id_that_is_there_twice_or_missing_is_told() -> None:
    lines = [
        {"id": "a", "query": "1", "relevant": []},
        {"id": "a", "query": "2", "relevant": []},
        {"query": "3", "relevant": []},
    ]
    found = labels.parse("\n".join(map(json.dumps, lines)).encode())
    assert [(each.line, each.message) for each in found.problems] == [
        (2, 'the id "a" is in line 1 already'),
        (3, "it has no id, as the others have (line 1)"),
    ]
    with pytest.raises(InvalidInput, match=r"line 1 already \(and 1 more\)"):
        labels.demand(found, "l")


def test_without_ids_one_query_is_there_once() -> None:
    found = labels.parse(b'{"query": "a", "relevant": []}\n' * 2)
    assert [each.message for each in found.problems] == ["the same query is in line 1 already"]


def test_fields_that_mean_nothing_are_named() -> None:
    found = labels.parse(b'{"query": "a", "relevant": [], "forbidden": [], "note": 1}')
    assert found.unknown == {"forbidden", "note"}


def test_more_labels_than_anyone_has_end_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MAX_LABELS", 2)
    lines = "\n".join(json.dumps({"query": str(n), "relevant": []}) for n in range(9))
    found = labels.parse(lines.encode())
    assert len(found.labels) == 2
    assert [(each.line, each.message) for each in found.problems] == [(3, "more than 2 labels")]


def test_no_labels_are_an_error() -> None:
    with pytest.raises(InvalidInput, match="there are no labels in it"):
        labels.demand(labels.parse(b"\n"), "l")


def test_reading_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound):
        labels.read(str(tmp_path / "none"))
    with pytest.raises(InvalidInput):
        labels.read(str(tmp_path))
    with pytest.raises(InvalidInput):
        labels.read("a\0b")
    (tmp_path / "big").write_bytes(b"x" * 11)
    monkeypatch.setattr(labels, "MAX_BYTES", 10)
    with pytest.raises(InvalidInput, match="more than 10 bytes"):
        labels.read(str(tmp_path / "big"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
KEYS = ("query", "relevant", "irrelevant", "order", "scope", "category", "id", "provenance")


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES | st.just("q")), max_size=4))
def test_whatever_a_label_holds_is_taken_or_told(lines: list[dict[str, object]]) -> None:
    found = labels.parse("\n".join(map(json.dumps, lines)).encode())
    told = {each.line for each in found.problems}
    taken = {each.line for each in found.labels}
    assert told | taken == set(range(1, len(lines) + 1))
    assert len({label.id for label in found.labels if label.line not in told}) == len(taken - told)


@given(st.binary())
def test_whatever_bytes_there_are_nothing_is_raised_but_an_error_of_ours(data: bytes) -> None:
    try:
        labels.demand(labels.parse(data), "l")
    except InvalidInput as error:
        assert error.where  # noqa: PT017 - either is right


def test_a_private_span_is_no_part_of_a_question() -> None:
    label = one('{"query": "keys <private>of mine</private> here", "relevant": []}')
    assert " ".join(label.query.split()) == "keys here"
    assert problem('{"query": "<private>all</private>", "relevant": []}') == (
        "query must be text that is not blank"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('"provenance": {"x": 1e999}', "no JSON: 1e999"),
        ('"order": [["a", "b"], ["a", "b"]]', 'order has "a" before "b" twice'),
        ('"order": [["a", "b"], ["b", "a"]]', 'order has "b" before "a", and the reverse'),
    ],
)
def test_what_would_measure_nothing_is_refused(fields: str, message: str) -> None:
    assert problem(f'{{"query": "q", "relevant": [], {fields}}}') == message


def test_lists_have_an_end() -> None:
    order = [f"n{each}" for each in range(labels.MAX_ORDER)]
    assert len(one(json.dumps({"query": "q", "relevant": [], "order": order})).order) == 4950
    over = json.dumps({"query": "q", "relevant": [], "order": [*order, "x"]})
    assert problem(over) == "order has more than 100 entries"
    names = [f"n{each}" for each in range(labels.MAX_NAMES)]
    assert len(one(json.dumps({"query": "q", "relevant": names})).grades) == labels.MAX_NAMES
    over = json.dumps({"query": "q", "relevant": [*names, "x"]})
    assert problem(over) == "relevant has more than 10,000 documents"
