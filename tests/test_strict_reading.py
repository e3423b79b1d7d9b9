"""Strict roots and what reads records: all of it is refused, or none (``spec/strict.md``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from strict_support import GOOD, configure, refused, run, write
from test_strict import CHANGES, Planting, service

from index_cache import strict
from index_cache.errors import IntegrityError, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from strict_support import Output

COMMANDS = {
    "get": ["get", "GOOD"],
    "timeline": ["timeline", "--anchor", "GOOD"],
    "timeline of a date": ["timeline", "--anchor", "2026-01-01"],
    "export": ["export", "GOOD"],
    "expand": ["search", "kestrel", "--expand", "GOOD"],
    "cards": ["search", "kestrel", "--cards", "--page", "1"],
}


@pytest.fixture
def root(tmp_path: Path, home: Path) -> Path:
    directory = tmp_path / "r"
    write(directory / "good.md", GOOD)
    write(directory / "sub/other.md", "---\nid: OTHER\ncreated: 2026-01-02\n---\nText.\n")
    configure(home, r={"path": str(directory), "strict": True})
    return directory


@pytest.mark.parametrize("name", COMMANDS)
def test_one_violation_costs_what_reads_records(name: str, root: Path, capfdbinary: Output) -> None:
    command = COMMANDS[name]
    assert run(capfdbinary, *command)[0] == 0
    other = root / "sub/other.md"
    before = other.read_text()
    other.write_text(before.replace("2026-01-02", "20260-01-2"))  # in place: no directory changes
    error = refused(capfdbinary, *command)
    assert error["where"] == f"{root}/sub/other.md:3"
    other.write_text(before)
    assert run(capfdbinary, *command)[0] == 0
    (root / "link").symlink_to("good.md")
    assert refused(capfdbinary, *command)["where"] == f"{root}/link"
    (root / "link").unlink()
    assert run(capfdbinary, *command)[0] == 0


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in {"edited", "another id"}])
def test_a_record_that_changes_before_it_is_given_is_checked_again(name: str, root: Path) -> None:
    change, kind = CHANGES[name]
    write(root / "sub/n.md", "---\nid: N\n---\n# The kestrel feeder\n\nText.\n")
    fs = Planting(lambda: change(root))
    with service(root, fs, max_file_bytes=400) as recall:
        recall.refresh()
        fs.armed = True
        expected: type[Exception] = IntegrityError if kind else NotFound
        with pytest.raises(expected) as told:
            recall.get("N")
        if kind:
            assert f"{root}/sub" in str(told.value.where)  # type: ignore[attr-defined]
            assert any(hint in str(told.value.hint) for hint in strict.HINTS.values())  # type: ignore[attr-defined]
