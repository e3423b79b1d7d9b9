"""Words that no note has: which ones they may stand for, and when that is asked at all."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import store

from index_cache.analyze import Analyzers
from recall.asked import Question
from recall.spelling import alike, beginning, distance

LETTERS = st.text("abc", max_size=6)


def slow(one: str, other: str) -> int:
    """Return the optimal string alignment distance, as it is defined."""

    @cache
    def of(i: int, j: int) -> int:
        if not i or not j:
            return i or j
        best = min(
            of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (one[i - 1] != other[j - 1])
        )
        if i > 1 and j > 1 and one[i - 2 : i] == other[j - 2 : j][::-1]:
            best = min(best, of(i - 2, j - 2) + 1)
        return best

    return of(len(one), len(other))


@given(LETTERS, LETTERS)
def test_the_distance_of_two_words(one: str, other: str) -> None:
    assert distance(one, other) == slow(one, other) == distance(other, one)


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("vualt", ["vault", "valve", "vest"], ["vault"]),
        ("valt", ["vault", "salt"], ["vault", "salt"]),
        ("certifcat", ["certif", "certificat", "certain"], ["certif", "certificat"]),
        ("kubernets", ["kubernet", "kube"], ["kubernet"]),
        ("deploi", ["deploy-key", "deployment"], []),
        ("postgr", ["postgresql", "postal"], ["postgresql"]),
        ("key", ["keys", "kei", "hey"], []),
        ("abcd", ["abc", "ab"], ["abc"]),
        ("word", [], []),
    ],
)
def test_what_a_word_may_stand_for(word: str, known: list[str], found: list[str]) -> None:
    assert sorted(alike(word, known)) == sorted(found)


def test_the_likeliest_come_first_and_there_are_few() -> None:
    assert alike("abcdefgh", ["abcdefxy", "abcdefgx"]) == ["abcdefgx", "abcdefxy"]
    many = [f"abcdef{a}{b}" for a in "pqrs" for b in "pqrs"]
    assert alike("abcdefgh", many) == sorted(many)[:8]


@given(st.text("abcd", min_size=4, max_size=9), st.lists(st.text("abcd", max_size=10)))
def test_the_order_of_what_is_known_makes_no_difference(word: str, known: list[str]) -> None:
    assert alike(word, known) == alike(word, sorted(known, reverse=True))


def test_most_slips_come_behind_the_first_letters() -> None:
    assert [beginning(word) for word in ("abcd", "abcde", "abcdef")] == ["ab", "ab", "abc"]


NOTES = {
    "vault.md": {"title": "Vault", "body": "The certificate of the vault."},
    "han.md": {"title": "Han", "body": "日本語能力"},
    **{f"{letter}.md": {"body": f"Garden {letter}x."} for letter in "klmnqrwz"},
}


def forms(text: str, *, thorough: bool) -> list[tuple[str, ...]]:
    asked = Question(text, [store(NOTES)], Analyzers(), thorough=thorough)
    return [term.forms for term in asked.terms]


def test_a_misspelt_word_is_guessed_at_where_it_is_asked_for() -> None:
    assert forms("certifcate", thorough=True) == [("certifc", "certif")]
    assert forms("certifcate", thorough=False) == []
    # What a note has is spelt right.
    assert forms("certificate", thorough=True) == [("certif",)]


def test_Q5_a_single_character_stands_for_the_pairs_that_begin_with_it() -> None:
    for thorough in (True, False):
        assert forms("日", thorough=thorough) == [("日", "日本")]
        assert forms("語", thorough=thorough) == [("語", "語能")]
        assert forms("力", thorough=thorough) == [("力",)]  # the end of a run
        assert forms("京", thorough=thorough) == []


def test_guesses_count_as_documents_with_the_term() -> None:
    asked = Question("certifcate 語", [store(NOTES)], Analyzers(), thorough=True)
    assert dict(asked.whole.frequency) == {"certifc": 1, "語": 1}


def test_few_unknown_words_are_guessed_at() -> None:
    unknown = "vualtt certifcate gardem vaultx certificats"
    looked_up = Question(unknown, [store(NOTES)], Analyzers(), thorough=True).looked_up
    assert [len(term.forms) > 1 for term in looked_up[:4]].count(True) >= 3
    assert sum(len(term.forms) > 1 for term in looked_up) <= 4
