"""The lines of an audit file: a chain in which each names the one before it. Pure.

See "Audit" in ``spec/writing.md``.
"""

from __future__ import annotations

import json
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Fields = dict[str, object]

FIRST = "0" * 64  # what the first line of a file names
# Each with the types that its value may have.
FIELDS: Mapping[str, tuple[type, ...]] = {
    "t": (str,),
    "n": (int,),
    "machine": (str,),
    "adapter": (str,),
    "command": (str,),
    "action": (str,),
    "path": (str,),
    "from": (str, type(None)),
    "id": (str,),
    "type": (str,),
    "before": (str, type(None)),
    "after": (str,),
    "prev": (str,),
    "hash": (str,),
}


class Broken:
    """A link that does not hold: the number of its line, from 1, and why.

    Without a line it is the whole file that can't be read.
    """

    __slots__ = ("line", "why")

    def __init__(self, line: int | None, why: str) -> None:
        self.line = line
        self.why = why


def line(fields: Mapping[str, object], last: bytes | None) -> bytes:
    """Return the line (ASCII, with its end) of what was done, behind ``last`` in its file.

    ``last`` is a whole line that holds, None for the first one.
    """
    before = None if last is None else json.loads(last)
    chained = {
        **fields,
        "n": 1 if before is None else before["n"] + 1,
        "prev": FIRST if before is None else before["hash"],
    }
    return _written({**chained, "hash": _hash(chained)}).encode("ascii") + b"\n"


def verify(
    data: bytes, machine: str, *, pending: bytes = b""
) -> tuple[list[Fields], Broken | None]:
    """Return the lines of one machine's file, and the first link that does not hold, if any.

    ``pending`` is a line that is being appended: a beginning of it may end the file.
    """
    whole, _, rest = data.rpartition(b"\n")
    lines = whole.split(b"\n") if b"\n" in data else []
    found: list[Fields] = []
    before = FIRST
    for number, each in enumerate(lines, 1):
        fields = parsed(each)
        why = (
            "it is no line of an audit"
            if fields is None
            else _fault(fields, machine, found, before)
        )
        if fields is None or why:
            return found, Broken(number, why or "")
        found.append(fields)
        before = str(fields["hash"])
    if rest and not (pending and pending.startswith(rest)):
        return found, Broken(len(lines) + 1, "it is not complete")
    return found, None


def parsed(data: bytes) -> Fields | None:
    """Return the fields of a line, None if it is none of ours; whether it holds is not asked."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.keys() != FIELDS.keys():
        return None
    if not all(isinstance(fields[key], kinds) for key, kinds in FIELDS.items()):
        return None
    return fields if _written(fields).encode() == data else None


def _fault(fields: Fields, machine: str, above: list[Fields], before: str) -> str | None:
    """Return why a line does not hold behind those above it, None if it does."""
    if fields["hash"] != _hash({key: each for key, each in fields.items() if key != "hash"}):
        return "it was changed: its hash is another"
    if fields["prev"] != before or fields["n"] != len(above) + 1:
        return "it does not follow the line before it: lines are missing, or in another order"
    if fields["machine"] != machine:
        return "it is another machine's"
    return None


def holds(data: bytes) -> bool:
    """Tell whether a line is what was written, whatever stands before it."""
    fields = parsed(data)
    return fields is not None and fields["hash"] == _hash(
        {key: each for key, each in fields.items() if key != "hash"}
    )


def _hash(fields: Mapping[str, object]) -> str:
    return sha256(_written(fields).encode("ascii")).hexdigest()


def _written(fields: Mapping[str, object]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
