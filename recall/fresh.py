"""Is what is about to be shown still true of its file? Checked at answer time, for every card.

See ``spec/staleness.md``: gone is dropped, changed is read again, and what can't be looked at is
not shown, nor what a symlink has come to put outside of the root.
"""

from __future__ import annotations

import os

from index_cache import files, schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.analyze import Analyzer
    from index_cache.files import FileSystem
    from index_cache.model import Hit, Root
    from index_cache.text import Content


def is_current(
    hit: Hit,
    root: Root,
    fs: FileSystem,
    analyzer: Analyzer,
    terms: Sequence[str],
    *,
    anyway: bool = False,
    says: Callable[[Sequence[Sequence[str]]], bool] | None = None,
) -> bool:
    """Bring the hit up to what its file is now; False when there is nothing to show of it any more.

    A file that was rewritten since the cache saw it is read again: its new title, summary and so
    on are shown, if it still has one of the query's terms at all (or ``anyway``, or none is asked
    for), and its terms are counted anew. ``says`` tells of its terms, field by field, whether it is
    to be shown.
    """
    path = os.path.join(os.fsencode(root.path), hit.path)
    if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
        return False
    try:
        signature = files.signature(fs.stat(path))
        if signature == hit.signature and not hit.suspect:
            return True
        signature, data = fs.read(path, root.rules.max_file_bytes)
    except OSError:
        return False
    hit.signature = signature
    from index_cache.text import Content, NotText  # most notes are as they were

    try:
        content = Content(data)
    except NotText:
        return False
    if content.digest == hit.digest:
        return True
    hit.digest = content.digest
    return _reread(hit, content, analyzer, terms, anyway=anyway, says=says)


def _reread(
    hit: Hit,
    content: Content,
    analyzer: Analyzer,
    terms: Sequence[str],
    *,
    anyway: bool,
    says: Callable[[Sequence[Sequence[str]]], bool] | None,
) -> bool:
    """Put what a file says now into its hit; False when it no longer answers the query."""
    from index_cache.parse import Document
    from index_cache.reader import columns, searchable

    document = Document(hit.path, content.text)
    if document.withheld:
        return False
    counts = {term: [0] * len(schema.FIELDS) for term in terms}
    hit.length = 0
    fields = [analyzer.terms(text) for text in searchable(document)]
    if says is not None and not says(fields):
        return False
    for number, field in enumerate(fields):
        for term in field:
            hit.length += 1
            if term in counts:
                counts[term][number] += 1
    hit.occurrences = [each if any(each) else None for each in counts.values()]
    if terms and not any(hit.occurrences) and not anyway:
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
