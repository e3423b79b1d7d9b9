"""Is what is about to be shown still true of its file? Checked at answer time, for every card.

See ``spec/staleness.md``: gone is dropped, changed is read again, and what can't be looked at is
not shown, nor what a symlink has come to put outside of the root.
"""

from __future__ import annotations

import os

from index_cache import files
from index_cache.text import Content, NotText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.analyze import Analyzer
    from index_cache.files import FileSystem
    from index_cache.model import Hit, Root


def current(
    hit: Hit, root: Root, fs: FileSystem, analyzer: Analyzer, terms: Sequence[str]
) -> Hit | None:
    """Return the hit as its file is now; None when there is nothing to show of it any more.

    A file that was rewritten since the cache saw it is read again: its new title, summary and so
    on are shown, if it still has one of the query's terms at all.
    """
    path = os.path.join(os.fsencode(root.path), hit.path)
    if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
        return None
    try:
        signature = files.signature(fs.stat(path))
        if signature == hit.signature and not hit.suspect:
            return hit
        signature, data = fs.read(path, root.rules.max_file_bytes)
    except OSError:
        return None
    hit.signature = signature
    try:
        content = Content(data)
    except NotText:
        return None
    if content.digest == hit.digest:
        return hit
    hit.digest = content.digest
    return hit if _reread(hit, content, analyzer, terms) else None


def _reread(hit: Hit, content: Content, analyzer: Analyzer, terms: Sequence[str]) -> bool:
    """Put what a file says now into its hit; False when it no longer answers the query."""
    from index_cache.parse import Document
    from index_cache.reader import columns, searchable

    document = Document(hit.path, content.text)
    if document.withheld:
        return False
    found = {term for text in searchable(document) for term in analyzer.terms(text)}
    if not found.intersection(terms):
        return False
    (
        hit.record_id,
        hit.title,
        hit.description,
        hit.type,
        hit.tags,
        _,
        _,
        hit.modified,
        hit.status,
        hit.stale_after,
        hit.tier,
        hit.excerpt,
    ) = columns(hit.path, document)
    return True
