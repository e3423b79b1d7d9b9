"""Which notes an agent may not add to: what it adds would be read as what the note is. Pure."""

from __future__ import annotations

from index_cache.moments import instant
from index_cache.parse import TIERS
from recall.stale import stale_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from index_cache.parse import Document


def closed(document: Document, now: datetime) -> str | None:
    """Return why an agent may not append to a note, None if it may.

    Its words would carry the trust that others gave to those above them, or be old at once.
    """
    if document.tier != TIERS[0]:
        return f"it is {document.tier}, which an agent's text is not"
    seconds = now.timestamp()
    stale = stale_reason(document.status, document.stale_after, seconds)
    if stale is not None:
        return f"it no longer holds ({stale})"
    end = instant(document.valid_until) if document.valid_until else None
    return "it is no longer valid" if end is not None and end <= seconds * 1_000_000 else None
