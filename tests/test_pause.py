"""``recall pause`` and ``recall resume``: what they say, what they leave, and strange files."""

# The codes of reported faults (C5) are written as they are.

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import InvalidInput
from recall import pausing
from recall.durations import seconds_of

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_800_000_000.0


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


# Durations


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("30m", 1800),
        ("1h", 3600),
        ("2d", 172_800),
        ("007s", 7),
        ("3650d", 315_360_000),
    ],
)
def test_durations(text: str, seconds: int) -> None:
    assert seconds_of(text, "x") == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "h",
        "1",
        "1 h",
        " 1h",
        "1h ",
        "1H",
        "-1h",
        "+1h",
        "1.5h",
        "1h30m",
        "1w",
        "٣h",
        "²s",
        "1_0s",
        "0s",
        "3651d",
        "9" * 5000 + "s",
        "1h\n",
        "\0h",
        "soon",
    ],
)
def test_what_is_no_duration_is_said_with_what_is_one(text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        seconds_of(text, "recall pause")
    assert raised.value.hint == "write a whole number and its unit: 90s, 30m, 1h or 2d"
    assert len(raised.value.message) < 100


# The file


@pytest.mark.parametrize("until", [NOW + 1, NOW + 0.2, pausing.UNTIL_RESUMED])
def test_a_pause_lasts_until_its_end(where: str, until: float) -> None:
    assert pausing.paused(where, NOW) is None
    pausing.pause(where, until)
    kept = pausing.paused(where, NOW)
    assert kept is not None
    assert until <= kept
    assert kept == until or kept < until + 1
    assert pausing.paused(where, NOW + 1e9) == (kept if until == pausing.UNTIL_RESUMED else None)
    assert pausing.fault(where) is None
    assert pausing.resume(where, NOW)
    assert pausing.paused(where, NOW) is None
    assert not pausing.resume(where, NOW)


def test_no_home_is_no_pause() -> None:
    assert pausing.paused(None, NOW) is None
    assert pausing.fault(None) is None


def test_C5_the_file_is_private_whatever_the_umask(where: str) -> None:
    before = os.umask(0)
    try:
        pausing.pause(where, NOW)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(where).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(pausing.pause_file(where)).st_mode) == 0o600


@given(st.one_of(st.binary(max_size=80), st.from_regex(rb"[0-9 .\-+e]{0,20}\n?", fullmatch=True)))
def test_whatever_the_file_holds_it_is_a_pause_or_none(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as where:
        with open(pausing.pause_file(where), "wb") as stream:
            stream.write(data)
        until = pausing.paused(where, NOW)
        assert until is None or until > NOW
        # What pauses for no reason that can be told would be silence without an end.
        assert until is None or pausing.fault(where) is None


@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink", "garbage"])
def test_what_is_not_ours_pauses_nothing_and_status_says_so(
    where: str, notes: Path, tmp_path: Path, kind: str
) -> None:
    del notes
    os.makedirs(where)
    path = pausing.pause_file(where)
    other = tmp_path / "other"
    other.write_bytes(b"resumed\n")
    if kind == "directory":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "symlink":
        os.symlink(other, path)
    else:
        with open(path, "wb") as stream:
            stream.write(b"tomorrow\n")
    assert pausing.paused(where, NOW) is None
    assert pausing.fault(where)
    done = recall("status")
    assert done.stderr.startswith("warning: whether the prompt hook is paused can't be told: ")
    assert recall("status", "--json").data()["paused"] is None
    done = recall("resume")
    if kind == "directory":
        assert done.status in {4, 6}
        assert done.stderr.startswith("error: the pause can't be ended: ")
    else:
        assert (done.status, done.stdout) == (0, "it was not paused\n")
        assert pausing.fault(where) is None
    assert other.read_bytes() == b"resumed\n"


# The commands


def test_pausing_and_resuming(where: str, notes: Path) -> None:
    del notes
    assert recall("status", "--json").data()["paused"] is None
    assert "paused" not in recall("status").stdout
    done = recall("pause")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == 'the prompt hook is paused until "recall resume"\n'
    assert pausing.paused(where, time.time()) == pausing.UNTIL_RESUMED
    assert recall("status").stdout.startswith(done.stdout)
    assert recall("status", "--json").data()["paused"] == {"until": None}
    assert recall("resume").stdout == "the prompt hook speaks again\n"
    assert recall("resume").stdout == "it was not paused\n"
    assert "paused" not in recall("status").stdout


def test_pausing_for_a_while(where: str, notes: Path) -> None:
    del notes
    recall("pause")
    before = time.time()
    data = recall("pause", "1h", "--json").data()
    until = pausing.paused(where, before)
    assert until is not None
    assert before + 3600 <= until <= time.time() + 3601
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(until))
    # To the second: the file says the end of it.
    assert (data["paused"], data["changed"]) == (True, True)
    assert data["until"] == shown
    assert recall("status", "--json").data()["paused"] == {"until": shown}
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(until))
    line = f"the prompt hook is paused until {text}; recall resume ends it\n"
    assert recall("status").stdout.startswith(line)
    assert recall("resume", "--json").data()["changed"] is True
    assert recall("resume", "--json").data() == {
        "paused": False,
        "until": None,
        "changed": False,
        "notices": [],
    }


def test_a_pause_that_is_over_is_none(where: str, notes: Path) -> None:
    del notes
    pausing.pause(where, time.time() - 5)
    assert recall("status", "--json").data()["paused"] is None
    assert recall("resume").stdout == "it was not paused\n"
    assert not os.path.exists(pausing.pause_file(where))


def test_a_wrong_duration_changes_nothing(where: str) -> None:
    done = recall("pause", "1 hour")
    assert (done.status, done.stdout) == (4, "")
    assert done.stderr == (
        'error: "1 hour" is no length of time\nwhere: recall pause\n'
        "hint: write a whole number and its unit: 90s, 30m, 1h or 2d\n"
    )
    assert recall("pause", "\x1b[2J", "--json").error()["code"] == "invalid_input"
    assert not os.path.exists(where)


def test_C5_where_it_can_not_be_recorded_it_is_said(home: Path) -> None:
    (home / ".local").mkdir()
    (home / ".local" / "state").write_bytes(b"")
    for command in ("pause", "resume"):
        done = recall(command)
        if command == "pause":
            assert done.status in {4, 6}
            assert done.stderr.startswith("error: the pause can't be recorded: ")
        else:
            assert done.stdout == "it was not paused\n"
    done = recall("pause", env={"HOME": "", "XDG_STATE_HOME": ""})
    assert done.status == 4
    assert "set HOME to an absolute path" in done.stderr
