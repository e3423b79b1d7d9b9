"""The click group of all commands, and running one of them."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

from index_cache.errors import InvalidInput
from recall import __version__
from recall.cli import COMMANDS, INTERRUPTED
from recall.cli.common import output_failed, write_text
from recall.cli.options import SETTINGS, StrictGroup, examples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Commands(StrictGroup):
    """The group of all commands, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, most used first."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None if there is no such command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = __import__(f"recall.cli.{cmd_name}", fromlist=["command"])
        command = module.command
        if not isinstance(command, click.Command):
            raise TypeError(f"recall.cli.{cmd_name}.command is no command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called, or say which one may be meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from recall.rootnames import nearest

            near = nearest(name, COMMANDS)
            meant = f" Did you mean '{near}'?" if near else ""
            raise click.UsageError(f"No such command '{name}'.{meant}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the commands, without importing any of them, and the options."""
        items = [
            CompletionItem(name, help=line)
            for name, line in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=Commands,
    context_settings=SETTINGS,
    epilog=examples(
        "recall search how do we rotate the deploy keys",
        "recall roots add notes ~/notes",
    ),
)
@click.version_option(__version__, prog_name="recall", message="%(prog)s %(version)s")
def commands() -> None:
    """Find what you already know: search over directories of Markdown notes.

    Run "recall COMMAND --help" for a command's options and an example.
    """


def _explained(error: click.ClickException, command: str) -> tuple[click.ClickException, str]:
    """Return what is to be said of wrong usage, and its hint."""
    program = command if command == "recall" else f"recall {command}"
    hint = f"{program} --help lists what it takes"
    if command == "search" and isinstance(error, click.NoSuchOption):
        if error.option_name in {"--before", "--after"}:  # of a timeline; click guesses --source
            error = click.NoSuchOption(error.option_name, ctx=error.ctx)
            hint = f"--from TIME and --to TIME, or after: and before: in QUERY; {hint}"
        hint += "; words that begin with a dash come after --"
    return error, hint


def run(arguments: Sequence[str], command: str) -> int:
    """Run the command that ``arguments`` name and return its exit status.

    ``command`` is its name in messages. Raises RecallError, for wrong usage as well.
    """
    if "_RECALL_COMPLETE" in os.environ:
        from recall.cli.completing import answer

        return answer(commands)
    try:
        with commands.make_context("recall", list(arguments)) as context:
            status = commands.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as end:
        write_text(f"{end.format_message()}\n")
        return 0
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error, hint = _explained(error, command)
        # Of a missing choice click lists what there is line by line; a message is one line.
        message = error.format_message().replace("\n\t", " ")
        raise InvalidInput(message, hint=hint) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        if _was_echoed(error):
            raise output_failed(error) from error
        raise
    return status if isinstance(status, int) else 0


def _was_echoed(error: OSError) -> bool:
    """Return whether click was writing a help text or the version when ``error`` was raised."""
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code is click.echo.__code__:
            return True
        frame = frame.tb_next
    return False
