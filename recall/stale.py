"""Is a note past its time? Decided at the moment of the query; pure but for the given time."""

from __future__ import annotations


def stale_reason(status: str, stale_after: str, now: float) -> str | None:
    """Return why a note counts as stale at ``now`` (seconds since the epoch), None if it doesn't.

    ``stale_after`` is an ISO 8601 date or time; a date has passed when its day is over, and
    without a zone it is the local one. What can't be read as a time is lint's business.
    """
    if status.lower() == "deprecated":
        return "deprecated"
    if stale_after and _is_past(stale_after, now):
        return f"stale since {stale_after}"
    return None


def _is_past(text: str, now: float) -> bool:
    from datetime import datetime, timedelta

    try:
        limit = datetime.fromisoformat(text)
        if len(text) <= len("2026-01-01"):
            limit += timedelta(days=1)
        return limit.timestamp() <= now
    except (ValueError, OverflowError, OSError):
        return False
