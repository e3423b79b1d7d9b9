"""Records: the lines of JSONL files, and what one of them costs."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from stateful_support import SECOND, Place, ask, fresh
from vectors import load, named

from index_cache.analyze import Analyzer
from index_cache.beside import beside
from index_cache.jsonl import MAX_LINE, Lines
from index_cache.model import Root, Rules
from index_cache.parse import Document
from index_cache.reader import record_id
from index_cache.verify import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOG = "log.jsonl"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.root = Root("notes", made.root.path, Rules(gitignore=False, jsonl=True))
    return made


def record(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


def written(place: Place, *lines: str) -> None:
    place.write(LOG, "".join(f"{line}\n" for line in lines))
    place.settle()
    place.check()


def kept(place: Place, columns: str = "line, title") -> list[tuple[Any, ...]]:
    with closing(place.store()) as store:
        select = f"SELECT {columns} FROM document WHERE line > 0 ORDER BY line"  # noqa: S608
        return list(store.connection.execute(select))


def told(place: Place) -> str | None:
    with closing(place.store()) as store:
        found = [each.reason for each in store.problems() if each.path == os.fsencode(LOG)]
        return found[0] if found else None


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the text of each record that is analysed is added."""
    seen: list[str] = []
    of_record = Document.of_record.__func__  # type: ignore[attr-defined]

    def noting(cls: type[Document], path: bytes, fields: dict[str, Any]) -> Document:
        made: Document = of_record(cls, path, fields)
        seen.append(made.body)
        return made

    monkeypatch.setattr(Document, "of_record", classmethod(noting))
    return seen


def test_each_line_that_is_an_object_is_a_record(place: Place) -> None:
    written(place, record(text="zebra one"), "", record(name="Two", body="zebra two"))
    assert kept(place) == [(1, "zebra one"), (3, "Two")]
    answer = place.answer("zebra")
    assert [(card.path, card.line, card.summary) for card in answer.cards] == [
        (LOG, 1, "zebra one"),
        (LOG, 3, "zebra two"),
    ]
    assert answer.total == 2
    assert told(place) is None


def test_without_jsonl_there_are_none(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write(LOG, record(text="zebra"))
    place.settle()
    assert place.answer("zebra").cards == []


BAD: dict[str, tuple[bytes, str]] = {
    "an array": (b"[1]", "JSON, but no object"),
    "a text": (b'"zebra"', "JSON, but no object"),
    "no JSON": (b"zebra", "not JSON at column 1"),
    "cut off": (b'{"text": "zebra"', "not JSON at column 17"),
    "two objects": (b"{} {}", "not JSON at column 4"),
    "a NUL": (b'{"text": "zeb\0ra"}', "not JSON at column 14"),
    "not UTF-8": (b'{"text": "zebra \xe9"}', "not UTF-8"),
    "huge": (b'{"text": "' + b"zebra " * (MAX_LINE // 6) + b'"}', "longer than 1 MiB"),
    "deep arrays": (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    "deep objects": (b'{"a":' * 300 + b"1" + b"}" * 300, "nested too deeply"),
    "UTF-16": ('{"text": "zebra"}'.encode("utf-16"), "not UTF-8"),
}


@pytest.mark.parametrize("name", BAD)
def test_F1_a_bad_line_costs_itself(place: Place, name: str) -> None:
    line, reason = BAD[name]
    good = record(text="zebra").encode()
    place.fs.write(place.path(LOG), good + b"\n" + line + b"\n\n" + good + b" \r\n")
    place.settle()
    place.check()
    assert [number for number, _ in kept(place)] == [1, 4]
    assert told(place) == f"1 of 3 lines are no records, the first is line 2: {reason}"


GOOD: dict[str, tuple[bytes, dict[str, Any]]] = {
    "a byte order mark": (b'\xef\xbb\xbf{"text": "zebra"}', {"body": "zebra"}),
    "CRLF": (b'{"text": "zebra"}\r', {"body": "zebra"}),
    "duplicate keys": (b'{"type": "a", "Type": "b"}', {"type": "b"}),
    "numbers as typed": (b'{"id": 0.10, "source": 1e999, "session": NaN}', {"id": "0.10"}),
    "an infinite one": (b'{"source": 1e999}', {"source": "1e999"}),
    "not a number": (b'{"session": NaN}', {"session": "NaN"}),
    "many digits": (b'{"title": ' + b"7" * 5000 + b"}", {"title": "7" * 4000}),
    "true": (b'{"type": true}', {"type": "true"}),
    "null is nothing": (b'{"title": null, "name": "N"}', {"title": "N"}),
    "a NUL that is escaped": (rb'{"title": "a\u0000b"}', {"title": "a b"}),
    "half a character": (rb'{"title": "a\ud800b"}', {"title": "a\ufffdb"}),
    "a pair of halves": (rb'{"title": "a\ud83d\ude00b"}', {"title": "a\U0001f600b"}),
    "nested": (
        b'{"metadata": {"type": "T", "tags": ["a", "b"], "source": "s"}}',
        {"type": "T", "tags": ("a", "b"), "source": "s"},
    ),
    "tags as a text": (b'{"tags": "a, b"}', {"tags": ("a", "b")}),
    "related": (b'{"related": ["a", "[[b]]", "a"]}', {"related": ("a", "[[b]]")}),
    "a title of its text": (b'{"text": "\\n **One** line\\nand more"}', {"title": "One line"}),
    "no title at all": (b"{}", {"title": "log"}),
    "the first text": (b'{"content": [1], "text": " ", "body": "b"}', {"body": "b"}),
    "created": (b'{"date": "2026-01-02"}', {"created": "2026-01-02", "modified": "2026-01-02"}),
    "a time stamp": (b'{"timestamp": "2026-01-02"}', {"created": "2026-01-02"}),
    "verified": (b'{"verified": {"by": "human:ada"}}', {"tier": "human-reviewed"}),
    "a million of items": (b'{"tags": [' + b'"x",' * 200_000 + b'"y"]}', {"tags": ("x",)}),
    "deep, but not too": (b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}", {"title": "log"}),
}


@pytest.mark.parametrize("name", GOOD)
def test_fields(name: str) -> None:
    line, wanted = GOOD[name]
    lines = Lines(line)
    (found,) = lines.found
    document = Document.of_record(b"log.jsonl", lines.fields(found))
    assert {key: getattr(document, key) for key in wanted} == wanted
    assert lines.problem is None


@pytest.mark.parametrize("vector", load("records.json")["files"], ids=named)
def test_vectors(vector: dict[str, Any]) -> None:
    path, lines = vector["path"].encode(), Lines(vector["text"].encode())
    assert lines.problem == vector["problem"]
    assert [line.number for line in lines.found] == [each["line"] for each in vector["records"]]
    for line, wanted in zip(lines.found, vector["records"], strict=True):
        document = Document.of_record(path, lines.fields(line))
        for key in wanted.keys() - {"line", "record_id"}:
            got = getattr(document, key)
            assert (list(got) if isinstance(got, tuple) else got) == wanted[key], key
        if "record_id" in wanted:
            assert record_id(path, document, line.number) == wanted["record_id"]


def test_what_is_missing_of_the_last_line_is_nobodys_fault(tmp_path: Path) -> None:
    place = Place(tmp_path)
    first = record(text="zebra") + "\n"
    rules = Rules(gitignore=False, jsonl=True, max_file_bytes=len(first) + 10)
    place.root = Root("notes", place.root.path, rules)
    place.write(LOG, first + record(text="zebra and more"))
    place.settle()
    assert kept(place) == [(1, "zebra")]
    assert told(place) is None


def test_an_appended_line_costs_that_line(
    place: Place, analysed: list[str], long_count: Callable[[int], int]
) -> None:
    lines = [record(text=f"zebra {number}") for number in range(long_count(60_000))]
    place.write(LOG, "\n".join(lines) + "\n")
    place.settle()
    assert len(analysed) == len(lines)
    numbers = kept(place, "id, line")
    analysed.clear()
    place.write(LOG, "\n".join([*lines, record(text="quagga")]) + "\n")
    report = place.refresh()
    assert analysed == ["quagga"]
    assert (report.added, report.changed, report.removed) == (1, 0, 0)
    assert kept(place, "id, line")[:-1] == numbers


def test_a_line_that_moved_is_not_read_again(place: Place, analysed: list[str]) -> None:
    lines = [record(text=f"zebra {number}") for number in range(5)]
    written(place, *lines)
    ids = dict(kept(place, "title, id"))
    analysed.clear()
    place.write(LOG, "\n".join([record(text="new"), *reversed(lines[1:])]))
    report = place.refresh()
    assert analysed == ["new"]
    # It has the id of what stood there.
    assert (report.added, report.changed, report.removed) == (0, 1, 0)
    place.check()
    again = dict(kept(place, "title, id"))
    assert {title: again[title] for title in ids.keys() & again} == {
        title: ids[title] for title in ids if title != "zebra 0"
    }


def test_equal_lines_are_records_each(place: Place) -> None:
    line = record(text="zebra")
    written(place, line, line, line)
    assert [number for number, _ in kept(place)] == [1, 2, 3]
    written(place, line, record(text="other"), line)
    assert [number for number, _ in kept(place)] == [1, 2, 3]
    answer = place.answer("zebra")
    assert len(answer.cards) == 1
    assert answer.cards[0].copies == (f"{place.root.path}/{LOG}:3",)


def test_a_changed_line_is_counted_as_one(place: Place) -> None:
    written(place, record(id="a", text="zebra"), record(text="quagga"), record(text="okapi"))
    place.write(LOG, record(id="a", text="zebra 2") + "\n" + record(text="quagga 2") + "\n")
    report = place.refresh()
    assert (report.added, report.changed, report.removed) == (0, 2, 1)
    place.check()


def test_a_file_that_goes_takes_its_records_along(place: Place) -> None:
    written(place, record(text="zebra"), record(text="quagga"))
    place.write("a.md", "# Zebra\n")
    place.fs.delete(place.path(LOG))
    report = place.refresh()
    assert (report.added, report.removed, report.documents) == (1, 2, 1)
    place.check()


def test_a_file_that_can_not_be_read_any_more_has_no_records(place: Place) -> None:
    written(place, record(text="zebra"), record(text="quagga"))
    place.fs.deny(place.path(LOG))
    report = place.refresh()
    assert report.removed == 2
    assert kept(place) == []
    assert str(told(place)).startswith("unreadable")
    place.check()
    place.fs.permit(place.path(LOG))
    assert place.refresh().added == 2
    place.check()


def test_a_new_file_is_searched_before_any_refresh(place: Place) -> None:
    lines = [record(text="zebra"), "none", record(text="quagga")]
    place.write("new.jsonl", "\n".join(lines))
    place.write("new.md", "# Zebra\n")
    place.write("bad.jsonl", "none")
    paths = [b"bad.jsonl", b"new.jsonl", b"new.md"]
    found = beside(place.root, place.fs, paths)
    assert found is not None
    with closing(found):
        numbers = "SELECT id FROM document UNION ALL SELECT id FROM entry"
        assert found.documents() == 3
        assert len({*found.connection.execute(numbers)}) == 5  # a note's two are one
        assert [hit[2:4] for hit in ask([found], "zebra")] == [
            (b"new.jsonl", "zebra"),
            (b"new.md", "Zebra"),
        ]
    assert beside(place.root, place.fs, [b"bad.jsonl"]) is None


def test_private_records_and_spans(place: Place) -> None:
    written(
        place,
        record(private=True, text="zebra one"),
        record(Private="yes", text="zebra two"),
        record(private=False, text="zebra three"),
        record(text="zebra <private>quagga</private> four"),
        record(text="zebra five <private>quagga"),
        r'{"text": "zebra \u003c\u0070rivate> quagga"}',
        '{"private": 1, "private": false, "text": "zebra seven"}',
        record(text="zebra eight"),
    )
    assert [line for line, _ in kept(place)] == [3, 4, 5, 6, 8]
    assert place.answer("quagga").cards == []
    assert place.answer("zebra").total == 5
    assert told(place) is None


def test_private_tags_between_records_withhold_these(place: Place) -> None:
    lines = [record(text=f"zebra {number}") for number in range(4)]
    written(place, lines[0], "<private>", lines[1], "</private>", lines[2], "<private>", lines[3])
    assert kept(place) == [(1, "zebra 0"), (5, "zebra 2")]


def test_a_digest_tells_nothing_of_what_is_private(place: Place) -> None:
    written(place, record(text="zebra <private>one</private>"))
    digests = kept(place, "digest")
    written(place, record(text="zebra <private>another</private>"))
    assert kept(place, "digest") == digests


def test_C4_a_record_is_found_again_in_a_file_that_changed(place: Place) -> None:
    lines = [record(text=f"zebra {number}") for number in range(4)]
    lines[2] = record(id="OWN", text="zebra own")
    written(place, *lines)
    place.fs.forward(SECOND)
    changed = record(id="OWN", text="zebra changed")
    place.write(LOG, "\n".join([record(text="first"), lines[0], lines[1], changed]))
    cards = place.answer("zebra").cards
    assert {(card.line, card.title) for card in cards} == {
        (2, "zebra 0"),
        (3, "zebra 1"),
        (4, "zebra changed"),
    }


def test_a_record_that_turned_private_is_not_shown(place: Place) -> None:
    lines = [record(id="a", text="zebra"), record(id="b", text="zebra b")]
    written(place, *lines)
    place.write(LOG, "\n".join([record(id="a", text="zebra", private=True), "<private>", lines[1]]))
    assert place.answer("zebra").cards == []


def test_a_rebuild_proves_records(place: Place) -> None:
    written(place, record(text="zebra"), "no record", record(id="b", text="quagga"))
    place.write("a.md", "# Zebra\n")
    place.refresh()
    with place.recall() as recall:
        (proof,) = recall.rebuild(only_check=True, deep=True)
        assert proof.equivalent, proof.differences
        assert proof.documents == 3
        (proof,) = recall.rebuild(deep=True)
    assert proof.equivalent
    assert proof.rebuilt
    place.check()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE document SET title = 'x' WHERE line = 1", "line 1: title"),
        ("UPDATE document SET line = 7 WHERE line = 3", "line 3: missing"),
        ("UPDATE document SET digest = zeroblob(32) WHERE line = 3", "line 3: content"),
        ("UPDATE entry SET problem = 'x' WHERE path = x'6c6f672e6a736f6e6c'", "problem"),
    ],
)
def test_a_wrong_row_of_a_record_is_named(place: Place, statement: str, what: str) -> None:
    written(place, record(text="zebra"), "no record", record(id="b", text="quagga"))
    with closing(fresh(place.root, place.fs)) as store:
        store.connection.execute(statement)
        proof = check(place.root, store, place.fs, deep=True)
    assert what in [each for difference in proof.differences for each in difference.what]
    assert not proof.equivalent


@pytest.mark.parametrize(
    "change",
    [
        "line = 'x'",
        "digest = x'00'",
        "digest = 'x'",
        "entry = 77",
        "valid_from_at = 'x'",
        "valid_until_at = x'ff'",
        "record_id = x'00'",
    ],
)
def test_C4_a_row_that_can_not_be_ours_is_made_anew(place: Place, change: str) -> None:
    written(place, record(text="zebra"), record(text="quagga"))
    with closing(place.store()) as store:
        store.connection.execute(f"UPDATE document SET {change} WHERE line = 1")  # noqa: S608
    assert [card.title for card in place.answer("zebra").cards] == ["zebra"]
    place.check()


def test_terms_are_those_of_the_analyzer(place: Place) -> None:
    written(place, record(title="Keys", tags=["Deploy"], text="Rotating the vaults", lang="en"))
    with closing(place.store()) as store:
        found = {term for (term,) in store.connection.execute("SELECT term FROM vocabulary")}
    assert found == {*Analyzer().terms("Keys Deploy Rotating the vaults"), "log"}
