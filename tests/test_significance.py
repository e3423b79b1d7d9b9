"""The paired randomisation test."""

from __future__ import annotations

import random
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.bench import significance
from recall.bench.significance import p_value


def test_nothing_that_differs_is_chance() -> None:
    assert p_value([]) == 1
    assert p_value([0.0, 0.0]) == 1


@pytest.mark.parametrize("count", [1, 2, 5, 14])
def test_all_tosses_are_gone_through(count: int) -> None:
    # Only all heads and all tails are as far from 0.
    assert p_value([0.5] * count + [0.0] * 9) == 2 / 2**count


def test_three_of_four_is_a_binomial() -> None:
    assert p_value([1, 1, 1, -1]) == (2 + 2 * comb(4, 1)) / 16


def test_sizes_count() -> None:
    # Of eight tosses those with 3 + 1 + 1 = 5, and with 3 + 1 - 1 = 3, either way.
    assert p_value([3, 1, -1]) == 6 / 8


def test_drawn_ones_are_close_to_the_binomial() -> None:
    differences = [1.0] * 20 + [-1.0] * 10
    exact = 2 * sum(comb(30, heads) for heads in range(20, 31)) / 2**30
    assert p_value(differences) == pytest.approx(exact, abs=0.01)
    assert p_value(differences) == p_value(differences)
    assert p_value(differences) == p_value(list(reversed(differences)))


def test_drawn_ones_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)  # noqa: S311 - a test's own chance
    differences = [chance.gauss(0.2, 0.5) for _ in range(12)]
    exact = p_value(differences)
    monkeypatch.setattr(significance, "EXACT", 0)
    assert p_value(differences) == pytest.approx(exact, abs=0.015)


def test_it_is_never_impossible() -> None:
    assert p_value([1.0] * 500) == 1 / (1 + significance.DRAWN)


@given(st.lists(st.floats(-1, 1), max_size=20))
def test_it_is_a_probability_and_has_no_side(differences: list[float]) -> None:
    found = p_value(differences, drawn=50)
    assert 0 < found <= 1
    assert found == p_value([-each for each in differences], drawn=50)
