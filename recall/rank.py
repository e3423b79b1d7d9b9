"""Hits to their order: pure. See ``spec/query-and-ranking.md``."""

from __future__ import annotations

from index_cache import files, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from index_cache.model import Hit

_TIERS = ("unverified", "machine-confirmed", "human-reviewed")


def ordered(hits: Iterable[Hit], score: Callable[[Hit], float] | None = None) -> list[Hit]:
    """Return hits best first: by score, tier, the later modified, then root, path and line.

    ``score`` tells what counts instead of the hit's own.
    """
    by_place = sorted(hits, key=lambda hit: (hit.root, hit.path, hit.line))
    by_time = sorted(by_place, key=_time, reverse=True)
    counts = score or _score
    return sorted(by_time, key=lambda hit: (-counts(hit), -_TIERS.index(hit.tier)))


def _score(hit: Hit) -> float:
    return hit.score


def is_copy(hit: Hit, other: Hit) -> bool:
    """Tell whether two hits have the same words, so that one of them is enough to show.

    The same bytes, or the same title, summary and length and the same words of the query in the
    same places: line ends, blanks and ids may differ.
    """
    return hit.digest == other.digest or words(hit) == words(other)


def words(hit: Hit) -> tuple[object, ...]:
    """Return what two hits with the same words have in common; their paths are none of it."""
    said = [
        counts and (*counts[: schema.PATH], *counts[schema.PATH + 1 :])
        for counts in hit.occurrences
    ]
    return hit.title, hit.description, hit.excerpt, hit.said, *said


def _time(hit: Hit) -> str:
    """Return when a document was modified, "" if that is no ISO 8601 date: it decides nothing."""
    text = modified(hit)
    return text if _is_date(text) else ""


def _is_date(text: str) -> bool:
    return text[:4].isdecimal() and text[4:5] == "-" and text[5:7].isdecimal()


def when(modified: str, signature: bytes) -> str:
    """Return when a document was modified: as ISO 8601 in any case, "" for an absurd time."""
    return modified if _is_date(modified) else utc(files.mtime_ns(signature))


def modified(hit: Hit) -> str:
    """Return when a document was modified: what the author says, else the file's own time (UTC)."""
    return hit.modified or utc(files.mtime_ns(hit.signature))


def stale(hit: Hit, now: float) -> str | None:
    """Return why a note counts as stale at ``now``: see ``stale.stale_reason``."""
    if not hit.status and not hit.stale_after:
        return None
    from recall.stale import stale_reason  # few notes have either

    return stale_reason(hit.status, hit.stale_after, now)


def utc(nanoseconds: int) -> str:
    """Return a time in ns since the epoch as ``2026-11-30T12:00:00Z``; "" for an absurd one."""
    import time  # few hits need it

    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(nanoseconds // 1_000_000_000))
    except (OverflowError, ValueError, OSError):
        return ""
