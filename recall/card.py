"""One hit in bounds: its fields, and the lines of text that they make; pure."""

from __future__ import annotations

from recall.output import plain, visible

# No single field may take the room of the others: bytes of UTF-8 for each.
TITLE_BYTES = 160
PATH_BYTES = 400
SUMMARY_BYTES = 400
DATE_BYTES = 32
STALE_BYTES = 120
EXPLAIN_BYTES = 400
INDENT = "   "
QUOTE = "> "
BETWEEN = " · "

Line = tuple[str, str]


class Card:
    """One answer, as people, agents and programs see it.

    ``path`` is relative to the root and ``abs_path`` absolute, both with whatever is not UTF-8
    escaped; ``modified`` is ISO 8601 text or what the author typed; ``stale`` is None or the
    reason; ``score`` is FTS5's bm25 with the sign turned, larger is better. ``line`` (1-based)
    and ``section`` say where the summary's line stands, if it is a line of the body; of a record in
    a JSONL file ``line`` is its own. ``copies`` are the paths of the same text elsewhere, with the
    line of a record behind it; ``explain`` is filled on demand.
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


def as_dict(card: Card) -> dict[str, object]:
    """Return the card as ``spec/schema/search.json`` describes it."""
    fields: dict[str, object] = {
        "id": card.id,
        "root": card.root,
        "path": card.path,
        "abs_path": card.abs_path,
        "title": card.title,
        "type": card.type,
        "tier": card.tier,
        "modified": card.modified,
        "stale": card.stale,
        "summary": card.summary,
        "score": card.score,
        "tags": list(card.tags),
        "line": card.line,
        "section": card.section,
        "copies": list(card.copies),
    }
    if card.explain is not None:
        fields["explain"] = card.explain
    return fields


def shown_path(path: str, base: str | None) -> str:
    """Return an absolute path as people read it: relative where it lies below ``base``."""
    if base and base != "/" and path.startswith(base + "/"):
        return path[len(base) + 1 :]
    return path


def lines(card: Card, position: int, base: str | None) -> list[Line]:
    """Return the lines of a card, each with its role: title, meta, stale, summary, explain.

    A quotation mark stands before the summary, which so can be no line of facts and no STALE.
    """
    title = plain(card.title, TITLE_BYTES) or plain(card.path, TITLE_BYTES)
    made = [("title", f"{position}. {title}"), ("meta", INDENT + _facts(card, base))]
    if card.stale is not None:
        reason = plain(card.stale, STALE_BYTES)
        made.append(("stale", f"{INDENT}STALE: {reason}" if reason else f"{INDENT}STALE"))
    summary = plain(card.summary, SUMMARY_BYTES)
    if summary:
        made.append(("summary", INDENT + QUOTE + summary))
    made.extend(("explain", INDENT + text) for text in _explained(card))
    return made


def path_of(card: Card, base: str | None) -> str:
    """Return the path of a card as its line of facts has it, with the line of the note."""
    path = visible(shown_path(card.abs_path, base), PATH_BYTES)
    return path if card.line is None else f"{path}:{card.line}"


def _facts(card: Card, base: str | None) -> str:
    facts = [*tier_and_date(card), path_of(card, base)]
    if card.copies:
        facts.append(f"{len(card.copies)} more at other paths")
    return BETWEEN.join(fact for fact in facts if fact)


def tier_and_date(card: Card) -> list[str]:
    """Return what stands before the path in the line of facts."""
    return [fact for fact in (plain(card.tier, DATE_BYTES), _date(card.modified)) if fact]


def _date(modified: str) -> str:
    day = modified[:10]
    if len(day) == 10 and day[4] == day[7] == "-" and day.replace("-", "").isdecimal():  # noqa: PLR2004
        return plain(day, DATE_BYTES)
    # What the author typed stands between facts of ours and must not look like two of them.
    return plain(modified.replace("·", " "), DATE_BYTES)


def _explained(card: Card) -> list[str]:
    if card.explain is None:
        return []
    import json

    facts = {"score": round(card.score, 4), "type": card.type, **card.explain}
    return [
        plain(f"{name}: {json.dumps(value, ensure_ascii=False, default=str)}", EXPLAIN_BYTES)
        for name, value in facts.items()
    ]
