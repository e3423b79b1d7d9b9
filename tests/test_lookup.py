"""Documents by path, by the end of a path, and by id: no FTS table has these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import ANYTHING, Fields, row, store
from text_support import ANY_TEXT

from index_cache import db
from index_cache.files import FileSystem
from index_cache.filters import Filter
from index_cache.guard import check_pages
from index_cache.lookup import by_name
from index_cache.model import Root
from index_cache.refresh import refresh
from index_cache.rows import Entry, Row
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

PATHS = (
    *("a.md", "docs/a.md", "docs/deep/a.md", "docs/ba.md", "docs/b%.md", "docs/b_.md"),
    *("docs/bx.md", "docs/[c].md", "docs/*.md", "docs/c.md", "A.md", "docs/two\nlines.md"),
)


def cache(paths: Sequence[str] = PATHS, **fields: str) -> Store:
    """Return a cache of notes whose ids are their paths."""
    return store({path: Fields(title=path, **fields) for path in paths})


def found(
    of: Store,
    paths: Sequence[bytes] = (),
    names: Sequence[bytes] = (),
    ids: Sequence[str] = (),
    *,
    wanted: Filter = ANYTHING,
    most: int = 100,
) -> list[bytes]:
    return [hit.path for hit in by_name(of, wanted, paths, names, ids, most)]


def test_a_path_is_whole_and_exact() -> None:
    of = cache()
    assert found(of, [b"docs/a.md"]) == [b"docs/a.md"]
    assert found(of, [b"a.md"]) == [b"a.md"]
    assert found(of, [b"A.md", b"nobody.md", b""]) == [b"A.md"]
    assert found(of, [b"docs/two\nlines.md"]) == [b"docs/two\nlines.md"]


def test_a_name_is_the_end_of_a_path_at_a_directory() -> None:
    of = cache()
    assert found(of, names=[b"a.md"]) == [b"a.md", b"docs/a.md", b"docs/deep/a.md"]
    assert found(of, names=[b"deep/a.md"]) == [b"docs/deep/a.md"]
    assert found(of, names=[b"eep/a.md", b"s/a.md", b"md", b".md", b"", b"/"]) == []
    assert found(of, names=[b"docs/deep/a.md"]) == [b"docs/deep/a.md"]
    long = cache(["x/a-long-name.md", "a-long-name.md", "y/not-a-long-name.md", "é/a-long-name.md"])
    assert found(long, names=[b"a-long-name.md"]) == [
        b"a-long-name.md",
        b"x/a-long-name.md",
        "é/a-long-name.md".encode(),
    ]
    assert found(long, names=[b"b-long-name.md", b"y/a-long-name.md"]) == []


@pytest.mark.parametrize("name", [b"b%.md", b"b_.md", b"[c].md", b"*.md", b"two\nlines.md"])
def test_Q1_wildcards_and_newlines_are_letters(name: bytes) -> None:
    assert found(cache(), names=[name]) == [b"docs/" + name]


def test_an_id_is_the_same_in_any_ascii_case() -> None:
    of = cache(["DEC-0054", "dec-54", "É-1"])
    assert found(of, ids=["dec-0054"]) == [b"DEC-0054"]
    assert found(of, ids=["Dec-0054", "nobody"]) == [b"DEC-0054"]
    assert found(of, ids=["é-1"]) == []
    assert found(of, ids=["É-1", "\ud800", "\udcff-1", "a\0b"]) == ["É-1".encode()]
    assert found(of, ids=["DEC-%", "DEC-____", "*", "' OR 1"]) == []


def test_an_id_that_is_a_hash_of_a_path() -> None:
    of = cache(["path:0123456789abcdef", "path:1", "PATH:2", "path"])
    assert found(of, ids=["path:0123456789ABCDEF", "path:9"]) == [b"path:0123456789abcdef"]
    assert found(of, ids=["path:1", "Path:2", "path"]) == [b"PATH:2", b"path", b"path:1"]


def test_F1_paths_that_are_no_utf_8() -> None:
    made = Store.create(Root("r", "/r"), None)
    odd = row(1, "x", Fields(title="odd"))
    odd.entry.path = b"docs/caf\xe9.md"
    made.write([odd])
    assert found(made, [b"docs/caf\xe9.md"]) == [b"docs/caf\xe9.md"]
    assert found(made, names=[b"caf\xe9.md"]) == [b"docs/caf\xe9.md"]


def test_the_filter_holds() -> None:
    of = store(
        {
            "j.md": Fields(title="one", type="Journal"),
            "r/j.md": Fields(title="two", type="Runbook"),
        }
    )
    assert found(of, names=[b"j.md"], wanted=Filter()) == [b"r/j.md"]
    assert found(of, names=[b"j.md"], wanted=Filter(["journal"])) == [b"j.md"]
    assert found(of, names=[b"j.md"], wanted=Filter(under=b"r", journal=True)) == [b"r/j.md"]
    without = Filter(without={b"r": []}, journal=True)
    assert found(of, [b"r/j.md"], [b"j.md"], ["r/j.md"], wanted=without) == [b"j.md"]


def test_the_most_exact_come_first_and_all_in_path_order() -> None:
    of = cache([f"{number:04}/x.md" for number in range(1_200)])
    assert len(found(of, names=[b"x.md"], most=2_000)) == 1_200
    least = found(of, [b"0900/x.md"], [b"x.md"], ["0700/x.md"], most=3)
    assert least == [b"0000/x.md", b"0700/x.md", b"0900/x.md"]
    assert found(of, [b"0900/x.md"], [b"x.md"], ["0700/x.md"], most=1) == [b"0900/x.md"]
    assert found(of, names=[b"x.md"], wanted=Filter(under=b"1199"), most=1) == [b"1199/x.md"]
    assert found(of, names=[b"x.md"], most=0) == []


def test_very_many_names_are_no_error() -> None:
    of = cache()
    many = [b"%d/%s.md" % (number, b"n" * (number % 300)) for number in range(40_000)]
    ids = list(map(str, range(40_000)))
    assert found(of, [*many, b"a.md"], [*many, b"bx.md"], [*ids, "docs/c.md"]) == [
        b"a.md",
        b"docs/bx.md",
        b"docs/c.md",
    ]


def test_a_file_without_a_document_is_no_hit() -> None:
    made = cache(["a.md"])
    made.write([Row(7, Entry(b"b.md", bytes(40), None, suspect=False, problem="no text"))])
    assert found(made, [b"a.md", b"b.md"], [b"b.md"]) == [b"a.md"]


def test_hits_are_those_of_a_search() -> None:
    of = store({"d/a.md": Fields(title="T", description="D", tags="x", type="Y", body="words")})
    (hit,) = by_name(of, ANYTHING, [b"d/a.md"], [], [], 1)
    assert (hit.title, hit.description, hit.tags, hit.type) == ("T", "D", "x", "Y")
    assert (hit.record_id, hit.tier, len(hit.digest)) == ("d/a.md", "unverified", 32)
    assert (hit.score, hit.length, hit.occurrences, hit.root) == (0.0, 0, [], 0)


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM document WHERE id = 2",
        "DELETE FROM entry WHERE id = 2",
        "UPDATE document SET title = char(0) WHERE id = 2",
        "UPDATE document SET type = 'a' || char(0) WHERE id = 2",
        "UPDATE entry SET signature = x'00' WHERE id = 2",
        "UPDATE entry SET path = 'text/a.md' WHERE id = 2",
        "DROP TABLE document",
    ],
)
def test_C4_damage_is_noticed(harm: str) -> None:
    of = cache()
    of.connection.execute(harm)
    with pytest.raises(db.Damaged):
        by_name(of, ANYTHING, [b"docs/a.md", b"text/a.md"], [b"a.md"], ["docs/a.md"], 100)


@pytest.mark.parametrize("table", ["document", "entry"])
def test_C4_a_row_whose_fellow_is_gone_is_noticed_by_any_name(table: str) -> None:
    of = cache()
    of.connection.execute(f"DELETE FROM {table} WHERE id = 2")  # noqa: S608 - ours
    by_path = table == "document"
    paths, ids = ([b"docs/a.md"] if by_path else []), ([] if by_path else ["docs/a.md"])
    with pytest.raises(db.Damaged):
        by_name(of, Filter(["Nothing"]), paths, [], ids, 100)


def test_C4_an_index_that_is_not_as_it_was_made_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nid: X-1\n---\none", encoding="utf-8")
    of = Store.create(Root("r", str(tmp_path)), None)
    refresh(of, FileSystem())
    check_pages(of)
    assert found(of, ids=["x-1"]) == [b"a.md"]
    of.connection.execute("PRAGMA writable_schema = ON")
    of.connection.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, ' COLLATE NOCASE', '')"
        " WHERE name = 'document_record_id'"
    )
    with pytest.raises(db.Damaged):
        check_pages(of)


def test_a_look_up_reads_little() -> None:
    of = cache()
    asked: list[tuple[str, Any]] = []

    def note(_cursor: object, sql: str, values: Any) -> bool:
        asked.append((sql, values))
        return True

    of.connection.exec_trace = note
    assert found(of, [b"a.md"], [b"c.md"], ["docs/ba.md"]) == [b"a.md", b"docs/ba.md", b"docs/c.md"]
    of.connection.exec_trace = None
    plans = [
        [step[3] for step in of.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
        for sql, values in asked
    ]
    scans = [step for plan in plans for step in plan if "SCAN" in step and "entry" in step]
    assert scans == ["SCAN entry USING COVERING INDEX sqlite_autoindex_entry_1"]  # paths alone
    assert not [step for plan in plans for step in plan if "SCAN d" in step]
    assert any("document_record_id" in step for plan in plans for step in plan)


@given(st.lists(ANY_TEXT, max_size=5), st.lists(ANY_TEXT, min_size=1, max_size=5, unique=True))
def test_any_text_is_a_name(asked: list[str], paths: list[str]) -> None:
    known = {path.replace("\0", ""): b"" for path in paths}
    raw = [path.encode("utf-8", "surrogatepass") for path in known if path]
    made = Store.create(Root("r", "/r"), None)
    rows = []
    for number, path in enumerate(raw, 1):
        one = row(number, "plain", Fields(title="t"))
        one.entry.path = path
        rows.append(one)
    made.write(rows)
    words = [each.encode("utf-8", "surrogatepass") for each in asked]
    hits = found(made, words, words, asked)
    wanted = {*words} - {b""}
    assert hits == sorted(
        path
        for path in raw
        if any(path == each or path.endswith(b"/" + each) for each in wanted)
        or "plain" in [each.lower() for each in asked]
    )
