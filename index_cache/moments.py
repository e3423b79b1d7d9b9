"""What an ISO 8601 date or time means; pure. Zones are those of the text, else the caller's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

_A_DATE = len("2026-01-01")


def parsed(text: str, *, end: bool = False) -> datetime | None:
    """Return an ISO 8601 date or time, without a zone if it has none; None for what is neither.

    A date is the day's beginning, or with ``end`` its end.
    """
    from datetime import datetime, timedelta  # few notes have any

    try:
        found = datetime.fromisoformat(text)
        return found + timedelta(days=1) if end and len(text) <= _A_DATE else found
    except (ValueError, OverflowError):
        return None


def local(text: str, *, end: bool = False) -> float | None:
    """Return what ``parsed`` finds in seconds since the epoch, without a zone in the local one."""
    found = parsed(text, end=end)
    try:
        return None if found is None else found.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def instant(text: str) -> int | None:
    """Return what ``parsed`` finds in microseconds since 1970 UTC, without a zone in UTC."""
    if not text[:1].isdecimal():
        return None
    found = parsed(text)
    if found is None:
        return None
    from datetime import UTC, datetime, timedelta

    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
