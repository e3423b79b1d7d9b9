"""What a scan saw of directories, made into the bytes that ``index_cache.directories`` reads."""

from __future__ import annotations

import marshal

from index_cache import files
from index_cache.directories import SIGNATURE_BYTES, UNKNOWN, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from index_cache.scan import Scan

# Of later versions the bytes depend on how often an object is referred to, and are not comparable.
_MARSHAL = 2


def pack(found: Scan, unread: Iterable[bytes] = ()) -> bytes | None:
    """Return what a scan saw as bytes, None if it did not look at directories.

    The same view always gives the same bytes. ``unread`` are files that could not be looked at and
    have no entry for that: their directories are to be listed again.
    """
    if found.directories is None:
        return None
    seen = dict(found.directories)
    for path in unread:
        if path and not path.endswith(b"/"):  # else a directory, which has its signature
            seen[path[: path.rfind(b"/") + 1]] = UNKNOWN
    ignores = {
        path: UNKNOWN if sig and files.is_suspect(sig, found.clock_ns) else sig
        for path, sig in sorted(found.ignores.items())
    }
    young = {path for path, sig in seen.items() if files.is_suspect(sig, found.clock_ns)}
    return _packed(seen, young, ignores, found.top, filters=found.filters)


def _packed(
    seen: Mapping[bytes, bytes],
    young: Container[bytes],
    ignores: Mapping[bytes, bytes],
    top: bytes,
    *,
    filters: bool,
) -> bytes:
    paths = sorted(seen)
    suspects = [number for number, path in enumerate(paths) if path in young]
    signatures = b"".join(seen[path] for path in paths)
    return marshal.dumps((paths, signatures, suspects, dict(ignores), top, filters), _MARSHAL)


def doubted(packed: object, paths: Iterable[bytes]) -> bytes:
    """Return packed directories of which those of some files are to be listed at each look.

    For a refresh that has not looked at directories itself: the manifest has changed, and what is
    kept may be as a directory was, and is again when it is moved back. Raises ValueError.
    """
    kept = unpack(packed)
    each = range(0, len(kept.signatures), SIGNATURE_BYTES)
    seen = {
        path: kept.signatures[at : at + SIGNATURE_BYTES]
        for path, at in zip(kept.paths, each, strict=True)
    }
    young = {kept.paths[number] for number in kept.suspects}
    seen |= {path[: path.rfind(b"/") + 1]: UNKNOWN for path in paths}
    return _packed(seen, young, kept.ignores, kept.top, filters=kept.filters)
