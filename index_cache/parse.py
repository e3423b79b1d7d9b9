"""Text to Document: pure, and it takes any text. See ``spec/canonical-view.md``."""

from __future__ import annotations

import re
import unicodedata

from index_cache import files, frontmatter, languages, markdown
from index_cache.privacy import NO, folded, is_private, strip
from index_cache.text import split, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from index_cache.frontmatter import Value

TIERS = ("unverified", "machine-confirmed", "human-reviewed")
MAX_FIELD = 4_000  # characters of one metadata field that are kept; the text stays in the file
_MAX_LISTED = 64  # tags, or other names
_TITLE = 1_000  # characters of a text's first line, in which its title is
_FENCES = ("---", "+++", "%yaml")
_HEAD = 64 * 1024  # characters in which a block's ``private`` is looked for
_KEY = re.compile(r"[\"']?private[\"']?\s*[:=](.*)")


class Document:
    """What the bytes of one canonical file say; nothing here depends on its times or its place.

    All fields are text, "" where the note says nothing; ``title`` is never empty. ``modified`` is
    "" when only the file's own time can tell. ``tier`` is one of TIERS. ``withheld`` says that the
    note must appear nowhere. ``language`` is that of its words in Latin letters (ISO 639-1).
    ``has_long_id`` says that its own id is too long to be kept, and ``id`` is "".
    ``aliases`` are other names of it, ``body`` is the indexed text after the metadata block.
    """

    __slots__ = (
        "aliases",
        "body",
        "created",
        "description",
        "excerpt",
        "has_long_id",
        "id",
        "language",
        "modified",
        "related",
        "session",
        "source",
        "stale_after",
        "status",
        "tags",
        "tier",
        "title",
        "type",
        "updated",
        "valid_from",
        "valid_until",
        "withheld",
    )

    def __init__(self, path: bytes, text: str) -> None:
        block, begin = split(text)
        meta = frontmatter.parse(block) if block else {}
        self.body = text[begin:]
        heading, self.excerpt = markdown.summary(self.body)
        self.title = self._title(meta, heading, path)
        self._describe(meta)
        self.withheld |= _withholds_itself(text)

    @classmethod
    def of_record(cls, path: bytes, fields: Mapping[str, Value]) -> Document:
        """Return what a record says: a line of the JSONL file at ``path``, with these fields."""
        made = cls.__new__(cls)
        made.body = text_of(fields)
        _, made.excerpt = markdown.summary(made.body)
        first = next(filter(str.strip, made.body.splitlines()), "")
        made.title = cls._title(fields, markdown.shorten(markdown.plain(first[:_TITLE])), path)
        made._describe(fields)  # noqa: SLF001 - made without __init__
        made.created = made.created or _text(fields, "timestamp")
        # The file's own time is that of its last line.
        made.modified = made.modified or made.created
        return made

    def _describe(self, meta: Mapping[str, Value]) -> None:
        self.id = _id(meta)
        self.has_long_id = has_long_id(meta)
        self.type = _text(meta, "type", "metadata.type")
        self.description = markdown.plain(_text(meta, "description"))
        self.tags = _listed(meta.get("tags") or meta.get("metadata.tags"))
        named = _listed(meta.get("aliases") or meta.get("alias"))
        self.aliases = tuple(name for name in named if not _is_address(name))
        self.language = languages.language(_text(meta, "lang", "language"), self.body)
        self.created = _text(meta, "created", "date")
        self.updated = _text(meta, "updated")
        self.modified = _text(meta, "modified", "generated.at", "updated")
        self.status = _text(meta, "status")
        self.stale_after = _text(meta, "stale_after")
        self.tier = _tier(meta.get("verified"))
        self.source = _text(meta, "source", "metadata.source")
        self.session = _text(meta, "session", "metadata.session")
        related = meta.get("related") or meta.get("links") or meta.get("metadata.related")
        self.related = _listed(related)
        self.valid_from, self.valid_until = bounds(meta)
        self.withheld = is_private(meta.get("private"))

    @staticmethod
    def _title(meta: Mapping[str, Value], heading: str | None, path: bytes) -> str:
        named = markdown.plain(_text(meta, "title", "name"))
        name = files.portable(path.rpartition(b"/")[2]).decode("utf-8", "backslashreplace")
        stem = " ".join(name.rpartition(".")[0].split())
        return (named or heading or stem or " ".join(name.split()))[:MAX_FIELD]


def has_long_id(meta: Mapping[str, Value]) -> bool:
    """Tell whether an id is longer than is kept: what is left of two might be the same."""
    return len(_whole_id(meta)) > MAX_FIELD


def _id(meta: Mapping[str, Value]) -> str:
    said = _whole_id(meta)
    return "" if len(said) > MAX_FIELD else _line(said)


def _whole_id(meta: Mapping[str, Value]) -> str:
    value = meta.get("id")
    if not isinstance(value, str):
        return ""
    return " ".join(value.split()) if len(value) > MAX_FIELD else value


def bounds(meta: Mapping[str, Value]) -> tuple[str, str]:
    """Return from when and until when what is said is valid, as it was typed.

    What is no text is no time either, and must be told: it is given in brackets.
    """
    return _bound(meta.get("valid_from")), _bound(meta.get("valid_until"))


def _bound(value: Value | None) -> str:
    if value is None or isinstance(value, str):
        return _line(value or "")
    texts = [each for each in value if isinstance(each, str)]
    return _line(f"[{', '.join(texts)}]")


def _text(meta: Mapping[str, Value], *keys: str) -> str:
    """Return the first text among the keys, on one line."""
    for key in keys:
        value = meta.get(key)
        if isinstance(value, str):
            line = _line(value)
            if line:
                return line
    return ""


def _line(value: str) -> str:
    """Return a value on one line; YAML's own escapes may have hidden a private tag in it.

    Or a NUL, which no text has (``Content``): in a cache it is a sign of damage.
    """
    line = " ".join(value[:MAX_FIELD].split())
    public = strip(line) if "<" in line else line
    return " ".join(public.replace("\0", " ").split()) if "\0" in public else public


def _listed(value: Value | None) -> tuple[str, ...]:
    """Return a list's texts; one text is taken for several with commas between them."""
    if isinstance(value, str):
        value = list(value.split(","))
    if not isinstance(value, list):
        return ()
    # Composed: the same letters are the same tag, however they were typed.
    texts = (unicodedata.normalize("NFC", _line(text)) for text in value if isinstance(text, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:_MAX_LISTED]


def _is_address(alias: str) -> bool:
    """Tell whether an alias is where a page was, as static site generators have it."""
    return "/" in alias and not alias.startswith("@")


def _tier(verified: Value | None) -> str:
    """Return the trust that ``verified`` (a mapping, or a list of them) gives.

    Someone is named by ``by``; ``human:`` in front of the name makes it a person's review.
    """
    marks = verified if isinstance(verified, list) else [verified]
    names = [mark.get("by") for mark in marks if isinstance(mark, dict)]
    named = [name.strip() for name in names if isinstance(name, str) and name.strip()]
    if any(name.startswith("human:") for name in named):
        return TIERS[2]
    return TIERS[1] if named else TIERS[0]


def _withholds_itself(text: str) -> bool:
    """Tell whether a line at the head of a note says ``private``, however badly it is written.

    What a parser of the block makes of it is not asked: the block may be refused, be cut short or
    not be closed, the line be indented or stand there twice. Only a plain no counts as one.
    """
    head = text[:_HEAD]
    if "rivate" not in head and head.isascii() and "RIVATE" not in head:
        return False
    lines = filter(None, map(folded, head.splitlines()))
    first = next(lines, "")
    if not first.startswith(_FENCES):
        return False
    for line in lines:
        if line in {"---", "...", "+++"} and not first.startswith("%"):
            return False
        key = _KEY.match(line)
        if key and key[1].split("#")[0].strip(" \t\"',") not in NO:
            return True
    return False
