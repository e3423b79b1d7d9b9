"""What a recall log says as a whole; pure."""

from __future__ import annotations

from recall.recalllog import SPOKE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.logreading import Entry

    Place = tuple[str, str]  # a root's name and a path in it

MOST = 10  # of the most recalled documents
FIRST = 5  # of those that never were


class Summary:
    """How often the hook spoke, what it cost, and what it showed.

    ``since`` and ``last`` are in seconds since the epoch, None without entries; ``p50`` and ``p95``
    milliseconds, None likewise. ``reasons`` counts why, most frequent first, for each decision.
    ``most`` has each document with how often it was shown. ``known`` is how many documents the
    roots have and ``never`` those that were not shown; None if that could not be found out.
    """

    __slots__ = (
        "known",
        "last",
        "most",
        "never",
        "p50",
        "p95",
        "prompts",
        "reasons",
        "since",
        "spoke",
        "tokens",
    )

    def __init__(self, entries: Sequence[Entry], documents: Mapping[str, Place] | None) -> None:
        """Sum up ``entries``; ``documents`` are those of the roots, by absolute path."""
        times = sorted(entry.ms for entry in entries)
        shown = _shown(entries)
        self.since = min((entry.when for entry in entries), default=None)
        self.last = max((entry.when for entry in entries), default=None)
        self.prompts = len(entries)
        self.spoke = sum(entry.decision == SPOKE for entry in entries)
        self.tokens = sum(entry.tokens for entry in entries)
        self.p50 = percentile(times, 50)
        self.p95 = percentile(times, 95)
        self.reasons = _reasons(entries)
        self.most = [
            (*places, count)
            for _, (places, count) in sorted(shown.items(), key=lambda item: (-item[1][1], item))
        ][:MOST]
        self.known = None if documents is None else len(documents)
        self.never: list[Place] | None = None
        if documents is not None:
            self.never = sorted(place for file, place in documents.items() if file not in shown)


def percentile(ordered: Sequence[float], percent: int) -> float | None:
    """Return the smallest of the values that so many percent of them do not exceed."""
    if not ordered:
        return None
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _shown(entries: Sequence[Entry]) -> dict[str, tuple[Place, int]]:
    """Return each document that was shown, by absolute path, with how often."""
    shown: dict[str, tuple[Place, int]] = {}
    for entry in entries:
        for _, root, path, file in entry.cards:
            _, count = shown.get(file, ((root, path), 0))
            shown[file] = (root, path), count + 1
    return shown


def _reasons(entries: Sequence[Entry]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for entry in entries:
        whys = counts.setdefault(entry.decision, {})
        whys[entry.why] = whys.get(entry.why, 0) + 1
    return {
        decision: dict(sorted(whys.items(), key=lambda item: (-item[1], item[0])))
        for decision, whys in sorted(counts.items())
    }
