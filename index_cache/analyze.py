"""Text to terms: the one analyzer, for notes and for queries alike.

The unit of work is a chunk, a stretch of text without white space. What a chunk becomes depends
on nothing around it, so it is remembered: in real text nine chunks in ten have been seen before,
and 33 MB of notes take .7 s instead of 4. The terms go to FTS5 joined by blanks, and its ``ascii``
tokenizer, told that all our punctuation is part of a word, only splits at them again. That keeps
the whole meaning of a term here, where it can be proven without the cache.
See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import unicodedata

import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ANALYZER_VERSION = 2

# What FTS5's ascii tokenizer must not split at: all that a term of ours may hold besides letters,
# digits and non-ASCII characters.
WORD_PUNCTUATION = "_-./:@#+"
TOKENIZER = f"ascii tokenchars '{WORD_PUNCTUATION}'"

MAX_TERM = 64  # characters; longer ones are cut, on both sides alike
_SHORTEST_STEMMED = 3  # characters; Porter makes nothing of "s"
_MAX_REMEMBERED_CHUNK = 40  # characters
_MAX_REMEMBERED = 150_000  # chunks, about 30 MB

_JOINERS = frozenset(WORD_PUNCTUATION)
_NOT_DECOMPOSED = str.maketrans(
    {"đ": "d", "ø": "o", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)
_DATA_URI = r"(?<!\w)data:[\w.+-]+/[\w.+-]+[;,][^\s)\"'>]*"

# Soft hyphen, joiners, word joiner and byte order mark may stand within a word, and say nothing.
_INVISIBLE = dict.fromkeys((0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF))

# Character classes, one letter each; see _ClassTable.
_BIGRAM, _HANGUL, _TRIGRAM, _LOWER, _UPPER, _DIGIT, _OTHER = "cktaA0 "
# Thai and Lao, Myanmar, Khmer.
_TRIGRAM_BLOCKS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
_BIGRAM_NAMES = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "BOPOMOFO")

_BEFORE = "([{\"'*`<"
_AFTER = ")]}\"'*`>.,;:!?"

_IN_WORD = _LOWER + _UPPER + _DIGIT
_IN_GRAMS = _BIGRAM + _HANGUL + _TRIGRAM
# What ``Analyzer.classes`` says of a word's characters, and of those of scripts without blanks,
# with how many of these make a term.
WORDS = _IN_WORD
GRAMS = {_BIGRAM: 2, _HANGUL: 2, _TRIGRAM: 3}
_MAX_JOINERS = 2
_LEADS = ".@"  # of .env and @scope
_NEVER_BEFORE_LEAD = _IN_WORD + "._-"


class _ClassTable(dict[int, str]):
    """``str.translate`` table from a character to the letter of its class, filled as met."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _classify(chr(code))
        return found


def _classify(char: str) -> str:
    """Return the class of one character: which kind of run it belongs to."""
    category = unicodedata.category(char)
    code = ord(char)
    if char.isascii():
        if char in _JOINERS:
            return char
        return _cased(category) if char.isalnum() else _OTHER
    if any(low <= code <= high for low, high in _TRIGRAM_BLOCKS):
        return _TRIGRAM if category[0] in "LM" else _cased(category)
    if category[0] in "LMN":
        name = unicodedata.name(char, "")
        if name.startswith(_BIGRAM_NAMES) or char in "々〆〇":
            return _BIGRAM
        if name.startswith("HANGUL"):
            return _HANGUL
    return _cased(category)


def _cased(category: str) -> str:
    # Marks count as letters: a word is whole across its combining marks.
    if category in ("Lu", "Lt"):
        return _UPPER
    if category[0] in "LM" or category == "Co":
        return _LOWER
    return _DIGIT if category[0] == "N" else _OTHER


class Analyzer:
    """Turns text into terms; keeps what it has seen, so make one a run and share it.

    Not safe for use from several threads at once.
    """

    def __init__(self) -> None:
        self._classes = _ClassTable()
        # No cache of the stemmer's own: ours lies in front, and its sweeps take twice the stemming.
        self._stem: Callable[[str], str] = Stemmer.Stemmer("porter", 0).stemWord
        self._chunks = _Chunks(self)

    def text(self, text: str) -> str:
        """Return the terms of ``text`` joined by blanks, as they are handed to FTS5."""
        return " ".join(self.pieces(text))

    def pieces(self, text: str) -> list[str]:
        """Return the terms of each chunk of ``text``, joined by blanks; "" of one without any."""
        chunks = self._chunks
        if len(chunks) > _MAX_REMEMBERED:
            chunks.clear()
        return list(map(chunks.__getitem__, text.split()))

    def terms(self, text: str) -> list[str]:
        """Return the terms of ``text`` in order, repetitions included."""
        return self.text(text).split()

    def chunk(self, chunk: str) -> str:
        """Return the terms of one chunk, joined by blanks; pure."""
        # Most chunks are one plain word with at most punctuation around it: a sixth of the time.
        word = chunk.lstrip(_BEFORE).rstrip(_AFTER)
        if word.isalpha() and word.isascii() and (word[1:].islower() or word.isupper()):
            lowered = word[:MAX_TERM].lower()
            return lowered if len(lowered) < _SHORTEST_STEMMED else self._stem(lowered)
        return self.chunk_by_class(chunk)

    def classes(self, text: str) -> str:
        """Return a letter for each character of ``text``: see ``WORDS`` and ``GRAMS``."""
        return text.translate(self._classes)

    def chunk_by_class(self, chunk: str) -> str:
        """Return what ``chunk`` does, always by way of the characters' classes."""
        if not chunk.isascii():
            chunk = unicodedata.normalize("NFKC", chunk).translate(_INVISIBLE)
        if "data:" in chunk.lower():
            import re  # the search path can do without it

            chunk = re.sub(_DATA_URI, " ", chunk, flags=re.IGNORECASE)
        classes = chunk.translate(self._classes)
        return " ".join(term[:MAX_TERM] for term in self._terms(chunk, classes))

    def _terms(self, chunk: str, classes: str) -> Iterator[str]:
        """Yield the terms of a chunk, not yet cut, by the classes of its characters."""
        at, size = 0, len(classes)
        while at < size:
            kind = classes[at]
            if kind in _IN_WORD:
                end = _word_end(classes, at)
                lead = at > 0 and kind != _DIGIT and _is_lead(classes, at - 1)
                tail = _tail(classes, end)
                parts = [self._word(chunk[i:j]) for i, j in _parts(classes, at, end)]
                if len(parts) > 1 or lead or tail:
                    yield self._word(chunk[at - lead : end + tail])
                yield from parts
                at = end + tail
            elif kind in _IN_GRAMS:
                end = _past(classes, at, kind)
                yield from _grams(chunk[at:end].casefold(), GRAMS[kind])
                at = end
            else:
                at += 1

    def _word(self, word: str) -> str:
        folded = _fold(word)
        if len(folded) < _SHORTEST_STEMMED or not (folded.isascii() and folded.isalpha()):
            return folded
        return self._stem(folded[:MAX_TERM])


class _Chunks(dict[str, str]):
    """What became of each chunk; a miss is worked out, and kept unless it is long."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._analyzer = analyzer

    def __missing__(self, chunk: str) -> str:
        terms = self._analyzer.chunk(chunk)
        if len(chunk) <= _MAX_REMEMBERED_CHUNK:
            self[chunk] = terms
        return terms


def _past(classes: str, at: int, these: str) -> int:
    """Return where what follows a run of ``these`` begins."""
    size = len(classes)
    while at < size and classes[at] in these:
        at += 1
    return at


def _word_end(classes: str, at: int) -> int:
    """Return where the word at a place ends; one or two signs may join what it is made of."""
    while True:
        end = _past(classes, at, _IN_WORD)
        at = _past(classes, end, WORD_PUNCTUATION)
        if not 0 < at - end <= _MAX_JOINERS or at == len(classes) or classes[at] not in _IN_WORD:
            return end


def _is_lead(classes: str, at: int) -> bool:
    """Tell whether the sign before a word begins a name: .env, @scope, but not a...b."""
    return classes[at] in _LEADS and (at == 0 or classes[at - 1] not in _NEVER_BEFORE_LEAD)


def _tail(classes: str, end: int) -> int:
    """Return how many signs after a word belong to it: C++ has two, C# one."""
    if classes.startswith("++", end):
        return 2
    after_one = end < 2 or classes[end - 2] not in _IN_WORD  # noqa: PLR2004 - letters
    return 1 if after_one and classes.startswith("#", end) else 0


def _parts(classes: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a word begin and end: HTTP Server of HTTPServer, utf8, K8s."""
    while at < end:
        kind = classes[at]
        if kind not in _IN_WORD:
            at += 1
            continue
        begin = at
        if kind == _UPPER:
            capitals = _past(classes, at, _UPPER)
            at = _past(classes, capitals, _DIGIT)
            if classes[at : at + 1] == _LOWER:
                # The last capital begins the next part, unless it is the only one.
                at = capitals - 1
                if at == begin:
                    at = _past(classes, capitals, _LOWER + _DIGIT)
        else:
            at = _past(classes, at, _LOWER + _DIGIT)
        yield begin, at


def _fold(word: str) -> str:
    """Lower-case and, in Latin words, without diacritics."""
    if word.isascii():
        return word.lower()
    folded = word.casefold().translate(_NOT_DECOMPOSED)
    out = []
    latin = False
    for char in unicodedata.normalize("NFD", folded):
        if unicodedata.category(char) == "Mn":
            if not latin:
                out.append(char)
        else:
            latin = char.isascii()
            out.append(char)
    return unicodedata.normalize("NFC", "".join(out))


def _grams(run: str, size: int) -> list[str]:
    """Return all stretches of ``size`` characters, or the run itself when it is no longer."""
    return [run[i : i + size] for i in range(max(1, len(run) - size + 1))]
