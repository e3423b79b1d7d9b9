"""Operators in the text of a search: as the vectors say, and any text is no error."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT
from vectors import load

from index_cache.analyze import Analyzer
from index_cache.globs import Globs
from recall.operators import KEYS, MAX_OPERATORS, MAX_VALUE, Known, Operators, moment, parse, passes

FILE = load("operators.json")
THERE = FILE["known"]
ANALYZER = Analyzer()
EMPTY = Operators("").as_dict()


def lowered(names: list[str]) -> set[str]:
    return {name.lower() for name in names}


def path(glob: str) -> bool:
    globs = Globs([glob])
    return any(globs.match(each.encode()) for each in THERE["paths"])


KNOWN = Known(
    root=lambda name: name in THERE["roots"],
    type=lambda name: name.lower() in lowered(THERE["types"]),
    tag=lambda name: name.lower() in lowered(THERE["tags"]),
    path=path,
    words=lambda text: bool(ANALYZER.terms(text)),
    now=datetime.fromisoformat(THERE["now"]).timestamp(),
)
PIECES = st.sampled_from(
    [
        *(f"{key}:" for key in KEYS),
        *(
            '"',
            " ",
            "\n",
            "a",
            "release",
            "Decision",
            "notes",
            "docs",
            "2026",
            "-03",
            "30d",
            "w",
            "T",
        ),
        *("\ud800", "\0", "é", ":", "---", "٣"),
    ]
)


@pytest.mark.parametrize("vector", FILE["vectors"], ids=lambda each: str(each["text"]))
def test_vectors(vector: dict[str, Any]) -> None:
    found = parse(vector["text"], KNOWN)
    if vector["parsed"] is None:
        assert not found
        assert found.text == vector["text"]
    else:
        assert found
        assert found.as_dict() == {**EMPTY, **vector["parsed"]}


@given(st.one_of(ANY_TEXT, st.lists(PIECES, max_size=30).map("".join)))
def test_Q1_any_text_is_understood(text: str) -> None:
    found = parse(text, KNOWN)
    if not found:
        assert found.text == text
    assert found.text == found.text.strip() or not found
    # Nothing but operators went: what stays stands there in the same order.
    at = 0
    for word in found.text.split():
        at = text.index(word.strip('"'), at) if word.strip('"') else at


@given(ANY_TEXT)
def test_Q1_without_a_key_or_a_quote_the_text_is_as_it_was(text: str) -> None:
    text = text.replace('"', "").replace(":", "")
    assert parse(text, KNOWN).as_dict() == {**EMPTY, "text": text}


def test_Q1_what_is_long_or_one_too_many_is_text() -> None:
    long = "x" * MAX_VALUE
    assert parse(f"not:{long}", KNOWN).without == [long]
    assert parse(f'"{long}"', KNOWN).phrases == [long]
    for text in (f"not:{long}x", f'"{long}x"', f'not:"{long}x"'):
        assert not parse(text, KNOWN)
    found = parse("not:a " * (MAX_OPERATORS + 2), KNOWN)
    assert found.without == ["a"] * MAX_OPERATORS
    assert found.text == "not:a not:a"
    found = parse("tag:unknown " * MAX_OPERATORS + "tag:release", KNOWN)
    assert not found.tags


def test_Q1_a_large_paste_is_read_at_once() -> None:
    for piece in ('" ', '"a ', 'not:" ', 'not:"x', "tag:a ", '"" ', 'a"'):
        assert not parse(piece * 200_000, KNOWN).tags


@given(
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001
    st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001
    st.sampled_from([4, 7, 10, 16, 19]),
)
def test_times_are_compared_as_times(one: datetime, other: datetime, digits: int) -> None:
    value = moment(one.isoformat()[:digits], 0)
    assert value is not None
    begin = datetime.fromisoformat((value + "0001-01-01T00:00:00"[len(value) :])[:19])
    for note in (other.isoformat(" ", "seconds"), other.isoformat("T", "seconds") + "Z"):
        later = other.replace(microsecond=0) >= begin
        assert passes(note, value, None) == later
        assert passes(note, None, value) != later
    assert not passes("", value, None)
    assert not passes("", None, value)
