"""F1: one bad file costs at most that one file."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from index_cache.files import FileSystem
from recall import Recall

if TYPE_CHECKING:
    from pathlib import Path

GOOD = b"# Good note\n\nThe needle is here.\n"
MIB = 1024 * 1024

# Each holds the word "needle", and is found by it, although something is odd about it.
FOUND = {
    "stray-bytes.md": b"# caf\xe9\n\nneedle \xff\xfe\x80 \xc3(\n",
    "latin-1.md": "# Größe\n\nneedle über alles\n".encode("latin-1"),
    "utf-16.md": "# Größe\n\nneedle\n".encode("utf-16"),
    "some-nuls.md": b"# N\n\nneedle\0needle " + b"text " * 20,
    "control.md": b"# \x1b[31mred\x07\n\nneedle\x08 \x1b]0;x\x07\n",
    "template.md": b"---\ntitle: {{title}}\ndate: <% tp.date() %>\n---\nneedle\n",
    "template-2.md": b"---\n{% if x %}\ntitle: a\n{% endif %}\n---\nneedle\n",
    "tabs.md": b"---\n\ttitle: a\n\ttags:\n\t\t- x\n---\nneedle\n",
    "duplicates.md": b"---\ntitle: a\ntitle: b\n---\nneedle\n",
    "broken-yaml.md": b"---\ntitle: [a, {b: \nx: }]: y\n---\nneedle\n",
    "yaml-tag.md": b"---\ntitle: !!python/object/apply:os.system ['touch ran']\n---\nneedle\n",
    "alias-bomb.md": (
        b"---\na: &a [" + b"x," * 999 + b"]\nb: &b [" + b"*a," * 999 + b"]\nc: [" + b"*b," * 999
    )
    + b"]\n---\nneedle\n",
    "rule.md": b"---\n\nneedle\n\n---\n\nmore\n",
    "never-closed.md": b"---\ntitle: a\n\nneedle\n",
    "empty-block.md": b"---\n---\nneedle\n",
    "bom.md": b"\xef\xbb\xbf---\ntitle: a\n---\nneedle\n",
    "crlf.md": b"---\r\ntitle: a\r\n---\r\nneedle\r\n",
    "cr.md": b"# a\rneedle\r",
    "blank-first.md": b"\n\n---\ntitle: a\n---\nneedle\n",
    "one-line.md": b"needle " * 100_000,
    "no-newline.md": b"needle",
    "nested.md": b"> " * 5_000 + b"needle\n",
    "brackets.md": b"[" * 50_000 + b"needle\n",
    "many-blanks.md": b"---\nkey" + b" " * 200_000 + b"\n---\nneedle\n",
    "huge-title.md": b"# " + b"needle " * 50_000,
}
# Each says why it is not there, or not wholly.
NOT_FOUND = {
    "nuls.md": b"needle\0\0\0" * 100,
    "utf-16-no-mark.md": "needle ".encode("utf-16-le") * 10,
    "binary.md": b"\x89PNG\r\n\x1a\n" + bytes(range(1, 256)) * 40,
}
EMPTY = {"empty.md": b"", "blank.md": b" \n\t\n", "only-bom.md": b"\xef\xbb\xbf"}
ODD_NAMES = [b"caf\xe9.md", b"new\nline.md", b"\x1b[2J.md", b"\xff.md", b" .md", b"-rf.md", b"'.md"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a root with one good note."""
    directory = tmp_path / "notes"
    directory.mkdir()
    (directory / "good.md").write_bytes(GOOD)
    return directory


def opened(root: Path, fs: FileSystem | None = None) -> Recall:
    return Recall([root], cache_dir=str(root.parent / "cache"), fs=fs)


def shown(recall: Recall) -> list[str]:
    cards = recall.search("needle", k=500)
    top = f"{recall.roots[0].path}/"
    copies = [copy.removeprefix(top) for card in cards for copy in card.copies]
    return sorted([*(card.path for card in cards), *copies])


@pytest.mark.parametrize("name", FOUND)
def test_F1_an_odd_file_is_found_all_the_same(
    root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (root / name).write_bytes(FOUND[name])
    with opened(root) as recall:
        (report,) = recall.refresh()
        assert report.failure is None
        assert shown(recall) == sorted(["good.md", name])
        assert [each.unchanged for each in recall.refresh()] == [2]
    assert not (root / "ran").exists()


@pytest.mark.parametrize("name", NOT_FOUND)
def test_F1_what_is_no_text_costs_itself_and_says_why(root: Path, name: str) -> None:
    (root / name).write_bytes(NOT_FOUND[name])
    with opened(root) as recall:
        (report,) = recall.refresh()
        assert report.failure is None
        (skipped,) = report.skipped
        assert skipped.path == name.encode()
        assert skipped.reason.startswith("not text: ")
        assert shown(recall) == ["good.md"]


def test_F1_all_of_them_in_one_root(root: Path) -> None:
    for name, data in {**FOUND, **NOT_FOUND, **EMPTY}.items():
        (root / name).write_bytes(data)
    for number, odd in enumerate(ODD_NAMES):
        with open(os.path.join(os.fsencode(root), odd), "wb") as file:
            file.write(b"needle %d\n" % number)
    os.mkfifo(root / "fifo.md")
    with contextlib.suppress(PermissionError):
        os.mknod(root / "device.md", stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero
    (root / "directory.md").mkdir()
    with opened(root) as recall:
        (report,) = recall.refresh()
        assert report.failure is None
        assert report.unavailable == ()
        names = [name.decode("utf-8", "backslashreplace") for name in ODD_NAMES]
        assert shown(recall) == sorted(["good.md", *FOUND, *names])
        reasons = {each.path.decode(): each.reason for each in report.skipped}
        expected = {*NOT_FOUND, "fifo.md", "stray-bytes.md", "latin-1.md"}
        if (root / "device.md").exists():
            expected.add("device.md")
        assert set(reasons) == expected
        assert reasons["fifo.md"] == "not a regular file"
        assert "cp1252" in reasons["latin-1.md"]


@pytest.mark.parametrize("head", [b"# Big\n\nneedle\n", b"\0"], ids=["text", "NULs"])
def test_F1_fifty_megabytes_cost_eight(root: Path, head: bytes) -> None:
    with open(root / "big.md", "wb") as file:
        file.write(head)
        file.truncate(50 * MIB)
    read = []

    class Counting(FileSystem):
        def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
            found = super().read(path, limit)
            read.append(len(found[1]))
            return found

    with opened(root, Counting()) as recall:
        (report,) = recall.refresh()
        assert report.failure is None
        reasons = [each.reason for each in report.skipped if each.path == b"big.md"]
        assert "only its first 8,388,608 bytes are indexed" in reasons
        assert max(read) == 8 * MIB
        assert "good.md" in shown(recall)


def test_F1_a_large_file_cut_off_in_a_character_is_no_stray_byte(root: Path) -> None:
    (root / "big.md").write_bytes("needle 日本語 ".encode() * 600_000)
    with opened(root) as recall:
        (report,) = recall.refresh()
        assert [each.reason for each in report.skipped] == [
            "only its first 8,388,608 bytes are indexed"
        ]
        assert shown(recall) == ["big.md", "good.md"]


class Failing(FileSystem):
    """A file system in which reading ``bad.md`` fails, as long as ``error`` is set."""

    def __init__(self, error: OSError | None) -> None:
        self.error = error

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        if self.error and path.endswith(b"/bad.md"):
            raise self.error
        return super().read(path, limit)


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        OSError(errno.EIO, "Input/output error"),
        OSError(errno.ESTALE, "Stale file handle"),
        TimeoutError(errno.ETIMEDOUT, "Connection timed out"),
    ],
    ids=lambda error: str(error.strerror),
)
def test_F1_a_file_that_cannot_be_read_costs_itself_until_it_can(
    root: Path, error: OSError
) -> None:
    (root / "bad.md").write_bytes(b"# Bad\n\nneedle too\n")
    os.utime(root / "bad.md", (1_700_000_000, 1_700_000_000))
    fs = Failing(error)
    with opened(root, fs) as recall:
        (report,) = recall.refresh()
        assert report.failure is None
        (told,) = [*report.skipped, *report.unavailable]
        assert told.path == b"bad.md"
        assert str(error.strerror) in told.reason
        assert shown(recall) == ["good.md"]
        fs.error = None
        os.utime(root / "bad.md", (1_700_000_001, 1_700_000_001))
        (report,) = recall.refresh()
        assert (report.skipped, report.unavailable) == ((), ())
        assert shown(recall) == ["bad.md", "good.md"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_S1_no_name_reaches_a_card_as_it_is(root: Path, name: bytes) -> None:
    from recall.terminal import as_text

    with open(os.path.join(os.fsencode(root), name), "wb") as file:
        file.write(b"needle\n")
    with opened(root) as recall:
        cards = recall.search("needle")
    text = as_text(cards, len(cards), 4096)
    assert all(char.isprintable() or char == "\n" for char in text)
    starts = [line for line in text.split("\n") if line and not line.startswith(" ")]
    assert [line.partition(" ")[0] for line in starts] == ["1.", "2."]
