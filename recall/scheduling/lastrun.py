"""What came of the scheduled runs: evidence for ``recall schedule status`` and for health.

One file in the state directory, ``schedule/run.json``, replaced as a whole (``spec/schedule.md``).
A run is noted when it begins, so that one that was killed shows, and when it ends. Its turn is a
kernel lock on the directory, which ends with the process.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager

from index_cache.errors import RootUnavailable
from recall import state
from recall.files import Unreadable
from recall.replace import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = "schedule"
STUCK = 86_400.0  # seconds after which a run that is still at work is told of

_MOMENT = 1.0  # seconds; whoever only looks whether a run is at work lets go at once
_FILE = f"{DIRECTORY}/run.json"
_MAX_BYTES = 64 * 1024
_MAX_TEXT = 500  # characters of each text
_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits
KINDS = ("wrong", "pending", "unavailable", "moving")


class Run:
    """A run that ended: when it ``begun`` and ``ended`` (seconds since the epoch), with what.

    ``status`` is that of its first error, which is told by ``message``, ``where`` and ``hint``.
    ``refreshed`` and ``checked`` are how many roots were; of those checked ``damaged`` caches could
    not be read, and the numbers of ``differences`` are by their kind.
    """

    __slots__ = (
        "begun",
        "checked",
        "damaged",
        "differences",
        "ended",
        "hint",
        "message",
        "refreshed",
        "status",
        "where",
    )

    def __init__(self, begun: float) -> None:
        self.begun = self.ended = begun
        self.status = 0
        self.message: str | None = None
        self.where: str | None = None
        self.hint: str | None = None
        self.refreshed = self.checked = self.damaged = 0
        self.differences = dict.fromkeys(KINDS, 0)


class Evidence:
    """All that is known: the ``last`` run that ended, and when the latest one ``begun``.

    ``succeeded`` is when one last ended with 0, ``failed`` how many since did not, ``overlapped``
    when one last found another at work.
    """

    __slots__ = ("begun", "failed", "last", "overlapped", "succeeded")

    def __init__(self) -> None:
        self.begun: float | None = None
        self.last: Run | None = None
        self.succeeded: float | None = None
        self.overlapped: float | None = None
        self.failed = 0


@contextmanager
def turn(state_dir: str) -> Iterator[bool]:
    """Give whether it is this process's turn to run, and keep it from others meanwhile.

    Raises OSError where the directory can't be had.
    """
    state.own(state_dir)
    directory = os.path.join(state_dir, DIRECTORY)
    state.own(directory)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(directory, _MOMENT))
        except RootUnavailable:
            is_mine = False
        else:
            is_mine = True
        yield is_mine


def path_of(state_dir: str) -> str:
    """Return the path of the file."""
    return os.path.join(state_dir, _FILE)


def is_running(state_dir: str | None) -> bool:
    """Tell whether a run is at work now."""
    if state_dir is None or not os.path.isdir(os.path.join(state_dir, DIRECTORY)):
        return False
    try:
        with locked(os.path.join(state_dir, DIRECTORY), 0):
            return False
    except RootUnavailable:
        return True
    except OSError:
        return False


def begin(state_dir: str, now: float) -> None:
    """Note that a run begins. Raises OSError."""
    with _noted(state_dir) as known:
        known.begun = now


def end(state_dir: str, run: Run) -> None:
    """Note what came of a run. Raises OSError."""
    with _noted(state_dir) as known:
        known.last = run
        known.failed = 0 if run.status == 0 else known.failed + 1
        if run.status == 0:
            known.succeeded = run.ended


def overlap(state_dir: str, now: float) -> None:
    """Note that a run found another at work. Raises OSError."""
    with _noted(state_dir) as known:
        known.overlapped = now


@contextmanager
def _noted(state_dir: str) -> Iterator[Evidence]:
    """Give what is known and keep it as it is then, one process at a time."""
    import json

    with locked(state_dir):  # that of the run is held by the one at work
        known = read(state_dir) or Evidence()
        yield known
        fields = {
            "begun": known.begun,
            "last": None if known.last is None else _fields(known.last),
            "succeeded": known.succeeded,
            "failed": known.failed,
            "overlapped": known.overlapped,
        }
        state.write(state_dir, _FILE, json.dumps(fields).encode("ascii") + b"\n")


def _fields(run: Run) -> dict[str, object]:
    fields = {name: getattr(run, name) for name in Run.__slots__}
    return {**fields, **{name: _line(fields[name]) for name in ("message", "where", "hint")}}


def _line(text: str | None) -> str | None:
    from recall.output import visible

    return None if text is None else visible(text[:_MAX_TEXT])[:_MAX_TEXT]


def read(state_dir: str | None) -> Evidence | None:
    """Return what is known of the scheduled runs, None if nothing is, or what is there is odd."""
    if state_dir is None:
        return None
    import json

    try:
        fields = json.loads(state.read(state_dir, _FILE, _MAX_BYTES))
    except (OSError, ValueError, RecursionError, Unreadable):
        return None
    if not isinstance(fields, dict):
        return None
    known = Evidence()
    known.begun = _moment(fields.get("begun"))
    known.succeeded = _moment(fields.get("succeeded"))
    known.overlapped = _moment(fields.get("overlapped"))
    known.failed = _count(fields.get("failed"))
    known.last = _run(_of(fields.get("last")))
    return known


def _run(fields: dict[str, object]) -> Run | None:
    begun, ended = _moment(fields.get("begun")), _moment(fields.get("ended"))
    status = fields.get("status")
    if begun is None or ended is None or not _is_number(status):
        return None
    run = Run(begun)
    run.ended, run.status = ended, _count(status)
    for name in ("message", "where", "hint"):
        value = fields.get(name)
        setattr(run, name, value if isinstance(value, str) else None)
    for name in ("refreshed", "checked", "damaged"):
        setattr(run, name, _count(fields.get(name)))
    counts = _of(fields.get("differences"))
    run.differences = {kind: _count(counts.get(kind)) for kind in KINDS}
    return run


def _of(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _count(value: object) -> int:
    return value if isinstance(value, int) and _is_number(value) else 0


def _moment(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LAST_MOMENT else None
