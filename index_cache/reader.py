"""One file to its row: the one way from a note's bytes to what a cache holds of it.

Ingest and verify share it, so that a proof reads the notes exactly as a refresh does.
"""

from __future__ import annotations

import os
import unicodedata

from index_cache import files
from index_cache.analyze import Analyzers
from index_cache.digests import sha256
from index_cache.filters import mark
from index_cache.limits import ESCAPED, LONG_ID
from index_cache.model import WITHHELD, Skipped
from index_cache.moments import instant
from index_cache.rows import Entry, Row
from index_cache.schema import TYPE
from index_cache.strict import told
from index_cache.text import Content, NotText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.parse import Document
    from index_cache.rows import Known

    Wanted = tuple[bytes, int, Entry | None]  # a path, the row id and the entry that it has
    Read = tuple[int, Row | None]  # how many bytes a file had, and what it became


class Reader:
    """Reads the files of one root.

    ``clock_ns`` was read before the scan that found them. ``unavailable`` lists the files that
    could not be read and whose rows must stay as they are, ``moving`` those of them that kept
    changing; what was withheld and can't be read is in neither. ``gone`` lists what was not there
    any more. ``again`` makes the whole row of a file even if the cache knows its bytes;
    ``in_pieces`` gives rows their terms by chunk, too. ``withheld`` are the paths of notes that
    withheld themselves when they could last be read: what has no text now stays withheld, its name
    is not for any list.
    """

    def __init__(
        self,
        root: Root,
        fs: FileSystem,
        clock_ns: int,
        *,
        again: bool = False,
        in_pieces: bool = False,
        withheld: Container[bytes] = frozenset(),
    ) -> None:
        self.unavailable: list[Skipped] = []
        self.moving: list[bytes] = []
        self.gone: list[bytes] = []
        self.root = root
        self.clock_ns = clock_ns
        self.again = again
        self.withheld = withheld
        self._fs = fs
        self._top = os.path.join(os.fsencode(root.path), b"")
        self._limit = root.rules.max_file_bytes
        self._in_pieces = in_pieces
        self._analyzers = Analyzers()
        self._strict = root.rules.strict
        self._directory = b""  # the last one that was found to lie below the root

    @property
    def can_be_joined(self) -> bool:
        """Whether other processes would read the same, and could hand it over.

        They see what the operating system shows; pieces are ten times as much as the terms.
        """
        return type(self._fs) is files.FileSystem and not self._in_pieces

    def row(
        self,
        path: bytes,
        number: int = 0,
        known: Entry | None = None,
        records: Mapping[bytes, Sequence[Known]] | None = None,
    ) -> tuple[int, Row | None]:
        """Read one file; return how many bytes, and its row.

        ``number`` and ``known`` are the row id and the entry of a file that the cache has: of one
        whose digest is the same the row is the entry alone. Of a JSONL file ``records`` are those
        that the cache has, by digest, in the order of their lines. There is no row for a file that
        is gone since the scan, nor for one that can't be read, whose rows must stay.
        """
        try:
            signature, data = self._read(path)
        except FileNotFoundError:
            self.gone.append(path)  # since the scan: the next one will see it
            return 0, None
        except PermissionError as error:
            row = self._unreadable(path, number, known, files.describe(error))
            if row is None:
                self.gone.append(path)
            return 0, row
        except OSError as error:
            if isinstance(error, files.Moving):
                self.moving.append(path)
            if not self._was_withheld(path, known):
                self.unavailable.append(Skipped(path, files.describe(error)))
            return 0, None
        return len(data), self._made(path, signature, data, number, known, records)

    def _made(
        self,
        path: bytes,
        signature: bytes,
        data: bytes,
        number: int,
        known: Entry | None,
        records: Mapping[bytes, Sequence[Known]] | None,
    ) -> Row:
        """Return the row of a file that could be read; parameters as for ``row``."""
        entry = Entry(path, signature, None, suspect=files.is_suspect(signature, self.clock_ns))
        if files.is_jsonl(path):
            from index_cache.records import read  # few roots have any

            cut = files.size(signature) > len(data)
            made = read(entry, data, records or {}, self._analysed, cut=cut, again=self.again)
            if self._strict:
                entry.problem = problem(path, data)
            return Row(number, entry, records=made)
        try:
            content = Content(data)
        except NotText as error:
            return self._without_document(entry, number, known, str(error))
        entry.digest = content.digest
        if known and known.digest == content.digest and not self.again:
            entry.problem = problem(path, data) if self._strict else known.problem
            return Row(number, entry)
        return self._indexed(entry, number, known, content, data)

    def _read(self, path: bytes) -> tuple[bytes, bytes]:
        """Read a file whose directory is still one of the root's, and no symlink out of it."""
        directory = os.path.dirname(self._top + path)
        if directory != self._directory:
            if not self._fs.is_below(directory, self._top):
                raise OSError(ESCAPED) if self._strict else FileNotFoundError
            self._directory = directory
        return self._fs.read(self._top + path, self._limit)

    def _indexed(
        self, entry: Entry, number: int, known: Entry | None, content: Content, data: bytes
    ) -> Row:
        from index_cache.parse import Document  # 10 ms that a suspect need not pay

        document = Document(entry.path, content.text)
        if document.withheld:
            return self._without_document(entry, number, known, WITHHELD)
        if self._strict:
            entry.problem = problem(entry.path, data)
        elif content.guessed:
            entry.problem = "indexed, but it is not all UTF-8: the stray bytes were read as cp1252"
        elif document.has_long_id:
            entry.problem = f"indexed, but {LONG_ID}"
        elif is_odd((document.valid_from, document.valid_until)):
            entry.problem = "indexed, but a time in valid_from or valid_until can't be read"
        terms, pieces = self._analysed(entry.path, document)
        return Row(
            number,
            entry,
            (*columns(entry.path, document), *instants(document)),
            terms,
            pieces=pieces,
            replaces=known is not None,
        )

    def _analysed(
        self, path: bytes, document: Document
    ) -> tuple[tuple[str, ...], tuple[list[str], ...]]:
        """Return what is indexed of a document: of each field the terms, and these by chunk."""
        pieces = analysed(path, document, self._analyzers)
        return tuple(map(" ".join, pieces)), tuple(pieces) if self._in_pieces else ()

    def _unreadable(self, path: bytes, number: int, known: Entry | None, reason: str) -> Row | None:
        try:
            signature = files.signature(self._fs.stat(self._top + path))
        except OSError:
            return None
        suspect = files.is_suspect(signature, self.clock_ns)
        entry = Entry(path, signature, None, suspect=suspect)
        return self._without_document(entry, number, known, f"unreadable: {reason}")

    def _was_withheld(self, path: bytes, known: Entry | None) -> bool:
        return path in self.withheld or (known is not None and known.problem == WITHHELD)

    def _without_document(
        self, entry: Entry, number: int, known: Entry | None, problem: str
    ) -> Row:
        """Return the row of a file that has no text: no digest, so that it is tried again."""
        entry.digest = None
        entry.problem = WITHHELD if self._was_withheld(entry.path, known) else problem
        return Row(number, entry, replaces=known is not None)


def problem(path: bytes, data: bytes) -> str | None:
    """Return the problem of a file in a strict root; each of them is a violation."""
    from index_cache import faults  # few roots are strict

    try:
        return told(faults.of_lines(data) if files.is_jsonl(path) else faults.faults(data))
    except NotText as error:
        return str(error)


def parsers() -> str:
    """Return the versions of the libraries that decide what a note's bytes become.

    They are no part of the fingerprint: a search must know that without importing them.
    """
    import pyromark
    import yaml

    return f"PyYAML {yaml.__version__}, pyromark {pyromark.__version__}"


def searchable(path: bytes, document: Document) -> tuple[str, ...]:
    """Return the texts of a document's searchable fields, in the order of ``schema.FIELDS``."""
    place = files.portable(path).decode("utf-8", "replace").removesuffix(".md")
    if files.is_jsonl(path):
        place = place[: -len(".jsonl")]
    return (
        document.title,
        "\n".join(document.aliases),
        document.description,
        " ".join(document.tags),
        document.type,
        place.replace("/", " "),
        document.body,
    )


def analysed(path: bytes, document: Document, analyzers: Analyzers) -> list[list[str]]:
    """Return what is indexed of a document: of each field, the terms of its chunks by blanks."""
    analyzer = analyzers[document.language]
    pieces = [*map(analyzer.pieces, searchable(path, document))]
    term = mark(document.type)
    if term is not None:
        pieces[TYPE].append(term)
    return pieces


def record_id(path: bytes, document: Document, line: int = 0) -> str:
    """Return a document's own id, else that of its place; ``line`` is a record's, 0 for a note."""
    own = document.id  # composed: the same letters are the same id, however they were typed
    if own:
        return own if own.isascii() else unicodedata.normalize("NFC", own)
    return place_id(path, line)


def place_id(path: bytes, line: int) -> str:
    """Return ``path:`` and 16 hex digits of the SHA-256 of a NFC path, with a record's line."""
    place = files.portable(path) + (b":%d" % line if line else b"")
    return "path:" + sha256(place).hexdigest()[:16]


def columns(path: bytes, document: Document, line: int = 0) -> tuple[str, ...]:
    """Return the texts of a document's row in the table ``document``, ``record_id`` first.

    ``line`` is a record's in a JSONL file, 0 for a note.
    """
    return (
        record_id(path, document, line),
        document.title,
        document.description,
        document.type,
        "\n".join(document.tags),
        "\n".join(document.aliases),
        document.language,
        document.created,
        document.updated,
        document.modified,
        document.status,
        document.stale_after,
        document.tier,
        document.excerpt,
        document.source,
        document.session,
        "\n".join(document.related),
        document.valid_from,
        document.valid_until,
    )


def instants(document: Document) -> tuple[int | None, int | None, int | None]:
    """Return the last columns of the row: when it was created, is valid from, and until."""
    return instant(document.created), instant(document.valid_from), instant(document.valid_until)


def is_odd(bounds: Sequence[str]) -> bool:
    """Tell whether one of the times between which something is valid can't be read."""
    return any(bound and instant(bound) is None for bound in bounds)
