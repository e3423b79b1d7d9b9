"""Make a root's cache from nothing, prove it, compare the old one, and swap the two.

The order of events, and why readers and a refresh may go on meanwhile, is in
``spec/equivalence.md``.
"""

from __future__ import annotations

import time

import apsw

from index_cache import db, locks, search, strict, verdict
from index_cache.analyze import Analyzers
from index_cache.candidates import candidates
from index_cache.diff import diff
from index_cache.equivalence import differences, place_of
from index_cache.errors import CacheBusy, CheckFailed, RootUnavailable
from index_cache.filters import Filter
from index_cache.keeping import write
from index_cache.model import Term
from index_cache.refresh import existing
from index_cache.scan import look
from index_cache.sides import Held
from index_cache.store import Store
from index_cache.verify import Gathering, Proof, compare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from index_cache.equivalence import Vocabulary
    from index_cache.files import FileSystem
    from index_cache.ingest import Progress
    from index_cache.model import Root

_TITLES = 8  # that are asked for
_TERMS = 16  # rare ones that are
_MOST_TERMS = 24  # of one title
_RARE = 3  # documents at most
_HITS = 10


def rebuild(
    root: Root,
    directory: str,
    fs: FileSystem,
    *,
    deep: bool = False,
    wait: float = 30.0,
    progress: Progress | None = None,
) -> Proof:
    """Put a fresh and proven cache in the place of a root's cache in ``directory``.

    ``deep`` proves every posting; ``wait`` is how many seconds to wait for another writer. Raises
    RootUnavailable when notes that the cache has can't be looked at; CacheBusy when another process
    is at it for longer than the wait; RootRefused for a strict root with violations; CheckFailed
    when the fresh cache is not what the notes say; OSError and apsw.Error when it can't be written.
    Then the old one is left as it is.
    """
    return _Rebuild(root, directory, fs, deep=deep, wait=wait, progress=progress).run()


def fresh_path(path: str) -> str:
    """Return where a fresh cache file is made for the one at ``path``."""
    return path.removesuffix(db.SUFFIX) + db.FRESH


class _Rebuild:
    """One rebuild of one root."""

    def __init__(
        self,
        root: Root,
        directory: str,
        fs: FileSystem,
        *,
        deep: bool,
        wait: float,
        progress: Progress | None,
    ) -> None:
        self.root = root
        self.directory = directory
        self.path = db.cache_path(directory, root)
        self.fs = fs
        self.deep = deep
        self.wait = wait
        self.progress = progress
        self.proof = Proof(root, self.path)

    def run(self) -> Proof:
        started = time.perf_counter()
        db.refuse_directory(self.directory)
        db.ensure_directory(self.directory)
        beside = fresh_path(self.path)
        with locks.WriterLock(beside) as lock:
            if not lock.acquire(self.wait):
                raise CacheBusy(
                    f"another process is rebuilding root {self.root.name}",
                    where=self.root.path,
                    hint="try again when it is done",
                )
            db.discard(beside)  # what a killed one left
            old = self._old()
            try:
                self._make(beside, old)
            finally:
                if old:
                    old.close()
                db.discard(beside)
        self.proof.seconds = time.perf_counter() - started
        return self.proof

    def _old(self) -> Store | None:
        """Begin to read the cache as it is; None when there is none, or none that can be read."""
        store = None
        try:
            store = existing(self.root, self.path, self.wait)
            store.begin_reading()
            if store.built:
                return store
        except apsw.CantOpenError:
            return None
        except db.TROUBLE as error:
            self._condemn(error)
        if store:
            store.close()
        return None

    def _make(self, beside: str, old: Store | None) -> None:
        gathering, old = self._gathering(old)
        fresh = Store.create(self.root, beside)
        try:
            done = write(
                fresh,
                self.fs,
                gathering.found,
                diff(gathering.found, {}, ()),
                self.progress,
                gathering.notes,
                withheld=gathering.withheld,
            )
            if self.root.rules.strict:
                self._judge(fresh)
            gathering.finish(done.unavailable, done.moving)
            self.proof.tell(gathering, deep=self.deep)
            self._prove(fresh, gathering)
            had = self._compare(old, fresh, gathering) if old else frozenset()
            self._swap(fresh, gathering, had)
        finally:
            fresh.close()

    def _judge(self, fresh: Store) -> None:
        """Raise RootRefused if a strict root is not to be answered from."""
        refused = strict.refusal(self.root, verdict.violations(fresh))
        if refused is not None:
            raise refused

    def _gathering(self, old: Store | None) -> tuple[Gathering, Store | None]:
        """Return the notes to be read, and the old cache if its manifest can be."""
        try:
            return Gathering(self.root, self.fs, old), old
        except db.TROUBLE as error:
            self._condemn(error)
        return Gathering(self.root, self.fs, None), None

    def _condemn(self, error: Exception) -> None:
        """Note that the old cache is damaged; raise the error again if it says something else."""
        if not db.is_damage(error):
            raise error
        self.proof.damage = db.reason(error)
        self.proof.cache_digest = None
        self.proof.differences.clear()

    def _prove(self, fresh: Store, gathering: Gathering) -> None:
        """Read the fresh cache back. Raises CheckFailed unless it is what the notes say."""
        held = Held(fresh)
        self.proof.rebuilt_digest = held.side.digest()
        same = self.proof.rebuilt_digest == self.proof.canonical_digest
        if self.deep and self.proof.deep:
            held.read_postings()
            self.proof.deep["rebuilt_digest"] = held.side.deep_digest()
            same &= self.proof.deep["rebuilt_digest"] == self.proof.deep["canonical_digest"]
        if not same or held.strays:
            count = len(differences(gathering.side, held.side))
            raise CheckFailed(
                f"the fresh cache of root {self.root.name} is not what its {self.proof.documents:,}"
                f" notes say ({count:,} differ); the old one stays",
                where=self.path,
                hint="run recall rebuild again; if it stays so, that is a fault to report",
            )

    def _compare(self, old: Store, fresh: Store, gathering: Gathering) -> frozenset[bytes]:
        """Compare the old cache with the notes; return the paths of its documents."""
        try:
            compare(self.proof, gathering, deep=self.deep)
            if self.proof.equivalent:
                self.proof.answers = _answers(old, fresh, gathering.notes.terms)
            held = gathering.held.numbers if gathering.held else ()
            return frozenset(place_of(key)[0] for key in held)
        except db.TROUBLE as error:
            self._condemn(error)
            return frozenset()
        finally:
            old.end_reading()

    def _swap(self, fresh: Store, gathering: Gathering, had: frozenset[bytes]) -> None:
        """Put the fresh cache, with what has changed meanwhile, in the old one's place."""
        with locks.WriterLock(self.path) as lock:
            if not lock.acquire(self.wait):
                raise locks.busy(self.root, self.wait)
            found = look(self.root, self.fs)
            changes = diff(found, fresh.signatures(), fresh.suspects())
            write(fresh, self.fs, found, changes, withheld=gathering.withheld)
            gone = diff(found, gathering.manifest, ()).removed
            unread = gathering.unavailable | gathering.moving
            lost = had & unread - fresh.paths() - {*gone}
            if lost:
                raise RootUnavailable(
                    f"root {self.root.name} is not rebuilt: {len(lost):,} of the notes that its "
                    "cache has can't be read now, and would be forgotten",
                    where=self.root.path,
                    hint="recall status --skipped tells why; recall refresh --prune forgets them",
                )
            try:
                self._replace(fresh)
            except db.TROUBLE as error:
                self._condemn(error)  # in a page that only writing needs
                self._replace(fresh)
        self.proof.rebuilt = True
        self.proof.cache_mark = fresh.mark
        locks.mark_used(self.path)

    def _replace(self, fresh: Store) -> None:
        live = self._live()
        try:
            _copy(fresh, live)
        finally:
            live.close()

    def _live(self) -> Store:
        """Open the cache that is to be replaced, or make an empty one; the lock is held."""
        if not self.proof.damage:
            try:
                return existing(self.root, self.path, 0)
            except apsw.CantOpenError:
                pass
            except db.TROUBLE as error:
                if not db.is_damage(error):
                    raise
        db.discard(self.path)
        return Store.create(self.root, self.path)


def _copy(fresh: Store, live: Store) -> None:
    """Put all pages of one cache into another, in one transaction: https://sqlite.org/backup.html.

    The generation grows, so that a refresh that began before it will look again.
    """
    db.prepare_writer(live.connection)
    with db.Transaction(fresh.connection):
        generation = max(fresh.generation, live.generation) + 1
        fresh.set_meta("generation", generation)
        fresh.set_meta("directories_of", generation)
        if fresh.root.rules.strict:
            fresh.set_meta("repeated_of", generation)
    copying = live.connection.backup("main", fresh.connection, "main")
    try:
        copying.step()
    finally:
        copying.close(True)  # noqa: FBT003 - "force": the error, if there is one, is step's
    if not live.checkpoint():
        # A reader is in the way: the old pages, and deleted text in them, stay until the next one.
        with db.Transaction(live.connection):
            live.set_lingering(time.time())


def _answers(old: Store, fresh: Store, known: Vocabulary) -> tuple[int, int]:
    """Return how many queries were asked of both caches, and how many got different answers."""
    asked = different = 0
    for terms in _queries(fresh, known):
        asked += 1
        different += _ranked(old, terms) != _ranked(fresh, terms)
    return asked, different


def _queries(store: Store, known: Vocabulary) -> Iterator[Sequence[Term]]:
    """Yield what to ask for: titles, in the order of their notes' digests, and rare terms."""
    analyzers = Analyzers()
    titles = store.connection.execute(
        "SELECT d.title, d.language FROM document AS d JOIN entry AS e ON e.id = d.entry"
        " ORDER BY coalesce(d.digest, e.digest) LIMIT ?",
        (_TITLES,),
    )
    for title, language in titles:
        terms = dict.fromkeys(analyzers[str(language)].terms(str(title)))
        yield list(map(Term, terms))[:_MOST_TERMS]
    rare = known.rare(_RARE)
    for term in rare[:: len(rare) // _TERMS + 1]:
        yield [Term(term)]


def _ranked(store: Store, terms: Sequence[Term]) -> list[tuple[str, bytes]]:
    """Return scores, to the last bit, and paths of the best hits."""
    statistics = search.statistics(store, terms)
    everything = Filter(journal=True, proposal=True)
    hits = candidates([store], [everything], [statistics], statistics, terms, _HITS)
    return sorted((hit.bm25.hex(), hit.path) for hit in hits)
