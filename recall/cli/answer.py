"""What ``recall search`` does once its arguments are read. Free of click, for speed."""

from __future__ import annotations

import os
import sys

from index_cache.errors import InvalidInput
from recall.cli.common import Console, progress_on, working_directory, write_error
from recall.terminal import is_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.config import Config
    from recall.consult.wish import Wish
    from recall.marks import Marker
    from recall.searching import Answer
    from recall.terminal import Look

# What is searched for of a query from stdin: of a longer one its first and its last half. What is
# read of it has an end as well, since a stream may have none.
MAX_QUERY_BYTES = 1024 * 1024
MAX_READ = 16 * MAX_QUERY_BYTES
MAX_K = 1000
MAX_WAIT = 3600  # seconds
MIN_BUDGET = 256
MAX_BUDGET = 1024 * 1024
# Explanations are for looking closely; the budget of an answer would hide most of them.
EXPLAIN_BUDGET = MAX_BUDGET


# The options that ``recall.cli.wider`` understands: without any of them it is not loaded.
WIDER = (
    *("sources", "sessions", "since", "to"),
    *("page", "page_size", "cards", "expand", "max_nodes", "max_tokens"),
)


class Asked:
    """The arguments of one ``recall search``; None is what the configuration says."""

    __slots__ = (
        "as_json",
        "budget",
        "explain",
        "groups",
        "include",
        "k",
        "literal",
        "names",
        "no_refresh",
        "recency",
        "types",
        "under",
        "wait",
        "words",
        *WIDER,
    )

    def __init__(
        self,
        *,
        words: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        groups: tuple[str, ...] = (),
        k: int | None = None,
        types: tuple[str, ...] = (),
        include: tuple[str, ...] = (),
        under: str | None = None,
        budget: int | None = None,
        wait: float | None = None,
        as_json: bool = False,
        explain: bool = False,
        no_refresh: bool = False,
        recency: float = 0.0,
        literal: bool = False,
        sources: tuple[str, ...] = (),
        sessions: tuple[str, ...] = (),
        since: int | None = None,
        to: int | None = None,
        page: int | None = None,
        page_size: int | None = None,
        cards: bool = False,
        expand: str | None = None,
        max_nodes: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.words = words
        self.names = names
        self.groups = groups
        self.k = k
        self.types = types
        self.include = include
        self.under = under
        self.budget = budget
        self.wait = wait
        self.as_json = as_json
        self.explain = explain
        self.no_refresh = no_refresh
        self.recency = recency
        self.literal = literal
        self.sources = sources
        self.sessions = sessions
        self.since = since
        self.to = to
        self.page = page
        self.page_size = page_size
        self.cards = cards
        self.expand = expand
        self.max_nodes = max_nodes
        self.max_tokens = max_tokens

    @property
    def is_wider(self) -> bool:
        """Whether more is asked for than the best cards."""
        return any(self.has(name) for name in WIDER)

    def has(self, name: str) -> bool:
        """Tell whether one of the arguments was given; midnight of 1970 is a time."""
        value = getattr(self, name)
        return value is not None and value is not False and value != ()


def search(asked: Asked) -> int:
    """Answer on stdout and return the exit status. Raises RecallError."""
    from recall import config

    wish = None
    if asked.is_wider:
        from recall.cli.wider import wish_of

        wish = wish_of(asked)
    query, is_whole = _query(asked.words) if wish is None or wish.search else ("", True)
    cwd = working_directory()
    console = Console("search", as_json=asked.as_json)
    if not is_whole:
        console.note(
            "the question is longer than 1 MiB: what stands in its midst is not searched for"
        )
    settings = config.load(cwd, os.environ, asked.names, groups=asked.groups, fallback=True)
    console.note_all(settings.notices)
    answer = _answer(query, asked, wish, settings, cwd)
    return _finish(console, asked, wish, settings, cwd, answer)


def _answer(query: str, asked: Asked, wish: Wish | None, settings: Config, cwd: str) -> Answer:
    from recall.service import Recall

    with (
        progress_on(sys.stderr) as progress,
        Recall(settings.roots, cwd=cwd, environ=os.environ) as recall,
    ):
        return recall.answer(
            query,
            k=asked.k or settings.search.k,
            types=list(asked.types) or None,
            under=asked.under,
            include_journal="journal" in asked.include or settings.search.include_journal,
            include_proposal="proposal" in asked.include,
            refresh=not asked.no_refresh,
            explain=asked.explain,
            wait=settings.search.wait if asked.wait is None else asked.wait,
            recency=asked.recency,
            progress=progress,
            # Text that was not typed as a question is no place for operators.
            operators=not asked.literal and not _from_stdin(asked.words),
            **({} if wish is None else {"wish": wish}),
        )


def _from_stdin(words: tuple[str, ...]) -> bool:
    return words in {(), ("-",)}


def _query(words: tuple[str, ...]) -> tuple[str, bool]:
    """Return what to search for, and whether that is all of it."""
    if not _from_stdin(words):
        return " ".join(words), True
    if not words and is_terminal(sys.stdin):
        raise InvalidInput("there is nothing to search for", hint='recall search "your question"')
    if sys.stdin is None:
        return "", True
    data = sys.stdin.buffer.read(MAX_READ)
    if len(data) <= MAX_QUERY_BYTES:
        return data.decode("utf-8", "replace"), True
    half = MAX_QUERY_BYTES // 2
    return b" ".join((data[:half], data[-half:])).decode("utf-8", "replace"), False


def _finish(
    console: Console,
    asked: Asked,
    wish: Wish | None,
    settings: Config,
    cwd: str,
    answer: Answer,
) -> int:
    from recall.terminal import as_text

    failures = [entry.failure for entry in answer.reports if entry.failure is not None]
    # A root that failed costs its own notes. When all did, silence would look like an answer.
    failed = failures and not answer.cards and len(failures) == len(answer.reports)
    error = failures[0] if failed else None
    budget = asked.budget or (EXPLAIN_BUDGET if asked.explain else settings.search.budget)
    console.note_all(answer.notices)
    console.note_reports(answer.reports, error)
    if not answer.cards and error is None and not console.as_json and is_terminal(sys.stderr):
        write_error(f"{_nothing(answer)}\n")
    if wish is not None:
        from recall.cli import wider

        return console.finish(
            lambda: {**_data(answer, asked.budget), **wider.data(answer, wish)},
            lambda look: wider.text(answer, wish, budget, cwd, look, _marker(answer, look)),
            error,
        )
    return console.finish(
        lambda: _data(answer, asked.budget),
        lambda look: as_text(
            answer.cards, answer.total, budget, base=cwd, look=look, marker=_marker(answer, look)
        ),
        error,
    )


def _nothing(answer: Answer) -> str:
    """Return what to say of an answer without cards."""
    if not answer.not_valid:
        return "nothing found"
    what = "note that would be is" if answer.not_valid == 1 else "notes that would be are"
    return f"nothing found; {answer.not_valid:,} {what} not valid now"


def _marker(answer: Answer, look: Look) -> Marker | None:
    """Return what finds the words to highlight, where a person would see them."""
    if not look.colour:
        return None
    from recall.marks import Marker

    return Marker(answer.terms, os.uname().nodename, answer.languages)


def _data(answer: Answer, budget: int | None) -> dict[str, object]:
    from recall.card import as_dict
    from recall.cli.fields import report_fields

    items = [as_dict(card) for card in answer.cards]
    # A program takes what -k gives it, unless it asks for less.
    if budget is not None:
        items = _within(items, budget)
    return {
        "query": answer.query,
        "total": answer.total,
        "not_valid": answer.not_valid,
        "items": items,
        "operators": None if answer.operators is None else answer.operators.as_dict(),
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
