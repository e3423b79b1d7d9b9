"""What people meet before anything is searched: help, usage errors, streams, start-up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest
from cli_support import recall

from recall import __version__
from recall.cli import COMMANDS, SUBCOMMANDS
from recall.cli.app import commands
from recall.cli.options import Strict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVERY_COMMAND = [
    (),
    *[(name,) for name in COMMANDS],
    *[(name, sub) for name, subs in SUBCOMMANDS.items() for sub in subs],
]


def loaded(*names: str) -> click.Command:
    command: click.Command = commands
    for name in names:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


def test_the_table_of_commands_is_what_the_commands_say() -> None:
    import click

    for name, line in COMMANDS.items():
        command = loaded(name)
        assert command.name == "command" or isinstance(command, click.Group)
        assert (command.help or "").splitlines()[0] == line
        subcommands = tuple(command.commands) if isinstance(command, click.Group) else ()
        assert sorted(SUBCOMMANDS.get(name, ())) == sorted(subcommands)


@pytest.mark.parametrize("names", EVERY_COMMAND)
def test_every_command_has_help_with_an_example_that_it_takes(names: tuple[str, ...]) -> None:
    import shlex

    import click

    command = loaded(*names)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
    epilog = command.epilog or ""
    # The shell's part of it is none of ours: "echo how do we … | recall hook < event.json".
    examples = re.findall(r"(?m)\brecall [^<\n]*", epilog)
    assert examples
    for example in examples:
        words = shlex.split(example)[1:]
        context = commands.make_context("recall", list(words))
        name, target, rest = commands.resolve_command(context, list(words))
        assert target is not None
        if isinstance(target, click.Group) and not (
            target.invoke_without_command and rest[:1] and rest[0].startswith("-")
        ):
            context = target.make_context(name, rest)
            name, target, rest = target.resolve_command(context, rest)
            assert target is not None
        target.make_context(name, list(rest))


def test_every_command_but_groups_takes_json() -> None:
    import click

    for names in EVERY_COMMAND:
        command = loaded(*names)
        if not isinstance(command, click.Group):
            assert any("--json" in parameter.opts for parameter in command.params), names


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_an_answer(flag: str) -> None:
    done = recall(flag)
    assert (done.status, done.stderr) == (0, "")
    assert all(line in done.stdout for line in COMMANDS.values())
    done = recall("roots", "add", flag)
    assert (done.status, done.stderr) == (0, "")
    assert "recall roots add notes ~/notes" in done.stdout


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("search", "Answer from the cache as it is; it is built if there is none."),
        (
            "refresh",
            "Also forget the notes of roots that are empty or gone, and of directories in them",
        ),
    ],
)
def test_help_says_what_an_option_does_at_its_limits(command: str, text: str) -> None:
    assert text in " ".join(recall(command, "--help").stdout.split())


def test_without_a_command_there_is_help() -> None:
    assert recall().stdout == recall("--help").stdout
    assert recall("roots").stdout == recall("roots", "--help").stdout


def test_version() -> None:
    done = recall("--version")
    assert (done.status, done.stdout, done.stderr) == (0, f"recall {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "command", "message"),
    [
        (["serch", "x"], "recall", "serch"),
        (["--bogus"], "recall", "--bogus"),
        (["search", "--bogus", "x"], "search", "--bogus"),
        (["search", "-k", "0", "x"], "search", "0"),
        (["search", "-k", "many", "x"], "search", "many"),
        (["search", "--include", "poems", "x"], "search", "poems"),
        (["search", "--wait", "nan", "x"], "search", "seconds"),
        (["search", "--wait", "-1", "x"], "search", "seconds"),
        (["search", "--wait", "inf", "x"], "search", "seconds"),
        (["search", "--budget", "1", "x"], "search", "256"),
        (["search", "x", "--root"], "search", "--root"),
        (["search", "x", "-k"], "search", "-k"),
        (["refresh", "extra"], "refresh", "extra"),
        (["roots", "ad"], "roots", "ad"),
        (["roots", "add", "name"], "roots add", "DIR"),
        (["cache", "prune", "--older-than", "nan"], "cache prune", "days"),
        (["search", "\x1b[31m", "--\x1b[2J"], "search", "\\x1b"),
        (["search", "x", "-k", "3", "-k", "3"], "search", "'-k' is given twice"),
        (["search", "x", "--under", "a", "--under=b"], "search", "'--under' is given twice"),
        (["search", "x", "--explain", "--explain"], "search", "'--explain' is given twice"),
        (["search", "x", "--type", "--explain"], "search", "'--type' requires an argument"),
        (["search", "--under", "--root=a", "x"], "search", "'--under' requires an argument"),
        (["cache", "prune", "--all", "--all"], "cache prune", "'--all' is given twice"),
        (["log", "--summary", "--summary"], "log", "'--summary' is given twice"),
    ],
)
def test_wrong_usage_is_exit_4_with_a_hint(
    arguments: list[str], command: str, message: str
) -> None:
    told = recall(*arguments)
    assert (told.status, told.stdout) == (4, "")
    error, hint = told.stderr.splitlines()
    assert error.startswith("error: ")
    assert message in error
    name = "recall" if command == "recall" else f"recall {command}"
    dash = "; words that begin with a dash come after --" if "No such option" in error else ""
    assert hint == f"hint: {name} --help lists what it takes{dash if name[7:] == 'search' else ''}"
    # Before the words that may swallow it: an option that lacks its value comes last.
    in_json = recall(arguments[0], *(["--json"] if len(arguments) > 1 else []), *arguments[1:])
    if len(arguments) == 1 or arguments[0] == "roots":
        in_json = recall(*arguments, "--json")
    assert in_json.status == 4
    assert in_json.error()["code"] == "invalid_input"


@pytest.mark.parametrize("names", EVERY_COMMAND)
def test_no_command_takes_an_option_twice_or_another_as_a_value(names: tuple[str, ...]) -> None:
    import click

    command = loaded(*names)
    options = [each for each in command.params if isinstance(each, click.Option)]
    for option in options:
        value = [] if option.is_flag else ["1"]
        twice = [option.opts[-1], *value] * 2
        valueless = [] if option.is_flag else [[option.opts[-1], "--json"], [option.opts[-1]]]
        for arguments in [twice, *valueless]:
            if option.is_eager or (option.multiple and arguments is twice):
                continue
            with pytest.raises(click.UsageError, match=r"given twice|requires an argument"):
                command.make_context("it", arguments, **command.context_settings)


def test_json_after_the_end_of_options_is_a_word_of_the_query() -> None:
    done = recall("search", "--bogus", "--", "--json")
    assert (done.status, done.stdout) == (4, "")


def test_a_query_is_needed_on_a_terminal() -> None:
    import pty

    terminal, other_end = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "recall", "search"],
            stdin=other_end,
            capture_output=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(terminal)
        os.close(other_end)
    assert done.returncode == 4
    assert done.stderr.decode().startswith("error: there is nothing to search for\nhint: recall ")


def test_nothing_configured_gives_a_hint_that_works_when_pasted(tmp_path: Path) -> None:
    place = tmp_path / "it's a  place"
    place.mkdir()
    done = recall("refresh", cwd=place)
    assert (done.status, done.stdout) == (4, "")
    hint = re.search(r"(?m)^hint: (recall .*)$", done.stderr)
    assert hint
    pasted = subprocess.run(
        ["sh", "-c", hint[1].replace("recall", f"{sys.executable} -m recall", 1)],
        cwd=place,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert pasted.returncode == 0, pasted.stderr
    listed = recall("roots", "list", cwd=place)
    assert str(place) in listed.stdout


def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "recall", "--help"],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


FULL = "error: the output can't be written: No space left on device\n"
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has /dev/full")


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        [],
        ["roots", "add", "--help"],
        ["--bogus", "--json"],
        ["cache", "list", "--json"],
        ["cache", "prune"],
        ["search", "--root", ".", "zq", "--json"],
        ["search", "--root", ".", "alpha"],
        ["refresh", "--root", "."],
    ],
)
def test_output_that_can_not_be_written_is_one_line(
    arguments: list[str], unbuffered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    (tmp_path / "alpha.md").write_text("# Alpha\n")
    command = [sys.executable, "-P", "-m", "recall", *arguments]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
        assert (done.returncode, done.stderr.decode()) == (6, FULL)
        both = subprocess.run(
            command, cwd=tmp_path, stdout=full, stderr=full, check=False, timeout=60
        )
    assert both.returncode == 6


@needs_full
def test_a_full_stderr_changes_no_status() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "recall", "--bogus"], stderr=full, check=False, timeout=60
        )
    assert done.returncode == 4


def test_closed_streams_are_no_fault() -> None:
    program = f"exec {sys.executable} -m recall --bogus 2>&- >&-"
    done = subprocess.run(["sh", "-c", program], check=False, timeout=60)
    assert done.returncode == 4


def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    place = tmp_path / "gone"
    place.mkdir()
    program = f'rmdir "{place}" && exec {sys.executable} -P -m recall refresh'
    done = subprocess.run(
        ["sh", "-c", program], cwd=place, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 6
    assert done.stderr.decode() == (
        "error: the working directory no longer exists\nhint: cd to one that does\n"
    )


def walk(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from walk(f"{name} {each}".strip(), inner)


def test_all_commands_are_strict_and_take_groups_where_they_take_roots() -> None:
    found = dict(walk("", commands))
    del found[""]  # the program itself, which has no options but help and version
    assert len(found) > 40
    assert [name for name, each in found.items() if not isinstance(each, Strict)] == []
    for name, each in found.items():
        options = {opt: param for param in each.params for opt in param.opts}
        root = options.get("--root")
        # What a schedule runs is said in full, and what writes does so in one root.
        if root is not None and root.multiple and not name.startswith("schedule"):
            assert "--group" in options, name
