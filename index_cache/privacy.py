"""A note's text without what its author marked private: pure, linear, and without a parser.

``<private>…</private>`` is withheld wherever it stands. What may have been meant as an opening tag
is one: a span that was opened by mistake costs a hit, one that was not opened leaks. The grammar,
its trade-offs and what it does not protect are in ``spec/privacy.md``.

Tags are looked for in a *view* of the text, of the same length: each escape sequence, and each
character that looks like another, is replaced by what a reader takes it for.
"""

from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_PASSES = 4  # what is taken out may bring the halves of a tag together
_MAX_ROUNDS = 3  # escapes of several kinds upon one another: \u0026lt; is JSON upon HTML

_FILLER = "\0"  # in a view: what an escape sequence took beyond its character
_MARK = "\1"  # in a view: an accent or a soft hyphen, which are part of a word
_NOTHING = "\2"  # in a view: a control or another character that a reader does not see
_QUOTE = "⟨"  # in a view: a bracket that quotes, too
_FOUR = "ⅳ"  # in a view: one character that reads "iv"

_SPACE = r"[\s\x00-\x1f\x7f]*+"  # blanks and what is not seen
_UNSEEN = r"[\x00-\x08\x0e-\x1f\x7f]*+"
_BLANK = r"[ \t\x00-\x08\x0e-\x1f\x7f]*+"
_MARKS = r"[\x00\x01]*+"
_LETTERS = ("[pP]", "[rR]", "[iIl1|]", "[vV]", "[aA]", "[tT]", "[eE]")


# --- Whether to look at all --------------------------------------------------------------------
#
# Nearly no text has any of these. Each pattern begins with one literal character, since that is
# what the regular expression engine finds quickly; they are compiled when one is met.

# A character that may be read as another, or begins the escape sequence of one.
_ODD = r"[^\x00-\x7f]|&[#a-zA-Z]|%[0-9a-fA-FuU]|\\[uUx0-7nrt<>/]"
# But none of these: Kana, Han, Hangul. In a pattern such ranges would take long to compile.
_PLAIN = (
    range(0x3041, 0x3097),
    range(0x30A0, 0x3100),
    range(0x3400, 0xA000),
    range(0xAC00, 0xD7A4),
)


def _begun(letters: tuple[str, ...]) -> str:
    """Return a pattern for the letters, or for as many as come before an odd character."""
    pattern = ""
    for letter in reversed(letters):
        pattern = rf"(?:{letter}{_SPACE}{pattern}|{_ODD})"
    return pattern


def _any(encode: Callable[[str], str]) -> str:
    """Return a pattern for the escape sequences of what begins a tag or an escape sequence."""
    return "|".join(encode(character) for character in "<&%\\" + _BRACKETS + _QUOTES)


_BRACKETS = "＜﹤"
_QUOTES = "‹〈《⟨"
_FIRST = rf"[\s\x00-\x1f\x7f/]*+(?:[pP]|{_ODD})"
_BARE = rf"<[\s\x00-\x1f\x7f/]*+{_begun(_LETTERS)}"
_OTHER = rf"[{_BRACKETS}{_QUOTES}]{_FIRST}"
_HTML = (
    rf"&(?:(?i:amp);)*+(?:(?i:lt);?{_FIRST}"
    rf"|#0*(?:{_any(lambda each: str(ord(each)))})(?!\d)"
    rf"|#[xX]0*(?i:{_any(lambda each: f'{ord(each):x}')})(?![0-9a-fA-F]))"
)
_JSON = rf"\\(?:[uUx]\{{?0*(?i:{_any(lambda each: f'{ord(each):x}')})|0?74)"
_URL = (
    r"%(?:25)*(?i:3c|26(?:[a#]|lt|%(?:25)*23)|5c|u[0-9a-f]{4}|"
    rf"{'|'.join(each.encode().hex('%').replace('%', '%(?:25)*') for each in _BRACKETS + _QUOTES)})"
)


def strip(text: str) -> str:
    """Return a text without its private spans, and without the tags.

    Of what is withheld only the newlines stay, so that each line keeps its number.
    """
    for _ in range(_MAX_PASSES):
        if not _may_have_tags(text):
            return text
        spans = _spans(text)
        if not spans:
            return text
        text = _without(text, spans)
    # Each pass joined the halves of another tag: nothing that goes on like this is a note.
    spans = _spans(text)
    return _without(text, [(spans[0][0], len(text))]) if spans else text


def _may_have_tags(text: str) -> bool:
    """Tell, quickly, whether anything in a text can be a tag."""
    return bool(
        ("<" in text and _finds(_BARE, text))
        or ("&" in text and _finds(_HTML, text))
        or ("\\" in text and re.search(_JSON, text))
        or ("%" in text and re.search(_URL, text))
        or (
            not text.isascii()
            and any(bracket in text for bracket in _BRACKETS + _QUOTES)
            and _finds(_OTHER, text)
        )
    )


def _finds(pattern: str, text: str) -> bool:
    """Tell whether a pattern is found that ends with no plain letter."""
    return any(not _is_plain(match[0][-1]) for match in re.finditer(pattern, text))


def _is_plain(character: str) -> bool:
    return any(ord(character) in letters for letters in _PLAIN)


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
    "<": _BRACKETS,
    ">": "＞﹥›〉》⟩»",
    "/": "⁄∕⧸╱",
    "-": "‐‑",
    "'": "‘’‚‛",
    '"': "“”„‟",
    " ": "\u2800",
    _QUOTE: _QUOTES,
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
    if character.isascii() or _is_plain(character):
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
_NAME = _SPACE.join(_LETTERS).replace(
    f"{_LETTERS[2]}{_SPACE}{_LETTERS[3]}", f"(?:{_LETTERS[2]}{_SPACE}{_LETTERS[3]}|{_FOUR})"
)
_STROKE = r"/[/\s\x00-\x1f\x7f]*+"
_QUOTED = rf"{_QUOTE}(?={_SPACE}(?:{_STROKE})?{_NAME}{_SPACE}>)"
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
    rf"|{_UNSEEN}(?P<blank>\s{_SPACE})?(?P<stroke>{_STROKE})?{_NAME}(?:"
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


def _spans(text: str) -> list[tuple[int, int]]:
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


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text without the spans, but with their newlines."""
    kept = []
    at = 0
    for begin, end in spans:
        kept += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end
    kept.append(text[at:])
    return "".join(kept)
