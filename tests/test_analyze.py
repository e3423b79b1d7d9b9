"""The one analyzer: what text becomes, and that nothing around a chunk changes it."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

import apsw
import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st
from vectors import load

from index_cache.analyze import ENGLISH, MAX_TERM, STEMMERS, TOKENIZER, Analyzer, Analyzers

ANALYZERS = Analyzers()
ANALYZER = ANALYZERS[ENGLISH]
LANGUAGES = st.sampled_from([*STEMMERS, "vi", ""])
PUNCTUATION = "_-./:@#+()[]{}\"'*`<>,;!?$%&=~^|\\"
# Chunks as programmers and writers of several languages make them.
CHARS = st.one_of(
    st.sampled_from("abcXYZ019" + PUNCTUATION),
    st.sampled_from(
        "éßøđÆİıǅſ日本語かカナ々한글ไทยខ្មະျहिي\u0301\u0951\u200d\u200b\u00ad\ufeffⅣ①ﬁﷺ\u1fc1"
    ),
    st.characters(),
)
CHUNKS = st.text(CHARS, min_size=1, max_size=12)
TEXTS = st.text(st.one_of(CHARS, st.sampled_from(" \n\t\u00a0\u2003\x1c\x85")), max_size=80)


@pytest.mark.parametrize("vector", load("analyze.json"), ids=lambda vector: vector["text"] or "-")
def test_Q2_Q5_Q6_vectors(vector: dict[str, Any]) -> None:
    language = vector.get("language", "en")
    assert ANALYZERS[language].terms(vector["text"]) == vector["terms"]
    assert Analyzer(language).terms(vector["text"]) == vector["terms"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("get user name", "getUserName"),
        ("overtime service", "OvertimeService"),
        ("sqlite vec", "sqlite-vec"),
        ("scope pkg", "@scope/pkg"),
        ("env", ".env"),
        ("東京", "東京都庁"),
        ("gen-itgc", "重跑gen-itgc后"),
    ],
)
def test_Q2_Q5_each_term_of_one_is_a_term_of_the_other(one: str, other: str) -> None:
    asked = {form for forms in ANALYZER.words(one) for form in forms}
    assert asked <= set(ANALYZER.terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe\u0301"),
        ("Ｆｕｌｌ", "full"),
        ("Straße", "STRASSE"),
        ("ﬁle", "file"),
        ("Đường", "duong"),
        ("smørrebrød", "smorrebrod"),
        ("각", "\u1100\u1161\u11a8"),
        ("ガ", "\u30ab\u3099"),
        ("ｶﾞ", "ガ"),
        ("ﺍﻟﺴﻼﻡ", "السلام"),
    ],
)
def test_Q6_two_ways_to_write_a_word_meet(one: str, other: str) -> None:
    assert ANALYZER.terms(one) == ANALYZER.terms(other)


def test_a_whole_identifier_is_a_term_of_its_own() -> None:
    assert "v1.2.3" in ANALYZER.terms("v1.2.3")
    assert "v1.2.3" not in ANALYZER.terms("v1.2.4")
    assert ANALYZER.terms("c++")[0] != ANALYZER.terms("c#")[0] != ANALYZER.terms("c")[0]


def assert_terms(terms: list[str]) -> None:
    for term in terms:
        assert 0 < len(term) <= MAX_TERM
        assert not any(char.isspace() or char == "\0" for char in term)
        term.encode("utf-8")


@given(TEXTS)
def test_terms_hold_no_blanks_and_are_short(text: str) -> None:
    assert_terms(ANALYZER.terms(text))


@given(st.sampled_from(["a", "aB", "1", "日", "ไ", "한", "é", "ß", "a-", "A1.", "İ", "ﷺ", "(a"]))
def test_terms_of_long_chunks_are_short(unit: str) -> None:
    terms = ANALYZER.terms(unit * 200)
    assert terms
    assert_terms(terms)


def test_terms_of_every_character() -> None:
    skipped = ("CJK UNIFIED", "CJK COMPAT", "HANGUL SYLLABLE", "TANGUT", "<")
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if not unicodedata.name(char, "<").startswith(skipped):
            assert_terms(ANALYZER.terms(char))
            assert_terms(ANALYZER.terms(f"a{char}b"))


@given(CHUNKS)
def test_the_quick_way_through_a_chunk_gives_what_the_long_way_gives(chunk: str) -> None:
    assert ANALYZER.chunk(chunk) == ANALYZER.chunk_by_class(chunk)


def test_the_quick_way_with_all_that_may_stand_around_a_word() -> None:
    around = ["", *PUNCTUATION, "((", '."', "**", ").", "++", "'s"]
    words = ["a", "I", "word", "Word", "WORD", "wOrd", "running", "sses", "x" * 70, "A" * 70]
    for before in around:
        for after in around:
            for word in words:
                chunk = before + word + after
                assert ANALYZER.chunk(chunk) == ANALYZER.chunk_by_class(chunk), chunk


@given(st.lists(TEXTS, max_size=4), st.sampled_from([" ", "\n", "\u2003"]))
def test_analysing_joined_texts_joins_their_terms(texts: list[str], blank: str) -> None:
    apart = [term for text in texts for term in ANALYZER.terms(text)]
    assert ANALYZER.terms(blank.join(texts)) == apart


@given(TEXTS)
def test_what_was_seen_before_makes_no_difference(text: str) -> None:
    assert ANALYZER.text(text) == Analyzer().text(text)


def test_forgetting_what_was_seen_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index_cache.analyze._MAX_REMEMBERED", 2)
    analyzer = Analyzer()
    for _ in range(3):
        for vector in load("analyze.json"):
            if "language" not in vector:
                assert analyzer.terms(vector["text"]) == vector["terms"]


@given(TEXTS, LANGUAGES)
def test_words_are_the_terms_without_the_ends_of_runs(text: str, language: str) -> None:
    analyzer = ANALYZERS[language]
    words = analyzer.words(text)
    assert all(0 < len(forms) <= 2 for forms in words)
    assert_terms([form for forms in words for form in forms])
    terms = iter(analyzer.terms(text))
    ends: list[str] = []
    for form in (form for forms in words for form in forms):
        ends += iter(terms.__next__, form)  # what notes have before it
    ends += terms
    assert all(len(end) == 1 for end in ends)
    kinds = [ANALYZER.classes(unicodedata.normalize("NFKC", end)) for end in ends]
    assert set(kinds) <= {"c", "k"}


@given(TEXTS, LANGUAGES)
def test_a_language_changes_the_forms_of_words_and_not_which_there_are(
    text: str, language: str
) -> None:
    assert len(ANALYZERS[language].words(text)) == len(ANALYZER.words(text))


@given(CHUNKS, LANGUAGES)
def test_the_quick_way_gives_the_same_in_each_language(chunk: str, language: str) -> None:
    analyzer = ANALYZERS[language]
    assert analyzer.chunk(chunk) == analyzer.chunk_by_class(chunk)


@given(st.text(st.characters(max_codepoint=0x24F, categories=["L"]), min_size=1), LANGUAGES)
def test_Q6_a_word_without_its_accents_has_a_term_of_the_word(word: str, language: str) -> None:
    analyzer = ANALYZERS[language]
    bare = unicodedata.normalize("NFD", word.lower())
    bare = "".join(char for char in bare if not unicodedata.combining(char))
    (asked,) = analyzer.words(bare.title())[:1]
    (said,) = analyzer.words(word.title())[:1]
    if bare.isascii():
        assert set(asked) & set(said)


def test_every_algorithm_is_there() -> None:
    import Stemmer

    assert {*STEMMERS.values()} <= {*Stemmer.algorithms()}
    assert all(ANALYZERS[each].words("xyzzy") for each in STEMMERS)


@given(st.lists(TEXTS, max_size=5))
def test_fts5_takes_the_terms_as_they_are(texts: list[str]) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE f USING fts5 (t, tokenize="{TOKENIZER}")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab (f, row)")
    wanted: dict[str, int] = {}
    for text in texts:
        connection.execute("INSERT INTO f VALUES (?)", (ANALYZER.text(text),))
        for term in ANALYZER.terms(text):
            wanted[term] = wanted.get(term, 0) + 1
    assert dict(connection.execute("SELECT term, cnt FROM v")) == wanted
    connection.close()


UNITS = ["a", "a-", "aB", "日", "(", "é", "a++", "data:", "data:a/b,", ".@", "1.", "data:a/", "a#"]


@pytest.mark.parametrize("unit", UNITS)
def test_one_long_chunk_takes_no_more_than_a_moment(unit: str) -> None:
    text = unit * (500_000 // len(unit))
    _, cost = steps(lambda: ANALYZER.text(text))
    assert cost < 100 * len(text)
