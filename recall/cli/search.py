"""``recall search``: find the notes that answer a question."""

from __future__ import annotations

import click

from recall.cli import completing
from recall.cli.answer import MAX_BUDGET, MAX_K, MIN_BUDGET, Asked, search
from recall.cli.consult import (
    instant,
    no_refresh_option,
    session_option,
    source_option,
    type_option,
    wait_option,
)
from recall.cli.options import Strict, examples, group_option, json_option, root_option
from recall.consult.expanding import MAX_NODES, MAX_TOKENS
from recall.consult.wish import MAX_PAGE_SIZE


def weight(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse what is no weight: negative, infinite or not a number."""
    if not 0 <= value < float("inf"):
        raise click.BadParameter("must be a finite number, 0 or more", context, parameter)
    return value


@click.command(
    cls=Strict,
    epilog=examples(
        "recall search rotate the deploy keys",
        "recall search --root ./docs --type Decision -k 3 --json why sqlite",
        """recall search '"deploy keys" not:staging tag:release after:30d'""",
        "recall search --cards --from 2026-03-01 --page 2 vault",
        "recall search --expand d-12 --max-tokens 4000",
        "git log -1 --format=%B | recall search -",
    ),
)
@click.argument("words", nargs=-1, metavar="QUERY...")
@root_option
@group_option
@click.option(
    "-k", "k", type=click.IntRange(1, MAX_K), metavar="N", help="At most N notes.  [default: 10]"
)
@type_option
@source_option
@session_option
@click.option(
    "--include",
    multiple=True,
    type=click.Choice(["journal", "proposal"]),
    help="Also search journals, or proposals, which are left out otherwise. Repeatable.",
)
@click.option(
    "--under",
    metavar="PATH",
    shell_complete=completing.a_file,
    help="Only notes below this path.",
)
@click.option(
    "--budget",
    type=click.IntRange(MIN_BUDGET, MAX_BUDGET),
    metavar="BYTES",
    help="At most this many bytes of cards; whole ones.  [default: 4096 for text]",
)
@click.option(
    "--recency",
    type=click.FLOAT,
    default=0.0,
    callback=weight,
    metavar="WEIGHT",
    help="Let new notes' scores grow: by this share of them, above 1 ever less.  [default: 0]",
)
@click.option(
    "--from",
    "since",
    callback=instant,
    metavar="TIME",
    help="Only records created then or later: an ISO 8601 date or time.",
)
@click.option(
    "--to",
    callback=instant,
    metavar="TIME",
    help="Only records created by then; of a date, its end.",
)
@click.option(
    "--page", type=click.IntRange(1), metavar="N", help="The Nth page of all that matches."
)
@click.option(
    "--page-size",
    type=click.IntRange(1, MAX_PAGE_SIZE),
    metavar="N",
    help="How many are on a page, 1 to 100.  [default: 10]",
)
@click.option("--cards", is_flag=True, help="No text of any body: ids, dates, sources, sizes.")
@click.option(
    "--expand",
    metavar="ID",
    help="Also the records around this one, by what they are related to.",
)
@click.option(
    "--max-nodes",
    type=click.IntRange(1, MAX_NODES),
    metavar="N",
    help="At most N of these, 1 to 100.  [default: 10]",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MAX_TOKENS),
    metavar="N",
    help="At most N tokens of these, 1 to 50,000.  [default: 2000]",
)
@json_option
@click.option("--explain", is_flag=True, help="Show why each note was found and ranked so.")
@click.option("--literal", is_flag=True, help="Take QUERY as it is: no operators.")
@no_refresh_option
@wait_option
def command(
    *,
    words: tuple[str, ...],
    names: tuple[str, ...],
    groups: tuple[str, ...],
    k: int | None,
    types: tuple[str, ...],
    include: tuple[str, ...],
    under: str | None,
    budget: int | None,
    wait: float | None,
    as_json: bool,
    explain: bool,
    no_refresh: bool,
    recency: float,
    literal: bool,
    sources: tuple[str, ...],
    sessions: tuple[str, ...],
    since: int | None,
    to: int | None,
    page: int | None,
    page_size: int | None,
    cards: bool,
    expand: str | None,
    max_nodes: int | None,
    max_tokens: int | None,
) -> int:
    """Find the notes that answer a question.

    Any text is a query. It is read from stdin when QUERY is "-", or absent while stdin is no
    terminal. Caches are brought up to date first. Finding nothing is an answer: exit 0, and no
    output but two words at a terminal.

    \b
    Operators in QUERY narrow it down; what is unknown or malformed is text, and so is stdin:
      "two words"        next to one another (quote it for the shell as well)
      not:WORD           without it; also not:"two words"
      tag: type: root:   of that name; several tags must all be there
      path:GLOB          at a path or below a directory
      after: before:     a time: 2026, 2026-03, 2026-03-05, or how long ago: 30d, 2w
    """  # noqa: D301 - click's mark for lines that stay as they are
    return search(
        Asked(
            words=words,
            names=names,
            groups=groups,
            k=k,
            types=types,
            include=include,
            under=under,
            budget=budget,
            wait=wait,
            as_json=as_json,
            explain=explain,
            no_refresh=no_refresh,
            recency=recency,
            literal=literal,
            sources=sources,
            sessions=sessions,
            since=since,
            to=to,
            page=page,
            page_size=page_size,
            cards=cards,
            expand=expand,
            max_nodes=max_nodes,
            max_tokens=max_tokens,
        )
    )
