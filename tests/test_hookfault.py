"""What went wrong with the prompt hook: kept, shown by ``recall status``, and harmless."""

# The codes of reported faults (C5, H6) are written as they are.

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

import pytest
from cli_support import recall, valid_envelope
from hypothesis import example, given
from hypothesis import strategies as st
from rights_support import read_only

from recall import aftermath, hookfault, pausing, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = 1_800_000_000.0
DAY = 86_400.0


@pytest.fixture
def where(home: Path) -> str:
    return str(home / ".local" / "state" / "recall")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    monkeypatch.setenv("TZ", "UTC")
    return root


def file_of(where: str, part: str = hookfault.HOOK) -> str:
    return os.path.join(where, f"{part}.fault")


def test_H6_since_when_how_often_and_why(where: str) -> None:
    assert hookfault.read(where, now=NOW) is None
    hookfault.note(where, "it\x1b fails", where="/a", hint="do it", now=NOW)
    hookfault.note(where, "it\x1b fails", now=NOW + 60)
    fault = hookfault.read(where, now=NOW + 61)
    assert fault is not None
    assert (fault.where, fault.hint) == (None, None)
    assert (fault.since, fault.when, fault.count, fault.worked) == (NOW, NOW + 60, 2, None)
    hookfault.note(where, "otherwise", now=NOW + 90)
    fault = hookfault.read(where, now=NOW + 91)
    assert fault is not None
    assert (fault.message, fault.since, fault.count) == ("otherwise", NOW + 90, 1)
    assert hookfault.read(where, hookfault.REFRESH, NOW) is None


def test_H6_that_it_works_again_is_noted_once(where: str) -> None:
    hookfault.worked(where, now=NOW)
    assert not os.path.exists(where)
    hookfault.note(where, "why", where="/a", hint="hint", now=NOW)
    hookfault.note(where, "why", part=hookfault.REFRESH, now=NOW)
    for later in (5, 50):
        hookfault.worked(where, now=NOW + later)
        fault = hookfault.read(where, now=NOW)
        assert fault is not None
        assert fault.worked == NOW + 5
        assert (fault.message, fault.where, fault.hint) == ("why", "/a", "hint")
    # An answer is not a refresh.
    fault = hookfault.read(where, hookfault.REFRESH, NOW)
    assert fault is not None
    assert fault.worked is None
    hookfault.note(where, "why", now=NOW + 60)
    fault = hookfault.read(where, now=NOW)
    assert fault is not None
    assert (fault.worked, fault.count, fault.since) == (None, 2, NOW)


def test_what_has_worked_for_a_day_needs_no_warning(where: str) -> None:
    hookfault.note(where, "why", now=NOW)
    for worked, over in ((None, False), (NOW + 5, True)):
        if worked is not None:
            hookfault.worked(where, now=worked)
        fault = hookfault.read(where, now=NOW)
        assert fault is not None
        assert hookfault.is_over(fault, NOW + 6 + DAY) is over
        assert not hookfault.is_over(fault, NOW + DAY)


@pytest.mark.parametrize(("days", "known"), [(29.9, True), (30.1, False), (-31, False)])
def test_a_failure_is_forgotten(where: str, days: float, known: bool) -> None:
    hookfault.note(where, "why", now=NOW)
    then = NOW + days * DAY
    assert (hookfault.read(where, now=then) is not None) is known
    hookfault.worked(where, now=then)
    assert os.path.exists(file_of(where)) is known
    hookfault.note(where, "why", now=then)
    fault = hookfault.read(where, now=then)
    assert fault is not None
    assert fault.count == (2 if known else 1)
    assert fault.since == (NOW if known else int(then))


def test_where_there_is_no_failure_a_prompt_pays_for_one_look(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        looks.append(path)
        return real(path)

    monkeypatch.setattr(os, "lstat", lstat)
    hookfault.worked(where)
    assert looks == [file_of(where)]


def test_C5_the_file_is_private_whatever_the_umask(where: str) -> None:
    before = os.umask(0)
    try:
        hookfault.note(where, "why")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(where).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(file_of(where)).st_mode) == 0o600


@example("\x1b" * 700, "\n" * 700, "\u202e" * 700)
@given(st.text(max_size=700), st.none() | st.text(max_size=700), st.none() | st.text(max_size=700))
def test_any_text_is_one_bounded_line(message: str, place: str | None, hint: str | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        hookfault.note(where, message or "x", where=place, hint=hint, now=NOW)
        fault = hookfault.read(where, now=NOW)
        assert fault is not None
        for text in (fault.message, fault.where or "", fault.hint or ""):
            assert len(text) <= hookfault.MAX_TEXT
            assert text == "" or len(text.splitlines()) == 1
            assert "\x1b" not in text
        assert (fault.where is None) is not bool(place)


def test_a_failure_without_a_word_is_one_too(where: str) -> None:
    hookfault.note(where, "", now=NOW)
    fault = hookfault.read(where, now=NOW)
    assert fault is not None
    assert fault.message


@given(
    st.binary(max_size=100)
    | st.from_regex(rb"[0-9]{1,13} [0-9]{1,13} [0-9]{1,3} [0-9]{1,13}\n.?\n\n\n", fullmatch=True)
)
def test_whatever_the_file_holds_it_is_a_failure_or_none(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        with open(file_of(where), "wb") as stream:
            stream.write(data)
        fault = hookfault.read(where, now=NOW)
        hookfault.worked(where, now=NOW)
        assert os.path.exists(file_of(where)) is (fault is not None)
        hookfault.note(where, "why", now=NOW)
        assert hookfault.read(where, now=NOW) is not None
        if fault is not None:
            time.gmtime(fault.since)
            time.gmtime(fault.worked or 0)


def make_symlink(path: str) -> None:
    hookfault.note(f"{path}.elsewhere", "theirs", now=NOW)
    os.symlink(file_of(f"{path}.elsewhere"), path)


@pytest.mark.parametrize("make", [make_symlink, os.mkdir, os.mkfifo])
def test_what_is_not_ours_is_not_believed(where: str, make: Callable[[str], None]) -> None:
    state.own(where)
    make(file_of(where))
    assert hookfault.read(where, now=NOW) is None
    hookfault.worked(where, now=NOW)
    hookfault.note(where, "ours", now=NOW)
    if make is not os.mkdir:
        fault = hookfault.read(where, now=NOW)
        assert fault is not None
        assert (fault.message, fault.count) == ("ours", 1)
    if make is make_symlink:
        theirs = hookfault.read(f"{file_of(where)}.elsewhere", now=NOW)
        assert theirs is not None
        assert (theirs.message, theirs.count, theirs.worked) == ("theirs", 1, None)


@pytest.mark.parametrize("kind", ["none", "symlink", "file", "nul"])
def test_a_state_directory_that_is_none_hurts_nobody(where: str, tmp_path: Path, kind: str) -> None:
    place: str | None = where
    if kind == "none":
        place = None
    elif kind == "symlink":
        hookfault.note(str(tmp_path / "elsewhere"), "theirs", now=NOW - 40 * DAY)
        os.makedirs(os.path.dirname(where))
        os.symlink(tmp_path / "elsewhere", where)
    elif kind == "file":
        os.makedirs(os.path.dirname(where))
        (tmp_path / "empty").write_bytes(b"")
        os.rename(tmp_path / "empty", where)
    else:
        place = "/\0"
    hookfault.note(place, "why", now=NOW)
    hookfault.worked(place, now=NOW)
    assert hookfault.read(place, now=NOW) is None
    if kind == "symlink":
        assert os.listdir(tmp_path / "elsewhere") == ["hook.fault"]


def test_C5_where_it_can_not_be_written_it_is_not_kept(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hookfault.note(where, "why", now=NOW)
    read_only(monkeypatch)
    hookfault.note(where, "other", now=NOW)
    hookfault.worked(where, now=NOW)
    fault = hookfault.read(where, now=NOW)
    assert fault is not None
    assert (fault.message, fault.worked) == ("why", None)


# The command


def test_H6_status_tells_of_it(where: str, notes: Path) -> None:
    del notes
    data = recall("status", "--json").data()
    assert data["hook_failure"] is None
    assert data["hook_refresh_failure"] is None
    assert recall("status").stderr == ""
    since = int(time.time()) - 3600
    for moment in (since, since + 60):
        hookfault.note(
            where, "it broke\x1b[2J\nerror: forged", where="/a b", hint="mend it", now=moment
        )
    first, last = (
        time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(each)) for each in (since, since + 60)
    )
    said = f"it broke\\x1b[2J\\nerror: forged (/a b); 2 times since {first}, last {last}"
    done = recall("status")
    assert done.status == 0
    assert done.stderr == f"warning: the prompt hook failed: {said}\nhint: mend it\n"
    data = recall("status", "--json").data()
    assert data["hook_refresh_failure"] is None
    assert data["hook_failure"] == {
        "when": last.replace(" ", "T") + "Z",
        "message": "it broke\\x1b[2J\\nerror: forged",
        "where": "/a b",
        "hint": "mend it",
        "count": 2,
        "since": first.replace(" ", "T") + "Z",
        "worked": None,
    }
    hookfault.worked(where, now=since + 120)
    again = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(since + 120))
    assert f"{said}; it worked again {again}\n" in recall("status").stderr


def test_H6_status_tells_of_the_refresh_beside_the_hook(where: str, notes: Path) -> None:
    del notes
    now = int(time.time())
    hookfault.note(where, "it broke", part=hookfault.REFRESH, now=now)
    shown = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now))
    assert recall("status").stderr == (
        f"warning: the refresh beside the prompt hook failed: it broke; {shown}\n"
    )
    data = recall("status", "--json").data()
    assert data["hook_failure"] is None
    assert data["hook_refresh_failure"]["count"] == 1


@pytest.mark.parametrize(
    ("config", "error"),
    [(None, "no directory of notes is configured"), ("[roots\n", "is not valid TOML")],
)
def test_H6_status_tells_of_the_hook_where_nothing_is_configured(
    where: str, home: Path, tmp_path: Path, config: str | None, error: str
) -> None:
    if config is not None:
        (home / ".config" / "recall").mkdir(parents=True)
        (home / ".config" / "recall" / "config.toml").write_text(config, encoding="utf-8")
    hookfault.note(where, "it broke", hint="mend it")
    pausing.pause(where, time.time() + 3600)
    done = recall("status", cwd=tmp_path)
    assert done.status == 4
    assert done.stdout.startswith("the prompt hook is paused until ")
    assert done.stderr.startswith("warning: the prompt hook failed: it broke; ")
    assert error in done.stderr
    told = recall("status", "--json", cwd=tmp_path)
    assert told.status == 4
    assert error in told.error()["message"]
    data = valid_envelope(told.raw)["data"]
    assert data["hook_failure"]["message"] == "it broke"
    assert data["paused"] is not None
    assert (data["roots"], data["left_out"], data["config"]) == ([], [], [])


def test_a_prompt_looks_at_the_file_that_is_kept(where: str) -> None:
    hookfault.note(where, "why", now=NOW)
    assert os.listdir(where) == [aftermath.FAULT_FILE]
