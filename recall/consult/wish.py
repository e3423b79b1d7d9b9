"""What a search may be asked for besides its words: pages, cards of records, what is around one."""

from __future__ import annotations

from index_cache.errors import InvalidInput
from recall.consult.expanding import MAX_NODES, MAX_TOKENS, NODES, TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.filters import Lifecycle

MAX_PAGE_SIZE, PAGE_SIZE = 100, 10


class Wish:
    """What a search is asked for besides its words. See ``spec/reading.md``.

    ``lifecycle`` says of which records; ``page`` (1-based) which page of how many at most, None for
    no pages; ``cards`` asks for ``Answer.records``, which go by pages; ``expand`` is the id of the
    record around which ``max_nodes`` with ``max_tokens`` in sum are asked for, and without
    ``search`` nothing but these. Raises InvalidInput for what is out of its limits.
    """

    __slots__ = (
        "cards",
        "expand",
        "lifecycle",
        "max_nodes",
        "max_tokens",
        "page",
        "page_size",
        "search",
    )

    def __init__(
        self,
        *,
        lifecycle: Lifecycle | None = None,
        page: int | None = None,
        page_size: int = PAGE_SIZE,
        cards: bool = False,
        expand: str | None = None,
        max_nodes: int = NODES,
        max_tokens: int = TOKENS,
        search: bool = True,
    ) -> None:
        limits = (
            ("page", page, None),
            ("page_size", page_size, MAX_PAGE_SIZE),
            ("max_nodes", max_nodes, MAX_NODES),
            ("max_tokens", max_tokens, MAX_TOKENS),
        )
        for name, value, most in limits:
            if value is not None and (value < 1 or (most is not None and value > most)):
                until = "" if most is None else f" and at most {most:,}"
                raise InvalidInput(f"{name} must be at least 1{until}")
        self.lifecycle = lifecycle
        self.page = 1 if cards and page is None else page
        self.page_size = page_size
        self.cards = cards
        self.expand = expand
        self.max_nodes = max_nodes
        self.max_tokens = max_tokens
        self.search = search
