"""JSON as people write it, edited by text: every byte that an edit is not about stays; pure.

Comments (``//``, ``/* */``) and trailing commas are taken as they are. They are blanked out to
spaces, at the same places, so that the standard parser judges the rest, strictly, and places in
what it has read are places in the file. An edit is an insertion or a cut; it counts only if the
result then means exactly what it should, with the same comments in the same order.
"""

from __future__ import annotations

import copy
import json
import re

from recall.jsonlayout import NEWLINE, Style, line_indent, line_start, margin_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Path = Sequence[str | int]

MAX_DEPTH = 100
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_PIECE = re.compile(rf"{_STRING}|//[^\n\r]*|/\*(?:.*?\*/)?|\S", re.DOTALL)
_TOKEN = re.compile(_STRING + r'|[\[\]{},:]|[^\s\[\]{},:"]+')
_NOT_NEWLINE = re.compile(r"[^\n\r]")
# What the parser says in half-sentences, which go on with a place of its own.
_SAID = {
    "Expecting value": "a value is expected here",
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected here",
    "Expecting ':' delimiter": 'a ":" is expected between a key and its value',
    "Expecting ',' delimiter": 'a "," is expected between two elements',
    "Unterminated string starting at": "a text that begins here does not end",
    "Extra data": "there is more behind the end of the settings",
    "Invalid control character at": "a control character stands in a text",
    "Invalid \\escape": "a backslash is followed by what it can't stand before",
    "Invalid \\uXXXX escape": "behind \\u there are not four hexadecimal digits",
}


class Broken(Exception):
    """The text is not JSON, with comments or without; ``line`` and ``column`` begin at 1."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        ends = [match.end() for match in NEWLINE.finditer(text[:position])]
        self.line = len(ends) + 1
        self.column = position - (ends[-1] if ends else 0) + 1


class Unsafe(Exception):
    """An edit at ``path`` would have changed more than it should; nothing came of it."""

    def __init__(self, path: Path = ()) -> None:
        super().__init__()
        self.path = path


class Number(str):
    """A number as it is written, so that 1.0 and 1 stay two things and no digit is lost."""

    __slots__ = ()


class Element:
    """One value in an array or object, from ``start`` to ``end``; ``first`` is where its key is.

    ``comma`` is the place behind the comma that follows it, None without one.
    """

    __slots__ = ("comma", "end", "first", "key", "start")

    def __init__(self, first: int, key: str | None) -> None:
        self.first = first
        self.key = key
        self.start = self.end = first
        self.comma: int | None = None


class Document:
    """A text and what it means. ``start`` and ``end`` are those of its one value."""

    __slots__ = ("blank", "comments", "end", "start", "text", "trailing", "value")

    def __init__(self, text: str) -> None:
        """Read ``text``. Raises Broken for what is no JSON even with comments, or says a key twice.

        White space and comments alone are no value: ``is_empty``.
        """
        self.text = text
        self.comments: list[tuple[int, int]] = []
        self.trailing: set[int] = set()
        self.blank = self._blanked()
        self.start = len(self.blank) - len(self.blank.lstrip(" \t\r\n"))
        self.end = len(self.blank.rstrip(" \t\r\n"))
        self.value = None if self.is_empty else self._meaning()

    @property
    def is_empty(self) -> bool:
        """Return whether there is no value at all."""
        return self.start >= self.end

    def at(self, path: Path) -> object:
        """Return the value at ``path``. Raises KeyError, IndexError or TypeError for none."""
        return _inside(self.value, path)

    def element(self, path: Path) -> Element:
        """Return where the value at ``path`` is; the value must be there."""
        found = Element(self.start, None)
        found.end = self.end
        for step in path:
            elements = self.elements(found)
            if isinstance(step, int):
                found = elements[step]
            else:
                found = next(each for each in elements if each.key == step)
        return found

    def elements(self, container: Element) -> list[Element]:
        """Return what an array or object holds."""
        is_object = self.blank[container.start] == "{"
        found: list[Element] = []
        current: Element | None = None
        depth = 0
        wants_key = is_object
        for match in _TOKEN.finditer(self.blank, container.start + 1, container.end - 1):
            piece = match[0]
            if not depth and piece == ",":
                found[-1].comma, current, wants_key = match.end(), None, is_object
            elif not depth and piece == ":":
                continue
            elif not depth and wants_key:
                current = Element(match.start(), json.loads(piece))
                found.append(current)
                wants_key = False
            else:
                if current is None:
                    current = Element(match.start(), None)
                    found.append(current)
                if not depth:
                    current.start = match.start()
                current.end = match.end()
                depth += (piece in "[{") - (piece in "]}")
        if found and found[-1].comma is None:
            comma = [at for at in self.trailing if found[-1].end <= at < container.end]
            found[-1].comma = comma[0] + 1 if comma else None
        return found

    def comments_within(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the comments between two places."""
        return [span for span in self.comments if start <= span[0] and span[1] <= end]

    def _blanked(self) -> str:
        parts: list[str] = []
        at, last, comma, depth = 0, "", -1, 0
        for match in _PIECE.finditer(self.text):
            piece = match[0]
            if piece.startswith(("//", "/*")):
                if piece == "/*":
                    raise Broken("a comment that does not end", self.text, match.start())
                self.comments.append(match.span())
                parts += [self.text[at : match.start()], _NOT_NEWLINE.sub(" ", piece)]
                at = match.end()
                continue
            if piece == ",":
                comma = match.start() if last not in ("", ",", "[", "{") else -1
            elif piece in "}]" and last == "," and comma >= 0:
                self.trailing.add(comma)
            last = piece
            depth += (piece in "[{") - (piece in "]}")
            if depth > MAX_DEPTH:
                raise Broken("it is nested too deeply", self.text, match.start())
        parts.append(self.text[at:])
        blank = "".join(parts)
        if self.trailing:
            spaces = list(blank)
            for place in self.trailing:
                spaces[place] = " "
            blank = "".join(spaces)
        return blank

    def _meaning(self) -> object:
        try:
            return json.loads(
                self.blank,
                object_pairs_hook=self._object,
                parse_float=Number,
                parse_int=Number,
                parse_constant=self._constant,
            )
        except json.JSONDecodeError as error:
            message = _SAID.get(error.msg, f"{error.msg[:1].lower()}{error.msg[1:]}")
            raise Broken(message, self.text, error.pos) from error

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            # Where one of that name stands last; it may be that of another object.
            spelled = [m.start() for m in _TOKEN.finditer(self.blank) if _is(m[0], twice)]
            place = spelled[-1] if spelled else self.start
            raise Broken(f'the key "{twice}" is there twice', self.text, place)
        return made

    def _constant(self, name: str) -> object:
        place = self.blank.find(name.removeprefix("-"))
        raise Broken(f"{name} is no JSON", self.text, place)


def _is(token: str, key: str) -> bool:
    try:
        return token[0] == '"' and bool(json.loads(token) == key)
    except ValueError:
        return False


def line_of(text: str, at: int) -> int:
    """Return the number of the line, from 1, of a place in ``text``."""
    return len(NEWLINE.findall(text[:at])) + 1


def inserted(document: Document, path: Path, key: str | None, value: object) -> str:
    """Return the text with one value more, the last of the array or object at ``path``.

    ``key`` is its name in an object, None in an array. Raises Unsafe.
    """
    wanted = copy.deepcopy(document.value)
    container = _inside(wanted, path)
    meant = Document(json.dumps(value, ensure_ascii=False)).value
    if isinstance(container, dict) and key is not None and key not in container:
        container[key] = meant
    elif isinstance(container, list) and key is None:
        container.append(meant)
    else:
        raise Unsafe(path)
    return _sound(document, wanted, _insertions(document, path, key, value), path)


def removed(
    document: Document, path: Path, interior: str | None = None, about: Path | None = None
) -> str:
    """Return the text without the value at ``path``, key and comma included.

    ``interior`` is what then stands between the brackets of what has become empty; nothing by
    default. The comments between the brackets of the value at ``about`` go too. Of what
    ``inserted`` returned it makes the text as it was, but for these two. Raises Unsafe.
    """
    wanted = copy.deepcopy(document.value)
    container, last = _inside(wanted, path[:-1]), path[-1]
    if isinstance(container, (dict, list)):
        del container[last]  # type: ignore[arg-type]
    gone = None if about is None else document.element(about)
    lost = [] if gone is None else document.comments_within(gone.start, gone.end)
    return _sound(document, wanted, _cuts(document, path, interior), path, lost)


def replaced(document: Document, path: Path, value: str | int) -> str:
    """Return the text with another value in the place of the one at ``path``. Raises Unsafe."""
    wanted = copy.deepcopy(document.value)
    container, last = _inside(wanted, path[:-1]), path[-1]
    new = json.dumps(value, ensure_ascii=False)
    container[last] = Document(new).value  # type: ignore[index]
    place = document.element(path)
    text = document.text
    return _sound(document, wanted, iter([text[: place.start] + new + text[place.end :]]), path)


def created(document: Document, value: object) -> str:
    """Return a text that has no value yet, with one behind its comments and white space."""
    style = Style(document)
    text = document.text
    gap = "" if not text or text.endswith(("\n", "\r")) else style.newline
    new = text + gap + style.dumped(value, "") + style.newline
    meant = Document(json.dumps(value, ensure_ascii=False)).value
    return _sound(document, meant, iter([new]), ())


def _inside(value: object, path: Path) -> object:
    for step in path:
        value = value[step]  # type: ignore[index]
    return value


def _sound(
    document: Document,
    wanted: object,
    candidates: Iterator[str],
    path: Path,
    lost: Sequence[tuple[int, int]] = (),
) -> str:
    """Return the first text that means what it should, with all comments but those ``lost``."""
    kept = [span for span in document.comments if span not in lost]
    comments = [document.text[start:end] for start, end in kept]
    for text in candidates:
        try:
            made = Document(text)
        except Broken:
            continue
        if made.value == wanted and comments == [text[s:e] for s, e in made.comments]:
            return text
    raise Unsafe(path)


def _insertions(document: Document, path: Path, key: str | None, value: object) -> Iterator[str]:
    text, style = document.text, Style(document)
    container = document.element(path)
    elements = document.elements(container)
    last = elements[-1] if elements else None
    # Behind the last element and the comments that follow it.
    place = (last.comma or last.end) if last else container.start + 1
    for _, end in document.comments_within(place, container.end):
        place = end
    margin = margin_in(document, style, path, elements)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    comma = "," if last is not None and last.comma is not None else ""
    before = text[:place]
    if last is not None and last.comma is None:
        before = f"{text[: last.end]},{text[last.end : place]}"
    one_line = last is not None and not NEWLINE.search(text, container.start, container.end)
    if style.is_flat or one_line:
        gap = " " if last is not None and style.comma != "," else ""
        yield f"{before}{gap}{name}{style.dumped(value, None)}{comma}{text[place:]}"
    new = style.newline + margin + name + style.dumped(value, margin)
    after = text[place:]
    if last is None and not NEWLINE.search(text, place, container.end):
        own = line_indent(text, line_start(text, container)) or ""
        after = style.newline + own + text[container.end - 1 :]
    yield f"{before}{new}{comma}{after}"


def _cuts(document: Document, path: Path, interior: str | None) -> Iterator[str]:
    text = document.text
    container, last = document.element(path[:-1]), path[-1]
    elements = document.elements(container)
    if isinstance(last, int):
        index = last
    else:
        index = next(at for at, each in enumerate(elements) if each.key == last)
    gone = elements[index]
    before = elements[index - 1] if index else None
    begin = (before.comma or before.end) if before else container.start + 1
    for _, end in document.comments_within(begin, gone.first):
        begin = end
    end = gone.comma or gone.end
    if len(elements) == 1:
        if interior is not None:
            yield text[: container.start + 1] + interior + text[container.end - 1 :]
        yield text[: container.start + 1] + text[container.end - 1 :]
    following = elements[index + 1 :]
    if before is None and following:
        yield text[: gone.first] + text[following[0].first :]
    for start in (begin, gone.first):
        if before is not None and gone.comma is None and before.comma is not None:
            # The last one, and no comma behind it: that before it goes too.
            yield text[: before.comma - 1] + text[before.comma : start] + text[end:]
        else:
            yield text[:start] + text[end:]
    # With what a person wrote between it and its comma.
    if gone.comma is not None:
        yield text[: gone.first] + text[gone.end : gone.comma - 1] + text[gone.comma :]
