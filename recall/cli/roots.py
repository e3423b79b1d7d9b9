"""``recall roots``: list, add and remove roots."""

from __future__ import annotations

import os

import click

from index_cache.errors import NotFound
from recall.cli.common import (
    SETTINGS,
    Console,
    examples,
    json_option,
    required,
    working_directory,
)
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root


@click.group(context_settings=SETTINGS, epilog=examples("recall roots add notes ~/notes"))
def command() -> None:
    """List, add and remove roots.

    A root is a directory of Markdown with a name. "add" and "remove" edit your own configuration
    file; a project's .recall.toml is edited by hand.
    """


@command.command("list", epilog=examples("recall roots list", "recall roots list --json"))
@json_option
def list_command(*, as_json: bool) -> int:
    """List the roots that a search from here covers."""
    from recall import config

    console = Console("roots list", as_json=as_json)
    settings = config.load(working_directory(), os.environ, fallback=False)
    console.note_all(settings.notices)
    return console.finish(
        lambda: {
            "roots": [_fields(root) for root in settings.roots],
            "config": [visible(source) for source in settings.sources],
        },
        lambda _: "".join(
            f"{visible(root.name)}: {visible(root.path)}"
            f"{'' if os.path.isdir(root.path) else ' (missing)'}\n"
            for root in settings.roots
        ),
    )


@command.command("add", epilog=examples("recall roots add notes ~/notes"))
@click.argument("name")
@click.argument("directory", metavar="DIR")
@json_option
def add_command(*, name: str, directory: str, as_json: bool) -> int:
    """Add the directory DIR as the root NAME."""
    from recall import configedit, dirs

    console = Console("roots add", as_json=as_json)
    file = required(dirs.config_file(os.environ), "a configuration file")
    path = os.path.join(working_directory(), directory)
    if not os.path.isdir(path):
        raise NotFound("there is no such directory", where=path)
    path = os.path.realpath(path)
    configedit.add_root(file, name, path)
    return console.finish(
        lambda: {"name": name, "path": visible(path), "file": visible(file)},
        lambda _: f"added {visible(name)}: {visible(path)}\n",
    )


@command.command("remove", epilog=examples("recall roots remove notes --purge"))
@click.argument("name")
@click.option("--purge", is_flag=True, help="Also delete its cache now.")
@json_option
def remove_command(*, name: str, purge: bool, as_json: bool) -> int:
    """Remove the root NAME from your configuration. Its notes stay where they are."""
    from recall import configedit, dirs

    console = Console("roots remove", as_json=as_json)
    file = required(dirs.config_file(os.environ), "a configuration file")
    path = configedit.remove_root(file, name)
    purged = _purge(path) if purge else []
    return console.finish(
        lambda: {"name": name, "file": visible(file), "purged": [visible(item) for item in purged]},
        lambda _: (
            f"removed {visible(name)}\n" + "".join(f"deleted {visible(item)}\n" for item in purged)
        ),
    )


def _purge(path: str) -> list[str]:
    from recall import caches, dirs

    directory = dirs.cache_dir(os.environ)
    if directory is None:
        return []
    return [cache.path for cache in caches.purge(directory, path)]


def _fields(root: Root) -> dict[str, object]:
    return {
        "name": visible(root.name),
        "path": visible(root.path),
        "exists": os.path.isdir(root.path),
        "include": list(root.rules.include),
        "exclude": list(root.rules.exclude),
        "gitignore": root.rules.gitignore,
    }
