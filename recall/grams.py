"""Four letters in a row that words of the query and of notes share, where their stems do not: pure.

They find what no stemmer joins: the parts of compounds, misspelt words, the endings of languages
that have no stemmer. See ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import unicodedata
from math import log

from index_cache.analyze import GRAMS
from index_cache.search import SATURATED, Statistics, norm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LOOKED_AT = 8_000  # characters of a note
_SIZE = 4  # letters


class _Blanks(dict[int, str]):
    """``str.translate`` table: what is neither letter nor digit becomes a blank."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kept = char.isalnum() or unicodedata.category(char)[0] == "M"
        found = self[code] = char if kept else " "
        return found


class Grams:
    """The grams of some words, and what they say of texts.

    ``classes`` gives the class of each character (``Analyzer.classes``): in scripts without blanks
    single characters stand for words.
    """

    def __init__(self, words: Iterable[str], classes: Callable[[str], str]) -> None:
        self._blanks = _Blanks()
        found: dict[str, None] = {}
        text = self.prepared(" ".join(words))
        for word in text.split():
            found.update(dict.fromkeys(_grams(word, classes(word))))
        self._grams = list(found)

    def prepared(self, text: str) -> str:
        """Return the different words of a text, in lower case, with blanks around each."""
        text = text[:LOOKED_AT].lower()
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        return f" {' '.join(dict.fromkeys(text.split()))} ".translate(self._blanks)

    def scores(self, texts: Sequence[str], notes: int) -> list[float]:
        """Return what the grams say of each of the prepared ``texts``, in idfs.

        How rare a gram is, these texts tell: of grams there is no index. Their idfs are put to the
        scale of those of ``notes`` documents.
        """
        if not texts:
            return []
        has = [[gram in text for gram in self._grams] for text in texts]
        number = len(texts)
        these = Statistics(number, 0, {})
        scale = log(1 + notes) / log(1 + max(number, 2))
        rarity = [scale * these.weight_of(count) for count in map(sum, zip(*has, strict=True))]
        average = sum(map(len, texts)) / number
        found = []
        for text, which in zip(texts, has, strict=True):
            shared = sum(idf for idf, there in zip(rarity, which, strict=True) if there)
            found.append(shared * SATURATED / (1 + norm(len(text), average)))
        return found


def _grams(word: str, classes: str) -> list[str]:
    """Return the grams of one word; a short one is its own, with its ends."""
    if any(kind in GRAMS for kind in classes):
        return [char for char, kind in zip(word, classes, strict=True) if kind in GRAMS]
    ended = f" {word} "
    return [ended[i : i + _SIZE] for i in range(max(1, len(ended) - _SIZE + 1))]
