"""What was shown does not come again, and no card is what its file no longer says."""

# The codes of reported faults (H5, D2, D4) are written as they are.

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hook_support import (
    KESTREL,
    KEYS,
    NOTES,
    PROGRAM,
    SQLITE,
    TITLE,
    Said,
    ask,
    event,
    hold_off,
    hook,
    index,
    last_log,
    log_lines,
    others,
    run,
    settle,
    start,
    state_directory,
    write,
)

from recall import ledger

if TYPE_CHECKING:
    from pathlib import Path

COPY = NOTES["keys.md"].replace("\n", "\r\n")


@pytest.fixture
def notes(notes: Path) -> Path:
    index()
    hold_off()
    return notes


# H5: once a session


def test_H5_a_card_comes_once_a_session(notes: Path) -> None:
    del notes
    assert ask(KEYS, "one").titles == [TITLE]
    assert ask(KEYS, "one").titles == []
    assert last_log("decision", "why", "cards") == ("silent", "shown before", [])
    assert ask(KEYS, "two").titles == [TITLE]
    assert ask(KESTREL, "one").titles == ["Kestrel feeder"]


def test_H5_without_a_session_there_is_no_ledger(notes: Path) -> None:
    del notes
    for session in (None, None, "", " ", "x" * 513):
        assert ask(KEYS, session).titles == [TITLE]
    assert not os.path.exists(os.path.join(state_directory(), "shown"))


def test_H5_an_edited_note_comes_again_at_once_and_once(notes: Path) -> None:
    """No refresh is needed for either: the file decides."""
    assert ask(KEYS, "s").titles == [TITLE]
    write(notes, {"keys.md": NOTES["keys.md"].replace("Rotate", "Replace")})
    said = ask(KEYS, "s")
    assert said.titles == ["Replace the deploy keys"]
    assert ask(KEYS, "s").titles == []
    assert last_log("why") == ("shown before",)


def test_H5_what_was_edited_back_comes_again(notes: Path) -> None:
    assert ask(KEYS, "s").titles == [TITLE]
    write(notes, {"keys.md": NOTES["keys.md"].replace("Rotate", "Replace")})
    assert ask(KEYS, "s").titles == ["Replace the deploy keys"]
    write(notes, {"keys.md": NOTES["keys.md"]})
    assert ask(KEYS, "s").titles == [TITLE]


def test_H5_a_touched_note_does_not_come_again(notes: Path) -> None:
    assert ask(KEYS, "s").titles == [TITLE]
    write(notes, {"keys.md": NOTES["keys.md"]})
    os.utime(notes / "keys.md", (1, 1))
    assert ask(KEYS, "s").titles == []


def test_H5_a_copy_of_what_was_shown_does_not_come(notes: Path) -> None:
    write(notes, {"a/keys.md": COPY, "z/keys.md": NOTES["keys.md"]})
    index()
    assert ask(KEYS, "s").titles == [TITLE]
    for _ in range(3):
        assert ask(KEYS, "s").titles == []
        assert last_log("why") == ("shown before",)
    # Nor does one that appears, though it is the first of them in the order of paths.
    write(notes, {"A/keys.md": NOTES["keys.md"]})
    index()
    assert ask(KEYS, "s").titles == []


@pytest.mark.parametrize(
    ("source", "again"),
    [("compact", True), ("clear", True), ("startup", True), (None, True), ("resume", False)],
)
def test_H5_a_session_that_starts(notes: Path, source: str | None, again: bool) -> None:
    del notes
    assert ask(KEYS, "s").titles == [TITLE]
    assert ask(KEYS, "other").titles == [TITLE]
    assert hook(start(source, session_id="s")).stdout == b""
    assert len(log_lines()) == 2  # a start asks nothing
    assert ask(KEYS, "s").titles == ([TITLE] if again else [])
    assert ask(KEYS, "other").titles == []


def test_H5_a_compaction_in_a_pause_is_not_lost(notes: Path) -> None:
    del notes
    assert ask(KEYS, "s").titles == [TITLE]
    assert recall("pause").status == 0
    assert hook(start("compact", session_id="s")).stdout == b""
    assert recall("resume").status == 0
    assert ask(KEYS, "s").titles == [TITLE]


def test_H5_two_hooks_of_one_session_at_once(notes: Path) -> None:
    del notes
    prompts = [KEYS, KESTREL, SQLITE] * 2
    running = [
        subprocess.Popen(
            run(PROGRAM.format(roomy=True, first="")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in prompts
    ]
    for process, prompt in zip(running, prompts, strict=True):
        assert process.stdin is not None
        process.stdin.write(event(prompt, session_id="s"))
        process.stdin.close()
        process.stdin = None
    for process in running:
        stdout, stderr = process.communicate(timeout=60)
        assert len(Said(process.returncode, stdout, stderr).titles) <= 1
    assert len(ledger.seen(state_directory(), "s")) == 3
    assert len(log_lines()) == len(prompts)
    assert all(ask(prompt, "s").titles == [] for prompt in prompts[:3])


# D4: what is shown is what the file says


def test_D4_a_deleted_note_is_not_shown(notes: Path) -> None:
    (notes / "keys.md").unlink()
    assert ask(KEYS, "s").titles == []
    assert last_log("decision", "why") == ("silent", "gone")


def test_D4_an_edited_note_is_shown_as_it_is(notes: Path) -> None:
    write(notes, {"keys.md": "# Deploy keys moved\n\nThe deploy keys live in the safe now.\n"})
    said = ask(KEYS)
    assert said.titles == ["Deploy keys moved"]
    assert "The deploy keys live in the safe now." in said.block
    assert "one quarter each" not in said.block


@pytest.mark.parametrize(
    "text", ["# Lunch\n\nSoup on Mondays.\n", "# Lunch\n\nWhere do we live and eat? Soup.\n", ""]
)
def test_D4_a_note_that_is_about_something_else_now_is_not_shown(notes: Path, text: str) -> None:
    os.rename(notes / "keys.md", notes / "lunch.md")  # a name is a word of the note
    index()
    write(notes, {"lunch.md": text})
    assert ask(KEYS).titles == []
    assert last_log("why")[0] in {"gone", "gate"}


@pytest.mark.parametrize(
    "data", [b"\0\1\2" * 100, b"---\nprivate: true\n---\n# Deploy keys vault\n"]
)
def test_D4_a_note_that_became_no_note_is_not_shown(notes: Path, data: bytes) -> None:
    write(notes, {"keys.md": data})
    assert ask(KEYS).titles == []


def test_D4_a_symlink_in_the_place_of_a_note_is_not_followed_out(
    notes: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside deploy keys\n\nThe deploy keys live in the vault.\n")
    (notes / "keys.md").unlink()
    (notes / "keys.md").symlink_to(outside)
    assert ask(KEYS).titles == []


@pytest.mark.parametrize(
    ("asked", "before", "after"),
    [
        (
            "what about DEC-0054",
            "---\nid: DEC-0054\n---\n# Merlin\n",
            "---\nid: DEC-0099\n---\n# Merlin\n",
        ),
        (
            "the merlin perch rota please",
            "# Merlin perch rota\n",
            "# Lunch menu\n\nThere is fish.\n",
        ),
        (
            "the merlin perch rota please",
            "# Merlin perch rota\n",
            "---\ntype: Journal\n---\n# Lunch\n",
        ),
    ],
)
def test_D4_a_name_that_a_note_has_no_longer_asks_for_nothing(
    notes: Path, asked: str, before: str, after: str
) -> None:
    write(notes, {"named.md": before})
    index()
    assert len(ask(asked).titles) == 1
    write(notes, {"named.md": after})
    assert ask(asked).titles == []


def test_D4_a_path_asks_for_whatever_the_note_says_now(notes: Path) -> None:
    write(notes, {"named.md": "# Merlin\n"})
    index()
    write(notes, {"named.md": "# Lunch menu\n"})
    assert ask("see named.md").titles == ["Lunch menu"]


def test_D4_what_a_note_hides_now_is_not_shown(notes: Path) -> None:
    write(
        notes,
        {"keys.md": NOTES["keys.md"] + "\n<private>\nhunter2 deploy keys vault\n</private>\n"},
    )
    assert "hunter2" not in ask(KEYS).block


def test_D4_an_edited_copy_is_not_counted_as_a_copy(notes: Path) -> None:
    write(notes, {"z.md": COPY})
    index()
    assert " · 1 more at other paths" in ask(KEYS).block
    write(notes, {"z.md": "# Lunch\n\nSoup.\n"})
    assert "more at other paths" not in ask(KEYS).block
    write(notes, {"z.md": "# Old deploy keys\n\nThe deploy keys lived in the vault once.\n"})
    # Which comes first is decided by their times, in whole seconds.
    assert sorted(ask(KEYS).titles) == ["Old deploy keys", TITLE]
    (notes / "z.md").unlink()
    assert "more at other paths" not in ask(KEYS).block


# Findable when


def test_a_new_file_is_found_by_the_very_next_prompt(notes: Path) -> None:
    write(notes, {"merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    assert ask("which way does the merlin perch face?", "s").titles == ["Merlin perch"]
    assert ask("which way does the merlin perch face?", "s").titles == []
    index()  # taken in by a refresh, it is the same note
    assert ask("which way does the merlin perch face?", "s").titles == []


def test_of_many_new_files_the_newest_are_found_at_once_and_all_by_the_second_prompt(
    notes: Path,
) -> None:
    write(notes, others(30))
    merlin = {"merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"}
    write(notes, merlin)
    os.utime(notes / "merlin.md", (1, 1))  # the oldest of 31
    settle()
    assert ask("which way does the merlin perch face?").titles == []
    assert settle() == 1
    assert ask("which way does the merlin perch face?").titles == ["Merlin perch"]
    settle()


def test_D4_an_edit_in_place_is_found_by_the_second_prompt(notes: Path) -> None:
    """Of words that the note did not have: only a refresh can find that."""
    write(notes, {"keys.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    settle()
    assert ask("which way does the merlin perch face?").titles == []
    assert settle() == 1
    assert ask("which way does the merlin perch face?").titles == ["Merlin perch"]
    settle()


def test_D2_a_renamed_note_is_shown_under_its_new_path(notes: Path) -> None:
    assert ask(KEYS, "s").titles == [TITLE]
    os.rename(notes / "keys.md", notes / "moved.md")
    said = ask(KEYS)
    assert said.titles == [TITLE]
    assert "/moved.md:3\n" in said.block
    assert "keys.md" not in said.block
    assert "more at other paths" not in said.block


def test_a_new_directory_is_found_by_the_second_prompt(notes: Path) -> None:
    write(notes, {"new/deep/merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    settle()
    first = ask("which way does the merlin perch face?").titles
    assert first in ([], ["Merlin perch"])
    assert settle() == 1
    assert ask("which way does the merlin perch face?").titles == ["Merlin perch"]
    settle()
