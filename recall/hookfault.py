"""What last went wrong with the prompt hook itself, since nobody sees its stderr.

One small file for each part of it, in the state directory: ``hook.fault`` for what answers,
``refresh.fault`` for the refresh beside it. The first line has whole seconds since the epoch and a
count, then come three lines of text, empty if there is none:

    SINCE LAST COUNT WORKED
    what happened
    where
    hint

WORKED is when it first worked again, 0 if it did not. A hook that works pays for one look at a file
that is not there. Nothing here raises: where it can't be kept, it is not kept. Of two processes
that fail at once one may go uncounted.
"""

from __future__ import annotations

import os
import time

from recall import state
from recall.files import Unreadable

HOOK, REFRESH = "hook", "refresh"
MAX_TEXT = 500  # characters of each text
_DAY = 86_400.0
EXPIRY = 30 * _DAY  # seconds after the last failure

SUFFIX = ".fault"
_MAX_BYTES = 16 * 1024
_NUMBERS = 4
_MAX_DIGITS = 11  # with which no year has five digits


class Fault:
    """A failure: ``message``, ``where`` and ``hint`` are the last one's, or None.

    ``since`` and ``when`` are the first and the last time (seconds since the epoch), ``count`` how
    often, ``worked`` when it first worked again after the last, or None.
    """

    __slots__ = ("count", "hint", "message", "since", "when", "where", "worked")

    def __init__(
        self,
        message: str,
        where: str | None,
        hint: str | None,
        *,
        since: float,
        when: float,
        count: int = 1,
        worked: float | None = None,
    ) -> None:
        self.message = message
        self.where = where
        self.hint = hint
        self.since = since
        self.when = when
        self.count = count
        self.worked = worked


def note(
    state_dir: str | None,
    message: str,
    *,
    where: str | None = None,
    hint: str | None = None,
    part: str = HOOK,
    now: float | None = None,
) -> None:
    """Note that a part failed; the texts are cut and made harmless. ``now`` is since the epoch.

    What fails in another way than before is counted anew.
    """
    if state_dir is None:
        return
    at = time.time() if now is None else now
    before = read(state_dir, part, at)
    fault = Fault(message or "it does not say why", where, hint, since=at, when=at)
    if before is not None and before.message == _line(fault.message):
        fault.since, fault.count = min(before.since, at), before.count + 1
    _keep(state_dir, part, fault)


def worked(state_dir: str | None, part: str = HOOK, now: float | None = None) -> None:
    """Note, once, that a part works again; a failure of long ago is forgotten."""
    if state_dir is None:
        return
    name = part + SUFFIX
    path = os.path.join(state_dir, name)
    try:
        os.lstat(path)
        fault = _parsed(state.read(state_dir, name, _MAX_BYTES))
    except (OSError, ValueError, Unreadable):
        return
    at = time.time() if now is None else now
    if fault is None or _is_expired(fault, at):
        _unlink(path)
    elif fault.worked is None:
        fault.worked = max(at, fault.when)
        _keep(state_dir, part, fault)


def is_over(fault: Fault, now: float) -> bool:
    """Tell whether a failure needs no warning any more: it has worked again for a day."""
    return fault.worked is not None and now - fault.worked > _DAY


def read(state_dir: str | None, part: str = HOOK, now: float | None = None) -> Fault | None:
    """Return what went wrong with a part in the last 30 days, None if nothing is known."""
    if state_dir is None:
        return None
    try:
        fault = _parsed(state.read(state_dir, part + SUFFIX, _MAX_BYTES))
    except (OSError, ValueError, Unreadable):
        return None
    at = time.time() if now is None else now
    return None if fault is None or _is_expired(fault, at) else fault


def unread(state_dir: str | None, part: str = HOOK) -> str | None:
    """Return why what is kept of a part can't be read, None if it can or if nothing is kept."""
    if state_dir is None:
        return None
    try:
        fault = _parsed(state.read(state_dir, part + SUFFIX, _MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, Unreadable) as error:
        return getattr(error, "strerror", None) or str(error)
    return "it is not what recall has written" if fault is None else None


def _is_expired(fault: Fault, now: float) -> bool:
    # Either way: a time far ahead comes from a clock that was wrong, and would never expire.
    return abs(now - fault.when) > EXPIRY


def _keep(state_dir: str, part: str, fault: Fault) -> None:
    numbers = (fault.since, fault.when, fault.count, fault.worked or 0)
    texts = (fault.message, fault.where, fault.hint)
    lines = [" ".join(f"{int(number)}" for number in numbers), *map(_line, texts), ""]
    data = "\n".join(lines).encode("utf-8", "replace")
    try:
        # Not synced: a prompt is waiting, and a file that a power cut emptied says nothing.
        state.write(state_dir, part + SUFFIX, data, sync=False)
    except (OSError, ValueError):
        return


def _line(text: str | None) -> str:
    from recall.output import visible  # re: 3 ms, which only a failure pays

    return visible((text or "")[:MAX_TEXT])[:MAX_TEXT]


def _parsed(data: bytes) -> Fault | None:
    """Return what a file says, None if no version of ours has written it so."""
    lines = data.decode("utf-8", "replace").split("\n")
    numbers = lines[0].split(" ")
    if len(lines) != 5 or len(numbers) != _NUMBERS or not lines[1]:  # noqa: PLR2004 - see above
        return None
    if not all(each.isascii() and each.isdigit() and len(each) <= _MAX_DIGITS for each in numbers):
        return None
    since, when, count, again = map(int, numbers)
    if count < 1:
        return None
    return Fault(
        lines[1],
        lines[2] or None,
        lines[3] or None,
        since=since,
        when=when,
        count=count,
        worked=again or None,
    )


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
