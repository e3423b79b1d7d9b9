"""Text that can't drive a terminal, forge a line or burst a budget; pure.

Notes, names and paths come from anyone. Prose goes through ``plain`` (what can't be seen is
removed), names and commands through ``visible`` (it is shown escaped, so that two names stay two).
Both give one line without control characters, escape sequences, bidirectional overrides, invisible
characters or lone surrogates.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

ELLIPSIS = "…"
_ELLIPSIS_BYTES = len(ELLIPSIS.encode())

# ECMA-48: strings (OSC, DCS, SOS, PM, APC) with what they carry, CSI sequences, then the short
# escapes, in their 7-bit and 8-bit forms. The string class holds no introducer, so a text of
# nothing but introducers is still read in linear time.
_SEQUENCE = (
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n\r]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]+[0-~]"
)

# White space that is a line or column of its own; str.split() takes all of it.
_BREAKS = "\t-\r\x1c-\x1f\x85\u2028\u2029"
# Unseen: controls, soft hyphen, grapheme joiner, bidi marks, embeddings, overrides and isolates,
# zero-width space and its like, fillers of annotations and notations, and the tag block, in which
# text can be hidden from people but not from a language model.
_UNSEEN = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_BROKEN = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
# Joiners belong in Persian, Indic and emoji text, between two such characters; nowhere else.
# (Said by what they are not: a class of half of Unicode takes 3 ms to compile.)
_LETTER_BEYOND = "[^\x00-\u02ff\u2000-\u218f]"
_LONE_JOINER = f"(?<!{_LETTER_BEYOND})[\u200c\u200d]|[\u200c\u200d](?!{_LETTER_BEYOND})"
# One selector chooses a glyph; a row of them only carries hidden bytes.
_SELECTOR_RUN = "[\ufe00-\ufe0f](?=[\ufe00-\ufe0f])"

# Of all these, what Python counts as printable; the last plane's selectors are tested by value.
_PRINTABLE_MARKS = "\u034f\u180b\u180c\u180d\u180f" + "".join(map(chr, range(0xFE00, 0xFE10)))
_SPECIAL_PLANE = "\U000e0000"


def _pattern(pattern: str) -> re.Pattern[str]:
    # When first needed: most text is clean, and this takes longer than showing a card.
    import re

    return re.compile(pattern)  # which remembers it


def _is_clean(text: str) -> bool:
    """Return whether nothing in ``text`` has to be looked at more closely."""
    return text.isprintable() and (
        text.isascii()
        or not (any(mark in text for mark in _PRINTABLE_MARKS) or max(text) >= _SPECIAL_PLANE)
    )


def plain(text: str, limit: int | None = None) -> str:
    r"""Return ``text`` as one harmless line of prose, of at most ``limit`` bytes of UTF-8.

    White space collapses, escape sequences and unseen characters go, bytes that were not UTF-8
    show as ``\xNN``. A line that had to be cut ends in an ellipsis.
    """
    if limit is not None:
        # Nothing is gained by cleaning megabytes of which a line is shown.
        text = text[: 64 + 16 * limit]
    line = " ".join(text.split())
    if not _is_clean(line):
        text = _pattern(_SEQUENCE).sub("", text)
        text = _pattern(f"[{_UNSEEN}]").sub("", text)
        text = _pattern(f"[{_BROKEN}]").sub(_shown, text)
        text = _pattern(f"{_LONE_JOINER}|{_SELECTOR_RUN}").sub("", text)
        line = " ".join(text.split())
    return line if limit is None else _cut(line, limit)


def visible(text: str, limit: int | None = None) -> str:
    """Return a name, path or command as one harmless line, every odd character shown escaped.

    Ordinary spaces stay as they are, so that what is pasted works. A name over ``limit`` bytes
    loses its middle, because both ends of a path tell more.
    """
    if not _is_clean(text):
        odd = f"[{_BREAKS}{_UNSEEN}{_BROKEN}]|{_LONE_JOINER}|{_SELECTOR_RUN}"
        text = _pattern(odd).sub(_escaped, text)
    return text if limit is None else _cut_middle(text, limit)


def _shown(match: re.Match[str]) -> str:
    # Python keeps a byte that it could not decode as the surrogate U+DC00 + byte.
    if "\udc80" <= match[0] <= "\udcff":
        return f"\\x{ord(match[0]) - 0xDC00:02x}"
    return "\ufffd"


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if "\ud800" <= char <= "\udfff":
        return _shown(match)
    return char.encode("unicode_escape").decode("ascii")


def _cut(text: str, limit: int) -> str:
    data = text.encode()
    if len(data) <= limit:
        return text
    return _head(data, limit - _ELLIPSIS_BYTES) + ELLIPSIS if limit >= _ELLIPSIS_BYTES else ""


def _cut_middle(text: str, limit: int) -> str:
    data = text.encode()
    if len(data) <= limit:
        return text
    if limit < _ELLIPSIS_BYTES:
        return ""
    room = limit - _ELLIPSIS_BYTES
    tail = data[len(data) - room * 2 // 3 :] if room > 1 else b""
    return _head(data, room - len(tail)) + ELLIPSIS + tail.decode("utf-8", "ignore")


def _head(data: bytes, size: int) -> str:
    return data[: max(0, size)].decode("utf-8", "ignore").rstrip(" \u200c\u200d")


def diagnostic(kind: str, message: str, where: str | None = None, hint: str | None = None) -> str:
    """Return the lines of one diagnostic: ``error: …``, then ``where: …``, ``hint: …`` if any."""
    lines = [f"{kind}: {visible(message)}"]
    if where:
        lines.append(f"where: {visible(where)}")
    if hint:
        lines.append(f"hint: {visible(hint)}")
    return "\n".join(lines) + "\n"


def number(count: int, noun: str, several: str | None = None) -> str:
    """Return ``count`` with its noun: ``1 note``, ``1,532 notes``; ``several`` if odd in plural."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def size(count: int) -> str:
    """Return a number of bytes for people: ``831 B``, ``1.2 MiB``."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1000:  # noqa: PLR2004 - four digits are where the next unit reads better
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"
