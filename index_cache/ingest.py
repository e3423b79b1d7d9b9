"""Read the files that differ, turn them into rows, and write these in small batches.

Reading and analysing go on while SQLite writes the batch before: a first build of 10,000 notes
takes 1.7 s instead of 2.7.
"""

from __future__ import annotations

import hashlib
import os
import threading

from index_cache import files
from index_cache.analyze import Analyzer
from index_cache.model import WITHHELD, Skipped
from index_cache.store import Entry, Row
from index_cache.text import Content, NotText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from index_cache.diff import Diff
    from index_cache.files import FileSystem
    from index_cache.parse import Document
    from index_cache.store import Store

    Progress = Callable[[str, int, int], None]  # a root's name, files done, files in all

_BATCH_BYTES = 4_000_000  # of notes: a kill loses a fifth of a second's work
_BATCH_FILES = 2_000


class Ingest:
    """One run over the differences of one root; counts what it did.

    ``clock_ns`` was read before the scan that found them. Afterwards ``added`` and ``changed``
    count documents, ``lost`` those whose file is there but no text any more; ``unavailable`` lists
    the files that could not be read this time and keep their rows; ``written`` says whether any
    row changed.
    """

    def __init__(
        self, store: Store, fs: FileSystem, clock_ns: int, progress: Progress | None
    ) -> None:
        self.added = 0
        self.changed = 0
        self.lost = 0
        self.written = False
        self.unavailable: list[Skipped] = []
        self._store = store
        self._fs = fs
        self._clock_ns = clock_ns
        self._progress = progress
        self._top = os.path.join(os.fsencode(store.root.path), b"")
        self._limit = store.root.rules.max_file_bytes
        self._analyzer = Analyzer()
        self._directory = b""  # the last one that was found to lie below the root
        self._last = store.last_number()

    def run(self, changes: Diff) -> Ingest:
        """Bring all differences into the cache, each batch in one transaction."""
        known = self._store.known(changes.read)
        gone = self._store.numbers(changes.removed)
        writer = _Writer(self._store)
        last: list[Row] = []
        try:
            for batch, more in self._batches(changes.read, known):
                if more:
                    writer.start(batch)
                else:
                    last = batch
        finally:
            writer.wait()
        if last or gone:
            self._store.write(last, gone)
        self.written = bool(changes.read or gone)
        return self

    def _batches(
        self, paths: Sequence[bytes], known: dict[bytes, tuple[int, Entry]]
    ) -> Iterator[tuple[list[Row], bool]]:
        """Yield the rows of some files, and whether more will follow."""
        rows: list[Row] = []
        read = 0
        for done, path in enumerate(paths, 1):
            size, row = self._row(path, *known.get(path, (0, None)))
            read += size
            if row:
                rows.append(row)
            if read > _BATCH_BYTES or len(rows) >= _BATCH_FILES:
                yield rows, done < len(paths)
                rows, read = [], 0
                if self._progress:
                    self._progress(self._store.root.name, done, len(paths))
        if rows:
            yield rows, False

    def _row(self, path: bytes, number: int, known: Entry | None) -> tuple[int, Row | None]:
        """Read one file; return how many bytes, and its row unless its rows must stay."""
        try:
            signature, data = self._read(path)
        except FileNotFoundError:
            return 0, None  # gone since the scan: the next one will see it
        except PermissionError as error:
            return 0, self._unreadable(path, number, known, files.describe(error))
        except OSError as error:
            if not (known and known.problem == WITHHELD):
                self.unavailable.append(Skipped(path, files.describe(error)))
            return 0, None
        entry = Entry(path, signature, None, suspect=files.is_suspect(signature, self._clock_ns))
        try:
            content = Content(data)
        except NotText as error:
            return len(data), self._without_document(entry, number, known, str(error))
        entry.digest = content.digest
        if known and known.digest == content.digest:
            entry.problem = known.problem
            return len(data), Row(number, entry)
        return len(data), self._indexed(entry, number, known, content)

    def _read(self, path: bytes) -> tuple[bytes, bytes]:
        """Read a file whose directory is still one of the root's, and no symlink out of it."""
        directory = os.path.dirname(self._top + path)
        if directory != self._directory:
            if not self._fs.is_below(directory, self._top):
                raise FileNotFoundError
            self._directory = directory
        return self._fs.read(self._top + path, self._limit)

    def _indexed(self, entry: Entry, number: int, known: Entry | None, content: Content) -> Row:
        from index_cache.parse import Document  # 10 ms that a suspect need not pay

        document = Document(entry.path, content.text)
        if document.withheld:
            return self._without_document(entry, number, known, WITHHELD)
        if content.guessed:
            entry.problem = "indexed, but it is not all UTF-8: the stray bytes were read as cp1252"
        if known and known.digest:
            self.changed += 1
        else:
            self.added += 1
        terms = tuple(map(self._analyzer.text, searchable(document)))
        return Row(
            number or self._new(),
            entry,
            columns(entry.path, document),
            terms,
            replaces=known is not None,
        )

    def _unreadable(self, path: bytes, number: int, known: Entry | None, reason: str) -> Row | None:
        try:
            signature = files.signature(self._fs.stat(self._top + path))
        except OSError:
            return None
        suspect = files.is_suspect(signature, self._clock_ns)
        entry = Entry(path, signature, None, suspect=suspect)
        # What was withheld stays so until it can be read: its name is not for any list.
        withheld = known is not None and known.problem == WITHHELD
        problem = WITHHELD if withheld else f"unreadable: {reason}"
        return self._without_document(entry, number, known, problem)

    def _without_document(
        self, entry: Entry, number: int, known: Entry | None, problem: str
    ) -> Row:
        """Return the row of a file that has no text: no digest, so that it is tried again."""
        entry.digest = None
        entry.problem = problem
        if known and known.digest:
            self.lost += 1
        return Row(number or self._new(), entry, replaces=known is not None)

    def _new(self) -> int:
        """Return the row id of a new file."""
        self._last += 1
        return self._last


def searchable(document: Document) -> tuple[str, ...]:
    """Return the texts of a document's searchable fields, in the order of ``schema.FIELDS``."""
    tags = " ".join(document.tags)
    return document.title, document.description, tags, document.type, document.body


def record_id(path: bytes, document: Document) -> str:
    """Return a document's own id, else ``path:`` and 16 hex digits of its path's SHA-256."""
    return document.id or "path:" + hashlib.sha256(path).hexdigest()[:16]


def columns(path: bytes, document: Document) -> tuple[str, ...]:
    """Return a document's row in the table ``document``, but for its number."""
    return (
        record_id(path, document),
        document.title,
        document.description,
        document.type,
        "\n".join(document.tags),
        document.created,
        document.updated,
        document.modified,
        document.status,
        document.stale_after,
        document.tier,
        document.excerpt,
    )


class _Writer:
    """Writes one batch at a time in a thread of its own; an error is raised by ``wait``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self, rows: list[Row]) -> None:
        self.wait()
        self._thread = threading.Thread(target=self._write, args=(rows,))
        self._thread.start()

    def _write(self, rows: list[Row]) -> None:
        try:
            self._store.write(rows)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self._error = error

    def wait(self) -> None:
        if self._thread:
            self._thread.join()
            self._thread = None
        if self._error:
            error, self._error = self._error, None
            raise error
