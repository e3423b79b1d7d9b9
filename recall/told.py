"""What a command may tell in a directory where ``isolate = true`` holds: see ``spec/isolation.md``.

For what is not loaded with the configuration of the directory: the log, caches, the person's own
file as a whole, and what was kept of runs in other places.
"""

from __future__ import annotations

from contextlib import contextmanager

from index_cache.errors import ConfigInvalid
from recall import config, hookfault, isolation
from recall.project import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from recall.configfile import Entry
    from recall.hookfault import Fault
    from recall.isolation import Apart
    from recall.logreading import Entry as Logged

# In place of words that were kept of a run elsewhere, and could have a name in them.
NOT_HERE = "the words may be about other projects, and isolate keeps them from this one"


class Here:
    """What may be told in a project: of its roots and of those that are shared with it.

    Made of what isolation found there; of None nothing may be told.
    """

    __slots__ = ("_apart", "_paths")

    def __init__(self, apart: Apart | None) -> None:
        self._apart = apart
        self._paths = {} if apart is None else {each.name: each.path for each in apart.mine}

    def has(self, entry: Entry) -> bool:
        """Tell whether a root may be named that some file configures."""
        return self._apart is not None and self._apart.belongs(entry)

    def names(self, entries: Iterable[Entry]) -> list[str]:
        """Return the names of those roots that may be named."""
        return [each.name for each in entries if self.has(each)]

    def holds(self, path: str) -> bool:
        """Tell whether a directory is of a root that may be named."""
        return any(is_inside(path, each) for each in self._paths.values())

    def saw(self, entry: Logged) -> bool:
        """Tell whether a line of the log is about roots that are searched here, and no others."""
        return all(name in self._paths for name in entry.roots) and all(
            root in self._paths and is_inside(file, self._paths[root])
            for _, root, _, file in entry.cards
        )


def here(cwd: str, environ: Mapping[str, str]) -> Here | None:
    """Return what may be told in ``cwd``, None if that is everything.

    Where the configuration is wrong and could ask for isolation, nothing may be told.
    """
    try:
        apart = config.apart(cwd, environ)
    except ConfigInvalid:
        return Here(None) if isolation.may_be_asked(cwd, environ) else None
    return None if apart is None else Here(apart)


def fault_here(state_dir: str | None, part: str) -> Fault | None:
    """Return what went wrong with a part of the prompt hook, wherever that was, without words."""
    fault = hookfault.read(state_dir, part)
    if fault is not None:
        fault.message, fault.where, fault.hint = NOT_HERE, None, "cd && recall status"
    return fault


@contextmanager
def hushing(file: str, cwd: str, environ: Mapping[str, str]) -> Iterator[None]:
    """Let what is wrong in the person's own ``file`` be told as a search in ``cwd`` would."""
    try:
        yield
    except ConfigInvalid as error:
        asked = isolation.may_be_asked(cwd, environ)
        raise isolation.hushed(error, file, cwd, environ, asked=asked) from None
