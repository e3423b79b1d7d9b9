"""The time that a prompt has for directories is shared by all of its roots."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from stateful_support import make_root

from index_cache.files import FileSystem
from recall import views
from recall.views import View, Views

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
        ("ffff", [0, 1, 9, 9], [2, 8 / 3, 3.5, 3.5]),
        ("nff", [1, 9, 9], [4, 3.5, 3.5]),
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
    budgets: list[float] = []

    def look(_view: View, begin: int, _fs: FileSystem, budget: float) -> None:
        nonlocal now
        assert begin == 0
        now += min(needs[len(budgets)], budget)
        budgets.append(budget)

    monkeypatch.setattr(View, "look", look)
    monkeypatch.setattr(View, "open", lambda *_: None)
    monkeypatch.setattr(views, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(views, "LOOK", 8.0)
    roots = [make_root(tmp_path, f"r{number}") for number in range(len(near))]
    Views(roots, [each == "n" for each in near]).open(str(tmp_path), None, FileSystem())
    assert budgets == pytest.approx(given)
