"""What a scan saw of a root's directories and ignore files, kept to notice names that come and go.

100,000 files in 5,000 directories take 400 ms to look at, their directories 10. See "Directories"
in ``spec/staleness.md``, and ``spec/cache-format.md`` for the bytes.
"""

from __future__ import annotations

import marshal

SIGNATURE_BYTES = 40
# No directory has this one: what has it is listed each time.
UNKNOWN = bytes(SIGNATURE_BYTES)
# Of an ignore file that was not there.
ABSENT = b""
_LAST = b"\xff" * 8
_MOST_GAPS = 1_000  # each costs 4 µs, and 10,000 paths that are passed over 1 ms


class Directories:
    """The directories that a scan walked, and the ignore files that decided in them.

    ``paths`` are relative, sorted, each with a ``/`` at its end but for the root's own, b"";
    ``signatures`` are theirs in the same order, 40 bytes each, taken before the directory was
    listed; ``suspects`` are the places of those that were too young to be trusted. ``ignores`` maps
    the absolute path of each ignore file to its signature, ABSENT without one, UNKNOWN if it was
    too young. ``top`` is the repository that the root lies in, b"" outside of one and where git
    does not count; ``filters`` says whether git's rules apply: not to a root that is ignored.
    """

    __slots__ = ("filters", "ignores", "paths", "signatures", "suspects", "top")

    def __init__(
        self,
        paths: list[bytes],
        signatures: bytes,
        suspects: list[int],
        ignores: dict[bytes, bytes],
        top: bytes = b"",
        *,
        filters: bool = False,
    ) -> None:
        self.paths = paths
        self.signatures = signatures
        self.suspects = suspects
        self.ignores = ignores
        self.top = top
        self.filters = filters

    def __contains__(self, path: bytes) -> bool:
        at = self._place(path)
        return at < len(self.paths) and self.paths[at] == path

    def _place(self, path: bytes) -> int:
        from bisect import bisect_left  # a search imports this module, and needs none of it

        return bisect_left(self.paths, path)

    def below(self, path: bytes) -> bool:
        """Tell whether any other directory lies below this one."""
        at = self._place(path) + 1
        return at < len(self.paths) and self.paths[at].startswith(path)

    def gaps(self, path: bytes) -> list[tuple[bytes, bytes]]:
        """Return ranges (from, before) that have all names in a directory itself.

        And few paths of what lies further below, unless there are very many directories in it.
        """
        end = path[:-1] + b"0" if path else _LAST  # "0" follows "/"
        found: list[tuple[bytes, bytes]] = []
        first, at = path, self._place(path) + 1
        while at < len(self.paths) and (child := self.paths[at]).startswith(path):
            if len(found) == _MOST_GAPS:
                return [(path, end)]
            found.append((first, child))
            first = child[:-1] + b"0"
            at = self._place(first)
        return [*found, (first, end)]


def unpack(value: object) -> Directories:
    """Return what ``packing`` made bytes of. Raises ValueError when it can't have been that."""
    try:
        paths, signatures, suspects, ignores, top, filters = marshal.loads(value)  # type: ignore[arg-type]  # noqa: S302 - ours
        found = Directories(paths, signatures, suspects, ignores, top, filters=bool(filters))
        sound = (
            len(signatures) == SIGNATURE_BYTES * len(paths)
            and isinstance(signatures, bytes)
            and b"\0" not in b"".join(paths) + b"".join(ignores) + top
            and all(0 <= each < len(paths) for each in suspects)
            and not {*map(len, ignores.values())} - {0, SIGNATURE_BYTES}
        )
    except (TypeError, ValueError, AttributeError, EOFError, MemoryError) as error:
        raise ValueError(*error.args) from error
    if not sound:
        message = "it has gaps"
        raise ValueError(message)
    return found
