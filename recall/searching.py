"""One search, from a question to its cards: what a person or a program asked for."""

from __future__ import annotations

from index_cache import search
from index_cache.candidates import candidates
from recall import project, rank
from recall.asked import Question
from recall.dress import Dresser
from recall.reading import look_into
from recall.relevance import Scorer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.analyze import Analyzers
    from index_cache.files import FileSystem
    from index_cache.filters import Filter
    from index_cache.model import Hit, Root, Term
    from index_cache.refresh import Report
    from index_cache.store import Store
    from recall.card import Card
    from recall.operators import Operators

RESCORED = 50  # candidates that are scored with all there is, at least
_SPARE = 5  # hits asked for beyond k, since some may be copies or gone


class Answer:
    """What a search found: ``total`` documents match, the best of them are ``cards``.

    ``not_valid`` counts those that would, but for a time from or until which they are valid.
    ``terms`` are those of the query that were searched for, and all of its phrases; ``languages``
    those of the notes besides English. ``reports`` tell of each root's refresh, ``notices`` what a
    person should know besides. ``operators`` are what was understood of the query, None if it was
    all text.
    """

    __slots__ = (
        "cards",
        "languages",
        "not_valid",
        "notices",
        "operators",
        "query",
        "reports",
        "terms",
        "total",
    )

    def __init__(self, text: str, reports: list[Report]) -> None:
        self.query = text
        self.reports = reports
        self.total = self.not_valid = 0
        self.cards: list[Card] = []
        self.notices: list[str] = []
        self.terms: Sequence[Term] = ()
        self.languages: Sequence[str] = ()
        self.operators: Operators | None = None


class Searching:
    """One search over the roots that have a view.

    ``live`` has of each the root, its cache, its filter, and whether it is counted. ``cwd`` and
    ``recency`` are as for ``Recall``.
    """

    def __init__(
        self,
        live: Sequence[tuple[Root, Store, Filter | None, bool]],
        analyzers: Analyzers,
        fs: FileSystem,
        cwd: str,
        recency: float,
    ) -> None:
        self._roots = [root for root, _, _, _ in live]
        self._stores = [store for _, store, _, _ in live]
        self._wanted = [part for _, _, part, _ in live]
        self._counted = [counted for _, _, _, counted in live]
        self._analyzers = analyzers
        self._fs = fs
        self._near = project.near(cwd, self._roots)
        self._recency = recency

    def run(self, answer: Answer, k: int, *, explain: bool) -> None:
        """Fill in the total and the cards of an answer."""
        operators = answer.operators
        if operators is None:
            asked = Question(
                answer.query, self._stores, self._analyzers, self._counted, thorough=True
            )
            answer.terms = asked.terms
        else:
            from recall.narrowing import question

            asked, answer.terms = question(operators, self._stores, self._analyzers, self._counted)
        answer.languages = asked.wording.languages
        answer.not_valid = 0
        scorer = Scorer(asked, self._near, self._recency)
        if asked.terms:
            answer.total = sum(
                search.count(store, asked.terms, wanted)
                for store, wanted in zip(self._stores, self._wanted, strict=True)
                if wanted is not None
            )
            answer.not_valid = sum(
                search.count_invalid(store, asked.terms, wanted)
                for store, wanted in zip(self._stores, self._wanted, strict=True)
                if wanted is not None
            )

            def find(wide: int, /) -> list[Hit]:
                found = candidates(
                    self._stores,
                    self._wanted,
                    asked.parts,
                    asked.whole,
                    asked.terms,
                    wide,
                )
                for hit in found:
                    scorer.score(hit)
                look_into(found, asked, self._roots, self._fs, scorer)
                return rank.ordered(found)

        elif operators is not None and not asked.looked_up:
            from recall.narrowing import listed

            answer.total, answer.not_valid, find = listed(self._stores, self._wanted)
        else:
            return
        dresser = Dresser(self._roots, self._wanted, self._fs, asked, scorer, explain=explain)
        wide = max(k + _SPARE, RESCORED)
        while True:
            hits = find(wide)
            answer.cards = _cards(dresser, hits, k)
            if len(answer.cards) == k:
                return
            if len(hits) < wide:
                # All there is to show is shown: what is left are copies, or notes that are gone.
                answer.total = len(answer.cards)
                return
            wide *= 4  # copies and vanished files took places: look further down


def _cards(dresser: Dresser, hits: Sequence[Hit], k: int) -> list[Card]:
    """Return up to ``k`` cards: one for each text, none for a file that is gone.

    Worktrees and vendored copies fill one place, not three.
    """
    shown: list[list[Hit]] = []
    known: dict[object, list[Hit]] = {}
    for hit in hits:
        # Of what can't be shown any more, only copies of what is shown are looked at.
        if len(shown) == k and known.keys().isdisjoint((hit.digest, rank.words(hit))):
            continue
        if not dresser.is_current(hit):
            continue
        marks = hit.digest, rank.words(hit)
        same = known.get(marks[0]) or known.get(marks[1])
        if same is not None:
            same.append(hit)
        elif len(shown) < k:
            shown.append([hit])
            known.update(dict.fromkeys(marks, shown[-1]))
    return [dresser.card(hit, copies) for hit, *copies in shown]
