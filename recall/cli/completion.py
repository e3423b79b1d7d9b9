"""``recall completion``: the script that lets a shell complete recall's words."""

from __future__ import annotations

import click

from recall.cli.common import Console
from recall.cli.completing import VARIABLE
from recall.cli.options import Strict, examples, json_option
from recall.cli.shells import SHELLS


@click.command(cls=Strict, epilog=examples("recall completion bash", "recall completion fish"))
@click.argument("shell", type=click.Choice(list(SHELLS)))
@json_option
def command(*, shell: str, as_json: bool) -> int:
    """Print the script by which a shell completes words.

    They are commands, options, hosts, the names of roots, and types of notes.

    \b
    To have it in every shell, put the line into the file:
      bash  ~/.bashrc                   eval "$(recall completion bash 2>/dev/null)"
      zsh   ~/.zshrc, after compinit    eval "$(recall completion zsh 2>/dev/null)"
      fish  ~/.config/fish/config.fish  command -q recall; and recall completion fish | source

    It calls recall by its name, which has to be found on your PATH. Should recall be gone, all of
    it is silent. bash has to be 4.4 or newer.
    """  # noqa: D301 - click reads the character
    from recall.cli.app import commands

    console = Console("completion", as_json=as_json)
    script = SHELLS[shell](commands, {}, "recall", VARIABLE).source()
    return console.finish(lambda: {"shell": shell, "script": script}, lambda _: script)
