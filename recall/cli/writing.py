"""What ``recall remember`` and ``recall propose`` share: options, the payload, the answer."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import InvalidInput
from recall.cli import completing
from recall.cli.common import Console, OutputFailed, working_directory
from recall.cli.options import json_option, wait_option
from recall.output import visible
from recall.terminal import is_terminal
from recall.writing.payload import ADAPTERS, MAX_PAYLOAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from index_cache.model import Root
    from recall.terminal import Look
    from recall.writing.remembering import Written

    Command = TypeVar("Command", bound=Callable[..., Any])

one_root_option = click.option(
    "--root",
    "name",
    metavar="NAME|DIR",
    shell_complete=completing.a_root,
    help="The root: a name in your own configuration, or a directory.",
)


def options(function: Command) -> Command:
    """Add what both commands take."""
    for option in reversed(
        (
            # Asked for once the grant is: see write.
            click.argument("payload", metavar="JSON|-", required=False),
            click.option(
                "--adapter",
                type=click.Choice(ADAPTERS),
                help="The agent to which this call is granted. Needed.",
            ),
            click.option("--allow-write", is_flag=True, help="Grant this one write. Needed."),
            one_root_option,
            click.option("--force", is_flag=True, help="Also write what is nearly known already."),
            wait_option("another writer"),
            json_option,
        )
    ):
        function = option(function)
    return function


def write(
    command: str,
    payload: str | None,
    *,
    adapter: str | None,
    allow_write: bool,
    name: str | None,
    force: bool,
    wait: float,
    as_json: bool,
) -> int:
    """Run one of the commands; return its status."""
    from recall.service import Recall
    from recall.writing import writetarget
    from recall.writing.remembering import check_grant

    console = Console(command, as_json=as_json)
    granted = check_grant(command, adapter, allow_write=allow_write)
    data = _payload(command, payload)
    cwd = working_directory()
    target = writetarget.find(name, cwd, os.environ)
    console.note_all(target.notices)
    with Recall([target.root], cwd=cwd, environ=os.environ) as recall:
        agent = recall.adapter(granted)
        call = agent.remember if command == "remember" else agent.propose
        written = call(data, allow_write=allow_write, force=force, wait=wait)
    if written.stripped:
        console.note("private spans were left out of what was written")
    if written.dropped:
        console.note(
            f"the note was there: only the text was added to it, not {', '.join(written.dropped)}"
        )
    return finish(
        console,
        os.path.join(target.root.path, written.path),
        lambda: _fields(target.root, written),
        lambda _: _text(written),
    )


def finish(
    console: Console,
    file: str,
    data: Callable[[], dict[str, object]],
    text: Callable[[Look], str],
) -> int:
    """Answer that ``file`` was written; where that can't be told on stdout, stderr has it."""
    try:
        return console.finish(data, text)
    except OutputFailed as error:
        raise OutputFailed(
            f"{error.message}; but what was asked is done",
            where=file,
            hint="don't ask again: recall audit shows it",
        ) from error


def _payload(command: str, argument: str | None) -> bytes:
    if argument is None:
        raise InvalidInput("there is no payload", hint=f"recall {command} --help shows one")
    if argument != "-":
        return os.fsencode(argument)
    if sys.stdin is None or is_terminal(sys.stdin):
        raise InvalidInput("there is no payload on standard input", hint="recall remember - < FILE")
    return sys.stdin.buffer.read(MAX_PAYLOAD + 1)


def _fields(root: Root, written: Written) -> dict[str, object]:
    line = written.line
    return {
        "root": root.name,
        "path": written.path,
        "abs_path": os.path.join(root.path, written.path),
        "action": written.action,
        "id": written.id,
        "type": written.type,
        "title": written.title,
        "stripped": written.stripped,
        "dropped": list(written.dropped),
        "audit": {key: line[key] for key in ("machine", "n", "before", "after", "hash")},
    }


def _text(written: Written) -> str:
    done = "written" if written.action == "create" else "added to"
    return f"{done}: {visible(written.path)}\n  id {visible(written.id)}\n"
