"""Which roots are of the project that a person stands in, where ``isolate = true`` asks for it.

See ``spec/isolation.md``. Loaded only where it is asked for.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid
from recall.configfile import MAX_CONFIG_BYTES
from recall.dirs import config_file, home_dir
from recall.files import Unreadable, read_small
from recall.project import (
    PROJECT_FILE,
    find_project_file,
    holds,
    is_inside,
    main_worktree,
    upwards,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.adopting import Others
    from recall.configfile import Entry
    from recall.looked import Looked
    from recall.notice import Notice

_GIT = ".git"


class Apart:
    """The roots of the project that ``cwd`` is in, and those of others.

    ``mine`` and ``aside`` are the two parts, ``unsaid`` the notices about the latter. ``silent``
    says that what other programs name is not told either. Outside of any project all are ``mine``.
    """

    __slots__ = ("_file", "_looked", "_where", "_within", "aside", "mine", "silent", "unsaid")

    def __init__(self, cwd: str, environ: Mapping[str, str], looked: Looked | None) -> None:
        self._where = cwd, environ
        self._looked = looked
        self._file = find_project_file(cwd, [], looked)
        self._within: list[str] | None = None
        self.mine: list[Entry] = []
        self.aside: list[Entry] = []
        self.unsaid: set[Notice] = set()
        self.silent = False

    def divide(self, entries: list[Entry], outdone: Sequence[Entry], others: Others | None) -> None:
        """Divide ``entries``.

        ``outdone`` are roots that another one of the same name hides, ``others`` what other
        programs name, if they were asked.
        """
        within = places(*self._where, [entry.path for entry in entries], self._looked)
        self._within = within
        if within is None:
            self.mine = entries
            return
        self.mine = [each for each in entries if belongs(each, within, self._file)]
        self.aside = [entry for entry in entries if entry not in self.mine]
        hidden = [each for each in outdone if not belongs(each, within, self._file)]
        self.unsaid = {each for entry in (*self.aside, *hidden) for each in entry.notices}
        if others is not None and leads_out(others, within):
            self.unsaid.update(others.notices())
            self.silent = True

    def is_in_a_project(self) -> bool:
        """Tell whether there is a project from which others are kept."""
        return self._within is not None

    def belongs(self, entry: Entry) -> bool:
        """Tell whether a root is searched here, or would be if no other one hid it."""
        return self._within is None or belongs(entry, self._within, self._file)


def places(
    cwd: str, environ: Mapping[str, str], roots: Sequence[str], looked: Looked | None = None
) -> list[str] | None:
    """Return the directories of the project that ``cwd`` is in, None if it is in none.

    ``roots`` are the paths of the configured roots. The nearest directory counts that holds a
    project's file, or ``.git`` and a root in it or in its main worktree; else the deepest root
    that ``cwd`` lies in; else the nearest repository, which has no roots then. The home directory
    and what is above it are no project, whatever they hold. ``looked`` notes all that decides.
    """
    here = _real(cwd, looked)
    home = _home(environ, looked)
    bare = None
    for place in upwards(here):
        if _is_above(place, home):
            break
        repository = holds(place, _GIT, looked)
        main = main_worktree(place, looked) if repository else None
        mine = [place] if main is None else [place, main]
        if any(holds(each, PROJECT_FILE, looked) for each in mine):
            return mine
        if repository and any(is_inside(root, each) for root in roots for each in mine):
            return mine
        if repository and bare is None:
            bare = mine
    around = [each for each in roots if is_inside(here, each) and not _is_above(each, home)]
    return [max(around, key=len)] if around else bare


def belongs(entry: Entry, within: Sequence[str], project_file: str | None) -> bool:
    """Tell whether a root is searched in the project in the directories ``within``.

    It lies in one of them, the person shares it with every project, or the project's own file
    names it, as far as that is trusted.
    """
    if any(is_inside(entry.path, place) for place in within):
        return True
    if entry.source == project_file:
        return os.path.realpath(os.path.dirname(entry.source)) in within
    return entry.shared


def leads_out(others: Others, within: Sequence[str]) -> bool:
    """Tell whether what other programs name, or what is wrong with it, could lie elsewhere."""
    paths = [each.path for each in (*others.entries, *others.passed_over)]
    paths += [each.path for each in others.left_out]
    return bool(others.faults) or not all(
        any(is_inside(path, place) for place in within) for path in paths
    )


def hushed(
    error: ConfigInvalid, file: str, cwd: str, environ: Mapping[str, str], *, asked: bool
) -> ConfigInvalid:
    """Return what is said of a configuration that is wrong, without a name of another project.

    ``asked`` says that the project's file asks for isolation; where the wrong file can't be taken
    apart, a line of it that could ask counts.
    """
    if os.path.basename(file) == PROJECT_FILE or _is_no_project(cwd, environ):
        return error
    if not asked and not _may_ask(file):
        return error
    return ConfigInvalid(
        "your own configuration has something wrong in it",
        where=error.where,
        hint="cd && recall roots list",
    )


def may_be_asked(cwd: str, environ: Mapping[str, str]) -> bool:
    """Tell whether isolation could hold in ``cwd``, by the lines of files that may be wrong."""
    if _is_no_project(cwd, environ):
        return False
    files = (find_project_file(cwd, []), config_file(environ))
    return any(file is not None and _may_ask(file) for file in files)


def _is_no_project(cwd: str, environ: Mapping[str, str]) -> bool:
    return _is_above(os.path.realpath(cwd), _home(environ, None))


def _may_ask(file: str) -> bool:
    try:
        lines = read_small(file, MAX_CONFIG_BYTES).splitlines()
    except (OSError, Unreadable):
        return False
    return any(b"".join(line.split()).startswith(b"isolate=true") for line in lines)


def _home(environ: Mapping[str, str], looked: Looked | None) -> str | None:
    home = home_dir(environ)
    return None if home is None else _real(home, looked)


def _is_above(place: str, home: str | None) -> bool:
    return place == "/" or (home is not None and is_inside(home, place))


def _real(path: str, looked: Looked | None) -> str:
    if looked:
        looked.real(path)
    return os.path.realpath(path)
