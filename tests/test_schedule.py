"""``recall schedule`` as people run it, on machines that have what they have."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall
from schedule_support import Machine, tree

from recall.scheduling import crontab, job, programs

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Result

OURS = re.compile(rb"(?m)^[^\n]* schedule run --quiet[^\n]* # recall-schedule [0-9a-f]{8}")
# Crontabs of other people's, each to be restored to the byte.
TABLES: dict[str, bytes | None] = {
    "none": None,
    "empty": b"",
    "one line": b"0 5 * * * /usr/local/bin/backup\n",
    "no newline at its end": b"0 5 * * * /usr/local/bin/backup",
    "odd spacing": b"\n\n  0\t5 *   * *\t backup  \n\n   \n\t\n",
    "comments": b"# m h dom mon dow\n#0 1 * * * off\nMAILTO=me@example.org\n@daily x # why\n",
    "CRLF": b"# mine\r\n0 5 * * * backup\r\n\r\n",
    "CRLF, no newline at its end": b"# mine\r\n0 5 * * * backup\r\n0 6 * * * more",
    "a lone CR": b"0 5 * * * a\r0 6 * * * b\r",
    "not UTF-8": b"# gr\xfc\xdfe \xff\xfe\x00\n0 5 * * * /home/\xe9/x\n",
    "percents": b"0 5 * * * date +\\%F %input%more\n",
    "words of ours": b"# recall-schedule is a word\n0 1 * * * echo recall-schedule 12\n",
    "blank lines at its end": b"0 5 * * * x\n\n\n\n",
    "long": b"0 5 * * * x\n" * 5000,
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without any scheduler."""
    machine = Machine(tmp_path / "machine")
    for name, value in machine.environ().items():
        monkeypatch.setenv(name, value)
    return machine


@pytest.fixture
def cron(machine: Machine, notes: Path) -> Machine:
    """A machine with cron, and with notes."""
    assert notes.is_dir()
    machine.add("crontab")
    return machine


def schedule(*words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Result:
    return recall("schedule", *words, env=env, cwd=cwd)


def good(*words: str, **options: Any) -> Any:
    return schedule(*words, "--json", **options).data()


def text(machine: Machine) -> bytes:
    """Return the crontab that there has to be."""
    found = machine.crontab
    assert found is not None
    return found


# -- cron


@pytest.mark.parametrize("name", TABLES)
def test_G1_a_crontab_is_restored_to_the_byte(cron: Machine, name: str) -> None:
    cron.crontab = before = TABLES[name]
    assert good("install", "--kind", "cron")["action"] == "installed"
    assert cron.crontab is not None
    assert cron.crontab.startswith(before or b"")
    assert len(OURS.findall(cron.crontab)) == 1
    assert good("install", "--every", "6h")["action"] == "updated"
    assert len(OURS.findall(cron.crontab)) == 1
    (change,) = good("remove")["changes"]
    assert (change["action"], change["changed"]) == ("removed", True)
    assert cron.crontab == before


def test_variables_of_the_crontab_are_not_the_jobs(cron: Machine, home: Path) -> None:
    theirs = (
        b"XDG_CONFIG_HOME=/x\n LOCUS_PALACE = '/y'\n\"HOME\"=/z\nMAILTO=me\n#XDG_CACHE_HOME=/n\n"
    )
    cron.crontab = theirs + b"0 5 * * * A=b x\n"
    good("install")
    line = text(cron).splitlines()[-1].decode()
    assert f" HOME={home} LOCUS_PALACE='' RECALL_ROOTS=" in line
    assert " XDG_CONFIG_HOME='' " in line
    assert "XDG_CACHE_HOME" not in line
    first = cron.crontab
    assert good("install")["action"] == "already installed"
    # Those below our line are none of its.
    cron.crontab = first + b"XDG_STATE_HOME=/x\n"
    assert good("install")["action"] == "already installed"
    good("remove")
    assert cron.crontab == theirs + b"0 5 * * * A=b x\nXDG_STATE_HOME=/x\n"


def test_two_installs_leave_one_and_the_second_writes_nothing(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * x\n"
    good("install")
    first = cron.crontab
    again = good("install")
    assert (again["action"], again["changed"], again["where"]) == ("already installed", False, [])
    assert cron.crontab == first
    assert cron.calls("crontab").count("-") == 1


def test_removing_what_is_not_there_changes_nothing(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * x"
    assert good("remove")["changes"] == []
    assert good("remove", "--kind", "cron")["changes"][0]["action"] == "not installed"
    done = schedule("remove")
    assert (done.status, done.stdout, done.stderr) == (0, "not installed\n", "")
    assert cron.crontab == b"0 5 * * * x"
    assert "-" not in cron.calls("crontab")


def test_what_was_written_behind_ours_keeps_its_line(cron: Machine) -> None:
    """The newline that was added is needed by then."""
    cron.crontab = b"0 5 * * * x"
    good("install")
    cron.crontab = text(cron) + b"0 6 * * * y\n"
    good("remove")
    assert cron.crontab == b"0 5 * * * x\n0 6 * * * y\n"
    cron.crontab = None
    good("install")
    cron.crontab = b"0 6 * * * y\n" + text(cron)
    good("remove")
    assert cron.crontab == b"0 6 * * * y\n"


def test_G1_the_line_stays_where_it_was_put(cron: Machine) -> None:
    good("install")
    line = text(cron)
    cron.crontab = b"# before\n" + line + b"# behind\r\n"
    good("install", "--every", "15m")
    assert cron.crontab.startswith(b"# before\n*/15 * * * * ")
    assert cron.crontab.endswith(b"\n# behind\r\n")
    # Twice by hand, and with other line ends: still ours, and one in the end.
    cron.crontab = cron.crontab.replace(b"\n", b"\r\n").replace(b"# before\r\n", b"") * 2
    good("install", "--every", "15m")
    assert len(OURS.findall(cron.crontab)) == 1
    good("remove")
    assert cron.crontab == b"# behind\r\r\n" * 2


def test_G1_a_line_that_was_changed_by_hand_is_told_and_stays(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * x\n"
    good("install")
    ours = cron.crontab.splitlines()[1]
    for changed in (ours.replace(b"30 12", b"45 7"), b"#" + ours, ours + b" and so on"):
        cron.crontab = before = b"0 5 * * * x\n" + changed + b"\n"
        for word in ("install", "remove"):
            done = schedule(word, "--json")
            error = done.error()
            assert (done.status, error["code"]) == (5, "write_refused")
            assert "changed by hand" in error["message"]
            assert error["where"] == changed.decode()
            assert "--force" in error["hint"]
            assert cron.crontab == before
        hints = {each["hint"] for each in good("status")["notices"]}
        assert hints == {"recall schedule install --kind cron --force"}
        assert "it was changed by hand: " in schedule("status").stderr
        status = good("status")["schedulers"][0]
        assert status["changed_by_hand"] == [changed.decode()]
        assert status["active"] is not changed.startswith(b"#")
    assert good("install", "--force")["action"] == "updated"
    assert cron.crontab == b"0 5 * * * x\n" + ours + b"\n"
    cron.crontab = before
    good("remove", "--force")
    assert cron.crontab == b"0 5 * * * x\n"


def test_what_others_write_meanwhile_is_not_lost(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * x\n"
    cron.tell("crontab", "meanwhile1", b"0 6 * * * y\n")
    cron.tell("crontab", "meanwhile2", b"0 7 * * * z")
    good("install")
    theirs = b"0 5 * * * x\n0 6 * * * y\n0 7 * * * z"
    assert cron.crontab.startswith(theirs + b"\n")
    cron.tell("crontab", "meanwhile3", b"0 8 * * * w\n")
    good("remove")
    assert cron.crontab == theirs + b"\n0 8 * * * w\n"


def test_a_crontab_that_never_holds_still_is_left_alone(cron: Machine) -> None:
    cron.crontab = b""
    for number in range(20):
        cron.tell("crontab", f"meanwhile{number:02}", b"0 6 * * * y\n")
    done = schedule("install", "--json")
    assert (done.status, done.error()["code"]) == (6, "root_unavailable")
    assert "-" not in cron.calls("crontab")


def test_C3_concurrent_installs_leave_one_line_and_lose_none(cron: Machine) -> None:
    cron.crontab = before = b"".join(b"0 %d * * * x\n" % hour for hour in range(20))
    words = [sys.executable, "-m", "recall", "schedule", "install", "--every"]
    started = [subprocess.Popen([*words, f"{n}m"]) for n in (5, 6, 10, 12, 15, 20)]
    assert [each.wait(60) for each in started] == [0] * 6
    assert cron.crontab.startswith(before)
    assert len(OURS.findall(cron.crontab)) == 1
    good("remove")
    assert cron.crontab == before


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("forbidden", "You (me) are not allowed"),
        ("full", "No space left on device"),
        ("deaf", "does not list it"),
    ],
)
def test_what_crontab_says_is_told(cron: Machine, flag: str, message: str) -> None:
    cron.crontab = b"0 5 * * * x\n"
    cron.tell("crontab", flag)
    done = schedule("install", "--json")
    assert done.status == 6
    assert message in done.error()["message"]
    assert cron.crontab == b"0 5 * * * x\n"


@pytest.mark.parametrize(
    "said", [b"no crontab for root", b"crontab: can't open 'me': No such file or directory"]
)
def test_having_no_crontab_is_not_an_error(cron: Machine, said: bytes) -> None:
    cron.tell("crontab", "none", said)
    good("install")
    assert cron.crontab is not None
    good("remove")
    assert cron.crontab is None


def test_an_unreadable_crontab_is_not_taken_for_none(cron: Machine) -> None:
    """Else all that is in it would be lost."""
    cron.tell("crontab", "none", b"crontab: can't open '/var/spool/me': Permission denied")
    assert schedule("install").status == 6
    assert "-" not in cron.calls("crontab")


def test_a_crontab_that_wants_a_last_newline_gets_it_and_that_is_said(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * x"
    cron.tell("crontab", "strict")
    good("install")
    data = good("remove")
    assert cron.crontab == b"0 5 * * * x\n"
    assert "one more byte" in data["notices"][0]["message"]


def test_a_line_of_ones_own_that_does_the_same_is_told(cron: Machine) -> None:
    cron.crontab = b"*/10 * * * * /home/me/bin/recall refresh --quiet\n# recall refresh\n"
    data = good("install")
    (notice,) = data["notices"]
    assert "*/10 * * * * /home/me/bin/recall refresh --quiet" in notice["message"]
    assert len(good("status")["schedulers"][0]["others"]) == 1


def test_nothing_is_written_with_dry_run(cron: Machine) -> None:
    cron.crontab = b"0 5 * * * gr\xfc\xdfe\n"
    done = schedule("install", "--dry-run")
    assert (done.status, done.stderr) == (0, "")
    assert re.search(r"(?m)^\+30 12 \* \* \* .*recall-schedule", done.stdout)
    data = good("install", "--dry-run")
    assert (data["changed"], data["dry_run"], data["action"]) == (False, True, "installed")
    good("install")
    before = cron.crontab
    (change,) = good("remove", "--dry-run")["changes"]
    assert "\n-30 12" in change["diff"]
    assert cron.crontab == before


def test_C5_no_crontab_program_is_a_clear_error(machine: Machine, notes: Path) -> None:
    assert not list(machine.programs.iterdir())
    for words in (["install", "--kind", "cron"], ["remove", "--kind", "cron"], ["install"]):
        done = schedule(*words, "--json", cwd=notes)
        assert (done.status, done.error()["code"]) == (6, "root_unavailable"), words
        assert "cron" in done.error()["hint"]
    assert [each["available"] for each in good("status")["schedulers"]] == [False] * 3


def test_S4_a_program_in_a_strangers_checkout_is_not_run(
    cron: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "checkout"
    (here / "bin").mkdir(parents=True)
    for directory in (here, here / "bin"):
        (directory / "crontab").write_text("#!/bin/sh\necho ran > ran\n", encoding="utf-8")
        (directory / "crontab").chmod(0o755)
    monkeypatch.setenv("PATH", f":.:bin:{cron.programs}")
    good("install", cwd=here)
    assert len(OURS.findall(text(cron))) == 1
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act for somebody else")
def test_root_installs_nothing_for_a_home_of_somebody_elses(cron: Machine, home: Path) -> None:
    os.chown(home, 12345, 12345)
    for path in home.iterdir():
        os.chown(path, 12345, 12345)
    done = schedule("install", "--json")
    assert (done.status, done.error()["code"]) == (5, "write_refused")
    assert cron.crontab is None


def test_S4_programs_are_looked_for_in_absolute_directories_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("", "bin", "abs"):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / place / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert programs.find("tool", {"PATH": ":.:./bin:bin:~/bin"}) is None
    assert programs.find("tool", {"PATH": f"bin:{tmp_path}/abs"}) == f"{tmp_path}/abs/tool"
    (tmp_path / "abs" / "tool").chmod(0o644)
    assert programs.find("tool", {"PATH": f"{tmp_path}/abs"}) is None
    assert programs.find("sh", {}) is not None


# -- what the machine has


def test_the_default_is_what_the_machine_has(machine: Machine, notes: Path) -> None:
    def kind() -> str:
        return str(good("print", cwd=notes)["kind"])

    machine.add("systemctl")
    assert kind() == "systemd"
    machine.add("crontab")
    assert kind() == "cron"
    machine.run_manager()
    assert kind() == "systemd"


def test_what_is_installed_elsewhere_is_told(cron: Machine, notes: Path) -> None:
    cron.add("systemctl")
    good("install", "--kind", "systemd")
    notices = good("install", "--kind", "cron")["notices"]
    assert [each["hint"] for each in notices] == ["recall schedule remove --kind systemd"]
    assert "one is enough" in good("status")["notices"][0]["message"]
    assert [each["kind"] for each in good("remove")["changes"]] == ["cron", "systemd"]
    assert not any(each["installed"] for each in good("status")["schedulers"])
    assert notes.is_dir()


# -- files


@pytest.fixture(params=["systemd", "launchd"])
def files(request: pytest.FixtureRequest, machine: Machine, notes: Path) -> tuple[Machine, str]:
    """A machine with one of the two that have files, and the name of its program."""
    assert notes.is_dir()
    program = {"systemd": "systemctl", "launchd": "launchctl"}[request.param]
    machine.add(program)
    return machine, program


def kind_of(program: str) -> str:
    return {"systemctl": "systemd", "launchctl": "launchd"}[program]


def test_files_come_and_go(files: tuple[Machine, str], home: Path) -> None:
    machine, program = files
    words = ("--kind", kind_of(program))
    before = tree(home)
    directories = {path for path in home.rglob("*") if path.is_dir()}
    made = good("install", *words)
    assert made["action"] == "installed"
    assert made["next"] == []
    assert {os.path.relpath(path, home) for path in made["where"]} == tree(home).keys() - before
    assert any("enable --now" in call or "bootstrap" in call for call in machine.calls(program))
    there = tree(home)
    assert good("install", *words)["action"] == "already installed"
    assert tree(home) == there
    assert good("install", *words, "--every", "6h")["action"] == "updated"
    status = {each["kind"]: each for each in good("status")["schedulers"]}[kind_of(program)]
    assert (status["installed"], status["active"], status["changed_by_hand"]) == (True, True, [])
    good("remove")
    assert tree(home) == before
    left = {path.name for path in home.rglob("*") if path.is_dir()} - {p.name for p in directories}
    assert left <= {"Library", "LaunchAgents", ".config"}
    assert not (machine.directory(program) / "active").exists()


def test_G1_files_of_others_are_refused(files: tuple[Machine, str], home: Path) -> None:
    _, program = files
    words = ("--kind", kind_of(program))
    where = good("print", *words)["entries"][-1]["where"]
    for theirs in (b"[Timer]\nOnCalendar=daily\n", None):
        os.makedirs(os.path.dirname(where), exist_ok=True)
        if theirs is None:
            os.unlink(where)
            os.symlink(home / "elsewhere", where)
        else:
            with open(where, "wb") as opened:
                opened.write(theirs)
        before = tree(home)
        for word in ("install", "remove"):
            done = schedule(word, *words, "--force", "--json")
            assert (done.status, done.error()["code"]) == (5, "write_refused")
            assert done.error()["where"] == where
        assert tree(home) == before


def test_G1_where_nothing_is_ours_there_is_nothing_to_remove(
    files: tuple[Machine, str], home: Path
) -> None:
    _, program = files
    kind = kind_of(program)
    where = [each["where"] for each in good("print", "--kind", kind)["entries"]]
    good("install", "--kind", kind)
    with open(where[-1], "wb") as opened:
        opened.write(b"theirs\n")
    if len(where) > 1:  # the other is still ours
        done = schedule("remove", "--json")
        assert (done.status, done.error()["code"]) == (5, "write_refused")
        os.unlink(where[0])
    before = tree(home)
    data = good("remove")
    assert data["changes"] == []
    assert where[-1] in data["notices"][0]["message"]
    assert tree(home) == before
    assert f"{kind}: not installed\n" in schedule("status").stdout


@pytest.mark.parametrize("way", ["no bus", "no program"])
def test_files_that_nobody_is_known_to_use_are_told(files: tuple[Machine, str], way: str) -> None:
    machine, program = files
    kind = kind_of(program)
    good("install", "--kind", kind)
    assert f"{kind}: installed\n" in schedule("status").stdout
    if way == "no program":
        (machine.programs / program).unlink()
    else:
        machine.tell(program, "broken")
    said = schedule("status")
    if kind == "launchd" and way == "no bus":  # it answers by its status alone
        assert f"{kind}: installed, not active\n" in said.stdout
        return
    assert f"{kind}: written, but not known to be enabled\n" in said.stdout
    (notice,) = good("status")["notices"]
    assert "enable --now" in notice["hint"] or "bootstrap" in notice["hint"]


def test_C7_a_program_that_hangs_goes_with_its_children(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from index_cache.errors import RootUnavailable

    monkeypatch.setattr(programs, "PATIENCE", 2.0)
    fifo = machine.top / "fifo"
    os.mkfifo(fifo)
    program = machine.programs / "crontab"
    # What it starts has the pipe open as long as it lives.
    program.write_text(f"#!/bin/sh\n(/bin/sleep 600 > {fifo})\n:\n", encoding="utf-8")
    program.chmod(0o755)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(RootUnavailable, match="took over 2 s"):
            programs.run([str(program), "-l"], os.environ)
        assert select.select([reader], [], [], 60)[0]
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_G1_files_that_were_changed_by_hand_stay(files: tuple[Machine, str], home: Path) -> None:
    _, program = files
    words = ("--kind", kind_of(program))
    (*_, where) = good("install", *words)["where"]
    with open(where, "ab") as opened:
        opened.write(b"\n")
    before = tree(home)
    for word in ("install", "remove"):
        done = schedule(word, *words, "--json")
        assert (done.status, done.error()["where"]) == (5, where)
    assert tree(home) == before
    good("install", *words, "--force")
    assert good("remove", *words)["changes"][0]["action"] == "removed"


def test_a_scheduler_that_does_not_answer_leaves_the_command(
    files: tuple[Machine, str], home: Path
) -> None:
    machine, program = files
    words = ("--kind", kind_of(program))
    machine.tell(program, "broken")
    data = good("install", *words)
    (line,) = data["next"]
    assert line.startswith(program)
    assert "enable --now" in line or "bootstrap" in line
    assert "No medium found" in data["notices"][0]["message"]
    (machine.programs / program).unlink()
    data = good("install", *words, "--every", "2h")
    assert "is not in PATH" in data["notices"][0]["message"]
    said = schedule("install", *words).stdout
    assert said.startswith(f"written, but the scheduler was not told: {kind_of(program)}")
    assert f"to be done: {program}" in said
    said = schedule("remove", *words).stdout
    assert said.startswith(f"removed, but the scheduler was not told: {kind_of(program)}\n")
    assert not any("recall-refresh" in name or job.LABEL in name for name in tree(home))


def test_C6_what_fails_half_way_is_taken_back(
    files: tuple[Machine, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from index_cache.errors import RecallError
    from recall import replace
    from recall.scheduling import schedulers
    from recall.scheduling.job import Job, timing

    _, program = files
    kind = kind_of(program)
    what = Job(["/x/recall", *job.RUN], {}, timing("1d", None))
    schedulers.install(kind, what, os.environ)
    before = tree(home)
    real = replace.replace
    written: list[str] = []

    def failing(path: str, data: bytes, **options: Any) -> None:
        written.append(path)
        if len(written) == len(schedulers.paths(kind, os.environ)):
            raise OSError(28, "No space left on device")
        real(path, data, **options)

    monkeypatch.setattr(replace, "replace", failing)
    other = Job(["/y/recall", *job.RUN], {}, timing("1h", None))
    with pytest.raises(RecallError, match="No space left"):
        schedulers.install(kind, other, os.environ)
    assert tree(home) == before


# -- the words and the status


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--every", "7m"], "evenly"),
        (["--every", "1m"], "evenly"),
        (["--every", "2d"], "evenly"),
        (["--every", "often"], "length of time"),
        (["--every", "1h", "--at", "12:30"], "time of day goes with days"),
        (["--at", "24:00"], "no time of day"),
        (["--at", "7"], "no time of day"),
        (["--root", "nothing-like-it"], "nothing-like-it"),
        (["--root", "a\nb"], "a"),
    ],
)
def test_what_cant_be_scheduled_is_refused(cron: Machine, words: list[str], message: str) -> None:
    done = schedule("install", *words, "--json")
    assert done.status in (3, 4)
    assert message in str(done.error())
    assert cron.crontab is None


def test_status_tells_of_a_program_that_is_gone(cron: Machine) -> None:
    good("install")
    data = text(cron).rstrip(b"\n")
    moved = re.sub(rb" /\S+ schedule run", b" /gone/recall schedule run", data)
    cron.crontab = job.sealed(moved, last=True) + b"\n"
    assert good("status")["schedulers"][0]["program_gone"] == "/gone/recall"
    assert "the program that it starts is gone: /gone/recall" in schedule("status").stderr


def test_status_says_how_to_install_it(cron: Machine) -> None:
    done = schedule("status")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "cron: not installed",
        "systemd: not on this machine",
        "launchd: not on this machine",
        "the job never ran",
        "to install it: recall schedule install",
    ]
    good("install")
    assert "to install it" not in schedule("status").stdout
    assert f"  {text(cron).decode()}" in schedule("status").stdout


def test_the_entries_function_sees_ours_alone(cron: Machine) -> None:
    good("install")
    data = (TABLES["words of ours"] or b"") + text(cron)
    assert [each.intact for each in crontab.entries(data)] == [True]
