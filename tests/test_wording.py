"""One word, one term: known by its English one, with what notes in other languages have of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_cache.analyze import ENGLISH, STEMMERS, Analyzers
from recall import query
from recall.wording import Wording

ANALYZERS = Analyzers()


def wording(*languages: str) -> Wording:
    return Wording(ANALYZERS, languages)


def forms(text: str, *languages: str) -> dict[str, tuple[str, ...]]:
    return {str(term): term.forms for term in wording(*languages).terms(text)}


def test_in_english_a_term_is_its_only_form() -> None:
    assert forms("deploying keys") == {"deploi": ("deploi",), "kei": ("kei",)}
    assert forms("deploying keys", "en") == forms("deploying keys")


def test_a_term_is_english_with_the_forms_of_each_language() -> None:
    assert forms("Schlüsseln", "de") == {"schlusseln": ("schlusseln", "schlussel")}
    assert forms("running", "de") == {"run": ("run", "running")}
    assert forms("sécurité", "fr") == {"securit": ("securit", "secur")}
    assert forms("Zertifikate", "de", "fr") == {
        "zertifik": ("zertifik", "zertifikat"),
    }
    assert forms("running", "") == {"run": ("run", "running")}


def test_words_of_other_scripts_have_one_form_in_all_languages() -> None:
    assert forms("ключами", "de", "fr", "vi") == {"ключ": ("ключ",)}
    assert forms("東京都", "de") == {"東京": ("東京",), "京都": ("京都",)}


def test_a_query_has_no_ends_of_runs() -> None:
    assert list(map(str, wording().terms("東京"))) == ["東京"]
    assert list(map(str, wording("de").terms("重跑gen-itgc后"))) == [
        *("重跑", "gen-itgc", "gen", "itgc", "后"),
    ]


def test_two_words_that_english_does_not_tell_apart_are_one_term_with_the_forms_of_both() -> None:
    one, other = wording("de").terms("general generic")
    assert one is other
    assert one == "gener"
    assert one.forms == ("gener", "general", "generic")


def test_what_was_asked_before_is_the_same_term() -> None:
    words = wording("de")
    (first,) = words.terms("generals")
    before = first.forms
    (again,) = words.terms("generic")
    assert again is first
    assert set(before) < set(first.forms)


def test_identifiers_are_whole_and_in_parts() -> None:
    assert forms("getUserNames", "de") == {
        "getusernam": ("getusernam",),
        "get": ("get",),
        "user": ("user",),
        "name": ("name", "nam"),
    }
    assert forms("DEC-0054", "de", "fr") == {each: (each,) for each in ("dec-0054", "dec", "0054")}


WORDS = (
    "running Schlüsseln sécurité 東京都 ключами DEC-0054 C++ .env naïve Häuser the der la १ generic"
)
TEXTS = st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join)
SPOKEN = st.lists(st.sampled_from([*STEMMERS, "vi", ""]), max_size=3)


@given(TEXTS, SPOKEN)
def test_languages_add_forms_and_change_no_term(text: str, languages: list[str]) -> None:
    plain, several = wording().terms(text), wording(*languages).terms(text)
    assert list(map(str, plain)) == list(map(str, several))
    for one, other in zip(plain, several, strict=True):
        assert set(one.forms) <= set(other.forms)
        assert other.forms[0] == other


@given(TEXTS, SPOKEN)
def test_what_a_note_of_any_of_the_languages_says_has_one_of_the_forms(
    text: str, languages: list[str]
) -> None:
    asked = {form for term in wording(*languages).terms(text) for form in term.forms}
    for language in [ENGLISH, *languages]:
        for said in ANALYZERS[language].words(text):
            assert asked.issuperset(said)


@pytest.mark.parametrize(
    ("text", "languages", "dropped"),
    [
        ("how is the vault", (), {"how", "is", "the"}),
        ("wie ist der vault", ("de",), {"wie", "ist", "der"}),
        ("wie ist der vault", (), set()),
        ("¿cómo está el vault?", ("es",), {"como", "esta", "el"}),
        ("как найти vault", (), {"как"}),
        ("die die vault", ("de",), {"die"}),
        ("Die Hard", (), set()),
    ],
)
def test_Q3_filler_of_the_notes_languages_and_of_other_scripts(
    text: str, languages: tuple[str, ...], dropped: set[str]
) -> None:
    words = wording(*languages)
    filler = words.filler(text, query.FILLER)
    assert {str(term) for term in words.terms(text) if term in filler} == dropped
