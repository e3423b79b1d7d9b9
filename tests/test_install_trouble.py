"""What gets in the way of an install: a host that writes, a lock, a full file, another person."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from test_install import COMMAND, Place

from index_cache.errors import ConfigInvalid, RecallError, RootUnavailable, WriteRefused
from recall import adopting, configedit, installed, installing, replace, writes
from recall.jsonedit import Broken, Document

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 4321  # a user's number


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def records(place: Place) -> list[str]:
    return [file for file, _ in installed.every(place.state)]


def test_what_a_host_writes_while_the_disk_is_waited_for_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.holds(b"{}")
    fsync, theirs = os.fsync, b'{"model": "opus"}'

    def meanwhile(descriptor: int) -> None:
        fsync(descriptor)
        place.holds(theirs)

    place.install()
    place.holds(b"{ }")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", meanwhile)
        with pytest.raises(RecallError, match="by somebody else at the same time") as caught:
            installing._write(installing.read(place.place), b'{"a": 1}')
    assert caught.value.exit_status == 6
    assert place.file.read_bytes() == theirs
    assert os.listdir(place.file.parent) == ["settings.json"]


def test_a_lock_that_another_process_keeps_is_waited_for_and_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replace, "PATIENCE", 0.1)
    place.holds(b"{}")
    place.install()
    for directory in (str(place.file.parent), os.path.join(place.state, "installed")):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with pytest.raises(RootUnavailable, match=r"has had the lock .* 0\.1 s") as caught:
                place.uninstall()
        finally:
            os.close(descriptor)
        assert caught.value.where == directory
    assert place.uninstall() == "restored"


def test_a_file_that_would_be_too_large_to_be_read_again_is_refused(place: Place) -> None:
    data = b'{"a": "%s"}' % (b"x" * (installing.MAX_BYTES - 50))
    place.holds(data)
    for dry_run in (True, False):
        with pytest.raises(ConfigInvalid, match="would be larger than 1048576 bytes"):
            place.install(dry_run=dry_run)
    assert place.file.read_bytes() == data
    assert not os.path.exists(place.state)


def test_too_many_calls_are_refused_at_once(place: Place) -> None:
    group = place.place.host.group(COMMAND)
    for count, is_refused in ((installing.MAX_CALLS, False), (installing.MAX_CALLS + 1, True)):
        data = json.dumps({"a": 1, "hooks": {"UserPromptSubmit": [group] * count}}).encode()
        place.holds(data)
        if not is_refused:
            assert place.uninstall(dry_run=True) == "removed"
            continue
        for attempt in (place.install, place.uninstall):
            with pytest.raises(ConfigInvalid, match="called 65 times there") as caught:
                attempt()
            assert "in an editor" in str(caught.value.hint)
    assert place.file.read_bytes() == data


@pytest.mark.parametrize("then", ["a link now", "renamed", "without the hook"])
def test_S3_a_record_of_a_file_that_is_no_longer_the_one_goes(tmp_path: Path, then: str) -> None:
    place, other = Place(tmp_path), Place(tmp_path, "codex")
    other.holds(b"{}")
    place.holds(b'{"env": {"TOKEN": "secret"}}')
    place.install()
    assert records(place) == [str(place.file)]
    other.install()
    assert len(records(place)) == 2  # that of a file that has the hook stays
    if then == "a link now":
        (tmp_path / "dots").mkdir()
        os.rename(place.file, tmp_path / "dots" / "s.json")
        place.file.symlink_to(tmp_path / "dots" / "s.json")
        assert place.uninstall() == "removed"
        assert place.file.read_bytes() == b'{"env": {"TOKEN": "secret"}}'
    elif then == "renamed":
        os.rename(place.file.parent, tmp_path / "elsewhere")
        assert other.install() == "already installed"
    else:
        place.holds(b"{}")
        assert other.install() == "already installed"
    assert records(place) == [str(other.file)]
    assert other.uninstall() == "restored"


def test_a_record_stays_while_nobody_can_tell(tmp_path: Path) -> None:
    place, other = Place(tmp_path), Place(tmp_path, "codex")
    place.holds(b"{}")
    place.install()
    place.holds(b"{ half")
    other.install()
    assert str(place.file) in records(place)


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of somebody else, with us as root."""
    home = tmp_path / "home"
    home.mkdir()
    if os.geteuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    return home


def test_root_makes_nothing_in_a_home_of_somebody_else(foreign: Path, place: Place) -> None:
    for dry_run in (True, False):
        with pytest.raises(WriteRefused, match="belongs to somebody else") as caught:
            place.install(dry_run=dry_run)
        assert caught.value.exit_status == 5
    config = str(foreign / ".config" / "recall" / "config.toml")
    with pytest.raises(WriteRefused):
        configedit.add_missing(config, [("notes", str(foreign))], {}, write=True)
    assert os.listdir(foreign) == []
    assert not os.path.exists(place.state)


def test_a_persons_own_home_and_a_file_that_is_there_are_not_refused(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = foreign / "config.toml"
    with pytest.raises(WriteRefused):
        writes.refuse_foreign(str(file))
    file.touch()
    writes.refuse_foreign(str(file))  # replaced, it keeps its owner
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
    writes.refuse_foreign(str(foreign / "other"))


def test_the_hint_names_what_is_there(tmp_path: Path, home: Path) -> None:
    error = PermissionError(13, "Permission denied")
    said = writes.unwritten("x", str(tmp_path / "a" / "b" / "c"), error)
    assert said.hint is not None
    assert said.hint.startswith(f"ls -ld {tmp_path} shows")
    (home / ".local").write_text("")
    done = recall("hook", "install", "--host", "claude")
    assert done.status == 4
    assert f"hint: {home}/.local is no directory: move it away" in done.stderr
    assert "that there were no settings can't be kept: " in done.stderr


def test_a_broken_configuration_and_an_unknown_home_say_what_to_do(
    home: Path, tmp_path: Path
) -> None:
    (fault,) = adopting.look(str(tmp_path), {"LOCUS_PALACE": "~nobodyx/x"}).faults
    assert fault.hint == "write the whole path: no user nobodyx is known here"
    (fault,) = adopting.look(str(tmp_path), {"LOCUS_PALACE": "~/x", "HOME": ""}).faults
    assert fault.hint == "set HOME, or write the whole path"
    file = home / ".config" / "recall" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[roots\n")
    done = recall("roots", "adopt", env={"LOCUS_PALACE": str(tmp_path)})
    assert done.status == 4
    assert "hint: correct it in an editor\n" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        *("x", "{", '{"a"', '{"a" 1}', '{"a": 1 "b": 2}', '{"a": "', "{} {}", '["\n"]'),
        *('["\\x"]', '["\\u12"]', "{'a': 1}", '{"a": 1,, }'),
    ],
)
def test_no_half_sentence_of_the_parser_is_passed_on(text: str) -> None:
    with pytest.raises(Broken) as caught:
        Document(text)
    said = caught.value.message
    assert not said.startswith(("expecting", "unterminated", "extra", "invalid", "illegal"))
    assert not said.endswith((" at", "delimiter"))
