"""Does a cache hold what its notes say? Compares the two, and writes nothing.

See ``spec/equivalence.md`` for the digests, for the kinds of differences and for why a note that
is edited meanwhile is never taken for a wrong row.
"""

from __future__ import annotations

import time

from index_cache import db, strict, verdict
from index_cache.diff import diff
from index_cache.equivalence import differences, place_of
from index_cache.guard import check_pages
from index_cache.model import WITHHELD
from index_cache.reader import Reader, parsers
from index_cache.scan import look
from index_cache.sides import Held, Notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from index_cache.equivalence import Side
    from index_cache.errors import RecallError
    from index_cache.files import FileSystem
    from index_cache.ingest import Progress
    from index_cache.model import Root, Skipped
    from index_cache.scan import Scan
    from index_cache.store import Store

UNAVAILABLE, MOVING, PENDING, WRONG = "unavailable", "moving", "pending", "wrong"
_PROGRESS = 500  # files read between two signs of life


class Difference:
    """A path of which a cache does not hold what the notes say.

    ``path`` is None for what belongs to no file or must not be named; ``kind`` is one of
    UNAVAILABLE, MOVING, PENDING and WRONG; ``what`` names the columns, or says ``missing``.
    """

    __slots__ = ("kind", "path", "what")

    def __init__(self, path: bytes | None, kind: str, what: Iterable[str]) -> None:
        self.path = path
        self.kind = kind
        self.what = tuple(what)

    def __repr__(self) -> str:
        return f"Difference({self.path!r}, {self.kind!r}, {self.what!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Difference) and (self.path, self.kind, self.what) == (
            other.path,
            other.kind,
            other.what,
        )

    def __hash__(self) -> int:
        return hash((self.path, self.kind, self.what))


class Proof:
    """What comparing a root's notes with its cache has shown.

    The digests are in hexadecimal, None where there was nothing to digest: of the notes, of the
    cache as it was found, and of a fresh one. ``deep`` has the same three with every posting in
    them, None unless asked for; ``directories`` the digests of the uppermost directories.
    ``cache_mark`` is what tells the cache from another in its place (``Store.mark``).
    ``damage`` says why the cache could not be read, or not all of it. ``answers`` is how many
    queries were asked of the old and the fresh cache, and how many of them got different answers.
    ``rebuilt`` says that a fresh cache took the place of the old one, ``failure`` why there is no
    proof. ``seconds`` is elapsed time.
    """

    __slots__ = (
        "answers",
        "cache_digest",
        "cache_file",
        "cache_mark",
        "canonical_digest",
        "damage",
        "deep",
        "differences",
        "directories",
        "documents",
        "failure",
        "notices",
        "rebuilt",
        "rebuilt_digest",
        "root",
        "seconds",
        "terms",
    )

    def __init__(self, root: Root, cache_file: str | None) -> None:
        self.root = root
        self.cache_file = cache_file
        self.cache_mark: str | None = None
        self.canonical_digest: str | None = None
        self.cache_digest: str | None = None
        self.rebuilt_digest: str | None = None
        self.deep: dict[str, str] | None = None
        self.directories: dict[bytes, str] = {}
        self.differences: list[Difference] = []
        self.documents = self.terms = 0
        self.answers: tuple[int, int] | None = None
        self.damage: str | None = None
        self.rebuilt = False
        self.notices: tuple[str, ...] = ()
        self.failure: RecallError | None = None
        self.seconds = 0.0

    @property
    def equivalent(self) -> bool:
        """Whether there was a cache that held, and answered, what the notes say."""
        same = self.canonical_digest is not None and self.cache_digest == self.canonical_digest
        sound = self.damage is None and not (self.answers and self.answers[1])
        return same and sound and not self.differences

    def tell(self, gathering: Gathering, *, deep: bool) -> None:
        """Put in what the notes are."""
        notes = gathering.side
        self.notices = tuple(gathering.found.notices)
        self.canonical_digest = notes.digest()
        self.documents, self.terms = notes.documents, gathering.notes.different_terms
        self.directories = {
            path: digest.hex()
            for path, digest in notes.directories.items()
            if path and b"/" not in path
        }
        if deep:
            self.deep = {"canonical_digest": notes.deep_digest()}


def check(
    root: Root,
    store: Store | None,
    fs: FileSystem,
    *,
    deep: bool,
    progress: Progress | None = None,
) -> Proof:
    """Compare a root's notes with its open cache; return what was found.

    Without a cache the notes alone are digested. ``deep`` reads every posting. Raises
    RootUnavailable when the root can't be listed, RootRefused for a strict root whose cache equals
    its notes and which has violations, and what reading a damaged cache raises.
    """
    started = time.perf_counter()
    proof = Proof(root, store.path if store else None)
    if store:
        store.begin_reading()
    try:
        proof.cache_mark = store.mark if store else None
        gathering = _gathered(root, store, fs, progress)
        proof.tell(gathering, deep=deep)
        compare(proof, gathering, deep=deep)
        if store:
            proof.damage = _fault(store)
            if root.rules.strict and proof.equivalent:
                _judge(store, gathering.found)
    finally:
        if store:
            store.end_reading()
    proof.seconds = time.perf_counter() - started
    return proof


def _judge(store: Store, found: Scan) -> None:
    """Raise RootRefused if a strict root, whose cache equals its notes, has violations."""
    refused = strict.refusal(store.root, verdict.violations(store, found.skipped))
    if refused is not None:
        raise refused


def _fault(store: Store) -> str | None:
    """Return what is damaged that no reading has needed; writing may, and so may searches."""
    try:
        check_pages(store)
    except db.TROUBLE as error:
        if not db.is_damage(error):
            raise
        return db.reason(error)
    return None


def _gathered(
    root: Root, store: Store | None, fs: FileSystem, progress: Progress | None
) -> Gathering:
    gathering = Gathering(root, fs, store)
    reader = Reader(root, fs, gathering.found.clock_ns, in_pieces=True, withheld=gathering.withheld)
    paths = sorted(gathering.found.entries)
    for done, path in enumerate(paths, 1):
        _, row = reader.row(path)
        if row:
            gathering.notes.add(row)
            for record in row.records.added if row.records else ():
                gathering.notes.add_record(path, record)
        if progress and not done % _PROGRESS:
            progress(root.name, done, len(paths))
    gathering.finish(reader.unavailable, reader.moving)
    if gathering.moving:
        look(root, fs)  # raises if it is the root that has gone
    return gathering


class Gathering:
    """The notes of a root while they are read, and what a refresh would make of each.

    ``store`` is the cache that they will be compared with, None for none. It is read first, so that
    what is compared of it is older than all that is ``found`` by the scan. ``withheld`` are the
    paths of the notes that withheld themselves when the cache saw them. After ``finish`` there is
    ``side``, that of the notes. Raises RootUnavailable when the root can't be listed.
    """

    side: Side

    def __init__(self, root: Root, fs: FileSystem, store: Store | None) -> None:
        self.manifest = store.signatures() if store else {}
        self.held = Held(store) if store else None
        known = self.held.side.leaves if self.held else {}
        self.withheld = {path for path, leaf in known.items() if leaf.problem == WITHHELD}
        self._suspects = store.suspects() if store else []
        self._outdated = store is not None and store.meta("parsers") != parsers()
        self.found: Scan = look(root, fs)
        self.notes = Notes(self.held.side if self.held else None)
        self.moving: set[bytes] = set()
        self.unavailable: set[bytes] = set()
        self._pending: set[bytes] = set()

    def finish(self, unread: Iterable[Skipped], moving: Iterable[bytes]) -> None:
        """End the reading; ``unread`` could not be read, ``moving`` of them kept changing."""
        self.side = self.notes.finish()
        seen = self.side.leaves
        self.moving = {*moving}
        self.unavailable = {each.path for each in unread} - self.moving
        self.moving |= self.found.entries.keys() - seen.keys() - self.unavailable
        # What was read counts, not what the scan saw before that.
        read = {key: leaf.signature for key, leaf in seen.items() if not place_of(key)[1]}
        self.found.entries.update(read)
        changes = diff(self.found, self.manifest, self._suspects)
        self._pending = {*changes.read, *changes.removed}
        self.unavailable |= self.manifest.keys() - self.found.entries.keys() - self._pending

    def kind(self, key: bytes) -> str:
        """Return what kind of difference one of this leaf would be."""
        path, _ = place_of(key)
        if path in self.moving:
            return MOVING
        if path in self.unavailable:
            return UNAVAILABLE
        if self._outdated:  # then recall refresh reads all notes again
            return PENDING
        said = self.side.leaves.get(key)
        held = self.held.side.leaves.get(key) if self.held else None
        # A refresh that finds the same bytes changes no document.
        same = said and held and said.document and held.document and said.content == held.content
        return PENDING if path in self._pending and not same else WRONG


def compare(proof: Proof, gathering: Gathering, *, deep: bool) -> None:
    """Put into a proof how the cache, if there is one, differs from the notes."""
    notes, held = gathering.side, gathering.held
    if held is None:
        return
    proof.cache_digest = held.side.digest()
    if deep or _terms_differ(gathering.notes, notes, held):
        held.read_postings()
    if deep and proof.deep is not None:
        proof.deep["cache_digest"] = held.side.deep_digest()
    for key, what in differences(notes, held.side).items():
        proof.differences.append(_told(key, gathering.kind(key), what, notes, held.side))
    if held.strays:
        proof.differences.append(Difference(None, WRONG, ["rows or terms of no file"]))


def _told(key: bytes, kind: str, what: list[str], notes: Side, cache: Side) -> Difference:
    """Return a difference; what is private, or was when it was last seen, has no name in it."""
    now = notes.leaves.get(key) or cache.leaves[key]
    path, line = place_of(key)
    if now.problem == WITHHELD:
        return Difference(None, kind, ["a private note"])
    return Difference(path, kind, [f"line {line}: {each}" for each in what] if line else what)


def _terms_differ(notes: Notes, side: Side, held: Held) -> bool:
    """Tell whether a cache's terms differ by more than those of the documents that differ."""
    if held.side.terms == side.terms:
        return False
    counts, agreeing = held.counts(), notes.agreeing_counts()
    differing = {
        key for key in counts.keys() | agreeing.keys() if counts.get(key) != agreeing.get(key)
    }
    others = held.numbers.keys() - notes.agreeing
    outdated = held.of_documents({term for term, _ in differing}, others) if others else {}
    nothing = (0, 0)
    for key in differing:
        documents, occurrences = counts.get(key, nothing)
        taken, places = outdated.get(key, nothing)
        if (documents - taken, occurrences - places) != agreeing.get(key, nothing):
            return True
    return False
