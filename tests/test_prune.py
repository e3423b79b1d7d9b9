"""What is gone stays in the caches until ``recall refresh --prune`` is told to forget it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_support import recall, valid_envelope

from index_cache import locks
from recall import caches


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a root "notes" that has three notes; another root, "work", has one."""
    for name in ("notes/a.md", "notes/b.md", "notes/sub/c.md", "work/d.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {path.stem}\n\nkestrel\n")
    monkeypatch.chdir(tmp_path)
    for name in ("notes", "work"):
        assert recall("roots", "add", name, str(tmp_path / name)).status == 0
    assert recall("refresh").status == 0
    return tmp_path / "notes"


def files(root: str = "notes") -> list[Path]:
    return sorted((Path(os.environ["XDG_CACHE_HOME"]) / "recall").glob(f"{root}-*.db"))


def config() -> str:
    return os.path.join(os.environ["XDG_CONFIG_HOME"], "recall", "config.toml")


def left_out() -> Any:
    (left,) = recall("status", "--json").data()["left_out"]
    return left


# -- D3: a root that is gone


def test_D3_a_root_that_is_gone_keeps_its_notes_until_pruned(notes: Path) -> None:
    shutil.rmtree(notes)
    done = recall("refresh")
    why = f'error: root "notes" is left out: {notes} does not exist\n'
    assert (done.status, done.stdout[:14], done.stderr.startswith(why)) == (
        6,
        "work: 1 note: ",
        True,
    )
    assert len(files()) == 1
    status = recall("status")
    assert status.status == 0
    assert status.stdout.endswith(
        f"notes: {notes}\n  left out: does not exist\n"
        "  3 notes kept; recall refresh --prune forgets them\n"
    )
    assert (left_out()["name"], left_out()["documents"]) == ("notes", 3)
    pruned = recall("refresh", "--prune")
    assert (pruned.status, pruned.stderr) == (0, "")
    assert pruned.stdout.splitlines()[1:] == ["notes: gone; its 3 notes are forgotten"]
    assert (files(), len(files("work"))) == ([], 1)
    # What it was is still configured.
    assert left_out()["documents"] == 0
    assert "kept" not in recall("status").stdout


def test_D3_pruning_in_json_says_what_is_forgotten(notes: Path) -> None:
    shutil.rmtree(notes)
    data = recall("refresh", "--prune", "--json").data()
    work, gone = data["roots"]
    assert (work["name"], work["pruned"], work["documents"]) == ("work", False, 1)
    assert (gone["name"], gone["path"], gone["pruned"], gone["removed"]) == (
        "notes",
        str(notes),
        True,
        3,
    )
    assert (gone["documents"], gone["cache_file"], gone["error"]) == (0, None, None)
    assert data["notices"] == []


@pytest.mark.parametrize("options", [[], ["--quiet"], ["--compact"]])
def test_D3_nothing_to_forget_is_a_warning(notes: Path, options: list[str]) -> None:
    shutil.rmtree(notes)
    assert recall("refresh", "--prune").status == 0
    done = recall("refresh", "--prune", *options)
    assert (done.status, "forgotten" in done.stdout) == (0, False)
    assert done.stderr == (
        f'warning: root "notes" is left out: {notes} does not exist\n'
        f"hint: mount or create the directory, or correct it in {config()}\n"
    )
    # Without --prune it is what it was.
    assert recall("refresh").status == 6


def test_D3_one_root_that_is_gone_can_be_pruned_alone(notes: Path) -> None:
    shutil.rmtree(notes)
    shutil.rmtree(notes.parent / "work")
    for options in ([], ["--prune"]):
        other = recall("refresh", "--root", "nowhere", *options)
        assert (other.status, other.stdout) == (3, "")
    alone = recall("refresh", "--root", "notes")
    assert (alone.status, len(files())) == (6, 1)
    done = recall("refresh", "--prune", "--root", "notes")
    assert (done.status, done.stdout, done.stderr) == (
        0,
        "notes: gone; its 3 notes are forgotten\n",
        "",
    )
    assert (files(), len(files("work"))) == ([], 1)
    every = recall("refresh", "--prune")
    assert (every.status, every.stdout) == (0, "work: gone; its 1 note is forgotten\n")


def test_D3_all_that_was_made_of_a_directory_is_forgotten(notes: Path) -> None:
    """By whatever rules; the most notes in one cache are those that are told."""
    text = Path(config()).read_text()
    Path(config()).write_text(
        text.replace(f'notes = "{notes}"', f'notes = {{ path = "{notes}", exclude = ["sub/"] }}')
    )
    assert recall("refresh", "--root", "notes").status == 0
    assert len(files()) == 2
    shutil.rmtree(notes)
    assert left_out()["documents"] == 3
    assert "its 3 notes are forgotten" in recall("refresh", "--prune").stdout
    assert files() == []


def test_D3_a_file_in_the_place_of_a_root_is_a_root_that_is_gone(notes: Path) -> None:
    shutil.rmtree(notes)
    notes.write_text("no directory")
    assert recall("refresh").status == 6
    assert "its 3 notes are forgotten" in recall("refresh", "--prune").stdout


def test_D3_a_root_that_can_not_be_read_is_not_gone(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, so that root may not read it either."""
    from recall import config as module
    from recall.cli import main
    from recall.files import DirectoryFault, directory_fault

    def fault(path: str) -> DirectoryFault | None:
        if path == str(notes):
            return DirectoryFault("can't be read: Permission denied", missing=False)
        return directory_fault(path)

    monkeypatch.setattr(module, "directory_fault", fault)
    for arguments in (["refresh", "--prune"], ["refresh", "--prune", "--root", "notes"]):
        assert main(arguments) == 6
        assert "can't be read: Permission denied" in capsys.readouterr().err
    assert main(["status"]) == 0
    assert capsys.readouterr().out.endswith("can't be read: Permission denied\n  3 notes kept\n")
    assert len(files()) == 1


def test_D3_a_cache_in_use_is_not_forgotten_behind_its_writer(notes: Path) -> None:
    shutil.rmtree(notes)
    with locks.WriterLock(str(files()[0])) as lock:
        assert lock.acquire(0)
        done = recall("refresh", "--prune")
        envelope = valid_envelope(recall("refresh", "--prune", "--json").raw)
    assert done.status == 6
    assert done.stdout.startswith("work: 1 note: ")
    assert 'error: root "notes" is not forgotten: another process is writing it' in done.stderr
    assert envelope["error"]["code"] == "cache_busy"
    assert len(files()) == 1
    assert recall("refresh", "--prune").status == 0


def test_D3_a_cache_that_can_not_be_deleted_is_said(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from index_cache import db
    from recall.cli import main

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    shutil.rmtree(notes)
    monkeypatch.setattr(db, "discard", refuse)
    assert main(["refresh", "--prune"]) == 6
    assert "error: the cache can't be deleted: Permission denied\n" in capsys.readouterr().err


def test_S4_a_root_that_is_not_trusted_is_not_forgotten(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's project must not empty the caches of directories that it may not name."""
    project = notes.parent / "project"
    (project / "docs").mkdir(parents=True)
    (project / ".recall.toml").write_text(
        f'inherit = false\n[roots]\ndocs = "docs"\nevil = "{notes}"\n'
    )
    shutil.rmtree(notes)
    monkeypatch.chdir(project)
    done = recall("refresh", "--prune")
    assert (done.status, "forgotten" in done.stdout) == (0, False)
    assert len(files()) == 1


def test_what_search_says_of_a_root_that_is_gone_stays(notes: Path) -> None:
    shutil.rmtree(notes)
    done = recall("search", "kestrel")
    assert (done.status, done.stdout.splitlines()[0]) == (0, "1. Note d")
    assert done.stderr == (
        f'warning: root "notes" is left out: {notes} does not exist\n'
        f"hint: mount or create the directory, or correct it in {config()}\n"
    )


def test_counting_what_is_kept_takes_any_file(notes: Path, tmp_path: Path) -> None:
    directory = str(files()[0].parent)
    (files()[0].parent / "x.db").write_bytes(b"no database")
    documents, found = caches.kept(directory, str(notes))
    assert (documents, [cache.path for cache in found]) == (3, [str(files()[0])])
    assert caches.kept(directory, str(tmp_path / "never")) == (0, [])
    assert caches.kept(str(tmp_path / "never"), str(notes)) == (0, [])


# -- D3: directories in a root that is there


def test_D3_a_directory_that_is_gone_from_its_root_is_gone_at_once(notes: Path) -> None:
    """Its parent was listed, and has it no more: that is no guess."""
    shutil.rmtree(notes / "sub")
    done = recall("refresh", "--root", "notes")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("notes: 2 notes: 0 added, 0 changed, 1 removed, ")


def test_D3_a_root_that_has_become_empty_keeps_its_notes_until_pruned(notes: Path) -> None:
    """So looks what is mounted no more."""
    shutil.rmtree(notes)
    notes.mkdir()
    done = recall("refresh", "--root", "notes")
    assert done.status == 0
    assert done.stdout.startswith("notes: 3 notes: 0 added, 0 changed, 0 removed, 3 unchanged, ")
    assert "  kept as it was: .: " in done.stdout
    state = recall("status", "--json", "--root", "notes").data()["roots"][0]
    assert (state["documents"], sum(state["unavailable_by_reason"].values())) == (3, 1)
    pruned = recall("refresh", "--prune", "--root", "notes")
    assert pruned.stdout.startswith("notes: 0 notes: 0 added, 0 changed, 3 removed, ")
