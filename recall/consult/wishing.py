"""A search that is asked for more than its best cards: see ``recall.consult.wish``."""

from __future__ import annotations

from index_cache.filters import Filter
from recall.consult.consulting import now
from recall.consult.readout import Readout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.files import FileSystem
    from index_cache.model import Root
    from index_cache.store import Store
    from recall.consult.wish import Wish
    from recall.searching import Answer, Request, Searching


def grant(
    searching: Searching,
    answer: Answer,
    request: Request,
    wish: Wish,
    live: Sequence[tuple[Root, Store, Filter | None, bool]],
    fs: FileSystem,
) -> None:
    """Fill in an answer to a request with a wish.

    Raises NotFound and IntegrityError for the record to be expanded.
    """
    explain = request.explain
    others = Filter(request.types, proposal=request.proposal)  # of roots without anything to find
    readout = Readout(
        [(root, store, part or others) for root, store, part, _ in live], fs, now(fs), last=True
    )
    if wish.search and wish.page is None:
        searching.run(answer, request.k, explain=explain)
    elif wish.search and wish.page is not None:
        hits = searching.page(answer, wish.page, wish.page_size, explain=explain)
        if wish.cards:
            found = [(readout.of_hit(hit, line), hit.score) for hit, line in hits]
            answer.records = [(record, score) for record, score in found if record is not None]
    elif wish.cards:
        answer.records = []
    if wish.expand is not None:
        answer.expansion = readout.expand(wish.expand, wish.max_nodes, wish.max_tokens)
