"""``recall schedule run``: what a scheduler starts, what it says, and what is known of it after."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

import pytest
from cli_support import recall
from schedule_support import Machine
from test_job import vixie

from index_cache import db, files
from index_cache.model import Root
from recall.dirs import state_dir
from recall.scheduling import lastrun

if TYPE_CHECKING:
    from pathlib import Path

QUIET = ("schedule", "run", "--quiet")


def the_state() -> str:
    found = state_dir(os.environ)
    assert found is not None
    return found


def evidence() -> lastrun.Evidence:
    found = lastrun.read(the_state())
    assert found is not None
    return found


def last() -> lastrun.Run:
    found = evidence().last
    assert found is not None
    return found


def runs() -> Any:
    return recall("schedule", "status", "--json").data()["runs"]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path / "machine")
    for name, value in machine.environ().items():
        monkeypatch.setenv(name, value)
    return machine


def test_nothing_is_said_when_all_is_well(notes: Path) -> None:
    for _ in range(2):
        done = recall(*QUIET)
        assert (done.status, done.stdout, done.stderr) == (0, "", "")
    run = last()
    assert (run.status, run.message, run.refreshed, run.checked) == (0, None, 1, 1)
    assert evidence().failed == 0
    assert evidence().succeeded == run.ended
    said = recall("schedule", "status").stdout
    assert "last run 20" in said
    assert "1 root refreshed, 1 checked: all well\n" in said
    assert notes.is_dir()


@pytest.mark.usefixtures("notes")
def test_by_hand_it_says_what_it_did() -> None:
    done = recall("schedule", "run")
    assert (done.status, done.stderr) == (0, "")
    assert "5 added" in done.stdout
    assert "5 notes checked in " in done.stdout
    data = recall("schedule", "run", "--json").data()
    assert [each["unchanged"] for each in data["refreshed"]] == [5]
    assert [each["equivalent"] for each in data["checked"]] == [True]


def test_what_is_wrong_is_said_once_and_kept(notes: Path) -> None:
    recall(*QUIET)
    shutil.rmtree(notes)
    done = recall(*QUIET)
    assert (done.status, done.stdout) == (6, "")
    assert done.stderr.count("error: ") == 1
    assert str(notes) in done.stderr
    run = last()
    assert run.status == 6
    assert run.message is not None
    assert str(notes) in run.message
    recall(*QUIET)
    assert evidence().failed == 2
    assert (evidence().succeeded or 0) < run.begun + 1
    said = recall("schedule", "status").stdout
    assert "exit 6: " in said
    assert "; 2 since\n" in said
    found = runs()
    assert (found["failed_since"], found["last"]["status"]) == (2, 6)
    notes.mkdir()


def test_a_wrong_cache_is_exit_2_with_its_counts(notes: Path, home: Path) -> None:
    """No refresh mends it: that is what the check is for."""
    recall(*QUIET)
    note = notes / "keys.md"
    note.write_text(note.read_text(encoding="utf-8").replace("vault", "vauIt"), encoding="utf-8")
    os.utime(note, (1_600_000_000, 1_600_000_000))
    connection, _ = db.connect(
        db.cache_path(str(home / ".cache" / "recall"), Root("notes", str(notes)))
    )
    with closing(connection):
        connection.execute(
            "UPDATE entry SET signature = ?, suspect = 0 WHERE path = ?",
            (files.signature(os.lstat(note)), b"keys.md"),
        )
    done = recall(*QUIET)
    assert (done.status, done.stdout) == (2, "")
    assert "does not equal its notes: 1 wrong" in done.stderr
    assert "hint: recall rebuild makes it anew" in done.stderr
    assert (last().status, last().differences["wrong"]) == (2, 1)


def test_one_root_that_fails_does_not_stop_the_others(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setenv("RECALL_ROOTS", f"gone={gone}:notes={notes}")
    done = recall(*QUIET)
    assert done.status == 6
    assert (last().refreshed, last().checked) == (1, 1)


def test_a_wrong_configuration_is_kept_too(home: Path) -> None:
    config = home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[roots\n", encoding="utf-8")
    done = recall(*QUIET)
    assert (done.status, last().status) == (4, 4)
    assert last().message
    assert last().where


def test_what_changes_meanwhile_is_no_fault(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the refresh and the check there are seconds; a mail for each edit would be noise."""
    program = (
        "import sys; from recall import service; from recall.cli import main\n"
        "real = service.Recall.rebuild\n"
        "def rebuild(self, **options):\n"
        f"    open({str(notes / 'new.md')!r}, 'w').write('# New\\n')\n"
        "    return real(self, **options)\n"
        "service.Recall.rebuild = rebuild\n"
        "sys.exit(main(['schedule', 'run', '--quiet']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert last().differences["pending"] == 1
    monkeypatch.undo()


class Held:
    """A run at work: a process that has the turn until it is told to end."""

    def __enter__(self) -> Self:
        program = (
            "import sys; from recall.scheduling import lastrun\n"
            f"with lastrun.turn({the_state()!r}) as mine:\n"
            f"    lastrun.begin({the_state()!r}, float(sys.argv[1]))\n"
            "    print(mine, flush=True); sys.stdin.read()"
        )
        begun = str(self.begun)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, begun], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"True\n"
        return self

    def __init__(self, begun: float) -> None:
        self.begun = begun

    def __exit__(self, *_: object) -> None:
        self.process.communicate()


@pytest.mark.usefixtures("notes")
def test_C3_a_run_that_finds_another_at_work_leaves_it_alone() -> None:
    with Held(time.time()):
        done = recall(*QUIET)
        assert (done.status, done.stdout, done.stderr) == (0, "", "")
        done = recall("schedule", "run")
        assert (done.status, done.stdout) == (0, "another run is at work: nothing to do\n")
        assert recall("schedule", "run", "--json").data()["overlapped"] is True
        found = runs()
        assert (found["running"], found["last"]) == (True, None)
        assert found["overlapped"] is not None
        assert "running since 20" in recall("schedule", "status").stdout
    assert runs()["unfinished"] is True
    assert "never ended" in recall("schedule", "status").stdout
    assert recall(*QUIET).status == 0
    assert runs()["unfinished"] is False


@pytest.mark.usefixtures("notes")
def test_C7_a_run_that_never_ends_is_told_of() -> None:
    with Held(time.time() - lastrun.STUCK - 60):
        done = recall(*QUIET, "--json")
        assert (done.status, done.error()["code"]) == (6, "cache_busy")
        assert "has been at work since" in done.error()["message"]


@pytest.mark.usefixtures("notes")
def test_C7_a_killed_run_blocks_nothing() -> None:
    held = Held(time.time())
    held.__enter__()
    held.process.kill()
    held.process.communicate()
    assert runs()["unfinished"] is True
    assert recall(*QUIET).status == 0
    assert last().status == 0


def test_overlapping_runs_lose_no_evidence(notes: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-m", "recall", *QUIET], stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    said = [(each.communicate()[1], each.returncode) for each in started]
    assert said == [(b"", 0)] * 6
    assert last().status == 0
    assert not runs()["unfinished"]
    assert notes.is_dir()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b'{"last": 7}', b'{"begun": true, "failed": -1, "last": {}}',
     b'{"begun": 1e99, "last": {"begun": 1, "ended": 2, "status": "x"}}', b"[" * 9000, b"\xff",
     b'{"last": {"begun": 1, "ended": 2, "status": 0, "differences": [], "message": 5}}'],
)  # fmt: skip
@pytest.mark.usefixtures("notes")
def test_odd_evidence_is_none_and_is_replaced(data: bytes) -> None:
    directory = os.path.join(the_state(), "schedule")
    os.makedirs(directory, mode=0o700)
    with open(os.path.join(directory, "run.json"), "wb") as opened:
        opened.write(data)
    assert recall("schedule", "status").status == 0
    recall("schedule", "status", "--json").data()
    assert recall(*QUIET).stderr == ""
    assert last().status == 0


@pytest.mark.usefixtures("notes")
def test_S3_the_evidence_is_the_persons_alone() -> None:
    os.umask(0)
    try:
        recall(*QUIET)
    finally:
        os.umask(0o022)
    path = os.path.join(the_state(), "schedule")
    assert os.stat(path).st_mode & 0o777 == 0o700
    assert os.listdir(path) == ["run.json"]
    assert os.stat(os.path.join(path, "run.json")).st_mode & 0o777 == 0o600
    with open(os.path.join(path, "run.json"), "rb") as opened:
        assert set(json.load(opened)) == {"begun", "last", "succeeded", "failed", "overlapped"}


def test_a_state_directory_that_cant_be_written_is_told(notes: Path, home: Path) -> None:
    shutil.rmtree(home / ".local", ignore_errors=True)
    (home / ".local").write_text("in the way", encoding="utf-8")
    done = recall(*QUIET)
    assert done.status == 0
    assert "what comes of this run can't be kept" in done.stderr
    assert notes.is_dir()


# -- what is installed is what runs


def test_the_line_works_as_cron_runs_it(
    machine: Machine, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell, four variables, the home directory: and all that was carried over."""
    machine.add("crontab")
    odd = tmp_path / "it's 100% $HOME é"
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(odd / name))
    monkeypatch.setenv("RECALL_ROOTS", f"n={os.path.relpath(notes)}")
    data = recall("schedule", "install", "--json").data()
    assert data["variables"].keys() >= {"HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "RECALL_ROOTS"}
    assert machine.crontab is not None
    command = vixie(machine.crontab.split(b" ", 5)[5].rstrip(b"\n"))
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd="/",
        # PYTHONPATH is what a test needs of its own.
        env={"PATH": "/usr/bin:/bin", "LOGNAME": "me", "SHELL": "/bin/sh", "HOME": "/nowhere",
             "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert last().refreshed == 1
    assert os.path.isdir(odd / "XDG_CACHE_HOME" / "recall")


def test_roots_mean_the_same_in_the_job(
    machine: Machine, notes: Path, tmp_path: Path, home: Path
) -> None:
    machine.add("crontab")
    (tmp_path / "more").mkdir()
    recall("roots", "add", "mine", str(notes))

    def words(*roots: str) -> list[str]:
        given = [word for root in roots for word in ("--root", root)]
        data = recall("schedule", "print", *given, "--json", cwd=tmp_path).data()
        return list(data["command"][data["command"].index("--quiet") + 1 :])

    assert words() == []
    assert words("mine") == ["--root", "mine"]
    assert words("more", "./notes") == [
        "--root", str(tmp_path / "more"), "--root", str(tmp_path / "notes"),
    ]  # fmt: skip
    assert words("~/") == ["--root", str(home)]
    error = recall("schedule", "install", "--root", "neither", "--json", cwd=tmp_path).error()
    assert error["code"] == "not_found"


def test_no_root_is_told_and_installed_all_the_same(machine: Machine, home: Path) -> None:
    machine.add("crontab")
    data: Any = recall("schedule", "install", "--json", cwd=home).data()
    assert data["action"] == "installed"
    assert "the job finds nothing to do" in data["notices"][0]["message"]
