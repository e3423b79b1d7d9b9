"""Four letters in a row: which there are, and what they say of texts."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT

from index_cache.analyze import Analyzer
from recall.grams import LOOKED_AT, Grams

CLASSES = Analyzer().classes


def grams(text: str) -> Grams:
    return Grams(text.split(), CLASSES)


def scores(query: str, *texts: str, notes: int = 100) -> list[float]:
    asked = grams(query)
    return asked.scores([asked.prepared(text) for text in texts], notes)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("vault", [" vau", "vaul", "ault", "ult "]),
        ("key", [" key", "key "]),
        ("ab", [" ab "]),
        ("a", [" a "]),
        ("Über", [" übe", "über", "ber "]),
        ("sqlite-vec", [" sql", "sqli", "qlit", "lite", "ite ", " vec", "vec "]),
        ("日本語", ["日", "本", "語"]),
        ("한국", ["한", "국"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("Ｆｕｌｌ", [" ful", "full", "ull "]),
        ("keys, keys", [" key", "keys", "eys "]),
        ("", []),
        ("!?", []),
    ],
)
def test_the_grams_of_a_word(word: str, found: list[str]) -> None:
    assert grams(word)._grams == found


def test_parts_of_compounds_and_slips_are_found() -> None:
    compound, plain = scores("Zertifikat", "Serverzertifikate laufen ab", "Der Garten blüht")
    assert compound > plain == 0
    slip, other = scores("certifcate", "the certificate of the host", "garden and tulips")
    assert slip > other == 0


def test_a_gram_of_one_text_says_more_than_one_of_all() -> None:
    rare, common, _ = scores("vault", "vault garden", "vaul garden", "ault garden")
    assert rare > common > 0


def test_the_score_is_that_of_the_page() -> None:
    texts = ["vault keys", "garden keys of old", "tulips"]
    asked = grams("keys")  # " key", "keys", "eys "
    prepared = [asked.prepared(text) for text in texts]
    average = sum(map(len, prepared)) / 3
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5)) * log(1 + 500) / log(1 + 3)
    expected = [
        3 * idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * len(text) / average)) if "keys" in text else 0.0
        for text in prepared
    ]
    assert asked.scores(prepared, 500) == pytest.approx(expected)


def test_a_word_counts_once_however_often_it_is_said() -> None:
    asked = grams("vault")
    assert asked.prepared("Vault keys vault, vault KEYS") == " vault keys vault  "
    once, often = scores("vault", "the vault", "the vault vault vault", "x")[:2]
    assert once == often


def test_one_text_and_none() -> None:
    assert grams("vault").scores([], 10) == []
    assert scores("vault", "vault", notes=1)[0] > 0
    assert scores("", "vault", "") == [0.0, 0.0]
    assert scores("vault", "") == [0.0]


def test_of_a_long_text_the_beginning_is_looked_at() -> None:
    asked = grams("vault")
    filling = "x " * (LOOKED_AT // 2)
    assert "vault" not in asked.prepared(filling + "vault")
    assert "vault" in asked.prepared("vault " + filling)


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=5), st.integers(0, 1_000))
def test_any_text_is_no_error(query: str, texts: list[str], notes: int) -> None:
    found = scores(query, *texts, notes=notes)
    assert len(found) == len(texts)
    assert all(score >= 0 for score in found)


@given(st.lists(st.text("abcde ", max_size=12), max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_texts_makes_no_difference(texts: list[str], rng: object) -> None:
    plain = dict(zip(texts, scores("abcd bcde", *texts), strict=True))
    shuffled = sorted(texts, key=lambda _: rng.random())  # type: ignore[attr-defined]
    assert dict(zip(shuffled, scores("abcd bcde", *shuffled), strict=True)) == pytest.approx(plain)
