"""What is marked in a card on a person's terminal: the words of the question, and the path's link.

Pure. Places are found in the plain text, before anything is folded or painted, so that no colour
can come between the letters of an escape sequence, nor a letter into one.
"""

from __future__ import annotations

from index_cache.analyze import GRAMS, WORDS, Analyzer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from index_cache.model import Term

# From, to (exclusive), and the address of a link, or "" for a word of the question.
Mark = tuple[int, int, str]

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
# Terminals take no longer addresses: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
_MAX_ADDRESS = 2000
_AROUND = "([{<\"'`*_.,;:!?>}])«»“”‘’„…"


class Marker:
    """Finds what to mark.

    ``terms`` were searched for, ``host`` is this machine's name, and ``languages`` are those of the
    notes besides English.
    """

    def __init__(self, terms: Iterable[Term], host: str, languages: Iterable[str] = ()) -> None:
        self._terms = frozenset(form for term in terms for form in term.forms)
        self._host = host
        self._analyzer = Analyzer()
        self._analyzers = [self._analyzer, *map(Analyzer, languages)]

    def words(self, text: str, start: int = 0) -> list[Mark]:
        """Return the places of the words in ``text``, from ``start`` on, that the terms mean.

        A word counts as the analyzer has it: by its stem, in any case, with or without accents.
        """
        found: list[tuple[int, int]] = []
        at = start
        while at < len(text):
            end = text.find(" ", at)
            end = len(text) if end < 0 else end
            found += _joined((at + i, at + j) for i, j in self._in_chunk(text[at:end]))
            at = end + 1
        return [(i, j, "") for i, j in found]

    def link(self, start: int, shown: str, path: str) -> list[Mark]:
        """Return ``shown``, which stands at ``start``, as a link to the file at ``path``, if any.

        ``path`` is absolute, as a card has it.
        """
        # What was no UTF-8 is escaped in a card, and would lead to a file of another name.
        address = None if "\\x" in path else file_address(path, self._host)
        return [(start, start + len(shown), address)] if address and shown else []

    def _in_chunk(self, chunk: str) -> Iterator[tuple[int, int]]:
        if not self._means(chunk):
            return
        some = False
        for place in self._parts(chunk):
            some = True
            yield place
        if not some:  # it is searched for as a whole: c++, .env
            begin = len(chunk) - len(chunk.lstrip(_AROUND))
            yield begin, begin + len(chunk.strip(_AROUND))

    def _parts(self, chunk: str) -> Iterator[tuple[int, int]]:
        """Yield the words within a chunk that the terms mean, of scripts without blanks too."""
        classes = self._analyzer.classes(chunk)
        at = 0
        while at < len(classes):
            kind = classes[at]
            same = WORDS if kind in WORDS else kind
            end = at + 1
            while end < len(classes) and classes[end] in same:
                end += 1
            if kind in WORDS and self._means(chunk[at:end]):
                yield at, end
            elif kind in GRAMS:
                size = GRAMS[kind]
                for i in range(at, max(at + 1, end - size + 1)):
                    if self._means(chunk[i : min(end, i + size)]):
                        yield i, min(end, i + size)
            at = end

    def _means(self, text: str) -> bool:
        return any(not self._terms.isdisjoint(a.chunk(text).split()) for a in self._analyzers)


def file_address(path: str, host: str) -> str | None:
    """Return the ``file:`` address of an absolute path, or None if no terminal would take it.

    All but unreserved characters and slashes is percent-encoded: nothing in a name can end the
    sequence that the address stands in.
    """
    address = f"file://{_encoded(host.replace('/', ''))}{_encoded(path)}"
    return address if path.startswith("/") and len(address) <= _MAX_ADDRESS else None


def painted(text: str, marks: Collection[Mark], code: str, marked: str) -> str:
    """Return ``text`` in the style ``code`` (SGR parameters or ""), its marks made visible.

    ``marked`` are the parameters added for a word.
    """
    made: list[str] = []
    at = 0
    for begin, end, address in sorted(marks):
        made.append(_styled(text[at:begin], code))
        if address:
            link = _styled(text[begin:end], code)
            made.append(f"\x1b]8;;{address}\x1b\\{link}\x1b]8;;\x1b\\")
        else:
            made.append(_styled(text[begin:end], f"{code};{marked}" if code else marked))
        at = end
    return "".join([*made, _styled(text[at:], code)])


def along(parts: Collection[str], text: str, marks: Collection[Mark]) -> Iterator[list[Mark]]:
    """Yield the marks of each of the ``parts`` into which ``text`` was folded.

    A part after the first begins with an indent that the text has not, and blanks between two
    parts are gone.
    """
    at = 0
    for number, part in enumerate(parts):
        bare = part.lstrip(" ") if number else part
        indent = len(part) - len(bare)
        at = text.find(bare, at)
        end = at + len(bare)
        yield [
            (max(i, at) - at + indent, min(j, end) - at + indent, address)
            for i, j, address in marks
            if i < end and j > at
        ]
        at = end


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places in order, those that overlap or touch as one."""
    made: list[tuple[int, int]] = []
    for begin, end in places:
        if made and begin <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        else:
            made.append((begin, end))
    return made


def _styled(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if text and code else text


def _encoded(text: str) -> str:
    return "".join(
        chr(byte) if byte in _UNRESERVED else f"%{byte:02X}"
        for byte in text.encode("utf-8", "replace")
    )
