"""Which documents of a root a search may return; pure, with SQL as its result."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Phrase = tuple[str, ...]  # terms that stand next to one another


# Terms that no text has: each stands in the type alone, of notes that are left out unless they are
# asked for.
JOURNAL = ":journal"
PROPOSAL = ":proposal"
_MARKS = {"journal": JOURNAL, "proposal": PROPOSAL}


def mark(type: str) -> str | None:
    """Return the mark of a type, in any (ASCII) case, that is left out; None for any other."""
    return _MARKS.get(lower(type))


class Lifecycle:
    """Which records a search may return, by where they are from and when they were created.

    Any of ``sources`` and of ``sessions``, None for all, exactly; created from ``since`` until
    ``to``, both inclusive, in microseconds since 1970 UTC, None for no bound.
    """

    __slots__ = ("sessions", "since", "sources", "to")

    def __init__(
        self,
        sources: Sequence[str] | None = None,
        sessions: Sequence[str] | None = None,
        since: int | None = None,
        to: int | None = None,
    ) -> None:
        # What came from an argument's odd bytes is nobody's, and SQLite takes only UTF-8.
        self.sources = None if sources is None else [*filter(is_whole, sources)]
        self.sessions = None if sessions is None else [*filter(is_whole, sessions)]
        self.since = since
        self.to = to

    def __bool__(self) -> bool:
        """Tell whether it leaves anything out at all."""
        return any(getattr(self, name) is not None for name in self.__slots__)

    def admits(self, source: str, session: str, created_at: int | None) -> bool:
        """Tell whether a record with these columns may be returned; ``sql`` says the same."""
        dated = self.since is not None or self.to is not None
        return (
            (self.sources is None or source in self.sources)
            and (self.sessions is None or session in self.sessions)
            and not (dated and created_at is None)
            and (self.since is None or created_at is None or self.since <= created_at)
            and (self.to is None or created_at is None or created_at <= self.to)
        )

    def sql(self) -> tuple[list[str], list[str | int]]:
        """Return SQL conditions over ``d`` (document), with their values."""
        clauses: list[str] = []
        values: list[str | int] = []
        for column, texts in (("source", self.sources), ("session", self.sessions)):
            if texts is not None:
                clauses.append(f"d.{column} IN ({', '.join('?' * len(texts))})")
                values += texts
        for compared, bound in ((">=", self.since), ("<=", self.to)):
            if bound is not None:
                clauses.append(f"d.created_at {compared} ?")
                values.append(bound)
        return clauses, values


class Filter:
    """Which documents of one root a search may return.

    ``types`` are wanted types in any (ASCII) case, None for all; without ``journal`` the type
    Journal is left out unless ``types`` names it, and so is Proposal without ``proposal``.
    ``under`` is a relative path, of a file or a directory. ``without`` maps directories that are
    roots of the same search to those of the files in them that these roots, by their own rules, do
    not have.

    ``tags`` are wanted tags, all of them, in any (ASCII) case; ``path`` tells of a relative path,
    and ``time`` of a document's ``modified`` and its file's signature, whether they are wanted.
    Of each of the ``phrases`` one of several forms must stand in a field, and none of what is
    ``excluded``: these two are no part of ``sql`` but of the FTS5 expression (``narrowed``).
    ``valid_at``, in microseconds since 1970 UTC, is when a document must be valid, None for
    whenever; that is no part of ``sql`` either, as few caches have any that is not
    (``search.invalid``). ``lifecycle`` is None for all records.
    """

    __slots__ = (
        "excluded",
        "journal",
        "lifecycle",
        "path",
        "phrases",
        "proposal",
        "tags",
        "time",
        "types",
        "under",
        "valid_at",
        "without",
    )

    def __init__(
        self,
        types: Sequence[str] | None = None,
        under: bytes = b"",
        without: Mapping[bytes, Sequence[bytes]] | None = None,
        *,
        journal: bool = False,
        proposal: bool = False,
        tags: Sequence[str] = (),
        path: Callable[[bytes], bool] | None = None,
        time: Callable[[str, bytes], bool] | None = None,
        phrases: Sequence[Sequence[Phrase]] = (),
        excluded: Sequence[Phrase] = (),
        valid_at: int | None = None,
    ) -> None:
        self.types = types
        self.under = under
        self.without = without or {}
        self.journal = journal
        self.proposal = proposal
        self.tags = tags
        self.path = path
        self.time = time
        self.phrases = phrases
        self.excluded = excluded
        self.valid_at = valid_at
        self.lifecycle: Lifecycle | None = None

    def admits(self, type: str) -> bool:
        """Tell whether a document of this type may be returned; ``sql`` says the same."""
        if self.types is not None:
            return lower(type) in map(lower, self.types)
        return lower(type) not in self._left_out()

    def lets_in(self, type: str) -> bool:
        """Tell whether a document of this type may be shown where it was not searched for.

        All types may, but for proposals that nobody asked for.
        """
        return mark(type) != PROPOSAL or self.proposal or (bool(self.types) and self.admits(type))

    def _left_out(self) -> list[str]:
        """Return the types that are left out where no types are wanted."""
        asked_for = {JOURNAL: self.journal, PROPOSAL: self.proposal}
        return [type for type, mark in _MARKS.items() if not asked_for[mark]]

    def is_valid(self, begin: int | None, end: int | None) -> bool:
        """Tell whether a document is valid when it must be: from ``begin`` on, until ``end``."""
        at = self.valid_at
        return at is None or ((begin is None or begin <= at) and (end is None or at < end))

    def admits_now(self, type: str, tags: str, modified: str, signature: bytes) -> bool:
        """Tell whether a document that now has these columns may be returned, at the same path."""
        there = set(lower(tags).split("\n"))
        return (
            self.admits(type)
            and there.issuperset(map(lower, self.tags))
            and (self.time is None or self.time(modified, signature))
        )

    def admits_words(self, fields: Sequence[Sequence[str]]) -> bool:
        """Tell whether a document with these terms, field by field, may be returned."""
        if not (self.phrases or self.excluded):
            return True
        texts = [f" {' '.join(terms)} " for terms in fields]

        def stands(phrase: Phrase) -> bool:
            end = "" if _is_alone(phrase) else " "
            return any(f" {' '.join(phrase)}{end}" in text for text in texts)

        there = all(any(map(stands, forms)) for forms in self.phrases)
        return there and not any(map(stands, self.excluded))

    def sql(self) -> tuple[str, list[str | int | bytes]]:
        """Return the filter as SQL conditions over ``d`` (document) and ``e`` (entry).

        They call the ``functions``.
        """
        clauses: list[str] = []
        values: list[str | int | bytes] = []
        if self.types is not None:
            clauses.append(f"d.type COLLATE NOCASE IN ({', '.join('?' * len(self.types))})")
            values += self.types
        else:
            clauses += [f"d.type COLLATE NOCASE <> '{type}'" for type in self._left_out()]
        for tag in self.tags:
            clauses.append(f"instr({_lines('d.tags')}, {_lines('?')})")
            values.append(tag)
        if self.under:
            clauses.append("(e.path = ? OR (e.path >= ? AND e.path < ?))")
            values += (self.under, *_range(self.under))
        for directory, kept in self.without.items():
            # One value however many the paths are; as JSON has no bytes, in hexadecimal.
            listed = "SELECT unhex(value) FROM json_each(?)"
            clauses.append(f"(NOT (e.path >= ? AND e.path < ?) OR e.path IN ({listed}))")
            paths = ",".join(f'"{path.hex()}"' for path in kept)
            values += (*_range(directory), f"[{paths}]")
        if self.lifecycle is not None:
            more, theirs = self.lifecycle.sql()
            clauses += more
            values += theirs
        # What calls back comes last: SQLite takes conditions of one price as they stand.
        if self.time is not None:
            clauses.append("recall_time(d.modified, e.signature)")
        if self.path is not None:
            clauses.append("recall_path(e.path)")
        return "".join(f" AND {clause}" for clause in clauses), values

    @property
    def is_plain(self) -> bool:
        """Whether the FTS5 expression says all that there is to say of what is wanted."""
        return not (
            self.types is not None
            or self.under
            or self.without
            or self.tags
            or self.path
            or self.time
            or self.lifecycle
        )

    def narrowed(self, matched: str) -> str:
        """Return the FTS5 expression for what ``matched`` finds and has the words asked for here.

        These come last: FTS5 counts them as it counts the terms. In its bm25 they only add to a
        document's own score, which bounds the common one all the same.
        """
        # What is left out stands innermost: of (terms AND phrase) NOT words FTS5 tells for some
        # documents that they lack a term that they have.
        marked = self.marked_out()
        if marked:
            matched = f"({matched}) NOT ({marked})"
        if self.excluded:
            matched = f"({matched}) NOT ({self.excluding()})"
        if self.phrases:
            matched = " AND ".join(f"({each})" for each in (matched, *map(_any, self.phrases)))
        return matched

    def marked_out(self) -> str:
        """Return the FTS5 expression for the notes whose type is left out, "" for none."""
        marks = [_MARKS[type] for type in self._left_out()] if self.types is None else []
        return f"type : ({_any((mark,) for mark in marks)})" if marks else ""

    def excluding(self) -> str:
        """Return the FTS5 expression for all that has words excluded here."""
        return _any(self.excluded)

    def functions(self) -> dict[str, tuple[int, Callable[..., bool]]]:
        """Return the functions that ``sql`` calls, with their number of arguments."""
        found: dict[str, tuple[int, Callable[..., bool]]] = {}
        if self.time is not None:
            found["recall_time"] = (2, _sound(self.time, str, bytes))
        if self.path is not None:
            found["recall_path"] = (1, _sound(self.path, bytes))
        return found


def _any(phrases: Iterable[Phrase]) -> str:
    return " OR ".join(map(_quoted, phrases))


def _quoted(phrase: Phrase) -> str:
    begin = "*" if _is_alone(phrase) else ""
    return '"' + " ".join(phrase).replace('"', '""') + f'"{begin}'


def _is_alone(phrase: Phrase) -> bool:
    """Tell whether a phrase is one character of a script without blanks: terms begin with it."""
    return len(phrase) == 1 == len(phrase[0]) and not phrase[0].isascii()


def _sound(of: Callable[..., bool], *kinds: type) -> Callable[..., bool]:
    """Return a function that says no of values that can't be of ours: others look for damage."""

    def call(*values: object) -> bool:
        return all(map(isinstance, values, kinds)) and of(*values)

    return call


def _lines(value: str) -> str:
    """Return an SQL expression for a text of lines in lower case, a line's end around each."""
    return f"char(10) || lower({value}) || char(10)"


def lower(text: str) -> str:
    """Return a text in lower case as SQLite's NOCASE has it: ASCII letters alone."""
    return "".join(each.lower() if each.isascii() else each for each in text)


def is_whole(text: str) -> bool:
    """Tell whether SQLite takes a text: it takes no half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _range(directory: bytes) -> tuple[bytes, bytes]:
    """Return the bounds between which all paths below a directory sort."""
    return directory + b"/", directory + b"0"  # "0" follows "/"
