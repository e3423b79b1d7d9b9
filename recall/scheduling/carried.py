"""The variables that a scheduled job needs, since a scheduler starts it with hardly any; pure.

Only what decides which notes are searched, where files are kept and whether git is found, and only
where the job would else find something different. ``spec/schedule.md`` lists them.
"""

from __future__ import annotations

import os

from recall.rootnames import name_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DIRECTORIES = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}
ROOTS = "RECALL_ROOTS"
OTHERS = ("LOCUS_PALACE", "CORTEX_MEMORY_ROOT")
PATH = "/usr/bin:/bin"  # what every cron gives


def variables(
    environ: Mapping[str, str],
    cwd: str,
    login_home: str | None,
    git: str | None,
    *,
    only_directories: bool = False,
) -> dict[str, str]:
    """Return what the job is to be given of ``environ``, relative paths made absolute.

    ``login_home`` is the home that a scheduler sets, ``git`` the program's path as it is found
    here. With ``only_directories`` the job names each of its roots by a path.
    """
    found: dict[str, str] = {}
    home = environ.get("HOME", "")
    if not os.path.isabs(home):
        home = login_home or ""
    elif home != login_home:
        found["HOME"] = home
    for name, default in DIRECTORIES.items():
        value = environ.get(name, "")
        if os.path.isabs(value) and os.path.normpath(value) != os.path.join(home, default):
            found[name] = value
    if not only_directories:
        if environ.get(ROOTS):
            items = environ[ROOTS].split(os.pathsep)
            found[ROOTS] = os.pathsep.join(_absolute_item(each, cwd) for each in items if each)
        found |= {name: _absolute(environ[name], cwd) for name in OTHERS if environ.get(name)}
    if git is not None and os.path.dirname(git) not in PATH.split(os.pathsep):
        found["PATH"] = f"{os.path.dirname(git)}:{PATH}"
    return found


def usual(home: str) -> dict[str, str]:
    """Return what the job is to find of each variable that it is not given, empty for nothing.

    A crontab may set them for all lines below.
    """
    return {"HOME": home, "PATH": PATH} | dict.fromkeys([*DIRECTORIES, ROOTS, *OTHERS], "")


def _absolute_item(item: str, cwd: str) -> str:
    name, equals, directory = item.partition("=")
    if not equals or name_fault(name) is not None:
        return _absolute(item, cwd)
    return f"{name}={_absolute(directory, cwd)}" if directory else item


def _absolute(path: str, cwd: str) -> str:
    return path if path.startswith("~") else os.path.join(cwd, path)
