"""Installing the prompt hook into settings files as people have them, and taking it out again."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from install_support import BAD, GOOD, HAND, OTHER

from index_cache.errors import ConfigInvalid, InvalidInput, RecallError, WriteRefused
from recall import hookedit, hostfiles, installed, installing, replace
from recall.hookcommand import command_line, understood
from recall.jsonedit import Document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMAND = command_line(["/opt/re call/bin/recall-hook"], "claude")
HOSTS = ("claude", "codex", "gemini")


class Place:
    """A home with one host's settings file, which may hold anything."""

    def __init__(self, base: Path, host: str = "claude") -> None:
        self.environ = {"HOME": str(base / "home")}
        self.state = str(base / "state")
        self.place = hostfiles.place(hostfiles.host_files(host), "user", self.environ, str(base))
        self.file = base / "home" / os.path.relpath(self.place.file, base / "home")

    def holds(self, data: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(data)

    def install(self, command: str = COMMAND, *, dry_run: bool = False) -> str:
        return installing.install(self.place, command, self.state, dry_run=dry_run).action

    def uninstall(self, *, dry_run: bool = False) -> str:
        return installing.uninstall(self.place, self.state, dry_run=dry_run).action

    def value(self) -> Any:
        return Document(self.file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()).value

    def commands(self) -> dict[str, list[str]]:
        calls: dict[str, list[str]] = {}
        for each in installing.read(self.place).found:
            calls.setdefault(each.event, []).append(each.command)
        return calls

    def lose_record(self) -> None:
        os.unlink(installed.path_of(self.state, str(self.file)))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def plain(value: Any) -> Any:
    """Return a value with its numbers as text, to compare."""
    return Document(json.dumps(value)).value


def test_there_are_enough_files() -> None:
    assert len(GOOD) >= 45
    assert len(BAD) >= 20


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", GOOD)
def test_install_and_uninstall_leave_the_file_as_it_was(
    tmp_path: Path, name: str, host: str
) -> None:
    place = Place(tmp_path, host)
    place.holds(GOOD[name])
    before = place.value()
    assert place.install() == "installed"
    written = place.file.read_bytes()
    assert written != GOOD[name]
    assert place.commands() == {event: [COMMAND] for event in place.place.host.events}
    after = place.value()
    group = plain(place.place.host.group(COMMAND))
    for event in place.place.host.events:
        assert after["hooks"][event].pop() == group
        if event not in ((before or {}).get("hooks") or {}):
            assert not after["hooks"].pop(event)
    if "hooks" not in (before or {}):
        assert not after.pop("hooks")
    assert after == (before or {})
    assert place.install() == "already installed"
    assert place.file.read_bytes() == written
    assert place.uninstall() == "restored"
    assert place.file.read_bytes() == GOOD[name]
    assert place.uninstall() == "not installed"
    assert os.listdir(os.path.join(place.state, "installed")) == []


# Of these it can't be told what had been there, once nobody knows any more.
VAGUE = {
    *(name for name in GOOD if name.startswith(("braces with", "braces over", "empty"))),
    *("block remark in braces", "blank lines", "a remark alone", "BOM alone"),
}


@pytest.mark.parametrize("name", GOOD)
def test_without_the_record_exactly_what_was_added_goes(place: Place, name: str) -> None:
    place.holds(GOOD[name])
    before = place.value()
    place.install()
    place.lose_record()
    assert place.uninstall() == "removed"
    if name in VAGUE:
        value = place.value()
        left = {key: each for key, each in (before or {}).items() if key != "hooks" or each}
        hooks = {key: each for key, each in left.pop("hooks", {}).items() if each}
        assert value == left | ({"hooks": hooks} if hooks else {})
    else:
        assert place.file.read_bytes() == GOOD[name]


@pytest.mark.parametrize("name", sorted(GOOD.keys() - {"empty", "blank lines", "BOM alone"}))
def test_later_edits_stay_and_all_else_is_as_it_was(place: Place, name: str) -> None:
    place.holds(GOOD[name])
    place.install()
    late = b"\n// written later\n"
    place.holds(place.file.read_bytes() + late)
    assert place.uninstall() == "removed"
    expected = GOOD[name] + late
    if name == "a remark alone":
        expected = GOOD[name] + b"{}\n" + late
    assert place.file.read_bytes() == expected


def test_a_hook_that_came_later_stays(place: Place) -> None:
    place.holds(GOOD["other hooks of the event"])
    place.install()
    other = GOOD["other hooks of the event"]
    text = place.file.read_text()
    edited = hookedit.with_hook(
        text, ["Stop"], lambda line: {"hooks": [{"type": "command", "command": line}]}, "date", 2
    )
    groups = Document(edited).element(("hooks", "UserPromptSubmit"))
    edited = f"{edited[: groups.end - 1].rstrip()},\n      {OTHER}\n    {edited[groups.end - 1 :]}"
    place.file.write_text(edited)
    assert place.uninstall() == "removed"
    hooks = place.value()["hooks"]
    assert hooks.keys() == {"UserPromptSubmit", "Stop"}
    assert hooks["UserPromptSubmit"] == [plain(json.loads(OTHER))] * 2
    assert other.decode().splitlines()[3] in place.file.read_text()


@pytest.mark.parametrize("name", BAD)
def test_what_can_not_be_edited_is_left_alone(place: Place, name: str) -> None:
    data, message, where = BAD[name]
    place.holds(data)
    for attempt in (place.install, place.uninstall):
        with pytest.raises(ConfigInvalid) as caught:
            attempt()
        assert message in caught.value.message
        assert (caught.value.where or "").startswith(f"{place.file}{where}")
        assert "nothing was changed" in (caught.value.hint or "")
    assert place.file.read_bytes() == data
    assert os.listdir(place.file.parent) == [place.file.name]
    assert not os.path.exists(place.state)


@pytest.mark.parametrize("host", HOSTS)
def test_a_missing_file_is_made_and_goes_again_with_its_directory(
    tmp_path: Path, host: str
) -> None:
    place = Place(tmp_path, host)
    assert place.install() == "installed"
    assert place.value() == plain(
        {"hooks": {event: [place.place.host.group(COMMAND)] for event in place.place.host.events}}
    )
    assert place.uninstall() == "deleted"
    assert not os.path.exists(tmp_path / "home")


def test_a_file_that_was_made_and_got_other_settings_stays(place: Place) -> None:
    place.install()
    text = place.file.read_text().replace("{\n", '{\n  "model": "opus",\n', 1)
    place.file.write_text(text)
    assert place.uninstall() == "removed"
    assert place.file.read_text() == '{\n  "model": "opus"\n}\n'


def test_a_file_that_was_made_and_got_nothing_else_goes(place: Place) -> None:
    place.install()
    place.file.write_bytes(place.file.read_bytes() + b"\n")
    (place.file.parent / "history").write_text("theirs")
    assert place.uninstall() == "deleted"
    assert os.listdir(place.file.parent) == ["history"]


def test_a_file_that_is_gone_again_leaves_no_directory(place: Place) -> None:
    place.install()
    place.file.unlink()
    assert place.uninstall() == "not installed"
    assert not place.file.parent.exists()


@pytest.mark.parametrize(
    "old",
    [
        HAND,
        f"{HAND} --host claude",
        "'/old place/bin/recall-hook' --host codex 2>/dev/null || true",
        "recall hook",
        "/usr/bin/python3.11 -P -m recall hook --host claude 2>/dev/null || true",
        "python3 -m recall.hook",
        "/x/recall-hook --host gemini 2>/dev/null || echo '{}'",
    ],
)
def test_an_older_form_is_replaced_where_it_is(place: Place, old: str) -> None:
    spelled = json.dumps(old)
    text = (
        '{ "hooks": {\n  "SessionStart": [{"matcher": "startup", "hooks": [ /* mine */\n'
        f'     {{"command": {spelled}, "type": "command", "timeout": 3}}, // quick\n'
        '     {"type": "command", "command": "date"}]}]}\n}\n'
    )
    place.holds(text.encode())
    assert place.install() == "updated"
    new = place.file.read_text()
    assert place.commands() == {"SessionStart": [COMMAND], "UserPromptSubmit": [COMMAND]}
    assert text.replace(spelled, json.dumps(COMMAND))[:-5] in new
    assert place.install() == "already installed"
    assert place.uninstall() == "removed"
    assert place.value() == plain(
        {
            "hooks": {
                "SessionStart": [
                    {"matcher": "startup", "hooks": [{"type": "command", "command": "date"}]}
                ]
            }
        }
    )
    assert "/* mine */" in place.file.read_text()
    assert "// quick" in place.file.read_text()


def test_two_of_ours_become_one(place: Place) -> None:
    group = json.dumps({"hooks": [{"type": "command", "command": HAND}]})
    place.holds(f'{{"hooks": {{"UserPromptSubmit": [{group}, {OTHER}, {group}]}}}}'.encode())
    assert place.install() == "updated"
    assert place.commands() == {"UserPromptSubmit": [COMMAND], "SessionStart": [COMMAND]}
    assert place.value()["hooks"]["UserPromptSubmit"][1] == plain(json.loads(OTHER))


@pytest.mark.parametrize(
    "command",
    [
        f"RECALL_DEADLINE_MS=900 {HAND}",
        f"{HAND} --host claude | tee -a /tmp/log",
        f"test -x {HAND} && exec {HAND}",
    ],
)
def test_a_command_of_somebodys_own_is_left_and_named(place: Place, command: str) -> None:
    group = {"hooks": [{"type": "command", "command": command}]}
    data = json.dumps({"hooks": {"UserPromptSubmit": [group]}}).encode()
    place.holds(data)
    change = installing.install(place.place, COMMAND, place.state)
    assert [each.command for each in change.left] == [command]
    assert place.commands() == {"UserPromptSubmit": [command], "SessionStart": [COMMAND]}
    assert place.uninstall() == "removed"
    assert place.file.read_bytes() == data


@pytest.mark.parametrize(
    "command",
    [7, None, "", "date", "recall search x", "'", "echo recall-hooks", "recall hook status"],
)
def test_what_is_not_ours_is_not_taken_for_it(command: object) -> None:
    call = understood(command)
    assert call is None or not call.exact


def test_an_update_still_restores_what_was_there_first(place: Place) -> None:
    place.holds(GOOD["remarks everywhere"])
    place.install(command_line(["/old/recall-hook"], "claude"))
    assert place.install() == "updated"
    assert place.uninstall() == "restored"
    assert place.file.read_bytes() == GOOD["remarks everywhere"]


def test_an_update_after_an_edit_keeps_the_edit(place: Place) -> None:
    place.holds(GOOD["empty event with spaces"])
    place.install(command_line(["/old/recall-hook"], "claude"))
    edited = place.file.read_bytes().replace(b"{\n", b'{\n  "model": "opus",\n', 1)
    place.holds(edited)
    assert place.install() == "updated"
    assert place.uninstall() == "removed"
    expected = GOOD["empty event with spaces"].replace(b"{\n", b'{\n  "model": "opus",\n', 1)
    assert place.file.read_bytes() == expected


def test_links_stay_and_their_target_is_edited(place: Place, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_bytes(GOOD["usual"])
    target.chmod(0o640)
    place.file.parent.mkdir(parents=True)
    place.file.symlink_to("../../dotfiles/claude.json")
    assert place.install() == "installed"
    assert place.file.is_symlink()
    assert target.read_bytes() != GOOD["usual"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert place.uninstall() == "restored"
    assert place.file.is_symlink()
    assert target.read_bytes() == GOOD["usual"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    target.unlink()
    with pytest.raises(ConfigInvalid, match=r"is a link to .* which is not there"):
        place.install()


def test_a_link_in_a_project_does_not_lead_out_of_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".gemini").mkdir(parents=True)
    victim = tmp_path / "mine.json"
    victim.write_text("{}")
    (project / ".gemini" / "settings.json").symlink_to(victim)
    host = hostfiles.host_files("gemini")
    where = hostfiles.place(host, "project", {"HOME": str(tmp_path)}, str(project))
    with pytest.raises(WriteRefused, match="out of the project") as caught:
        installing.install(where, COMMAND, str(tmp_path / "state"))
    assert caught.value.exit_status == 5
    assert victim.read_text() == "{}"


def test_a_directory_or_a_pipe_in_its_place_is_refused(place: Place) -> None:
    place.file.mkdir(parents=True)
    with pytest.raises(ConfigInvalid, match="it is a directory"):
        place.install()
    place.file.rmdir()
    os.mkfifo(place.file)
    with pytest.raises(ConfigInvalid, match="not a regular file"):
        place.install()


def test_a_file_of_somebody_else_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.holds(b"{}")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(WriteRefused, match="somebody else"):
        place.install()
    assert place.file.read_bytes() == b"{}"


def test_a_change_by_the_host_meanwhile_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.holds(b"{}")
    keep = installed.keep

    def meanwhile(*arguments: Any) -> None:
        keep(*arguments)
        place.holds(b'{"model": "opus"}')

    monkeypatch.setattr(installed, "keep", meanwhile)
    with pytest.raises(RecallError, match="by somebody else at the same time") as caught:
        place.install()
    assert caught.value.exit_status == 6
    assert place.file.read_bytes() == b'{"model": "opus"}'


def test_a_write_that_fails_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.holds(GOOD["usual"])

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(replace, "replace", full)
        with pytest.raises(RecallError, match="can't be kept: No space left") as caught:
            place.install()
        assert caught.value.exit_status == 6
    place.install()
    written = place.file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(replace, "replace", full)
        with pytest.raises(RecallError, match="can't be written: No space left"):
            place.uninstall()
    assert place.file.read_bytes() == written
    assert place.uninstall() == "restored"


def test_a_dry_run_writes_nothing(place: Place) -> None:
    assert place.install(dry_run=True) == "installed"
    assert not os.path.exists(place.file.parent)
    assert not os.path.exists(place.state)
    place.holds(GOOD["usual"])
    place.install()
    written = place.file.read_bytes()
    assert place.uninstall(dry_run=True) == "restored"
    assert place.file.read_bytes() == written
    assert place.uninstall() == "restored"


def test_S3_what_was_there_is_kept_from_others(place: Place) -> None:
    place.holds(b'{"env": {"KEY": "secret"}}')
    place.install()
    record = installed.path_of(place.state, str(place.file))
    assert stat.S_IMODE(os.stat(record).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(record)).st_mode) == 0o700
    place.uninstall()
    assert not os.path.exists(record)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"file": 1}', b"\xff", b"[" * 9999])
def test_a_record_that_is_damaged_counts_as_none(place: Place, data: bytes) -> None:
    place.holds(GOOD["usual"])
    place.install()
    with open(installed.path_of(place.state, str(place.file)), "wb") as stream:
        stream.write(data)
    assert place.uninstall() == "removed"
    assert place.file.read_bytes() == GOOD["usual"]


@pytest.mark.parametrize("name", ["cursor", "copilot", "vim", ""])
def test_other_hosts_are_refused_with_what_they_support(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        hostfiles.host_files(name)
    assert caught.value.exit_status == 4
    assert ("MCP" if name in hostfiles.UNFIT else "--host text") in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("host", "environ", "scope", "expected"),
    [
        ("claude", {}, "user", "H/.claude/settings.json"),
        ("claude", {"CLAUDE_CONFIG_DIR": "/c"}, "user", "/c/settings.json"),
        ("claude", {}, "project", "P/.claude/settings.local.json"),
        ("codex", {}, "user", "H/.codex/hooks.json"),
        ("codex", {"CODEX_HOME": "/x"}, "user", "/x/hooks.json"),
        ("codex", {"CODEX_HOME": "/x"}, "project", "P/.codex/hooks.json"),
        ("gemini", {}, "user", "H/.gemini/settings.json"),
        ("gemini", {"GEMINI_CLI_HOME": "/g"}, "user", "/g/.gemini/settings.json"),
        ("gemini", {}, "project", "P/.gemini/settings.json"),
    ],
)
def test_where_each_host_keeps_its_hooks(
    tmp_path: Path, host: str, environ: dict[str, str], scope: str, expected: str
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    home = {"HOME": str(tmp_path / "home")}
    where = hostfiles.place(hostfiles.host_files(host), scope, home | environ, str(project / "src"))
    names = expected.replace("H/", f"{tmp_path}/home/").replace("P/", f"{project}/")
    assert where.file == names


def test_a_directory_of_a_host_must_be_absolute(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="CODEX_HOME is not an absolute path"):
        hostfiles.place(hostfiles.host_files("codex"), "user", {"CODEX_HOME": "~/x"}, "/")
    with pytest.raises(InvalidInput, match="no home directory"):
        hostfiles.place(hostfiles.host_files("codex"), "user", {"HOME": ""}, str(tmp_path))


def test_the_timeouts_are_in_the_hosts_units() -> None:
    timeouts: list[Callable[[str], dict[str, Any]]] = [
        hostfiles.host_files(name).group for name in HOSTS
    ]
    assert [group("x")["hooks"][0]["timeout"] for group in timeouts] == [15, 15, 15000]
