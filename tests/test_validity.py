"""From when, and until when, a note is valid: decided at the moment of the query."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hook_support import configure, considered, index, write
from hypothesis import given
from hypothesis import strategies as st
from stateful_support import SECOND, START, Place
from vectors import load

from index_cache import search
from index_cache.files import FileSystem
from index_cache.filters import Filter
from index_cache.model import Root, Rules
from index_cache.moments import FIRST, LAST, instant, local, parsed
from recall.consult import records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime.fromtimestamp(START // SECOND, UTC)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.root = Root("notes", made.root.path, Rules(gitignore=False, jsonl=True))
    return made


def note(title: str, **bounds: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in bounds.items())
    return f"---\ntags: [t]\n{lines}---\n# {title}\n\nzebra\n"


def at(seconds: float) -> str:
    return (NOW + timedelta(seconds=seconds)).isoformat()


def found(place: Place, text: str = "zebra", **options: Any) -> tuple[list[str], int, int]:
    answer = place.answer(text, **options)
    return sorted(card.title for card in answer.cards), answer.total, answer.not_valid


@pytest.mark.parametrize(
    ("bounds", "valid"),
    [
        ({}, True),
        ({"valid_from": at(0)}, True),  # inclusive
        ({"valid_from": at(0.000001)}, False),
        ({"valid_from": at(-1)}, True),
        ({"valid_until": at(0)}, False),  # exclusive
        ({"valid_until": at(0.000001)}, True),
        ({"valid_from": at(-1), "valid_until": at(1)}, True),
        ({"valid_from": at(1), "valid_until": at(-1)}, False),
        ({"valid_from": "soon"}, True),
        ({"valid_until": "2026-13-01"}, True),
        ({"valid_until": "2000-01-01"}, False),
    ],
)
@pytest.mark.parametrize("query", ["zebra", "zebra tag:t", "tag:t", "zebra -k", "title"])
def test_bounds(place: Place, bounds: dict[str, str], valid: bool, query: str) -> None:
    place.write("a.md", note("title", **bounds))
    place.write("b.jsonl", json.dumps({"title": "title r", "text": "zebra", "tags": "t", **bounds}))
    place.write("c.md", note("title always"))
    place.refresh()
    place.fs.time = START  # the same moment, whatever the refresh took
    wanted = ["title", "title always", "title r"] if valid else ["title always"]
    counts = (3, 0) if valid else (1, 2)
    assert found(place, query, operators=True) == (wanted, *counts)


def test_only_what_would_be_found_is_counted(place: Place) -> None:
    place.write("a.md", note("one", valid_until=at(0)))
    place.write("b.md", note("two", valid_until=at(0)).replace("zebra", "quagga"))
    place.write("c.md", note("three", type="Journal", valid_until=at(0)))
    place.refresh()
    assert found(place) == ([], 0, 1)
    assert found(place, include_journal=True) == ([], 0, 2)
    assert found(place, types="Journal") == ([], 0, 1)
    assert found(place, "okapi") == ([], 0, 0)


def test_an_edited_note_is_judged_by_what_it_says_now(place: Place) -> None:
    place.write("a.md", note("one"))
    place.write("b.jsonl", json.dumps({"id": "r", "title": "two", "text": "zebra"}))
    place.refresh()
    place.fs.forward(SECOND)
    assert found(place)[0] == ["one", "two"]
    place.write("a.md", note("one", valid_until=at(0)))
    ended = {"id": "r", "title": "two", "text": "zebra", "valid_until": at(0)}
    place.write("b.jsonl", json.dumps(ended))
    assert found(place)[0] == []


def test_what_is_no_time_is_told(place: Place) -> None:
    place.write("a.md", note("one", valid_from="soon"))
    lines = [
        {"text": "zebra", "valid_until": each} for each in ("", "20-26", "never", "2026-01-01")
    ]
    place.write("b.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines))
    report = place.refresh()
    told = {each.path: each.reason for each in report.skipped}
    what = "a time in valid_from or valid_until can't be read"
    assert told == {b"a.md": f"indexed, but {what}", b"b.jsonl": f"{what} on line 2 and 1 more"}
    place.write("b.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines[::-1]))
    place.refresh()
    place.check()  # although no line was read again


def test_what_is_no_text_is_told_as_no_time(place: Place) -> None:
    place.write("a.md", note("list", valid_until="[2020-01-01]"))
    place.write("c.md", note("mapping", valid_from="{from: 2020-01-01}"))
    place.write("d.md", note("nothing", valid_from=""))
    bounds: list[Any] = [["2020-01-01"], [], {}, None, "2999"]
    lines = [{"text": "zebra", "valid_until": each} for each in bounds]
    place.write("b.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines))
    told = {each.path: each.reason for each in place.refresh().skipped}
    what = "a time in valid_from or valid_until can't be read"
    assert told == {
        b"a.md": f"indexed, but {what}",
        b"b.jsonl": f"{what} on line 1 and 2 more",
        b"c.md": f"indexed, but {what}",
    }
    assert found(place)[1:] == (4, 0)  # all: the lines have one text
    place.write("b.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines[::-1]))
    place.refresh()
    place.check()  # although no line was read again


def test_the_hook_injects_nothing_that_is_not_valid(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = tmp_path / "notes"
    keys = "# Rotate the deploy keys\n\nThe deploy keys live in the vault, one quarter each.\n"
    write(notes, {"keys.md": f"---\nid: KEY-7\nvalid_until: 2026-01-02T03:04:05Z\n---\n{keys}"})
    write(notes, {"other.md": "# Kestrel feeder\n\nIt drops pellets.\n"})
    configure(home, f"[roots]\nnotes = '{notes}'\n")
    index()
    ends = int(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()) * SECOND
    for prompt in ("where do the deploy keys live in the vault?", "what says KEY-7?", "keys.md"):
        for moment, titles in ((ends - 1000, ["Rotate the deploy keys"]), (ends, [])):
            monkeypatch.setattr(FileSystem, "now_ns", lambda _, moment=moment: moment)
            assert [card.title for card in considered(prompt)[1]] == titles, prompt


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01", 1),  # without a zone it is UTC
        ("1970-01-01 01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.5Z", -0.5),
        ("2026-11-30T12:00:00.000001Z", 1_796_040_000.000001),
        ("0001-01-01T00:00:00+14:00", None),  # before any year that has a number
        ("9999-12-31T23:59:59-14:00", None),
        ("", None),
        ("yesterday", None),
        ("2026", 1_767_225_600),
        ("2026-02-30", None),
        ("\ud800", None),
        ("2026-01-01\0", None),
    ],
)
def test_instants(text: str, seconds: float | None) -> None:
    assert instant(text) == (None if seconds is None else round(seconds * 1_000_000))


@pytest.mark.parametrize("vector", load("records.json")["instants"], ids=lambda each: each["text"])
def test_vectors_of_instants(vector: dict[str, Any]) -> None:
    assert instant(vector["text"]) == vector["microseconds"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("2026-03-01", "2026-03-01T23:59:59.999999"),
        ("2026-060", "2026-03-01T23:59:59.999999"),
        ("2026-W09", "2026-03-01T23:59:59.999999"),
        ("2026-W09-1", "2026-02-23T23:59:59.999999"),
        ("2024-02", "2024-02-29T23:59:59.999999"),
        ("2026-12", "2026-12-31T23:59:59.999999"),
        ("9999", "9999-12-31T23:59:59.999999"),
        ("2026-03-01T00:00", "2026-03-01T00:00:00"),
    ],
)
def test_the_last_instant_of_what_takes_longer(text: str, last: str) -> None:
    assert instant(text, last=True) == instant(last)


@given(
    st.text("0123456789-:TtZzW+., ", max_size=30)
    | st.datetimes().map(lambda each: each.isoformat())
    | st.dates().map(lambda each: each.strftime("%G-W%V-%u"))
)
def test_any_text_is_a_time_or_none(text: str) -> None:
    found = instant(text)
    assert found is None or FIRST <= found <= LAST
    if found is not None:
        assert records.iso(found)
        last = instant(text, last=True)
        assert last is None or found <= last <= LAST
    with suppress(ValueError):
        # The library takes any sign between a date and a time, and zones of seconds.
        if len(text) > 10 and text[10] == "T" and len(text) < len("2026-01-01T00:00:00.000000+"):
            assert parsed(text) == datetime.fromisoformat(text)


def test_a_time_without_a_zone_is_local_where_people_say_when_a_note_is_stale() -> None:
    assert local("2026-01-01") == datetime(2026, 1, 1).timestamp()  # noqa: DTZ001
    assert local("2026-01-01", end=True) == datetime(2026, 1, 2).timestamp()  # noqa: DTZ001
    assert local("2026-01-01T00:00:00Z", end=True) == 1_767_225_600.0


def test_where_nothing_has_bounds_nothing_is_asked(place: Place) -> None:
    """Plain searches ask FTS5 alone, and one look at two empty indexes tells them to."""
    place.write("a.md", note("one"))
    place.refresh()
    with closing(place.store()) as store:
        asked = f"EXPLAIN QUERY PLAN {search._ENDS}"
        plan = [str(row[3]) for row in store.connection.execute(asked)]
        assert search.invalid(store, Filter(valid_at=0)) == ""
    indexes = {each for each in plan if "INDEX" in each}
    assert indexes == {
        "SEARCH document USING COVERING INDEX document_from (valid_from_at>?)",
        "SEARCH document USING COVERING INDEX document_until (valid_until_at>?)",
    }


def test_many_that_are_not_valid(place: Place, long_count: Callable[[int], int]) -> None:
    count = long_count(20_000)
    lines = [{"text": f"zebra {each}", "valid_until": at(each)} for each in range(count)]
    place.write("b.jsonl", "".join(f"{json.dumps(each)}\n" for each in lines))
    place.refresh()
    place.fs.time = START + count // 2 * SECOND
    answer = place.answer("zebra")
    assert (answer.total, answer.not_valid) == (count - count // 2 - 1, count // 2 + 1)
