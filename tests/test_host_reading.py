"""What hosts don't read of settings that people have: it is said, with its line, and left alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_support import Result, recall
from install_support import GOOD

from recall.hostfiles import HOST_FILES
from recall.hostreading import unread
from recall.jsonedit import Document

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json"}
FILES["gemini"] = ".gemini/settings.json"
IGNORES = "ignores the file as it stands, and the hook in it: it has "
STOPS = "Gemini CLI does not start with the file as it stands: it has "
MARK = b"\xef\xbb\xbf"
# A file, by host what is said of it, and the line.
CASES: dict[str, tuple[bytes, dict[str, tuple[str, int]]]] = {
    "comment": (
        b'{\n  // none\n  "hooks": {}\n}\n',
        {"claude": ("a comment", 2), "codex": ("a comment", 2)},
    ),
    "comments": (
        b"/* mine\n   alone */\n{\n  // hooks\n}\n",
        {"claude": ("a comment (one of 2)", 1), "codex": ("a comment (one of 2)", 1)},
    ),
    "trailing comma": (
        b'{\r\n  "hooks": {"Stop": []},\r\n}\r\n',
        dict.fromkeys(FILES, ("a comma behind the last element", 2)),
    ),
    "byte order mark": (
        MARK + b"{}\n",
        {"codex": ("a byte order mark", 1), "gemini": ("a byte order mark", 1)},
    ),
    "unknown key": (b'{"description": "mine",\n "a": 1}\n', {"codex": ('the key "a"', 2)}),
    "empty": (b"", {}),
    "blank": (b"\n \n", {}),
    "usual": (b'{"hooks": {"Stop": []}}', {}),
    "like a comment": (b'{"hooks": {"x": "// ,}"}}', {}),
}


def run(host: str, action: str) -> Result:
    return recall("hook", action, "--host", host)


def told(host: str, name: str, file: Path) -> str:
    """Return the warning that a case must bring, "" for none."""
    what, line = CASES[name][1].get(host, ("", 0))
    head = STOPS if host == "gemini" else f"{HOST_FILES[host].title} {IGNORES}"
    return f"warning: {head}{what} in line {line} ({file}:{line})\n" if what else ""


@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("name", CASES)
def test_what_a_host_does_not_read_is_said_and_stays(home: Path, host: str, name: str) -> None:
    file = home / FILES[host]
    file.parent.mkdir()
    data = CASES[name][0]
    file.write_bytes(data)
    said = told(host, name, file)
    for action in ("install", "install", "status"):
        done = run(host, action)  # the last one is looked at below, too
        assert done.status == 0
        if done.stdout.startswith("installed"):
            assert ("first mend the file as the warnings say" in done.stdout) == bool(said)
        first, _, hint = done.stderr.partition("hint: ")
        assert first == said
        assert hint.endswith(", in an editor; recall leaves it as it is\n") or not said
    if not said:
        assert b'"hooks"' in file.read_bytes()
    if not data.strip():
        assert list(json.loads(file.read_bytes())) == ["hooks"]
    (one,) = [
        each
        for each in recall("hook", "status", "--host", host, "--json").data()["installations"]
        if each["scope"] == "user"
    ]
    assert len(one["unread"]) == bool(said)
    assert ("can't read this file" in done.stdout) == bool(said)
    assert run(host, "uninstall").stderr == ""
    assert file.read_bytes() == data
    # Where the hook is not, nobody is told what else may be wrong with the file.
    assert run(host, "status").stderr == ""


@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("data", GOOD.values(), ids=list(GOOD))
def test_what_is_strict_json_and_empty_or_not_is_told_as_the_host_reads_it(
    host: str, data: bytes
) -> None:
    mark = data.startswith(MARK)
    text = data.removeprefix(MARK).decode()
    document = Document(text)
    minds = HOST_FILES[host].minds
    found = unread(HOST_FILES[host], document, mark=mark)
    lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert all(1 <= each.line <= lines for each in found)
    try:
        value = json.loads(text)
        strict = True
    except ValueError:
        value, strict = {}, False
    if strict and not (mark and "mark" in minds) and host != "codex":
        assert not found
    if not strict and not document.comments:
        assert found or (host == "claude" and document.is_empty)
    if host == "codex" and strict:
        extra = sorted(set(value) - {"hooks", "description"})
        assert len(found) == len(extra) + mark


def test_dry_run_warns_as_well(home: Path) -> None:
    file = home / FILES["codex"]
    file.parent.mkdir()
    file.write_bytes(CASES["comment"][0])
    done = recall("hook", "install", "--host", "codex", "--dry-run")
    assert done.stderr.startswith(told("codex", "comment", file))
    assert file.read_bytes() == CASES["comment"][0]
