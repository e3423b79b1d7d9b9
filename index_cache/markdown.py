"""What the index and the cards need of Markdown's structure, from a real parser (pulldown-cmark).

Fences, comments and HTML blocks are known as such, so a ``#`` line inside one is not a heading, and
setext headings are. See ``spec/canonical-view.md``.
"""

from __future__ import annotations

from index_cache import pulldown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

EXCERPT_LENGTH = 280  # characters

_MARKUP = "*_`[<&\\~!"
# In a title only tags that HTML knows are markup: ``Vec<T>`` is text.
_INLINE_TAG = (
    r"(?is)</?(?:a|abbr|b|big|br|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|span|strike"
    r"|strong|sub|sup|tt|u|var|wbr)\b[^>]*>|<!--.*?-->"
)


def summary(body: str) -> tuple[str | None, str]:
    """Return the text of the first heading (None without one) and the excerpt of a note's body.

    The excerpt is the first paragraph with a letter in it, wherever it stands, else the first such
    text of a list or table; at most EXCERPT_LENGTH characters of it.
    """
    heading: str | None = None
    loose = ""
    events: Iterator[Any] = iter(pulldown.events(body, options=pulldown.OPTIONS))
    for event in events:
        if not isinstance(event, dict):
            continue
        start = event.get("Start")
        if isinstance(start, dict) and "Heading" in start:
            text = _inline(events, "Heading")
            heading = heading or text or None
        elif isinstance(start, dict) and "CodeBlock" in start:
            _inline(events, "CodeBlock")
        elif start == "Paragraph":
            paragraph = _inline(events, "Paragraph")
            if _has_letter(paragraph):
                return _rest(heading, events), shorten(paragraph)
        elif not loose and isinstance(event.get("Text"), str) and _has_letter(event["Text"]):
            loose = event["Text"]
    return heading, shorten(loose)


def _rest(heading: str | None, events: Iterator[Any]) -> str | None:
    """Return ``heading``, or the first one among the events still to come."""
    if heading:
        return heading
    for event in events:
        start = event.get("Start") if isinstance(event, dict) else None
        if isinstance(start, dict) and "Heading" in start:
            text = _inline(events, "Heading")
            if text:
                return text
    return None


def _inline(events: Iterable[object], until: str) -> str:
    """Gather the text up to the end of the block ``until``; images and HTML tags leave none."""
    out: list[str] = []
    images = 0
    for event in events:
        if isinstance(event, str):
            out.append(" ")  # a soft or a hard break
            continue
        if not isinstance(event, dict):
            continue
        end = event.get("End")
        if end is not None and (end == until or (isinstance(end, dict) and until in end)):
            break
        start = event.get("Start")
        if isinstance(start, dict) and "Image" in start:
            images += 1
        elif end == "Image" or (isinstance(end, dict) and "Image" in end):
            images -= 1
        elif not images:
            out.append(text_of(event))
    return " ".join("".join(out).split())


def text_of(event: dict[str, object]) -> str:
    """Return the text that an event of the parser carries; known HTML tags carry none."""
    for kind in ("Text", "Code"):
        text = event.get(kind)
        if isinstance(text, str):
            return text
    html = event.get("InlineHtml")
    if not isinstance(html, str):
        return ""
    import re  # a search meets few notes that need it

    return re.sub(_INLINE_TAG, "", html)


def _has_letter(text: str) -> bool:
    return any(map(str.isalnum, text))


def plain(title: str) -> str:
    """Return a one-line title without its Markdown and inline HTML."""
    if not any(sign in title for sign in _MARKUP):
        return " ".join(title.split())
    # A word in front keeps the parser from seeing a list, a rule or a heading in the title.
    events = iter(pulldown.events(f"x {title}".replace("\n", " "), options=pulldown.OPTIONS))
    next(events, None)
    return _inline(events, "Paragraph").removeprefix("x").strip() or " ".join(title.split())


def shorten(text: str) -> str:
    """Return one line of at most EXCERPT_LENGTH characters, cut between words."""
    line = " ".join(text[: 4 * EXCERPT_LENGTH].split())
    if len(line) <= EXCERPT_LENGTH:
        return line
    cut = line[:EXCERPT_LENGTH]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > EXCERPT_LENGTH // 2 else cut) + "…"
