"""How rows get into a cache file: the half of ``index_cache.store`` that no search needs."""

from __future__ import annotations

from itertools import chain, islice

from index_cache import schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from index_cache.rows import Record, Records, Row

_VALUES_A_STATEMENT = 32_000  # SQLite takes 32,766: https://sqlite.org/limits.html
_RECORDS_AT_ONCE = 1_000
_INSERT_DOCUMENTS = "INSERT INTO document"
_INSERT_TERMS = f"INSERT INTO fts (rowid, {', '.join(schema.FIELDS)})"
_RECORDS = "SELECT id FROM document WHERE entry = ? AND line > 0"
_MOVE = "UPDATE document SET line = ?, record_id = ? WHERE id = ?"


def write(connection: apsw.Connection, rows: Sequence[Row], removed: Sequence[int]) -> bool:
    """Bring a batch of files into a cache's tables, and take others out; True if text is lost.

    ``removed`` are the row ids of files that are gone. The caller has begun a transaction.
    """
    outdated = [row.number for row in rows if row.replaces]
    gone = [*removed, *outdated]
    for number in [*gone]:
        gone += (record for (record,) in connection.execute(_RECORDS, (number,)))
    files = [(row.number, row.records) for row in rows if row.records]
    gone += chain.from_iterable(records.gone for _, records in files)
    _delete(connection, "entry", "id", removed)
    _delete(connection, "document", "id", gone)
    _delete(connection, "fts", "rowid", gone)
    _insert(connection, "REPLACE INTO entry", [_entry_values(row) for row in rows])
    notes = [(r.number, r.number, 0, None, *r.document) for r in rows if r.document]
    _insert(connection, _INSERT_DOCUMENTS, notes)
    _insert(connection, _INSERT_TERMS, [(r.number, *r.terms) for r in rows if r.terms])
    for number, records in files:
        _write_records(connection, number, records)
    return bool(gone)


def _write_records(connection: apsw.Connection, entry: int, records: Records) -> None:
    for number, line, record_id in records.moved:
        connection.execute(_MOVE, (line, record_id, number))
    for part in _parts(records.added):
        documents = [(r.number, entry, r.line, r.digest, *r.document) for r in part]
        _insert(connection, _INSERT_DOCUMENTS, documents)
        _insert(connection, _INSERT_TERMS, [(r.number, *r.terms) for r in part])


def _parts(records: Iterable[Record]) -> Iterator[Sequence[Record]]:
    left = iter(records)
    while part := [*islice(left, _RECORDS_AT_ONCE)]:
        yield part


def _entry_values(row: Row) -> tuple[object, ...]:
    entry = row.entry
    return (row.number, entry.path, entry.signature, entry.suspect, entry.digest, entry.problem)


def _delete(connection: apsw.Connection, table: str, key: str, numbers: Sequence[int]) -> None:
    for number in numbers:
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))  # noqa: S608 - ours


def _insert(
    connection: apsw.Connection, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    # As many rows a statement as SQLite takes. apsw lets other threads run while SQLite works,
    # so the next files are read and analysed meanwhile; row by row the two threads would wait
    # for one another. And FTS5 writes its pending terms out before each statement of several
    # rows: with 128 rows a statement the postings took twice as long.
    step = _VALUES_A_STATEMENT // len(rows[0]) if rows else 1
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        marks = f"({', '.join('?' * len(part[0]))})"
        connection.execute(
            f"{statement} VALUES {', '.join([marks] * len(part))}", tuple(chain(*part))
        )
