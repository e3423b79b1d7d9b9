"""Make ``man/recall.1`` from the help texts: ``python tests/manpage.py``.

The page depends on them, the version and ``spec/exit-codes.md`` alone: no clock, no terminal. A
test compares it with the file, which the wheel has as ``share/man/man1/recall.1``.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recall import __version__
from recall.cli import COMMANDS, SUBCOMMANDS
from recall.cli.app import commands

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "man" / "recall.1"
_HEAD = '.\\" Made by tests/manpage.py from the help texts: change those, and run it.'
_LAYOUT = (".nh", ".ad l")  # whole words, so that options can be searched for, and no wide gaps
# What roff would take for an escape, or print as another character than can be pasted.
_CHARACTERS = {
    "\\": "\\e",
    "-": "\\-",
    "'": "\\(aq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
    '"': "\\(dq",
}
_VERBATIM = "\b\n"  # before a paragraph whose lines click leaves as they are


def escaped(text: str) -> str:
    """Return one line of text as roff prints it: no macro, no escape, nothing but ASCII."""
    line = "".join(
        _CHARACTERS.get(char, char if char.isascii() else f"\\[u{ord(char):04X}]") for char in text
    )
    return f"\\&{line}" if line.startswith(".") else line


def page() -> str:
    """Return the whole page."""
    context = commands.make_context("recall", [], resilient_parsing=True)
    line = _help(commands).partition("\n\n")[0]
    lines = [
        _HEAD,
        f'.TH RECALL 1 "" "recall {__version__}" "User Commands"',
        *_LAYOUT,
        ".SH NAME",
        rf"recall, recall\-hook \- {escaped(line[0].lower() + line[1:].rstrip('.'))}",
        ".SH SYNOPSIS",
        *_usage(commands, context),
        ".br",
        r".B recall\-hook",
        r"[\-\-host HOST]",
        ".SH DESCRIPTION",
        *list(_text(_help(commands)))[1:],  # no paragraph mark: the section begins one
        *_text(commands.epilog or ""),
        ".SH OPTIONS",
        *_options(commands, context),
        ".SH COMMANDS",
        *(line for command, inner in _commands(context) for line in _section(command, inner)),
        ".SH EXIT STATUS",
        *_statuses(),
    ]
    return "\n".join(lines) + "\n"


def _commands(context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name in COMMANDS:
        command = _loaded(commands, name, context)
        inner = click.Context(command, context, name)
        yield command, inner
        for below in SUBCOMMANDS.get(name, ()):
            found = _loaded(command, below, inner)
            yield found, click.Context(found, inner, below)


def _loaded(group: click.Command, name: str, context: click.Context) -> click.Command:
    found = group.get_command(context, name) if isinstance(group, click.Group) else None
    if found is None:
        raise LookupError(f"{context.command_path} has no command {name}")
    return found


def _section(command: click.Command, context: click.Context) -> list[str]:
    return [
        f'.SS "{escaped(context.command_path)}"',
        *_usage(command, context),
        *_text(_help(command)),
        *_options(command, context),
        *_text(command.epilog or ""),
    ]


def _help(command: click.Command) -> str:
    # Before 3.13 Python keeps the indentation of a docstring, and click that of the help.
    return cleandoc(command.help or "")


def _usage(command: click.Command, context: click.Context) -> list[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    return [f".B {escaped(context.command_path)}", escaped(pieces)]


def _text(text: str) -> Iterator[str]:
    """Write paragraphs, a sentence a line; those that click leaves as they are line by line."""
    for paragraph in filter(None, text.split("\n\n")):
        yield ".PP"
        if paragraph.startswith(_VERBATIM):
            lines = paragraph.removeprefix(_VERBATIM).splitlines()
            yield from (".nf", *map(escaped, lines), ".fi")
        else:
            joined = " ".join(paragraph.split())
            yield from map(escaped, re.split(r"(?<=[.?!]) (?=[A-Z])", joined))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            names, told = record
            yield from (".TP", f".B {escaped(names)}", escaped(" ".join(told.split())))


def _statuses() -> Iterator[str]:
    """Write the table of ``spec/exit-codes.md``."""
    text = (ROOT / "spec" / "exit-codes.md").read_text(encoding="utf-8")
    for status, meaning in re.findall(r"(?m)^\| (\d+) \| (.+?) \|", text):
        yield from (".TP", f".B {status}", escaped(meaning))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="ascii")
