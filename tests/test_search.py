"""Candidates and scores: FTS5's own for one root, one table's for several, and nothing else's."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import ANYTHING, Fields, by_fts5, found, row, store, terms_of
from vectors import load

from index_cache import schema, search
from index_cache.filters import Filter
from index_cache.model import Hit
from recall import Recall
from recall.card import as_dict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from index_cache.store import Store

WORDS = ["red", "green", "blue", "deploy", "key", "alert", "disk", "日本", "a-b", "common"]
CLOSE = 1e-9


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
        "description": 5,
        "tags": 3,
        "type": 2,
        "body": 1,
    }
    assert schema.RANK == "bm25(10.0, 5.0, 3.0, 2.0, 1.0)"


@pytest.mark.parametrize("field", schema.FIELDS)
def test_Q7_a_word_weighs_what_its_field_weighs(field: str) -> None:
    documents = {f"{number}.md": {"body": "other word"} for number in range(9)}
    documents["x.md"] = {field: "needle"}
    (hit,) = found([store(documents)], ["needl"])
    weight = schema.WEIGHTS[schema.FIELDS.index(field)]
    assert search.weighted(hit.occurrences[0]) == weight
    assert hit.score == pytest.approx(by_fts5(documents, ["needl"])["x.md"], abs=CLOSE)


@pytest.mark.parametrize("vector", load("bm25.json"), ids=lambda each: str(each["query"]))
def test_vectors(vector: dict[str, Any]) -> None:
    terms = terms_of(vector["query"])
    documents = vector["documents"]
    for stores in (
        [store(documents)],
        [store({path: fields}) for path, fields in documents.items()],
    ):
        scores = {hit.path.decode(): hit.score for hit in found(stores, terms)}
        assert scores == pytest.approx(vector["scores"], abs=CLOSE)


@given(CORPORA, QUERIES)
def test_one_roots_score_is_fts5s_own(documents: dict[str, Fields], terms: list[str]) -> None:
    one = store(documents)
    hits = found([one], terms)
    assert {hit.path.decode(): hit.score for hit in hits} == pytest.approx(
        by_fts5(documents, terms), abs=CLOSE
    )
    for rank, hit in search._proposed(one, ANYTHING, terms):
        (same,) = [each for each in hits if each.path == hit.path]
        assert -rank == pytest.approx(same.score, abs=CLOSE)


@given(CORPORA, QUERIES, st.data())
def test_several_roots_score_as_one_table(
    documents: dict[str, Fields], terms: list[str], data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    scores = {hit.path.decode(): hit.score for hit in found(stores, terms)}
    assert scores == pytest.approx(by_fts5(documents, terms), abs=CLOSE)


def split(documents: dict[str, Fields], places: list[int]) -> list[Store]:
    """Spread documents over four roots."""
    parts: list[dict[str, Fields]] = [{}, {}, {}, {}]
    for place, (path, fields) in zip(places, documents.items(), strict=False):
        parts[place][path] = fields
    return [store(part, f"r{number}") for number, part in enumerate(parts)]


@given(CORPORA, QUERIES, st.integers(1, 6), st.sampled_from([1, 3, 1_000]), st.data())
def test_the_bound_leaves_out_none_of_the_best(
    documents: dict[str, Fields], terms: list[str], k: int, first: int, data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    everything = found(stores, terms)
    with mock.patch.object(search, "_FIRST_PASS", first):
        best = found(stores, terms, k)
    assert places(best[:k]) == places(everything[:k])
    assert [whole(hit) for hit in best] == [whole(hit) for hit in everything[: len(best)]]
    if len(everything) > k:
        # All that tie with the last one are there, so that the order can be decided elsewhere.
        last = everything[k - 1].score
        assert places(best) == places([hit for hit in everything if hit.score >= last])


@given(CORPORA, QUERIES, st.integers(1, 6), st.data())
def test_the_best_of_each_root(
    documents: dict[str, Fields], terms: list[str], k: int, data: st.DataObject
) -> None:
    stores = split(documents, data.draw(st.lists(st.integers(0, 3), min_size=14, max_size=14)))
    everything = found(stores, terms)
    parts = [search.statistics(each, terms) for each in stores]
    common = search.Statistics.sum(parts)
    hits = search.candidates(stores, [ANYTHING] * 4, parts, common, terms, k, each=True)
    for number in range(4):
        wanted = [whole(hit) for hit in everything if hit.root == number][:k]
        mine = sorted((hit for hit in hits if hit.root == number), key=place_of)
        assert [whole(hit) for hit in mine][:k] == wanted


def place_of(hit: Hit) -> tuple[float, bytes]:
    return -hit.score, hit.path


def whole(hit: Hit) -> tuple[object, ...]:
    return hit.root, hit.path, hit.score, hit.length, hit.occurrences


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
        terms = rng.sample(vocabulary, rng.randint(1, 6))
        monkeypatch.setattr(search, "MAX_CANDIDATES", 1_000_000)
        everything = places(found(stores, terms)[:10])
        monkeypatch.undo()
        monkeypatch.setattr(search, "_FIRST_PASS", rng.choice([1, 30, 1_000]))
        assert places(found(stores, terms, 10)[:10]) == everything, seed


@given(CORPORA, CORPORA, QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_edits_makes_no_difference(
    before: dict[str, Fields], after: dict[str, Fields], terms: list[str], rng: random.Random
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
    assert told(found([edited], terms)) == told(found([fresh], terms))
    assert search.count(edited, terms, ANYTHING) == search.count(fresh, terms, ANYTHING)


def told(hits: list[Hit]) -> list[tuple[Any, ...]]:
    return [tuple(getattr(hit, name) for name in Hit.__slots__) for hit in hits]


@given(CORPORA, QUERIES)
def test_statistics_of_parts_sum_up(documents: dict[str, Fields], terms: list[str]) -> None:
    whole = search.statistics(store(documents), terms)
    parts = [
        search.statistics(each, terms) for each in split(documents, [0, 1, 1, 2] * len(documents))
    ]
    total = search.Statistics.sum(parts)
    assert (total.documents, total.terms) == (whole.documents, whole.terms)
    assert total.frequency == whole.frequency
    assert total.average_length == whole.average_length


def test_an_empty_root_and_one_without_any_term() -> None:
    empty = store({})
    blank = store({"a.md": {}})
    full = store({"b.md": {"body": "needle"}, "c.md": {"body": "hay"}})
    assert found([empty], ["needl"]) == []
    assert places(found([empty, blank, full], ["needl"])) == [(2, b"b.md")]
    documents = {"a.md": {}, "b.md": {"body": "needle"}, "c.md": {"body": "hay"}}
    (hit,) = found([empty, blank, full], ["needl"])
    assert hit.score == pytest.approx(by_fts5(documents, ["needl"])["b.md"], abs=CLOSE)


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
    hits = found([one], ["needl"], filters=[wanted])
    assert sorted(hit.path.decode() for hit in hits) == paths
    assert search.count(one, ["needl"], wanted) == len(paths)
    for path, fields in DOCUMENTS.items():
        if not wanted.under and not wanted.without:
            assert wanted.admits(fields.get("type", "")) == (path in paths)


def test_a_filter_changes_no_score() -> None:
    one = store(DOCUMENTS)
    scores = {hit.path: hit.score for hit in found([one], ["needl"])}
    for hit in found([one], ["needl"], filters=[Filter(["note"])]):
        assert hit.score == scores[hit.path]
    other = store({"x.md": {"body": "needle"}})
    both = {hit.path: hit.score for hit in found([one, other], ["needl"])}
    for hit in found([one, other], ["needl"], filters=[ANYTHING, None]):
        assert hit.score == both[hit.path]


@pytest.mark.parametrize("term", ['"', '""', "NEAR", "a-b", "c++", ".env", "x*", "^", "-", "col:x"])
def test_Q1_no_term_is_an_operator(term: str) -> None:
    connection = store({"a.md": {"body": "x"}}).connection
    statement = "SELECT count(*) FROM fts WHERE fts MATCH ?"
    assert next(connection.execute(statement, (search.expression([term, "x"]),))) == (1,)


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
