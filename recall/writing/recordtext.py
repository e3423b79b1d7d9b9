"""A record as the bytes of a note, and what is changed in the bytes of one that is there. Pure.

Each result is read back by the program's own reader before it is given: what does not say exactly
what was granted, or would change anything else, is refused. See ``spec/writing.md``.
"""

from __future__ import annotations

import json
import re

from index_cache import frontmatter
from index_cache.blocks import blocks
from index_cache.errors import InvalidInput
from index_cache.filters import is_whole
from index_cache.markdown import plain
from index_cache.model import HEADING
from index_cache.parse import Document
from index_cache.text import Content, NotText, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from recall.writing.payload import Record

_BOM = b"\xef\xbb\xbf"
_MARKUP = re.compile(r"([*_`\[\]<>&\\~!])")
_PLAIN = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UNTOUCHED = "nothing was written; give the record another title, or edit the note yourself"


def stamp(now: datetime) -> str:
    """Return a time (UTC) as records have it, to the second."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def new_note(record: Record, adapter: str, now: datetime) -> bytes:
    """Return the note of a record, which has an id. Raises InvalidInput if it reads otherwise."""
    fields: dict[str, str | tuple[str, ...]] = {
        "id": record.id,
        "type": record.type,
        "title": _spelled(record.title, "title"),
        "created": record.created or stamp(now),
        "updated": stamp(now),
        "source": record.source,
        "session": record.session,
        "related": record.related,
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
        "description": _spelled(record.description, "description"),
        "tags": record.tags,
        "adapter": adapter,
    }
    lines = [f"{key}: {scalar(value)}\n" for key, value in fields.items() if value]
    data = f"---\n{''.join(lines)}---\n\n{record.text}\n".encode()
    granted = {**fields, "title": record.title, "description": record.description}
    _check_new(data, granted, record.text)
    return data


def scalar(value: str | tuple[str, ...]) -> str:
    """Return a value as YAML, in one line; a tuple as a list."""
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(each) for each in value)}]"
    return value if _PLAIN.fullmatch(value) or _is_time(value) else _quoted(value)


def _quoted(text: str) -> str:
    if "\\" in text and "'" not in text:
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)  # a double-quoted scalar of YAML as well


def _is_time(value: str) -> bool:
    return bool(_DATE.match(value)) and set(value) <= set("0123456789-T:Z+.")


def _spelled(text: str, field: str) -> str:
    """Return a one-line text as it must be written to be read as it is: titles are Markdown."""
    if plain(text) == text:
        return text
    escaped = _MARKUP.sub(r"\\\1", text)
    if plain(escaped) != text:
        raise InvalidInput(
            f"{field}: it would not be read back as it is", where=field, hint="say it more simply"
        )
    return escaped


def _check_new(data: bytes, granted: Mapping[str, str | tuple[str, ...]], text: str) -> None:
    """Raise InvalidInput unless a note's bytes read back as what was granted."""
    document = Document(b"note.md", _public(data))
    block = split(data.decode())[0] or ""
    found = frontmatter.parse(block)
    for key, value in granted.items():
        expected = list(value) if isinstance(value, tuple) else value
        read = getattr(document, key, None) if key in Document.__slots__ else found.get(key, "")
        given = list(read) if isinstance(read, tuple) else read
        if given != expected and (given or expected):
            raise InvalidInput(f"{key}: it would not be read back as it is", where=key)
    if found.keys() != {key for key, value in granted.items() if value}:
        raise InvalidInput("it would be read back with other fields", where="payload")
    if document.body != f"\n{text}\n" or document.withheld:
        raise InvalidInput("text: it would not be read back as it is", where="text")


def _public(data: bytes) -> str:
    try:
        return Content(data).text
    except NotText as error:
        raise InvalidInput(f"the note is {error}", hint=_UNTOUCHED) from None


class Note:
    """The bytes of a note that is there, and the ways to change them.

    ``path`` is relative, ``where`` absolute, for messages; ``document`` is what the bytes say.
    Raises InvalidInput for what is no text. One that is not UTF-8 is read, but not changed.
    """

    def __init__(self, path: str, data: bytes, where: str) -> None:
        self.path = path
        self._where = where
        self.data = data
        self._name = path.encode("utf-8", "surrogateescape")
        self._bom = data[: len(_BOM)] if data.startswith(_BOM) else b""
        content = _public(data)
        self._text = data[len(self._bom) :].decode("utf-8", "surrogateescape")
        self.public = content
        self.document = Document(self._name, content)
        self.eol = "\r\n" if self._text.count("\r\n") * 2 > self._text.count("\n") else "\n"

    def keys(self) -> dict[str, frontmatter.Value]:
        """Return what its block says."""
        return frontmatter.parse(split(self.public)[0] or "")

    def appended(self, text: str, now: datetime) -> bytes:
        """Return the note with a text under a heading with the date, ``updated`` moved.

        Nothing else changes. Raises InvalidInput where that can't be.
        """
        heading = next(each for each in _headings(now) if each not in self._lines())
        section = self.eol.join(["", f"## {heading}", "", *text.split("\n"), ""])
        # A blank line between, whatever the note ends with.
        body = self._text
        tail = body[-4:].replace("\r\n", "\n")
        gap = "" if tail.endswith("\n") else self.eol
        section = section.removeprefix(self.eol) if tail.endswith("\n\n") else section
        changed = self.changed({"updated": self._moved(now)} if self.has_block else {})
        whole = changed + (gap + section).encode()
        self._check_appended(whole, heading, text)
        return whole

    def _lines(self) -> set[str]:
        return {line.strip().lstrip("#").strip() for line in self.public.splitlines()}

    @property
    def has_block(self) -> bool:
        """Whether there is a block of metadata."""
        return split(self.public)[0] is not None

    def _moved(self, now: datetime) -> str:
        """Return what ``updated`` becomes: a date where it was one, else a time."""
        old = self.document.updated
        return stamp(now)[:10] if _DATE.fullmatch(old) else stamp(now)

    def changed(self, values: Mapping[str, str]) -> bytes:
        """Return the note with keys of its block set, each in its own line, all else kept.

        Raises InvalidInput where that can't be: without a block, or where a key's value stands in
        several lines.
        """
        text = self._text
        if not is_whole(text):
            raise self._wrong("it is not UTF-8")
        for key, value in values.items():
            text = self._with(text, key, value)
        data = self._bom + text.encode("utf-8", "surrogateescape")
        if values:
            self._check_changed(data, values)
        return data

    def _with(self, text: str, key: str, value: str) -> str:
        block, end = split(text)
        if block is None:
            raise self._wrong("it has no block of metadata")
        close = text.rfind("\n", 0, end - 1) + 1
        begin = close - len(block)
        lines = block.split("\n")
        line = re.compile(
            rf"(['\"]?{key}['\"]?[ \t]*:)([ \t]*).*?((?:[ \t]+#.*)?\r?)", re.IGNORECASE
        )
        places = [at for at, each in enumerate(lines) if line.fullmatch(each)]
        if places:
            match = line.fullmatch(lines[places[-1]])
            assert match is not None  # noqa: S101 - it was, a line above
            lines[places[-1]] = f"{match[1]}{match[2] or ' '}{value}{match[3]}"
            block = "\n".join(lines)
        else:
            eol = "\r\n" if text[:begin].endswith("\r\n") else "\n"
            block += f"{key}: {value}{eol}"
        return text[:begin] + block + text[close:]

    def _check_changed(self, data: bytes, values: Mapping[str, str]) -> None:
        new = Note(self.path, data, self._where)
        before, after = self.keys(), new.keys()
        expected = frontmatter.parse("".join(f"{key}: {each}\n" for key, each in values.items()))
        for key in values:
            before.pop(key, None)
        same = {key: each for key, each in after.items() if key not in values}
        right = all(after.get(key) == each for key, each in expected.items())
        if same != before or not right or new.document.body != self.document.body:
            raise self._wrong(f"{' and '.join(values)} can't be set in it without changing more")

    def _check_appended(self, data: bytes, heading: str, text: str) -> None:
        body = Note(self.path, data, self._where).document.body.replace("\r\n", "\n")
        before = self.document.body.replace("\r\n", "\n")
        if not (body.startswith(before) and body.endswith(f"## {heading}\n\n{text}\n")):
            raise self._wrong("what is appended to it could not be read")
        above = body[: -len(text) - 1].count("\n")
        found = [each.lines[0] for each in blocks(body) if each.kind == HEADING]
        if (above - 1, heading) not in found:
            raise self._wrong("it ends within a block of code, a comment or the like")

    def _wrong(self, why: str) -> InvalidInput:
        return InvalidInput(f"the note can't be changed: {why}", where=self._where, hint=_UNTOUCHED)


def _headings(now: datetime) -> Iterator[str]:
    """Yield headings for a section of now (UTC), the plainest first, without end."""
    yield now.strftime("%Y-%m-%d")
    yield now.strftime("%Y-%m-%d %H:%M")
    second = now.strftime("%Y-%m-%d %H:%M:%S")
    yield second
    number = 1
    while True:
        number += 1
        yield f"{second} ({number})"
