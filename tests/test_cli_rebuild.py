"""``recall rebuild`` as transcripts: real processes, exact answers, exit codes."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall, valid_envelope

if TYPE_CHECKING:
    from pathlib import Path

OLD = 1_600_000_000


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    for path, text in {
        "keys.md": "---\ntitle: Rotate the deploy keys\n---\nKeys live in the vault.\n",
        "sub/sqlite.md": "# Why SQLite\n\nOne file per root.\n",
    }.items():
        (root / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    return root


def masked(text: str) -> str:
    """Return a text with what differs from run to run taken out."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"\d+\.\d\d s", "T s", text)


def one(*arguments: str) -> dict[str, Any]:
    (root,) = recall("rebuild", "--json", *arguments).data()["roots"]
    return dict(root)


@pytest.mark.usefixtures("notes")
def test_the_first_rebuild_makes_the_cache() -> None:
    done = recall("rebuild")
    assert (done.status, done.stderr) == (0, "")
    assert masked(done.stdout) == (
        "notes: 2 notes rebuilt in T s; the new cache equals them, and is in use\n"
        "  before: missing\n"
        "  digest DIGEST\n"
    )
    assert recall("search", "--no-refresh", "vault").stdout.startswith("1. Rotate the deploy keys")


@pytest.mark.usefixtures("notes")
def test_a_sound_cache_is_said_to_be() -> None:
    recall("refresh")
    done = recall("rebuild", "--from-canonical", "--deep")
    assert (done.status, done.stderr) == (0, "")
    assert masked(done.stdout) == (
        "notes: 2 notes rebuilt in T s; the new cache equals them, and is in use\n"
        "  before: equal to them, each word in its place; 10 sample queries found the same\n"
        "  digest DIGEST\n"
    )


@pytest.mark.usefixtures("notes")
def test_check_is_exit_0_when_equal() -> None:
    recall("refresh")
    done = recall("rebuild", "--check")
    assert (done.status, done.stderr) == (0, "")
    assert masked(done.stdout) == (
        "notes: 2 notes checked in T s; the cache is equal to them\n  digest DIGEST\n"
    )
    assert recall("rebuild", "--check", "--quiet").raw == b""


def test_check_is_exit_2_when_a_refresh_is_due(notes: Path) -> None:
    recall("refresh")
    (notes / "keys.md").write_text("# Other keys\n", encoding="utf-8")
    (notes / "sub" / "sqlite.md").unlink()
    done = recall("rebuild", "--check")
    assert done.status == 2
    assert masked(done.stdout) == (
        "notes: 1 note checked in T s; the cache is different from them: 2 pending\n"
        "  digest DIGEST\n"
        "  of the cache DIGEST\n"
        "  pending: keys.md: edited since the last refresh"
        " (content, title, excerpt, terms of title, terms of body)\n"
        "  pending: sub/sqlite.md: gone since the last refresh\n"
    )
    error, where, hint = done.stderr.splitlines()
    assert error == "error: the cache of root notes does not equal its notes: 2 pending"
    assert where.startswith("where: ")
    assert hint == "hint: recall refresh brings it up to date"
    recall("refresh")
    assert recall("rebuild", "--check").status == 0


@pytest.mark.usefixtures("notes")
def test_check_without_a_cache_is_exit_2(home: Path) -> None:
    done = recall("rebuild", "--check")
    assert done.status == 2
    assert "; the cache is missing\n" in done.stdout
    assert "error: root notes has no cache yet\n" in done.stderr
    assert not (home / ".cache" / "recall").exists()


def test_a_planted_difference_is_named_and_a_rebuild_mends_it(notes: Path, home: Path) -> None:
    """The file's bytes and all of its times are those that the cache knows."""
    from index_cache import db, files
    from index_cache.model import Root

    os.utime(notes / "keys.md", (OLD, OLD))
    recall("refresh")
    note = notes / "keys.md"
    note.write_text(note.read_text().replace("vault", "vauIt"), encoding="utf-8")
    os.utime(note, (OLD, OLD))
    path = db.cache_path(str(home / ".cache" / "recall"), Root("notes", str(notes)))
    connection, _ = db.connect(path)
    signature = files.signature(os.lstat(note))
    connection.execute(
        "UPDATE entry SET signature = ?, suspect = 0 WHERE path = ?", (signature, b"keys.md")
    )
    connection.close()
    assert recall("refresh", "--json").data()["roots"][0]["changed"] == 0
    envelope = valid_envelope(recall("rebuild", "--check", "--json").raw)
    assert envelope["error"]["code"] == "check_failed"
    assert "1 wrong" in envelope["error"]["message"]
    assert envelope["error"]["hint"] == "recall rebuild makes it anew"
    (root,) = envelope["data"]["roots"]
    (difference,) = root["differences"]
    assert (difference["path"], difference["kind"]) == ("keys.md", "wrong")
    assert {"content", "excerpt", "terms of body"} <= set(difference["what"])
    warned = recall("rebuild", "--check", "--quiet")
    assert (warned.status, warned.stdout) == (2, "")
    mended = one()
    assert (mended["equivalent"], mended["rebuilt"]) == (False, True)
    assert mended["counts"] == {"wrong": 1}
    assert one("--check")["equivalent"]


@pytest.mark.usefixtures("notes")
def test_json_has_all_that_the_page_promises() -> None:
    recall("refresh")
    found = one("--deep")
    assert found["equivalent"] is True
    assert found["canonical_digest"] == found["cache_digest"] == found["rebuilt_digest"]
    assert set(found["deep"]) == {"canonical_digest", "cache_digest", "rebuilt_digest"}
    assert len(set(found["deep"].values())) == 1
    assert (found["documents"], found["counts"], found["differences"]) == (2, {}, [])
    assert found["answers"]["different"] == 0
    assert set(found["directories"]) == {"sub"}
    assert found["error"] is None
    checked = one("--check")
    assert (checked["rebuilt"], checked["rebuilt_digest"], checked["deep"]) == (False, None, None)
    assert checked["canonical_digest"] == found["canonical_digest"]


@pytest.mark.usefixtures("notes")
def test_C4_a_damaged_cache_is_told_by_check_and_replaced(home: Path) -> None:
    recall("refresh")
    (file,) = (home / ".cache" / "recall").glob("*.db")
    size = file.stat().st_size
    file.write_bytes(os.urandom(size))
    done = recall("rebuild", "--check")
    assert done.status == 2
    assert "error: the cache of root notes is damaged: " in done.stderr
    assert "; the cache is damaged: " in done.stdout
    assert file.stat().st_size == size
    done = recall("rebuild", "--quiet")
    assert (done.status, done.stdout) == (0, "")
    assert done.stderr.startswith("warning: notes: its cache was damaged (")
    assert done.stderr.endswith(") and has been made anew\n")
    assert recall("rebuild", "--check").status == 0


def test_one_root_that_fails_does_not_stop_the_others(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# A\n", encoding="utf-8")
    recall("rebuild", "--root", str(other))
    (other / "a.md").unlink()
    monkeypatch.setenv("RECALL_ROOTS", f"other={other}{os.pathsep}notes={notes}")
    done = recall("rebuild")
    assert done.status == 6
    assert done.stdout.startswith("other: not rebuilt\nnotes: 2 notes rebuilt in ")
    assert "error: root other is not rebuilt: 1 of the notes that its cache has" in done.stderr
    assert "hint: " in done.stderr
