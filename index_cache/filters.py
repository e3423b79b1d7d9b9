"""Which documents of a root a search may return; pure, with SQL as its result."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Filter:
    """Which documents of one root a search may return.

    ``types`` are wanted types in any (ASCII) case, None for all; without ``journal`` the type
    Journal is left out unless ``types`` names it. ``under`` is a relative path, of a file or a
    directory. ``without`` maps directories that are roots of the same search to those of the files
    in them that these roots, by their own rules, do not have.
    """

    __slots__ = ("journal", "types", "under", "without")

    def __init__(
        self,
        types: Sequence[str] | None = None,
        under: bytes = b"",
        without: Mapping[bytes, Sequence[bytes]] | None = None,
        *,
        journal: bool = False,
    ) -> None:
        self.types = types
        self.under = under
        self.without = without or {}
        self.journal = journal

    def admits(self, type: str) -> bool:
        """Tell whether a document of this type may be returned; ``sql`` says the same."""
        if self.types is not None:
            return _lower(type) in map(_lower, self.types)
        return self.journal or _lower(type) != "journal"

    def sql(self) -> tuple[str, list[str | bytes]]:
        """Return the filter as SQL conditions over ``d`` (document) and ``e`` (entry)."""
        clauses: list[str] = []
        values: list[str | bytes] = []
        if self.types is not None:
            clauses.append(f"d.type COLLATE NOCASE IN ({', '.join('?' * len(self.types))})")
            values += self.types
        elif not self.journal:
            clauses.append("d.type COLLATE NOCASE <> 'journal'")
        if self.under:
            clauses.append("(e.path = ? OR (e.path >= ? AND e.path < ?))")
            values += (self.under, *_range(self.under))
        for directory, kept in self.without.items():
            # One value however many the paths are; as JSON has no bytes, in hexadecimal.
            listed = "SELECT unhex(value) FROM json_each(?)"
            clauses.append(f"(NOT (e.path >= ? AND e.path < ?) OR e.path IN ({listed}))")
            paths = ",".join(f'"{path.hex()}"' for path in kept)
            values += (*_range(directory), f"[{paths}]")
        return "".join(f" AND {clause}" for clause in clauses), values


def _lower(type: str) -> str:
    """Return a text in lower case as SQLite's NOCASE has it: ASCII letters alone."""
    return "".join(each.lower() if each.isascii() else each for each in type)


def _range(directory: bytes) -> tuple[bytes, bytes]:
    """Return the bounds between which all paths below a directory sort."""
    return directory + b"/", directory + b"0"  # "0" follows "/"
