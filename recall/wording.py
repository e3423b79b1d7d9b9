"""What is asked, as terms that notes in several languages can be found by."""

from __future__ import annotations

from index_cache.analyze import ENGLISH, STEMMERS, Analyzers
from index_cache.model import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MARKS = ".,:;!?()\"'`*¿¡«»„“”‚‘’؟،।"  # what may stand around a plain word


class Wording:
    """Turns any text into terms; a word is known by its English term, whatever its language.

    ``languages`` are those of the notes that are searched (ISO 639-1). Two words that English does
    not tell apart are one term, with the forms of both.
    """

    def __init__(self, analyzers: Analyzers, languages: Iterable[str] = ()) -> None:
        self.analyzers = analyzers
        self.languages = [each for each in dict.fromkeys(languages) if each != ENGLISH]
        self._known: dict[str, Term] = {}

    def terms(self, text: str) -> list[Term]:
        """Return the terms of a text in order, repetitions included."""
        english = self.analyzers[ENGLISH]
        if not self.languages and text.isascii():
            return [self._term(name, (name,)) for name in english.terms(text)]
        spoken = [english, *(self.analyzers[each] for each in self.languages)]
        found = []
        for several in zip(*(each.words(text) for each in spoken), strict=True):
            forms = dict.fromkeys(form for forms in several for form in forms)
            found.append(self._term(several[0][0], tuple(forms)))
        return found

    def _term(self, name: str, forms: tuple[str, ...]) -> Term:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = Term(name, forms)
        elif not set(forms) <= set(known.forms):
            known.forms = tuple(dict.fromkeys((*known.forms, *forms)))
        return known

    def filler(self, text: str, english: str) -> set[str]:
        """Return the terms that carry grammar, not a topic, in the languages of notes and text.

        ``english`` are such words of English.
        """
        found: set[str] = set(self.analyzers[ENGLISH].terms(english))
        if not self.languages and text.isascii():
            return found
        from index_cache.languages import FUNCTION_WORDS  # most notes and prompts are English

        # Of languages in other letters all: they can't be taken for words of another one.
        listed = " ".join(
            words
            for language, words in FUNCTION_WORDS.items()
            if language in self.languages or language not in STEMMERS
        )
        asked = {chunk.strip(_MARKS) for chunk in text.lower().split()}
        for word in asked.intersection(listed.split()):
            found.update(self.terms(word))
        return found
