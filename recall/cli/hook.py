"""``recall hook``: for people, what the prompt hook makes of an event, and installing it."""

from __future__ import annotations

import os
import sys
import time

import click

from index_cache.errors import InvalidInput
from recall.cli import completing, hook_install, hook_status, hook_uninstall
from recall.cli.common import Console, write_text
from recall.cli.options import SETTINGS, StrictGroup, examples, json_option
from recall.hosts import HOSTS


@click.group(
    cls=StrictGroup,
    invoke_without_command=True,
    context_settings=SETTINGS,
    epilog=examples(
        "recall hook install --host claude",
        "recall hook --explain < event.json",
        "echo how do we rotate keys | recall hook --explain --host text",
    ),
)
@click.option(
    "--host",
    metavar="HOST",
    shell_complete=completing.one_of(HOSTS),
    help=f"Who asks: {', '.join(HOSTS)}.  [default: recognised]",
)
@click.option("--explain", is_flag=True, help="Show every number behind speaking or silence.")
@json_option
@click.pass_context
def command(context: click.Context, *, host: str | None, explain: bool, as_json: bool) -> int:
    """Answer an agent's prompt with the notes that it is about.

    Hosts call it (or recall-hook, which is the same) before a prompt: it reads the event as JSON
    from standard input, prints at most a few cards in the shape that the host accepts, or nothing,
    and exits 0 whatever happens. With --host text the whole input is the prompt. With --explain it
    replays an event, says why it would speak or keep silent, and keeps nothing of it. "install"
    has a host call it, "uninstall" takes that back, "status" shows where it is installed.
    """
    if context.invoked_subcommand is not None:
        if host is not None or explain or as_json:
            raise InvalidInput(
                f"options come after {context.invoked_subcommand}",
                hint=f"recall hook {context.invoked_subcommand} --help",
            )
        return 0
    if not explain and not as_json:  # at a terminal, without a word: nothing to answer
        write_text(f"{context.get_help()}\n")
        return 0
    return _explain(host, explain=explain, as_json=as_json)


command.add_command(hook_install.command, "install")
command.add_command(hook_uninstall.command, "uninstall")
command.add_command(hook_status.command, "status")


def _explain(host: str | None, *, explain: bool, as_json: bool) -> int:
    if not explain:
        raise InvalidInput(
            "--json goes with --explain", hint="a host's own form is printed without --json"
        )
    from recall import explain as explained
    from recall.call import Call
    from recall.hook import read_input

    console = Console("hook", as_json=as_json)
    if host is not None and host not in HOSTS:
        raise InvalidInput(f'there is no host "{host}"', hint=f"one of {', '.join(HOSTS)}")
    if sys.stdin is not None and sys.stdin.isatty():
        console.note("reading the event from the terminal; end it with Ctrl-D")
    call = Call(host, os.environ, time.perf_counter(), thorough=True)
    call.consider(read_input(), lambda _: None)
    _, block, _ = call.answer()
    return console.finish(
        lambda: explained.fields(call, block),
        lambda _: explained.text(call, block),
    )
