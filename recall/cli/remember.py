"""``recall remember``: let an agent add one thing to memory."""

from __future__ import annotations

import click

from recall.cli import writing
from recall.cli.options import Strict, examples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@click.command(
    cls=Strict,
    epilog=examples(
        "recall remember --adapter claude --allow-write "
        '\'{"type": "memory", "title": "Deploy keys", "text": "They live in the vault."}\'',
        "recall remember --adapter claude --allow-write --root notes - < payload.json",
    ),
)
@writing.options
def command(**given: Any) -> int:  # noqa: ANN401 - what the options give, handed on
    """Let an agent add a memory, an idea or knowledge.

    JSON has "type" (memory, idea, knowledge), "title" and "text", and may have id, tags, source,
    session, related, created, valid_from, valid_until, description and path; - reads it from
    standard input. It is written below memory/, ideas/ or knowledge/ of the root. A note of that
    type and title gets the text under a heading with the date.

    Nothing is written without --adapter and --allow-write, both on this very call. "recall audit"
    shows what was written.
    """
    return writing.write("remember", **given)
