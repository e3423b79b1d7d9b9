"""Lengths of time as people type them: ``90s``, ``30m``, ``1h``, ``2d``."""

from __future__ import annotations

from index_cache.errors import InvalidInput

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DIGITS = frozenset("0123456789")
_LONGEST = 3650 * 86_400  # seconds; more is a slip of the finger


def seconds_of(text: str, what: str) -> int:
    """Return the seconds in a whole number with its unit. ``what`` names it in errors.

    Raises InvalidInput for anything else, for nothing and for more than ten years.
    """
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not number or not _DIGITS.issuperset(number):
        raise InvalidInput(
            f'"{text[:40]}" is no length of time',
            where=what,
            hint="write a whole number and its unit: 90s, 30m, 1h or 2d",
        )
    # A number this long is too much in any unit, and Python refuses to read thousands of digits.
    seconds = int(number) * _UNITS[unit] if len(number) <= 12 else _LONGEST + 1  # noqa: PLR2004
    if not 0 < seconds <= _LONGEST:
        raise InvalidInput(
            f'"{text[:40]}" is not between one second and ten years',
            where=what,
            hint="write a whole number and its unit: 90s, 30m, 1h or 2d",
        )
    return seconds
