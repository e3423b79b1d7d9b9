"""What the last proof of each root's cache has shown: evidence for ``recall health``.

One small file for each root, ``proofs/IDENTITY.json`` in the state directory, so that proofs of
different roots at once cost each other nothing. The last one counts, whatever it says. Keeping it
never fails a proof: where it can't be written, it is missing, which health tells.
"""

from __future__ import annotations

import json
import os
import time

from index_cache import db
from recall import state
from recall.files import Unreadable, unlinked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.verify import Proof

DIRECTORY = "proofs"
EQUAL, STALE, MISSING = "equal", "stale", "missing"
BAD, DAMAGED, FAILED = "wrong", "damaged", "failed"
RESULTS = (EQUAL, STALE, MISSING, BAD, DAMAGED, FAILED)
EXPIRY = 180 * 86_400.0  # seconds after which what was shown of a root proves nothing any more
_SUFFIX = ".json"
_MAX_BYTES = 64 * 1024
_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits


class Shown:
    """What a proof has shown: one of ``RESULTS``, at ``when`` (seconds since the epoch).

    ``counts`` are the differences by kind, ``message`` says why there is no proof, if so.
    ``cache`` is the real path of the cache file, ``mark`` what tells it from others that are put
    there (``Store.mark``): what was shown of one says nothing of another.
    """

    __slots__ = ("cache", "counts", "mark", "message", "result", "when")

    def __init__(
        self,
        when: float,
        result: str,
        counts: dict[str, int] | None = None,
        message: str | None = None,
        cache: str | None = None,
        mark: str | None = None,
    ) -> None:
        self.when = when
        self.result = result
        self.counts = counts or {}
        self.message = message
        self.cache = cache
        self.mark = mark

    def is_of(self, cache: str | None, mark: str | None) -> bool:
        """Tell whether it was shown of this cache file, and not of another, or of an older one."""
        if self.cache is None:  # there was none that could be read
            return True
        if cache is None or self.cache != os.path.realpath(cache):
            return False
        return self.result == FAILED or (mark is not None and self.mark == mark)


def result_of(proof: Proof) -> str:
    """Return what a proof says of the cache as it is now; pure.

    Of one that was made anew it is what the new one was proven to be. What the next refresh would
    mend, or what could not be looked at, is not wrong.
    """
    if proof.failure is not None:
        return FAILED
    if proof.rebuilt or proof.equivalent:
        return EQUAL
    if proof.damage is not None:
        return DAMAGED
    from index_cache.verify import WRONG  # 20 ms, which who only reads need not pay

    if any(each.kind == WRONG for each in proof.differences):
        return BAD
    if proof.cache_digest is None:
        return MISSING
    # Digests that differ where no difference was found are no note's that was edited meanwhile.
    return STALE if proof.differences else BAD


def record(state_dir: str | None, proofs: Sequence[Proof], now: float | None = None) -> None:
    """Keep what some proofs have shown, and forget what is too old. Never raises."""
    if state_dir is None:
        return
    at = time.time() if now is None else now
    for proof in proofs:
        fields = {
            "when": at,
            "result": result_of(proof),
            "counts": {} if proof.rebuilt else _counts(proof),
            "message": None if proof.failure is None else proof.failure.message,
            "cache": None if proof.cache_file is None else os.path.realpath(proof.cache_file),
            "mark": proof.cache_mark,
        }
        _keep(state_dir, db.identity(proof.root), fields)
    _sweep(os.path.join(state_dir, DIRECTORY), at)


def read(state_dir: str | None, identity: str) -> Shown | None:
    """Return what the last proof of a root has shown, None if none is kept.

    Raises Unreadable when a file is there that no version of ours has written.
    """
    if state_dir is None:
        return None
    try:
        fields = json.loads(state.read(state_dir, name_of(identity), _MAX_BYTES))
        return _shown(fields)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise Unreadable("it is not what recall has written") from error


def name_of(identity: str) -> str:
    """Return the name of a root's file in the state directory."""
    return f"{DIRECTORY}/{identity}{_SUFFIX}"


def _keep(state_dir: str, identity: str, fields: dict[str, object]) -> None:
    from recall.envelope import encode

    try:
        state.write(state_dir, name_of(identity), encode(fields))
    except OSError:
        return


def _counts(proof: Proof) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in proof.differences:
        counts[each.kind] = counts.get(each.kind, 0) + 1
    return counts


def _shown(fields: object) -> Shown:
    """Return what a file says. Raises ValueError."""
    if not isinstance(fields, dict):
        raise ValueError("no object")  # noqa: TRY004 - as wrong as any other content
    when, result, message = fields.get("when"), fields.get("result"), fields.get("message")
    if isinstance(when, bool) or not isinstance(when, int | float) or result not in RESULTS:
        raise ValueError("no proof")
    if not 0 <= when < _LAST_MOMENT:
        raise ValueError("no time")
    counts, cache, mark = fields.get("counts"), fields.get("cache"), fields.get("mark")
    return Shown(
        when,
        result,
        _numbers(counts) if isinstance(counts, dict) else None,
        message if isinstance(message, str) else None,
        cache if isinstance(cache, str) else None,
        mark if isinstance(mark, str) else None,
    )


def _numbers(counts: dict[str, object]) -> dict[str, int]:
    """Return those of some values that count anything."""
    return {
        kind: n
        for kind, n in counts.items()
        if isinstance(n, int) and not isinstance(n, bool) and n > 0
    }


def _sweep(directory: str, now: float) -> None:
    """Delete the files of roots that nobody has proven for half a year."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        path = os.path.join(directory, name)
        try:
            old = now - os.lstat(path).st_mtime > EXPIRY
        except OSError:
            continue
        if old and name.endswith(_SUFFIX):
            unlinked(path)
