"""Plain value types that the whole program shares.

They are classes with slots, not dataclasses or ``typing.NamedTuple``: the prompt hook imports this
module, and those two cost it 10 and 3 ms (a fifth of its whole budget).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_FILES = 200_000
# Of a strict root, unless its rules say other numbers.
STRICT_FILES = 10_000
STRICT_BYTES = 128 * 1024 * 1024
STRICT_RECORDS = 50_000

# Why a note that its author or its root made private is in no list and has no document.
WITHHELD = "withheld"

# What a block of a note's body is; a line is a row of a table or a line of code.
PROSE, HEADING, LINE = "prose", "heading", "line"


class Rules:
    """What of a root's directory belongs to it.

    ``include`` and ``exclude`` are globs relative to the root (see ``spec/canonical-view.md``),
    and so is ``private``, whose files are withheld: counted, but never named. ``elsewhere`` are
    private globs of other roots that cover some of the same files, each with the directory (real
    path) that they are relative to. ``gitignore`` says
    whether git's ignore rules count, ``max_file_bytes`` is how much of one file is read (bytes),
    ``max_files`` how many files a root may have. With ``jsonl`` the lines of ``.jsonl`` files are
    records; with ``strict`` nothing is answered where anything in it is wrong, of which it is a
    part to have more than ``max_bytes`` in all files together or ``max_records`` records.
    """

    __slots__ = (
        "elsewhere",
        "exclude",
        "gitignore",
        "include",
        "jsonl",
        "max_bytes",
        "max_file_bytes",
        "max_files",
        "max_records",
        "private",
        "strict",
    )

    def __init__(
        self,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        *,
        private: tuple[str, ...] = (),
        gitignore: bool = True,
        max_file_bytes: int = MAX_FILE_BYTES,
        max_files: int | None = None,
        elsewhere: tuple[tuple[str, tuple[str, ...]], ...] = (),
        jsonl: bool = False,
        strict: bool = False,
        max_bytes: int = STRICT_BYTES,
        max_records: int = STRICT_RECORDS,
    ) -> None:
        self.elsewhere = elsewhere
        self.include = include
        self.exclude = exclude
        self.private = private
        self.gitignore = gitignore
        self.max_file_bytes = max_file_bytes
        usual = STRICT_FILES if strict else MAX_FILES
        self.max_files = usual if max_files is None else max_files
        self.jsonl = jsonl
        self.strict = strict
        self.max_bytes = max_bytes
        self.max_records = max_records

    def as_key(self) -> tuple[object, ...]:
        """Return what makes two sets of rules the same, for equality and for the cache's name."""
        return (
            self.include,
            self.exclude,
            self.private,
            self.gitignore,
            self.max_file_bytes,
            self.max_files,
            *self.elsewhere,
            *(name for name in ("jsonl", "strict") if getattr(self, name)),
            *((self.max_bytes, self.max_records) if self.strict else ()),
        )

    def withholding(self, elsewhere: tuple[tuple[str, tuple[str, ...]], ...]) -> Rules:
        """Return these rules with the private globs of other roots."""
        return Rules(
            self.include,
            self.exclude,
            private=self.private,
            gitignore=self.gitignore,
            max_file_bytes=self.max_file_bytes,
            max_files=self.max_files,
            elsewhere=elsewhere,
            jsonl=self.jsonl,
            strict=self.strict,
            max_bytes=self.max_bytes,
            max_records=self.max_records,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self.as_key() == other.as_key()

    def __hash__(self) -> int:
        return hash(self.as_key())


class Root:
    """A directory with rules and a name. ``path`` is absolute and free of symlinks."""

    __slots__ = ("name", "path", "rules")

    def __init__(self, name: str, path: str, rules: Rules | None = None) -> None:
        self.name = name
        self.path = path
        self.rules = rules or Rules()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and (self.name, self.path, self.rules) == (
            other.name,
            other.path,
            other.rules,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.rules))

    def __repr__(self) -> str:
        return f"Root({self.name!r}, {self.path!r})"


class Skipped:
    """Something in a root that was not indexed, or not wholly. ``path`` is relative, as bytes."""

    __slots__ = ("path", "reason")

    def __init__(self, path: bytes, reason: str) -> None:
        self.path = path
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Skipped) and (self.path, self.reason) == (other.path, other.reason)

    def __hash__(self) -> int:
        return hash((self.path, self.reason))

    def __repr__(self) -> str:
        return f"Skipped({self.path!r}, {self.reason!r})"


def by_path(note: Skipped) -> tuple[bytes, str]:
    """Return what such notes are sorted by."""
    return note.path, note.reason


class Term(str):
    """What a query searches for: a term by which it is known, and the forms notes may have of it.

    Notes of another language have another stem of the same word.
    """

    __slots__ = ("forms",)

    forms: tuple[str, ...]

    def __new__(cls, name: str, forms: tuple[str, ...] = ()) -> Self:
        """Make a term; without ``forms`` it has its name as the only one."""
        term = super().__new__(cls, name)
        term.forms = forms or (name,)
        return term


class Hit:
    """A document that a search found: what the cache knows of it, and how it matched.

    ``root`` is the number of its root in that search; ``length`` its terms, ``said`` those that are
    not its path's; ``occurrences`` has, for each term of the query, the counts by field, or None,
    and ``places`` where it stands in the body (number of the term). ``bm25`` and ``score`` are
    larger for better, the latter the sum of ``parts``; ``edited`` says that its file is not what
    the cache knew, and was read again; ``record`` is then what ``Lifecycle.admits`` asks, or None.
    ``digest`` is the document's: of a note its file's, of a record in a JSONL file its line's. The
    rest are the columns of the tables ``entry`` and ``document`` (``spec/cache-format.md``).
    """

    __slots__ = (
        "aliases",
        "bm25",
        "description",
        "digest",
        "edited",
        "excerpt",
        "language",
        "length",
        "line",
        "modified",
        "occurrences",
        "parts",
        "path",
        "places",
        "record",
        "record_id",
        "root",
        "said",
        "score",
        "signature",
        "stale_after",
        "status",
        "suspect",
        "tags",
        "tier",
        "title",
        "type",
        "valid_from_at",
        "valid_until_at",
    )

    def __init__(  # noqa: PLR0917 - filled from a row, column by column
        self,
        length: int,
        said: int,
        occurrences: list[list[int] | None],
        places: list[Sequence[int]],
        path: bytes,
        signature: bytes,
        suspect: int,
        line: int,
        digest: bytes,
        record_id: str,
        title: str,
        description: str,
        type: str,
        tags: str,
        aliases: str,
        language: str,
        modified: str,
        status: str,
        stale_after: str,
        tier: str,
        excerpt: str,
        valid_from_at: int | None,
        valid_until_at: int | None,
    ) -> None:
        self.root = 0
        self.bm25 = 0.0
        self.score = 0.0
        self.parts: dict[str, float] = {}
        self.edited = False
        self.record: tuple[str, str, int | None] | None = None
        self.length = length
        self.said = said
        self.occurrences = occurrences
        self.places = places
        self.path = path
        self.signature = signature
        self.suspect = bool(suspect)
        self.line = line
        self.digest = digest
        self.record_id = record_id
        self.title = title
        self.description = description
        self.type = type
        self.tags = tags
        self.aliases = aliases
        self.language = language
        self.modified = modified
        self.status = status
        self.stale_after = stale_after
        self.tier = tier
        self.excerpt = excerpt
        self.valid_from_at = valid_from_at
        self.valid_until_at = valid_until_at
