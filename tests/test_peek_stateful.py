"""Whatever happens to a root, a look at its directories tells what a scan would, or asks for one.

Real files under a coarse clock, with renames, permissions, mounts, and refreshes of both kinds.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from stateful_support import SECOND, Place, make_root, remove_tree, update

from index_cache import keeping, peek
from index_cache.diff import diff
from index_cache.errors import RootUnavailable
from index_cache.refresh import Options, refresh
from index_cache.scan import look as scan_of

if TYPE_CHECKING:
    from collections.abc import Callable

DIRECTORIES = ("", "sub", "sub/deep", "other", "mnt")
NAMES = ("a.md", "A.md", "b.markdown", "a (conflicted copy 1).md", "c.txt", "d.jsonl", "pyvenv.cfg")
PATHS = [os.path.join(directory, name) for directory in DIRECTORIES for name in NAMES]
WEIGHTED = [path for path in PATHS if not path.endswith("cfg")] * 3 + PATHS
MOVED = ("sub", "sub/deep", "other", "moved", "sub/moved")

KINDS = {"quiet", "due", "came", "went"}

paths = st.sampled_from(WEIGHTED)
directories = st.sampled_from(DIRECTORIES)
pauses = st.sampled_from([0, SECOND // 100, SECOND, 2 * SECOND, 3 * SECOND, 3600 * SECOND])


class _Killed(BaseException):
    """What ends a refresh at once."""


class Machine(RuleBasedStateMachine):
    """One root with its cache, and the world around it."""

    granularity: ClassVar[int] = SECOND
    outcomes: ClassVar[dict[str, int]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.top = tempfile.mkdtemp()
        self.place = Place(Path(self.top), self.granularity)
        self.place.root = make_root(self.place.top, "notes", jsonl=True)
        self.fs = self.place.fs
        for each in DIRECTORIES:
            self.place.make_directories(self.place.path(each))
        self.fs.mount(self.place.path("mnt"), 7)
        self.store = self.place.store()
        self.step = 0

    def teardown(self) -> None:
        self.store.close()
        remove_tree(self.top)

    def there(self, relative: str) -> bool:
        """Tell whether a file can be made, changed or taken away at a path."""
        hidden = relative.startswith("mnt") and self.place.path("mnt") in self.fs.unmounted
        return not hidden and os.path.isdir(os.path.dirname(self.place.path(relative)))

    @initialize(chosen=st.lists(paths, min_size=1, max_size=8))
    def begin(self, chosen: list[str]) -> None:
        for path in chosen:
            self.write(path)
        self.refresh()

    @rule(path=paths)
    def write(self, path: str) -> None:
        if self.there(path):
            self.fs.write(self.place.path(path), b'{"text": "zebra"}\n# Note\n\nzebra\n')

    @rule(path=paths)
    def delete(self, path: str) -> None:
        if self.there(path) and os.path.isfile(self.place.path(path)):
            self.fs.delete(self.place.path(path))

    @rule(directory=directories)
    def clear(self, directory: str) -> None:
        for name in NAMES:
            self.delete(os.path.join(directory, name))

    @rule(path=paths, new=paths)
    def rename(self, path: str, new: str) -> None:
        old = self.place.path(path)
        if path != new and self.there(path) and self.there(new) and os.path.isfile(old):
            self.fs.rename(old, self.place.path(new))

    @rule(path=paths)
    def replace(self, path: str) -> None:
        if self.there(path):
            self.fs.write(self.place.path("spare"), b"# Replaced\n")
            self.fs.rename(self.place.path("spare"), self.place.path(path))

    @rule(directory=st.sampled_from(MOVED), new=st.sampled_from(MOVED))
    def rename_directory(self, directory: str, new: str) -> None:
        old, path = self.place.path(directory), self.place.path(new)
        free = not os.path.lexists(path) and os.path.isdir(os.path.dirname(path))
        if os.path.isdir(old) and free and not path.startswith(old + b"/"):
            self.fs.rename_directory(old, path)

    @rule(directory=st.sampled_from(MOVED))
    def make_directory(self, directory: str) -> None:
        path = self.place.path(directory)
        if self.there(directory) and not os.path.lexists(path):
            self.fs.make_directory(path)

    @rule(directory=st.sampled_from(MOVED))
    def remove_directory(self, directory: str) -> None:
        path = self.place.path(directory)
        if os.path.isdir(path) and not os.listdir(path):
            self.fs.remove_directory(path)

    @rule(directory=directories)
    def chmod(self, directory: str) -> None:
        path = self.place.path(directory)
        if path in self.fs.denied:
            self.fs.permit(path)
        elif os.path.isdir(path):
            self.fs.deny(path)

    @rule()
    def mount(self) -> None:
        path = self.place.path("mnt")
        if path in self.fs.unmounted:
            self.fs.mount(path, 7)
        else:
            self.fs.unmount(path)

    @rule(pause=pauses)
    def wait(self, pause: int) -> None:
        self.fs.forward(pause)

    @rule()
    def set_back(self) -> None:
        self.fs.set_back(60 * SECOND)

    @rule()
    def refresh(self) -> None:
        self._refreshed(lambda: update(self.store, self.fs))

    @rule()
    def search(self) -> None:
        self._refreshed(lambda: refresh(self.store, self.fs))

    @rule(insist=st.booleans(), again=st.sampled_from([True, True, False]))
    def cut_short(self, insist: bool, again: bool) -> None:
        """A refresh that is killed between its last rows and its end, and perhaps another."""
        with mock.patch.object(keeping, "keep", side_effect=_Killed), suppress(_Killed):
            self._refreshed(lambda: refresh(self.store, self.fs, Options(insist=insist)))
        if again:
            self.refresh()

    def _refreshed(self, use: Callable[[], object]) -> None:
        try:
            use()
        except RootUnavailable:
            assert self.place.path() in self.fs.denied

    @rule()
    def settle(self) -> None:
        """After a refresh of a quiet root nothing is listed and nothing is left to a refresh."""
        self.fs.forward(3600 * SECOND)  # more than all settings back
        self.refresh()
        if not self.fs.denied:
            found = self.look()
            assert (found.listed, found.sweep_due) == (0, None)
            assert not found.appeared
            assert not found.vanished

    def look(self, start: int = 0, budget: int = 1000) -> peek.Peek:
        ticks = iter(range(10_000))
        self.fs.opened.clear()
        with mock.patch.object(peek, "_STRIDE", 1):
            found = peek.peek(
                self.place.root, self.store, self.fs, budget, start, lambda: next(ticks)
            )
        assert not self.fs.opened
        return found

    @invariant()
    def tells_what_a_scan_would(self) -> None:
        self.step += 1
        start, budget = self.step % 7, 1 + self.step % 3
        if not self.store.built:
            return
        found = self.look(start)
        assert found.complete
        manifest = self.store.signatures()
        try:
            scanned = scan_of(self.place.root, self.fs)
        except RootUnavailable:
            assert found.sweep_due
            assert not found.vanished
            return
        changes = diff(scanned, manifest, self.store.suspects())
        new = {path for path in changes.read if path not in manifest}
        if found.sweep_due is None:
            assert found.appeared.keys() == new
            assert found.vanished == set(changes.removed)
        assert found.appeared.items() <= {p: scanned.entries[p] for p in new}.items()
        assert not found.vanished & scanned.entries.keys()
        assert found.vanished <= manifest.keys()
        self.count(found)
        self.go_on(found, budget)

    def go_on(self, whole: peek.Peek, budget: int) -> None:
        """Come to the same by looks that each see a few directories."""
        appeared: set[bytes] = set()
        vanished: set[bytes] = set()
        due, at = False, 0
        for _ in range(ceil(whole.looked / budget)):
            part = self.look(at, budget)
            assert part.looked <= budget
            at = part.next
            appeared |= part.appeared.keys()
            vanished |= part.vanished
            due |= part.sweep_due is not None
        if whole.sweep_due is None:
            # Who sees only that all notes went, and not that others came, asks for a refresh.
            assert appeared == whole.appeared.keys()
            assert vanished == whole.vanished or (due and vanished < whole.vanished)

    def count(self, found: peek.Peek) -> None:
        kinds = {
            "quiet": not found.listed,
            "due": found.sweep_due is not None,
            "came": found.sweep_due is None and bool(found.appeared),
            "went": found.sweep_due is None and bool(found.vanished),
        }
        for kind, true in kinds.items():
            self.outcomes[kind] = self.outcomes.get(kind, 0) + true


@pytest.mark.parametrize("granularity", [SECOND // 100, SECOND, 2 * SECOND])
def test_D1_D2_D3_a_look_tells_what_a_scan_would_or_asks_for_one(
    granularity: int, long_count: Callable[[int], int]
) -> None:
    class Clocked(Machine):
        outcomes: ClassVar[dict[str, int]] = {}

    Clocked.granularity = granularity
    run_state_machine_as_test(
        Clocked,
        settings=settings(
            max_examples=long_count(800),
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        ),
    )
    met = {kind for kind, times in Clocked.outcomes.items() if times}
    # Among few examples there may be none of the rarest kind.
    assert met == KINDS or (long_count(10) < 10 and met == KINDS - {"went"})
