"""Roots of records for the tests of ``spec/reading.md``, and running commands without a process."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from cli_support import Result

from recall.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def note(text: str = "The vault.\n", **fields: Any) -> str:
    """Return a note with a metadata block, whose values are JSON and so YAML."""
    block = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    return f"---\n{block}---\n{text}"


def fill(root: Path, notes: Mapping[str, str | bytes]) -> None:
    """Write the files of a root."""
    for name, text in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)


def settle(root: Path, seconds: float = 60) -> None:
    """Let all files and directories of a root be old: none is suspect."""
    then = os.stat(root).st_mtime - seconds
    for directory, names, files in os.walk(root):
        for name in [*names, *files]:
            os.utime(os.path.join(directory, name), (then, then))
    os.utime(root, (then, then))


def configure(home: Path, *roots: Path, more: str = "") -> None:
    """Name roots in the person's own configuration."""
    path = home / ".config" / "recall" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'{root.name} = {{ path = "{root}", jsonl = true }}\n' for root in roots]
    path.write_text("[roots]\n" + "".join(lines) + more, encoding="utf-8")


def said(*arguments: str, stdin: bytes = b"") -> Result:
    """Run a command in this process; return what it left."""
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdout, sys.stderr, sys.stdin
    sys.stdout = io.TextIOWrapper(out, "utf-8", errors="surrogateescape")
    sys.stderr = io.TextIOWrapper(err, "utf-8", errors="backslashreplace")
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        status = main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return Result(status, out.getvalue(), err.getvalue())
    finally:
        sys.stdout, sys.stderr, sys.stdin = before


def refused(*arguments: str) -> str:
    """Return the message of a command that is refused as wrong usage, with a hint."""
    error = said(*arguments, "--json").error()
    assert error["code"] == "invalid_input", error
    assert error["hint"]
    told = said(*arguments)
    assert (told.status, told.stdout) == (4, "")
    assert "\nhint: " in told.stderr
    message: str = error["message"]
    return message


def in_nfc(text: str) -> str:
    """Return a text as ids are compared."""
    return normalize("NFC", text)


@contextmanager
def changed(path: Path, text: str) -> Iterator[None]:
    """Let a file say something else for a while."""
    before = path.read_bytes()
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_bytes(before)
