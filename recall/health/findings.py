"""What is found, and what findings share; pure."""

from __future__ import annotations

from recall.notice import shell_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Measured = tuple[float | str | None, float | str | None, str | None]

OK, WARN, CRITICAL = "ok", "warn", "critical"
LEVELS = (OK, WARN, CRITICAL)
HOUR, DAY = 3_600.0, 86_400.0
MIB = 1024 * 1024
NOTHING: Measured = (None, None, None)
SLACK = 60.0  # seconds by which clocks of one machine and its file systems may differ


class Finding:
    """One thing that is not as it should be.

    ``measured`` are ``value``, what was found, and ``threshold``, what it is measured by, both in
    ``unit``; None where there is nothing to measure. ``root`` and ``file`` are what it is about,
    ``hint`` is a command.
    """

    __slots__ = (
        "code",
        "file",
        "hint",
        "level",
        "message",
        "root",
        "threshold",
        "unit",
        "value",
    )

    def __init__(
        self,
        code: str,
        level: str,
        message: str,
        *,
        hint: str,
        measured: Measured = NOTHING,
        root: str | None = None,
        file: str | None = None,
    ) -> None:
        self.code = code
        self.level = level
        self.message = message
        self.hint = hint
        value, self.threshold, self.unit = measured
        self.value = round(value, 1) if isinstance(value, float) else value
        self.root = root
        self.file = file


def overall(findings: Iterable[Finding]) -> str:
    """Return the highest level there is."""
    return max((each.level for each in findings), key=LEVELS.index, default=OK)


def past(when: float | None, now: float) -> float | None:
    """Return a time that can prove something: what is dated in the future can't."""
    return None if when is None or when > now + SLACK else when


def edit(file: str | None, line: str | int | None = None) -> str:
    """Return the command that opens a file, at a line if one is given."""
    place = f"+{line} " if line else ""
    return "${EDITOR:-vi} " + place + shell_quoted(file or "")
