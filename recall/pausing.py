"""Whether the prompt hook is paused, and until when (``recall pause``, ``recall resume``).

A file ``pause`` in the state directory with one line: the time in whole seconds since the epoch, or
``resumed`` when only ``recall resume`` ends it. A file that says neither pauses nothing, and
``recall status`` tells of it: silence without an end that nobody asked for would be worse.
"""

from __future__ import annotations

import os

from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

UNTIL_RESUMED = float("inf")
OFF = "RECALL_OFF"

_FILE = "pause"
_MAX_BYTES = 64
_MAX_DIGITS = 15
_FOREVER = b"resumed"


def is_off(environ: Mapping[str, str]) -> bool:
    """Tell whether the environment switches the hook off: then it keeps nothing either."""
    return environ.get(OFF, "") not in {"", "0"}


def paused(state_dir: str | None, now: float) -> float | None:
    """Return until when the hook is paused (seconds since the epoch), None if it is not.

    ``UNTIL_RESUMED`` (infinity) if only ``recall resume`` ends it. Never raises.
    """
    try:
        until = _until(state_dir)
    except Unreadable:
        return None
    return until if until is not None and until > now else None


def fault(state_dir: str | None) -> str | None:
    """Return what is wrong with the file, None if nothing is."""
    try:
        _until(state_dir)
    except Unreadable as error:
        return str(error)
    return None


def pause(state_dir: str, until: float) -> float:
    """Pause the hook until a time, or ``UNTIL_RESUMED``; return it, rounded up to a whole second.

    Raises OSError; then nothing is changed.
    """
    if until != UNTIL_RESUMED:
        until = float(-(-until // 1))
    line = _FOREVER if until == UNTIL_RESUMED else b"%d" % int(until)
    state.write(state_dir, _FILE, line + b"\n")
    return until


def resume(state_dir: str, now: float) -> bool:
    """End a pause, whatever the file says; return whether there was one. Raises OSError."""
    was = paused(state_dir, now) is not None
    try:
        os.unlink(pause_file(state_dir))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return was


def pause_file(state_dir: str) -> str:
    """Return the path of the file."""
    return os.path.join(state_dir, _FILE)


def _until(state_dir: str | None) -> float | None:
    """Return what the file says, None without one. Raises Unreadable."""
    if state_dir is None:
        return None
    try:
        line = state.read(state_dir, _FILE, _MAX_BYTES).strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if line == _FOREVER:
        return UNTIL_RESUMED
    if not line.isdigit() or len(line) > _MAX_DIGITS:
        raise Unreadable("it does not say until when")
    return float(line)
