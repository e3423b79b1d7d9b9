"""Where the private spans of a text are: the grammar of their tags, as ``spec/privacy.md`` has it.

Tags are looked for in a *view* of the text, of the same length: each escape sequence, and each
character that looks like another, is replaced by what a reader takes it for.
"""

from __future__ import annotations

import re
import unicodedata

from index_cache.taghints import BRACKETS, LETTERS, QUOTES, SPACE, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_ROUNDS = 3  # escapes of several kinds upon one another: \u0026lt; is JSON upon HTML

_FILLER = "\0"  # in a view: what an escape sequence took beyond its character
_MARK = "\1"  # in a view: an accent or a soft hyphen, which are part of a word
_NOTHING = "\2"  # in a view: a control or another character that a reader does not see
_QUOTE = "⟨"  # in a view: a bracket that quotes, too
_FOUR = "ⅳ"  # in a view: one character that reads "iv"

_UNSEEN = r"[\x00-\x08\x0e-\x1f\x7f]*+"
_BLANK = r"[ \t\x00-\x08\x0e-\x1f\x7f]*+"
_MARKS = r"[\x00\x01]*+"


# --- The view ----------------------------------------------------------------------------------

_NAMED = {
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "sol": "/",
    "equals": "=",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "tab": " ",
    "newline": " ",
    "shy": _MARK,
    "zwj": _NOTHING,
    "zwnj": _NOTHING,
    "zerowidthspace": _NOTHING,
}
_HEX = "[0-9a-fA-F]"
_BYTE = r"%(?:25)*"
_ESCAPE = (
    # &lt; &LT &#60; &#x3c; &amp;lt;
    r"&(?:(?i:amp)\0*;)*\0*"
    rf"(?:#0*+(?P<decimal>\d{{1,7}})\0*;?|#[xX]0*+(?P<hex>{_HEX}{{1,6}})\0*;?"
    rf"|(?P<bare>(?i:lt|gt))\0*;?|(?P<named>(?i:{'|'.join(_NAMED)}))\0*;)"
    # \u003c \x3c \u{3c} \U0000003c \74, surrogate pairs, white space, \<
    rf"|\\(?<!\\\\)\\*+(?:[uU]\{{0*(?P<braced>{_HEX}{{1,6}})\}}"
    rf"|u(?P<high>[dD][89abAB]{_HEX}{{2}})\\++u(?P<low>[dD][c-fC-F]{_HEX}{{2}})"
    rf"|u(?P<four>{_HEX}{{4}})|U00(?P<six>{_HEX}{{6}})|x(?P<two>{_HEX}{{2}})"
    r"|0?(?P<octal>74|76|57)|(?P<blank>[nrt])|(?P<itself>[<>/]))"
    # %3C %253C %EF%BC%9C %u003C
    rf"|{_BYTE}(?:[uU](?P<four_too>{_HEX}{{4}})|(?P<utf8>[0-7]{_HEX}"
    rf"|[cCdD]{_HEX}{_BYTE}[89abAB]{_HEX}"
    rf"|[eE]{_HEX}(?:{_BYTE}[89abAB]{_HEX}){{2}}"
    rf"|[fF][0-7](?:{_BYTE}[89abAB]{_HEX}){{3}}))"
)


class _Sequences(dict[str, str]):
    """What escape sequences stand for, each decoded when it is first met."""

    def __missing__(self, sequence: str) -> str:
        match = re.fullmatch(_ESCAPE, sequence)
        character = _decoded(match) if match else sequence
        # Behind filler, up to the length of the sequence.
        decoded = self[sequence] = character.rjust(len(sequence), _FILLER)
        return decoded


def _decoded(match: re.Match[str]) -> str:
    """Return the character that an escape sequence stands for."""
    kind = match.lastgroup or ""
    value = match[kind]
    if kind in {"bare", "named"}:
        character = _NAMED[value.lower()]
    elif kind in {"decimal", "octal"}:
        character = _character(int(value, 8 if kind == "octal" else 10))
    elif kind == "blank":
        character = " "
    elif kind == "itself":
        character = value
    elif kind == "utf8":
        data = bytes.fromhex(re.sub(_BYTE, "", value))
        character = data.decode("utf-8", "replace")[0]
    elif kind == "low":
        pair = bytes.fromhex(match["high"] + value)
        character = pair.decode("utf-16-be")
    else:
        character = _character(int(value, 16))
    return character


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 else _NOTHING  # noqa: PLR2004 (Unicode's end)


# Letters of other scripts, brackets and strokes, by what they are taken for.
_ALIKE = {
    "p": "ρϱр⍴ⲣᏢᑭꓑ𐊕",
    "r": "гᴦⲅꭇꭈᏒᖇꓣƦ",
    "i": "ιіӏ⍳ꙇⲓᎥꓲɩ∣׀ו١۱",
    "v": "νυѵⴸᏙꓦᐯ∨⋁٧۷",
    "a": "αа⍺ɑᎪᗅꓮ𐊠ⲁ",
    "t": "τтⲧᎢꓔ⊤⟙𐊗",
    "e": "εеєҽ℮ⲉᎬꓰⴹ⋿",
    "<": BRACKETS,
    ">": "＞﹥›〉》⟩»",
    "/": "⁄∕⧸╱",
    "-": "‐‑",
    "'": "‘’‚‛",
    '"': "“”„‟",
    " ": "\u2800",
    _QUOTE: QUOTES,
    _MARK: "\u00ad",
    _NOTHING: "\u115f\u1160\u3164\uffa0\ufffd",
}
_TAKEN_FOR = {
    each: reading
    for reading, alike in _ALIKE.items()
    for one in alike
    for each in (one, one.lower(), one.upper())
}
_LATIN = r"(?:.* )?(?:LATIN|SYMBOL) (?:\w+ )?LETTER (?:.* )?([PRIVATE])(?: WITH .*)?"


class _Readings(dict[int, str]):
    """What characters are taken for, each found out when it is first met."""

    def __missing__(self, code: int) -> str:
        reading = self[code] = _reading(chr(code))
        return reading


_READINGS = _Readings()


def _reading(character: str) -> str:
    """Return the one character that a character is taken for."""
    if character.isascii() or is_plain(character):
        return character
    if character in _TAKEN_FOR or character.isspace():
        return _TAKEN_FOR.get(character, " ")
    category = unicodedata.category(character)[0]
    if category in "CM":
        return _MARK if category == "M" else _NOTHING
    parts = unicodedata.normalize("NFKD", character)
    letters = "".join(part for part in parts if not unicodedata.combining(part)).lower()
    if letters == "iv":
        return _FOUR
    if len(letters) == 1 and letters.isalnum():
        character = _TAKEN_FOR.get(letters, letters)
    elif len(parts) == 1:
        character = parts
    named = not character.isascii() and re.fullmatch(_LATIN, unicodedata.name(character, ""))
    return named[1].lower() if named else character


def _view(text: str) -> str:
    """Return a text as it is read, each character in its place."""
    view = text.replace(_FILLER, _NOTHING) if _FILLER in text else text
    if any(sign in text for sign in "&\\%"):
        sequences = _Sequences()
        for _ in range(_MAX_ROUNDS):
            before, view = view, re.sub(_ESCAPE, lambda match: sequences[match[0]], view)
            if view == before:
                break
    if not view.isascii():
        view = view.translate(_READINGS)
        if _QUOTE in view:
            view = re.sub(_QUOTED, "<", view)
    return text if view == text else view


# --- The tags ----------------------------------------------------------------------------------

_EXACT = "[pP][rR][iI][vV][aA][tT][eE]"
_NAME = SPACE.join(LETTERS).replace(
    f"{LETTERS[2]}{SPACE}{LETTERS[3]}", f"(?:{LETTERS[2]}{SPACE}{LETTERS[3]}|{_FOUR})"
)
_STROKE = r"/[/\s\x00-\x1f\x7f]*+"
_QUOTED = rf"{_QUOTE}(?={SPACE}(?:{_STROKE})?{_NAME}{SPACE}>)"
# A value in quotes may hold any tag. A quote elsewhere ends the attributes: so, of all readings
# that begin at the tags of a text, at most three ever pass over the same place.
_ATTRIBUTES = r"""(?>(?:[^<>"'=]++|=(?>\s*+(?:"[^"]*+"|'[^']*+')|))*)>"""
# What may follow the name in a tag that lost its end. Not what goes on with a longer word, a list
# of parameters, a path or a call.
_AFTER = (
    r"(?:[\s\x02-\x1f\x7f<>]|\Z|=(?!=)"
    r"|/(?:[/\s\x00-\x1f\x7f]*+(?:[<>]|\Z)|\s|\w++\s*+=)"
    r"|[^\w\x00-\x7f]|[^\x00-\u058f]"
    r"""|[!"#$%',.:;@\\^`|~]{1,2}+\s*+>)"""
)
_STOP = rf"[.:]{_UNSEEN}(?:\s|\Z|<)"
_OPERATOR = (
    r"(?:[&|?:;,)=+*{}~^%!-]"
    r"|(?i:and|or|xor|not|in|is|as|if|else|then|do|extends|super|implements)\b)"
)
_OPEN, _CLOSE, _LIKE_OPEN, _LIKE_CLOSE, _UNLESS_GLUED, _UNLESS_COMPARED, _DOUBTFUL = range(7)
_OPENING = (_OPEN, _LIKE_OPEN)
# The last group on each way through says what it is: _KINDS, by its number.
_TAG = (
    r"<(?:"
    rf"{_EXACT}(?:[\s/]*+>()|\s(?![ \t]*+{_OPERATOR})(?:{_ATTRIBUTES}|[^<>]*+>)())"
    rf"|\s*+/\s*+{_EXACT}\s*+>()"
    rf"|{_UNSEEN}(?P<blank>\s{SPACE})?(?P<stroke>{_STROKE})?{_NAME}(?:"
    rf"{_BLANK}>(?(stroke)()|())"
    rf"|{_MARKS}(?(stroke)(?={_AFTER}|{_STOP}){_UNSEEN}()|(?(blank)(?={_AFTER}|{_STOP})()|(?:"
    rf"(?=[ \t]++{_OPERATOR}|{_STOP})()|(?={_AFTER})(?>{_ATTRIBUTES}|)()"
    r"|(?=[.:;!](?![\w./-]*+>))())))))"
)
_KINDS = (
    *(-1, _OPEN, _OPEN, _CLOSE, -1, -1),
    *(_LIKE_CLOSE, _LIKE_OPEN, _LIKE_CLOSE),
    *(_UNLESS_COMPARED, _UNLESS_GLUED, _LIKE_OPEN, _DOUBTFUL),
)


def _tags(text: str, view: str) -> Iterator[tuple[int, int, int]]:
    """Yield each tag, and what may be one or half a comparison: its kind, begin and end."""
    for match in re.finditer(_TAG, view):
        kind = _KINDS[match.lastindex or 0]
        begin, end = match.span()
        if _UNLESS_GLUED <= kind < _DOUBTFUL:
            kind = _DOUBTFUL if _has_left_side(view, begin, kind) else _LIKE_OPEN
        if view is not text:
            if kind <= _CLOSE and view[begin:end] != text[begin:end]:
                kind += _LIKE_OPEN - _OPEN
            while begin and view[begin - 1] == _FILLER:
                begin -= 1
        yield kind, begin, end


def _has_left_side(view: str, begin: int, kind: int) -> bool:
    """Tell whether what stands before a bracket may be the left side of a comparison."""
    passed = "\0\1" if kind == _UNLESS_GLUED else "\0\1 \t<"
    while begin and view[begin - 1] in passed:
        begin -= 1
    return begin > 0 and (view[begin - 1].isalnum() or view[begin - 1] in "_)]}")


def spans(text: str) -> list[tuple[int, int]]:
    """Return what is to be taken out of a text: where each span begins and ends."""
    view = _view(text)
    spans, stray = _matched(_tags(text, view), len(text), -1)
    if stray >= 0:
        spans, _ = _matched(_tags(text, view), len(text), stray)
    return spans


def _matched(
    tags: Iterator[tuple[int, int, int]], length: int, stray: int
) -> tuple[list[tuple[int, int]], int]:
    """Return the spans that tags make, and the last closing tag that may be of a doubtful one.

    A closing tag may be when no other tag is left for it. Doubtful tags before ``stray`` count.
    """
    spans = []
    opened = last = -1
    doubtful = False
    well_formed: list[bool] = []  # of each open tag, innermost last
    for kind, begin, end in tags:
        if kind in _OPENING or (kind == _DOUBTFUL and begin < stray and not well_formed):
            if not well_formed:
                opened = begin
            well_formed.append(kind == _OPEN)
        elif kind == _DOUBTFUL:
            doubtful = doubtful or not well_formed
        elif not well_formed:
            spans.append((begin, end))
            last = begin if doubtful else last
        elif kind == _CLOSE or not well_formed[-1]:
            well_formed.pop()
            if not well_formed:
                spans.append((opened, end))
    if well_formed:
        spans.append((opened, length))
    return spans, last
