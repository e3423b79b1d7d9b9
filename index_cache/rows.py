"""What one file is in a cache: plain values between the reading of notes and the writing."""

from __future__ import annotations

from index_cache.guard import is_digest, is_path, is_signature, is_text

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


class Row:
    """What one file becomes: its entry and, unless it has a problem, document and terms.

    ``number`` is its row id in all tables; ``replaces`` says that an older document and its terms
    must go first. ``document`` holds the columns of the table ``document`` after ``digest``,
    ``terms`` one text of terms for each of ``schema.FIELDS``; both are None when the file has no
    document, or has the one that it had. ``pieces`` has the terms by chunk, for a proof.
    """

    __slots__ = ("document", "entry", "number", "pieces", "replaces", "terms")

    def __init__(
        self,
        number: int,
        entry: Entry,
        document: tuple[Column, ...] | None = None,
        terms: tuple[str, ...] | None = None,
        *,
        pieces: tuple[list[str], ...] = (),
        replaces: bool = False,
    ) -> None:
        self.pieces = pieces
        self.number = number
        self.entry = entry
        self.document = document
        self.terms = terms
        self.replaces = replaces
