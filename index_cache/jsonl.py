"""The lines of a JSONL file, each a record or not: pure, and it takes any bytes.

What may be known of a line is what is public of it: its digest is of that alone, as a note's is.
See ``spec/records.md``.
"""

from __future__ import annotations

import json
import re
from itertools import takewhile

from index_cache.digests import sha256
from index_cache.privacy import folded, is_private, strip, strip_open
from index_cache.taghints import may_have_tags
from index_cache.text import TEXTS, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

    from index_cache.frontmatter import Value

MAX_LINE = 1024 * 1024  # bytes
_BOM = b"\xef\xbb\xbf"
_MAX_DEPTH = 4  # of the fields, as in a metadata block
_MAX_ITEMS = 1_000
# What json itself takes depends on how deep the program's own stack is.
_MAX_NESTED = 200
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


class Token(str):
    """A number, ``true`` or ``false`` as it was typed: a text among fields, and none in JSON."""

    __slots__ = ()


class _Pairs(list["tuple[str, Any]"]):
    """The keys of an object with their values, in order."""

    __slots__ = ()


_DECODER = json.JSONDecoder(
    strict=True,
    parse_float=Token,
    parse_int=Token,
    parse_constant=Token,
    object_pairs_hook=_Pairs,
)
# What Python reads of a number, and JSON does not have.
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity")


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
        return _fields(self._pairs(line))

    def parts(self, line: Line) -> tuple[str, str]:
        """Return the text of one of the lines, and all but that as JSON, whole. Raises NoRecord."""
        pairs = self._pairs(line)
        fields = _fields(pairs)
        content = text_of(fields)
        key = next((key for key in TEXTS if content and fields.get(key) == content), None)
        at = max(
            (n for n, (name, said) in enumerate(pairs) if name.lower() == key and said == content),
            default=len(pairs),
        )
        return content, _json(_Pairs([*pairs[:at], *pairs[at + 1 :]]))

    def _pairs(self, line: Line) -> _Pairs:
        public = _Public(_text(self.raw(line)))
        if public.withheld:
            raise NoRecord("private")
        return public.pairs

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
    seen = _json(public.pairs) if public.differs else text
    return sha256(seen.encode("utf-8", "surrogatepass")).digest()


class _Public:
    """What is public of the object that a line is: ``pairs`` of keys and values, in order.

    Values are texts, tokens, None, lists, and pairs. ``differs`` says that there were private spans
    in it, ``withheld`` that all of it is private. A span that is opened in a key or a value, and
    not closed there, withholds all that follows in the line. Raises NoRecord.
    """

    def __init__(self, text: str) -> None:
        self.differs = self._opened = False
        if text.count("[") + text.count("{") > _MAX_NESTED:
            _refuse_deep(text)
        try:
            found = _DECODER.decode(text)
        except (ValueError, RecursionError) as error:
            at = getattr(error, "pos", None)
            raise NoRecord("not JSON" if at is None else f"not JSON at column {at + 1}") from None
        if not isinstance(found, _Pairs):
            raise NoRecord("JSON, but no object")
        self.pairs = self._object(found)
        # What an open span withholds says it as well.
        self.withheld = _says_private(found) or _says_private(self.pairs)

    def _object(self, found: _Pairs) -> _Pairs:
        public = _Pairs()
        for key, value in found:
            if self._opened:
                break
            public.append((self._text(key), self._value(value)))
        return public

    def _text(self, text: str) -> str:
        """Return a text without private spans, halves of characters and NULs."""
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        public, self._opened = strip_open(text)
        self.differs |= public != text
        return public.replace("\0", " ")

    def _value(self, value: Any) -> Any:  # noqa: ANN401 - from JSON
        """Return what is public of a value; of a key in which a span was opened it has none."""
        if self._opened:
            return None
        if isinstance(value, bool):
            return Token("true" if value else "false")
        if value is None or isinstance(value, Token):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, _Pairs):
            return self._object(value)
        return [self._value(each) for each in takewhile(lambda _: not self._opened, value)]


def _says_private(pairs: _Pairs) -> bool:
    return any(
        "rivate" in (name := folded(key)) and name == "private" and _is_private(value)
        for key, value in pairs
    )


def _is_private(value: Any) -> bool:  # noqa: ANN401 - from JSON
    return is_private(str(value) if isinstance(value, bool) else value)


def _json(value: Any) -> str:  # noqa: ANN401 - of pairs
    """Return a public value as JSON, with numbers as they were typed."""
    if isinstance(value, Token):
        return f'"{value}"' if value in _NO_NUMBERS else value
    if value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, _Pairs):
        return "{" + ",".join(f"{json.dumps(key)}:{_json(each)}" for key, each in value) + "}"
    return "[" + ",".join(map(_json, value)) + "]"


def _refuse_deep(text: str) -> None:
    depth = 0
    for match in _NESTING.finditer(text):
        sign = match[0]
        depth += (sign in "[{") - (sign in "]}")
        if depth > _MAX_NESTED:
            raise NoRecord("nested too deeply")


def _fields(pairs: _Pairs) -> dict[str, Value]:
    """Return pairs as ``frontmatter.parse`` has a block: keys in lower case, ``a.b`` too.

    A text is a text in JSON, too: a number where one belongs hides no other.
    """
    found: dict[str, Value] = {}
    for key, value in pairs:
        name = key.lower()
        plain = None if name in TEXTS and isinstance(value, Token) else _plain(value, 1)
        if plain is not None:
            found[name] = plain
    for key, value in list(found.items()):
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", below) for inner, below in value.items())
    return found


def _plain(value: Any, depth: int) -> Value | None:  # noqa: ANN401 - of pairs
    """Return a value as text, list or mapping; what lies too deep, or is too much, is left out."""
    if value is None or isinstance(value, str):
        return value
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, _Pairs):
        pairs = ((key.lower(), _plain(each, depth + 1)) for key, each in value[:_MAX_ITEMS])
        return {key: each for key, each in pairs if each is not None}
    items = (_plain(each, depth + 1) for each in value[:_MAX_ITEMS])
    return [each for each in items if each is not None]
