"""C4: whatever happens to a cache file, its answers are right, or the damage is noticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING

import apsw
import pytest
from damage_support import BYTES, FILES, ROWS, exchange, settle
from search_support import row, terms
from stateful_support import Place, ask

from index_cache import candidates, checksums, db, schema, search
from index_cache.filters import Filter
from index_cache.refresh import refresh
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from damage_support import Damage

NOTES = 30
QUERIES = ("kestrel", "word3 word7", "word29 common x11", "nothing like it", "w5x3 w6x60 w7x40")


class Kept:
    """A place with a sound cache, and what it answers; ``renew`` undoes all damage."""

    def __init__(self, place: Place) -> None:
        self.place = place
        for number in range(NOTES):
            words = " ".join(f"w{number}x{each}" for each in range(120))
            kind = ("", "Journal", "Runbook")[number % 3]
            place.write(
                f"{number}.md",
                f"---\ntype: {kind}\ndescription: {'about kestrels ' * (number * 20)}\n---\n"
                f"# Note {number}\n\nkestrel common word{number} {words}\n",
            )
        place.write("bad.md", "\0" * 100)
        place.settle()
        settle(place.cache_file)
        shutil.copytree(place.cache, place.cache + ".kept")
        with closing(place.store()) as store:
            self.answers = answers(store)

    def renew(self) -> None:
        shutil.rmtree(self.place.cache)
        shutil.copytree(self.place.cache + ".kept", self.place.cache)


@pytest.fixture(scope="module", params=[True, False], ids=["checksums", "no checksums"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Kept, bool]:
    with pytest.MonkeyPatch.context() as patch:
        if not request.param:
            patch.setattr(checksums, "vfs", lambda: None)
        return Kept(Place(tmp_path_factory.mktemp("damage"))), request.param


@pytest.fixture
def kept(made: tuple[Kept, bool], monkeypatch: pytest.MonkeyPatch) -> Kept:
    """A cache to damage; with checksums, and as where apsw ships none."""
    place, checksummed = made
    if not checksummed:
        monkeypatch.setattr(checksums, "vfs", lambda: None)
    return place


def answers(store: Store) -> list[object]:
    """Return all that a search and a status could want to know."""
    store.begin_reading()
    try:
        return [
            [ask([store], text, k=8) for text in QUERIES],
            [search.count(store, terms("kestrel"), Filter(kinds)) for kinds in (None, ["runbook"])],
            store.documents(),
            sorted(store.paths()),
            store.problems(),
            store.notes("skipped"),
            store.notes("unavailable"),
            store.number("withheld"),
        ]
    finally:
        store.end_reading()


def looked(place: Place, *, fresh: bool) -> list[object] | None:
    """Return the answers of the cache; None when it is told to be damaged, or was made anew."""
    try:
        with closing(place.store()) as store:
            if fresh:
                refresh(store, place.fs)
            return answers(store) if store.built else None
    except db.TROUBLE as error:
        if not db.is_damage(error):
            raise
        return None


def run(kept: Kept, name: str, damage: Damage, seed: int) -> tuple[bool, bool]:
    """Damage the cache and look at it twice: as it is, and after a refresh; tell what was seen."""
    seen = []
    for fresh in (False, True):
        kept.renew()
        damage(kept.place.cache_file, Random(seed))  # noqa: S311 - to repeat it
        try:
            found = looked(kept.place, fresh=fresh)
            # Without checksums most flipped bits are not seen; but no other error comes of them.
            blind = checksums.vfs() is None and (name, damage) in BYTES
            assert blind or found is None or found == kept.answers
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, refreshed: {fresh}") from error
        seen.append(found is None)
    return seen[0], seen[1]


@pytest.mark.parametrize("empty", ["document_from", "document_until", "entry_suspect"])
def test_C4_an_empty_page_in_the_place_of_the_index_of_paths(kept: Kept, empty: str) -> None:
    kept.renew()
    names = ("sqlite_autoindex_entry_1", empty)
    with closing(kept.place.store()) as store:
        select = "SELECT pageno FROM dbstat WHERE name = ?"
        pages = [
            int(page) for name in names for (page,) in store.connection.execute(select, (name,))
        ]
    assert len(pages) == 2
    exchange(kept.place.cache_file, *pages)
    assert looked(kept.place, fresh=False) in (None, kept.answers)
    assert looked(kept.place, fresh=True) in (None, kept.answers)


@pytest.mark.parametrize(("name", "damage"), BYTES)
def test_C4_changed_bytes(
    kept: Kept, name: str, damage: Damage, long_count: Callable[[int], int]
) -> None:
    noticed = [any(run(kept, name, damage, seed)) for seed in range(long_count(100))]
    assert any(noticed) or name == "grow" or checksums.vfs() is None


@pytest.mark.parametrize(("name", "damage"), [*FILES, *ROWS])
def test_C4_changed_files_and_rows(
    kept: Kept, name: str, damage: Damage, long_count: Callable[[int], int]
) -> None:
    for seed in range(long_count(10)):
        run(kept, name, damage, seed)


# -- who is told what


def test_C4_the_error_names_the_cache_that_is_damaged(tmp_path: Path) -> None:
    """Of several roots' caches one is condemned, not all."""
    stores = []
    for name in ("a", "b"):
        place = Place(tmp_path / name)
        place.write("note.md", "# kestrel\n")
        place.refresh()
        stores.append(place.store())
    stores[1].connection.execute("DELETE FROM document")
    with pytest.raises(db.Damaged) as told:
        ask(stores, "kestrel")
    assert told.value.path == stores[1].path
    assert db.is_damage(told.value)
    for store in stores:
        store.close()


@pytest.mark.parametrize("table", ["document", "entry"])
def test_C4_a_row_missing_behind_one_of_fts_is_noticed_where_it_is_to_be_shown(
    kept: Kept, table: str
) -> None:
    """FTS5 alone says which notes match, if no row need be asked; of the others all is right."""
    kept.renew()
    with closing(kept.place.store()) as store:
        sound = ask([store], "word8"), search.count(store, terms("kestrel"), Filter())
        ((row_id,),) = store.connection.execute("SELECT id FROM entry WHERE path = ?", (b"6.md",))
        store.connection.execute(f"DELETE FROM {table} WHERE id = ?", (row_id,))  # noqa: S608
        assert (ask([store], "word8"), search.count(store, terms("kestrel"), Filter())) == sound
        assert sound[1] == 20  # without the journals
        # Its own row need not pass the filter.
        for wanted in (Filter(["runbook"]), Filter(under=b"elsewhere")):
            with pytest.raises(db.Damaged, match="rows of documents are missing"):
                search.count(store, terms("kestrel"), wanted)
        with pytest.raises(db.Damaged, match="rows of documents are missing"):
            ask([store], "word6")
    answer = kept.place.answer("word6")
    assert ([card.title for card in answer.cards], answer.total) == (["Note 6"], 1)
    with closing(kept.place.store()) as store:
        assert [hit[3] for hit in ask([store], "word6")] == ["Note 6"]  # it was made anew


def test_C4_a_statement_of_ours_that_is_wrong_condemns_no_cache(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.renew()
    monkeypatch.setattr(candidates, "ROW", "e.nothing")
    with closing(kept.place.store()) as store, pytest.raises(apsw.SQLError) as told:
        ask([store], "kestrel")
    assert not db.is_damage(told.value)


def test_C4_tables_that_vanish_while_a_cache_is_open(kept: Kept) -> None:
    kept.renew()
    with closing(kept.place.store()) as store:
        with closing(apsw.Connection(kept.place.cache_file, vfs=checksums.vfs())) as other:
            other.execute("DROP TABLE document")
        with pytest.raises(db.Damaged):
            ask([store], "kestrel")


def test_C4_a_refresh_after_damage_does_not_note_it_as_right(kept: Kept) -> None:
    kept.renew()
    with closing(kept.place.store()) as store:
        store.connection.execute("DELETE FROM fts WHERE rowid < 20")
        with pytest.raises(db.Damaged):
            store.write([row(100, "new.md", {"body": "new"})])
        with pytest.raises(db.Damaged):
            store.compact()
        with pytest.raises(db.Damaged):
            ask([store], "kestrel")


def test_C4_rows_whose_numbers_were_given_to_others(kept: Kept) -> None:
    kept.renew()
    with closing(kept.place.store()) as store, pytest.raises(db.Damaged):
        store.write([row(7, "new.md", {"body": "new"})])


def test_C4_moving_all_pages_is_no_damage(kept: Kept, tmp_path: Path) -> None:
    """VACUUM and SQLite's backup number the pages anew."""
    kept.renew()
    copy = str(tmp_path / "copy.db")
    with closing(kept.place.store()) as store:
        store.connection.execute("VACUUM")
        store.check()
        with closing(db.create(copy)) as target:
            with target.backup("main", store.connection, "main") as backup:
                backup.step()
            target.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    shutil.move(copy, kept.place.cache_file)
    for suffix in ("-wal", "-shm"):
        os.unlink(kept.place.cache_file + suffix)
    with closing(kept.place.store()) as store:
        store.check()
        assert answers(store) == kept.answers


@pytest.mark.parametrize(
    ("error", "damage"),
    [
        (apsw.CorruptError, True),
        (apsw.NotADBError, True),
        (apsw.ConstraintError, True),
        (apsw.TooBigError, True),
        (apsw.BusyError, False),
        (apsw.LockedError, False),
        (apsw.FullError, False),
        (apsw.IOError, False),
        (apsw.NoMemError, False),
        (apsw.ReadOnlyError, False),
        (apsw.CantOpenError, False),
        (apsw.SQLError, False),
    ],
)
def test_C1_what_is_damage(error: type[apsw.Error], *, damage: bool) -> None:
    assert db.is_damage(error("so it is")) is damage


# -- the checksums' VFS

LOADING = """
import apsw, sys, threading
before = apsw.vfs_names()
from index_cache import checksums
assert apsw.vfs_names() == before, "loaded before it is needed"
found = []
threads = [threading.Thread(target=lambda: found.append(checksums.vfs())) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert set(found) == {"cksmvfs"}, found
assert apsw.vfs_names()[0] == before[0], "everybody's files are concerned"
assert apsw.vfs_names().count("cksmvfs") == 1
assert "apsw.sqlite_extra" not in sys.modules, "25 ms"
"""


def test_C4_a_header_that_switches_checksums_off(tmp_path: Path) -> None:
    """Where no row is long, no search would notice it otherwise."""
    place = Place(tmp_path)
    place.write("a.md", "# kestrel\n")
    place.settle()
    settle(place.cache_file)
    with open(place.cache_file, "r+b") as file:
        file.seek(20)
        file.write(b"\0")
    with closing(Store(place.root, place.cache_file)) as store:
        with pytest.raises(db.Damaged, match="header"):
            store.check()
        with pytest.raises(db.Damaged, match="header"):
            ask([store], "kestrel")


def test_checksums_are_loaded_once_and_for_our_files_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("files", [[], ["/nowhere/cksumvfs.so"]])
def test_without_the_extension_there_are_no_checksums(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_them = schema.fingerprint()
    monkeypatch.setattr(checksums, "_NAME", "another")
    monkeypatch.setattr(checksums, "_files", lambda: iter(files))
    checksums._UNAVAILABLE.clear()
    try:
        assert checksums.vfs() is None
        assert schema.fingerprint() != with_them
    finally:
        checksums._UNAVAILABLE.clear()


def test_where_apsw_has_moved_the_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    (beside,) = checksums._files()
    assert os.path.isfile(beside)
    monkeypatch.setattr(checksums, "_SUFFIX", ".nothing")
    assert list(checksums._files()) == [beside]


def test_no_text_of_a_note_has_a_nul(tmp_path: Path) -> None:
    """YAML's escapes can make one; in a cache it is damage."""
    place = Place(tmp_path)
    place.write("a.md", '---\ntitle: "kestrel\\0b"\ntags: ["x\\0y"]\ntype: "\\0"\n---\n&#0;\n')
    place.settle()
    with closing(place.store()) as store:
        ((_, _, _, title, _, _),) = ask([store], "kestrel")
        assert title == "kestrel b"
        columns = next(store.connection.execute("SELECT * FROM document"))
        assert not [text for text in columns if "\0" in str(text)]
