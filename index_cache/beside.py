"""New notes that no refresh has taken in yet, as a cache in memory, searched beside the rest.

So the next prompt finds a note that was written a moment ago. Nothing is locked and nothing is
written to disk. See ``spec/staleness.md``.
"""

from __future__ import annotations

from itertools import count

from index_cache import files
from index_cache.reader import Reader
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.rows import Record, Row

MOST_FILES = 20
MOST_BYTES = 1_000_000  # .1 s of reading and analysing


def choose(appeared: Mapping[bytes, bytes]) -> list[bytes]:
    """Return those of the files that appeared that are worth reading now: the newest, and few.

    ``appeared`` maps paths to signatures. When not all are chosen, a refresh is due.
    """
    newest = sorted(appeared, key=lambda path: (-files.mtime_ns(appeared[path]), path))
    chosen, left = [], MOST_BYTES
    for path in newest[:MOST_FILES]:
        left -= files.size(appeared[path])
        if left < 0:
            break
        chosen.append(path)
    return chosen


def beside(root: Root, fs: FileSystem, paths: list[bytes]) -> Store | None:
    """Read some files that the root's cache lacks; return a cache of them in memory, if any.

    It holds what a refresh would write of them. Search it as one more cache of the same root, with
    the same filter: as no file is in both, the sums of the two count each document once. The caller
    closes it. What can't be read, is no text or withholds itself is not in it.
    """
    reader = Reader(root, fs, fs.now_ns())
    rows: list[Row] = []
    numbers = count(1)
    for path in paths:
        _, row = reader.row(path, next(numbers))
        if row is None or not (row.document or row.records):
            continue
        if row.records:
            row.records.added = _numbered(row.records.added, numbers)
        rows.append(row)
    if not any(row.document or (row.records and row.records.count) for row in rows):
        return None
    found = Store.create(root, None)
    found.write(rows)
    found.set_meta("built", 1)
    return found


def _numbered(records: Iterable[Record], numbers: Iterator[int]) -> Iterator[Record]:
    for record in records:
        record.number = next(numbers)
        yield record
