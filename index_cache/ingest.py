"""Read the files that differ, turn them into rows, and write these in small batches.

Reading and analysing go on while SQLite writes the batch before: a first build of 10,000 notes
takes 1.7 s instead of 2.7.
"""

from __future__ import annotations

import hashlib  # noqa: F401 - for index_cache.digests: many notes are read here
import threading
from collections import Counter
from contextlib import closing
from itertools import count

from index_cache.files import is_jsonl
from index_cache.reader import Reader, parsers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Container,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from typing import Protocol

    from index_cache.diff import Diff
    from index_cache.files import FileSystem
    from index_cache.model import Skipped
    from index_cache.reader import Read, Wanted
    from index_cache.rows import Entry, Known, Record, Records, Row
    from index_cache.store import Store

    Progress = Callable[[str, int, int], None]  # a root's name, files done, files in all

    class Observer(Protocol):
        """Who is shown all that is read."""

        def add(self, row: Row) -> None:
            """Take in what one file says, but for a JSONL file's records."""

        def add_record(self, path: bytes, record: Record) -> None:
            """Take in what one line of a JSONL file says."""


_BATCH_BYTES = 8_000_000  # of notes: a kill loses two fifths of a second's work
_BATCH_FILES = 5_000
_MANY = 1_000  # notes, from which on other processes are worth the .1 s that each takes to start


class OtherParsers(Exception):
    """A note has to be parsed for a cache whose rows other versions of the parsers made."""


class Ingest:
    """One run over the differences of one root; counts what it did.

    ``clock_ns`` was read before the scan that found them; ``observe`` is shown each row before it
    is written; ``again`` makes rows of known bytes anew, ``withheld`` are what is withheld if it
    has no text now. Afterwards ``added`` and ``changed`` count documents, ``lost`` those whose file
    is there but no text any more; ``unavailable`` lists the files that could not be read this time
    and keep their rows, ``moving`` those of them that kept changing, ``gone`` those that were not
    there any more; ``written`` says whether any row changed. Without ``again``, ``run`` may raise
    OtherParsers.
    """

    def __init__(
        self,
        store: Store,
        fs: FileSystem,
        clock_ns: int,
        progress: Progress | None,
        observe: Observer | None = None,
        *,
        again: bool = False,
        withheld: Container[bytes] = frozenset(),
    ) -> None:
        self.added = 0
        self.changed = 0
        self.lost = 0
        self.written = False
        self._store = store
        self._progress = progress
        self._observe = observe
        self._reader = Reader(
            store.root, fs, clock_ns, again=again, in_pieces=bool(observe), withheld=withheld
        )
        self._numbers = count(store.last_number() + 1)
        # Read now: later the connection is the writer's.
        self._made_by = store.meta("parsers")
        self._is_asked = again  # whether it is known that it was these parsers

    @property
    def unavailable(self) -> list[Skipped]:
        """The files that could not be read this time, with the reasons."""
        return self._reader.unavailable

    @property
    def moving(self) -> list[bytes]:
        """The files that kept changing while they were read."""
        return self._reader.moving

    @property
    def gone(self) -> list[bytes]:
        """The files that were gone when they were to be read."""
        return self._reader.gone

    def run(self, changes: Diff) -> Ingest:
        """Bring all differences into the cache, each batch in one transaction."""
        known = self._store.known(changes.read)
        gone = self._store.numbers(changes.removed)
        lines = list(filter(is_jsonl, changes.read))
        notes = [path for path in changes.read if not is_jsonl(path)] if lines else changes.read
        for rows in self._records(lines, known):
            self._store.write(rows)
        self.lost += self._records_gone(changes.removed)
        writer = _Writer(self._store)
        last: list[Row] = []
        try:
            with closing(self._batches(notes, known)) as batches:
                for batch, more in batches:
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
    ) -> Generator[tuple[list[Row], bool]]:
        """Yield the rows of some files, and whether more will follow."""
        rows: list[Row] = []
        read = 0
        wanted = [(path, *known.get(path, (0, None))) for path in paths]
        for done, ((_, _, entry), (size, row)) in enumerate(self._read(wanted), 1):
            read += size
            if row:
                if row.document and not self._is_asked:
                    self._ask_parsers()
                self._take(row, entry)
                rows.append(row)
            if read > _BATCH_BYTES or len(rows) >= _BATCH_FILES:
                yield rows, done < len(paths)
                rows, read = [], 0
                if self._progress:
                    self._progress(self._store.root.name, done, len(paths))
        if rows:
            yield rows, False

    def _read(self, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Read]]:
        """Yield each file with what it became."""
        if len(wanted) < _MANY or not self._reader.can_be_joined:
            yield from ((each, self._reader.row(*each)) for each in wanted)
            return
        from index_cache.readers import Readers  # few refreshes read so many

        with Readers(self._reader) as readers:
            yield from readers.rows(wanted)

    def _records(
        self, paths: Sequence[bytes], known: Mapping[bytes, tuple[int, Entry]]
    ) -> Iterator[list[Row]]:
        """Yield the rows of some JSONL files; their records are made while they are written."""
        rows: list[Row] = []
        read = 0
        for done, path in enumerate(paths, 1):
            number, entry = known.get(path, (0, None))
            had = self._store.records(number) if number else {}
            size, row = self._reader.row(path, number, entry, had)
            read += size
            if row:
                self._take_records(row, had)
                rows.append(row)
            if read > _BATCH_BYTES or len(rows) >= _BATCH_FILES:
                yield rows
                rows, read = [], 0
                if self._progress:
                    self._progress(self._store.root.name, done, len(paths))
        if rows:
            yield rows

    def _take_records(self, row: Row, had: Mapping[bytes, Sequence[Known]]) -> None:
        """Give a JSONL file's row its number, and see to it that its records get theirs."""
        row.number = row.number or next(self._numbers)
        if self._observe:
            self._observe.add(row)
        if row.records is None:  # it can't be read any more
            self.lost += sum(map(len, had.values()))
            return
        if row.records.count and not self._is_asked:
            self._ask_parsers()
        row.records.added = self._numbered(row.entry.path, row.records, row.records.added)

    def _numbered(self, path: bytes, records: Records, added: Iterable[Record]) -> Iterator[Record]:
        """Yield new records with their numbers; one with the id of one that goes is a change."""
        ids = Counter(records.gone.values())
        for record in added:
            record.number = next(self._numbers)
            record_id = str(record.document[0])
            self.changed += ids[record_id] > 0
            self.added += ids[record_id] <= 0
            ids[record_id] -= 1
            if self._observe:
                self._observe.add_record(path, record)
            yield record
        self.lost += sum(left for left in ids.values() if left > 0)

    def _records_gone(self, paths: Sequence[bytes]) -> int:
        """Return how many records more than files go with some files."""
        lines = list(filter(is_jsonl, paths))
        return sum(
            sum(map(len, self._store.records(number).values())) - 1
            for number, _ in self._store.known(lines).values()
        )

    def _ask_parsers(self) -> None:
        """Raise OtherParsers unless the versions that have just parsed a note made all rows."""
        if self._made_by != parsers():
            raise OtherParsers
        self._is_asked = True

    def _take(self, row: Row, known: Entry | None) -> None:
        """Count what a row means, and give it a row id if it has none."""
        had = known is not None and known.digest is not None
        if row.document:
            self.changed += had
            self.added += not had
        elif row.entry.digest is None:
            self.lost += had
        row.number = row.number or next(self._numbers)
        if self._observe:
            self._observe.add(row)
            row.pieces = ()  # ten times the memory of the terms


class _Writer:
    """Writes one batch at a time in a thread of its own; an error is raised by ``wait``."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self, rows: list[Row]) -> None:
        self.wait()
        thread = threading.Thread(target=self._write, args=(rows,))
        try:
            thread.start()
        except (RuntimeError, MemoryError):  # there may be no more of them
            self._write(rows)
        else:
            self._thread = thread

    def _write(self, rows: list[Row]) -> None:
        try:
            self._store.write(rows)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
            self._error = error

    def wait(self) -> None:
        if self._thread:
            try:
                self._thread.join()
            except KeyboardInterrupt:
                self._thread.join()  # or the cache would be closed under its hands
                raise
            self._thread = None
        if self._error:
            error, self._error = self._error, None
            raise error
