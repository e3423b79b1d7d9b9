"""What speaks for a hit: each feature against what its page says, worked out the slow way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_rank import hit

from index_cache import schema
from recall import relevance
from recall.relevance import WINDOW, freshness, in_fields, passage, precision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Hit

CLOSE = 1e-9


def at(*places: Sequence[int], length: int = 1_000) -> Hit:
    """Return a hit with its terms at these places of its body."""
    made = hit()
    made.length = length
    made.places = [*places]
    made.occurrences = [None] * len(places)
    return made


def saturated(weights: Sequence[float], counts: Sequence[int], length: int) -> float:
    """Return the bm25 of a passage, by the formula of the page."""
    norm = 1.2 * (0.25 + 0.75 * min(WINDOW, length) / 140)
    return sum(w * n * 2.2 / (n + norm) for w, n in zip(weights, counts, strict=True))


def slow(found: Hit, weights: Sequence[float]) -> float:
    """Return the best of all windows, each counted anew."""
    starts = {place for places in found.places for place in places}
    windows = (
        [sum(start <= place < start + WINDOW for place in places) for places in found.places]
        for start in starts
    )
    return max((saturated(weights, each, found.length) for each in windows), default=0.0)


PLACES = st.lists(st.integers(0, 900), max_size=12, unique=True).map(sorted)


@given(st.lists(st.tuples(PLACES, st.floats(0.01, 12)), max_size=5), st.integers(1, 1_000))
def test_a_passage_is_the_best_of_all_windows(
    terms: list[tuple[list[int], float]], length: int
) -> None:
    found = at(*(places for places, _ in terms), length=length)
    weights = [weight for _, weight in terms]
    assert passage(found, weights) == pytest.approx(slow(found, weights), abs=CLOSE)


def test_what_stands_further_apart_than_a_passage_does_not_add_up() -> None:
    alone = passage(at([10], []), [3.0, 3.0])
    assert passage(at([10], [10 + WINDOW]), [3.0, 3.0]) == pytest.approx(alone)
    assert passage(at([10], [9 + WINDOW]), [3.0, 3.0]) == pytest.approx(2 * alone)
    assert passage(at([10], [5_000]), [3.0, 3.0]) == pytest.approx(alone)


def test_a_passage_of_nothing_is_nothing() -> None:
    assert passage(at(), []) == 0
    assert passage(at([], []), [1.0, 2.0]) == 0


def test_a_long_note_loses_nothing_by_its_length() -> None:
    assert passage(at([7], length=WINDOW), [2.0]) == passage(at([7], length=100_000), [2.0])
    assert passage(at([7], length=20), [2.0]) > passage(at([7], length=WINDOW), [2.0])


TITLE, ALIASES, PATH = schema.TITLE, schema.ALIASES, schema.PATH
ONLY = {
    field: [int(number == field) for number in range(len(schema.FIELDS))]
    for field in range(len(schema.FIELDS))
}


def test_a_term_in_any_of_some_fields_counts_once() -> None:
    found = hit()
    found.occurrences = [ONLY[TITLE], ONLY[ALIASES], ONLY[PATH], None]
    weights = [1.0, 2.0, 4.0, 8.0]
    assert in_fields(found, weights, (TITLE,)) == 1
    assert in_fields(found, weights, (TITLE, ALIASES)) == 3
    assert in_fields(found, weights, (PATH,)) == 4
    found.occurrences = [[3, 2, 0, 0, 0, 0, 9], None, None, None]
    assert in_fields(found, weights, (TITLE, ALIASES)) == 1


def words(*forms: str) -> list[tuple[str, ...]]:
    return [(form,) for form in forms]


UNSAID = 1.0


def test_a_title_that_the_query_says_wholly_has_all() -> None:
    assert precision({"vault": 3.0, "kei": 2.0}, [words("vault", "kei")], UNSAID) == 1
    assert precision({"vault": 3.0, "kei": 2.0}, [words("vault")], UNSAID) == 1
    assert precision({"vault": 3.0}, [words("vault", "kei")], UNSAID) == 3 / 4
    assert precision({"vault": 3.0}, [words("garden")], UNSAID) == 0
    assert precision({}, [], UNSAID) == 0


def test_of_several_names_the_best_one_counts() -> None:
    names = [words("garden"), words("vault", "kei", "rotat"), words("vault", "kei")]
    assert precision({"vault": 3.0}, names, UNSAID) == 3 / 4


def test_a_title_of_one_common_word_is_no_exact_answer() -> None:
    assert precision({"note": 0.5}, [words("note")], UNSAID) == 0.5 / relevance._LEAST_TITLE
    assert precision({"note": 2.0}, [words("note")], UNSAID) == 1


def test_a_word_of_a_title_counts_by_its_best_form() -> None:
    assert precision({"secur": 3.0, "securit": 1.0}, [[("secur", "securit")]], UNSAID) == 1


def test_words_of_a_title_that_are_not_asked_for_count_alike() -> None:
    title = [("secur", "securit"), ("serveur", "other")]
    assert precision({"securit": 2.0}, [title], 2.0) == 1 / 2
    assert precision({"securit": 2.0}, [[*title, ("third",)]], 3.0) == 1 / 4
    assert precision({"securit": 2.0}, [title], 0.0) == 1


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 10)),
    st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=4), max_size=4),
)
def test_precision_is_a_share(weights: dict[str, float], titles: list[list[str]]) -> None:
    found = precision(weights, [words(*title) for title in titles], UNSAID)
    assert 0 <= found <= 1 + CLOSE
    assert bool(found) == any(word in weights for title in titles for word in title)


NOW = datetime(2026, 11, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("modified", "kind", "fresh"),
    [
        ("2026-11-30T00:00:00Z", "", 1.0),
        ("2026-09-01T00:00:00Z", "note", 0.5),
        ("2026-06-03T00:00:00Z", "", 0.25),
        ("2027-06-03T00:00:00Z", "", 1.0),
        ("2020-01-01", "Decision", 1.0),
        ("", "adr", 1.0),
        ("", "", 0.0),
        ("last week", "", 0.0),
        ("2026-13-01", "journal", 0.0),
    ],
)
def test_freshness_halves_in_a_quarter(modified: str, kind: str, fresh: float) -> None:
    assert freshness(modified, kind, NOW) == pytest.approx(fresh, abs=1e-3)


@given(st.text(max_size=25) | st.dates().map(str) | st.datetimes().map(str), st.floats(0, 4e9))
def test_freshness_of_any_text_is_a_share(modified: str, now: float) -> None:
    assert 0 <= freshness(modified, "", now) <= 1
