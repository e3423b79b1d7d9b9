"""Candidates and scores: FTS5's own for one root, one table's for several, and nothing else's."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import (
    ANALYZER,
    ANYTHING,
    Fields,
    by_fts5,
    found,
    row,
    store,
    terms,
    terms_of,
)
from text_support import ANY_TEXT
from vectors import load

from index_cache import candidates, schema, search
from index_cache.files import FileSystem
from index_cache.filters import JOURNAL, PROPOSAL, Filter
from index_cache.lookup import proposals
from index_cache.model import Hit, Root, Term
from index_cache.refresh import refresh
from index_cache.search import Statistics, weighted
from index_cache.store import Store
from recall import Recall
from recall.card import as_dict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


WORDS = ["red", "green", "blue", "deploy", "key", "alert", "disk", "日本", "a-b", "common"]
CLOSE = 1e-9
ROUNDING = 1e-12  # of a sum, by the order of its terms
RANKS = (
    "SELECT e.path, -f.rank FROM fts AS f JOIN entry AS e ON e.id = f.rowid"  # noqa: S608 - ours
    f" WHERE f.fts MATCH ? AND f.rank MATCH '{schema.RANK}'"
)


def texts(most: int) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), max_size=most).map(" ".join)


FIELDS: st.SearchStrategy[Fields] = st.fixed_dictionaries(
    {"body": texts(30)},
    optional={"title": texts(3), "description": texts(6), "tags": texts(2), "type": texts(1)},
)
CORPORA = st.lists(FIELDS, min_size=1, max_size=14).map(
    lambda documents: {f"{number:02}.md": each for number, each in enumerate(documents)}
)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True).map(
    lambda words: terms_of(" ".join(words))
)


def test_Q7_each_field_has_a_weight_and_fts5_knows_them() -> None:
    connection = store({}).connection
    columns = [row[1] for row in connection.execute("PRAGMA table_info(fts)")]
    assert tuple(columns) == schema.FIELDS
    assert len(schema.WEIGHTS) == len(schema.FIELDS)
    assert dict(zip(schema.FIELDS, schema.WEIGHTS, strict=True)) == {
        "title": 10,
        "aliases": 5,
        "description": 5,
        "tags": 3,
        "type": 2,
        "path": 2,
        "body": 1,
    }
    assert schema.RANK == "bm25(10.0, 5.0, 5.0, 3.0, 2.0, 2.0, 1.0)"


@pytest.mark.parametrize("field", schema.FIELDS)
def test_Q7_a_word_weighs_what_its_field_weighs(field: str) -> None:
    documents = {f"{number}.md": {"body": "other word"} for number in range(9)}
    documents["x.md"] = {field: "needle"}
    (hit,) = found([store(documents)], terms("needl"))
    weight = schema.WEIGHTS[schema.FIELDS.index(field)]
    assert weighted(hit.occurrences[0]) == weight
    assert hit.bm25 == pytest.approx(by_fts5(documents, terms("needl"))["x.md"], abs=CLOSE)


@pytest.mark.parametrize("vector", load("bm25.json"), ids=lambda each: str(each["query"]))
def test_vectors(vector: dict[str, Any]) -> None:
    asked = terms_of(vector["query"])
    documents = vector["documents"]
    for stores in (
        [store(documents)],
        [store({path: fields}) for path, fields in documents.items()],
    ):
        scores = {hit.path.decode(): hit.bm25 for hit in found(stores, asked)}
        assert scores == pytest.approx(vector["scores"], abs=CLOSE)


@given(CORPORA, QUERIES)
def test_one_roots_score_is_fts5s_own(documents: dict[str, Fields], asked: list[Term]) -> None:
    one = store(documents)
    hits = found([one], asked)
    assert {hit.path.decode(): hit.bm25 for hit in hits} == pytest.approx(
        by_fts5(documents, asked), abs=CLOSE
    )
    ranks = dict(one.connection.execute(RANKS, (search.expression(asked),)))
    assert {path.decode(): rank for path, rank in ranks.items()} == pytest.approx(
        by_fts5(documents, asked), abs=CLOSE
    )


@given(CORPORA, QUERIES, st.data())
def test_several_roots_score_as_one_table(
    documents: dict[str, Fields], asked: list[Term], data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    scores = {hit.path.decode(): hit.bm25 for hit in found(stores, asked)}
    assert scores == pytest.approx(by_fts5(documents, asked), abs=CLOSE)


def split(documents: dict[str, Fields], places: list[int]) -> list[Store]:
    """Spread documents over four roots."""
    parts: list[dict[str, Fields]] = [{}, {}, {}, {}]
    for place, (path, fields) in zip(places, documents.items(), strict=False):
        parts[place][path] = fields
    return [store(part, f"r{number}") for number, part in enumerate(parts)]


def in_order(asked: list[Term], documents: dict[str, Fields]) -> list[Term]:
    """Return terms as a query searches them: the rarest first."""
    frequency = search.statistics(store(documents), asked).frequency
    return sorted(asked, key=lambda term: (frequency.get(term, 0), term))


def proposed(everything: list[Hit], asked: list[Term], k: int, limit: int) -> list[Hit]:
    """Return the best of what the rarest of the terms ``in_order`` propose, worked out slowly.

    ``everything`` are all documents with any of them, ``limit`` what those have of the first pass.
    """
    having = [[hit for hit in everything if hit.occurrences[at]] for at in range(len(asked))]
    known = [hits for hits in having if hits]
    chosen: list[Hit] = []
    number = 0
    while number < len(known) and len(chosen) < k:
        number += 1
        while sum(map(len, known[: number + 1])) <= limit and number < len(known):
            number += 1
        limit = 4 * sum(map(len, known[: number + 1]))
        keys = {(hit.root, hit.path) for hits in known[:number] for hit in hits}
        chosen = [hit for hit in everything if (hit.root, hit.path) in keys]
    last = chosen[k - 1].bm25 if len(chosen) >= k else 0.0
    return [hit for hit in chosen if hit.bm25 >= last * (1 - ROUNDING)]


def assert_are(best: list[Hit], wanted: list[Hit], k: int) -> None:
    """Fail unless candidates are those ``proposed``, but for what may tie with the last or not.

    What does tie is there, so that the order can be decided elsewhere.
    """
    wholes = [whole(hit) for hit in best]
    sums = {(hit.length, str(hit.occurrences)) for hit in best}
    assert wholes == [whole(hit) for hit in wanted if whole(hit) in wholes]
    assert len(best) >= min(k, len(wanted))
    for hit in wanted:
        if whole(hit) not in wholes:
            assert hit.bm25 < best[-1].bm25 * (1 + ROUNDING)
            assert (hit.length, str(hit.occurrences)) not in sums


LIMITS = st.sampled_from([1, 3, 9, 1_000])


@given(CORPORA, QUERIES, st.integers(1, 6), LIMITS, st.data())
def test_the_rarest_terms_propose_and_the_bound_leaves_out_none_of_the_best(
    documents: dict[str, Fields], asked: list[Term], k: int, limit: int, data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    asked = in_order(asked, documents)
    wanted = proposed(found(stores, asked), asked, k, limit)
    with mock.patch.object(candidates, "_FIRST_PASS", limit):
        best = found(stores, asked, k)
    assert_are(best, wanted, k)


@given(CORPORA, QUERIES, st.integers(1, 6), LIMITS, st.data())
def test_several_roots_propose_what_one_would(
    documents: dict[str, Fields], asked: list[Term], k: int, limit: int, data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    with mock.patch.object(candidates, "_FIRST_PASS", limit):
        several = {hit.path: (hit.bm25, hit.occurrences) for hit in found(stores, asked, k)}
        one = {hit.path: (hit.bm25, hit.occurrences) for hit in found([store(documents)], asked, k)}
    assert several == one


@pytest.mark.parametrize(
    ("frequencies", "passes"),
    [
        ([], [0]),
        ([1], [1]),
        ([5_000], [1]),  # the rarest in any case
        ([1, 999, 1_000], [3]),
        ([1, 1_000, 1_000], [2, 3]),
        ([1, 2, 5_000], [2, 3]),
        ([1_500, 1_600, 1_700, 1_800], [1, 4]),  # 4 · 3,100 documents in the second pass
        ([3_000, 3_000, 90_000, 90_000], [1, 2, 4]),
    ],
)
def test_how_many_terms_propose(frequencies: list[int], passes: list[int]) -> None:
    assert list(candidates._passes(frequencies, candidates._FIRST_PASS)) == passes


def many(count: int, **others: str) -> dict[str, Fields]:
    """Return so many notes about alerts, and the others by name."""
    notes: dict[str, Fields] = {
        f"{each}.md": {"body": f"alert {'word ' * (each % 7)}"} for each in range(count)
    }
    return notes | {f"{name}.md": {"body": body} for name, body in others.items()}


def test_a_query_whose_rarest_term_one_note_has_finds_others_too() -> None:
    documents = many(60, rare="needle", both="needle alert")
    asked = terms("rarest", "needl", "alert")
    with mock.patch.object(candidates, "_FIRST_PASS", 1):
        hits = found([store(documents)], asked, 10)
    assert {hit.path for hit in hits[:2]} == {b"both.md", b"rare.md"}
    assert len(hits) >= 10
    # They are the best of all: with so few documents the common term proposes as well.
    assert [whole(hit) for hit in hits] == [
        whole(hit) for hit in found([store(documents)], asked) if hit.bm25 >= hits[-1].bm25
    ]


def test_what_has_none_of_the_proposing_terms_is_left_out_where_there_are_enough() -> None:
    far = "needle" + " word" * 500
    documents = many(6, **{f"rare{each}": far for each in range(3)}) | many(0, common="alert")
    documents |= {f"other{each}.md": {"body": "word"} for each in range(20)}
    documents["title.md"] = {"title": "alert", "body": "alert"}
    asked = terms("needl", "alert")
    everything = [hit.path for hit in found([store(documents)], asked)]
    assert everything[0] == b"title.md"
    with mock.patch.object(candidates, "_FIRST_PASS", 3):
        best = [hit.path for hit in found([store(documents)], asked, 3)]
        more = [hit.path for hit in found([store(documents)], asked, 4)]
    assert best == [b"rare0.md", b"rare1.md", b"rare2.md"]
    assert more[0] == b"title.md"


def test_a_word_that_all_notes_have_is_searched_for() -> None:
    documents = many(3_000)
    hits = found([store(documents)], terms("alert"), 10)
    scores = by_fts5(documents, terms("alert"))
    assert len(hits) >= 10
    assert {hit.path.decode(): hit.bm25 for hit in hits} == pytest.approx(
        {path: score for path, score in scores.items() if score >= hits[-1].bm25 * (1 - ROUNDING)},
        rel=CLOSE,
    )
    (title,) = found([store(documents | {"x.md": {"title": "alert"}})], terms("alert"), 1)
    assert title.path == b"x.md"


@given(CORPORA, QUERIES, st.integers(1, 6), LIMITS, st.data())
def test_the_best_of_each_root(
    documents: dict[str, Fields], asked: list[Term], k: int, limit: int, data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    asked = in_order(asked, documents)
    everything = found(stores, asked)
    parts = [search.statistics(each, asked) for each in stores]
    common = Statistics.sum(parts)
    with mock.patch.multiple(candidates, _FIRST_PASS=limit, _LEAST_PASS=2):
        hits = candidates.candidates(stores, [ANYTHING] * 4, parts, common, asked, k, each=True)
    share = limit // max(1, len({hit.root for hit in everything}))
    for number in range(4):
        mine = sorted((hit for hit in hits if hit.root == number), key=place_of)
        own = [hit for hit in everything if hit.root == number]
        assert_are(mine, proposed(own, asked, k, max(share, 2)), k)


def place_of(hit: Hit) -> tuple[float, bytes]:
    return -hit.bm25, hit.path


def whole(hit: Hit) -> tuple[object, ...]:
    return hit.root, hit.path, hit.bm25, hit.length, hit.occurrences


def places(hits: list[Hit]) -> list[tuple[int, bytes]]:
    return [(hit.root, hit.path) for hit in hits]


def test_the_bound_reads_little_and_misses_nothing_in_unequal_roots(
    monkeypatch: pytest.MonkeyPatch, long_count: Callable[[int], int]
) -> None:
    for seed in range(long_count(50)):
        rng = random.Random(seed)  # noqa: S311 - the same documents each time
        vocabulary = [f"w{number}" for number in range(60)]
        parts = []
        for _ in range(4):
            size = rng.choice([3, 30, 300])
            favourites = rng.sample(vocabulary, 8) * rng.choice([1, 8])
            parts.append(
                {
                    f"{each}.md": {
                        "title": " ".join(rng.choices(favourites + vocabulary, k=3)),
                        "body": " ".join(
                            rng.choices(favourites + vocabulary, k=rng.choice([4, 40, 150]))
                        ),
                    }
                    for each in range(size)
                }
            )
        stores = [store(part, f"r{number}") for number, part in enumerate(parts)]
        asked = terms(*rng.sample(vocabulary, rng.randint(1, 6)))
        documents = {
            f"{number}/{path}": fields
            for number, part in enumerate(parts)
            for path, fields in part.items()
        }
        asked = in_order(asked, documents)
        limit = rng.choice([1, 30, 1_000])
        wanted = proposed(found(stores, asked), asked, 10, limit)
        monkeypatch.setattr(candidates, "_FIRST_PASS", limit)
        assert_are(found(stores, asked, 10), wanted, 10)
        monkeypatch.undo()


@given(CORPORA, CORPORA, QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_edits_makes_no_difference(
    before: dict[str, Fields], after: dict[str, Fields], asked: list[Term], rng: random.Random
) -> None:
    edited = store(before)
    numbers = {path: number for number, path in enumerate(before, 1)}
    changes = list(after)
    rng.shuffle(changes)
    following = 100
    for path in changes:
        following += 1
        number = numbers.get(path, following)
        edited.write([row(number, path, after[path], replaces=path in numbers)])
    edited.write([], [numbers[path] for path in before if path not in after])
    fresh = store(after)
    assert told(found([edited], asked)) == told(found([fresh], asked))
    assert search.count(edited, asked, ANYTHING) == search.count(fresh, asked, ANYTHING)


def told(hits: list[Hit]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(hit, name) for name in Hit.__slots__) for hit in hits]


@given(CORPORA, QUERIES)
def test_statistics_of_parts_sum_up(documents: dict[str, Fields], asked: list[Term]) -> None:
    whole = search.statistics(store(documents), asked)
    parts = [
        search.statistics(each, asked) for each in split(documents, [0, 1, 1, 2] * len(documents))
    ]
    total = Statistics.sum(parts)
    assert (total.documents, total.terms) == (whole.documents, whole.terms)
    assert total.frequency == whole.frequency
    assert total.average_length == whole.average_length


def test_an_empty_root_and_one_without_any_term() -> None:
    empty = store({})
    blank = store({"a.md": {}})
    full = store({"b.md": {"body": "needle"}, "c.md": {"body": "hay"}})
    assert found([empty], terms("needl")) == []
    assert places(found([empty, blank, full], terms("needl"))) == [(2, b"b.md")]
    documents = {"a.md": {}, "b.md": {"body": "needle"}, "c.md": {"body": "hay"}}
    (hit,) = found([empty, blank, full], terms("needl"))
    assert hit.bm25 == pytest.approx(by_fts5(documents, terms("needl"))["b.md"], abs=CLOSE)


DOCUMENTS: dict[str, Fields] = {
    "a.md": {"body": "needle", "type": "Note"},
    "d/b.md": {"body": "needle", "type": "note"},
    "d/e/c.md": {"body": "needle", "type": "Journal"},
    "d.md": {"body": "needle", "type": "Décision"},
    "d0.md": {"body": "needle"},
}


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        (Filter(), ["a.md", "d.md", "d/b.md", "d0.md"]),
        (Filter(journal=True), ["a.md", "d.md", "d/b.md", "d/e/c.md", "d0.md"]),
        (Filter(["NOTE"]), ["a.md", "d/b.md"]),
        (Filter(["journal"]), ["d/e/c.md"]),
        (Filter(["décision", "x'; DROP TABLE entry; --"]), ["d.md"]),
        (Filter([]), []),
        (Filter(under=b"d"), ["d/b.md"]),
        (Filter(under=b"d", journal=True), ["d/b.md", "d/e/c.md"]),
        (Filter(under=b"d/e/c.md", journal=True), ["d/e/c.md"]),
        (Filter(under=b"nowhere"), []),
        (Filter(journal=True, without={b"d": []}), ["a.md", "d.md", "d0.md"]),
        (Filter(without={b"d": [b"d/b.md"]}), ["a.md", "d.md", "d/b.md", "d0.md"]),
        (Filter(journal=True, without={b"d/e": []}), ["a.md", "d.md", "d/b.md", "d0.md"]),
    ],
)
def test_filters(wanted: Filter, paths: list[str]) -> None:
    one = store(DOCUMENTS)
    hits = found([one], terms("needl"), filters=[wanted])
    assert sorted(hit.path.decode() for hit in hits) == paths
    assert search.count(one, terms("needl"), wanted) == len(paths)
    for path, fields in DOCUMENTS.items():
        if not wanted.under and not wanted.without:
            assert wanted.admits(fields.get("type", "")) == (path in paths)


TYPES = {
    "no.md": "",
    "journal.md": "journal",
    "upper.md": "JOURNAL",
    "mixed.md": "jOURNal",
    "entry.md": "Journal entry",
    "marked.md": ":journal",
    "plural.md": "Journals",
    "parts.md": "dev:journal",
    "wide.md": "Ｊｏｕｒｎａｌ",
    "accent.md": "Jóurnal",
}
JOURNALS = {"journal.md", "upper.md", "mixed.md"}


def test_journals_are_those_of_this_type_in_any_case_and_no_others(tmp_path: Path) -> None:
    root = write(
        tmp_path / "notes",
        {
            # The mark of journals is no word of a text.
            name: f"---\ntype: '{kind}'\n---\n# Needle {name}\n\n:journal type:journal x:journal\n"
            for name, kind in TYPES.items()
        },
    )
    with closing(Store.create(Root("notes", str(root)), None)) as read:
        refresh(read, FileSystem())
        made = store({path: {"body": "needle", "type": kind} for path, kind in TYPES.items()})
        for each in (read, made):
            for wanted, paths in (
                (Filter(), TYPES.keys() - JOURNALS),
                (Filter(journal=True), set(TYPES)),
                (Filter(["journal"]), JOURNALS),
                (Filter(["JOURNAL entry"]), {"entry.md"}),
                (Filter(without={b"d": []}), TYPES.keys() - JOURNALS),  # asks the rows
            ):
                hits = found([each], terms("needl"), filters=[wanted])
                assert {hit.path.decode() for hit in hits} == paths
                assert search.count(each, terms("needl"), wanted) == len(paths)
    with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
        for query in ("needle", ":journal", "journal"):
            shown = {card.path for card in recall.search(query, k=50)}
            assert shown == TYPES.keys() - JOURNALS
        shown = {card.path for card in recall.search("needle", k=50, include_journal=True)}
        assert shown == set(TYPES)


@given(ANY_TEXT)
def test_no_text_has_the_mark_of_journals(text: str) -> None:
    assert not any(
        term.startswith((JOURNAL[0], PROPOSAL[0]))
        for each in (text, f":{text}", f"{text}:journal", f"{text} :proposal")
        for term in ANALYZER.terms(each)
    )


PROPOSALS = {"no.md": "", "a.md": "Proposal", "b.md": "proposal", "c.md": "Proposals"}


def test_proposals_are_left_out_as_journals_are(tmp_path: Path) -> None:
    (tmp_path / "notes" / "proposals").mkdir(parents=True)
    root = write(
        tmp_path / "notes",
        {
            # It is the type that tells, not the directory that a person may call so.
            f"proposals/{name}": f"---\ntype: {kind}\n---\n# Needle {name}\n\n:proposal\n"
            for name, kind in PROPOSALS.items()
        },
    )
    names = {f"proposals/{name}" for name in PROPOSALS}
    left_out = {"proposals/a.md", "proposals/b.md"}
    with closing(Store.create(Root("notes", str(root)), None)) as one:
        refresh(one, FileSystem())
        assert {path.decode() for path in proposals(one)} == left_out
        for wanted, paths in (
            (Filter(), names - left_out),
            (Filter(journal=True), names - left_out),
            (Filter(proposal=True), names),
            (Filter(["PROPOSAL"]), left_out),
            (Filter(without={b"d": []}), names - left_out),  # asks the rows
        ):
            hits = found([one], terms("needl"), filters=[wanted])
            assert {hit.path.decode() for hit in hits} == paths
            assert search.count(one, terms("needl"), wanted) == len(paths)
            assert all(wanted.admits(hit.type) for hit in hits)
    with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
        for query in ("needle", ":proposal", "proposal", "type:journal proposal"):
            shown = {card.path for card in recall.search(query, k=50)}
            assert shown == names - left_out
        answer = recall.answer("needle", include_proposal=True)
        assert {card.path for card in answer.cards} == names
        assert {card.path for card in recall.search("needle", types="proposal")} == left_out


def test_a_filter_changes_no_score() -> None:
    one = store(DOCUMENTS)
    scores = {hit.path: hit.bm25 for hit in found([one], terms("needl"))}
    for hit in found([one], terms("needl"), filters=[Filter(["note"])]):
        assert hit.bm25 == scores[hit.path]
    other = store({"x.md": {"body": "needle"}})
    both = {hit.path: hit.bm25 for hit in found([one, other], terms("needl"))}
    for hit in found([one, other], terms("needl"), filters=[ANYTHING, None]):
        assert hit.bm25 == both[hit.path]


@pytest.mark.parametrize("term", ['"', '""', "NEAR", "a-b", "c++", ".env", "x*", "^", "-", "col:x"])
def test_Q1_no_term_is_an_operator(term: str) -> None:
    connection = store({"a.md": {"body": "x"}}).connection
    statement = "SELECT count(*) FROM fts WHERE fts MATCH ?"
    assert next(connection.execute(statement, (search.expression(terms(term, "x")),))) == (1,)


def write(directory: Path, notes: dict[str, str]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def cards(recall: Recall, query: str) -> list[dict[str, object]]:
    return [as_dict(card) for card in recall.search(query)]


def test_answers_depend_on_the_searched_roots_alone(tmp_path: Path) -> None:
    mine = write(
        tmp_path / "mine",
        {f"{n}.md": f"# Note {n}\n\nAbout keys and {'deploy ' * n}\n" for n in range(6)},
    )
    other = write(tmp_path / "other", {f"{n}.md": "deploy keys " * n for n in range(40)})
    cache = str(tmp_path / "cache")
    with Recall([mine], cache_dir=cache) as alone:
        before = cards(alone, "deploy keys")
    with Recall([other, mine], cache_dir=cache) as both:
        cards(both, "deploy keys")
    with Recall([mine], cache_dir=cache) as alone:
        assert cards(alone, "deploy keys") == before
    with Recall([mine], cache_dir=str(tmp_path / "fresh")) as fresh:
        assert cards(fresh, "deploy keys") == before


def test_answers_do_not_depend_on_how_the_notes_came_to_be(tmp_path: Path) -> None:
    notes = {f"{n}.md": f"# Note {n}\n\nkeys {'deploy ' * (n % 3)}\n" for n in range(8)}
    root = tmp_path / "root"
    cache = str(tmp_path / "cache")
    write(root, {"0.md": "old text", "gone.md": "deploy keys", "7.md": notes["7.md"]})
    with Recall([root], cache_dir=cache) as recall:
        recall.refresh()
        for name in reversed(notes):
            write(root, {name: notes[name]})
            recall.refresh()
        (root / "gone.md").unlink()
        recall.refresh()
        edited = cards(recall, "deploy keys")
    with Recall([root], cache_dir=str(tmp_path / "fresh")) as recall:
        assert cards(recall, "deploy keys") == edited


def test_Q6_all_languages_of_a_root_are_known_the_unknown_one_too(tmp_path: Path) -> None:
    root = write(
        tmp_path / "notes",
        {
            **{
                f"{each}.md": f"---\nlang: {each}\n---\ntext\n"
                for each in ("fr", "de", "en", "gsw")
            },
            "again.md": "---\nlang: de\n---\nother text\n",
            "unknown.md": "Überprüfen: Schlüssel\n",
        },
    )
    with closing(Store.create(Root("notes", str(root)), None)) as made:
        refresh(made, FileSystem())
        assert search.languages(made) == ["", "de", "fr", "gsw"]
    assert search.languages(store({})) == search.languages(store(DOCUMENTS)) == []
