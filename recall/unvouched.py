"""Which roots have names that a repository chose, and nobody vouches for.

A model reads such a name as what the hook says. So it is not said where a host would take it for
more than a name.
"""

from __future__ import annotations

from index_cache.errors import RecallError
from recall import config, trust, variable
from recall.adopting import VARIABLES
from recall.configfile import MAX_CONFIG_BYTES
from recall.dirs import config_file, state_dir
from recall.files import Unreadable, read_small

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def names(every: Iterable[str], cwd: str, environ: Mapping[str, str]) -> set[str]:
    """Return those of ``every`` configured root's name that no person has chosen or trusted.

    In doubt a name is one of them. Reads the configuration again; raises nothing.
    """
    mine = {config_file(environ), variable.NAME, *VARIABLES}
    try:
        origins = config.load(cwd, environ, fallback=False).origins
    except (RecallError, OSError):
        return set(every)
    known = {source: source in mine or _is_trusted(source, environ) for source in origins.values()}
    return {name for name in every if not known.get(origins.get(name, ""), False)}


def _is_trusted(file: str, environ: Mapping[str, str]) -> bool:
    try:
        content = read_small(file, MAX_CONFIG_BYTES)
    except (OSError, Unreadable):
        return False
    return trust.is_trusted(file, content, state_dir(environ))
