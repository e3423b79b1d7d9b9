"""The FTS5 auxiliary function by which a search scores documents while FTS5 has them at hand."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw


class Weigher:
    """The FTS5 auxiliary function ``recall_score`` of one connection: what ``weigh`` does.

    FTS5 keeps every function that was ever registered, and a prepared statement the one that there
    was when it was prepared: so there is one, and what it does is exchanged.
    """

    __slots__ = ("weigh",)

    def __init__(self, connection: apsw.Connection) -> None:
        self.weigh: Callable[[apsw.FTS5ExtensionApi], float] = _nothing
        connection.register_fts5_function("recall_score", self.score)

    def score(self, api: apsw.FTS5ExtensionApi, *_: object) -> float:
        """Return what ``weigh`` says of the document at hand."""
        return self.weigh(api)


def _nothing(_: apsw.FTS5ExtensionApi) -> float:
    return 0.0
