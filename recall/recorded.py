"""Records in JSONL files, found again in a file that may be another by now.

See "Cards" in ``spec/staleness.md``.
"""

from __future__ import annotations

from index_cache.jsonl import ANY, Lines, NoRecord
from index_cache.reader import place_id, record_id
from index_cache.text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from index_cache.chronicle import Row
    from index_cache.jsonl import Line
    from index_cache.model import Hit
    from index_cache.parse import Document


def lines_with(data: bytes, number: int, digest: bytes, *, cut: bool) -> Lines:
    """Return the lines of a file, or the one alone that stands at ``number`` with that digest."""
    return Lines.at(data, number, digest) or Lines(data, cut=cut, known=ANY)


def found_again(hit: Hit | Row, lines: Lines) -> Document | Literal[True] | None:
    """Find a hit's record among the lines of its file now, and put its place into the hit.

    True if it is what it was, else what the record with its id says now, or None if there is none.
    """
    line = lines.find(hit.line, hit.digest)
    if line is not None:
        if hit.record_id == place_id(hit.path, hit.line):
            hit.record_id = place_id(hit.path, line.number)
        hit.line = line.number
        return True
    for line, document in _with_id(lines, hit):
        hit.line, hit.digest = line.number, line.digest
        return document
    return None


def body(data: bytes, number: int, digest: bytes, *, cut: bool) -> str:
    """Return the text of the record that stood at a line, "" if it is not in the file any more."""
    lines = lines_with(data, number, digest, cut=cut)
    line = lines.find(number, digest)
    try:
        return "" if line is None else text_of(lines.fields(line))
    except NoRecord:
        return ""


def _with_id(lines: Lines, hit: Hit | Row) -> Iterator[tuple[Line, Document]]:
    from index_cache.parse import Document  # most records are as they were

    by_place = hit.record_id == place_id(hit.path, hit.line)
    # As JSON writes it, if it has to write none of it otherwise.
    plain = hit.record_id.isascii() and hit.record_id.replace("-", "").isalnum()
    sought = hit.record_id.encode() if plain else b""
    for line in lines.found:
        if line.number != hit.line if by_place else sought not in lines.raw(line):
            continue
        try:
            document = Document.of_record(hit.path, lines.fields(line))
        except NoRecord:
            continue
        if record_id(hit.path, document, line.number) == hit.record_id:
            yield line, document
