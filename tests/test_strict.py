"""Strict roots: whole and unambiguous, or nothing is answered (``spec/strict.md``)."""

from __future__ import annotations

import json
import os
import re
import socket
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import strict_support as support
from hypothesis import given
from hypothesis import strategies as st
from strict_support import GOOD, QUESTION, configure, found, refused, run, write

from index_cache import faults, strict
from index_cache.errors import CacheBusy, IntegrityError
from index_cache.files import FileSystem
from index_cache.locks import WriterLock
from index_cache.model import STRICT_BYTES, STRICT_FILES, STRICT_RECORDS, Root, Rules, Skipped
from index_cache.strict import Violation
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from strict_support import Output

    Plant = Callable[[Path], None]

SPEC = Path(__file__).parent.parent / "spec"


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    """Give a strict root with one note that is good."""
    directory = tmp_path / "r"
    write(directory / "good.md", GOOD)
    configure(home, r={"path": str(directory), "strict": True, "jsonl": True})
    return directory


def _note(text: str | bytes, name: str = "sub/bad.md") -> Plant:
    return lambda root: _ignore(write(root / name, text))


def _ignore(_: object) -> None:
    return None


def _meta(*lines: str) -> Plant:
    return _note("\n".join(["---", "title: Bad", *lines, "---", "Text.", ""]))


def _link(name: str, target: str) -> Plant:
    def plant(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(target)

    return plant


def _lines(*lines: object) -> Plant:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    return _note("\n".join(texts), "log.jsonl")


def _socket(root: Path) -> None:
    here = os.getcwd()
    os.chdir(root)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("talk.md")
    finally:
        os.chdir(here)


def _forged(root: Path) -> None:
    write(root / "plain.md", "Text.\n")
    write(root / "z.md", f"---\nid: path:{sha256(b'plain.md').hexdigest()[:16]}\n---\nText.\n")


# What is planted; then path, line and kind of the one violation that it is.
PLANTED: dict[str, tuple[Plant, tuple[str, int | None, str]]] = {
    "link to a note": (_link("a.md", "good.md"), ("a.md", None, "symlink")),
    "link to a directory": (_link("d", "/etc"), ("d", None, "symlink")),
    "link to nothing": (_link("x.txt", "gone"), ("x.txt", None, "symlink")),
    "link with a name that is skipped": (
        _link("node_modules", "/etc"),
        ("node_modules", None, "symlink"),
    ),
    "link below": (_link("sub/.hidden", "../good.md"), ("sub/.hidden", None, "symlink")),
    "same id": (_note(GOOD, "x/other.md"), ("x/other.md", None, "duplicate")),
    "id of a path": (_forged, ("z.md", None, "duplicate")),
    **{
        f"time in {key}": (_meta("", f"{key}: yesterday"), ("sub/bad.md", 4, "time"))
        for key in ("created", "date", "updated", "modified", "valid_from", "valid_until")
    },
    "time in stale_after": (_meta("stale_after: 2026-13-01"), ("sub/bad.md", 3, "time")),
    "time below a key": (_meta("generated:", "  at: soon"), ("sub/bad.md", 4, "time")),
    "time that is a list": (_meta("created: [2026-01-01]"), ("sub/bad.md", 3, "time")),
    "time that is null": (_meta("valid_until: null"), ("sub/bad.md", 3, "time")),
    "control character in the metadata": (_meta("x: a\x07b"), ("sub/bad.md", 3, "control")),
    "delete in the metadata": (_meta("x: a\x7fb"), ("sub/bad.md", 3, "control")),
    "escape sequence in the body": (_note("a\nb \x1b[2J\n"), ("sub/bad.md", 2, "control")),
    "form feed": (_note("a\n\fb\n"), ("sub/bad.md", 2, "control")),
    "C1": (_note("a\n\nb \x9b\n"), ("sub/bad.md", 3, "control")),
    "one NUL": (_note("a" * 40 + "\n\0\n"), ("sub/bad.md", 2, "control")),
    "override in the metadata": (_meta("x: a\u202eb"), ("sub/bad.md", 3, "control")),
    "isolate in the metadata": (_meta("x: a\u2066b"), ("sub/bad.md", 3, "control")),
    "control character as an escape": (_meta('x: "a\\x07b"'), ("sub/bad.md", 3, "control")),
    "override as an escape": (_meta("y: 1", 'x: "a\\u202Eb"'), ("sub/bad.md", 4, "control")),
    "stray byte": (_note(b"caf\xe9 one\ntwo caf\xe9\n"), ("sub/bad.md", 1, "encoding")),
    "UTF-16": (_note("Text.\n".encode("utf-16")), ("sub/bad.md", 1, "encoding")),
    "half a character": (_note("Text \u00e9\n\u00e9".encode()[:-1]), ("sub/bad.md", 2, "encoding")),
    "no text": (_note(b"\0\1\2" * 99), ("sub/bad.md", None, "encoding")),
    "YAML that is refused": (_meta("x: 'open"), ("sub/bad.md", 4, "metadata")),
    "a colon too many": (_meta("y: 1", "x: a: b"), ("sub/bad.md", 4, "metadata")),
    "a template": (_note("---\n{{date}}\n---\nText.\n"), ("sub/bad.md", 2, "metadata")),
    "a block never closed": (
        _note("---\nvalid_until: 2020\nText.\n"),
        ("sub/bad.md", 1, "metadata"),
    ),
    "a block too long": (_meta("x: " + "y" * 131_072), ("sub/bad.md", 2, "metadata")),
    "a line that is no record": (
        _lines({"id": "L1", "text": "One."}, "no JSON", [1]),
        ("log.jsonl", 2, "record"),
    ),
    "a line that is not UTF-8": (_note(b"{}\n\xff\n", "log.jsonl"), ("log.jsonl", 2, "record")),
    "one id on two lines": (
        _lines({"id": "L1"}, {"id": "L2"}, {"id": "L1"}),
        ("log.jsonl", 3, "duplicate"),
    ),
    "the id of a note on a line": (
        _lines({"id": "L1"}, {"id": "GOOD"}),
        ("log.jsonl", 2, "duplicate"),
    ),
    "time on a line": (
        _lines({}, {"created": "soon"}, {"created": "late"}),
        ("log.jsonl", 2, "time"),
    ),
    "time below a key of a line": (
        _lines({"generated": {"at": "soon"}}),
        ("log.jsonl", 1, "time"),
    ),
    "time stamp of a line": (_lines({"timestamp": "soon"}), ("log.jsonl", 1, "time")),
    "an id that is too long": (_meta("x: 1", f"id: {'i' * 4_001}"), ("sub/bad.md", 4, "metadata")),
    "an id that is too long on a line": (
        _lines({"id": "i" * 4_001}),
        ("log.jsonl", 1, "metadata"),
    ),
    "a number for a time": (_lines({"valid_until": 1.5}), ("log.jsonl", 1, "time")),
    "control character on a line": (_lines({"text": "a\x1bb"}), ("log.jsonl", 1, "control")),
    "NUL on a line": (_lines({}, {"text": "a\0b"}), ("log.jsonl", 2, "control")),
    "control character deep in a line": (
        _lines({"a": [{"b": "\x7f"}]}),
        ("log.jsonl", 1, "control"),
    ),
    "override in the title of a line": (_lines({"title": "\u202e"}), ("log.jsonl", 1, "control")),
    "no regular file": (_socket, ("talk.md", None, "unavailable")),
}


@pytest.mark.parametrize("name", PLANTED)
def test_one_violation_costs_all_answers_until_it_is_mended(
    name: str, root: Path, capfdbinary: Output
) -> None:
    plant, (path, line, kind) = PLANTED[name]
    assert found(capfdbinary) == ["good.md"]
    before = set(root.rglob("*"))
    plant(root)
    error = refused(capfdbinary, "search", QUESTION)
    assert error["where"] == f"{root}/{path}" + (f":{line}" if line else "")
    assert error["message"].startswith("strict root r is refused: a violation")
    assert strict.HINTS[kind] in error["hint"]
    assert support.violations(capfdbinary) == [(path, line, kind)]
    for command in (["search", QUESTION, "--no-refresh"], ["refresh"], ["rebuild"]):
        assert refused(capfdbinary, *command) == error
    assert refused(capfdbinary, "rebuild", "--check") == error
    for each in sorted({*root.rglob("*")} - before, reverse=True):
        each.rmdir() if each.is_dir() and not each.is_symlink() else each.unlink()
    assert refused(capfdbinary, "search", QUESTION, "--no-refresh") == error
    assert found(capfdbinary) == ["good.md"]
    assert support.violations(capfdbinary) == []
    assert run(capfdbinary, "rebuild")[0] == 0


@pytest.mark.parametrize("name", PLANTED)
def test_nothing_is_checked_where_a_root_is_not_strict(
    name: str, root: Path, home: Path, capfdbinary: Output
) -> None:
    configure(home, r={"path": str(root), "jsonl": True})
    PLANTED[name][0](root)
    assert "good.md" in found(capfdbinary)
    assert run(capfdbinary, "status")[1]["data"]["roots"][0]["violations"] is None


GOODS = [
    "",
    "\ufeff# Title\r\n\tText\u200e.\r\n",
    "---\n---\nText.\n",
    "---\n# only a comment\n---\nText.\n",
    "---\n\nA rule, and no block.\n",
    "---\n\nprose: with a colon\n\n---\n",
    "---\ncreated:\nmodified: 2026-01-01T10:00:00+02:00\nupdated: 2026-01-01 10:00\n---\n",
    "---\ntitle: مرحبا\u200f (RTL)\n---\nA body may have \u202ean override\u202c.\n",
    "---\nx: |\n  two\n  lines\n---\n",
    "<private>\x07 created: soon</private>\nText.\n",
    "---\ntimestamp: of no meaning in a note\n---\n",
    "---\ntitle: a\nprivate: true\ncreated: soon\n---\n\x07\n",
]


@pytest.mark.parametrize("text", GOODS)
def test_what_is_no_violation(text: str, root: Path, capfdbinary: Output) -> None:
    write(root / "other.md", text)
    assert "good.md" in found(capfdbinary)
    assert support.violations(capfdbinary) == []


GOOD_LINES = [
    "",
    "\ufeff{}\r\n\n{}\n",
    json.dumps({"text": "An override \u202e in a body\n\tof two lines.", "created": None}),
    json.dumps({"text": "A path: C:\\u0000", "created": "2026-01-01", "date": ""}),
    json.dumps({"private": True, "created": "soon", "text": "\x07"}),
    json.dumps({"text": "<private>\x07</private> the rest"}),
]


@pytest.mark.parametrize("text", GOOD_LINES)
def test_lines_that_are_no_violation(text: str, root: Path, capfdbinary: Output) -> None:
    write(root / "log.jsonl", text)
    assert "good.md" in found(capfdbinary)
    assert support.violations(capfdbinary) == []


def test_a_line_that_changes_before_it_is_shown_is_checked_again(root: Path) -> None:
    log = write(root / "log.jsonl", json.dumps({"id": "L", "text": "The kestrel feeder."}) + "\n")
    (root / "good.md").unlink()
    bad = json.dumps({"id": "M", "created": "soon"})
    for line, fails in (("{}", False), (bad, True)):
        now = log.read_text() + line + "\n"
        fs = Planting(lambda now=now: _ignore(log.write_text(now)))  # type: ignore[misc]
        with service(root, fs, jsonl=True) as recall:
            recall.refresh()
            fs.armed = True
            if fails:
                with pytest.raises(IntegrityError) as told:
                    recall.answer(QUESTION, refresh=False)
                assert told.value.where == f"{root}/log.jsonl:3"
            else:
                assert recall.answer(QUESTION, refresh=False).cards


def test_all_violations_are_listed_and_the_first_is_told(root: Path, capfdbinary: Output) -> None:
    write(root / "b.md", "---\nid: GOOD\ncreated: x\nupdated: y\n---\n\x07\n\x07\n")
    (root / "a.md").symlink_to("b.md")
    error = refused(capfdbinary, "search", QUESTION)
    assert "5 violations, the first: a.md: symlink" in error["message"]
    assert error["where"] == f"{root}/a.md"
    assert support.violations(capfdbinary) == [
        ("a.md", None, "symlink"),
        ("b.md", 3, "time"),
        ("b.md", 4, "time"),
        ("b.md", 6, "control"),
        ("good.md", None, "duplicate"),
    ]
    for number in range(30):
        (root / f"l{number}").symlink_to("b.md")
    assert "35 violations" in refused(capfdbinary, "refresh")["message"]
    assert len(support.violations(capfdbinary)) == 20
    assert len(support.violations(capfdbinary, "--skipped")) == 35


def test_what_people_are_told(root: Path, capfdbinary: Output) -> None:
    from recall.cli import main

    (root / "a\x1b[2J").symlink_to("b.md")
    assert main(["search", QUESTION]) == 4
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert b"\x1b" not in err
    assert err.startswith(b"error: strict root r is refused: a violation: a")
    assert b"\nhint: " in err
    assert main(["status"]) == 0
    out, err = capfdbinary.readouterr()
    assert b"  refused, since it is strict: 1 violation\n" in out
    assert b"  last failure: " in out
    assert b"\x1b" not in out
    (root / "a\x1b[2J").unlink()
    assert main(["refresh", "--quiet"]) == 0
    assert main(["status"]) == 0
    out, err = capfdbinary.readouterr()
    assert b"refused" not in out


# Limits: at, below, above


@pytest.mark.parametrize(("files", "over"), [(3, 0), (4, 0), (5, 1), (7, 3)])
def test_the_limit_of_files(
    files: int, over: int, root: Path, home: Path, capfdbinary: Output
) -> None:
    configure(home, r={"path": str(root), "strict": True, "max_files": 4})
    for number in range(files - 1):
        write(root / f"h{number}.md", "Text.\n")
    if not over:
        assert found(capfdbinary) == ["good.md"]
        return
    error = refused(capfdbinary, "search", QUESTION)
    lie = "1 file lies" if over == 1 else f"{over} files lie"
    assert error["message"].endswith(f": {lie} beyond the root's limit of 4 files")
    assert error["where"] == str(root)
    assert support.violations(capfdbinary) == [(".", None, "limit")]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_limit_of_one_file(more: int, root: Path, home: Path, capfdbinary: Output) -> None:
    configure(home, r={"path": str(root), "strict": True, "max_file_bytes": 200})
    write(root / "big.md", "x" * (200 + more))
    if more <= 0:
        assert found(capfdbinary) == ["good.md"]
    else:
        assert refused(capfdbinary, "search", QUESTION)["where"] == f"{root}/big.md"
        assert support.violations(capfdbinary) == [("big.md", None, "limit")]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_limit_of_all_files(more: int, root: Path, home: Path, capfdbinary: Output) -> None:
    configure(home, r={"path": str(root), "strict": True, "max_bytes": 1000})
    write(root / "z.md", "x" * (1000 - len(GOOD) + more))
    if more <= 0:
        assert found(capfdbinary) == ["good.md"]
    else:
        message = refused(capfdbinary, "search", QUESTION)["message"]
        assert message.endswith(": 1 file lies beyond the root's limit of 1,000 bytes")


@pytest.mark.parametrize("records", [2, 3, 4])
@pytest.mark.parametrize("lines", [True, False])
def test_the_limit_of_records(
    lines: bool, records: int, root: Path, home: Path, capfdbinary: Output
) -> None:
    configure(home, r={"path": str(root), "strict": True, "max_records": 3, "jsonl": True})
    for number in range(records - 1):
        if lines:
            write(root / "log.jsonl", "{}\n" * (number + 1))
        else:
            write(root / f"h{number}.md", "Text.\n")
    if records <= 3:
        assert found(capfdbinary) == ["good.md"]
    else:
        message = refused(capfdbinary, "search", QUESTION)["message"]
        assert message.endswith(": 4 records, and the limit is 3")


def test_the_limits_unless_the_rules_say_others() -> None:
    assert Rules().max_files == 200_000
    rules = Rules(strict=True)
    assert (rules.max_files, rules.max_bytes, rules.max_records) == (
        STRICT_FILES,
        STRICT_BYTES,
        STRICT_RECORDS,
    )
    page = (SPEC / "strict.md").read_text(encoding="utf-8")
    assert f"`max_files` is {STRICT_FILES:,} in a strict root" in page
    assert f"`max_bytes` {STRICT_BYTES >> 20} MiB" in page
    assert f"`max_records` {STRICT_RECORDS:,}" in page
    assert Rules(strict=True, max_files=20_000).withholding(()).max_files == 20_000
    assert Rules(strict=True, max_records=1).withholding(()) != Rules(strict=True)


def test_limits_of_strict_roots_alone_are_told_to_have_no_effect(
    root: Path, home: Path, capfdbinary: Output
) -> None:
    configure(home, r={"path": str(root), "max_bytes": 1})
    _, envelope = run(capfdbinary, "search", QUESTION)
    assert any("max_bytes" in each["message"] for each in envelope["data"]["notices"])


# Private notes


def test_what_is_private_is_counted_and_not_named(
    root: Path, home: Path, capfdbinary: Output
) -> None:
    configure(home, r={"path": str(root), "strict": True, "private": ["hidden/"]})
    write(root / "hidden/x.md", "---\nid: GOOD\ncreated: soon\n---\n\x07\n")
    assert found(capfdbinary) == ["good.md"]
    private = ["hidden/", "*.key.md"]
    configure(home, r={"path": str(root), "strict": True, "private": private})
    (root / "deep").mkdir()
    (root / "deep/secret.key.md").symlink_to("/etc/passwd")
    error = refused(capfdbinary, "search", QUESTION)
    assert "secret" not in json.dumps(error)
    assert "a private file" in error["message"]
    assert support.violations(capfdbinary) == [(None, None, "symlink")]


# Several roots


def test_a_strict_root_that_fails_costs_a_search_of_others_too(
    root: Path, home: Path, tmp_path: Path, capfdbinary: Output
) -> None:
    write(tmp_path / "lax/note.md", "# A kestrel feeder of wood\n")
    configure(home, r={"path": str(root), "strict": True}, lax={"path": str(tmp_path / "lax")})
    assert sorted(found(capfdbinary)) == ["good.md", "note.md"]
    (root / "link").symlink_to("good.md")
    assert refused(capfdbinary, "search", QUESTION)["where"] == f"{root}/link"
    assert found(capfdbinary, "--root", "lax") == ["note.md"]


def test_ids_are_compared_across_strict_roots(
    root: Path, home: Path, tmp_path: Path, capfdbinary: Output
) -> None:
    other = tmp_path / "s"
    write(other / "good.md", "---\nid: OTHER\n---\n# Another kestrel feeder\n")
    write(root / "same.md", "Text.\n")
    write(other / "same.md", "Text of another.\n")  # the hash of its path is no id of its own
    both: dict[str, dict[str, object]] = {
        "r": {"path": str(root), "strict": True},
        "s": {"path": str(other), "strict": True},
    }
    configure(home, **both)
    assert found(capfdbinary) == ["good.md", "good.md"]
    write(other / "good.md", "---\nid: GOOD\n---\n# Another kestrel feeder\n")
    error = refused(capfdbinary, "search", QUESTION)
    assert error["where"] == f"{root}/good.md"
    assert error["message"].endswith("good.md: its id is that of good.md in root s as well")
    assert refused(capfdbinary, "search", QUESTION, "--no-refresh") == error
    assert refused(capfdbinary, "refresh") == error
    assert found(capfdbinary, "--root", "s") == ["good.md"]
    both["s"] = {"path": str(other)}
    configure(home, **both)
    assert found(capfdbinary) == ["good.md", "good.md"]


def test_one_file_in_two_strict_roots_is_no_duplicate(
    root: Path, home: Path, capfdbinary: Output
) -> None:
    write(root / "in/note.md", "---\nid: IN\n---\n# Inner kestrel feeder\n")
    inner = {"path": str(root / "in"), "strict": True}
    configure(home, r={"path": str(root), "strict": True}, inner=inner)
    assert sorted(found(capfdbinary)) == ["good.md", "note.md"]


@pytest.mark.parametrize("strict_one", ["outer", "inner"])
def test_a_root_inside_another(
    strict_one: str, root: Path, home: Path, capfdbinary: Output
) -> None:
    write(root / "in/note.md", "# Inner kestrel feeder\n")
    roots: dict[str, dict[str, object]] = {
        "outer": {"path": str(root)},
        "inner": {"path": str(root / "in")},
    }
    roots[strict_one]["strict"] = True
    configure(home, **roots)
    assert sorted(found(capfdbinary)) == ["good.md", "note.md"]
    (root / "link").symlink_to("good.md")
    if strict_one == "outer":
        refused(capfdbinary, "search", QUESTION)
        (root / "link").unlink()
    assert sorted(found(capfdbinary)) == ["good.md", "note.md"]
    write(root / "in/bad.md", "\x07")
    error = refused(capfdbinary, "search", QUESTION)
    assert error["where"] == f"{root}/in/bad.md:1"


def test_a_strict_root_that_is_not_there_ends_the_command(
    home: Path, tmp_path: Path, capfdbinary: Output
) -> None:
    write(tmp_path / "lax/note.md", "# A kestrel feeder of wood\n")
    gone = {"path": str(tmp_path / "gone"), "strict": True}
    configure(home, gone=gone, lax={"path": str(tmp_path / "lax")})
    for command in (["search", QUESTION], ["refresh"], ["rebuild"]):
        assert refused(capfdbinary, *command)["where"] == str(tmp_path / "gone")
    _, envelope = run(capfdbinary, "status")
    assert [left["name"] for left in envelope["data"]["left_out"]] == ["gone"]
    assert found(capfdbinary, "--root", "lax") == ["note.md"]


# What can't be looked at, and what changes meanwhile


class Failing(FileSystem):
    """Fails where it is told to, as a disk or permissions do; root may read everything."""

    def __init__(self, name: bytes, error: OSError) -> None:
        self.name = name
        self.error = error

    def scandir(self, path: bytes) -> list[os.DirEntry[bytes]]:
        if path.rstrip(b"/").endswith(self.name):
            raise self.error
        return list(super().scandir(path))  # type: ignore[arg-type]

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        if path.endswith(self.name):
            raise self.error
        return super().read(path, limit)


def service(root: Path, fs: FileSystem | None = None, **rules: object) -> Recall:
    found = Root("r", str(root), Rules(strict=True, **rules))  # type: ignore[arg-type]
    return Recall([found], fs=fs)


@pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(5, "broken disk")])
@pytest.mark.parametrize("name", [b"sub", b"bad.md"])
def test_what_can_not_be_read_is_a_violation(root: Path, error: OSError, name: bytes) -> None:
    write(root / "sub/bad.md", "Text.\n")
    with service(root, Failing(name, error)) as recall, pytest.raises(IntegrityError) as told:
        recall.search(QUESTION)
    assert str(error.strerror) in told.value.message
    assert str(told.value.where).startswith(f"{root}/sub")


def test_notes_that_vanish_with_their_root_are_a_violation(root: Path, capfdbinary: Output) -> None:
    assert found(capfdbinary) == ["good.md"]
    (root / "good.md").unlink()
    error = refused(capfdbinary, "search", QUESTION)
    assert "the root shows no notes" in error["message"]
    assert run(capfdbinary, "refresh", "--prune")[0] == 0
    assert found(capfdbinary) == []


class Planting(FileSystem):
    """Does something once, when a note is about to be looked at before it is shown."""

    def __init__(self, do: Callable[[], None]) -> None:
        self.do: Callable[[], None] | None = do
        self.armed = False

    def is_below(self, directory: bytes, top: bytes) -> bool:
        if self.armed and self.do is not None:
            do, self.do = self.do, None
            do()
        return super().is_below(directory, top)


def _swap_for_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


CHANGES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "a link in its place": (lambda root: _swap_for_link(root / "sub/n.md"), "unavailable"),
    "a link on the way": (lambda root: _swap_for_link(root / "sub"), "escape"),
    "a control character": (_note("# The kestrel feeder\n\n\x07\n", "sub/n.md"), "control"),
    "no text": (_note(b"\0" * 99, "sub/n.md"), "encoding"),
    "too long": (_note("kestrel feeder " * 99, "sub/n.md"), "limit"),
    "another id": (_note("---\nid: NEW\n---\nkestrel feeder\n", "sub/n.md"), None),
    "private": (_note("---\nprivate: 1\ncreated: x\n---\nkestrel feeder\n", "sub/n.md"), None),
    "gone": (lambda root: (root / "sub/n.md").unlink(), None),
    "edited": (_note("# The kestrel feeder\n\nanew\n", "sub/n.md"), ""),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_note_that_changes_before_it_is_shown_is_checked_again(name: str, root: Path) -> None:
    change, kind = CHANGES[name]
    write(root / "sub/n.md", "# The kestrel feeder\n\nText.\n")
    (root / "good.md").unlink()
    fs = Planting(lambda: change(root))
    with service(root, fs, max_file_bytes=400) as recall:
        recall.refresh()
        fs.armed = True
        if kind:
            with pytest.raises(IntegrityError) as told:
                recall.answer(QUESTION, refresh=False)
            assert f"{root}/sub/n.md" in str(told.value.where)
            assert strict.HINTS[kind] in str(told.value.hint)
        else:
            cards = recall.answer(QUESTION, refresh=False).cards
            assert [card.path for card in cards] == (["sub/n.md"] if kind == "" else [])
    assert fs.do is None


class Racing(FileSystem):
    """Puts a symlink in a directory's place when that has been listed, or is about to be."""

    def __init__(self, directory: Path, *, before: bool) -> None:
        self.directory = directory
        self.before = before
        self.done = False

    def scandir(self, path: bytes) -> list[os.DirEntry[bytes]]:
        mine = path.rstrip(b"/") == os.fsencode(self.directory) and not self.done
        if mine and self.before:
            self.swap()
        listing = list(super().scandir(path))
        if mine and not self.before:
            self.swap()
        return listing  # type: ignore[return-value]

    def swap(self) -> None:
        self.done = True
        _swap_for_link(self.directory)


@pytest.mark.parametrize("before", [True, False])
def test_a_link_planted_during_the_scan_is_not_followed(*, before: bool, root: Path) -> None:
    write(root / "sub/n.md", "# The kestrel feeder\n\nText.\n")
    fs = Racing(root / "sub", before=before)
    with service(root, fs) as recall, pytest.raises(IntegrityError) as told:
        recall.search(QUESTION)
    assert fs.done
    assert "real path lies outside" in told.value.message
    with service(root) as recall, pytest.raises(IntegrityError):
        recall.search(QUESTION)


def test_a_link_to_what_has_no_notes_is_noticed_during_the_scan(root: Path) -> None:
    write(root / "sub/x.txt", "Text.\n")
    with service(root, Racing(root / "sub", before=True)) as recall:
        (report,) = recall.refresh()
    assert [each.kind for each in report.violations or ()] == ["escape"]


class Late(Racing):
    """Puts the symlink there once the scan has seen that there is none."""

    def scandir(self, path: bytes) -> list[os.DirEntry[bytes]]:
        return list(FileSystem.scandir(self, path))  # type: ignore[arg-type]

    def is_below(self, directory: bytes, top: bytes) -> bool:
        below = super().is_below(directory, top)
        if directory.rstrip(b"/") == os.fsencode(self.directory) and not self.done:
            self.swap()
        return below


def test_a_link_planted_after_the_scan_is_not_followed(root: Path) -> None:
    write(root / "sub/n.md", "# The kestrel feeder\n\nText.\n")
    with service(root, Late(root / "sub", before=False)) as recall:
        (report,) = recall.refresh()
    assert (b"sub/n.md", "escape") in [(each.path, each.kind) for each in report.violations or ()]


def test_a_root_whose_own_path_has_become_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    with service(tmp_path / "alias") as recall, pytest.raises(IntegrityError) as told:
        recall.search(QUESTION)
    assert told.value.where == str(tmp_path / "alias")


def test_no_view_is_to_be_had_of_a_refused_root(root: Path) -> None:
    (root / "link").symlink_to("good.md")
    with service(root) as recall:
        recall.refresh()
        (opened,) = recall._opened
        with pytest.raises(IntegrityError):
            assert opened.view
        (root / "link").unlink()
        recall.refresh()
        assert opened.view is not None


def test_what_a_private_span_hides_of_an_encoding_is_asked_each_time(root: Path) -> None:
    note = "<private>x</private>\nText.\n"
    write(root / "n.md", note.encode("utf-16"))
    with service(root) as recall:
        (report,) = recall.refresh()
        assert [each.kind for each in report.violations or ()] == ["encoding"]
        write(root / "n.md", note)
        (report,) = recall.refresh()
        assert report.violations == []
        write(root / "n.md", note.encode("utf-16"))
        (report,) = recall.refresh()
        assert [each.kind for each in report.violations or ()] == ["encoding"]


def test_another_writer_does_not_make_a_violation_pass(root: Path, capfdbinary: Output) -> None:
    assert found(capfdbinary) == ["good.md"]
    with service(root) as recall:
        recall.refresh()
        (report,) = recall.refresh()
        (root / "link").symlink_to("good.md")
        with WriterLock(report.cache_file) as lock:
            assert lock.acquire(0)
            with pytest.raises(IntegrityError):
                recall.answer(QUESTION)
            (root / "link").unlink()
            assert recall.answer(QUESTION).cards


def test_a_cache_that_is_being_made_is_busy_and_no_violation(root: Path) -> None:
    with service(root) as recall:
        (report,) = recall.refresh()
        path = str(report.cache_file)
    os.unlink(path)
    with service(root) as recall, WriterLock(path) as lock:
        assert lock.acquire(0)
        with pytest.raises(CacheBusy):
            recall.answer(QUESTION, wait=0)


def test_rows_whose_refresh_was_killed_are_counted_anew(root: Path) -> None:
    write(root / "other.md", "# Another kestrel\n")
    with service(root) as recall, pytest.MonkeyPatch.context() as patch:
        assert recall.answer(QUESTION).cards
        (root / "other.md").write_text(GOOD)
        patch.setattr("index_cache.verdict.keep", _killed)
        with pytest.raises(KeyboardInterrupt):
            recall.answer(QUESTION)
        with pytest.raises(IntegrityError):
            recall.answer(QUESTION, refresh=False)


def _killed(_: object) -> None:
    raise KeyboardInterrupt


# The words


def test_problems_are_told_and_read_back() -> None:
    listed = [(3, "time", "created is no date or time"), (7, "control", "2 of them: U+0007")]
    problem = strict.told(listed)
    assert problem is not None
    assert strict.parsed(b"a.md", problem) == [Violation(b"a.md", *each) for each in listed]
    assert strict.told([]) is None
    (generic,) = strict.parsed(b"a.md", "unreadable: Permission denied")
    assert (generic.kind, generic.line) == ("unavailable", None)
    assert strict.parsed(b"a", "line x: time: y")[0].kind == "unavailable"


def test_the_page_has_every_kind_and_every_key() -> None:
    page = (SPEC / "strict.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(strict.HINTS)
    schema = json.loads((SPEC / "schema/status.json").read_text(encoding="utf-8"))
    kinds = json.dumps(schema["$defs"]["root"]["properties"]["violations"])
    assert all(f'"{kind}"' in kinds for kind in strict.HINTS)
    (row,) = (line for line in page.split("\n") if line.startswith("| `time`"))
    assert set(re.findall(r"`([\w.]+)`", row)) == {"time", *faults.LINE_TIMES}


@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_have_faults_that_are_told_and_read_back(data: bytes) -> None:
    from index_cache.text import NotText

    try:
        listed = faults.faults(data)
    except NotText:
        return
    lines = data.count(b"\n") + 1 if data[:2] not in {b"\xff\xfe", b"\xfe\xff"} else len(data)
    assert all(1 <= line <= lines for line, _, _ in listed)
    listed += faults.of_lines(data)
    problem = strict.told(listed)
    if problem is not None:
        assert strict.parsed(b"p", problem) == [Violation(b"p", *each) for each in listed]


@given(st.lists(st.tuples(st.binary(max_size=5), st.text(max_size=40))))
def test_what_a_scan_left_out_is_judged_whatever_it_says(notes: list[tuple[bytes, str]]) -> None:
    left = [Skipped(*each) for each in notes]
    assert len(strict.seen((), left)) == len(left)
    assert all(each.kind in strict.HINTS for each in strict.seen(left, left))


# A model: a random tree with random violations is refused exactly if it has one

CLEAN = ["# Kestrel {n}\n", "---\nid: N{n}\ncreated: 2026-01-0{d}\n---\nkestrel {n}\n", ""]


@given(
    st.lists(
        st.tuples(st.sampled_from(["", "a/", "a/b/", "c/"]), st.sampled_from(CLEAN)), max_size=6
    ),
    st.sets(st.sampled_from(sorted(PLANTED)), max_size=2),
)
def test_a_tree_is_refused_exactly_if_something_is_wrong(
    tmp_path_factory: pytest.TempPathFactory, notes: list[tuple[str, str]], wrong: set[str]
) -> None:
    top = tmp_path_factory.mktemp("tree") / "r"
    write(top / "good.md", GOOD)
    for number, (place, text) in enumerate(notes):
        write(top / f"{place}n{number}.md", text.format(n=number, d=number + 1))
    expected = set()
    for name in sorted(wrong):
        plant, (path, _, kind) = PLANTED[name]
        if not (top / path).exists():
            plant(top)
            expected.add((path, kind))
    given_root = Root("r", str(top), Rules(strict=True, jsonl=True))
    with Recall([given_root], cache_dir=str(top.parent / "cache")) as recall:
        for _ in range(2):
            (report,) = recall.refresh()
            told = {(os.fsdecode(each.path or b""), each.kind) for each in report.violations or ()}
            assert told == expected
            assert (report.failure is None) == (not wrong)
            if wrong:
                with pytest.raises(IntegrityError):
                    recall.answer("kestrel")
            else:
                recall.answer("kestrel")
