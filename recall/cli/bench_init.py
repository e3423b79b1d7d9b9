"""``recall bench init``: draft labels for a person to correct."""

from __future__ import annotations

import os
import sys

import click

from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import Strict, examples, group_option, json_option, root_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.logreading import Entry

_COUNT, _MOST = 40, 1000  # as recall.drafting has them, which only this command loads


@click.command(
    cls=Strict,
    epilog=examples(
        "recall bench init --out labels.jsonl", "recall bench init -n 100 --root notes --json"
    ),
)
@root_option
@group_option
@click.option("--out", metavar="FILE", help="Write them to FILE, which must be new.")
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, _MOST),
    default=_COUNT,
    metavar="N",
    help=f"At most N labels.  [default: {_COUNT}]",
)
@json_option
def command(
    *,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    out: str | None,
    count: int,
    as_json: bool,
) -> int:
    """Draft labels for you to correct, from notes and the recall log.

    The questions are titles, descriptions, and prompts of the log. Each says in "why" how it was
    chosen. Ask as you would, add what else is right, write "relevant": [] where no note answers,
    and take out "draft" and "why". A score over drafts says little: their questions are the notes'
    own words. Prompts of the recall log are drafts only if it has their text ([hook] log_prompts);
    without it, it still tells which notes matter.
    """
    from recall import config, outfiles
    from recall.bench import drafting, running
    from recall.envelope import encode

    if out is not None:
        outfiles.refuse_existing(out)
    cwd = working_directory()
    console = Console("bench init", as_json=as_json)
    settings = config.load(cwd, os.environ, names, groups=groups, fallback=True)
    console.note_all(settings.notices)
    with progress_on(sys.stderr) as progress:
        held, reports = running.refreshed(settings, cwd, os.environ, progress, digests=False)
    console.note_reports(reports)
    found = drafting.drafts(held, _log(console), count)
    if not found:
        console.note("there are no notes to draft labels from")
    lines = b"".join(map(encode, found))
    if not found:
        out = None  # an empty file would only be in the way of the next drafts
    if out is not None:
        outfiles.create(out, lines)
    return console.finish(
        lambda: {"drafts": found, "file": out},
        lambda _: lines.decode() if out is None else _told(len(found), out),
    )


def _log(console: Console) -> list[Entry]:
    from recall import dirs, logreading
    from recall.files import Unreadable

    try:
        entries, _ = logreading.read(dirs.state_dir(os.environ))
    except Unreadable as error:
        console.note(f"the recall log can't be read: {error}", "recall log")
        return []
    return entries


def _told(count: int, out: str) -> str:
    from recall.notice import shell_quoted
    from recall.output import number, visible

    return (
        f"wrote {number(count, 'draft')} to {visible(out)}\n"
        f"correct them, take out draft and why, then: recall bench --labels {shell_quoted(out)}\n"
    )
