"""``recall resume``: let the prompt hook speak again."""

from __future__ import annotations

import os
import time

import click

from recall.cli.common import Console, required
from recall.cli.options import Strict, examples, json_option


@click.command(cls=Strict, epilog=examples("recall resume"))
@json_option
def command(*, as_json: bool) -> int:
    """Let the prompt hook speak again after a pause."""
    from recall import dirs, pausing
    from recall.writes import unwritten

    console = Console("resume", as_json=as_json)
    state_dir = required(dirs.state_dir(os.environ), "a pause")
    try:
        was = pausing.resume(state_dir, time.time())
    except OSError as error:
        file = pausing.pause_file(state_dir)
        raise unwritten("the pause can't be ended", file, error) from error
    return console.finish(
        lambda: {"paused": False, "until": None, "changed": was},
        lambda _: "the prompt hook speaks again\n" if was else "it was not paused\n",
    )
