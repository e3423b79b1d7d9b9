"""What two sides hold of a root, digested so that they can be compared: pure.

The one side is the notes, the other a cache; ``index_cache.verify`` fills both. The digests, and
why they are made as they are, are in ``spec/equivalence.md``.
"""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections import Counter

from index_cache import schema
from index_cache.files import portable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from index_cache.rows import Column

    # (documents, occurrences) by term and by the number of its field.
    Counts = Mapping[tuple[str, int], tuple[int, int]]

COLUMNS = (
    "id",
    "title",
    "description",
    "type",
    "tags",
    "aliases",
    "language",
    "created",
    "updated",
    "modified",
    "status",
    "stale_after",
    "tier",
    "excerpt",
    "source",
    "session",
    "related",
    "valid_from",
    "valid_until",
    "created_at",
    "valid_from_at",
    "valid_until_at",
)
_PARTS = ("content", "problem", *COLUMNS, *(f"terms of {field}" for field in schema.FIELDS))
_NOTHING = b"\0" * 32


def digest(*items: bytes) -> bytes:
    """Return H of ``spec/equivalence.md``: SHA-256 of how many items, their lengths, and them."""
    lengths = struct.pack(f">{len(items) + 1}Q", len(items), *map(len, items))
    return hashlib.sha256(lengths + b"".join(items)).digest()


def leaf_of(path: bytes, line: int) -> bytes:
    """Return what stands for a record in the place of its file's path, which has no NUL."""
    return b"%b\0%d" % (path, line)


def place_of(key: bytes) -> tuple[bytes, int]:
    """Return the path and the line of a leaf, 0 for a whole file."""
    path, _, line = key.partition(b"\0")
    return path, int(line or 0)


class Leaf:
    """What one side holds of one file, or of one record of a JSONL file.

    ``signature`` and ``problem`` are the entry's. ``content`` is the digest of its bytes and
    ``document`` the plain digest of its document, both None without one; ``texts`` has for each
    field the SHA-256 of its terms in order, one after the other, and is empty where the postings
    were not read.
    """

    __slots__ = ("_marks", "content", "document", "problem", "signature", "texts")

    def __init__(self, signature: bytes, problem: str | None) -> None:
        self.signature = signature
        self.problem = problem
        self.content: bytes | None = None
        self.document: bytes | None = None
        self.texts = b""
        self._marks: array[int] | None = None

    def fill(self, content: bytes, columns: Sequence[Column], lengths: Sequence[int]) -> None:
        """Add the document: its content digest, its columns and how many terms each field has."""
        self.content = content
        values = [content, (self.problem or "").encode(), *map(_encoded, columns)]
        values += [b"%d" % length for length in lengths]
        self.document = digest(b"document", *values)
        self._marks = array("q", map(hash, values))

    def deep(self) -> bytes:
        """Return the deep digest of the document, of which there is one."""
        texts = self.texts or _NOTHING
        fields = (texts[at : at + 32] for at in range(0, len(texts), 32))
        return digest(b"document", self.document or b"", *fields)

    def differing(self, other: Leaf) -> list[str]:
        """Return what of two documents is not the same, by name."""
        if self._marks is None or other._marks is None:
            return []
        found = [
            name
            for name, mine, theirs in zip(_PARTS, self._marks, other._marks, strict=True)
            if mine != theirs
        ]
        if self.texts and other.texts:
            for number, field in enumerate(schema.FIELDS):
                part = slice(32 * number, 32 * number + 32)
                if self.texts[part] != other.texts[part] and f"terms of {field}" not in found:
                    found.append(f"terms of {field}")
        return found


def _encoded(value: Column) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return b"" if value is None else b"%d" % value


class Vocabulary:
    """In how many documents each term of each field is, and how often.

    It counts what the analyzer made of each chunk, and takes that apart: the analyzer remembers
    chunks, so equal ones are one object, and counting them takes a third of the time.
    """

    def __init__(self) -> None:
        self._documents = [Counter[str]() for _ in schema.FIELDS]
        self._pieces = [Counter[str]() for _ in schema.FIELDS]
        self.empty = True

    def add(self, pieces: Sequence[Sequence[str]]) -> None:
        """Add a document: for each field, the terms of each chunk joined by blanks."""
        self.empty = False
        for number, chunks in enumerate(pieces):
            if chunks:
                self._pieces[number].update(chunks)
                different = set(chunks)
                several = [piece for piece in different if " " in piece]
                different.difference_update(several)
                different.update(*map(str.split, several))
                self._documents[number].update(different)

    def update(self, other: Vocabulary) -> None:
        """Add all that another vocabulary has counted."""
        self.empty &= other.empty
        for mine, theirs in zip(self._documents, other._documents, strict=True):
            mine.update(theirs)
        for mine, theirs in zip(self._pieces, other._pieces, strict=True):
            mine.update(theirs)

    def _counts(self) -> Iterator[tuple[int, Counter[str], Counter[str]]]:
        """Yield each field's number, and its terms with how many documents and how often."""
        for number, (documents, pieces) in enumerate(
            zip(self._documents, self._pieces, strict=True)
        ):
            occurrences = Counter[str]()
            for piece, count in pieces.items():
                if " " in piece:
                    for term in piece.split():
                        occurrences[term] += count
                elif piece:
                    occurrences[piece] += count
            yield number, documents, occurrences

    def counts(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Return (documents, occurrences) by term and by the number of its field."""
        return {
            (term, number): (documents[term], count)
            for number, documents, occurrences in self._counts()
            for term, count in occurrences.items()
        }

    def lines(self) -> list[str]:
        """Return the lines that ``terms_digest`` takes."""
        return [
            f"{term}\t{schema.FIELDS[number]}\t{documents[term]}\t{count}\n"
            for number, documents, occurrences in self._counts()
            for term, count in occurrences.items()
        ]

    def rare(self, most: int) -> list[str]:
        """Return the terms that at most so many documents have in some field, in order."""
        return sorted(
            {term for each in self._documents for term, count in each.items() if count <= most}
            - {""}
        )


def terms_digest(lines: Iterable[str]) -> bytes:
    """Return the digest of a root's terms, from a line for each term in each of its fields."""
    return hashlib.sha256(_encoded("".join(sorted(lines)))).digest()


def tree(documents: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the digest of each directory, by its path; that of the whole is under ``b""``.

    ``documents`` maps paths to the digests of what is there.
    """
    found: dict[bytes, bytes] = {}
    open_: list[tuple[bytes, list[bytes]]] = [(b"", [b"directory"])]

    def close() -> None:
        path, items = open_.pop()
        found[path] = digest(*items)
        if open_:
            name = path.rpartition(b"/")[2]
            open_[-1][1].extend((portable(name), b"d", found[path]))

    for path in sorted(documents, key=_in_order):
        directory, _, name = path.rpartition(b"/")
        while not _holds(open_[-1][0], directory):
            close()
        open_.extend((each, [b"directory"]) for each in _between(open_[-1][0], directory))
        open_[-1][1].extend((portable(name), b"f", documents[path]))
    while open_:
        close()
    return found


def _in_order(path: bytes) -> list[tuple[bytes, bytes]]:
    return [(portable(name), name) for name in path.split(b"/")]


def _holds(above: bytes, directory: bytes) -> bool:
    return not above or directory == above or directory.startswith(above + b"/")


def _between(above: bytes, directory: bytes) -> Iterator[bytes]:
    """Yield the directories below ``above`` down to ``directory``."""
    at = len(above)
    while at < len(directory):
        end = directory.find(b"/", at + 1)
        at = len(directory) if end < 0 else end
        yield directory[:at]


class Side:
    """All that one side holds of a root: its files by path, and the digest of its terms."""

    def __init__(self, leaves: Mapping[bytes, Leaf], terms: bytes) -> None:
        self.leaves = leaves
        self.terms = terms
        self.directories = tree(
            {path: leaf.document for path, leaf in leaves.items() if leaf.document}
        )

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(leaf.document is not None for leaf in self.leaves.values())

    def digest(self) -> str:
        """Return the plain digest, in hexadecimal."""
        return digest(b"recall 1", self.directories[b""], self.terms).hex()

    def deep_digest(self) -> str:
        """Return the deep digest, in hexadecimal."""
        deep = {path: leaf.deep() for path, leaf in self.leaves.items() if leaf.document}
        return digest(b"recall 1 deep", tree(deep)[b""], self.terms).hex()


def differences(notes: Side, cache: Side) -> dict[bytes, list[str]]:
    """Return the paths of which a cache does not hold what the notes say, with what differs.

    ``missing`` and ``extra`` are what the cache lacks and what it has besides.
    """
    found = {}
    for path in sorted(notes.leaves.keys() | cache.leaves.keys()):
        said, held = notes.leaves.get(path), cache.leaves.get(path)
        what = _difference(said, held)
        if what:
            found[path] = what
    return found


def _difference(said: Leaf | None, held: Leaf | None) -> list[str]:
    if held is None or (said and said.document and not held.document):
        return ["missing"]
    if said is None or (held.document and not said.document):
        return ["extra"]
    if said.document:
        same = said.document == held.document and held.texts in {b"", said.texts}
        return [] if same else said.differing(held)
    return ["problem"] if said.problem != held.problem else []
