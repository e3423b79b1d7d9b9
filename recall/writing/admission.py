"""Whether a root's own rules would index a note at a path: else nobody would find it there."""

from __future__ import annotations

import os

from index_cache.files import FileSystem
from index_cache.gitignore import would_ignore
from index_cache.scan import IGNORED, VIRTUAL_ENVIRONMENT, Scan, Walk, original_of
from recall.writing.filenames import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root

_PRIVATE = "the root's rules make it private"


def refusal(root: Root, path: str, size: int) -> str | None:
    """Return why a note of ``size`` bytes at a relative path would not be indexed, or None."""
    walk = Walk(root, FileSystem(), frozenset(), Scan(0))
    name = encoded(path)
    limit = root.rules.max_file_bytes
    if size > limit:
        return f"it is longer than the root's limit of {limit:,} bytes"
    if original_of(name) != name:
        return "it is called as a conflict copy is"
    return (
        _above(walk, name)
        or (_PRIVATE if walk.private.match(name) else None)
        or walk.refusal(name, os.stat(root.path), None)
        or _ignored(root, name)
    )


def _above(walk: Walk, name: bytes) -> str | None:
    """Return why a directory that the note lies in is not walked, None if all are."""
    above = b""
    for part in name.split(b"/")[:-1]:
        above += part
        if walk.private.match(above):
            return _PRIVATE
        if not walk.wanted(above + b"/", part):
            return walk.found.skipped[-1].reason if walk.found.skipped else "skipped by default"
        above += b"/"
        if os.path.lexists(os.path.join(walk.top, above, VIRTUAL_ENVIRONMENT)):
            return "it is a virtual environment's"
    return None


def _ignored(root: Root, name: bytes) -> str | None:
    ignored = root.rules.gitignore and would_ignore(os.fsencode(root.path), name, dict(os.environb))
    return IGNORED if ignored else None
