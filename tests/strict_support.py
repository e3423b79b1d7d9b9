"""A strict root and what is planted in it, for the tests of ``spec/strict.md``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cli_support import valid_envelope

from recall.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    Output = pytest.CaptureFixture[bytes]

GOOD = "---\nid: GOOD\ncreated: 2026-01-01\n---\n# The kestrel feeder\n\nIt drops pellets.\n"
QUESTION = "kestrel feeder"


def configure(home: Path, **roots: Mapping[str, object]) -> None:
    """Write the person's configuration; each root is a table."""
    file = home / ".config" / "recall" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    tables = []
    for name, keys in roots.items():
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        tables.append("\n".join([f"[roots.{name}]", *lines, ""]))
    file.write_text("\n".join(tables), encoding="utf-8")


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, its directories as well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def run(output: Output, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Run a command with ``--json``; return its status and its envelope, which is a valid one."""
    output.readouterr()
    status = main([*arguments, "--json"])
    out, err = output.readouterr()
    assert err == b""
    return status, valid_envelope(out)


def found(output: Output, *arguments: str) -> list[str]:
    """Return the paths that a search finds."""
    status, envelope = run(output, "search", QUESTION, *arguments)
    assert (status, envelope["error"]) == (0, None), envelope
    return [card["path"] for card in envelope["data"]["items"]]


def refused(output: Output, *arguments: str) -> dict[str, Any]:
    """Return the error with which a command refuses a strict root."""
    status, envelope = run(output, *arguments)
    assert status == 4, envelope
    error: dict[str, Any] = envelope["error"]
    assert error["code"] == "integrity_error"
    assert error["message"].startswith("strict root ")
    assert error["hint"]
    return error


def violations(output: Output, *arguments: str) -> list[tuple[str | None, int | None, str]]:
    """Return what ``recall status`` lists of the one root: path, line and kind."""
    status, envelope = run(output, "status", *arguments)
    assert status == 0
    (root,) = envelope["data"]["roots"]
    told = root["violations"]
    assert told["count"] == sum(told["by_kind"].values())
    return [(each["path"], each["line"], each["kind"]) for each in told["items"]]
