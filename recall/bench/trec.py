"""Runs and judgements in the formats of trec_eval, which every tool of the field reads; pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recall.bench.figures import Record

DEPTH = 10
TAG = "recall"


def run(records: Iterable[Record]) -> str:
    """Return a run file: ``ID Q0 DOC RANK SCORE TAG``.

    The score is made of the rank: tools order by it alone, in single precision, and break ties by
    name, while recall orders by more than its score.
    """
    return "".join(
        f"{word(record['id'])} Q0 {word(name)} {rank} {DEPTH + 1 - rank} {TAG}\n"
        for record in records
        for rank, name in enumerate(record["run"], 1)
    )


def qrels(records: Iterable[Record]) -> str:
    """Return a file of judgements: ``ID 0 DOC GRADE``."""
    return "".join(
        f"{word(record['id'])} 0 {word(name)} {grade}\n"
        for record in records
        for name, grade in record["grades"].items()
    )


def word(text: str) -> str:
    """Return a name as one word: white space, controls and ``%`` percent-encoded."""
    return "".join(
        char if char.isprintable() and char not in " %" else _encoded(char) for char in text
    )


def _encoded(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "backslashreplace"))
