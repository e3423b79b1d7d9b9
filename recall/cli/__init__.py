"""The command line: finds the one command that was asked for and turns every end into a status.

Click lives in this package alone. A command's module is imported only when that command runs, so
``recall search`` does not pay for the others; the group's own help is read from ``COMMANDS``.
"""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import InvalidInput, RecallError
from recall import __version__
from recall.cli.common import SETTINGS, examples, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130

# One line each, and the names of subcommands; a test compares this with the commands themselves.
COMMANDS = {
    "search": "Find the notes that answer a question.",
    "refresh": "Bring the caches up to date with the notes.",
    "status": "Show roots, caches and what was skipped.",
    "roots": "List, add and remove roots.",
    "cache": "List cache files and prune unused ones.",
    "trust": "Trust a project's configuration file.",
}
SUBCOMMANDS = {"roots": ("list", "add", "remove"), "cache": ("list", "prune")}


class Commands(click.Group):
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


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (``spec/exit-codes.md``).

    Parameters: ``args``, the arguments without the program's name; the process's own by default.
    Raises nothing but what ``RECALL_DEBUG=1`` asks for: the traceback of a fault of ours.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    try:
        try:
            return _run(arguments)
        finally:
            # Here, not at interpreter exit, where a closed pipe could no longer be caught.
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; what is still buffered must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    if "_RECALL_COMPLETE" in os.environ:
        commands.main(arguments, prog_name="recall")
    try:
        with commands.make_context("recall", list(arguments)) as context:
            status = commands.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as end:
        click.echo(end.format_message())
        return 0
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the person gets one line
        name = _command_name(arguments)
        return report(_told(error, name), name, as_json="--json" in _options(arguments))
    return status if isinstance(status, int) else 0


def _told(error: Exception, command: str) -> RecallError:
    """Return what the person is told; a fault of ours is raised again if they want to see it."""
    if isinstance(error, RecallError):
        return error
    if isinstance(error, click.ClickException):
        program = command if command == "recall" else f"recall {command}"
        return InvalidInput(error.format_message(), hint=f"{program} --help lists what it takes")
    if os.environ.get("RECALL_DEBUG"):
        raise error
    return RecallError(
        f"a fault in recall itself: {type(error).__name__}: {error}",
        hint="run it again with RECALL_DEBUG=1 in the environment to see where, and report that",
    )


def _options(arguments: list[str]) -> list[str]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:end]


def _command_name(arguments: list[str]) -> str:
    words = [word for word in _options(arguments) if not word.startswith("-")]
    if not words or words[0] not in COMMANDS:
        return "recall"
    if len(words) > 1 and words[1] in SUBCOMMANDS.get(words[0], ()):
        return f"{words[0]} {words[1]}"
    return words[0]
