"""What one file is in a cache: plain values between the reading of notes and the writing."""

from __future__ import annotations

from index_cache.guard import is_digest, is_path, is_signature, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A value of the table ``document``: text, or a moment in microseconds since 1970 UTC, if there is.
Column = str | int | None


class Entry:
    """A file's row in the manifest; ``digest`` is None when ``problem`` says what was wrong."""

    __slots__ = ("digest", "path", "problem", "signature", "suspect")

    def __init__(
        self,
        path: bytes,
        signature: bytes,
        digest: bytes | None,
        *,
        suspect: bool,
        problem: str | None = None,
    ) -> None:
        self.path = path
        self.signature = signature
        self.digest = digest
        self.suspect = suspect
        self.problem = problem

    def is_sound(self) -> bool:
        """Tell whether an entry from a cache can be one that was written there."""
        return (
            is_path(self.path)
            and is_signature(self.signature)
            and (self.digest is None or is_digest(self.digest))
            and (self.problem is None or is_text(self.problem))
        )


class Known:
    """What a cache has of a record in a JSONL file: where it stands, its row, its id.

    ``is_odd`` says that one of its bounds is no time.
    """

    __slots__ = ("is_odd", "line", "number", "record_id")

    def __init__(self, number: int, line: int, record_id: str, *, is_odd: bool) -> None:
        self.number = number
        self.line = line
        self.record_id = record_id
        self.is_odd = is_odd


class Record:
    """A line of a JSONL file that the cache has not: its document and terms, as a ``Row``'s.

    ``number`` is its row id, ``line`` where it stands, ``digest`` that of the line.
    """

    __slots__ = ("digest", "document", "line", "number", "pieces", "terms")

    def __init__(
        self,
        line: int,
        digest: bytes,
        document: tuple[Column, ...],
        terms: tuple[str, ...],
        pieces: tuple[list[str], ...] = (),
    ) -> None:
        self.number = 0
        self.line = line
        self.digest = digest
        self.document = document
        self.terms = terms
        self.pieces = pieces


class Records:
    """What a JSONL file's lines become beside its entry.

    ``added`` yields the ``count`` records that are new, one by one, once; ``moved`` has the row id,
    the line and the record id of those that stand elsewhere now, ``gone`` the row ids of those that
    are no more, with their record ids.
    """

    __slots__ = ("added", "count", "gone", "moved")

    def __init__(
        self,
        added: Iterable[Record],
        count: int,
        moved: Sequence[tuple[int, int, str]] = (),
        gone: Mapping[int, str] | None = None,
    ) -> None:
        self.added = added
        self.count = count
        self.moved = moved
        self.gone = gone or {}


class Row:
    """What one file becomes: its entry and, unless it has a problem, document and terms.

    ``number`` is its row id in all tables; ``replaces`` says that an older document and its terms
    must go first. ``document`` holds the columns of the table ``document`` after ``digest``,
    ``terms`` one text of terms for each of ``schema.FIELDS``; both are None when the file has no
    document, or has the one that it had. ``pieces`` has the terms by chunk, for a proof.
    ``records`` are the lines of a JSONL file that could be read.
    """

    __slots__ = ("document", "entry", "number", "pieces", "records", "replaces", "terms")

    def __init__(
        self,
        number: int,
        entry: Entry,
        document: tuple[Column, ...] | None = None,
        terms: tuple[str, ...] | None = None,
        *,
        pieces: tuple[list[str], ...] = (),
        replaces: bool = False,
        records: Records | None = None,
    ) -> None:
        self.pieces = pieces
        self.number = number
        self.entry = entry
        self.document = document
        self.terms = terms
        self.replaces = replaces
        self.records = records
