"""What a note's file is called: from its title in any language, or as a path that was asked for.

Pure. See "Names" in ``spec/writing.md``, whose vectors are ``spec/vectors/writing.json``.
"""

from __future__ import annotations

import unicodedata
from hashlib import sha256

from index_cache.errors import InvalidInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

SUFFIX = ".md"
SLUG_BYTES = 120  # of the name that a title gives, without number and suffix
NAME_BYTES = 255  # what file systems take
PATH_BYTES = 4096
_DASH = "-"
# Windows opens a device by these names, whatever the suffix and the directory.
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"}
)
# Files that other programs write or obey: generated lists, and instructions to agents.
_OTHERS = frozenset(
    {"index", "log", "readme", "memory", "skill", "claude", "agents", "gemini", "copilot"}
    | {"copilot-instructions", "claude.local", "agents.override"}
)
_OTHER_KINDS = (".instructions", ".prompt", ".agent", ".chatmode")  # of such files, before .md
_APOSTROPHES = dict.fromkeys(map(ord, "'’ʼ"))
_FORBIDDEN = frozenset('<>:"|?*\\')  # in names on Windows, which may share the directory


def slug(title: str) -> str:
    """Return the name of the file for a title, without its suffix; never empty.

    Letters, digits and marks of any script are kept, in lower case; what stands between them
    becomes one dash. A title without any keeps its symbols, one without these is a hash.
    """
    text = unicodedata.normalize("NFKC", title).lower()
    text = unicodedata.normalize("NFC", text).translate(_APOSTROPHES)
    words = _joined(text, "LMN") or _joined(text, "S")
    cut = _cut(words, SLUG_BYTES)
    if not cut:
        cut = "note-" + sha256(title.encode()).hexdigest()[:8]
    return f"{cut}-note" if is_reserved(cut) else cut


def _joined(text: str, kinds: str) -> str:
    kept = (c if unicodedata.category(c)[0] in kinds and c not in _FORBIDDEN else " " for c in text)
    # What a mark stood on may be gone.
    words = (word.lstrip("".join(filter(_is_mark, word))) for word in "".join(kept).split())
    return _DASH.join(filter(None, words))


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _cut(text: str, limit: int) -> str:
    """Return the beginning of a text within ``limit`` bytes, no mark cut from its letter."""
    if len(text.encode()) <= limit:
        return text
    kept = text.encode()[:limit].decode("utf-8", "ignore")
    at = len(kept)
    while at and _is_mark(text[at]):
        at -= 1
    head, dash, _ = text[:at].rpartition(_DASH)
    # A word is cut only where little would be left without it, as in scripts without blanks.
    whole = text[at] == _DASH or not dash or len(head.encode()) < limit // 2
    return (text[:at] if whole else head).strip(_DASH)


def is_reserved(name: str) -> bool:
    """Tell whether a file's name, with or without suffix, is kept for others than notes."""
    stem = fold(name).removesuffix(SUFFIX)
    return _is_device(name) or stem in _OTHERS or stem.endswith(_OTHER_KINDS)


def _is_device(name: str) -> bool:
    return fold(name).partition(".")[0].rstrip(" ") in _DEVICES


def fold(name: str) -> str:
    """Return what is equal for names that some file system takes for one and the same."""
    return unicodedata.normalize(
        "NFC", unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
    )


def encoded(path: str) -> bytes:
    """Return a path below a root as file systems have it: UTF-8, whatever the locale says."""
    return path.encode("utf-8", "surrogateescape")


def decoded(path: bytes) -> str:
    """Return the path that ``encoded`` encodes so."""
    return path.decode("utf-8", "surrogateescape")


def numbered(base: str) -> Iterator[str]:
    """Yield the names of files for a slug: its own, then those with a number, without end."""
    yield base + SUFFIX
    number = 1
    while True:
        number += 1
        yield f"{base}-{number}{SUFFIX}"


def free(base: str, taken: Container[str]) -> str:
    """Return the first of a slug's names that is not ``taken``, which are folded."""
    return next(name for name in numbered(base) if fold(name) not in taken)


def checked_path(path: str, directory: str) -> str:
    """Return a path below a root that a payload asks for, if a note can have it.

    ``directory`` is where notes of its type belong, and the path has to lie there. Raises
    InvalidInput.
    """
    if len(path.encode()) > PATH_BYTES:
        raise _wrong(f"it is longer than {PATH_BYTES:,} bytes")
    if unicodedata.normalize("NFC", path) != path:
        raise _wrong("it is not in Unicode's composed form (NFC)")
    parts = path.split("/")
    for part in parts:
        fault = _fault(part)
        if fault:
            raise _wrong(fault)
    if is_reserved(parts[-1]):
        raise _wrong("its name is kept for a file that other programs write or obey")
    if not parts[-1].endswith(SUFFIX):
        raise _wrong(f"a note's name ends with {SUFFIX}")
    if parts[0] != directory or len(parts) == 1:
        raise _wrong(f"notes of this type belong below {directory}/")
    return path


def _wrong(why: str) -> InvalidInput:
    return InvalidInput(f"path: {why}", where="path")


def _fault(name: str) -> str | None:
    """Return why a path may not have this name in it, None if it may."""
    if name in {"", ".", ".."}:
        return "it is not a plain relative path"
    if name[-1] in ". " or name[0] in ". ":
        return "no name in it may begin or end with a dot or a blank"
    if len(name.encode()) > NAME_BYTES:
        return f"a name in it is longer than {NAME_BYTES} bytes"
    if not name.isprintable() or _FORBIDDEN.intersection(name):
        return 'no name in it may have control characters or one of <>:"|?*\\'
    return "a name in it is that of a device of Windows" if _is_device(name) else None
