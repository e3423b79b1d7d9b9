"""What one prompt recalls: from its text and some roots to a few cards, or none.

All that led there is kept, so that ``recall hook --explain`` shows it. Nothing here is written, and
nothing is waited for. See ``spec/hook.md``.
"""

from __future__ import annotations

import os

from index_cache import db
from index_cache.analyze import Analyzers
from index_cache.candidates import candidates
from index_cache.filters import Filter
from recall import gate, ledger, rank, slots
from recall.asked import Question
from recall.dress import Dresser
from recall.filling import GATE, GONE, SHOWN, Filling, decisions
from recall.relevance import Scorer
from recall.slots import Judged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Hit
    from index_cache.store import Store
    from recall.card import Card
    from recall.filling import Entry
    from recall.ledger import Seen
    from recall.named import Asked
    from recall.views import View, Views

BEST = 8  # hits that are judged, and one of each of so many other roots
DEPTH = 500  # documents of one root that are read to find them
LOOKED_AT = 64_000  # characters of a prompt: of more the first and the last half
_BEYOND_ASCII = 4  # times as long other characters take
MOST_NAMED = 20  # notes of one root that a prompt may ask for by name

_MARKS = ".,:;!?()\"'`*"  # what may stand around a plain word

# Why a prompt got no card, or that it got some, in the log's words.
NOTHING, NOBODYS, CARDS = "nothing found", "nobody's name", "cards"


class Recalling:
    """The way from one prompt to its cards.

    ``judged`` are the hits that were considered, best first; ``cards`` those made so far, which is
    what there is when the deadline comes, and ``noted`` what the ledger has to keep of each.
    ``why`` says in the log's words what came of it.
    """

    def __init__(self, prompt: str, views: Views, fs: FileSystem) -> None:
        self.prompt = ends_of(prompt)
        self.views = views
        self.judged: list[Judged] = []
        self.question: Question | None = None
        self.why = NOTHING
        self._fs = fs
        self._live: list[tuple[View, Store, Filter, bool]] = []
        self._filling: Filling | None = None

    @property
    def cards(self) -> list[Card]:
        """The cards that are made so far."""
        return [] if self._filling is None else self._filling.cards

    @property
    def noted(self) -> list[Entry]:
        """What the ledger has to keep of each card."""
        return [] if self._filling is None else self._filling.noted

    def run(self, seen: Seen, cwd: str, places: int, sensitivity: float, *, journal: bool) -> None:
        """Find the cards, ``places`` at most; parameters as the settings have them.

        A cache that proves to be damaged is done without, as is a strict root with a violation.
        """
        while True:
            now = self._fs.now_ns() // 1000
            self._live = self.views.searched(cwd, journal=journal, valid_at=now)
            if not self._live:
                return
            try:
                self._find(seen, cwd, sensitivity)
                if self._filling is not None:
                    self._filling.fill(self.judged, places)
            except db.TROUBLE as error:
                self._filling, self.judged = None, []
                if not self.views.blame(error):
                    raise
            except Exception as error:
                # A violation in a strict root. Its class is loaded only where there is such a root.
                if not self.views.refuse(error):
                    raise
                self._filling, self.judged = None, []
            else:
                self.why = self._reason()
                return

    def _find(self, seen: Seen, cwd: str, sensitivity: float) -> None:
        """Find and judge the hits, and get the filling of the places ready."""
        stores = [store for _, store, _, _ in self._live]
        counted = [each for _, _, _, each in self._live]
        asked = Question(self.prompt, stores, Analyzers(), counted)
        self.question = asked
        roots = [view.root for view, _, _, _ in self._live]
        near = [view.near for view, _, _, _ in self._live]
        scorer = Scorer(asked, near)
        best = slots.shortlist(
            self._ordered(asked, scorer), BEST, BEST, lambda hit: self._of(hit).identity
        )
        named: list[Hit] = []
        only_names = False
        names: Asked | None = None
        if may_name(self.prompt, [hit.title for hit in best]):
            from recall.named import Asked

            names = Asked(self.prompt, asked.wording, os.path.realpath(cwd))
            named = self._named(names, best)
            only_names = names.is_only_names()
        rest = [hit for hit in best if hit not in named]
        self._judge(asked, named, rest, seen, sensitivity)
        if only_names and not named:
            for judged in self.judged:
                judged.refuse_but(gate.IDENTIFIER, NOBODYS)
        if self.judged:
            wanted = [part for _, _, part, _ in self._live]
            dresser = Dresser(roots, wanted, self._fs, asked, scorer)

            def asks_for(hit: Hit) -> bool:
                return names is not None and names.asks_for(hit, roots[hit.root])

            self._filling = Filling(asked, dresser, sensitivity, seen, self._entry, asks_for)

    def _ordered(self, asked: Question, scorer: Scorer) -> list[Hit]:
        """Return the best hits of each root in one order."""
        if not asked.terms:
            return []
        stores = [store for _, store, _, _ in self._live]
        wanted = [part for _, _, part, _ in self._live]
        depth = max(3, min(BEST, 4 * BEST // len(stores)))
        found = candidates(
            stores, wanted, asked.parts, asked.whole, asked.terms, depth, each=True, most=DEPTH
        )
        for hit in found:
            scorer.score(hit)
        return rank.ordered(found)

    def _of(self, hit: Hit) -> View:
        return self._live[hit.root][0]

    def _named(self, names: Asked, hits: Sequence[Hit]) -> list[Hit]:
        """Return the notes that the prompt asks for by name, of these hits and of all others."""
        found = list(hits)
        places = {(hit.root, hit.path, hit.line) for hit in hits}
        for number, (view, store, part, _) in enumerate(self._live):
            wanted = names.wanted(view.root)
            if not wanted:
                continue
            from index_cache.lookup import by_name  # few prompts have a name in them

            # Who names a journal means that one.
            anyway = Filter(
                under=part.under, without=part.without, journal=True, valid_at=part.valid_at
            )
            asked_for = [*wanted.paths], [*wanted.names], [*wanted.ids]
            for hit in by_name(store, anyway, *asked_for, MOST_NAMED):
                hit.root = number
                if (number, hit.path, hit.line) not in places:
                    found.append(hit)
        return names.choose(found, [view.root for view, _, _, _ in self._live])

    def _judge(
        self,
        asked: Question,
        named: Sequence[Hit],
        rest: Sequence[Hit],
        seen: Seen,
        sensitivity: float,
    ) -> None:
        self.judged = [self._judged(hit, None, seen, named=True) for hit in named]
        for hit, decision in zip(
            rest, decisions(asked, asked.whole, rest, sensitivity), strict=True
        ):
            self.judged.append(self._judged(hit, decision, seen, named=False))

    def _judged(
        self, hit: Hit, decision: gate.Decision | None, seen: Seen, *, named: bool
    ) -> Judged:
        view = self._of(hit)
        known = seen.has(*self._entry(hit))
        judged = Judged(hit, view.root.name, view.identity, near=view.near, known=known)
        judged.named, judged.decision = named, decision
        if not judged.is_wanted:
            judged.fate = GATE
        return judged

    def _entry(self, hit: Hit) -> Entry:
        # A record has no place of its own: lines move.
        path = hit.path + b":" + hit.digest.hex().encode() if hit.line else hit.path
        return ledger.document(self._of(hit).identity, path), hit.digest

    def _reason(self) -> str:
        if self.cards:
            return CARDS
        fates = {judged.fate for judged in self.judged}
        return next((fate for fate in (NOBODYS, SHOWN, GONE, GATE) if fate in fates), NOTHING)


def ends_of(prompt: str) -> str:
    """Return a prompt, or of one that is too long for its time its first and last words.

    What is asked stands before or behind what was pasted.
    """
    prompt = prompt.strip()  # then both ends begin or end with a word
    most = LOOKED_AT if prompt.isascii() else LOOKED_AT // _BEYOND_ASCII
    if len(prompt) <= most:
        return prompt
    # What was cut in two is no word; where there are no blanks, it is.
    head = prompt[: most // 2].rsplit(None, 1)[0]
    tail = prompt[-most // 2 :].split(None, 1)[-1]
    return f"{head} {tail}"


def may_name(prompt: str, titles: Iterable[str]) -> bool:
    """Tell whether a prompt may ask for a note by name; to know takes two more modules, .3 ms.

    Plain words are no path and no id, and a title is asked for by all of its words.
    """
    plain = all(chunk.strip(_MARKS).isalpha() for chunk in prompt.split())
    if not plain or not prompt.isascii():
        return True
    lowered = prompt.lower()
    return any(not title.isascii() or _is_said(title.lower(), lowered) for title in titles)


def _is_said(title: str, prompt: str) -> bool:
    """Tell whether a prompt has all words of a title, wherever; both in lower case."""
    # Of most titles the first words tell.
    if any(word.isalpha() and word not in prompt for word in title.split()):
        return False
    words = "".join(char if char.isalnum() else " " for char in title).split()
    return all(word in prompt for word in words)
