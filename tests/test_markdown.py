"""Headings, excerpts and titles without markup, as a real Markdown parser sees them."""

from __future__ import annotations

import subprocess
import sys

import pyromark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_cache import markdown, pulldown
from index_cache.blocks import blocks
from index_cache.model import HEADING


def outline(body: str) -> list[tuple[str, int]]:
    found = [each.lines for each in blocks(body) if each.kind == HEADING]
    return [(" ".join(text for _, text in lines), lines[0][0]) for lines in found]


def test_F3_headings_are_what_markdown_calls_so() -> None:
    body = (
        "# One #\n\ntext\n\nTwo\n---\n\n"
        "```sh\n# fenced\n```\n\n~~~~\n# tilde\n~~~\n# still\n~~~~\n\n"
        "<!--\n# comment\n-->\n\n<pre>\n# html\n</pre>\n\n"
        "    # code\n\n#tag\n\n####### seven\n\n> ### quoted\n\n- # listed\n"
    )
    lines = body.split("\n")
    assert outline(body) == [
        ("One", 1),
        ("Two", 5),
        ("quoted", lines.index("> ### quoted") + 1),
        ("listed", lines.index("- # listed") + 1),
    ]


def test_lines_of_headings_count_bytes_of_any_width() -> None:
    body = "日本語\n\n# 一\n\nÄÖÜ\n\n## Zwei\n\n三\n===\n"
    assert outline(body) == [("一", 3), ("Zwei", 7), ("三", 9)]


def test_lines_of_headings_with_crlf() -> None:
    assert outline("a\r\n\r\n# One\r\n\r\n# Two\r\n") == [("One", 3), ("Two", 5)]


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Plain words", "Plain words"),
        ("  two   blanks ", "two blanks"),
        ("**bold** and *more*", "bold and more"),
        ('[text](http://x "t")', "text"),
        ("[[note|shown]]", "shown"),
        ("[[note]]", "note"),
        ("`a*b*c`", "a*b*c"),
        ("a &lt; b &#38; c", "a < b & c"),
        ("~~gone~~ x", "gone x"),
        ("<span class=x>a</span> <br/> b<!-- c -->", "a b"),
        ("Vec<T> and Map<K, V>", "Vec<T> and Map<K, V>"),
        ("![alt](x.png)", "![alt](x.png)"),
        ("snake_case_name", "snake_case_name"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("1. first", "1. first"),
        ("- item", "- item"),
        ("> quote", "> quote"),
        ("--- rule", "--- rule"),
        ("\\*escaped\\*", "*escaped*"),
        ("", ""),
    ],
)
def test_titles_lose_their_markup_and_nothing_else(title: str, wanted: str) -> None:
    assert markdown.plain(title) == wanted


@pytest.mark.parametrize(
    ("body", "excerpt"),
    [
        ("One\ntwo  \nthree\\\nfour\n\nfive", "One two three four"),
        ("---\n\n***\n\nText", "Text"),
        ("!!!\n\nText", "Text"),
        ("- a\n\n- b", "a"),
        ("| a | b |\n|---|---|\n| c | d |", "a"),
        ("> quoted\n\nText", "quoted"),
        ("<div>html</div>\n\nText", "Text"),
        ("[^1]: note\n\nText", "note"),
        ("", ""),
    ],
)
def test_the_excerpt_is_the_first_prose(body: str, excerpt: str) -> None:
    assert markdown.summary(body)[1] == excerpt


def test_the_heading_after_the_excerpt_is_found_too() -> None:
    assert markdown.summary("Text\n\nmore\n\n```\n# no\n```\n\n## Yes\n") == ("Yes", "Text")


@given(st.text(max_size=400))
def test_shorten_keeps_to_one_line_of_its_length(text: str) -> None:
    line = markdown.shorten(text)
    assert len(line) <= markdown.EXCERPT_LENGTH + 1
    assert line == " ".join(line.split())
    assert line.removesuffix("…") in " ".join(text.split())


MARKUP = [
    "# ",
    "a",
    "*",
    "_",
    "`",
    "[",
    "](",
    ")",
    "<!--",
    "-->",
    "<b>",
    "![",
    "> ",
    "- ",
    "1. ",
    "|",
    "&amp;",
    "é",
    "[[",
    "]]",
    " ",
    "#",
    "\n",
    "\n\n",
    "```\n",
    "---\n",
    "===\n",
    "\t",
    "\r",
]


def bare(text: str | None) -> str | None:
    return text and "".join(text.split())


@given(st.lists(st.sampled_from(MARKUP), max_size=40).map("".join))
def test_any_text_has_an_outline(body: str) -> None:
    heading, excerpt = markdown.summary(body)
    found = outline(body)
    # Blanks around what is no text, such as a comment of several lines, may differ.
    assert bare(heading) == bare(found[0][0] if found else None)
    assert "\n" not in excerpt
    lines = [line for _, line in found]
    assert lines == sorted(lines)
    assert all(1 <= line <= body.count("\n") + 1 for line in lines)
    assert "\n" not in markdown.plain(body)


def test_the_options_are_those_that_the_parsers_package_names() -> None:
    names = ("TABLES", "FOOTNOTES", "STRIKETHROUGH", "TASKLISTS", "WIKILINKS")
    assert sum(pyromark.Options[f"ENABLE_{name}"] for name in names) == pulldown.OPTIONS


PARSE = """
import sys
{before}
from index_cache import pulldown
print("pyromark" in sys.modules, pulldown._NAME in sys.modules)
print(*pulldown.events("a [[b]]", options=pulldown.OPTIONS))
import pyromark
print(pyromark.events is pulldown.events)
"""


@pytest.mark.parametrize(
    ("before", "package"),
    [
        ("", False),
        ("import pyromark", True),
        ("sys.modules['_frozen_importlib_external'] = None", True),
    ],
)
def test_the_parser_is_one_whatever_way_it_was_loaded(before: str, package: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PARSE.format(before=before)],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    loaded, parsed, same = done.stdout.splitlines()
    assert loaded == f"{package} True"
    assert "{'Start': {'Link'" in parsed
    assert same == "True"
