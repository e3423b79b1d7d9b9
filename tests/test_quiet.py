"""H4: silent on what no person asked, and heard on what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT
from vectors import load

from recall.block import CLOSING, OPENING
from recall.hosts import Event, parse
from recall.quiet import reason

VECTORS = load("quiet.json")


def event(prompt: str = "rotate the keys", **fields: Any) -> Event:
    return Event("claude", fields.pop("name", "UserPromptSubmit"), prompt=prompt, **fields)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: repr(vector["prompt"])[:40])
def test_H4_vectors_of_the_spec(vector: dict[str, str | None]) -> None:
    prompt = vector["prompt"]
    assert prompt is not None
    assert reason(event(prompt), {}, enabled=True) == vector["quiet"]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"RECALL_OFF": "1"}, "switched off: RECALL_OFF is set"),
        ({"RECALL_OFF": "yes"}, "switched off: RECALL_OFF is set"),
        ({"RECALL_OFF": ""}, None),
        ({"RECALL_OFF": "0"}, None),
        ({"RECALL_CHILD": "1"}, "in an agent that the hook started: RECALL_CHILD is set"),
        ({"RECALL_CHILD": "0"}, None),
        # Hosts set these for the person's own session too.
        ({"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1"}, None),
    ],
)
def test_H4_the_environment(environ: dict[str, str], expected: str | None) -> None:
    assert reason(event(), environ, enabled=True) == expected
    assert reason(event(name="SessionStart", prompt=""), environ, enabled=True) == expected


def test_H4_switches_and_senders() -> None:
    assert reason(event(), {}, enabled=False) == "switched off: [hook] enabled = false"
    assert reason(event(agent="a216"), {}, enabled=True) == "asked by a sub-agent"
    assert reason(event(problem="prompt is missing"), {}, enabled=True) == "prompt is missing"
    assert reason(event(name="SessionStart", prompt=""), {}, enabled=True) is None
    assert reason(event(""), {}, enabled=True) == "the prompt is blank"


@given(ANY_TEXT, ANY_TEXT)
def test_H4_our_own_block_is_known_in_any_text(before: str, after: str) -> None:
    for line in (OPENING, CLOSING):
        assert reason(event(f"{before}\n{line}\n{after}"), {}, enabled=True) == (
            "the prompt holds a block of ours"
        )


@given(st.text(st.sampled_from("<>/!#{[]}\"' ⟦⟧:_-?\n\0\u200baHuman")) | ANY_TEXT)
def test_any_prompt_gets_an_answer(prompt: str) -> None:
    found = reason(event(prompt), {}, enabled=True)
    assert found is None or found
    # What surrounds a prompt changes nothing.
    assert reason(event(f" \n{prompt}\n "), {}, enabled=True) == found


def test_a_megabyte_is_looked_at_once() -> None:
    for piece in ("<", "/", "!", "{ ", "Human: ", "\u200b", " ", "a"):
        prompt = piece * (1024 * 1024)
        assert reason(event(prompt), {}, enabled=True) in {
            None,
            "the prompt is blank",
            "a slash command",
            "a shell escape",
        }


def test_the_text_of_a_shell_is_asked_like_any_other() -> None:
    assert reason(parse(b"rotate the keys\n", "text"), {}, enabled=True) is None
    assert reason(parse(b"\n", "text"), {}, enabled=True) == "the prompt is blank"
