"""Which part of each root a search looks at: --under, and roots inside other roots."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_support import ANYTHING, by_fts5, found, store, terms_of

from index_cache.analyze import Analyzers
from index_cache.errors import NotFound
from index_cache.filters import Filter
from index_cache.model import Root, Rules
from index_cache.search import Statistics
from recall import Recall
from recall.asked import Question
from recall.nesting import Nesting, filters

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    for wanted in filters(
        roots, Nesting(roots, [None, None]), ["Note", "\udcff"], None, "/", journal=True
    ):
        assert wanted is not None
        assert wanted.types == ["Note", "?"]
        assert wanted.journal
        assert wanted.under == b""


# What counts

PLACES = ["a.md", "b.md", "in/c.md", "in/d.md", "in/deep/e.md", "in/deep/f.md", "other/g.md"]
WORDS = ["red", "green", "blue", "deploy", "key"]
BODIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
OUTER, INNER, DEEP = Root("o", "/o"), Root("in", "/o/in"), Root("deep", "/o/in/deep")


def below(documents: dict[str, dict[str, str]], directory: str) -> dict[str, dict[str, str]]:
    """Return the documents below a directory, as a root there has them."""
    begin = directory + "/"
    return {path[len(begin) :]: d for path, d in documents.items() if path.startswith(begin)}


@given(st.dictionaries(st.sampled_from(PLACES), BODIES, min_size=1), st.permutations([0, 1, 2]))
def test_nested_roots_score_as_the_outer_one_alone(
    bodies: dict[str, str], order: list[int]
) -> None:
    documents = {path: {"body": body} for path, body in bodies.items()}
    terms = terms_of(" ".join(WORDS))
    alone = by_fts5(documents, terms)
    three = [
        (OUTER, store(documents), ""),
        (INNER, store(below(documents, "in")), "in/"),
        (DEEP, store(below(documents, "in/deep")), "in/deep/"),
    ]
    nested = [three[number] for number in order]
    roots, stores = [each[0] for each in nested], [each[1] for each in nested]
    nesting = Nesting(roots, stores)
    assert nesting.counted == [root is OUTER for root in roots]
    wanted = [Filter(without=without, journal=True) for without in nesting.without]
    hits = found(stores, terms, filters=wanted, counted=nesting.counted)
    scores = {nested[hit.root][2] + hit.path.decode(): hit.bm25 for hit in hits}
    assert scores == pytest.approx(alone, abs=1e-9)
    asked = Question(" ".join(WORDS), stores, Analyzers(), nesting.counted)
    only = Question(" ".join(WORDS), [three[0][1]], Analyzers())
    assert asked.terms == only.terms


def test_a_root_with_files_that_the_outer_one_lacks_counts_as_well() -> None:
    outer = store({"a.md": {"body": "x"}, "in/b.md": {"body": "x"}})
    inner = store({"b.md": {"body": "x"}, "c.md": {"body": "x"}, "deep/d.md": {"body": "x"}})
    deep = store({"d.md": {"body": "x"}})
    nesting = Nesting([OUTER, INNER, DEEP], [outer, inner, deep])
    assert nesting.counted == [True, True, False]  # the last one is inside the second


def test_the_same_directory_twice_and_a_root_without_a_view_count() -> None:
    one = store({"a.md": {"body": "x"}})
    assert Nesting([OUTER, OUTER], [one, one]).counted == [True, True]
    assert Nesting([OUTER, INNER], [None, one]).counted == [True, True]
    assert Nesting([OUTER, INNER], [one, None]).counted == [True, True]


@given(st.lists(BODIES, max_size=2), st.lists(BODIES, min_size=1, max_size=6))
def test_a_newer_cache_of_the_inner_root_breaks_nothing(outer: list[str], inner: list[str]) -> None:
    # Which may be one in memory, of files that appeared: it counts as its root does.
    stores = [
        store({f"in/{number}.md": {"body": body} for number, body in enumerate(bodies)})
        for bodies in (outer, inner)
    ]
    terms = terms_of(" ".join(WORDS))
    hits = found(stores, terms, filters=[ANYTHING, ANYTHING], counted=[True, False])
    assert len(hits) == len(outer) + len(inner)
    assert all(hit.bm25 > 0 for hit in hits)


def test_what_is_not_counted_is_no_less_than_it_says() -> None:
    parts = [Statistics(3, 30, {"a": 2}), Statistics(2, 40, {"a": 1, "b": 2})]
    whole = Statistics.sum(parts, [True, False])
    assert (whole.documents, whole.terms, whole.frequency) == (3, 40, {"a": 2, "b": 2})
    both = Statistics.sum(parts)
    assert (both.documents, both.terms, both.frequency) == (5, 70, {"a": 3, "b": 2})


TULIPS = "how is the pump firmware flashed with stork in April near the tulips"


def test_a_nested_root_makes_no_note_disappear(tmp_path: Path) -> None:
    base = tmp_path.resolve() / "w"
    (base / "proj").mkdir(parents=True)
    (base / "top.md").write_text("# Garden\n\nTulips bloom in April.")
    (base / "proj/x.md").write_text("# Pump firmware\n\nThe pump firmware is flashed with stork.")
    outer, inner = Root("outer", str(base)), Root("proj", str(base / "proj"))

    def told(roots: Sequence[Root]) -> list[tuple[str, dict[str, float]]]:
        return parts_of(roots, TULIPS, tmp_path)

    alone = told([outer])
    assert [title for title, _ in alone] == ["Pump firmware", "Garden"]
    both = told([outer, inner])
    assert both == told([inner, outer])
    assert [title for title, _ in both] == [title for title, _ in alone]
    assert dict(both)["Garden"] == pytest.approx(dict(alone)["Garden"], abs=1e-9)
    # The inner root's note has a shorter path: that is all that makes a difference.
    pump, before = dict(both)["Pump firmware"], dict(alone)["Pump firmware"]
    for part in ("title", "precision"):
        assert pump[part] == pytest.approx(before[part], abs=1e-9)
    for part in ("bm25", "passage"):
        assert before[part] < pump[part] < 1.02 * before[part]


def parts_of(
    roots: Sequence[Root], query: str, tmp_path: Path
) -> list[tuple[str, dict[str, float]]]:
    """Return each card's title and the parts of its score, best first.

    Without that of its grams: of these the texts that were looked into decide.
    """
    with Recall(roots, cache_dir=str(tmp_path / "cache"), cwd=str(tmp_path / "cache")) as recall:
        cards = recall.answer(query, k=50, explain=True).cards
    found = []
    for card in cards:
        assert card.explain is not None
        parts = card.explain["parts"]
        assert isinstance(parts, dict)
        assert card.score == pytest.approx(sum(parts.values()), abs=1e-9)
        found.append((card.title, {part: parts[part] for part in parts if part != "grams"}))
    return found


@given(st.lists(BODIES, min_size=1, max_size=10), st.lists(st.integers(0, 2), min_size=10))
@settings(max_examples=10, deadline=None)
def test_notes_score_the_same_however_they_are_spread_over_roots(
    bodies: list[str], places: list[int]
) -> None:
    with TemporaryDirectory() as made:
        base = Path(made).resolve()
        for number, body in enumerate(bodies):
            text = f"# Note {body} n{number}x\n\n{body}\n"
            for directory in ("all", f"part{places[number]}"):
                (base / directory).mkdir(exist_ok=True)
                (base / directory / f"n{number}.md").write_text(text)
        one = parts_of([Root("all", str(base / "all"))], " ".join(WORDS), base)
        parts = [Root(path.name, str(path)) for path in sorted(base.glob("part*"))]
        several = parts_of(parts, " ".join(WORDS), base)
    assert dict(several).keys() == dict(one).keys()
    for title, said in one:
        assert dict(several)[title] == pytest.approx(said, abs=1e-9)
