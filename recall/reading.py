"""What the texts of the best hits say besides: a look into their files, for their grams.

The prompt hook does without. See "Grams" in ``spec/query-and-ranking.md``.
"""

from __future__ import annotations

import os

from index_cache.analyze import ENGLISH
from index_cache.text import Content, NotText, split
from recall import rank
from recall.grams import Grams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Hit, Root
    from recall.asked import Question
    from recall.relevance import Scorer

READ = 30  # of the best hits, files that are looked into
_READ_BYTES = 32 * 1024
MOST_WORDS = 64  # of a question, whose grams are looked for


def look_into(
    hits: Sequence[Hit], asked: Question, roots: Sequence[Root], fs: FileSystem, scorer: Scorer
) -> None:
    """Add to the scores of the best hits what the grams of their texts say."""
    grams = Grams(_words(asked), asked.wording.analyzers[ENGLISH].classes)
    best = rank.ordered(hits)[:READ]
    places: dict[bytes, bool] = {}
    texts = [
        grams.prepared(f"{hit.title} {hit.description} {_text(hit, roots[hit.root], fs, places)}")
        for hit in best
    ]
    for hit, said in zip(best, grams.scores(texts, asked.whole.documents), strict=True):
        scorer.add_grams(hit, said)


def _words(asked: Question) -> list[str]:
    """Return the words of the question, of a long one those that are searched for."""
    words = list(dict.fromkeys(asked.text.split()))
    if len(words) <= MOST_WORDS:
        return words
    chosen = set(asked.terms)
    return [word for word in words if not chosen.isdisjoint(asked.wording.terms(word))]


def _text(hit: Hit, root: Root, fs: FileSystem, places: dict[bytes, bool]) -> str:
    """Return the beginning of a note's body; "" if it can't be read, or lies elsewhere now.

    ``places`` keeps which directories are still below their roots.
    """
    top = os.fsencode(root.path)
    path = os.path.join(top, hit.path)
    directory = os.path.dirname(path)
    try:
        if directory not in places:
            places[directory] = fs.is_below(directory, top)
        if not places[directory]:
            return ""
        text = Content(fs.read(path, _READ_BYTES)[1]).text
    except (OSError, NotText):
        return ""
    return text[split(text)[1] :]
