"""A note's text without what its author marked private: pure, linear, and without a parser.

``<private>…</private>`` is withheld wherever it stands. What may have been meant as an opening tag
is one: a span that was opened by mistake costs a hit, one that was not opened leaks. The grammar,
its trade-offs and what it does not protect are in ``spec/privacy.md``.
"""

from __future__ import annotations

from index_cache.taghints import may_have_tags

# Values of the key ``private`` that withhold nothing.
NO = ("", "false", "no", "off", "0", "null", "~")

_MAX_PASSES = 4  # what is taken out may bring the halves of a tag together


def strip(text: str) -> str:
    """Return a text without its private spans, and without the tags.

    Of what is withheld only the newlines stay, so that each line keeps its number.
    """
    for _ in range(_MAX_PASSES):
        if not may_have_tags(text):
            return text
        from index_cache.tags import spans  # a search meets few texts that need it

        found = spans(text)
        if not found:
            return text
        text = _without(text, found)
    # Each pass joined the halves of another tag: nothing that goes on like this is a note.
    found = spans(text)
    return _without(text, [(found[0][0], len(text))]) if found else text


def strip_open(text: str) -> tuple[str, bool]:
    """Return a text as ``strip`` does, and whether a span in it goes on behind its end."""
    if not may_have_tags(text):
        return text, False
    # A span that is open at the end takes whatever would follow.
    return strip(text), not strip(f"{text}\n.").endswith(".")


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text without the spans, but with their newlines."""
    kept = []
    at = 0
    for begin, end in spans:
        kept += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end
    kept.append(text[at:])
    return "".join(kept)


def is_private(value: object) -> bool:
    """Tell whether ``private`` withholds all of a note: whatever is not plainly a no does."""
    return value is not None and not (isinstance(value, str) and value.strip().lower() in NO)


def folded(text: str) -> str:
    """Return a line in lower case without what is not seen, full-width forms made plain."""
    if text.isascii() and text.isprintable():
        return text.lower().strip()
    import unicodedata  # few lines need it

    plain = unicodedata.normalize("NFKC", text)
    seen = (c for c in plain if c == "\t" or unicodedata.category(c)[0] != "C")
    return "".join(seen).lower().strip()
