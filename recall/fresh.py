"""Is what is about to be shown still true of its file? Checked at answer time, for every card.

See ``spec/staleness.md``: gone is dropped, changed is read again, and what can't be looked at is
not shown, nor what a symlink has come to put outside of the root.
"""

from __future__ import annotations

import os

from index_cache import files, schema
from index_cache.search import by_term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, NoReturn

    from index_cache.analyze import Analyzers
    from index_cache.chronicle import Row
    from index_cache.files import FileSystem
    from index_cache.model import Hit, Root, Term
    from index_cache.parse import Document


def is_current(
    hit: Hit,
    root: Root,
    fs: FileSystem,
    analyzers: Analyzers,
    terms: Sequence[Term],
    *,
    anyway: bool = False,
    says: Callable[[Sequence[Sequence[str]]], bool] | None = None,
) -> bool:
    """Bring the hit up to what its file is now; False when there is nothing to show of it any more.

    A file that was rewritten since the cache saw it is read again: its new title, summary and so
    on are shown, if it still has one of the query's terms at all (or ``anyway``, or none is asked
    for), and its terms are counted anew. ``says`` tells of its terms, field by field, whether it is
    to be shown. Raises RootRefused for a note of a strict root that has a violation now.
    """
    strict = root.rules.strict
    path = os.path.join(os.fsencode(root.path), hit.path)
    if not fs.is_below(os.path.dirname(path), os.fsencode(root.path)):
        return strict and refuse(root, hit.path, "escape: its directory lies outside of the root")
    try:
        signature = files.signature(fs.stat(path))
        if signature == hit.signature and not hit.suspect:
            return True
        signature, data = fs.read(path, root.rules.max_file_bytes)
    except OSError as error:
        dropped = isinstance(error, FileNotFoundError) or not strict
        return not dropped and refuse(root, hit.path, f"unavailable: {files.describe(error)}")
    hit.signature = signature
    cut = files.size(signature) > len(data)
    if strict:
        admit(hit, root, data, cut=cut)
    now = _what_it_is(hit, data, cut=cut)
    if now is None or now is True:
        return now is True
    if strict and not _has_its_id(hit, now):
        return False
    return _reread(hit, now, analyzers, terms, anyway=anyway, says=says)


def _what_it_is(hit: Hit, data: bytes, *, cut: bool) -> Document | Literal[True] | None:
    """Return True if a hit is what it was, else what is in its place now, or None."""
    if hit.line:
        from recall.recorded import found_again, lines_with  # few roots have records

        return found_again(hit, lines_with(data, hit.line, hit.digest, cut=cut))
    from index_cache.text import Content, NotText  # most notes are as they were

    try:
        content = Content(data)
    except NotText:
        return None
    if content.digest == hit.digest:
        return True
    hit.digest = content.digest
    from index_cache.parse import Document

    return Document(hit.path, content.text)


def refuse(root: Root, path: bytes, problem: str) -> NoReturn:
    """Raise RootRefused for what a file of a strict root, about to be shown, proves to be."""
    from index_cache import strict  # few roots are

    error = strict.refusal(root, strict.parsed(path, problem))
    assert error is not None  # noqa: S101 - there is a problem
    raise error


def admit(hit: Hit | Row, root: Root, data: bytes, *, cut: bool) -> None:
    """Raise RootRefused if a strict root's file that was edited has a violation now."""
    from index_cache.reader import problem

    found = problem(hit.path, data)
    if cut:
        found = f"limit: it has more than {root.rules.max_file_bytes:,} bytes"
    if found is not None and not _withholds_itself(hit, data):
        refuse(root, hit.path, found)


def _withholds_itself(hit: Hit | Row, data: bytes) -> bool:
    from index_cache.parse import Document
    from index_cache.text import Content, NotText

    try:
        return not hit.line and Document(hit.path, Content(data).text).withheld
    except NotText:
        return False


def _has_its_id(hit: Hit, now: Document) -> bool:
    """Tell whether a record has the id it had: a refresh alone knows who else has another."""
    from index_cache.reader import record_id

    return record_id(hit.path, now, hit.line) == hit.record_id


def _reread(
    hit: Hit,
    document: Document,
    analyzers: Analyzers,
    terms: Sequence[Term],
    *,
    anyway: bool,
    says: Callable[[Sequence[Sequence[str]]], bool] | None,
) -> bool:
    """Put what a document says now into its hit; False when it no longer answers the query."""
    from index_cache.reader import analysed, columns, instants

    if document.withheld:
        return False
    fields = [" ".join(pieces).split() for pieces in analysed(hit.path, document, analyzers)]
    if says is not None and not says(fields):
        return False
    _count(hit, fields, terms)
    if terms and not any(hit.occurrences) and not anyway:
        return False
    (
        hit.record_id,
        hit.title,
        hit.description,
        hit.type,
        hit.tags,
        hit.aliases,
        hit.language,
        _,
        _,
        hit.modified,
        hit.status,
        hit.stale_after,
        hit.tier,
        hit.excerpt,
        *_,
    ) = columns(hit.path, document, hit.line)
    created_at, hit.valid_from_at, hit.valid_until_at = instants(document)
    hit.record = document.source, document.session, created_at
    return True


def _count(hit: Hit, fields: Sequence[Sequence[str]], terms: Sequence[Term]) -> None:
    """Put into a hit what the cache would say of the terms in these fields."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    for term in terms:
        found.update((form, ([0] * len(schema.FIELDS), [])) for form in term.forms)
    hit.length = sum(map(len, fields))
    hit.said = hit.length - len(fields[schema.PATH])
    for field, said in enumerate(fields):
        for place, form in enumerate(said):
            if form in found:
                counts, places = found[form]
                counts[field] += 1
                if field == schema.BODY:
                    places.append(place)
    forms = [found[form] if any(found[form][0]) else None for term in terms for form in term.forms]
    hit.occurrences, hit.places = by_term(terms, forms)
