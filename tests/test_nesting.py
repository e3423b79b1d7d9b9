"""Which part of each root a search looks at: --under, and roots inside other roots."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from index_cache.errors import NotFound
from index_cache.model import Root, Rules
from recall import Recall
from recall.nesting import filters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Make a tree of notes, each about a needle and different from the others."""
    base = tmp_path.resolve() / "notes"
    for name in ("a.md", "in/b.md", "in/skip/c.md", "in/deep/d.md", "in.md", "inner/e.md"):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"needle in {name}\n", encoding="utf-8")
    return base


def shown(roots: Sequence[Root], tmp_path: Path, under: str | None = None) -> list[tuple[str, str]]:
    with Recall(roots, cache_dir=str(tmp_path / "cache"), cwd=str(tmp_path)) as recall:
        cards = recall.search("needle", k=50, under=under)
    return sorted((card.root, card.path) for card in cards)


def test_F4_a_file_is_shown_once_under_the_deepest_root(notes: Path, tmp_path: Path) -> None:
    roots = [
        Root("outer", str(notes)),
        Root("in", str(notes / "in")),
        Root("deep", str(notes / "in" / "deep")),
    ]
    wanted = [
        ("deep", "d.md"),
        ("in", "b.md"),
        ("in", "skip/c.md"),
        ("outer", "a.md"),
        ("outer", "in.md"),
        ("outer", "inner/e.md"),
    ]
    assert shown(roots, tmp_path) == wanted
    assert shown(roots[::-1], tmp_path) == wanted


def test_F4_what_the_deeper_root_leaves_out_stays_with_the_outer(
    notes: Path, tmp_path: Path
) -> None:
    roots = [
        Root("outer", str(notes)),
        Root("in", str(notes / "in"), Rules(exclude=("skip/",))),
    ]
    assert ("outer", "in/skip/c.md") in shown(roots, tmp_path)
    assert ("in", "b.md") in shown(roots, tmp_path)


def test_a_deeper_root_that_is_gone_takes_nothing_away(notes: Path, tmp_path: Path) -> None:
    roots = [Root("outer", str(notes)), Root("gone", str(notes / "gone"))]
    assert len(shown(roots, tmp_path)) == 6


@pytest.mark.parametrize(
    ("under", "wanted"),
    [
        ("in", ["in/b.md", "in/deep/d.md", "in/skip/c.md"]),
        ("in/", ["in/b.md", "in/deep/d.md", "in/skip/c.md"]),
        ("in/deep", ["in/deep/d.md"]),
        ("in/b.md", ["in/b.md"]),
        ("./in/../inner", ["inner/e.md"]),
        ("notes/in/skip", ["in/skip/c.md"]),
        (".", ["a.md", "in.md", "in/b.md", "in/deep/d.md", "in/skip/c.md", "inner/e.md"]),
    ],
)
def test_under(notes: Path, tmp_path: Path, under: str, wanted: list[str]) -> None:
    roots = [Root("r", str(notes))]
    assert shown(roots, tmp_path, under) == [("r", path) for path in wanted]
    absolute = os.path.join(notes, under)
    if os.path.lexists(absolute):
        assert shown(roots, tmp_path, absolute) == [("r", path) for path in wanted]


def test_under_through_a_symlink(notes: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(notes)
    assert shown([Root("r", str(notes))], tmp_path, str(link / "inner")) == [("r", "inner/e.md")]


def test_under_leaves_out_the_roots_that_it_is_not_in(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "f.md").write_text("needle elsewhere", encoding="utf-8")
    roots = [Root("r", str(notes)), Root("o", str(other))]
    assert shown(roots, tmp_path, "inner") == [("r", "inner/e.md")]
    assert shown(roots, tmp_path, str(other)) == [("o", "f.md")]


@pytest.mark.parametrize("under", ["nowhere", "../outside", "/none", "in\0", "\ud800", "b.md"])
def test_under_that_is_in_no_root_is_not_found(notes: Path, tmp_path: Path, under: str) -> None:
    (tmp_path / "outside").mkdir()
    with pytest.raises(NotFound, match="no root has such a directory"):
        shown([Root("r", str(notes))], tmp_path, under)


def test_types_and_journal_go_into_every_filter(notes: Path) -> None:
    roots = [Root("r", str(notes)), Root("in", str(notes / "in"))]
    for wanted in filters(roots, [None, None], ["Note", "\udcff"], None, "/", journal=True):
        assert wanted is not None
        assert wanted.types == ["Note", "?"]
        assert wanted.journal
        assert wanted.under == b""
