"""The order of hits: score, then tier, then time, then place, whatever order they came in."""

from __future__ import annotations

import itertools
import random
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_cache.model import Hit
from index_cache.parse import TIERS
from recall import Recall, rank

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000_000


def hit(
    path: str = "a.md",
    score: float = 1.0,
    tier: str = "unverified",
    modified: str = "",
    seconds: int = 0,
    root: int = 0,
) -> Hit:
    signature = struct.pack("<qqqQQ", seconds * SECOND, 0, 0, 0, 0)
    made = Hit(
        length=1,
        said=1,
        occurrences=[],
        places=[],
        path=path.encode(),
        signature=signature,
        suspect=0,
        line=0,
        digest=path.encode(),
        record_id="",
        title="",
        description="",
        type="",
        tags="",
        aliases="",
        language="en",
        modified=modified,
        status="",
        stale_after="",
        tier=tier,
        excerpt="",
        valid_from_at=None,
        valid_until_at=None,
    )
    made.score, made.root = score, root
    return made


BEST_FIRST = [
    hit("z.md", score=2.0),
    hit("y.md", tier="human-reviewed", modified="2020-01-01"),
    hit("x.md", tier="machine-confirmed", modified="2026-03-01"),
    hit("w.md", tier="machine-confirmed", modified="2026-02-01"),
    hit("v.md", modified="2026-02-02T10:00:00Z"),
    hit("u.md", seconds=1_700_000_000),
    hit("a.md", seconds=1_600_000_000),
    hit("b.md", seconds=1_600_000_000),
    hit("a.md", seconds=1_600_000_000, root=1),
    hit("A.md", score=0.5, tier="human-reviewed"),
]


def test_ties_are_decided_by_tier_then_time_then_place() -> None:
    rng = random.Random(7)  # noqa: S311 - the same orders each time
    for _ in range(50):
        shuffled = BEST_FIRST[:]
        rng.shuffle(shuffled)
        assert rank.ordered(shuffled) == BEST_FIRST


HITS = st.lists(
    st.builds(
        hit,
        st.sampled_from(["a.md", "b.md", "c/d.md"]),
        st.sampled_from([0.5, 1.0, 2.0]),
        st.sampled_from(TIERS),
        st.sampled_from(["", "2026-01-01", "2026-01-02"]),
        st.integers(0, 3),
        st.integers(0, 2),
    ),
    max_size=6,
    unique_by=lambda each: (each.root, each.path),
)


@given(HITS, st.randoms(use_true_random=False))
def test_the_order_is_one_whatever_came_first(hits: list[Hit], rng: random.Random) -> None:
    shuffled = hits[:]
    rng.shuffle(shuffled)
    ordered = rank.ordered(hits)
    assert rank.ordered(shuffled) == ordered
    assert all(one.score >= other.score for one, other in itertools.pairwise(ordered))


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000 * SECOND + 999_999_999, "2023-11-14T22:13:20Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (2**62, "2116-02-20T23:53:38Z"),
    ],
)
def test_a_files_time_is_told_in_utc(nanoseconds: int, text: str) -> None:
    assert rank.utc(nanoseconds) == text


def test_what_the_author_says_counts_before_the_files_time() -> None:
    assert rank.modified(hit(modified="2026-01-01", seconds=5)) == "2026-01-01"
    assert rank.modified(hit(seconds=5)) == "1970-01-01T00:00:05Z"


def test_cards_come_in_the_same_order(tmp_path: Path) -> None:
    root = tmp_path / "n"
    root.mkdir()
    heads = {
        "c.md": "verified: {by: human:ada}\nmodified: 2026-01-01\n",
        "d.md": "verified: {by: ci}\nmodified: 2026-02-01\n",
        "a.md": "modified: 2026-03-01\nverified: []\n",
        "b.md": "modified: 2026-02-01\nverified: []\n",
    }
    for number, (name, head) in enumerate(heads.items()):
        # Different bytes of one length: no copies, and one score.
        text = f"---\n{head}---\nneedle w{number}\n"
        (root / name).write_text(text, encoding="utf-8")
    (root / "other.md").write_text("something else\n" * 3, encoding="utf-8")
    with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
        cards = recall.search("needle")
    assert [card.score / cards[-1].score for card in cards] == pytest.approx([1.02, 1.01, 1, 1])
    assert [card.path for card in cards] == list(heads)


def test_copies_fill_one_place(tmp_path: Path) -> None:
    for name, text in {"a/x.md": "needle", "b/y.md": "needle", "c.md": "needle two"}.items():
        path = tmp_path / "n" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Recall([tmp_path / "n"], cache_dir=str(tmp_path / "cache")) as recall:
        cards = recall.search("needle", k=2)
    assert [card.path for card in cards] == ["a/x.md", "c.md"]
    assert cards[0].copies == (str(tmp_path / "n" / "b" / "y.md"),)
    assert cards[1].copies == ()
