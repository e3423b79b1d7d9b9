"""A cache on a network file system has a rollback journal, for WAL is unsafe there."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest
from stateful_support import Place

from index_cache import db, mounts
from index_cache.errors import CacheBusy
from recall.opened import OpenRoot

if TYPE_CHECKING:
    from pathlib import Path

MOUNTS = rb"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw - proc proc rw
30 22 0:40 / /home rw,relatime shared:9 - nfs4 server:/home rw,vers=4.2
31 30 8:3 / /home/me/local rw - xfs /dev/sdb1 rw
32 22 0:41 / /mnt/with\040blank\134 rw shared:2 master:1 - fuse.sshfs me@host: rw
33 22 0:42 / /mnt/hidden rw - cifs //server/share rw
34 33 0:43 / /mnt/hidden rw - tmpfs none rw
35 22 0:50 /@home /btrfs rw - btrfs /dev/sdc rw
a line that is cut off
"""


@pytest.mark.parametrize(
    ("device", "directory", "kind"),
    [
        (b"8:1", b"/", "ext4"),
        (b"8:1", b"/var/cache", "ext4"),
        (b"8:1", b"/homes", "ext4"),
        (b"0:40", b"/home", "nfs4"),
        (b"0:40", b"/home/me/.cache/recall", "nfs4"),
        (b"8:3", b"/home/me/local/x", "xfs"),
        (b"0:41", b"/mnt/with blank\\/x", "fuse.sshfs"),
        (b"0:43", b"/mnt/hidden/x", "tmpfs"),
        (b"0:99", b"/btrfs/x", "btrfs"),
    ],
)
def test_the_file_system_of_a_directory(device: bytes, directory: bytes, kind: str) -> None:
    assert mounts.file_system(MOUNTS, device, directory) == kind


def test_what_can_not_be_found_out_is_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mounts.file_system(b"", b"8:1", b"/") == ""
    assert not mounts.is_remote(str(tmp_path / "missing"))
    monkeypatch.setattr(mounts, "_MOUNTS", str(tmp_path / "none"))
    assert not mounts.is_remote(str(tmp_path))


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "ceph", "lustre"]
)
def test_network_file_systems(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = tmp_path / "mounts"
    device = os.stat(tmp_path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    monkeypatch.setattr(mounts, "_MOUNTS", str(listed))
    for found, remote in ((kind, True), ("ext4", False), ("fuse.ntfs-3g", False)):
        listed.write_text(f"1 0 {number} / / rw - {found} there rw\n")
        assert mounts.is_remote(str(tmp_path)) is remote


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    for number in range(9):
        place.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    return place


@pytest.fixture
def remote(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(mounts, "is_remote", lambda _: True)
    monkeypatch.setattr(db, "_COMMIT_WAIT", 1)
    return place


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_cache_keeps_the_journal_that_it_was_made_with(
    place: Place, is_remote: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "is_remote", lambda _: is_remote)
    place.settle()
    monkeypatch.setattr(mounts, "is_remote", lambda _: not is_remote)
    place.write("new.md", "# Novel\n\nkestrel\n")
    place.refresh(compact=True)
    assert place.titles("novel") == ["Novel"]
    with closing(place.store()) as store:
        mode, waits = ("delete", db._COMMIT_WAIT) if is_remote else ("wal", db.READ_WAIT)
        assert store.connection.pragma("journal_mode") == mode
        assert store.connection.pragma("busy_timeout") == db.READ_WAIT
        db.prepare_writer(store.connection)
        assert store.connection.pragma("busy_timeout") == waits
        store.begin_reading()
        assert store.connection.pragma("busy_timeout") == db.READ_WAIT
    assert os.path.exists(place.cache_file + "-wal") is not is_remote
    place.check()


def refused(place: Place, *, compact: bool = False) -> bool:
    """Refresh while somebody reads; tell whether that was in the way."""
    with closing(place.store()) as reader:
        reader.begin_reading()
        assert reader.built
        try:
            place.refresh(compact=compact)
        except (apsw.BusyError, CacheBusy):
            return True
        finally:
            assert place.titles("word3") == ["Note 3"]
    return False


@pytest.mark.parametrize("compact", [False, True])
def test_C1_with_a_rollback_journal_a_reader_only_delays_a_writer(
    remote: Place, *, compact: bool
) -> None:
    remote.settle()
    remote.write("new.md", "# Novel\n\nkestrel\n")
    assert refused(remote, compact=compact)
    remote.refresh(compact=compact)
    assert remote.titles("novel") == ["Novel"]
    remote.check()


def test_S3_with_a_rollback_journal_a_reader_only_delays_compacting(remote: Place) -> None:
    remote.settle()
    assert refused(remote, compact=True)
    remote.refresh(compact=True)
    with closing(remote.store()) as store:
        assert store.meta("lingers_since") is None


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP])
def test_C5_where_nothing_can_be_locked_the_answer_comes_from_memory(
    place: Place, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    answer = place.answer("word3", refresh=True)
    assert [card.title for card in answer.cards] == ["Note 3"]
    (report,) = answer.reports
    assert report.failure is None
    assert os.strerror(number) in report.notices[0]


def test_C1_a_search_that_meets_a_commit_is_told_so(remote: Place) -> None:
    remote.settle()
    writer = apsw.Connection(remote.cache_file)
    writer.execute("BEGIN EXCLUSIVE")
    opened = OpenRoot(remote.root, remote.cache, remote.fs)
    report = opened.as_it_is(0)
    assert isinstance(report.failure, CacheBusy)
    writer.execute("ROLLBACK")
    assert opened.as_it_is(0).failure is None
    opened.close()
    writer.close()
