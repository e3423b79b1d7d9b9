"""What an ISO 8601 date or time means; pure. Zones are those of the text, else the caller's.

Which forms there are is in ``spec/records.md``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date, datetime, timedelta, tzinfo

# The first and the last microsecond that a year of four digits has in UTC, since 1970.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
_DAY = 86_400_000_000  # microseconds
_BETWEEN = "Tt "  # a date and a time
_WEEK = len("2026-W09"), len("2026W09")
# How a time of day is written, by its length; its digits are where the 0s are.
_CLOCKS = ("00", "00:00", "00:00:00", "0000", "000000")
_ZONES = ("00", "00:00", "0000")
_LAST_HOUR, _LAST_MINUTE, _LEAP = 24, 59, 60


def parsed(text: str, *, end: bool = False) -> datetime | None:
    """Return an ISO 8601 date or time, without a zone if it has none; None for what is neither.

    A day, week, month or year is its beginning, or with ``end`` that of the next one.
    """
    if not ("0" <= text[:1] <= "9" and text.isascii()):
        return None
    from datetime import datetime, timedelta  # few notes have any

    at = next((place for place, sign in enumerate(text) if sign in _BETWEEN), len(text))
    try:
        day, days = _date(text[:at])
        found = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - the zone follows
        if at == len(text):
            return found + timedelta(days=days) if end else found
        passed, zone = _time(text[at + 1 :])
        return (found + passed).replace(tzinfo=zone) if days == 1 else None
    except (ValueError, OverflowError):
        return None


def local(text: str, *, end: bool = False) -> float | None:
    """Return what ``parsed`` finds in seconds since the epoch, without a zone in the local one."""
    found = parsed(text, end=end)
    try:
        return None if found is None else found.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def instant(text: str, *, last: bool = False) -> int | None:
    """Return what ``parsed`` finds in microseconds since 1970 UTC, without a zone in UTC.

    With ``last`` a day, week, month or year is its last microsecond. What a zone takes out of the
    years 1 to 9999 is None.
    """
    found = parsed(text)
    if found is None:
        return None
    from datetime import UTC, datetime, timedelta

    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    microseconds = (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    if last and not any(sign in text for sign in _BETWEEN):
        microseconds += _date(text)[1] * _DAY - 1
    return microseconds if FIRST <= microseconds <= LAST else None


def _date(text: str) -> tuple[date, int]:
    """Return the first day of a day, week, month or year, and how many it has.

    Raises ValueError, OverflowError.
    """
    from datetime import date, timedelta

    year, dash, rest = text[:4], text[4:5], text[5:]
    if year.isdecimal() and (not dash or (dash == "-" and rest.isdecimal())):
        first = date(int(year), 1, 1)
        days = (date(first.year, 12, 31) - first).days + 1
        if not dash:
            return first, days
        if len(rest) == len("12"):
            month = date(first.year, int(rest), 1)
            after = date(first.year, month.month % 12 + 1, 1)
            return month, (after - month).days if after > month else 31
        if len(rest) == len("365") and 1 <= int(rest) <= days:
            return first + timedelta(days=int(rest) - 1), 1
        raise ValueError
    return date.fromisoformat(text), 7 if "W" in text and len(text) in _WEEK else 1


def _time(text: str) -> tuple[timedelta, tzinfo | None]:
    """Return a time of day and its zone, None without one. Raises ValueError."""
    from datetime import UTC, timedelta, timezone

    at = next((n for n, sign in enumerate(text) if sign in "+-Zz"), len(text))
    clock, zone = text[:at], text[at:]
    # As Jekyll and git have it: 2026-03-01 10:00:00 +0200.
    clock = clock.removesuffix(" ") if zone else clock
    passed = _clock(clock)
    if zone in {"Z", "z"}:
        return passed, UTC
    if not zone:
        return passed, None
    hours, minutes, _ = _numbers(zone[1:], _ZONES)
    if minutes > _LAST_MINUTE:
        raise ValueError
    offset = timedelta(hours=hours, minutes=minutes)
    return passed, timezone(-offset if zone[0] == "-" else offset)


def _clock(text: str) -> timedelta:
    from datetime import timedelta

    whole, sign, fraction = text.replace(",", ".").partition(".")
    hours, minutes, seconds = _numbers(whole, _CLOCKS)
    if sign and not (fraction.isdecimal() and len(whole) in {len("00:00:00"), len("000000")}):
        raise ValueError
    parts = int(f"{fraction:0<6}"[:6])
    if minutes > _LAST_MINUTE or seconds > _LEAP or hours > _LAST_HOUR:
        raise ValueError
    if hours == _LAST_HOUR and (minutes or seconds or fraction.strip("0")):
        raise ValueError
    return timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=parts)


def _numbers(text: str, forms: tuple[str, ...]) -> tuple[int, int, int]:
    """Return the numbers of a time that is written in one of some forms. Raises ValueError."""
    shape = "".join("0" if sign.isdecimal() else sign for sign in text)
    if shape not in forms:
        raise ValueError
    digits = f"{text.replace(':', ''):0<6}"
    return int(digits[:2]), int(digits[2:4]), int(digits[4:])
