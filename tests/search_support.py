"""Caches in memory with documents of a test's own, and FTS5 itself to compare with."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import apsw

from index_cache import schema, search
from index_cache.analyze import TOKENIZER, Analyzer, Analyzers
from index_cache.candidates import candidates
from index_cache.filters import JOURNAL, Filter, is_journal
from index_cache.model import Root, Term
from index_cache.rows import Entry, Row
from index_cache.search import Statistics
from index_cache.store import Store
from recall.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from index_cache.model import Hit

ANALYZER = Analyzer()
WORDING = Wording(Analyzers())
Fields = dict[str, str]
ANYTHING = Filter(journal=True)


def row(number: int, path: str, fields: Fields, *, replaces: bool = False) -> Row:
    """Return the row of a document with these searchable fields."""
    texts = tuple(fields.get(name, "") for name in schema.FIELDS)
    title, aliases, description, tags, kind, _, _ = texts
    digest = hashlib.sha256(repr(texts).encode()).digest()
    standing = ("", "", "", "", "", "unverified", "")
    recorded = ("", "", "", "", "", None, None, None)
    document = (path, title, description, kind, tags, aliases, "en", *standing, *recorded)
    entry = Entry(path.encode(), bytes(40), digest, suspect=False)
    terms = list(map(ANALYZER.text, texts))
    if is_journal(kind):
        terms[schema.TYPE] += f" {JOURNAL}"
    return Row(number, entry, document, tuple(terms), replaces=replaces)


def store(documents: Mapping[str, Fields], name: str = "r") -> Store:
    """Return a cache in memory that holds these documents by path."""
    made = Store.create(Root(name, f"/{name}"), None)
    made.write([row(number, *each) for number, each in enumerate(documents.items(), 1)])
    return made


def terms(*names: str) -> list[Term]:
    """Return terms of one form each."""
    return list(map(Term, names))


def terms_of(query: str) -> list[Term]:
    """Return the different terms of a query in order."""
    return terms(*dict.fromkeys(ANALYZER.terms(query)))


def found(
    stores: Sequence[Store],
    terms: Sequence[Term],
    k: int = 1_000_000,
    filters: Sequence[Filter | None] | None = None,
    counted: Sequence[bool] | None = None,
) -> list[Hit]:
    """Return the candidates of a search, best first, ties by root and path."""
    parts = [search.statistics(each, terms) for each in stores]
    filters = filters or [ANYTHING] * len(stores)
    whole = Statistics.sum(parts, counted)
    hits = candidates(stores, filters, parts, whole, terms, k)
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.root, hit.path))


def by_fts5(documents: Mapping[str, Fields], terms: Sequence[Term]) -> dict[str, float]:
    """Return the scores that FTS5 itself gives to documents in one plain table, by path."""
    connection = apsw.Connection(":memory:")
    columns = ", ".join(schema.FIELDS)
    connection.execute(
        f'CREATE VIRTUAL TABLE f USING fts5 (file UNINDEXED, {columns}, tokenize="{TOKENIZER}")'
    )
    insert = f"INSERT INTO f VALUES (?{', ?' * len(schema.FIELDS)})"  # noqa: S608 - ours
    for path, fields in documents.items():
        texts = [ANALYZER.text(fields.get(name, "")) for name in schema.FIELDS]
        connection.execute(insert, (path, *texts))
    if not terms:
        return {}
    weights = ", ".join(map(str, schema.WEIGHTS))
    statement = f"SELECT file, -bm25(f, 0.0, {weights}) FROM f WHERE f MATCH ?"  # noqa: S608 - ours
    scores = dict(connection.execute(statement, (search.expression(terms),)))
    connection.close()
    return scores
