"""Operators in the text of a search: pure. See ``spec/operators.md``."""

from __future__ import annotations

from index_cache.errors import InvalidInput
from index_cache.filters import is_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = ("not", "tag", "type", "root", "path", "before", "after")

MAX_VALUE = 200  # characters
MAX_OPERATORS = 32

_LISTS = {"not": "without", "tag": "tags", "type": "types", "root": "roots", "path": "paths"}
_DIGITS = frozenset("0123456789")
_DAY = "2026-01-01"
_FORMS = tuple("dddd-dd-dd"[:length] for length in (4, 7, 10))  # a year, a month, a day


class Known:
    """What there is in the searched roots, asked for only when an operator names it.

    ``root``, ``type``, ``tag`` and ``path`` tell whether there is one of that name (of a path:
    whether the glob names any note), ``words`` whether a text has a term; ``now`` is the time of
    day, in seconds since the epoch.
    """

    __slots__ = ("now", "path", "root", "tag", "type", "words")

    def __init__(
        self,
        *,
        root: Callable[[str], bool],
        type: Callable[[str], bool],
        tag: Callable[[str], bool],
        path: Callable[[str], bool],
        words: Callable[[str], bool],
        now: float,
    ) -> None:
        self.root = root
        self.type = type
        self.tag = tag
        self.path = path
        self.words = words
        self.now = now


class Operators:
    """What was understood of a text.

    ``text`` is what is searched: the text without its operators, but with the words of its
    ``phrases``. ``without`` are words and phrases that a note must not have. ``after`` (inclusive)
    and ``before`` (exclusive) are times as ``moment`` makes them, to be compared as text.
    """

    __slots__ = (
        "after",
        "before",
        "paths",
        "phrases",
        "roots",
        "tags",
        "text",
        "types",
        "without",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.phrases: list[str] = []
        self.without: list[str] = []
        self.tags: list[str] = []
        self.types: list[str] = []
        self.roots: list[str] = []
        self.paths: list[str] = []
        self.after: str | None = None
        self.before: str | None = None

    def __bool__(self) -> bool:
        """Tell whether anything but text was understood."""
        return any(getattr(self, name) for name in self.__slots__ if name != "text")

    def as_dict(self) -> dict[str, object]:
        """Return all fields, for JSON."""
        order = ("text", "phrases", "without", "tags", "types", "roots", "paths", "after", "before")
        return {name: getattr(self, name) for name in order}


def parse(text: str, known: Known) -> Operators:
    """Return what is understood of any text. What is unknown or malformed is text; no errors."""
    found = Operators(text)
    kept: list[str] = []
    count = begin = at = end = 0  # kept is of what is before begin
    for chunk in text.split():
        at = text.index(chunk, at)
        here, at = at, at + len(chunk)
        if here < end:
            continue  # within a quoted value
        key, colon, _ = chunk.partition(":")
        phrase = chunk.startswith('"')
        if not phrase and not (colon and key in KEYS):
            continue
        if count == MAX_OPERATORS:
            break  # what is looked up takes time, found or not
        count += 1
        value, after = _value(text, here if phrase else here + len(key) + 1, at)
        taken = _phrase(found, value, known) if phrase else _take(found, key, value, known)
        if not taken:
            continue
        kept += [text[begin:here], value if phrase else ""]
        begin = end = after
    if kept:
        found.text = "".join([*kept, text[begin:]]).strip()
    return found


def _value(text: str, at: int, chunk_end: int) -> tuple[str, int]:
    """Return the value that stands at a place, and where it ends; "" for what is none."""
    if not text.startswith('"', at):
        value, end = text[at:chunk_end], chunk_end
    else:
        end = text.find('"', at + 1, at + MAX_VALUE + 2) + 1
        if not end or not (end == len(text) or text[end].isspace()):
            return "", chunk_end
        value = text[at + 1 : end - 1]
    return (value if len(value) <= MAX_VALUE else ""), end


def _phrase(found: Operators, value: str, known: Known) -> bool:
    taken = bool(value) and known.words(value)
    if taken:
        found.phrases.append(value)
    return taken


def _take(found: Operators, key: str, value: str, known: Known) -> bool:
    """Add an operator to what was found; False if it is text."""
    if not value.strip():
        return False
    if key in {"after", "before"}:
        time = moment(value, known.now)
        if time is None:
            return False
        if key == "after":
            found.after = time if found.after is None else max(found.after, time)
        else:
            found.before = time if found.before is None else min(found.before, time)
        return True
    if key == "path":
        value = value.removeprefix("./")
    elif not is_whole(value):
        return False  # half of a character is in no text of ours
    knows = known.words if key == "not" else getattr(known, key)
    taken = bool(value) and knows(value)
    if taken:
        getattr(found, _LISTS[key]).append(value)
    return taken


def moment(value: str, now: float) -> str | None:
    """Return a time as text to compare with: an ISO date or time as it is, in UTC, or so long ago.

    ``now`` is in seconds since the epoch. None for what is no time.
    """
    from datetime import UTC, datetime, timedelta  # few searches ask for a time

    from recall.durations import seconds_of

    form = "".join("d" if char in _DIGITS else char for char in value)
    try:
        if form in _FORMS:
            datetime.fromisoformat(value + _DAY[len(value) :])
            return value
        if form.startswith(_FORMS[-1]) and value[len(_DAY)] in "Tt ":
            time = datetime.fromisoformat(value)
            if time.tzinfo is not None:
                time = time.astimezone(UTC).replace(tzinfo=None)
            return time.isoformat(timespec="seconds")
        length = f"{7 * int(value[:-1])}d" if form in {"dw", "ddw", "dddw"} else value
        time = datetime.fromtimestamp(now, UTC) - timedelta(seconds=seconds_of(length, "a time"))
    except (ValueError, OverflowError, OSError, InvalidInput):
        return None
    by_day = value[-1:] in {"d", "w"}
    return (
        time.date().isoformat() if by_day else time.replace(tzinfo=None).isoformat("T", "seconds")
    )


def passes(time: str, after: str | None, before: str | None) -> bool:
    """Tell whether a note's ``time`` (``rank.when``) lies between two of ``moment``."""
    if not time:
        return False
    # A blank may stand for the T, and what has no zone is UTC.
    time = f"{time[:10]}T{time[11:]}" if time[10:11] in {"t", " "} else time
    time = time.removesuffix("Z")
    return (after is None or time >= after) and (before is None or time < before)
