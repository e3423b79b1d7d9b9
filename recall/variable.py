"""``RECALL_ROOTS``: roots in a variable, for a script or a container."""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid
from recall.configfile import Entry
from recall.dirs import expand_home, home_hint
from recall.rootnames import base_name, name_fault, unique

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recall.looked import Looked

NAME = "RECALL_ROOTS"


def entries(cwd: str, environ: Mapping[str, str], looked: Looked | None = None) -> Iterator[Entry]:
    """Yield the roots that the variable names, each under a name of its own.

    ``looked`` notes all that decides. Raises ConfigInvalid for a ``~`` without a home.
    """
    taken: set[str] = set()
    for item in environ.get(NAME, "").split(os.pathsep):
        name, equals, directory = item.partition("=")
        if not equals or name_fault(name) is not None:
            name, directory = "", item
        if not directory:
            continue
        if looked:
            looked.tilde(directory)
        expanded = expand_home(directory, environ)
        if expanded is None:
            raise ConfigInvalid(
                f'{NAME}: no home directory is known for "{directory}"',
                where=NAME,
                hint=home_hint(directory),
            )
        path = os.path.join(cwd, expanded)
        if looked:
            looked.real(path)
        name = unique(name or base_name(path), taken)
        yield Entry(name, os.path.realpath(path), NAME, written=directory)
