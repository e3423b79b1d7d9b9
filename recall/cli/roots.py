"""``recall roots``: list, discover, add, remove and adopt roots."""

from __future__ import annotations

import os

import click

from recall.cli import completing, roots_adopt, roots_discover
from recall.cli.common import Console, required, working_directory
from recall.cli.fields import left_out_fields
from recall.cli.options import SETTINGS, StrictGroup, examples, json_option
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.config import Config
    from recall.configfile import Entry


@click.group(
    cls=StrictGroup,
    context_settings=SETTINGS,
    epilog=examples("recall roots discover ~/src", "recall roots add notes ~/notes"),
)
def command() -> None:
    """List, discover, add, remove and adopt roots.

    A root is a directory of Markdown with a name. All but "list" edit your own
    configuration file; a project's .recall.toml is edited by hand.
    """


@command.command("list", epilog=examples("recall roots list", "recall roots list --json"))
@json_option
def list_command(*, as_json: bool) -> int:
    """List the roots that a search from here covers."""
    from recall import config

    console = Console("roots list", as_json=as_json)
    settings = config.load(working_directory(), os.environ, fallback=False, demand=False)
    console.note_all(settings.notices)
    return console.finish(lambda: _data(settings), lambda _: _text(settings))


@command.command("add", epilog=examples("recall roots add notes ~/notes"))
@click.argument("name")
@click.argument("directory", metavar="DIR", shell_complete=completing.a_directory)
@json_option
def add_command(*, name: str, directory: str, as_json: bool) -> int:
    """Add the directory DIR as the root NAME."""
    from recall import configedit, dirs, told

    console = Console("roots add", as_json=as_json)
    file = required(dirs.config_file(os.environ), "a configuration file")
    cwd = working_directory()
    path = os.path.join(cwd, directory)
    with told.hushing(file, cwd, os.environ):
        added = configedit.add_root(file, name, path, os.environ)
    return console.finish(
        lambda: {
            "name": name,
            "path": os.path.abspath(path),
            "file": file,
            "added": added,
        },
        lambda _: (
            f"{'added' if added else 'there already'}: {visible(name)}: "
            f"{visible(os.path.abspath(path))}\n"
        ),
    )


@command.command("remove", epilog=examples("recall roots remove notes --purge"))
@click.argument("name", shell_complete=completing.a_root_of_ones_own)
@click.option("--purge", is_flag=True, help="Also delete its cache now.")
@json_option
def remove_command(*, name: str, purge: bool, as_json: bool) -> int:
    """Remove the root NAME from your configuration. Its notes stay where they are."""
    from recall import configedit, dirs, told

    console = Console("roots remove", as_json=as_json)
    file = required(dirs.config_file(os.environ), "a configuration file")
    cwd = working_directory()
    with told.hushing(file, cwd, os.environ):
        entries = _entries(file)
        path = next((entry.path for entry in entries if purge and entry.name == name), None)
        # First the cache: if that fails, the same command still knows what to do.
        purged = [] if path is None else _purge(path)
        may = told.here(cwd, os.environ)
        configedit.remove_root(file, name, None if may is None else may.names(entries))
    return console.finish(
        lambda: {"name": name, "file": file, "purged": purged},
        lambda _: (
            f"removed: {visible(name)}\n" + "".join(f"deleted {visible(item)}\n" for item in purged)
        ),
    )


command.add_command(roots_adopt.command, "adopt")
command.add_command(roots_discover.command, "discover")


def _entries(file: str) -> list[Entry]:
    from recall.configfile import read_config

    try:
        return read_config(file, os.environ).entries
    except FileNotFoundError:
        return []


def _purge(path: str) -> list[str]:
    from recall import caches, dirs

    directory = dirs.cache_dir(os.environ)
    if directory is None:
        return []
    try:
        return [cache.path for cache in caches.purge(directory, path)]
    except OSError as error:
        from recall.cli.cache import unusable

        raise unusable(error, directory, "deleted") from error


def _data(settings: Config) -> dict[str, object]:
    return {
        "roots": [
            {
                "name": root.name,
                "path": root.path,
                "source": settings.origins[root.name],
                "include": list(root.rules.include),
                "exclude": list(root.rules.exclude),
                "gitignore": root.rules.gitignore,
                "groups": list(settings.groups.get(root.name, ())),
                "jsonl": root.rules.jsonl,
                "strict": root.rules.strict,
            }
            for root in settings.roots
        ],
        "left_out": [left_out_fields(left) for left in settings.left_out],
        "aside": settings.aside,
        "config": list(settings.sources),
    }


def _text(settings: Config) -> str:
    lines = [
        f"{visible(root.name)}: {visible(root.path)}{_groups(settings.groups.get(root.name, ()))}\n"
        for root in settings.roots
    ]
    lines += [
        f"{visible(left.name)}: {visible(left.path)}: left out: {visible(left.reason)}\n"
        for left in settings.left_out
    ]
    if settings.aside:
        lines.append(
            f"isolate sets {number(settings.aside, 'root')} of other projects aside here\n"
        )
    return "".join(lines)


def _groups(groups: tuple[str, ...]) -> str:
    return f" [{', '.join(map(visible, groups))}]" if groups else ""
