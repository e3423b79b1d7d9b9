"""What a search may be asked for besides its words: pages, cards of records, what is around one."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.filters import Lifecycle

MAX_PAGE_SIZE, PAGE_SIZE = 100, 10


class Wish:
    """What a search is asked for besides its words. See ``spec/reading.md``.

    ``lifecycle`` says of which records; ``page`` (1-based) which page of how many at most, None for
    no pages; ``cards`` asks for ``Answer.records``, which go by pages; ``expand`` is the id of the
    record around which ``max_nodes`` with ``max_tokens`` in sum are asked for, and without
    ``search`` nothing but these.
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
        max_nodes: int = 10,
        max_tokens: int = 2000,
        search: bool = True,
    ) -> None:
        self.lifecycle = lifecycle
        self.page = 1 if cards and page is None else page
        self.page_size = page_size
        self.cards = cards
        self.expand = expand
        self.max_nodes = max_nodes
        self.max_tokens = max_tokens
        self.search = search
