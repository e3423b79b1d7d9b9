"""Notes made of tags, look-alikes, scripts, fences and encodings, with what must be left of them.

``Maker(seed).mix()`` knows of each word whether it is private, since it is the maker that chose the
tags, from lists of its own. ``index_cache.privacy`` is not asked.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

# Words of any script, private and public alike: only the tags tell them apart.
STEMS = (
    "harbour",
    "Größe",
    "pассвет",
    "ключ",
    "λόγος",
    "שלום",
    "سلام",
    "秘密",
    "カタカナ",
    "비밀",
    "नमस्ते",
    "ความลับ",
    "naïve",
    "E",
    "private",
    "Privat",
    "cafe\u0301",
    "👩\u200d💻x",
)
# What is text wherever it stands.
TEXTS = (
    "List<PrivateKey>",
    "x < private_count",
    "<private-note-component>",
    "</private-note-component>",
    "<privateer>",
    "<privates>",
    "Map<Private, Public>",
    "List<Private[]>",
    "#include <private/qobject_p.h>",
    "[k](<private.md>)",
    "<private()",
    "(a < private)",
    'startsWith("<private")',
    "&lt;private-note&gt;",
    "\\u003cprivateer\\u003e",
    "%3Cprivate_x%3E",
    "<!-- private -->",
    "[private]",
    "x <= private",
    "a < b",
    "<b>bold</b>",
    "<p align=left>",
    "&amp;",
    "100%",
    "C:\\new\\users",
    "《private 方法》",
    "«private»",
    "`private`",
    "<Приват>",
    "a && b || c",
    "| a | b |",
    "> quoted",
    "- item",
    "# Heading",
    "---",
    "```",
    "~~~sh",
    "$x^2$",
)
# What is text unless a closing tag is left over.
COMPARISONS = (
    "if x < private: y",
    "Promise<Private | null>",
    "Box<Private extends Base>",
    "wg pubkey < private\n",
    "a<private && b",
    "x<private.count",
    "while a<private ; do",
)
SEPARATORS = (" ", " ", " ", "\n", "\n\n", "", ", ", "\r\n", "\t", "\n> ", "\n- ", "\n    ")
ATTRIBUTES = (
    "",
    "",
    " ",
    "\n",
    " draft",
    ' reason="x > y"',
    " why='</private>'",
    ' a="<private>"',
    "\n  until=2030\n",
    " don't",
    "/",
    " /",
)

ALIKE = {
    "p": "рρｐ𝐩ⓟṗᴘΡР",
    "r": "гｒ𝓇ⓡřʀ",
    "i": "іιｉ𝒊ⓘíıɪⅰІ",
    "v": "νѵｖ𝕧ⓥᴠⅴ",
    "a": "аαａ𝖆ⓐáåᴀА",
    "t": "тτｔ𝚝ⓣťᴛТ",
    "e": "еεｅ𝔢ⓔéᴇЕ",
    "<": "＜﹤",
    ">": "＞﹥›》",
    "/": "／∕⁄",
}
UNSEEN = (
    "\0\a\x1b\x7f\x80\u00ad\u200b\u200c\u200d\u2060\ufeff\u202e\u2066\u034f\ufe0f\u3164\ufffd"
    "\ud800\udcff"
)


BEHIND = "·<b>"


@dataclass
class Mix:
    """A note, what must be left of it (None: not known to the letter), and its words."""

    text: str
    left: str | None
    private: list[str] = field(default_factory=list)
    public: list[str] = field(default_factory=list)


class Maker:
    """Makes mixes, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (tests, not secrets)
        self.words = 0
        self.found = Mix("", None)
        self.texts: tuple[str, ...] = TEXTS

    def mix(self) -> Mix:
        """Return one note."""
        pick = self.random
        self.found = Mix("", None)
        strays = pick.random() < 0.5
        self.texts = TEXTS if strays else TEXTS + COMPARISONS
        text = left = ""
        for _ in range(pick.randint(1, 6)):
            more, more_left = self.piece(strays)
            separator = pick.choice(SEPARATORS)
            text += more + separator
            left += more_left + separator
        if pick.random() < 0.3:
            opening = self.opening() if pick.random() < 0.5 else self.like(closes=False)
            inside = opening + self.content(2)
            text += inside
            left += "\n" * inside.count("\n")
        self.found.text, self.found.left = text, left
        if pick.random() < 0.2:
            self.cut()
        return self.found

    def cut(self) -> None:
        """Cut a note anywhere: what is left is then known by its words alone."""
        at = self.random.randint(0, len(self.found.text))
        self.found.text, self.found.left = self.found.text[:at], None
        self.found.public = [word for word in self.found.public if word in self.found.text]

    def piece(self, strays: bool) -> tuple[str, str]:
        """Return a piece of a note and what must be left of it."""
        pick = self.random
        kind = pick.choice(["words", "words", "text", "span", "span", "like", "like", "stray"])
        if kind == "stray" and strays:
            text = self.closing() if pick.random() < 0.5 else self.like(closes=True)
            return text, _left(text)
        if kind in {"span", "like"}:
            text = self.span() if kind == "span" else self.like_span()
            return text, _left(text)
        text = pick.choice(self.texts) if kind == "text" else self.some_words(self.found.public)
        return text, text

    def word(self, kept: list[str]) -> str:
        """Return a word that no other contains, and list it."""
        self.words += 1
        word = f"{self.random.choice(STEMS)}{self.words:06}w"
        kept.append(word)
        return word

    def some_words(self, kept: list[str]) -> str:
        """Return words between any separators."""
        words = [self.word(kept) for _ in range(self.random.randint(1, 4))]
        return "".join(word + self.random.choice(SEPARATORS) for word in words)

    def content(self, depth: int) -> str:
        """Return private text: words, texts, and spans within."""
        pick = self.random
        parts = [self.some_words(self.found.private)]
        for _ in range(pick.randint(0, 3)):
            kind = pick.choice(["words", "text", "span", "like"])
            if kind == "span" and depth:
                parts.append(self.span(depth - 1))
            elif kind == "like" and depth:
                parts.append(self.like_span(depth - 1))
            elif kind == "text":
                parts.append(pick.choice(TEXTS + COMPARISONS) + " ")
            parts.append(self.some_words(self.found.private))
        return "".join(parts)

    def span(self, depth: int = 3) -> str:
        """Return a well-formed span; look-alikes of closing tags inside don't end it."""
        inside = self.content(depth)
        if self.random.random() < 0.2:
            inside += self.like(closes=True) + self.some_words(self.found.private)
        return self.opening() + inside + self.closing()

    def like_span(self, depth: int = 3) -> str:
        """Return a span that a look-alike opens, and that either kind closes."""
        closing = self.closing() if self.random.random() < 0.5 else self.like(closes=True)
        return self.like(closes=False) + self.content(depth) + closing

    def opening(self) -> str:
        """Return a well-formed opening tag."""
        return f"<{self.cased('private')}{self.random.choice(ATTRIBUTES)}>"

    def closing(self) -> str:
        """Return a well-formed closing tag."""
        pick = self.random.choice
        blanks = ("", "", "", " ", "\n")
        return f"<{pick(blanks)}/{pick(blanks)}{self.cased('private')}{pick(blanks)}>"

    def cased(self, name: str) -> str:
        """Return a name in small, capital or mixed letters."""
        return self.random.choice(
            [name, name, name.upper(), name.title(), "".join(map(self.either, name))]
        )

    def either(self, letter: str) -> str:
        """Return a letter in either case."""
        return self.random.choice([letter, letter.upper()])

    def like(self, *, closes: bool) -> str:
        """Return a look-alike of a tag: one to three things are wrong with it."""
        pick = self.random
        signs = ["<", *("/" if closes else ""), *self.cased("private"), ">"]
        faults = pick.sample(list(FAULTS), k=pick.randint(1, 3))
        if _without_end in faults and _with_blank in faults:
            faults.remove(_with_blank)  # "< private" without an end is a comparison
        for fault in sorted(faults, key=FAULTS.index):
            fault(pick, signs)
        if pick.random() < 0.1 and _without_end not in faults:
            signs[0] = "《"
        return "".join(signs)


def _with_letters(pick: random.Random, signs: list[str]) -> None:
    """Put letters of other scripts for some."""
    for at in pick.sample(range(1, len(signs) - 1), k=pick.randint(1, 4)):
        signs[at] = pick.choice(ALIKE[signs[at].lower()])


def _with_brackets(pick: random.Random, signs: list[str]) -> None:
    """Put other brackets."""
    for at in pick.choice([[0], [-1], [0, -1]]):
        signs[at] = pick.choice(ALIKE[signs[at]])


def _without_end(pick: random.Random, signs: list[str]) -> None:
    """Put a blank for the end, and what keeps a later ``>`` from being it."""
    signs[-1] = pick.choice(" \n\t") + BEHIND


def _escaped(pick: random.Random, signs: list[str]) -> None:
    """Escape the brackets, and maybe all else."""
    encode = pick.choice(ENCODINGS)
    everything = pick.random() < 0.3
    for at, sign in enumerate(signs):
        if len(sign) == 1 and (everything or at in {0, len(signs) - 1}):
            signs[at] = encode(sign)


def _with_unseen(pick: random.Random, signs: list[str]) -> None:
    """Put what is not seen behind some signs."""
    for at in pick.sample(range(len(signs) - 1), k=pick.randint(1, 4)):
        signs[at] += pick.choice(UNSEEN) * pick.choice([1, 1, 3])


def _with_blank(pick: random.Random, signs: list[str]) -> None:
    """Put a blank behind a letter or the bracket, where a closing tag may have one."""
    first = len(signs) - len("private>")
    at = pick.randrange(first if first > 1 else 0, len(signs) - 2)
    signs[at] += pick.choice([" ", "\u00a0", "\u3000", "  "])


FAULTS = (_with_letters, _with_brackets, _without_end, _escaped, _with_unseen, _with_blank)


def _html(sign: str) -> str:
    return {"<": "&lt;", ">": "&gt;", "/": "&sol;"}.get(sign, sign)


def _decimal(sign: str) -> str:
    return f"&#{ord(sign)};"


def _hex(sign: str) -> str:
    return f"&#x{ord(sign):x};"


def _json(sign: str) -> str:
    units = sign.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _python(sign: str) -> str:
    return f"\\U{ord(sign):08x}"


def _javascript(sign: str) -> str:
    return f"\\x{ord(sign):02X}" if sign.isascii() else f"\\u{{{ord(sign):x}}}"


def _percent(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode())


def _twice(sign: str) -> str:
    return _html(sign).replace("&", "&amp;")


def _both(sign: str) -> str:
    return _html(sign).replace("&", "\\u0026")


def _percent_html(sign: str) -> str:
    return _html(sign).replace("&", "%26").replace(";", "%3B")


ENCODINGS = (
    _html,
    _decimal,
    _hex,
    _json,
    _python,
    _javascript,
    _percent,
    _twice,
    _both,
    _percent_html,
)


def _left(span: str) -> str:
    """Return what must be left of a span: newlines, and what follows a tag without its end."""
    end = span[-len(BEHIND) - 1 :] if span.endswith(BEHIND) else ""
    return "\n" * span.removesuffix(end).count("\n") + end
