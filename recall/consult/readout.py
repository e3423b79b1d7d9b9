"""Records read from some caches: by their ids, in their order in time. See ``spec/reading.md``."""

from __future__ import annotations

import itertools
import os

from index_cache import chronicle, files
from index_cache.errors import IntegrityError, InvalidInput, NotFound
from index_cache.filters import is_whole
from index_cache.ids import Place, with_id
from index_cache.limits import CUT
from recall.consult.records import Record, Related
from recall.consult.whole import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index_cache.chronicle import Key, Row, Span
    from index_cache.files import FileSystem
    from index_cache.filters import Filter
    from index_cache.model import Hit, Root
    from index_cache.refresh import Report
    from index_cache.related import Resolved, Resolver
    from index_cache.store import Store

MOST_IDS = 100
MOST_AROUND = 100
AROUND = 5
_NAMED = 5  # ids, or paths, that a message names
_SHOWN = 200  # characters of each


class Outdated(Exception):
    """What was to be shown has another place, or none: a refresh is due, and another look."""


class Timeline:
    """The records around an anchor.

    ``anchor`` is its id, None for a time, ``at`` its instant (microseconds since 1970 UTC).
    ``items`` are in order; ``before``, ``at_anchor`` and ``after`` count all that there are, also
    those left out; ``undated`` what has no place in the order. ``reports`` tell of each root's
    refresh, ``notices`` what a person should know besides.
    """

    __slots__ = (
        *("after", "anchor", "at", "at_anchor", "before", "items"),
        *("notices", "reports", "undated"),
    )

    def __init__(self, anchor: str | None, at: int) -> None:
        self.anchor = anchor
        self.at = at
        self.items: list[Record] = []
        self.before = self.at_anchor = self.after = self.undated = 0
        self.reports: list[Report] = []
        self.notices: list[str] = []

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return len(self.items) < self.before + self.at_anchor + self.after


class Expansion:
    """The records around one: ``nodes`` with their depths, and what was left out.

    ``unresolved`` are entries of theirs that lead nowhere or to several, with whose they are.
    """

    __slots__ = ("nodes", "not_valid", "truncated", "unresolved")

    def __init__(self, *, truncated: bool, not_valid: int) -> None:
        self.truncated = truncated
        self.not_valid = not_valid
        self.nodes: list[tuple[Record, int]] = []
        self.unresolved: list[tuple[str, str]] = []


class Readout:
    """One reading of some caches, all of one state.

    ``live`` has of each root its cache and its filter. ``now`` is in microseconds since 1970 UTC.
    Unless it is the ``last`` try, a timeline that is no longer right raises Outdated.
    """

    def __init__(
        self,
        live: Sequence[tuple[Root, Store, Filter]],
        fs: FileSystem,
        now: int,
        *,
        last: bool,
    ) -> None:
        self.roots = [root for root, _, _ in live]
        self.stores = [store for _, store, _ in live]
        self._wanted = [wanted for _, _, wanted in live]
        self._files = Files(fs)
        self._now = now
        self._last = last
        self._resolver: Resolver | None = None

    # -- by id

    def places(self, ids: Iterable[str]) -> list[Place]:
        """Return where the records with these ids are.

        Raises NotFound, IntegrityError for an id that several have.
        """
        found: list[Place] = []
        missing: list[str] = []
        for each in ids:
            places = with_id(self.stores, each)
            if len(places) > 1:
                raise self._several(each, places)
            found += places
            if not places:
                missing.append(each)
        if missing:
            raise not_found(missing, cut=self._is_cut())
        return found

    def _is_cut(self) -> bool:
        """Tell whether a file is too long to be read whole: an id may stand behind that."""
        notes = itertools.chain(*(store.notes("skipped") for store in self.stores))
        return any(each.reason.startswith(CUT) for each in notes)

    def _several(self, record_id: str, places: Sequence[Place]) -> IntegrityError:
        paths = [self._shown(each) for each in places]
        hint = "give each an id of its own; recall status names all such ids"
        if len({each.root for each in places}) == len(places):
            hint = f"--root says which is meant, or {hint}"
        return IntegrityError(
            f'{len(paths)} records have the id "{_bounded(record_id)}": {", ".join(paths)}',
            where=paths[0],
            hint=hint,
        )

    def _shown(self, place: Place) -> str:
        top = os.fsencode(self.roots[place.root].path)
        path = files.display(os.path.join(top, place.path))
        return f"{path}:{place.line}" if place.line else path

    def rows(self, places: Sequence[Place]) -> list[Row]:
        """Return the rows at some places, in their order."""
        found: dict[tuple[int, int], Row] = {}
        for root, store in enumerate(self.stores):
            numbers = [each.number for each in places if each.root == root]
            of_root = chronicle.rows(store, root, numbers)
            found.update(((root, number), row) for number, row in of_root.items())
        return [found[each.root, each.number] for each in places]

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return whole records. Raises as ``places``."""
        rows = self.rows(self.places(ids))
        found: dict[str, Record] = {}
        # File by file, each of which is read once, however many are asked for.
        for asked, row in sorted(zip(ids, rows, strict=True), key=_by_file):
            record = self.whole(row)
            if record is not None and record.id == asked:
                found[asked] = record
        gone = [asked for asked in ids if asked not in found]
        if gone:
            raise not_found(gone)
        return [found[asked] for asked in ids]

    def whole(self, row: Row) -> Record | None:
        """Return a record with its text and its relations, as its file is; None if it is gone."""
        text = self._files.text(row, self.roots[row.root])
        if text is None:
            return None
        resolved = [Related(each.text, self._id_of(each.place)) for each in self.related(row)]
        return Record(row, self.roots[row.root], self._now, text, resolved)

    def related(self, row: Row) -> list[Resolved]:
        """Return what the entries of ``related`` lead to."""
        entries = [each for each in row.texts["related"].split("\n") if each]
        if not entries:
            return []
        if self._resolver is None:
            from index_cache.related import Resolver  # few records are related to any

            self._resolver = Resolver(self.stores)
        return self._resolver.resolve(row.root, row.path, entries)

    def _id_of(self, place: Place | None) -> str | None:
        return None if place is None else self.rows([place])[0].texts["record_id"]

    def of_hit(self, hit: Hit, line: int) -> Record | None:
        """Return the whole record that a search found, at ``line`` in the cache; None if gone."""
        number = chronicle.number(self.stores[hit.root], hit.path, line)
        if number is None:
            return None
        (row,) = self.rows([Place(hit.root, number, hit.path, line)])
        return self.whole(row)

    def expand(self, record_id: str, max_nodes: int, max_tokens: int) -> Expansion:
        """Return the records around one; proposals only as asked for. Raises as ``get``."""
        from recall.consult import expanding

        (start,) = self.places([record_id])
        known: dict[Place, tuple[Record, list[Resolved]]] = {}

        def look(place: Place) -> expanding.Seen | None:
            (row,) = self.rows([place])
            text = self._files.text(row, self.roots[row.root])
            hidden = place != start and not self._wanted[row.root].lets_in(row.texts["type"])
            if text is None or hidden:
                return None
            tokens = text.tokens
            # What is too large anyway is not kept: a thousand of them may be looked at.
            record = Record(
                row, self.roots[row.root], self._now, text if tokens <= max_tokens else None
            )
            known[place] = record, self.related(row)
            leads = [each.place for each in known[place][1] if each.place is not None]
            return expanding.Seen(tokens, leads, valid=record.valid)

        way = expanding.expand(start, look, max_nodes, max_tokens)
        if start not in known:
            raise not_found([record_id])
        made = Expansion(truncated=way.truncated, not_valid=way.not_valid)
        for place, depth in way.nodes:
            record, related = known[place]
            made.nodes.append((record, depth))
            made.unresolved += [(record.id, each.text) for each in related if each.place is None]
        return made

    # -- in time

    def timeline(self, anchor: str, before: int, after: int) -> Timeline:
        """Return the records around an id or a time. Raises NotFound, InvalidInput, Outdated."""
        if not (0 <= before <= MOST_AROUND and 0 <= after <= MOST_AROUND):
            raise InvalidInput(f"before and after must be from 0 to {MOST_AROUND}")
        refuse_empty(anchor)
        places = with_id(self.stores, anchor)
        if len(places) > 1:
            raise self._several(anchor, places)
        row = self.rows(places)[0] if places else None
        at = _instant(anchor) if row is None else row.instants["created_at"]
        if at is None:
            raise (
                not_found([anchor], time=True, cut=self._is_cut())
                if row is None
                else _undated(anchor)
            )
        known = None if row is None else row.texts["record_id"]
        made = Timeline(known, at)
        spans = chronicle.before(at, known), chronicle.after(at, known)
        first = self._merged(spans[0], before, last=True)
        behind = self._merged(spans[1], after)
        made.before, made.after = map(self._count, spans)
        if row is None:
            during = chronicle.during(at)
            middle = self.rows(_places(self._merged(during, MOST_AROUND)))
            made.at_anchor = self._count(during)
        else:
            middle, made.at_anchor = [row], 1
        made.undated = self._count(None)
        parts = self.rows(_places(first)), middle, self.rows(_places(behind))
        shown = [[*filter(None, map(self._event, part))] for part in parts]
        gone = [len(part) - len(there) for part, there in zip(parts, shown, strict=True)]
        made.before -= gone[0]
        made.at_anchor -= gone[1]
        made.after -= gone[2]
        made.items = sorted(itertools.chain(*shown), key=_in_time)
        return made

    def _merged(self, span: Span, most: int, *, last: bool = False) -> list[Key]:
        found: list[Key] = []
        for root, (store, wanted) in enumerate(zip(self.stores, self._wanted, strict=True)):
            found += chronicle.keys(store, root, wanted, span, most, last=last)
        found.sort()
        return found[max(0, len(found) - most) :] if last else found[:most]

    def _count(self, span: Span | None) -> int:
        return sum(
            chronicle.count(store, wanted, span)
            for store, wanted in zip(self.stores, self._wanted, strict=True)
        )

    def _event(self, row: Row) -> Record | None:
        """Return a record without its text, as its file is; None if it is gone, or has no time."""
        root = self.roots[row.root]
        if self._files.is_untouched(row, root):
            return Record(row, root, self._now)
        place = row.instants["created_at"], row.record_id
        text = self._files.text(row, root)
        now = row.instants["created_at"], row.record_id
        if (text is None or now != place) and not self._last:
            raise Outdated
        return None if text is None or now[0] is None else Record(row, root, self._now)


def asked_ids(ids: Iterable[str]) -> list[str]:
    """Return the different ids that are asked for, as NFC, in their order.

    Raises InvalidInput for none, too many, and an empty one.
    """
    from unicodedata import normalize

    given = [*ids]
    if not 1 <= len(given) <= MOST_IDS:
        raise InvalidInput(
            f"{len(given):,} ids are asked for; 1 to {MOST_IDS} can be",
            hint="ask for them in several goes" if given else "recall get ID",
        )
    if "" in given:
        raise InvalidInput("an id is empty", hint="recall search --cards QUERY shows ids")
    return [*dict.fromkeys(normalize("NFC", each) for each in given)]


def refuse_empty(anchor: str) -> None:
    """Refuse an anchor that is nothing. Raises InvalidInput."""
    if not anchor:
        raise InvalidInput(
            "the anchor is empty", hint="name a record by its id, or a time: --anchor 2026-03-01"
        )


def _bounded(record_id: str) -> str:
    """Return an id as a message has it."""
    return record_id if len(record_id) <= _SHOWN else f"{record_id[:_SHOWN]}…"


def not_found(missing: Sequence[str], *, time: bool = False, cut: bool = False) -> NotFound:
    """Return what to say of ids that no record has.

    ``time``: it might have been one as well; ``cut``: not all of each file was read.
    """
    what = ", ".join(f'"{_bounded(each)}"' for each in missing[:_NAMED])
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    ids = "id" if len(missing) == 1 else "ids"
    or_time = ", and it is no ISO 8601 date or time" if time else ""
    behind = "; recall status --skipped names files that are too long to be read whole"
    return NotFound(
        f"no record has the {ids} {what}{more}{or_time}",
        hint="recall search --cards QUERY shows ids; those of other roots need --root"
        + (behind if cut else ""),
    )


def _undated(record_id: str) -> InvalidInput:
    named = _bounded(record_id)
    return InvalidInput(
        f'the record "{named}" has no created that can be read: it has no place in time',
        hint="give a date as the anchor",
    )


def _instant(text: str) -> int | None:
    from index_cache.moments import instant

    return instant(text) if is_whole(text) else None


def _places(keys: Iterable[Key]) -> list[Place]:
    return [Place(root, number, path, line) for _, _, root, path, line, number in keys]


def _by_file(asked: tuple[str, Row]) -> tuple[int, bytes, int]:
    _, row = asked
    return row.root, row.path, row.line


def _in_time(record: Record) -> tuple[int, str]:
    return record.created_at or 0, record.id
