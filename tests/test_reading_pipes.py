"""What is written is complete through any pipe, and as processes that people run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_support import recall, valid_envelope
from hook_support import settle
from reading_support import configure, fill, note

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# Of a note: many times what a pipe holds.
TEXTS = {name: f"{name}ä{'-' * 500}\n" * 600 for name in ("a", "b")}
FULL = "error: the output can't be written: No space left on device\n"


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "notes"
    fill(made, {f"{name}.md": note(text, id=name) for name, text in TEXTS.items()})
    configure(home, made)
    monkeypatch.chdir(tmp_path)
    assert recall("refresh").status == 0
    return made


def start(*arguments: str, writer: int, unbuffered: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "recall", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("arguments", [["export", "a", "b"], ["get", "a", "b", "--json"]])
def test_a_reader_that_is_slow_gets_all(
    arguments: list[str], unbuffered: str, blocking: bool
) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, blocking)
    process = start(*arguments, writer=writer, unbuffered=unbuffered)
    os.close(writer)
    parts = []
    while part := os.read(reader, 50_001):
        parts.append(part)
    os.close(reader)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")
    made = json.loads(b"".join(parts))
    records = made["records"] if "records" in made else made["data"]["items"]
    assert [each["content"] for each in records] == [*TEXTS.values()]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["export", "get"])
@pytest.mark.parametrize("first", [0, 100_000])
def test_a_reader_that_goes_away_has_seen_enough(command: str, unbuffered: str, first: int) -> None:
    reader, writer = os.pipe()
    process = start(command, "a", "b", writer=writer, unbuffered=unbuffered)
    os.close(writer)
    while first > 0:
        first -= len(os.read(reader, first))
    os.close(reader)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")


@pytest.mark.usefixtures("root")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has /dev/full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        process = start("export", "a", writer=full.fileno(), unbuffered="")
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.decode()) == (6, FULL)


@pytest.mark.parametrize("named", [True, False])
def test_the_refresh_beside_it_takes_in_what_was_edited_in_place(
    root: Path, home: Path, named: bool
) -> None:
    if named:
        (home / ".config" / "recall" / "config.toml").unlink()
    where = ["--root", "./notes"] if named else []
    fill(root, {"c.md": note(id="c", created="2026-01-01")})
    assert recall("refresh", *where).status == 0
    fill(root, {"c.md": note(id="c", created="2026-02-02")})
    settle()
    anchor = ["timeline", "--anchor", "2026-02-02", "--before", "0", "--json", *where]
    items: list[dict[str, Any]] = []
    for _ in range(100):  # until the last refresh is two seconds old, and another one is over
        items = recall(*anchor, "--after", "0").data()["items"]
        settle()
        if items:
            break
    assert [each["id"] for each in items] == ["c"]


@pytest.mark.usefixtures("root")
def test_as_people_run_them() -> None:
    """Each in a process of its own, with the refresh that it leaves behind."""
    for arguments in (["get", "a"], ["timeline", "--anchor", "2026-01-01"], ["export", "a"]):
        done = recall(*arguments)
        assert (done.status, done.stderr) == (0, "")
    for arguments in (["get", "a"], ["timeline", "--anchor", "2026-01-01"], ["export", "a"]):
        assert valid_envelope(recall(*arguments, "--json").raw)["ok"]
