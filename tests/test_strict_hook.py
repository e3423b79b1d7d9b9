"""The prompt hook and strict roots: a refused one is silent, the others answer (H3, H6)."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
import strict_support
from hook_support import (
    KESTREL,
    KEYS,
    NOTES,
    TITLE,
    ask,
    event,
    fault,
    hold_off,
    hook,
    index,
    last_log,
    no_fault,
    settle,
    start,
    write,
)

from recall.call import Call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LAX = {"other.md": "# The kestrel feeder of the neighbours\n\nThe kestrel feeder drops seeds.\n"}


@pytest.fixture
def strict(tmp_path: Path, home: Path) -> Path:
    """Give the strict one of two roots; both are indexed, and nothing refreshes them."""
    write(tmp_path / "strict", NOTES)
    write(tmp_path / "lax", LAX)
    configure(home, strict=rules(tmp_path / "strict"), lax={"path": str(tmp_path / "lax")})
    index()
    hold_off()
    return tmp_path / "strict"


def rules(path: Path) -> dict[str, object]:
    return {"path": str(path), "strict": True}


def configure(home: Path, **roots: Mapping[str, object]) -> None:
    strict_support.configure(home, **roots)
    with (home / ".config/recall/config.toml").open("a") as file:
        file.write("[hook]\ndeadline_ms = 10000\nsession_line = true\n")


def refresh() -> None:
    """Bring the caches up to date, whatever is wrong with the roots."""
    from recall import resolved
    from recall.service import Recall

    with Recall(resolved.load("/", os.environ).roots) as recall:
        recall.refresh()


def considered(prompt: str) -> tuple[Call, list[str]]:
    call = Call(None, os.environ, time.perf_counter())
    call.consider(event(prompt, cwd="/"), lambda _: None)
    return call, [card.title for card in call.answer()[2]]


def test_a_strict_root_without_violations_answers(strict: Path) -> None:
    assert ask(KEYS).titles == [TITLE]
    assert no_fault()
    assert strict.exists()


def test_a_refused_root_is_silent_the_others_answer_and_it_is_told(strict: Path) -> None:
    (strict / "link.md").symlink_to("keys.md")
    refresh()
    assert ask(KESTREL).titles == ["The kestrel feeder of the neighbours"]
    kept = fault()
    assert kept.message.startswith("strict root strict is refused: a violation: link.md: symlink")
    assert kept.where == f"{strict}/link.md"
    assert kept.hint is not None
    said = ask(KEYS)
    assert (said.status, said.stdout) == (0, b"")
    (strict / "link.md").unlink()
    refresh()
    assert ask(KEYS).titles == [TITLE]
    assert no_fault()


def test_the_log_says_that_all_roots_are_refused(strict: Path, home: Path) -> None:
    write(strict, {"bad.md": "\x07"})
    configure(home, strict=rules(strict))
    refresh()
    hold_off()
    assert ask(KEYS).stdout == b""
    assert last_log("decision", "why") == ("silent", "refused")


def test_the_session_line_does_not_count_a_refused_root(strict: Path) -> None:
    write(strict, {"bad.md": "\x07"})
    refresh()
    line = hook(start("startup")).stdout.decode()
    assert "1 notes in 1 roots (lax); not to be read now: 1 roots (strict)" in line.replace(
        "1 note in 1 root ", "1 notes in 1 roots "
    ).replace("1 root (strict)", "1 roots (strict)")


def test_the_refresh_beside_the_hook_lets_a_mended_root_answer(strict: Path) -> None:
    write(strict, {"bad.md": "\x07"})
    refresh()
    assert ask(KEYS).stdout == b""
    (strict / "bad.md").unlink()
    settle()
    assert ask(KEYS).stdout == b""
    assert settle()
    assert ask(KEYS).titles == [TITLE]


def test_a_new_note_is_not_read_before_a_refresh_has_judged_it(strict: Path) -> None:
    write(strict, {"new.md": "# Quabvexil\n\nAll of quabvexil is here.\n"})
    assert considered("what is quabvexil?")[1] == []
    refresh()
    assert considered("what is quabvexil?")[1] == ["Quabvexil"]


@pytest.mark.parametrize(
    "bad", ["# The kestrel feeder\n\nkestrel feeder pellets dawn \x07\n", None]
)
def test_a_note_that_has_changed_for_the_worse_costs_its_root(
    strict: Path, bad: str | None
) -> None:
    if bad is None:
        (strict / "kestrel.md").unlink()
        (strict / "kestrel.md").symlink_to("keys.md")
    else:
        write(strict, {"kestrel.md": bad})
    call, titles = considered(KESTREL)
    assert titles == ["The kestrel feeder of the neighbours"]
    (told,) = call.faults
    assert f"{strict}/kestrel.md" in str(told.where)


def test_notes_of_a_refused_root_come_from_no_root_around_it(
    strict: Path, home: Path, tmp_path: Path
) -> None:
    around = {"path": str(tmp_path)}
    for inner in (rules(strict), rules(strict / "sub")):
        configure(home, around=around, strict=inner)
        refresh()
        assert considered(KEYS)[1] == [TITLE]
        assert considered("does sqlite checkpoint the write-ahead log?")[1] == ["Why SQLite"]
    (strict / "sub/link").symlink_to("x")
    refresh()
    assert considered(KEYS)[1] == [TITLE]
    assert considered("does sqlite checkpoint the write-ahead log?")[1] == []


def test_strict_roots_that_share_an_id_are_silent(strict: Path, home: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, {"n.md": f"---\nid: A-1\n---\n# Quabvexil {name}\n\nIt is so.\n"})
    both = {name: rules(tmp_path / name) for name in ("one", "two")}
    configure(home, strict=rules(strict), **both)
    refresh()
    call, titles = considered("what is quabvexil?")
    assert titles == []
    assert [each.message.split(" is refused")[0] for each in call.faults] == [
        "strict root one",
        "strict root two",
    ]
    assert considered(KEYS)[1] == [TITLE]


def test_a_strict_root_that_is_not_there_is_silent(strict: Path) -> None:
    strict.rename(strict.with_name("moved"))
    call, titles = considered(KESTREL)
    assert titles == ["The kestrel feeder of the neighbours"]
    (told,) = call.faults
    assert "there is no such directory" in told.message
