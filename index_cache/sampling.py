"""A part of a cache file's pages, read for their checksums alone: a bounded look for damage.

See ``spec/health.md``. ``guard.check_pages`` looks at all of them, and at what they hold.
"""

from __future__ import annotations

import apsw

from index_cache import db
from index_cache.guard import guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.store import Store


@guarded
def sample(store: Store, start: int, count: int) -> tuple[int, int, int]:
    """Read up to ``count`` pages from page ``start`` (from 0) on, past the end from the first.

    Returns the page to go on with, how many were read and how many there are. Raises what reading a
    page that belies its checksum raises; but while there is a WAL, which may have that page anew,
    it ends there instead, to go on with it the next time. A cache in memory has no pages.
    """
    total = db.pages(store.path)
    at = start % total if total else 0
    for done in range(min(count, total)):
        # Through the connection: a descriptor of our own would, when closed, take its locks away.
        try:
            store.connection.read("main", 0, at * db.PAGE, db.PAGE)
        except apsw.IOError:
            if db.is_unfinished(store.path):
                return at, done, total
            raise
        at = (at + 1) % total
    return at, min(count, total), total
