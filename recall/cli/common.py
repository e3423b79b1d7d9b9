"""What the commands share: where answers and diagnostics go. Free of click, for speed."""

from __future__ import annotations

import os
import sys
import time

from index_cache.errors import InvalidInput, RootUnavailable
from recall.output import diagnostic, visible
from recall.terminal import is_terminal, look_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TextIO

    from index_cache.errors import RecallError
    from index_cache.refresh import Report
    from recall.notice import Notice
    from recall.terminal import Look

    # What a notice is made of: message and hint.
    Said = tuple[str, str | None]

# Progress appears only when work takes longer than this, then at this pace (seconds).
_PATIENCE = 1.0
_PACE = 0.1
_MINUTES = 100.0  # seconds from which on minutes are told


def working_directory() -> str:
    """Return where the person stands. Raises RootUnavailable when that directory is gone."""
    try:
        return os.getcwd()
    except OSError as error:
        raise RootUnavailable(
            "the working directory no longer exists", hint="cd to one that does"
        ) from error


class OutputFailed(RootUnavailable):
    """What was answered can't be written to stdout: a full disk, for instance."""


def flush_output() -> None:
    """Write what stdout still holds. Raises OutputFailed, or BrokenPipeError for no reader."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise output_failed(error) from error


def give_up(stream: TextIO | None) -> None:
    """Let what a stream still holds go nowhere, so that the interpreter's end can't complain."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


def output_failed(error: OSError) -> OutputFailed:
    """Return what to say of a write to stdout that failed."""
    return OutputFailed(f"the output can't be written: {error.strerror or error}")


def required(value: str | None, what: str) -> str:
    """Return a path of recall's own. Raises InvalidInput when there is no home to hold it."""
    if value is None:
        raise InvalidInput(
            f"there is no place for {what}: no home directory can be found",
            hint="set HOME to an absolute path",
        )
    return value


def installed_program(name: str) -> list[str]:
    """Return the words that start a program of this installation.

    Raises InvalidInput where its path is not known.
    """
    from recall.hookcommand import program_words

    isolated = sys.prefix != sys.base_prefix
    words = program_words(sys.executable or "", sys.argv[0], isolated=isolated, name=name)
    if not os.path.isabs(words[0]):
        raise InvalidInput(
            "the program's own path is not known", hint="run recall by its absolute path"
        )
    return words


class Console:
    """Where one command's answer, its notices and its failure go.

    stdout has the answer (text, or one JSON envelope); stderr has all that is said about it.
    Under ``--json`` notices are part of the answer and stderr stays silent.
    """

    def __init__(self, command: str, *, as_json: bool) -> None:
        self.command = command
        self.as_json = as_json
        self._notices: list[Said] = []

    def note(self, message: str, hint: str | None = None) -> None:
        """Say something that stops nothing, once."""
        if (message, hint) in self._notices:
            return
        self._notices.append((message, hint))
        if not self.as_json:
            write_error(diagnostic("warning", message, hint=hint))

    def note_all(self, notices: Iterable[Notice | str]) -> None:
        """Say each of several notices."""
        for notice in notices:
            if isinstance(notice, str):
                self.note(notice)
            else:
                self.note(notice.message, notice.hint)

    def note_reports(self, reports: Iterable[Report], error: RecallError | None = None) -> None:
        """Say what went wrong or is unusual in each root; ``error`` is told at the end anyway."""
        for entry in reports:
            for notice in entry.notices:
                self.note(f"{entry.root.name}: {notice}")
            if entry.failure is None:
                self._note_unavailable(entry)
            elif entry.failure is not error:
                self.note(f"{entry.root.name}: {entry.failure.message}", entry.failure.hint)

    def _note_unavailable(self, entry: Report) -> None:
        if not entry.unavailable:
            return
        first = entry.unavailable[0]
        count = len(entry.unavailable)
        what = (
            "1 directory or file could not be looked at"
            if count == 1
            else f"{count:,} directories or files could not be looked at, the first"
        )
        self.note(
            f"{entry.root.name}: {what}: {os.fsdecode(first.path) or '.'}: {first.reason}",
            "recall status --skipped",
        )

    def finish(
        self,
        data: Callable[[], dict[str, object]],
        text: Callable[[Look], str],
        error: RecallError | None = None,
    ) -> int:
        """Write the answer and return the exit status; ``error`` is what failed besides."""
        if self.as_json:
            from recall.envelope import encode, failure, success

            fields = data()
            fields["notices"] = [{"message": said, "hint": hint} for said, hint in self._notices]
            envelope = (
                success(self.command, fields)
                if error is None
                else failure(self.command, error, fields)
            )
            write_bytes(encode(envelope))
        else:
            write_text(text(look_at(sys.stdout, os.environ)))
            if error is not None:
                write_error(diagnostic("error", error.message, error.where, error.hint))
        return error.exit_status if error is not None else 0


def report(error: RecallError, command: str, *, as_json: bool) -> int:
    """Tell the person or the program of an error that ended the command; return its status."""
    if as_json:
        from recall.envelope import encode, failure

        write_bytes(encode(failure(command, error)))
    else:
        write_error(diagnostic("error", error.message, error.where, error.hint))
    return error.exit_status


def write_bytes(data: bytes) -> None:
    """Write to stdout what is UTF-8 whatever the locale says, all of it.

    Without a buffer (``python -u``) a write may take less than it is given, and into a pipe that
    does not block nothing at all.
    """
    if sys.stdout is None:
        return
    flush_output()
    stream = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
    rest = memoryview(data)
    try:
        while rest:
            taken = stream.write(rest)
            if taken is None:
                import select  # hardly any pipe is like that

                select.select((), (stream,), ())
            else:
                rest = rest[taken:]
    except BrokenPipeError:
        raise
    except OSError as error:
        raise output_failed(error) from error


def write_text(text: str) -> None:
    """Write text to stdout; characters that its encoding lacks show as ``?``."""
    if text and sys.stdout is not None:
        write_bytes(text.encode(sys.stdout.encoding or "utf-8", "replace"))


def write_error(text: str) -> None:
    """Write a diagnostic to stderr, if there is one; a closed or full one changes nothing."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        give_up(sys.stderr)


class Progress:
    """A line on a terminal's stderr that shows how far a long refresh has come."""

    SAYS = "indexing {what}: {done:,} of {total:,} files"

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last = self._begun = clock()
        self._due = self._last + _PATIENCE
        self._of = ""
        self._shown = False

    def __call__(self, root: str, done: int, total: int) -> None:
        """Show the count, the rate and what is left if a person has been waiting for it."""
        if root != self._of:  # its first part took from the end of what was before it
            self._of, self._begun = root, self._last
        self._last = self._clock()
        said = self.SAYS.format(what=visible(root, 40), done=done, total=total)
        self.show(said + pace(done, total, self._last - self._begun))

    def show(self, text: str) -> None:
        """Show a text of ours, likewise."""
        now = self._clock()
        if now < self._due:
            return
        self._due = now + _PACE
        self._shown = True
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()

    def close(self) -> None:
        """Take the line away again."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def pace(done: int, total: int, seconds: float) -> str:
    """Return how fast it goes and how long it takes yet, "" where that can't be told."""
    if not done or seconds <= 0:
        return ""
    rate = done / seconds
    left = (total - done) / rate
    told = f"{left / 60:.0f} min" if left >= _MINUTES else f"{left:.0f} s"
    return f", {rate:,.0f} a second, {told} left"


class _While:
    """Something that is closed when the work is over, or nothing."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def __enter__(self) -> Progress | None:
        return self._progress

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.close()


def progress_on(
    stream: TextIO | None, kind: type[Progress] = Progress, *, quiet: bool = False
) -> _While:
    """Return a progress line for a ``with``: None there where no person sees ``stream``."""
    if quiet or stream is None or not is_terminal(stream) or os.environ.get("TERM") == "dumb":
        return _While(None)
    return _While(kind(stream))
