"""One search, from a question to its cards: what a person or a program asked for."""

from __future__ import annotations

from index_cache import search
from index_cache.candidates import candidates
from index_cache.errors import InvalidInput
from recall import project, rank
from recall.asked import Question
from recall.dress import Dresser
from recall.reading import look_into
from recall.relevance import Scorer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.analyze import Analyzers
    from index_cache.files import FileSystem
    from index_cache.filters import Filter
    from index_cache.model import Hit, Root, Term
    from index_cache.refresh import Report
    from index_cache.store import Store
    from recall.card import Card
    from recall.consult.readout import Expansion
    from recall.consult.records import Record
    from recall.consult.wish import Wish
    from recall.operators import Operators

RESCORED = 50  # candidates that are scored with all there is, at least
_SPARE = 5  # hits asked for beyond k, since some may be copies or gone


class Answer:
    """What a search found: ``total`` documents match, the best of them are ``cards``.

    ``not_valid`` counts those that would, but for a time from or until which they are valid.
    ``terms`` are those of the query that were searched for, and all of its phrases; ``languages``
    those of the notes besides English. ``reports`` tell of each root's refresh, ``notices`` what a
    person should know besides. ``operators`` are what was understood of the query, None if it was
    all text. ``records``, with their scores, and ``expansion`` are None where none was asked for.
    """

    __slots__ = (
        "cards",
        "expansion",
        "languages",
        "not_valid",
        "notices",
        "operators",
        "query",
        "records",
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
        self.records: list[tuple[Record, float]] | None = None
        self.expansion: Expansion | None = None


class Request:
    """What a search is asked besides its words: see ``Recall.answer``, which has the defaults."""

    __slots__ = (
        "explain",
        "journal",
        "k",
        "operators",
        "proposal",
        "recency",
        "types",
        "under",
        "wish",
    )

    def __init__(
        self,
        k: int,
        types: Sequence[str] | None,
        under: str | None,
        *,
        journal: bool,
        proposal: bool,
        explain: bool,
        recency: float,
        operators: bool,
        wish: Wish | None,
    ) -> None:
        if k < 1:
            raise InvalidInput(f"k must be at least 1, not {k}")
        if not 0 <= recency < float("inf"):
            raise InvalidInput(f"recency must be a finite number, 0 or more, not {recency}")
        self.k = k
        self.types = types
        self.under = under
        self.journal = journal
        self.proposal = proposal
        self.explain = explain
        self.recency = recency
        self.operators = operators
        self.wish = wish


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
        prepared = self._prepared(answer, explain=explain)
        if prepared is None:
            return
        find, dresser = prepared
        wide = max(k + _SPARE, RESCORED)
        while True:
            hits = find(wide)
            shown = _shown(dresser, hits, k)
            if len(shown) == k or len(hits) < wide:
                break
            wide *= 4  # copies and vanished files took places: look further down
        if len(shown) < k:
            # All there is to show is shown: what is left are copies, or notes that are gone.
            answer.total = len(shown)
        answer.cards = [dresser.card(hit, copies) for hit, *copies in shown]

    def page(self, answer: Answer, page: int, size: int, *, explain: bool) -> list[tuple[Hit, int]]:
        """Fill in the total and the cards of one page (1-based) of an answer.

        Return its hits, each with the line at which the cache has it. All that matches is scored.
        See "Pages" in ``spec/reading.md``.
        """
        prepared = self._prepared(answer, explain=explain)
        if prepared is None:
            return []
        find, dresser = prepared
        begin = (page - 1) * size
        if answer.terms:
            hits = find(None)
            hits.sort(key=lambda hit: (-hit.score, hit.record_id, hit.root, hit.path, hit.line))
            answer.total = len(hits)
            hits = hits[begin : begin + size]
        else:  # what is listed has its place without being read
            hits = find(begin + size)[begin:]
        known = [(hit, hit.line) for hit in hits]
        shown = [(hit, line) for hit, line in known if dresser.is_current(hit)]
        answer.cards = [dresser.card(hit, []) for hit, _ in shown]
        return shown

    def _prepared(
        self, answer: Answer, *, explain: bool
    ) -> tuple[Callable[[int | None], list[Hit]], Dresser] | None:
        """Return what finds the best hits, so many or all, and what makes cards of them.

        The total is filled in: how many documents match. None if there is nothing to search for.
        """
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

            def find(wide: int | None, /) -> list[Hit]:
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
            return None
        return find, Dresser(self._roots, self._wanted, self._fs, asked, scorer, explain=explain)


def _shown(dresser: Dresser, hits: Sequence[Hit], k: int) -> list[list[Hit]]:
    """Return up to ``k`` hits, each with its copies: of each text one, of a file that is gone none.

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
    return shown
