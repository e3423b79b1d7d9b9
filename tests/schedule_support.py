"""A machine with schedulers of its own: stand-ins for crontab, systemctl and launchctl.

Each keeps what it is told below one directory. PATH has them alone, so that no test can reach the
schedulers of the machine that runs it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_CRONTAB = '''#!{python} -I
"""A crontab as cron has it: -l, -r and a new one from standard input."""
import os, sys, time

place = {place!r}
table = os.path.join(place, "table")
flags = set(os.listdir(place))

def told(name):
    with open(os.path.join(place, name), "rb") as opened:
        return opened.read()

def refuse(text, status=1):
    sys.stderr.write(text + "\\n")
    sys.exit(status)

with open(os.path.join(place, "calls"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if "forbidden" in flags:
    refuse("You (me) are not allowed to use this program (crontab)")
if sys.argv[1:] == ["-l"]:
    if not os.path.exists(table):
        refuse(told("none").decode() if "none" in flags else "no crontab for me")
    sys.stdout.buffer.write(told("table"))
    sys.stdout.flush()
    # Somebody who writes between our looking and our writing.
    waiting = sorted(name for name in flags if name.startswith("meanwhile"))
    if waiting:
        with open(table, "ab") as opened:
            opened.write(told(waiting[0]))
        os.unlink(os.path.join(place, waiting[0]))
elif sys.argv[1:] == ["-r"]:
    os.unlink(table)
elif sys.argv[1:] == ["-"]:
    data = sys.stdin.buffer.read()
    if "strict" in flags and data and not data.endswith(b"\\n"):
        refuse("new crontab file is missing newline before EOF, can't install.")
    if "full" in flags:
        refuse("crontab: write: No space left on device")
    if "deaf" not in flags:
        with open(table + ".new", "wb") as opened:
            opened.write(data)
        os.rename(table + ".new", table)
else:
    refuse("usage: crontab [-l | -r | -]", 2)
'''
_CONTROL = '''#!{python} -I
"""A program that notes what it is told, and fails where it is to."""
import os, sys

place = {place!r}
with open(os.path.join(place, "calls"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if os.path.exists(os.path.join(place, "broken")):
    sys.stderr.write("Failed to connect to bus: No medium found\\n")
    sys.exit(1)
words = sys.argv[1:]
state = os.path.join(place, "active")
if "enable" in words or "bootstrap" in words:
    open(state, "w").close()
if "disable" in words or "bootout" in words:
    if not os.path.exists(state):
        sys.exit(3)
    os.unlink(state)
if "is-active" in words or "print" in words:
    there = os.path.exists(state)
    print("active" if there else "inactive")
    sys.exit(0 if there else 3)
'''


class Machine:
    """Its programs are in ``programs``; ``directory(name)`` is where one keeps what it knows."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.programs = top / "programs"
        self.programs.mkdir(parents=True)

    def directory(self, name: str) -> Path:
        return self.top / name

    def add(self, name: str) -> None:
        """Give the machine ``crontab``, ``systemctl`` or ``launchctl``."""
        text = _CRONTAB if name == "crontab" else _CONTROL
        self.directory(name).mkdir()
        program = self.programs / name
        text = text.format(python=sys.executable, place=str(self.directory(name)))
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def tell(self, name: str, flag: str, data: bytes = b"") -> None:
        """Have a program behave in another way, or tell it something."""
        (self.directory(name) / flag).write_bytes(data)

    def calls(self, name: str) -> list[str]:
        """Return what a program was called with, in order."""
        log = self.directory(name) / "calls"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    @property
    def crontab(self) -> bytes | None:
        """The crontab, None if there is none."""
        table = self.directory("crontab") / "table"
        return table.read_bytes() if table.exists() else None

    @crontab.setter
    def crontab(self, data: bytes | None) -> None:
        table = self.directory("crontab") / "table"
        if data is None:
            table.unlink(missing_ok=True)
        else:
            table.write_bytes(data)

    def environ(self) -> dict[str, str]:
        """Return the variables under which this is the machine."""
        return {"PATH": str(self.programs), "XDG_RUNTIME_DIR": str(self.top / "runtime")}

    def run_manager(self) -> None:
        """Have the person's own systemd run."""
        (self.top / "runtime" / "systemd").mkdir(parents=True)
        (self.top / "runtime" / "systemd" / "private").touch()


def tree(top: Path) -> dict[str, bytes]:
    """Return all files and links below a directory, by their paths in it."""
    found: dict[str, bytes] = {}
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                found[os.path.relpath(path, top)] = os.fsencode(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as opened:
                    found[os.path.relpath(path, top)] = opened.read()
    return found
