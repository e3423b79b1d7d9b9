"""The hook's own deadline: whatever hangs then, the process answers with what it has, and ends.

A thread, not a signal: a signal's handler waits until C code returns, which a stat of a dead
network mount does not do. The thread ends the whole process, whatever the others are waiting for.
"""

from __future__ import annotations

import _thread
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

GRACE = 0.1  # seconds for what comes after the answer: the ledger, the log
LAST_GRACE = 0.05  # seconds to note that these did not end


class Deadline:
    """Watches over one answer, which is given once: by whoever claims it first.

    ``until`` is a time of ``time.perf_counter``. ``late`` is called, in a thread of its own, when
    nobody has claimed the answer by then: it gives the answer, and what it does after that has
    ``GRACE`` seconds. If the process is still there then, ``stuck`` is called, in a thread of its
    own and for ``LAST_GRACE`` seconds, and the process ends with status 0.
    """

    def __init__(self, until: float, late: Callable[[], None], stuck: Callable[[], None]) -> None:
        self._until = until
        self._late = late
        self._stuck = stuck
        self._moved = _thread.allocate_lock()
        self._moved.acquire()
        self._claimed = _thread.allocate_lock()
        _thread.start_new_thread(self._watch, ())

    def move(self, until: float) -> None:
        """Let the deadline be at another time."""
        self._until = until
        if self._moved.locked():
            self._moved.release()

    def claim(self) -> bool:
        """Return whether the caller is to answer: the first one is."""
        return self._claimed.acquire(blocking=False)

    def _watch(self) -> None:
        while (left := self._until - time.perf_counter()) > 0:
            self._moved.acquire(timeout=left)
        if self.claim():
            _thread.start_new_thread(_last, (self._late,))
        # Else the answer is out: what is still going on must not keep the host waiting either.
        time.sleep(GRACE)
        _thread.start_new_thread(_last, (self._stuck,))
        time.sleep(LAST_GRACE)
        os._exit(0)


def _last(call: Callable[[], None]) -> None:
    """Call it, and end the process."""
    try:
        call()
    finally:
        os._exit(0)
