"""The man page is what the help says, and nothing in it is taken for an instruction by mistake."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import manpage
import pytest

from recall.cli import COMMANDS, SUBCOMMANDS
from recall.cli.app import commands

MACROS = {"TH", "SH", "SS", "PP", "TP", "B", "br", "nf", "fi", "nh", "ad"}
ESCAPES = re.compile(r"\\(?:[-&e]|\(aq|\(ga|\(ha|\(ti|\(dq|\[u[0-9A-F]{4,6}\])")


def body() -> list[str]:
    """Return the lines of the page without the comment at its top."""
    first, *lines = manpage.PAGE.read_text(encoding="ascii").splitlines()
    assert first.startswith('.\\" ')
    return lines


def test_the_page_is_what_the_help_says() -> None:
    # By itself: click keeps the help option of a command as the first that asks for it has it.
    script = Path(manpage.__file__)
    told = "from manpage import page; print(page(), end='')"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(script.parent), str(manpage.ROOT)])}
    made = subprocess.run(
        [sys.executable, "-c", told], env=environ, capture_output=True, check=True
    )
    text = manpage.PAGE.read_bytes()
    assert text == made.stdout, "out of date: python tests/manpage.py makes it anew"


def test_it_depends_on_no_terminal_and_no_language(monkeypatch: pytest.MonkeyPatch) -> None:
    before = manpage.page()
    for name, value in {
        "COLUMNS": "30",
        "LC_ALL": "C",
        "LANGUAGE": "de",
        "TZ": "Asia/Tokyo",
    }.items():
        monkeypatch.setenv(name, value)
    assert manpage.page() == before


def test_each_command_has_its_section_with_all_options() -> None:
    text = "\n".join(body()).replace("\\-", "-")
    sections = {part.partition("\n")[0]: part for part in text.split("\n.SS ")[1:]}
    names = [*COMMANDS]
    names += [f"{name} {below}" for name, belows in SUBCOMMANDS.items() for below in belows]
    assert set(sections) == {f'"recall {name}"' for name in names}
    for name in COMMANDS:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert any(each in sections[f'"recall {name}"'] for each in option.opts)


def test_no_line_is_a_macro_or_an_escape_by_mistake() -> None:
    for line in body():
        assert line == line.rstrip()
        assert line, "a blank line"
        assert not line.startswith("'")
        macro, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", line)
        assert macro in MACROS | {""}, line
        plain = ESCAPES.sub("", rest)
        assert not re.search(r"[-'`^~\\]", plain), line


@pytest.mark.parametrize(
    ("text", "roff"),
    [
        (".x", r"\&.x"),
        ("'x'", r"\(aqx\(aq"),
        (r"a\b", r"a\eb"),
        ("--dry-run", r"\-\-dry\-run"),
        ('`^~"', r"\(ga\(ha\(ti\(dq"),
        ("é…", r"\[u00E9]\[u2026]"),
        ("  .x", "  .x"),
    ],
)
def test_what_roff_would_take_for_its_own_is_escaped(text: str, roff: str) -> None:
    assert manpage.escaped(text) == roff


@pytest.mark.parametrize(
    "command",
    [
        ["mandoc", "-T", "lint", "-W", "warning"],
        ["groff", "-man", "-T", "utf8", "-wall", "-z"],
    ],
    ids=lambda command: command[0],
)
def test_formatters_have_nothing_to_say(command: list[str]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, manpage.PAGE], capture_output=True, text=True, check=False)
    told = (done.stdout + done.stderr).splitlines()
    # The page has no date on purpose: it would be a clock's.
    assert [line for line in told if "missing date" not in line] == []


def test_it_reads_as_the_help_does() -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-T", "ascii", "-P-c", "-P-b", "-P-u", manpage.PAGE],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.strip() for line in done.stdout.splitlines()]
    for line in (
        "recall hook install [OPTIONS]",
        """recall search '"deploy keys" not:staging tag:release after:30d'""",
        "git log -1 --format=%B | recall search -",
        "--dry-run",
        "-h, --help",
        "recall roots add notes ~/notes",
        "130    interrupted; nothing half done",
    ):
        assert line in lines
