"""What the scheduled runs have left behind."""

from __future__ import annotations

import json
import os

from recall import state
from recall.files import Unreadable
from recall.health.evidence import Schedule, Unread

FILE = "schedule/run.json"
_MAX_BYTES = 64 * 1024
_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits


def look(state_dir: str | None, unread: list[Unread]) -> Schedule | None:
    """Return what is known of the scheduled runs, None if there were none.

    What can't be read is added to ``unread``.
    """
    if state_dir is None:
        return None
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
        failed=failed if isinstance(failed, int) and not isinstance(failed, bool) else 0,
        message=message if isinstance(message, str) else None,
    )


def _moment(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LAST_MOMENT else None
