"""Hits to cards: each checked against its file, described, and explained if asked."""

from __future__ import annotations

import os
import time

from index_cache import files, schema
from index_cache.search import contributions, weighted
from recall import rank
from recall.card import Card
from recall.fresh import is_current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.files import FileSystem
    from index_cache.filters import Filter
    from index_cache.model import Hit, Root
    from recall.asked import Question
    from recall.relevance import Scorer


class Dresser:
    """Makes the cards of one search.

    ``wanted`` are the filters of the ``roots``, ``asked`` is what was searched for.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        wanted: Sequence[Filter | None],
        fs: FileSystem,
        asked: Question,
        scorer: Scorer,
        *,
        explain: bool = False,
    ) -> None:
        self._roots = roots
        self._wanted = wanted
        self._fs = fs
        self._scorer = scorer
        self._analyzers = asked.wording.analyzers
        self._terms = asked.terms
        self._whole = asked.whole
        self._explain = explain

    def is_current(self, hit: Hit, *, anyway: bool = False) -> bool:
        """Put what a hit's file says now into the hit; False when that is nothing to show.

        ``anyway``: whatever its words and its type are now, if it is a note at all.
        Its score is then that of what it says now, among notes as the caches have them.
        """
        seen, signed = hit.digest, hit.signature
        root, wanted = self._roots[hit.root], self._wanted[hit.root]
        says = None if wanted is None or anyway else wanted.admits_words
        if not is_current(
            hit, root, self._fs, self._analyzers, self._terms, anyway=anyway, says=says
        ):
            return False
        hit.edited = hit.digest != seen
        valid = wanted is None or wanted.is_valid(hit.valid_from_at, hit.valid_until_at)
        if hit.edited and not valid:
            return False
        if hit.edited:
            hit.bm25 = sum(contributions(hit, self._whole, self._terms))
            self._scorer.score(hit)
        # A file that was only touched has another time.
        return anyway or (not hit.edited and hit.signature == signed) or self.admits(hit)

    def admits(self, hit: Hit) -> bool:
        """Tell whether the filter lets a note through as the hit has it now."""
        wanted = self._wanted[hit.root]
        if wanted is None:
            return False
        if not wanted.admits_now(hit.type, hit.tags, hit.modified, hit.signature):
            return False
        return hit.record is None or not wanted.lifecycle or wanted.lifecycle.admits(*hit.record)

    def card(self, hit: Hit, copies: Sequence[Hit]) -> Card:
        """Return the card of a hit that ``is_current``; so must the ``copies`` of its text be."""
        root = self._roots[hit.root]
        place = self._place(hit)
        summary, line, section = hit.description, None, None
        if not summary:
            summary, line, section = self._from_body(hit, root)
        line = hit.line or line
        card = Card(
            id=hit.record_id,
            root=root.name,
            path=files.display(hit.path),
            abs_path=place,
            title=hit.title,
            type=hit.type,
            tier=hit.tier,
            modified=rank.modified(hit),
            stale=rank.stale(hit, time.time()),
            summary=summary,
            score=hit.score,
            tags=tuple(filter(None, hit.tags.split("\n"))),
            line=line,
            section=section,
            copies=tuple(dict.fromkeys(p for p in map(self._copy, copies) if p != place)),
        )
        if self._explain:
            card.explain = self._explanation(hit)
        return card

    def _place(self, hit: Hit) -> str:
        path = os.path.join(os.fsencode(self._roots[hit.root].path), hit.path)
        return files.display(path)

    def _copy(self, hit: Hit) -> str:
        return f"{self._place(hit)}:{hit.line}" if hit.line else self._place(hit)

    def _from_body(self, hit: Hit, root: Root) -> tuple[str, int | None, str | None]:
        """Return the line that answers best, where it stands and under which heading.

        If the file is no longer what was looked at, its line may be private by now, or under
        another title: then the excerpt.
        """
        from index_cache.text import Content, NotText, split  # only notes without a description
        from recall.summary import best_line

        path = os.path.join(os.fsencode(root.path), hit.path)
        try:
            signature, data = self._fs.read(path, root.rules.max_file_bytes)
            if hit.line:
                from recall.recorded import body  # few roots have records

                text = body(data, hit.line, hit.digest, cut=files.size(signature) > len(data))
            else:
                content = Content(data)
                text = content.text if content.digest == hit.digest else ""
        except (OSError, NotText):
            return hit.excerpt, None, None
        begin = 0 if hit.line else split(text)[1]
        weights = {term: self._whole.idf(term) for term in self._terms}
        found = best_line(text[begin:], weights, self._analyzers[hit.language])
        if found is None:
            return hit.excerpt, None, None
        return found.text, found.number + text.count("\n", 0, begin), found.section

    def _explanation(self, hit: Hit) -> dict[str, object]:
        """Return every number behind a hit's score and place."""
        shares = contributions(hit, self._whole, self._terms)
        fields = dict.fromkeys(schema.FIELDS, 0.0)
        terms = []
        for term, counts, share in zip(self._terms, hit.occurrences, shares, strict=True):
            if not counts:
                continue
            for field, weight, count in zip(schema.FIELDS, schema.WEIGHTS, counts, strict=True):
                # A term saturates over all fields at once; each gets its part of what it brought.
                fields[field] += share * weight * count / weighted(counts)
            terms.append(
                {
                    "term": term,
                    "idf": self._whole.idf(term),
                    "documents": self._whole.frequency[term],
                    "score": share,
                    "in": {f: n for f, n in zip(schema.FIELDS, counts, strict=True) if n},
                }
            )
        return {
            "terms": terms,
            "fields": {field: share for field, share in fields.items() if share},
            "parts": {name: value for name, value in hit.parts.items() if value},
            "length": hit.length,
            "average_length": self._whole.average_length,
            "ties": {"tier": hit.tier, "modified": rank.modified(hit)},
            "flags": ["edited since it was indexed"] if hit.edited else [],
        }
