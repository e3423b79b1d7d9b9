"""Drafts of labels for a person to correct, each with why it was chosen; pure.

See "Drafts" in ``spec/bench.md``.
"""

from __future__ import annotations

import time
from collections import Counter

from index_cache.digests import hashed
from recall.output import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recall.bench.corpus import Corpus, Doc
    from recall.logreading import Entry

    Draft = dict[str, object]

COUNT = 40
MOST = 1000
_LONGEST = 400  # bytes of a query
_ID_BYTES = 6
_FROM = "recall bench init: {}"


def drafts(corpus: Corpus, entries: Sequence[Entry], count: int = COUNT) -> list[Draft]:
    """Return up to ``count`` drafts of labels.

    ``entries`` are those of the recall log, oldest first; half of the drafts at most are prompts
    of theirs, where they have any text.
    """
    found: list[Draft] = []
    asked: set[str] = set()
    for draft in _prompts(corpus, entries):
        if len(found) >= (count + 1) // 2:
            break
        _add(found, asked, draft)
    for draft in _documents(corpus, entries):
        if len(found) >= count:
            break
        _add(found, asked, draft)
    return found


def _add(found: list[Draft], asked: set[str], draft: Draft) -> None:
    query = str(draft["query"])
    if query.casefold() not in asked:
        asked.add(query.casefold())
        found.append({"id": f"d-{hashed(query, size=_ID_BYTES)}", **draft, "draft": True})


def _prompts(corpus: Corpus, entries: Sequence[Entry]) -> Iterator[Draft]:
    """Yield the prompts of the log, the newest first, with what was shown at them."""
    for entry in reversed(entries):
        query = plain(entry.text or "", _LONGEST)
        if not query:
            continue
        day = time.strftime("%Y-%m-%d", time.gmtime(entry.when))
        shown = [key for *_, file in entry.cards for key in corpus.keys(file)[:1]]
        if entry.cards and not shown:
            continue  # what was shown is gone
        names = [_name(corpus, key) for key in dict.fromkeys(shown)]
        why = (
            f"the hook showed {'this' if len(names) == 1 else 'these'} at this prompt on {day}:"
            " is it right, and is anything missing?"
            if names
            else f"the hook said nothing at this prompt on {day} ({plain(entry.why)}): is there"
            " really no note about it?"
        )
        yield _draft(query, names, "log", why)


def _documents(corpus: Corpus, entries: Sequence[Entry]) -> Iterator[Draft]:
    """Yield a question for each document: first those that the log has most often."""
    shown = Counter(
        key for entry in entries for *_, file in entry.cards for key in corpus.keys(file)[:1]
    )
    originals = [doc for doc in corpus.documents if doc.key == doc.place]  # no copies
    described = Counter(_text(doc.description) for doc in originals)
    titled = Counter(_text(doc.title) for doc in originals)
    firsts = [doc for doc in originals if not doc.is_journal]
    firsts.sort(key=lambda doc: (-shown[doc.key], hashed(doc.place)))
    for doc in firsts:
        often = shown[doc.key]
        chosen = (
            f"the hook has shown this note {often} time{'' if often == 1 else 's'}"
            if often
            else "this note was drawn by the hash of its path"
        )
        for kind, query, counts in (
            ("description", _text(doc.description), described),
            ("title", _text(doc.title), titled),
        ):
            if query and counts[query] == 1:
                why = f"{chosen}, and this is its {kind}: ask it as you would"
                yield _draft(query, [_name_of(corpus, doc)], kind, why)
                break


def _text(text: str) -> str:
    return plain(text, _LONGEST)


def _draft(query: str, names: list[str], kind: str, why: str) -> Draft:
    return {
        "query": query,
        "relevant": names,
        "category": kind,
        "provenance": _FROM.format(kind),
        "why": why,
    }


def _name(corpus: Corpus, key: str) -> str:
    doc = corpus.get(key)
    return key if doc is None else _name_of(corpus, doc)


def _name_of(corpus: Corpus, doc: Doc) -> str:
    """Return the shortest name that is this document's alone."""
    return doc.path if len(corpus.keys(doc.path)) == 1 else doc.place
