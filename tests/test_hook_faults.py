"""What went wrong with the prompt hook is told where people look, and mended where it can be."""

# The codes of reported faults (C4, H3, H6) are written as they are.

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import apsw
import pytest
from cli_support import recall
from damage_support import BYTES, FILES, ROWS
from damage_support import settle as settle_cache
from hook_support import (
    HUGE,
    KEYS,
    TITLE,
    ask,
    event,
    fault,
    files,
    hold_off,
    hook,
    index,
    last_log,
    no_fault,
    settle,
    state_directory,
    titles,
    write,
)

from index_cache import checksums, db, locks
from recall import failures, resolved, views

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from damage_support import Damage


# C4: a damaged cache


def cache_file() -> str:
    (root,) = resolved.load("/", os.environ).roots
    return db.cache_path(os.path.join(os.environ["XDG_CACHE_HOME"], "recall"), root)


def damages(count: Callable[[int], int]) -> list[tuple[str, Damage]]:
    every = [*BYTES, *FILES, *ROWS]
    step = max(1, len(every) // count(100))
    return every[::step]


def test_C4_a_damaged_cache_costs_one_prompt_at_most(
    notes: Path, long_count: Callable[[int], int]
) -> None:
    """Silence or the right card, never a broken form; the refresh makes it anew."""
    index()
    path = cache_file()
    settle_cache(path)
    whole = Path(path).read_bytes()
    for seed, (name, damage) in enumerate(damages(long_count)):
        hold_off()
        damage(path, Random(seed))  # noqa: S311 - repeatable damage
        said = hook(event(KEYS))
        assert said.titles in ([TITLE], []), name
        settle()
        hook(event(KEYS))
        assert settle() == 1
        assert hook(event(KEYS)).titles == [TITLE], name
        settle()
        restore(path, whole)
    assert (notes / "keys.md").exists()


def restore(path: str, whole: bytes) -> None:
    for beside in ("", "-wal", "-shm", "-journal", ".real"):
        if os.path.isdir(path + beside):
            os.rmdir(path + beside)
        with suppress(FileNotFoundError):
            os.unlink(path + beside)
    Path(path).write_bytes(whole)


@pytest.fixture
def cache(notes: Path) -> str:
    """Give the path of a whole cache that no refresh touches."""
    del notes
    index()
    hold_off()
    path = cache_file()
    settle_cache(path)
    return path


@pytest.mark.parametrize("written", [False, True])
def test_C1_an_empty_file_is_a_cache_that_is_just_being_made(cache: str, written: bool) -> None:
    Path(cache).write_bytes(b"")
    with locks.WriterLock(cache) as lock:
        assert not written or lock.acquire(0)
        assert hook(event(KEYS)).stdout == b""
    assert last_log("why") == ("no cache yet",)
    assert Path(cache).read_bytes() == b""
    assert failures.read(state_directory()) == {}


HALF = b"this is no database\n" * 400


def test_C1_what_is_damaged_while_it_is_written_is_busy(cache: str) -> None:
    Path(cache).write_bytes(HALF)
    with locks.WriterLock(cache) as lock:
        assert lock.acquire(0)
        assert hook(event(KEYS)).stdout == b""
    assert last_log("why") == ("busy",)
    assert Path(cache).read_bytes() == HALF
    assert failures.read(state_directory()) == {}
    assert no_fault()
    assert hook(event(KEYS)).stdout == b""  # and now nobody writes it
    assert last_log("why") == ("damaged",)
    assert not os.path.exists(cache)
    assert failures.read(state_directory())


def test_C1_it_is_looked_at_again_when_its_writer_is_done(
    cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is whole before the lock is asked for."""
    whole = Path(cache).read_bytes()
    Path(cache).write_bytes(HALF)
    acquire = locks.WriterLock.acquire

    def done(lock: locks.WriterLock, wait: float) -> bool:
        Path(cache).write_bytes(whole)
        return acquire(lock, wait)

    monkeypatch.setattr(locks.WriterLock, "acquire", done)
    assert titles(KEYS) == [TITLE]


# What SQLite does that opens a cache which nobody has open, stopped amid it until it is told to go
# on: it has the WAL's index of no content, says that it uses it, and is to write it.
# https://sqlite.org/walformat.html#wal_locks
OPENER = """
import fcntl, sys
index = open(sys.argv[1] + "-shm", "w+b")
index.truncate(32768)
fcntl.lockf(index, fcntl.LOCK_SH, 1, 128)
fcntl.lockf(index, fcntl.LOCK_EX, 3, 120)
print("locked", flush=True)
sys.stdin.readline()
fcntl.lockf(index, fcntl.LOCK_UN, 3, 120)
print("unlocked", flush=True)
sys.stdin.readline()
"""


@contextmanager
def opener(path: str) -> Iterator[Callable[[], None]]:
    """Give what ends the opening of a cache by another process, which is in the midst of it."""
    command = [sys.executable, "-c", OPENER, path]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def told(word: str) -> None:
            assert process.stdout is not None
            assert process.stdout.readline() == f"{word}\n"

        def end() -> None:
            assert process.stdin is not None
            process.stdin.write("go on\n")
            process.stdin.flush()
            told("unlocked")

        told("locked")
        try:
            yield end
        finally:
            process.kill()


class Waiting(apsw.VFS):
    """The cache files' VFS; in the place of sleeping ``nap`` is called."""

    def __init__(self, nap: Callable[[], None]) -> None:
        self.naps = 0
        self._nap = nap
        super().__init__("waiting", checksums.vfs() or apsw.vfs_names()[0])

    def xSleep(self, microseconds: int) -> int:
        self.naps += 1
        self._nap()
        return microseconds


@pytest.mark.parametrize("ends", [True, False])
def test_C1_who_is_just_opening_a_cache_is_waited_for(
    cache: str, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    """Its locks last some microseconds; a prompt that met them had no card."""
    with opener(cache) as end:
        view = views.View(resolved.load("/", os.environ).roots[0], near=False)
        vfs = Waiting(end if ends else lambda: None)
        monkeypatch.setattr(checksums, "vfs", lambda: "waiting")
        try:
            view.open(os.path.dirname(cache), db.READ_WAIT)
        finally:
            if view.store is not None:
                view.store.close()  # which needs its VFS
            vfs.unregister()
    assert view.state == (views.ANSWERS if ends else views.BUSY)
    assert vfs.naps == 1 if ends else vfs.naps > 1


def test_C1_damage_that_a_search_meets_while_the_cache_is_written_is_busy(cache: str) -> None:
    view = views.View(resolved.load("/", os.environ).roots[0], near=False)
    view.open(os.path.dirname(cache), db.READ_WAIT)
    assert view.state == views.ANSWERS
    with locks.WriterLock(cache) as lock:
        assert lock.acquire(0)
        view.fail(db.Damaged("torn", cache))
    assert view.state == views.BUSY
    view.fail(db.Damaged("torn", cache))
    assert view.state == views.DAMAGED


def test_C4_a_damaged_cache_costs_only_its_own_root(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    write(other, {"merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    monkeypatch.setenv("RECALL_ROOTS", f"other={other}:notes={notes}")
    index()
    hold_off()
    directory = os.path.join(os.environ["XDG_CACHE_HOME"], "recall")
    damaged = db.cache_path(directory, resolved.load("/", os.environ).roots[0])
    settle_cache(damaged)
    Path(damaged).write_bytes(b"this is no database\n" * 400)
    assert ask(KEYS).titles == [TITLE]
    # It is deleted, told of, and no fault of the hook.
    assert not os.path.exists(damaged)
    assert no_fault()
    told = {root["name"]: root for root in recall("status", "--json").data()["roots"]}
    assert told["other"]["last_damage"]["count"] == 1
    assert told["notes"]["last_damage"] is None
    settle()
    ask(KEYS)
    assert settle() == 1
    assert ask("which way does the merlin perch face?").titles == ["Merlin perch"]
    settle()


def test_H6_a_cache_that_can_not_be_used_is_told(notes: Path, home: Path) -> None:
    """Whatever lies behind a symlink is not ours to read."""
    del notes
    index()
    hold_off()
    os.rename(home / ".cache" / "recall", home / ".cache" / "elsewhere")
    (home / ".cache" / "recall").symlink_to(home / ".cache" / "elsewhere")
    assert hook(event(KEYS)).block == ""
    assert last_log("why") == ("unusable",)
    assert fault().message.startswith("the cache of root notes can't be used")
    (home / ".cache" / "recall").unlink()
    os.rename(home / ".cache" / "elsewhere", home / ".cache" / "recall")
    assert ask(KEYS).titles == [TITLE]
    assert no_fault()


# H6: what went wrong can be seen


def test_H6_status_tells_since_when_how_often_and_why(notes: Path) -> None:
    del notes
    index()
    hold_off()
    for _ in range(3):
        hook(b"garbage")
    shown = recall("status", "--json").data()["hook_failure"]
    assert shown["count"] == 3
    assert shown["since"] <= shown["when"]
    assert shown["worked"] is None
    text = recall("status").stderr
    assert "the prompt hook failed: what the host sent can't be used" in text
    assert "3 times since " in text
    assert ask(KEYS).titles == [TITLE]
    assert recall("status", "--json").data()["hook_failure"]["worked"] is not None
    assert "it worked again " in recall("status").stderr


def test_H6_a_fault_of_ours_tells_where_and_no_more(notes: Path) -> None:
    del notes
    index()
    hold_off()
    first = (
        "from recall import block\n"
        "def fit(*_, **__): raise RuntimeError('secret of a note')\n"
        "block.fit = fit\n"
    )
    for arguments in ([], ["--host", "gemini"]):
        said = hook(event(KEYS, session_id="s"), *arguments, first=first)
        assert said.stdout == (b"{}\n" if arguments else b"")
        assert said.block == ""
    kept = fault()
    assert kept.message == "a fault in recall itself: RuntimeError"
    assert last_log("decision", "why") == ("silent", "a fault")
    assert b"secret" not in b"".join(files(state_directory()).values())
    assert ask(KEYS, "s").titles == [TITLE]


@pytest.mark.parametrize("part", ["deadline", "call", "hosts", "aftermath", "background"])
def test_H6_a_part_that_can_not_be_loaded(notes: Path, part: str) -> None:
    del notes
    index()
    hold_off()
    said = hook(event(KEYS), first=f"sys.modules['recall.{part}'] = None")
    assert said.titles in ([], [TITLE])
    said = hook(event(KEYS), "--host", "gemini", first=f"sys.modules['recall.{part}'] = None")
    assert said.status == 0
    assert said.stderr == b""
    assert said.stdout or part == "hosts"


def test_H3_no_thread_can_be_started(notes: Path) -> None:
    del notes
    first = (
        "import _thread\n"
        'def refuse(*_): raise RuntimeError("can\'t start new thread")\n'
        "_thread.start_new_thread = refuse\n"
    )
    assert hook(event(KEYS), first=first).block == ""
    assert hook(event(KEYS), "--host", "gemini", first=first).stdout == b"{}\n"
    assert fault().message == "a fault in recall itself: RuntimeError"


def test_only_RECALL_DEBUG_prints_a_traceback(notes: Path) -> None:
    del notes
    said = hook(b"x" * HUGE, env={"RECALL_DEBUG": "1"})
    assert (said.status, said.stdout) == (0, b"")
    assert b"InvalidInput" in said.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recall-log.jsonl", "the recall log can't be written: Too many levels of symbolic links"),
        ("shown", "what was shown can't be noted: it is a symlink, or no directory"),
    ],
)
def test_H6_a_fault_of_the_disk_is_told_in_words(cache: str, name: str, message: str) -> None:
    del cache
    place = os.path.join(state_directory(), name)
    os.symlink("nowhere", place)
    assert ask(KEYS, "s").titles == [TITLE]
    assert fault().message == message
    assert fault().where == place
