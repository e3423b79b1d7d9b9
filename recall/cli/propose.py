"""``recall propose``: let an agent suggest something, for a person to settle."""

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
        "recall propose --adapter codex --allow-write "
        '\'{"title": "Rotate keys monthly", "text": "Quarterly was too seldom."}\''
    ),
)
@writing.options
def command(**given: Any) -> int:  # noqa: ANN401 - what the options give, handed on
    """Let an agent propose something.

    JSON is that of "recall remember", of type proposal. It is written below proposals/ and never
    recalled as knowledge, until a person accepts it: "recall proposals".

    Nothing is written without --adapter and --allow-write, both on this very call.
    """
    return writing.write("propose", **given)
