"""What a person at a terminal sees: colour, folded lines, and that nothing was found."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = 40


def on_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Run ``recall`` with its output on a terminal; return its status and what was shown."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, COLUMNS))
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:
        pass  # Linux's way to say that the other end was closed
    finally:
        os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys.md").write_text(
        "---\ntitle: Rotate the deploy keys of every environment each quarter\n"
        "status: deprecated\nmodified: 2026-03-01\n---\n"
        "Filler words come first here. 2. Forged by wrapping at the edge of the terminal.\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={tmp_path}")


def test_lines_are_folded_and_coloured() -> None:
    status, shown = on_terminal("search", "deploy", "keys")
    assert status == 0
    assert "\x1b[1m1. Rotate the \x1b[0m\x1b[1;4mdeploy\x1b[0m\x1b[1m " in shown
    assert "\x1b[33m   STALE: " in shown
    lines = re.sub(r"\x1b\[[\d;]+m|\x1b\]8;;[^\x1b]*\x1b\\", "", shown).splitlines()
    assert all(len(line) <= COLUMNS for line in lines)
    assert [line for line in lines if not line.startswith("   ")] == lines[:1]


def test_the_path_is_a_link_where_terminals_show_links(tmp_path: Path) -> None:
    link = f"\x1b]8;;file://{os.uname().nodename}{tmp_path}/keys.md\x1b\\"
    assert link in on_terminal("search", "deploy", "keys")[1]
    shown = on_terminal("search", "deploy", "keys", TERM="linux")[1]
    assert "\x1b]" not in shown
    assert "\x1b[1;4mdeploy" in shown


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_nothing_is_marked_where_colour_is_off(environment: dict[str, str]) -> None:
    assert "\x1b" not in on_terminal("search", "deploy", "keys", **environment)[1]


def test_no_color_is_honoured() -> None:
    status, shown = on_terminal("search", "deploy", "keys", NO_COLOR="1")
    assert status == 0
    assert shown.startswith("1. Rotate the deploy keys")
    assert "\x1b" not in shown


def test_a_person_is_told_that_nothing_was_found() -> None:
    assert on_terminal("search", "zebra") == (0, "nothing found\n")
