"""A repository's configuration names directories inside it only, until the person trusts it."""

# The codes of reported faults (S4) are written as they are.

from __future__ import annotations

import json
import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound
from recall import trust
from recall.config import Config, load

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """A cloned project, a private directory beside it, and the person's state directory."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project = base / "project"
        self.docs = self.project / "docs"
        self.private = base / "private"
        for directory in (self.docs, self.private):
            directory.mkdir(parents=True)
        self.file = self.project / ".recall.toml"
        self.state = str(base / "state/recall")
        self.environ = {"HOME": str(base / "home"), "XDG_STATE_HOME": str(base / "state")}

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def trust(self) -> list[str]:
        return trust.trust(str(self.file), self.state, self.environ)

    def load(self, *names: str) -> Config:
        return load(str(self.project), self.environ, names, fallback=True)

    def found(self) -> dict[str, str]:
        return {root.name: root.path for root in self.load().roots}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


BOTH = '[roots]\ndocs = "docs"\nout = "../private"\n'


@pytest.mark.parametrize(
    "path", ["../private", "{base}/private", "docs/../../private", "link", "~"]
)
def test_S4_directory_outside_is_left_out_until_trusted(place: Place, path: str) -> None:
    (place.project / "link").symlink_to(place.private)
    place.environ["HOME"] = str(place.private)
    place.write(f'[roots]\ndocs = "docs"\nout = "{path.format(base=place.base)}"\n')
    config = place.load()
    assert [root.name for root in config.roots] == ["docs"]
    (notice,) = config.notices
    assert notice.hint == "recall trust"
    assert str(place.private) in notice.message
    assert [left.name for left in config.left_out] == ["out"]

    assert place.trust() == [str(place.private)]
    assert place.found() == {"docs": str(place.docs), "out": str(place.private)}
    assert place.load().notices == ()


@pytest.mark.parametrize("path", [".", "docs", "./docs/../docs", "{base}/project/docs"])
def test_S4_directory_inside_needs_no_trust(place: Place, path: str) -> None:
    place.write(f'[roots]\nin = "{path.format(base=place.base)}"\n')
    assert list(place.found()) == ["in"]
    assert not os.path.exists(place.state)


def test_S4_neighbour_whose_name_begins_like_the_project_is_outside(place: Place) -> None:
    (place.base / "project-private").mkdir()
    place.write('[roots]\ndocs = "docs"\nout = "../project-private"\n')
    assert list(place.found()) == ["docs"]


def test_S4_editing_the_file_asks_again_and_undoing_the_edit_heals(place: Place) -> None:
    place.write(BOTH)
    place.trust()
    place.write(BOTH + "# a comment is a change\n")
    assert list(place.found()) == ["docs"]
    place.write(BOTH)
    assert list(place.found()) == ["docs", "out"]


def test_S4_link_that_leads_elsewhere_since_asks_again(place: Place) -> None:
    other = place.base / "other"
    other.mkdir()
    link = place.project / "link"
    link.symlink_to(other)
    place.write('[roots]\ndocs = "docs"\nout = "link"\n')
    place.trust()
    assert list(place.found()) == ["docs", "out"]
    link.unlink()
    link.symlink_to(place.private)
    assert list(place.found()) == ["docs"]


def test_S4_same_bytes_elsewhere_are_not_trusted(place: Place) -> None:
    place.write(BOTH)
    place.trust()
    copy = place.base / "deep/copy"
    copy.mkdir(parents=True)
    (copy / "docs").mkdir()
    (copy / ".recall.toml").symlink_to(place.file)
    config = load(str(copy), place.environ, fallback=False)
    assert [root.name for root in config.roots] == ["docs"]


def test_S4_what_is_not_trusted_can_not_be_named_either(place: Place) -> None:
    place.write(BOTH)
    with pytest.raises(ConfigInvalid) as caught:
        place.load("out")
    assert caught.value.hint == "recall trust"
    assert [root.name for root in place.load("docs").roots] == ["docs"]


def test_S4_nothing_but_outside_is_an_error_that_says_so(place: Place) -> None:
    place.write('[roots]\nout = "../private"\n')
    place.environ["RECALL_ROOTS"] = str(place.docs)
    with pytest.raises(ConfigInvalid) as caught:
        place.load()
    assert caught.value.hint == "recall trust"
    assert caught.value.where == str(place.file)


def test_S4_untrusted_root_does_not_hide_the_persons_own(place: Place) -> None:
    own = place.base / "home/.config/recall/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[roots]\nwork = "{place.private}"\n')
    place.write(f'[roots]\nwork = "{place.base}"\n')
    assert place.found() == {"work": str(place.private)}


def test_S4_long_list_of_roots_does_not_flood_the_notice(place: Place) -> None:
    names = "".join(f'r{number} = "/r{number}"\n' for number in range(100))
    place.write(f'[roots]\ndocs = "docs"\n{names}')
    (notice,) = place.load().notices
    assert "95 more" in notice.message
    assert len(notice.message) < 500


def test_own_file_may_name_anything(place: Place) -> None:
    own = place.base / "home/.config/recall/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[roots]\nwork = "{place.private}"\n')
    assert place.found() == {"work": str(place.private)}


def test_record_is_private_whatever_the_umask(place: Place) -> None:
    place.write(BOTH)
    old = os.umask(0)
    try:
        place.trust()
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(place.state).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(f"{place.state}/trust.json").st_mode) == 0o600
    assert os.listdir(place.state) == ["trust.json"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b"[" * 100_000,
        b'{"version": 1}',
        b'{"version": 1, "files": []}',
        b'{"version": 2, "files": {}}',
    ],
)
def test_S4_damaged_record_trusts_nothing_and_says_so(place: Place, content: bytes) -> None:
    place.write(BOTH)
    place.trust()
    with open(f"{place.state}/trust.json", "wb") as stream:
        stream.write(content)
    config = place.load()
    assert [root.name for root in config.roots] == ["docs"]
    assert any("damaged" in notice.message for notice in config.notices)
    assert not trust.is_trusted(str(place.file), place.file.read_bytes(), place.state)
    place.trust()
    assert list(place.found()) == ["docs", "out"]


@pytest.mark.parametrize(
    "record", [3, {"sha256": 1}, {}, {"directories": 3}, {"directories": [[]]}]
)
def test_S4_entry_of_another_shape_trusts_nothing(place: Place, record: object) -> None:
    place.write(BOTH)
    place.trust()
    path = f"{place.state}/trust.json"
    with open(path) as stream:
        whole = json.load(stream)
    if isinstance(record, dict) and "directories" in record:
        record = {**whole["files"][str(place.file)], **record}
    whole["files"][str(place.file)] = record
    with open(path, "w") as stream:
        json.dump(whole, stream)
    assert list(place.found()) == ["docs"]


def test_record_that_is_a_directory_is_said(place: Place) -> None:
    place.write(BOTH)
    os.makedirs(f"{place.state}/trust.json")
    assert any("can't be read" in notice.message for notice in place.load().notices)
    with pytest.raises(InvalidInput):
        place.trust()
    assert os.listdir(place.state) == ["trust.json"]


def test_is_trusted_follows_the_bytes_and_distrust_ends_it(place: Place) -> None:
    place.write(BOTH)
    file = str(place.file)
    assert not trust.is_trusted(file, BOTH.encode(), place.state)
    place.trust()
    assert trust.is_trusted(file, BOTH.encode(), place.state)
    assert trust.is_trusted(os.path.relpath(file), BOTH.encode(), place.state)
    assert not trust.is_trusted(file, BOTH.encode() + b"\n", place.state)
    assert trust.distrust(file, place.state)
    assert not trust.distrust(file, place.state)
    assert not trust.is_trusted(file, BOTH.encode(), place.state)


def test_trusting_many_at_once_loses_none(place: Place) -> None:
    files = []
    for number in range(8):
        file = place.base / f"p{number}/.recall.toml"
        file.parent.mkdir()
        file.write_text(BOTH)
        files.append(str(file))
    barrier = threading.Barrier(len(files))

    def run(file: str) -> None:
        barrier.wait()
        trust.trust(file, place.state, place.environ)

    threads = [threading.Thread(target=run, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(trust.is_trusted(file, BOTH.encode(), place.state) for file in files)


def test_path_that_is_not_utf8_can_be_trusted(place: Place) -> None:
    project = os.path.join(os.fsencode(place.base), b"\xff")
    try:
        os.mkdir(project)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with open(os.path.join(project, b".recall.toml"), "w") as stream:
        stream.write('[roots]\nout = "../private"\n')
    cwd = os.fsdecode(project)
    trust.trust(f"{cwd}/.recall.toml", place.state, place.environ)
    (root,) = load(cwd, place.environ, fallback=False).roots
    assert root.path == str(place.private)


def test_missing_file_is_not_found(place: Place) -> None:
    with pytest.raises(NotFound):
        place.trust()


def test_broken_file_is_not_trusted(place: Place) -> None:
    place.write("[roots")
    with pytest.raises(ConfigInvalid):
        place.trust()
    assert not os.path.exists(place.state)


def test_no_state_directory_is_a_clear_error(place: Place) -> None:
    place.write(BOTH)
    with pytest.raises(ConfigInvalid, match="home"):
        trust.trust(str(place.file), None, place.environ)
    assert not trust.is_trusted(str(place.file), BOTH.encode(), None)


def test_state_directory_that_can_not_be_made_is_a_clear_error(place: Place) -> None:
    place.write(BOTH)
    (place.base / "state").write_text("in the way")
    with pytest.raises(InvalidInput, match="recorded"):
        place.trust()


def test_S4_other_users_file_is_not_trusted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write(BOTH)
    if os.getuid() == 0:
        os.chown(place.file, 54321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(InvalidInput, match="another user"):
        place.trust()
