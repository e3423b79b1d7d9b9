from __future__ import annotations

import io
import json
import re
import unicodedata
from pathlib import Path

import pytest
from card_support import card
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT, is_safe

from recall.card import as_dict
from recall.envelope import encode, success
from recall.output import diagnostic, plain, size, visible
from recall.terminal import Look, as_text, look_at

SPEC = Path(__file__).parent.parent / "spec"


def vectors() -> list[list[str]]:
    page = (SPEC / "output.md").read_text(encoding="utf-8")
    block = re.search(r"<!-- vectors: text, plain, visible -->\n```json\n(.*?)```", page, re.DOTALL)
    assert block
    loaded: list[list[str]] = json.loads(block[1])
    return loaded


@pytest.mark.parametrize("vector", vectors())
def test_vectors_of_the_spec(vector: list[str]) -> None:
    text, as_plain, as_visible = vector
    assert plain(text) == as_plain
    assert visible(text) == as_visible


@given(ANY_TEXT)
def test_plain_text_is_one_harmless_line(text: str) -> None:
    line = plain(text)
    assert is_safe(line)
    assert line == " ".join(line.split())
    assert plain(line) == line


@given(ANY_TEXT)
def test_visible_text_is_one_harmless_line(text: str) -> None:
    assert is_safe(visible(text))


@given(ANY_TEXT, st.integers(0, 50))
def test_limits_are_bytes_and_hold(text: str, limit: int) -> None:
    for made in (plain(text, limit), visible(text, limit)):
        assert len(made.encode()) <= limit
        assert is_safe(made)


def test_a_cut_shows() -> None:
    assert plain("a long title indeed", 10) == "a long…"
    assert visible("/a/very/long/path/to/note.md", 16) == "/a/ve…/note.md"


def test_hostile_input_is_cleaned_in_linear_time() -> None:
    # Each of these makes a naive pattern look for its end from every start.
    for piece in ("\x9d", "\x1b]", "\x1b[", "\x9b", "\x1b[0", "\u200d", "\ufe0f"):
        assert is_safe(plain(piece * 200_000))


@given(st.lists(st.tuples(*[ANY_TEXT] * 6), max_size=5), st.integers(0, 3000), st.integers(0, 9))
def test_cards_are_safe_and_within_budget(
    rows: list[tuple[str, ...]], budget: int, more: int
) -> None:
    cards = [
        card(title=a, path=b, abs_path="/" + b, modified=c, stale=d, summary=e, tier=f, line=3)
        for a, b, c, d, e, f in rows
    ]
    text = as_text(cards, len(cards) + more, budget, base="/")
    assert len(text.encode()) <= budget
    lines = text.splitlines()
    assert text == "".join(line + "\n" for line in lines)
    assert all(is_safe(line) for line in lines)
    numbered = [line for line in lines if re.match(r"\d+\. ", line)]
    assert len(numbered) <= len(cards)
    assert [int(line.split(".")[0]) for line in numbered] == list(range(1, len(numbered) + 1))
    rest = [line for line in lines if not line.startswith((" ", *numbered))]
    assert all(re.fullmatch(r"\d+ more: raise (--budget|-k|--budget or -k)", x) for x in rest)


@given(ANY_TEXT, ANY_TEXT)
def test_on_a_terminal_only_our_lines_begin_at_the_margin(title: str, summary: str) -> None:
    look = Look(width=30)
    text = as_text([card(title=title, summary=summary)], 1, 4096, look=look)
    lines = text.splitlines()
    assert lines[0].startswith("1. ")
    assert all(line.startswith("   ") for line in lines[1:])


def test_a_card_as_text() -> None:
    first = card(line=12, stale="deprecated")
    second = card(title="Other", abs_path="/srv/other.md", summary="", copies=("a.md", "b.md"))
    assert as_text([first, second], 5, 4096, base="/home/ann") == (
        "1. Rotate the deploy keys\n"
        "   human-reviewed · 2026-03-01 · notes/keys.md:12\n"
        "   STALE: deprecated\n"
        "   > Keys live in the vault.\n"
        "2. Other\n"
        "   human-reviewed · 2026-03-01 · /srv/other.md · 2 more at other paths\n"
        "3 more: raise -k\n"
    )


def test_one_long_title_does_not_silence_the_rest() -> None:
    cards = [card(title="long " * 10_000, summary="words " * 10_000), card(title="Second")]
    text = as_text(cards, 2, 1200)
    assert "\n2. Second\n" in text


def test_what_the_budget_cut_is_said() -> None:
    cards = [card(title=f"Note {number}") for number in range(20)]
    text = as_text(cards, 50, 600)
    shown = len(re.findall(r"(?m)^\d+\. ", text))
    assert 0 < shown < 20
    assert text.endswith(f"\n{50 - shown} more: raise --budget or -k\n")
    assert as_text(cards[:1], 1, 30) == "1 more: raise --budget\n"
    assert as_text(cards[:1], 1, 5) == ""


def test_no_cards_no_text() -> None:
    assert as_text([], 0, 4096) == ""


def test_a_typed_date_can_not_pass_for_a_tier() -> None:
    text = as_text([card(tier="unverified", modified="2026 · human-reviewed")], 1, 4096)
    assert "   unverified · 2026 human-reviewed · /home" in text


def test_explanations_are_shown_on_demand() -> None:
    text = as_text([card(explain={"terms": ["key", "vault"], "flags": {}})], 1, 4096)
    assert '   terms: ["key", "vault"]\n' in text
    assert "   score: 1.5\n" in text
    assert "explain" not in as_dict(card())


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner)))
def test_envelopes_are_one_line_without_raw_controls(value: object) -> None:
    data = encode(success("search", {"value": value}))
    text = data.decode("utf-8")
    assert text.endswith("}\n")
    assert all(
        char.isprintable() or unicodedata.category(char) in {"Zs", "Co", "Cn", "Cf"}
        for char in text[:-1]
    )
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\ufeff]", text)
    decoded = json.loads(data)
    assert set(decoded) == {"schema", "ok", "command", "data", "error"}
    json.dumps(decoded, ensure_ascii=False).encode("utf-8")


@given(st.text(st.characters(codec="utf-8")))
def test_envelopes_lose_nothing_that_is_text(value: str) -> None:
    assert json.loads(encode(success("search", {"value": value})))["data"]["value"] == value


def test_diagnostics_are_a_line_each() -> None:
    assert diagnostic("error", "bad\nline", "a\x1b[2Jb", "try this") == (
        "error: bad\\nline\nwhere: a\\x1b[2Jb\nhint: try this\n"
    )
    assert diagnostic("warning", "odd") == "warning: odd\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_and_no_color_is_honoured() -> None:
    term = {"TERM": "xterm"}
    assert look_at(Terminal(), term).colour
    assert not look_at(io.StringIO(), term).colour
    assert look_at(io.StringIO(), term).width is None
    assert not look_at(Terminal(), {**term, "NO_COLOR": "1"}).colour
    assert look_at(Terminal(), {**term, "NO_COLOR": ""}).colour
    assert not look_at(Terminal(), {"TERM": "dumb"}).colour


def test_colours_change_nothing_but_colour() -> None:
    cards = [card(stale="deprecated")]
    bare = as_text(cards, 4, 4096)
    painted = as_text(cards, 4, 4096, look=Look(colour=True))
    assert painted != bare
    assert re.sub(r"\x1b\[\d+m", "", painted) == bare


def test_folding_counts_cells() -> None:
    lines = Look(width=20).fold("漢字" * 15, "   ")
    assert "".join(line.strip() for line in lines) == "漢字" * 15
    assert all(len(line.strip()) * 2 + (3 if line[0] == " " else 0) <= 20 for line in lines)


def test_sizes() -> None:
    assert [size(n) for n in (0, 999, 1000, 1024**2, 5 * 1024**3)] == [
        "0 B",
        "999 B",
        "1.0 KiB",
        "1.0 MiB",
        "5.0 GiB",
    ]
