"""Reading records from the caches of some roots, and again where these prove to be outdated.

See "Freshness" in ``spec/reading.md``.
"""

from __future__ import annotations

from index_cache import db
from index_cache.errors import IntegrityError, NotFound
from index_cache.locks import last_used
from index_cache.refresh import Options
from recall.consult.readout import Outdated, Readout
from recall.nesting import Nesting, filters
from recall.opened import demand, repair, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from index_cache.files import FileSystem
    from index_cache.filters import Lifecycle
    from index_cache.ingest import Progress
    from index_cache.refresh import Report
    from recall.opened import OpenRoot

    T = TypeVar("T")

# How fresh the caches have to be: as they are, as far as their directories show, or wholly.
KEPT, LOOKED, SWEPT = "kept", "looked", "swept"


class Consulting:
    """One reading of some roots: ``reports`` tell what happened in each.

    What went wrong is kept in the state directory, as of a search.
    """

    def __init__(
        self,
        opened: Sequence[OpenRoot],
        fs: FileSystem,
        cwd: str,
        state_dir: str | None,
    ) -> None:
        self._opened = opened
        self._fs = fs
        self._cwd = cwd
        self._state = state_dir
        self.reports: list[Report] = []
        self.is_swept = False  # all files have been looked at

    def run(
        self,
        make: Callable[[Readout], T],
        how: str,
        wait: float = 30.0,
        progress: Progress | None = None,
        types: Sequence[str] | None = None,
        lifecycle: Lifecycle | None = None,
    ) -> T:
        """Return what ``make`` makes of the caches, which are as fresh as ``how`` says.

        Raises what it raises, at the second try unless they are to stay as they are; instead of
        NotFound the failure of a root that might have had it.
        """
        options = Options(wait=wait, progress=progress, directories=how == LOOKED)
        try:
            return self._run(make, how, options, types, lifecycle)
        finally:
            swept = self.is_swept
            looked = [each for each in self.reports if swept or each.damage or each.built]
            if looked:
                from recall import failures  # most readings have nothing to tell

                failures.record(self._state, looked)

    def _run(
        self,
        make: Callable[[Readout], T],
        how: str,
        options: Options,
        types: Sequence[str] | None,
        lifecycle: Lifecycle | None,
    ) -> T:
        if how == SWEPT:
            self._sweep(options)
        else:
            self.reports = [
                each.look(options) if how == LOOKED else each.as_it_is(options.wait)
                for each in self._opened
            ]
        try:
            return self._read(make, types, lifecycle, options, last=how == KEPT)
        except Outdated:
            pass
        except (NotFound, IntegrityError):
            if how != LOOKED:
                raise
        self._sweep(options)
        return self._read(make, types, lifecycle, options, last=True)

    def last_refresh(self) -> float | None:
        """Return when the oldest of the caches was last brought up to date, in epoch seconds.

        None if that is not known of one of them.
        """
        stores = [each.store for each in self._opened]
        times = [last_used(each.path) if each and each.path else None for each in stores]
        known = [each for each in times if each is not None]
        return min(known, default=None) if len(known) == len(times) else None

    def _sweep(self, options: Options) -> None:
        self.reports = [each.refresh(options) for each in self._opened]
        self.is_swept = True

    def _read(
        self,
        make: Callable[[Readout], T],
        types: Sequence[str] | None,
        lifecycle: Lifecycle | None,
        options: Options,
        *,
        last: bool,
    ) -> T:
        while True:
            try:
                return self._made(make, types, lifecycle, last=last)
            except NotFound as error:
                failures = [each.failure for each in self.reports if each.failure is not None]
                raise (failures[0] if failures else error) from error
            except db.TROUBLE as error:
                if not db.is_damage(error):
                    raise unreadable(error) from error
                repair(self._opened, error, self.reports, options)

    def _made(
        self,
        make: Callable[[Readout], T],
        types: Sequence[str] | None,
        lifecycle: Lifecycle | None,
        *,
        last: bool,
    ) -> T:
        demand(self._opened, self.reports)
        roots = [each.root for each in self._opened]
        stores = [each.view for each in self._opened]
        parts = filters(roots, Nesting(roots, stores), types, None, self._cwd, True)  # noqa: FBT003
        live = []
        for root, store, part in zip(roots, stores, parts, strict=True):
            if store is not None and part is not None:
                part.lifecycle, part.valid_at = lifecycle, None
                live.append((root, store, part))
        failures = [each.failure for each in self.reports if each.failure is not None]
        if failures and not live:
            raise failures[0]
        try:
            for _, store, _ in live:
                store.begin_reading()
            return make(Readout(live, self._fs, now(self._fs), last=last))
        finally:
            for _, store, _ in live:
                store.end_reading()


def now(fs: FileSystem) -> int:
    """Return the time in microseconds since 1970 UTC."""
    return fs.now_ns() // 1000
