"""Bytes to public text, and that to its metadata block and its body: pure, without a parser.

The search path needs this much of a note to find a line in it; YAML and Markdown would cost it
15 ms. See ``spec/canonical-view.md``.
"""

from __future__ import annotations

import hashlib
import re

from index_cache.privacy import strip

# It ends with no blank: "key", many blanks and no colon would else cost their number squared.
KEY = r"[^\W\d_](?:[\w .-]*[\w.-])?|\"[^\"\n]+\"|'[^'\n]+'"

_OPEN = re.compile(r"(?:[ \t]*\r?\n)*+---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_FIRST_LINE = re.compile(rf"\s*(?:#[^\n]*\n\s*)*(?:\Z|(?:{KEY})[ \t]*:(?:\s|\Z)|\{{|<%|\{{%)")

_SNIFFED = 8_192  # bytes looked at to tell text from something else
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\b\t\n\v\f\r\x1b"})
_STRAY_BYTES = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)
}


class NotText(ValueError):
    """The bytes are not text; the message says why."""


class Content:
    """What may be known of a file's bytes: the only way from them to anything else.

    ``text`` is public: private spans are taken out before anything looks at it. ``digest`` (32
    bytes) is of what is public alone. ``guessed`` says that the bytes were not all UTF-8. Raises
    NotText when they are no text.
    """

    __slots__ = ("digest", "guessed", "text")

    def __init__(self, data: bytes) -> None:
        whole, self.guessed = decode(data)
        public = strip(whole)
        seen = data if public == whole else public.encode("utf-8", "surrogatepass")
        self.digest = hashlib.sha256(seen).digest()
        if self.guessed:  # only now: within a tag a stray byte is nothing that is seen
            public = public.translate(_STRAY_BYTES)
        self.text = public.replace("\0", " ")


def decode(data: bytes) -> tuple[str, bool]:
    """Return a note's text, and whether bytes of it are still to be guessed at.

    It is UTF-8, or UTF-16 if it is marked so; stray bytes are kept as lone surrogates.
    A character that was cut in two where the reading ended is left out. Raises NotText for what
    has many NUL bytes or, when it is no UTF-8 either, many other control characters.
    """
    if data[:2] in _UTF16_MARKS:
        return data.decode("utf-16", "replace").removeprefix("\ufeff"), False
    head = data[:_SNIFFED]
    if head.count(0) * 10 > len(head):
        raise NotText("not text: NUL bytes (UTF-16 without a mark, or a binary file)")
    guessed = False
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if _is_cut(error):
            text = data[: error.start].decode("utf-8")
        elif (len(head) - len(head.translate(None, _CONTROLS))) * 20 > len(head):
            raise NotText("not text: control characters (a binary file)") from None
        else:
            text = data.decode("utf-8", "surrogateescape")
            guessed = True
    return text.removeprefix("\ufeff"), guessed


def _is_cut(error: UnicodeDecodeError) -> bool:
    """Tell whether all that is wrong is a last character of which some bytes are missing.

    A single stray byte at the end of ASCII looks the same, but then it is cp1252.
    """
    data = error.object
    at_the_end = error.reason == "unexpected end of data" and error.end == len(data)
    return at_the_end and not data[: error.start].isascii()


def split(text: str) -> tuple[str | None, int]:
    """Return the metadata block of a note (None without one) and where its body begins.

    A first line ``---`` that is a rule, not a fence, opens no block: the block must be closed, and
    be empty or begin with a key. Blank lines before it are allowed.
    """
    opened = _OPEN.match(text)
    if not opened:
        return None, 0
    closed = _CLOSE.search(text, opened.end())
    if not closed or not _FIRST_LINE.match(text[opened.end() : closed.start()]):
        return None, 0
    return text[opened.end() : closed.start()], closed.end()
