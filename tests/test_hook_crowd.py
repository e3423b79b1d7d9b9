"""Many hooks amid refreshes and rebuilds: none waits for a lock, and none is lost (C1, C2).

How long they take is no matter of these tests: that a hook does not wait is seen by locks that
nobody ever lets go of, and by the calls in which it would wait.
"""

from __future__ import annotations

import fcntl
import itertools
import multiprocessing
import os
import subprocess
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import apsw
import hook_run_support as run
import pytest

from index_cache import db, locks
from recall import config, dirs, recalllog, state
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.synchronize import Event
    from pathlib import Path

    from index_cache.model import Root

FORK = multiprocessing.get_context("fork")
HOOKS = 20
NOTES = 200
# Ten words that one note has each, and no other has.
LANDMARKS = [f"qu{letter * 3}vexil" for letter in "abdfghklmn"]
# A hook that would wait says so, where nothing may be said.
WATCHED = """
import fcntl, os, time

def told(text):
    os.write(2, text.encode() + b"\\n")

class Flock:
    real = fcntl.flock
    def __call__(self, descriptor, how):
        if not how & fcntl.LOCK_NB:
            told("waits for a lock")
        return Flock.real(descriptor, how)

fcntl.flock = Flock()
fcntl.lockf = lambda *_: told("a lock of another kind")
# The deadline's thread alone sleeps, once its time is over; here it never is.
time.sleep = lambda seconds: told(f"sleeps {seconds}")
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(NOTES):
        words = " ".join(f"word{number * each % 97}" for each in range(40))
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nkestrel {words}\n", "utf-8")
    for word in LANDMARKS:
        text = f"# Landmark {word}\n\nHere {word} stands.\n"
        (notes / f"{word}.md").write_text(text, encoding="utf-8")
    run.configure({"notes": notes})
    run.refresh(tmp_path)
    run.no_refresh(tmp_path)
    return tmp_path


def the_root(top: Path) -> Root:
    (root,) = config.load(str(top), os.environ, fallback=False).roots
    return root


def the_cache(top: Path) -> str:
    directory = dirs.cache_dir(os.environ)
    assert directory is not None
    return db.cache_path(directory, the_root(top))


class Running:
    """A hook that was started."""

    def __init__(self, top: Path, text: str, session: str | None, before: str = "") -> None:
        self.process = subprocess.Popen(
            run.command(before=run.PATIENT + before),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=top,
        )
        self._input = run.event("claude", text, top, session)

    def ask(self) -> None:
        """Let it go: all that were started wait for what they are asked."""
        assert self.process.stdin is not None
        self.process.stdin.write(self._input)
        self.process.stdin.close()
        self.process.stdin = None

    def said(self) -> run.Said:
        stdout, stderr = self.process.communicate(timeout=run.GUARD)
        return run.Said(self.process.returncode, stdout, stderr)


def at_once(
    top: Path, asked: Sequence[tuple[str, str | None]], before: str = ""
) -> list[list[str]]:
    """Run a hook for each prompt and session at the same time; return the notes that they name."""
    hooks = [Running(top, f"where is {text}?", session, before) for text, session in asked]
    for hook in hooks:
        hook.ask()
    return [[card["path"] for card in hook.said().cards()] for hook in hooks]


def refreshing(top: Path, stop: Event, numbers: Iterator[int]) -> None:
    """Edit notes, but no landmark, and refresh, until told to stop."""
    with Recall([the_root(top)], cwd=str(top)) as recall:
        while not stop.is_set():
            number = next(numbers)
            note = top / "notes" / f"{number % NOTES}.md"
            note.write_text(f"# Edit {number}\n\nkestrel word{number % 97}\n", encoding="utf-8")
            (top / "notes" / f"new-{number}.md").write_text(f"# New {number}\n", encoding="utf-8")
            assert [report.failure for report in recall.refresh(wait=run.GUARD)] == [None]


def rebuilding(top: Path, stop: Event, _: Iterator[int]) -> None:
    with Recall([the_root(top)], cwd=str(top)) as recall:
        while not stop.is_set():
            (proof,) = recall.rebuild(wait=run.GUARD)
            assert proof.rebuilt


@contextmanager
def unrest(top: Path) -> Iterator[None]:
    """Refresh after edits, and rebuild, over and over."""
    stop = FORK.Event()
    parts = (refreshing, rebuilding)
    workers = [
        FORK.Process(target=part, args=(top, stop, itertools.count()), daemon=True)
        for part in parts
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop.set()
        for worker in workers:
            worker.join(run.GUARD)
    assert [worker.exitcode for worker in workers] == [0] * len(parts)


def check_no_lock(top: Path) -> None:
    with locks.WriterLock(the_cache(top)) as lock:
        assert lock.acquire(0)
    turn = run.turn(top)
    assert turn.take()
    turn.give_back()


def whys() -> list[tuple[str, str]]:
    """Return why hooks kept silent, and what they noted as faults."""
    return [(entry.decision, entry.why) for entry in run.log() if entry.decision != "spoke"]


def test_C1_a_crowd_of_hooks_amid_refreshes_and_rebuilds(
    top: Path, long_count: Callable[[int], int]
) -> None:
    rounds = long_count(20)
    with unrest(top):
        for number in range(rounds):
            # Each of ten conversations asks for two things at once; half of them are one.
            asked = [
                (LANDMARKS[each % 10], f"one-{number}" if each < 10 else f"{number}-{each}")
                for each in range(HOOKS)
            ]
            named = at_once(top, asked)
            assert named == [[f"notes/{word}.md"] for word, _ in asked], whys()
            assert run.shown(f"one-{number}") == 10
            assert [run.shown(f"{number}-{each}") for each in range(10, HOOKS)] == [1] * 10
    assert run.hook_fault() is None
    assert [entry.why for entry in run.log()] == ["cards"] * (HOOKS * rounds)
    check_no_lock(top)


def test_H5_of_equal_prompts_in_one_conversation_one_at_least_has_the_card(top: Path) -> None:
    named = at_once(top, [(LANDMARKS[0], "one")] * HOOKS)
    right = [f"notes/{LANDMARKS[0]}.md"]
    assert right in named
    assert all(each in ([], right) for each in named)
    assert {entry.why for entry in run.log()} <= {"cards", "shown before"}
    assert run.shown("one") == 1
    assert at_once(top, [(LANDMARKS[0], "one")]) == [[]]
    assert run.hook_fault() is None


@contextmanager
def all_locks(top: Path) -> Iterator[None]:
    """Hold every lock of ours, as processes do that never go on."""
    with ExitStack() as held:
        for path in (the_cache(top), f"{os.path.splitext(the_cache(top))[0]}.fresh.db"):
            assert held.enter_context(locks.WriterLock(path)).acquire(0)
        turn = run.turn(top)
        assert turn.take()
        held.callback(turn.give_back)
        for name in (recalllog.FILE, recalllog.OLDER):
            log = state.open_to_append(run.where(), name)
            held.callback(os.close, log)
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@pytest.mark.parametrize("full", [False, True])
def test_C1_hooks_answer_while_others_hold_every_lock_for_ever(top: Path, full: bool) -> None:
    if full:  # it would be rotated, which takes its lock
        line = b'{"t":1,"decision":"silent"}\n'
        state.write(run.where(), recalllog.FILE, line * (recalllog.MAX_BYTES // len(line)))
    before = len(run.log())
    asked = [(word, "one") for word in LANDMARKS[:4]]
    with all_locks(top):
        named = at_once(top, asked, WATCHED)
    assert named == [[f"notes/{word}.md"] for word, _ in asked]
    assert run.shown("one") == 4
    assert len(run.log()) == before + 4
    assert run.hook_fault() is None


def test_the_watch_of_the_test_above_sees_what_waits(top: Path) -> None:
    """With a first line that waits the hook says so, where nothing may be said."""
    waits = "import fcntl; fcntl.flock(0, fcntl.LOCK_EX); time.sleep(1)\n"
    hook = Running(top, "?", None, f"{WATCHED}\n{waits}")
    hook.ask()
    assert hook.said().stderr.startswith(b"waits for a lock\n")


# SQLite's own locks


def other(top: Path) -> apsw.Connection:
    """Return another program's connection to the cache."""
    return apsw.Connection(the_cache(top), flags=apsw.SQLITE_OPEN_READWRITE)


@pytest.mark.parametrize("begin", ["IMMEDIATE", "EXCLUSIVE"])
def test_C1_hooks_answer_amid_a_transaction_that_never_ends(top: Path, begin: str) -> None:
    with closing(other(top)) as writer:
        writer.execute(f"BEGIN {begin}")
        writer.execute("DELETE FROM document")
        assert at_once(top, [(LANDMARKS[0], None)], WATCHED) == [[f"notes/{LANDMARKS[0]}.md"]]
        writer.execute("ROLLBACK")


def test_C1_hooks_answer_when_a_checkpoint_waits_for_readers(top: Path) -> None:
    """A reader that never ends keeps a checkpoint from ending; both are there all the time."""
    with closing(other(top)) as reader, closing(other(top)) as writer:
        reader.execute("BEGIN; SELECT count(*) FROM document").fetchall()
        writer.execute("BEGIN IMMEDIATE; INSERT INTO meta (key, value) VALUES ('odd', 1)")
        writer.execute("DELETE FROM meta WHERE key = 'odd'; COMMIT")
        asked: list[list[list[str]]] = []

        def busy(_: int) -> bool:
            asked.append(at_once(top, [(LANDMARKS[1], None)]))
            return False

        writer.set_busy_handler(busy)
        with pytest.raises(apsw.BusyError):
            writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        assert asked == [[[f"notes/{LANDMARKS[1]}.md"]]]


def test_C1_a_cache_that_sqlite_keeps_for_another_is_done_without(top: Path) -> None:
    with closing(other(top)) as owner:
        owner.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").fetchall()
        assert at_once(top, [(LANDMARKS[2], "s")]) == [[]]
        (entry,) = run.log()
        assert (entry.decision, entry.why) == ("silent", "busy")
        assert os.path.exists(the_cache(top))
    assert run.shown("s") == 0
    assert at_once(top, [(LANDMARKS[2], "s")]) == [[f"notes/{LANDMARKS[2]}.md"]]
