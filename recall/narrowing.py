"""Operators of a search over some caches: what these know of, and the filters that come of it.

See ``spec/operators.md``.
"""

from __future__ import annotations

import time
from functools import cache, partial
from itertools import chain
from unicodedata import normalize

from index_cache import listing, search
from index_cache.analyze import ENGLISH
from index_cache.filters import Filter, lower
from index_cache.globs import Globs
from index_cache.guard import guarded, is_signature, is_text
from recall import rank
from recall.asked import Question
from recall.operators import Known, Operators, parse, passes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from index_cache.analyze import Analyzer, Analyzers
    from index_cache.filters import Phrase
    from index_cache.model import Hit, Root, Term
    from index_cache.store import Store


def understood(
    text: str, roots: Sequence[Root], stores: Sequence[Store | None], analyzers: Analyzers
) -> Operators | None:
    """Return what is understood of a text, None if it is text alone.

    ``stores`` are the caches of the ``roots``, None where there is no view. Raises Damaged as all
    that reads a store.
    """
    found = parse(text, _known(roots, stores, analyzers))
    return found or None


def _known(roots: Sequence[Root], stores: Sequence[Store | None], analyzers: Analyzers) -> Known:
    live = [store for store in stores if store is not None]

    @cache
    def names(column: str) -> frozenset[str]:
        return frozenset(chain(*(_names(store, column) for store in live)))

    @cache
    def paths() -> list[bytes]:
        return [*chain(*(store.paths() for store in live))]

    return Known(
        root=lambda name: any(root.name == name for root in roots),
        type=lambda name: lower(name) in names("type"),
        tag=lambda name: lower(normalize("NFC", name)) in names("tags"),
        path=lambda glob: any(map(Globs([glob]).match, paths())),
        words=lambda words: bool(analyzers[ENGLISH].terms(words)),
        now=time.time(),
    )


@guarded
def _names(store: Store, column: str) -> set[str]:
    """Return the different lines of a column of texts, in lower case."""
    rows = store.connection.execute(f"SELECT DISTINCT {column} FROM document")  # noqa: S608 - ours
    texts = [text for (text,) in rows]
    if not all(map(is_text, texts)):
        raise store.damaged("a row of a document can't be read")
    return {name for text in texts for name in lower(str(text)).split("\n")}


def narrow(
    roots: Sequence[Root],
    stores: Sequence[Store | None],
    wanted: Sequence[Filter | None],
    operators: Operators | None,
    analyzers: Analyzers,
) -> list[Filter | None]:
    """Return each root's filter with what the operators, if any, ask for besides.

    ``stores`` are as for ``understood``.
    """
    if operators is None:
        return [*wanted]
    live = [store for store in stores if store is not None]
    spoken = dict.fromkeys([ENGLISH, *(each for s in live for each in search.languages(s))])

    def phrases(texts: Iterable[str]) -> list[list[Phrase]]:
        return [
            [*dict.fromkeys(_phrase(analyzers[each], text) for each in spoken)] for text in texts
        ]

    path = Globs(operators.paths).match if operators.paths else None
    dated = operators.after is not None or operators.before is not None
    after_and_before = partial(_is_between, operators.after, operators.before) if dated else None
    return [
        None
        if part is None or (operators.roots and root.name not in operators.roots)
        else Filter(
            _both(part.types, operators.types),
            part.under,
            part.without,
            journal=part.journal,
            proposal=part.proposal,
            tags=[normalize("NFC", tag) for tag in operators.tags],
            path=path,
            time=after_and_before,
            phrases=phrases(operators.phrases),
            excluded=[*chain(*phrases(operators.without))],
            valid_at=part.valid_at,
        )
        for root, part in zip(roots, wanted, strict=True)
    ]


def _phrase(analyzer: Analyzer, text: str) -> Phrase:
    """Return the terms of a text as notes have them, one after another.

    But for a single character at the end of its last run: there the notes' own may go on.
    """
    terms, words = analyzer.terms(text), analyzer.words(text)
    if words and terms[-1] not in words[-1]:
        terms.pop()
    return tuple(terms)


def _both(types: Sequence[str] | None, others: Sequence[str]) -> Sequence[str] | None:
    """Return the types of a filter that are among others too, all if there are no others."""
    if types is None or not others:
        return others or types
    among = {lower(each) for each in others}
    return [each for each in types if lower(each) in among]


def _is_between(after: str | None, before: str | None, modified: str, signature: bytes) -> bool:
    return is_signature(signature) and passes(rank.when(modified, signature), after, before)


def question(
    operators: Operators,
    stores: Sequence[Store],
    analyzers: Analyzers,
    counted: Sequence[bool],
) -> tuple[Question, list[Term]]:
    """Return what is searched for in some caches, and its terms with all of the phrases."""
    phrases = operators.phrases
    asked = Question(operators.text, stores, analyzers, counted, phrases=phrases, thorough=True)
    return asked, [*asked.terms, *chain(*map(asked.wording.terms, phrases))]


def listed(
    stores: Sequence[Store], wanted: Sequence[Filter | None]
) -> tuple[int, int, Callable[[int | None], list[Hit]]]:
    """Return how many notes pass the filters, and what returns the first so many, or all of them.

    Between the two, how many would pass, but are not valid now.

    The last modified come first. No words are asked for.
    """
    places = listing.newest(stores, wanted, _when)
    not_valid = sum(
        listing.count_invalid(store, part)
        for store, part in zip(stores, wanted, strict=True)
        if part is not None
    )
    return len(places), not_valid, lambda wide: listing.hits(stores, wanted, places[:wide])


def _when(modified: str, signature: bytes) -> str:
    return rank.when(modified, signature) if is_signature(signature) else ""
