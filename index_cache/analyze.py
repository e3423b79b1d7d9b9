"""Text to terms: the one analyzer, for notes and for queries alike.

The unit of work is a chunk, a stretch of text without white space. What a chunk becomes depends
on nothing around it, so it is remembered: in real text nine chunks in ten have been seen before,
and 33 MB of notes take .7 s instead of 4. The terms go to FTS5 joined by blanks, and its ``ascii``
tokenizer, told that all our punctuation is part of a word, only splits at them again. That keeps
the whole meaning of a term here, where it can be proven without the cache.
See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import re
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
_DATA_URI = re.compile(r"(?<!\w)data:[\w.+-]+/[\w.+-]+[;,][^\s)\"'>]*", re.IGNORECASE)

# Soft hyphen, joiners, word joiner and byte order mark may stand within a word, and say nothing.
_INVISIBLE = dict.fromkeys((0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF))

# Character classes, one letter each; see _ClassTable.
_BIGRAM, _HANGUL, _TRIGRAM, _LOWER, _UPPER, _DIGIT, _OTHER = "cktaA0 "
# Thai and Lao, Myanmar, Khmer.
_TRIGRAM_BLOCKS = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
_BIGRAM_NAMES = ("CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HIRAGANA", "KATAKANA", "BOPOMOFO")

_BEFORE = "([{\"'*`<"
_AFTER = ")]}\"'*`>.,;:!?"

_WORD = r"[aA0]+"
_RUN = re.compile(
    rf"(?P<lead>(?<![aA0._-])[.@](?=[aA]))?(?P<word>{_WORD}(?:[-_./:@#+]{{1,2}}{_WORD})*)"
    rf"(?P<tail>\+\+|(?<![aA0][aA0])\#)?(?![aA0])"
    r"|(?P<grams>c+|k+|t+)"
)
_PART = re.compile(r"A+0*(?![a0])|A?[a0]+|A")


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

    def chunk_by_class(self, chunk: str) -> str:
        """Return what ``chunk`` does, always by way of the characters' classes."""
        if not chunk.isascii():
            chunk = unicodedata.normalize("NFKC", chunk).translate(_INVISIBLE)
        if "data:" in chunk.lower():
            chunk = _DATA_URI.sub(" ", chunk)
        classes = chunk.translate(self._classes)
        return " ".join(
            term[:MAX_TERM] for run in _RUN.finditer(classes) for term in self._run(chunk, run)
        )

    def _run(self, chunk: str, run: re.Match[str]) -> Iterator[str]:
        if run["grams"]:
            size = 3 if run["grams"][0] == _TRIGRAM else 2
            yield from _grams(chunk[run.start() : run.end()].casefold(), size)
            return
        start = run.start("word")
        parts = [
            self._word(chunk[start + part.start() : start + part.end()])
            for part in _PART.finditer(run["word"])
        ]
        if len(parts) > 1 or run["lead"] or run["tail"]:
            yield self._word(chunk[run.start() : run.end()])
        yield from parts

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
