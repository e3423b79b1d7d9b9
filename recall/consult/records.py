"""A record as a reader gets it: its fields, bounded or whole; pure. See ``spec/reading.md``."""

from __future__ import annotations

import os

from index_cache import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.chronicle import Row
    from index_cache.model import Root

_CHARACTERS = 4  # of a token, as it is estimated
EXPORT = "recall-export/v1"


class Text:
    """What a record's file says: the ``content``, and the ``metadata`` block, None without one.

    ``cut``: the file is longer than what is read of it, and the content ends there.
    """

    __slots__ = ("content", "cut", "metadata")

    def __init__(self, content: str, metadata: str | None, *, cut: bool = False) -> None:
        self.content = content
        self.metadata = metadata
        self.cut = cut

    @property
    def tokens(self) -> int:
        """How many tokens the content is estimated to have."""
        return -(-len(self.content) // _CHARACTERS)


class Related:
    """One entry of ``related``: its text, and the id of the record that it means, if it is one."""

    __slots__ = ("id", "text")

    def __init__(self, text: str, id: str | None) -> None:
        self.text = text
        self.id = id


class Record:
    """One record.

    ``id``, ``root`` (its name), ``path`` (relative) and ``abs_path``, both with what is not UTF-8
    escaped; ``line`` (None for a note), ``type``, ``title``, ``description``, ``tags``, ``status``,
    ``tier``; ``created``, ``updated``, ``modified``, ``source``, ``session``, ``valid_from`` and
    ``valid_until``, each as it was typed, "" where nothing is said; ``created_at`` in microseconds
    since 1970 UTC or None; ``valid`` now; ``digest`` (SHA-256 in hexadecimal) of its public text.
    ``text`` and ``related`` (with what is resolved) are None where they were not asked for.
    """

    __slots__ = (
        "abs_path",
        "created",
        "created_at",
        "description",
        "digest",
        "id",
        "line",
        "modified",
        "path",
        "related",
        "root",
        "session",
        "source",
        "status",
        "tags",
        "text",
        "tier",
        "title",
        "type",
        "updated",
        "valid",
        "valid_from",
        "valid_until",
    )

    def __init__(
        self,
        row: Row,
        root: Root,
        now: int,
        text: Text | None = None,
        related: Sequence[Related] | None = None,
    ) -> None:
        """Make a record of a row; ``now`` is in microseconds since 1970 UTC."""
        texts = row.texts
        self.id = texts["record_id"]
        self.root = root.name
        self.path = files.display(row.path)
        self.abs_path = files.display(os.path.join(os.fsencode(root.path), row.path))
        self.line = row.line or None
        self.type = texts["type"]
        self.title = texts["title"]
        self.description = texts["description"]
        self.tags = tuple(filter(None, texts["tags"].split("\n")))
        self.status = texts["status"]
        self.tier = texts["tier"]
        self.created = texts["created"]
        self.updated = texts["updated"]
        self.modified = texts["modified"]
        self.source = texts["source"]
        self.session = texts["session"]
        self.valid_from = texts["valid_from"]
        self.valid_until = texts["valid_until"]
        self.created_at = row.instants["created_at"]
        self.valid = is_valid(row, now)
        self.digest = row.digest.hex()
        self.text = text
        self.related = related


def is_valid(row: Row, now: int) -> bool:
    """Tell whether a record is valid at a moment: from the first inclusive, to the last not."""
    begin, end = row.instants["valid_from_at"], row.instants["valid_until_at"]
    return (begin is None or begin <= now) and (end is None or now < end)


def card(record: Record, score: float | None) -> dict[str, object]:
    """Return what a record's card has: nothing of its body. It must have its text."""
    return {
        "id": record.id,
        "type": record.type or None,
        "created": record.created or None,
        "updated": record.updated or None,
        "provenance": {
            "source": record.source or None,
            "session": record.session or None,
            "root": record.root,
            "path": record.path,
            "line": record.line,
        },
        "score": score,
        "est_tokens": 0 if record.text is None else record.text.tokens,
    }


def event(record: Record) -> dict[str, object]:
    """Return what a timeline says of a record."""
    return {
        "id": record.id,
        "root": record.root,
        "path": record.path,
        "abs_path": record.abs_path,
        "line": record.line,
        "type": record.type or None,
        "title": record.title,
        "created": record.created,
        "created_at": iso(record.created_at or 0),
        "updated": record.updated or None,
        "source": record.source or None,
        "session": record.session or None,
        "valid": record.valid,
    }


def whole(record: Record) -> dict[str, object]:
    """Return all of a record that has its text and its relations."""
    text = record.text or Text("", None)
    return {
        "id": record.id,
        "root": record.root,
        "path": record.path,
        "abs_path": record.abs_path,
        "line": record.line,
        "type": record.type or None,
        "title": record.title,
        "description": record.description or None,
        "tags": list(record.tags),
        "status": record.status or None,
        "tier": record.tier,
        "created": record.created or None,
        "updated": record.updated or None,
        "modified": record.modified or None,
        "source": record.source or None,
        "session": record.session or None,
        "related": [{"text": each.text, "id": each.id} for each in record.related or ()],
        "valid_from": record.valid_from or None,
        "valid_until": record.valid_until or None,
        "valid": record.valid,
        "digest": record.digest,
        "est_tokens": text.tokens,
        "metadata": text.metadata,
        "content": text.content,
        "cut": text.cut,
    }


def iso(instant: int) -> str:
    """Return microseconds since 1970 as ISO 8601 in UTC; of a second's parts what there is."""
    from datetime import UTC, datetime, timedelta

    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)
    return time.isoformat().replace("+00:00", "Z")
