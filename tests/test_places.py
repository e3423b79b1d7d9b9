"""What is not a file of ours in the place of one: it is not waited for, nor deleted if not ours."""

from __future__ import annotations

import os
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from stateful_support import Place

from index_cache import db, ingest, locks
from index_cache.rebuild import fresh_path
from index_cache.refresh import Options, refresh
from index_cache.store import Store
from recall import caches
from recall.opened import OpenRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(8):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    place.settle()
    return place


# -- what is not ours is left alone


def test_S3_nothing_is_deleted_behind_a_symlinked_cache_directory(place: Place) -> None:
    data = place.top / "data"
    os.rename(place.cache, data)
    os.symlink(data, place.cache)
    before = sorted(os.listdir(data))
    with place.recall() as recall:
        assert recall.refresh()[0].failure is not None or recall.answer("word3").cards
    for act in (caches.prune, lambda directory: caches.prune(directory, all=True)):
        with pytest.raises(OSError, match="symlink"):
            act(place.cache)
    assert sorted(os.listdir(data)) == before


@pytest.mark.parametrize(
    "name",
    ["photos.db", "notes.db", "a-b.db", "x-0123456789abcdef-0123456789abcdeg.db", ".db", "-.db"],
)
def test_S3_a_file_that_no_cache_is_called_by_is_neither_listed_nor_deleted(
    place: Place, name: str
) -> None:
    path = os.path.join(place.cache, name)
    for suffix in ("", "-wal"):
        with open(path + suffix, "wb") as file:
            file.write(b"precious")
    assert path not in [cache.path for cache in caches.list_caches(place.cache)]
    caches.prune(place.cache, all=True)
    with place.recall() as recall:
        recall.refresh()
    assert os.path.exists(path)
    assert os.path.exists(path + "-wal")
    assert not os.path.exists(locks.lock_file(path))


def test_names_of_caches_are_told_from_others(place: Place) -> None:
    name = os.path.basename(place.cache_file)
    assert db.is_cache_name(name)
    assert db.is_cache_name(os.path.basename(fresh_path(place.cache_file)))
    assert not db.is_cache_name(name.removesuffix(".db"))
    assert not db.is_cache_name(name + "-wal")


def test_S3_what_a_killed_deletion_left_is_swept(place: Place) -> None:
    """Its WAL has text of the notes, and no file is there to list it by."""
    for path in (place.cache_file, fresh_path(place.cache_file)):
        for suffix in ("-wal", "-shm", "-journal"):
            with open(path + suffix, "wb") as file:
                file.write(b"kestrel")
    os.unlink(place.cache_file)
    caches.prune(place.cache)
    assert {name.rpartition(".")[2] for name in os.listdir(place.cache)} == {"lock"}


def test_S3_what_lies_beside_a_live_cache_is_no_left_over(place: Place) -> None:
    with closing(place.store()) as store:
        store.set_meta("generation", 99)
        assert os.path.getsize(place.cache_file + "-wal")
        caches.prune(place.cache)
        assert os.path.getsize(place.cache_file + "-wal")


# -- what is in the way is taken out of it


def fifo(path: str) -> None:
    os.mkfifo(path)


def directory(path: str) -> None:
    os.mkdir(path)


def symlink(path: str) -> None:
    os.symlink("/dev/null", path)


def dangling(path: str) -> None:
    os.symlink("/nonexistent", path)


IN_THE_WAY = pytest.mark.parametrize("make", [fifo, directory, symlink, dangling])


@IN_THE_WAY
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_C4_nothing_in_the_place_of_a_cache_file_is_waited_for(
    place: Place, make: Callable[[str], None], suffix: str
) -> None:
    path = place.cache_file + suffix
    if os.path.exists(path):
        os.unlink(path)
    make(path)
    assert place.titles("word3") == ["Note 3"]
    assert place.refresh().failure is None
    place.check()
    (proof,) = place.recall().rebuild()
    assert proof.rebuilt


@IN_THE_WAY
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_C4_nothing_in_the_place_of_a_rebuilds_file_is_in_its_way(
    place: Place, make: Callable[[str], None], suffix: str
) -> None:
    make(fresh_path(place.cache_file) + suffix)
    (proof,) = place.recall().rebuild()
    assert proof.failure is None
    assert proof.rebuilt
    place.check()


@pytest.mark.parametrize("fresh", [False, True])
def test_C7_an_empty_directory_in_the_place_of_a_lock_is_taken_away(
    place: Place, fresh: bool
) -> None:
    lock = locks.lock_file(fresh_path(place.cache_file) if fresh else place.cache_file)
    if os.path.exists(lock):
        os.unlink(lock)
    os.mkdir(lock)
    place.write("new.md", "# New\n\nosprey\n")
    assert place.titles("osprey", refresh=True) == ["New"]
    (proof,) = place.recall().rebuild()
    assert proof.rebuilt


@pytest.mark.parametrize("make", [symlink, dangling])
def test_C7_a_symlink_in_the_place_of_a_lock_is_told_and_left(
    place: Place, make: Callable[[str], None]
) -> None:
    """Between seeing and unlinking it another process may have put its own lock there."""
    lock = locks.lock_file(place.cache_file)
    os.unlink(lock)
    make(lock)
    assert place.titles("word3", refresh=True) == ["Note 3"]
    place.write("new.md", "# New\n\nosprey\n")
    (report,) = place.answer("osprey", refresh=True).reports
    assert report.failure is not None
    assert report.failure.where == lock
    assert report.failure.hint is not None
    (proof,) = place.recall().rebuild()
    assert proof.failure is not None
    assert proof.failure.where == lock
    assert os.path.islink(lock)


def test_C7_rights_that_are_given_back_take_no_lock_from_its_holder(place: Place) -> None:
    with locks.WriterLock(place.cache_file) as holder, locks.WriterLock(place.cache_file) as other:
        assert holder.acquire(0)
        os.chmod(locks.lock_file(place.cache_file), 0)
        assert not other.acquire(0)


def test_C4_files_that_lost_their_owners_rights_get_them_back(place: Place) -> None:
    names = [os.path.join(place.cache, name) for name in os.listdir(place.cache)]
    for name in names:
        os.chmod(name, 0)
    place.write("new.md", "# New\n\nosprey\n")
    assert place.titles("osprey", refresh=True) == ["New"]
    assert {os.stat(name).st_mode & 0o777 for name in names if os.path.exists(name)} == {0o600}


def test_S3_a_time_of_no_kind_does_not_stop_compaction(place: Place) -> None:
    place.fs.delete(place.path("3.md"))
    place.refresh()
    with closing(place.store()) as store:
        store.set_meta("lingers_since", "x")
    report = OpenRoot(place.root, place.cache, place.fs).refresh(Options())
    assert report.damage is not None
    place.check()


# -- Ctrl-C


def test_an_interrupt_waits_for_the_batch_that_is_being_written(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the cache is closed under the hands of the writer, and that is the error told."""
    monkeypatch.setattr(ingest, "_BATCH_FILES", 2)
    write = Store.write
    written = []

    def slow(store: Store, rows: list[object], removed: tuple[int, ...] = ()) -> None:
        write(store, rows, removed)  # type: ignore[arg-type]
        written.append(len(rows))

    monkeypatch.setattr(Store, "write", slow)
    join = threading.Thread.join
    interrupted: list[bool] = []

    def interrupting(thread: threading.Thread, timeout: float | None = None) -> None:
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupting)
    for number in range(8):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel again{number}\n")
    with closing(place.store()) as store, pytest.raises(KeyboardInterrupt):
        refresh(store, place.fs)
    assert written
    monkeypatch.undo()
    place.refresh()
    place.check()
