"""The language of a text: its author's word, else its function words; what stems depend on."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from typing import Any

import pytest
import Stemmer
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT
from vectors import load

from index_cache import languages
from index_cache.analyze import STEMMERS
from index_cache.languages import FUNCTION_WORDS, guessed, language, named

VECTORS = load("languages.json")
OTHERS = {"ru", "uk", "el", "ar", "fa", "he", "hi", "ko"}
LATIN = [code for code in FUNCTION_WORDS if code not in OTHERS]
# As a note is written: function words between words that are in no list.
WORDS = st.sampled_from(" ".join(FUNCTION_WORDS.values()).split())
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from(["kubectl", "naïve", "```", "l'"]))).map(" ".join)


@pytest.mark.parametrize("vector", VECTORS["named"], ids=lambda vector: repr(vector["value"]))
def test_Q2_named_vectors(vector: dict[str, str]) -> None:
    assert named(vector["value"]) == vector["language"]


@pytest.mark.parametrize("vector", VECTORS["guessed"], ids=lambda vector: vector["text"][:40])
def test_Q2_guessed_vectors(vector: dict[str, str]) -> None:
    assert guessed(vector["text"]) == vector["language"]


@pytest.mark.parametrize("vector", VECTORS["language"], ids=repr)
def test_Q2_language_vectors(vector: dict[str, str]) -> None:
    assert language(vector["declared"], vector["text"]) == vector["language"]


def test_Q2_every_stemmer_exists() -> None:
    assert set(STEMMERS.values()) <= set(Stemmer.algorithms())
    assert all(named(code) == code for code in STEMMERS)
    assert {named(name) for name in {*STEMMERS.values()} - {"porter"}} == set(STEMMERS) - {"en"}


def test_Q2_every_language_has_its_words() -> None:
    assert {*STEMMERS, "vi", *OTHERS} - {"eo"} == set(FUNCTION_WORDS)
    for code, text in FUNCTION_WORDS.items():
        words = text.split()
        assert 20 <= len(words) <= 41, code
        assert len(words) == len(set(words)), code
        assert text == unicodedata.normalize("NFC", text.lower()), code


@pytest.mark.parametrize("code", LATIN)
def test_Q2_a_list_is_in_its_own_language(code: str) -> None:
    assert guessed(FUNCTION_WORDS[code]) == code
    # Case, line ends and what surrounds them do not matter, nor how letters are encoded.
    words = FUNCTION_WORDS[code].split()
    assert guessed(unicodedata.normalize("NFD", "\n".join(words).title())) == code
    assert guessed(" kubectl ".join(words)) == code


@given(st.one_of(ANY_TEXT, TEXTS))
def test_Q2_any_text_has_an_answer_that_depends_on_it_alone(text: str) -> None:
    found = guessed(text)
    assert found == "" or found in LATIN or found in languages._MORE_WORDS
    assert found not in OTHERS
    words = text.split(" ")
    guessed("x")
    assert guessed(text) == found
    if len(text) < 700 and "```" not in text and "l'" not in text:
        assert guessed(" ".join(reversed(words))) == found, "the order of words does not matter"


@given(ANY_TEXT)
def test_Q2_any_value_names_a_language_or_none(value: str) -> None:
    found = named(value)
    assert found == "" or (found.isascii() and found.isalpha() and len(found) in (2, 3))
    assert named(found) == found
    assert language(value, "der Server wird neu gestartet") in ("de", found)


def test_Q2_only_the_beginning_counts() -> None:
    english = "the server is restarted when you rotate this key and it should be in that list "
    german = "der server wird neu gestartet wenn das nicht ist und sich die liste mit dem "
    assert guessed(english * 40 + german * 200) == "en"
    assert guessed(german * 40 + english * 200) == "de"


def test_Q2_english_words_outweigh_a_few_others() -> None:
    few = "der wird"
    assert guessed(few) == "de"
    assert guessed(few + " that this") == "en"
    assert guessed(few + " das that this") == "de"


def _ran(code: str) -> Any:
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return run.stdout.split()


def test_H1_the_module_imports_nothing() -> None:
    code = (
        "import __future__, sys, index_cache; before = set(sys.modules);"
        "import index_cache.languages as l;"
        "l.language('', 'the'); l.language('de', ''); l.guessed('naïve ist der die das');"
        "print(*sorted(set(sys.modules) - before))"
    )
    assert _ran(code) == ["index_cache.languages"]


def test_Q2_the_answer_is_the_same_in_any_process() -> None:
    # Words are kept in sets, whose order differs from process to process.
    texts = [vector["text"] for vector in VECTORS["guessed"]] + [
        "de la en",
        "det er en",
        "se de que es la",
        "og ikke på æ å",
    ]
    code = f"from index_cache.languages import guessed; print(*map(repr, map(guessed, {texts!r})))"
    assert _ran(code) == [repr(guessed(text)) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        "Rotate the keys: this is what you do when the old ones are lost, and it is quick. " * 9,
        "Der Server wird neu gestartet, wenn die Schlüssel für das Archiv nicht da sind. " * 20,
    ],
    ids=["English", "German"],
)
def test_H1_a_guess_is_quick(text: str) -> None:
    found, cost = steps(lambda: guessed(text), repeat=200)
    assert found
    assert cost < len(text)
