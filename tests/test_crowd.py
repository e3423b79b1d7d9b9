"""Amid refreshes, rebuilds and edits, readers find what is there and wait for no lock."""

from __future__ import annotations

import multiprocessing.connection
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw
from stress_support import FORK, Worker, Yard, faults, seeded

from index_cache import locks
from index_cache.files import FileSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Event
    from pathlib import Path
    from random import Random

    Part = Callable[[Yard, Event, int], object]

MOST_WAIT = 50  # ms
NOTES = 1_000
EDIT_EVERY = 0.02  # seconds
# Ten words that ten notes have, each its own, and no other note has; and one that they share.
LANDMARKS = [f"qu{letter * 3}vexil" for letter in "abdfghklmn"]
SHARED = "landmarkish"


class Waits:
    """What one process has waited for locks since the last look, in ms that it asked to sleep.

    SQLite's own wait is replaced by one that gives up when SQLite's would, so that a machine
    that is slow to wake us does not count. ``asked`` is the most that a lock of ours, or a
    connection, was allowed to wait.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self.asked = 0.0
        watch = self
        never = threading.Event()
        sleep, acquire = time.sleep, locks.WriterLock.acquire

        class Watched(apsw.Connection):
            def set_busy_timeout(self, milliseconds: int) -> None:
                watch.asked = max(watch.asked, milliseconds)

                def wait(calls: int) -> bool:
                    if calls >= milliseconds:
                        return False
                    watch.total += 1
                    never.wait(0.001)
                    return True

                self.set_busy_handler(wait)

        def counted(seconds: float) -> None:
            watch.total += seconds * 1000
            sleep(seconds)

        def watched(lock: locks.WriterLock, wait: float) -> bool:
            watch.asked = max(watch.asked, wait * 1000)
            return acquire(lock, wait)

        apsw.Connection = Watched  # type: ignore[misc]
        time.sleep = counted  # type: ignore[assignment]
        locks.WriterLock.acquire = watched  # type: ignore[assignment, method-assign]

    def since(self) -> float:
        """Return the wait since the last call."""
        total, self.total = self.total, 0.0
        return total


class Told:
    """What one process of the crowd has to tell: how often it did its part, and what went wrong."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.count = 0
        self.faults: list[object] = []
        # ms of waiting for locks in one answer, without a refresh and with one
        self.longest = [0.0, 0.0]
        self.asked = 0.0  # ms of waiting for locks that the program would have put up with


def build_crowded(yard: Yard) -> None:
    for number in range(NOTES):
        words = " ".join(f"word{number * each % 97}" for each in range(60))
        yard.write(f"{number % 20}/{number}.md", f"# Note {number}\n\nkestrel {words}\n")
    for number, word in enumerate(LANDMARKS):
        yard.write(f"{number}/landmark.md", f"# Landmark {number}\n\n{SHARED} {word}\n")
    yard.refresh()


def read(yard: Yard, stop: Event, number: int) -> Told:
    """Ask for the landmarks over and over; they must be found, and nothing but them."""
    told = Told("read")
    waits = Waits()
    paths = {f"{each}/landmark.md" for each in range(len(LANDMARKS))}
    while not stop.is_set() or told.count < 2 * len(LANDMARKS):
        with yard.recall() as recall:
            for refresh in (False, True, False):
                landmark = (told.count + number) % len(LANDMARKS)
                told.count += 1
                for query, right in (
                    (LANDMARKS[landmark], {f"{landmark}/landmark.md"}),
                    (SHARED, paths),
                ):
                    answer = recall.answer(query, refresh=refresh)
                    told.longest[refresh] = max(told.longest[refresh], waits.since())
                    found = [card.path for card in answer.cards]
                    failure = answer.reports[0].failure
                    if failure or sorted(found) != sorted(right) or answer.total != len(right):
                        told.faults.append((query, refresh, str(failure), answer.total, found))
    told.asked = waits.asked
    return told


def refresh(yard: Yard, stop: Event, _: int) -> Told:
    told = Told("refresh")
    while not told.count or not stop.is_set():
        told.count += 1
        with yard.recall() as recall:
            told.faults += [str(each.failure) for each in recall.refresh() if each.failure]
    return told


def rebuild(yard: Yard, stop: Event, _: int) -> Told:
    told = Told("rebuild")
    while not told.count or not stop.is_set():
        told.count += 1
        with yard.recall() as recall:
            (proof,) = recall.rebuild()
        told.faults += faults(proof)
        if not proof.rebuilt:
            told.faults.append("not rebuilt")
    return told


def verify(yard: Yard, stop: Event, _: int) -> Told:
    told = Told("verify")
    while not told.count or not stop.is_set():
        told.count += 1
        with yard.recall() as recall:
            (proof,) = recall.rebuild(only_check=True)
        told.faults += faults(proof)
    return told


def edit(chance: Random, yard: Yard, stop: Event, _: int) -> Told:
    """Write, rename and delete notes, but no landmark, until told to stop."""
    told = Told("edit")
    notes = [each for each in sorted(yard.notes.rglob("*.md")) if each.name != "landmark.md"]
    while not stop.wait(EDIT_EVERY):
        told.count += 1
        edit_one(yard, notes, chance, told.count)
    return told


def edit_one(yard: Yard, notes: list[Path], chance: Random, number: int) -> None:
    place = chance.randrange(len(notes))
    note = notes[place]
    text = f"# Edit {number}\n\nkestrel word{number % 97} " + "more " * chance.randrange(50)
    match chance.choice(["in place", "replace", "rename", "delete"]):
        case "in place":
            note.write_text(text)
        case "replace":
            draft = note.with_suffix(".draft")
            draft.write_text(text)
            draft.replace(note)
        case "rename":
            notes[place] = note.rename(yard.notes / str(number % 20) / f"moved-{number}.md")
        case _:
            note.unlink()
            notes[place] = yard.notes / "new" / f"{number}.md"
            yard.write(f"new/{number}.md", text)


def storm(yard: Yard, seconds: float, roles: Sequence[tuple[Part, int]]) -> list[Any]:
    """Let processes do their part over and over, for a while; return what each of them tells.

    A part is ``part(yard, stop, number)``. All do it once at least, and end early if one dies.
    """
    stop = FORK.Event()

    def play(pipe: Connection, part: Part, number: int) -> None:
        pipe.send(part(yard, stop, number))

    workers = [Worker(play, part, number) for part, count in roles for number in range(count)]
    multiprocessing.connection.wait([each.process.sentinel for each in workers], timeout=seconds)
    stop.set()
    told = []
    for worker in workers:
        with suppress(EOFError):
            told.append(worker.pipe.recv())
    assert [worker.end() for worker in workers] == [0] * len(workers)
    return told


def test_C1_a_crowd_finds_what_is_there_and_waits_for_no_lock(
    tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    chance, seed = seeded()
    yard = Yard(tmp_path, FileSystem())
    build_crowded(yard)
    parts: list[tuple[Part, int]] = [(read, 6), (refresh, 2), (rebuild, 1), (verify, 1)]
    parts.append((partial(edit, chance), 1))
    told: list[Told] = storm(yard, long_count(60), parts)
    assert [(each.part, each.faults[:3]) for each in told if each.faults] == [], seed
    assert all(each.count for each in told)
    readers = [each for each in told if each.part == "read"]
    assert len(readers) == 6
    assert max(each.asked for each in readers) <= MOST_WAIT
    assert max(max(each.longest) for each in readers) <= MOST_WAIT
    yard.refresh()
    yard.check_nothing_is_left()
    yard.check()
