"""Reports have names of their own, and nothing is overwritten."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from index_cache.errors import InvalidInput, NotFound, RootUnavailable
from recall import outfiles

if TYPE_CHECKING:
    from pathlib import Path


def test_what_exists_is_refused_and_a_free_name_told(tmp_path: Path) -> None:
    path = tmp_path / "a b.html"
    outfiles.refuse_existing(str(path))
    path.write_text("mine")
    (tmp_path / "a b-2.html").write_text("too")
    with pytest.raises(InvalidInput) as raised:
        outfiles.refuse_existing(str(path))
    assert raised.value.hint == f"'{tmp_path}/a b-3.html' is free"
    with pytest.raises(InvalidInput):
        outfiles.create(str(path), b"theirs")
    assert path.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["a b-2.html", "a b.html"]


def test_a_link_that_leads_nowhere_is_something(tmp_path: Path) -> None:
    path = tmp_path / "link"
    path.symlink_to(tmp_path / "gone")
    with pytest.raises(InvalidInput):
        outfiles.refuse_existing(str(path))
    with pytest.raises(InvalidInput):
        outfiles.create(str(path), b"x")
    assert os.listdir(tmp_path) == ["link"]


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        outfiles.refuse_existing(str(tmp_path / "no" / "file"))
    with pytest.raises(NotFound):
        outfiles.save(str(tmp_path / "no"), "l", "1", b"")
    for name in ("", "a\0b"):
        with pytest.raises(InvalidInput):
            outfiles.refuse_existing(name)


def test_reports_are_numbered_by_labels_and_version(tmp_path: Path) -> None:
    def save(labels: str, version: str = "1.0") -> str:
        return os.path.basename(outfiles.save(str(tmp_path), labels, version, b"{}"))

    assert save("/x/my labels.jsonl") == "my-labels-v1.0-1.json"
    assert save("my labels.jsonl") == "my-labels-v1.0-2.json"
    assert save("my labels.jsonl", "1.1") == "my-labels-v1.1-1.json"
    (tmp_path / "my-labels-v1.0-2.json").unlink()
    (tmp_path / "my-labels-v1.0-9.json").write_text("")
    (tmp_path / "my-labels-v1.0-x.json").write_text("")
    # A number that was given is not given again, unless it was the highest.
    assert save("my labels.jsonl") == "my-labels-v1.0-10.json"
    assert save("...") == "labels-v1.0-1.json"


def test_without_links_it_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    outfiles.create(str(tmp_path / "a"), b"x")
    assert (tmp_path / "a").read_bytes() == b"x"
    with pytest.raises(InvalidInput):
        outfiles.create(str(tmp_path / "a"), b"y")
    assert os.listdir(tmp_path) == ["a"]


def test_a_disk_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RootUnavailable, match="No space left"):
        outfiles.create(str(tmp_path / "a"), b"x")
    assert os.listdir(tmp_path) == []
