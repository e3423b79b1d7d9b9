"""What health is measured by: ``[health]`` in the person's own configuration.

A value that is not finite and positive stops no command: it is a finding, and the usual one holds.
"""

from __future__ import annotations

import math

from index_cache.errors import ConfigInvalid
from recall.configfile import MAX_CONFIG_BYTES, decode, line_of, parse
from recall.files import Unreadable, read_small
from recall.notice import Notice
from recall.rootnames import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

USUAL: Mapping[str, float] = {
    "refresh_hours": 48,
    "index_days": 7,
    "proof_days": 14,
    "hook_days": 14,
    "schedule_days": 8,
    "hook_failures": 3,
    "deadline_percent": 5,
    "p95_ms": 200,
    "proposals": 10,
    "log_mib": 256,
    "log_days": 30,
    "free_mib": 512,
}
TABLE = "health"
_SHOWN = 40  # characters of a value that is wrong


class Wrong:
    """A value that can't be a threshold: its key, how it is shown, and its line (None: unknown).

    ``wants`` says what it must be, ``limit`` the same in short.
    """

    __slots__ = ("key", "limit", "line", "shown", "wants")

    def __init__(self, key: str, shown: str, line: int | None = None) -> None:
        self.key = key
        self.shown = shown
        is_table = key == TABLE
        self.wants = "a table, [health]" if is_table else "a finite number above 0"
        self.limit = "a table" if is_table else "finite, above 0"
        self.line = line


class Thresholds:
    """The thresholds that hold, by key, and what is ``wrong`` with those that were asked for."""

    __slots__ = ("notices", "values", "wrong")

    def __init__(self) -> None:
        self.values = dict(USUAL)
        self.wrong: list[Wrong] = []
        self.notices: list[Notice] = []

    def __getitem__(self, key: str) -> float:
        return self.values[key]


def taken(table: object) -> Thresholds:
    """Return the thresholds that the value of ``health`` in a configuration asks for; pure."""
    made = Thresholds()
    if not isinstance(table, dict):
        made.wrong.append(Wrong(TABLE, _shown(table)))
        return made
    for key, value in table.items():
        if key not in USUAL:
            near = nearest(key, USUAL)
            made.notices.append(
                Notice(
                    f"the key {TABLE}.{key} is not known and has no effect",
                    f"did you mean {TABLE}.{near}?" if near else None,
                )
            )
        elif _is_measure(value):
            made.values[key] = value
        else:
            made.wrong.append(Wrong(f"{TABLE}.{key}", _shown(value)))
    return made


def read(file: str | None) -> Thresholds:
    """Return the thresholds of the person's own file; the usual ones if it can't be read.

    Why it can't, the configuration's own reader tells.
    """
    tables, text = _tables(file)
    made = taken(tables.get(TABLE, {}))
    for each in made.wrong:
        each.line = line_of(text, each.key)
    made.notices = [Notice(f"{file}: {each.message}", each.hint) for each in made.notices]
    return made


def of_project(file: str | None) -> list[Notice]:
    """Return what to say of a project's file that would set thresholds: it may not."""
    if file is None or TABLE not in _tables(file)[0]:
        return []
    return [Notice(f"{file}: {TABLE} has no effect here, only in your own file")]


def _tables(file: str | None) -> tuple[dict[str, object], str]:
    if file is None:
        return {}, ""
    try:
        text = decode(read_small(file, MAX_CONFIG_BYTES), file)
        return parse(text, file), text
    except (OSError, Unreadable, ConfigInvalid):
        return {}, ""


def _is_measure(value: object) -> bool:
    """Tell whether a value is a finite and positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value)) and value > 0
    except OverflowError:  # a whole number that no float can hold
        return False


def _shown(value: object) -> str:
    try:
        text = str(value)
    except ValueError:  # a whole number of too many digits
        text = "a number of thousands of digits"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
