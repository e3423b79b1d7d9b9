"""What the roots of a prompt share: the time for directories, and for caches that are busy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from stateful_support import make_root

from index_cache.db import READ_WAIT
from index_cache.files import FileSystem
from recall import views
from recall.views import ANSWERS, BUSY, View, Views

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("near", "needs", "given"),
    [
        # Each needs all that it is given, and a little more.
        ("f", [9], [8]),
        ("ffff", [9, 9, 9, 9], [2, 2, 2, 2]),
        ("nfff", [9, 9, 9, 9], [4, 4 / 3, 4 / 3, 4 / 3]),
        ("nnf", [9, 9, 9], [4, 2, 2]),
        ("n", [9], [8]),
        # What one does not need is the others'.
        ("ffff", [0, 1, 9, 9], [0, 1, 3.5, 3.5]),
        ("nff", [1, 9, 9], [1, 3.5, 3.5]),
        ("ffff", [9, 9, 0.5, 0.5], [3.5, 3.5, 0.5, 0.5]),
        ("nff", [9, 1, 1], [6, 1, 1]),
        ("ff", [1, 2], [1, 2]),
    ],
)
def test_the_time_is_shared(
    near: str,
    needs: list[float],
    given: list[float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    roots = [make_root(tmp_path, f"r{number}") for number in range(len(near))]
    needed = dict(zip((root.name for root in roots), needs, strict=True))
    spent = dict.fromkeys(needed, 0.0)
    begun: list[str] = []
    ended: list[str] = []

    def look_on(view: View, budget: float) -> None:
        nonlocal now
        name = view.root.name
        took = min(budget, needed[name] - spent[name])
        now += took
        spent[name] += took

    monkeypatch.setattr(View, "open", lambda *_: None)
    monkeypatch.setattr(View, "begin_look", lambda view, *_: begun.append(view.root.name))
    monkeypatch.setattr(View, "look_on", look_on)
    looks = property(lambda view: spent[view.root.name] < needed[view.root.name])
    monkeypatch.setattr(View, "looks", looks)
    monkeypatch.setattr(View, "end_look", lambda view, *_: ended.append(view.root.name))
    monkeypatch.setattr(views, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(views, "LOOK", 8.0)
    Views(roots, [each == "n" for each in near]).open(str(tmp_path), None, FileSystem())
    assert list(spent.values()) == pytest.approx(given)
    assert begun == ended == [root.name for root in roots]


def test_one_cache_that_stays_busy_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []

    def opened(view: View, _: str, wait: int) -> None:
        waits.append(wait)
        view.state = BUSY if view.root.name in {"r1", "r3"} else ANSWERS

    monkeypatch.setattr(View, "open", opened)
    roots = [make_root(tmp_path, f"r{number}") for number in range(4)]
    Views(roots, [False] * 4).open_caches(str(tmp_path))
    assert waits == [READ_WAIT, READ_WAIT, 0, 0]
