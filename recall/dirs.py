"""Where recall keeps its own files: the XDG base directories, read from a given environment.

The rule is that of xdg-base-dirs, and a test compares the two. The package itself is not imported:
it reads the process's environment only, it costs the prompt hook 3 ms, and with an empty or
relative ``HOME`` it answers ``/.cache`` or a directory under wherever the person stands.
Nothing here creates anything.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def cache_dir(environ: Mapping[str, str]) -> str | None:
    """Return the directory of the caches, or None when no home can be found."""
    return _below(_base(environ, "XDG_CACHE_HOME", ".cache"), "recall")


def state_dir(environ: Mapping[str, str]) -> str | None:
    """Return the directory of what can't be derived again, or None when no home can be found."""
    return _below(_base(environ, "XDG_STATE_HOME", ".local/state"), "recall")


def config_home(environ: Mapping[str, str]) -> str | None:
    """Return the directory above all programs' configuration, or None when no home can be found."""
    return _base(environ, "XDG_CONFIG_HOME", ".config")


def config_file(environ: Mapping[str, str]) -> str | None:
    """Return the path of the person's own configuration file, or None without a home."""
    return _below(config_home(environ), "recall/config.toml")


def home_dir(environ: Mapping[str, str]) -> str | None:
    """Return the home directory, or None.

    ``HOME`` decides when it is set; one that is not absolute counts as no home, because anything
    made of it would appear in an odd place. When it is unset (``env -i``, some cron daemons) the
    user database is asked, as a login would.
    """
    home = environ.get("HOME")
    if home is not None:
        return home if os.path.isabs(home) else None
    return home_of(None)


def expand_home(path: str, environ: Mapping[str, str]) -> str | None:
    """Return ``path`` with a leading ``~`` or ``~user`` replaced, or None if that has no home."""
    if not path.startswith("~"):
        return path
    head, slash, rest = path.partition("/")
    home = home_dir(environ) if head == "~" else home_of(head[1:])
    if home is None:
        return None
    return os.path.join(home, rest) if slash else home


def home_hint(path: str) -> str:
    """Return what to do about a ``path`` for which ``expand_home`` knows no home."""
    head = path.partition("/")[0]
    if head == "~":
        return "set HOME, or write the whole path"
    return f"write the whole path: no user {head[1:]} is known here"


def home_of(user: str | None) -> str | None:
    """Return the home of a user, or of ourselves, as the user database has it, or None."""
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid()) if user is None else pwd.getpwnam(user)
    except (KeyError, ValueError):  # no such user; a name with a NUL or that can't be encoded
        return None
    return entry.pw_dir if os.path.isabs(entry.pw_dir) else None


def _base(environ: Mapping[str, str], variable: str, below_home: str) -> str | None:
    value = environ.get(variable, "")
    # The XDG standard: a path that is not absolute is invalid and ignored; so is a literal "~".
    return value if os.path.isabs(value) else _below(home_dir(environ), below_home)


def _below(directory: str | None, name: str) -> str | None:
    return None if directory is None else os.path.join(directory, name)
