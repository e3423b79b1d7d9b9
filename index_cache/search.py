"""What caches say of terms, the bm25 that comes of it, and what all that reads documents shares.

The bm25 is FTS5's (https://sqlite.org/fts5.html#the_bm25_function), over several caches as if they
were one. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

from math import log

from index_cache import schema
from index_cache.guard import (
    check_totals,
    guarded,
    is_digest,
    is_path,
    is_signature,
    is_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index_cache.filters import Filter
    from index_cache.model import Hit, Term
    from index_cache.store import Store


# FTS5's own constants, and its floor for terms that more than half of the documents have.
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6

SATURATED = _K1 + 1  # how many idfs a term brings at most
_LAST = "\U0010ffff"  # sorts behind all that can follow in a term
_AT_ONCE = 500  # forms that one statement asks for


class Statistics:
    """What bm25 needs of a corpus: documents, terms in all of them, documents with each term.

    ``forms`` are those of the terms that any document of one root has.
    """

    __slots__ = ("documents", "forms", "frequency", "terms")

    def __init__(
        self,
        documents: int,
        terms: int,
        frequency: dict[str, int],
        forms: frozenset[str] = frozenset(),
    ) -> None:
        self.documents = documents
        self.terms = terms
        self.frequency = frequency
        self.forms = forms

    @property
    def average_length(self) -> float:
        """Terms in a document on average."""
        return self.terms / self.documents if self.documents else 0.0

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term, as FTS5 reckons it."""
        count = self.frequency.get(term, 0)
        return max(log((self.documents - count + 0.5) / (count + 0.5)), _LEAST_IDF)

    def weight(self, term: str) -> float:
        """Return how telling a term is: the same, but never nothing, however common it is."""
        return self.weight_of(self.frequency.get(term, 0))

    def weight_of(self, count: int) -> float:
        """Return what ``weight`` does of a term that ``count`` documents have."""
        return log(1 + (self.documents - count + 0.5) / (count + 0.5))

    def learn(self, more: Statistics) -> None:
        """Take in what the same corpus says of more forms of some terms."""
        self.frequency.update(more.frequency)
        self.forms |= more.forms

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


def bound(part: Statistics, whole: Statistics, terms: Sequence[Term]) -> float:
    """Return by what factor, at most, a document's common score exceeds its own root's.

    A term's share is idf times a saturation that falls with length / average length: the first
    grows by the ratio of the idfs, the second by no more than the ratio of the averages.
    """
    rarity = max(whole.idf(term) / part.idf(term) for term in terms if term in part.frequency)
    return rarity * max(1.0, whole.average_length / part.average_length)


def norm(length: float, average: float) -> float:
    """Return what a frequency saturates against in a text so long, with the others' average."""
    return _K1 * (1 - _B + _B * length / average)


def norms(whole: Statistics) -> tuple[float, float]:
    """Return what the saturation of a term begins with, and what each term of a document adds."""
    return _K1 * (1 - _B), _K1 * _B / whole.average_length


def contributions(hit: Hit, whole: Statistics, terms: Sequence[str]) -> list[float]:
    """Return what each term adds to a hit's score: FTS5's bm25 with its sign turned."""
    against = norm(hit.length, whole.average_length)
    shares = []
    for term, counts in zip(terms, hit.occurrences, strict=True):
        frequency = weighted(counts)
        shares.append(
            whole.idf(term) * frequency * SATURATED / (frequency + against) if frequency else 0.0
        )
    return shares


def weighted(counts: Sequence[int] | None) -> float:
    """Return a term's occurrences with each one weighed by its field."""
    if not counts:
        return 0.0
    return sum(w * n for w, n in zip(schema.WEIGHTS, counts, strict=True))


@guarded
def statistics(store: Store, terms: Iterable[Term]) -> Statistics:
    """Return one root's statistics for these terms. Raises Damaged as all that reads a store.

    A document has a term when it has one of its forms. Few have two of them, so they are not told
    apart from as many documents with one.
    """
    totals = check_totals(store)
    asked = [*terms]
    known = _documents(store, [form for term in asked for form in term.forms])
    frequency = {}
    for term in asked:
        found = sum(known.get(form, 0) for form in term.forms)
        if found:
            frequency[str(term)] = min(found, totals.documents)
    return Statistics(totals.documents, totals.terms, frequency, frozenset(known))


def _documents(store: Store, forms: Sequence[str]) -> dict[str, int]:
    """Return how many documents have each of these forms, of those that any has.

    Several at once: a statement for each took a third longer, times the roots and the words.
    """
    found: dict[str, int] = {}
    for at in range(0, len(forms), _AT_ONCE):
        part = forms[at : at + _AT_ONCE]
        rows = store.connection.execute(
            f"SELECT term, doc FROM (VALUES {', '.join(['(?)'] * len(part))}) AS asked"  # noqa: S608
            " CROSS JOIN vocabulary WHERE term = asked.column1",
            part,
        )
        found.update(rows)
    return found


@guarded
def beginning(store: Store, begin: str, most: int) -> list[str]:
    """Return the terms of a root that begin with some letters, at most so many of them."""
    select = "SELECT term FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?"
    return [term for (term,) in store.connection.execute(select, (begin, begin + _LAST, most))]


@guarded
def languages(store: Store) -> list[str]:
    """Return the languages of a root's notes besides English, in order; "" for an unknown one."""
    found: list[str] = []
    least = ""
    select = "SELECT min(language) FROM document WHERE language <> 'en' AND language >= ?"
    while True:
        ((language,),) = store.connection.execute(select, (least,))
        if language is None:
            return found
        found.append(language)
        least = f"{language}\0"  # what comes next at the earliest


def expression(terms: Iterable[Term]) -> str:
    """Return the FTS5 expression for any of ``terms``, none of which can be an operator in it."""
    forms = (form for term in terms for form in term.forms)
    return " OR ".join('"' + form.replace('"', '""') + '"' for form in forms)


# The ends of two indexes that few documents are in; what is no number sorts last.
_ENDS = (
    "SELECT (SELECT valid_from_at FROM document WHERE valid_from_at IS NOT NULL"
    " ORDER BY valid_from_at DESC LIMIT 1), (SELECT valid_until_at FROM document"
    " WHERE valid_until_at IS NOT NULL ORDER BY valid_until_at LIMIT 1)"
)


def invalid(store: Store, wanted: Filter) -> str:
    """Return SQL for the numbers of what is not valid when it must be, "" if all of it is."""
    at = wanted.valid_at
    if at is None:
        return ""
    ((last, first),) = store.connection.execute(_ENDS)
    if not (_is_instant(last) and _is_instant(first)):
        raise store.damaged(ORPHAN)
    if (last is None or last <= at) and (first is None or first > at):
        return ""
    return (
        f"SELECT id FROM document WHERE valid_from_at > {at:d}"  # noqa: S608 - a number
        f" UNION ALL SELECT id FROM document WHERE valid_until_at <= {at:d}"
    )


@guarded
def count(store: Store, terms: Sequence[Term], wanted: Filter) -> int:
    """Return how many documents of a root have any of the terms and pass the filter."""
    return _count(store, terms, wanted, reading(store, wanted))


@guarded
def count_invalid(store: Store, terms: Sequence[Term], wanted: Filter) -> int:
    """Return how many documents would count, but are not valid when they must be."""
    if not invalid(store, wanted):
        return 0
    return _count(store, terms, wanted, reading(store, wanted, valid=False))


def _count(
    store: Store,
    terms: Sequence[Term],
    wanted: Filter,
    read: tuple[str, str, list[str | int | bytes]],
) -> int:
    sound_, condition, values = read
    statement = f"SELECT count(*), total({sound_}) {condition}"
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


def conditions(
    store: Store, wanted: Filter, *, valid: bool = True
) -> tuple[str, list[str | int | bytes]]:
    """Return a filter's SQL conditions with their values; a store then has what they call.

    Without ``valid`` they are for what is not valid when it must be.
    """
    for name, (arguments, function) in wanted.functions().items():
        store.connection.create_scalar_function(name, function, arguments)
    clauses, values = wanted.sql()
    without = invalid(store, wanted)
    return clauses + _but("d.id", without, valid=valid), values


def _but(number: str, without: str, *, valid: bool) -> str:
    return f" AND {number} {'NOT IN' if valid else 'IN'} ({without})" if without else ""


def reading(
    store: Store, wanted: Filter, *, valid: bool = True
) -> tuple[str, str, list[str | int | bytes]]:
    """Return SQL for whether a row is sound, for what a search reads, and the latter's values.

    ``valid`` is as for ``conditions``.

    All but the first, the FTS expression. Rows that are not sound stay, whatever the filter: they
    must be noticed. Where FTS5 alone can tell what passes, only it is asked: of a question's words
    half of all documents may have some, and looking at the rows of each takes five times as long.
    """
    if wanted.is_plain:
        without = invalid(store, wanted)
        rest = _but("f.rowid", without, valid=valid)
        return "1", f"FROM fts AS f WHERE f.fts MATCH ?{rest}", []
    clauses, values = conditions(store, wanted, valid=valid)
    condition = (
        "FROM fts AS f LEFT JOIN document AS d ON d.id = f.rowid"
        " LEFT JOIN entry AS e ON e.id = d.entry"
        f" WHERE f.fts MATCH ? AND ({SOUND} IS NOT TRUE OR (1{clauses}))"
    )
    return SOUND, condition, values


# What a Hit is filled from, after its length and occurrences.
ROW = (
    "e.path, e.signature, e.suspect, d.line, coalesce(d.digest, e.digest),"
    " d.record_id, d.title, d.description, d.type, d.tags, d.aliases, d.language, d.modified,"
    " d.status, d.stale_after, d.tier, d.excerpt, d.valid_from_at, d.valid_until_at"
)


def by_term(
    terms: Sequence[Term], forms: Sequence[tuple[list[int], Sequence[int]] | None]
) -> tuple[list[list[int] | None], list[Sequence[int]]]:
    """Return the counts and the places of each term, those of its most frequent form.

    Where a document has two forms of a word, both may stand for the same place in its text. What
    comes after the ``forms`` of all terms is left out.
    """
    counts: list[list[int] | None] = []
    places: list[Sequence[int]] = []
    at = 0
    for term in terms:
        found = [each for each in forms[at : at + len(term.forms)] if each]
        at += len(term.forms)
        best = max(found, key=lambda each: weighted(each[0]), default=(None, ()))
        counts.append(best[0])
        places.append(best[1])
    return counts, places


def _is_instant(value: object) -> bool:
    return value is None or isinstance(value, int)


def check_hit(hit: Hit, store: Store) -> None:
    """Raise Damaged when a hit's fields can't be what was written."""
    texts = (
        hit.record_id,
        hit.title,
        hit.description,
        hit.type,
        hit.tags,
        hit.aliases,
        hit.language,
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
        and all(map(_is_instant, (hit.line, hit.valid_from_at, hit.valid_until_at)))
    ):
        raise store.damaged("a row of what was found can't be read")
