"""``recall cache``: list cache files and prune unused ones."""

from __future__ import annotations

import errno
import os

import click

from index_cache import db
from index_cache.errors import RootUnavailable
from recall.cli.common import Console, required, working_directory
from recall.cli.fields import cache_fields, moment
from recall.cli.options import SETTINGS, StrictGroup, examples, json_option
from recall.notice import shell_quoted
from recall.output import number, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.caches import CacheFile


def _days(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 <= value < float("inf"):
        raise click.BadParameter("must be a number of days, 0 or more", context, parameter)
    return value


@click.group(
    cls=StrictGroup,
    context_settings=SETTINGS,
    epilog=examples("recall cache list", "recall cache prune"),
)
def command() -> None:
    """List cache files and prune unused ones.

    Caches are derived from notes: deleting one costs the time to build it again, nothing else.
    """


@command.command(
    "list",
    short_help="List the cache files.",
    epilog=examples("recall cache list", "recall cache list --json"),
)
@json_option
def list_command(*, as_json: bool) -> int:
    """List the cache files, each with its root, its size and when it was last used.

    Where isolate = true holds, those of the project's own roots and shared ones.
    """
    from recall import caches

    console = Console("cache list", as_json=as_json)
    directory = _directory()
    try:
        found = caches.list_caches(directory)
    except OSError as error:
        raise unusable(error, directory, "read") from error
    shown = _told(found)
    aside = len(found) - len(shown)
    set_aside = f"isolate sets {number(aside, 'cache file')} of other projects aside here\n"
    return console.finish(
        lambda: {
            "directory": directory,
            "caches": [cache_fields(cache) for cache in shown],
            "aside": aside,
        },
        lambda _: "".join(_line(cache) for cache in shown) + (set_aside if aside else ""),
    )


@command.command(
    "prune", epilog=examples("recall cache prune", "recall cache prune --older-than 7")
)
@click.option(
    "--older-than",
    type=float,
    default=30.0,
    callback=_days,
    metavar="DAYS",
    help="Delete what was not used for this long.  [default: 30]",
)
@click.option("--all", "everything", is_flag=True, help="Delete every cache file.")
@json_option
def prune_command(*, older_than: float, everything: bool, as_json: bool) -> int:
    """Delete cache files that were not used for a month."""
    from recall import caches

    console = Console("cache prune", as_json=as_json)
    directory = _directory()
    try:
        removed = caches.prune(directory, older_than_days=older_than, all=everything)
    except OSError as error:
        raise unusable(error, directory, "deleted") from error
    freed = sum(cache.bytes for cache in removed)
    shown = _told(removed)
    return console.finish(
        lambda: {
            "directory": directory,
            "removed": [cache_fields(cache) for cache in shown],
            "aside": len(removed) - len(shown),
        },
        lambda _: f"deleted {number(len(removed), 'cache file')}, {size(freed)}\n",
    )


def unusable(error: OSError, directory: str, what: str) -> RootUnavailable:
    """Return what to say of a cache file that can't be ``what``: read or deleted."""
    file = directory if error.filename is None else os.fsdecode(error.filename)
    whose = f"ls -ld {shell_quoted(directory)} shows who may; run it again as that user"
    return RootUnavailable(
        f"the cache can't be {what}: {error.strerror or error}",
        where=file,
        hint="name another directory in XDG_CACHE_HOME" if error.errno == errno.EILSEQ else whose,
    )


def _directory() -> str:
    from recall import dirs

    return required(dirs.cache_dir(os.environ), "caches")


def _told(found: Sequence[CacheFile]) -> list[CacheFile]:
    """Return the cache files whose roots may be named here."""
    from recall import told

    may = told.here(working_directory(), os.environ)
    if may is None:
        return list(found)
    return [each for each in found if each.root_path is None or may.holds(each.root_path)]


def _line(cache: CacheFile) -> str:
    root = "unknown root" if cache.root_path is None else visible(cache.root_path)
    state = "" if cache.current else ", of another version"
    if cache.path.endswith(db.FRESH):
        state = ", made by a rebuild that is at work or was killed"
    used = moment(cache.last_used) or "never"
    return f"{root}: {size(cache.bytes)}, last used {used}{state}\n  {visible(cache.path)}\n"
