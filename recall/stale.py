"""Is a note past its time? Decided at the moment of the query; pure but for the given time."""

from __future__ import annotations

# What a note's status says when it no longer holds.
_OVER = "archived deprecated obsolete rejected retired superseded withdrawn"


def stale_reason(status: str, stale_after: str, now: float) -> str | None:
    """Return why a note counts as stale at ``now`` (seconds since the epoch), None if it doesn't.

    ``stale_after`` is an ISO 8601 date or time; a date has passed when its day is over, and
    without a zone it is the local one. What can't be read as a time is lint's business.
    """
    if status.lower() in _OVER.split():
        return status.lower()
    if stale_after:
        from index_cache.moments import local  # few notes have any

        limit = local(stale_after, end=True)
        if limit is not None and limit <= now:
            return f"stale since {stale_after}"
    return None
