"""The options of ``recall search`` that ask for more than the best cards (``spec/reading.md``)."""

from __future__ import annotations

from index_cache.errors import InvalidInput
from recall.cli import recordtext
from recall.cli.answer import MAX_BUDGET
from recall.cli.consult import lifecycle
from recall.consult.expanding import NODES, TOKENS
from recall.consult.records import card
from recall.consult.wish import PAGE_SIZE, Wish
from recall.terminal import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.cli.answer import Asked
    from recall.marks import Marker
    from recall.searching import Answer
    from recall.terminal import Look

_OPTIONS = {
    "k": "-k",
    "budget": "--budget",
    "page": "--page",
    "page_size": "--page-size",
    "cards": "--cards",
    "explain": "--explain",
    "expand": "--expand",
    "max_nodes": "--max-nodes",
    "max_tokens": "--max-tokens",
    "types": "--type",
    "include": "--include",
    "under": "--under",
    "recency": "--recency",
    "literal": "--literal",
    "sources": "--source",
    "sessions": "--session",
    "since": "--from",
    "to": "--to",
}
# Which option has no meaning beside which others.
_PAGES = "pages bound it: --page-size"
_APART = (
    ("k", ("page", "page_size", "cards"), _PAGES),
    ("budget", ("page", "page_size", "cards"), _PAGES),
    ("budget", ("expand",), "what is around a record is bounded by --max-tokens"),
    ("explain", ("cards",), "an explanation tells of the text: leave --cards out"),
)
_BOUNDS = ("max_nodes", "max_tokens")
# Of use to what a search finds alone.
_OF_A_SEARCH = (
    *("k", "page", "page_size", "explain", "types", "under", "recency", "literal"),
    *("sources", "sessions", "since", "to"),
)


def wish_of(asked: Asked) -> Wish:
    """Return what is asked for. Raises InvalidInput for what has no meaning together."""
    given = {name for name in _OPTIONS if asked.has(name)}
    if not asked.recency:  # which is none by default
        given.discard("recency")
    for name, others, hint in _APART:
        beside = [other for other in others if other in given]
        if name in given and beside:
            message = f"{_OPTIONS[name]} has no meaning beside {_OPTIONS[beside[0]]}"
            raise InvalidInput(message, hint=hint)
    searches = bool(asked.words) or asked.expand is None
    _refuse_alone(asked, given, searches=searches)
    pages = "page" in given or "page_size" in given
    return Wish(
        lifecycle=lifecycle(asked.sources, asked.sessions, asked.since, asked.to),
        page=(asked.page or 1) if pages else None,
        page_size=asked.page_size or PAGE_SIZE,
        cards=asked.cards,
        expand=asked.expand,
        max_nodes=asked.max_nodes or NODES,
        max_tokens=asked.max_tokens or TOKENS,
        search=searches,
    )


def _refuse_alone(asked: Asked, given: set[str], *, searches: bool) -> None:
    for name in _BOUNDS:
        if name in given and asked.expand is None:
            raise InvalidInput(
                f"{_OPTIONS[name]} goes with --expand", hint="name a record: --expand ID"
            )
    if asked.expand == "":
        raise InvalidInput("the id of --expand is empty", hint="recall search --cards shows ids")
    for name in _OF_A_SEARCH:
        if name in given and not searches:
            raise InvalidInput(
                f"{_OPTIONS[name]} has no meaning without a QUERY",
                hint="say what to search for besides, or leave it out",
            )
    if asked.since is not None and asked.to is not None and asked.since > asked.to:
        raise InvalidInput("--from is after --to", hint="nothing lies between them")


def data(answer: Answer, wish: Wish) -> dict[str, object]:
    """Return the fields that an answer has besides, or instead."""
    fields: dict[str, object] = {"expansion": None}
    if answer.records is not None:
        fields["items"] = [card(record, score) for record, score in answer.records]
    if wish.page is not None:
        pages = -(-answer.total // wish.page_size)
        fields.update(page=wish.page, page_size=wish.page_size, pages=pages)
    if answer.expansion is not None:
        fields["expansion"] = recordtext.expansion_fields(answer.expansion, content=not wish.cards)
    return fields


def text(
    answer: Answer, wish: Wish, budget: int, cwd: str, look: Look, marker: Marker | None
) -> str:
    """Return an answer for people."""
    first = 1 if wish.page is None else (wish.page - 1) * wish.page_size + 1
    if answer.records is not None:
        said = recordtext.cards(answer.records, answer.total, first)
    elif wish.page is None:
        said = as_text(answer.cards, answer.total, budget, base=cwd, look=look, marker=marker)
    else:
        shown = answer.cards
        said = as_text(shown, len(shown), MAX_BUDGET, base=cwd, look=look, marker=marker)
        said += recordtext.more(len(shown), answer.total, first)
    if answer.expansion is not None:
        said += recordtext.expansion(answer.expansion, content=not wish.cards)
    return said
