"""Running the prompt hook as a host does, and reading what it says as strictly as one could.

The hook's own deadline is put off, so that a slow machine is no fault: a test that is about the
deadline says what it should be.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from text_support import is_safe

from recall import background, config, dirs, hookfault, ledger, logreading
from recall.background import Turn
from recall.block import CLOSING, OPENING
from recall.service import Recall

TIERS = ("unverified", "machine-confirmed", "human-reviewed")
EVENTS = {"claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent"}
HOSTS = (*EVENTS, "text")
GUARD = 45.0  # seconds after which a process hangs; nothing is measured with it
PATIENT_MS = 10_000  # the most that the configuration takes
# The deadline until the configuration is known, which imports alone may miss without byte code.
PATIENT = "from recall import hook; hook.DEADLINE = 50.0\n"
MAIN = "from recall.hook import main; main()\n"
# Code that has the hook say on stderr, at its end, what it has imported.
TELL_IMPORTS = """
import os, sys

known = set(sys.modules)
leave = os._exit

def told(status):
    names = " ".join(sorted(set(sys.modules) - known))
    os.write(2, names.encode())
    leave(status)

os._exit = told
"""


class Said:
    """What one call of the hook left."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr

    def cards(self, host: str = "claude") -> list[dict[str, Any]]:
        """Return the cards that the host gets; fail for what the host, or a person, would mind."""
        assert (self.status, self.stderr) == (0, b"")
        return read(block_in(host, self.stdout))


def event(
    host: str, prompt: str, cwd: Path | str, session: str | None = None, **more: object
) -> bytes:
    """Return what a host writes to the hook for a prompt."""
    if host == "text":
        return prompt.encode("utf-8", "surrogatepass")
    fields: dict[str, object] = {
        "hook_event_name": EVENTS[host],
        "cwd": str(cwd),
        "prompt": prompt,
        **({} if session is None else {"session_id": session}),
        **({"turn_id": "1"} if host == "codex" else {}),
        **more,
    }
    return json.dumps(fields).encode()


def command(host: str | None = None, before: str = PATIENT) -> list[str]:
    """Return the hook's command line; ``before`` is code that changes it first."""
    named = [] if host is None else ["--host", host]
    return [sys.executable, "-c", f"{before}\n{MAIN}", *named]


def prompt(
    text: str,
    cwd: Path | str,
    host: str = "claude",
    session: str | None = None,
    before: str = PATIENT,
) -> Said:
    """Run the hook for one prompt, in a process of its own."""
    done = subprocess.run(
        command("text" if host == "text" else None, before),
        input=event(host, text, cwd, session),
        capture_output=True,
        cwd=cwd,
        timeout=GUARD,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def block_in(host: str, printed: bytes) -> str:
    """Return the block in what was printed; fail unless the host accepts it as it is."""
    if host == "text":
        return printed.decode("utf-8")
    if not printed:
        assert host != "gemini"
        return ""
    assert printed.isascii()
    assert printed.count(b"\n") == 1
    assert printed.endswith(b"\n")
    output = json.loads(printed)  # exactly one value
    if output == {}:
        assert host == "gemini"
        return ""
    (inner,) = output.values()
    assert list(output) == ["hookSpecificOutput"]
    assert list(inner) == ["hookEventName", "additionalContext"]
    assert inner["hookEventName"] == EVENTS[host]
    block: str = inner["additionalContext"]
    assert block
    return block


def read(block: str) -> list[dict[str, Any]]:
    """Return the cards of a block; fail where it is not the grammar of ``spec/hook.md``."""
    if not block:
        return []
    check_bytes(block)
    lines = block.split("\n")
    assert lines == [*block.splitlines(), ""]
    assert lines[0] == OPENING
    assert lines[-2] == CLOSING
    rest = lines[1:-2]
    cards: list[dict[str, Any]] = []
    while rest:
        found: dict[str, Any] = {"stale": None, "summary": "", "line": None, "copies": 0}
        number, dot, found["title"] = rest.pop(0).partition(". ")
        assert (number, dot) == (str(len(cards) + 1), ". ")
        assert rest[0].startswith("   ")
        tier, *facts = rest.pop(0)[3:].split(" · ")
        assert tier in TIERS
        found["tier"] = tier
        if len(facts) > 1 and (copies := re.fullmatch(r"(\d+) more at other paths", facts[-1])):
            found["copies"] = int(copies[1])
            del facts[-1]
        found["path"] = facts.pop()
        if line := re.fullmatch(r"(.*\.md):(\d+)", found["path"]):
            found["path"], found["line"] = line[1], int(line[2])
        found["date"] = facts.pop() if facts else ""
        assert not facts
        if rest and re.match("   STALE($|: )", rest[0]):
            found["stale"] = rest.pop(0)[3:]
        if rest and rest[0].startswith("   > "):
            found["summary"] = rest.pop(0)[5:]
        cards.append(found)
    assert cards
    return cards


def check_bytes(block: str) -> None:
    """Fail unless every byte is harmless, and both delimiters are there once, from us."""
    data = block.encode("utf-8")
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", data)
    assert all(map(is_safe, block.split("\n")))
    # Not one of them, nor what looks like one or could be read as one, has come from a note.
    assert [block.count(mark) for mark in ("⟦recall⟧", "⟦/recall⟧", "⟦", "⟧")] == [1, 1, 2, 2]
    assert not set("<＜﹤〚〛") & set(block)
    assert "```" not in block
    assert "~~~" not in block
    for line in block.removesuffix("\n").split("\n"):
        assert re.match(r"\d+\. |   \S", line) or line in (OPENING, CLOSING)


# -- what there is before and after


def configure(roots: dict[str, Path], **hook: object) -> None:
    """Write the person's configuration; the deadline is far off unless it is given."""
    file = dirs.config_file(os.environ)
    assert file is not None
    os.makedirs(os.path.dirname(file), exist_ok=True)
    settings = {"deadline_ms": PATIENT_MS, **hook}
    lines = ["[hook]", *(f"{key} = {json.dumps(value)}" for key, value in settings.items())]
    lines.append("[roots]")
    for name, path in roots.items():
        lines.append(f"{json.dumps(name)} = {json.dumps(str(path))}")
    Path(file).write_text("\n".join([*lines, ""]), encoding="utf-8")


def refresh(cwd: Path | str) -> None:
    """Build the caches that are configured, so that a hook finds them."""
    with Recall(config.load(str(cwd), os.environ, fallback=False).roots, cwd=str(cwd)) as recall:
        assert [report.failure for report in recall.refresh()] == [None] * len(recall.roots)


def turn(cwd: Path | str) -> Turn:
    """Return the turn of the refresh beside the hook, not taken."""
    roots = config.load(str(cwd), os.environ, fallback=False).roots
    return Turn(where(), background.key(roots, os.environ))


def no_refresh(cwd: Path | str) -> None:
    """Let no refresh be started: the last one has just ended, and took long."""
    mine = turn(cwd)
    assert mine.take()
    mine.ended(time.time(), 3600.0)
    mine.give_back()


def where() -> str:
    """Return the state directory."""
    directory = dirs.state_dir(os.environ)
    assert directory is not None
    return directory


def log() -> list[logreading.Entry]:
    """Return the entries of the recall log; fail if there is anything else in it."""
    entries, bad = logreading.read(where())
    assert bad == 0
    return entries


def shown(session: str) -> int:
    """Return how many documents the ledger has of a conversation."""
    return len(ledger.seen(where(), session))


def hook_fault() -> str | None:
    """Return what the hook noted of itself, None if nothing."""
    found = hookfault.read(where())
    return None if found is None else found.message
