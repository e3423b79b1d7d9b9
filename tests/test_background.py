"""The refresh beside the prompt hook: one at a time, none lost, and nothing left in the way."""

# The codes of reported faults (C5, H1, H6) are written as they are.

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rights_support import read_only

from index_cache import db
from index_cache.locks import WriterLock
from index_cache.model import Root, Rules
from index_cache.refresh import Report
from recall import background, hookfault, resolved, service, state, sweeper
from recall.background import Turn, ask
from recall.dirs import cache_dir, state_dir
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Barrier

FORK = multiprocessing.get_context("fork")
BOUND = 60.0  # seconds to wait for a process before the test fails
NOW = 1_800_000_000.0
DAY = 86_400.0


@pytest.fixture
def where(home: Path) -> str:
    del home
    directory = state_dir(os.environ)
    assert directory is not None
    return directory


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "notes"
    directory.mkdir()
    (directory / "a.md").write_text("# kestrel\n\nA bird.\n", encoding="utf-8")
    monkeypatch.setenv("RECALL_ROOTS", f"notes={directory}")
    return directory


@pytest.fixture
def roots(notes: Path) -> tuple[Root, ...]:
    return resolved.load(str(notes), os.environ).roots


@pytest.fixture
def spawned(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Give the processes that were started, and end those that are left."""
    pids: list[int] = []
    real = os.posix_spawn

    def spawn(*arguments: object, **options: object) -> int:
        pids.append(real(*arguments, **options))  # type: ignore[arg-type]
        return pids[-1]

    monkeypatch.setattr(os, "posix_spawn", spawn)
    yield pids
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            continue


@pytest.fixture
def spawns(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Give what would have been started; nothing is."""
    commands: list[object] = []
    monkeypatch.setattr(os, "posix_spawn", lambda *_, **__: commands.append(1))
    return commands


@pytest.fixture
def turn(where: str, roots: tuple[Root, ...]) -> Turn:
    return Turn(where, background.key(roots, os.environ))


def ended(pid: int) -> int:
    """Wait for a process of ours; return its exit status, negative for a signal."""
    until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_free(turn: Turn) -> bool:
    other = Turn(turn._state, turn.key)
    taken = other.take()
    other.give_back()
    return taken


@contextmanager
def held_up(roots: tuple[Root, ...]) -> Iterator[None]:
    """Hold what a sweep has to wait for, so that one that began does not end."""
    directory = cache_dir(os.environ)
    assert directory is not None
    state.own(directory)
    with WriterLock(db.cache_path(directory, roots[0])) as lock:
        assert lock.acquire(0)
        yield


def found(roots: tuple[Root, ...], query: str) -> int:
    """Return how many notes the caches have, as they are, for a query."""
    with Recall(roots) as recall:
        return len(recall.answer(query, refresh=False).cards)


def prompt(notes: Path, roots: tuple[Root, ...]) -> str:
    return ask(str(notes), os.environ, roots, 2.0)


# What it does


def test_what_was_edited_is_found_afterwards(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], turn: Turn, where: str
) -> None:
    with Recall(roots) as recall:
        recall.refresh()
    (notes / "a.md").write_text("# heron\n", encoding="utf-8")
    assert found(roots, "heron") == 0
    assert prompt(notes, roots) == background.STARTED
    assert ended(spawned[0]) == 0
    assert found(roots, "heron") == 1
    assert is_free(turn)
    assert not turn.is_requested()
    assert hookfault.read(where, hookfault.REFRESH) is None


def test_H1_a_first_cache_is_built(
    notes: Path, roots: tuple[Root, ...], spawned: list[int]
) -> None:
    assert prompt(notes, roots) == background.STARTED
    assert ended(spawned[0]) == 0
    directory = cache_dir(os.environ)
    assert directory is not None
    assert os.path.exists(db.cache_path(directory, roots[0]))
    assert found(roots, "kestrel") == 1


def hook(notes: Path, roots: tuple[Root, ...], barrier: Barrier, answers: Connection) -> None:
    pids: list[int] = []
    real = os.posix_spawn

    def spawn(*arguments: object, **options: object) -> int:
        pids.append(real(*arguments, **options))  # type: ignore[arg-type]
        return pids[-1]

    os.posix_spawn = spawn
    barrier.wait(BOUND)
    answers.send((prompt(notes, roots), pids))
    os._exit(0)


def test_of_many_that_ask_at_once_one_starts_it(
    notes: Path, roots: tuple[Root, ...], turn: Turn
) -> None:
    count = 10
    barrier = FORK.Barrier(count)
    ours, theirs = FORK.Pipe(duplex=False)
    with held_up(roots):
        processes = [
            FORK.Process(target=hook, args=(notes, roots, barrier, theirs)) for _ in range(count)
        ]
        for process in processes:
            process.start()
        answers = []
        for _ in processes:
            assert ours.poll(BOUND)
            answers.append(ours.recv())
        for process in processes:
            process.join(BOUND)
        pids = [pid for _, each in answers for pid in each]
        assert len(pids) == 1
        assert not is_free(turn)
        os.kill(pids[0], signal.SIGKILL)
    said = sorted(answer for answer, _ in answers)
    assert said == [background.RUNNING] * (count - 1) + [background.STARTED]
    until(lambda: is_free(turn))


def test_a_request_during_a_sweep_is_taken_by_the_process_that_sweeps(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], turn: Turn
) -> None:
    with held_up(roots):
        assert prompt(notes, roots) == background.STARTED
        until(lambda: not turn.is_requested())
        assert prompt(notes, roots) == background.RUNNING
        assert turn.is_requested()
        assert len(spawned) == 1
    assert ended(spawned[0]) == 0
    assert not turn.is_requested()


@pytest.mark.parametrize("point", ["waiting", "sweeping"])
def test_what_kill_leaves_blocks_nothing(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], turn: Turn, point: str
) -> None:
    with held_up(roots):
        if point == "waiting":
            assert turn.take()
            turn.ended(time.time(), 1.0)
            turn.give_back()
        assert prompt(notes, roots) == background.STARTED
        if point == "sweeping":
            until(lambda: not turn.is_requested())
        assert prompt(notes, roots) == background.RUNNING
        os.kill(spawned[0], signal.SIGKILL)
        assert ended(spawned[0]) == -signal.SIGKILL
        assert turn.is_requested()
        assert is_free(turn)
    assert turn.take()
    turn.ended(time.time() - 1000, 0.0)
    turn.give_back()
    assert prompt(notes, roots) == background.STARTED
    assert ended(spawned[1]) == 0
    assert not turn.is_requested()
    assert found(roots, "kestrel") == 1


# The process


def test_it_holds_nothing_that_the_host_waits_for(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], turn: Turn
) -> None:
    reading, writing = os.pipe()
    high = fcntl.fcntl(writing, fcntl.F_DUPFD, 200)
    for descriptor in (writing, high):
        os.set_inheritable(descriptor, True)
    with held_up(roots):
        assert prompt(notes, roots) == background.STARTED
        os.close(writing)
        os.close(high)
        # The process is there still, and the pipe has no writer any more.
        assert select.select([reading], [], [], BOUND)[0]
        assert os.read(reading, 1) == b""
        os.close(reading)
        until(lambda: not turn.is_requested())
        assert os.waitpid(spawned[0], os.WNOHANG) == (0, 0)
        opened = Path(f"/proc/{spawned[0]}/fd")
        if opened.exists():
            assert {os.readlink(opened / str(each)) for each in range(3)} == {os.devnull}


@pytest.mark.parametrize("supported", [True, False])
def test_it_is_in_a_session_of_its_own_and_out_of_the_way(
    notes: Path,
    roots: tuple[Root, ...],
    spawned: list[int],
    turn: Turn,
    monkeypatch: pytest.MonkeyPatch,
    supported: bool,
) -> None:
    spawn = os.posix_spawn

    def without(*arguments: object, setsid: bool = False, **options: object) -> int:
        if setsid:
            raise NotImplementedError
        return spawn(*arguments, **options)  # type: ignore[arg-type]

    if not supported:
        monkeypatch.setattr(os, "posix_spawn", without)
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with held_up(roots):
        assert prompt(notes, roots) == background.STARTED
        (pid,) = spawned
        if supported:  # from its first moment
            assert os.getsid(pid) == pid
        until(lambda: not turn.is_requested())
        assert os.getsid(pid) == pid
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, before + 10)
        if os.path.exists("/proc/self/cwd"):
            assert os.readlink(f"/proc/{pid}/cwd") == "/"


def test_it_ignores_no_signal_that_the_host_does(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], turn: Turn
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        with held_up(roots):
            assert prompt(notes, roots) == background.STARTED
            until(lambda: not turn.is_requested())
            os.kill(spawned[0], signal.SIGTERM)
            assert ended(spawned[0]) == -signal.SIGTERM
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGTERM, before)


ASK = """
import os, sys
from recall import background, resolved
roots = resolved.load(os.getcwd(), os.environ).roots
print(background.ask(os.getcwd(), os.environ, roots, 2.0))
"""


def test_nothing_in_the_working_directory_is_run(
    notes: Path, turn: Turn, tmp_path: Path, roots: tuple[Root, ...]
) -> None:
    stranger = tmp_path / "stranger"
    mark = tmp_path / "mark"
    (stranger / "recall").mkdir(parents=True)
    code = f"open({str(mark)!r}, 'w').close()\nraise SystemExit(3)\n"
    for name in ("recall/__init__.py", "json.py", "apsw.py", "os.py", "sitecustomize.py"):
        (stranger / name).write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", ASK], cwd=stranger, capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b"started\n"
    until(lambda: is_free(turn))
    assert found(roots, "kestrel") == 1
    assert not mark.exists()
    del notes
    # It would have been: without -P it is.
    subprocess.run([sys.executable, "-m", "recall.sweeper"], cwd=stranger, check=False)
    assert mark.exists()


LIGHT = """
import os, sys
from index_cache.model import Root
base = set(sys.modules)
from recall import background, hookfault
os.posix_spawn = lambda *_, **options: 1
print(background.ask("/", os.environ, [Root("r", "/r")], 2.0))
hookfault.worked(sys.argv[1])
print(*sorted(set(sys.modules) - base))
"""


def test_asking_imports_next_to_nothing(where: str) -> None:
    state.own(where)
    state.own(os.path.join(where, "background"))
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, where], capture_output=True, check=True, text=True, timeout=60
    )
    said, imported = done.stdout.splitlines()
    assert said == background.STARTED
    others = {name.partition(".")[0] for name in imported.split()}
    assert others <= {"__future__", "_blake2", "fcntl", "unicodedata", "recall", "index_cache"}
    assert "recall.background" in imported.split()
    assert not {"recall.sweeper", "recall.service", "index_cache.db", "recall.output"} & set(
        imported.split()
    )


# When


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = NOW
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def serve(turn: Turn, sweep: Callable[[], float], clock: Clock, interval: float = 2.0) -> int:
    return sweeper.serve(turn, lambda: interval, sweep, clock=clock, sleep=clock.sleep)


@pytest.mark.parametrize(
    ("interval", "seconds", "gap"), [(0.0, 0.01, 2.0), (5.0, 0.1, 5.0), (2.0, 0.7, 14.0)]
)
def test_between_two_sweeps(turn: Turn, interval: float, seconds: float, gap: float) -> None:
    clock = Clock()
    ends: list[float] = []

    def sweep() -> float:
        assert not turn.is_requested()
        if not ends:
            Turn(turn._state, turn.key).request()
        clock.now += seconds
        ends.append(clock.now)
        return seconds

    turn.request()
    assert turn.take()
    assert serve(turn, sweep, clock, interval) == 2
    assert clock.slept == pytest.approx([0.0, gap], abs=0.01)
    assert is_free(turn)
    # The next process keeps to it as well.
    assert turn.take()
    assert turn.wait(interval, clock.now + 1) == pytest.approx(gap - 1, abs=0.01)


class Stepped(Turn):
    """A turn in which a prompt comes at one step; ``answers`` has what its hook would say."""

    def __init__(self, turn: Turn, step: str) -> None:
        super().__init__(turn._state, turn.key)
        self.step = step
        self.answers: list[str] = []

    def at(self, step: str) -> None:
        if step == self.step and not self.answers:
            other = Turn(self._state, self.key)
            other.request()
            self.answers.append(background.STARTED if other.take() else background.RUNNING)
            other.give_back()

    def begin(self) -> None:
        super().begin()
        self.at("begun")

    def ended(self, now: float, seconds: float) -> None:
        super().ended(now, seconds)
        self.at("ended")

    def is_requested(self) -> bool:
        there = super().is_requested()
        self.at("looked")
        return there

    def give_back(self) -> None:
        if self.descriptor >= 0:
            self.at("letting go")
        super().give_back()
        self.at("let go")


@pytest.mark.parametrize(
    ("step", "sweeps", "said"),
    [
        ("waiting", 1, background.RUNNING),
        ("begun", 2, background.RUNNING),
        ("sweeping", 2, background.RUNNING),
        ("ended", 2, background.RUNNING),
        ("looked", 2, background.RUNNING),
        ("letting go", 2, background.RUNNING),
        # Its hook starts a process; without one, this one sees to it.
        ("let go", 2, background.STARTED),
    ],
)
def test_an_edit_before_a_prompt_is_in_a_sweep_that_starts_after_it(
    turn: Turn, step: str, sweeps: int, said: str
) -> None:
    clock = Clock()
    stepped = Stepped(turn, step)
    known: list[int] = []

    def sweep() -> float:
        known.append(len(stepped.answers))
        stepped.at("sweeping")
        return 0.0

    stepped.request()
    assert stepped.take()
    stepped.at("waiting")
    assert serve(stepped, sweep, clock) == sweeps
    assert stepped.answers == [said]
    assert len(known) == sweeps
    assert known[-1] == 1
    assert is_free(turn)
    assert not turn.is_requested()


def test_a_sweep_that_fails_is_not_tried_again_at_once(turn: Turn) -> None:
    clock = Clock()

    def sweep() -> float:
        clock.now += 10
        raise KeyError

    turn.request()
    assert turn.take()
    with pytest.raises(KeyError):
        serve(turn, sweep, clock)
    assert turn.wait(2.0, clock.now) == pytest.approx(200.0)


def test_what_is_too_soon_by_far_is_not_waited_for(turn: Turn) -> None:
    clock = Clock()

    def sweep() -> float:
        turn.request()
        clock.now += 10
        return 10.0

    assert turn.take()
    assert serve(turn, sweep, clock) == 1
    assert clock.slept == [0.0]
    assert turn.is_requested()
    assert is_free(turn)


@pytest.mark.parametrize(
    ("ago", "seconds", "said"),
    [
        (0.0, 1.6, background.RECENT),
        (1.9, 1.6, background.RECENT),
        (2.1, 1.6, background.STARTED),
        (0.0, 1.4, background.STARTED),
        (-5.0, 100.0, background.STARTED),  # the clock was set back
    ],
)
def test_asking_too_soon(
    turn: Turn, roots: tuple[Root, ...], spawns: list[object], ago: float, seconds: float, said: str
) -> None:
    assert turn.take()
    turn.ended(NOW - ago, seconds)
    turn.give_back()
    assert ask("/", os.environ, roots, 2.0, now=NOW) == said
    assert len(spawns) == (said == background.STARTED)
    assert is_free(turn)


def test_the_interval_may_be_longer_than_it_is_waited_for(
    notes: Path, roots: tuple[Root, ...], turn: Turn
) -> None:
    assert turn.take()
    turn.ended(NOW, 0.0)
    turn.give_back()
    assert ask(str(notes), os.environ, roots, 3600.0, now=NOW + 100) == background.RECENT


@pytest.mark.parametrize(
    "data",
    [b"", b"x", b"1", b"1 2 3", b"nan 1", b"inf 1", b"1 inf", b"-1 1", b"\xff \xff", b"1 -1"],
)
def test_a_record_that_says_nothing_delays_nothing(turn: Turn, data: bytes) -> None:
    assert turn.take()
    os.write(turn.descriptor, data)
    assert turn.wait(2.0, 1.5) == 0.0


def test_one_process_does_not_go_on_for_ever(
    notes: Path, where: str, turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with the code that is there now takes its place, and finds the request."""
    monkeypatch.setattr(sweeper, "MAX_SWEEPS", 3)
    monkeypatch.setattr(background, "MIN_INTERVAL", 0.0)
    monkeypatch.setattr(background, "SHARE", 0)
    monkeypatch.setattr(
        resolved,
        "load",
        lambda *_: type("Settings", (), {"hook": type("H", (), {"refresh_interval": 0})}),
    )
    sweeps, started = [], []

    def sweep(*_: object) -> float:
        sweeps.append(1)
        turn.request()
        return 0.0

    def start(arguments: list[str], _: object, lock: int) -> None:
        assert not is_free(turn)
        started.append((arguments, lock))

    monkeypatch.setattr(sweeper, "_swept", sweep)
    monkeypatch.setattr(sweeper, "start", start)
    assert turn.take()
    descriptor = turn.descriptor
    sweeper._serve(turn, str(notes), where)
    assert len(sweeps) == 3
    assert started == [([str(notes), turn.key, str(descriptor)], descriptor)]
    assert is_free(turn)


def test_a_first_build_is_no_measure_of_a_sweep(
    notes: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Root("r", str(notes))
    reports = []
    for built, cache_file, damage, seconds in (
        (True, "/c", None, 60.0),
        (True, None, None, 5.0),  # in memory: it will be made anew each time
        (True, "/c", "torn", 2.0),  # and so may be what a failing disk damages
        (False, "/c", None, 1.0),
    ):
        report = Report(root, cache_file)
        report.built, report.damage, report.seconds = built, damage, seconds
        reports.append(report)
    clock = Clock()

    def refresh(_: Recall, wait: float) -> list[Report]:
        del wait
        clock.now += 68.5
        return reports

    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(service.Recall, "refresh", refresh)
    settings = resolved.load(str(notes), os.environ)
    assert sweeper._swept(settings, str(notes), where) == pytest.approx(8.5)


def test_waiting_for_another_writer_is_no_measure_of_a_sweep(
    notes: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    waits: list[float] = []

    def acquire(_: WriterLock, wait: float) -> bool:
        clock.sleep(wait)
        return False

    def refresh(_: Recall, wait: float) -> list[Report]:
        waits.append(wait)
        clock.sleep(1.0)
        return []

    monkeypatch.setattr(WriterLock, "acquire", acquire)
    monkeypatch.setattr(service.Recall, "refresh", refresh)
    monkeypatch.setattr(time, "monotonic", clock)
    settings = resolved.load(str(notes), os.environ)
    assert sweeper._swept(settings, str(notes), where) == pytest.approx(1.0)
    assert clock.slept == [30.0, 1.0]
    assert waits == [0.0]  # it has waited


# For which roots


def test_what_one_process_refreshes(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = Root("one", "/one"), Root("two", "/two")
    key = background.key([one, two], os.environ)
    assert key == background.key([two, Root("other name", "/one"), one], os.environ)
    assert len({key, background.key([one], os.environ), background.key([two], os.environ)}) == 3
    assert background.key([Root("one", "/one", Rules(exclude=("x",))), two], os.environ) != key
    assert background.key([one, two], {**os.environ, "XDG_CACHE_HOME": "/elsewhere"}) != key
    monkeypatch.setattr(background, "__version__", "99")
    assert background.key([one, two], os.environ) != key


# Where it can't


def test_without_a_home(roots: tuple[Root, ...]) -> None:
    said = ask("/", {"HOME": "", "PATH": "/bin"}, roots, 2.0)
    assert said == "unavailable: no home directory is known"


@pytest.mark.parametrize("cwd", ["notes", "", "/a\0b", "/\ud800"])
def test_a_working_directory_that_is_none(
    roots: tuple[Root, ...], turn: Turn, spawned: list[int], cwd: str
) -> None:
    assert ask(cwd, os.environ, roots, 2.0).startswith("unavailable: ")
    assert spawned == []
    assert is_free(turn)


def test_a_process_that_can_not_be_started(
    notes: Path, roots: tuple[Root, ...], turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert prompt(notes, roots) == "unavailable: No such file or directory"
    monkeypatch.setattr(sys, "executable", "")
    assert prompt(notes, roots).startswith("unavailable: where the interpreter is")
    assert is_free(turn)


def test_C5_a_state_directory_that_can_not_be_written(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_only(monkeypatch)
    assert prompt(notes, roots) == "unavailable: Read-only file system"
    assert spawned == []


def test_a_file_system_without_locks(
    notes: Path, roots: tuple[Root, ...], spawned: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    before = sorted(os.listdir("/dev/fd"))
    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert prompt(notes, roots) == f"unavailable: {os.strerror(errno.ENOLCK)}"
    assert spawned == []
    assert sorted(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("place", ["state", "background", "lock", "request"])
@pytest.mark.parametrize("kind", ["symlink", "fifo", "other's"])
def test_what_is_not_ours_is_refused(
    roots: tuple[Root, ...], turn: Turn, spawns: list[object], tmp_path: Path, place: str, kind: str
) -> None:
    turn.request()
    assert turn.take()
    turn.give_back()
    path = {
        "state": turn._state,
        "background": os.path.join(turn._state, "background"),
        "lock": os.path.join(turn._state, turn._lock),
        "request": os.path.join(turn._state, turn._request),
    }[place]
    if kind == "other's":
        if os.geteuid() != 0:
            pytest.skip("only root can give files away")
        os.chown(path, 12345, 12345)
    else:
        os.rename(path, tmp_path / "elsewhere")
        if kind == "symlink":
            os.symlink(tmp_path / "elsewhere", path)
        else:
            os.mkfifo(path)
    assert ask("/", os.environ, roots, 2.0).startswith("unavailable: ")
    assert spawns == []


def test_a_lock_that_is_deleted_meanwhile_is_none(
    turn: Turn, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = state.open_to_append
    deleted: list[str] = []

    def opened(state_dir: str, name: str) -> int:
        descriptor = real(state_dir, name)
        if not deleted:
            deleted.append(name)
            os.unlink(os.path.join(state_dir, name))
        return descriptor

    monkeypatch.setattr(state, "open_to_append", opened)
    assert turn.take()
    assert deleted
    assert not is_free(turn)


# What it leaves


def test_files_of_roots_that_nobody_asks_for_are_deleted(where: str) -> None:
    old, young, held = ("0" * 32, "1" * 32, "2" * 32)
    directory = os.path.join(where, "background")
    turns = [Turn(where, each) for each in (old, young, held)]
    for each in turns:
        each.request()
        assert each.take()
        each.ended(NOW, 1.0)
    names = [*os.listdir(directory), "notes.txt", f"{'x' * 32}.lock"]
    for name in names:
        path = os.path.join(directory, name)
        with open(path, "ab"):
            os.utime(path, (NOW, NOW - (0 if name.startswith(young) else 31 * DAY)))
    turns[0].give_back()
    sweeper.sweep_files(where, NOW)
    assert sorted(os.listdir(directory)) == sorted(set(names) - {f"{old}.lock", f"{old}.asked"})


# What goes wrong in it


def child(turn: Turn, cwd: str, code: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run the process as the hook starts it, but with what it says on pipes."""
    assert turn.take()
    program = f"import sys\n{code}\nfrom recall.sweeper import main\nsys.exit(main(sys.argv[1:]))"
    try:
        return subprocess.run(
            [sys.executable, "-P", "-c", program, cwd, turn.key, str(turn.descriptor)],
            pass_fds=(turn.descriptor,),
            capture_output=True,
            check=False,
            timeout=BOUND,
        )
    finally:
        turn.give_back()


BROKEN = """
from recall.service import Recall
def refresh(*_, **__):
    raise KeyError("what a private note says")
Recall.refresh = refresh
"""


def test_H6_what_goes_wrong_is_kept_and_nothing_is_printed(
    notes: Path, where: str, turn: Turn, home: Path
) -> None:
    for count in (1, 2):
        done = child(turn, str(notes), BROKEN)
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
        fault = hookfault.read(where, hookfault.REFRESH)
        assert fault is not None
        assert fault.message == "a fault of ours, KeyError"
        assert fault.where == "<string>:5"
        assert fault.count == count
        assert fault.worked is None
        # Not at once again.
        assert turn.take()
        assert turn.wait(2.0, time.time()) > 0
        turn.ended(NOW, 0)
        turn.give_back()
    done = child(turn, str(notes))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    fault = hookfault.read(where, hookfault.REFRESH)
    assert fault is not None
    assert fault.worked is not None
    (home / ".config" / "recall").mkdir(parents=True)
    (home / ".config" / "recall" / "config.toml").write_text("[hook\n", encoding="utf-8")
    done = child(turn, str(notes))
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    fault = hookfault.read(where, hookfault.REFRESH)
    assert fault is not None
    assert "config.toml" in f"{fault.message} {fault.where}"
    assert fault.count == 1  # in another way than before
    assert fault.worked is None
    assert is_free(turn)


@pytest.mark.parametrize("arguments", [[], ["/"], ["/", "0" * 32, "x"], ["/", "0" * 32, "999"]])
def test_what_nobody_should_start_by_hand(where: str, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recall.sweeper", *arguments], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    assert (hookfault.read(where, hookfault.REFRESH) is None) is (len(arguments) != 3)


def test_the_page_has_the_numbers_of_the_code() -> None:
    page = (Path(__file__).parent.parent / "spec" / "hook.md").read_text(encoding="utf-8")
    told = " ".join(page.partition("## Refresh")[2].partition("\n## ")[0].split())
    for number in (
        f"at least {background.MIN_INTERVAL:g} s",
        f"{background.SHARE} times",
        f"over {background.LONGEST_WAIT:g} s",
        f"{sweeper.MAX_SWEEPS} sweeps",
        f"{sweeper.EXPIRY / DAY:g} days",
        f"{hookfault.EXPIRY / DAY:g} days after the last",
        f"{hookfault.MAX_TEXT} characters",
        f"niced by {sweeper._NICE}",
    ):
        assert number in told, number
