"""``recall roots`` and ``recall trust`` as transcripts, in processes of their own."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from cli_support import recall

from recall.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    directory = tmp_path / "my notes"
    directory.mkdir()
    (directory / "alpha.md").write_text("# Alpha\n\nThe first letter.\n")
    return directory


def test_a_root_is_added_listed_and_removed(notes: Path, home: Path, tmp_path: Path) -> None:
    file = home / ".config" / "recall" / "config.toml"
    added = recall("roots", "add", "notes", "my notes", cwd=tmp_path)
    assert (added.status, added.stdout, added.stderr) == (0, f"added: notes: {notes}\n", "")
    again = recall("roots", "add", "notes", str(notes))
    assert (again.status, again.stdout) == (0, f"there already: notes: {notes}\n")
    listed = recall("roots", "list", cwd="/")
    assert (listed.status, listed.stdout, listed.stderr) == (0, f"notes: {notes}\n", "")
    data = recall("roots", "list", "--json").data()
    assert [(root["name"], root["path"]) for root in data["roots"]] == [("notes", str(notes))]
    assert data["roots"][0]["source"] == str(file)
    assert data["config"] == [str(file)]
    removed = recall("roots", "remove", "notes", "--json").data()
    assert removed == {"name": "notes", "file": str(file), "purged": [], "notices": []}
    assert recall("roots", "list").status == 4
    assert (notes / "alpha.md").exists()


def test_a_directory_is_no_root_by_two_names(notes: Path, home: Path) -> None:
    file = home / ".config" / "recall" / "config.toml"
    recall("roots", "add", "notes", str(notes))
    before = file.read_text()
    again = recall("roots", "add", "again", str(notes))
    assert (again.status, again.stdout) == (4, "")
    assert again.stderr.splitlines() == [
        f"error: {notes} is a root already, by another name",
        f"where: {file}",
        "hint: recall roots list",
    ]
    assert file.read_text() == before
    # Beside one that has rules of its own it may be meant.
    file.write_text(f'[roots]\nadr = {{ path = "{notes}", include = ["adr/**"] }}\n')
    assert recall("roots", "add", "again", str(notes)).status == 0


def test_adding_says_in_json_what_it_wrote(notes: Path, home: Path) -> None:
    data = recall("roots", "add", "n", str(notes), "--json").data()
    assert (data["name"], data["path"], data["added"]) == ("n", str(notes), True)
    assert data["file"] == str(home / ".config" / "recall" / "config.toml")
    assert recall("roots", "add", "n", str(notes), "--json").data()["added"] is False


def test_what_can_not_be_added_is_refused_with_its_code(notes: Path, tmp_path: Path) -> None:
    missing = recall("roots", "add", "gone", str(tmp_path / "gone"))
    assert missing.status == 3
    assert missing.stderr.startswith("error: ")
    assert recall("roots", "add", "gone", "gone", "--json").error()["code"] == "not_found"
    bad = recall("roots", "add", "a/b\x1b[2J", str(notes))
    assert bad.status == 4
    assert "\x1b" not in bad.stderr
    assert recall("roots", "remove", "gone").status == 3
    assert recall("roots", "remove", "gone", "--json").error()["code"] == "not_found"


def test_a_missing_root_is_listed_as_left_out(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    recall("roots", "add", "notes", str(notes))
    recall("roots", "add", "other", str(other))
    other.rmdir()
    listed = recall("roots", "list")
    assert listed.status == 0
    assert listed.stdout.startswith(f"notes: {notes}\nother: {other}: left out: ")
    assert listed.stderr.startswith("warning: ")
    data = recall("roots", "list", "--json").data()
    assert [left["name"] for left in data["left_out"]] == ["other"]
    assert data["notices"]


def test_broken_configuration_is_told_with_its_line(home: Path) -> None:
    file = home / ".config" / "recall" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[roots]\nnotes = \n")
    for command in (["roots", "list"], ["refresh"], ["search", "x"], ["status"]):
        done = recall(*command)
        assert (done.status, done.stdout) == (4, "")
        assert f"where: {file}:2" in done.stderr
        assert "Traceback" not in done.stderr
        assert recall(*command, "--json").error()["code"] == "config_invalid"


def test_trust_is_given_shown_and_taken_back(notes: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    file = project / ".recall.toml"
    file.write_text(f'[roots]\ndocs = "docs"\nnotes = "{notes}"\n')
    before = recall("roots", "list", cwd=project / "docs")
    assert str(notes) not in before.stdout.replace(f"{notes}: left out", "")
    assert "hint: recall trust\n" in before.stderr
    given = recall("trust", cwd=project / "docs")
    assert given.stdout == f"trusted: {file}\n  it may name {notes}\n"
    after = recall("roots", "list", cwd=project)
    assert after.stdout == f"docs: {project / 'docs'}\nnotes: {notes}\n"
    assert after.stderr == ""
    data = recall("trust", str(project), "--revoke", "--json").data()
    assert data == {"file": str(file), "trusted": False, "directories": [], "notices": []}
    assert recall("roots", "list", cwd=project).stdout == before.stdout
    assert recall("trust", "--revoke", cwd=project).stdout == "it was not trusted\n"


def test_trust_needs_a_file(tmp_path: Path) -> None:
    done = recall("trust", cwd=tmp_path)
    assert (done.status, done.stdout) == (3, "")
    assert recall("trust", "nothing.toml", "--json", cwd=tmp_path).error()["code"] == "not_found"


def test_without_any_home_nothing_is_written_in_odd_places(notes: Path, tmp_path: Path) -> None:
    bare = {"HOME": "relative", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "~", "XDG_STATE_HOME": ""}
    done = recall("roots", "add", "n", str(notes), cwd=tmp_path, env=bare)
    assert done.status == 4
    assert "set HOME" in done.stderr
    assert recall("cache", "list", cwd=tmp_path, env=bare).status == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my notes"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_cache_that_can_not_be_deleted_stays_and_so_does_its_root(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    recall("roots", "add", "notes", str(notes))
    recall("refresh")
    (entry,) = recall("cache", "list", "--json").data()["caches"]

    def refused(path: str) -> None:
        raise OSError(code, os.strerror(code), path)

    with monkeypatch.context() as patch:
        patch.setattr("index_cache.db.discard", refused)
        for command in (["cache", "prune", "--all"], ["roots", "remove", "notes", "--purge"]):
            assert main(command) == 6
            out, err = capsys.readouterr()
            assert out == ""
            lines = err.splitlines()
            assert lines[0] == f"error: the cache can't be deleted: {os.strerror(code)}"
            assert lines[1] == f"where: {entry['path']}"
            assert lines[2].startswith("hint: ")
    assert recall("roots", "list").stdout == f"notes: {notes}\n"
    assert len(recall("cache", "list", "--json").data()["caches"]) == 1
    assert recall("roots", "remove", "notes", "--purge").status == 0
    assert recall("cache", "list", "--json").data()["caches"] == []


def test_a_cache_directory_that_can_not_be_read_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refused)
        status = main(["cache", "list"])
    assert status == 6
    assert f"where: {home / '.cache' / 'recall'}\n" in capsys.readouterr().err


def test_roots_that_are_all_missing_are_listed_all_the_same(notes: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        recall("roots", "add", name, str(tmp_path / name))
        (tmp_path / name).rmdir()
    listed = recall("roots", "list")
    assert listed.status == 0
    assert listed.stdout == "".join(
        f"{name}: {tmp_path / name}: left out: does not exist\n" for name in ("one", "two")
    )
    assert listed.stderr.count("warning: ") == 2
    state = recall("status")
    assert state.status == 0
    assert state.stdout == "".join(
        f"{name}: {tmp_path / name}\n  left out: does not exist\n" for name in ("one", "two")
    )
    for command in (["roots", "list"], ["status"]):
        data = recall(*command, "--json").data()
        assert data["roots"] == []
        assert [left["name"] for left in data["left_out"]] == ["one", "two"]
    recall("roots", "add", "notes", str(notes))
    both = recall("status").stdout
    assert both.startswith(f"notes: {notes}\n")
    assert both.endswith(f"two: {tmp_path / 'two'}\n  left out: does not exist\n")
    assert recall("status", "--root", "two", "--json").data()["left_out"][0]["name"] == "two"
    assert recall("status", "--root", "notes", "--json").data()["left_out"] == []
    assert recall("search", "x", "--root", "two").status == 6
