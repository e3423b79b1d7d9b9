"""A kill, a failing disk or a read-only home costs work, never an answer, a lock or a secret."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import stat
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from disk_support import failing, sweep
from rights_support import bound_by_modes
from stateful_support import Content, Place, ask, assert_same, cache_files, fresh

from index_cache import db, ingest, locks, mounts, refresh
from index_cache.errors import CacheBusy, RecallError
from index_cache.refresh import Options
from index_cache.store import Store
from recall.opened import OpenRoot

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

FORK = multiprocessing.get_context("fork")
NOTES = 24
QUERY = "word3 word7 again"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_BATCH_FILES", 4)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(NOTES):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    return place


def build(place: Place) -> None:
    """Begin with no cache at all."""
    assert not os.path.exists(place.cache)


def change(place: Place) -> None:
    """Begin with a cache to which half of the notes are news."""
    place.settle()
    for number in range(0, NOTES, 3):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number} once again\n")
    for number in range(1, NOTES, 3):
        place.fs.delete(place.path(f"{number}.md"))
    for number in range(NOTES, NOTES + 8):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    place.fs.forward(10**10)


BEGINNINGS = pytest.mark.parametrize("begin", [build, change])


@pytest.fixture(params=["wal", "rollback journal"])
def journal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of SQLite to write; the second is that of network file systems."""
    mode = str(request.param)
    monkeypatch.setattr(mounts, "is_remote", lambda _: mode != "wal")
    return mode


class Beginning:
    """A cache directory as it was when the test began, to begin from many times."""

    def __init__(self, place: Place) -> None:
        self._cache = place.cache
        self._kept = place.cache + ".kept"
        if os.path.exists(self._cache):
            shutil.copytree(self._cache, self._kept)

    def restore(self) -> None:
        shutil.rmtree(self._cache, ignore_errors=True)
        if os.path.exists(self._kept):
            shutil.copytree(self._kept, self._cache)


def check_answers(place: Place) -> None:
    """Fail unless the cache as it is holds what a fresh one does, and answers like it."""
    with closing(fresh(place.root, place.fs)) as other:
        check_like(place, other)


def check_like(place: Place, other: Store) -> None:
    """Fail unless the cache as it is holds what another one does, and answers like it."""
    with closing(place.store()) as store:
        assert_same(store, other)
        assert ask([store], QUERY) == ask([other], QUERY) != []


# -- SIGKILL


def refresh_step_by_step(pipe: Connection, place: Place) -> None:
    """Refresh, and wait before each commit until the other side lets it happen."""

    def before_commit() -> bool:
        pipe.send("commit")
        pipe.recv()
        return False

    apsw.connection_hooks.append(lambda connection: connection.set_commit_hook(before_commit))
    place.refresh()
    pipe.send("done")


@BEGINNINGS
@pytest.mark.usefixtures("journal")
def test_C7_a_kill_at_each_commit_leaves_a_sound_cache_and_no_lock(
    place: Place, begin: Callable[[Place], None]
) -> None:
    begin(place)
    beginning = Beginning(place)
    points = 0
    while kill_at_commit(place, points):
        points += 1
        with locks.WriterLock(place.cache_file) as lock:
            assert lock.acquire(0)
        if begin is change:
            # The view is the old one, or the new, or between two batches: it answers.
            answer = place.answer(QUERY)
            assert answer.reports[0].failure is None
            assert answer.cards
        place.refresh()
        check_answers(place)
        beginning.restore()
    # Each batch of four notes, and the end of it all, at least.
    assert points > (NOTES // 4 if begin is build else 4)


def kill_at_commit(place: Place, number: int) -> bool:
    """Kill a refreshing process before its n-th commit; False if it needed fewer."""
    ours, theirs = FORK.Pipe()
    worker = FORK.Process(target=refresh_step_by_step, args=(theirs, place))
    worker.start()
    theirs.close()
    try:
        for _ in range(number):
            if ours.recv() == "done":
                return False
            ours.send("go on")
        if ours.recv() == "done":
            return False
        worker.kill()
        worker.join()
        assert worker.exitcode == -signal.SIGKILL
        return True
    finally:
        worker.join()
        ours.close()


# -- a disk that fails


def state(store: Store) -> dict[str, Any]:
    """Return all that a cache holds, to compare."""
    return {**vars(Content(store)), "built": store.built}


def states(place: Place, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what a cache may be found to hold when ``act`` was cut short: whole batches."""
    with closing(Store.create(place.root, None)) as nothing:
        seen = [state(nothing)]
    if os.path.exists(place.cache_file):
        with closing(place.store()) as before:
            seen.append(state(before))
    write = Store.write

    def recorded(store: Store, *arguments: Any) -> None:
        write(store, *arguments)
        seen.append(state(store))

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", recorded)
        act()
    with closing(place.store()) as after:
        seen.append(state(after))
    return seen


@BEGINNINGS
@pytest.mark.parametrize(
    ("first", "error", "dead"),
    [(1, apsw.IOError, False), (4, apsw.IOError, True), (7, apsw.FullError, True)],
)
@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.usefixtures("journal")
def test_C6_a_failure_of_any_change_leaves_a_sound_cache(
    place: Place,
    begin: Callable[[Place], None],
    *,
    first: int,
    error: type[apsw.Error],
    dead: bool,
    compact: bool,
    long_count: Callable[[int], int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin(place)
    beginning = Beginning(place)

    def act() -> None:
        opened = OpenRoot(place.root, place.cache, place.fs)
        report = opened.refresh(Options(wait=0, insist=True, compact=compact))
        opened.close()
        assert report.failure is None or isinstance(report.failure, RecallError)

    legal = states(place, act, monkeypatch)
    beginning.restore()
    before = db.file_identity(place.cache_file)

    def check() -> None:
        if begin is change:
            # A failing disk is not damage: the old view stays, and answers.
            assert db.file_identity(place.cache_file) == before
        with closing(place.store()) as store:
            assert state(store) in legal
        if begin is change:
            answer = place.answer(QUERY)
            assert answer.reports[0].failure is None
            assert answer.cards
        assert place.refresh().failure is None
        check_like(place, other)

    def restore() -> None:
        nonlocal before
        beginning.restore()
        before = db.file_identity(place.cache_file)

    every = 10 // long_count(10)  # all points, or every tenth, from a different one on each time
    with closing(fresh(place.root, place.fs)) as other:
        points = sweep(
            act, check, restore, error=error, dead=dead, first=min(first, every), every=every
        )
    assert points * every > 100, "too few points were hit"


def test_C6_each_kind_of_change_is_among_those_that_fail(place: Place, journal: str) -> None:
    with failing(10**9, apsw.IOError, dead=False) as failures:
        place.refresh(compact=True)
    more = {"truncate"} if journal == "wal" else set()
    assert failures.kinds == {"write", "sync", "open", "delete"} | more


def test_C6_a_full_disk_is_told_and_the_old_view_answers(place: Place) -> None:
    change(place)
    with failing(1, apsw.FullError, dead=True), place.recall() as recall:
        answer = recall.answer("word3 word5", refresh=True)
    (report,) = answer.reports
    assert report.failure is not None
    assert "full" in report.failure.message
    assert {card.path for card in answer.cards} == {"3.md", "5.md"}


# -- S3: who can read the cache, and what is left in it


@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o277, 0o777])
def test_S3_the_cache_is_private_whatever_the_umask(place: Place, umask: int) -> None:
    before = os.umask(umask)
    try:
        with place.recall() as recall:
            assert recall.answer("word7", refresh=True).cards
            modes = {name: mode(place.cache, name) for name in os.listdir(place.cache)}
    finally:
        os.umask(before)
    assert mode(place.cache) == 0o700
    assert {Path(name).suffix for name in modes} == {".db", ".db-wal", ".db-shm", ".lock"}
    assert set(modes.values()) == {0o600}


def test_S3_a_cache_directory_that_others_can_enter_is_closed(place: Place) -> None:
    os.makedirs(place.cache)
    os.chmod(place.cache, 0o777)  # noqa: S103
    place.refresh()
    assert mode(place.cache) == 0o700


def mode(*path: str) -> int:
    return stat.S_IMODE(os.stat(os.path.join(*path)).st_mode)


# Nothing that these begin with is left by a compression of prefixes, so look for what is inside.
SECRETS = {
    "path": ("aa-qzorblefanwick-zz", b"zorblefanwi"),
    "title": ("Vexnimbulatrosk", b"nimbulatro"),
    "description": ("Jaspifundrekolm", b"pifundreko"),
    "body": ("Wrolstavinquepad", b"lstavinque"),
    "tag": ("Kryptomelvandux", b"yptomelvan"),
}
FULL_NOTE = (
    "---\ndescription: Jaspifundrekolm\ntags: [Kryptomelvandux]\n---\n# Vexnimbulatrosk\n\n"
    "Wrolstavinquepad is here.\n"
)


def left(place: Place) -> set[str]:
    """Return which secrets some cache file holds, in any case."""
    return {
        name
        for name, (_, inner) in SECRETS.items()
        for _, data in cache_files(place.cache)
        if inner in data.lower()
    }


@pytest.fixture
def secret(place: Place) -> str:
    name = f"{SECRETS['path'][0]}.md"
    place.write(name, FULL_NOTE)
    place.settle()
    assert left(place) == set(SECRETS)
    return name


def delete_it(place: Place, name: str) -> None:
    place.fs.delete(place.path(name))


def rename_and_overwrite_it(place: Place, name: str) -> None:
    place.fs.rename(place.path(name), place.path("other.md"))
    place.write("other.md", "# Harmless\n")


def make_it_unreadable(place: Place, name: str) -> None:
    place.fs.rename(place.path(name), place.path("other.md"))
    place.fs.deny(place.path("other.md"))


@pytest.mark.parametrize("vanish", [delete_it, rename_and_overwrite_it, make_it_unreadable])
def test_S3_after_compact_nothing_of_a_deleted_note_is_left(
    place: Place, secret: str, vanish: Callable[[Place, str], None]
) -> None:
    vanish(place, secret)
    place.refresh(compact=True)
    assert left(place) == set()
    check_answers(place)


def test_S3_compact_also_removes_what_earlier_refreshes_left(place: Place, secret: str) -> None:
    delete_it(place, secret)
    place.refresh()
    assert left(place) >= {"body"}, "else this test shows nothing"
    place.refresh(compact=True)
    assert left(place) == set()


def test_S3_a_refresh_compacts_by_itself_in_time(
    place: Place, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete_it(place, secret)
    place.refresh()
    monkeypatch.setattr(refresh, "_LINGER", 0)
    place.refresh()
    assert left(place) == set()


def test_S3_a_reader_in_the_way_of_compacting_only_delays_it(
    place: Place, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete_it(place, secret)
    with closing(place.store()) as reader:
        reader.begin_reading()
        assert reader.built
        with pytest.raises(CacheBusy, match="not compacted"):
            place.refresh(compact=True)
        assert left(place) != set()
        reader.end_reading()
    monkeypatch.setattr(refresh, "_LINGER", 0)
    place.refresh()
    assert left(place) == set()


def test_S3_a_killed_refresh_does_not_hide_what_is_left(
    place: Place, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion was committed, but not the end of that refresh."""
    delete_it(place, secret)
    points = 0
    beginning = Beginning(place)
    monkeypatch.setattr(refresh, "_LINGER", 0)
    while kill_at_commit(place, points):
        points += 1
        place.refresh()
        place.refresh()
        assert left(place) == set()
        beginning.restore()
    assert points >= 2


# -- C5: a home that can't be written


def place_answer(place: Place, text: str) -> tuple[tuple[str | None, bool], list[str]]:
    answer = place.answer(text, refresh=True)
    (report,) = answer.reports
    failure = str(report.failure) if report.failure else None
    return (failure, report.cache_file is None), [card.title for card in answer.cards]


def ask_without_rights(
    place: Place, *queries: str, directory: int = 0o555
) -> list[tuple[tuple[str | None, bool], list[str]]]:
    """Make the cache directory read-only and ask, bound by that."""
    os.chmod(place.cache, directory)
    try:
        with bound_by_modes():
            return [place_answer(place, text) for text in queries]
    finally:
        os.chmod(place.cache, 0o700)


def test_C5_a_cache_that_can_only_be_read_answers(place: Place) -> None:
    place.settle()
    place.write("new.md", "# Novel\n\nkestrel\n")
    place.fs.delete(place.path("3.md"))
    told = ask_without_rights(place, "word7", "word3")
    assert told == [((None, False), ["Note 7"]), ((None, False), [])]


def test_C5_a_cache_that_can_only_be_read_needs_no_shared_memory(place: Place) -> None:
    """Nothing but the database is left: it can be opened as immutable only."""
    place.settle()
    for suffix in ("-shm", "-wal"):
        os.unlink(place.cache_file + suffix)
    assert ask_without_rights(place, "word7") == [((None, False), ["Note 7"])]


def test_C5_a_log_that_can_not_be_read_is_not_ignored(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in the WAL alone would be missing from an immutable view: answer from memory."""
    place.settle()
    monkeypatch.setattr(Store, "checkpoint", lambda _: None)
    place.write("7.md", "# Note seven\n\nkestrel word7 omega\n")
    place.refresh()
    os.unlink(place.cache_file + "-shm")
    assert ask_without_rights(place, "omega") == [((None, True), ["Note seven"])]


def test_C5_a_half_built_cache_that_can_only_be_read_is_no_answer(place: Place) -> None:
    """A killed first build in a home that has become read-only."""
    place.store().close()
    assert ask_without_rights(place, "word7") == [((None, True), ["Note 7"])]


def test_C5_a_half_done_change_in_a_directory_that_can_only_be_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rollback journal says what must be undone first: an immutable view would be half of it."""
    monkeypatch.setattr(mounts, "is_remote", lambda _: True)
    place.settle()
    whole = Path(place.cache_file).read_bytes()
    place.write("7.md", "# Note seven\n\nkestrel word7 omega\n")
    place.fs.forward(10**10)
    kept = Beginning(place)
    for number in count(1):
        with failing(number, apsw.IOError, dead=True), suppress(apsw.Error, RecallError):
            place.refresh()
        if Path(place.cache_file).read_bytes() != whole:
            break  # the disk died in the midst of a commit
        kept.restore()
    assert os.path.getsize(place.cache_file + "-journal") > 0
    assert ask_without_rights(place, "omega") == [((None, True), ["Note seven"])]


def test_C4_a_cache_that_may_not_be_read_is_made_anew(place: Place) -> None:
    place.settle()
    os.chmod(place.cache_file, 0)
    assert ask_without_rights(place, "word7", directory=0o700) == [((None, False), ["Note 7"])]
    assert mode(place.cache_file) == 0o600


def test_C5_a_missing_cache_in_a_directory_that_can_only_be_read(place: Place) -> None:
    os.makedirs(place.cache)
    assert ask_without_rights(place, "word7") == [((None, True), ["Note 7"])]
    assert os.listdir(place.cache) == []


def test_C5_a_damaged_cache_that_can_only_be_read_is_answered_from_memory(place: Place) -> None:
    """It can't be deleted either, so each search reads the notes anew and says so."""
    place.settle()
    with closing(apsw.Connection(place.cache_file)) as connection:
        connection.execute("DROP TABLE document")
    assert ask_without_rights(place, "word7") == [((None, True), ["Note 7"])]
    os.truncate(place.cache_file, 5000)
    for suffix in ("-shm", "-wal"):
        Path(place.cache_file + suffix).unlink(missing_ok=True)
    assert ask_without_rights(place, "word7") == [((None, True), ["Note 7"])]
    assert os.path.getsize(place.cache_file) == 5000
