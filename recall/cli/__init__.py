"""The command line: finds the one command that was asked for and turns every end into a status.

Click lives in this package alone, and is not even imported for the common forms of ``recall
search``: it takes longer to load than everything else together (``quick`` says more). A command's
module is imported only when that command runs; the group's own help is read from ``COMMANDS``.
"""

from __future__ import annotations

import os
import sys

from index_cache.errors import RecallError
from recall.cli.common import OutputFailed, flush_output, give_up, report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130

# One line each, and the names of subcommands; a test compares this with the commands themselves.
COMMANDS = {
    "search": "Find the notes that answer a question.",
    "timeline": "Show what was recorded before and after.",
    "get": "Print whole records by their ids.",
    "export": "Print whole records as one JSON object, recall-export/v1.",
    "refresh": "Bring the caches up to date with the notes.",
    "rebuild": "Make the caches anew from the notes, and prove them.",
    "status": "Show roots, caches and what was skipped.",
    "health": "Tell whether all is well, and what to do if not.",
    "hook": "Answer an agent's prompt with the notes that it is about.",
    "bench": "Measure what is found, against labels of your own.",
    "log": "Show what the prompt hook said, and why.",
    "pause": "Let the prompt hook say nothing for a while.",
    "resume": "Let the prompt hook speak again after a pause.",
    "remember": "Let an agent add a memory, an idea or knowledge.",
    "propose": "Let an agent propose something.",
    "proposals": "List, show, accept and reject proposals.",
    "audit": "Show and verify what agents wrote.",
    "roots": "List, discover, add, remove and adopt roots.",
    "cache": "List cache files and prune unused ones.",
    "trust": "Trust a project's configuration file.",
    "schedule": "Have cron, systemd or launchd keep the caches up to date.",
    "completion": "Print the script by which a shell completes words.",
}
SUBCOMMANDS = {
    "bench": ("init", "check"),
    "hook": ("install", "uninstall", "status"),
    "proposals": ("list", "show", "accept", "reject"),
    "roots": ("list", "add", "remove", "adopt", "discover"),
    "cache": ("list", "prune"),
    "schedule": ("print", "install", "remove", "status", "run"),
}


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
            flush_output()
    except BrokenPipeError:
        # The reader has seen enough.
        give_up(sys.stdout)
        return 0
    except OutputFailed as error:
        give_up(sys.stdout)
        return report(error, "recall", as_json=False)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    command = _command_name(arguments)
    try:
        if arguments[:1] == ["search"]:
            from recall.cli.quick import asked_for

            asked = asked_for(arguments[1:])
            if asked is not None:
                from recall.cli.answer import search

                return search(asked)
        if arguments[:1] == ["hook"]:
            from recall import hook

            # Any other word is from a host, whose prompt must not suffer by it.
            subcommand = arguments[1:2] and arguments[1] in SUBCOMMANDS["hook"]
            if not subcommand and not hook.is_for_people(arguments[1:]):
                hook.main(arguments[1:])
        from recall.cli.app import run

        return run(arguments, command)
    except (BrokenPipeError, OutputFailed):
        raise
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the person gets one line
        return report(_told(error), command, as_json="--json" in _options(arguments))


def _told(error: Exception) -> RecallError:
    """Return what the person is told; a fault of ours is raised again if they want to see it."""
    if isinstance(error, RecallError):
        return error
    if os.environ.get("RECALL_DEBUG"):
        raise error
    if isinstance(error, MemoryError):
        from index_cache.errors import RootUnavailable

        return RootUnavailable(
            "there is not enough memory", hint="end other programs, or raise the limit: ulimit -v"
        )
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
