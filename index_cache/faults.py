"""What is wrong with a file of a strict root, by its bytes alone: pure. See ``spec/strict.md``."""

from __future__ import annotations

import re
import unicodedata

from index_cache import frontmatter
from index_cache.jsonl import Lines
from index_cache.moments import instant
from index_cache.parse import has_long_id
from index_cache.privacy import strip
from index_cache.text import TEXTS, decode, is_unclosed, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from index_cache.frontmatter import Value

    Fault = tuple[int, str, str]  # the line, from 1 on, the kind of strict.HINTS, the reason

# What says when; of each a text that is not blank must be a time.
TIMES = (
    "created",
    "date",
    "updated",
    "modified",
    "generated.at",
    "valid_from",
    "valid_until",
    "stale_after",
)
# Of a line that is created as well, where it says nothing else.
LINE_TIMES = (*TIMES, "timestamp")
_LONG_ID = "its id is longer than 4,000 characters"
# Unicode's Cc, less tab, newline and carriage return.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_CHARACTERS = ((CONTROL, "control character"), (BIDI, "bidirectional control"))
_STRAY = re.compile("[\udc80-\udcff]")
# As JSON escapes it; what is read of a record has a blank in its place.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def faults(data: bytes) -> list[Fault]:
    """Return what is wrong with a note, by line; nothing of what its private spans hold.

    Raises NotText as ``index_cache.text.Content`` does.
    """
    whole, _ = decode(data)
    text = strip(whole)
    found = [*_encoding(data, whole, text)]
    block, begin = split(text)
    if is_unclosed(text):
        line = _line(text, len(text) - len(text.lstrip()))
        found.append((line, "metadata", "the metadata block is never closed"))
    if block is not None:
        at = text.rindex(block, 0, begin) if block else begin
        found += _block(block, _line(text, at))
    head, body = text[:begin], text[begin:]
    for pattern, what in _CHARACTERS:
        found += _characters(head, 1, pattern, what, " in the metadata")
    found += _characters(body, _line(text, begin), *_CHARACTERS[0], "")
    return sorted(dict.fromkeys(found))


def of_lines(data: bytes) -> list[Fault]:
    """Return what is wrong with a JSONL file: of each kind and key how often, and where first."""
    lines = Lines(data)
    found: dict[tuple[str, str], list[int]] = {}
    for line in lines.found:
        for kind, why in _of_record(lines.fields(line), lines.raw(line)):
            found.setdefault((kind, why), []).append(line.number)
    told = [(at[0], kind, f"{why}{_and_more(len(at) - 1)}") for (kind, why), at in found.items()]
    if lines.problem is not None:
        # It says how many of how many lines are none, and which is the first, and why.
        bad, _, first = lines.problem.rpartition(", the first is line ")
        number, _, why = first.partition(": ")
        told.append((int(number.replace(",", "")), "record", f"{bad}, the first: {why}"))
    return sorted(told)


def _of_record(fields: Mapping[str, Value], raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield kind and reason of what is wrong with a record."""
    for key in LINE_TIMES:
        if not _is_time(fields.get(key)):
            yield "time", f"{key} is no date or time"
    if has_long_id(fields):
        yield "metadata", _LONG_ID
    body = "\n".join(_texts([fields[key] for key in TEXTS if key in fields]))
    head = "\n".join(_texts({key: each for key, each in fields.items() if key not in TEXTS}))
    if CONTROL.search(body) or CONTROL.search(head) or _NUL.search(raw):
        yield "control", "a control character"
    if BIDI.search(head):
        yield "control", "a bidirectional control in the metadata"


def _and_more(count: int) -> str:
    return f", and in {count:,} more {'line' if count == 1 else 'lines'}" if count else ""


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _encoding(data: bytes, whole: str, text: str) -> Iterator[Fault]:
    if data[:2] in _UTF16:
        yield 1, "encoding", "UTF-16, not UTF-8"
        return
    stray = _STRAY.search(text)
    if stray:
        yield _line(text, stray.start()), "encoding", "not all of it is UTF-8"
    elif text == whole and not _STRAY.search(whole):  # else the end may have been a private one
        try:
            data.decode()
        except UnicodeDecodeError as error:
            yield data.count(b"\n", 0, error.start) + 1, "encoding", "it ends amid a character"


def _block(block: str, first: int) -> Iterator[Fault]:
    """Yield what is wrong with a metadata block whose first line is ``first``."""
    # YAML refuses control characters too: those are told of anyhow.
    refused = frontmatter.refusal(CONTROL.sub(" ", block))
    if refused is not None:
        yield first + refused, "metadata", "YAML refuses the metadata block"
    meta = frontmatter.parse(block)
    for key in TIMES:
        if not _is_time(meta.get(key)):
            yield first + _place(block, key), "time", f"{key} is no date or time"
    if has_long_id(meta):
        yield first + _place(block, "id"), "metadata", _LONG_ID
    yield from _escaped(meta, block, first)


def _is_time(value: Value | None) -> bool:
    """Tell whether a value says nothing, or when."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    return isinstance(value, str) and instant(" ".join(value.split())) is not None


def _place(block: str, key: str) -> int:
    """Return in which line of a block (from 0) a key stands; the first, if that can't be told."""
    name = key.rpartition(".")[2]
    lines = block.lower().split("\n")
    return next((n for n, line in enumerate(lines) if re.match(_key(name), line)), 0)


def _key(name: str) -> str:
    return rf"[\s{{,]*[\"']?{re.escape(name)}[\"']?\s*:"


def _escaped(meta: Mapping[str, Value], block: str, first: int) -> Iterator[Fault]:
    """Yield the keys of whose values YAML's escapes make characters that none may have."""
    for key, value in meta.items():
        said = "\n".join(_texts({key: value}))
        for pattern, what in _CHARACTERS:
            hit = pattern.search(said)
            if hit and not pattern.search(block):
                line = first + _place(block, key)
                yield line, "control", f"an escape for a {what}, {_named(hit[0])}"


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _characters(
    text: str, line: int, pattern: re.Pattern[str], what: str, place: str
) -> Iterator[Fault]:
    """Yield one fault for all characters of a text that begins in a line."""
    first = pattern.search(text)
    if first:
        count = len(pattern.findall(text))
        at = line + text.count("\n", 0, first.start())
        many = f"a {what}" if count == 1 else f"{count:,} {what}s"
        name = _named(first[0]) if count == 1 else f"the first is {_named(first[0])}"
        yield at, "control", f"{many}{place}, {name}"


def _named(char: str) -> str:
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}" + (f" ({name})" if name else "")
