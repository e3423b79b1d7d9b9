"""Settings in which the hook is not as an install leaves it: by hand, by halves, at odd places."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall
from install_support import HAND, OTHER
from test_install import COMMAND, HOSTS, Place, plain

from index_cache.errors import ConfigInvalid
from recall import hostreading, installing, jsonedit
from recall.cli.app import run as run_here
from recall.hookcommand import command_line
from recall.hostfiles import HOST_FILES
from recall.hostreading import Complaint
from recall.jsonedit import Document

if TYPE_CHECKING:
    from pathlib import Path

OURS = json.dumps({"type": "command", "command": HAND, "timeout": 15})
INNER = OURS[1:-1]
FILES = {name: f".{name}/{host.file}" for name, host in HOST_FILES.items()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, "gemini")


def hooks(handlers: str, group: str = "", event: str = "BeforeAgent") -> str:
    return f'{{"hooks": {{"{event}": [{{{group}"hooks": [{handlers}]}}]}}}}'


# What stands in the event's list, and what is left of it.
COMMENTED = {
    "behind a field": (f'{{"hooks": [{{{INNER} // mine\n}}]}}', None),
    "before the fields": (f'{{"hooks": [{{ /* recall */ {INNER} }}]}}', None),
    "before a colon": (
        f'{{"hooks": [{{"type" /* of */ : "command", "command": {json.dumps(HAND)}}}]}}',
        None,
    ),
    "with a trailing comma": (f'{{"hooks": [{{{INNER}, // mine\n}},],}},', None),
    "before another": (f'{{"hooks": [{{{INNER} /* x */}}]}}, {OTHER}', f"{OTHER}"),
    "behind another": (f'{OTHER}, {{"hooks": [{{{INNER} /* x */}}]}}', f"{OTHER}"),
    "beside another": (
        f'{{"hooks": [{{"type": "command", "command": "date"}}, {{/* x */{INNER}}}]}}',
        '{"hooks": [{"type": "command", "command": "date"}]}',
    ),
    "and one in the group": (
        f'{{ /* keep */ "hooks": [{{ // go\n {INNER} }}]}}',
        '{ /* keep */ "hooks": []}',
    ),
    "and one in the list": (
        f'{{"hooks": [ // keep\n {{ /* go */ {INNER} }}]}}',
        '{"hooks": [ // keep\n]}',
    ),
    "and one before the comma": (
        f'{{"hooks": [{{{INNER} /* go */}} /* keep */ , {{"type": "command", "command": "a"}}]}}',
        '{"hooks": [ /* keep */  {"type": "command", "command": "a"}]}',
    ),
    "and one before the last comma": (
        f'{{"hooks": [{{{INNER} /* go */}} /* keep */,]}}',
        '{"hooks": [ /* keep */]}',
    ),
}


@pytest.mark.parametrize("name", COMMENTED)
def test_a_comment_in_our_handler_goes_with_it_and_no_other(place: Place, name: str) -> None:
    inside, left = COMMENTED[name]
    place.holds(f'{{\n  "a": 1, // one\n  "hooks": {{"BeforeAgent": [{inside}]}}\n}}\n'.encode())
    assert place.uninstall() == "removed"
    text = place.file.read_text()
    document = Document(text)
    comments = [text[start:end] for start, end in document.comments]
    assert "// one" in comments
    assert comments[1:] == (
        [] if left is None else [left[s:e].strip() for s, e in Document(left).comments]
    )
    kept = {} if left is None else {"hooks": {"BeforeAgent": [Document(left).value]}}
    assert document.value == {**plain({"a": 1}), **kept}


def test_a_refusal_names_line_and_column(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    data = f'{{\n  "hooks": {{\n    "BeforeAgent": [\n    {{"hooks": [{OURS}]}}]}}}}'.encode()
    place.holds(data)
    monkeypatch.setattr(jsonedit, "_cuts", lambda *_: iter(()))
    with pytest.raises(ConfigInvalid) as caught:
        place.uninstall()
    assert caught.value.where == f"{place.file}:4:16"
    assert "nothing was changed" in (caught.value.hint or "")
    monkeypatch.setattr(jsonedit, "_insertions", lambda *_: iter(()))
    with pytest.raises(ConfigInvalid) as caught:
        place.install(HAND)
    assert caught.value.where == f"{place.file}:2:3"
    assert place.file.read_bytes() == data


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(
    ("group", "rest"),
    [('"matcher": "x", "note": 1, ', {"matcher": "x", "note": 1}), ("/* mine */ ", {})],
)
def test_a_group_keeps_its_hooks_or_goes(
    tmp_path: Path, host: str, group: str, rest: dict[str, Any]
) -> None:
    """Claude Code ignores the whole file for one group without; Gemini CLI discards the group."""
    place = Place(tmp_path, host)
    place.holds(hooks(OURS, group).encode())
    assert place.uninstall() == "removed"
    (left,) = place.value()["hooks"]["BeforeAgent"]
    assert left == plain({**rest, "hooks": []})


def test_a_group_with_a_matcher_alone_goes(place: Place) -> None:
    place.holds(hooks(OURS, '"matcher": "x", ').encode())
    place.uninstall()
    assert place.file.read_text() == "{}"


# -- half ours


@pytest.fixture
def said(home: Path) -> Any:
    """Run a command on settings of a host; return it, and what is in the file then."""

    def run(action: str, host: str, text: str | None = None) -> tuple[str, Any, str]:
        file = home / FILES[host]
        file.parent.mkdir(exist_ok=True)
        if text is not None:
            file.write_text(text)
        done = recall("hook", action, "--host", host)
        assert done.status == 0
        return done.stderr, json.loads(file.read_bytes()), done.stdout

    return run


@pytest.mark.parametrize("kind", [{"type": "prompt"}, {"type": "http"}, {}])
def test_what_no_host_runs_is_no_hook_of_ours(home: Path, said: Any, kind: dict[str, str]) -> None:
    handler = {**kind, "command": HAND}
    text = hooks(json.dumps(handler), event="UserPromptSubmit")
    err, value, _ = said("install", "claude", text)
    file = home / FILES["claude"]
    assert err == (
        "warning: an entry with the hook's command at UserPromptSubmit is not run: "
        + (f'it is of type "{kind["type"]}", not "command"' if kind else "it has no type")
        + f" ({file}:1)\n"
        "hint: take it out if it is not wanted, in an editor; recall leaves it as it is\n"
    )
    first, second = value["hooks"]["UserPromptSubmit"]
    assert first["hooks"] == [handler]
    assert "recall" in second["hooks"][0]["command"]
    done = recall("hook", "uninstall", "--host", "claude")
    assert "is not run: it " in done.stderr
    assert "hint: take it out if it is not wanted, in an editor\n" in done.stderr
    assert file.read_text() == text


@pytest.mark.parametrize(("host", "unit"), [("claude", "s"), ("gemini", "ms")])
def test_a_timeout_of_ours_that_is_too_short_is_put_right(said: Any, host: str, unit: str) -> None:
    event = HOST_FILES[host].events[0]
    wanted = HOST_FILES[host].group("")["hooks"][0]["timeout"]  # type: ignore[index]
    handler = {"type": "command", "command": HAND, "timeout": 1}
    err, value, out = said("install", host, hooks(json.dumps(handler), event=event))
    assert err == ""
    assert out.startswith("updated: ")
    assert f"  the timeout at {event} is {wanted} {unit} now: it was 1 {unit}\n" in out
    (group,) = value["hooks"][event]
    assert group["hooks"][0]["timeout"] == wanted
    assert said("install", host)[2].startswith("already installed")


@pytest.mark.parametrize("timeout", [2, 14.5, 15, 600, 1e300, None])
def test_a_timeout_that_is_long_enough_stays(place: Place, timeout: float | None) -> None:
    handler: dict[str, object] = {"type": "command", "command": COMMAND}
    handler |= {} if timeout is None else {"timeout": timeout * 1000}
    groups = {event: [{"hooks": [handler]}] for event in place.place.host.events}
    place.holds(json.dumps({"hooks": groups}).encode())
    assert place.install() == "already installed"


@pytest.mark.parametrize(
    ("handler", "group"),
    [
        ({"timeout": 1, "statusMessage": "notes"}, ""),
        ({"timeout": 1}, '"matcher": "*", '),
        ({"timeout": "15"}, '"note": 1, '),
    ],
)
def test_a_timeout_that_somebody_wrote_is_told_of(
    home: Path, said: Any, handler: dict[str, object], group: str
) -> None:
    handler = {"type": "command", "command": HAND, **handler}
    text = "\n" + hooks(json.dumps(handler), group, event="UserPromptSubmit")
    err, value, out = said("install", "claude", text)
    file = home / FILES["claude"]
    time = "1 s" if handler["timeout"] == 1 else "no number"
    assert err.startswith(
        f"warning: the timeout of the hook at UserPromptSubmit is {time}, with which it may be"
        f" ended before it answers ({file}:2)\nhint: make it 15 (s), in an editor"
    )
    assert err.count("warning: ") == 1
    assert value["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"] == handler["timeout"]
    assert "15 s now" not in out


@pytest.mark.parametrize(
    ("matcher", "missed"), [("x", ""), ("startup|clear", " at resume, compact")]
)
def test_a_matcher_that_keeps_it_from_running_is_told_of(
    home: Path, said: Any, matcher: str, missed: str
) -> None:
    group = f'"matcher": {json.dumps(matcher)}, '
    err, value, _ = said("install", "codex", hooks(OURS, group, event="SessionStart"))
    assert err == (
        f'warning: the matcher "{matcher}" at SessionStart keeps the hook from running{missed}'
        f" ({home / FILES['codex']}:1)\n"
        "hint: take the matcher out, in an editor; recall leaves it as it is\n"
    )
    assert value["hooks"]["SessionStart"][0]["matcher"] == matcher
    assert len(value["hooks"]["SessionStart"]) == 1
    said("uninstall", "codex")


@pytest.mark.parametrize(
    ("event", "matcher"),
    [("SessionStart", ""), ("SessionStart", "*"), ("SessionStart", ".*"), ("UserPromptSubmit", "")],
)
def test_a_matcher_that_keeps_it_from_nothing_is_no_matter(
    said: Any, event: str, matcher: str
) -> None:
    err, _, _ = said("install", "codex", hooks(OURS, f'"matcher": "{matcher}", ', event=event))
    assert err == ""


@pytest.mark.parametrize("own", [False, True])
def test_our_command_at_another_event_is_told_of(home: Path, said: Any, *, own: bool) -> None:
    command = f"FAST=1 {HAND}" if own else HAND
    handler = json.dumps({"type": "command", "command": command})
    err, value, out = said("install", "claude", hooks(handler, event="PreToolUse"))
    other = "recall leaves it as it is" if own else "recall hook uninstall takes it out too"
    assert err == (
        "warning: the hook is called at PreToolUse, and answers at UserPromptSubmit and"
        f" SessionStart alone ({home / FILES['claude']}:1)\n"
        f"hint: take it out there, in an editor; {other}\n"
    )
    assert out.startswith("installed: ")
    assert list(value["hooks"]) == ["PreToolUse", "UserPromptSubmit", "SessionStart"]
    _, value, _ = said("uninstall", "claude")
    assert bool(value) == own


def test_what_the_host_does_not_read_is_asked_of_the_file_as_it_is_then(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """That hooks are switched off in it is found there too, whatever was there before."""
    seen: list[str] = []

    def unread(_: object, document: Document, *, mark: bool) -> list[Complaint]:
        seen.append(document.text)
        return [Complaint(f"hooks are off, {mark}", 7, "switch them on")]

    monkeypatch.setattr(hostreading, "unread", unread)
    for _ in range(2):
        assert run_here(["hook", "install", "--host", "claude"], "hook install") == 0
        file = home / FILES["claude"]
        assert seen.pop() == file.read_text()
        err = capfdbinary.readouterr().err.decode()
        assert err == f"warning: hooks are off, False ({file}:7)\nhint: switch them on\n"


# -- odd places


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_in_the_home_directory_a_project_is_the_person(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, *, linked: bool
) -> None:
    if linked:
        (tmp_path / "home").symlink_to(home)
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
    words = ("--host", host)
    done = recall("hook", "install", *words, cwd=home)
    assert (done.status, done.stderr) == (0, "")
    done = recall("hook", "install", *words, "--scope", "project", cwd=home)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("already installed: ")
    assert "  a project's file and your own are one and the same here\n" in done.stdout
    assert "shared" not in done.stdout
    data = recall("hook", "install", *words, "--scope", "project", "--json", cwd=home).data()
    assert data["scope"] == "user"
    assert recall("hook", "install", *words, cwd=home).stderr == ""
    done = recall("hook", "uninstall", *words, "--scope", "project", cwd=home)
    assert done.stdout.startswith("deleted: ")
    assert "one and the same here" in done.stdout
    assert not (home / FILES[host]).exists()


def test_a_project_that_links_to_the_persons_own_directory_is_no_person(
    home: Path, tmp_path: Path
) -> None:
    """A stranger's repository must not have the person's own file edited by way of a link."""
    (home / ".codex").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".codex").symlink_to(home / ".codex")
    done = recall("hook", "install", "--host", "codex", "--scope", "project", cwd=tmp_path)
    assert done.status == 5
    assert "out of the project" in done.stderr


@pytest.mark.parametrize("action", ["install", "uninstall"])
@pytest.mark.parametrize("target", ["nowhere", "a/b", ".codex"])
def test_a_directory_that_is_a_link_to_nothing_is_refused(
    home: Path, action: str, target: str
) -> None:
    (home / ".codex").symlink_to(target)
    before = sorted(os.listdir(home))
    error = recall("hook", action, "--host", "codex", "--json").error()
    assert error["code"] == "config_invalid"
    assert error["where"] == str(home / ".codex" / "hooks.json")
    if target != ".codex":
        assert error["message"].endswith(
            f"{home}/.codex is a link to {home}/{target}, which is not there"
        )
    assert "nothing was changed" in error["hint"]
    assert sorted(os.listdir(home)) == before


def test_a_directory_that_is_a_link_to_one_is_followed(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / ".codex").symlink_to("dotfiles")
    assert recall("hook", "install", "--host", "codex").status == 0
    assert (home / "dotfiles" / "hooks.json").exists()
    assert recall("hook", "uninstall", "--host", "codex").stdout.startswith("deleted: ")
    assert os.listdir(home / "dotfiles") == []
    assert (home / ".codex").is_symlink()


def test_what_was_written_by_hand_is_not_put_back(place: Place) -> None:
    """As docs/hooks.md says: in our form it is ours, and there is no copy of it."""
    place.holds(hooks(OURS).encode())
    place.install(command_line(["/x/recall-hook"], "gemini", "{}"))
    assert place.uninstall() == "removed"
    assert place.file.read_text() == "{}"
    assert os.listdir(os.path.join(place.state, "installed")) == []
    assert installing.uninstall(place.place, place.state).action == "not installed"
