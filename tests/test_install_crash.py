"""Installing and uninstalling killed at any moment, refused half-way, and many at once."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from install_support import GOOD
from test_install import COMMAND, Place

from index_cache.errors import RecallError
from recall import installed, leftovers, replace
from recall.hookcommand import command_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CRASHES = """
import json, os, signal, sys
from recall import hostfiles, installing
base, action, command = sys.argv[1:]
home, state = base + "/home", base + "/state"
place = hostfiles.place(hostfiles.host_files("claude"), "user", {"HOME": home}, base)
STEPS = ("open", "mkdir", "write", "fsync", "replace", "unlink", "rmdir", "fchmod", "chmod")
real = {name: getattr(os, name) for name in STEPS}
left = 0

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(name):
    def call(*arguments, **options):
        step()
        done = real[name](*arguments, **options)
        step()
        return done
    return call

def held():
    try:
        with open(place.file, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None

def prepare():
    if old:
        os.makedirs(home + "/.claude", exist_ok=True)
        with open(place.file, "wb") as stream:
            stream.write(old)
    if action != "install":
        installing.install(place, command, state)

def act():
    if action == "uninstall":
        installing.uninstall(place, state)
    else:
        installing.install(place, command.replace("recall-hook", "new/recall-hook"), state)

old = sys.stdin.buffer.read()
seen, spoiled, count = set(), 0, 0
while True:
    prepare()
    before = held()
    count += 1
    child = os.fork()
    if not child:
        left = count
        for name in STEPS:
            setattr(os, name, counted(name))
        act()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    now = held()
    seen.add(now)
    assert now is None or isinstance(json.loads(now), dict)
    if now != before:
        assert (b"recall-hook" in (now or b"")) == (action != "uninstall")
    spoiled += any(name.endswith(".tmp") for _, _, names in os.walk(base) for name in names)
    if count % 2:
        installing.install(place, command, state)
    done = installing.uninstall(place, state).action
    assert held() == (old or None), (count, done)
    files = [name for _, _, names in os.walk(base) for name in names]
    assert files == (["settings.json"] if old else []), (count, files)
    assert old or not os.path.exists(home), count
    if status == 0:
        break
print(count, len(seen), spoiled)
"""


@pytest.mark.parametrize("old", [GOOD["usual"], b""], ids=["a file", "no file"])
@pytest.mark.parametrize("action", ["install", "update", "uninstall"])
def test_C6_killed_at_any_step_the_file_is_the_old_or_the_new_one(
    tmp_path: Path, action: str, old: bytes
) -> None:
    """And the next uninstall puts back what was there, and leaves no copy of it anywhere."""
    done = subprocess.run(
        [sys.executable, "-c", CRASHES, str(tmp_path), action, COMMAND],
        input=old,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    steps, outcomes, spoiled = map(int, done.stdout.split())
    assert steps > 10
    assert outcomes == 2
    # Enough of the kills left a temporary file for the sweep to count.
    assert spoiled >= (0 if action == "uninstall" and not old else 4)


# -- what is swept


def process_that_is_gone() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def swept(directory: Path, name: str, make: Callable[[Path], object]) -> bool:
    file = directory / name
    make(file)
    leftovers.sweep(str(directory), "settings.json".__eq__)
    return not os.path.lexists(file)


def written(file: Path) -> None:
    file.write_bytes(b"{}")


def old(file: Path) -> None:
    written(file)
    os.utime(file, (time.time() - 100, time.time() - 100))


def future(file: Path) -> None:
    written(file)
    os.utime(file, (time.time() + 9999, time.time() + 9999))


GONE = process_that_is_gone()


@pytest.mark.parametrize(
    ("name", "make", "expected"),
    [
        ("settings.json.{gone}-0123abcd.tmp", written, True),
        ("settings.json.{gone}-0123abcd.tmp", future, True),
        ("settings.json.{own}-0123abcd.tmp", written, True),  # we write nothing now
        ("settings.json.{parent}-0123abcd.tmp", written, False),
        ("settings.json.{parent}-0123abcd.tmp", future, False),
        ("settings.json.{parent}-0123abcd.tmp", old, True),  # the number is another's by now
        ("settings.json.99999999999999999999-0123abcd.tmp", written, True),
        ("settings.json.{gone}-0123abcd.tmp", os.mkfifo, False),
        ("settings.json.{gone}-0123abcd.tmp", os.mkdir, False),
        ("settings.json.{gone}-0123abcd.tmp", lambda file: file.symlink_to("/etc"), False),
        *(
            (name, old, False)
            for name in (
                "settings.json",
                "settings.json.tmp",
                "settings.json.tmp.{gone}.0123abcd",
                "settings.json.{gone}-0123ABCD.tmp",
                "settings.json.{gone}-0123abc.tmp",
                "settings.json.{gone}-0123abcde.tmp",
                "settings.json.{gone}.tmp",
                "settings.json.{gone}-0123abcd.tmp.bak",
                "settings.json.-0123abcd.tmp",
                "settings.json.0-0123abcd.tmp",
                "settings.json.007-0123abcd.tmp",
                "settings.json.\u0661-0123abcd.tmp",
                "settings.json.x-0123abcd.tmp",
                "other.json.{gone}-0123abcd.tmp",
                ".{gone}-0123abcd.tmp",
                "{gone}-0123abcd.tmp",
            )
        ),
    ],
)
def test_only_what_a_killed_writer_of_ours_left_is_swept(
    tmp_path: Path, name: str, make: Callable[[Path], object], *, expected: bool
) -> None:
    numbers = {"gone": GONE, "own": os.getpid(), "parent": os.getppid()}
    assert swept(tmp_path, name.format(**numbers), make) == expected


def test_what_belongs_to_others_or_may_be_another_machines_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"settings.json.{GONE}-0123abcd.tmp"
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert not swept(tmp_path, name, old)
    monkeypatch.setattr(leftovers, "is_remote", lambda _: True)
    assert not swept(tmp_path, name, written)
    assert swept(tmp_path, name, old)


def test_without_a_lock_nothing_is_swept(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    place.holds(b"{}")
    file = place.file.with_name(f"settings.json.{GONE}-0123abcd.tmp")
    written(file)
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", no_locks)
        assert place.install() == "installed"
    assert file.exists()
    assert place.install(dry_run=True) == "already installed"
    assert file.exists()
    assert place.install() == "already installed"
    assert not file.exists()


# -- what is refused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def failing_at(name: str, error: int) -> Callable[..., None]:
    real = replace.replace

    def fails(path: str, *arguments: Any, **options: Any) -> None:
        if path.endswith(name):
            raise OSError(error, os.strerror(error))
        real(path, *arguments, **options)

    return fails


@pytest.mark.parametrize("old", [b'{"env": {"KEY": "secret"}}', None], ids=["a file", "no file"])
@pytest.mark.parametrize("error", [errno.EACCES, errno.ENOSPC])
def test_a_refused_install_keeps_no_record(
    place: Place, monkeypatch: pytest.MonkeyPatch, old: bytes | None, error: int
) -> None:
    if old is not None:
        place.holds(old)
    with monkeypatch.context() as patch:
        patch.setattr(replace, "replace", failing_at("settings.json", error))
        with pytest.raises(RecallError, match="can't be written") as caught:
            place.install()
    assert caught.value.exit_status == 6
    assert os.listdir(os.path.join(place.state, "installed")) == []
    if old is None:
        assert not place.file.parent.parent.exists()
    else:
        assert place.file.read_bytes() == old


def kept(place: Place) -> bytes:
    with open(installed.path_of(place.state, str(place.file)), "rb") as stream:
        return stream.read()


def test_a_refused_update_keeps_the_record_that_was_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.holds(GOOD["braces with a space"])
    place.install()
    record = kept(place)
    with monkeypatch.context() as patch:
        patch.setattr(replace, "replace", failing_at("settings.json", errno.EACCES))
        with pytest.raises(RecallError, match="can't be written"):
            place.install(command_line(["/new/recall-hook"], "claude"))
    assert kept(place) == record
    assert place.uninstall() == "restored"
    assert place.file.read_bytes() == GOOD["braces with a space"]


def test_without_a_state_directory_the_hook_comes_out_all_the_same(place: Place) -> None:
    place.holds(GOOD["usual"])
    place.install()
    installed.forget(place.state, str(place.file))
    os.rmdir(os.path.join(place.state, "installed"))
    os.rmdir(place.state)
    with open(place.state, "wb"):
        assert place.uninstall() == "removed"
    assert place.file.read_bytes() == GOOD["usual"]
    with pytest.raises(RecallError, match="can't be kept"):
        place.install()
    assert place.file.read_bytes() == GOOD["usual"]


@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_keeps_the_record_if_the_file_is_written(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, late: bool
) -> None:
    place.holds(GOOD["usual"])
    real = replace.replace

    def interrupted(path: str, *arguments: Any, **options: Any) -> None:
        if not path.endswith("settings.json"):
            real(path, *arguments, **options)
            return
        if late:
            real(path, *arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replace, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            place.install()
    assert len(os.listdir(os.path.join(place.state, "installed"))) == late
    assert place.uninstall() == ("restored" if late else "not installed")
    assert place.file.read_bytes() == GOOD["usual"]


# -- many at once

CROWD = """
import sys
from recall import hostfiles, installing
base, command, action, times = sys.argv[1:]
place = hostfiles.place(hostfiles.host_files("claude"), "user", {"HOME": base + "/home"}, base)
sys.stdin.read()
for _ in range(int(times)):
    if action == "install":
        print(installing.install(place, command, base + "/state").action, flush=True)
    else:
        print(installing.uninstall(place, base + "/state").action, flush=True)
"""


def crowd(base: Path, actions: list[str], times: int) -> list[list[str]]:
    """Let processes go at the same moment; return what each of them said."""
    start, go = os.pipe()
    waiting = [
        subprocess.Popen(
            [sys.executable, "-c", CROWD, str(base), COMMAND, action, str(times)],
            stdin=start,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for action in actions
    ]
    os.close(start)
    os.close(go)  # the end of their input is the signal
    said = []
    for each in waiting:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, err) == (0, b""), err.decode()
        said.append(out.decode().splitlines())
    return said


def flat(said: list[list[str]]) -> list[str]:
    return [line for lines in said for line in lines]


@pytest.mark.parametrize("old", [GOOD["remarks everywhere"], None], ids=["a file", "no file"])
def test_of_many_installs_at_once_one_does_it_and_all_succeed(
    tmp_path: Path, place: Place, old: bytes | None
) -> None:
    if old is not None:
        place.holds(old)
    said = flat(crowd(tmp_path, ["install"] * 6, 1))
    assert sorted(said) == ["already installed"] * 5 + ["installed"]
    said = flat(crowd(tmp_path, ["uninstall"] * 6, 1))
    assert sorted(said) == sorted(
        ["not installed"] * 5 + ["deleted" if old is None else "restored"]
    )
    assert (place.file.read_bytes() if old else None) == old
    assert old or not place.file.parent.exists()


@pytest.mark.parametrize("old", [GOOD["usual"], None], ids=["a file", "no file"])
def test_installs_and_uninstalls_at_once_never_spoil_the_file(
    tmp_path: Path, place: Place, long_count: Callable[[int], int], old: bytes | None
) -> None:
    if old is not None:
        place.holds(old)
    said = flat(crowd(tmp_path, ["install", "uninstall"] * 10, long_count(30)))
    done = "deleted" if old is None else "restored"
    assert set(said) <= {"installed", "already installed", done, "not installed"}
    # Each install that was done was undone, but for the last.
    on = said.count("installed") - said.count(done)
    assert on in (0, 1)
    assert place.uninstall() == (done if on else "not installed")
    if old is None:
        assert not place.file.parent.exists()
    else:
        assert place.file.read_bytes() == old
        assert json.loads(old)
    assert os.listdir(os.path.join(place.state, "installed")) == []
