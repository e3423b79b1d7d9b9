"""A question as terms, with what some caches say of each: shared by the search and the hook."""

from __future__ import annotations

from itertools import chain

from index_cache import search
from recall import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.analyze import Analyzer
    from index_cache.store import Store

# Without one of these in it a text has no operator (``recall.operators``).
SIGNS = ('"', "not:", "tag:", "type:", "root:", "path:", "before:", "after:")


def may_narrow(text: str) -> bool:
    """Tell whether there may be operators in a text, without loading what understands them."""
    return any(sign in text for sign in SIGNS)


class Question:
    """Any text, looked up in the caches of one search.

    ``looked_up`` are its different terms, ``parts`` the statistics of each of the ``stores`` for
    all of them, ``whole`` the sum of those that are ``counted`` (all of them if that is None),
    ``terms`` those that are worth searching for, and ``analyzer`` what made them. Of each of the
    ``phrases``, terms that must stand together, the rarest is one of them in any case: what has
    the phrase is found by it.
    """

    __slots__ = ("analyzer", "looked_up", "parts", "terms", "text", "whole")

    def __init__(
        self,
        text: str,
        stores: Sequence[Store],
        analyzer: Analyzer,
        counted: Sequence[bool] | None = None,
        phrases: Sequence[Sequence[str]] = (),
    ) -> None:
        self.looked_up = query.to_look_up(analyzer.terms(text))
        if phrases:
            self.looked_up = list(dict.fromkeys([*self.looked_up, *chain(*phrases)]))
        self.text = text
        self.analyzer = analyzer
        self.parts = [search.statistics(store, self.looked_up) for store in stores]
        self.whole = search.Statistics.sum(self.parts, counted)
        self.terms = query.choose(self.looked_up, self.whole, set(analyzer.terms(query.FILLER)))
        for phrase in phrases:
            self.terms += query.rarest(phrase, self.whole, besides=self.terms)
