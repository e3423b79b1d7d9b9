"""Writing one record into a root: what is granted, checked, written, audited, in this order.

``spec/writing.md`` says what holds. The parts that decide are pure and lie elsewhere.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from index_cache.analyze import Analyzer
from index_cache.errors import (
    GovernanceRefused,
    InvalidInput,
    RootUnavailable,
    WriteRefused,
)
from index_cache.reader import record_id
from recall.writing import admission, alike, payload
from recall.writing.audit import machine_id
from recall.writing.closed import closed
from recall.writing.filenames import PATH_BYTES, SUFFIX, encoded, fold, free, slug
from recall.writing.recordtext import Note, new_note, stamp
from recall.writing.writejournal import Change, commit, ours, settle, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from index_cache.model import Root
    from recall.writing.payload import Record
    from recall.writing.within import Tree

    class Known(Protocol):
        """What is known of a root's notes: its cache, searched."""

        def alike(self, record: Record) -> list[str]:
            """Return paths of notes that may say what a record says, or have its title."""

        def holders(self, id: str) -> list[str]:
            """Return the paths of the notes that have an id."""

        def refresh(self) -> None:
            """Take in what was written."""


TRIES = 20  # names that others may take from under us, one after another
_FORCE = "if it corrects that, --force writes it all the same; nothing was written"


class Written:
    """What was written: ``action`` is create or append, ``line`` the audit's fields.

    ``dropped`` are fields of the payload that an append has no place for.
    """

    __slots__ = ("action", "dropped", "id", "line", "path", "stripped", "title", "type")

    def __init__(
        self, action: str, path: str, id: str, record: Record, dropped: tuple[str, ...] = ()
    ) -> None:
        self.action = action
        self.path = path
        self.id = id
        self.title = record.title
        self.type = record.type
        self.stripped = record.stripped
        self.dropped = dropped
        self.line: Mapping[str, object] = {}


def check_grant(command: str, adapter: str | None, *, allow_write: object) -> str:
    """Return the adapter to which exactly this call was granted. Raises WriteRefused.

    ``allow_write`` has to be True itself: nothing that only counts as true is a grant.
    """
    if adapter is None or allow_write is not True:
        missing = "--adapter and --allow-write"
        if adapter is not None:
            missing = "--allow-write"
        elif allow_write is True:
            missing = "--adapter"
        raise WriteRefused(
            f"recall {command} writes nothing without {missing}",
            hint="both are granted anew with each call, by the person who runs it",
        )
    return known_adapter(adapter)


def known_adapter(name: str) -> str:
    """Return the name of an adapter, our own one: nothing that merely equals it gets any further.

    Raises InvalidInput for any other.
    """
    if type(name) is str and name in payload.ADAPTERS:
        return payload.ADAPTERS[payload.ADAPTERS.index(name)]
    raise InvalidInput(
        "there is no such adapter",
        where="adapter",
        hint=f"one of {', '.join(payload.ADAPTERS)}",
    )


class Remembering:
    """Writes records into one root. ``wait`` is how many seconds another writer is waited for."""

    def __init__(self, root: Root, state_dir: str | None, known: Known, wait: float = 30.0) -> None:
        self.root = root
        self._state_dir = state_dir
        self.known = known
        self._wait = wait

    def write(
        self,
        data: bytes,
        command: str,
        adapter: str,
        *,
        force: bool = False,
        now: datetime | None = None,
    ) -> Written:
        """Write the record of a payload that was granted (``check_grant``) to ``adapter``.

        Raises InvalidInput, WriteRefused, GovernanceRefused, IntegrityError, CacheBusy,
        NotFound and RootUnavailable; then nothing was written.
        """
        record = payload.read(data, command)
        moment = now or datetime.now(UTC)
        machine = machine_id(self._state_dir)
        with writing(self.root.path, self._state_dir or "", self._wait) as tree:
            try:
                settle(tree, machine)
                writer = _Writer(self, tree, machine, record, (command, adapter))
                written = writer.write(moment, force=force)
            except OSError as error:
                path = record.path or f"{record.directory}/{slug(record.title)}{SUFFIX}"
                raise tree.unwritten(tree.spelled(path), error, *ours(machine)) from error
        self.known.refresh()
        return written


def check_place(root: Root, path: str, size: int) -> None:
    """Raise GovernanceRefused for a note that the root's own rules would not index.

    And InvalidInput for a path that is too long.
    """
    whole = os.path.join(os.fsencode(root.path), encoded(path))
    if len(whole) >= PATH_BYTES:
        raise InvalidInput(f"path: it is longer than {PATH_BYTES:,} bytes", where="path")
    why = admission.refusal(root, path, size)
    if why is not None:
        raise GovernanceRefused(
            f"the note would not be found there: {why}",
            where=os.fsdecode(whole),
            hint="name another root, or change the root's rules; nothing was written",
        )


class _Writer:
    """Writes one record while the root is locked."""

    def __init__(
        self, place: Remembering, tree: Tree, machine: str, record: Record, by: tuple[str, str]
    ) -> None:
        self._place = place
        self._tree = tree
        self._machine = machine
        self._record = record
        self._by = by
        # As they are spelled where they are there.
        self._directory = tree.spelled(record.directory)
        self._path = tree.spelled(record.path)

    def write(self, now: datetime, *, force: bool) -> Written:
        record = self._record
        candidates = self._place.known.alike(record)
        notes = self._notes(candidates)
        note = self._same(notes)
        self._check_id(note)
        if note is not None:
            self._check_open(note, now)
        if not force:
            self._check_alike(notes.values())
        if note is not None:
            return self._append(note, now)
        record.id = record.id or f"r-{os.urandom(8).hex()}"
        data = new_note(record, self._by[1], now)
        taken = {fold(name) for name in self._tree.names(self._directory)}
        for _ in range(TRIES):
            path = self._path or f"{self._directory}/{free(slug(record.title), taken)}"
            check_place(self._place.root, path, len(data))
            written = Written("create", path, record.id, record)
            try:
                return self._commit(Change(path, data, self._fields(written)), written, now)
            except FileExistsError:
                if self._path:
                    raise self._taken(path) from None
                taken.add(fold(path.rpartition("/")[2]))
        raise RootUnavailable("others take each name that is tried", hint="try again")

    def _notes(self, candidates: Iterable[str]) -> dict[str, Note]:
        """Return the notes that may be alike or have the title, by path: those by name first."""
        record = self._record
        base = fold(slug(record.title))
        names = sorted(self._tree.names(self._directory), key=lambda name: (len(name), name))
        named = [
            f"{self._directory}/{name}"
            for name in names
            if _is_numbered(fold(name).removesuffix(SUFFIX), base) and fold(name).endswith(SUFFIX)
        ]
        first = [self._path] if self._path else []
        notes = {}
        for path in dict.fromkeys([*first, *named, *candidates]):
            note = self._read(path)
            if note is not None:
                notes[path] = note
        return notes

    def _read(self, path: str) -> Note | None:
        """Return a note, None for what is none, or private."""
        try:
            data = self._tree.read(path)
            note = None if data is None else Note(path, data, self._tree.where(path))
        except (InvalidInput, WriteRefused, OSError, UnicodeError, ValueError):
            return None  # nothing that could be appended to; its name stays taken
        return None if note is None or note.document.withheld else note

    def _same(self, notes: Mapping[str, Note]) -> Note | None:
        """Return the note to append to: of this title and type, in the directory of the type."""
        record = self._record
        if self._path:
            note = notes.get(self._path)
            if note is None and self._tree.inode(self._path) is not None:
                self._tree.read(self._path)  # which refuses what is no file
                raise self._taken(self._path)
            if note is not None and not _is_same(note, record):
                raise self._taken(self._path)
            return note
        below = f"{self._directory}/"
        same = (each for path, each in notes.items() if path.startswith(below))
        return next((each for each in same if _is_same(each, record)), None)

    def _taken(self, path: str) -> InvalidInput:
        return InvalidInput(
            "another note has this path, with another title, type or id",
            where=self._tree.where(path),
            hint="leave path out, or give another one; nothing was written",
        )

    def _check_id(self, note: Note | None) -> None:
        id = self._record.id
        others = self._place.known.holders(id) if id else []
        others = [each for each in others if note is None or each != note.path]
        if others:
            raise InvalidInput(
                "another note has this id",
                where=self._tree.where(others[0]),
                hint="leave id out, or give another one; nothing was written",
            )

    def _check_open(self, note: Note, now: datetime) -> None:
        why = closed(note.document, now)
        if why is not None:
            raise GovernanceRefused(
                f"an agent may not add to the note of this title: {why}",
                where=self._tree.where(note.path),
                hint="recall propose it, or give it another title; nothing was written",
            )

    def _check_alike(self, notes: Iterable[Note]) -> None:
        analyzer = Analyzer()
        for note in notes:
            if alike.says(self._record.text, note.document.body, analyzer):
                raise GovernanceRefused(
                    f"{_named(note)} says nearly the same already",
                    where=self._tree.where(note.path),
                    hint=_FORCE,
                )

    def _append(self, note: Note, now: datetime) -> Written:
        record = self._record
        data = note.appended(record.text, now)
        check_place(self._place.root, note.path, len(data))
        path = encoded(note.path)
        found = Written(
            "append", note.path, record_id(path, note.document), record, _dropped(record, note)
        )
        return self._commit(
            Change(note.path, data, self._fields(found), before=note.data), found, now
        )

    def _fields(self, written: Written) -> dict[str, str]:
        command, adapter = self._by
        return {
            "adapter": adapter,
            "command": command,
            "action": written.action,
            "id": written.id,
            "type": written.type,
        }

    def _commit(self, change: Change, written: Written, now: datetime) -> Written:
        written.line = commit(self._tree, self._machine, change, stamp(now))
        return written


def _named(note: Note) -> str:
    """Return the id of a note, and what it is where that matters: no proposal is knowledge."""
    document = note.document
    id = record_id(encoded(note.path), document)
    if document.type.lower() != payload.PROPOSAL:
        return id
    rejected = document.status.lower() == "rejected"
    return f"the proposal {id}, which {'was rejected' if rejected else 'is pending'},"


def _is_numbered(name: str, base: str) -> bool:
    """Tell whether a name is one of a slug's: its own, or with a number."""
    rest = name.removeprefix(base) if name.startswith(base) else "-"
    return not rest or (rest[0] == "-" and rest[1:].isdecimal())


def _is_same(note: Note, record: Record) -> bool:
    from index_cache.markdown import plain

    document = note.document
    title = fold(document.title)
    return (
        title in {fold(record.title), fold(plain(record.title))}
        and document.type.lower() in {record.type, ""}
        and not (record.type == payload.PROPOSAL and document.status.lower() == "rejected")
        and record.id in {"", document.id}
    )


def _dropped(record: Record, note: Note) -> tuple[str, ...]:
    """Return the fields that were given and that the note does not say so."""
    keys = note.keys()
    given = {
        key: getattr(record, key)
        for key in ("source", "session", "description", "created", "valid_from", "valid_until")
    }
    lists = {"tags": record.tags, "related": record.related}
    lost = [key for key, value in given.items() if value and keys.get(key) != value]
    lost += [key for key, value in lists.items() if value and keys.get(key) != list(value)]
    return tuple(lost)
