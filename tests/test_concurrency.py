"""Many processes, one cache: one builds, readers wait for nothing, and locked is not damaged."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import apsw
import pytest
from cli_support import recall as run_recall
from stateful_support import Place, assert_same, fresh, make_root

from index_cache import db, ingest, locks, search
from index_cache.errors import CacheBusy
from index_cache.files import FileSystem
from index_cache.model import Root
from index_cache.refresh import Options, open_store
from index_cache.store import Store
from recall import caches
from recall.opened import OpenRoot
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier
    from typing import Any

PROCESSES = 10
ROUNDS = 200
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(40):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    return place


@pytest.fixture
def built(place: Place) -> Place:
    place.settle()
    return place


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test where the program would wait for a lock."""

    def sleep(_: float) -> NoReturn:
        pytest.fail("waited for a lock")

    monkeypatch.setattr(time, "sleep", sleep)


class Clock:
    """A clock that moves when somebody sleeps, and lets things happen then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.slept = 0.0
        self.at: dict[int, Callable[[], object]] = {}
        self.sleeps = 0
        self._monkeypatch = monkeypatch
        self.use(lambda: 1000.0 + self.slept)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def use(self, monotonic: Callable[[], float]) -> None:
        self._monkeypatch.setattr(time, "monotonic", monotonic)

    def sleep(self, seconds: float) -> None:
        self.slept += seconds
        self.sleeps += 1
        self.at.get(self.sleeps, lambda: None)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@contextmanager
def held(place: Place) -> Iterator[locks.WriterLock]:
    """Hold the writer's lock, as another process would."""
    os.makedirs(place.cache, exist_ok=True)
    with locks.WriterLock(place.cache_file) as lock:
        assert lock.acquire(0)
        yield lock


# -- C2: ten at once


def answer_at(barrier: Barrier, out: Connection, root: Root, cache: str) -> None:
    """Answer one query when all are ready; tell what came of it."""
    with Recall([root], cwd=root.path, environ={"HOME": root.path}, cache_dir=cache) as recall:
        barrier.wait()
        answer = recall.answer("kestrel word7 word21")
    report = answer.reports[0]
    failure = None if report.failure is None else str(report.failure)
    cards = [(card.path, card.score.hex()) for card in answer.cards]
    out.send((failure, report.built, report.cache_file, answer.total, cards))
    out.close()


def race(
    root: Root, cache: str
) -> list[tuple[str | None, bool, str | None, int, Sequence[object]]]:
    """Let ten processes answer at once from a cache; return what each of them tells."""
    barrier = FORK.Barrier(PROCESSES)
    pipes = [FORK.Pipe(duplex=False) for _ in range(PROCESSES)]
    workers = [FORK.Process(target=answer_at, args=(barrier, out, root, cache)) for _, out in pipes]
    for worker in workers:
        worker.start()
    for _, out in pipes:
        out.close()
    told = [into.recv() for into, _ in pipes]
    for worker, (into, _) in zip(workers, pipes, strict=True):
        worker.join()
        into.close()
        assert worker.exitcode == 0
    return told


def test_C2_ten_processes_at_a_missing_cache_all_answer_and_one_builds(
    tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    root = make_root(tmp_path.resolve(), "notes")
    for number in range(300):
        words = " ".join(f"word{number * each % 97}" for each in range(40))
        (tmp_path / f"notes/{number}.md").write_text(f"# Note {number}\n\nkestrel {words}\n")
    answers: set[tuple[int, tuple[object, ...]]] = set()
    for number in range(long_count(ROUNDS)):
        cache = str(tmp_path / f"cache-{number}")
        told = race(root, cache)
        assert [failure for failure, *_ in told] == [None] * PROCESSES
        assert sum(built for _, built, *_ in told) == 1
        answers.update((total, tuple(cards)) for *_, total, cards in told)
        (file,) = {file for _, _, file, *_ in told}
        assert file == db.cache_path(cache, root)
        with closing(open_store(root, cache, 0)) as store:
            rebuilt = fresh(root, FileSystem())
            assert_same(store, rebuilt)
            rebuilt.close()
        shutil.rmtree(cache)
    assert len(answers) == 1
    ((total, cards),) = answers
    assert total > len(cards) == 10


def test_C2_ten_processes_at_a_damaged_cache_all_answer(
    tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    root = make_root(tmp_path.resolve(), "notes")
    for number in range(60):
        (tmp_path / f"notes/{number}.md").write_text(f"# Note {number}\n\nkestrel word{number}\n")
    cache = str(tmp_path / "cache")
    answers: set[tuple[int, tuple[object, ...]]] = set()
    for _ in range(long_count(ROUNDS)):
        os.makedirs(cache, exist_ok=True)
        with open(db.cache_path(cache, root), "wb") as file:
            file.write(b"no database at all " * 1000)
        told = race(root, cache)
        assert [failure for failure, *_ in told] == [None] * PROCESSES
        assert sum(built for _, built, *_ in told) == 1
        answers.update((total, tuple(cards)) for *_, total, cards in told)
        shutil.rmtree(cache)
    assert len(answers) == 1


@pytest.mark.parametrize("directory", [True, False])
def test_C2_a_file_that_appears_while_it_is_opened_can_be_written(
    place: Place, directory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was missing when the directory was looked at, and is there when it is opened."""
    access = os.access

    def another_is_quicker(path: str, mode: int) -> bool:
        result = access(path, mode)
        if result == directory:
            monkeypatch.setattr(os, "access", access)
            place.store().close()
        return result

    if directory:
        os.makedirs(place.cache)
    monkeypatch.setattr(os, "access", another_is_quicker)
    answer = place.answer("word7", refresh=True)
    assert answer.reports[0].built
    assert answer.cards[0].title == "Note 7"


def test_C2_a_file_that_is_just_being_made_is_waited_for(place: Place, clock: Clock) -> None:
    """SQLite keeps everybody out for a moment while a new file becomes a WAL database."""
    with held(place) as lock:
        connection = db.create(place.cache_file)
        connection.close()
        maker = apsw.Connection(place.cache_file)
        maker.pragma("locking_mode", "exclusive")
        maker.execute("BEGIN EXCLUSIVE")
        looks = 0

        def monotonic() -> float:
            nonlocal looks
            looks += 1
            if looks == 3:
                maker.execute("ROLLBACK")
                maker.close()
                lock.release()
            return 1000.0

        clock.use(monotonic)
        answer = place.answer("word7", refresh=True)
    assert answer.reports[0].failure is None
    assert answer.cards[0].title == "Note 7"


NO_DATABASE = b"no database at all".ljust(4 * 4096)  # whole pages, or it need not be opened


@pytest.mark.parametrize("content", [NO_DATABASE, b""])
def test_C2_who_opens_what_is_being_replaced_leaves_the_new_cache_alone(
    place: Place, content: bytes
) -> None:
    """SQLite finds a WAL by its name, and may find the new cache's beside the old one."""
    os.makedirs(place.cache)
    Path(place.cache_file).write_bytes(content)
    try:
        late = Store(place.root, place.cache_file)
    except db.Damaged:
        late = None
    worker = FORK.Process(target=build_without_checkpoint, args=(place,))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    if late:
        with closing(late), pytest.raises(db.Damaged):
            late.check()
    assert os.stat(place.cache_file + "-wal").st_size > 0
    place.check()


def build_without_checkpoint(place: Place) -> None:
    Store.checkpoint = lambda _: False  # type: ignore[method-assign]
    place.refresh()


def test_C2_a_cache_replaced_while_it_is_opened_is_opened_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.makedirs(place.cache)
    Path(place.cache_file).write_bytes(NO_DATABASE)
    check = Store.check

    def after_another(store: Store) -> None:
        monkeypatch.setattr(Store, "check", check)
        worker = FORK.Process(target=build_without_checkpoint, args=(place,))
        worker.start()
        worker.join()
        check(store)

    monkeypatch.setattr(Store, "check", after_another)
    with closing(place.store()) as store:
        assert store.in_place()
        assert store.built
    place.check()


# -- C1: waiting for a writer


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("refresh_first", [True, False])
def test_C1_with_a_view_a_search_waits_for_no_writer(built: Place, refresh_first: bool) -> None:
    built.write("new.md", "# Novel\n\nkestrel\n")
    built.fs.delete(built.path("0.md"))
    with held(built):
        answer = built.answer("kestrel word0 word1", refresh=refresh_first, k=100)
    (report,) = answer.reports
    assert report.failure is None
    assert report.busy == refresh_first
    assert "Novel" not in {card.title for card in answer.cards}  # the old view
    assert built.answer("word1").cards[0].title == "Note 1"
    assert built.answer("word0").cards == []  # but no stale card


@pytest.mark.usefixtures("no_waiting")
def test_C1_a_search_reads_beside_a_transaction_that_writes(built: Place) -> None:
    with held(built), closing(built.store()) as writer:
        writer.connection.execute("BEGIN IMMEDIATE")
        writer.connection.execute("DELETE FROM entry")
        answer = built.answer("kestrel", refresh=True)
        assert len(answer.cards) == 10
        writer.connection.execute("ROLLBACK")


def test_C1_a_connection_waits_less_than_50_ms_for_sqlite(built: Place) -> None:
    """SQLite's own wait, for what no lock of ours covers, is bounded too."""
    assert db.READ_WAIT < 50
    with closing(built.store()) as store:
        assert store.connection.pragma("busy_timeout") == db.READ_WAIT
    assert db.connect(None)[0].pragma("busy_timeout") == db.READ_WAIT


def test_C1_without_a_view_a_search_waits_then_says_busy(place: Place, clock: Clock) -> None:
    place.store().close()  # there is a file, but nobody has filled it
    inode = os.stat(place.cache_file).st_ino
    with held(place):
        answer = place.answer("kestrel", refresh=True, wait=30.0)
    (report,) = answer.reports
    assert isinstance(report.failure, CacheBusy)
    assert report.failure.exit_status == 6
    assert 30 <= clock.slept < 31
    assert os.stat(place.cache_file).st_ino == inode


def test_C1_without_a_file_a_search_waits_then_says_busy(place: Place, clock: Clock) -> None:
    with held(place):
        answer = place.answer("kestrel", refresh=False, wait=5.0)
    assert isinstance(answer.reports[0].failure, CacheBusy)
    assert 5 <= clock.slept < 6
    assert not os.path.exists(place.cache_file)


def test_C1_without_a_view_a_search_takes_the_builders(place: Place, clock: Clock) -> None:
    with held(place) as lock:

        def builder_ends() -> None:
            lock.release()
            place.refresh()

        clock.at[7] = builder_ends
        answer = place.answer("word7", refresh=True)
    (report,) = answer.reports
    assert (report.failure, report.built, report.added) == (None, False, 0)
    assert answer.cards[0].title == "Note 7"


def test_C1_refresh_waits_for_the_other_writer(built: Place, clock: Clock) -> None:
    built.write("new.md", "# Novel\n")
    with held(built) as lock:
        clock.at[3] = lock.release
        report = built.refresh()
    assert (report.added, report.busy) == (1, False)
    built.write("newer.md", "# Novel too\n")
    with held(built), pytest.raises(CacheBusy):
        built.refresh()


def test_C1_exit_6_tells_that_another_process_is_building(place: Place) -> None:
    inside = {"XDG_CACHE_HOME": str(place.top)}
    root = Root("notes", place.root.path)
    with db_lock(str(place.top / "recall"), root):
        result = run_recall(
            "search", "--root", root.path, "--wait", "0", "--json", "kestrel", env=inside
        )
    assert result.status == 6
    assert result.error()["code"] == "cache_busy"
    result = run_recall("search", "--root", root.path, "--json", "word7", env=inside)
    assert result.data()["items"][0]["title"] == "Note 7"


@contextmanager
def db_lock(directory: str, root: Root) -> Iterator[None]:
    db.ensure_directory(directory)
    with locks.WriterLock(db.cache_path(directory, root)) as lock:
        assert lock.acquire(0)
        yield


# -- C1: locked is not damaged, and a live database is never unlinked


def test_C1_a_database_locked_by_sqlite_is_busy_not_damaged(built: Place) -> None:
    before = os.stat(built.cache_file)
    other = apsw.Connection(built.cache_file)
    other.pragma("locking_mode", "exclusive")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("UPDATE meta SET value = value")
    built.write("new.md", "# Novel\n")
    for refresh_first in (True, False):
        answer = built.answer("kestrel", refresh=refresh_first)
        assert isinstance(answer.reports[0].failure, CacheBusy)
        assert answer.cards == []
    other.execute("ROLLBACK")
    other.close()
    assert os.stat(built.cache_file).st_ino == before.st_ino
    assert built.answer("word7").cards[0].title == "Note 7"


def test_C1_a_writer_whom_sqlite_holds_up_leaves_the_old_view(built: Place) -> None:
    """Somebody else writes to the file without asking for our lock."""
    before = os.stat(built.cache_file)
    built.write("new.md", "# Novel\n\nkestrel\n")
    other = apsw.Connection(built.cache_file)
    other.execute("BEGIN IMMEDIATE")
    answer = built.answer("word7", refresh=True)
    assert isinstance(answer.reports[0].failure, CacheBusy)
    assert answer.cards[0].title == "Note 7"
    other.execute("ROLLBACK")
    other.close()
    assert os.stat(built.cache_file).st_ino == before.st_ino
    built.refresh()
    built.check()


def test_C1_who_sees_damage_late_does_not_unlink_the_new_cache(built: Place) -> None:
    """Two processes have a cache open that turns out to be damaged; the second is slower."""
    first, second = (OpenRoot(built.root, built.cache, built.fs) for _ in range(2))
    for each in (first, second):
        assert each.refresh(Options(wait=0)).failure is None
    damage(built.cache_file)
    inodes: list[int] = []
    for each in (first, second, first):
        built.write("new.md", f"# Novel {len(inodes)}\n")
        assert each.refresh(Options(wait=0)).failure is None
        inodes.append(os.stat(built.cache_file).st_ino)
    assert inodes == inodes[:1] * 3
    first.close()
    second.close()
    built.check()


def damage(file: str) -> None:
    """Overwrite all of a live cache file but its first page, and its WAL."""
    with open(file, "r+b") as out:
        out.seek(4096)
        out.write(b"\xa5" * (os.stat(file).st_size - 4096))
    assert os.stat(file + "-wal").st_size == 0


@pytest.mark.parametrize("content", [b"", b"foreign" * 999, None])
def test_C4_caches_are_listed_and_swept_whatever_they_are(
    built: Place, content: bytes | None
) -> None:
    os.unlink(built.cache_file)
    if content is None:
        os.symlink("/etc/passwd", built.cache_file)
    else:
        Path(built.cache_file).write_bytes(content)
    (found,) = caches.list_caches(built.cache)
    assert found.root_path is None
    assert len(caches.prune(built.cache, all=True)) == 1
    assert not os.path.lexists(built.cache_file)


def test_C1_nobody_unlinks_a_cache_that_another_is_writing(built: Place) -> None:
    inode = os.stat(built.cache_file).st_ino
    with held(built):
        assert caches.prune(built.cache, all=True) == []
        assert caches.purge(built.cache, built.root.path) == []
    assert os.stat(built.cache_file).st_ino == inode


def test_C1_a_reader_survives_that_its_cache_is_pruned(built: Place) -> None:
    with built.recall() as recall:
        assert recall.answer("word7").cards[0].title == "Note 7"
        assert len(caches.prune(built.cache, all=True)) == 1
        for refresh_first in (False, True):
            built.write("7.md", "# Note seven\n\nkestrel word7\n")
            answer = recall.answer("word7", refresh=refresh_first)
            assert answer.cards[0].title == "Note seven"
    built.refresh()
    built.check()


def test_C1_a_search_sees_one_state_of_the_cache(
    built: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process commits between the two halves of a search."""
    built.write("new.md", "# Novel kestrel\n\nkestrel word7 word7\n")
    with built.recall() as recall:
        before = recall.answer("kestrel word7", refresh=False).cards
        count = search.count

        def count_after_a_commit(*arguments: Any) -> int:
            monkeypatch.setattr(search, "count", count)
            built.refresh()
            return count(*arguments)

        monkeypatch.setattr(search, "count", count_after_a_commit)
        during = recall.answer("kestrel word7", refresh=False)
        after = recall.answer("kestrel word7", refresh=False)
    assert [(card.path, card.score) for card in during.cards] == [
        (card.path, card.score) for card in before
    ]
    assert during.total == 1
    assert after.total == 2


# -- C7: a writer that is killed


def die_with_the_lock(out: Connection, place: Place, batches: int) -> None:
    """Begin a refresh, and hang with the lock in the midst of a transaction."""
    write = Store.write
    left = batches

    def hang(store: Store, *arguments: Any) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            store.connection.execute("BEGIN IMMEDIATE")
            store.connection.execute("DELETE FROM fts")
            out.send("hung")
            signal.pause()
        write(store, *arguments)

    Store.write = hang  # type: ignore[method-assign, assignment]
    ingest._BATCH_FILES = 4
    place.refresh()


@pytest.mark.parametrize("batches", [0, 1, 4])
@pytest.mark.parametrize("viewed", [False, True])
def test_C7_a_killed_writer_leaves_no_lock(
    place: Place, viewed: bool, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if viewed:
        place.settle()
        for number in range(0, 40, 2):
            place.write(f"{number}.md", f"# Note {number}\n\nkestrel again word{number}\n")
    into, out = FORK.Pipe(duplex=False)
    worker = FORK.Process(target=die_with_the_lock, args=(out, place, batches))
    worker.start()
    out.close()
    assert into.recv() == "hung"
    with locks.WriterLock(place.cache_file) as lock:
        assert not lock.acquire(0)
    if viewed:
        assert place.answer("word7", refresh=True).reports[0].busy
    worker.kill()
    worker.join()
    into.close()
    assert worker.exitcode == -signal.SIGKILL
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waited for a lock"))
    answer = place.answer("word8", refresh=True)
    assert answer.reports[0].failure is None
    assert answer.cards[0].title == "Note 8"
    assert answer.reports[0].built == (not viewed)
    place.check()


def test_C1_a_commit_between_two_statements_is_no_damage(built: Place) -> None:
    """The manifest and the number of its rows are of one state."""
    with closing(built.store()) as store:
        connection = store.connection
        execute = connection.execute

        class Crowded:
            """A connection beside which another process writes after each statement."""

            turn = 0

            def execute(self, *arguments: Any) -> object:
                rows = list(execute(*arguments))
                self.turn += 1
                built.write(f"more{self.turn}.md", "# More\n\nkestrel\n")
                built.refresh()
                return iter(rows)

        store.connection = Crowded()  # type: ignore[assignment]
        try:
            assert store.signatures()
            assert store.suspects() is not None
            assert store.documents()
            assert store.paths()
        finally:
            store.connection = connection
