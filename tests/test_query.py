"""A prompt to terms: any text is a query, the rarest terms that the corpus knows are searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cost_support import steps
from hypothesis import given, settings
from hypothesis import strategies as st
from search_support import store, terms

from index_cache.analyze import Analyzer, Analyzers
from index_cache.search import Statistics
from recall import Recall, query
from recall.asked import Question
from recall.query import FEW_DOCUMENTS, FILLER, MAX_LOOKED_UP, MAX_TERMS, choose, to_look_up

if TYPE_CHECKING:
    from collections.abc import Iterator

ANALYZER = Analyzer()
FILLERS: set[str] = set(ANALYZER.terms(FILLER))


def known(documents: int, **frequency: int) -> Statistics:
    return Statistics(documents, documents * 10, frequency)


def test_terms_are_looked_up_once_in_order() -> None:
    assert to_look_up(terms("b", "a", "b", "c", "a")) == ["b", "a", "c"]
    assert to_look_up([]) == []


def test_Q4_of_too_many_terms_the_longest_are_looked_up_wherever_they_stand() -> None:
    short = [f"s{number}" for number in range(MAX_LOOKED_UP * 2)]
    taken = to_look_up(terms(*short, "a-long-identifier", *short))
    assert len(taken) == MAX_LOOKED_UP
    assert taken[0] == "a-long-identifier"


def test_Q4_the_rarest_known_terms_are_searched() -> None:
    corpus = known(5_000, common=2_000, rare=3, rarer=1, gone=0)
    asked = terms("common", "unknown", "gone", "rare", "rarer")
    assert choose(asked, corpus, FILLERS) == ["rarer", "rare", "common"]


def test_terms_of_one_frequency_come_in_one_order() -> None:
    corpus = known(5_000, a=2, b=2, c=2)
    assert choose(terms("c", "a", "b"), corpus, FILLERS) == choose(
        terms("b", "c", "a"), corpus, FILLERS
    )


def test_no_more_terms_than_tell_something() -> None:
    frequency = {f"t{number:03}": number + 1 for number in range(100)}
    chosen = choose(terms(*reversed(frequency)), Statistics(5_000, 1, frequency), FILLERS)
    assert chosen == list(frequency)[:MAX_TERMS]


def test_Q3_terms_of_most_documents_count_only_alone() -> None:
    corpus = known(10, everywhere=9, half=5, topic=1)
    assert choose(terms("everywhere", "half", "topic"), corpus, FILLERS) == ["topic", "half"]
    assert choose(terms("everywhere"), corpus, FILLERS) == ["everywhere"]


def test_Q3_filler_counts_only_alone() -> None:
    corpus = known(100, how=2, deploi=40)
    assert choose(terms("how", "deploi"), corpus, FILLERS) == ["deploi"]
    assert choose(terms("how"), corpus, FILLERS) == ["how"]
    assert choose(terms("how", "unknown"), corpus, FILLERS) == ["how"]
    assert choose(terms("how", "deploi"), corpus, set()) == ["how", "deploi"]


def test_Q3_there_is_filler_among_few_notes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {f"{number}.md": {"body": "nothing else"} for number in range(7)}
    root = store({**notes, "a.md": {"body": "how to deploy"}, "b.md": {"body": "deploy"}})
    assert Question("how do we deploy", [root], Analyzers()).terms == ["deploi"]
    assert Question("how do we", [root], Analyzers()).terms == ["how"]
    monkeypatch.setattr(query, "FEW_DOCUMENTS", 9)
    assert Question("how do we deploy", [root], Analyzers()).terms == ["how", "deploi"]
    assert FEW_DOCUMENTS == 1_000


def test_nothing_known_is_nothing_searched() -> None:
    assert choose(terms("a", "b"), known(10), FILLERS) == []
    assert choose([], known(0), FILLERS) == []


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(0, 60)), st.integers(0, 60))
def test_what_is_chosen_is_known_and_the_rarest_first(
    frequency: dict[str, int], documents: int
) -> None:
    corpus = Statistics(documents, documents, frequency)
    chosen = choose(terms(*frequency), corpus, {"a", "b"})
    counts = [frequency[term] for term in chosen]
    assert counts == sorted(counts)
    assert all(counts)
    assert bool(chosen) == any(frequency.values())
    assert len(set(chosen)) == len(chosen) <= MAX_TERMS


NOTES = {
    "keys.md": "# Deploy keys\n\nDon't share POL-358, a/b or x::y on 20.04.\n",
    "near.md": "# NEAR and AND\n\nnot or near the column title: x\n",
    "hanzi.md": "# 重跑\n\n重跑gen-itgc后\n",
    "odd.md": "# Odd\n\n* ^ \" ' ( ) { } : - + the\n",
}


@pytest.fixture(scope="module")
def recall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    """Open a root of a few notes."""
    root = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (root / name).write_text(text, encoding="utf-8")
    environ = {"XDG_STATE_HOME": str(tmp_path_factory.mktemp("state"))}
    cache = str(tmp_path_factory.mktemp("cache"))
    with Recall([root], environ=environ, cache_dir=cache) as opened:
        opened.search("deploy")
        yield opened


ODD = [
    "don't",
    "a/b",
    "20.04",
    "POL-358",
    "x::y",
    '"',
    '""',
    "'",
    "AND",
    "OR NOT",
    "NEAR(",
    "NEAR(a b, 2)",
    "title: x",
    "{title body}: x",
    "- x",
    "x*",
    "*",
    "^",
    "^x",
    "+",
    "(",
    ")",
    ";",
    "--",
    "\\",
    "%",
    "_",
    "",
    " ",
    "\n",
    "\0",
    "a\0b",
    "\ud800",
    "\udcff",
    "\ufeff",
    "😀",
    "重跑",
    "x" * 10_000,
    "(" * 300 + "x",
    '"' * 301,
    "NEAR(" * 300,
]


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text)[:24])
def test_Q1_any_text_is_a_query(recall: Recall, text: str) -> None:
    for card in recall.search(text):
        assert card.score > 0


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("don't share", "keys.md"),
        ("a/b", "keys.md"),
        ("20.04", "keys.md"),
        ("POL-358", "keys.md"),
        ("x::y", "keys.md"),
        ("NEAR(", "near.md"),
        ("(" * 300 + " deploy", "keys.md"),
        ('"deploy" keys*', "keys.md"),
        ("deploy\0keys", "keys.md"),
        ("title: AND", "near.md"),
        ("gen-itgc", "hanzi.md"),
    ],
)
def test_Q1_odd_text_finds_what_it_is_about(recall: Recall, text: str, path: str) -> None:
    assert recall.search(text)[0].path == path


def test_Q1_a_hundred_kilobytes_of_paste(recall: Recall) -> None:
    paste = " ".join(f"frame{number % 300}(at=0x{number % 300:06x});" for number in range(5_000))
    assert len(paste) > 100_000
    nothing, cost = steps(lambda: recall.search(paste))
    assert nothing == []
    assert cost < 100 * len(paste)
    found, cost = steps(lambda: recall.search(f"{paste} deploy {paste}"))
    assert found[0].path == "keys.md"
    assert cost < 100 * len(paste)


@settings(max_examples=200)
@given(st.text(max_size=60) | st.text("\"'()*^:-+{}NEARADOT \0\n\udc80", max_size=30))
def test_Q1_no_text_is_an_error(recall: Recall, text: str) -> None:
    cards = recall.search(text)
    assert len(cards) <= len(NOTES)
    assert all(card.title and card.path in NOTES for card in cards)
