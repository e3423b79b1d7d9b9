"""Options and help texts that several commands share."""

from __future__ import annotations

import click

from recall.cli import completing
from recall.cli.answer import MAX_WAIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Decorated = TypeVar("Decorated", bound=Callable[..., Any])

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Strict(click.Command):
    """A command that refuses what click takes in silence.

    An option that stands there twice, of which click takes the last, unless it may be repeated; and
    one whose value is missing, for which click takes the option that follows.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does. Raises click.UsageError."""
        if not ctx.resilient_parsing:  # a shell asks, while somebody is typing
            self._refuse_missing_values(ctx, args)
            self._refuse_repeated(ctx, args)
        return super().parse_args(ctx, args)

    def _refuse_missing_values(self, ctx: click.Context, args: list[str]) -> None:
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        known = {name for each in options for name in (*each.opts, *each.secondary_opts)}
        valued = {name for each in options if not each.is_flag for name in each.opts}
        rest = iter(args)
        for word in rest:
            if word == "--" or (isinstance(self, click.Group) and not word.startswith("-")):
                return
            value = next(rest, None) if word in valued else None
            if value is not None and value.partition("=")[0] in known:
                raise click.BadOptionUsage(
                    word, f"Option '{word}' requires an argument, and '{value}' is an option.", ctx
                )

    def _refuse_repeated(self, ctx: click.Context, args: list[str]) -> None:
        seen: set[str | None] = set()
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for each in order:
            if isinstance(each, click.Option) and not (each.multiple or each.is_eager):
                if each.name in seen:
                    name = max(each.opts, key=len)
                    raise click.BadOptionUsage(name, f"Option '{name}' is given twice.", ctx)
                seen.add(each.name)


class StrictGroup(Strict, click.Group):
    """A group of commands that are all strict."""

    command_class = Strict


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


def wait_option(what: str) -> Callable[[Decorated], Decorated]:
    """Return the option ``--wait``; ``what`` is waited for."""
    return click.option(
        "--wait",
        type=float,
        default=30.0,
        callback=waited,
        metavar="SECONDS",
        help=f"How long to wait for {what} of the same root, to 3600.  [default: 30]",
    )


def seconds(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse what is no length of time: negative, infinite or not a number."""
    if value is not None and not 0 <= value < float("inf"):
        raise click.BadParameter("must be a number of seconds, 0 or more", context, parameter)
    return value


def waited(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse what nobody waits for: as ``seconds``, and more than an hour."""
    if value is not None and value > MAX_WAIT:
        raise click.BadParameter(f"must be at most {MAX_WAIT:,} seconds", context, parameter)
    return seconds(context, parameter, value)
