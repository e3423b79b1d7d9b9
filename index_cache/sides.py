"""The two sides of a proof: what the notes say, row by row, and what a cache gives back.

Neither looks at the other. See ``spec/equivalence.md``.
"""

from __future__ import annotations

import hashlib
import marshal
from array import array

from index_cache import schema
from index_cache.equivalence import Leaf, Side, Vocabulary, leaf_of, terms_digest
from index_cache.guard import is_column, is_digest, is_path, is_signature, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    import apsw

    from index_cache.equivalence import Counts
    from index_cache.rows import Record, Row
    from index_cache.store import Store

_UNREADABLE = "a row of its documents can't be read"
_HOLE = "\0"  # no term: where a document has a place and no posting says what is there
_TEMPORARY = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.by_field USING fts5vocab (main, fts, col)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.posting USING fts5vocab (main, fts, instance)",
)


class Notes:
    """The notes' side while it is gathered, row by row.

    ``held`` is the cache's side that it will be compared with, None for none. The notes whose
    documents are the same in both are ``agreeing``.
    """

    def __init__(self, held: Side | None) -> None:
        self.agreeing: set[bytes] = set()
        self._held = held.leaves if held else {}
        self._leaves: dict[bytes, Leaf] = {}
        self._agreeing_terms = Vocabulary()
        self._other_terms = Vocabulary()

    def add(self, row: Row) -> None:
        """Take in what one file says."""
        entry = row.entry
        leaf = self._leaves[entry.path] = Leaf(entry.signature, entry.problem)
        if row.document and row.terms and entry.digest:
            self._fill(entry.path, leaf, entry.digest, row)

    def add_record(self, path: bytes, record: Record) -> None:
        """Take in what one line of a JSONL file says; the file itself is ``add``ed before."""
        file = self._leaves[path]
        key = leaf_of(path, record.line)
        leaf = self._leaves[key] = Leaf(file.signature, None)
        self._fill(key, leaf, record.digest, record)

    def _fill(self, key: bytes, leaf: Leaf, content: bytes, made: Row | Record) -> None:
        texts = [_single_spaced(text) for text in made.terms or ()]
        leaf.texts = b"".join(map(_sha256, texts))
        lengths = [text.count(" ") + bool(text) for text in texts]
        leaf.fill(content, made.document or (), lengths)
        held = self._held.get(key)
        agrees = held is not None and held.document == leaf.document
        if agrees:
            self.agreeing.add(key)
        (self._agreeing_terms if agrees else self._other_terms).add(made.pieces)

    def finish(self) -> Side:
        """End the reading and return the notes' side; then ``terms`` are those of all notes."""
        self._agreeing_counts = None if self._other_terms.empty else self._agreeing_terms.counts()
        self._agreeing_terms.update(self._other_terms)
        self.terms = self._agreeing_terms
        lines = self.terms.lines()
        self.different_terms = len(lines)
        return Side(self._leaves, terms_digest(lines))

    def agreeing_counts(self) -> Counts:
        """Return the counts of the terms of the notes that agree."""
        return self.terms.counts() if self._agreeing_counts is None else self._agreeing_counts


def _single_spaced(text: str) -> str:
    """Return terms with one blank between them: a chunk without any left two."""
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip()


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Held:
    """What a cache holds: ``side``, the row id of each path that has one, and what is nobody's.

    ``strays`` says that there are documents, lengths or postings that belong to no file, or that
    FTS5's totals are not the sums.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._connection = store.connection
        for statement in _TEMPORARY:
            self._connection.execute(statement)
        self.numbers: dict[bytes, int] = {}
        self._lengths = dict(self._all_lengths())
        leaves = dict(self._leaves())
        self.strays = self._has_strays()
        self.side = Side(leaves, terms_digest(self._lines()))

    def _lines(self) -> Iterator[str]:
        tab = "|| char(9) ||"
        rows: Iterable[Any] = self._connection.execute(
            f"SELECT term {tab} col {tab} doc {tab} cnt || char(10) FROM temp.by_field"  # noqa: S608
        )
        return (line for (line,) in rows)

    def counts(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Return (documents, occurrences) by term and by the number of its field."""
        names = {field: number for number, field in enumerate(schema.FIELDS)}
        rows: Iterable[Any] = self._connection.execute(
            "SELECT term, col, doc, cnt FROM temp.by_field"
        )
        return {
            (term, names[field]): (documents, occurrences)
            for term, field, documents, occurrences in rows
        }

    def _all_lengths(self) -> Iterator[tuple[int, Sequence[int]]]:
        self._connection.register_fts5_function("recall_lengths", _lengths)  # type: ignore[arg-type]
        for number, lengths in self._connection.execute(
            "SELECT rowid, recall_lengths(fts) FROM fts"
        ):
            yield number, marshal.loads(lengths)  # noqa: S302 - ours

    def _leaves(self) -> Iterator[tuple[bytes, Leaf]]:
        for path, signature, digest, problem, own, number, *row in self._connection.execute(
            "SELECT e.path, e.signature, e.digest, e.problem, e.id, d.*"
            " FROM entry AS e LEFT JOIN document AS d USING (id)"
        ):
            if not (is_path(path) and is_signature(signature) and is_text(problem or "")):
                raise self._store.damaged("a row of its manifest can't be read")
            leaf = Leaf(signature, problem)
            if number is not None:
                entry, line, none, *columns = row
                if (entry, line, none) != (own, 0, None):
                    raise self._store.damaged(_UNREADABLE)
                self._fill(path, leaf, number, digest, columns)
            yield path, leaf
        for path, signature, number, _, line, digest, *columns in self._connection.execute(
            "SELECT e.path, e.signature, d.* FROM document AS d"
            " LEFT JOIN entry AS e ON e.id = d.entry WHERE d.line > 0"
        ):
            if not (is_path(path) and isinstance(line, int)):
                raise self._store.damaged(_UNREADABLE)
            key = leaf_of(path, line)
            leaf = Leaf(signature, None)
            self._fill(key, leaf, number, digest, columns)
            yield key, leaf

    def _fill(
        self, key: bytes, leaf: Leaf, number: int, digest: object, columns: Sequence[Any]
    ) -> None:
        if not (isinstance(digest, bytes) and is_digest(digest) and all(map(is_column, columns))):
            raise self._store.damaged(_UNREADABLE)
        self.numbers[key] = number
        lengths = self._lengths.get(number, (-1,) * len(schema.FIELDS))
        leaf.fill(digest, columns, lengths)

    def _has_strays(self) -> bool:
        connection = self._connection
        ours = set(self.numbers.values())
        (documents,) = next(connection.execute("SELECT count(*) FROM document"))
        connection.register_fts5_function("recall_sums", _sums)  # type: ignore[arg-type]
        told = [
            marshal.loads(row[0])  # noqa: S302 - ours
            for row in connection.execute("SELECT recall_sums(fts) FROM fts LIMIT 1")
        ]
        sums = [sum(column) for column in zip(*self._lengths.values(), strict=True)]
        totals = [[len(self._lengths), *sums]] if sums else []
        return documents != len(ours) or self._lengths.keys() != ours or told != totals

    def of_documents(
        self, terms: Collection[str], paths: Collection[bytes]
    ) -> dict[tuple[str, int], tuple[int, int]]:
        """Return the counts of some terms in the documents at some paths."""
        numbers = {self.numbers[path] for path in paths if path in self.numbers}
        fields = {field: number for number, field in enumerate(schema.FIELDS)}
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for term in terms:
            places: dict[int, list[int]] = {}
            for document, field in self._connection.execute(
                "SELECT doc, col FROM temp.posting WHERE term = ?", (term,)
            ):
                if document in numbers:
                    places.setdefault(fields[field], []).append(document)
            for number, documents in places.items():
                found[term, number] = (len(set(documents)), len(documents))
        return found

    def read_postings(self) -> None:
        """Put every posting at its place, and give each document the digests of what comes out."""
        places = _Places(self._lengths)
        rows = self._connection.execute("SELECT term, doc, col, offset FROM temp.posting")
        self.strays |= places.take(rows)
        for path, number in self.numbers.items():
            if number in self._lengths:
                texts = map(" ".join, places.terms(number))
                self.side.leaves[path].texts = b"".join(map(_sha256, texts))


class _Places:
    """All terms of all documents in one array, field after field.

    A place is the number of its term in ``names``: 4 bytes, where text would take 60.
    """

    def __init__(self, lengths: Mapping[int, Sequence[int]]) -> None:
        self._names = [_HOLE]
        self._ranges: list[dict[int, tuple[int, int]]] = [{} for _ in schema.FIELDS]
        at = 0
        for number, of_fields in lengths.items():
            for ranges, length in zip(self._ranges, of_fields, strict=True):
                ranges[number] = (at, at + length)
                at += length
        self._terms = array("I", bytes(4 * at))

    def take(self, rows: Iterable[Any]) -> bool:
        """Put postings (term, document, field, offset) in place; True if some have none."""
        ranges = dict(zip(schema.FIELDS, self._ranges, strict=True))
        names, terms = self._names, self._terms
        current, stray = None, False
        nowhere = (0, 0)
        for term, document, field, offset in rows:
            if term != current:
                current = term
                names.append(term)
            begin, end = ranges[field].get(document, nowhere)
            at = begin + offset
            if at >= end or terms[at]:
                stray = True
            else:
                terms[at] = len(names) - 1
        return stray

    def terms(self, number: int) -> Iterator[list[str]]:
        """Yield each field's terms of one document, in their order."""
        for ranges in self._ranges:
            begin, end = ranges[number]
            yield [self._names[each] for each in self._terms[begin:end]]


def _lengths(api: apsw.FTS5ExtensionApi) -> bytes:
    return marshal.dumps([api.column_size(number) for number in range(len(schema.FIELDS))])


def _sums(api: apsw.FTS5ExtensionApi) -> bytes:
    sums = [api.column_total_size(number) for number in range(len(schema.FIELDS))]
    return marshal.dumps([api.row_count, *sums])
