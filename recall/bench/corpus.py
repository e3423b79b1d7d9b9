"""The documents of some roots by every name that a label may give them.

Read from the caches as they are. See "A document is named" in ``spec/bench.md``.
"""

from __future__ import annotations

import os
from contextlib import closing

from index_cache import db, files
from index_cache.equivalence import digest
from index_cache.errors import RootUnavailable
from index_cache.sides import Held
from index_cache.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from index_cache.model import Root

_JOURNAL = "journal"
_COLUMNS = "e.path, e.digest, d.record_id, d.title, d.description, d.type"


class Doc:
    """One document: ``place`` is ``ROOT:PATH``, ``file`` its absolute path as bytes.

    ``key`` is the place of the first document with the same ``content`` (its digest, hexadecimal),
    which stands for all of them.
    """

    __slots__ = (
        "content",
        "description",
        "file",
        "key",
        "path",
        "place",
        "record_id",
        "root",
        "title",
        "type",
    )

    def __init__(self, root: str, path: str, file: bytes, record_id: str) -> None:
        self.root = root
        self.path = path
        self.place = f"{root}:{path}"
        self.key = self.place
        self.file = file
        self.record_id = record_id
        self.content = self.title = self.description = self.type = ""

    @property
    def is_journal(self) -> bool:
        """Whether it is left out of what is searched, unless that is asked for."""
        return self.type.lower() == _JOURNAL


class Corpus:
    """All documents of some roots.

    ``roots`` has of each root its name, its digest as ``recall rebuild`` tells it, and how many
    documents it has; ``cache_bytes`` is what their caches take on disk.
    """

    def __init__(self) -> None:
        self.documents: list[Doc] = []
        self.roots: list[tuple[str, str, int]] = []
        self.cache_bytes = 0
        self._names: dict[str, set[str]] = {}
        self._first: dict[bytes, str] = {}
        self._by_key: dict[str, Doc] = {}
        self._by_base: dict[str, list[str]] = {}

    def add(self, doc: Doc, content: bytes) -> None:
        """Add a document, of whose content this is the digest."""
        doc.key = self._first.setdefault(content, doc.place)
        doc.content = content.hex()
        self.documents.append(doc)
        self._by_key.setdefault(doc.key, doc)
        self._by_base.setdefault(os.path.basename(doc.path), []).append(doc.place)
        for name in {doc.place, doc.path, files.display(doc.file), doc.record_id} - {""}:
            self._names.setdefault(name, set()).add(doc.key)

    def keys(self, name: str) -> list[str]:
        """Return the keys of the documents with this name: one, if all is well."""
        found = self._names.get(name)
        if found is None and "/" in name and "\0" not in name:
            # Roots are known by their real paths.
            plain = os.path.realpath(name) if os.path.isabs(name) else os.path.normpath(name)
            found = self._names.get(plain)
        return sorted(found or ())

    def key(self, name: str) -> str:
        """Return the key of a document, or the name itself if no document has it."""
        return next(iter(self.keys(name)), name)

    def contents(self) -> dict[str, str]:
        """Return the digest of what each document says, by its place."""
        return {doc.place: doc.content for doc in self.documents}

    def content(self, name: str) -> str:
        """Return the digest of what a document says, or the name itself if no document has it."""
        doc = self.get(self.key(name))
        return name if doc is None else doc.content

    def get(self, key: str) -> Doc | None:
        """Return the document that stands for a key."""
        return self._by_key.get(key)

    def similar(self, name: str, most: int = 3) -> list[str]:
        """Return the places of documents whose files have the same name: it may have moved."""
        return self._by_base.get(os.path.basename(name), [])[:most]

    def digest(self) -> str:
        """Return the digest of all roots, in hexadecimal."""
        parts = [
            part
            for name, value, _ in sorted(self.roots)
            for part in (name.encode("utf-8", "surrogatepass"), value.encode())
        ]
        return digest(b"recall corpus 1", *parts).hex()


def read(cache_dir: str, roots: Sequence[Root], *, digests: bool) -> Corpus:
    """Return the documents of some roots, whose caches are in ``cache_dir``.

    Without ``digests`` the roots have none, which saves reading all terms. Raises RootUnavailable
    when a root has no whole cache, or it can't be read.
    """
    from recall.caches import size_on_disk

    corpus = Corpus()
    for root in roots:
        path = db.cache_path(cache_dir, root)
        try:
            if not os.path.lexists(path):
                raise _unread(root, "there is none")
            with closing(Store(root, path)) as store:
                if not store.built:
                    raise _unread(root, "it is not whole")
                before = len(corpus.documents)
                _add(corpus, root, _rows(store))
                value = Held(store).side.digest() if digests else ""
        except db.TROUBLE as error:
            raise _unread(root, db.reason(error)) from error
        corpus.roots.append((root.name, value, len(corpus.documents) - before))
        corpus.cache_bytes += size_on_disk(path)
    return corpus


def _unread(root: Root, why: str) -> RootUnavailable:
    return RootUnavailable(
        f"{root.name}: its cache can't be read: {why}", where=root.path, hint="recall refresh"
    )


def _rows(store: Store) -> Iterator[tuple[bytes, bytes, str, str, str, str]]:
    yield from store.connection.execute(
        f"SELECT {_COLUMNS} FROM entry AS e JOIN document AS d USING (id) ORDER BY e.path"  # noqa: S608
    )


def _add(
    corpus: Corpus, root: Root, rows: Iterable[tuple[bytes, bytes, str, str, str, str]]
) -> None:
    for path, content, record_id, title, description, type_ in rows:
        file = os.path.join(os.fsencode(root.path), path)
        doc = Doc(root.name, files.display(path), file, record_id)
        doc.title, doc.description, doc.type = title, description, type_
        corpus.add(doc, content)
