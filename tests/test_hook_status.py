"""What ``recall hook status`` says of hooks that stand in a host's settings and do not run."""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import Result, recall
from hypothesis import given
from hypothesis import strategies as st

from recall import hookedit, logreading, recalllog
from recall.cli.fields import local
from recall.cli.hook_status import _run_text, _text
from recall.dirs import state_dir
from recall.hookstatus import Installation, Runs
from recall.hostfiles import HOST_FILES
from recall.hostreading import idle, switched_off
from recall.jsonedit import Document
from recall.terminal import Look, look_at

if TYPE_CHECKING:
    from pathlib import Path

CLAUDE, SHARED = ".claude/settings.json", ".claude/settings.json"
LOCAL, GEMINI = ".claude/settings.local.json", ".gemini/settings.json"
COMMAND = "/no/such/recall-hook"


def status(*words: str, **options: Any) -> Result:
    return recall("hook", "status", *words, **options)


def install(host: str, scope: str, cwd: Path) -> None:
    assert recall("hook", "install", "--host", host, "--scope", scope, cwd=cwd).status == 0


def change(file: Path, **settings: object) -> None:
    """Put settings into a file, before what is there."""
    file.parent.mkdir(exist_ok=True)
    old = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**settings, **old}, indent=1))


def hook(event: str = "UserPromptSubmit", matcher: str | None = None, **fields: object) -> str:
    """Return settings with one call of the hook."""
    handler = {"type": "command", "command": COMMAND, **fields}
    group: dict[str, object] = {"hooks": [{k: v for k, v in handler.items() if v is not None}]}
    if matcher is not None:
        group["matcher"] = matcher
    return json.dumps({"hooks": {event: [group]}}, indent=1)


@pytest.mark.parametrize(
    ("host", "text", "said"),
    [
        ("claude", '{\n"disableAllHooks": true}', ('"disableAllHooks" is true in line 2', 2)),
        ("claude", '{"disableAllHooks": false}', None),
        ("claude", '{"disableAllHooks": "true"}', None),
        ("claude", '{"hooksConfig": {"enabled": false}}', None),
        ("gemini", '{"hooksConfig":\n {"enabled": false}}', ('"hooksConfig.enabled" is false', 2)),
        ("gemini", '{"hooks": {"enabled": false}}', ('"hooks.enabled" is false', 1)),
        ("gemini", '{"hooksConfig": {"enabled": true}, "hooks": {"enabled": false}}', None),
        ("gemini", '{"hooksConfig": {"disabled": [1, "recall"]}}', ("has its name", 1)),
        ("gemini", '{"hooksConfig": {"disabled": ["other"]}}', None),
        ("gemini", '{"hooksConfig": [], "hooks": 7}', None),
        ("gemini", '{"disableAllHooks": true}', None),
        ("codex", '{"disableAllHooks": true, "hooksConfig": {"enabled": false}}', None),
        ("claude", "", None),
        ("gemini", "[]", None),
    ],
)
def test_what_switches_hooks_off_in_one_file(
    host: str, text: str, said: tuple[str, int] | None
) -> None:
    document = Document(text)
    told = switched_off(HOST_FILES[host], document)
    assert (told is None) == (said is None)
    if told is not None and said is not None:
        assert said[0] in told.message
        assert told.line == said[1]


@pytest.mark.parametrize(
    ("host", "scope", "files", "where"),
    [
        ("claude", "user", {"~" + CLAUDE: True}, "~" + CLAUDE),
        ("claude", "project", {"~" + CLAUDE: True}, "~" + CLAUDE),
        ("claude", "user", {SHARED: True}, SHARED),
        ("claude", "project", {SHARED: True}, SHARED),
        ("claude", "user", {LOCAL: True}, LOCAL),
        # The later of them decides.
        ("claude", "user", {"~" + CLAUDE: True, LOCAL: False}, None),
        ("claude", "project", {"~" + CLAUDE: True, SHARED: False}, None),
        ("claude", "project", {"~" + CLAUDE: False, SHARED: True, LOCAL: False}, None),
        ("claude", "user", {"~" + CLAUDE: False, SHARED: True}, SHARED),
        ("gemini", "project", {"~" + GEMINI: True}, "~" + GEMINI),
        ("gemini", "user", {GEMINI: True}, GEMINI),
        ("gemini", "user", {"~" + GEMINI: True, GEMINI: False}, None),
    ],
)
def test_a_switch_in_another_of_the_hosts_files_is_seen(
    home: Path, tmp_path: Path, host: str, scope: str, files: dict[str, bool], where: str | None
) -> None:
    def path(name: str) -> Path:
        return home / name[1:] if name.startswith("~") else tmp_path / name

    install(host, scope, tmp_path)
    for name, off in files.items():
        change(
            path(name),
            **(
                {"disableAllHooks": off}
                if host == "claude"
                else {"hooksConfig": {"enabled": not off}}
            ),
        )
    data = status("--host", host, "--scope", scope, "--json", cwd=tmp_path).data()
    (one,) = data["installations"]
    done = status("--host", host, "--scope", scope, cwd=tmp_path)
    if where is None:
        assert one["trust"] != "off"
        assert done.stderr == ""
        return
    assert one["trust"] == "off"
    assert one["trust_reason"] == f"it is switched off in {path(where)}, line 2" or host == "gemini"
    assert str(path(where)) in one["trust_reason"]
    title = HOST_FILES[host].title
    assert done.stderr.startswith(f"warning: {title} does not run the hook: ")
    assert f"({path(where)}:" in done.stderr
    assert "    trust: off: it is switched off in " in done.stdout


def test_a_file_that_the_host_can_not_read_switches_nothing(home: Path, tmp_path: Path) -> None:
    install("claude", "project", tmp_path)
    file = home / CLAUDE
    file.parent.mkdir()
    file.write_text('{"disableAllHooks": true}')
    words = ("--host", "claude", "--scope", "project", "--json")
    assert status(*words, cwd=tmp_path).data()["installations"][0]["trust"] == "off"
    for text in ('{"disableAllHooks": true, // not now\n}', "{", "[1]", ""):
        file.write_text(text)
        assert status(*words, cwd=tmp_path).data()["installations"][0]["trust"] == "unknown"


def test_gemini_hooks_are_named_off_in_any_of_its_files(home: Path, tmp_path: Path) -> None:
    install("gemini", "user", tmp_path)
    change(tmp_path / GEMINI, hooksConfig={"enabled": True, "disabled": ["recall"]})
    words = ("--host", "gemini", "--scope", "user")
    (one,) = status(*words, "--json", cwd=tmp_path).data()["installations"]
    assert one["trust"] == "off"
    change(home / GEMINI, hooksConfig={"enabled": False})
    assert str(tmp_path / GEMINI) in status(*words, cwd=tmp_path).stderr  # that one allows them


def test_installing_says_that_hooks_are_switched_off(home: Path, tmp_path: Path) -> None:
    change(home / CLAUDE, disableAllHooks=True)
    done = recall("hook", "install", "--host", "claude", cwd=tmp_path)
    assert 'warning: Claude Code does not run the hook: "disableAllHooks" is true' in done.stderr


IDLE: list[tuple[str, str, list[str]]] = [
    ("claude", hook(), []),
    ("claude", hook("SessionStart", ""), []),
    ("claude", hook("SessionStart", "*"), []),
    ("claude", hook("SessionStart", "startup|resume|clear|compact"), []),
    ("claude", hook("SessionStart", ".*"), []),
    ("claude", hook("SessionStart", "startup"), ["from running at resume, clear, compact"]),
    ("codex", hook("SessionStart", "clear|compact"), ["from running at startup, resume"]),
    ("claude", hook("SessionStart", "Bash"), ['the matcher "Bash" at SessionStart keeps']),
    ("claude", hook("SessionStart", "("), ['the matcher "(" at SessionStart keeps']),
    ("gemini", hook("SessionStart", "startup|clear"), ["keeps the hook from running"]),
    ("gemini", hook("SessionStart", "clear"), ["from running at startup, resume"]),
    ("claude", hook(matcher="Bash"), ['"Bash" at UserPromptSubmit has nothing to match']),
    (
        "claude",
        hook(type="prompt"),
        ['at UserPromptSubmit is not run: it is of type "prompt", not "command"'],
    ),
    ("claude", hook(type=None), ["is not run: it has no type"]),
    ("codex", hook("SessionStart", "x", type="agent", timeout=1), ['of type "agent"']),
    ("claude", hook(timeout=1), ["is 1 s, with which it may be ended"]),
    ("claude", hook(timeout=0), ["is 0 s, "]),
    ("claude", hook(timeout=1.5), ["is 1.5 s, "]),
    ("claude", hook(timeout=2), []),
    ("claude", hook(timeout="15"), ["is no number"]),
    ("gemini", hook("BeforeAgent", timeout=15), ["is 15 ms, "]),
    ("gemini", hook("BeforeAgent", timeout=15000), []),
    ("gemini", hook("BeforeAgent", timeout=-1), ["is -1 ms, "]),
    (
        "claude",
        hook("PreToolUse", "Bash"),
        ["called at PreToolUse, and answers at UserPromptSubmit"],
    ),
    ("gemini", hook(), ["called at UserPromptSubmit, and answers at BeforeAgent and SessionStart"]),
    ("claude", hook("SessionStart", "x", timeout=1), ["matcher", "timeout"]),
]


@pytest.mark.parametrize(("host", "text", "said"), IDLE)
def test_a_call_that_does_not_run_or_is_of_no_use_is_told(
    home: Path, tmp_path: Path, host: str, text: str, said: list[str]
) -> None:
    files = {"claude": CLAUDE, "codex": ".codex/hooks.json", "gemini": GEMINI}
    file = home / files[host]
    file.parent.mkdir()
    file.write_text(text)
    words = ("--host", host, "--scope", "user")
    (one,) = status(*words, "--json", cwd=tmp_path).data()["installations"]
    assert len(one["idle"]) == len(said)
    assert one["installed"]
    done = status(*words, cwd=tmp_path)
    for part, message in zip(said, one["idle"], strict=True):
        assert part in message
        assert f"    {message}\n" in done.stdout
        assert f"warning: {HOST_FILES[host].title}: {message} ({file}:" in done.stderr
    (event,) = json.loads(text)["hooks"]
    runs = event in HOST_FILES[host].events and '"type": "command"' in text
    assert one["events"] == ([event] if runs else [])
    assert set(one["missing"]) == set(HOST_FILES[host].events) - set(one["events"])
    assert ("  user: installed, never called: " in done.stdout) != runs


def test_the_line_is_that_of_what_is_wrong() -> None:
    document = Document(hook("SessionStart", "startup", timeout=1))
    told = idle(HOST_FILES["claude"], document, hookedit.named(document))
    lines = document.text.split("\n")
    assert [lines[each.line - 1].split('"')[1] for each in told] == ["matcher", "timeout"]


@pytest.mark.parametrize("text", [hook(type="prompt"), hook("PreToolUse")])
def test_the_program_of_what_does_not_run_is_not_asked_for(home: Path, text: str) -> None:
    """An install would not put another in its place, as the hint for one that is gone says."""
    file = home / CLAUDE
    file.parent.mkdir()
    file.write_text(text)
    done = status("--host", "claude", "--scope", "user")
    assert "gone" not in done.stdout + done.stderr
    (one,) = status("--host", "claude", "--scope", "user", "--json").data()["installations"]
    assert (one["gone"], one["elsewhere"]) == ([], None)


def test_it_says_what_mends_it(home: Path, tmp_path: Path) -> None:
    """An install mends a timeout where all is ours; a hook of no type is wanted where none runs."""
    file = home / CLAUDE
    file.parent.mkdir()
    ours = f"{COMMAND} --host claude"
    again = "hint: install the hook again: that makes it 15 s\n"
    by_hand = "hint: make it 15 (s), in an editor; recall leaves it as it is\n"
    for text, hint in (
        (hook(command=ours, timeout=1), again),
        (hook(command=ours, timeout=1, async_=True), by_hand),
        (hook(matcher="", command=ours, timeout=1), by_hand),
        (hook(command=f"{ours}; true", timeout=1), by_hand),
    ):
        file.write_text(text)
        assert hint in status("--host", "claude", cwd=tmp_path).stderr
    value = json.loads(hook(type=None))
    file.write_text(json.dumps(value))
    said = 'hint: give it "type": "command", in an editor'
    assert said in status("--host", "claude", cwd=tmp_path).stderr
    value["hooks"]["UserPromptSubmit"] += json.loads(hook())["hooks"]["UserPromptSubmit"]
    file.write_text(json.dumps(value))
    assert "hint: take it out if it is not wanted, in" in status(cwd=tmp_path).stderr


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet="a(*[+?|\\)]{}<!:=P1,$^&-~", max_size=12),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)


@given(st.sampled_from(sorted(HOST_FILES)), JSON, JSON, JSON)
def test_no_settings_make_it_raise(host: str, matcher: Any, kind: Any, timeout: Any) -> None:
    for event in (*HOST_FILES[host].events, "PreToolUse"):
        handler = {"command": COMMAND, "type": "command", "timeout": timeout}
        group = {"hooks": [handler, {**handler, "type": kind}], "matcher": matcher}
        document = Document(json.dumps({"hooks": {event: [group]}, "hooksConfig": kind}))
        told = idle(HOST_FILES[host], document, hookedit.named(document))
        assert all(each.message and each.hint and each.line == 1 for each in told)
        switched_off(HOST_FILES[host], document)


def test_a_program_in_PATH_is_not_gone(home: Path, tmp_path: Path) -> None:
    file = home / CLAUDE
    file.parent.mkdir()
    events = HOST_FILES["claude"].events
    handler = {"type": "command", "command": "recall-hook --host claude"}
    file.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}] for event in events}}))
    programs = tmp_path / "bin"
    programs.mkdir()
    words = ("--host", "claude", "--scope", "user")
    bare = {"PATH": f"{programs}:/usr/bin:/bin"}
    done = status(*words, env=bare)
    assert "the program that it calls is not in PATH: recall-hook\n" in done.stderr
    program = programs / "recall-hook"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    done = status(*words, env=bare)
    assert (done.stderr, "of another version" in done.stdout) == ("", True)
    # Of this installation by whatever name: a link, the other of its programs, its full path.
    recall("hook", "install", "--host", "gemini")
    own = json.loads((home / GEMINI).read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    path = own.split()[0]
    if os.path.basename(path) != "recall-hook":
        pytest.skip("run without its program")
    program.unlink()
    program.symlink_to(path)
    for command in ("recall-hook", f"{os.path.dirname(path)}/recall hook", f"timeout 9 {program}"):
        handler["command"] = command
        file.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}] for event in events}}))
        (one,) = status(*words, "--json", env=bare).data()["installations"]
        assert (one["gone"], one["elsewhere"]) == ([], False), command


def test_what_can_not_be_told_of_a_program_is_not_claimed(home: Path) -> None:
    file = home / CLAUDE
    file.parent.mkdir()
    file.write_text(hook(command="uv run recall hook"))
    (one,) = status("--host", "claude", "--scope", "user", "--json").data()["installations"]
    assert (one["gone"], one["elsewhere"], one["own_form"]) == ([], None, True)


def test_one_scope_or_both_and_one_file_once(home: Path, tmp_path: Path) -> None:
    def places(*words: str, cwd: Path) -> list[tuple[str, str]]:
        data = status(*words, "--json", cwd=cwd).data()
        return [(one["host"], one["scope"]) for one in data["installations"]]

    hosts = list(HOST_FILES)
    assert places(cwd=tmp_path) == [(h, s) for h in hosts for s in ("user", "project")]
    assert places("--scope", "user", cwd=tmp_path) == [(host, "user") for host in hosts]
    words = ("--scope", "project", "--host", "codex")
    assert places(*words, cwd=tmp_path) == [("codex", "project")]
    # At home both are one file, but for Claude Code.
    assert places(cwd=home) == [
        ("claude", "user"),
        ("claude", "project"),
        *[(h, "user") for h in hosts[1:]],
    ]
    assert places(*words, cwd=home) == [("codex", "project")]
    assert status("--scope", "world").status == 4


def test_called_twice_is_told_once_for_each_host(home: Path, tmp_path: Path) -> None:
    for scope in ("user", "project"):
        install("claude", scope, tmp_path)
    files = f"{home / CLAUDE} and {tmp_path / LOCAL}"
    said = (
        "warning: Claude Code: the hook is called more than once at UserPromptSubmit and"
        f" SessionStart ({files})\n"
        "hint: one is enough: recall hook uninstall --host claude --scope project\n"
    )
    assert status(cwd=tmp_path).stderr == said
    assert (
        recall("hook", "uninstall", "--host", "claude", "--scope", "project", cwd=tmp_path).status
        == 0
    )
    assert status(cwd=tmp_path).stderr == ""
    settings = json.loads((home / CLAUDE).read_text())
    settings["hooks"]["SessionStart"] *= 2
    (home / CLAUDE).write_text(json.dumps(settings))
    assert f"more than once at SessionStart ({home / CLAUDE})\n" in status(cwd=tmp_path).stderr


def test_with_nothing_installed(home: Path, tmp_path: Path) -> None:
    done = status("--host", "codex", cwd=tmp_path)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        "no root is named here yet, so the hook says nothing: recall roots add NAME DIR\n"
        "Codex CLI: no run is logged yet\n"
        f"  user: not installed: {home}/.codex/hooks.json\n"
        f"  project: not installed: {tmp_path}/.codex/hooks.json\n"
        "to install it: recall hook install --host codex\n"
    )
    last = status(cwd=tmp_path).stdout.splitlines()[-1]
    assert last == "to install it: recall hook install --host HOST (claude, codex, gemini)"


def test_how_its_runs_are_told() -> None:
    state = state_dir(os.environ)

    def said(**fields: Any) -> str:
        recalllog.record(state, host="claude", prompt="p", **fields)
        entries = logreading.read(state)[0]
        return _run_text(Runs("claude", entries, "deadline", "a fault"))

    assert _run_text(Runs("claude", [], "deadline", "a fault")) == "no run is logged yet"
    then = local(1_000_000_000)
    told = said(spoke=False, why="nothing", now=1_000_000_000)
    assert told == f"last ran {then}, never spoke, failed or hit its deadline"
    told = said(spoke=False, why="deadline", now=1_000_000_000)
    assert told == f"last ran {then}, hit its deadline {then}, never spoke or failed"
    told = said(spoke=True, why="cards", now=1_000_000_000)
    assert told == f"last ran {then}, spoke {then}, hit its deadline {then}, never failed"


def test_a_terminal_shows_the_hosts_names_in_bold() -> None:
    runs = [Runs("claude", [], "", "")]
    one = Installation("claude", "user")
    one.file = "/x/\x1b[31m.json"
    assert "\x1b[1mClaude Code\x1b[0m: no run is logged yet\n" in _text(
        [one], runs, Look(80, colour=True)
    )
    plain = _text([one], runs, look_at(io.StringIO(), {}))
    assert "\x1b" not in plain
    assert plain.startswith(
        "Claude Code: no run is logged yet\n  user: not installed: /x/\\x1b[31m.json\n"
    )
