"""The bounded rendering of one hit: pure, from values to text."""

from __future__ import annotations

from recall.output import Look, plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.marks import Mark, Marker

    # A line as it is shown: role, text, marks.
    Shown = tuple[str, str, Sequence[Mark]]

# No single field may take the room of the others: bytes of UTF-8 for each.
TITLE_BYTES = 160
PATH_BYTES = 400
SUMMARY_BYTES = 400
DATE_BYTES = 32
STALE_BYTES = 120
EXPLAIN_BYTES = 400
_INDENT = "   "
_QUOTE = "> "
_BETWEEN = " · "
# Room for the line that says what was left out.
_REST_BYTES = 64

Line = tuple[str, str]


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


def as_text(
    cards: Sequence[Card],
    total: int,
    budget: int,
    *,
    base: str | None = None,
    look: Look | None = None,
    marker: Marker | None = None,
) -> str:
    """Return the cards as a numbered list of at most ``budget`` bytes, colours not counted.

    Cards are shown best first and whole; the first that does not fit, even without its summary,
    ends the list. A last line says how many of the ``total`` hits are not shown and what shows
    them. Paths below ``base`` (the working directory) are relative to it. No cards: no text.
    ``marker`` finds the words of the question, and what to link, where ``look`` shows such.

    The number, the tier and the path are ours and begin their lines; what a note says comes after
    them or on a line of its own, so no title can pass for another card or another tier.
    """
    look = look or Look()
    blocks: list[list[Shown]] = []
    used, shown = 0, 0
    for card in cards:
        room = budget - used - (_REST_BYTES if shown + 1 < total else 0)
        block = _folded(lines(card, shown + 1, base), look, card, base, marker)
        if _bytes(block) > room:
            block = [line for line in block if line[0] not in {"summary", "explain"}]
        if _bytes(block) > room:
            break
        blocks.append(block)
        used += _bytes(block)
        shown += 1
    rest: list[Shown] = []
    if cards and total > shown:
        rest.append(("note", _rest(total, len(cards), shown), ()))
    if used + _bytes(rest) <= budget:
        blocks.append(rest)
    return "".join(look.paint(*line) + "\n" for block in blocks for line in block)


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
    made = [("title", f"{position}. {title}"), ("meta", _INDENT + _facts(card, base))]
    if card.stale is not None:
        reason = plain(card.stale, STALE_BYTES)
        made.append(("stale", f"{_INDENT}STALE: {reason}" if reason else f"{_INDENT}STALE"))
    summary = plain(card.summary, SUMMARY_BYTES)
    if summary:
        made.append(("summary", _INDENT + _QUOTE + summary))
    made.extend(("explain", _INDENT + text) for text in _explained(card))
    return made


def _folded(
    made: Sequence[Line], look: Look, card: Card, base: str | None, marker: Marker | None
) -> list[Shown]:
    """Return the lines as they fit the terminal, each with what is to be marked in it."""
    shown: list[Shown] = []
    for role, text in made:
        parts = look.fold(text, _INDENT * 2)
        marks = _marks(role, text, card, base, look, marker) if marker and look.colour else []
        if marks:
            from recall.marks import along

            shown += [
                (role, part, each)
                for part, each in zip(parts, along(parts, text, marks), strict=True)
            ]
        else:
            shown += [(role, part, ()) for part in parts]
    return shown


def _marks(
    role: str, text: str, card: Card, base: str | None, look: Look, marker: Marker
) -> list[Mark]:
    if role == "title":
        return marker.words(text, text.index(" ") + 1)  # after the number, which is ours
    if role == "summary":
        return marker.words(text, len(_INDENT + _QUOTE))
    if role == "meta" and look.links:
        before = "".join(fact + _BETWEEN for fact in _tier_and_date(card))
        return marker.link(len(_INDENT + before), _path(card, base), card.abs_path)
    return []


def _path(card: Card, base: str | None) -> str:
    path = visible(shown_path(card.abs_path, base), PATH_BYTES)
    return path if card.line is None else f"{path}:{card.line}"


def _facts(card: Card, base: str | None) -> str:
    facts = [*_tier_and_date(card), _path(card, base)]
    if card.copies:
        facts.append(f"{len(card.copies)} more at other paths")
    return _BETWEEN.join(fact for fact in facts if fact)


def _tier_and_date(card: Card) -> list[str]:
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


def _rest(total: int, found: int, shown: int) -> str:
    options = [name for name, cut in (("--budget", shown < found), ("-k", found < total)) if cut]
    return f"{total - shown:,} more: raise {' or '.join(options)}"


def _bytes(block: Sequence[Shown]) -> int:
    return sum(len(text.encode()) + 1 for _, text, _ in block)
