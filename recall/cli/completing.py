"""What a shell is offered when a person presses Tab: what click knows, with our names.

How a shell asks and is told is in ``recall.cli.shells``.
Whatever is wrong (a broken configuration, a damaged cache, odd variables), there is less to offer
and nothing to read: no message may appear in a line that somebody is typing. Nothing is written,
and no cache is built.
"""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from recall.config import Config

    Items = list[CompletionItem[str]]
    Completer = Callable[[click.Context, click.Parameter, str], Items]

VARIABLE = "_RECALL_COMPLETE"
_SECONDS = 0.1  # for the types in large caches
_MOST = 200
# Names come from anyone's files, and what is offered is put into a command line: of ASCII only
# what no shell gives a meaning to, nor our scripts (the comma) or bash's words (":" and "=").
_SIGNS = frozenset(" -_./@+%")


def answer(program: click.Command) -> int:
    """Answer a shell on stdout, as its variables ask; return the exit status."""
    try:
        from recall.cli.shells import SHELLS

        shell, _, asked = os.environ[VARIABLE].partition("_")
        asks = SHELLS[shell](program, {}, "recall", VARIABLE)
        text = {"source": asks.source, "complete": asks.complete}[asked]()
        click.echo(text.encode(), nl=asked == "complete")
    except Exception:  # noqa: BLE001 - a person is typing
        return 1
    return 0


def a_file(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer files."""
    del context, parameter
    return [CompletionItem(incomplete, type="file")]


def a_directory(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer directories."""
    del context, parameter
    return [CompletionItem(incomplete, type="dir")]


def one_of(names: Iterable[str]) -> Completer:
    """Return what offers some names of ours."""
    return lambda _context, _parameter, incomplete: _offered(names, incomplete)


def a_root(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer the names of configured roots, and directories."""
    directories = a_directory(context, parameter, incomplete)  # in bash only if no name fits
    if incomplete.startswith((".", "/", "~")):
        return directories
    return [*_offered(_names(_configured), incomplete), *directories]


def a_group(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer the groups of configured roots."""
    del context, parameter
    return _offered(_names(_groups), incomplete)


def a_root_of_ones_own(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> Items:
    """Offer the names of the roots in the person's own configuration that may be told here."""
    del context, parameter
    return _offered(_names(_own), incomplete)


def a_type(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer the types of notes that the caches of the searched roots know."""
    del parameter
    return _offered(_names(lambda: _known(context.params, "type")), incomplete)


def a_source(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer the sources that records in the caches of the searched roots name."""
    del parameter
    return _offered(_names(lambda: _known(context.params, "source")), incomplete)


def a_session(context: click.Context, parameter: click.Parameter, incomplete: str) -> Items:
    """Offer the sessions, likewise."""
    del parameter
    return _offered(_names(lambda: _known(context.params, "session")), incomplete)


def _names(find: Callable[[], Iterable[str]]) -> Iterable[str]:
    """Return what is found, or nothing when anything is wrong."""
    try:
        return find()
    except Exception:  # noqa: BLE001 - a person is typing
        return ()


def _load() -> Config:
    from recall import config

    return config.load(os.getcwd(), os.environ, fallback=False, demand=False)


def _groups() -> Iterable[str]:
    return {group for groups in _load().groups.values() for group in groups}


def _configured() -> Iterable[str]:
    settings = _load()
    here, left_out = settings.roots, settings.left_out
    return [*(root.name for root in here), *(left.name for left in left_out)]


def _own() -> Iterable[str]:
    from recall import configfile, dirs, told

    file = dirs.config_file(os.environ)
    if file is None:
        return ()
    entries = configfile.read_config(file, os.environ).entries
    may = told.here(os.getcwd(), os.environ)
    return may.names(entries) if may else [entry.name for entry in entries]


def _known(asked: Mapping[str, Any], column: str) -> Iterable[str]:
    from recall import caches, config, dirs

    directory = dirs.cache_dir(os.environ)
    if directory is None:
        return ()
    names, groups = asked.get("names") or (), asked.get("groups") or ()
    settings = config.load(os.getcwd(), os.environ, names, groups=groups, fallback=True)
    return caches.different(directory, settings.roots, _SECONDS, column)


def _offered(names: Iterable[str], incomplete: str) -> Items:
    """Offer the names that begin as it was typed; if none does, those that do in another case."""
    begin = incomplete.lower()
    fitting = {name for name in names if name.lower().startswith(begin) and _is_harmless(name)}
    exact = {name for name in fitting if name.startswith(incomplete)}
    return [CompletionItem(name) for name in sorted(exact or fitting)[:_MOST]]


def _is_harmless(name: str) -> bool:
    return (
        bool(name)
        and name == " ".join(name.split())
        and name == visible(name)
        and not name.startswith("-")
        and all(not char.isascii() or char.isalnum() or char in _SIGNS for char in name)
    )
