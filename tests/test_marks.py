"""The words of the question and the links of a card: in the right places, and nothing else."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import pytest
from card_support import card
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT

from index_cache.analyze import Analyzer
from index_cache.model import Term
from recall.marks import Marker, along, file_address, painted
from recall.output import plain
from recall.terminal import Look, as_text

ESCAPES = r"\x1b\[[\d;]+m|\x1b\]8;;[^\x1b\x07]*\x1b\\"
TTY = Look(width=40, colour=True, links=True)


def marker(question: str, host: str = "here") -> Marker:
    return Marker(map(Term, Analyzer().terms(question)), host)


def bare(text: str) -> str:
    return re.sub(ESCAPES, "", text)


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("deploy key", "Rotate the Deploy keys, deployed.", ["Deploy", "keys", "deployed"]),
        ("cafe", "The Café, a café: cafes", ["Café", "café", "cafes"]),
        ("key", "monkeys and keyboards", []),
        ("keys", "[keys](keys.md) `keys` **keys**", ["keys", "keys", "keys", "keys"]),
        ("parse header", "call parseHeader() now", ["parseHeader"]),
        ("POL-358", "as POL-358 says, not POL-359", ["POL", "358", "POL"]),
        (".env", "in .env, not environment", ["env"]),
        ("c++", "C++ is not C", ["C", "C"]),
        ("環境", "言語環境の設定", ["環境"]),
        ("環境の設定", "言語環境の設定", ["環境の設定"]),
        ("環境", "Python環境 and Python", ["環境"]),
        ("설정", "환경설정을 보라", ["설정"]),
        ("ภาษา", "เป็นภาษาไทย", ["ภาษา"]),
        ("می\u200cخواهم", "من می\u200cخواهم.", ["می\u200cخواهم"]),
        ("", "anything", []),
        ("x", "", []),
    ],
)
def test_words_are_marked_as_the_analyzer_means_them(
    question: str, text: str, marked: list[str]
) -> None:
    found = marker(question).words(text)
    assert [text[i:j] for i, j, _ in found] == marked


def test_a_name_that_is_no_word_is_marked_whole() -> None:
    text = "in C++, (.env) and c"
    found = Marker([Term("c++"), Term(".env")], "").words(text)
    assert [text[i:j] for i, j, _ in found] == ["C++", "env"]


def test_what_is_ours_is_not_marked() -> None:
    look, finds = Look(colour=True), marker("1 human reviewed 2026 keys.md stale")
    shown = as_text([card(stale="old")], 1, 4096, base="/home/ann/notes", look=look, marker=finds)
    assert [each[1] for each in re.findall(r"\x1b\[([\d;]*\b)4m([^\x1b]*)", shown)] == [
        "keys",
        "Keys",
    ]


def test_a_marked_card_is_the_same_text() -> None:
    shown = as_text(
        [card()],
        1,
        4096,
        base="/home/ann",
        look=Look(colour=True, links=True),
        marker=marker("key"),
    )
    assert shown == (
        "\x1b[1m1. Rotate the deploy \x1b[0m\x1b[1;4mkeys\x1b[0m\n"
        "\x1b[2m   human-reviewed · 2026-03-01 · \x1b[0m"
        "\x1b]8;;file://here/home/ann/notes/keys.md\x1b\\\x1b[2mnotes/keys.md\x1b[0m\x1b]8;;\x1b\\\n"
        "   > \x1b[4mKeys\x1b[0m live in the vault.\n"
    )


@pytest.mark.parametrize("look", [Look(), Look(width=40), Look(colour=False, links=True)])
def test_nothing_is_marked_without_colour(look: Look) -> None:
    shown = as_text([card()], 1, 4096, look=look, marker=marker("keys"))
    assert "\x1b" not in shown
    assert shown == as_text([card()], 1, 4096, look=look)


def test_the_link_is_on_the_path_alone() -> None:
    fields = {"abs_path": "/a", "tier": "a", "modified": "a", "line": 3, "copies": ("/b", "/a")}
    shown = as_text([card(**fields)], 1, 4096, look=TTY, marker=marker("zebra"))
    assert re.findall(r"\x1b\]8;;(.+?)\x1b\\(.*?)\x1b\]8;;\x1b\\", shown) == [
        ("file://here/a", "\x1b[2m/a:3\x1b[0m")
    ]


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a%20b",
        "a;b",
        "a\x1b\\b",
        "a\x07b",
        "é",
        "a\nb",
        "?#&",
        "..",
        "\x9c",
        "日本",
        "\u202e",
    ],
)
def test_S9_a_path_can_not_end_its_link(name: str) -> None:
    address = file_address(f"/notes/{name}", "host\x1b\\/evil")
    assert address is not None
    assert re.fullmatch(r"file://host%1B%5Cevil/notes/[A-Za-z0-9._~%/-]+", address)
    assert unquote(urlsplit(address).path) == f"/notes/{name}"


def test_some_paths_have_no_link() -> None:
    assert file_address("relative", "h") is None
    assert file_address("/" + "é" * 400, "h") is None
    assert marker("x").link(0, "x\\xff.md", "/x\\xff.md") == []


def test_links_are_for_terminals_that_show_them() -> None:
    assert not Look(links=True).links
    assert Look(links=True, colour=True).links
    shown = as_text([card()], 1, 4096, look=Look(colour=True), marker=marker("keys"))
    assert "\x1b]8" not in shown
    assert "\x1b[1;4mkeys" in shown


@given(
    st.lists(st.tuples(*[ANY_TEXT] * 6), min_size=1, max_size=4),
    ANY_TEXT,
    st.integers(0, 3000),
    st.integers(16, 60) | st.none(),
)
def test_marks_change_nothing_but_looks(
    many: list[tuple[str, ...]], question: str, budget: int, width: int | None
) -> None:
    cards = [
        card(title=a, tier=b, modified=c, summary=d, abs_path=f"/{e}", stale=f)
        for a, b, c, d, e, f in many
    ]
    finds = marker(f"{question} {many[0][0]}")
    look = Look(width, colour=True, links=True)
    shown = as_text(cards, 9, budget, look=look, marker=finds)
    assert bare(shown) == as_text(cards, 9, budget, look=Look(width))
    # Each line begins and ends without colour or link, whatever is cut off or scrolled away.
    for line in shown.splitlines():
        assert len(re.findall(r"\x1b\[[\d;]+m", line)) == 2 * line.count("\x1b[0m")
        assert len(re.findall(r"\x1b\]8;;[^\x1b]", line)) * 2 == line.count("\x1b]8;;")


@given(ANY_TEXT, ANY_TEXT, st.integers(16, 40))
def test_marks_of_folded_lines_are_those_of_the_text(question: str, text: str, width: int) -> None:
    text = "1. " + plain(text * 3)
    marks = marker(question).words(text)
    assert all(0 <= i < j <= len(text) for i, j, _ in marks)
    assert all(a[1] <= b[0] for a, b in pairwise(marks))
    parts = Look(width).fold(text, "      ")
    kept = "".join(
        part[i:j]
        for part, each in zip(parts, along(parts, text, marks), strict=True)
        for i, j, _ in each
    )
    assert kept.replace(" ", "") == "".join(text[i:j] for i, j, _ in marks).replace(" ", "")


def test_painting_keeps_the_style_around_a_mark() -> None:
    assert painted("abc", [(1, 2, "")], "", "4") == "a\x1b[4mb\x1b[0mc"
    assert Look().paint("title", "abc", [(1, 2, "")]) == "abc"
    assert painted("abc", [(0, 3, "")], "1", "4") == "\x1b[1;4mabc\x1b[0m"
    assert painted("abc", [(0, 1, "file:///x")], "", "4") == (
        "\x1b]8;;file:///x\x1b\\a\x1b]8;;\x1b\\bc"
    )
