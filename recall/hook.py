"""The prompt hook, a process of its own at each prompt: ``recall-hook``, or ``recall hook``.

It reads what a host sends from standard input, prints at most a few cards in the shape that the
host accepts, and exits 0 whatever happens. See ``spec/hook.md``.
"""

from __future__ import annotations

import os
import sys
import time

_STARTED = time.perf_counter()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from recall.call import Call

DEADLINE = 0.25  # seconds, until the configuration is known
MOST_INPUT = 16 * 1024 * 1024  # bytes
UNREAD = "nobody read it"  # why there were no cards, in the log's words
_DEBUG = "RECALL_DEBUG"
_FOR_PEOPLE = frozenset({"--help", "-h", "--explain", "--version"})


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Answer one event, and end the process.

    ``args`` are the arguments without the program's name. For people (``--help``, ``--explain``, or
    nothing at a terminal) the command line takes over, with its exit statuses.
    """
    arguments = list(sys.argv[1:] if args is None else args)
    if is_for_people(arguments):
        people = ["-P", "-m", "recall", "hook", *(arguments or ["--help"])]
        os.execv(sys.executable, [sys.executable, *people])  # noqa: S606 - ourselves
    try:
        _answer(_host(arguments))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the host must not notice
        _failed(None, error)
    os._exit(0)  # without taking the interpreter down, which costs 3 ms


def is_for_people(arguments: Sequence[str]) -> bool:
    """Tell whether a person asks, not a host."""
    return not _FOR_PEOPLE.isdisjoint(arguments) or (not arguments and _is_terminal())


def _host(arguments: Sequence[str]) -> str | None:
    """Return the host that is named, None if none is. Raises InvalidInput for anything else."""
    rest = list(arguments)
    host = None
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name != "--host" or not (equals or rest):
            from index_cache.errors import InvalidInput

            raise InvalidInput(
                f"the hook is called with {name!r}, which it does not take",
                hint="correct the command in the host's settings: recall hook --help",
            )
        host = value if equals else rest.pop(0)
    return host


def _is_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


def _answer(host: str | None) -> None:
    """Answer what is on standard input, in time."""
    from recall.deadline import Deadline

    late = _Late()
    deadline = Deadline(_STARTED + DEADLINE, late, late.stuck)
    from recall import hosts

    # Before all else: while one thread looks for a module, no other can import any.
    late.silence = hosts.render(host, "", "")
    from recall.call import Call

    late.call = call = Call(host, os.environ, _STARTED)
    try:
        call.consider(_read(), deadline.move)
    except BaseException as error:  # noqa: BLE001 - what is there is printed all the same
        _failed(call, error)
    if deadline.claim():
        _finish(call, call.why)
    else:
        _wait()


def _wait() -> None:
    """Wait for the end, which is that of the deadline's thread: it is answering."""
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            continue


class _Late:
    """What is called at the deadline, to print what there is, and when that does not end."""

    def __init__(self) -> None:
        self.silence = b""
        self.call: Call | None = None

    def __call__(self) -> None:
        if self.call is None:
            _print(self.silence)
            _note("the deadline passed while it was at: start")
            return
        from recall.call import LATE, Fault

        part = self.call.marks[-1][0]
        self.call.faults.insert(0, Fault(f"the deadline passed while it was at: {part}"))
        _finish(self.call, LATE)

    def stuck(self) -> None:
        """Note what the hook is at although the answer is out, or should be."""
        part = "start" if self.call is None else self.call.marks[-1][0]
        _note(f"its time was over while it was at: {part}")


def _finish(call: Call, why: str) -> None:
    """Print the answer, then keep what has to be kept."""
    said, block, cards = call.answer()
    if not _print(said):
        why = UNREAD if cards else why
        block, cards = "", []
    from recall.aftermath import keep

    keep(call, block, cards, why)


def _read() -> bytes:
    """Return what is on standard input. Raises ValueError for more than any host sends."""
    parts, size = [], 0
    while part := os.read(0, 1 << 20):
        parts.append(part)
        size += len(part)
        if size > MOST_INPUT:
            raise ValueError(f"the input is longer than {MOST_INPUT} bytes")
    return b"".join(parts)


def _print(data: bytes) -> bool:
    """Write to standard output; False if nobody reads it."""
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        return False
    return True


def _failed(call: Call | None, error: BaseException) -> None:
    """Note what went wrong, without a word of a prompt or a note."""
    if os.environ.get(_DEBUG):
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, KeyboardInterrupt):
        return  # the person changed their mind
    try:
        from index_cache.errors import RecallError
        from recall.call import Fault

        if isinstance(error, RecallError):
            fault = Fault(error.message, error.where, error.hint)
        else:
            hint = "recall hook --explain with the same input shows more"
            fault = Fault(f"a fault in recall itself: {type(error).__name__}", _place(error), hint)
        if call is not None:
            call.faults.append(fault)
            return
        _note(fault.message, fault.where, fault.hint)
    except BaseException:  # noqa: BLE001 - an installation in pieces: nothing is left to tell it with
        return


def _note(message: str, where: str | None = None, hint: str | None = None) -> None:
    # Without recall.call: it may be what is being imported, and another thread would wait for it.
    from recall import dirs, hookfault

    hookfault.note(dirs.state_dir(os.environ), message, where=where, hint=hint)


def _place(error: BaseException) -> str | None:
    """Return the file and line of ours in which an error was raised last."""
    trace, place = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if f"{os.sep}recall{os.sep}" in code.co_filename or "index_cache" in code.co_filename:
            place = f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
