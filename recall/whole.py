"""What a record's file says at this moment, all of it, without private spans."""

from __future__ import annotations

import os

from index_cache import files
from index_cache.text import Content, NotText, split
from recall.records import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.chronicle import Row
    from index_cache.files import FileSystem
    from index_cache.model import Root


def is_untouched(row: Row, root: Root, fs: FileSystem) -> bool:
    """Tell whether a record's file is the one that the cache knows, without opening it."""
    path = os.path.join(os.fsencode(root.path), row.path)
    try:
        if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
            return False
        return files.signature(fs.stat(path)) == row.signature and not row.suspect
    except OSError:
        return False


def read(row: Row, root: Root, fs: FileSystem) -> tuple[Text, bool] | None:
    """Return a record's text, and whether it is another than the cache knows.

    Then the row has what it says now. None if there is no such record any more.
    """
    path = os.path.join(os.fsencode(root.path), row.path)
    try:
        if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
            return None
        _, data = fs.read(path, root.rules.max_file_bytes)
        content = Content(data)
    except (OSError, NotText):
        return None
    edited = content.digest != row.digest
    if edited and not _reread(row, content):
        return None
    block, begin = split(content.text)
    return Text(content.text[begin:], block), edited


def _reread(row: Row, content: Content) -> bool:
    """Put what a note says now into its row; False if it is withheld."""
    from index_cache.parse import Document  # most notes are as they were
    from index_cache.reader import columns, instants

    document = Document(row.path, content.text)
    if document.withheld:
        return False
    row.digest = content.digest
    row.say((*columns(row.path, document), *instants(document)))
    return True
