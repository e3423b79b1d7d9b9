"""The audit of a root: what it shows, and that it names the first link that does not hold."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from writing_support import Desk, tree

from index_cache.errors import IntegrityError, RootUnavailable
from recall.writing import audit
from recall.writing.auditchain import FIELDS, FIRST, line, verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DONE = {
    "t": "2026-11-30T08:00:00Z",
    "machine": "0123456789abcdef",
    "adapter": "claude",
    "command": "remember",
    "action": "create",
    "path": "memory/x.md",
    "from": None,
    "id": "r-1",
    "type": "memory",
    "before": None,
    "after": "a" * 64,
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def chain(count: int) -> list[bytes]:
    lines: list[bytes] = []
    for number in range(count):
        last = lines[-1][:-1] if lines else None
        lines.append(line({**DONE, "path": f"memory/{number}.md"}, last))
    return lines


def test_a_chain_holds_and_names_the_line_before() -> None:
    lines = chain(3)
    found, broken = verify(b"".join(lines), "0123456789abcdef")
    assert broken is None
    assert [each["n"] for each in found] == [1, 2, 3]
    assert [each["prev"] for each in found] == [FIRST, *(each["hash"] for each in found[:2])]
    assert found[0].keys() == FIELDS.keys()
    assert verify(b"", "x") == ([], None)


@pytest.mark.parametrize(
    ("spoil", "at", "why"),
    [
        (lambda lines: [lines[0], lines[2]], 2, "follow"),
        (lambda lines: lines[1:], 1, "follow"),
        (lambda lines: [lines[0], lines[2], lines[1]], 2, "follow"),
        (lambda lines: [*lines[:2], lines[1], lines[2]], 3, "follow"),
        (lambda lines: [lines[0], lines[1].replace(b"r-1", b"r-2"), lines[2]], 2, "changed"),
        (lambda lines: [lines[0], lines[1].replace(b"claude", b"person"), lines[2]], 2, "changed"),
        (lambda lines: [*lines[:2], b"\n", lines[2]], 3, "no line"),
        (lambda lines: [*lines, b"{}\n"], 4, "no line"),
        (lambda lines: [*lines, b"[" * 100_000 + b"\n"], 4, "no line"),
        (lambda lines: [lines[0], lines[1].replace(b",", b", ", 1), lines[2]], 2, "no line"),
        (lambda lines: [lines[0], lines[1].replace(b'"n":2', b'"n":"2"'), lines[2]], 2, "no line"),
        (lambda lines: [*lines[:2], lines[2][:-1]], 3, "complete"),
        (lambda lines: [*lines[:2], lines[2][:5]], 3, "complete"),
    ],
)
def test_the_first_link_that_does_not_hold_is_named(
    spoil: Callable[[list[bytes]], list[bytes]], at: int, why: str
) -> None:
    found, broken = verify(b"".join(spoil(chain(3))), "0123456789abcdef")
    assert broken is not None
    assert (broken.line, len(found)) == (at, at - 1)
    assert why in broken.why


def test_a_line_made_anew_with_a_right_hash_breaks_the_next_one() -> None:
    lines = chain(3)
    lines[1] = line({**DONE, "path": "memory/forged.md"}, lines[0][:-1])
    _, broken = verify(b"".join(lines), "0123456789abcdef")
    assert broken is not None
    assert broken.line == 3


def test_another_machines_lines_do_not_hold() -> None:
    _, broken = verify(b"".join(chain(1)), "f" * 16)
    assert broken is not None
    assert "another machine" in broken.why


def test_the_beginning_of_a_line_that_is_being_written_is_no_fault() -> None:
    lines = chain(2)
    data = lines[0] + lines[1][:-20]
    assert verify(data, "0123456789abcdef", pending=lines[1])[1] is None
    assert verify(data, "0123456789abcdef", pending=lines[0])[1] is not None


def test_what_was_written_is_shown_and_reading_it_writes_nothing(desk: Desk) -> None:
    assert desk.run("audit", "--root", str(desk.root)).stdout == "nothing was written here\n"
    desk.remember()
    desk.remember(text="More of it.")
    desk.propose(title="B", text="Another thing.")
    before = tree(desk.base)
    data = desk.run("audit", "--root", str(desk.root), "--json").data()
    assert tree(desk.base) == before
    assert [(each["action"], each["path"], each["adapter"]) for each in data["entries"]] == [
        ("create", "memory/deploy-keys.md", "claude"),
        ("append", "memory/deploy-keys.md", "claude"),
        ("create", "proposals/b.md", "codex"),
    ]
    assert data["entries"][1]["before"] == data["entries"][0]["after"]
    (machine,) = data["machines"]
    assert (machine["lines"], machine["holds"], machine["broken"]) == (3, True, None)
    assert len(machine["machine"]) == 16
    assert os.uname().nodename not in json.dumps(data["entries"])
    shown = desk.run("audit", "--root", str(desk.root), "-n", "1").stdout
    assert shown.splitlines()[0].endswith(
        f" · codex · create · proposals/b.md · {data['entries'][2]['id']}"
    )
    assert shown.splitlines()[1] == f"machine {machine['machine']}: 3 lines, holds"


def test_machines_have_a_file_each_and_a_broken_link_is_an_exit_status(desk: Desk) -> None:
    desk.remember()
    shutil.move(desk.home / ".local" / "state", desk.base / "kept")  # another machine
    desk.remember(title="B", text="Another thing.")
    desk.check_audit(2)
    assert len(audit.read(str(desk.root))) == 2
    for number, each in enumerate(sorted((desk.root / ".recall" / "audit").iterdir()), 1):
        each.write_bytes(each.read_bytes().replace(b'"type":"memory"', b'"type":"idea"'))
        done = desk.run("audit", "--root", str(desk.root), "--json")
        error = done.error()
        assert (done.status, error["code"]) == (2, "check_failed")
        first = min((desk.root / ".recall" / "audit").iterdir()) if number == 2 else each
        assert error["where"] == f"{first}:1"
        holds = [machine["holds"] for machine in json.loads(done.stdout)["data"]["machines"]]
        assert holds.count(False) == number
    shown = desk.run("audit", "--root", str(desk.root))
    assert shown.status == 2
    assert "1 lines" not in shown.stdout
    assert shown.stdout.count("does NOT hold") == 2
    assert shown.stderr.count("does not hold") == 2


@pytest.mark.parametrize("kind", ["symlink", "fifo", "directory"])
def test_one_odd_file_hides_none_of_the_others(desk: Desk, kind: str) -> None:
    desk.remember()
    odd = desk.root / ".recall" / "audit" / "ffffffffffffffff.jsonl"
    if kind == "symlink":
        odd.symlink_to("/etc/passwd")
    elif kind == "fifo":
        os.mkfifo(odd)
    else:
        odd.mkdir()
    done = desk.run("audit", "--root", str(desk.root), "--json")
    error = done.error()
    assert (done.status, error["code"], error["where"]) == (2, "check_failed", str(odd))
    data = json.loads(done.stdout)["data"]
    assert [each["path"] for each in data["entries"]] == ["memory/deploy-keys.md"]
    assert [each["holds"] for each in data["machines"]] == [True, False]
    assert data["machines"][1]["broken"]["line"] is None
    assert "1 line, holds" in desk.run("audit", "--root", str(desk.root)).stdout


def test_the_machines_id_is_made_once(desk: Desk) -> None:
    state = str(desk.home / "state")
    first = audit.machine_id(state)
    assert audit.machine_id(state) == first
    file = desk.home / "state" / "machine"
    assert file.stat().st_mode & 0o777 == 0o600
    for odd in (b"\xff odd", b"", b"a" * 1000):
        file.write_bytes(odd)
        with pytest.raises(IntegrityError, match="damaged") as caught:
            audit.machine_id(state)
        assert (caught.value.where, "move the file away" in (caught.value.hint or "")) == (
            str(file),
            True,
        )
    file.unlink()
    assert audit.machine_id(state) != first
    file.unlink()
    file.symlink_to("/etc/passwd")
    with pytest.raises(RootUnavailable):
        audit.machine_id(state)


def test_a_root_that_is_gone(desk: Desk) -> None:
    desk.root.rmdir()
    assert desk.run("audit", "--root", str(desk.root)).status == 3
    with pytest.raises(RootUnavailable):
        audit.read(str(desk.root))
