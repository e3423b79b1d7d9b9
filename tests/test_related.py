"""Ids that one or several documents have, and what a record's ``related`` leads to."""

from __future__ import annotations

import unicodedata
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import search_support
from cli_support import recall
from hypothesis import given
from hypothesis import strategies as st

from index_cache import related
from index_cache.files import FileSystem
from index_cache.ids import duplicates, with_id
from index_cache.model import Root, Rules
from index_cache.reader import place_id
from index_cache.refresh import refresh
from index_cache.related import Resolver
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOTES = {
    "adr/one.md": "---\nid: DEC-1\n---\n# The first decision\n",
    "adr/two.md": "---\nid: dec-1\n---\n# Second\n",
    "adr/deep/one.md": "# Deep one\n",
    "top.md": "# Vault: rotation, how-to\n",
    "Ünder Way.md": "# Something else\n",
    "same/a.md": "# A twin\n",
    "same/b.md": "# A Twin!\n",
    "x/y.markdown": "---\nid: é-1\n---\n# Named so\n",
}


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    made = []
    for name, notes in (("one", NOTES), ("two", {"far.md": "---\nid: FAR\n---\n# Far\n"})):
        for path, text in notes.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text, encoding="utf-8")
        root = Root(name, str((tmp_path / name).resolve()), Rules(gitignore=False))
        made.append(Store.create(root, None))
        refresh(made[-1], FileSystem())
    yield made
    for store in made:
        store.close()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("DEC-1", "adr/one.md"),
        ("dec-1", "adr/two.md"),  # case counts
        ("Dec-1", None),
        ("FAR", "far.md"),  # ids cross roots, and nothing else does
        ("far.md", None),
        ("Far", None),
        (unicodedata.normalize("NFD", "é-1"), "x/y.markdown"),
        ("one.md", "adr/one.md"),  # beside the record, before the root
        ("one", "adr/one.md"),
        ("deep/one", "adr/deep/one.md"),
        ("./deep/../two.md", "adr/two.md"),
        ("top.md", "top.md"),
        ("../top", "top.md"),
        ("../../one/top.md", None),  # out of the root and in again
        ("/etc/passwd", None),
        ("[[deep/one]]", "adr/deep/one.md"),
        ("[[top|shown]]", "top.md"),
        ("[[top#part|shown]]", "top.md"),
        ("[shown](deep/one.md)", "adr/deep/one.md"),
        ("[shown](../%C3%9Cnder%20Way.md#part)", "Ünder Way.md"),
        ('[shown](<../Ünder Way.md> "a title")', "Ünder Way.md"),
        ("top.md#part", "top.md"),
        ("vault-rotation-how-to", "top.md"),
        ("Vault: rotation, how-to", "top.md"),
        ("under-way", None),
        ("ünder way", "Ünder Way.md"),
        ("https://example.org/top.md", None),
        ("#part", None),
        ("\ud800", None),
        ("nobody", None),
    ],
)
def test_related(stores: list[Store], text: str, path: str | None) -> None:
    (found,) = Resolver(stores).resolve(0, b"adr/zero.md", [text])
    assert found.text == text
    assert (found.place and found.place.path.decode()) == path
    assert not found.several


def test_what_several_are_called_is_told(stores: list[Store]) -> None:
    (found,) = Resolver(stores).resolve(0, b"adr/zero.md", ["a twin"])
    assert found.place is None
    assert found.several


def test_ids_of_several(stores: list[Store], tmp_path: Path) -> None:
    assert duplicates(stores) == {}
    assert [each.path for each in with_id(stores, "FAR")] == [b"far.md"]
    (tmp_path / "one" / "z.md").write_text("---\nid: FAR\n---\n", encoding="utf-8")
    (tmp_path / "two" / "b.md").write_text("---\nid: FAR\n---\n", encoding="utf-8")
    for store in stores:
        refresh(store, FileSystem())
    found = duplicates(stores)
    told = {key: [(each.root, each.path) for each in places] for key, places in found.items()}
    assert told == {"FAR": [(0, b"z.md"), (1, b"b.md"), (1, b"far.md")]}


def test_an_id_that_an_author_made_of_a_path_is_of_several(
    stores: list[Store], tmp_path: Path
) -> None:
    forged = place_id(b"plain.md", 0)
    (tmp_path / "one" / "plain.md").write_text("Text.\n", encoding="utf-8")
    for store in stores:
        refresh(store, FileSystem())
    assert duplicates(stores) == {}
    (tmp_path / "two" / "z.md").write_text(f"---\nid: {forged}\n---\n", encoding="utf-8")
    for store in stores:
        refresh(store, FileSystem())
    found = {key: [each.path for each in places] for key, places in duplicates(stores).items()}
    assert found == {forged: [b"plain.md", b"z.md"]}
    (tmp_path / "two" / "z.md").unlink()
    (tmp_path / "two" / "plain.md").write_text("Text.\n", encoding="utf-8")
    for store in stores:
        refresh(store, FileSystem())
    assert duplicates(stores) == {}  # one relative path in two roots tells nothing
    for name in ("y.md", "x.md"):
        (tmp_path / "one" / name).write_text("---\nid: Path:typed\n---\n", encoding="utf-8")
    for store in stores:
        refresh(store, FileSystem())
    found = {key: [each.path for each in places] for key, places in duplicates(stores).items()}
    assert found == {"Path:typed": [b"x.md", b"y.md"]}


def test_a_file_that_two_roots_have_is_no_duplicate(stores: list[Store], tmp_path: Path) -> None:
    deeper = Root("deeper", str((tmp_path / "one" / "adr").resolve()), Rules(gitignore=False))
    with closing(Store.create(deeper, None)) as store:
        refresh(store, FileSystem())
        assert duplicates([*stores, store]) == {}
        assert [each.root for each in with_id([*stores, store], "DEC-1")] == [2]


def test_status_names_ids_of_several(tmp_path: Path, home: Path) -> None:
    notes, more = tmp_path / "notes", tmp_path / "more"
    notes.mkdir()
    more.mkdir()
    (notes / "a.md").write_text("---\nid: DEC-1\n---\n# A\n", encoding="utf-8")
    (notes / "log.jsonl").write_text('{"id": "DEC-1"}\n{"id": "DEC-2"}\n{}\n', encoding="utf-8")
    (more / "b.md").write_text("---\nid: DEC-1\n---\n# B\n", encoding="utf-8")
    config = home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    text = f"[roots]\nnotes = {{ path = '{notes}', jsonl = true }}\nmore = '{more}'\n"
    config.write_text(text, encoding="utf-8")
    recall("refresh")
    done = recall("status")
    told = "id DEC-1 is that of several: notes:a.md, notes:log.jsonl:1, more:b.md\n"
    assert told in done.stdout
    assert recall("status", "--json").data()["duplicates"] == [
        {
            "id": "DEC-1",
            "records": [
                {"root": "notes", "path": "a.md", "line": None},
                {"root": "notes", "path": "log.jsonl", "line": 1},
                {"root": "more", "path": "b.md", "line": None},
            ],
        }
    ]


def test_the_hash_of_a_path_is_an_id(stores: list[Store]) -> None:
    select = "SELECT record_id FROM document WHERE title = 'Deep one'"
    ((record_id,),) = stores[0].connection.execute(select)
    assert [each.path for each in with_id(stores, record_id)] == [b"adr/deep/one.md"]


@given(
    st.lists(st.text("aB-_ äÄß\u0130\u212aé.1", min_size=1, max_size=6), min_size=1, max_size=8),
    st.lists(st.text("aB-_ äÄß\u0130\u212aé.1k", max_size=6), max_size=12),
)
def test_names_are_the_same_one_by_one_and_together(titles: list[str], asked: list[str]) -> None:
    """Few names are looked for in SQL, more in a table of all of them."""
    made = search_support.store({f"n{n}.md": {"title": each} for n, each in enumerate(titles)})
    together = related._by_name(made, 0)
    for each in asked:
        slug = related._slug(each)
        alone = related._by_name(made, 0, slug).get(slug, []) if slug else []
        assert alone == (together.get(slug, []) if slug else [])
    resolver = Resolver([made])
    for each in asked:
        slug = related._slug(each)
        assert resolver._with_name(0, slug) == (together.get(slug, []) if slug else [])
