"""A cache that is damaged, foreign or can't be kept costs time, never an answer."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from index_cache import keeping, locks, schema
from index_cache.model import Root
from recall import Recall, caches

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    directory = tmp_path / "notes"
    directory.mkdir()
    for number in range(40):
        words = " ".join(f"word{number}x{each}" for each in range(80))
        (directory / f"note-{number:02d}.md").write_text(f"# Note {number}\n\nkestrel {words}\n")
    return directory


def ask(notes: Path, cache: Path) -> list[tuple[str, float]]:
    with Recall([notes], cache_dir=str(cache)) as recall:
        answer = recall.answer("kestrel word7x3 word21x50")
        assert [report.failure for report in answer.reports] == [None]
        return [(card.path, card.score) for card in answer.cards]


def cache_file(cache: Path) -> Path:
    (found,) = cache.glob("*.db")
    return found


def zero_the_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : len(data) // 2] = bytes(len(data) // 2 - 4096)
    file.write_bytes(data)


def cut_in_half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def fill_with_text(file: Path) -> None:
    file.write_text("this is no database\n" * 1000)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def foreign_database(file: Path) -> None:
    file.unlink()
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value)")
    other.execute("INSERT INTO meta VALUES ('identity', 'somebody else''s')")
    other.commit()
    other.close()


@pytest.mark.parametrize(
    "damage", [zero_the_middle, cut_in_half, fill_with_text, empty, foreign_database]
)
def test_C4_a_damaged_cache_is_replaced_and_the_answer_is_the_same(
    damage: Callable[[Path], None], notes: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    before = ask(notes, cache)
    assert {path for path, _ in before[:2]} == {"note-07.md", "note-21.md"}
    damage(cache_file(cache))
    assert ask(notes, cache) == before
    assert ask(notes, cache) == before


def test_C3_another_version_never_opens_this_versions_file(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    before = ask(notes, cache)
    old = cache_file(cache).read_bytes()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", schema.SCHEMA_VERSION + 1)
    assert ask(notes, cache) == before
    names = sorted(cache.glob("*.db"))
    assert len(names) == 2
    assert old in [name.read_bytes() for name in names]
    assert sorted(each.current for each in caches.list_caches(str(cache))) == [False, True]


def test_C5_without_a_home_the_answer_comes_from_memory(notes: Path) -> None:
    root = Root("notes", str(notes))
    environ = {"HOME": "relative", "XDG_CACHE_HOME": "~/literal"}
    with Recall([root], environ=environ, cwd=str(notes)) as recall:
        recall._opened[0]._directory = None
        answer = recall.answer("kestrel word7x3")
    assert answer.cards[0].path == "note-07.md"
    assert "no cache can be kept" in answer.reports[0].notices[0]
    assert not (notes / "~").exists()
    assert not (notes / "relative").exists()


def test_C5_a_cache_directory_that_is_a_file_is_no_obstacle(notes: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("in the way")
    with Recall([notes], cache_dir=str(blocked)) as recall:
        answer = recall.answer("kestrel word7x3")
    assert answer.cards[0].path == "note-07.md"
    assert str(blocked) in answer.reports[0].notices[0]
    assert blocked.read_text() == "in the way"


def test_a_refresh_sweeps_what_nobody_has_used_for_a_month(notes: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# A\n")
    ask(other, cache)
    old = cache_file(cache)
    os.utime(locks.lock_file(str(old)), (0, 0))
    with Recall([notes], cache_dir=str(cache)) as recall:
        recall.refresh()
    assert not old.exists()
    assert len(list(cache.glob("*.db"))) == 1


def test_a_cache_in_use_by_a_writer_is_never_swept(notes: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    ask(notes, cache)
    with locks.WriterLock(str(cache_file(cache))) as lock:
        assert lock.acquire(0)
        assert caches.prune(str(cache), all=True) == []
    assert len(caches.prune(str(cache), all=True)) == 1
    assert list(cache.glob("*.db*")) == []


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux lists what is open")
def test_a_refresh_holds_no_more_caches_open_than_one(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    roots = [tmp_path / f"notes{number}" for number in range(3)]
    for root in roots:
        root.mkdir()
        (root / "note.md").write_text("# Kestrel\n\nIt hovers.\n")
    most = 0

    def count(*_: object) -> None:
        nonlocal most
        opened = {os.path.realpath(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")}
        # Not those of other tests: a hook that ran in this process leaves its caches to its end.
        most = max(most, len(opened.intersection(map(str, cache.resolve().glob("*.db")))))

    with Recall(roots, cache_dir=str(cache)) as recall:
        with mock.patch.object(keeping, "keep", side_effect=count) as kept:
            recall.refresh()
        assert kept.call_count == 3
        assert most == 1
        count()
        assert most == 1
        assert len(recall.search("kestrel")) == 1  # copies
