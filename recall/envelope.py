"""The one JSON object that every command answers with; pure.

Five fields, always: ``schema``, ``ok``, ``command``, ``data``, ``error`` (``spec/output.md``).
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from index_cache.errors import RecallError

SCHEMA = "recall/v1"

# json escapes only what JSON itself demands; a terminal and a careless reader of lines need more:
# DEL and C1, line and paragraph separators, bidi, unseen characters. JSON lets us escape them all
# and lose nothing. Lone surrogates have no UTF-8, nor a meaning in JSON, and are spelled out.
_UNSAFE = (
    "[\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def success(command: str, data: object) -> dict[str, object]:
    """Return the envelope of a command that did what it was asked."""
    return {"schema": SCHEMA, "ok": True, "command": command, "data": data, "error": None}


def failure(command: str, error: RecallError, data: object = None) -> dict[str, object]:
    """Return the envelope of a command that failed; ``data`` is what it got done all the same."""
    return {
        "schema": SCHEMA,
        "ok": False,
        "command": command,
        "data": data,
        "error": error_fields(error),
    }


def error_fields(error: RecallError) -> dict[str, object]:
    """Return an error as the envelope and the lists of roots show it."""
    return {
        "code": error.code,
        "message": error.message,
        "where": error.where,
        "hint": error.hint,
    }


def encode(envelope: Mapping[str, object]) -> bytes:
    r"""Return the envelope as one line of UTF-8, free of raw control characters and surrogates.

    A byte that was not UTF-8 (kept by Python as a surrogate) shows as the text ``\xNN``.
    """
    text = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if not text.isprintable():
        text = re.sub(_UNSAFE, _escaped, text)
    return text.encode() + b"\n"


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if "\udc80" <= char <= "\udcff":
        return f"\\\\x{ord(char) - 0xDC00:02x}"
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return json.dumps(char)[1:-1]
