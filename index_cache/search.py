"""Find candidates in several caches and score them as if they were one.

Each root's FTS table proposes candidates by its own bm25; the final score is FTS5's bm25 formula
(https://sqlite.org/fts5.html#the_bm25_function) with row counts, lengths and document frequencies
summed over all searched roots, each document once. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import marshal
from math import inf, log

from index_cache import schema
from index_cache.guard import (
    Guard,
    check_totals,
    guarded,
    is_digest,
    is_path,
    is_signature,
    is_text,
)
from index_cache.model import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from index_cache.filters import Filter
    from index_cache.store import Store

# FTS5's own constants, and its floor for terms that more than half of the documents have.
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

# A root whose own order may differ much from the common one is read this far and no further, but
# for what ties with the last: where a term is common in one root and rare in the others, the
# bound says nothing. Reading on is cheap, .3 µs a document in a root of 40,000.
MAX_CANDIDATES = 20_000
_DEPTH_COST = 1.0 + 1e-9  # the bound must survive rounding
# Documents that the terms of the first pass have, together: so few are as fast with all terms. Each
# further pass goes over so many times as many.
_FIRST_PASS = 1_000
_NEXT_PASS = 4


class Statistics:
    """What bm25 needs of a corpus: documents, terms in all of them, documents with each term."""

    __slots__ = ("documents", "frequency", "terms")

    def __init__(self, documents: int, terms: int, frequency: dict[str, int]) -> None:
        self.documents = documents
        self.terms = terms
        self.frequency = frequency

    @property
    def average_length(self) -> float:
        """Terms in a document on average."""
        return self.terms / self.documents if self.documents else 0.0

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, as FTS5 reckons it."""
        count = self.frequency.get(term, 0)
        return max(log((self.documents - count + 0.5) / (count + 0.5)), _LEAST_IDF)

    @classmethod
    def sum(cls, parts: Sequence[Statistics], counted: Sequence[bool] | None = None) -> Statistics:
        """Return the statistics of several corpora taken as one.

        One that is not ``counted`` has only documents that another one has as well. Where its cache
        is the newer one it may say more of them: then there are at least as many as it says.
        """
        total = cls(0, 0, {})
        frequency = total.frequency
        repeated = []
        for number, part in enumerate(parts):
            if counted is not None and not counted[number]:
                repeated.append(part)
                continue
            total.documents += part.documents
            total.terms += part.terms
            for term, count in part.frequency.items():
                frequency[term] = frequency.get(term, 0) + count
        for part in repeated:
            total.documents = max(total.documents, part.documents)
            total.terms = max(total.terms, part.terms)
            for term, count in part.frequency.items():
                frequency[term] = max(frequency.get(term, 0), count)
        return total


@guarded
def statistics(store: Store, terms: Iterable[str]) -> Statistics:
    """Return one root's statistics for these terms. Raises Damaged as all that reads a store."""
    totals = check_totals(store)
    frequency = {}
    for term in terms:
        rows = store.connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,))
        for (count,) in rows:
            frequency[term] = count
    return Statistics(totals.documents, totals.terms, frequency)


def _counts(api: apsw.FTS5ExtensionApi) -> bytes:
    """Return a document's length and, for each term of the query, its count in each field."""
    fields = range(len(schema.FIELDS))
    counts = []
    for phrase in range(api.phrase_count):
        places = api.phrase_columns(phrase)
        counts.append(
            [len(api.phrase_column_offsets(phrase, f)) if f in places else 0 for f in fields]
            if len(places)
            else None
        )
    return marshal.dumps((api.column_size(-1), counts))


def expression(terms: Sequence[str]) -> str:
    """Return the FTS5 expression for any of ``terms``, none of which can be an operator in it."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


@guarded
def count(store: Store, terms: Sequence[str], wanted: Filter) -> int:
    """Return how many documents of a root have any of the terms and pass the filter."""
    condition, values = _from(store, wanted)
    statement = f"SELECT count(*), total({SOUND}) {condition}"
    matched = wanted.narrowed(expression(terms))
    ((found, sound),) = store.connection.execute(statement, (matched, *values))
    if found != sound:
        raise store.damaged(ORPHAN)
    return int(found)


ORPHAN = "rows of documents are missing, or have gaps"
# What the filter looks at is there. A page of zeros passes its checksum, and may be the end of a
# long row; no text of ours has a NUL.
SOUND = (
    "(d.id IS NOT NULL AND e.id IS NOT NULL"
    " AND instr(d.type, char(0)) = 0 AND instr(e.path, x'00') = 0)"
)


def conditions(store: Store, wanted: Filter) -> tuple[str, list[str | bytes]]:
    """Return a filter's SQL conditions with their values; a store then has what they call."""
    for name, (arguments, function) in wanted.functions().items():
        store.connection.create_scalar_function(name, function, arguments)
    return wanted.sql()


def _from(store: Store, wanted: Filter) -> tuple[str, list[str | bytes]]:
    """Return what a search reads, as SQL, and its values but for the first, the FTS expression.

    Rows that are not sound stay, whatever the filter: they must be noticed.
    """
    clauses, values = conditions(store, wanted)
    return (
        "FROM fts AS f LEFT JOIN document AS d ON d.id = f.rowid"
        " LEFT JOIN entry AS e ON e.id = f.rowid"
        f" WHERE f.fts MATCH ? AND ({SOUND} IS NOT TRUE OR (1{clauses}))"
    ), values


# What a Hit is filled from, after its length and occurrences.
ROW = (
    "e.path, e.signature, e.suspect, e.digest,"
    " d.record_id, d.title, d.description, d.type, d.tags, d.modified, d.status,"
    " d.stale_after, d.tier, d.excerpt"
)
_COLUMNS = f"{SOUND}, recall_counts(f.fts), {ROW}"


def candidates(
    stores: Sequence[Store],
    filters: Sequence[Filter | None],
    parts: Sequence[Statistics],
    whole: Statistics,
    terms: Sequence[str],
    k: int,
    *,
    each: bool = False,
    most: int | None = None,
) -> list[Hit]:
    """Return at least the ``k`` best documents of all roots with all that tie with the last.

    ``filters`` and ``parts`` belong to the ``stores`` one by one; None as a filter leaves that
    root's documents out, but not its statistics. ``whole`` are the common statistics, by which
    all are scored. ``terms`` are different from one another. With ``each`` they are the best of
    each root. ``most`` bounds how far a root is read (MAX_CANDIDATES). The hits come in no
    particular order.
    """
    most = MAX_CANDIDATES if most is None else most
    best: list[float] = []  # the k best scores so far, in order once there are so many
    hits: list[Hit] = []

    def least() -> float:
        return best[-1] if len(best) == k else -inf

    for number, (store, wanted, part) in enumerate(zip(stores, filters, parts, strict=True)):
        if wanted is None or not any(term in part.frequency for term in terms):
            continue
        if each:
            best.clear()
        for hit in _Reading(store, wanted, part, whole, terms).hits(least, most):
            hit.root = number
            if hit.score >= least():
                hits.append(hit)
            if len(best) < k or hit.score > best[-1]:
                best.append(hit.score)
                if len(best) >= k:  # no heap: so few are sorted in the time that one is loaded
                    best.sort(reverse=True)
                    del best[k:]
    found = hits if each else [hit for hit in hits if hit.score >= least()]
    for hit in found:
        check_hit(hit, stores[hit.root])
    return found


class _Reading:
    """The documents of one root, read as far as they may be among the best.

    First only those with the rarest terms: what has none of these scores no more than the others
    can bring, so where that is not enough the common terms are never gone through (the essential
    lists of MaxScore: Turtle and Flood, Query evaluation, 1995).
    """

    def __init__(
        self,
        store: Store,
        wanted: Filter,
        part: Statistics,
        whole: Statistics,
        terms: Sequence[str],
    ) -> None:
        self._store = store
        self._wanted = wanted
        self._part = part
        self._whole = whole
        self._terms = terms
        self._seen: set[bytes] = set()

    def hits(self, least: Callable[[], float], most: int) -> Iterator[Hit]:
        """Yield scored hits; none that is left out reaches ``least``, which may rise meanwhile.

        But for those behind the first ``most`` in the root's own order that do not tie with the
        last of them.
        """
        frequency = self._part.frequency
        known = sorted((t for t in self._terms if t in frequency), key=frequency.__getitem__)
        for number in _passes([frequency[term] for term in known]):
            essential = self._terms if number == len(known) else known[:number]
            beyond = sum(self._whole.idf(term) * (_K1 + 1) for term in known[number:])
            yield from self._pass(essential, least, most)
            if beyond * _DEPTH_COST < least():
                return

    def _pass(
        self, essential: Sequence[str], least: Callable[[], float], most: int
    ) -> Iterator[Hit]:
        """Yield those with ``essential`` terms: first the ones that have others too."""
        others = [term for term in self._terms if term not in essential]
        for hit in _with_both(self._store, self._wanted, essential, others) if others else ():
            yield from self._scored(hit, [*essential, *others])
        bound = _bound(self._part, self._whole, essential) * _DEPTH_COST
        last = 0.0
        for read, (rank, hit) in enumerate(_proposed(self._store, self._wanted, essential)):
            if -rank * bound < least() or (read >= most and rank != last):
                return
            last = rank
            yield from self._scored(hit, essential)

    def _scored(self, hit: Hit, matched: Sequence[str]) -> Iterator[Hit]:
        """Yield a hit with its score if it has not been yielded; ``matched`` are its terms."""
        if hit.path in self._seen:
            return
        self._seen.add(hit.path)
        if matched is not self._terms:
            counts = dict(zip(matched, hit.occurrences, strict=True))
            hit.occurrences = [counts.get(term) for term in self._terms]
        hit.score = sum(contributions(hit, self._whole, self._terms))
        yield hit


def _passes(frequencies: Sequence[int]) -> Iterator[int]:
    """Yield how many of the rarest terms to begin with, then how many more; at last, all.

    ``frequencies`` are the numbers of their documents, the least first.
    """
    together, limit = 0, _FIRST_PASS
    for number, frequency in enumerate(frequencies):
        together += frequency
        if together > limit and number:
            yield number
            limit = together * _NEXT_PASS
    yield len(frequencies)


def _proposed(store: Store, wanted: Filter, terms: Sequence[str]) -> Iterator[tuple[float, Hit]]:
    """Yield a root's documents in the order of its own bm25, best first, as they are asked for."""
    # The weights are the query's own, not those that the file may name:
    # https://sqlite.org/fts5.html#sorting_by_auxiliary_function_results
    order = f" AND f.rank MATCH '{schema.RANK}' ORDER BY f.rank"
    return _read(store, wanted, "f.rank", expression(terms), order)


def _with_both(
    store: Store, wanted: Filter, some: Sequence[str], others: Sequence[str]
) -> Iterator[Hit]:
    """Yield the documents that have any of some terms and any of others, in no order.

    Without FTS5's bm25, which goes through all documents of each term to count them.
    """
    both = f"({expression(some)}) AND ({expression(others)})"
    return (hit for _, hit in _read(store, wanted, "0.0", both, ""))


def _read(
    store: Store, wanted: Filter, rank: str, matched: str, order: str
) -> Iterator[tuple[float, Hit]]:
    with Guard(store):
        # apsw's types leave out that the result may be a blob, as any SQLite value.
        store.connection.register_fts5_function("recall_counts", _counts)  # type: ignore[arg-type]
        condition, values = _from(store, wanted)
        besides = len(wanted.phrases) + len(wanted.excluded)
        statement = f"SELECT {rank}, {_COLUMNS} {condition}{order}"
        for found, sound, counts, *columns in store.connection.execute(
            statement, (wanted.narrowed(matched), *values)
        ):
            if not sound:
                raise store.damaged(ORPHAN)
            length, occurrences = marshal.loads(counts)  # noqa: S302 - ours
            del occurrences[len(occurrences) - besides :]
            yield found, Hit(length, occurrences, *columns)


def check_hit(hit: Hit, store: Store) -> None:
    """Raise Damaged when a hit's fields can't be what was written."""
    texts = (
        hit.record_id,
        hit.title,
        hit.description,
        hit.type,
        hit.tags,
        hit.modified,
        hit.status,
        hit.stale_after,
        hit.tier,
        hit.excerpt,
    )
    if not (
        is_path(hit.path)
        and is_signature(hit.signature)
        and is_digest(hit.digest)
        and all(map(is_text, texts))
    ):
        raise store.damaged("a row of what was found can't be read")


def _bound(part: Statistics, whole: Statistics, terms: Sequence[str]) -> float:
    """Return by what factor, at most, a document's common score exceeds its own root's.

    A term's share is idf times a saturation that falls with length / average length: the first
    grows by the ratio of the idfs, the second by no more than the ratio of the averages.
    """
    rarity = max(whole.idf(term) / part.idf(term) for term in terms if term in part.frequency)
    return rarity * max(1.0, whole.average_length / part.average_length)


def contributions(hit: Hit, whole: Statistics, terms: Sequence[str]) -> list[float]:
    """Return what each term adds to a hit's score: FTS5's bm25 with its sign turned."""
    if not terms:
        return []  # nothing was searched for; there may be no words at all
    norm = _K1 * (1 - _B + _B * hit.length / whole.average_length)
    shares = []
    for term, counts in zip(terms, hit.occurrences, strict=True):
        frequency = weighted(counts)
        shares.append(
            whole.idf(term) * frequency * (_K1 + 1) / (frequency + norm) if frequency else 0.0
        )
    return shares


def weighted(counts: Sequence[int] | None) -> float:
    """Return a term's occurrences with each one weighed by its field."""
    if not counts:
        return 0.0
    return sum(w * n for w, n in zip(schema.WEIGHTS, counts, strict=True))
