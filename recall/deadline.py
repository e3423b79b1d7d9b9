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


class Deadline:
    """Watches over one answer, which is given once: by whoever claims it first.

    ``until`` is a time of ``time.perf_counter``. ``late`` is called, in a thread of its own, when
    nobody has claimed the answer by then: it gives the answer, and what it does after that has
    ``GRACE`` seconds. Then the process ends with status 0.
    """

    def __init__(self, until: float, late: Callable[[], None]) -> None:
        self._until = until
        self._late = late
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
            _thread.start_new_thread(self._answer, ())
        # Else the answer is out: what is still going on must not keep the host waiting either.
        time.sleep(GRACE)
        os._exit(0)

    def _answer(self) -> None:
        try:
            self._late()
        finally:
            os._exit(0)
