"""What last went wrong in each root, kept where ``recall status`` shows it.

It is not derived from the notes, so it lives in the state directory. Keeping it must never fail a
search: where it can't be written, it is not kept.
"""

from __future__ import annotations

import os
import time

from index_cache import db
from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from index_cache.refresh import Report

_FILE = "failures.json"
_MAX_BYTES = 1024 * 1024


def record(state_dir: str | None, reports: Sequence[Report]) -> None:
    """Note the failures among some reports, and forget those of roots that are well again."""
    if state_dir is None:
        return
    failed = {db.identity(each.root): each.failure for each in reports if each.failure}
    if not failed and not os.path.exists(os.path.join(state_dir, _FILE)):
        return
    from recall.envelope import encode

    before = read(state_dir)
    well = {db.identity(each.root) for each in reports if not each.failure and not each.busy}
    known = {name: each for name, each in before.items() if name not in well}
    for name, error in failed.items():
        known[name] = {
            "when": time.time(),
            "message": error.message,
            "where": error.where,
            "hint": error.hint,
        }
    if known == before:
        return
    try:
        state.write(state_dir, _FILE, encode(known))
    except OSError:
        return


def read(state_dir: str | None) -> Mapping[str, dict[str, object]]:
    """Return the last failure of each root by its identity; none from a file that is no JSON."""
    if state_dir is None:
        return {}
    import json

    try:
        found = json.loads(state.read(state_dir, _FILE, _MAX_BYTES))
    except (OSError, ValueError, Unreadable):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: each for name, each in found.items() if isinstance(each, dict)}
