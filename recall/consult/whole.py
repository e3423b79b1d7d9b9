"""What a record's file says at this moment, all of it, without private spans."""

from __future__ import annotations

import os

from index_cache import files
from index_cache.text import Content, NotText, split
from recall.consult.records import Text
from recall.fresh import admit, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.chronicle import Row
    from index_cache.files import FileSystem
    from index_cache.jsonl import Lines
    from index_cache.model import Root
    from index_cache.parse import Document

MOST_KEPT = 32 * 1024 * 1024  # bytes of JSONL files; the one at hand is kept in any case


class _File:
    """What is read of a file: its bytes, whether there are more, and what it is known by."""

    __slots__ = ("cut", "data", "is_admitted", "lines", "signature")

    def __init__(self, signature: bytes, data: bytes) -> None:
        self.signature = signature
        self.data = data
        self.cut = files.size(signature) > len(data)
        self.is_admitted = False
        self.lines: Lines | None = None

    def lines_for(self, row: Row) -> Lines:
        """Return the lines of a JSONL file; the first who asks waits for one line alone."""
        from index_cache.jsonl import ANY, Lines  # few roots have records
        from recall.recorded import lines_with

        if self.lines is None:
            self.lines = lines_with(self.data, row.line, row.digest, cut=self.cut)
        elif not self.lines.is_all:
            self.lines = Lines(self.data, cut=self.cut, known=ANY)
        return self.lines


class Files:
    """The files of the records of one reading, as they are at this moment.

    A JSONL file is read once for all of its records, as long as there is room for it.
    """

    def __init__(self, fs: FileSystem) -> None:
        self._fs = fs
        self._kept: dict[bytes, _File] = {}  # by path, the last that was asked for at the end

    def text(self, row: Row, root: Root) -> Text | None:
        """Return a record's text, None if there is no such record any more.

        If it is another than the cache knows, the row has what it says now. Raises RootRefused for
        one of a strict root that has a violation now.
        """
        file = self._file(row, root)
        if file is None:
            return None
        return _line(row, file.lines_for(row)) if row.line else _note(row, file)

    def is_untouched(self, row: Row, root: Root) -> bool:
        """Tell whether a record's file is the one that the cache knows, without opening it."""
        path = os.path.join(os.fsencode(root.path), row.path)
        try:
            if not self._fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
                return False
            return files.signature(self._fs.stat(path)) == row.signature and not row.suspect
        except OSError:
            return False

    def _file(self, row: Row, root: Root) -> _File | None:
        path = os.path.join(os.fsencode(root.path), row.path)
        file = self._kept.pop(path, None) or self._read(row, root, path)
        if file is None:
            return None
        if row.line:
            self._kept[path] = file
            self._make_room()
        if root.rules.strict and not file.is_admitted:
            if row.suspect or file.signature != row.signature:
                admit(row, root, file.data, cut=file.cut)
            file.is_admitted = True
        return file

    def _make_room(self) -> None:
        kept = sum(len(file.data) for file in self._kept.values())
        while kept > MOST_KEPT and len(self._kept) > 1:
            kept -= len(self._kept.pop(next(iter(self._kept))).data)

    def _read(self, row: Row, root: Root, path: bytes) -> _File | None:
        """Read a file; None if it can't be.

        Raises RootRefused for what it proves to be in a strict root.
        """
        problem = "escape: its directory lies outside of the root"
        try:
            if self._fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
                return _File(*self._fs.read(path, root.rules.max_file_bytes))
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = f"unavailable: {files.describe(error)}"
        if root.rules.strict:
            refuse(root, row.path, problem)
        return None


def _note(row: Row, file: _File) -> Text | None:
    try:
        content = Content(file.data)
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
    return Text(content.text[begin:], block, cut=file.cut)


def _line(row: Row, lines: Lines) -> Text | None:
    from index_cache.jsonl import NoRecord
    from recall.recorded import found_again

    found = found_again(row, lines)
    if found is None:
        return None
    if found is not True:
        if found.withheld:
            return None
        _say(row, found)
    line = lines.find(row.line, row.digest)
    try:
        return None if line is None else Text(*lines.parts(line))
    except NoRecord:
        return None


def _say(row: Row, document: Document) -> None:
    """Put what a record says now into its row."""
    from index_cache.reader import columns, instants

    row.say((*columns(row.path, document, row.line), *instants(document)))
