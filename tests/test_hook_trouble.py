"""Whatever is wrong, the prompt hook exits 0, its answer is well formed, and the fault is told."""

# The codes of reported faults (H3, H6, C4, C5) are written as they are.

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hook_support import (
    CONFIG,
    HUGE,
    KEYS,
    PROGRAM,
    TITLE,
    Said,
    ask,
    configure,
    event,
    fault,
    files,
    hold_off,
    hook,
    index,
    last_log,
    no_fault,
    run,
    state_directory,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


# H3: what comes in

BAD: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t",
    "binary": bytes(range(256)) * 40,
    "nul": b"\0",
    "cut": b'{"hook_event_name": "UserPromptSubmit", "prompt": "de',
    "list": b"[1]",
    "number": b"7",
    "null": b"null",
    "no event": b'{"prompt": "deploy keys"}',
    "event of another": b'{"hook_event_name": "Stop", "prompt": "deploy keys"}',
    "event of a wrong type": b'{"hook_event_name": ["UserPromptSubmit"], "prompt": "deploy keys"}',
    "prompt of a wrong type": b'{"hook_event_name": "UserPromptSubmit", "prompt": {"a": 1}}',
    "no prompt": b'{"hook_event_name": "UserPromptSubmit"}',
    "deep": b"[" * 200_000,
    "deep in a field": b'{"prompt": ' + b'{"a":' * 100_000,
    "a long number": b'{"hook_event_name": ' + b"9" * 10_000 + b"}",
    "huge": b'{"hook_event_name": "UserPromptSubmit", "prompt": "' + b"a" * HUGE,
}


@pytest.mark.parametrize("name", BAD)
def test_H3_bad_input_is_silence_and_is_told(notes: Path, name: str) -> None:
    del notes
    hold_off()
    assert hook(BAD[name]).block == ""
    assert hook(BAD[name], "--host", "gemini").stdout == b"{}\n"
    told = fault()
    assert told.message.startswith("what the host sent ")
    # A host that is named needs no name of its event.
    assert told.count == 1 + (name != "no event")


@pytest.mark.parametrize("name", ["no session", "odd types", "surrogate", "bom", "utf-16", "long"])
def test_H3_odd_input_is_answered(notes: Path, name: str) -> None:
    del notes
    index()
    hold_off()
    data = {
        "no session": event(KEYS),
        "odd types": event(KEYS, session_id=7, cwd=["x"], source={}, transcript_path=1),
        "surrogate": event(KEYS + " \ud800"),
        "bom": b"\xef\xbb\xbf" + event(KEYS) + b"\r\n",
        "utf-16": event(KEYS).decode().encode("utf-16"),
        "long": event(f"{KEYS}\n" + "lorem ipsum dolor " * 60_000),
    }[name]
    if name == "long":  # a megabyte: whatever it recalls, it is in good form
        assert hook(data).status == 0
    else:
        assert hook(data).titles == [TITLE]
    assert no_fault()


CLOSED = """
import os, sys
os.close({number})
os.execv(sys.executable, [sys.executable, "-c", {program!r}, *sys.argv[1:]])
"""


def with_closed(number: int, data: bytes, *arguments: str) -> Said:
    """Run the hook with one of its streams closed."""
    program = CLOSED.format(number=number, program=PROGRAM.format(roomy=True, first=""))
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        input=data if number else b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def test_H3_closed_stdin(notes: Path) -> None:
    del notes
    assert with_closed(0, b"").block == ""
    assert fault().message.startswith("what the host sent can't be read: ")
    assert with_closed(0, b"", "--host", "gemini").stdout == b"{}\n"


def test_H3_closed_stdout_costs_nothing_and_counts_as_not_shown(notes: Path) -> None:
    index()
    hold_off()
    before = files(str(notes), os.environ["XDG_CACHE_HOME"])
    assert with_closed(1, event(KEYS, session_id="s")).stdout == b""
    assert last_log("decision", "why", "cards") == ("silent", "nobody read it", [])
    # The answer went into no file that was opened in its place.
    after = {**before, **files(str(notes), os.environ["XDG_CACHE_HOME"], state_directory())}
    assert not [path for path, data in after.items() if b"Reference notes" in data]
    assert ask(KEYS, "s").titles == [TITLE]


def test_H3_closed_stderr(notes: Path) -> None:
    del notes
    index()
    hold_off()
    assert with_closed(2, event(KEYS)).titles == [TITLE]


def test_H3_a_reader_that_has_gone(notes: Path) -> None:
    del notes
    index()
    hold_off()
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        run(PROGRAM.format(roomy=True, first="")),
        input=event(KEYS, session_id="s"),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert last_log("why") == ("nobody read it",)
    assert ask(KEYS, "s").titles == [TITLE]


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["prompt"], ["--host"], [""], ["-x", "--host", "gemini"], ["--\udcff"]],
)
def test_H3_unknown_options_are_silence_and_told(notes: Path, arguments: list[str]) -> None:
    del notes
    said = hook(event(KEYS), *arguments)
    assert said.stdout == (b"{}\n" if "gemini" in arguments else b"")
    assert said.block == ""
    kept = fault()
    assert kept.message.startswith("the hook is called with ")
    assert kept.hint == "correct the command in the host's settings: recall hook --help"


@pytest.mark.parametrize("host", ["cursor", "", "Claude", "x" * 5000])
def test_H3_an_unknown_host_is_silence_and_told(notes: Path, host: str) -> None:
    del notes
    assert hook(event(KEYS), "--host", host).block == ""
    assert "there is no host" in fault().message


# H3: where it runs


def test_H3_without_a_home_it_is_silent(notes: Path) -> None:
    del notes
    env = {name: None for name in os.environ if name.startswith("XDG_")}
    for home in ("", "relative", "~", "/dev/null", "/proc/nowhere"):
        assert hook(event(KEYS), env={**env, "HOME": home}).block == ""
        said = hook(event(KEYS), "--host", "gemini", env={**env, "HOME": home})
        assert said.stdout == b"{}\n"


def test_C5_an_empty_environment_is_enough(notes: Path, home: Path) -> None:
    """As under ``env -i``: the home is that of the user database."""
    index()
    configure(home, f'{CONFIG}[roots]\nnotes = "{notes}"\n')
    env: dict[str, str | None] = dict.fromkeys(os.environ)
    env["PYTHONPATH"] = os.environ.get("PYTHONPATH")
    first = f"from recall import dirs\ndirs.home_of = lambda user: {str(home)!r}\n"
    # What it starts must not find the home of whoever runs the test.
    first += "from recall import background\nbackground.start = lambda *_: None\n"
    assert hook(event(KEYS), env=env, first=first).titles == [TITLE]
    assert no_fault()


def test_H3_the_working_directory_is_gone(notes: Path, tmp_path: Path) -> None:
    del notes
    index()
    hold_off()
    gone = tmp_path / "gone"
    gone.mkdir()
    first = f"import os\nos.rmdir({str(gone)!r})"
    assert hook(event(KEYS, cwd=None), cwd=gone, first=first).titles == [TITLE]
    assert hook(event(KEYS, cwd=str(gone))).titles == [TITLE]
    assert no_fault()


@pytest.mark.parametrize(
    "text", ["[hook", "[hook]\nsensitivity = 7\n", "\0", "[hook]\nunknown = 1\ndeadline_ms = 1\n"]
)
def test_H3_a_broken_configuration_is_silence_and_told(notes: Path, home: Path, text: str) -> None:
    del notes
    index()
    configure(home, text)
    assert hook(event(KEYS)).block == ""
    assert hook(event(KEYS), "--host", "gemini").stdout == b"{}\n"
    assert recall("status").status == 4
    configure(home)
    kept = fault()
    assert kept.count == 2
    assert kept.where is not None
    assert "config.toml" in kept.where


def test_H3_a_configuration_that_is_no_utf8(notes: Path, home: Path) -> None:
    del notes
    configure(home)
    (home / ".config" / "recall" / "config.toml").write_bytes(b"\xff\xfe[hook]")
    assert hook(event(KEYS)).block == ""
    configure(home)
    assert fault().message


def test_H3_a_root_that_is_gone_shows_nothing_of_it(notes: Path) -> None:
    index()
    hold_off()
    shutil.rmtree(notes)
    assert hook(event(KEYS)).block == ""
    assert recall("status", "--json").data()["left_out"]


def test_H3_one_of_two_roots_is_gone(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    write(other, {"merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    monkeypatch.setenv("RECALL_ROOTS", f"notes={notes}:other={other}")
    index()
    shutil.rmtree(other)
    hold_off()
    assert ask(KEYS).titles == [TITLE]
    assert ask("which way does the merlin perch face?").titles == []


def _a_file(path: Path) -> None:
    path.write_bytes(b"")


def _a_symlink(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    elsewhere.mkdir()
    path.symlink_to(elsewhere)


def _a_broken_symlink(path: Path) -> None:
    path.symlink_to("nowhere/at/all")


def _a_fifo(path: Path) -> None:
    os.mkfifo(path)


ODD: list[Callable[[Path], None]] = [_a_file, _a_symlink, _a_broken_symlink, _a_fifo]


@pytest.mark.parametrize("put", ODD)
def test_H3_something_else_in_the_place_of_the_state_directory(
    notes: Path, home: Path, put: Callable[[Path], None]
) -> None:
    del notes
    index()
    where = home / ".local" / "state" / "recall"
    where.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(where, ignore_errors=True)
    put(where)
    before = files(str(home / ".local"))
    for _ in range(2):  # nothing can be kept: what was shown may come again
        assert ask(KEYS, "s").titles == [TITLE]
    assert files(str(home / ".local")) == before


@pytest.mark.parametrize("put", ODD)
def test_H3_something_else_in_the_place_of_the_cache_directory(
    notes: Path, home: Path, put: Callable[[Path], None]
) -> None:
    del notes
    hold_off()
    where = home / ".cache" / "recall"
    shutil.rmtree(where, ignore_errors=True)
    where.parent.mkdir(parents=True, exist_ok=True)
    put(where)
    assert hook(event(KEYS)).block == ""
    assert not os.path.isdir(where) or os.listdir(where) == []


BOUND = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import rights_support
bound = rights_support.bound_by_modes()
bound.__enter__()
"""


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("mode", [0o555, 0o500])
def test_C5_a_cache_that_can_only_be_read_answers(home: Path, mode: int) -> None:
    index()
    hold_off()
    cache = home / ".cache" / "recall"
    cache.chmod(mode)
    said = ask(KEYS, "s", first=BOUND)
    again = ask(KEYS, "s", first=BOUND)
    cache.chmod(0o700)
    assert said.titles == [TITLE]
    assert again.titles == []


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_C5_a_state_directory_that_can_not_be_written(home: Path, mode: int) -> None:
    index()
    hold_off()
    state = home / ".local" / "state" / "recall"
    for place, _, _ in os.walk(state):
        os.chmod(place, 0o500)
    state.chmod(mode)
    said = ask(KEYS, "s", first=BOUND)
    state.chmod(0o700)
    assert said.titles == [TITLE]
