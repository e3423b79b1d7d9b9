"""A scan against the manifest: pure. See ``spec/staleness.md``."""

from __future__ import annotations

from index_cache import files
from index_cache.model import Skipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from index_cache.scan import Scan


class Diff:
    """What must be looked at again, as sorted lists of paths.

    ``read`` are files to be read: new ones, those whose signature differs, and suspects, whose
    equal signature proves nothing yet. ``removed`` are gone. ``unavailable`` are the directories
    and files whose rows stay although they were not seen, with the reasons.
    """

    __slots__ = ("read", "removed", "unavailable")

    def __init__(self, read: list[bytes], removed: list[bytes], unavailable: list[Skipped]) -> None:
        self.read = read
        self.removed = removed
        self.unavailable = unavailable

    @property
    def differ(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.read or self.removed)


def diff(
    found: Scan,
    manifest: Mapping[bytes, bytes],
    suspects: Iterable[bytes],
    *,
    prune: bool = False,
) -> Diff:
    """Compare what a scan found with what the cache holds.

    An incomplete scan never deletes: what is below an unreadable directory stays, and so does
    what is below one that is empty and now lies on another device (unmounted), and everything
    when the root shows no file at all. With ``prune`` nothing that was not seen stays.
    """
    read = {path for path in suspects if path in found.entries}
    if found.entries == manifest:
        return Diff(sorted(read), [], list(found.unavailable))
    gone = manifest.keys() - found.entries.keys()
    unavailable = list(found.unavailable)
    if gone and not found.entries and not prune:
        unavailable.append(Skipped(b"", "the root shows no notes: not mounted, or all deleted"))
    elif gone and not prune:
        unavailable += _unmounted(found, manifest, gone)
    kept = () if prune else tuple(each.path for each in unavailable)
    removed = [path for path in gone if not path.startswith(kept)] if kept else list(gone)
    read.update(path for path, sig in found.entries.items() if manifest.get(path) != sig)
    return Diff(sorted(read), sorted(removed), unavailable)


def _unmounted(
    found: Scan, manifest: Mapping[bytes, bytes], gone: Iterable[bytes]
) -> list[Skipped]:
    """Return the directories that are empty where a mounted file system's files were before."""
    suspicious = {path for path in found.empty if path}
    if not suspicious:
        return []
    lost: dict[bytes, set[int]] = {}  # devices, of which an interrupted refresh can leave two
    for path in gone:
        parts = path.split(b"/")
        for depth in range(1, len(parts)):
            above = b"/".join(parts[:depth]) + b"/"
            lost.setdefault(above, set()).add(files.device(manifest[path]))
    return [
        Skipped(path, "empty, and on another device than before: not mounted")
        for path in sorted(suspicious & lost.keys())
        if found.empty[path] not in lost[path]
    ]
