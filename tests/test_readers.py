"""Files that several processes read become what one process makes of them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from stateful_support import FakeFileSystem, assert_same, fresh, make_root

from index_cache import ingest, readers
from index_cache.files import FileSystem
from index_cache.reader import Reader
from index_cache.readers import Readers
from index_cache.refresh import refresh
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from index_cache.model import Root
    from index_cache.reader import Read, Wanted

CLOCK = 1_900_000_000_000_000_000  # long after the notes


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_MANY", 1)
    monkeypatch.setattr(readers, "_CHUNK", 3)
    monkeypatch.setattr(readers, "_OWN_CHUNK", 1)
    monkeypatch.setattr(readers, "spare", lambda: 1)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    top = tmp_path / "notes"
    for number in range(40):
        note = top / f"d{number % 4}" / f"{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"---\ntags: [t{number}]\n---\n# Note {number}\n\nkestrel word{number}\n")
    (top / "binary.md").write_bytes(b"\0\1\2" * 100)
    (top / "latin.md").write_bytes("# Café\n\nné\n".encode("cp1252"))
    (top / "private.md").write_text("---\nprivate: true\n---\n# Nobody's\n")
    (top / "empty.md").write_text("")
    return make_root(tmp_path, "notes")


class Waiting(Readers):
    """Reads nothing itself before the other processes were given something, or one is gone.

    ``given`` counts their chunks, ``least`` is how many are waited for; ``each`` is called whenever
    one was given.
    """

    def __init__(self, own: Reader, least: int = 1) -> None:
        super().__init__(own)
        self.given = 0
        self.least = least
        self.each: Callable[[], object] = lambda: None
        self._begun = threading.Event()

    def _take(self, number: int) -> list[Wanted]:
        if threading.current_thread() is threading.main_thread():
            self._begun.wait(60)
            return super()._take(number)
        taken = super()._take(number)
        self.given += bool(taken)
        self.each()
        if self.given >= self.least:
            self._begun.set()
        return taken

    def _ask(self, process: subprocess.Popen[bytes]) -> None:
        try:
            super()._ask(process)
        finally:
            self._begun.set()


def kill(several: Waiting) -> None:
    if several.given == several.least:
        several._processes[0].kill()


def wanted(root: Root) -> list[Wanted]:
    top = Path(root.path)
    paths = sorted(os.fsencode(path.relative_to(top)) for path in top.rglob("*.md"))
    return [(path, 0, None) for path in paths]


def reader(root: Root, **options: Any) -> Reader:
    return Reader(root, FileSystem(), CLOCK, **options)


def made(read: Iterable[tuple[Wanted, Read]]) -> dict[bytes, object]:
    """Return what files became, by path."""
    found: dict[bytes, object] = {}
    for (path, _, _), (size, row) in read:
        assert path not in found
        entry = row and [
            getattr(row.entry, name) for name in ("path", "signature", "digest", "problem")
        ]
        found[path] = size, entry, row and (row.document, row.terms, row.replaces)
    return found


def alone(root: Root) -> dict[bytes, object]:
    own = reader(root)
    return made((each, own.row(*each)) for each in wanted(root))


def test_a_cache_is_the_same(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[Waiting] = []

    def waiting(own: Reader) -> Readers:
        began.append(Waiting(own))
        return began[0]

    monkeypatch.setattr(readers, "Readers", waiting)
    with closing(Store.create(root, None)) as store:
        report = refresh(store, FileSystem())
        assert report.built
        assert report.added == 42
        assert began[0].given > 0
        monkeypatch.setattr(ingest, "_MANY", 1_000)
        with closing(fresh(root, FileSystem())) as other:
            assert_same(store, other)
        assert len(began) == 1


@pytest.mark.parametrize("number", [1, 2])
def test_each_file_is_read_once(root: Root, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "spare", lambda: number)
    with Waiting(reader(root)) as several:
        assert made(several.rows(wanted(root))) == alone(root)
        assert several.given > 0
    assert len(several._processes) == number


def test_what_could_not_be_read_is_listed(root: Root) -> None:
    top = Path(root.path)
    listed = wanted(root)
    (top / "d0" / "0.md").unlink()
    for name in ("d1/1.md", "d2/2.md", "d3/3.md"):
        (top / name).unlink()
        os.mkfifo(top / name)
    own = reader(root, withheld={b"d2/2.md"})
    with Waiting(own) as several:
        found = made(several.rows(listed))
    assert len(found) == len(listed)
    assert own.gone == [b"d0/0.md"]
    assert [each.path for each in own.unavailable] == [b"d1/1.md", b"d3/3.md"]


def test_a_process_that_is_killed_loses_nothing(root: Root) -> None:
    with Waiting(reader(root), 3) as several:
        several.each = lambda: kill(several)
        assert made(several.rows(wanted(root))) == alone(root)
    assert several._processes[0].returncode == -signal.SIGKILL


def test_a_process_that_can_not_start_loses_nothing(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(root.path) / "nothing"))
    with Readers(reader(root)) as several:
        assert made(several.rows(wanted(root))) == alone(root)
    assert several._processes == []


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_where_no_thread_can_start_nothing_is_lost(
    root: Root, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise error

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Readers(reader(root)) as several:
        assert made(several.rows(wanted(root))) == alone(root)
    assert [process.returncode for process in several._processes] == [-signal.SIGKILL]
    monkeypatch.setattr(ingest, "_BATCH_FILES", 5)
    with closing(Store.create(root, None)) as store:
        assert refresh(store, FileSystem()).added == 42


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('hello', flush=True)"])
def test_another_program_in_its_place_loses_nothing(
    root: Root, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_PROGRAM", program)
    with Readers(reader(root)) as several:
        assert made(several.rows(wanted(root))) == alone(root)


def test_another_version_reads_nothing(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_version", lambda: ("another", "one"))
    with Readers(reader(root)) as several:
        assert made(several.rows(wanted(root))) == alone(root)


def test_an_interrupt_is_not_for_it(root: Root) -> None:
    with Waiting(reader(root), 3) as several:
        several.each = lambda: several._processes[0].send_signal(signal.SIGINT)
        assert made(several.rows(wanted(root))) == alone(root)
        assert several.given >= 3


def test_none_is_left_behind_when_the_reading_is_given_up(root: Root) -> None:
    before = threading.active_count()
    with Waiting(reader(root)) as several:
        next(several.rows(wanted(root)))
    assert [process.poll() for process in several._processes] == [-signal.SIGKILL]
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(60)
    assert threading.active_count() <= before


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux can wait for any process")
def test_none_outlives_a_process_that_is_killed(root: Root) -> None:
    program = f"""
import sys, threading
from index_cache import readers
from index_cache.files import FileSystem
from index_cache.model import Root
from index_cache.reader import Reader
readers.spare = lambda: 1
with readers.Readers(Reader(Root("notes", {root.path!r}), FileSystem(), 0)) as several:
    rows = several.rows([(b"d0/0.md", 0, None)])
    next(rows)
    print(several._processes[0].pid, flush=True)
    threading.Event().wait()
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        descriptor = os.pidfd_open(int(process.stdout.readline()))
        process.kill()
    try:
        assert select.select([descriptor], [], [], 60)[0]
    finally:
        os.close(descriptor)


def test_where_they_would_see_something_else_there_are_none(root: Root) -> None:
    assert reader(root).can_be_joined
    assert not reader(root, in_pieces=True).can_be_joined
    assert not Reader(root, FakeFileSystem(), CLOCK).can_be_joined


@pytest.mark.parametrize(("cores", "number"), [(1, 0), (2, 1), (3, 2), (64, 2)])
def test_one_core_is_left_to_this_process(
    cores: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    assert readers.spare() == number
    monkeypatch.setattr(sys, "executable", "")
    assert readers.spare() == 0
