"""Options and help texts that several commands share."""

from __future__ import annotations

import click

from recall.cli import completing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Command = TypeVar("Command", bound=Callable[..., Any])

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def examples(*lines: str) -> str:
    """Return the closing part of a help text: commands that work when pasted."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


json_option = click.option("--json", "as_json", is_flag=True, help="Answer as one JSON object.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would change, and change nothing."
)

root_option = click.option(
    "--root",
    "names",
    multiple=True,
    metavar="NAME|DIR",
    shell_complete=completing.a_root,
    help="A configured root's name, else a directory; ./x is always a directory. Repeatable.",
)
group_option = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    shell_complete=completing.a_group,
    help="The roots of this group, beside those of --root. Repeatable.",
)

quiet_option = click.option("--quiet", is_flag=True, help="Say nothing unless something is wrong.")


def wait_option(what: str) -> Callable[[Command], Command]:
    """Return the option ``--wait``; ``what`` is waited for."""
    return click.option(
        "--wait",
        type=float,
        default=30.0,
        callback=seconds,
        metavar="SECONDS",
        help=f"How long to wait for {what} of the same root.  [default: 30]",
    )


def seconds(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse what is no length of time: negative, infinite or not a number."""
    if value is not None and not 0 <= value < float("inf"):
        raise click.BadParameter("must be a number of seconds, 0 or more", context, parameter)
    return value
