"""Drafts of labels: from titles, descriptions and the recall log, each with its reason."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from bench_support import root
from cli_support import recall

from recall import recalllog
from recall.bench import labels
from recall.card import Card
from recall.dirs import state_dir

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = root(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={directory}")
    return directory


def card(notes: Path, path: str) -> Card:
    return Card(
        id="",
        root="notes",
        path=path,
        abs_path=str(notes / path),
        title="",
        type="",
        tier="",
        modified="",
        stale=None,
        summary="",
        score=0,
    )


def log(notes: Path, prompt: str, *paths: str, with_text: bool = False) -> None:
    fault = recalllog.record(
        state_dir(os.environ),
        host="claude",
        spoke=bool(paths),
        why="cards" if paths else "gate",
        prompt=prompt,
        cards=[card(notes, path) for path in paths],
        with_text=with_text,
        now=1_800_000_000.0,
    )
    assert fault is None


def drafts(*options: str) -> dict[str, Any]:
    found = recall("bench", "init", "--json", *options).data()["drafts"]
    assert all(each["draft"] and each["why"] for each in found)
    return {each["query"]: each for each in found}


def test_each_note_is_asked_for_by_its_own_words(notes: Path) -> None:
    del notes
    found = drafts()
    # A description before a title; copies are one note, and the first stands for them.
    assert {query: each["relevant"] for query, each in found.items()} == {
        "How deploy keys are rotated each quarter.": ["keys.md"],
        "Why SQLite": ["sub/sqlite.md"],
        "Refresh tokens": ["sub/tokens.md"],
        "Kestrel feeder": ["copy/feeder.md"],
    }
    assert found["Why SQLite"]["why"] == (
        "this note was drawn by the hash of its path, and this is its title: ask it as you would"
    )
    assert found["Why SQLite"]["provenance"] == "recall bench init: title"


def test_what_was_shown_most_comes_first_without_a_word_of_the_prompts(notes: Path) -> None:
    log(notes, "a secret prompt", "sub/tokens.md")
    log(notes, "another", "sub/tokens.md", "keys.md")
    found = drafts("-n", "2")
    assert list(found) == ["Refresh tokens", "How deploy keys are rotated each quarter."]
    assert found["Refresh tokens"]["why"].startswith("the hook has shown this note 2 times, ")
    assert "secret" not in json.dumps(found)


def test_prompts_of_the_log_are_drafts_where_it_has_their_text(notes: Path) -> None:
    log(notes, "where do keys live <private>zebra</private>?", "keys.md", with_text=True)
    log(notes, "thanks", with_text=True)
    log(notes, "gone", "gone.md", with_text=True)
    found = drafts()
    asked = found["where do keys live ?"]
    assert (asked["relevant"], asked["category"]) == (["keys.md"], "log")
    assert asked["why"] == (
        "the hook showed this at this prompt on 2027-01-15: is it right, and is anything missing?"
    )
    assert found["thanks"]["relevant"] == []
    assert found["thanks"]["why"] == (
        "the hook said nothing at this prompt on 2027-01-15 (gate):"
        " is there really no note about it?"
    )
    assert "gone" not in found
    # At most half of the drafts are prompts.
    assert [each["category"] for each in drafts("-n", "2").values()] == ["log", "description"]


def test_drafts_are_labels_and_written_once(notes: Path, tmp_path: Path) -> None:
    del notes
    done = recall("bench", "init", "--out", "l.jsonl")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        "wrote 4 drafts to l.jsonl\n"
        "correct them, take out draft and why, then: recall bench --labels l.jsonl\n"
    )
    written = (tmp_path / "l.jsonl").read_bytes()
    found = labels.parse(written)
    assert not found.problems
    assert not found.unknown
    assert len(labels.demand(found, "l")) == 4
    assert recall("bench", "check", "--labels", "l.jsonl").stdout == (
        "4 labels, 4 of them drafts: all documents are there\n"
    )
    assert recall("bench", "--labels", "l.jsonl").status == 0
    assert recall("bench", "init").raw == written
    done = recall("bench", "init", "--out", "l.jsonl")
    assert (done.status, done.stdout) == (4, "")
    assert "l-2.jsonl is free" in done.stderr
    assert (tmp_path / "l.jsonl").read_bytes() == written


def test_of_two_roots_a_path_says_whose_it_is(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "keys.md").write_text("# Other keys\n")
    monkeypatch.setenv("RECALL_ROOTS", f"notes={notes}:other={other}")
    found = drafts()
    assert found["Other keys"]["relevant"] == ["other:keys.md"]
    assert found["Why SQLite"]["relevant"] == ["sub/sqlite.md"]


def test_journals_and_empty_roots_give_none(notes: Path) -> None:
    for path in sorted(notes.rglob("*.md")):
        path.unlink()
    (notes / "day.md").write_text("---\ntype: Journal\n---\n# A day\n")
    done = recall("bench", "init")
    assert (done.status, done.stdout) == (0, "")
    assert done.stderr == "warning: there are no notes to draft labels from\n"


def test_without_notes_no_file_is_in_the_way_of_the_next_drafts(
    notes: Path, tmp_path: Path
) -> None:
    for path in notes.rglob("*.md"):
        path.unlink()
    done = recall("bench", "init", "--root", str(notes), "--out", "l.jsonl")
    assert done.status == 0
    assert "there are no notes to draft labels from" in done.stderr
    assert not (tmp_path / "l.jsonl").exists()
