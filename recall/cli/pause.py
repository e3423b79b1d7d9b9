"""``recall pause``: let the prompt hook say nothing for a while."""

from __future__ import annotations

import os
import time

import click

from recall.cli.common import Console, required
from recall.cli.fields import moment, paused_until
from recall.cli.options import Strict, examples, json_option


@click.command(cls=Strict, epilog=examples("recall pause", "recall pause 1h"))
@click.argument("duration", required=False)
@json_option
def command(*, duration: str | None, as_json: bool) -> int:
    """Let the prompt hook say nothing for a while.

    DURATION is a whole number and its unit, 90s, 30m, 1h or 2d. Without it the pause lasts until
    "recall resume". Searches are not affected.
    """
    from recall import dirs, pausing
    from recall.durations import seconds_of
    from recall.writes import refuse_foreign, unwritten

    console = Console("pause", as_json=as_json)
    until = pausing.UNTIL_RESUMED
    if duration is not None:
        until = time.time() + seconds_of(duration, "recall pause")
    state_dir = required(dirs.state_dir(os.environ), "a pause")
    refuse_foreign(pausing.pause_file(state_dir))
    try:
        until = pausing.pause(state_dir, until)
    except OSError as error:
        file = pausing.pause_file(state_dir)
        raise unwritten("the pause can't be recorded", file, error) from error
    return console.finish(
        lambda: {
            "paused": True,
            "until": None if until == pausing.UNTIL_RESUMED else moment(until),
            "changed": True,
        },
        lambda _: f"the prompt hook is {paused_until(until)}\n",
    )
