"""Whatever hangs, the hook answers with what it has, ends with 0, and says what it was (H1, H3).

Nothing is timed. What hangs first moves the deadline to now: so what was to be done before it is
done, however slow the machine is. A process that does not end is killed by the guard of the tests.
"""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import hook_run_support as run
import pytest

from recall import hookfault

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("quabvexil", "qudfvexil", "qughvexil")
ALL = "where are quabvexil, qudfvexil and qughvexil?"
# ``hang`` lets the deadline come, and does not return; ``hang_at`` does so for a given call.
HANG = """
import _thread
from recall import deadline

made = []

class Kept(deadline.Deadline):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        made.append(self)

deadline.Deadline = Kept

def hang(*_, **__):
    made[0].move(0.0)
    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()

def hang_at(number, real):
    calls = []
    def counted(*arguments, **named):
        calls.append(1)
        return (hang if len(calls) == number else real)(*arguments, **named)
    return counted
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, word in enumerate(WORDS):
        text = f"# The {word}\n\nIt is {word} of kind {number}.\n"
        (notes / f"{number}.md").write_text(text, encoding="utf-8")
    for number in range(9):
        (notes / f"other-{number}.md").write_text(f"# Other {number}\n\nNothing.\n", "utf-8")
    run.configure({"notes": notes})
    run.refresh(tmp_path)
    run.no_refresh(tmp_path)
    return tmp_path


def hanging(top: Path, patch: str, text: str = ALL, host: str = "claude") -> run.Said:
    return run.prompt(text, top, host, "s", run.PATIENT + HANG + patch)


def fault() -> str:
    """Return what the hook noted, and forget it."""
    found = hookfault.read(run.where())
    assert found is not None
    assert found.worked is None
    os.unlink(os.path.join(run.where(), "hook.fault"))
    return found.message


def test_they_are_three_cards_when_nothing_hangs(top: Path) -> None:
    said = hanging(top, "")
    assert len(said.cards()) == 3
    assert hookfault.read(run.where()) is None
    assert run.shown("s") == 3
    assert [entry.why for entry in run.log()] == ["cards"]


@pytest.mark.parametrize("host", [None, "claude", "gemini"])
@pytest.mark.parametrize("sent", [b"", b'{"hook_event_name": "BeforeAgent", "prompt": "qu'])
def test_H1_an_input_that_never_ends(top: Path, host: str | None, sent: bytes) -> None:
    # The deadline is the true one here, until the configuration is known: it is not, in this test.
    process = subprocess.Popen(
        run.command(host, before=""), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=top
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(sent)
        process.stdin.flush()
        assert process.wait(run.GUARD) == 0
        assert process.stdout.read() == (b"{}\n" if host == "gemini" else b"")
    assert "deadline" in fault()


@pytest.mark.parametrize(
    ("patch", "at"),
    [
        ("from index_cache.files import FileSystem; FileSystem.stat = hang", "caches"),
        ("from index_cache.files import FileSystem; FileSystem.read = hang", "search"),
        ("from index_cache import candidates; candidates.candidates = hang", "search"),
        ("from index_cache.store import Store; Store.check = hang", "caches"),
        ("from recall import ledger; ledger.seen = hang", "ledger"),
        ("from recall import resolved; resolved.load = hang", "configuration"),
        ("from recall import pausing; pausing.paused = hang", "event"),
        ("from recall import gate; gate.decide = hang", "search"),
    ],
)
def test_H1_what_hangs_costs_this_prompt_its_cards(top: Path, patch: str, at: str) -> None:
    for host, silence in (("claude", b""), ("gemini", b"{}\n")):
        said = hanging(top, patch, host=host)
        assert (said.status, said.stdout, said.stderr) == (0, silence, b"")
        assert fault() == f"the deadline passed while it was at: {at}"
    assert run.shown("s") == 0
    assert {entry.why for entry in run.log()} <= {"deadline"}
    assert len(hanging(top, "").cards()) == 3


@pytest.mark.parametrize("host", run.HOSTS)
def test_H1_the_cards_that_are_made_are_shown_and_only_these_are_noted(
    top: Path, host: str
) -> None:
    patch = "from recall.dress import Dresser; Dresser.card = hang_at(3, Dresser.card)"
    cards = hanging(top, patch, host=host).cards(host)
    assert len(cards) == 2
    assert fault() == "the deadline passed while it was at: search"
    (entry,) = run.log()
    assert (entry.decision, entry.why, len(entry.cards)) == ("spoke", "deadline", 2)
    if host == "text":
        return  # has no sessions
    assert run.shown("s") == 2
    (rest,) = hanging(top, "", host=host).cards(host)
    assert {rest["path"], *(card["path"] for card in cards)} == {
        f"notes/{number}.md" for number in range(3)
    }


@pytest.mark.parametrize(
    ("patch", "at"),
    [
        ("from recall import ledger; ledger.note = hang", "noting what was shown"),
        ("from recall import recalllog; recalllog.record = hang", "the log"),
        ("from recall import background; background.ask = hang", "the refresh"),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_H1_what_hangs_after_the_answer_keeps_nobody(
    top: Path, patch: str, at: str, late: bool
) -> None:
    if late:
        patch += "\nfrom recall.dress import Dresser; Dresser.card = hang_at(3, Dresser.card)"
    said = hanging(top, patch)
    assert len(said.cards()) == (2 if late else 3)
    assert fault() == f"its time was over while it was at: {at}"


@pytest.mark.parametrize("host", [None, "gemini"])
@pytest.mark.parametrize(
    ("module", "at"),
    [("recall.call", "start"), ("recall.block", "start"), ("index_cache.db", "configuration")],
)
@pytest.mark.parametrize("found", [False, True])
def test_H1_an_import_that_hangs(
    top: Path, module: str, at: str, host: str | None, found: bool
) -> None:
    """As from a network drive that is gone."""
    patch = f"""
import importlib.util, sys

class Hanging:
    @staticmethod
    def find_spec(name, *_):
        if name == {module!r}:
            return importlib.util.spec_from_loader(name, Hanging) if {found} else hang()

    @staticmethod
    def create_module(_):
        return None

    exec_module = staticmethod(hang)

sys.meta_path.insert(0, Hanging)
"""
    done = subprocess.run(
        run.command(host, before=run.PATIENT + HANG + patch),
        input=run.event("claude", ALL, top),
        capture_output=True,
        timeout=run.GUARD,
        check=False,
    )
    silence = b"{}\n" if host == "gemini" else b""
    assert (done.returncode, done.stdout, done.stderr) == (0, silence, b"")
    if found:  # else Python lets no other thread import what is needed to note it
        assert fault() == f"the deadline passed while it was at: {at}"


def test_H1_the_deadline_is_that_of_the_configuration(top: Path) -> None:
    """Nothing moves it here: without ``deadline_ms`` it would be later than the guard."""
    run.configure({"notes": top / "notes"}, deadline_ms=20)
    patch = """
def hang(*_, **__):
    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()

from index_cache import candidates; candidates.candidates = hang
"""
    said = hanging(top, patch)
    assert (said.status, said.stdout, said.stderr) == (0, b"", b"")
    assert fault().startswith("the deadline passed while it was at: ")


def test_the_guard_of_these_tests_is_shorter_than_the_deadline_that_is_put_off() -> None:
    assert run.GUARD < 50.0


# Signals


def started(top: Path, patch: str, text: str = ALL) -> subprocess.Popen[bytes]:
    """Start a hook that writes a line to stderr and hangs where it is patched, deadline far."""
    code = """
import _thread, os

def hang(*_, **__):
    os.write(2, b"here\\n")
    lock = _thread.allocate_lock()
    lock.acquire()
    lock.acquire()
"""
    process = subprocess.Popen(
        run.command(before=run.PATIENT + code + patch),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=top,
    )
    assert process.stdin is not None
    process.stdin.write(run.event("claude", text, top, "s"))
    process.stdin.close()
    process.stdin = None
    return process


SEARCH = "from index_cache import candidates; candidates.candidates = hang"


def test_an_interrupt_is_no_fault_and_blocks_no_prompt(top: Path) -> None:
    process = started(top, SEARCH)
    assert process.stderr is not None
    assert process.stderr.readline() == b"here\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=run.GUARD) == (b"", b"")
    assert process.returncode == 0
    assert hookfault.read(run.where()) is None
    assert run.shown("s") == 0


def test_a_host_may_terminate_it(top: Path) -> None:
    process = started(top, SEARCH)
    assert process.stderr is not None
    assert process.stderr.readline() == b"here\n"
    process.terminate()
    assert process.communicate(timeout=run.GUARD) == (b"", b"")
    assert process.returncode == -signal.SIGTERM
    assert len(hanging(top, "").cards()) == 3


def test_what_nobody_reads_was_not_shown(top: Path) -> None:
    """A host that went away closes the pipe, and the signal for that is no end."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        run.command(),
        input=run.event("claude", ALL, top, "s"),
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=run.GUARD,
        cwd=top,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")
    assert run.shown("s") == 0
    (entry,) = run.log()
    assert (entry.decision, entry.why, entry.cards) == ("silent", "nobody read it", [])
    assert len(hanging(top, "").cards()) == 3
