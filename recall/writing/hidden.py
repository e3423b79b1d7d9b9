"""What a reader of rendered Markdown does not see of a text, and programs do. Pure.

The rule is small, so that it can be explained, and rather refuses too much: what is refused can be
put between backticks, where all of it is seen. See "Payload" in ``spec/writing.md``.
"""

from __future__ import annotations

import re

# Tags that only dress what is seen; none of them begins a block of HTML.
PLAIN = frozenset(
    {"abbr", "b", "br", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "s"}
    | {"samp", "small", "strong", "sub", "sup", "u", "var", "wbr"}
)
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_CODE = re.compile(r"\\.|(?<!`)(`+)(?!`)([^\n]*?[^`\n])\1(?!`)")
_TAG = re.compile(r"<(?:[!?]|/?([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|\Z)([ ]?/?>)?)")
_MARKERS = r"[ \t>*+.)\d-]*"  # of quotes and lists, in front of what is in them
_ALONE = re.compile(rf"(?m)^{_MARKERS}(?:</?[A-Za-z][A-Za-z0-9-]*[ /]*>[ \t]*)+$")
# A definition of a link (with a title or not), or of a footnote.
_DEFINITION = re.compile(
    rf"(?m)^{_MARKERS}\[(?:\^[^\[\]\n]*\]:"
    r"|(?:\\.|[^\[\]\\])*\]:[ \t]*\n?[ \t]*(?:<[^<>\n]*>|[^\s<]\S*)[ \t]*(?:$|[\"'(]))"
)
_NAMELESS = re.compile(r"(?<!!)\[\s*\]\(")
_BACKTICKS = "as it stands it is not seen; between backticks it is"


def unseen(text: str) -> str | None:
    """Return what a text has that its readers would not see, None for nothing."""
    if "<" not in text and "](" not in text and "]:" not in text:
        return None
    outside = _outside_fences(text)
    if _DEFINITION.search(outside):
        return (
            "a definition of a link or a footnote, which is not seen: put the address in the link"
        )
    public = _CODE.sub(_kept, outside)
    if _NAMELESS.search(public):
        return "a link without a text, which is not seen"
    for match in _TAG.finditer(public):
        name = match[1]
        if name is None or name.lower() not in PLAIN or match[2] is None:
            return f"HTML: {_BACKTICKS}"
    return f"a line of HTML: {_BACKTICKS}" if _ALONE.search(public) else None


def _outside_fences(text: str) -> str:
    """Return a text with the lines of code that is fenced at the margin empty.

    One that is indented may end with the list or the quote that it is in, and so is none here.
    """
    kept = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            bare = line.strip(" \t")
            if len(bare) >= len(fence) and not bare.strip(fence[0]) and line[:4] != " " * 4:
                fence = ""
            kept.append("")
        elif found:
            fence = found[1]
            kept.append("")
        else:
            kept.append(line)
    return "\n".join(kept)


def _kept(match: re.Match[str]) -> str:
    """Return what stands for code, or an escaped character, when tags are looked for."""
    code = match[2]
    # In a table a bar ends the cell, and the code with it.
    return match[0] if code is not None and "|" in code else "x"
