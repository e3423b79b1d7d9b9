"""Real notes, and processes that work on one cache at once, are killed or held up.

``RECALL_SHARED`` is where the shared data is, by default ``shared`` beside the repository;
``RECALL_SEED`` repeats what a test that failed has chosen by chance.
"""

from __future__ import annotations

import multiprocessing.connection
import os
import random
import shutil
import signal
import tarfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest
from disk_support import DISK, UnsyncedFile
from stateful_support import assert_same, fresh, make_root

from index_cache import db, ingest, locks
from index_cache.files import FileSystem
from index_cache.rebuild import fresh_path, rebuild
from index_cache.refresh import open_store
from index_cache.verify import MOVING, PENDING
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    from disk_support import Name

    from index_cache.store import Store
    from index_cache.verify import Proof

    Answers = list[list[tuple[str, str, str]]]

FORK = multiprocessing.get_context("fork")
SHARED = os.environ.get("RECALL_SHARED") or str(Path(__file__).resolve().parents[2] / "shared")
SEED = os.environ.get("RECALL_SEED")


def seeded() -> tuple[random.Random, str]:
    """Return a source of chance, and how to repeat it, for the message of a failure."""
    seed = SEED or str(random.SystemRandom().randrange(10**9))
    return random.Random(seed), f"RECALL_SEED={seed}"  # noqa: S311 - no secret


def unpack_real_notes(directory: Path, count: int, largest: int) -> None:
    """Put real notes from all over the corpora below ``directory``; skip the test without any.

    Those of more than ``largest`` bytes are left out, as they would cost most of the time.
    """
    archive = os.path.join(SHARED, "data", "corpora.tar.xz")
    if not os.path.exists(archive):
        pytest.skip(f"there are no real notes at {archive}: name their place in RECALL_SHARED")
    with tarfile.open(archive, "r:xz") as tar:
        files = [each for each in tar if each.isfile() and each.size <= largest]
        notes = [each for each in files if each.name.endswith(".md")]
        assert len(notes) >= count
        for note in notes[:: len(notes) // count][:count]:
            path = directory / note.name
            assert directory in path.resolve().parents
            path.parent.mkdir(parents=True, exist_ok=True)
            file = tar.extractfile(note)
            assert file is not None
            path.write_bytes(file.read())


class Later(FileSystem):
    """A clock an hour ahead, to which no note is too young to be trusted."""

    def now_ns(self) -> int:
        return super().now_ns() + 3600 * 10**9


class Yard:
    """One root of real files with its cache, and the ways of other processes to use it."""

    def __init__(self, top: Path, fs: FileSystem) -> None:
        self.top = top.resolve()
        self.fs = fs
        self.root = make_root(self.top, "notes")
        self.notes = Path(self.root.path)
        self.cache = str(self.top / "cache")
        self.file = db.cache_path(self.cache, self.root)

    def recall(self) -> Recall:
        return Recall(
            [self.root],
            cwd=str(self.top),
            environ={"HOME": str(self.top / "home")},
            cache_dir=self.cache,
            fs=self.fs,
        )

    def write(self, name: str, text: str) -> None:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def store(self) -> Store:
        return open_store(self.root, self.cache, 0)

    def refresh(self) -> None:
        """Bring the cache up to date, and fail rather than wait."""
        with self.recall() as recall:
            (report,) = recall.refresh(wait=0)
        assert report.failure is None

    def rebuild(self, wait: float = 0.0) -> Proof:
        return rebuild(self.root, self.cache, self.fs, wait=wait)

    def verify(self) -> Proof:
        with self.recall() as recall:
            (proof,) = recall.rebuild(only_check=True, wait=0)
        return proof

    def answers(self, queries: Sequence[str]) -> Answers:
        """Return what the cache as it is says, to the last bit of the scores."""
        told = []
        with self.recall() as recall:
            for query in queries:
                answer = recall.answer(query, refresh=False, wait=0)
                assert answer.reports[0].failure is None
                told.append([(card.path, card.title, card.score.hex()) for card in answer.cards])
        return told

    def check(self) -> None:
        """Fail unless the cache holds what a fresh one would."""
        with closing(self.store()) as store, closing(fresh(self.root, self.fs)) as other:
            assert_same(store, other)

    def check_no_lock(self) -> None:
        for path in (self.file, fresh_path(self.file)):
            if os.path.exists(os.path.dirname(path)):
                with locks.WriterLock(path) as lock:
                    assert lock.acquire(0)

    def check_nothing_is_left(self) -> None:
        """Fail if there is more than the cache, what SQLite keeps beside it, and the locks."""
        right = {self.file + suffix for suffix in ("", "-wal", "-shm")}
        right |= {locks.lock_file(path) for path in (self.file, fresh_path(self.file))}
        assert {os.path.join(self.cache, name) for name in os.listdir(self.cache)} <= right

    def keep(self) -> Callable[[], None]:
        """Return a function that puts the cache directory back as it is now."""
        kept = self.cache + ".kept"
        shutil.rmtree(kept, ignore_errors=True)
        if os.path.exists(self.cache):
            shutil.copytree(self.cache, kept)

        def restore() -> None:
            shutil.rmtree(self.cache, ignore_errors=True)
            if os.path.exists(kept):
                shutil.copytree(kept, self.cache)

        return restore


def faults(proof: Proof) -> list[object]:
    """Return what a proof says that edits meanwhile do not explain."""
    found: list[object] = [each for each in proof.differences if each.kind not in (PENDING, MOVING)]
    found += [str(each) for each in (proof.failure, proof.damage) if each is not None]
    if not proof.differences and proof.cache_digest != proof.canonical_digest:
        found.append("the digests differ, and nothing else does")
    if proof.answers and proof.answers[1]:
        found.append(f"of {proof.answers[0]} answers {proof.answers[1]} differ")
    return found


# -- processes that are killed


class Worker:
    """A process of its own that runs ``work(pipe, …)``; ``pipe`` is our end.

    As a daemon it is ended with us when a test fails and leaves it hanging.
    """

    def __init__(self, work: Callable[..., None], *arguments: object) -> None:
        self.pipe, theirs = FORK.Pipe()
        self.process: ForkProcess = FORK.Process(
            target=work, args=(theirs, *arguments), daemon=True
        )
        self.process.start()
        theirs.close()

    def expect(self, message: object) -> None:
        assert self.pipe.recv() == message

    def end(self) -> int | None:
        """Wait for its end; return the exit status."""
        self.process.join()
        self.pipe.close()
        return self.process.exitcode

    def kill(self) -> bool:
        """Kill it; False if it was quicker."""
        self.process.kill()
        return self.end() == -signal.SIGKILL


def run(pipe: Connection, yard: Yard, command: str, batch: int) -> None:
    """Refresh or rebuild when told to; tell when the writer's lock is held, and of the end."""
    ingest._BATCH_FILES = batch
    acquire = locks.WriterLock.acquire

    def telling(lock: locks.WriterLock, wait: float) -> bool:
        held = acquire(lock, wait)
        if lock._path == locks.lock_file(yard.file):
            pipe.send("locked")
        return held

    locks.WriterLock.acquire = telling  # type: ignore[assignment, method-assign]
    with yard.recall() as recall:
        pipe.recv()
        told = recall.refresh() if command == "refresh" else recall.rebuild()
    pipe.send([str(each.failure) for each in told if each.failure])


def undisturbed(yard: Yard, command: str, batch: int) -> tuple[float, float]:
    """Return the seconds that a command takes until it has the lock, and from then on."""
    worker = Worker(run, yard, command, batch)
    began = time.perf_counter()
    worker.pipe.send("go")
    worker.expect("locked")
    locked = time.perf_counter()
    worker.expect([])
    done = time.perf_counter()
    assert worker.end() == 0
    return locked - began, done - locked


def kill_at(yard: Yard, command: str, batch: int, delay: float, *, locked: bool) -> bool:
    """Kill a command ``delay`` seconds after its begin, or since it has the lock.

    False if it was quicker.
    """
    worker = Worker(run, yard, command, batch)
    worker.pipe.send("go")
    if locked:
        worker.expect("locked")
    until = time.perf_counter() + delay
    while worker.pipe.poll(max(0.0, until - time.perf_counter())):
        message = worker.pipe.recv()
        if message != "locked":
            assert message == []
            assert worker.end() == 0
            return False
    return worker.kill()


class Countdown:
    """Lets some events happen, and kills this process at the next."""

    def __init__(self, events: int) -> None:
        self._left = events

    def last(self) -> bool:
        """Count an event; True if this one must not come to its end."""
        self._left -= 1
        return self._left < 0

    def event(self) -> bool:
        """Count an event, or die; False tells SQLite to go on."""
        if self.last():
            self.die()
        return False

    @staticmethod
    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def die_at_commit(_: Connection, yard: Yard, number: int) -> None:
    """Rebuild, and die before the commit of that number."""
    countdown = Countdown(number)
    apsw.connection_hooks.append(lambda connection: connection.set_commit_hook(countdown.event))
    ingest._BATCH_FILES = 4
    assert yard.rebuild().rebuilt


class MortalFile(UnsyncedFile):
    """A file of whose changes the last one is torn, if it is ``counted`` or beside that."""

    def __init__(
        self, counted: str, countdown: Countdown, base: str, name: Name, flags: list[int]
    ) -> None:
        self._countdown = countdown
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._counted = path is not None and path.startswith(counted)
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self._counted and self._countdown.last():
            super().xWrite(data[: len(data) // 2], offset)
            self._countdown.die()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self._counted:
            self._countdown.event()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if self._counted:
            self._countdown.event()
        super().xTruncate(newsize)


def die_at_write(_: Connection, yard: Yard, number: int) -> None:
    """Rebuild, and die in the midst of that change of the live cache's file or WAL."""
    DISK.opener = partial(MortalFile, yard.file, Countdown(number))
    assert yard.rebuild().rebuilt


# -- processes that are held up


def rebuild_and_tell(pipe: Connection, yard: Yard) -> None:
    """Rebuild; tell of the first wait for a lock, and of the end."""
    sleep = time.sleep
    waits: list[float] = []

    def telling(seconds: float) -> None:
        if not waits:
            pipe.send("waits")
        waits.append(seconds)
        sleep(seconds)

    time.sleep = telling  # type: ignore[assignment]
    pipe.send(faults(yard.rebuild(wait=60)))


def stop_at_first_note(pipe: Connection, yard: Yard, command: str) -> None:
    """Refresh or rebuild, but stop at the first note that is read until told to go on."""

    class Stopping(Later):
        stopped = False

        def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
            if not self.stopped:
                self.stopped = True
                pipe.send("reads")
                pipe.recv()
            return super().read(path, limit)

    yard.fs = Stopping()
    if command == "refresh":
        yard.refresh()
        pipe.send([])
    else:
        pipe.send(faults(yard.rebuild()))
