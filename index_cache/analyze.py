"""Text to terms: the one analyzer, for notes and for queries alike.

A word has one term, its folded stem; in Latin script the language decides how it is stemmed, in
all others the script does. A word whose accents decide about its stem has a second term, the stem
of the word without them, so that who leaves them out finds it. These are the word's forms.

The unit of work is a chunk, a stretch of text without white space. What a chunk becomes depends
on nothing around it, so it is remembered: in real text nine chunks in ten have been seen before,
and 33 MB of notes take .7 s instead of 4. The terms go to FTS5 joined by blanks, and its ``ascii``
tokenizer, told that all our punctuation is part of a word, only splits at them again. That keeps
the whole meaning of a term here, where it can be proven without the cache.
See ``spec/analyzer.md``.
"""

from __future__ import annotations

import unicodedata

import Stemmer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Stem = Callable[[str], str]

ANALYZER_VERSION = 3

# What FTS5's ascii tokenizer must not split at: all that a term of ours may hold besides letters,
# digits and non-ASCII characters.
WORD_PUNCTUATION = "_-./:@#+"
TOKENIZER = f"ascii tokenchars '{WORD_PUNCTUATION}'"

MAX_TERM = 64  # characters; longer ones are cut, on both sides alike
_SHORTEST_STEMMED = 3  # characters; Porter makes nothing of "s"
ENGLISH = "en"
_MAX_REMEMBERED_CHUNK = 40  # characters
_MAX_REMEMBERED = 150_000  # chunks, about 30 MB

_JOINERS = frozenset(WORD_PUNCTUATION)
_NOT_DECOMPOSED = str.maketrans(
    {"đ": "d", "ø": "o", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)
# What Snowball calls its algorithm for a language in Latin script, by ISO 639-1.
STEMMERS = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "porter",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
# The letters of other scripts, by the first of a word, and how Snowball calls what stems them.
# Persian, Ukrainian or Nepali words are treated as the language that the algorithm is for.
_SCRIPTS = (
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x052F, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0620, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
    (0x1F00, 0x1FFF, "greek"),
)
_LATIN_ENDS = 0x024F  # and the additional ones, from 0x1E00 to 0x1EFF
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
_PAIR = 2
GRAMS = {_BIGRAM: _PAIR, _HANGUL: _PAIR, _TRIGRAM: 3}
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

    ``language`` (ISO 639-1) is that of the Latin words; without an algorithm for it they are not
    stemmed. Not safe for use from several threads at once.
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self._classes = _ClassTable()
        self._english = language == ENGLISH
        # No cache of the stemmer's own: ours lies in front, and its sweeps take twice the stemming.
        self._stem: Stem = _stemmer(STEMMERS.get(language, ""))
        self._by_script: dict[str, Stem] = {}
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

    def words(self, text: str) -> list[tuple[str, ...]]:
        """Return the forms of each word of a query in order; the language changes only these.

        It has no single characters at the ends of runs: they are there for who asks for one.
        """
        found: list[tuple[str, ...]] = []
        for chunk in text.split():
            word = _plain(chunk)
            if word:
                found.append((self.chunk(word),))
            else:
                found += self._words(chunk, ends=False)
        return found

    def chunk(self, chunk: str) -> str:
        """Return the terms of one chunk, joined by blanks; pure."""
        word = _plain(chunk)
        if not word:
            return self.chunk_by_class(chunk)
        lowered = word[:MAX_TERM].lower()
        return lowered if len(lowered) < _SHORTEST_STEMMED else self._stem(lowered)

    def classes(self, text: str) -> str:
        """Return a letter for each character of ``text``: see ``WORDS`` and ``GRAMS``."""
        return text.translate(self._classes)

    def chunk_by_class(self, chunk: str) -> str:
        """Return what ``chunk`` does, always by way of the characters' classes."""
        return " ".join(form for forms in self._words(chunk, ends=True) for form in forms)

    def _words(self, chunk: str, *, ends: bool) -> Iterator[tuple[str, ...]]:
        """Yield the forms of each word of a chunk, by the classes of its characters."""
        if not chunk.isascii():
            chunk = unicodedata.normalize("NFKC", chunk).translate(_INVISIBLE)
        if "data:" in chunk.lower():
            import re  # the search path can do without it

            chunk = re.sub(_DATA_URI, " ", chunk, flags=re.IGNORECASE)
        classes = chunk.translate(self._classes)
        at, size = 0, len(classes)
        while at < size:
            kind = classes[at]
            if kind in _IN_WORD:
                end = _word_end(classes, at)
                lead = at > 0 and kind != _DIGIT and _is_lead(classes, at - 1)
                tail = _tail(classes, end)
                parts = [self._forms(chunk[i:j]) for i, j in _parts(classes, at, end)]
                if len(parts) > 1 or lead or tail:
                    yield _versions(self._forms(chunk[at - lead : end + tail]))
                yield from parts
                at = end + tail
            elif kind in _IN_GRAMS:
                end = _past(classes, at, kind)
                run = chunk[at:end].casefold()
                for gram in _grams(run, GRAMS[kind]):
                    yield (gram[:MAX_TERM],)
                # All other characters begin a pair.
                if ends and len(run) >= GRAMS[kind] == _PAIR:
                    yield (run[-1],)
                at = end
            else:
                at += 1

    def _forms(self, word: str) -> tuple[str, ...]:
        if word.isascii():
            lowered = word[:MAX_TERM].lower()
            stemmed = lowered.isalpha() and len(lowered) >= _SHORTEST_STEMMED
            return (self._stem(lowered) if stemmed else lowered,)
        folded = _fold(word)[:MAX_TERM]
        if len(folded) < _SHORTEST_STEMMED or not _is_stemmed(folded):
            return (folded,)
        if ord(folded[0]) > _LATIN_ENDS:
            stem = self._of_script(ord(folded[0]))
            return (_fold(stem(_lowered(word)))[:MAX_TERM] or folded,)
        plain = self._stem(folded)
        if self._english or not folded.isascii():
            return (plain,)
        # What is stemmed as it is written is stemmed best; that is folded afterwards.
        written = _fold(self._stem(_lowered(word)))[:MAX_TERM] or plain
        return (written,) if written == plain else (written, plain)

    def _of_script(self, code: int) -> Stem:
        """Return what stems words whose first letter is not Latin."""
        name = next((name for low, high, name in _SCRIPTS if low <= code <= high), "")
        if name not in self._by_script:
            self._by_script[name] = _stemmer(name)
        return self._by_script[name]


def _versions(forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the forms of a whole identifier; ``v1.2.3`` is ``1.2.3`` as well."""
    whole = forms[0]
    return (whole, whole[1:]) if whole[0] == "v" and whole[1:2].isdigit() else forms


def _stemmer(name: str) -> Stem:
    """Return what Snowball has under a name, or what leaves words alone."""
    return Stemmer.Stemmer(name, 0).stemWord if name in Stemmer.algorithms() else str


def _plain(chunk: str) -> str:
    """Return the word of a chunk that is one plain word with at most punctuation around it.

    Most are, and take a sixth of the time; "" for the others.
    """
    word = chunk.lstrip(_BEFORE).rstrip(_AFTER)
    if word.isalpha() and word.isascii() and (word[1:].islower() or word.isupper()):
        return word
    return ""


class Analyzers(dict[str, Analyzer]):
    """The analyzers of a run, each made when its language is first met."""

    def __missing__(self, language: str) -> Analyzer:
        found = self[language] = Analyzer(language)
        return found


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


def _lowered(word: str) -> str:
    """Return a word as stemmers want it: in lower case, its letters composed, not too long."""
    # A Turkish İ in lower case is an i with a dot above it.
    return unicodedata.normalize("NFC", word.lower().replace("i\u0307", "i"))[:MAX_TERM]


def _is_stemmed(folded: str) -> bool:
    """Tell whether a word is nothing but letters and their marks."""
    if folded.isascii():
        return folded.isalpha()
    return all(char.isalpha() or unicodedata.category(char)[0] == "M" for char in folded)


def _grams(run: str, size: int) -> list[str]:
    """Return all stretches of ``size`` characters, or the run itself when it is no longer."""
    return [run[i : i + size] for i in range(max(1, len(run) - size + 1))]
