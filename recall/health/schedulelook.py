"""What the scheduled runs have left behind, and whether there still is a schedule."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from recall import state
from recall.files import Unreadable
from recall.health.evidence import Schedule, Unread
from recall.scheduling import jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "schedule/run.json"
_MAX_BYTES = 64 * 1024
_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits


def look(
    state_dir: str | None, environ: Mapping[str, str], unread: list[Unread]
) -> Schedule | None:
    """Return what is known of the scheduled runs, None if there were none.

    Only if there were any, the schedulers are asked. What can't be read is added to ``unread``.
    """
    known = None if state_dir is None else _left(state_dir, unread)
    if known is None:
        return None
    found = jobs.jobs(environ)
    return replace(known, wanted=found is None or bool(found), gone=jobs.gone(found or []))


def _left(state_dir: str, unread: list[Unread]) -> Schedule | None:
    file = os.path.join(state_dir, FILE)
    try:
        fields = json.loads(state.read(state_dir, FILE, _MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        unread.append(Unread(file, getattr(error, "strerror", None) or str(error)))
        return None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        unread.append(Unread(file, "it is not what recall has written"))
        return None
    last = fields.get("last")
    last = last if isinstance(last, dict) else {}
    message, failed = last.get("message"), fields.get("failed")
    return Schedule(
        file,
        begun=_moment(fields.get("begun")),
        ended=_moment(last.get("ended")),
        failed=_count(failed),
        message=message if isinstance(message, str) else None,
    )


def _count(value: object) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if isinstance(value, int) and is_count else 0


def _moment(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LAST_MOMENT else None
