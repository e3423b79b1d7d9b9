"""What an agent hands over to be remembered: JSON, checked, as a ``Record``. Pure.

See "Payload" in ``spec/writing.md``. Private spans are taken out before anything else looks at a
text. No message quotes a value: what is refused may be what should never be shown.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

from index_cache.errors import GovernanceRefused, InvalidInput, RecallError
from index_cache.privacy import strip
from index_cache.text import split
from recall.writing.filenames import PATH_BYTES, checked_path
from recall.writing.hidden import unseen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PAYLOAD = 262_144  # bytes
MAX_TEXT = 65_536  # bytes
MAX_META = 1_024  # bytes of each other text
MAX_LINKS = 64
MAX_TAGS = 64

PROPOSAL = "proposal"
# Where notes of each type lie below their root.
DIRECTORIES = {
    "memory": "memory",
    "idea": "ideas",
    "knowledge": "knowledge",
    PROPOSAL: "proposals",
}
COMMANDS = {"remember": ("memory", "idea", "knowledge"), "propose": (PROPOSAL,)}
ADAPTERS = ("claude", "hermes", "codex", "subagent")

TIMES = ("created", "valid_from", "valid_until")
_LINES = ("title", "id", "source", "session", "description", *TIMES, "path")
_LISTS = ("tags", "related", "links")
FIELDS = ("type", "title", "text", *_LINES[1:], *_LISTS)

_ID = re.compile(r"\w[\w.:/@+-]*")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
# Controls but tab and newline, and what can't be seen and makes a text say something else than what
# is seen: overrides of direction, the mark of byte order, annotations, the tag block,
# noncharacters. Joiners and selectors belong to scripts.
_LAST = (0xFFFE, 0xFFFF)  # of each plane
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(chr(plane + last) for plane in range(0x10000, 0x110000, 0x10000) for last in _LAST)
    + "]"
)
_OPENING = ("<private>", "&lt;private&gt;")  # a tag, and a look-alike
_COMMENT = "<!--"
# Letters and symbols to Unicode that show nothing: of Hangul, Braille, music.
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800\U0001d159"


class Record:
    """One thing to remember, as it was granted; "" and () where nothing was said.

    ``text`` is the body, without blank lines around it; ``id`` is "" for a new one; ``path`` is
    below the root, "" for one by the title. ``stripped`` says that private spans were left out.
    """

    __slots__ = (
        "created",
        "description",
        "id",
        "path",
        "related",
        "session",
        "source",
        "stripped",
        "tags",
        "text",
        "title",
        "type",
        "valid_from",
        "valid_until",
    )

    def __init__(self, type: str, title: str, text: str, fields: Mapping[str, str] = {}) -> None:
        self.type = type
        self.title = title
        self.text = text
        self.id = fields.get("id", "")
        self.source = fields.get("source", "")
        self.session = fields.get("session", "")
        self.description = fields.get("description", "")
        self.created = fields.get("created", "")
        self.valid_from = fields.get("valid_from", "")
        self.valid_until = fields.get("valid_until", "")
        self.path = fields.get("path", "")
        self.tags: tuple[str, ...] = ()
        self.related: tuple[str, ...] = ()
        self.stripped = False

    @property
    def directory(self) -> str:
        """Where notes of its type lie below their root."""
        return DIRECTORIES[self.type]


def read(payload: bytes, command: str) -> Record:
    """Return the record that a payload grants to a command, ``remember`` or ``propose``.

    Raises InvalidInput for what is wrong, and GovernanceRefused for what is nothing without its
    private spans.
    """
    return _Reader(_parsed(payload), command).record()


def meant_line(value: str, field: str) -> str:
    """Return a text of one line as it is kept: public, composed, its blanks single.

    Raises as ``read`` does.
    """
    return _Reader({field: value}, "remember").line(field)


def _parsed(payload: bytes) -> dict[str, object]:
    import json

    if len(payload) > MAX_PAYLOAD:
        raise InvalidInput(f"the payload is longer than {MAX_PAYLOAD:,} bytes", where="payload")
    if payload.startswith(b"\xef\xbb\xbf"):
        raise InvalidInput(
            "the payload begins with a mark of byte order (BOM)",
            where="byte 0",
            hint="write it in UTF-8 without one",
        )
    try:
        fields = json.loads(
            payload.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(f"the payload is no JSON: {error.msg}", where=place) from None
    except UnicodeDecodeError as error:
        raise InvalidInput("the payload is not UTF-8", where=f"byte {error.start}") from None
    except (RecursionError, ValueError):
        raise InvalidInput("the payload is no JSON that can be used", where="payload") from None
    if not isinstance(fields, dict):
        raise InvalidInput("the payload is no JSON object", where="payload")
    return fields


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise InvalidInput("a field is there twice", where="payload")
    return fields


def _no_constant(_: str) -> None:
    raise ValueError


class _Reader:
    """Takes one payload's fields, each checked."""

    def __init__(self, fields: Mapping[str, object], command: str) -> None:
        self._fields = fields
        self._command = command
        self._stripped = False

    def record(self) -> Record:
        if not self._fields.keys() <= set(FIELDS):
            raise InvalidInput(
                "the payload has a field that is not known",
                where=self._odd_field(),
                hint=f"known are {', '.join(FIELDS)}",
            )
        type = self._type()
        for needed in ("title", "text"):
            if needed not in self._fields:
                raise InvalidInput(f"the payload has no {needed}", where=needed)
        lines = {field: self.line(field) for field in _LINES if field in self._fields}
        record = Record(type, lines["title"], self._text(), lines)
        record.tags = self._list("tags", MAX_TAGS)
        if {"related", "links"} <= self._fields.keys():
            raise _wrong("links", "it is another name of related: give one of them")
        record.related = self._list("related", MAX_LINKS) or self._list("links", MAX_LINKS)
        self._check(record)
        record.stripped = self._stripped
        return record

    def _odd_field(self) -> str:
        """Return the first field that is not known, as far as it may be shown."""
        name = min(self._fields.keys() - set(FIELDS))
        public = strip(name).encode("utf-8", "replace").decode()[:40]
        return public if public.isprintable() and public else "payload"

    def _type(self) -> str:
        allowed = COMMANDS[self._command]
        type = self._fields.get("type", allowed[0] if len(allowed) == 1 else None)
        if type is None:
            raise InvalidInput("the payload has no type", where="type", hint=_types(allowed))
        if type in allowed:
            return str(type)
        other = "remember" if self._command == "propose" else "propose"
        known = type in COMMANDS[other]
        raise InvalidInput(
            f"recall {self._command} takes no such type",
            where="type",
            hint=f"recall {other} takes it" if known else _types(allowed),
        )

    def line(self, field: str) -> str:
        return self._line(self._fields[field], field)

    def _line(self, value: object, field: str) -> str:
        limit = PATH_BYTES if field == "path" else MAX_META
        public = self._public(value, field, limit)
        if "\n" in public or "\t" in public:
            raise _wrong(field, "it is more than one line, or has a tab in it")
        kept = public if field == "path" else _composed(public)
        if not _is_seen(kept):
            raise self._empty(value, field)
        return kept

    def _text(self) -> str:
        value = self._fields["text"]
        public = self._public(value, "text", MAX_TEXT).strip("\n").rstrip()
        if not _is_seen(public):
            raise self._empty(value, "text")
        if split(public)[0] is not None:
            raise _wrong("text", "it begins with a block of metadata (frontmatter)")
        hidden = unseen(public)
        if hidden is not None:
            raise _wrong("text", f"it has {hidden}")
        return public

    def _empty(self, value: object, field: str) -> RecallError:
        if isinstance(value, str) and strip(value) != value:
            return GovernanceRefused(
                f"{field}: without its private spans nothing of it is left",
                where=field,
                hint="what is private is never stored; nothing was written",
            )
        return _wrong(field, "it is empty, or nothing of it can be seen")

    def _public(self, value: object, field: str, limit: int) -> str:
        if not isinstance(value, str):
            raise _wrong(field, "it must be a text")
        try:
            length = len(value.encode())
        except UnicodeEncodeError:
            raise _wrong(field, "it has half of a character (a lone surrogate)") from None
        if length > limit:
            raise _wrong(field, f"it is longer than {limit:,} bytes")
        text = value.replace("\r\n", "\n")
        public = strip(text)
        self._stripped = self._stripped or public != text
        if public != text and _ends_another(text):
            raise GovernanceRefused(
                f"{field}: a private span ends in it that did not begin in it",
                where=field,
                hint="each span is within one field; nothing was written",
            )
        if _COMMENT in public:
            raise _wrong(field, "it has an HTML comment, which people don't see and programs do")
        if _UNSEEN.search(public):
            raise _wrong(field, "it has control characters, or others that are not seen")
        return public

    def _list(self, field: str, most: int) -> tuple[str, ...]:
        value = self._fields.get(field, [])
        if not isinstance(value, list):
            raise _wrong(field, "it must be a list of texts")
        if len(value) > most:
            raise _wrong(field, f"it has more than {most} items")
        return tuple(dict.fromkeys(self._line(item, field) for item in value))

    @staticmethod
    def _check(record: Record) -> None:
        if record.id and not _ID.fullmatch(record.id):
            raise _wrong("id", "it must be letters, digits and . : / @ + - _ without blanks")
        if record.id.lower().startswith("path:"):
            raise _wrong("id", "path: begins the ids of notes that have none of their own")
        times = {field: getattr(record, field) for field in TIMES}
        moments = {field: moment(value, field) for field, value in times.items() if value}
        if {"valid_from", "valid_until"} <= moments.keys() and (
            moments["valid_from"] >= moments["valid_until"]
        ):
            raise _wrong("valid_until", "it is not later than valid_from")
        if record.path:
            checked_path(record.path, record.directory)


def moment(value: str, field: str) -> datetime:
    """Return a date or a time as ISO 8601 has it; without a zone it is UTC.

    Raises InvalidInput.
    """
    why = "it must be a date or a time such as 2026-11-30 or 2026-11-30T08:00:00Z"
    if not _TIME.fullmatch(value):
        raise _wrong(field, why)
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise _wrong(field, why) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _types(allowed: tuple[str, ...]) -> str:
    return f"type is one of {', '.join(allowed)}"


def _ends_another(text: str) -> bool:
    """Tell whether a private span ends in a text that began elsewhere: one in front of it would."""
    return any(strip(f"{tag}{text}\nx").strip("\n") for tag in _OPENING)


def _is_seen(text: str) -> bool:
    """Tell whether there is anything in a text but blanks and marks that show nothing alone."""
    return any(unicodedata.category(char)[0] not in "CMZ" and char not in _FILLERS for char in text)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _wrong(field: str, why: str) -> InvalidInput:
    return InvalidInput(f"{field}: {why}", where=field)
