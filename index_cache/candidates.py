"""Propose the best documents of several caches, scored as if they were one: candidates.

Each root's FTS table proposes documents in the order of its own bm25; their common one is reckoned
with row counts, lengths and document frequencies summed over all searched roots, each document
once. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import sys
from math import inf

from index_cache import schema
from index_cache.guard import Guard
from index_cache.model import Hit, Term
from index_cache.search import (
    ORPHAN,
    ROW,
    SATURATED,
    SOUND,
    bound,
    check_hit,
    contributions,
    expression,
    norms,
    reading,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    import apsw

    from index_cache.filters import Filter
    from index_cache.search import Statistics
    from index_cache.store import Store

    # A document's length, that of its path, and of each term None or its places by field.
    Places = list[tuple[int, Sequence[int]]]
    Found = tuple[int, int, list[Places | None]]

# A root whose own order may differ much from the common one is read this far and no further, but
# for what ties with the last: where a term is common in one root and rare in the others, the
# bound says nothing. Reading on is cheap, .3 µs a document in a root of 40,000.
MAX_CANDIDATES = 20_000
_DEPTH_COST = 1.0 + 1e-9  # the bound must survive rounding
# Documents that the terms of the first pass have, together, of all roots. Each further pass goes
# over so many times as many, where there were not enough.
_FIRST_PASS = 2_000
_NEXT_PASS = 4
# The same where each root has passes of its own: going over so few takes less than one more pass.
_LEAST_PASS = 500
_AT_ONCE = 500  # documents whose rows one statement asks for


def candidates(
    stores: Sequence[Store],
    filters: Sequence[Filter | None],
    parts: Sequence[Statistics],
    whole: Statistics,
    terms: Sequence[Term],
    k: int | None,
    *,
    each: bool = False,
    most: int | None = None,
) -> list[Hit]:
    """Return the ``k`` best documents that have any of the rarest terms, and all that tie.

    With None as ``k`` it is all that have any of the terms.

    ``filters`` and ``parts`` belong to the ``stores`` one by one; None as a filter leaves that
    root's documents out, but not its statistics. ``whole`` are the common statistics, by which
    all are scored. ``terms`` are different from one another. With ``each`` they are the best of
    each root. ``most`` bounds how far a root is read (MAX_CANDIDATES). The hits come in no
    particular order.
    """
    if most is None:
        most = MAX_CANDIDATES if k is not None else sys.maxsize
    readings = [
        _Reading(number, store, wanted, part, whole, terms)
        for number, (store, wanted, part) in enumerate(zip(stores, filters, parts, strict=True))
        if wanted is not None and any(term in part.frequency for term in terms)
    ]
    known = sorted(
        (term for term in terms if term in whole.frequency),
        key=lambda term: (whole.frequency[term], term),
    )
    if not each:
        # By their documents in all searched roots, so that several roots propose what one root
        # with all of these would.
        passes = _passes([whole.frequency[term] for term in known], _FIRST_PASS)
        return _best(readings, known, passes, k, most)
    hits = []
    for one in readings:
        frequency = one.part.frequency
        own = [term for term in known if term in frequency]
        limit = max(_FIRST_PASS // len(readings), _LEAST_PASS)
        passes = _passes([frequency[term] for term in own], limit)
        hits += _best([one], own, passes, k, most)
    return hits


def _best(
    readings: Sequence[_Reading],
    known: Sequence[Term],
    passes: Iterable[int],
    k: int | None,
    most: int,
) -> list[Hit]:
    """Return the best documents of some roots, of those with the terms of as few passes as will do.

    ``known`` are the terms that any document has, the rarest first, and ``passes`` how many of
    these propose.
    """
    best = _All() if k is None else _Best(k)
    for number in passes:
        for each in readings:
            each.read(known[:number], best, most)
        if best.is_full:
            break
    return [hit for each in readings for hit in each.hits(best.least())]


class _Best:
    """The ``k`` best scores so far."""

    __slots__ = ("_k", "_scores")

    def __init__(self, k: int) -> None:
        self._k = k
        self._scores: list[float] = []  # in order

    @property
    def is_full(self) -> bool:
        """Whether there are ``k`` of them."""
        return len(self._scores) == self._k

    def least(self) -> float:
        """Return what a score must reach to be among them."""
        return self._scores[-1] if self.is_full else -inf

    def add(self, score: float) -> None:
        """Take a score in, if it is one of them."""
        if score <= self.least():
            return
        # No heap, and no import of one: what is nearly in order is sorted in a microsecond.
        self._scores.append(score)
        self._scores.sort(reverse=True)
        del self._scores[self._k :]


class _All(_Best):
    """All scores: none is left out."""

    def __init__(self) -> None:
        super().__init__(1)

    def add(self, score: float) -> None:
        """Have room for any other."""


class _Reading:
    """The documents of one root that have been scored."""

    def __init__(
        self,
        number: int,
        store: Store,
        wanted: Filter,
        part: Statistics,
        whole: Statistics,
        terms: Sequence[Term],
    ) -> None:
        self._number = number
        self._store = store
        self._wanted = wanted
        self.part = part
        self._whole = whole
        self._terms = terms
        # Without forms that no document here has: FTS5's bm25 takes half as long again with them.
        self._own = {
            term: Term(term, tuple(form for form in term.forms if form in part.forms))
            for term in terms
            if term in part.frequency
        }
        self._how: tuple[str, str, list[str | int | bytes]] | None = None
        self._scores: dict[int, float] = {}  # by row
        self._found: dict[int, Found] = {}

    def read(self, essential: Sequence[Term], best: _Best, most: int) -> None:
        """Score those with ``essential`` terms: first the ones that have others too.

        None is left out that is one of the ``best``, but for those behind the first ``most`` in
        the root's own order that do not tie with the last of them.
        """
        essential = [self._own[term] for term in essential if term in self._own]
        if not essential:
            return
        others = [own for own in self._own.values() if own not in essential]
        if others:
            # Without FTS5's bm25, which goes through all documents of each term to count them.
            both = f"({expression(essential)}) AND ({expression(others)})"
            for _ in self._rows([*essential, *others], both, "0.0", "", best):
                pass
        most_more = bound(self.part, self._whole, essential) * _DEPTH_COST
        # The weights are the query's own, not those that the file may name:
        # https://sqlite.org/fts5.html#sorting_by_auxiliary_function_results
        order = f" AND f.rank MATCH '{schema.RANK}' ORDER BY f.rank"
        last = 0.0
        rows = self._rows(essential, expression(essential), "f.rank", order, best)
        for read, rank in enumerate(rows):
            if -rank * most_more < best.least() or (read >= most and rank != last):
                return
            last = rank

    def _rows(
        self, matched: Sequence[Term], expression_: str, rank: str, order: str, best: _Best
    ) -> Iterator[float]:
        """Score each document of an expression, and yield what ``rank`` says of it."""
        with Guard(self._store):
            weighing = _Weighing(matched, self._whole, best.least, self._scores)
            self._store.weigher.weigh = weighing.weigh
            # Once: whether any document is not valid now takes a statement of its own.
            self._how = self._how or reading(self._store, self._wanted)
            sound, condition, values = self._how
            rows = self._store.connection.execute(
                f"SELECT {rank}, {sound}, f.rowid, recall_score(f.fts) {condition}{order}",
                (self._wanted.narrowed(expression_), *values),
            )
            for found, is_sound, row, score in rows:
                if not is_sound:
                    raise self._store.damaged(ORPHAN)
                if row not in self._scores:
                    self._scores[row] = score
                    best.add(score)
                    if weighing.last is not None:
                        self._found[row] = self._in_order(matched, weighing.last)
                yield found

    def _in_order(self, matched: Sequence[Term], found: Found) -> Found:
        places = dict(zip(matched, found[2], strict=True))
        return found[0], found[1], [places.get(term) for term in self._terms]

    def hits(self, least: float) -> Iterator[Hit]:
        """Yield the documents whose scores reach ``least``."""
        found = [(row, it) for row, it in self._found.items() if self._scores[row] >= least]
        for at in range(0, len(found), _AT_ONCE):
            part = dict(found[at : at + _AT_ONCE])
            select = (
                f"SELECT d.id, {SOUND}, {ROW} FROM document AS d"  # noqa: S608 - ours
                " LEFT JOIN entry AS e ON e.id = d.entry"
                f" WHERE d.id IN ({', '.join(map(str, part))})"
            )
            with Guard(self._store):
                rows = [*self._store.connection.execute(select)]
            if len(rows) < len(part) or not all(sound for _, sound, *_ in rows):
                raise self._store.damaged(ORPHAN)
            for row, _, *columns in rows:
                length, path, places = part[row]
                hit = Hit(length, length - path, *_told(places), *columns)
                check_hit(hit, self._store)
                hit.root = self._number
                hit.bm25 = sum(contributions(hit, self._whole, self._terms))
                yield hit


class _Weighing:
    """Scores documents while FTS5 has them at hand.

    Most of those that are gone through are not among the best: of these nothing else is read.
    ``known`` are the rows that have been scored before. ``last`` is what was found in the last one,
    None if it is not among the best.
    """

    def __init__(
        self,
        terms: Sequence[Term],
        whole: Statistics,
        least: Callable[[], float],
        known: Container[int],
    ) -> None:
        self._terms = [(whole.idf(term) * SATURATED, len(term.forms)) for term in terms]
        self._base, self._slope = norms(whole)
        self._least = least
        self._known = known
        self.last: Found | None = None

    def weigh(self, api: apsw.FTS5ExtensionApi) -> float:
        """Return a document's bm25, 0 if it is known; of a term's forms the commonest counts."""
        if api.rowid in self._known:
            return 0.0
        length = api.column_size(-1)
        norm = self._base + self._slope * length
        weights = schema.WEIGHTS
        score, phrase = 0.0, 0
        places: list[Places | None] = []
        for worth, forms in self._terms:
            most, best = 0.0, None
            for number in range(phrase, phrase + forms):
                columns = api.phrase_columns(number)
                if len(columns):
                    where: Places = [(c, api.phrase_column_offsets(number, c)) for c in columns]
                    frequency = sum([weights[c] * len(each) for c, each in where])
                    if frequency > most:
                        most, best = frequency, where
            phrase += forms
            places.append(best)
            if best is not None:
                score += worth * most / (most + norm)
        reaches = score >= self._least()
        self.last = (length, api.column_size(schema.PATH), places) if reaches else None
        return score


def _told(
    places: Sequence[Places | None],
) -> tuple[list[list[int] | None], list[Sequence[int]]]:
    """Return for each term its counts by field, or None, and its places in the body."""
    counts: list[list[int] | None] = []
    bodies: list[Sequence[int]] = []
    for where in places:
        if where is None:
            counts.append(None)
            bodies.append(())
            continue
        by_field = dict(where)
        counts.append([len(by_field.get(field, ())) for field in range(len(schema.FIELDS))])
        bodies.append(by_field.get(schema.BODY, ()))
    return counts, bodies


def _passes(frequencies: Sequence[int], limit: int) -> Iterator[int]:
    """Yield how many of the rarest terms to begin with, then how many more; at last, all.

    ``frequencies`` are the numbers of their documents, and ``limit`` is how many of these the
    first of them may have together.
    """
    together = 0
    for number, frequency in enumerate(frequencies):
        together += frequency
        if together > limit and number:
            yield number
            limit = together * _NEXT_PASS
    yield len(frequencies)
