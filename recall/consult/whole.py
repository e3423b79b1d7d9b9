"""What a record's file says at this moment, all of it, without private spans."""

from __future__ import annotations

import os

from index_cache import files
from index_cache.text import TEXTS, Content, NotText, split, text_of
from recall import quickjson
from recall.consult.records import Text
from recall.fresh import admit, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from index_cache.chronicle import Row
    from index_cache.files import FileSystem
    from index_cache.frontmatter import Value
    from index_cache.model import Root
    from index_cache.parse import Document


def is_untouched(row: Row, root: Root, fs: FileSystem) -> bool:
    """Tell whether a record's file is the one that the cache knows, without opening it."""
    path = os.path.join(os.fsencode(root.path), row.path)
    try:
        if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
            return False
        return files.signature(fs.stat(path)) == row.signature and not row.suspect
    except OSError:
        return False


def read(row: Row, root: Root, fs: FileSystem) -> Text | None:
    """Return a record's text, None if there is no such record any more.

    If it is another than the cache knows, the row has what it says now. Raises RootRefused for one
    of a strict root that has a violation now.
    """
    found = _bytes(row, root, fs)
    if found is None:
        return None
    data, cut = found
    if row.line:
        return _read_line(row, data, cut=cut)
    try:
        content = Content(data)
    except NotText:
        return None
    if content.digest != row.digest:
        from index_cache.parse import Document  # most notes are as they were

        document = Document(row.path, content.text)
        if document.withheld:
            return None
        row.digest = content.digest
        _say(row, document)
    block, begin = split(content.text)
    return Text(content.text[begin:], block, cut=cut)


def _bytes(row: Row, root: Root, fs: FileSystem) -> tuple[bytes, bool] | None:
    """Return what is read of a record's file, and whether there is more; None if it can't be.

    Raises RootRefused for what it proves to be in a strict root.
    """
    strict = root.rules.strict
    path = os.path.join(os.fsencode(root.path), row.path)
    problem = "escape: its directory lies outside of the root"
    try:
        if fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
            signature, data = fs.read(path, root.rules.max_file_bytes)
            cut = files.size(signature) > len(data)
            if strict and (row.suspect or signature != row.signature):
                admit(row, root, data, cut=cut)
            return data, cut
    except FileNotFoundError:
        return None
    except OSError as error:
        problem = f"unavailable: {files.describe(error)}"
    if strict:
        refuse(root, row.path, problem)
    return None


def _read_line(row: Row, data: bytes, *, cut: bool) -> Text | None:
    from index_cache.jsonl import NoRecord
    from recall.recorded import found_again, lines_with

    found = found_again(row, data, cut=cut)
    if found is None:
        return None
    if found is not True:
        if found.withheld:
            return None
        _say(row, found)
    lines = lines_with(data, row.line, row.digest, cut=cut)
    line = lines.find(row.line, row.digest)
    try:
        fields = {} if line is None else lines.fields(line)
    except NoRecord:
        return None
    return Text(text_of(fields), _rest(fields))


def _rest(fields: Mapping[str, Value]) -> str:
    """Return all but the text of a record's fields as JSON."""
    content = text_of(fields)
    nested = {f"{key}." for key, value in fields.items() if isinstance(value, dict)}
    kept: dict[str, Value] = {}
    for key, value in fields.items():
        if value == content and key in TEXTS:
            content = ""  # of two the first is meant
        elif not any(map(key.startswith, nested)):
            kept[key] = value
    return quickjson.dumps(kept)


def _say(row: Row, document: Document) -> None:
    """Put what a record says now into its row."""
    from index_cache.reader import columns, instants

    row.say((*columns(row.path, document, row.line), *instants(document)))
