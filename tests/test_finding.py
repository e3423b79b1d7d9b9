"""What a search of real notes finds: identifiers, spellings, endings, single characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from vectors import load

from recall import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Found = Callable[[Mapping[str, str], str], list[str]]

IDENTIFIERS = load("identifiers.json")
SPELLINGS = load("spellings.json")
# Enough other notes that a word of one of them is rare.
OTHERS = {f"{letter}x.md": f"# Garden\n\nTulips grow by {letter}x.\n" for letter in "klmnqrwz"}


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Return what searches notes among others, and tells the paths of those that it finds."""

    def of(notes: Mapping[str, str], query: str) -> list[str]:
        root = tmp_path / "notes"
        root.mkdir(exist_ok=True)
        for name, text in {**OTHERS, **notes}.items():
            (root / name).write_text(text, encoding="utf-8")
        with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
            return [card.path for card in recall.search(query)]

    return of


def said(text: str, language: str | None = None) -> str:
    head = "" if language is None else f"---\nlang: {language or 'und'}\n---\n"
    return f"{head}# Log\n\n{text}\n"


@pytest.mark.parametrize(("one", "other"), IDENTIFIERS["found"])
def test_Q2_an_identifier_and_its_parts_find_each_other(one: str, other: str, found: Found) -> None:
    assert found({"note.md": said(f"Here it says {one} and no more.")}, other) == ["note.md"]
    assert found({"note.md": said(f"Here it says {other} and no more.")}, one) == ["note.md"]


@pytest.mark.parametrize(
    "vector", IDENTIFIERS["whole_first"], ids=lambda each: f"{each['query']} {each['worse']}"
)
def test_Q2_the_whole_comes_before_its_parts(vector: dict[str, str], found: Found) -> None:
    # By their paths the worse one would come first.
    notes = {"b.md": said(f"It is {vector['better']} here."), "a.md": said(vector["worse"])}
    assert found(notes, vector["query"])[:1] == ["b.md"]
    assert found(notes, f"what was that about {vector['query']}?")[:1] == ["b.md"]


@pytest.mark.parametrize(
    "vector", SPELLINGS["meet"], ids=lambda each: f"{each['language']} {each['words']}"
)
def test_Q5_Q6_words_of_one_meaning_find_each_other(vector: dict[str, Any], found: Found) -> None:
    words = vector["words"]
    for text in [vector["text"]] if "text" in vector else words:
        for query in words:
            notes = {"note.md": said(f"{text}.", vector["language"])}
            assert found(notes, query) == ["note.md"], (text, query)


@pytest.mark.parametrize(
    "vector", SPELLINGS["apart"], ids=lambda each: f"{each['language']} {each['query']}"
)
def test_Q6_no_note_is_stemmed_as_English_but_English_ones(
    vector: dict[str, str], found: Found
) -> None:
    note = said(f"{vector['text']} äüöß.", vector["language"] or None)
    assert found({"note.md": note}, vector["query"]) == []
    assert found({"note.md": note}, vector["text"]) == ["note.md"]
    assert found({"note.md": said(vector["text"], "en")}, vector["query"]) == ["note.md"]
