"""What one prompt recalls: from its text and some roots to a few cards, or none.

All that led there is kept, so that ``recall hook --explain`` shows it. Nothing here is written, and
nothing is waited for. See ``spec/hook.md``.
"""

from __future__ import annotations

from index_cache import db, search
from index_cache.analyze import Analyzer
from recall import gate, ledger, rank, slots
from recall.asked import Question
from recall.dress import Dresser
from recall.slots import Judged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Hit
    from index_cache.search import Filter, Statistics
    from index_cache.store import Store
    from recall.card import Card
    from recall.ledger import Seen
    from recall.views import View, Views

BEST = 8  # hits that are judged, and one of each of so many other roots
DEPTH = 500  # documents of one root that are read to find them

# Why a prompt got no card, in the log's words.
NOTHING, GATE, SHOWN, GONE, CARDS = "nothing found", "gate", "shown before", "gone", "cards"


class Recalling:
    """The way from one prompt to its cards.

    ``judged`` are the hits that were considered, best first; ``cards`` those made so far, which is
    what there is when the deadline comes, and ``noted`` what the ledger has to keep of each.
    ``why`` says in the log's words what came of it.
    """

    def __init__(self, prompt: str, views: Views, fs: FileSystem) -> None:
        self.prompt = prompt
        self.views = views
        self.cards: list[Card] = []
        self.noted: list[tuple[str, bytes]] = []
        self.judged: list[Judged] = []
        self.question: Question | None = None
        self.why = NOTHING
        self._fs = fs
        self._live: list[tuple[View, Store, Filter]] = []

    def run(self, seen: Seen, cwd: str, places: int, sensitivity: float, *, journal: bool) -> None:
        """Find the cards, ``places`` at most; parameters as the settings have them.

        A cache that proves to be damaged is done without.
        """
        while True:
            self._live = self.views.searched(cwd, journal=journal)
            if not self._live:
                return
            try:
                self._find(seen, places, sensitivity)
            except db.TROUBLE as error:
                self.cards, self.noted, self.judged = [], [], []
                if not self.views.blame(error):
                    raise
            else:
                return

    def _find(self, seen: Seen, places: int, sensitivity: float) -> None:
        stores = [store for _, store, _ in self._live]
        asked = self.question = Question(self.prompt, stores, Analyzer())
        if not asked.terms:
            return
        hits = slots.shortlist(
            self._ordered(asked, stores), BEST, BEST, lambda hit: self._view(hit).identity
        )
        self._judge(asked, hits, seen, sensitivity)
        roots = [view.root for view, _, _ in self._live]
        wanted = [part for _, _, part in self._live]
        dresser = Dresser(roots, wanted, self._fs, asked)

        def still(judged: Judged) -> bool:
            if not self._still(judged, dresser, asked, sensitivity):
                return False
            judged.known = seen.has(*self._note(judged.hit))  # as the file is now
            return True

        self._fill(dresser, places, still)

    def _ordered(self, asked: Question, stores: Sequence[Store]) -> list[Hit]:
        wanted = [part for _, _, part in self._live]
        depth = max(3, min(BEST, 4 * BEST // len(stores)))
        found = search.candidates(
            stores, wanted, asked.parts, asked.terms, depth, each=True, most=DEPTH
        )
        return rank.ordered(
            found, lambda hit: hit.score * (slots.NEAR if self._view(hit).near else 1.0)
        )

    def _view(self, hit: Hit) -> View:
        return self._live[hit.root][0]

    def _judge(self, asked: Question, hits: Sequence[Hit], seen: Seen, sensitivity: float) -> None:
        decisions = self._decisions(asked, asked.whole, hits, sensitivity)
        for hit, decision in zip(hits, decisions, strict=True):
            view = self._view(hit)
            known = seen.has(*self._note(hit))
            judged = Judged(
                hit,
                view.identity,
                view.root.name,
                decision,
                near=view.near,
                named=False,
                known=known,
            )
            if not judged.is_wanted:
                judged.fate = GATE
            self.judged.append(judged)

    def _decisions(
        self, asked: Question, whole: Statistics, hits: Sequence[Hit], sensitivity: float
    ) -> list[gate.Decision]:
        return gate.decide(self.prompt, asked.analyzer, asked.terms, whole, hits, sensitivity)

    def _still(self, judged: Judged, dresser: Dresser, asked: Question, sensitivity: float) -> bool:
        """Tell whether a hit is to be shown now that its file has been looked at."""
        hit = judged.hit
        before = hit.occurrences
        if not dresser.is_current(hit):
            judged.fate = GONE
            return False
        if hit.edited and not judged.named:
            whole = _as_edited(asked, before, hit.occurrences)
            (judged.decision,) = self._decisions(asked, whole, [hit], sensitivity)
            if not judged.decision.speak:
                judged.fate = GATE
                return False
        return True

    def _fill(self, dresser: Dresser, places: int, still: Callable[[Judged], bool]) -> None:
        """Make the cards, each of one text, as many as there are places."""
        pool = [judged for judged in self.judged if judged.is_wanted]
        shown: list[Judged] = []
        while pool and len(shown) < places:
            judged = slots.next_of(pool, shown, places)
            pool.remove(judged)
            if not still(judged):
                continue
            copies = _copies(judged, pool, still)
            if not judged.named and any(each.known for each in (judged, *copies)):
                judged.fate = SHOWN
                continue
            card = dresser.card(judged.hit, [each.hit for each in copies])
            judged.shown = True
            shown.append(judged)
            self.noted.append(self._note(judged.hit))
            self.cards.append(card)
        for judged in pool:
            judged.fate = "no place left"
        self.why = self._reason(shown)

    def _note(self, hit: Hit) -> tuple[str, bytes]:
        return ledger.document(self._view(hit).identity, hit.path), hit.digest

    def _reason(self, shown: Sequence[Judged]) -> str:
        if shown:
            return CARDS
        fates = {judged.fate for judged in self.judged}
        return next((fate for fate in (SHOWN, GONE, GATE) if fate in fates), NOTHING)


def _as_edited(
    asked: Question, before: Sequence[object], after: Sequence[object]
) -> search.Statistics:
    """Return the statistics of all roots with what one note's edit has changed in them.

    Else a word that only this note had, and no longer has, would still count as one that is known.
    """
    whole = asked.whole
    frequency = dict(whole.frequency)
    for term, had, has in zip(asked.terms, before, after, strict=True):
        frequency[term] = frequency.get(term, 0) + bool(has) - bool(had)
        if frequency[term] <= 0:
            del frequency[term]
    return search.Statistics(whole.documents, whole.terms, frequency)


def _copies(judged: Judged, pool: list[Judged], still: Callable[[Judged], bool]) -> list[Judged]:
    """Take the copies of a hit out of the pool, and return those whose files still are copies."""
    copies = []
    for each in [each for each in pool if rank.is_copy(each.hit, judged.hit)]:
        if not still(each):
            pool.remove(each)
        elif rank.is_copy(each.hit, judged.hit):  # else it was edited: a note of its own
            pool.remove(each)
            each.fate = "a copy"
            copies.append(each)
    return copies
