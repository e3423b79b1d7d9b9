"""A text to the words that tell of its subject: pure. See ``spec/gate.md``."""

from __future__ import annotations

import unicodedata

from recall import chatter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recall.beyondascii import Runs
    from recall.wording import Wording

MAX_PIECES = 4_000  # different ones that are looked at; longer prompts are pasted text
CHORE_WEIGHT = 0.25  # of a word

_FEW = 60  # words looked for in a list at 1 µs each, before a set is made of it
COMMON_WEIGHT = 0.5  # of a word that every project has, found in the text of a note

_LONGEST_PIECE = 200  # characters
_DIGITS_OF_A_CODE = 3
_SHORTEST_IDENTIFIER = 4  # characters; "2x" and "a/b" name nothing
_SIGNS = "_-./:@#+"  # what may stand within a term, as the analyzer has it
# What stands between words and is part of none.
_BREAKS = dict.fromkeys(
    map(ord, "()[]{}<>\"'`*,;!?=&|~^%$\\’‘“”„«»‹›¿¡…—–？！。，、；：（）「」『』【】《》·•؟،؛\0"),
    " ",
)
_ARABIC = "\u0600"
_ARTICLES = ("وال", "بال", "كال", "فال", "ال", "لل")  # Arabic, written as one with its word


_SHORT_WORD, _LONG_WORD = 2, 4  # characters of a word of Chinese, of Thai


class Word:
    """Something in a text that tells of its subject.

    ``terms`` are its terms: one, or all pairs of a ``run`` of characters that has no blanks.
    ``weight`` counts it in words. ``parts`` are those of an identifier whose whole ``terms`` has;
    ``identifier`` says that it can't be anything else, as a hyphenated word could, and ``path``
    that it names a file. ``common`` says that the prompts of every software project have it.
    """

    __slots__ = ("chore", "common", "identifier", "parts", "path", "run", "terms", "text", "weight")

    def __init__(
        self,
        text: str,
        terms: Sequence[str],
        weight: float = 1.0,
        *,
        chore: bool = False,
        common: bool = False,
        run: bool = False,
        identifier: bool = False,
        parts: Sequence[Word] | None = None,
    ) -> None:
        self.text = text
        self.terms = terms
        self.weight = weight
        self.chore = chore
        self.common = common
        self.run = run
        self.identifier = identifier
        self.parts = parts
        self.path = False


class Listed:
    """The words of a list, a text with blanks between them; what is asked for has no blank.

    Most prompts have a few words, and making sets of all lists takes longer than all the rest of
    the gate: the first ones are looked for in the text.
    """

    __slots__ = ("_asked", "_text", "_words")

    def __init__(self, text: str) -> None:
        self._text = f" {text} ".replace("\n", " ")
        self._words: frozenset[str] | None = None
        self._asked = 0

    def __contains__(self, word: str) -> bool:
        if self._words is None:
            self._asked += 1
            if self._asked <= _FEW:
                return word != "" and f" {word} " in self._text
            self._words = frozenset(self._text.split())
        return word in self._words


class Topic:
    """Finds the words of texts that are not chatter. ``wording`` is the search's own."""

    def __init__(self, wording: Wording, *, ascii_only: bool) -> None:
        self._wording = wording
        empty, chores, common = chatter.EMPTY, chatter.CHORES, chatter.COMMON
        if not ascii_only:
            from recall import beyondascii  # most prompts don't need it

            empty += beyondascii.EMPTY_BEYOND_ASCII
            chores += beyondascii.CHORES_BEYOND_ASCII
            common += beyondascii.COMMON_BEYOND_ASCII
        self._empty = Listed(empty)
        self._chores = Listed(chores)
        self._common = Listed(common)
        self._generic = Listed(chatter.GENERIC)
        self._runs: Runs | None = None

    def words(self, text: str) -> list[Word]:
        """Return the different words of a text that tell of its subject, in order."""
        found: dict[str, Word] = {}
        pieces = list(dict.fromkeys(text.translate(_BREAKS).split()))
        if len(pieces) > MAX_PIECES:  # what is asked stands before or behind what was pasted
            pieces = [*pieces[: MAX_PIECES // 2], *pieces[-MAX_PIECES // 2 :]]
        for piece in pieces:
            if len(piece) > _LONGEST_PIECE and piece.isascii():
                continue  # encoded data
            for word in self._of(piece):
                found.setdefault(word.terms[0] if not word.run else word.text, word)
        return list(found.values())

    def has_kin(self, term: str, head: str) -> bool:
        """Tell whether ``head``, a folded text, has a word that begins as a term does.

        The same means two thirds of the term, and four letters at least: ``Pantheren`` for
        ``Panther``, where no stemmer helps.
        """
        begin = _bare(term)
        begin = begin[: max(4, len(begin) * 2 // 3)]
        # Arabic writes articles and prepositions as one with the word.
        begin = f" {begin}" if begin.isascii() or begin[0] < _ARABIC else begin
        at = head.find(begin)
        while at >= 0:
            if head[at:].split(None, 1)[0] not in self._empty:
                return True
            at = head.find(begin, at + 1)
        return False

    def _of(self, piece: str) -> Iterator[Word]:
        if piece.isascii():
            yield from self._spelled(piece)
            return
        from recall.beyondascii import THREE, Runs, by_script

        for script, part in by_script(unicodedata.normalize("NFKC", piece)):
            if not script:
                yield from self._spelled(part)
                continue
            if self._runs is None:
                self._runs = Runs()
            for left in self._runs.without_chatter(script, part):
                terms = self._wording.terms(left)
                if terms:
                    weight = len(left) / (_LONG_WORD if script == THREE else _SHORT_WORD)
                    yield Word(left, terms, max(1.0, weight), run=True)

    def _spelled(self, piece: str) -> Iterator[Word]:
        terms = self._wording.terms(piece)
        if len(terms) > 1:
            yield self._compound(piece, terms)
        elif terms:
            word = self._word(_plain(piece.strip(_SIGNS)), terms[0])
            if word is not None:
                if _is_code(piece.strip(_SIGNS)):
                    word.text, word.identifier = piece.strip(_SIGNS), True
                yield word

    def _compound(self, piece: str, terms: Sequence[str]) -> Word:
        """Return a word with parts; a chore when they are nothing else."""
        spelled = _parts(piece)
        if len(spelled) != len(terms) - 1:
            spelled = list(terms[1:])  # not the analyzer's parts: theirs are stems
        pairs = dict(zip(terms[1:], spelled, strict=True)).items()
        parts = [self._word(_plain(part), term) for term, part in pairs]
        kept = [part for part in parts if part is not None]
        for part in kept:
            if part.text in self._generic:
                part.chore, part.common, part.weight = True, False, CHORE_WEIGHT
        names = not all(part.chore for part in kept)
        # C++ and .env; getUser and apply_secrets, whatever they are made of.
        names = names or len(parts) == 1 or "_" in piece or _has_hump(piece)
        word = Word(piece, terms[:1], 1.0 if names else CHORE_WEIGHT, chore=not names, parts=kept)
        word.identifier = names and _is_identifier(piece)
        word.path = word.identifier and ("/" in piece or _is_file(piece, kept))
        return word

    def _word(self, word: str, term: str) -> Word | None:
        if len(term) == 1 and term.isascii():
            return None
        spelled = (word,) if word == term else (word, term)
        if any(each in self._empty for each in spelled):
            return None
        if any(each in self._chores for each in spelled):
            return Word(word, [term], CHORE_WEIGHT, chore=True)
        common = any(each in self._common for each in spelled) or _is_small_number(word)
        return Word(word, [term], common=common)


def folded(text: str) -> str:
    """Return a text in lower case, Latin letters without diacritics, its words between blanks."""
    return f" {' '.join(_plain(text.translate(_BREAKS)).split())} "


def _plain(text: str) -> str:
    """Return a text in lower case and, where it is in Latin letters, without diacritics."""
    if text.isascii():
        return text.lower()
    out = []
    base = ""
    for char in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if not unicodedata.combining(char):
            base = char
        elif base.isascii():
            continue
        out.append(char)
    return unicodedata.normalize("NFC", "".join(out))


def _bare(word: str) -> str:
    """Return an Arabic word without its article."""
    if word.isascii():
        return word
    for article in _ARTICLES:
        if word.startswith(article) and len(word) - len(article) > 2:  # noqa: PLR2004 - a root
            return word[len(article) :]
    return word


def _is_identifier(piece: str) -> bool:
    """Tell whether a piece with several parts names a thing.

    ``DEC-0054``, ``apply_secrets``, ``getUser`` and ``a/b/c`` do, ``two-day`` and ``read/write``
    don't.
    """
    name = piece.strip(_SIGNS)
    if len(name) < _SHORTEST_IDENTIFIER or not any(map(str.isalpha, name)):
        return False
    if any(char in "_.:@#+" or char.isdigit() for char in name) or name.count("/") > 1:
        return True
    return _has_hump(name)


def _is_file(piece: str, parts: Sequence[Word]) -> bool:
    """Tell whether a piece ends as names of files do: in a part that many files have."""
    return bool(parts) and parts[-1].chore and piece.lower().endswith(f".{parts[-1].text}")


def _is_small_number(word: str) -> bool:
    """Tell whether a word is a number of so few digits that it counts, and names nothing."""
    return len(word) < _DIGITS_OF_A_CODE and word.isdigit()


def _is_code(name: str) -> bool:
    """Tell whether a word of one part is a code: ``E1234``, not ``utf8`` nor ``2024``."""
    return name[:1].isupper() and sum(map(str.isdigit, name)) >= _DIGITS_OF_A_CODE


def _has_hump(name: str) -> bool:
    return any(map(_is_hump, name, name[1:]))


def _is_hump(before: str, char: str) -> bool:
    return (before.islower() or before.isdigit()) and char.isupper()


def _parts(piece: str) -> list[str]:
    """Return the parts of an identifier as they are written."""
    spaced = [
        f" {char}" if _is_hump(before, char) else char if char.isalnum() else " "
        for before, char in zip("A" + piece, piece, strict=False)
    ]
    return "".join(spaced).split()
