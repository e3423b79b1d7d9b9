"""Whether a text may have a private tag at all: quickly, since nearly none has.

Each pattern begins with one literal character, since that is what the regular expression engine
finds quickly; they are compiled when one is met, and the engine itself, 5 ms of a search, is loaded
only where what they begin with was found without it. See ``spec/privacy.md``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SPACE = r"[\s\x00-\x1f\x7f]*+"  # blanks and what is not seen
LETTERS = ("[pP]", "[rR]", "[iIl1|]", "[vV]", "[aA]", "[tT]", "[eE]")
BRACKETS = "＜﹤"
QUOTES = "‹〈《⟨"

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
        pattern = rf"(?:{letter}{SPACE}{pattern}|{_ODD})"
    return pattern


def _any(encode: Callable[[str], str]) -> str:
    """Return a pattern for the escape sequences of what begins a tag or an escape sequence."""
    return "|".join(encode(character) for character in "<&%\\" + BRACKETS + QUOTES)


_FIRST = rf"[\s\x00-\x1f\x7f/]*+(?:[pP]|{_ODD})"
_BARE = rf"<[\s\x00-\x1f\x7f/]*+{_begun(LETTERS)}"
_OTHER = rf"[{BRACKETS}{QUOTES}]{_FIRST}"
_HTML = (
    rf"&(?:(?i:amp);)*+(?:(?i:lt);?{_FIRST}"
    rf"|#0*(?:{_any(lambda each: str(ord(each)))})(?!\d)"
    rf"|#[xX]0*(?i:{_any(lambda each: f'{ord(each):x}')})(?![0-9a-fA-F]))"
)
_JSON = rf"\\(?:[uUx]\{{?0*(?i:{_any(lambda each: f'{ord(each):x}')})|0?74)"
_URL = (
    r"%(?:25)*(?i:3c|26(?:[a#]|lt|%(?:25)*23)|5c|u[0-9a-f]{4}|"
    rf"{'|'.join(each.encode().hex('%').replace('%', '%(?:25)*') for each in BRACKETS + QUOTES)})"
)
# What follows the first character of a match of these, in lower case.
_IN_HTML = ("lt", "#", "amp;lt", "amp;#", "amp;amp;")
_IN_JSON = ("u", "x", "74", "074")
_IN_URL = ("25", "26", "3c", "5c", "u", "e2", "e3", "ef")
_LONGEST_IN = 8
_BEFORE_NAME = "".join(map(chr, range(0x21))) + "\x7f"
# What begins no name of a tag that may be private; of other tags most begin so.
_OTHERS = frozenset(map(chr, range(0x21, 0x7F))) - frozenset("pP&%\\/[]")


def may_have_tags(text: str) -> bool:
    """Tell, quickly, whether anything in a text can be a tag."""
    return bool(
        (_may_be_bare(text) and _finds(_BARE, text))
        or (_has(text, "&", _IN_HTML) and _finds(_HTML, text))
        or (_has(text, "\\", _IN_JSON) and _finds(_JSON, text))
        or (_has(text, "%", _IN_URL) and _finds(_URL, text))
        or (
            not text.isascii()
            and any(bracket in text for bracket in BRACKETS + QUOTES)
            and _finds(_OTHER, text)
        )
    )


def _has(text: str, sign: str, after: tuple[str, ...]) -> bool:
    """Tell whether a sign is followed by one of the texts ``after`` it."""
    if sign not in text:
        return False
    rests = text.split(sign)[1:]
    return any(rest[:_LONGEST_IN].lower().startswith(after) for rest in rests)


def _may_be_bare(text: str) -> bool:
    """Tell whether _BARE may be in a text, without a regular expression; if not, it is not."""
    at = text.find("<")
    while at >= 0:
        if text[at + 1 : at + 2] not in _OTHERS and _may_be_name(text, at + 1):
            return True
        at = text.find("<", at + 1)
    return False


def _may_be_name(text: str, at: int) -> bool:
    passed = _BEFORE_NAME + "/"
    for letters in LETTERS:
        while at < len(text) and text[at] in passed:
            at += 1
        if at == len(text):
            return False
        if text[at] in "&%\\" or not text[at].isascii():
            return True
        if text[at] not in letters:
            return False
        at += 1
        passed = _BEFORE_NAME
    return True


def _finds(pattern: str, text: str) -> bool:
    """Tell whether a pattern is found that ends with no plain letter."""
    import re

    return any(not is_plain(match[0][-1]) for match in re.finditer(pattern, text))


def is_plain(character: str) -> bool:
    """Tell whether a character is a Kana, Han or Hangul one, taken for no other."""
    return any(ord(character) in letters for letters in _PLAIN)
