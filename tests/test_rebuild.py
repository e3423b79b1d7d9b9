"""``rebuild`` puts a proven cache in the place of any other, while others go on using it."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from stateful_support import Place, ask, fresh

from index_cache import db, equivalence, locks, rebuild, refresh, verify
from index_cache.errors import CacheBusy, CheckFailed, RootUnavailable
from index_cache.refresh import Options
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from index_cache.model import Term
    from index_cache.verify import Proof

QUERY = "kestrel word3 word7"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(24):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    return place


@pytest.fixture
def built(place: Place) -> Place:
    place.settle()
    place.settle()
    return place


def rebuilt(place: Place, *, deep: bool = False, wait: float = 0) -> Proof:
    return rebuild.rebuild(place.root, place.cache, place.fs, deep=deep, wait=wait)


def left(place: Place) -> set[str]:
    """Return what is in the cache directory, by what follows the cache's own name."""
    name = os.path.basename(place.cache_file).removesuffix(db.SUFFIX)
    return {each.removeprefix(name) for each in os.listdir(place.cache)}


ALL = {".db", ".db-wal", ".db-shm", ".lock", ".fresh.lock"}


@pytest.mark.parametrize("deep", [False, True])
def test_a_sound_cache_is_found_equivalent_and_replaced(built: Place, deep: bool) -> None:
    proof = rebuilt(built, deep=deep)
    assert proof.equivalent
    assert proof.rebuilt
    assert proof.damage is None
    assert proof.canonical_digest == proof.cache_digest == proof.rebuilt_digest is not None
    assert (proof.deep is not None) == deep
    if proof.deep:
        assert len(proof.deep) == 3
        assert len(set(proof.deep.values())) == 1
    assert proof.answers is not None
    asked, different = proof.answers
    assert asked > 16
    assert different == 0
    assert left(built) <= ALL
    built.check()


def test_a_missing_cache_is_made(place: Place) -> None:
    proof = rebuilt(place)
    assert proof.rebuilt
    assert not proof.equivalent
    assert proof.cache_digest is None
    assert proof.rebuilt_digest == proof.canonical_digest
    assert left(place) <= ALL
    place.check()


def test_what_was_wrong_is_named_and_gone(built: Place) -> None:
    with closing(built.store()) as store:
        store.connection.execute("UPDATE document SET title = 'Nonsense' WHERE id = 3")
        (path,) = (
            path for path, (row, _) in store.known(sorted(store.paths())).items() if row == 3
        )
    built.write("new.md", "# New\n\nkestrel\n")
    proof = rebuilt(built)
    assert {(each.path, each.kind) for each in proof.differences} == {
        (path, verify.WRONG),
        (b"new.md", verify.PENDING),
    }
    assert not proof.equivalent
    assert proof.answers is None
    assert rebuilt(built).equivalent
    built.check()


def test_answers_are_compared_where_nothing_else_differs(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked = rebuild._ranked

    def other(store: Store, terms: Sequence[Term]) -> list[tuple[str, bytes]]:
        found = ranked(store, terms)
        return found[1:] if store.path == built.cache_file and "note" in terms else found

    monkeypatch.setattr(rebuild, "_ranked", other)
    proof = rebuilt(built)
    assert proof.cache_digest == proof.canonical_digest
    assert proof.answers is not None
    assert proof.answers[1] > 0
    assert not proof.equivalent


def test_a_fresh_cache_that_is_not_what_the_notes_say_is_not_used(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Store.write

    def lose(store: Store, rows: list[object], removed: tuple[int, ...] = ()) -> None:
        write(store, rows[:-1], removed)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "write", lose)
    before = db.file_identity(built.cache_file)
    with pytest.raises(CheckFailed, match="is not what its 24 notes say"):
        rebuilt(built)
    monkeypatch.undo()
    assert db.file_identity(built.cache_file) == before
    assert left(built) <= ALL
    built.check()


# -- while others use it


def test_a_reader_keeps_its_view_over_the_swap(built: Place) -> None:
    with closing(built.store()) as reader:
        reader.begin_reading()
        before = ask([reader], QUERY)
        built.write("7.md", "# Note seven\n\nsomething else\n")
        rebuilt(built)
        assert ask([reader], QUERY) == before
        reader.end_reading()
        after = ask([reader], QUERY)
    with closing(fresh(built.root, built.fs)) as other:
        assert after == ask([other], QUERY) != before


def test_what_changed_after_the_notes_were_read_is_in_the_new_cache(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove = rebuild._Rebuild._prove

    def change(work: rebuild._Rebuild, store: Store, gathering: verify.Gathering) -> None:
        prove(work, store, gathering)
        built.write("late.md", "# Late\n\nkestrel osprey\n")
        built.fs.delete(built.path("3.md"))
        built.refresh()

    monkeypatch.setattr(rebuild._Rebuild, "_prove", change)
    assert rebuilt(built).rebuilt
    assert built.titles("osprey") == ["Late"]
    assert built.titles("word3") == []
    built.check()


def test_a_refresh_that_scanned_before_the_swap_looks_again(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its diff is against the old manifest; the swap has another."""
    acquire = locks.WriterLock.acquire

    def after_a_rebuild(lock: locks.WriterLock, wait: float) -> bool:
        monkeypatch.setattr(locks.WriterLock, "acquire", acquire)
        built.write("late.md", "# Late\n\nkestrel osprey\n")
        rebuilt(built)
        return acquire(lock, wait)

    built.write("7.md", "# Note seven\n\nkestrel\n")
    with closing(built.store()) as store:
        monkeypatch.setattr(locks.WriterLock, "acquire", after_a_rebuild)
        refresh.refresh(store, built.fs, Options(insist=True))
    assert built.titles("osprey") == ["Late"]
    built.check()


def test_C1_a_writer_is_waited_for_and_then_told(built: Place) -> None:
    before = db.file_identity(built.cache_file)
    with locks.WriterLock(built.cache_file) as lock:
        assert lock.acquire(0)
        with pytest.raises(CacheBusy):
            rebuilt(built)
    assert db.file_identity(built.cache_file) == before
    assert left(built) <= ALL
    assert rebuilt(built).equivalent


def test_C1_another_rebuild_is_waited_for_and_then_told(built: Place) -> None:
    with locks.WriterLock(rebuild.fresh_path(built.cache_file)) as lock:
        assert lock.acquire(0)
        with pytest.raises(CacheBusy, match="rebuilding"):
            rebuilt(built)
    assert rebuilt(built).equivalent


def test_C7_what_a_killed_rebuild_left_is_swept(built: Place) -> None:
    beside = rebuild.fresh_path(built.cache_file)
    for suffix in ("", "-wal", "-shm", "-journal"):
        with open(beside + suffix, "wb") as file:
            file.write(b"left over")
    assert rebuilt(built).equivalent
    assert left(built) <= ALL


def test_C7_a_live_rebuild_is_not_swept_by_others(built: Place) -> None:
    from recall import caches

    beside = rebuild.fresh_path(built.cache_file)
    shutil.copy(built.cache_file, beside)
    with locks.WriterLock(beside) as lock:
        assert lock.acquire(0)
        caches.prune(built.cache, all=True)
        assert os.path.exists(beside)
    caches.prune(built.cache, all=True)
    assert not os.path.exists(beside)


# -- what must not be lost


def test_D3_a_root_of_which_a_part_can_not_be_read_is_not_rebuilt(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("a.md", "# Alpha\n\nkestrel\n")
    place.write("sub/b.md", "# Beta\n\nkestrel\n")
    place.settle()
    place.fs.deny(place.path("sub"))
    before = db.file_identity(place.cache_file)
    with pytest.raises(RootUnavailable, match="1 of the notes"):
        rebuilt(place)
    assert db.file_identity(place.cache_file) == before
    place.fs.permit(place.path("sub"))
    assert set(place.titles("kestrel")) == {"Alpha", "Beta"}
    assert rebuilt(place).rebuilt


def test_D3_an_emptied_root_is_not_rebuilt(built: Place) -> None:
    for number in range(24):
        built.fs.delete(built.path(f"{number}.md"))
    with pytest.raises(RootUnavailable, match="24 of the notes"):
        rebuilt(built)


def test_D3_what_can_not_be_read_is_no_hindrance_if_the_cache_never_had_it(place: Place) -> None:
    place.write("sub/b.md", "# Beta\n")
    place.fs.deny(place.path("sub"))
    place.settle()
    assert rebuilt(place).rebuilt


def test_notes_deleted_for_good_are_no_hindrance(built: Place) -> None:
    built.fs.delete(built.path("3.md"))
    proof = rebuilt(built)
    assert proof.rebuilt
    assert [(each.path, each.kind) for each in proof.differences] == [(b"3.md", "pending")]
    built.check()


# -- C4: damage


def damage(path: str) -> None:
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for page in range(2, size // 4096):
            file.seek(page * 4096 + 8)
            file.write(b"\xff" * 64)


def test_C4_a_damaged_cache_is_replaced_and_its_file_deleted(built: Place) -> None:
    damage(built.cache_file)
    with open(built.cache_file, "rb") as file:
        proof = rebuilt(built)
        assert os.fstat(file.fileno()).st_nlink == 0
    assert proof.damage
    assert proof.rebuilt
    assert not proof.equivalent
    assert left(built) <= ALL
    built.check()


def test_C4_damage_to_a_page_that_only_writing_needs_is_found_and_replaced(built: Place) -> None:
    """An index that no reading uses: SQLite meets it when the new pages are put in its place."""
    with closing(built.store()) as store:
        ((page,),) = store.connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_entry_1'"
        )
    with open(built.cache_file, "r+b") as file:
        file.seek((page - 1) * 4096 + 100)
        file.write(b"\xff" * 500)
    with closing(built.store()) as store:
        found = verify.check(built.root, store, built.fs, deep=False)
    assert found.damage
    assert not found.equivalent
    proof = rebuilt(built)
    assert proof.rebuilt
    assert proof.damage
    with closing(built.store()) as store:
        assert verify.check(built.root, store, built.fs, deep=True).equivalent


def test_C4_a_file_that_is_no_database_is_replaced(built: Place) -> None:
    with open(built.cache_file, "wb") as file:
        file.write(b"not a database " * 1000)
    proof = rebuilt(built)
    assert proof.damage
    assert proof.rebuilt
    built.check()


def test_C4_a_damaged_cache_is_replaced_even_if_a_part_can_not_be_read(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("a.md", "# Alpha\n\nkestrel\n")
    place.write("sub/b.md", "# Beta\n\nkestrel\n")
    place.settle()
    place.fs.deny(place.path("sub"))
    damage(place.cache_file)
    assert rebuilt(place).rebuilt
    assert place.titles("kestrel") == ["Alpha"]


def test_S3_nothing_of_a_deleted_note_is_left(built: Place) -> None:
    built.write("secret.md", "# Vexnimbulatrosk\n\nWrolstavinquepad\n")
    built.settle()
    built.fs.delete(built.path("secret.md"))
    rebuilt(built)
    for name in os.listdir(built.cache):
        with open(os.path.join(built.cache, name), "rb") as file:
            assert b"lstavinque" not in file.read().lower()


def test_the_sample_of_queries_is_of_titles_and_rare_terms(built: Place) -> None:
    with closing(built.store()) as store:
        vocabulary = equivalence.Vocabulary()
        vocabulary.add([["note", "7"], [], [], [], ["kestrel", "word7"]])
        asked = list(rebuild._queries(store, vocabulary))
    assert all(terms[0] == "note" for terms in asked[:8])
    assert [terms for (terms,) in asked[8:]] == ["7", "kestrel", "note", "word7"]


def test_the_order_of_edits_is_no_part_of_an_answer(built: Place) -> None:
    for number in range(0, 24, 2):
        built.fs.delete(built.path(f"{number}.md"))
        built.settle()
        built.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
        built.settle()
    proof = rebuilt(built, deep=True)
    assert proof.equivalent
    assert proof.answers is not None
    assert proof.answers[1] == 0


def test_what_a_killed_rebuild_left_is_listed_as_such(
    built: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from recall.cli import main

    monkeypatch.setenv("XDG_CACHE_HOME", str(built.top))
    os.rename(built.cache, built.top / "recall")
    beside = rebuild.fresh_path(str(built.top / "recall" / os.path.basename(built.cache_file)))
    shutil.copy(built.top / "recall" / os.path.basename(built.cache_file), beside)
    assert main(["cache", "list"]) == 0
    whole, _, left_over, _ = capsys.readouterr().out.splitlines()
    assert not whole.endswith("killed")
    assert left_over.endswith(", made by a rebuild that is at work or was killed")
