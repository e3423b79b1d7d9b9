"""Running the prompt hook as hosts do, and the refresh that it leaves behind.

No deadline, nor the time for a look at the directories, decides a test unless it says so: on a busy
machine both pass.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from cli_support import recall

from recall import background, hookfault, resolved
from recall.call import Call
from recall.dirs import state_dir
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from recall.card import Card

PROGRAM = """
import sys
from recall import hook
hook.DEADLINE = 60
if {roomy}:
    import recall.views
    recall.views.LOOK = 60
{first}
hook.main()
"""
HUGE = 17 * 1024 * 1024  # bytes: more than the hook reads
HELD_OFF = 1e6  # seconds that a sweep is said to have taken
CONFIG = "[hook]\ndeadline_ms = 10000\n"
OPENING, CLOSING = "⟦recall⟧ Reference notes", "⟦/recall⟧ End of the reference notes.\n"
# Notes of a small root, each about something that no other one has.
NOTES = {
    "keys.md": "# Rotate the deploy keys\n\nThe deploy keys live in the vault, one quarter each.\n",
    "kestrel.md": "# Kestrel feeder\n\nThe kestrel feeder drops pellets at dawn.\n",
    "invoices.md": "# Invoice numbering\n\nInvoices are numbered per fiscal year and tenant.\n",
    "sub/sqlite.md": "# Why SQLite\n\nSQLite checkpoints its write-ahead log by itself.\n",
    "sub/tokens.md": "# Refresh tokens\n\nRefresh tokens of the billing portal expire weekly.\n",
}
TITLE = "Rotate the deploy keys"
KEYS = "where do the deploy keys live in the vault?"
KESTREL = "when does the kestrel feeder drop its pellets?"
SQLITE = "does sqlite checkpoint the write-ahead log?"


class Said:
    """What a hook left: its status, and its stdout and stderr as bytes."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr

    @property
    def block(self) -> str:
        """The block of a well-formed answer, "" for silence; fails for anything else."""
        assert self.status == 0
        assert self.stderr == b""
        if not self.stdout:
            return ""
        assert self.stdout.endswith(b"}\n")
        assert self.stdout.count(b"\n") == 1
        assert self.stdout.isascii()
        fields = json.loads(self.stdout)
        if fields == {}:
            return ""
        assert set(fields) == {"hookSpecificOutput"}
        assert set(fields["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        text: str = fields["hookSpecificOutput"]["additionalContext"]
        assert text.startswith(OPENING)
        assert text.endswith(CLOSING)
        assert text.count("⟦") == 2
        return text

    @property
    def titles(self) -> list[str]:
        """The titles of the cards, in their order."""
        heads = [line for line in self.block.splitlines() if line[:1].isdecimal()]
        found = [head.split(". ", 1) for head in heads]
        assert [number for number, _ in found] == [str(n) for n in range(1, len(heads) + 1)]
        return [title for _, title in found]


def event(prompt: object = None, **fields: object) -> bytes:
    """Return a prompt as Claude Code sends it; ``fields`` are set on top, or taken out by None."""
    sent: dict[str, object] = {"hook_event_name": "UserPromptSubmit", "prompt": prompt}
    sent |= {"session_id": None, "cwd": "/", "prompt_id": "p-1", **fields}
    return json.dumps({key: value for key, value in sent.items() if value is not None}).encode()


def start(source: str | None = None, **fields: object) -> bytes:
    """Return the start of a session, as Claude Code sends it."""
    return event(hook_event_name="SessionStart", source=source, **fields)


def run(program: str) -> list[str]:
    """Return the command for a program; like a script it finds no module where it is run."""
    return [sys.executable, "-P", "-c", program]


def hook(
    data: bytes,
    *arguments: str,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
    first: str = "",
    roomy: bool = True,
) -> Said:
    """Run ``recall-hook`` in a process of its own, and wait for it.

    ``env`` is set on top of the test's environment, a None takes a variable away; ``first`` is
    Python that runs before, ``roomy`` lets it look at directories for as long as it takes.
    """
    environ = {**os.environ, **(env or {})}
    done = subprocess.run(
        [*run(PROGRAM.format(roomy=roomy, first=first)), *arguments],
        input=data,
        env={key: value for key, value in environ.items() if value is not None},
        cwd=cwd,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def ask(prompt: str, session: str | None = None, **options: Any) -> Said:
    """Run the hook for a prompt of Claude Code's."""
    return hook(event(prompt, session_id=session), **options)


def considered(prompt: str, cwd: Path | str = "/") -> tuple[Call, list[Card]]:
    """Return what the hook makes of a prompt, in this process, and its cards; nothing is kept."""
    call = Call(None, os.environ, time.perf_counter())
    call.consider(event(prompt, cwd=str(cwd)), lambda _: None)
    assert not call.faults
    _, _, cards = call.answer()
    return call, cards


def titles(prompt: str, cwd: Path | str = "/") -> list[str]:
    """Return the titles of the cards that the hook has for a prompt, as ``considered``."""
    return [card.title for card in considered(prompt, cwd)[1]]


def write(root: Path, notes: Mapping[str, str | bytes]) -> None:
    """Write notes into a directory, as a person does: the whole file at once."""
    for name, text in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + ".new")
        beside.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.replace(beside, path)


def configure(home: Path, text: str = CONFIG) -> None:
    """Write the person's configuration file."""
    path = home / ".config" / "recall" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def index(cwd: str = "/") -> None:
    """Make the caches of the configured roots."""
    with Recall(resolved.load(cwd, os.environ).roots) as recall:
        assert all(report.failure is None for report in recall.refresh())


def hold_off(cwd: str = "/") -> None:
    """Let no hook start a refresh: as if the last sweep had just ended, and had taken long."""
    directory = state_directory()
    key = background.key(resolved.load(cwd, os.environ).roots, os.environ)
    turn = background.Turn(directory, key)
    assert turn.take()
    turn.ended(time.time(), HELD_OFF)
    turn.give_back()


def state_directory() -> str:
    """Return the state directory of the test's environment."""
    directory = state_dir(os.environ)
    assert directory is not None
    return directory


def settle() -> int:
    """Wait until no refresh is left, and let the next one begin at once; return how many were.

    What was held off is held off no longer.
    """
    directory = os.path.join(state_directory(), "background")
    count = 0
    for name in _names(directory):
        if not name.endswith(".lock"):
            continue
        with open(os.path.join(directory, name), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # the process holds it to its end
            last = file.read().split()
            held_off = len(last) == 2 and float(last[1]) == HELD_OFF
            count += bool(last) and not held_off
            file.truncate(0)
            asked = os.path.join(directory, name.removesuffix(".lock") + ".asked")
            if held_off and os.path.exists(asked):
                os.unlink(asked)
    assert not [name for name in _names(directory) if name.endswith(".asked")]
    return count


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except FileNotFoundError:
        return []


def files(*directories: str) -> dict[str, bytes]:
    """Return what lies in some directories, by path."""
    found = {}
    for directory in directories:
        for top, _, names in os.walk(directory):
            for name in names:
                path = os.path.join(top, name)
                if not os.path.isfile(path):
                    found[path] = b"no file"
                    continue
                with open(path, "rb") as file:
                    found[path] = file.read()
    return found


def log_lines() -> list[Any]:
    """Return the lines of the recall log, oldest first."""
    try:
        with open(os.path.join(state_directory(), "recall-log.jsonl"), "rb") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []


def last_log(*keys: str) -> tuple[Any, ...]:
    """Return some fields of the last line of the log."""
    line = log_lines()[-1]
    return tuple(line[key] for key in keys)


def paths(line: Mapping[str, Any]) -> list[str]:
    """Return the paths of the cards that a line of the log names."""
    return [card["path"] for card in line["cards"]]


def fault() -> hookfault.Fault:
    """Return what is kept of what went wrong, which must be what status shows."""
    kept = hookfault.read(state_directory())
    assert kept is not None
    assert "Traceback" not in kept.message
    shown = recall("status", "--json").data()["hook_failure"]
    assert (shown["message"], shown["count"]) == (kept.message, kept.count)
    return kept


def no_fault() -> bool:
    """Tell whether nothing is kept of a fault, or that it works again."""
    kept = hookfault.read(state_directory())
    return kept is None or kept.worked is not None


def others(number: int) -> dict[str, str]:
    """Return notes that are about nothing that a prompt here asks for."""
    return {
        f"other{each}.md": f"# Widget{each} procedure\n\nThe gadget{each} has colour{each}.\n"
        for each in range(number)
    }


def about(words: Iterable[str], number: int) -> str:
    """Return a note that a generator wrote: all of the words, and nothing else that tells."""
    return f"# Generated {number}\n\n{' '.join(words)} entry{number}\n"
