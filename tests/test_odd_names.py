"""C5: a cache directory whose name is not UTF-8, in which SQLite can open no file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hook_support import (
    KEYS,
    NOTES,
    ask,
    configure,
    event,
    fault,
    last_log,
    settle,
    state_directory,
    write,
)

from recall import hookfault

if TYPE_CHECKING:
    from pathlib import Path

WHY = "its name is not UTF-8"


@pytest.fixture
def cache(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give a root, and a cache directory with a byte in its name that is no character."""
    root = tmp_path / "notes"
    write(root, NOTES)
    configure(home)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    directory = os.fsdecode(os.fsencode(tmp_path) + b"/c\xe9")
    monkeypatch.setenv("XDG_CACHE_HOME", directory)
    return directory


@pytest.mark.parametrize("there", [False, True])
def test_C5_a_search_answers_from_memory_and_says_why(cache: str, there: bool) -> None:
    if there:
        os.makedirs(cache + "/recall", 0o700)
    done = recall("search", "deploy keys")
    assert done.status == 0
    assert "Rotate the deploy keys" in done.stdout
    assert f"no cache can be kept in {cache[:-1]}\\xe9/recall: {WHY}" in done.stderr
    assert recall("search", "deploy keys", "--json").data()["items"]
    assert recall("search", "deploy keys", "--no-refresh").status == 0


def test_C5_a_refresh_says_why_nothing_is_kept(cache: str) -> None:
    del cache
    done = recall("refresh")
    assert done.status == 0
    assert WHY in done.stderr


@pytest.mark.parametrize("arguments", [["rebuild"], ["rebuild", "--check"], ["cache", "list"]])
def test_C5_what_needs_a_file_is_an_error_that_says_why(cache: str, arguments: list[str]) -> None:
    os.makedirs(cache + "/recall", 0o700)
    done = recall(*arguments)
    assert done.status == 6
    assert WHY in done.stderr
    assert "\\xe9/recall" in done.stderr
    assert "hint: name another directory in XDG_CACHE_HOME\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_C5_status_says_why(cache: str) -> None:
    del cache
    done = recall("status")
    assert done.status == 0
    assert f"its cache can't be read now: {WHY}\n" in done.stderr
    assert "Errno" not in done.stdout + done.stderr


@pytest.mark.parametrize("other", [False, True])
def test_C5_the_hook_is_silent_says_why_and_starts_nothing(cache: str, other: bool) -> None:
    if other:  # what lies there is none of ours
        os.makedirs(cache + "/recall", 0o700)
        with open(cache + "/recall/other.db", "wb"):
            pass
    assert ask(KEYS).stdout == b""
    assert last_log("why") == ("unusable",)
    assert WHY in fault().message
    assert fault().where == f"{cache[:-1]}\\xe9/recall"
    assert ask(KEYS).stdout == b""
    assert fault().count == 2
    assert settle() == 0
    assert not os.path.exists(os.path.join(state_directory(), "background"))
    told = hookfault.read(state_directory(), hookfault.REFRESH)
    assert told is not None
    assert WHY in told.message


def test_C5_explain_says_why(cache: str) -> None:
    del cache
    done = recall("hook", "--explain", stdin=event(KEYS))
    assert done.status == 0
    assert WHY in done.stdout + done.stderr
