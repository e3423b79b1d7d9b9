"""What the commands that schedule share: their options, and the job that is asked for."""

from __future__ import annotations

import os

import click

from index_cache.errors import ConfigInvalid, RecallError, RootUnavailable
from recall.cli.common import Console, installed_program, required, working_directory
from recall.output import number
from recall.scheduling.job import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from recall.scheduling.job import Job

    Command = TypeVar("Command", bound=Callable[..., Any])

_ELSEWHERE = "cd && recall schedule print shows them"
kind_option = click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="Who starts the job.  [default: what this machine has]",
)
every_option = click.option(
    "--every",
    default="1d",
    metavar="DURATION",
    help="How often: a part of an hour or of a day, 15m or 6h, or 1d, or 7d.  [default: 1d]",
)
at_option = click.option(
    "--at", metavar="HH:MM", help="The time of day, with 1d and 7d.  [default: 12:30]"
)


def planned(console: Console, every: str, at: str | None, names: Sequence[str]) -> Job:
    """Return the job that is asked for, and say what keeps it from finding notes.

    Raises InvalidInput for a time that can't be scheduled and without a home, NotFound for a root
    that the job would not find.
    """
    from recall import dirs
    from recall.scheduling import carried, programs
    from recall.scheduling.job import RUN, Job, timing

    when = timing(every, at)
    environ, cwd = os.environ, working_directory()
    home = required(dirs.home_dir(environ), "a schedule")
    program = installed_program("recall")
    values = [_as_seen_from(home, name, cwd) for name in names]
    variables = carried.variables(
        environ,
        cwd,
        dirs.home_of(None),
        programs.find("git", environ),
        only_directories=bool(values) and all(os.path.isabs(each) for each in values),
    )
    _try(console, {"HOME": home, **variables}, home, values)
    roots = [word for value in values for word in ("--root", value)]
    return Job([*program, *RUN, *roots], variables, when, carried.usual(home))


def _as_seen_from(home: str, name: str, cwd: str) -> str:
    """Return a value of ``--root`` as it means the same in the job: a name, or an absolute path."""
    from recall import config, dirs

    if not name.startswith((".", "/", "~")):
        try:
            known = config.load(home, os.environ, fallback=False, demand=False)
        except RecallError:
            known = None
        if known is not None:
            names = {each.name for each in known.roots} | {each.name for each in known.left_out}
            if name in names:
                return name
    expanded = dirs.expand_home(name, os.environ)
    return os.path.normpath(os.path.join(cwd, name if expanded is None else expanded))


def _try(console: Console, environ: Mapping[str, str], home: str, names: Sequence[str]) -> None:
    """Load the configuration as the job will; what is wrong and may be put right later is told."""
    from recall import config, told

    hushed = told.here(working_directory(), os.environ) is not None
    try:
        settings = config.load(home, environ, names, fallback=False)
    except (ConfigInvalid, RootUnavailable) as error:
        why = told.NOT_HERE if hushed else error.message
        hint = _ELSEWHERE if hushed else error.hint
        console.note(f"as it is, the job finds nothing to do: {why}", hint)
        return
    if not hushed:
        console.note_all(settings.notices)
    elif settings.notices:
        count = number(len(settings.notices), "warning")
        console.note(f"the job would have {count}: {told.NOT_HERE}", _ELSEWHERE)
