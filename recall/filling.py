"""Judged hits to cards: each looked at in its file, each text once, until the places are taken.

See "Places" in ``spec/hook.md``.
"""

from __future__ import annotations

from index_cache.search import Statistics
from recall import gate, rank, slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.model import Hit
    from recall.asked import Question
    from recall.card import Card
    from recall.dress import Dresser
    from recall.ledger import Seen
    from recall.slots import Judged

    Entry = tuple[str, bytes]  # of the ledger: a document's key, its content's digest

# What became of a hit that has no card.
NO_PLACE, SHOWN, GONE, GATE, COPY = "no place left", "shown before", "gone", "gate", "a copy"


class Filling:
    """Fills the places of one answer.

    ``entry`` gives a hit's entry in the ledger as its file is, ``seen`` is what the conversation
    was shown, ``asks_for`` tells whether the prompt asks for a note by its name. ``cards`` and
    ``noted`` grow together, card by card: a deadline takes what is there.
    """

    def __init__(
        self,
        asked: Question,
        dresser: Dresser,
        sensitivity: float,
        seen: Seen,
        entry: Callable[[Hit], Entry],
        asks_for: Callable[[Hit], bool],
    ) -> None:
        self.cards: list[Card] = []
        self.noted: list[Entry] = []
        self._asked = asked
        self._dresser = dresser
        self._sensitivity = sensitivity
        self._seen = seen
        self._entry = entry
        self._asks_for = asks_for

    def fill(self, judged: Sequence[Judged], places: int) -> None:
        """Make the cards of what is wanted, best first, as many as there are places."""
        pool = [each for each in judged if each.is_wanted]
        shown: list[Judged] = []
        while pool and len(shown) < places:
            each = slots.next_of(pool, shown, places)
            pool.remove(each)
            if not self._is_still_wanted(each):
                continue
            copies = self._copies(each, pool)
            if not each.named and any(one.known for one in (each, *copies)):
                each.fate = SHOWN
                continue
            card = self._dresser.card(each.hit, [copy.hit for copy in copies])
            each.shown = True
            shown.append(each)
            self.noted.append(self._entry(each.hit))
            self.cards.append(card)
        for each in pool:
            each.fate = NO_PLACE

    def _is_still_wanted(self, judged: Judged) -> bool:
        """Look at a hit's file; tell whether it is to be shown as it is now."""
        hit = judged.hit
        before = hit.occurrences or [None] * len(self._asked.terms)  # named, and not found
        if not self._dresser.is_current(hit, anyway=judged.named):
            judged.fate = GONE
            return False
        judged.known = self._seen.has(*self._entry(hit))
        if hit.edited and judged.named and not self._asks_for(hit):
            judged.named = False  # another note has this title or id by now, or none
            if not self._dresser.admits(hit) or not any(hit.occurrences):
                judged.fate = GONE
                return False
        if hit.edited and not judged.named:
            whole = _as_edited(self._asked, before, hit.occurrences)
            (judged.decision,) = decisions(self._asked, whole, [hit], self._sensitivity)
            if not judged.decision.speak:
                judged.fate = GATE
                return False
        return True

    def _copies(self, judged: Judged, pool: list[Judged]) -> list[Judged]:
        """Take a hit's copies out of the pool; return those whose files still are copies."""
        copies = []
        for each in [each for each in pool if rank.is_copy(each.hit, judged.hit)]:
            if not self._is_still_wanted(each):
                pool.remove(each)
            elif rank.is_copy(each.hit, judged.hit):  # else it was edited: a note of its own
                pool.remove(each)
                each.fate = COPY
                copies.append(each)
        return copies


def decisions(
    asked: Question, whole: Statistics, hits: Sequence[Hit], sensitivity: float
) -> list[gate.Decision]:
    """Return the gate's decision on each hit of a question, whose statistics are ``whole``."""
    return gate.decide(asked.text, asked.wording, asked.terms, whole, hits, sensitivity)


def _as_edited(asked: Question, before: Sequence[object], after: Sequence[object]) -> Statistics:
    """Return the statistics of all roots with what one note's edit has changed in them.

    Else a word that only this note had, and no longer has, would still count as one that is known.
    """
    frequency = dict(asked.whole.frequency)
    for term, had, has in zip(asked.terms, before, after, strict=True):
        frequency[term] = frequency.get(term, 0) + bool(has) - bool(had)
        if frequency[term] <= 0:
            del frequency[term]
    return Statistics(asked.whole.documents, asked.whole.terms, frequency)
