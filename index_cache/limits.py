"""A root's limits, and the words for what is left out of it and costs a strict root all answers."""

from __future__ import annotations

from index_cache import files
from index_cache.model import Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.model import Rules

SYMLINK, NOT_REGULAR = "symlink", "not a regular file"
NOT_HERE = "not on this disk (cloud placeholder)"
CUT, BEYOND = "only its first", "beyond the root's limit of"
ESCAPED = "its real path lies outside of the root"
LONG_ID = "its id is longer than 4,000 characters: it goes by that of its path"


def apply(entries: dict[bytes, bytes], skipped: list[Skipped], rules: Rules) -> None:
    """Take out of the files of a root, by path, those beyond its limits; note them as skipped."""
    if len(entries) > rules.max_files:
        _drop(entries, skipped, sorted(entries)[rules.max_files :], f"{rules.max_files:,} files")
    if not rules.strict:
        return
    left = rules.max_bytes
    paths = sorted(entries)
    for number, path in enumerate(paths):
        left -= min(files.size(entries[path]), rules.max_file_bytes)
        if left < 0:
            _drop(entries, skipped, paths[number:], f"{rules.max_bytes:,} bytes")
            return


def _drop(
    entries: dict[bytes, bytes], skipped: list[Skipped], paths: Sequence[bytes], limit: str
) -> None:
    for path in paths:
        del entries[path]
        skipped.append(Skipped(path, f"{BEYOND} {limit}"))
