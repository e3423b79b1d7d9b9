"""Bytes to public text, and that to its metadata block and its body: pure, without a parser.

The search path needs this much of a note to find a line in it; YAML and Markdown would cost it
15 ms. See ``spec/canonical-view.md``.
"""

from __future__ import annotations

from index_cache.digests import sha256
from index_cache.privacy import strip

# It ends with no blank: "key", many blanks and no colon would else cost their number squared.
KEY = r"[^\W\d_](?:[\w .-]*[\w.-])?|\"[^\"\n]+\"|'[^'\n]+'"

_BLANK = " \t"
_OPENING = "---"
_CLOSING = ("---", "...")
_FIRST_LINE = rf"\s*(?:#[^\n]*\n\s*)*(?:\Z|(?:{KEY})[ \t]*:(?:\s|\Z)|\{{|<%|\{{%)"

_SNIFFED = 8_192  # bytes looked at to tell text from something else
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\b\t\n\v\f\r\x1b"})

# Where the text of a record in a JSONL file is, the first that is one.
TEXTS = ("content", "text", "body", "message")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


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
        self.digest = sha256(seen).digest()
        if self.guessed:  # only now: within a tag a stray byte is nothing that is seen
            public = public.translate(_stray_bytes())
        self.text = public.replace("\0", " ")


def _stray_bytes() -> dict[int, str]:
    return {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}


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
    begin = _opened(text)
    at = begin
    while 0 < at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        if text.startswith(_CLOSING, at) and not _ending(text[at + len(_OPENING) : end]):
            block = text[begin:at]
            return (block, end) if _begins_with_key(block) else (None, 0)
        at = end
    return None, 0


def _opened(text: str) -> int:
    """Return where the line after the opening fence begins, 0 without a fence."""
    at = 0
    while end := text.find("\n", at) + 1:
        if not _ending(text[at:end]):
            at = end  # a blank line
            continue
        fence = text.startswith(_OPENING, at) and not _ending(text[at + len(_OPENING) : end])
        return end if fence else 0
    return 0


def _ending(rest: str) -> str:
    """Return what a line's rest has besides blanks and its end; a lone CR is no end."""
    if rest.endswith("\n"):
        rest = rest[:-1].removesuffix("\r")
    return rest.strip(_BLANK)


def _begins_with_key(block: str) -> bool:
    # Nearly every block begins with a plain key, and needs no regular expression.
    key, colon, rest = block.partition(":")
    plain = key[:1].isalpha() and key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    if plain and colon and (not rest or rest[0] in " \t\n"):
        return True
    import re

    return re.match(_FIRST_LINE, block) is not None


def text_of(fields: Mapping[str, object]) -> str:
    """Return the text of a record with these fields, "" if it has none."""
    texts = (fields.get(key) for key in TEXTS)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")
