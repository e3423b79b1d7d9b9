"""The bounded rendering of one hit: pure, from values to text."""

from __future__ import annotations


class Card:
    """One answer, as people, agents and programs see it.

    ``path`` is relative to the root and ``abs_path`` absolute, both with whatever is not UTF-8
    escaped; ``modified`` is ISO 8601 text or what the author typed; ``stale`` is None or the
    reason; ``score`` is FTS5's bm25 with the sign turned, larger is better. ``line`` (1-based)
    and ``section`` say where the summary's line stands, if it is a line of the body. ``copies``
    are the paths of the same bytes elsewhere; ``explain`` is filled on demand.
    """

    __slots__ = (
        "abs_path",
        "copies",
        "explain",
        "id",
        "line",
        "modified",
        "path",
        "root",
        "score",
        "section",
        "stale",
        "summary",
        "tags",
        "tier",
        "title",
        "type",
    )

    def __init__(
        self,
        *,
        id: str,
        root: str,
        path: str,
        abs_path: str,
        title: str,
        type: str,
        tier: str,
        modified: str,
        stale: str | None,
        summary: str,
        score: float,
        tags: tuple[str, ...] = (),
        line: int | None = None,
        section: str | None = None,
        copies: tuple[str, ...] = (),
        explain: dict[str, object] | None = None,
    ) -> None:
        self.id = id
        self.root = root
        self.path = path
        self.abs_path = abs_path
        self.title = title
        self.type = type
        self.tier = tier
        self.modified = modified
        self.stale = stale
        self.summary = summary
        self.score = score
        self.tags = tags
        self.line = line
        self.section = section
        self.copies = copies
        self.explain = explain
