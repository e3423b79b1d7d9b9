"""``recall hook install``, ``uninstall``, ``status`` as people run them; what hosts then run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import Result, recall
from install_support import GOOD

from recall import cli, hookfault, hostfiles, hosttrust, installing, recalllog
from recall.cli import hook_change
from recall.cli.app import run as run_here
from recall.dirs import state_dir
from recall.hookcommand import command_line, place_of, program_words, understood
from recall.terminal import Look

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "#!/bin/sh\ncat\nprintf ' %s' \"$@\"\n"
# Each is a directory's name that some shell or host would take for something else.
ODD = [
    *("plain", "a b", "it's", 'say "x"', "a$HOME", "${HOME}x", "$", "a`date`b", "a;b", "a&b|c"),
    *("(x)", "[x]*?", "a\\b", "a\nb", "\ttab", "!x", "#x", "~", "größe", "日本 語", "-x", "%d"),
]
SHELLS = [shell for shell in ("/bin/sh", "bash", "dash", "zsh") if shutil.which(shell)]


def run(*words: str, **options: Any) -> Result:
    return recall("hook", *words, **options)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ODD)
def test_the_command_runs_its_program_wherever_that_is(
    tmp_path: Path, name: str, shell: str
) -> None:
    program = tmp_path / name / "recall-hook"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    line = command_line([str(program)], "claude")
    done = subprocess.run([shell, "-c", line], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{} --host claude", b"")
    assert "$" not in line
    call = understood(line)
    assert call is not None
    assert (call.exact, call.program) == (True, [str(program)])
    assert place_of(call.program, os.environ) == str(program)
    assert json.loads(json.dumps(line)) == line


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
@pytest.mark.parametrize(
    "left", ["nothing", "a directory", "not executable", "no interpreter", "no package"]
)
def test_the_command_is_silent_when_its_program_is_gone(
    tmp_path: Path, host: str, shell: str, left: str
) -> None:
    program = tmp_path / "re call" / "recall-hook"
    program.parent.mkdir()
    if left == "a directory":
        program.mkdir()
    elif left != "nothing":
        program.write_text(
            f"#!{sys.executable} -I\nimport sys\nsys.stderr.write('gone')\nsys.exit(2)\n"
            if left == "no package"
            else "#!/no/such/python\n"
        )
        program.chmod(0o644 if left == "not executable" else 0o755)
    silence = hostfiles.host_files(host).silence
    line = command_line([str(program)], host, silence)
    done = subprocess.run([shell, "-c", line], input=b"{}", capture_output=True, check=False)
    said = b"{}\n" if host == "gemini" else b""
    assert (done.returncode, done.stdout, done.stderr) == (0, said, b"")


def test_the_command_depends_on_the_place_alone(tmp_path: Path) -> None:
    venv = tmp_path / "venv" / "bin"
    venv.mkdir(parents=True)
    python = str(venv / "python")
    module = [python, "-P", "-m", "recall", "hook"]
    assert program_words(python, "/x/recall", isolated=True) == module
    hook = venv / "recall-hook"
    hook.write_text(PROGRAM)
    assert program_words(python, "/x/recall", isolated=True) == module
    hook.chmod(0o755)
    assert program_words(python, "/x/recall", isolated=True) == [str(hook)]
    assert program_words("/usr/bin/python3", str(venv / "recall"), isolated=False) == [str(hook)]
    assert program_words(python, "/x/recall", isolated=False) == [str(hook)]
    # What is written must not change from version to version: hosts would ask for trust again.
    assert command_line([f"{venv}/recall-hook"], "codex") == (
        f"{venv}/recall-hook --host codex 2>/dev/null || true"
    )
    assert command_line(["/b/recall-hook"], "gemini", "{}") == (
        "/b/recall-hook --host gemini 2>/dev/null || echo '{}'"
    )


def test_without_a_program_the_interpreter_answers(tmp_path: Path) -> None:
    line = command_line([sys.executable, "-P", "-m", "recall", "hook"], "gemini", "{}")
    event = {"hook_event_name": "BeforeAgent", "prompt": "x", "session_id": "s"}
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=tmp_path,
        input=json.dumps(event).encode(),
        capture_output=True,
        env={**os.environ, "RECALL_DEADLINE_MS": "10000"},
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, {}, b"")
    assert hookfault.read(state_dir(os.environ)) is None


def test_a_transcript(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(GOOD["usual"])
    done = run("install", "--host", "claude", "--dry-run")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(f"--- {file}\n+++ {file}\n@@ -")
    assert '\n+  "hooks": {\n+    "UserPromptSubmit": [\n' in done.stdout
    assert "\x1b" not in done.stdout
    assert file.read_bytes() == GOOD["usual"]
    done = run("install", "--host", "claude")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        f"installed: Claude Code: {file}\n"
        "  start a new session of Claude Code; /hooks shows what it has loaded\n"
        "  no root is named here yet, so the hook says nothing: recall roots add NAME DIR\n"
    )
    assert recall("roots", "add", "notes", str(file.parent)).status == 0
    assert run("install", "--host", "claude").stdout == (
        f"already installed: Claude Code: {file}\n"
    )
    done = run("uninstall", "--host", "claude")
    assert done.stdout == (
        f"restored: Claude Code: {file}\n"
        "  sessions of Claude Code that are open may still call it\n"
    )
    assert file.read_bytes() == GOOD["usual"]
    assert run("uninstall", "--host", "claude").stdout == f"not installed: Claude Code: {file}\n"


def test_answers_for_programs(home: Path) -> None:
    data = run("install", "--host", "codex", "--dry-run", "--json").data()
    assert (data["action"], data["changed"], data["dry_run"]) == ("installed", False, True)
    assert data["diff"].startswith("--- /dev/null\n+++ ")
    data = run("install", "--host", "codex", "--json").data()
    assert data["file"] == str(home / ".codex" / "hooks.json")
    assert (data["changed"], data["diff"]) == (True, None)
    assert "trust" in data["next"][0]
    assert run("install", "--host", "codex", "--json").data()["changed"] is False
    assert run("uninstall", "--host", "codex", "--json").data()["action"] == "deleted"
    assert not (home / ".codex").exists()


def test_a_project_has_its_own_file(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    done = run("install", "--host", "claude", "--scope", "project", cwd=tmp_path / "src")
    assert (tmp_path / ".claude" / "settings.local.json").exists()
    assert "  this file is yours alone: keep it out of commits\n" in done.stdout
    done = run("install", "--host", "gemini", "--scope", "project", cwd=tmp_path / "src")
    assert (tmp_path / ".gemini" / "settings.json").exists()
    assert "  this file may be shared: " in done.stdout


def test_installing_it_twice_over_is_warned_of(home: Path, tmp_path: Path) -> None:
    words = ("install", "--host", "codex")
    assert run(*words, "--scope", "project", cwd=tmp_path).stderr == ""
    done = run(*words, cwd=tmp_path)
    assert done.status == 0
    assert done.stderr == (
        f"warning: the hook is installed in {tmp_path}/.codex/hooks.json too, and one is enough\n"
        "hint: recall hook uninstall --host codex --scope project\n"
    )
    assert run(*words, "--scope", "project", cwd=tmp_path).stderr != ""
    # Where both are one file there is no other.
    assert run(*words, "--scope", "project", cwd=home).stderr == ""


def test_that_codex_may_ask_again_for_others_is_said(home: Path) -> None:
    run("install", "--host", "codex")
    file = home / ".codex" / "hooks.json"
    value = json.loads(file.read_bytes())
    other = {"hooks": [{"type": "command", "command": "date"}]}
    value["hooks"]["SessionStart"].append(other)
    file.write_text(json.dumps(value))
    done = run("uninstall", "--host", "codex")
    assert "it may ask for them again" in done.stderr
    assert json.loads(file.read_bytes()) == {"hooks": {"SessionStart": [other]}}
    run("install", "--host", "codex")
    assert run("uninstall", "--host", "codex").stderr == ""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("install", "--host", "cursor"), 4, "its beforeSubmitPrompt hook injects nothing\n"),
        (("install", "--host", "cursor"), 4, "hint: it supports a session start hook, rules files"),
        (
            ("install", "--host", "copilot"),
            4,
            "its userPromptSubmitted hook is not listened to\n",
        ),
        (("install", "--host", "copilot"), 4, "hint: it supports instructions files and MCP: "),
        (("install", "--host", "copilot"), 4, "before it answers: recall search QUESTION\n"),
        (("uninstall", "--host", "vim"), 4, "one of claude, codex, gemini"),
        (("status", "--host", "cursor"), 4, "Cursor"),
        (("install",), 4, "--host"),
        (("install", "--host", "claude", "--scope", "world"), 4, "--scope"),
        (("--explain", "install", "--host", "claude"), 4, "options come after install"),
    ],
)
def test_what_can_not_be_done_is_said(words: tuple[str, ...], status: int, said: str) -> None:
    done = run(*words)
    assert (done.status, done.stdout) == (status, "")
    assert said in done.stderr
    assert done.stderr.startswith("error: ")


def test_a_file_that_is_wrong_is_named_with_its_place(home: Path) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "a": 1\n  "b": 2\n}\n')
    for action in ("install", "uninstall"):
        error = run(action, "--host", "gemini", "--json").error()
        assert error["code"] == "config_invalid"
        assert error["where"] == f"{file}:3:3"
        assert "nothing was changed" in error["hint"]


@pytest.mark.parametrize("words", [("bogus",), ("--host", "claude", "install"), ("Install",)])
def test_any_other_word_is_a_hosts_and_harms_no_prompt(words: tuple[str, ...]) -> None:
    done = run(*words, stdin=b"{}", env={"RECALL_DEADLINE_MS": "10000"})
    assert (done.status, done.stdout, done.stderr) == (0, "", "")


def test_at_a_terminal_the_bare_command_helps(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run_here(["hook"], "hook") == 0
    assert b"recall hook install --host claude" in capsysbinary.readouterr().out


def test_the_hook_itself_loads_nothing_of_it(home: Path) -> None:
    del home
    code = (
        "import os, sys\n"
        "os._exit = lambda _: (print(*sorted(sys.modules)), sys.stdout.flush(), sys.exit(0))\n"
        "from recall.cli import main\n"
        "main(['hook', '--host', 'claude'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"",
        capture_output=True,
        env={**os.environ, "RECALL_DEADLINE_MS": "10000"},
        check=False,
    )
    modules = set(done.stdout.decode().split())
    assert "recall.hook" in modules
    assert not modules & {"click", "recall.hostfiles", "recall.jsonedit", "recall.installing"}


def test_the_diff_is_harmless_and_coloured_on_a_terminal_alone(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(b'{\r\n  "\xe2\x80\xae": "\xc2\x9b31m"\r\n}\r\n')
    place = hostfiles.place(hostfiles.host_files("claude"), "user", os.environ, "/")
    change = installing.install(place, "/x/recall-hook", str(home), dry_run=True)
    bare = hook_change._diff(change, Look())
    assert bare == hook_change._diff(change, None)
    assert "\x1b" not in bare
    assert "\r" not in bare
    assert '-  "\\u202e": "\\x9b31m"\n' in bare
    coloured = hook_change._diff(change, Look(80, colour=True))
    assert '\x1b[32m+  "hooks": {\x1b[0m\n' in coloured


def entry(host: str, *, spoke: bool, why: str, now: float) -> None:
    recalllog.record(state_dir(os.environ), host=host, spoke=spoke, why=why, prompt="p", now=now)


def test_status_tells_what_is_where_and_when_it_ran(home: Path, tmp_path: Path) -> None:
    run("install", "--host", "claude")
    entry("claude", spoke=True, why="topic", now=1_000_000_000)
    entry("claude", spoke=False, why="deadline", now=1_000_000_060)
    entry("claude", spoke=False, why="a fault", now=1_000_000_120)
    entry("codex", spoke=False, why="nothing", now=1_000_000_180)
    data = run("status", "--json", cwd=tmp_path).data()
    places = {(one["host"], one["scope"]): one for one in data["installations"]}
    assert len(places) == 6
    mine = places["claude", "user"]
    assert mine["file"] == str(home / ".claude" / "settings.json")
    assert mine["events"] == ["UserPromptSubmit", "SessionStart"]
    assert (mine["installed"], mine["missing"], mine["gone"]) == (True, [], [])
    assert (mine["elsewhere"], mine["own_form"], mine["trust"]) == (False, False, "unknown")
    assert not places["codex", "user"]["installed"]
    runs = {each["host"]: each for each in data["hosts"]}
    assert runs["claude"] == {
        "host": "claude",
        "last_ran": "2001-09-09T01:48:40Z",
        "last_spoke": "2001-09-09T01:46:40Z",
        "last_late": "2001-09-09T01:47:40Z",
        "last_failed": "2001-09-09T01:48:40Z",
    }
    assert runs["codex"]["last_ran"] == "2001-09-09T01:49:40Z"
    assert runs["gemini"]["last_ran"] is None
    text = run("status", "--host", "claude", cwd=tmp_path, env={"TZ": "UTC"}).stdout
    ran = (
        "2001-09-09 01:48:40, spoke 2001-09-09 01:46:40, failed 2001-09-09 01:48:40,"
        " hit its deadline 2001-09-09 01:47:40"
    )
    assert text.splitlines() == [
        "no root is named here yet, so the hook says nothing: recall roots add NAME DIR",
        f"Claude Code: last ran {ran}",
        f"  user: installed: {home}/.claude/settings.json",
        f"    command: {mine['commands'][0]}",
        f"    trust: unknown: {mine['trust_reason']}",
        f"  project: not installed: {tmp_path}/.claude/settings.local.json",
    ]


def test_status_warns_of_what_is_gone_missing_or_wrong(home: Path, tmp_path: Path) -> None:
    gone = command_line([str(tmp_path / "old" / "recall-hook")], "claude")
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    handler = {"hooks": [{"type": "command", "command": gone}]}
    file.write_text(json.dumps({"hooks": {"UserPromptSubmit": [handler]}}))
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{")
    hookfault.note(state_dir(os.environ), "it broke", hint="mend it")
    done = run("status", cwd=tmp_path)
    assert done.status == 0
    assert f"warning: Claude Code: the program that it calls is gone: {tmp_path}/old" in done.stderr
    assert "hint: recall hook install --host claude\n" in done.stderr
    assert "warning: Claude Code: the hook is not called at SessionStart\n" in done.stderr
    assert "warning: Codex CLI: the settings file can't be edited: " in done.stderr
    assert "warning: the prompt hook failed: it broke" in done.stderr
    assert f"    its program is gone: {tmp_path}/old/recall-hook\n" in done.stdout
    assert "    not called at SessionStart\n" in done.stdout
    data = run("status", "--json", cwd=tmp_path).data()
    assert data["hook_failure"]["message"] == "it broke"
    assert data["installations"][0]["elsewhere"] is True
    assert data["installations"][2]["error"]["code"] == "config_invalid"
    # What it hints at mends it.
    run("install", "--host", "claude")
    assert run("status", "--host", "claude", "--json").data()["installations"][0]["gone"] == []


def trusted(host: str, cwd: Path, scope: str = "user") -> str:
    where = hostfiles.place(hostfiles.host_files(host), scope, os.environ, str(cwd))
    settings = installing.read(where)
    switched = hosttrust.off(settings, os.environ, str(cwd))
    state, why = hosttrust.trust(settings, os.environ, str(cwd), switched)
    assert why
    return state


def installed(host: str, cwd: Path, scope: str = "user") -> Path:
    import pathlib

    where = hostfiles.place(hostfiles.host_files(host), scope, os.environ, str(cwd))
    command = command_line(["/opt/größe/recall-hook"], host, where.host.silence)
    installing.install(where, command, str(state_dir(os.environ)))
    return pathlib.Path(where.file)


def test_trust_of_claude(home: Path, tmp_path: Path) -> None:
    file = installed("claude", tmp_path)
    assert trusted("claude", tmp_path) == "unknown"
    projects = {str(tmp_path): {"hasTrustDialogAccepted": True}}
    (home / ".claude.json").write_text(json.dumps({"projects": projects}))
    assert trusted("claude", tmp_path) == "trusted"
    assert trusted("claude", tmp_path / "below") == "trusted"
    assert trusted("claude", home) == "unknown"
    file.write_text(file.read_text().replace("{\n", '{\n"disableAllHooks": true,\n', 1))
    assert trusted("claude", tmp_path) == "off"


def test_trust_of_codex(home: Path, tmp_path: Path) -> None:
    file = installed("codex", tmp_path)
    config = home / ".codex" / "config.toml"
    assert trusted("codex", tmp_path) == "untrusted"
    where = hostfiles.place(hostfiles.host_files("codex"), "user", os.environ, str(tmp_path))
    lines = []
    for each in installing.read(where).found:
        event = {"UserPromptSubmit": "user_prompt_submit", "SessionStart": "session_start"}
        name = event[each.event]
        digest = hosttrust.codex_hash(name, each)
        lines.append(f'[hooks.state."{file}:{name}:0:0"]\ntrusted_hash = "{digest}"\n')
    config.write_text(lines[0])
    assert trusted("codex", tmp_path) == "untrusted"
    config.write_text("".join(lines))
    assert trusted("codex", tmp_path) == "trusted"
    config.write_text("".join(lines).replace('= "sha256:', '= "sha256:0'))
    assert trusted("codex", tmp_path) == "unknown"
    config.write_text("".join(lines) + "enabled = false\n")
    assert trusted("codex", tmp_path) == "off"
    config.write_text("".join(lines) + "[features]\nhooks = false\n")
    assert trusted("codex", tmp_path) == "off"
    config.write_text("[broken")
    assert trusted("codex", tmp_path) == "untrusted"
    installed("codex", tmp_path, "project")
    assert trusted("codex", tmp_path, "project") == "untrusted"


@pytest.mark.parametrize("timeout", ['"²"', '"15"', "1" * 5000, "1e2", "-1"])
def test_a_timeout_that_codex_does_not_read_is_no_fault_of_ours(home: Path, timeout: str) -> None:
    """Python's int() refuses some of these, which str.isdigit() takes."""
    handler = f'{{"type": "command", "command": "recall-hook", "timeout": {timeout}}}'
    file = home / ".codex" / "hooks.json"
    file.parent.mkdir()
    file.write_text(f'{{"hooks": {{"UserPromptSubmit": [{{"hooks": [{handler}]}}]}}}}')
    config = f'[hooks.state."{file}:user_prompt_submit:0:0"]\ntrusted_hash = "sha256:0"\n'
    (home / ".codex" / "config.toml").write_text(config)
    data = recall("hook", "status", "--host", "codex", "--scope", "user", "--json").data()
    assert data["installations"][0]["trust"] == "unknown"


def test_the_digest_by_which_codex_knows_a_hook(tmp_path: Path) -> None:
    """A digest of the bytes as they are documented by those who met them, spelled out here."""
    import hashlib

    installed("codex", tmp_path)
    where = hostfiles.place(hostfiles.host_files("codex"), "user", os.environ, str(tmp_path))
    each = installing.read(where).found[0]
    text = (
        '{"event_name":"user_prompt_submit","hooks":[{"async":false,"command":'
        '"/opt/größe/recall-hook --host codex 2>/dev/null || true","timeout":15,'
        '"type":"command"}]}'
    ).replace("/opt/größe/recall-hook", "'/opt/größe/recall-hook'")
    expected = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert hosttrust.codex_hash("user_prompt_submit", each) == expected


def test_trust_of_gemini(home: Path, tmp_path: Path) -> None:
    file = installed("gemini", tmp_path)
    assert trusted("gemini", tmp_path) == "trusted"
    text = file.read_text()
    file.write_text(text.replace("{\n", '{\n"hooksConfig": {"disabled": ["recall"]},\n', 1))
    assert trusted("gemini", tmp_path) == "off"
    file.write_text(text.replace("{\n", '{\n"hooksConfig": {"enabled": false},\n', 1))
    assert trusted("gemini", tmp_path) == "off"
    installed("gemini", tmp_path, "project")
    assert trusted("gemini", tmp_path, "project") == "off"
    file.write_text(text)
    assert trusted("gemini", tmp_path, "project") == "unknown"
    folders = home / ".gemini" / "trustedFolders.json"
    folders.write_text(json.dumps({str(tmp_path): "TRUST_FOLDER"}))
    assert trusted("gemini", tmp_path, "project") == "trusted"
    folders.write_text(json.dumps({str(tmp_path): "DO_NOT_TRUST"}))
    assert trusted("gemini", tmp_path, "project") == "untrusted"


def test_the_words_that_go_to_people_are_the_commands() -> None:
    assert cli.SUBCOMMANDS["hook"] == ("install", "uninstall", "status")
