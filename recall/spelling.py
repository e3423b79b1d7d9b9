"""Words of the notes that a word of the query may stand for, when no note has it: pure.

A slip of the fingers, or the beginning of a longer word. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4  # letters of a word that is guessed at
_LONG = 8  # letters from which on two slips are allowed
_BEGINNING = 5  # letters that a word and a longer one must share from their start
_MOST = 8  # words that one may stand for


def beginning(word: str) -> str:
    """Return the letters that a word must begin with to be looked at: most slips come later."""
    return word[: 2 if len(word) < _LONG - 2 else 3]


def alike(word: str, known: Iterable[str]) -> list[str]:
    """Return those of the ``known`` words that ``word`` may stand for, the likeliest first.

    A word of fewer than ``SHORTEST`` letters stands for itself alone.
    """
    if len(word) < SHORTEST:
        return []
    slips = 1 if len(word) < _LONG else 2
    found = []
    for other in known:
        if min(len(word), len(other)) >= _BEGINNING and (
            word.startswith(other) or other.startswith(word)
        ):
            found.append((slips, other))
        elif abs(len(other) - len(word)) <= slips and len(other) >= SHORTEST - 1:
            away = distance(word, other)
            if away <= slips:
                found.append((away, other))
    return [other for _, other in sorted(found)[:_MOST]]


def distance(one: str, other: str) -> int:
    """Return how many letters to add, drop, replace or swap with the next make one the other.

    The optimal string alignment distance: https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, theirs in enumerate(other, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == theirs:
                best = min(best, older[j - 2] + 1)
            row.append(best)
    return row[-1]
