"""``recall search``: find the notes that answer a question."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import InvalidInput
from recall.cli.common import (
    Console,
    examples,
    json_option,
    progress_on,
    root_option,
    seconds,
    working_directory,
    write_error,
)
from recall.output import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.config import Config
    from recall.service import Answer

# What is read of a query from stdin; nobody's question is longer, and a stream may not end.
MAX_QUERY_BYTES = 1024 * 1024
MAX_K = 1000
MAX_BUDGET = 1024 * 1024
# Explanations are for looking closely; the budget of an answer would hide most of them.
EXPLAIN_BUDGET = MAX_BUDGET


@click.command(
    epilog=examples(
        "recall search rotate the deploy keys",
        "recall search --root ./docs --type Decision -k 3 --json why sqlite",
        "git log -1 --format=%B | recall search -",
    ),
)
@click.argument("words", nargs=-1, metavar="QUERY...")
@root_option
@click.option(
    "-k", "k", type=click.IntRange(1, MAX_K), metavar="N", help="At most N notes.  [default: 10]"
)
@click.option("--type", "types", multiple=True, help="Only notes of this type. Repeatable.")
@click.option(
    "--include",
    multiple=True,
    type=click.Choice(["journal"]),
    help="Also search journals, which are left out otherwise.",
)
@click.option("--under", metavar="PATH", help="Only notes below this path.")
@click.option(
    "--budget",
    type=click.IntRange(256, MAX_BUDGET),
    metavar="BYTES",
    help="At most this many bytes of cards; whole ones.  [default: 4096 for text]",
)
@json_option
@click.option("--explain", is_flag=True, help="Show why each note was found and ranked so.")
@click.option("--no-refresh", is_flag=True, help="Answer from the cache as it is.")
@click.option(
    "--wait",
    type=float,
    callback=seconds,
    metavar="SECONDS",
    help="How long to wait for another process that builds the first cache.  [default: 30]",
)
def command(
    *,
    words: tuple[str, ...],
    names: tuple[str, ...],
    k: int | None,
    types: tuple[str, ...],
    include: tuple[str, ...],
    under: str | None,
    budget: int | None,
    wait: float | None,
    as_json: bool,
    explain: bool,
    no_refresh: bool,
) -> int:
    """Find the notes that answer a question.

    Any text is a query. It is read from stdin when QUERY is "-", or absent while stdin is no
    terminal. Caches are brought up to date first. Finding nothing is an answer: exit 0, no output.
    """
    from recall import config

    query = _query(words)
    cwd = working_directory()
    settings = config.load(cwd, os.environ, names, fallback=True)
    console = Console("search", as_json=as_json)
    console.note_all(settings.notices)
    from recall.service import Recall

    progress = progress_on(sys.stderr)
    try:
        with Recall(settings.roots, cwd=cwd, environ=os.environ) as recall:
            answer = recall.answer(
                query,
                k=k or settings.search.k,
                types=list(types) or None,
                under=under,
                include_journal="journal" in include or settings.search.include_journal,
                refresh=not no_refresh,
                explain=explain,
                wait=settings.search.wait if wait is None else wait,
                progress=progress,
            )
    finally:
        if progress is not None:
            progress.close()
    return _finish(console, answer, _Limits(settings, cwd, budget, explain=explain))


def _query(words: tuple[str, ...]) -> str:
    if words and words != ("-",):
        return " ".join(words)
    if not words and is_terminal(sys.stdin):
        raise InvalidInput("there is nothing to search for", hint='recall search "your question"')
    if sys.stdin is None:
        return ""
    return sys.stdin.buffer.read(MAX_QUERY_BYTES).decode("utf-8", "replace")


class _Limits:
    """How much of an answer is written, and against which directory its paths are read."""

    def __init__(self, settings: Config, cwd: str, budget: int | None, *, explain: bool) -> None:
        self.cwd = cwd
        self.text = budget if budget is not None else settings.search.budget
        if explain and budget is None:
            self.text = EXPLAIN_BUDGET
        # A program takes what -k gives it, unless it asks for less.
        self.json = budget


def _finish(console: Console, answer: Answer, limits: _Limits) -> int:
    from recall.card import as_text

    failures = [entry.failure for entry in answer.reports if entry.failure is not None]
    # A root that failed costs its own notes. When all did, silence would look like an answer.
    failed = failures and not answer.cards and len(failures) == len(answer.reports)
    error = failures[0] if failed else None
    console.note_all(answer.notices)
    console.note_reports(answer.reports, error)
    if not answer.cards and error is None and not console.as_json and is_terminal(sys.stderr):
        write_error("nothing found\n")
    return console.finish(
        lambda: _data(answer, limits.json),
        lambda look: as_text(answer.cards, answer.total, limits.text, base=limits.cwd, look=look),
        error,
    )


def _data(answer: Answer, budget: int | None) -> dict[str, object]:
    from recall.card import as_dict
    from recall.cli.fields import report_fields

    items = [as_dict(card) for card in answer.cards]
    if budget is not None:
        items = _within(items, budget)
    return {
        "query": answer.query,
        "total": answer.total,
        "items": items,
        "omitted": len(answer.cards) - len(items),
        "roots": [report_fields(entry) for entry in answer.reports],
    }


def _within(items: list[dict[str, object]], budget: int) -> list[dict[str, object]]:
    from recall.envelope import encode

    used = 0
    for count, item in enumerate(items):
        used += len(encode(item))
        if used > budget:
            return items[:count]
    return items
