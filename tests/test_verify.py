"""``check`` names what a cache has wrong, and never what only changed meanwhile."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stateful_support import Place

from index_cache import db, files, schema
from index_cache.errors import RootUnavailable
from index_cache.verify import Difference, check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from index_cache.store import Store
    from index_cache.verify import Proof

NOTES = {
    "a.md": "# Alpha\n\nkestrel one two three\n",
    "b.md": "# Beta\n\nkestrel two three three\n",
    "sub/c.md": "---\ntags: [x, y]\n---\n# Gamma\n\nsee foo-bar, kestrel\n",
    "sub/deep/d.md": "# Delta\n\nnothing else\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for path, text in NOTES.items():
        place.write(path, text)
    place.settle()
    place.settle()
    return place


def proof(place: Place, *, deep: bool = False) -> Proof:
    with closing(place.store()) as store:
        return check(place.root, store, place.fs, deep=deep)


def tamper(place: Place, *statements: str) -> None:
    """Change a cache as no refresh would, the bytes of its pages being sound."""
    with closing(place.store()) as store:
        for statement in statements:
            store.connection.execute(statement)
        entries = store.number("entries")
        store.note_totals()  # else it would be damage, and not for this comparison to find
        store.set_meta("entries", entries)


def number(store: Store, path: str) -> int:
    (known,) = store.known([path.encode()]).values()
    return known[0]


def told(found: Proof) -> set[tuple[str | None, str, tuple[str, ...]]]:
    return {
        (None if each.path is None else os.fsdecode(each.path), each.kind, each.what)
        for each in found.differences
    }


def test_a_sound_cache_is_equivalent(place: Place) -> None:
    found = proof(place, deep=True)
    assert found.equivalent
    assert found.differences == []
    assert found.documents == len(NOTES)
    assert found.canonical_digest == found.cache_digest
    assert found.directories.keys() == {b"sub"}


def test_so_is_one_that_has_seen_edits_and_deletions(place: Place) -> None:
    for turn in range(5):
        place.write("a.md", f"# Alpha {turn}\n\nkestrel {'again ' * turn}\n")
        place.write(f"new{turn}.md", "# New\n\nkestrel new\n")
        place.fs.delete(place.path(f"new{turn}.md" if turn % 2 else "new0.md"))
        place.settle()
        place.write("new0.md", f"# New {turn}\n")
        place.settle()
        assert proof(place, deep=True).equivalent


def test_check_writes_nothing(place: Place) -> None:
    place.write("a.md", "# Changed\n")

    def state() -> dict[str, bytes]:
        return {
            name: (place.top / "cache" / name).read_bytes()
            for name in os.listdir(place.cache)
            if not name.endswith("-shm")
        }

    before = state()
    assert not proof(place, deep=True).equivalent
    assert state() == before


# -- wrong: what is not as the notes say although nothing about the notes has changed

WHERE = "(SELECT id FROM entry WHERE path = CAST('b.md' AS BLOB))"
COLUMNS = [
    ("record_id", "id"),
    *((name, name) for name in ("title", "description", "type", "tags", "aliases", "language")),
    *((name, name) for name in ("created", "updated")),
    *((name, name) for name in ("modified", "status", "stale_after", "tier", "excerpt")),
]


@pytest.mark.parametrize(("column", "name"), COLUMNS)
def test_a_column_that_differs_is_named(place: Place, column: str, name: str) -> None:
    tamper(place, f"UPDATE document SET {column} = {column} || '!' WHERE id = {WHERE}")  # noqa: S608
    found = proof(place)
    assert not found.equivalent
    assert told(found) == {("b.md", "wrong", (name,))}


def test_a_content_digest_that_differs_is_named(place: Place) -> None:
    tamper(place, f"UPDATE entry SET digest = randomblob(32) WHERE id = {WHERE}")  # noqa: S608
    assert told(proof(place)) == {("b.md", "wrong", ("content",))}


def test_a_planted_character_with_restored_times_is_named(place: Place) -> None:
    """A file system that restores even the ctime, as a copied disk image would."""
    path = place.path("b.md")
    before = files.signature(place.fs.stat(path))
    with open(path, "r+b") as file:
        file.write(b"# Bets")
    assert files.signature(place.fs.stat(path)) == before
    place.refresh()
    assert told(proof(place)) == {("b.md", "wrong", ("content", "title"))}


def test_a_planted_character_is_pending_where_the_ctime_tells(tmp_path: Path) -> None:
    from index_cache.files import FileSystem

    place = Place(tmp_path)
    place.write("b.md", NOTES["b.md"])
    os.utime(place.path("b.md"), (1_600_000_000, 1_600_000_000))
    with closing(place.store()) as store:
        from index_cache.refresh import refresh

        refresh(store, FileSystem())
        with open(place.path("b.md"), "r+b") as file:
            file.write(b"# Bets")
        os.utime(place.path("b.md"), (1_600_000_000, 1_600_000_000))
        found = check(place.root, store, FileSystem(), deep=False)
    assert told(found) == {("b.md", "pending", ("content", "title"))}


def terms_of_b(body: str) -> str:
    return replaced(WHERE, title="beta", path="b", body=body)


def replaced(row: str, **texts: str) -> str:
    """Return a statement that puts these terms, field by field, in the place of a row's."""
    values = ", ".join(repr(texts.get(field, "")) for field in schema.FIELDS)
    return f"REPLACE INTO fts (rowid, {', '.join(schema.FIELDS)}) VALUES ({row}, {values})"  # noqa: S608


def test_terms_that_differ_are_named(place: Place) -> None:
    tamper(place, terms_of_b("beta kestrel two three falcon"))
    assert told(proof(place)) == {("b.md", "wrong", ("terms of body",))}


def test_terms_that_are_missing_are_named(place: Place) -> None:
    tamper(place, terms_of_b("beta kestrel"))
    assert told(proof(place)) == {("b.md", "wrong", ("terms of body",))}


def test_terms_in_another_order_are_seen_by_deep_alone(place: Place) -> None:
    tamper(place, terms_of_b("beta kestrel three two three"))
    assert proof(place).equivalent
    found = proof(place, deep=True)
    assert told(found) == {("b.md", "wrong", ("terms of body",))}
    assert not found.equivalent
    assert found.canonical_digest == found.cache_digest


def test_terms_that_changed_places_between_notes_are_seen_by_deep(place: Place) -> None:
    """Counts, lengths and vocabulary are all the same."""
    a = "(SELECT id FROM entry WHERE path = CAST('a.md' AS BLOB))"
    tamper(
        place,
        terms_of_b("beta kestrel one three three"),
        replaced(a, title="alpha", path="a", body="alpha kestrel two two three"),
    )
    found = proof(place, deep=True)
    assert told(found) == {
        ("a.md", "wrong", ("terms of body",)),
        ("b.md", "wrong", ("terms of body",)),
    }


def test_wrong_terms_are_named_beside_pending_notes(place: Place) -> None:
    """The terms of the pending notes explain a part of what differs, not all of it."""
    tamper(place, terms_of_b("beta kestrel two three falcon"))
    place.write("a.md", "# Alpha\n\nfalcon osprey\n")
    place.fs.delete(place.path("sub/deep/d.md"))
    assert told(proof(place)) == {
        ("a.md", "pending", ("content", "excerpt", "terms of body")),
        ("b.md", "wrong", ("terms of body",)),
        ("sub/deep/d.md", "pending", ("extra",)),
    }


def test_postings_are_not_read_for_what_is_only_pending(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from index_cache.sides import Held

    def refuse(_: Held) -> None:
        raise AssertionError

    monkeypatch.setattr(Held, "read_postings", refuse)
    place.write("a.md", "# Alpha\n\nfalcon two two\n")
    place.write("new.md", "# New\n\nkestrel\n")
    place.fs.delete(place.path("b.md"))
    assert {kind for _, kind, _ in told(proof(place))} == {"pending"}


def test_terms_of_no_note_are_wrong(place: Place) -> None:
    tamper(place, replaced("999", body="stray"))
    assert told(proof(place)) == {(None, "wrong", ("rows or terms of no file",))}


def test_a_note_without_its_terms_is_wrong(place: Place) -> None:
    tamper(place, f"DELETE FROM fts WHERE rowid = {WHERE}")  # noqa: S608
    found = told(proof(place))
    assert ("b.md", "wrong", tuple(f"terms of {field}" for field in schema.FIELDS)) in found


def test_a_document_of_no_file_is_wrong(place: Place) -> None:
    """Were the number of entries not noted, which would be damage."""
    tamper(
        place,
        f"DELETE FROM entry WHERE id = {WHERE}",  # noqa: S608
        "UPDATE meta SET value = value - 1 WHERE key = 'entries'",
    )
    assert told(proof(place)) == {
        ("b.md", "pending", ("missing",)),
        (None, "wrong", ("rows or terms of no file",)),
    }


def test_C4_what_a_search_would_call_damage_is_told_beside_the_differences(place: Place) -> None:
    with closing(place.store()) as store:
        store.connection.execute("DELETE FROM fts")
    found = proof(place)
    assert found.damage
    assert {path for path, kind, _ in told(found) if kind == "wrong"} >= set(NOTES)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE document SET title = x'ff'",
        "UPDATE entry SET problem = x'ff00'",
        "UPDATE entry SET digest = 'abc'",
        "UPDATE entry SET signature = x'00'",
        "UPDATE meta SET value = 'abc' WHERE key = 'generation'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'generation'",
        "UPDATE meta SET value = -1 WHERE key = 'documents'",
        "UPDATE meta SET value = x'00' WHERE key = 'skipped'",
        "UPDATE meta SET value = 'x' WHERE key = 'structure'",
        "UPDATE fts_idx SET term = x'30ffffff'",
        "UPDATE fts_data SET block = x'' WHERE id = 10",
    ],
)
def test_C4_values_that_can_not_be_are_damage(place: Place, statement: str) -> None:
    with closing(place.store()) as store:
        store.connection.execute(statement)
    (found,) = place.recall().rebuild(only_check=True)
    assert found.failure is None
    assert found.damage
    assert not found.equivalent
    (rebuilt,) = place.recall().rebuild()
    assert rebuilt.rebuilt
    assert proof(place).equivalent


def test_terms_too_many_of_a_note_that_only_looks_changed_are_wrong(place: Place) -> None:
    """Its times differ, so a refresh would look at it; and finds the bytes that it knows."""
    tamper(place, terms_of_b("beta kestrel two three three falcon"))
    place.fs.forward(10**10)
    place.fs.touch(place.path("b.md"))
    assert told(proof(place)) == {("b.md", "wrong", ("terms of body",))}


def test_the_name_of_a_withheld_note_that_can_not_be_read_is_not_told(place: Place) -> None:
    place.write("secret.md", "---\nprivate: true\n---\n# Secret\n")
    place.settle()
    place.settle()
    place.fs.deny(place.path("secret.md"))
    for _ in range(3):
        assert "secret" not in str(proof(place).differences)
        (rebuilt,) = place.recall().rebuild()
        assert "secret" not in str(rebuilt.differences)
        assert rebuilt.rebuilt
        report = place.refresh()
        assert "secret" not in str([report.skipped, report.unavailable])
        assert report.withheld == 1
        place.fs.forward(10**10)
    assert proof(place).equivalent


def test_the_name_of_a_withheld_note_that_is_no_text_any_more_is_not_told(place: Place) -> None:
    place.write("secret.md", "---\nprivate: true\n---\n# Secret\n")
    place.settle()
    place.fs.write(place.path("secret.md"), b"\0\1\2" * 500)
    place.settle()
    assert "secret" not in str(proof(place).differences)
    report = place.refresh()
    assert (len(report.skipped), report.withheld) == (0, 1)


def test_C4_rows_that_are_missing_of_the_manifest_are_damage(place: Place) -> None:
    tamper(place, f"DELETE FROM entry WHERE id = {WHERE}")  # noqa: S608
    with pytest.raises(db.Damaged):
        proof(place)


def test_a_note_without_its_document_is_wrong(place: Place) -> None:
    tamper(place, f"DELETE FROM document WHERE id = {WHERE}")  # noqa: S608
    assert ("b.md", "wrong", ("missing",)) in told(proof(place))


def test_an_emptied_fts_table_is_wrong(place: Place) -> None:
    tamper(place, "DELETE FROM fts")
    found = proof(place)
    assert not found.equivalent
    assert {path for path, kind, _ in told(found) if kind == "wrong"} >= set(NOTES)


def test_a_private_note_in_the_cache_is_wrong_and_not_named(place: Place) -> None:
    path = place.path("b.md")
    with open(path, "rb") as file:
        size = len(file.read())
    with open(path, "wb") as file:
        file.write(b"---\nprivate: true\n---\n".ljust(size)[:size])
    found = proof(place)
    assert told(found) == {(None, "wrong", ("a private note",))}
    assert "b.md" not in str([found.differences, found.directories])


# -- never wrong: what changes while it is looked at


def test_what_changes_during_the_check_is_pending(place: Place) -> None:
    def edit(path: bytes) -> None:
        if path.endswith(b"b.md"):
            place.fs.before_read = lambda _: None
            place.fs.forward(10**10)
            place.write("a.md", "# Alpha\n\nrewritten before it was read?\n")
            place.write("b.md", "# Beta\n\nrewritten\n")
            place.write("sub/new.md", "# New\n")
            place.refresh()  # and another process has brought the cache up to date

    place.fs.before_read = edit
    found = told(proof(place))
    assert found
    assert {kind for _, kind, _ in found} == {"pending"}
    assert proof(place).equivalent


def test_what_never_keeps_still_is_moving(place: Place) -> None:
    turns = iter(range(1_000))

    def edit(path: bytes) -> None:
        if path.endswith(b"b.md"):
            place.fs.forward(10**10)

    place.fs.before_read = edit
    fstat = place.fs.fstat
    inode = os.stat(place.path("b.md")).st_ino

    def moving(descriptor: int) -> files.StatResult:
        if os.fstat(descriptor).st_ino == inode:
            place.fs.touch(place.path("b.md"), next(turns))
        return fstat(descriptor)

    place.fs.fstat = moving  # type: ignore[method-assign]
    assert told(proof(place)) == {("b.md", "moving", ("extra",))}


def test_what_vanishes_during_the_check_is_moving(place: Place) -> None:
    def delete(path: bytes) -> None:
        if path.endswith(b"b.md"):
            place.fs.before_read = lambda _: None
            place.fs.delete(place.path("b.md"))

    place.fs.before_read = delete
    assert told(proof(place)) == {("b.md", "moving", ("extra",))}


def test_what_can_not_be_looked_at_is_unavailable(place: Place) -> None:
    place.fs.deny(place.path("sub"))
    found = proof(place)
    assert not found.equivalent
    assert told(found) == {
        ("sub/c.md", "unavailable", ("extra",)),
        ("sub/deep/d.md", "unavailable", ("extra",)),
    }


def test_an_emptied_root_is_unavailable(place: Place) -> None:
    for path in NOTES:
        place.fs.delete(place.path(path))
    assert {kind for _, kind, _ in told(proof(place))} == {"unavailable"}


def test_a_root_that_can_not_be_listed_is_an_error(place: Place) -> None:
    place.fs.deny(place.path())
    with pytest.raises(RootUnavailable):
        proof(place)


def test_suspects_are_pending_when_they_differ_and_equal_when_not(place: Place) -> None:
    place.write("b.md", "# Beta\n\nkestrel two three four!\n")
    place.refresh()  # in the tick of the edit: the entry is suspect
    assert proof(place).equivalent
    place.write("b.md", "# Beta\n\nkestrel two three five!\n")
    assert told(proof(place)) == {("b.md", "pending", ("content", "excerpt"))}


def test_without_a_cache_the_notes_are_digested(place: Place) -> None:
    found = check(place.root, None, place.fs, deep=True)
    assert not found.equivalent
    assert found.canonical_digest == proof(place).canonical_digest
    assert found.cache_digest is None
    assert found.deep is not None
    assert found.deep.keys() == {"canonical_digest"}


def test_differences_compare_by_value() -> None:
    one = Difference(b"a", "wrong", ["title"])
    assert one == Difference(b"a", "wrong", ("title",))
    assert len({one, Difference(b"a", "wrong", ["title"]), Difference(b"a", "wrong", [])}) == 2


@given(st.data())
def test_any_change_of_a_row_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    place = Place(tmp_path_factory.mktemp("place"))
    for path, text in NOTES.items():
        place.write(path, text)
    place.settle()
    place.settle()
    change = data.draw(st.sampled_from(CHANGES))
    path = data.draw(st.sampled_from(sorted(NOTES)))
    with closing(place.store()) as store:
        change(store, number(store, path))
    try:
        found = proof(place, deep=True)
    except db.Damaged:
        return
    assert not found.equivalent
    assert any(each.kind == "wrong" for each in found.differences)


def _set(column: str) -> Callable[[Store, int], object]:
    return lambda store, row: store.connection.execute(
        f"UPDATE document SET {column} = {column} || 'x' WHERE id = ?",  # noqa: S608
        (row,),
    )


def _drop(table: str, key: str) -> Callable[[Store, int], object]:
    return lambda store, row: store.connection.execute(
        f"DELETE FROM {table} WHERE {key} = ?",  # noqa: S608
        (row,),
    )


CHANGES: list[Callable[[Store, int], object]] = [
    *(_set(column) for column, _ in COLUMNS),
    _drop("document", "id"),
    _drop("fts", "rowid"),
    _drop("entry", "id"),
    lambda store, row: store.connection.execute(
        "REPLACE INTO fts (rowid, title, description, tags, type, body)"
        " VALUES (?, 'other', '', '', '', 'words')",
        (row,),
    ),
]
