"""C4: whatever happens to a cache file, its answers are right, or the damage is noticed."""

from __future__ import annotations

import shutil
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from damage_support import BYTES, FILES, ROWS, settle
from stateful_support import Place, ask

from index_cache import checksums, db, search
from index_cache.refresh import refresh
from index_cache.search import Filter

if TYPE_CHECKING:
    from collections.abc import Callable

    from damage_support import Damage

    from index_cache.store import Store

NOTES = 30
QUERIES = ("kestrel", "word3 word7", "word29 common x11", "nothing like it", "w5x3 w6x60 w7x40")


class Kept:
    """A place with a sound cache, and what it answers; ``renew`` undoes all damage."""

    def __init__(self, place: Place) -> None:
        self.place = place
        for number in range(NOTES):
            words = " ".join(f"w{number}x{each}" for each in range(120))
            kind = ("", "Journal", "Runbook")[number % 3]
            place.write(
                f"{number}.md",
                f"---\ntype: {kind}\ndescription: {'about kestrels ' * (number * 20)}\n---\n"
                f"# Note {number}\n\nkestrel common word{number} {words}\n",
            )
        place.write("bad.md", "\0" * 100)
        place.settle()
        settle(place.cache_file)
        shutil.copytree(place.cache, place.cache + ".kept")
        with closing(place.store()) as store:
            self.answers = answers(store)

    def renew(self) -> None:
        shutil.rmtree(self.place.cache)
        shutil.copytree(self.place.cache + ".kept", self.place.cache)


@pytest.fixture(scope="module", params=[True, False], ids=["checksums", "no checksums"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        if not request.param:
            patch.setattr(checksums, "vfs", lambda: None)
        yield Kept(Place(tmp_path_factory.mktemp("damage")))


def answers(store: Store) -> list[object]:
    """Return all that a search and a status could want to know."""
    store.begin_reading()
    try:
        return [
            [ask([store], text, k=8) for text in QUERIES],
            [search.count(store, ["kestrel"], Filter(kinds)) for kinds in (None, ["runbook"])],
            store.documents(),
            sorted(store.paths()),
            store.problems(),
            store.notes("skipped"),
            store.notes("unavailable"),
            store.number("withheld"),
        ]
    finally:
        store.end_reading()


def looked(place: Place, *, fresh: bool) -> list[object] | None:
    """Return the answers of the cache; None when it is told to be damaged, or was made anew."""
    try:
        with closing(place.store()) as store:
            if fresh:
                refresh(store, place.fs)
            return answers(store) if store.built else None
    except db.TROUBLE as error:
        if not db.is_damage(error):
            raise
        return None


def run(kept: Kept, name: str, damage: Damage, seed: int) -> tuple[bool, bool]:
    """Damage the cache and look at it twice: as it is, and after a refresh; tell what was seen."""
    seen = []
    for fresh in (False, True):
        kept.renew()
        damage(kept.place.cache_file, Random(seed))  # noqa: S311 - to repeat it
        try:
            found = looked(kept.place, fresh=fresh)
            # Without checksums most flipped bits are not seen; but no other error comes of them.
            blind = checksums.vfs() is None and (name, damage) in BYTES
            assert blind or found is None or found == kept.answers
        except Exception as error:
            raise AssertionError(f"{name}, seed {seed}, refreshed: {fresh}") from error
        seen.append(found is None)
    return seen[0], seen[1]


@pytest.mark.parametrize(("name", "damage"), BYTES)
def test_C4_changed_bytes(
    kept: Kept, name: str, damage: Damage, long_count: Callable[[int], int]
) -> None:
    noticed = [any(run(kept, name, damage, seed)) for seed in range(long_count(100))]
    assert any(noticed) or name == "grow" or checksums.vfs() is None


@pytest.mark.parametrize(("name", "damage"), [*FILES, *ROWS])
def test_C4_changed_files_and_rows(
    kept: Kept, name: str, damage: Damage, long_count: Callable[[int], int]
) -> None:
    for seed in range(long_count(10)):
        run(kept, name, damage, seed)
