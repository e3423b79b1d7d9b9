"""A question as terms, with what some caches say of each: shared by the search and the hook."""

from __future__ import annotations

from itertools import chain

from index_cache import search
from index_cache.search import Statistics
from recall import query
from recall.wording import Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.analyze import Analyzers
    from index_cache.store import Store

_MOST_UNKNOWN = 4  # words of a question that are guessed at
_MOST_ALIKE = 20_000  # terms of a root that are looked at for one of them
_MOST_PAIRS = 200  # that one character stands for
# Without one of these in it a text has no operator (``recall.operators``).
SIGNS = ('"', "not:", "tag:", "type:", "root:", "path:", "before:", "after:")


def may_narrow(text: str) -> bool:
    """Tell whether there may be operators in a text, without loading what understands them."""
    return any(sign in text for sign in SIGNS)


class Question:
    """Any text, looked up in the caches of one search.

    ``looked_up`` are its different terms, ``parts`` the statistics of each of the ``stores`` for
    all of them, ``whole`` the sum of those that are ``counted`` (all of them if that is None),
    ``terms`` those that are worth searching for, and ``wording`` what made them. Of each of the
    ``phrases``, texts that notes must have, the rarest term is one of them in any case: what has
    the phrase is found by it. With ``thorough`` misspelt words are found, and common ones count.
    """

    __slots__ = ("looked_up", "parts", "terms", "text", "whole", "wording")

    def __init__(
        self,
        text: str,
        stores: Sequence[Store],
        analyzers: Analyzers,
        counted: Sequence[bool] | None = None,
        *,
        phrases: Sequence[str] = (),
        thorough: bool = False,
    ) -> None:
        self.wording = Wording(analyzers, [each for s in stores for each in search.languages(s)])
        quoted = [self.wording.terms(phrase) for phrase in phrases]
        self.looked_up = query.to_look_up(self.wording.terms(text))
        if quoted:
            self.looked_up = list(dict.fromkeys([*self.looked_up, *chain(*quoted)]))
        self.text = text
        self.parts = [search.statistics(store, self.looked_up) for store in stores]
        self.whole = Statistics.sum(self.parts, counted)
        if self._widen(stores, thorough=thorough):
            self.whole = Statistics.sum(self.parts, counted)
        few = self.whole.documents < query.FEW_DOCUMENTS
        filler = self.wording.filler(text, query.FILLER) if few else frozenset[str]()
        self.terms = query.choose(self.looked_up, self.whole, filler, common=thorough and few)
        for phrase in quoted:
            self.terms += query.rarest(phrase, self.whole, besides=self.terms)

    def _widen(self, stores: Sequence[Store], *, thorough: bool) -> bool:
        """Give terms that no note has the forms that they may stand for; tell whether any has some.

        A single character of a script without blanks stands for all pairs that begin with it; with
        ``thorough`` a word for those that look like it.
        """
        unknown = [
            term
            for term in self.looked_up
            if term not in self.whole.frequency
            and (_is_single(term) or (thorough and term.isalpha()))
        ]
        if not unknown:
            return False
        from recall import spelling  # most words are spelt right

        widened = False
        for term in unknown[:_MOST_UNKNOWN]:
            begin = term if _is_single(term) else spelling.beginning(term)
            known = {each for s in stores for each in search.beginning(s, begin, _MOST_ALIKE)}
            forms = sorted(known)[:_MOST_PAIRS] if _is_single(term) else spelling.alike(term, known)
            if forms:
                widened = True
                term.forms = (*term.forms, *forms)
                for store, part in zip(stores, self.parts, strict=True):
                    part.learn(search.statistics(store, [term]))
        return widened


def _is_single(term: str) -> bool:
    """Tell whether a term is one character that is no ASCII letter: of scripts without blanks."""
    return len(term) == 1 and not term.isascii()
