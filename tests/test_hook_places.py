"""Several hosts and scopes at once, files that others share, and what keeps the hook silent."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import Result, recall

from recall import pausing
from recall.dirs import config_file, state_dir
from recall.scripts import interpreter_gone

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
EVENTS = ("UserPromptSubmit", "SessionStart")
BOTH = ("--host", "gemini", "--host", "claude")


def run(*words: str, **options: Any) -> Result:
    return recall("hook", *words, **options)


def write(file: Path, command: str | list[str], events: tuple[str, ...] = EVENTS) -> None:
    commands = [command] if isinstance(command, str) else command
    groups = [{"hooks": [{"type": "command", "command": each}]} for each in commands]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": dict.fromkeys(events, groups)}))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program of the hook that is there."""
    made = tmp_path / "bin" / "recall-hook"
    made.parent.mkdir()
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    return made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    return made


def test_each_host_that_is_named_gets_it_in_that_order(home: Path, project: Path) -> None:
    done = run("install", *BOTH, "--host", "gemini", cwd=project)
    assert (done.status, done.stderr) == (0, "")
    heads = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    files = [home / ".gemini/settings.json", home / CLAUDE]
    assert heads == [
        f"installed: Gemini CLI: {files[0]}",
        f"installed: Claude Code: {files[1]}",
    ]
    data = run("install", *BOTH, "--json", cwd=project).data()
    assert [each["host"] for each in data["changes"]] == ["gemini", "claude"]
    assert {each["action"] for each in data["changes"]} == {"already installed"}
    data = run("status", *BOTH, "--scope", "user", "--json", cwd=project).data()
    assert [one["host"] for one in data["installations"]] == ["gemini", "claude"]
    both = ("--scope", "user", "--scope", "project")
    assert run("install", "--host", "claude", *both, cwd=project).status == 0
    assert (project / LOCAL).exists()
    done = run("uninstall", *BOTH, *both, cwd=project)
    assert (done.status, done.stderr) == (0, "")
    assert not any(file.exists() for file in (*files, project / LOCAL))
    # One alone keeps its shape.
    assert run("uninstall", "--host", "claude", "--json").data()["action"] == "not installed"


def test_what_fails_for_one_host_is_told_and_keeps_nothing_from_the_others(home: Path) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text("{")
    done = run("install", *BOTH)
    assert done.status == 4
    assert done.stdout.startswith("installed: Claude Code: ")
    assert "error: the settings file can't be edited: a key in double quotes" in done.stderr
    error = run("install", *BOTH, "--json").error()
    assert error["code"] == "config_invalid"
    done = run("uninstall", "--host", "claude", "--host", "vim")
    assert (done.status, done.stdout) == (4, "")
    assert (home / CLAUDE).exists()
    assert "hint: one of claude, codex, gemini; any other" in done.stderr
    assert "recall hook --host text\n" in done.stderr


def test_a_projects_shared_file_is_seen(home: Path, project: Path, program: Path) -> None:
    write(project / CLAUDE, f"{program} --host claude")
    data = run("status", "--host", "claude", "--json", cwd=project).data()
    (mine, shared, local) = data["installations"]
    assert (shared["scope"], shared["shared"], shared["installed"]) == ("project", True, True)
    assert not mine["installed"]
    assert (local["shared"], local["installed"]) == (False, False)
    text = run("status", "--host", "claude", cwd=project).stdout
    assert f"  project, shared: installed: {project / CLAUDE}\n" in text
    done = run("install", "--host", "claude", "--scope", "project", cwd=project)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"already installed: Claude Code: {project / LOCAL}\n")
    assert f"  {project / CLAUDE} calls it, which others have too" in done.stdout
    assert not (project / LOCAL).exists()
    done = run("install", "--host", "claude", cwd=project)
    assert f"is installed in {project / CLAUDE} too, and one is enough\n" in done.stderr
    line = "recall hook uninstall --host claude --scope user\n"
    assert f"hint: {line}" in done.stderr
    done = run("status", "--host", "claude", cwd=project)
    assert "called more than once at UserPromptSubmit and SessionStart" in done.stderr
    assert f"hint: one is enough: {line}" in done.stderr
    assert f"is installed in {project / CLAUDE} too, and still called" in (
        run("uninstall", "--host", "claude", cwd=project).stderr
    )
    # In the home directory that file is the person's own.
    assert len(run("status", "--host", "claude", "--json", cwd=home).data()["installations"]) == 2


@pytest.mark.parametrize("lacking", ["an event", "its program", "its interpreter"])
def test_a_shared_file_that_does_not_do_is_no_install(
    project: Path, program: Path, lacking: str
) -> None:
    if lacking == "an event":
        write(project / CLAUDE, f"{program} --host claude", EVENTS[:1])
    elif lacking == "its program":
        write(project / CLAUDE, "/no/such/recall-hook --host claude")
    else:
        program.write_text("#!/no/such/python\n")
        write(project / CLAUDE, f"{program} --host claude")
    done = run("install", "--host", "claude", "--scope", "project", cwd=project)
    assert (project / LOCAL).exists()
    assert f"is installed in {project / CLAUDE} too" in done.stderr


def test_installing_tells_of_a_switch_in_another_file(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / CLAUDE).write_text('{"disableAllHooks": true}')
    for _ in range(2):
        done = run("install", "--host", "claude", cwd=project)
        assert (
            f'does not run the hook: "disableAllHooks" is true in line 1 ({project}' in done.stderr
        )
    (project / LOCAL).write_text('{"disableAllHooks": false}')
    assert run("install", "--host", "claude", cwd=project).stderr == ""


def test_scopes_are_told_of_each_other_and_the_advice_is_one(project: Path) -> None:
    words, both = ("--host", "codex"), ("--scope", "user", "--scope", "project")
    run("install", *words, *both, cwd=project)
    line = "recall hook uninstall --host codex --scope project\n"
    for scope in ("user", "project"):
        done = run("install", *words, "--scope", scope, cwd=project)
        assert f"hint: {line}" in done.stderr
    assert f"hint: one is enough: {line}" in run("status", *words, cwd=project).stderr
    done = run("uninstall", *words, "--dry-run", cwd=project)
    said = f"is installed in {project}/.codex/hooks.json too, and still called from there\n"
    assert f"{said}hint: {line}" in done.stderr
    assert run("uninstall", *words, *both, "--dry-run", cwd=project).stderr == ""


def test_which_command_is_in_a_form_of_its_own(home: Path, program: Path) -> None:
    ours, theirs = f"{program} --host claude", f"cd / && {program} || true"
    write(home / CLAUDE, [ours, theirs])
    words = ("status", "--host", "claude", "--scope", "user")
    lines = run(*words).stdout.splitlines()
    at = lines.index(f"    command: {theirs}")
    own = "      in a form of its own, which recall leaves as it is"
    assert lines.count(own) == 1
    assert lines[at + 1] == own
    (one,) = run(*words, "--json").data()["installations"]
    assert (one["own_form"], one["own_forms"]) == (True, [theirs])


@pytest.mark.parametrize(
    "head",
    [
        "#!/no such/python -I\n",
        "#! /no/such/python\n",
        "#!/bin/sh\n'''exec' \"/no/such/python\" \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_a_program_whose_interpreter_is_gone_is_told(home: Path, program: Path, head: str) -> None:
    program.write_text(head)
    gone = "/no" if "/no such" in head else "/no/such/python"
    assert interpreter_gone(str(program)) == gone
    write(home / CLAUDE, f"{program} --host claude")
    words = ("status", "--host", "claude", "--scope", "user")
    done = run(*words)
    assert (
        f"the interpreter {gone} of the program that it calls is gone: {program}\n" in done.stderr
    )
    assert "hint: recall hook install --host claude\n" in done.stderr
    assert f"    the interpreter of {program} is gone: {gone}\n" in done.stdout
    assert run(*words, "--json").data()["installations"][0]["gone"] == [str(program)]


def test_an_interpreter_that_is_there_or_unknown_is_not_gone(program: Path) -> None:
    for head in (
        b"#!/bin/sh\n",
        b"#!/usr/bin/env no-such\n",
        b"#!\n",
        b"",
        b"\x7fELF\0\xff",
        b"#!x\n",
    ):
        program.write_bytes(head)
        assert interpreter_gone(str(program)) is None
    assert interpreter_gone(str(program.parent)) is None
    assert interpreter_gone("/no/such/file") is None


def configured(text: str) -> None:
    file = config_file(os.environ)
    assert file is not None
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, "w", encoding="utf-8") as stream:
        stream.write(text)


def test_what_of_its_own_keeps_it_silent(tmp_path: Path) -> None:
    no_root = "no root is named here yet, so the hook says nothing: recall roots add NAME DIR"
    words = ("status", "--host", "codex")
    assert run(*words, "--json").data()["held_back"] == [no_root]
    assert no_root in run("install", "--host", "codex", "--dry-run", "--json").data()["next"]
    off = "[hook]\nenabled = false\nlog = false\n"
    for roots in ("", f'[roots]\nnotes = "{tmp_path}"\n'):
        configured(off + roots)
        lines = run(*words).stdout.splitlines()
        switched = "the prompt hook is switched off: enabled = false under [hook]: edit "
        assert lines.pop(0) == f"{switched}{config_file(os.environ)}"
        assert roots or lines.pop(0) == no_root
        assert lines[0] == "Codex CLI: no run is logged: log = false under [hook]"
    data = run(*words, "--json").data()
    assert (len(data["held_back"]), data["logs"]) == (1, False)
    configured(f'[roots]\nnotes = "{tmp_path}"\n')
    data = run(*words, "--json").data()
    assert (data["held_back"], data["logs"]) == ([], True)
    assert no_root not in run("install", "--host", "codex", "--dry-run", "--json").data()["next"]
    state = state_dir(os.environ)
    assert state is not None
    pausing.pause(state, pausing.UNTIL_RESUMED)
    assert run(*words).stdout.startswith('the prompt hook is paused until "recall resume"\n')
    said = run(*words, env={"RECALL_OFF": "1"}).stdout.splitlines()[1]
    assert said == "RECALL_OFF is set here: the hook says nothing with it: unset RECALL_OFF"
    configured("[hook\n")
    done = run(*words)
    assert done.status == 0
    assert "what keeps the hook silent can't be told: the configuration is not valid" in done.stderr
