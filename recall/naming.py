"""A prompt to its pieces that may be the name of a note: pure. See ``spec/hook.md``.

No regular expression: the prompt hook can't afford to import ``re``.
"""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 40  # pieces: of more the first and the last half, since what is between was pasted
LONGEST = 300  # characters of a piece
LOOKED_AT = 16_000  # characters of a prompt: of a longer one the first and the last half
ONLY = 1_000  # characters of a prompt that is nothing but names

SUFFIXES = (".md", ".markdown")
_MOST_ENCLOSED = 50  # stretches between marks of one kind that are looked at
_SHORTEST_ID = 4  # characters; "2x" and "a_b" name nothing
_CODE = 3  # digits that make a name of a capital without a joiner, as in E1234
_NUMBER = 6  # digits that make a name without a letter
_SIGNS = "-_.:@#+"
_CLOSERS = {"`": "`", '"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "「": "」"}
_CLOSERS |= {"『": "』", "<": ">", "](": ")", "[[": "]]"}
_BEFORE = "([{<\"'`*“„‘«‹「『（《【,;:!?¿¡|"
_AFTER = ")]}>\"'`*“”’»›」』）》】.,;:!?…|。，、；：！？"
_BREAKS = dict.fromkeys(
    map(ord, "()[]{}<>\"'`*,;!?=&|“”„‘’«»‹›「」『』（）《》【】，。、；：！？"), " "
)
_BLANK = "\0"  # stands for a blank within a name
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_GLUED = "\u2e80"  # from here on scripts have no blanks around a name in their midst


def lower(text: str) -> str:
    """Return a text with ASCII letters in lower case: as SQLite's NOCASE has it."""
    return text.translate(_LOWER)


def pieces(prompt: str) -> list[str]:
    """Return the different pieces of a prompt that could be a path, a file's name or an id.

    At most MOST: names with blanks, which must be enclosed in something, then the first ones, then
    the last. What holds them is taken off, and what points into a file:
    ``@docs/x.md:12`` is ``docs/x.md``.
    """
    text = looked_at(prompt, LOOKED_AT)
    found: dict[str, None] = {}
    for span in _enclosed(text):
        _add(found, span, MOST // 2)
    chunks = list(dict.fromkeys(text.split()))
    first = 0
    while first < len(chunks) and len(found) < MOST // 2:
        _add(found, chunks[first], MOST // 2)
        first += 1
    last = len(chunks)
    while last > first and len(found) < MOST:
        last -= 1
        _add(found, chunks[last], MOST)
    return list(found)


def without(prompt: str) -> str | None:
    """Return what is left of a prompt when names that can be nothing else are taken out.

    None when there is no such name, or the prompt is too long to be only names.
    """
    if len(prompt) > ONLY:
        return None
    text = _prepared(prompt)
    names = 0
    for span in list(_enclosed(text)):
        if any(map(is_strong, _names(span))):
            text = text.replace(span, " ")
            names += 1
    left = []
    for chunk in text.split():
        if any(map(is_strong, _names(chunk))):
            names += 1
        else:
            left.append(chunk)
    return " ".join(left) if names else None


def is_strong(piece: str) -> bool:
    """Tell whether a piece can be nothing but a path or an id, as ``read-only`` could."""
    head, slash, name = piece.rpartition("/")
    if is_file(piece) or piece.startswith(("/", "./", "../", "~/")) or "/" in head:
        return True
    if slash:
        return "." in name[1:-1]
    return any(map(str.isdigit, piece))


def is_file(piece: str) -> bool:
    """Tell whether a piece ends as a note's file does."""
    return lower(piece).endswith(SUFFIXES)


def spellings(piece: str) -> list[bytes]:
    r"""Return the bytes that a path may have that is written like this.

    As links have it (``%20``), as our cards do (``\xff``), as Windows does (``docs\x.md``), as
    either Unicode form. None for what no file system takes.
    """
    written = [piece]
    if not piece.isascii():
        written += [unicodedata.normalize(form, piece) for form in ("NFC", "NFD")]
    if "\\" in piece:
        written.append(piece.replace("\\", "/"))
    found: dict[bytes, None] = {}
    for text in written:
        try:
            path = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            continue
        found |= dict.fromkeys((path, _decoded(path, b"%"), _decoded(path, b"\\x")))
    return [path for path in found if b"\0" not in path]


def _decoded(path: bytes, mark: bytes) -> bytes:
    """Return a path with the bytes that are written as ``mark`` and two hexadecimal digits."""
    first, *parts = path.split(mark)
    for part in parts:
        try:
            first += bytes.fromhex(part[:2].decode()) + part[2:]
        except ValueError:
            first += mark + part
    return first


def looked_at(prompt: str, most: int) -> str:
    r"""Return the first and last half of ``most`` characters; a shell's blank (``\ ``) is a NUL."""
    if len(prompt) > most:
        # What was cut in two is no name.
        head = prompt[: most // 2].rsplit(None, 1)[:-1]
        tail = prompt[-most // 2 :].split(None, 1)[1:]
        prompt = " ".join(head + tail)
    return _prepared(prompt)


def _prepared(text: str) -> str:
    return text.replace(_BLANK, " ").replace("\\ ", _BLANK)  # a shell's blank in a name


def _add(found: dict[str, None], text: str, most: int) -> None:
    for name in _names(text):
        if len(found) < most:
            found[name] = None


def _enclosed(text: str) -> Iterator[str]:
    """Yield what stands between marks and may be a name with blanks, and targets of wiki links."""
    for opener, closer in _CLOSERS.items():
        at = text.find(opener)
        for _ in range(_MOST_ENCLOSED):
            if at < 0:
                break
            begin = at + len(opener)
            end = text.find(closer, begin, begin + LONGEST)
            span = text[begin : max(begin, end)].strip()
            at = text.find(opener, begin)
            if "\n" in span or not span:
                continue
            if opener == "[[":
                target = span.partition("|")[0].partition("#")[0].strip()
                yield target if is_file(target) else f"{target}.md"
            elif " " in span and is_file(_cut(span)):
                yield span


def _names(chunk: str) -> Iterator[str]:
    """Yield the names that a stretch of text may be, or hold."""
    if len(chunk) > 2 * LONGEST or chunk.strip(_BEFORE + _AFTER).isalpha():
        return
    whole = chunk.strip(" *")
    seen = {""}
    for each in (whole, *_parts(whole)):
        piece = _cut(_bare(each))
        # First as it is written: a name may end in what else is punctuation.
        for one in (each, piece) if is_file(each) and not each.startswith("@") else (piece,):
            name = one.replace(_BLANK, " ")
            if name not in seen and len(name) <= LONGEST and _looks_like_one(name):
                seen.add(name)
                yield name


def _parts(chunk: str) -> Iterator[str]:
    """Yield parts of a stretch without blanks: names glued together, or to their surroundings."""
    if " " in chunk:
        return
    parts = chunk.translate(_BREAKS).split()
    if len(parts) > 1:
        yield from parts
    for part in parts:
        if not part.isascii() and max(part) >= _GLUED:
            yield from "".join(char if char < _GLUED else " " for char in part).split()


def _bare(piece: str) -> str:
    piece = piece.strip().lstrip(_BEFORE).rstrip(_AFTER)
    for ending in ("'s", "’s"):
        piece = piece.removesuffix(ending).rstrip(_AFTER)
    if piece[:1] == piece[-1:] == "_":
        piece = piece.strip("_")  # emphasis
    piece = piece.lstrip("@").removeprefix("file://")
    return piece if "/" in piece else piece.lstrip("#")  # #DEC-0054, as issues are written


def _cut(piece: str) -> str:
    """Return a piece without what points into a file: ``:12:5``, ``#L12``, ``#heading``."""
    folded = lower(piece)
    for suffix in SUFFIXES:
        at = folded.find(suffix, 1)
        while at > 0:
            end = at + len(suffix)
            if folded[end : end + 1] in {*":#?(,;|)]}>\"'`", ""}:
                return piece[:end]
            at = folded.find(suffix, end)
    if "/" in piece:
        piece = piece.partition("#")[0]
        head, _, line = piece.rpartition(":")
        while head and line.isdigit():
            piece = head
            head, _, line = piece.rpartition(":")
    return piece


def _looks_like_one(piece: str) -> bool:
    if "://" in piece or piece.endswith("/"):
        return False
    name = piece.rpartition("/")[2]
    if is_file(piece):
        return name.find(".", 1) > 0
    if "/" in piece:
        return any(map(str.isalnum, name))
    return _is_id(piece)


def _is_id(piece: str) -> bool:
    """Tell whether a piece is letters and digits with a joiner between them, or a code."""
    if len(piece) < _SHORTEST_ID or not (
        piece[-1].isalnum() and (piece[0].isalnum() or piece[0] == "_")
    ):
        return False
    within = piece.translate(dict.fromkeys(map(ord, _SIGNS)))
    if not within.isalnum():
        return False
    digits = sum(map(str.isdigit, within))
    if digits == len(within):
        return digits >= _NUMBER
    return len(within) < len(piece) or (piece[0].isupper() and digits >= _CODE)
