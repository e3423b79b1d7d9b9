"""The facade that the command line, the hook and users of the library share."""

from __future__ import annotations

import os
import time

from index_cache import db
from index_cache.analyze import Analyzers
from index_cache.files import FileSystem
from index_cache.model import Root
from index_cache.refresh import Options
from recall import caches, config, dirs, failures
from recall.asked import may_narrow
from recall.nesting import Nesting, filters
from recall.opened import compare, demand, open_roots, repair, unreadable
from recall.searching import Answer, Request, Searching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self, TypeVar

    from index_cache.filters import Filter, Lifecycle
    from index_cache.ingest import Progress
    from index_cache.refresh import Report
    from index_cache.store import Store
    from index_cache.verify import Proof
    from recall.card import Card
    from recall.consult.readout import Readout, Timeline
    from recall.consult.records import Record
    from recall.consult.wish import Wish
    from recall.duplicates import Duplicate
    from recall.rootstatus import RootStatus
    from recall.writing.adapter import Adapter

    T = TypeVar("T")

_SWEPT = 2.0  # seconds for which ``Recall.search`` trusts its last look at the files


def _listed(types: Iterable[str] | str | None) -> list[str] | None:
    return None if types is None else [types] if isinstance(types, str) else [*types]


class Recall:
    """Search over some roots, with their caches kept open between calls.

    ``roots`` are Root objects or directories, or a single directory; without any, the
    configuration of ``cwd`` counts. ``groups`` names groups of roots in it, or one, which are added
    to ``roots`` if there are any. ``environ`` stands for the environment, ``cache_dir`` for
    where the caches are kept. Not for use from several threads at once. Raises what
    ``recall.config.load`` raises.
    """

    def __init__(
        self,
        roots: Iterable[Root | str | os.PathLike[str]] | str | os.PathLike[str] | None = None,
        *,
        groups: Iterable[str] | str = (),
        cwd: str | None = None,
        environ: Mapping[str, str] | None = None,
        cache_dir: str | None = None,
        fs: FileSystem | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._cwd = cwd or os.getcwd()
        self._fs = fs or FileSystem()
        self._analyzers = Analyzers()
        self._swept: float | None = None
        self._chosen = roots is not None
        groups = (groups,) if isinstance(groups, str) else tuple(groups)
        given: Iterable[Root | str | os.PathLike[str]] = ()
        if roots is not None:
            given = (roots,) if isinstance(roots, str | os.PathLike) else roots
        found = tuple(self._root(each) for each in given)
        if roots is None or groups:
            load = config.load
            found += load(self._cwd, self._environ, groups=groups, fallback=not groups).roots
        self._directory = cache_dir or dirs.cache_dir(self._environ)
        self._state = dirs.state_dir(self._environ)
        self._opened = open_roots(found, self._directory, self._fs)

    @property
    def roots(self) -> tuple[Root, ...]:
        """The roots that are searched, in order."""
        return tuple(each.root for each in self._opened)

    def _root(self, given: Root | str | os.PathLike[str]) -> Root:
        if isinstance(given, Root):
            return given
        path = os.path.realpath(os.path.join(self._cwd, os.fspath(given)))
        return Root(os.path.basename(path) or path, path)

    def adapter(self, name: str) -> Adapter:
        """Return one agent's way to these roots: it reads, and writes only what a call grants.

        ``name`` is claude, hermes, codex or subagent. Raises InvalidInput for any other.
        """
        from recall.writing.adapter import Adapter

        return Adapter(self, name, self._cwd, self._environ, chosen=self._chosen)

    def only(self, root: Root) -> Recall:
        """Return one of its own for a root, with the same caches."""
        return Recall(
            [root], cwd=self._cwd, environ=self._environ, cache_dir=self._directory, fs=self._fs
        )

    def views(self) -> list[Store]:
        """Return the caches that are open and whole, as the last answer left them."""
        return [store for each in self._opened if (store := each.view) is not None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the caches."""
        for each in self._opened:
            each.close()

    def search(
        self,
        query: str,
        k: int = 10,
        types: Iterable[str] | str | None = None,
        under: str | None = None,
        include_journal: bool = False,  # noqa: FBT001, FBT002 - the published signature
    ) -> list[Card]:
        """Return the ``k`` best cards for any text.

        ``types`` limits to notes of these types, ``under`` to notes below a path (relative to
        each root, or absolute), ``include_journal`` lets notes of type Journal in. The files are
        looked at anew when the last look was over two seconds ago; what is shown is always
        checked. Raises the error of the first root when no root at all could be searched.
        """
        recent = self._swept is not None and time.monotonic() - self._swept < _SWEPT
        answer = self.answer(query, k, types, under, include_journal, refresh=not recent)
        failed = [report.failure for report in answer.reports if report.failure]
        if failed and len(failed) == len(answer.reports) and not answer.cards:
            raise failed[0]
        return answer.cards

    def answer(
        self,
        query: str,
        k: int = 10,
        types: Iterable[str] | str | None = None,
        under: str | None = None,
        include_journal: bool = False,  # noqa: FBT001, FBT002 - as in search
        *,
        refresh: bool = True,
        explain: bool = False,
        wait: float = 30.0,
        recency: float = 0.0,
        progress: Progress | None = None,
        operators: bool = False,
        include_proposal: bool = False,
        wish: Wish | None = None,
    ) -> Answer:
        """Return all that ``search`` finds out, and what happened in each root.

        With ``operators`` those in the query count (``spec/operators.md``), else it is all text.
        ``wait`` is how many seconds to wait for another process that makes a first cache.
        ``recency``, finite and not negative, is the weight of being new (``relevance.share``).
        ``include_proposal`` lets notes of type Proposal in. ``wish`` is what is asked for besides
        (``spec/reading.md``); its pages stand for ``k``.
        """
        request = Request(
            k,
            _listed(types),
            under,
            journal=include_journal,
            proposal=include_proposal,
            explain=explain,
            recency=recency,
            operators=operators,
            wish=wish,
        )
        options = Options(wait=wait, progress=progress)
        reports = [
            each.refresh(options) if refresh else each.as_it_is(wait) for each in self._opened
        ]
        if refresh:
            self._swept = time.monotonic()
        answer = Answer(query, reports)
        try:
            demand(self._opened, reports)
            while not self._filled(answer, request, options):
                continue
        finally:
            looked = [each for each in reports if refresh or each.damage or each.built]
            failures.record(self._state, looked)
        return answer

    def _filled(self, answer: Answer, request: Request, options: Options) -> bool:
        """Fill in an answer; False if a cache was damaged and has been made anew instead."""
        try:
            self._fill(answer, request)
        except db.TROUBLE as error:
            if not db.is_damage(error):
                raise unreadable(error) from error
            repair(self._opened, error, answer.reports, options)
            answer.total, answer.cards = 0, []
            return False
        return True

    def _fill(self, answer: Answer, request: Request) -> None:
        live = self._live(answer, request)
        try:
            for _, store, _, _ in live:
                store.begin_reading()
            searching = Searching(live, self._analyzers, self._fs, self._cwd, request.recency)
            if request.wish is None:
                searching.run(answer, request.k, explain=request.explain)
            else:
                from recall.consult.wishing import grant  # few searches ask for more

                grant(searching, answer, request, request.wish, live, self._fs)
        finally:
            for _, store, _, _ in live:
                store.end_reading()

    def _live(
        self, answer: Answer, request: Request
    ) -> list[tuple[Root, Store, Filter | None, bool]]:
        """Return what is searched: each root that has a view, with what of it is asked for."""
        stores = [each.view for each in self._opened]
        nesting = Nesting(self.roots, stores)
        wanted = filters(
            self.roots,
            nesting,
            request.types,
            request.under,
            self._cwd,
            request.journal,
            proposal=request.proposal,
            valid_at=self._fs.now_ns() // 1000,
        )
        if request.operators and may_narrow(answer.query):
            from recall.narrowing import narrow, understood

            answer.operators = understood(answer.query, self.roots, stores, self._analyzers)
            wanted = narrow(self.roots, stores, wanted, answer.operators, self._analyzers)
        if request.wish is not None:
            for part in wanted:
                if part is not None:
                    part.lifecycle = request.wish.lifecycle
        return [
            (root, store, part, counted)
            for root, store, part, counted in zip(
                self.roots, stores, wanted, nesting.counted, strict=True
            )
            if store is not None
        ]

    def get(self, ids: Iterable[str] | str) -> list[Record]:
        """Return the whole records with these ids, 1 to 100, in their order, each once.

        The files are looked at as for ``search``. Raises NotFound for an id that no record has,
        IntegrityError for one that several have, InvalidInput for too many.
        """
        from recall.consult.readout import asked_ids

        asked = asked_ids([ids] if isinstance(ids, str) else ids)
        return self._consult(lambda readout: readout.get(asked))

    def timeline(
        self,
        anchor: str,
        before: int = 5,
        after: int = 5,
        types: Iterable[str] | str | None = None,
        lifecycle: Lifecycle | None = None,
    ) -> Timeline:
        """Return the records before and after an id or an ISO 8601 time, 0 to 100 of each.

        ``types`` is as for ``search``, ``lifecycle`` limits it to sources and sessions. The files
        are looked at as for ``search``. Raises NotFound, IntegrityError, InvalidInput.
        """
        return self._consult(
            lambda readout: readout.timeline(anchor, before, after), _listed(types), lifecycle
        )

    def _consult(
        self,
        make: Callable[[Readout], T],
        types: list[str] | None = None,
        lifecycle: Lifecycle | None = None,
    ) -> T:
        from recall.consult.consulting import LOOKED, SWEPT, Consulting

        recent = self._swept is not None and time.monotonic() - self._swept < _SWEPT
        how = LOOKED if recent else SWEPT
        consulting = Consulting(self._opened, self._fs, self._cwd, self._state)
        try:
            return consulting.run(make, how, types=types, lifecycle=lifecycle)
        finally:
            if consulting.is_swept:
                self._swept = time.monotonic()

    def refresh(
        self,
        *,
        prune: bool = False,
        compact: bool = False,
        wait: float = 30.0,
        progress: Progress | None = None,
    ) -> list[Report]:
        """Bring all caches up to date, waiting for other writers; return what was done.

        ``prune`` also takes out what a root or directory that shows nothing may have lost,
        ``compact`` leaves nothing of deleted text in the files. Caches that nobody has used for a
        month are deleted, and those of the same directories by other rules.
        """
        options = Options(wait=wait, insist=True, prune=prune, compact=compact, progress=progress)
        reports = []
        for each in self._opened:
            reports.append(each.refresh(options))
            each.release()  # what FTS5 gathers a build's terms in stays with its connection
        compare(self._opened, reports)
        self._swept = time.monotonic()
        failures.record(self._state, reports)
        if self._directory is not None:
            from recall import resolved

            roots = {root.path for root in self.roots}
            used = {db.cache_path(self._directory, root) for root in self.roots}
            caches.sweep(self._directory, roots, used, compact=compact)
            resolved.sweep(self._directory)
        return reports

    def rebuild(
        self,
        *,
        only_check: bool = False,
        deep: bool = False,
        wait: float = 30.0,
        progress: Progress | None = None,
    ) -> list[Proof]:
        """Make all caches anew from the notes, and prove them; return the proofs.

        ``only_check`` compares the caches as they are and writes nothing, ``deep`` compares every
        posting, ``wait`` is how many seconds to wait for another writer.
        """
        from recall import proofs
        from recall.proving import Request, prove

        request = Request(only_check=only_check, deep=deep, wait=wait, progress=progress)
        for each in self._opened:
            each.close()  # what is open here would be in the way of the checkpoint
        found = [prove(root, self._directory, self._fs, request) for root in self.roots]
        failures.record_proofs(self._state, found)
        proofs.record(self._state, found)
        return found

    def duplicates(self) -> list[Duplicate]:
        """Return the ids that several records have, from the caches as they are."""
        from recall.duplicates import duplicates

        return duplicates(self.roots, self._directory)

    def status(self) -> list[RootStatus]:
        """Return the state of each root's cache as it is, without looking at the files.

        A damaged cache is noted and deleted: the next search makes it anew.
        """
        from recall.rootstatus import root_status

        states = [(db.identity(each), root_status(each, self._directory)) for each in self.roots]
        damaged = {
            name: (state.damage, state.kept is not None) for name, state in states if state.damage
        }
        told = failures.found(self._state, damaged) if damaged else failures.read(self._state)
        for name, state in states:
            known = told.get(name, {})
            state.last_failure, state.last_damage = known.get("failure"), known.get("damage")
        return [state for _, state in states]
