"""What ``docs/cron.md`` shows is run, or compared; its page of the specification says the same."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
import vectors
from docs_support import ROOT, blocks, machine, paste
from hook_support import NOTES, configure, write
from schedule_support import Machine

from recall.cli import schedule_run
from recall.scheduling import carried, lastrun
from recall.scheduling.job import MOST_OF_A_LINE, timing

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/cron.md"
SPEC = (ROOT / "spec" / "schedule.md").read_text(encoding="utf-8")


@pytest.fixture(params=["cron", "systemd"])
def person(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> tuple[Machine, Path]:
    """A person with notes on a machine with one scheduler, and the directory of the programs."""
    write(home / "notes", NOTES)
    configure(home, f'[roots]\nnotes = "{home}/notes"\n')
    on = Machine(tmp_path / "machine")
    for name in ("crontab", "systemctl", "launchctl"):
        on.add(name)
    programs = machine(home)
    if request.param == "systemd":
        on.run_manager()
    return on, programs


def test_the_commands_do_what_they_say(home: Path, person: tuple[Machine, Path]) -> None:
    on, programs = person
    on.crontab = before = b"# mine\r\n0 5 * * * backup"
    environ = {**os.environ, **on.environ()}
    environ["PATH"] = f"{on.programs}{os.pathsep}{os.environ['PATH']}"
    printed = ""
    commands = [text for _, language, text in blocks(PAGE) if language == "sh"]
    assert len(commands) >= 5
    for text in commands:
        done = paste(text, home, programs, environ)
        assert (done.returncode, done.stderr) == (0, ""), text
        printed += done.stdout
    assert "installed: " in printed
    assert "updated: " in printed
    assert "OnCalendar=*-*-* 12:30:00" in printed
    assert "all well" in printed
    assert "removed: " in printed
    assert on.crontab == before
    assert not list(home.rglob("recall-refresh.*"))


def test_the_line_is_what_is_installed() -> None:
    shown = [text for _, language, text in blocks(PAGE) if language == "cron"]
    (plain,) = [each["line"] for each in vectors.load("schedule.json")["lines"] if not each["made"]]
    assert shown[0] == f"{plain}\n"
    assert shown[1] in (ROOT / "README.md").read_text(encoding="utf-8")


def test_times_of_the_specification() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| `(.+?)` \| `(.+?)` \|$", SPEC)
    assert len(rows) == 5
    for every, cron, systemd in rows:
        when = timing(every, None)
        assert (when.cron(), when.on_calendar()) == (cron, systemd)


@pytest.mark.parametrize(
    "text",
    [
        f"at most {MOST_OF_A_LINE} bytes behind the times",
        f"waits up to {schedule_run._PATIENCE:.0f} s",
        ", ".join(f"`{name}`" for name in carried.DIRECTORIES),
        ", ".join(f"`{name}`" for name in (carried.ROOTS, *carried.OTHERS)),
        '"differences": {' + ", ".join(f'"{kind}": 0' for kind in lastrun.KINDS),
    ],
)
def test_numbers_and_names_of_the_specification(text: str) -> None:
    assert text in SPEC


def test_fields_of_the_evidence() -> None:
    example = SPEC.partition("```json\n")[2].partition("```")[0]
    names = set(re.findall(r'"(\w+)":', example))
    assert names == {
        *lastrun.Run.__slots__, *lastrun.Evidence.__slots__, *lastrun.KINDS,
    }  # fmt: skip


def test_each_length_of_time_that_is_listed_can_be_had() -> None:
    listed = re.search(r"a part of an hour or of a day \((.+?)\)", SPEC)
    assert listed
    for every in [*listed[1].split(", "), "1d", "7d"]:
        timing(every, None)
