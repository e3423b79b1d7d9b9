"""A disk that fails at any moment of a rebuild leaves the old cache or the new one."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from disk_support import failing, sweep
from stateful_support import Content, Place, ask, fresh

from index_cache import db, ingest, mounts
from index_cache.errors import RecallError
from index_cache.verify import check as verify
from recall.proving import Request, prove

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from index_cache.verify import Proof

NOTES = 16
QUERY = "kestrel word3 word7 again"
REQUEST = Request(only_check=False, deep=False, wait=0, progress=None)
CLEAN = {".db", ".db-wal", ".db-shm", ".lock", ".fresh.lock"}


@pytest.fixture(params=["wal", "rollback journal"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A cache in which a row is wrong and to which some notes are news."""
    monkeypatch.setattr(ingest, "_BATCH_FILES", 4)
    monkeypatch.setattr(mounts, "is_remote", lambda _: request.param != "wal")
    place = Place(tmp_path)
    for number in range(NOTES):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    place.settle()
    place.settle()
    with closing(place.store()) as store:
        store.connection.execute("UPDATE document SET title = 'Wrong' WHERE id = 3")
        store.checkpoint()
    place.write("7.md", "# Note 7\n\nkestrel again\n")
    place.fs.delete(place.path("9.md"))
    return place


def rebuilt(place: Place) -> Proof:
    return prove(place.root, place.cache, place.fs, REQUEST)


def content(place: Place) -> tuple[object, ...]:
    with closing(place.store()) as store:
        held = Content(store)
    return held.entries, held.documents, held.vocabulary, held.postings


def expected(place: Place) -> tuple[object, ...]:
    with closing(fresh(place.root, place.fs)) as store:
        held = Content(store)
    return held.entries, held.documents, held.vocabulary, held.postings


@pytest.mark.parametrize(
    ("first", "error", "dead"),
    [(1, apsw.IOError, False), (4, apsw.IOError, True), (7, apsw.FullError, True)],
)
def test_C6_a_failure_of_any_change_leaves_the_old_cache_or_the_new(
    place: Place,
    *,
    first: int,
    error: type[apsw.Error],
    dead: bool,
    long_count: Callable[[int], int],
) -> None:
    kept = place.cache + ".kept"
    shutil.copytree(place.cache, kept)
    before, after = content(place), expected(place)
    assert before != after
    seen = set()

    def act() -> None:
        proof = rebuilt(place)
        assert proof.failure is None or isinstance(proof.failure, RecallError)
        assert proof.rebuilt or proof.failure

    def check() -> None:
        found = content(place)
        assert found in (before, after)
        seen.add(found == after)
        proof = rebuilt(place)
        assert proof.rebuilt
        assert proof.damage is None
        name = os.path.basename(place.cache_file).removesuffix(db.SUFFIX)
        assert {each.removeprefix(name) for each in os.listdir(place.cache)} <= CLEAN
        with closing(place.store()) as store:
            assert verify(place.root, store, place.fs, deep=True).equivalent
            assert ask([store], QUERY) == ask([other], QUERY) != []

    def restore() -> None:
        shutil.rmtree(place.cache)
        shutil.copytree(kept, place.cache)

    every = 10 // long_count(10)
    with closing(fresh(place.root, place.fs)) as other:
        points = sweep(
            act, check, restore, error=error, dead=dead, first=min(first, every), every=every
        )
    assert points * every > 100, "too few points were hit"
    assert False in seen


def test_C6_each_kind_of_change_is_among_those_that_fail(place: Place) -> None:
    with failing(10**9, apsw.IOError, dead=False) as failures:
        assert rebuilt(place).rebuilt
    assert failures.kinds >= {"write", "sync", "open"}


def test_C6_a_full_disk_is_told_and_the_old_cache_answers(place: Place) -> None:
    told = []
    for number in range(5, 15):  # writes, among others
        with failing(number, apsw.FullError, dead=False):
            proof = rebuilt(place)
        assert proof.failure is not None
        assert proof.failure.exit_status == 6
        assert {card.path for card in place.answer("word5").cards} == {"5.md"}
        told.append(proof.failure.message)
    assert any("the disk is full" in message for message in told)
