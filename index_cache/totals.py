"""How much a cache holds, to notice rows that went missing without belying a checksum.

See "Damage" in ``spec/cache-format.md``.
"""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw


class Totals:
    """How much a cache holds: what it noted when it was last written, or what FTS5 counts now.

    ``documents`` and ``terms`` are those of FTS5's own bm25, ``leaves`` the pages of terms that it
    finds its way to by the table ``fts_idx``: without a row of that the terms would be missing.
    """

    __slots__ = ("documents", "leaves", "terms")

    def __init__(self, documents: int, terms: int, leaves: int) -> None:
        self.documents = documents
        self.terms = terms
        self.leaves = leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Totals) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int, int]:
        return self.documents, self.terms, self.leaves


def counted(connection: apsw.Connection) -> Totals:
    """Return what there is now.

    Within a transaction that wrote, ``flush`` comes first.
    """
    # apsw's types leave out that the result may be a blob, as any SQLite value.
    connection.register_fts5_function("recall_totals", _totals)  # type: ignore[arg-type]
    found = list(connection.execute("SELECT recall_totals(fts) FROM fts LIMIT 1"))
    documents, terms = marshal.loads(found[0][0]) if found else (0, 0)  # noqa: S302 - ours
    (leaves,) = next(connection.execute("SELECT count(*) FROM fts_idx"))
    return Totals(documents, terms, leaves)


def flush(connection: apsw.Connection) -> None:
    """Let FTS5 write out its pending terms and open its tables: it does when asked for a word."""
    for _ in connection.execute("SELECT 1 FROM vocabulary WHERE term = ''"):
        pass


def _totals(api: apsw.FTS5ExtensionApi) -> bytes:
    return marshal.dumps((api.row_count, api.column_total_size(-1)))
