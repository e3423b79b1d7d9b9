"""The README's commands do what it says, as written, in a clean copy and an empty environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from registry_support import succeed

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"


def block(marker: str) -> str:
    """Return the fenced block that follows a marker in the README."""
    found = re.search(
        rf"<!-- {marker} -->\n```\w+\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found, f"README.md has no block after <!-- {marker} -->"
    return found[1]


def paste(command: str, where: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a person with an empty environment would."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {"PATH": path, "HOME": str(home), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    environ |= {name: value for name, value in os.environ.items() if name == "RECALL_DEADLINE_MS"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=where,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def undated(text: str) -> str:
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", "DATE", text)


def test_the_first_command_installs_and_answers(tmp_path: Path) -> None:
    copy = tmp_path / "recall"
    unwanted = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=unwanted)
    home = tmp_path / "home"
    home.mkdir()
    done = paste(block("start"), copy, home)
    succeed(done)
    first, place = done.stdout.splitlines()[:2]
    assert first == "1. The canonical view"
    assert "spec/canonical-view.md" in place


def test_the_transcript_is_what_the_program_prints(tmp_path: Path) -> None:
    command, _, shown = block("transcript").partition("\n")
    assert command.startswith("$ recall ")
    done = paste(command.removeprefix("$ "), ROOT, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert undated(done.stdout) == undated(shown)


def test_the_hooks_transcript_is_what_the_hook_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lines pasted one after the other, with nothing configured."""
    lines = block("hook").splitlines(keepends=True)
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert lines[: len(commands)] == [f"$ {command}" for command in commands]
    # A busy machine may need more than the usual deadline.
    monkeypatch.setenv("RECALL_DEADLINE_MS", "10000")
    done = paste("".join(commands), ROOT, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert undated(done.stdout) == undated("".join(lines[len(commands) :]))
