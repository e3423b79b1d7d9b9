"""``recall trust``: let a project's configuration file name directories outside the project."""

from __future__ import annotations

import os

import click

from index_cache.errors import NotFound
from recall.cli import completing
from recall.cli.common import Console, working_directory
from recall.cli.options import Strict, examples, json_option
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.notice import Notice


@click.command(
    cls=Strict, epilog=examples("recall trust", "recall trust --revoke ~/src/project/.recall.toml")
)
@click.argument("file", required=False, shell_complete=completing.a_file)
@click.option("--revoke", is_flag=True, help="Take the trust back.")
@json_option
def command(*, file: str | None, revoke: bool, as_json: bool) -> int:
    """Trust a project's configuration file.

    FILE is a .recall.toml, by default that of the project you are in. Until it is trusted it may
    name directories inside its project only; editing it asks again.
    """
    from recall import dirs, trust

    console = Console("trust", as_json=as_json)
    path = _file(file, console)
    state_dir = dirs.state_dir(os.environ)
    if revoke:
        known = trust.distrust(path, state_dir)
        text = f"no longer trusted: {visible(path)}\n" if known else "it was not trusted\n"
        directories: list[str] = []
    else:
        directories = trust.trust(path, state_dir, os.environ)
        text = f"trusted: {visible(path)}\n"
        text += "".join(f"  it may name {visible(name)}\n" for name in directories)
    return console.finish(
        lambda: {
            "file": path,
            "trusted": not revoke,
            "directories": directories,
        },
        lambda _: text,
    )


def _file(file: str | None, console: Console) -> str:
    from recall.project import PROJECT_FILE, find_project_file

    cwd = working_directory()
    if file is not None:
        path = os.path.join(cwd, file)
        return os.path.join(path, PROJECT_FILE) if os.path.isdir(path) else path
    notices: list[Notice] = []
    found = find_project_file(cwd, notices)
    console.note_all(notices)
    if found is None:
        raise NotFound(
            f"there is no {PROJECT_FILE} in this directory or above it",
            where=cwd,
            hint="recall trust FILE names one",
        )
    return found
