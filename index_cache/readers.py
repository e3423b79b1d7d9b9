"""Other processes that read notes where there are many: parsing takes longer than writing rows.

Each is a program of its own and no fork: what SQLite has open must not be used by two. Whatever
becomes of one, its notes are read all the same, by the process that asked it. See "Many notes at
once" in ``spec/staleness.md``.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import islice

from index_cache import schema
from index_cache.files import FileSystem
from index_cache.model import by_path
from index_cache.reader import Reader, parsers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO, Any, Self

    from index_cache.model import Skipped
    from index_cache.reader import Read, Wanted

    Lists = tuple[list[Skipped], list[bytes], list[bytes]]  # as a Reader has them
    Answer = tuple[list[Read], Lists]

_MOST = 2  # a third would wait for SQLite
_CHUNK = 100  # notes that one is given at a time
_OWN_CHUNK = 25  # answers that are there should not have to wait
_AHEAD = 2  # answers that wait at most, for each
# The same modules as here, but never the working directory's, which may be a stranger's.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from index_cache import readers; readers.serve()"
)


def spare() -> int:
    """Return how many other processes can read while this one does."""
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return min(_MOST, cores - 1) if sys.executable else 0


class Readers:
    """Reads files as a ``Reader`` does, in several processes.

    ``own`` is this process's; what could not be read is in its lists afterwards. To be used as a
    context manager, which leaves no process behind.
    """

    def __init__(self, own: Reader) -> None:
        self._own = own
        self._taking = threading.Lock()
        self._left: Iterator[Wanted] = iter(())
        # A chunk and the answer, None if there is none; None when a thread is at its end.
        self._answers: queue.Queue[tuple[list[Wanted], Answer | None] | None]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._working = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        while self._working:
            self._working -= self._answers.get() is None
        for process in self._processes:
            # Closes the pipes, into one of which something may still have to go, and waits.
            with suppress(OSError), process:
                pass
        self._own.unavailable.sort(key=by_path)

    def rows(self, wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Read]]:
        """Yield each file with what it became, in any order."""
        self._left = iter(wanted)
        number = spare()
        self._answers = queue.Queue(_AHEAD * number)
        for _ in range(number):
            self._start()
        while True:
            own = self._take(_OWN_CHUNK)
            for each in own:
                yield each, self._own.row(*each)
            while self._working and not (own and self._answers.empty()):
                answered = self._answers.get()
                if answered is None:
                    self._working -= 1
                else:
                    yield from self._told(*answered)
            if not own:
                return

    def _start(self) -> None:
        paths = [path for path in sys.path if os.path.isabs(path)]
        alone = "-I" if sys.flags.isolated else "-P"
        command = [sys.executable, alone, "-c", _PROGRAM, *paths]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603 - this very program
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
            self._processes.append(process)
            threading.Thread(target=self._ask, args=(process,), daemon=True).start()
        except (OSError, RuntimeError, MemoryError):
            return  # there may be no more processes, threads, or memory
        self._working += 1

    def _take(self, number: int) -> list[Wanted]:
        with self._taking:
            return list(islice(self._left, number))

    def _ask(self, process: subprocess.Popen[bytes]) -> None:
        """Let a process read what is left, as long as it answers; in a thread of its own."""
        chunk: list[Wanted] = []
        try:
            target, source = process.stdin, process.stdout
            if target is None or source is None or not self._greet(target, source):
                return
            while chunk := self._take(_CHUNK):
                hidden = [path for path, _, _ in chunk if path in self._own.withheld]
                _send(target, (chunk, hidden))
                self._answers.put((chunk, _receive(source)))
                chunk = []
        except Exception:  # noqa: BLE001 - it was ended, or another program answers in its place
            return
        finally:
            if chunk:
                self._answers.put((chunk, None))
            self._answers.put(None)

    def _greet(self, target: IO[bytes], source: IO[bytes]) -> bool:
        """Tell a process what it is about; False if it is another version of the program."""
        _send(target, (self._own.root, self._own.clock_ns, self._own.again))
        return bool(_receive(source) == _version())

    def _told(self, chunk: list[Wanted], answer: Answer | None) -> Iterator[tuple[Wanted, Read]]:
        if answer is None:
            yield from ((each, self._own.row(*each)) for each in chunk)
            return
        rows, (unavailable, moving, gone) = answer
        self._own.unavailable += unavailable
        self._own.moving += moving
        self._own.gone += gone
        yield from zip(chunk, rows, strict=True)


def serve() -> None:
    """Read what the process that started this one asks for, until it asks no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other one answers that
    source, target = sys.stdin.buffer, sys.stdout.buffer
    try:
        root, clock_ns, again = _receive(source)
        _send(target, _version())
        withheld: set[bytes] = set()
        reader = Reader(root, FileSystem(), clock_ns, again=again, withheld=withheld)
        while True:
            chunk, hidden = _receive(source)
            withheld.update(hidden)
            rows = [reader.row(*each) for each in chunk]
            _send(target, (rows, (reader.unavailable, reader.moving, reader.gone)))
            for each in (reader.unavailable, reader.moving, reader.gone):
                each.clear()
    except (OSError, EOFError):
        os._exit(0)  # without a word: nobody is there any more


def _version() -> tuple[str, str]:
    return schema.fingerprint(), parsers()


def _send(target: IO[bytes], value: object) -> None:
    pickle.dump(value, target, pickle.HIGHEST_PROTOCOL)
    target.flush()


def _receive(source: IO[bytes]) -> Any:  # noqa: ANN401 - whatever was sent
    return pickle.load(source)  # noqa: S301 - what this very program has written
