"""A JSONL file's lines to rows: what is new of it, what has moved, and what is no more.

See ``spec/records.md``.
"""

from __future__ import annotations

import re

from index_cache.jsonl import Lines
from index_cache.parse import MAX_FIELD, Document, bounds, has_long_id
from index_cache.reader import columns, instants, is_odd, place_id
from index_cache.rows import Record, Records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from index_cache.jsonl import Line
    from index_cache.rows import Entry, Known

    Analyse = Callable[[bytes, Document], tuple[tuple[str, ...], tuple[list[str], ...]]]

_ODD = "a time in valid_from or valid_until can't be read"
_LONG = "an id longer than 4,000 characters is replaced by that of its line"
_LONG_ID = re.compile(rb'"id"\s*:\s*"(?:[^"\\]|\\.){%d}' % MAX_FIELD, re.IGNORECASE)


def read(
    entry: Entry,
    data: bytes,
    known: Mapping[bytes, Sequence[Known]],
    analyse: Analyse,
    *,
    cut: bool,
    again: bool,
) -> Records:
    """Return what a file's bytes say, and put into its entry what is wrong with them.

    ``known`` are the records that the cache has, by digest; with ``again`` all are made anew. What
    is new is parsed and analysed when it is asked for, line by line.
    """
    lines = Lines(data, cut=cut, known=frozenset() if again else known.keys())
    left = {} if again else {digest: [*reversed(same)] for digest, same in known.items()}
    new: list[Line] = []
    moved: list[tuple[int, int, str]] = []
    odd: list[int] = []
    long: list[int] = []
    kept: set[int] = set()
    for line in lines.found:
        same = left.get(line.digest)
        if not same:
            new.append(line)
            continue
        record = same.pop()
        kept.add(record.number)
        if record.is_odd:
            odd.append(line.number)
        # Its row can't tell; few lines have what looks like it.
        if _LONG_ID.search(lines.raw(line)) and has_long_id(lines.fields(line)):
            long.append(line.number)
        if record.line != line.number:
            moved.append((record.number, line.number, _moved_id(entry.path, record, line.number)))
    gone = {
        record.number: record.record_id
        for same in known.values()
        for record in same
        if record.number not in kept
    }
    for line in new:
        fields = lines.fields(line)
        if is_odd(bounds(fields)):
            odd.append(line.number)
        if has_long_id(fields):
            long.append(line.number)
    told = [lines.problem, _told(_ODD, odd), _told(_LONG, long)]
    entry.problem = "; ".join(filter(None, told)) or None
    return Records(_made(entry.path, lines, new, analyse), len(new), moved, gone)


def _moved_id(path: bytes, record: Known, line: int) -> str:
    """Return the id of a record that stands on another line now: its own stays."""
    if record.record_id == place_id(path, record.line):
        return place_id(path, line)
    return record.record_id


def _told(what: str, lines: Sequence[int]) -> str | None:
    if not lines:
        return None
    more = f" and {len(lines) - 1:,} more" if len(lines) > 1 else ""
    return f"{what} on line {min(lines):,}{more}"


def _made(path: bytes, lines: Lines, new: Sequence[Line], analyse: Analyse) -> Iterator[Record]:
    for line in new:
        document = Document.of_record(path, lines.fields(line))
        texts = columns(path, document, line.number)
        terms, pieces = analyse(path, document)
        yield Record(line.number, line.digest, (*texts, *instants(document)), terms, pieces)
