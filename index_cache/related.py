"""What a record's ``related`` means: ids, paths, links and names, resolved against some caches.

See "Related" in ``spec/records.md``.
"""

from __future__ import annotations

import os
import re
from unicodedata import normalize
from urllib.parse import unquote

from index_cache.guard import guarded, is_path, is_text
from index_cache.ids import Place, with_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from index_cache.store import Store

_WIKI = re.compile(r"!?\[\[([^\[\]]+)\]\]")
_LINK = re.compile(r"!?\[[^\[\]]*\]\(\s*<?([^<>()]*?)>?(?:\s+[\"'(].*)?\s*\)")
_SUFFIXES = (b".md", b".markdown")
_NAMES = (
    "SELECT d.id, e.path, d.line, d.title FROM document AS d"
    " LEFT JOIN entry AS e ON e.id = d.entry{0} ORDER BY e.path, d.line"
)
# What may have a word of ASCII in its slug: LIKE knows no other letters' cases, nor their forms.
_MAY_HAVE = (
    " WHERE e.path IS NULL OR d.title LIKE ?1 OR CAST(e.path AS TEXT) LIKE ?1"
    " OR length(d.title) < length(CAST(d.title AS BLOB))"
    " OR length(CAST(e.path AS TEXT)) < length(e.path)"
)
_FEW = 8  # names that are looked for one by one, at a tenth of what reading all of them takes


class Resolved:
    """One entry of ``related``: its text, and where it leads.

    ``place`` is None for what resolves to nothing, or, if ``several``, to more than one document.
    """

    __slots__ = ("place", "several", "text")

    def __init__(self, text: str, places: Sequence[Place]) -> None:
        self.text = text
        self.place = places[0] if len(places) == 1 else None
        self.several = len(places) > 1

    def __repr__(self) -> str:
        return f"Resolved({self.text!r}, {self.place!r}, several={self.several})"


class Resolver:
    """Resolves what records of some roots name; ``stores`` are their caches.

    What it reads of all documents it keeps: the stores must not change meanwhile.
    """

    def __init__(self, stores: Sequence[Store]) -> None:
        self._stores = stores
        self._named: dict[int, dict[str, list[Place]]] = {}
        self._few: dict[tuple[int, str], list[Place]] = {}

    def resolve(self, root: int, path: bytes, related: Sequence[str]) -> list[Resolved]:
        """Return what each entry means for a record at a path of a root, in the same order.

        ``root`` is the number of its store. Raises Damaged as all that reads a store.
        """
        return [Resolved(text, self._places(root, path, text)) for text in related]

    def _places(self, root: int, path: bytes, text: str) -> list[Place]:
        target, wiki = _target(text)
        store = self._stores[root]
        found = with_id(self._stores, text) or with_id(self._stores, target)
        if found or not target:
            return found
        for each in _paths(path, target):
            if place := _at(store, root, each):
                return [place]
        if "/" in target and not wiki:
            return []
        return self._with_name(root, _slug(target))

    def _with_name(self, root: int, slug: str) -> list[Place]:
        if not slug:
            return []
        if root not in self._named and (root, slug) not in self._few:
            if len(self._few) < _FEW:
                found = _by_name(self._stores[root], root, slug).get(slug, [])
                self._few[root, slug] = found
                return found
            self._named[root] = _by_name(self._stores[root], root)
        known = self._few.get((root, slug))
        return self._named[root].get(slug, []) if known is None else known


def _target(text: str) -> tuple[str, bool]:
    """Return what a link leads to, without the part of it, and whether it is a wikilink."""
    if match := _WIKI.fullmatch(text.strip()):
        name = match[1].partition("|")[0].partition("#")[0]
        return name.strip(), True
    if match := _LINK.fullmatch(text.strip()):
        return unquote(match[1].partition("#")[0]).strip(), False
    return text.partition("#")[0].strip(), False


def _paths(path: bytes, target: str) -> Iterator[bytes]:
    """Yield where a target may be: beside the record, then from the root, with a suffix or none."""
    for directory in (os.path.dirname(path), b""):
        for form in dict.fromkeys((target, normalize("NFC", target), normalize("NFD", target))):
            joined = os.path.join(directory, os.fsencode(form.encode(errors="replace")))
            plain = os.path.normpath(joined)
            if plain.startswith((b"../", b"/")) or plain in {b".", b".."}:
                continue  # out of the root
            yield plain
            yield from (plain + suffix for suffix in _SUFFIXES)


@guarded
def _at(store: Store, root: int, path: bytes) -> Place | None:
    select = "SELECT d.id FROM entry AS e JOIN document AS d ON d.id = e.id WHERE e.path = ?"
    for (number,) in store.connection.execute(select, (path,)):
        return Place(root, int(number), path, 0)
    return None


@guarded
def _by_name(store: Store, root: int, slug: str = "") -> dict[str, list[Place]]:
    """Return a root's documents by the slugs of their titles, notes by their files' names, too.

    With a ``slug`` those that have it are among them; the others are mostly left out.
    """
    found: dict[str, list[Place]] = {}
    word = max((each for each in slug.split("-") if each.isascii()), key=len, default="")
    select = _NAMES.format(_MAY_HAVE if word else "")
    for number, path, line, title in store.connection.execute(select, [f"%{word}%"] * bool(word)):
        if not (is_path(path) and is_text(title)):
            raise store.damaged("a row of a document can't be read")
        place = Place(root, number, path, line)
        names = [str(title)]
        if not line:
            stem = os.path.splitext(path.rpartition(b"/")[2])[0]
            names.append(stem.decode("utf-8", "replace"))
        for each in dict.fromkeys(map(_slug, names)):
            if each:
                found.setdefault(each, []).append(place)
    return found


def _slug(text: str) -> str:
    """Return letters and digits in lower case, what stands between them as ``-``."""
    lowered = normalize("NFC", text).lower()
    return "-".join("".join(c if c.isalnum() else " " for c in lowered).split())
