"""What of a directory belongs to a root, and what is left out with which reason."""

from __future__ import annotations

import errno
import os
import socket
import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from index_cache import files
from index_cache.errors import RootUnavailable
from index_cache.files import FileSystem, signature
from index_cache.gitignore import Ignored
from index_cache.model import Root, Rules, Skipped
from index_cache.scan import Scan, quick_signature, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from index_cache.files import DirEntry, StatResult


def walk(
    directory: Path,
    rules: Rules | None = None,
    fs: FileSystem | None = None,
    ignored: frozenset[bytes] = frozenset(),
) -> Scan:
    root = Root("r", str(directory), rules)
    return scan(root, fs or FileSystem(), lambda _: Ignored(ignored))


def write(directory: Path, *names: str) -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x\n")


def paths(found: Scan) -> list[str]:
    return sorted(os.fsdecode(path) for path in found.entries)


def reasons(found: Scan) -> dict[str, str]:
    return {os.fsdecode(each.path): each.reason for each in found.skipped}


def test_markdown_in_any_case_belongs_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "B.MD", "c.Markdown", "d/e/f.md", ".dot.md", ".md", "x y.md")
    write(tmp_path, "a.txt", "md", "amd", "a.md.bak", "a.mdx", "d/readme")
    found = walk(tmp_path)
    wanted = ["a.md", "B.MD", "c.Markdown", "d/e/f.md", ".dot.md", ".md", "x y.md"]
    assert paths(found) == sorted(wanted)
    assert found.skipped == []
    assert found.entries[b"a.md"] == signature((tmp_path / "a.md").stat())


@pytest.mark.parametrize("written", [0, 1, -1, -(2**63) + 1, 2**63 - 1, 2**63, 2**64, -(2**70)])
@pytest.mark.parametrize("changed", [0, 1_767_225_600 * 10**9, -5, 2**64 + 5])
@pytest.mark.parametrize("device", [0, 2049, -2, 2**64 - 1])
def test_both_ways_to_sign_a_file_give_the_same(written: int, changed: int, device: int) -> None:
    st: Any = SimpleNamespace(
        st_mtime_ns=written, st_ctime_ns=changed, st_size=2**40, st_ino=2**63 + 7, st_dev=device
    )
    signed = signature(st)
    assert signed == quick_signature(st)
    clamped = [max(1 - 2**63, min(time_ns, 2**63 - 1)) for time_ns in (written, changed)]
    assert struct.unpack("<qqqQQ", signed) == (*clamped, 2**40, 2**63 + 7, device % 2**64)
    assert files.mtime_ns(signed) == clamped[0]
    assert (files.size(signed), files.device(signed)) == (2**40, device % 2**64)


def test_what_is_skipped_by_default(tmp_path: Path) -> None:
    for directory in (".hidden", "node_modules", "__pycache__", "_metrics", "venv", "virtualenv"):
        write(tmp_path, f"{directory}/a.md", f"d/{directory}/a.md")
    write(tmp_path, ".git/a.md", "env3/a.md", "env3/pyvenv.cfg", "env3/lib/b.md", "d/.git/a.md")
    write(tmp_path, "Venv/a.md", "node_modules.md", "metrics/a.md")
    found = walk(tmp_path)
    assert paths(found) == ["Venv/a.md", "metrics/a.md", "node_modules.md"]
    names = [".hidden", "node_modules", "__pycache__", "_metrics", "venv", "virtualenv"]
    wanted = {f"{above}{name}/": "skipped by default" for name in names for above in ("", "d/")}
    assert reasons(found) == {**wanted, "env3/": "virtual environment"}


@pytest.mark.parametrize("name", [".notes", "node_modules", "venv"])
def test_the_root_itself_may_be_called_anything(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}/a.md", f"{name}/{name}/b.md", f"{name}/pyvenv.cfg")
    assert paths(walk(tmp_path / name)) == ["a.md"]


def test_an_include_that_spells_a_directory_opens_it(tmp_path: Path) -> None:
    write(tmp_path, ".agent/memory/a.md", ".agent/b.md", ".other/c.md", ".git/d.md", "e.md")
    rules = Rules(include=(".agent/memory/**", "/*.md"))
    assert paths(walk(tmp_path, rules)) == [".agent/memory/a.md", "e.md"]
    assert paths(walk(tmp_path, Rules(include=("**/*.md",)))) == ["e.md"]
    assert paths(walk(tmp_path, Rules(include=(".git",)))) == [".git/d.md"]


def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "d/a.md", "d/e/a.md", "f/a.md")
    found = walk(tmp_path, Rules(include=("a.md",), exclude=("d/e/", "/a.md")))
    assert paths(found) == ["d/a.md", "f/a.md"]
    assert reasons(found) == {
        "a.md": "excluded by the root's rules",
        "b.md": "not included by the root's rules",
        "d/e/": "excluded by the root's rules",
    }


def test_directories_that_no_include_can_match_are_not_walked(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "src/deep/b.md")
    listed = []

    class Noting(FileSystem):
        def scandir(self, path: bytes) -> Sequence[DirEntry]:
            listed.append(path)
            return super().scandir(path)

    found = walk(tmp_path, Rules(include=("/*.md",)), Noting())
    assert paths(found) == ["a.md"]
    assert listed == [os.path.join(os.fsencode(tmp_path), b"")]
    assert reasons(found) == {"src/": "not included by the root's rules"}


def test_what_git_ignores(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "d/c.md")
    found = walk(tmp_path, ignored=frozenset({b"b.md", b"d/"}))
    assert paths(found) == ["a.md"]
    assert reasons(found) == {"b.md": "ignored by git", "d/": "ignored by git"}


def test_F5_symlinks_are_counted_and_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "root/a.md", "outside/secret.md")
    root = tmp_path / "root"
    (root / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "dir").symlink_to(tmp_path / "outside")
    (root / "dir.md").symlink_to(tmp_path / "outside")
    (root / "inside.md").symlink_to("a.md")
    (root / "broken.md").symlink_to("nowhere")
    (root / "loop").symlink_to(root)
    (root / "self.md").symlink_to("self.md")
    (root / "self").symlink_to("self")
    (root / "text.txt").symlink_to("a.md")
    found = walk(root)
    assert paths(found) == ["a.md"]
    names = ["broken.md", "dir", "dir.md", "file.md", "inside.md", "loop", "self.md"]
    assert reasons(found) == dict.fromkeys(names, "symlink")


def test_F1_what_is_no_regular_file(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "dir.md/b.md", "dir.markdown/.c/d.md")
    os.mkfifo(tmp_path / "fifo.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s.md"))
        found = walk(tmp_path)
    assert paths(found) == ["a.md", "dir.md/b.md"]
    assert reasons(found) == {
        "fifo.md": "not a regular file",
        "s.md": "not a regular file",
        "dir.markdown/.c/": "skipped by default",
    }


def test_F1_names_of_any_bytes(tmp_path: Path) -> None:
    names = [b"caf\xe9.md", b"new\nline.md", b"\x1b[31m.md", b"\xff\xfe.MD", b" .md"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass
    assert sorted(walk(tmp_path).entries) == sorted(names)


def test_F6_conflict_copies_collapse_into_their_original(tmp_path: Path) -> None:
    copies = [
        "a (Ada's conflicted copy 2026-03-01).md",
        "a (conflicted copy 2026-03-01 120000).md",
        "a.sync-conflict-20260301-120000-ABCDEF7.md",
        "a (Case Conflict).md",
    ]
    write(tmp_path, "a.md", *copies, "lost (conflicted copy 2026-03-01).md")
    write(tmp_path, "conflict.md", "How (merge conflicts) end.md", "d/a.sync-conflict-1-2-B.md")
    found = walk(tmp_path)
    assert paths(found) == sorted(
        [
            "a.md",
            "a (Case Conflict).md",
            "lost (conflicted copy 2026-03-01).md",
            "conflict.md",
            "How (merge conflicts) end.md",
            "d/a.sync-conflict-1-2-B.md",
        ]
    )
    assert reasons(found) == dict.fromkeys(copies[:3], "conflict copy of a.md")


class Changed:
    """A stat result with some fields replaced."""

    def __init__(self, st: StatResult, **fields: int) -> None:
        self._st = st
        self._fields = fields

    def __getattr__(self, name: str) -> int:
        fields: dict[str, int] = self.__dict__["_fields"]
        return fields[name] if name in fields else int(getattr(self._st, name))


class Entry:
    """A directory entry whose methods a test replaces."""

    def __init__(self, entry: DirEntry, **methods: Callable[[], Any]) -> None:
        self._entry = entry
        self._methods = methods

    @property
    def name(self) -> bytes:
        return self._entry.name

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        if "is_dir" in self._methods:
            return bool(self._methods["is_dir"]())
        return self._entry.is_dir(follow_symlinks=follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._entry.is_file(follow_symlinks=follow_symlinks)

    def is_symlink(self) -> bool:
        return self._entry.is_symlink()

    def stat(self, *, follow_symlinks: bool = True) -> StatResult:
        if "stat" in self._methods:
            found: StatResult = self._methods["stat"]()
            return found
        return self._entry.stat(follow_symlinks=follow_symlinks)


class Replacing(FileSystem):
    """A file system in which the entries of some names behave as a test wants."""

    def __init__(self, **entries: Callable[[DirEntry], DirEntry]) -> None:
        self._entries = entries

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        return [self._replaced(each) for each in super().scandir(path)]

    def _replaced(self, entry: DirEntry) -> DirEntry:
        replace = self._entries.get(entry.name.partition(b".")[0].decode())
        return replace(entry) if replace else entry


@pytest.mark.parametrize(
    "flags",
    [
        {"st_flags": 0x40000000},
        {"st_file_attributes": 0x1000},
        {"st_file_attributes": 0x40000},
        {"st_file_attributes": 0x400000 | 0x20},
    ],
)
def test_F6_placeholders_are_counted_and_never_fetched(
    tmp_path: Path, flags: dict[str, int]
) -> None:
    write(tmp_path, "a.md", "cloud.md", ".note.md.icloud", ".pic.png.icloud")
    fs = Replacing(
        cloud=lambda entry: Entry(
            entry, stat=lambda: Changed(entry.stat(follow_symlinks=False), **flags)
        )
    )
    found = walk(tmp_path, fs=fs)
    assert paths(found) == ["a.md"]
    names = ["cloud.md", ".note.md.icloud"]
    assert reasons(found) == dict.fromkeys(names, "not on this disk (cloud placeholder)")


def refuse() -> None:
    raise PermissionError(errno.EACCES, "Permission denied", b"/secret/path")


def vanish() -> None:
    raise FileNotFoundError(errno.ENOENT, "No such file or directory")


def test_F1_an_entry_that_cannot_be_looked_at_costs_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "bad.md", "gone.md", "odd/x.md")
    fs = Replacing(
        bad=lambda entry: Entry(entry, stat=refuse),
        gone=lambda entry: Entry(entry, stat=vanish),
        odd=lambda entry: Entry(entry, is_dir=refuse),
    )
    found = walk(tmp_path, fs=fs)
    assert paths(found) == ["a.md"]
    assert found.skipped == []
    assert sorted(found.unavailable, key=lambda each: each.path) == [
        Skipped(b"bad.md", "Permission denied"),
        Skipped(b"odd/", "Permission denied"),
    ]


class Refusing(FileSystem):
    """A file system in which one directory can't be listed."""

    def __init__(self, directory: bytes, error: OSError) -> None:
        self._directory = directory
        self._error = error

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        if path.rstrip(b"/").endswith(self._directory):
            raise self._error
        return super().scandir(path)


def test_D3_a_directory_that_cannot_be_listed_is_unavailable(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "d/b.md", "e/c.md")
    denied = PermissionError(errno.EACCES, "Permission denied", b"/a/path")
    found = walk(tmp_path, fs=Refusing(b"/d", denied))
    assert paths(found) == ["a.md", "e/c.md"]
    assert found.unavailable == [Skipped(b"d/", "Permission denied")]


def test_a_directory_that_is_gone_meanwhile_is_gone(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "d/b.md")
    gone = FileNotFoundError(errno.ENOENT, "No such file or directory")
    found = walk(tmp_path, fs=Refusing(b"/d", gone))
    assert paths(found) == ["a.md"]
    assert found.unavailable == []


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(errno.EACCES, "Permission denied"),
        FileNotFoundError(errno.ENOENT, "No such file or directory"),
        OSError(errno.EIO, "Input/output error"),
    ],
)
def test_D3_a_root_that_cannot_be_listed_is_an_error(tmp_path: Path, error: OSError) -> None:
    with pytest.raises(RootUnavailable, match=f"root r can't be read: {error.strerror}"):
        walk(tmp_path, fs=Refusing(os.fsencode(tmp_path), error))


def test_a_root_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(RootUnavailable, match="Not a directory"):
        walk(tmp_path / "a.md")


def test_large_files_are_taken_in_and_noted(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "big.md").write_bytes(b"x" * 1001)
    found = walk(tmp_path, Rules(max_file_bytes=1000))
    assert paths(found) == ["a.md", "big.md"]
    assert reasons(found) == {"big.md": "only its first 1,000 bytes are indexed"}


def test_of_too_many_files_the_first_by_path_count(tmp_path: Path) -> None:
    write(tmp_path, *(f"{name}.md" for name in "edcba"))
    found = walk(tmp_path, Rules(max_files=3))
    assert paths(found) == ["a.md", "b.md", "c.md"]
    beyond = "beyond the root's limit of 3 files"
    assert reasons(found) == {"d.md": beyond, "e.md": beyond}


def test_the_clock_is_read_before_the_first_directory(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "d/b.md")
    events = []

    class Noting(FileSystem):
        def now_ns(self) -> int:
            events.append("clock")
            return 7

        def scandir(self, path: bytes) -> Sequence[DirEntry]:
            events.append("directory")
            return super().scandir(path)

    assert walk(tmp_path, fs=Noting()).clock_ns == 7
    assert events == ["clock", "directory", "directory"]


def test_directories_with_nothing_in_them_are_known_with_their_device(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "d/only.txt")
    (tmp_path / "empty").mkdir()
    device = tmp_path.stat().st_dev
    assert walk(tmp_path).empty == {b"empty/": device}


def test_a_notice_of_git_is_passed_on(tmp_path: Path) -> None:
    root = Root("r", str(tmp_path))
    found = scan(root, FileSystem(), lambda _: Ignored(notice="git was not found"))
    assert found.notices == ["git was not found"]
