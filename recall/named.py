"""Which note a prompt asks for by name: its path, its file's name, its id or its title; pure.

See "Asked for by name" in ``spec/hook.md``.
"""

from __future__ import annotations

import os

from recall import chatter, naming
from recall.topic import Topic, folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from index_cache.model import Hit, Root
    from recall.topic import Word
    from recall.wording import Wording

MOST_ALIKE = 3  # texts that one name asks for; of more it asks for none
TITLES_IN = 4_000  # characters of a prompt, in which titles are looked for

# Names of files that every project has, besides chatter.GENERIC.
_EVERYWHERE = (
    "agents changelog claude contributing gemini license memory notes readme security skill todo"
)
_LEAST_WORDS = 2.0  # that tell something, in a title, or in a name of words alone
_LEAST_PARTS = 3  # of a file's name that is nothing but words
_LONGEST_TITLE = 300  # characters
_SUFFIXES = (b".md", b".markdown")
_JOINERS = dict.fromkeys(map(ord, "_-./:@#+"), " ")
# Scripts that write words without blanks between them, or endings as one with them.
_GLUED = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\U0010ffff"),
)


class Wanted:
    """What to look up in one root.

    ``paths``, ``names`` and ``ids`` are what ``lookup.by_name`` takes, each with the piece of the
    prompt that it comes from. Ids are in (ASCII) lower case.
    """

    __slots__ = ("ids", "names", "paths")

    def __init__(self) -> None:
        self.paths: dict[bytes, str] = {}
        self.names: dict[bytes, str] = {}
        self.ids: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.paths or self.names or self.ids)


class Asked:
    """What a prompt may ask for by name. ``wording`` is the search's own.

    ``cwd`` is the directory at which the prompt's relative paths may start, free of symlinks.
    """

    def __init__(self, prompt: str, wording: Wording, cwd: str | None = None) -> None:
        self.pieces = naming.pieces(prompt)
        self._prompt = prompt
        self._wording = wording
        self._cwd = os.fsencode(cwd) if cwd else None
        self._wanted: dict[str, Wanted] = {}
        self._topics: dict[bool, Topic] = {}  # of ASCII text, and of other
        self._text: str | None = None

    def wanted(self, root: Root) -> Wanted:
        """Return what to look up in a root."""
        found = self._wanted.get(root.path)
        if found is None:
            found = self._wanted[root.path] = Wanted()
            for piece in self.pieces:
                if "/" in piece or naming.is_file(piece):
                    self._add_path(found, piece, os.fsencode(root.path))
                else:
                    self._add_id(found, piece)
        return found

    def asks_for(self, hit: Hit, root: Root) -> bool:
        """Tell whether the prompt asks for a note, whatever others go by the same name."""
        path, others = self._names_of(hit, root)
        return path is not None or bool(others)

    def choose(self, hits: Iterable[Hit], roots: Sequence[Root]) -> list[Hit]:
        """Return those of ``hits`` that the prompt asks for, in their order.

        ``hit.root`` is the number of its root in ``roots``. What is the whole path of one is not
        the name of others. What more than MOST_ALIKE texts go by is the name of none: a
        ``2026-03-01.md`` in each of thirty directories.
        """
        found = [(hit, *self._names_of(hit, roots[hit.root])) for hit in hits]
        whole = {path for _, path, _ in found if path is not None}
        alike: dict[str, set[bytes]] = {}
        for hit, _, others in found:
            for name in others:
                alike.setdefault(name, set()).add(hit.digest)
        return [
            hit
            for hit, path, others in found
            if path is not None
            or any(name not in whole and len(alike[name]) <= MOST_ALIKE for name in others)
        ]

    def is_only_names(self) -> bool:
        """Tell whether the prompt is nothing but paths and ids, whosever they are, and chatter."""
        rest = naming.without(self._prompt)
        return rest is not None and not self._informative(rest)

    def _names_of(self, hit: Hit, root: Root) -> tuple[str | None, list[str]]:
        """Return the piece that is a note's whole path, and all else that asks for it."""
        wanted = self.wanted(root)
        found = [wanted.ids.get(naming.lower(hit.record_id))]
        at = 0
        while at >= 0:
            found.append(wanted.names.get(hit.path[at:]))
            at = hit.path.find(b"/", at) + 1 or -1
        names = [name for name in found if name is not None]
        if self._has_title(hit.title):
            names.append(hit.title)
        return wanted.paths.get(hit.path), names

    def _add_path(self, wanted: Wanted, piece: str, root: bytes) -> None:
        bare = "/" not in piece
        if bare and _is_everywhere(piece):
            return
        for spelled in naming.spellings(piece):
            for path in _with_suffixes(spelled):
                for relative in _relative(path, root, self._cwd):
                    wanted.paths.setdefault(relative, piece)
                end = os.path.normpath(path.lstrip(b"/").removeprefix(b"~/"))
                # ./x.md, ~/x.md and /x.md are each one file, not any of that name.
                if (bare or b"/" in end) and not end.startswith(b".."):
                    wanted.names.setdefault(end, piece)

    def _add_id(self, wanted: Wanted, piece: str) -> None:
        words = not any(map(str.isdigit, piece)) and "_" not in piece
        if words and self._informative(piece.translate(_JOINERS)) < _LEAST_WORDS:
            return
        wanted.ids.setdefault(naming.lower(piece), piece)
        if words and piece.count("-") < _LEAST_PARTS - 1:
            return
        for spelled in (piece, piece.lower(), piece.upper()):
            for path in naming.spellings(spelled):
                for suffix in _SUFFIXES:
                    wanted.names.setdefault(path + suffix, piece)

    def _has_title(self, title: str) -> bool:
        """Tell whether the prompt is about a whole title, which tells enough to be a name.

        A conversation about a subject has its note's title in many prompts: only one that tells of
        nothing else asks for the note.
        """
        if not 0 < len(title) <= _LONGEST_TITLE:
            return False
        if self._text is None:
            self._text = f" {_words(naming.looked_at(self._prompt, TITLES_IN))} "
        sought = _words(title)
        if not sought:
            return False
        before = "" if _is_glued(sought[0]) else " "
        after = "" if _is_glued(sought[-1]) else " "
        found = f"{before}{sought}{after}"
        return (
            found in self._text
            and self._is_a_name(title)
            and not self._informative(self._text.replace(found, " "))
        )

    def _is_a_name(self, title: str) -> bool:
        """Tell a title that a prompt has by intent from words that it may have by chance."""
        words = self._words_of(title)
        if any(word.identifier and any(map(str.isdigit, word.text)) for word in words):
            return True
        return self._informative(_words(title)) >= _LEAST_WORDS

    def _informative(self, text: str) -> float:
        """Return how many words of a text tell of a subject."""
        return sum(_worth(word) for word in self._words_of(text) if not word.chore)

    def _words_of(self, text: str) -> list[Word]:
        plain = text.isascii()
        if plain not in self._topics:
            self._topics[plain] = Topic(self._wording, ascii_only=plain)
        return self._topics[plain].words(text)


def pieces(prompt: str) -> list[str]:
    """Return the different pieces of a prompt that could be a path, a file's name or an id."""
    return naming.pieces(prompt)


def names(prompt: str, hit: Hit, root: Root, cwd: str | None, wording: Wording) -> bool:
    """Tell whether a prompt asks for this note by name; ``Asked`` serves for several notes."""
    return Asked(prompt, wording, cwd).asks_for(hit, root)


def _is_everywhere(name: str) -> bool:
    stem = name.lower().rpartition(".")[0].strip("_.")
    return stem in _EVERYWHERE.split() or stem in chatter.GENERIC.split()


def _with_suffixes(path: bytes) -> Iterator[bytes]:
    """Yield a path and, of one that may lack its suffix, what it is with one."""
    yield path
    if b"/" in path and b"." not in path.rpartition(b"/")[2]:
        for suffix in _SUFFIXES:
            yield path + suffix


def _relative(path: bytes, root: bytes, cwd: bytes | None) -> Iterator[bytes]:
    """Yield what a written path may be relative to a root."""
    inside = os.path.join(root, b"")
    bases = (root,) if cwd is None else (root, cwd)
    for base in bases:
        whole = os.path.normpath(os.path.join(base, path))
        if whole.startswith(inside):
            yield whole[len(inside) :]
    if path.startswith(b"/"):
        yield os.path.normpath(path.lstrip(b"/"))  # as sites and repositories write it
        return
    # notes/keys.md in the root /home/me/notes
    parts = os.path.normpath(path.removeprefix(b"~/")).split(b"/")
    above = root.split(b"/")[1:]
    for many in range(1, min(len(parts), len(above) + 1)):
        if above[-many:] == parts[:many]:
            yield b"/".join(parts[many:])


def _words(text: str) -> str:
    """Return the words of a text, without case, diacritics and punctuation, between blanks."""
    return " ".join(folded(text).translate(_JOINERS).split())


def _worth(word: Word) -> float:
    """Return how many words a word is: two Han characters are one, a run of another script is."""
    if not word.run:
        return word.weight
    han = sum("\u3400" <= char <= "\u9fff" for char in word.text)
    return max(1.0, han / 2 + (han < len(word.text)))


def _is_glued(char: str) -> bool:
    return any(low <= char <= high for low, high in _GLUED)
