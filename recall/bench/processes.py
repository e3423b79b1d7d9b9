"""Several processes that ask at once, none of which is left behind."""

from __future__ import annotations

import os
from contextlib import contextmanager

from index_cache.errors import RootUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recall.bench.labels import Label

    Records = list[dict[str, object]]


def in_processes(
    asking: Callable[[Sequence[Label]], Records], chunks: Sequence[Sequence[Label]], jobs: int
) -> Iterator[Records]:
    """Yield the records of each chunk of labels, asked by ``jobs`` processes.

    Raises RootUnavailable when one of these is ended from outside.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Not forked: what SQLite has open must not be used by two.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, initializer=_serve_one)
    try:
        with _ended_in_order():
            yield from pool.map(asking, chunks)
    except BrokenProcessPool as error:
        raise RootUnavailable(
            "a process that asked questions was ended from outside", hint="try again with --jobs 1"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let SIGTERM be as an interrupt: ended at once, Python would complain of what it leaves."""
    import signal

    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not the main thread: whoever uses the library sees to signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve_one() -> None:
    """Begin a process that asks: it ends with the one that waits for it, however that ends.

    That one answers an interrupt, too; two would print twice.
    """
    import multiprocessing
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    waiting = multiprocessing.parent_process()

    def end() -> None:
        if waiting is not None:
            waiting.join()
            os._exit(1)

    threading.Thread(target=end, daemon=True).start()
