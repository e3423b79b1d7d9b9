"""Include and exclude globs: what they match, and that none is wrong or slow."""

from __future__ import annotations

import re
from typing import Any

import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st
from vectors import load, named

from index_cache.globs import Globs, to_regex


@pytest.mark.parametrize("vector", load("globs.json"), ids=named)
def test_vectors(vector: dict[str, Any]) -> None:
    globs = Globs([vector["glob"]])
    for path in vector["matches"]:
        assert globs.match(path.encode()), path
    for path in vector["not"]:
        assert not globs.match(path.encode()), path


def test_several_globs_match_what_any_of_them_does() -> None:
    globs = Globs(["/a.md", "b/"])
    assert [globs.match(path) for path in (b"a.md", b"x/b/c.md", b"c.md")] == [True, True, False]
    assert not Globs([]).match(b"a.md")
    assert not Globs([])
    assert globs


def test_names_that_are_not_utf8_are_matched_too() -> None:
    assert Globs(["caf?.md"]).match(b"caf\xe9.md")
    assert Globs(["*.md"]).match(b"\xff\n.md")
    assert Globs(["caf\udce9.md"]).match(b"caf\xe9.md")


@pytest.mark.parametrize(
    ("glob", "spelt", "passed_over"),
    [
        (
            ".claude/memory/**",
            [".claude/", ".claude/memory/"],
            [".claude/x/", ".git/", "a/.claude/"],
        ),
        ("/.notes", [".notes/"], ["a/.notes/", ".notes.d/"]),
        (".notes", [".notes/", "a/b/.notes/"], [".other/"]),
        ("**/.notes/*.md", [".notes/", "a/.notes/", ".notes/b/.notes/"], [".notes/b/"]),
        ("*/.notes/a.md", ["a/.notes/"], [".notes/", "a/b/.notes/"]),
        ("**/*.md", [], [".notes/", "node_modules/"]),
        (".*/a.md", [], [".notes/"]),
    ],
)
def test_a_directory_is_spelt_out_by_its_name_alone(
    glob: str, spelt: list[str], passed_over: list[str]
) -> None:
    globs = Globs([glob])
    assert [each for each in spelt if not globs.spells(each.encode())] == []
    assert [each for each in passed_over if globs.spells(each.encode())] == []


NAMES = st.sampled_from(["a", "b", "ab", "a.md", ".a", "aab"])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
GLOBS = st.lists(
    st.sampled_from(
        ["a", "b", "*", "**", "?", "/", "**/", "/**", "[ab]", "[!a]", ".", ".md", "*a"]
    ),
    min_size=1,
    max_size=6,
).map("".join)


def plainly(glob: str, path: str) -> bool:
    """Match as the page says it, slowly: every way to cut the path is tried."""
    parts: list[str] = [] if "/" in glob.rstrip("/") else ["**"]
    for part in filter(None, glob.split("/")):
        if part.startswith("**") and part.strip("*"):
            parts += ["**", part[1:]]
        else:
            parts.append("**" if len(part) > 1 and not part.strip("*") else part)
    if not glob.strip("/"):
        return False
    names = path.split("/")
    return any(_names(parts, names[:end]) for end in range(1, len(names) + 1))


def _names(parts: list[str], names: list[str]) -> bool:
    if not parts:
        return not names
    if parts[0] == "**":
        if len(parts) == 1:
            return bool(names)
        return any(_names(parts[1:], names[at:]) for at in range(len(names) + 1))
    return bool(names) and _name(parts[0], names[0]) and _names(parts[1:], names[1:])


def _name(part: str, name: str) -> bool:
    regex = re.escape(part).replace(r"\*", ".*").replace(r"\?", ".")
    regex = regex.replace(r"\[ab\]", "[ab]").replace(r"\[!a\]", "[^a]")
    return bool(re.fullmatch(regex, name))


@given(GLOBS, PATHS)
def test_globs_match_as_if_every_way_had_been_tried(glob: str, path: str) -> None:
    assert Globs([glob]).match(path.encode()) == plainly(glob, path)


@given(GLOBS, PATHS)
def test_directories_that_are_not_reached_hold_no_match(glob: str, path: str) -> None:
    globs = Globs([glob])
    names = path.split("/")
    above = ["/".join(names[:end]) + "/" for end in range(1, len(names))]
    if globs.match(path.encode()):
        assert all(globs.reaches(directory.encode()) for directory in above)


def test_only_directories_that_may_hold_a_match_are_reached() -> None:
    top = Globs(["/*.md"])
    assert not top.reaches(b"src/")
    assert top.reaches(b"odd.md/")
    deep = Globs(["/adr/*/decisions/*.md"])
    reached = [b"adr/", b"adr/a/", b"adr/a/decisions/", b"adr/a/decisions/b.md/"]
    assert all(map(deep.reaches, reached))
    assert not any(map(deep.reaches, [b"a/", b"adr/a/b/", b"adr/a/decisions/b/"]))
    assert Globs(["README.md"]).reaches(b"a/b/c/")
    assert Globs(["a/**/b.md"]).reaches(b"a/x/y/")
    assert not Globs(["a/**/b.md"]).reaches(b"b/")


@given(st.text(max_size=40))
def test_any_text_is_a_glob(glob: str) -> None:
    re.compile(to_regex(glob))
    globs = Globs([glob])
    globs.match(b"a/b.md")
    globs.spells(b"a/")
    globs.reaches(b"a/")


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 20 + "b", "a" * 250),
        ("*[ab]" * 20 + "c", "a" * 250),
        ("*?" * 20 + "b", "a" * 250),
        ("**/a/" * 20 + "b", "a/" * 2000),
        ("**/*a*a/" * 20 + "b", "aaaa/" * 800),
        ("**/" * 500 + "b", "a/" * 2000),
        ("*" * 4000 + "b", "a" * 250),
        ("[" * 4000, "[" * 250),
    ],
)
def test_no_glob_is_slow(glob: str, path: str) -> None:
    def match() -> bool:
        globs = Globs([glob])
        return any(globs.match(path.encode()) for _ in range(20))

    found, cost = steps(match)
    assert not found
    assert cost < 10_000_000
