"""What makes a strict root be refused: from what a refresh saw to its violations; pure, but light.

The prompt hook reads verdicts, so nothing heavy is imported here; what a file's bytes show is for
``index_cache.faults``. See ``spec/strict.md``.
"""

from __future__ import annotations

import os

from index_cache.errors import IntegrityError
from index_cache.files import display
from index_cache.limits import BEYOND, CUT, ESCAPED, NOT_HERE, NOT_REGULAR, SYMLINK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from index_cache.errors import RootUnavailable
    from index_cache.model import Root, Skipped

HINTS = {
    "symlink": "put what it points to in its place, or take it away",
    "escape": "put the directory itself back in its place",
    "duplicate": "give one of them another id",
    "time": "write an ISO 8601 date or time: 2026-03-01, 2026-03-01T12:00:00Z",
    "control": "take the characters out: an editor can show them",
    "encoding": "save it as UTF-8",
    "metadata": "correct the metadata block: values with a colon or a quote need quotes",
    "record": "correct the line: each is one JSON object",
    "limit": "split the root, or raise its limits in the configuration",
    "unavailable": "make it readable, or take it away; recall refresh --prune forgets what is gone",
}
_LINE = "line "
_SEEN = {
    SYMLINK: "symlink",
    NOT_REGULAR: "unavailable",
    NOT_HERE: "unavailable",
    CUT: "limit",
}


class RootRefused(IntegrityError):
    """A strict root has violations, or can't be judged: nothing is answered from it."""

    def __init__(self, root: Root, message: str, *, where: str, hint: str | None = None) -> None:
        super().__init__(f"strict root {root.name} is refused: {message}", where=where, hint=hint)
        self.root = root


class Violation:
    """One thing for which a strict root is refused.

    ``path`` is relative, b"" for the root itself, None for what is private; ``line`` counts from 1,
    None where there is none; ``kind`` is a key of HINTS. ``reason`` quotes no note.
    """

    __slots__ = ("kind", "line", "path", "reason")

    def __init__(self, path: bytes | None, line: int | None, kind: str, reason: str) -> None:
        self.path = path
        self.line = line
        self.kind = kind
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Violation) and self.as_key() == other.as_key()

    def __hash__(self) -> int:
        return hash(self.as_key())

    def __repr__(self) -> str:
        return f"Violation{self.as_key()!r}"

    def as_key(self) -> tuple[bytes, int, str, str]:
        """Return what violations are sorted by; what has no name comes last."""
        path = b"\xff" * 8 if self.path is None else self.path
        return path, self.line or 0, self.kind, self.reason


def told(faults: Iterable[tuple[int, str, str]]) -> str | None:
    """Return the problem of a file with these faults (line, kind, reason), None without any."""
    return "; ".join(f"{_LINE}{line}: {kind}: {why}" for line, kind, why in faults) or None


def parsed(path: bytes, problem: str) -> list[Violation]:
    """Return the violations that a file's problem tells of; ``told`` is its inverse."""
    found = [_part(path, part) for part in problem.split("; ")]
    whole = [each for each in found if each is not None]
    if len(whole) == len(found):
        return whole
    kind = "encoding" if problem.startswith("not text") else "unavailable"
    return [Violation(path, None, kind, problem)]


def _part(path: bytes, part: str) -> Violation | None:
    line = None
    if part.startswith(_LINE):
        number, _, part = part.removeprefix(_LINE).partition(": ")
        if not number.isdecimal():
            return None
        line = int(number)
    kind, _, reason = part.partition(": ")
    return Violation(path, line, kind, reason) if kind in HINTS and reason else None


def seen(skipped: Iterable[Skipped], unavailable: Iterable[Skipped]) -> list[Violation]:
    """Return the violations in what a scan left out and what could not be looked at.

    What lies beyond the root's limits is one violation, of the root.
    """
    found: list[Violation] = []
    beyond: dict[str, int] = {}
    for each in skipped:
        reason = each.reason
        if reason.startswith(BEYOND):
            beyond[reason] = beyond.get(reason, 0) + 1
            continue
        kind = next((kind for begin, kind in _SEEN.items() if reason.startswith(begin)), None)
        if kind is not None:
            # Without a path: at a private one.
            found.append(Violation(each.path or None, None, kind, reason))
    for reason, count in beyond.items():
        lie = "file lies" if count == 1 else "files lie"
        found.append(Violation(b"", None, "limit", f"{count:,} {lie} {reason}"))
    for each in unavailable:
        kind = "escape" if each.reason.startswith(ESCAPED) else "unavailable"
        found.append(Violation(each.path, None, kind, each.reason))
    return found


def repeated(several: Iterable[Sequence[tuple[bytes, int]]]) -> list[Violation]:
    """Return the violations of ids that several records have: of each id path and line (or 0)."""
    found = []
    for places in several:
        first, *others = sorted(places)
        why = f"its id is that of {shown(*first)} as well"
        found += [Violation(path, line or None, "duplicate", why) for path, line in others]
    return found


def shown(path: bytes, line: int | None) -> str:
    """Return a place as text."""
    return f"{display(path)}:{line}" if line else display(path)


def too_many_records(count: int, most: int) -> list[Violation]:
    """Return the violation of a root that has more records than it may have, if it has."""
    if count <= most:
        return []
    return [Violation(b"", None, "limit", f"{count:,} records, and the limit is {most:,}")]


def public(violations: Iterable[Violation], hidden: Collection[bytes]) -> list[Violation]:
    """Return violations sorted, those of private files, and of sync tools' copies, without a name.

    ``hidden`` are the paths of the notes that withhold themselves.
    """
    if not hidden:
        return sorted(violations, key=Violation.as_key)
    from index_cache.scan import original_of

    def named(each: Violation) -> Violation:
        if each.path is None or original_of(each.path) not in hidden:
            return each
        return Violation(None, None, each.kind, f"{each.kind} at a private path")

    return sorted(map(named, violations), key=Violation.as_key)


def refusal(root: Root, violations: Sequence[Violation]) -> RootRefused | None:
    """Return the error that a root's violations are, None without any; ``public`` ones, sorted."""
    if not violations:
        return None
    first, count = violations[0], len(violations)
    many = "a violation" if count == 1 else f"{count:,} violations, the first"
    place = "a private file" if first.path is None else display(first.path)
    said = f"{place}: {first.reason}" if place else first.reason
    where = root.path
    if first.path:
        where = shown(os.path.join(os.fsencode(root.path), first.path), first.line)
    hint = f"{HINTS[first.kind]}; recall status --skipped lists all"
    return RootRefused(root, f"{many}: {said}", where=where, hint=hint)


def unavailable(root: Root, error: RootUnavailable) -> RootRefused:
    """Return the error of a strict root that can't be looked at."""
    return RootRefused(root, error.message, where=error.where or root.path, hint=error.hint)


def by_kind(violations: Iterable[Violation]) -> dict[str, int]:
    """Return how many violations of each kind there are, in the order of HINTS."""
    counts = dict.fromkeys(HINTS, 0)
    for each in violations:
        counts[each.kind] += 1
    return {kind: count for kind, count in counts.items() if count}
