"""The recall log, read: what the prompt hook decided, as ``recall.recalllog`` keeps it.

See ``spec/recall-log.md``.
"""

from __future__ import annotations

from recall import state
from recall.recalllog import FILE, MAX_BYTES, OLDER, SILENT, SPOKE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.recalllog import Fields

_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits


class Entry:
    """One line of the log: ``when`` in seconds since the epoch, ``prompt`` and ``session`` hashes.

    ``cards`` are id, root, relative path and absolute path; ``text`` is None unless asked for.
    """

    __slots__ = (
        "cards",
        "decision",
        "host",
        "ms",
        "prompt",
        "roots",
        "session",
        "text",
        "tokens",
        "when",
        "why",
    )

    def __init__(self, fields: Fields) -> None:
        """Take over what a line says. Raises ValueError if no version of ours has written it."""
        when, decision = _number(fields.get("t")), fields.get("decision")
        if when is None or when >= _LAST_MOMENT or decision not in (SPOKE, SILENT):
            raise ValueError(decision)
        self.when = when
        self.decision = str(decision)
        self.why = _word(fields.get("why")) or "unknown"
        self.host = _word(fields.get("host")) or "unknown"
        self.prompt = _word(fields.get("prompt"))
        self.session = _word(fields.get("session"))
        self.text = _word(fields.get("text"))
        self.ms = _number(fields.get("ms")) or 0.0
        self.tokens = int(_number(fields.get("tokens")) or 0)
        roots, cards = fields.get("roots"), fields.get("cards")
        self.roots = [r for r in roots if isinstance(r, str)] if isinstance(roots, list) else []
        self.cards = [
            (card["id"], card["root"], card["path"], card["file"])
            for card in (cards if isinstance(cards, list) else [])
            if isinstance(card, dict)
            and all(isinstance(card.get(name), str) for name in ("id", "root", "path", "file"))
        ]


def read(state_dir: str | None) -> tuple[list[Entry], int]:
    """Return the entries that are kept, oldest first, and how many lines could not be read.

    Raises Unreadable when a file is there that is not the person's.
    """
    if state_dir is None:
        return [], 0
    # The newer one first: if it is rotated in between, it is met again, and seen to be the same.
    newer, older = _contents(state_dir, FILE), _contents(state_dir, OLDER)
    if newer[1] is not None and newer[1] == older[1]:
        older = b"", None
    entries, bad = [], 0
    # What follows the last newline is being written, or was cut off.
    for line in [*older[0].split(b"\n"), *newer[0].split(b"\n")]:
        if not line:
            continue
        try:
            entries.append(_entry(line))
        except (ValueError, RecursionError):
            bad += 1
    return entries, bad


def _contents(state_dir: str, name: str) -> tuple[bytes, tuple[int, int] | None]:
    limit = 2 * MAX_BYTES
    try:
        data, st = state.read_end(state_dir, name, limit)
    except FileNotFoundError:
        return b"", None
    if st.st_size > limit:
        data = data.partition(b"\n")[2]
    return data, (st.st_dev, st.st_ino)


def _entry(line: bytes) -> Entry:
    import json

    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError(line)  # noqa: TRY004 - a line that is not ours, like any other
    return Entry(fields)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < float("inf") else None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None
