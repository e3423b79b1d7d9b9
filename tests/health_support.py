"""An installation on which all is well, made once and put back for each test, and its faults."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli_support import recall, valid_envelope
from hook_support import hold_off

from index_cache import db
from index_cache.model import Root
from recall import proofs, recalllog
from recall.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTES = {
    "keys.md": "# Rotate the deploy keys\n\nThe deploy keys live in the vault.\n",
    "kestrel.md": "# Kestrel feeder\n\nThe feeder drops pellets at dawn.\n",
    "sub/sqlite.md": "# Why SQLite\n\nIt checkpoints its write-ahead log by itself.\n",
}
PROMPT = "where do the deploy keys live in the vault?"
DAY = 86_400.0


class Place:
    """A person's home and notes, both below ``top``."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / "home"
        self.notes = top / "notes"
        self.state = self.home / ".local" / "state" / "recall"
        self.caches = self.home / ".cache" / "recall"
        self.config = self.home / ".config" / "recall" / "config.toml"
        self.settings = self.home / ".claude" / "settings.json"

    @property
    def environ(self) -> dict[str, str]:
        """The variables that make this the home."""
        return {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "RECALL_DEADLINE_MS": "10000",
        }

    @property
    def root(self) -> Root:
        """The root that is configured."""
        return Root("notes", str(self.notes))

    @property
    def cache(self) -> Path:
        """Its cache file."""
        return Path(db.cache_path(str(self.caches), self.root))

    @property
    def lock(self) -> Path:
        """The file whose time says when the cache was last found fresh."""
        return self.cache.with_suffix(".lock")

    @property
    def proof(self) -> Path:
        """The file that says what the last proof has shown."""
        return self.state / proofs.name_of(db.identity(self.root))

    @property
    def log(self) -> Path:
        """The recall log."""
        return self.state / recalllog.FILE

    def write(self, name: str, text: str | bytes) -> None:
        """Write a note."""
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def run(self, *words: str, status: int = 0) -> str:
        """Run a command; return what it printed."""
        ended, printed = within(*words)
        assert ended == status, printed
        return printed.decode()

    def prompt(self, text: str = PROMPT) -> None:
        """Let the hook run, as its host would, and start no refresh that would outlive the test."""
        hold_off(str(self.home))
        for lock in (self.state / "background").glob("*.lock"):
            os.utime(lock, (0, 0))  # no trace of the hook's own
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": text}
        event["cwd"] = str(self.home)
        recall("hook", "--host", "claude", stdin=json.dumps(event).encode(), cwd=self.home)

    def health(self, *words: str) -> Any:
        """Return what health says as data."""
        status, printed = within("health", "--json", *words)
        envelope = valid_envelope(printed)
        data = envelope["data"]
        assert status == (2 if data["level"] == "critical" else 0)
        assert envelope["ok"] == (status == 0)
        return data

    def found(self, code: str, *words: str, only: bool = True) -> Any:
        """Return the one finding of a code; fail if there are others, unless ``only`` is false."""
        findings = self.health(*words)["findings"]
        ours = [each for each in findings if each["code"] == code]
        assert len(ours) == 1, findings
        if only:
            assert findings == ours, findings
        return ours[0]

    def mend(self, finding: dict[str, Any]) -> None:
        """Paste the command of a finding into a shell."""
        command = finding["hint"].replace("recall ", f"{sys.executable} -m recall ", 1)
        subprocess.run(
            ["bash", "-c", command], cwd=self.home, check=False, stdout=subprocess.DEVNULL
        )

    def settle(self) -> None:
        """Fail unless all is well, without one finding."""
        data = self.health()
        assert data["findings"] == [], data["findings"]
        assert data["level"] == "ok"
        assert data["notices"] == []

    def configure(self, text: str) -> None:
        """Put settings behind what the person's file has."""
        with self.config.open("a") as file:
            file.write(text)

    def lines(self, *lines: Mapping[str, object]) -> None:
        """Append lines to the log, each with what a run has for what it doesn't say."""
        usual = {"t": time.time(), "host": "claude", "decision": "silent", "why": "gate", "ms": 9}
        with self.log.open("a") as file:
            file.writelines(json.dumps({**usual, **line}) + "\n" for line in lines)

    def edit_proof(self, **fields: object) -> None:
        """Change what the last proof is said to have shown."""
        self.proof.write_text(json.dumps({**json.loads(self.proof.read_text()), **fields}))

    def damage(self, page: int = 2) -> None:
        """Flip a bit in a page of the cache."""
        with self.cache.open("r+b") as file:
            file.seek(page * db.PAGE + 300)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))


def within(*words: str) -> tuple[int, bytes]:
    """Run a command in this process, which takes a tenth of the time; return what it printed."""
    buffer = io.BytesIO()
    with redirect_stdout(io.TextIOWrapper(buffer)), redirect_stderr(io.StringIO()):
        status = main(words)
        sys.stdout.flush()
        return status, buffer.getvalue()


def build(place: Place) -> None:
    """Make an installation as a person would: a root, a refresh, a proof, a hook that has run."""
    place.home.mkdir(parents=True)
    for name, text in NOTES.items():
        place.write(name, text)
    place.run("roots", "add", "notes", str(place.notes))
    place.run("refresh")
    place.run("rebuild", "--check")
    place.run("hook", "install", "--host", "claude")
    # What the hook leaves: the refresh beside it would go on while files are copied.
    place.lines({"decision": "spoke", "why": "cards"})
    place.log.chmod(0o600)


def put_back(kept: Path, place: Place) -> None:
    """Make an installation what it was, at the same paths, with the times that files had."""
    shutil.rmtree(place.top, ignore_errors=True)
    shutil.copytree(kept, place.top, symlinks=True)
