"""The lines of a JSONL file, each a record or not: pure, and it takes any bytes.

What may be known of a line is what is public of it: its digest is of that alone, as a note's is.
See ``spec/records.md``.
"""

from __future__ import annotations

import json
import re

from index_cache.digests import sha256
from index_cache.privacy import folded, is_private, strip
from index_cache.taghints import may_have_tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

    from index_cache.frontmatter import Value

MAX_LINE = 1024 * 1024  # bytes
_BOM = b"\xef\xbb\xbf"
_MAX_DEPTH = 4  # of what is kept, as in a metadata block
_MAX_ITEMS = 1_000
# What json itself takes depends on how deep the program's own stack is.
_MAX_NESTED = 200
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_DECODER = json.JSONDecoder(
    strict=True, parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=list
)


class NoRecord(ValueError):
    """A line is no record; the message says why."""


class Line:
    """A line that is a record: its number, from 1, and the digest (32 bytes) of what is public."""

    __slots__ = ("begin", "digest", "end", "number")

    def __init__(self, number: int, begin: int, end: int, digest: bytes) -> None:
        self.number = number
        self.begin = begin
        self.end = end
        self.digest = digest


class _Any:
    """All digests there are."""

    def __contains__(self, _: object) -> bool:
        return True


ANY = _Any()


class Lines:
    """The lines of a file that are records.

    ``found`` has them in order, one of them alone unless ``is_all``; ``problem`` says which are
    none. ``cut`` says that the file goes on behind ``data``: what is missing of the last line is
    nobody's fault. Lines whose digest is ``known`` are not looked into again.
    ``known`` are not looked into again.
    """

    def __init__(
        self, data: bytes, *, cut: bool = False, known: Container[bytes] = frozenset()
    ) -> None:
        if cut:
            data = data[: data.rfind(b"\n") + 1]
        self._data = data.removeprefix(_BOM)
        self.found: list[Line] = []
        self.is_all = True
        self._by_digest: dict[bytes, list[Line]] | None = None
        self._all = self._bad = 0
        self._first = ""
        if self._crosses(known):
            # A tag that stands in no record may have been meant for those behind it.
            text = self._data.decode("utf-8", "surrogateescape")
            self._data = strip(text).encode("utf-8", "surrogateescape")
            self._crosses(known, whole=True)

    @property
    def problem(self) -> str | None:
        """What is to be told of lines that are no records, None if there are none."""
        if not self._bad:
            return None
        what = "line is no record" if self._all == 1 else "lines are no records"
        return f"{self._bad:,} of {self._all:,} {what}, the first is {self._first}"

    def _crosses(self, known: Container[bytes], *, whole: bool = False) -> bool:
        """Go through all lines; True, and no further, if one that is no record has a private tag.

        With ``whole`` the tags of such lines were taken out of the text before.
        """
        self.found, self._all, self._bad, self._first = [], 0, 0, ""
        for number, begin, end in _spans(self._data):
            self._all += 1
            try:
                digest = _digest(self._data[begin:end], known)
            except NoRecord as error:
                if not whole and _may_be_tagged(self._data[begin:end]):
                    return True
                self._bad += 1
                self._first = self._first or f"line {number:,}: {error}"
            else:
                if digest is not None:
                    self.found.append(Line(number, begin, end, digest))
        return False

    def fields(self, line: Line) -> dict[str, Value]:
        """Return the fields of one of the lines as a metadata block has them.

        Raises NoRecord for one that was not looked into, and is none or withholds itself.
        """
        public = _Public(_text(self.raw(line)))
        if public.withheld:
            raise NoRecord("private")
        return _fields(public.pairs)

    def raw(self, line: Line) -> bytes:
        """Return the bytes of one of the lines."""
        return self._data[line.begin : line.end]

    @classmethod
    def at(cls, data: bytes, number: int, digest: bytes) -> Lines | None:
        """Return one line alone, if it stands at ``number`` and has that digest; quickly.

        None may also mean that only all lines can tell.
        """
        if _may_be_tagged(data):
            return None
        made = cls(b"")
        made._data = data = data.removeprefix(_BOM)
        begin = 0
        for _ in range(number - 1):
            begin = data.find(b"\n", begin) + 1
            if not begin:
                return None
        end = data.find(b"\n", begin)
        line = Line(number, begin, len(data) if end < 0 else end, digest)
        try:
            same = sha256(_text(made.raw(line)).encode()).digest() == digest
        except NoRecord:
            return None
        made.found, made.is_all = [line], False
        return made if same else None

    def find(self, number: int, digest: bytes) -> Line | None:
        """Return the line with a digest; of several the one at ``number``, else the first."""
        if self._by_digest is None:
            self._by_digest = {}
            for line in self.found:
                self._by_digest.setdefault(line.digest, []).append(line)
        same = self._by_digest.get(digest, [])
        return next((line for line in same if line.number == number), same[0] if same else None)


def _spans(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the number of each line that is not blank, where it begins, and where it ends."""
    begin = number = 0
    while begin < len(data):
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        number += 1
        if not data[begin:end].isspace() and begin < end:
            yield number, begin, end
        begin = end + 1


def _text(line: bytes) -> str:
    if len(line) > MAX_LINE:
        raise NoRecord("longer than 1 MiB")
    try:
        return line.decode().strip("\ufeff \t\r")
    except UnicodeDecodeError:
        raise NoRecord("not UTF-8") from None


def _may_be_tagged(line: bytes) -> bool:
    return may_have_tags(line.decode("utf-8", "surrogateescape"))


def _digest(line: bytes, known: Container[bytes]) -> bytes | None:
    """Return the digest of what is public of a line, None if it withholds itself.

    Raises NoRecord.
    """
    text = _text(line)
    if not may_have_tags(text):
        digest = sha256(text.encode()).digest()
        if digest in known:
            return digest
    public = _Public(text)
    if public.withheld:
        return None
    seen = repr(public.pairs) if public.differs else text
    return sha256(seen.encode("utf-8", "surrogatepass")).digest()


class _Public:
    """What is public of the object that a line is: ``pairs`` of keys and values, in order.

    Values are texts, None, lists, and lists of pairs. ``differs`` says that there were private
    spans in it, ``withheld`` that all of it is private. Raises NoRecord.
    """

    def __init__(self, text: str) -> None:
        self.differs = False
        if text.count("[") + text.count("{") > _MAX_NESTED:
            _refuse_deep(text)
        try:
            found = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", None)
            raise NoRecord("not JSON" if at is None else f"not JSON at column {at + 1}") from None
        if not text.startswith("{"):
            raise NoRecord("JSON, but no object")
        self.pairs = self._pairs(found, 0)
        self.withheld = any(
            "rivate" in (name := folded(key)) and name == "private" and is_private(value)
            for key, value in self.pairs
        )

    def _pairs(self, found: list[tuple[str, Any]], depth: int) -> list[tuple[str, Any]]:
        return [(self._text(key), self._value(value, depth + 1)) for key, value in found]

    def _text(self, text: str) -> str:
        """Return a text without private spans, halves of characters and NULs."""
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        public = strip(text)
        self.differs |= public != text
        return public.replace("\0", " ")

    def _value(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - from JSON
        """Return a value as text, list or pairs; what lies too deep is left out."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or depth > _MAX_DEPTH:
            return None
        if value and isinstance(value[0], tuple):
            return self._pairs(value[:_MAX_ITEMS], depth)
        return [self._value(each, depth + 1) for each in value[:_MAX_ITEMS]]


def _refuse_deep(text: str) -> None:
    depth = 0
    for match in _NESTING.finditer(text):
        sign = match[0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > _MAX_NESTED:
            raise NoRecord("nested too deeply")


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Value]:
    """Return pairs as ``frontmatter.parse`` has a block: keys in lower case, ``a.b`` too."""
    found: dict[str, Value] = {}
    for key, value in pairs:
        if value is not None:
            found[key.lower()] = _plain(value)
    for key, value in list(found.items()):
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", below) for inner, below in value.items())
    return found


def _plain(value: Any) -> Value:  # noqa: ANN401 - of pairs
    if isinstance(value, str):
        return value
    if value and isinstance(value[0], tuple):
        return {key.lower(): _plain(each) for key, each in value if each is not None}
    return [_plain(each) for each in value if each is not None]
