"""What the commands that read records share: their options, and how they come to their answers."""

from __future__ import annotations

import os
import sys
import time

import click

from recall.cli import completing
from recall.cli.common import Console, flush_output, progress_on, working_directory
from recall.cli.options import waited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from index_cache.filters import Lifecycle
    from index_cache.refresh import Report
    from recall.consult.readout import Readout
    from recall.resolved import Resolved
    from recall.settings import Config

    T = TypeVar("T")


def instant(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Read a time as microseconds since 1970 UTC; a day of ``--to`` is its end."""
    from index_cache.moments import instant as read

    if value is None:
        return None
    found = read(value, last=parameter.name == "to")
    if found is None:
        raise click.BadParameter("must be an ISO 8601 date or time", context, parameter)
    return found


def not_empty(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse an empty text, which would mean all records that say nothing there."""
    if not all(map(str.strip, values)):
        raise click.BadParameter("must not be empty", context, parameter)
    return values


type_option = click.option(
    "--type",
    "types",
    multiple=True,
    callback=not_empty,
    shell_complete=completing.a_type,
    help="Only notes of this type. Repeatable.",
)
source_option = click.option(
    "--source",
    "sources",
    multiple=True,
    callback=not_empty,
    metavar="TEXT",
    shell_complete=completing.a_source,
    help="Only records with exactly this source. Repeatable.",
)
session_option = click.option(
    "--session",
    "sessions",
    multiple=True,
    callback=not_empty,
    metavar="TEXT",
    shell_complete=completing.a_session,
    help="Only records of exactly this session. Repeatable.",
)
no_refresh_option = click.option(
    "--no-refresh",
    is_flag=True,
    help="Answer from the cache as it is; it is built if there is none.",
)
wait_option = click.option(
    "--wait",
    type=float,
    callback=waited,
    metavar="SECONDS",
    help="How long to wait for another process to build the first cache, to 3600.  [default: 30]",
)


def lifecycle(
    sources: Sequence[str],
    sessions: Sequence[str],
    since: int | None = None,
    to: int | None = None,
) -> Lifecycle | None:
    """Return what limits records by source, session and time, None if nothing does."""
    from index_cache.filters import Lifecycle

    return Lifecycle(sources or None, sessions or None, since, to) or None


class Consulted:
    """One consultation of the caches: ``reports`` tell what happened in each root."""

    def __init__(
        self,
        console: Console,
        names: tuple[str, ...],
        groups: tuple[str, ...],
        wait: float | None,
    ) -> None:
        self._cwd = working_directory()
        self._console = console
        self._names: tuple[str, ...] | None = None  # of what is not simply configured
        self._settings = self._load(names, groups)
        self._wait = self._settings.search.wait if wait is None else wait
        self._overdue = False
        self.reports: list[Report] = []

    def _load(self, names: tuple[str, ...], groups: tuple[str, ...]) -> Config | Resolved:
        """Return the configuration, the kept one if it says all that there is to say."""
        if not names and not groups:
            from recall import resolved

            kept = resolved.load(self._cwd, os.environ)
            if kept.roots and not kept.notices:
                return kept
        from recall import config

        settings = config.load(self._cwd, os.environ, names, groups=groups, fallback=True)
        of_groups = (
            name for name, its in settings.groups.items() if not set(its).isdisjoint(groups)
        )
        self._names = (*names, *of_groups)
        self._console.note_all(settings.notices)
        return settings

    def ask(
        self,
        make: Callable[[Readout], T],
        how: str,
        types: Sequence[str] = (),
        limits: Lifecycle | None = None,
    ) -> T:
        """Return what is made of the caches. Raises RecallError."""
        from index_cache.files import FileSystem
        from recall import dirs
        from recall.consult.consulting import LOOKED, Consulting
        from recall.opened import open_roots

        fs = FileSystem()
        opened = open_roots(self._settings.roots, dirs.cache_dir(os.environ), fs)
        consulting = Consulting(opened, fs, self._cwd, dirs.state_dir(os.environ))
        try:
            with progress_on(sys.stderr) as progress:
                made = consulting.run(make, how, self._wait, progress, list(types) or None, limits)
            if how == LOOKED:
                self._overdue = self._is_old(consulting.last_refresh())
        finally:
            for each in opened:
                each.close()
        self.reports = consulting.reports
        self._console.note_reports(self.reports)
        return made

    def _is_old(self, refreshed: float | None) -> bool:
        interval = self._settings.hook.refresh_interval
        return refreshed is None or not 0 <= time.time() - refreshed < interval

    def follow_up(self) -> None:
        """Start the refresh beside the prompt hook if it is due, once the answer is out."""
        if not self._overdue:
            return
        from recall import background

        flush_output()
        interval = self._settings.hook.refresh_interval
        roots = self._settings.roots
        background.ask(self._cwd, os.environ, roots, interval, names=self._names)
