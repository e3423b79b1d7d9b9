"""Private spans: what is withheld, what is not, and that no text is slow."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from cost_support import timed
from hypothesis import given
from hypothesis import strategies as st
from privacy_support import STEMS, TEXTS, UNSEEN, Maker
from vectors import load, named

from index_cache import taghints, tags
from index_cache.privacy import strip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.mark.parametrize("vector", load("privacy.json"), ids=named)
def test_vectors(vector: dict[str, Any]) -> None:
    assert strip(vector["text"]) == vector["stripped"]


def holds(text: str) -> str:
    """Strip a text, and check what is true of any."""
    left = strip(text)
    assert strip(left) == left
    assert len(left) <= len(text)
    assert left.count("\n") == text.count("\n")
    return left


def test_no_private_word_is_left_and_no_public_word_lost(long_count: Callable[[int], int]) -> None:
    seen: dict[str, int] = {"private": 0, "public": 0, "to the letter": 0}
    for seed in range(long_count(20_000)):
        mix = Maker(seed).mix()
        left = holds(mix.text)
        where = f"seed {seed}: {mix.text!r} became {left!r}"
        assert [word for word in mix.private if word in left] == [], where
        assert [word for word in mix.public if word not in left] == [], where
        if mix.left is not None:
            assert left == mix.left, where
            seen["to the letter"] += 1
        seen["private"] += len(mix.private)
        seen["public"] += len(mix.public)
    assert min(seen.values()) > long_count(20_000) / 2


PARTS = st.sampled_from(
    [
        *(
            "<private>",
            "</private>",
            "<private",
            "</private",
            "<private ",
            "< private",
            "<",
            ">",
            "/",
        ),
        *(
            "<pri",
            "vate>",
            "vate",
            "p",
            "r",
            "i",
            "v",
            "a",
            "t",
            "e",
            " ",
            "\n",
            "\r",
            "\t",
            "=",
            '"',
        ),
        *(
            "'",
            "&",
            "lt;",
            "&lt",
            "amp;",
            "#60;",
            "#x3c",
            "\\",
            "u003c",
            "x3c",
            "74",
            "%",
            "3C",
            "25",
        ),
        *(
            "26",
            ".",
            ":",
            "!",
            ";",
            "|",
            "-",
            "_",
            "＜",
            "＞",
            "р",
            "е",
            "а",
            "《",
            "》",
            "ⅳ",
            "秘",
            "é",
        ),
        *("private", "PRIVATE", "x", "0", "{", "}", *UNSEEN, *TEXTS[:8], *STEMS[:3]),
    ]
)
TEXT = st.lists(PARTS | st.characters(categories=None), max_size=40).map("".join)


@given(TEXT)
def test_any_text_is_left_as_it_is_when_stripped_again(text: str) -> None:
    holds(text)


@given(TEXT)
def test_the_quick_look_misses_nothing(text: str) -> None:
    if not taghints.may_have_tags(text):
        assert tags.spans(text) == []


@given(st.lists(PARTS, max_size=12).map("".join), TEXT)
def test_nothing_behind_an_unclosed_tag_is_left(before: str, after: str) -> None:
    before = before.replace("/", "")  # nothing that closes
    text = f"{before} <private>{after.replace('/', '').replace('%', '')}"
    text = text.replace("&", "").replace("\\", "")
    assert "Q1w" not in strip(f"{text}Q1w")


def test_every_character_is_read_as_one_that_the_quick_look_expects() -> None:
    odd = re.compile(taghints._ODD)
    for code in range(0x80, 0x20000):
        character = chr(code)
        reading = tags._reading(character)
        assert len(reading) == 1
        if reading != character and reading in "private \1\2ⅳ":
            assert odd.match(character), hex(code)
            assert not taghints.is_plain(character), hex(code)


@pytest.mark.parametrize("letter", "private")
def test_what_unicode_takes_for_a_letter_is_taken_for_it(letter: str) -> None:
    for code in range(0x80, 0x20000):
        if unicodedata.normalize("NFKC", chr(code)).lower() == letter:
            assert tags._reading(chr(code)) == letter, hex(code)


SHAPES = [
    *(
        "<",
        "<private>",
        "<private>x",
        "a < b ",
        "a < b\n",
        "<private ",
        "<private>\n",
        "</private>",
    ),
    *(
        "<private a='b'>",
        '<private a="',
        "<private a='\"' b=\"",
        "<private></private>",
        "< private ",
    ),
    *("a<private | ", "a<private | </private>", "x < private_count ", "List<PrivateKey> ", "<pri"),
    *(
        "&lt;",
        "&lt;private&gt;",
        "&amp;",
        "&",
        "\\",
        "\\u003cprivate\\u003e",
        "%25",
        "%3Cprivate%3E",
    ),
    *(
        "＜private＞",
        "<рrivate>",
        "《private ",
        "<private/x",
        "<private\0",
        "<priv ate>",
        "<p\u200b",
    ),
]
UNFINISHED = [
    "<",
    "<private>&",
    "<private>\\",
    "<private>%",
    "<private>&#",
    '<private a="',
    "<p",
    "<private/",
    "《",
]


def times(text: str) -> Iterator[float]:
    """Return what each of five runs takes, in seconds; one is run when it is asked for."""
    return (timed(lambda: strip(text))[1] for _ in range(5))


@pytest.mark.parametrize(
    ("head", "shape"),
    [
        *(("", shape) for shape in SHAPES),
        *(("<private>", shape) for shape in SHAPES),
        *(
            (head, each)
            for head in UNFINISHED
            for each in (" ", "\\", "amp;", "25", "0", "/", "\0", "x")
        ),
        ("", "</pri"),
    ],
)
def test_four_times_the_text_takes_four_times_as_long(head: str, shape: str) -> None:
    def text(length: int) -> str:
        return head + shape * (length // len(shape))

    strip(text(100))  # compiles the patterns
    base = max(min(times(text(60_000))), 0.000_3)
    assert any(took < 8 * base for took in times(text(240_000)))  # the first one, as a rule


def test_halves_within_halves_are_given_up_in_few_passes() -> None:
    text = "</pri" * 10_000 + "</private>" + "vate>" * 10_000
    left = holds(text)
    assert left in "</pri" * 10_000


def test_importing_costs_nothing() -> None:
    program = (
        "import sys; before = set(sys.modules); import index_cache.privacy;"
        "print(*sorted(set(sys.modules) - before - {'__future__'}))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["index_cache", "index_cache.privacy", "index_cache.taghints"]
