"""The only reader and writer of a cache file's rows.

A file's entry, document and postings change in one transaction. See ``spec/cache-format.md``.
"""

from __future__ import annotations

import marshal
import os
import time
from itertools import chain

import apsw

from index_cache import db, schema
from index_cache.guard import (
    Guard,
    check_header,
    check_tables,
    check_totals,
    counted,
    flush,
    guarded,
    is_digest,
    is_manifest,
    is_text,
)
from index_cache.model import WITHHELD, Root, Skipped
from index_cache.weigher import Weigher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from index_cache.rows import Entry, Known, Row

_MARK = 16  # bytes of chance by which a cache is told from any other
_SHORT = 1_000  # bytes; what is longer is read when it is asked for
_HIGHEST = 2**62  # of what is counted; SQLite has no numbers from 2**63 on
_MANY = 500  # paths, from which on reading the whole manifest is faster than looking each up
_SELECT_RECORDS = (
    "SELECT id, line, digest, record_id, (valid_from <> '' AND valid_from_at IS NULL)"
    " OR (valid_until <> '' AND valid_until_at IS NULL)"
    " FROM document WHERE entry = ? AND line > 0 ORDER BY line"
)
_SELECT_ENTRY = "SELECT path, id, signature, suspect, digest, problem FROM entry"


class Store:
    """One open cache file of one root.

    ``path`` is None for a cache in memory, and ``why_in_memory`` may say why. ``replaces`` is what
    was wrong with the damaged file in whose stead this cache was made, if there was one. ``wait``
    is how many ms a reader waits where SQLite has to, ``mend`` as for ``db.connect``.
    Methods that change rows need the root's lock.
    """

    _weigher: Weigher | None = None
    _short: dict[str, object] | None = None  # what is short of the table meta, while it is read

    def __init__(
        self, root: Root, path: str | None, wait: int = db.READ_WAIT, *, mend: bool = True
    ) -> None:
        self.root = root
        self.wait = wait
        self.path = path
        self.why_in_memory: str | None = None
        self.replaces: str | None = None
        self.file = db.file_identity(path)
        with Guard(self):
            self.connection, self.writable = db.connect(path, wait, mend=mend)

    @classmethod
    def create(cls, root: Root, path: str | None) -> Store:
        """Make an empty cache, or leave no file where that fails; the caller holds the lock."""
        store = cls.__new__(cls)
        store.root, store.path, store.writable = root, path, True
        store.why_in_memory = store.replaces = None
        store.wait = db.READ_WAIT
        store.connection = db.create(path)
        store.file = db.file_identity(path)
        try:
            store._label()  # noqa: SLF001 - made without __init__
        except BaseException:
            store.close()
            if path is not None:
                db.discard(path)
            raise
        return store

    def _label(self) -> None:
        with db.Transaction(self.connection):
            self.set_meta("made", os.urandom(_MARK).hex())
            self.set_meta("identity", db.identity(self.root))
            self.set_meta("fingerprint", schema.fingerprint())
            self.set_meta("root", self.root.path.encode("utf-8", "surrogateescape"))
            self.note_totals()

    @guarded
    def check(self) -> None:
        """Raise Damaged unless the file is a cache of this root, made by this version."""
        check_tables(self)
        check_header(self)
        if (self.meta("identity"), self.meta("fingerprint")) != (
            db.identity(self.root),
            schema.fingerprint(),
        ):
            raise self.damaged("it is another root's or another version's cache")
        # SQLite finds the WAL by its name when it first reads. If the file was replaced before
        # that, the old one has just been read with the new one's WAL.
        if not self.in_place():
            raise self.damaged("it was replaced while it was opened")

    def damaged(self, message: str) -> db.Damaged:
        """Return the error that condemns this cache."""
        return db.Damaged(message, self.path)

    def in_place(self) -> bool:
        """Tell whether the file that is open here is still the one at its path."""
        return self.file == db.file_identity(self.path)

    @guarded
    def begin_reading(self) -> None:
        """Let all that is read until ``end_reading`` be of one state of the cache."""
        db.prepare_reader(self.connection, self.wait)
        self.connection.execute("BEGIN")
        # A prompt asks for ten of them, in each of its roots.
        select = "SELECT key, value FROM meta WHERE length(value) < ?"
        self._short = dict(self.connection.execute(select, (_SHORT,)))

    def end_reading(self) -> None:
        """See other writers' changes again."""
        self._short = None
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @property
    def weigher(self) -> Weigher:
        """What scores this cache's documents for FTS5."""
        if self._weigher is None:
            self._weigher = Weigher(self.connection)
        return self._weigher

    def close(self) -> None:
        """Close the connection; harmless twice."""
        self.connection.close()

    # -- meta

    @guarded
    def meta(self, key: str) -> object:
        """Return one value of the table meta, None when it has none."""
        if self._short and key in self._short:
            return self._short[key]
        for (value,) in self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)):
            return value
        return None

    @guarded
    def set_meta(self, key: str, value: str | float | bytes) -> None:
        """Set one value of the table meta."""
        self._short = None
        self.connection.execute("REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    @property
    def built(self) -> bool:
        """Whether one refresh has ever run to its end: until then there is no view."""
        return self.meta("built") == 1

    @property
    def mark(self) -> str | None:
        """What tells this cache from any that takes its place, or had it; None without a file."""
        if self.file is None:
            return None
        made = self.meta("made")  # a file's number may be given again to the next one
        return made if isinstance(made, str) else "{}-{}".format(*self.file)

    @property
    def generation(self) -> int:
        """A number that grows with every change of the rows."""
        return self.number("generation")

    def number(self, key: str) -> int:
        """Return a whole number that ``set_meta`` kept, 0 without one."""
        value = self.meta(key)
        if value is None:
            return 0
        if not isinstance(value, int) or not 0 <= value < _HIGHEST:
            raise self.damaged(f"its {key} is no number of anything")
        return value

    @guarded
    def notes(self, key: str) -> list[Skipped]:
        """Return a list of paths with reasons that ``set_notes`` kept."""
        value = self.meta(key)
        if value is None:
            return []
        try:
            notes = [Skipped(*each) for each in marshal.loads(value)]  # type: ignore[arg-type]  # noqa: S302 - ours
            paths, reasons = b"".join(n.path for n in notes), "".join(n.reason for n in notes)
        except (TypeError, ValueError, EOFError, MemoryError) as error:
            raise self.damaged(f"its list of what is {key} can't be read") from error
        if b"\0" in paths or "\0" in reasons:
            raise self.damaged(f"its list of what is {key} has gaps")
        return notes

    def set_notes(self, key: str, notes: Iterable[Skipped]) -> None:
        """Keep a list of paths with reasons."""
        self.set_meta(key, marshal.dumps([(each.path, each.reason) for each in notes]))

    # -- manifest

    @guarded
    def signatures(self) -> dict[bytes, bytes]:
        """Return the manifest as path -> signature."""
        # How many there should be, in the same statement: another process may write between two.
        rows: Iterable[Any] = self.connection.execute(
            "SELECT path, signature FROM entry"
            " UNION ALL SELECT key, value FROM meta WHERE key = 'entries'"
        )
        found = dict(rows)
        noted = found.pop("entries", None)
        if not is_manifest(found):
            raise self.damaged("its manifest can't be read")
        if len(found) != noted:
            raise self.damaged("rows of its manifest are missing")
        return found

    @guarded
    def suspects(self) -> list[bytes]:
        """Return the paths whose signature was too young to be trusted."""
        return [path for (path,) in self.connection.execute("SELECT path FROM entry WHERE suspect")]

    @guarded
    def known(self, paths: Sequence[bytes]) -> dict[bytes, tuple[int, Entry]]:
        """Return the row ids and entries of those of ``paths`` that the manifest has."""
        from index_cache.rows import Entry  # a search has no need of them

        rows: Iterable[Any]
        if len(paths) < _MANY:
            one = f"{_SELECT_ENTRY} WHERE path = ?"
            rows = chain.from_iterable(self.connection.execute(one, (path,)) for path in paths)
        else:
            rows = self.connection.execute(_SELECT_ENTRY)
        found = {
            path: (number, Entry(path, signature, digest, suspect=bool(suspect), problem=problem))
            for path, number, signature, suspect, digest, problem in rows
        }
        if not all(entry.is_sound() for _, entry in found.values()):
            raise self.damaged("a row of its manifest can't be read")
        return found

    def numbers(self, paths: Sequence[bytes]) -> list[int]:
        """Return the row ids of those of ``paths`` that the manifest has."""
        return [number for number, _ in self.known(paths).values()] if paths else []

    @guarded
    def last_number(self) -> int:
        """Return the highest row id in use, 0 without any."""
        select = "SELECT coalesce(max(id), 0) FROM entry UNION SELECT max(id) FROM document"
        return max(int(last or 0) for (last,) in self.connection.execute(select))

    @guarded
    def problems(self) -> list[Skipped]:
        """Return the files that could not be indexed, or not as they are, with the reasons."""
        rows = self.connection.execute(
            "SELECT path, problem FROM entry WHERE problem IS NOT NULL AND problem <> ?",
            (WITHHELD,),
        )
        problems = [Skipped(path, reason) for path, reason in rows]
        if not all(is_text(each.reason) for each in problems):
            raise self.damaged("what it says of bad files can't be read")
        return problems

    @guarded
    def withheld(self) -> set[bytes]:
        """Return the paths of the notes that withhold themselves; never to be named."""
        select = "SELECT path FROM entry WHERE problem = ?"
        return {path for (path,) in self.connection.execute(select, (WITHHELD,))}

    @guarded
    def paths(self, directory: bytes = b"") -> set[bytes]:
        """Return the paths of the documents below a relative directory, b"" for all."""
        rows = self.connection.execute(
            # Not by the index of paths: another's page in its place may have none of them.
            "SELECT path, document.id FROM entry NOT INDEXED LEFT JOIN document USING (id)"
            " WHERE entry.digest IS NOT NULL AND path >= ?1 AND path < ?2"
            " UNION ALL SELECT path, id FROM entry WHERE path >= ?1 AND path < ?2"
            " AND id IN (SELECT entry FROM document WHERE line > 0)",
            (directory + b"/", directory + b"0") if directory else (b"", b"\xff" * 8),
        )
        found = dict(rows)
        if None in found.values():
            raise self.damaged("a document that its manifest lists is missing")
        return set(found)

    @guarded
    def records(self, number: int) -> dict[bytes, list[Known]]:
        """Return the records of a JSONL file, by digest, in the order of their lines.

        ``number`` is its entry's.
        """
        from index_cache.rows import Known  # few roots have any

        rows: Iterable[Any] = self.connection.execute(_SELECT_RECORDS, (number,))
        found: dict[bytes, list[Known]] = {}
        for row, line, digest, record_id, odd in rows:
            if not (is_digest(digest) and is_text(record_id)):
                raise self.damaged("a row of a record can't be read")
            found.setdefault(digest, []).append(Known(row, line, record_id, is_odd=bool(odd)))
        return found

    def documents(self) -> int:
        """Return the number of documents."""
        return self.number("documents")

    # -- writing

    @guarded
    def write(self, rows: Sequence[Row], removed: Sequence[int] = ()) -> None:
        """Bring a batch of files into the cache, and take others out, in one transaction.

        ``removed`` are the row ids of files that are gone.
        """
        from index_cache import writing  # a search most often writes nothing

        with db.Transaction(self.connection):
            check_totals(self)  # else what is missing now would be noted as right
            self._check_paths()
            lost = writing.write(self.connection, rows, removed)
            self.note_totals()
            self.set_meta("generation", self.generation + 1)
            if lost:
                self.set_lingering(time.time())

    def _check_paths(self) -> None:
        """Raise Damaged when files lack in the index of paths: they would be written twice."""
        by_path = "SELECT count(*) FROM entry INDEXED BY sqlite_autoindex_entry_1"
        if [(self.number("entries"),)] != [*self.connection.execute(by_path)]:
            raise self.damaged("rows of its manifest are missing")

    def note_totals(self) -> None:
        """Note how much there is now, in the transaction that changed it (``guard.Totals``)."""
        flush(self.connection)
        now = counted(self.connection)
        (entries,) = next(self.connection.execute("SELECT count(*) FROM entry"))
        self.set_meta("documents", now.documents)
        self.set_meta("terms", now.terms)
        self.set_meta("leaves", now.leaves)
        if isinstance(now.structure, bytes):
            self.set_meta("structure", now.structure)
        self.set_meta("entries", entries)

    def set_lingering(self, since: float) -> None:
        """Note that the file may hold deleted text, unless an earlier time is noted already."""
        self.connection.execute("INSERT OR IGNORE INTO meta VALUES ('lingers_since', ?)", (since,))

    @guarded
    def compact(self) -> bool:
        """Leave nothing of deleted text in the file: merge the postings, rewrite, empty the WAL.

        While a reader is in the way this remains to be done: it is noted, and False comes back.

        Deleted postings of a contentless table stay until they are merged, ``secure_delete`` or
        not: https://sqlite.org/fts5.html#the_secure_delete_configuration_option
        """
        try:
            with db.Transaction(self.connection):  # a kill must not let it be forgotten
                self.set_meta("lingers_since", 0)
            with db.Transaction(self.connection):
                check_totals(self)
                self.connection.execute("INSERT INTO fts (fts) VALUES ('optimize')")
                self.note_totals()
            self.connection.execute("VACUUM")
            done = self.checkpoint()
            if done:
                with db.Transaction(self.connection):
                    self.connection.execute("DELETE FROM meta WHERE key = 'lingers_since'")
        except (apsw.BusyError, apsw.LockedError):
            return False  # with a rollback journal a commit waits for readers
        return done

    @guarded
    def checkpoint(self) -> bool:
        """Move the WAL into the file and empty it; False when a reader is in the way.

        Readers are not waited for: a search refreshes too.
        """
        self.connection.set_busy_timeout(0)
        try:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, apsw.LockedError):
            return False  # the next writer will
        finally:
            db.prepare_reader(self.connection)
        return True
