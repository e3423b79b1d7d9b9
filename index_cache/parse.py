"""Bytes to Document: pure, and it takes any bytes. See ``spec/canonical-view.md``."""

from __future__ import annotations

from index_cache import frontmatter, markdown
from index_cache.text import decode, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from index_cache.frontmatter import Value

TIERS = ("unverified", "machine-confirmed", "human-reviewed")
_MAX_FIELD = 4_000  # characters of one metadata field that are kept; the text stays in the file
_MAX_TAGS = 64


class Document:
    """What the bytes of one canonical file say; nothing here depends on its times or its place.

    All fields are text, "" where the note says nothing; ``title`` is never empty. ``modified`` is
    "" when only the file's own time can tell. ``tier`` is one of TIERS. ``body`` is the indexed
    text after the metadata block, which began at ``body_line`` (1-based).
    """

    __slots__ = (
        "body",
        "body_line",
        "created",
        "description",
        "excerpt",
        "id",
        "modified",
        "stale_after",
        "status",
        "tags",
        "tier",
        "title",
        "type",
        "updated",
    )

    def __init__(self, path: bytes, text: str) -> None:
        block, begin = split(text)
        meta = frontmatter.parse(block) if block else {}
        self.body = text[begin:]
        self.body_line = 1 + text.count("\n", 0, begin)
        heading, self.excerpt = markdown.summary(self.body)
        self.title = self._title(meta, heading, path)
        self.id = _text(meta, "id")
        self.type = _text(meta, "type", "metadata.type")
        self.description = markdown.plain(_text(meta, "description"))
        self.tags = _tags(meta)
        self.created = _text(meta, "created", "date")
        self.updated = _text(meta, "updated")
        self.modified = _text(meta, "modified", "generated.at", "updated")
        self.status = _text(meta, "status")
        self.stale_after = _text(meta, "stale_after")
        self.tier = _tier(meta.get("verified"))

    @staticmethod
    def _title(meta: Mapping[str, Value], heading: str | None, path: bytes) -> str:
        named = markdown.plain(_text(meta, "title", "name"))
        name = path.rpartition(b"/")[2].decode("utf-8", "backslashreplace")
        stem = " ".join(name.rpartition(".")[0].split())
        return (named or heading or stem or " ".join(name.split()))[:_MAX_FIELD]


def parse(path: bytes, data: bytes) -> Document:
    """Return the Document of a file's bytes; ``path`` (relative) gives a title of last resort.

    Raises ``text.NotText`` when the bytes are no text at all.
    """
    return Document(path, decode(data))


def _text(meta: Mapping[str, Value], *keys: str) -> str:
    """Return the first text among the keys, on one line."""
    for key in keys:
        value = meta.get(key)
        if isinstance(value, str):
            line = " ".join(value[:_MAX_FIELD].split())
            if line:
                return line
    return ""


def _tags(meta: Mapping[str, Value]) -> tuple[str, ...]:
    value = meta.get("tags") or meta.get("metadata.tags")
    if isinstance(value, str):
        value = list(value.split(","))
    if not isinstance(value, list):
        return ()
    tags = (" ".join(tag[:_MAX_FIELD].split()) for tag in value if isinstance(tag, str))
    return tuple(dict.fromkeys(tag for tag in tags if tag))[:_MAX_TAGS]


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
