"""What is said where no root can be searched: what to type next, as it holds where one stands."""

from __future__ import annotations

import os

from recall.dirs import config_file, expand_home
from recall.notice import shell_quoted
from recall.project import is_inside
from recall.rootnames import base_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.configfile import ConfigFile

NOTHING = "no directory of notes is configured"
MINE = "no directory of notes of this project is configured, and isolate sets the others aside"


def hint(cwd: str, environ: Mapping[str, str], files: Sequence[ConfigFile]) -> str:
    """Return what names a root for a person in ``cwd``; ``files`` are those that were read."""
    directory = os.path.abspath(cwd)
    kept = "".join(c if c.isalnum() or c in "_." else "-" for c in base_name(directory))
    name = kept[:50].strip("-.") or "notes"
    closed = next((file for file in files if not file.inherit), None)
    home = expand_home("~", environ)
    # The whole disk, the home or what is above it: far more than notes.
    too_much = is_inside(os.path.realpath(home or "/"), os.path.realpath(directory))
    if (closed is None and config_file(environ) is None) or (too_much and home is None):
        return "name a directory with --root, or set HOME to an absolute path"
    if home is not None and too_much:
        directory, name = os.path.join(home, "notes"), "notes"
    if closed is not None:  # a root of the person's own file would not be seen
        return f"write {name} = {closed.spelled(directory)} under [roots] in {closed.file}"
    if not too_much:
        return f"recall roots add {name} {shell_quoted(directory)}"
    return f"recall roots {'add notes ~/notes' if os.path.isdir(directory) else 'discover ~'}"
