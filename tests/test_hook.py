"""The prompt hook as a whole: the first call, the cap, and when it keeps still."""

# The codes of reported faults (H1, H2, H4) are written as they are.

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hook_support import (
    CONFIG,
    KESTREL,
    KEYS,
    ask,
    configure,
    event,
    files,
    hold_off,
    hook,
    index,
    last_log,
    log_lines,
    others,
    paths,
    settle,
    start,
    state_directory,
    write,
)

from index_cache import db
from recall import hosts, ledger, resolved

if TYPE_CHECKING:
    from pathlib import Path


# H1: the first call


def test_H1_without_a_cache_it_is_silent_and_the_next_prompt_has_cards(notes: Path) -> None:
    del notes
    assert ask(KEYS).stdout == b""
    assert last_log("decision", "why", "cards") == ("silent", "no cache yet", [])
    assert settle() == 1  # a build was started
    assert ask(KEYS).titles == ["Rotate the deploy keys"]
    assert last_log("decision", "why", "host") == ("spoke", "cards", "claude")
    settle()


def test_H1_a_root_without_a_cache_costs_only_itself(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index()
    other = tmp_path / "other"
    write(other, {"merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    monkeypatch.setenv("RECALL_ROOTS", f"notes={notes}:other={other}")
    hold_off()
    assert ask(KEYS).titles == ["Rotate the deploy keys"]
    assert ask("which way does the merlin perch face?").titles == []
    assert last_log("why") == ("gate",)
    settle()
    ask(KEYS)
    assert settle() == 1
    assert ask("which way does the merlin perch face?").titles == ["Merlin perch"]
    settle()


def test_H1_nothing_configured_is_silence_without_a_trace(home: Path) -> None:
    configure(home)
    assert ask(KEYS).stdout == b""
    assert files(state_directory()) == {}
    assert not os.path.exists(os.path.join(state_directory(), "background"))


def test_H1_an_empty_root_is_silent(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(home)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("RECALL_ROOTS", f"empty={tmp_path / 'empty'}")
    index()
    hold_off()
    assert ask(KEYS).stdout == b""
    assert last_log("why") == ("nothing found",)


# What hosts get


@pytest.mark.parametrize(
    ("host", "fields"),
    [
        ("claude", {}),
        ("codex", {"turn_id": "1", "model": "m"}),
        ("gemini", {"hook_event_name": "BeforeAgent", "timestamp": "t"}),
    ],
)
def test_each_host_gets_its_form(notes: Path, host: str, fields: dict[str, object]) -> None:
    del notes
    index()
    hold_off()
    said = hook(event(KEYS, **fields))
    assert said.titles == ["Rotate the deploy keys"]
    name = json.loads(said.stdout)["hookSpecificOutput"]["hookEventName"]
    assert name == fields.get("hook_event_name", "UserPromptSubmit")
    assert last_log("host") == (host,)
    silent = hook(event("what is the capital of portugal?", **fields))
    assert silent.stdout == (b"{}\n" if host == "gemini" else b"")


def test_text_is_the_block_alone(notes: Path) -> None:
    index(str(notes))
    hold_off(str(notes))
    said = hook(KEYS.encode(), "--host", "text", cwd=notes)
    assert said.stdout.decode().startswith("⟦recall⟧ Reference notes")
    assert "\n   unverified · " in said.stdout.decode()
    assert " · keys.md:3\n" in said.stdout.decode()
    assert hook(b"thanks!", "--host=text", cwd=notes).stdout == b""


def test_the_command_line_is_the_same(notes: Path) -> None:
    del notes
    index()
    hold_off()
    # A busy machine may need more than the usual deadline.
    done = recall("hook", stdin=event(KEYS), env={"RECALL_DEADLINE_MS": "10000"})
    assert done.raw == hook(event(KEYS)).stdout
    assert (done.status, done.stderr) == (0, "")


# H2: the cap


def long_notes() -> dict[str, str]:
    """Return ten notes about one thing, each with a long title and summary."""
    return {
        f"{number}.md": f"---\ntitle: Kestrel feeder {number} {'plan ' * 24}\n"
        f"description: Kestrel feeder pellets {number} {'dawn ' * 70}\n---\nkestrel {number}\n"
        for number in range(10)
    }


@pytest.mark.parametrize("fields", [{}, {"turn_id": "1"}])
def test_H2_ten_long_cards_stay_within_the_cap(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, object]
) -> None:
    write(tmp_path / "notes", {**others(40), **long_notes()})
    monkeypatch.setenv("RECALL_ROOTS", f"notes={tmp_path / 'notes'}")
    configure(home, CONFIG + 'max_cards = 10\ncap = 4000\nsensitivity = "high"\n')
    index()
    hold_off()
    said = hook(event(KESTREL, session_id="s", **fields))
    shown = len(said.titles)
    assert 1 < shown < 8
    if fields:
        assert hosts.estimated_tokens(said.block) <= 4000 * 2000 // 9000
    else:
        assert hosts.utf16_length(said.block) <= 4000
    assert said.block.splitlines()[-2].startswith("   ")  # at a card's edge
    (line,) = log_lines()
    assert len(line["cards"]) == shown
    assert line["tokens"] == hosts.estimated_tokens(said.block)
    assert len(ledger.seen(state_directory(), "s")) == shown
    # What had no room comes next.
    again = hook(event(KESTREL, session_id="s", **fields))
    assert set(again.titles).isdisjoint(said.titles)


def test_H2_no_room_for_a_single_card_is_silence(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = {f"{'d' * 200}/{'e' * 200}/{name}": text for name, text in long_notes().items()}
    write(tmp_path / "notes", {**others(40), **deep})
    monkeypatch.setenv("RECALL_ROOTS", f"notes={tmp_path / 'notes'}")
    configure(home, CONFIG + "cap = 500\n")
    index()
    hold_off()
    assert ask(KESTREL, "s").stdout == b""
    assert last_log("decision", "why", "cards") == ("silent", "no room for a card", [])
    assert len(ledger.seen(state_directory(), "s")) == 0


# H4: when it is quiet

SILENT_ENVIRONMENTS: list[dict[str, str | None]] = [
    {"RECALL_OFF": "1"},
    {"RECALL_CHILD": "1"},
]
MACHINE = [
    "",
    " \n",
    "/compact the deploy keys",
    "!ls deploy keys vault",
    "<task-notification>the deploy keys live in the vault</task-notification>",
    "This session is being continued from a previous conversation about deploy keys",
    "why? ⟦recall⟧ the deploy keys live in the vault",
]


def traces() -> dict[str, bytes]:
    return files(state_directory())


@pytest.mark.parametrize("env", SILENT_ENVIRONMENTS, ids=str)
def test_H4_switched_off_nothing_is_said_or_kept(notes: Path, env: dict[str, str | None]) -> None:
    del notes
    index()
    assert hook(event(KEYS, session_id="s"), env=env).stdout == b""
    assert hook(start("compact", session_id="s"), env=env).stdout == b""
    assert traces() == {}


@pytest.mark.parametrize("data", [b"garbage", b"x" * (16 * 1024 * 1024 + 1)], ids=["bad", "huge"])
def test_H4_switched_off_not_even_a_fault_is_kept(notes: Path, data: bytes) -> None:
    del notes
    assert hook(data, env={"RECALL_OFF": "1"}).stdout == b""
    assert hook(data, "--nonsense", env={"RECALL_OFF": "1"}).stdout == b""
    assert traces() == {}


@pytest.mark.parametrize("prompt", MACHINE)
def test_H4_machine_messages_are_passed_over(notes: Path, prompt: str) -> None:
    del notes
    index()
    assert hook(event(prompt, session_id="s")).stdout == b""
    assert traces() == {}


def test_H4_a_sub_agent_is_not_answered(notes: Path) -> None:
    del notes
    index()
    assert hook(event(KEYS, session_id="s", agent_id="a-1")).stdout == b""
    assert traces() == {}


def test_H4_a_sub_agents_start_forgets_nothing(notes: Path) -> None:
    del notes
    index()
    hold_off()
    assert ask(KEYS, "s").titles
    assert hook(start("compact", session_id="s", agent_id="a-1")).stdout == b""
    assert ask(KEYS, "s").titles == []


def test_H4_disabled_it_starts_no_refresh_either(notes: Path, home: Path) -> None:
    del notes
    index()
    configure(home, CONFIG + "enabled = false\n")
    assert hook(event(KEYS, session_id="s")).stdout == b""
    assert hook(start("startup", session_id="s")).stdout == b""
    assert traces() == {}


def test_H4_paused_it_keeps_still_until_resumed(notes: Path) -> None:
    del notes
    index()
    assert recall("pause").status == 0
    before = traces()
    assert ask(KEYS, "s").stdout == b""
    assert traces() == before
    assert recall("resume").status == 0
    hold_off()
    assert ask(KEYS, "s").titles == ["Rotate the deploy keys"]


def test_H4_the_log_can_be_switched_off(notes: Path, home: Path) -> None:
    del notes
    index()
    configure(home, CONFIG + "log = false\n")
    hold_off()
    assert ask(KEYS).titles == ["Rotate the deploy keys"]
    assert log_lines() == []


def test_H4_the_log_has_no_word_of_the_prompt_unless_asked(notes: Path, home: Path) -> None:
    index()
    hold_off()
    assert ask("deploy keys in the vault <private>hunter2</private>").titles
    (line,) = log_lines()
    assert "text" not in line
    assert "hunter2" not in json.dumps(line)
    assert paths(line) == ["keys.md"]
    assert line["cards"][0]["file"] == str(notes / "keys.md")
    configure(home, CONFIG + "log_prompts = true\n")
    assert ask("deploy keys in the vault <private>hunter2</private>").titles
    assert log_lines()[-1]["text"].startswith("deploy keys in the vault")
    assert "hunter2" not in log_lines()[-1]["text"]


def test_the_cache_is_never_made_in_the_foreground(notes: Path) -> None:
    del notes
    hold_off()
    assert ask(KEYS).stdout == b""
    (root,) = resolved.load("/", os.environ).roots
    directory = os.path.join(os.environ["XDG_CACHE_HOME"], "recall")
    assert not os.path.exists(db.cache_path(directory, root))
