"""Labels: questions with the documents that answer them, from JSONL; pure but for ``read``.

The format is in ``spec/bench.md``. All that is wrong in a file is found, not only the first fault.
"""

from __future__ import annotations

import json
import os
import sys

from index_cache.digests import hashed
from index_cache.errors import InvalidInput, NotFound, RootUnavailable
from index_cache.privacy import strip
from recall.notice import shell_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_BYTES = 64 * 1024 * 1024
MAX_LABELS = 100_000
MAX_QUERY = 1024 * 1024  # characters
MAX_GRADE = 1000
MAX_NAMES = 10_000  # documents in one list
MAX_ORDER = 100  # documents in order, which are 4,950 pairs, or as many pairs
_ID_BYTES = 6
_FIELDS = frozenset(
    {
        "category",
        "draft",
        "id",
        "irrelevant",
        "order",
        "provenance",
        "query",
        "relevant",
        "scope",
        "why",
    }
)
_PAIR = 2


class Label:
    """One question and what is known of its answers.

    ``grades`` has each document that was judged, by the name that the label gives it: 0 is one
    that must not come up. ``order`` are pairs (first, then). ``line`` is 1-based.
    """

    __slots__ = (
        "category",
        "draft",
        "grades",
        "id",
        "line",
        "order",
        "provenance",
        "query",
        "scope",
    )

    def __init__(
        self,
        query: str,
        grades: dict[str, int],
        *,
        id: str = "",
        line: int = 0,
        order: Sequence[tuple[str, str]] = (),
        scope: str | None = None,
        category: str = "",
        provenance: object = None,
        draft: bool = False,
    ) -> None:
        self.query = query
        self.grades = grades
        self.id = id
        self.line = line
        self.order = list(order)
        self.scope = scope
        self.category = category
        self.provenance = provenance
        self.draft = draft

    def digest(self) -> str:
        """Return what is the same for labels that ask and judge the same, in the same words."""
        judged = [self.query, self.scope, sorted(self.grades.items()), sorted(self.order)]
        return hashed(json.dumps(judged))

    def names(self) -> list[str]:
        """Return each document that the label names, once."""
        return list(dict.fromkeys([*self.grades, *(name for pair in self.order for name in pair)]))


class Problem:
    """What is wrong in a line of a file of labels; ``line`` is 1-based."""

    __slots__ = ("line", "message")

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        self.message = message


class Labels:
    """What a file of labels says.

    ``problems`` are in order of their lines; ``unknown`` are fields that mean nothing here.
    """

    __slots__ = ("labels", "problems", "unknown")

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self.problems: list[Problem] = []
        self.unknown: set[str] = set()


class _Fault(Exception):
    """A label that can't be used, in words for a person."""


def read(path: str) -> bytes:
    """Return the bytes of a file of labels, "-" for standard input.

    Raises NotFound when there is none, InvalidInput when it is too large or no file, and
    RootUnavailable when it can't be read.
    """
    try:
        with open(sys.stdin.fileno() if path == "-" else path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(
            "there is no such file of labels", where=path, hint="recall bench init --out FILE"
        ) from error
    except (IsADirectoryError, ValueError) as error:
        raise InvalidInput("labels are a file of JSON lines", where=path) from error
    except OSError as error:
        told = f"the labels can't be read: {error.strerror or error}"
        raise RootUnavailable(told, where=path) from error
    if len(data) > MAX_BYTES:
        raise InvalidInput(f"more than {MAX_BYTES:,} bytes of labels", where=path)
    return data


def parse(data: bytes) -> Labels:
    """Return what a file of labels says, and all that is wrong in it. Never raises."""
    found = Labels()
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        if len(found.labels) == MAX_LABELS:
            found.problems.append(Problem(number, f"more than {MAX_LABELS:,} labels"))
            break
        try:
            fields = _object(line)
            found.unknown.update(fields.keys() - _FIELDS)
            found.labels.append(_label(fields, number))
        except _Fault as fault:
            found.problems.append(Problem(number, str(fault)))
    _name(found)
    found.problems.sort(key=lambda each: each.line)
    return found


def demand(found: Labels, path: str) -> list[Label]:
    """Return the labels. Raises InvalidInput when anything is wrong with them, or there is none."""
    if found.problems:
        first, *more = found.problems
        rest = f" (and {len(more):,} more)" if more else ""
        raise InvalidInput(
            f"{first.message}{rest}",
            where=f"{path}:{first.line}",
            hint=f"recall bench check --labels {shell_quoted(path)} lists all that is wrong",
        )
    if not found.labels:
        raise InvalidInput(
            "there are no labels in it", where=path, hint="recall bench init --out FILE drafts some"
        )
    return found.labels


def shown(path: str) -> str:
    """Return the name of a file of labels without where it lies: for reports that travel."""
    return os.path.basename(path)


def _object(line: bytes) -> dict[str, object]:
    try:
        value = json.loads(
            line.decode("utf-8"),
            object_pairs_hook=_pairs,
            parse_constant=_no_number,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise _Fault(f"not UTF-8 at byte {error.start + 1} of the line") from error
    except json.JSONDecodeError as error:
        raise _Fault(f"no JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise _Fault("no JSON: a number too long, or lists nested too deep") from error
    if not isinstance(value, dict):
        raise _Fault("a label is an object: {...}")
    return value


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise _Fault(f'"{key}" stands twice in one object')
        found[key] = value
    return found


def _no_number(text: str) -> object:
    raise _Fault(f"no JSON: {text}")


def _finite(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        _no_number(text)
    return value


def _label(fields: dict[str, object], line: int) -> Label:
    query = _query(fields.get("query"))
    if "relevant" not in fields:
        raise _Fault('it has no relevant; "relevant": [] says that no document answers it')
    draft = fields.get("draft", False)
    if not isinstance(draft, bool):
        raise _Fault("draft must be true or false")
    provenance = fields.get("provenance")
    if provenance is not None and not isinstance(provenance, str | dict):
        raise _Fault("provenance must be text or an object")
    return Label(
        query,
        _grades(fields["relevant"], fields.get("irrelevant")),
        id=_text(fields, "id", needed="id" in fields) or "",
        line=line,
        order=_order(fields.get("order")),
        scope=_text(fields, "scope"),
        category=_text(fields, "category") or "",
        provenance=provenance,
        draft=draft,
    )


def _query(value: object) -> str:
    if value is None:
        raise _Fault("it has no query")
    # A private span is no part of a question: the report shows what is asked.
    query = strip(value) if isinstance(value, str) else ""
    if not query.strip():
        raise _Fault("query must be text that is not blank")
    if len(query) > MAX_QUERY:
        raise _Fault(f"a query of more than {MAX_QUERY:,} characters")
    return query


def _text(fields: dict[str, object], key: str, *, needed: bool = False) -> str | None:
    value = fields.get(key)
    if value is None and not needed:
        return None
    if not isinstance(value, str):
        raise _Fault(f"{key} must be text")
    if needed and not value.strip():
        raise _Fault(f"{key} is blank")
    return value if value.strip() else None


def _grades(relevant: object, irrelevant: object) -> dict[str, int]:
    if isinstance(relevant, dict):
        grades: dict[str, int] = {}
        for name, grade in relevant.items():
            _names([name], "relevant")
            if type(grade) is not int or not 0 <= grade <= MAX_GRADE:
                raise _Fault(f'the grade of "{name}" must be a whole number, 0 to {MAX_GRADE:,}')
            grades[name] = grade
    else:
        grades = dict.fromkeys(_names(relevant, "relevant"), 1)
    for name in _names([] if irrelevant is None else irrelevant, "irrelevant"):
        if grades.get(name):
            raise _Fault(f'"{name}" is both relevant and irrelevant')
        grades[name] = 0
    return grades


def _names(value: object, key: str) -> list[str]:
    if not isinstance(value, list):
        more = " or an object of document and grade" if key == "relevant" else ""
        raise _Fault(f"{key} must be a list of documents{more}")
    if len(value) > MAX_NAMES:
        raise _Fault(f"{key} has more than {MAX_NAMES:,} documents")
    found: dict[str, None] = {}
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise _Fault(f"{key} names documents by path or id, as text")
        if name in found:
            raise _Fault(f'{key} has "{name}" twice')
        found[name] = None
    return [*found]


def _order(value: object) -> list[tuple[str, str]]:
    if value is None or value == []:
        return []
    if not isinstance(value, list):
        raise _Fault("order must be a list of pairs, or of documents in order")
    if len(value) > MAX_ORDER:
        raise _Fault(f"order has more than {MAX_ORDER:,} entries")
    if not isinstance(value[0], list):
        names = _names(value, "order")
        return [(first, then) for at, first in enumerate(names) for then in names[at + 1 :]]
    pairs: dict[tuple[str, str], None] = {}
    for pair in value:
        names = _names(pair, "a pair of order")
        if len(names) != _PAIR:
            raise _Fault("a pair of order must be two documents")
        first, then = names
        if (first, then) in pairs:
            raise _Fault(f'order has "{first}" before "{then}" twice')
        if (then, first) in pairs:
            raise _Fault(f'order has "{first}" before "{then}", and the reverse')
        pairs[first, then] = None
    return [*pairs]


def _name(found: Labels) -> None:
    """Give ids to labels of a file without any, and find those that are missing or not the only."""
    named = [label for label in found.labels if label.id]
    if named:
        found.problems += [
            Problem(label.line, f"it has no id, as the others have (line {named[0].line})")
            for label in found.labels
            if not label.id
        ]
    else:
        for label in found.labels:
            label.id = "q-" + hashed(f"{label.scope or ''}\0{label.query}", size=_ID_BYTES)
    for label, first in _repeated(label for label in found.labels if label.id):
        what = f'the id "{label.id}"' if named else "the same query"
        found.problems.append(Problem(label.line, f"{what} is in line {first.line} already"))


def _repeated(labels: Iterable[Label]) -> list[tuple[Label, Label]]:
    """Return each label whose id another has before it, with that one."""
    first: dict[str, Label] = {}
    return [
        (label, first[label.id])
        for label in labels
        if first.setdefault(label.id, label) is not label
    ]
