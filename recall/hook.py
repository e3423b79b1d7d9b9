"""The prompt hook, a process of its own at each prompt: ``recall-hook``, or ``recall hook``.

It reads what a host sends from standard input, prints at most a few cards in the shape that the
host accepts, and exits 0 whatever happens. See ``spec/hook.md``.
"""

from __future__ import annotations

import gc
import os
import sys
import time

_STARTED = time.perf_counter()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from index_cache.errors import InvalidInput
    from recall.call import Call

DEADLINE = 0.25  # seconds, until the configuration is known
VARIABLE = "RECALL_DEADLINE_MS"
_LEAST, _MOST = 20, 10_000  # ms, as deadline_ms in the configuration
_MAX_DIGITS = 9
MOST_INPUT = 16 * 1024 * 1024  # bytes
# Why there is no card in an answer that has some, in the log's words.
FAILED, UNREAD = "a fault", "nobody read it"
_BUSY = "a busy machine, or the first call since it started: recall hook --explain shows the times"
_DEBUG = "RECALL_DEBUG"
_FOR_PEOPLE = frozenset({"--help", "-h", "--explain", "--version"})


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Answer one event, and end the process.

    ``args`` are the arguments without the program's name. For people (``--help``, ``--explain``, or
    nothing at a terminal) the command line takes over, with its exit statuses.
    """
    gc.disable()  # a process this short leaves nothing to collect, and looking takes 2 ms
    arguments = list(sys.argv[1:] if args is None else args)
    if is_for_people(arguments):
        people = ["-P", "-m", "recall", "hook", *(arguments or ["--help"])]
        os.execv(sys.executable, [sys.executable, *people])  # noqa: S606 - no shell is wanted
    host, wrong = _host(arguments)
    try:
        if wrong is not None:
            _refuse(wrong)
        _answer(host)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the host must not notice
        _keep_silent(host)
        _failed(None, error)
    os._exit(0)  # without taking the interpreter down, which costs 3 ms


def is_for_people(arguments: Sequence[str]) -> bool:
    """Tell whether a person asks, not a host."""
    return not _FOR_PEOPLE.isdisjoint(arguments) or (not arguments and _is_terminal())


def _host(arguments: Sequence[str]) -> tuple[str | None, str | None]:
    """Return the host that is named, None if none is, and what else there is, None if nothing."""
    rest = list(arguments)
    host = wrong = None
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name == "--host" and (equals or rest):
            host = value if equals else rest.pop(0)
        else:
            wrong = wrong or name or "an empty word"
    return host, wrong


def _refuse(option: str) -> NoReturn:
    from index_cache.errors import InvalidInput

    raise InvalidInput(
        f"the hook is called with {option!r}, which it does not take",
        hint="correct the command in the host's settings: recall hook --help",
    )


def _keep_silent(host: str | None) -> None:
    """Print what ``host`` takes for silence."""
    try:
        from recall import hosts
    except Exception:  # noqa: BLE001 - an installation in pieces
        return
    _print(hosts.render(host, "", ""))


def _is_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:
        return False


def _answer(host: str | None) -> None:
    """Answer what is on standard input, in time."""
    from recall.deadline import Deadline

    late = _Late()
    told = _told_deadline()
    deadline = Deadline(_STARTED + (told or DEADLINE), late, late.stuck)
    call = None
    try:
        from recall import hosts

        # Before all else: while one thread looks for a module, no other can import any.
        late.silence = hosts.render(host, "", "")
        from recall.call import Call

        late.call = call = Call(host, os.environ, _STARTED)
        call.consider(read_input(), (lambda _: None) if told else deadline.move)
    except BaseException as error:  # noqa: BLE001 - what is there is printed all the same
        _failed(call, error)
    if not deadline.claim():
        _wait()
    elif call is None:
        _keep_silent(host)
    else:
        _finish(call)


def _wait() -> NoReturn:
    """Wait for the end, which is that of the deadline's thread: it is answering."""
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            continue


def _told_deadline() -> float | None:
    """Return the seconds that the environment gives us, for machines where loading takes long.

    The configuration can't: until it is read, only this holds.
    """
    value = os.environ.get(VARIABLE, "")
    if not value.isascii() or not value.isdigit() or len(value) > _MAX_DIGITS:
        return None
    return min(max(int(value), _LEAST), _MOST) / 1000


class _Late:
    """What is called at the deadline, to print what there is, and when that does not end."""

    def __init__(self) -> None:
        self.silence = b""
        self.call: Call | None = None

    def __call__(self) -> None:
        if self.call is None:
            _print(self.silence)
            _note("the deadline passed while it was at: start", hint=_BUSY)
            return
        from recall.call import LATE, Fault

        part = self.call.marks[-1][0]
        message = f"the deadline passed while it was at: {part}"
        self.call.faults.insert(0, Fault(message, hint=_BUSY))
        _finish(self.call, LATE)

    def stuck(self) -> None:
        """Note what the hook is at although the answer is out, or should be."""
        part = "start" if self.call is None else self.call.marks[-1][0]
        _note(f"its time was over while it was at: {part}", hint=_BUSY)


def _finish(call: Call, why: str = "") -> None:
    """Print the answer, then keep what has to be kept."""
    try:
        said, block, cards = call.answer()
    except Exception as error:  # noqa: BLE001 - a fault of ours is no reason to break the form
        _keep_silent(call.event.host)
        _failed(call, error)
        block, cards, why = "", [], FAILED
    else:
        why = why or call.why
        if not _print(said):
            block, cards, why = "", [], UNREAD if cards else why
    try:
        from recall.aftermath import keep

        keep(call, block, cards, why)
    except Exception as error:  # noqa: BLE001 - the answer is out
        _failed(None, error)


def read_input() -> bytes:
    """Return what is on standard input.

    Raises InvalidInput for more than any host sends, and for what can't be read.
    """
    parts, size = [], 0
    try:
        while size <= MOST_INPUT and (part := os.read(0, 1 << 20)):
            parts.append(part)
            size += len(part)
    except OSError as error:
        raise _unusable(f"can't be read: {error.strerror}") from error
    if size > MOST_INPUT:
        raise _unusable(f"is longer than {MOST_INPUT:,} bytes")
    return b"".join(parts)


def _unusable(why: str) -> InvalidInput:
    from index_cache.errors import InvalidInput

    return InvalidInput(f"what the host sent {why}")


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

        if isinstance(error, RecallError):
            told = error.message, error.where, error.hint
        else:
            hint = "recall hook --explain with the same input shows more"
            told = f"a fault in recall itself: {type(error).__name__}", _place(error), hint
        if call is None:
            _note(*told)
        else:
            from recall.call import Fault

            call.faults.append(Fault(*told))
    except BaseException:  # noqa: BLE001 - an installation in pieces has nothing to tell it with
        return


def _note(message: str, where: str | None = None, hint: str | None = None) -> None:
    # Without recall.call: it may be what is being imported, and another thread would wait for it.
    from recall import dirs, hookfault, pausing

    if not pausing.is_off(os.environ):
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
