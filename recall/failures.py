"""What last went wrong in each root, and when its cache was last found damaged.

``recall status`` shows both. They are not derived from the notes, so they live in the state
directory. Keeping them must never fail a search: where the file can't be written, it is not kept.
Of two processes that write at once the last one is kept. A failure is forgotten once the root is
well again; damage is not, since the next search repairs it and nobody would ever see that a disk
is failing.
"""

from __future__ import annotations

import os
import time

from index_cache import db
from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from index_cache.refresh import Report
    from index_cache.verify import Proof

    Fields = dict[str, object]
    Known = dict[str, dict[str, Fields]]  # by a root's identity: its "failure", its "damage"

FILE = "failures.json"
_MAX_BYTES = 1024 * 1024
_LAST_MOMENT = 253_402_300_800  # seconds since the epoch; from here on a year has five digits


def record(state_dir: str | None, reports: Sequence[Report]) -> None:
    """Note the failures and the damage among some reports of roots whose files were looked at.

    Failures of roots that are well again are forgotten, and damaged caches that were made anew
    since are noted as repaired.
    """
    if state_dir is None or not _concerns(state_dir, reports):
        return
    before = read(state_dir)
    known = {name: dict(each) for name, each in before.items()}
    for report in reports:
        told = known.setdefault(db.identity(report.root), {})
        _note_failure(told, report)
        works = report.failure is None or bool(report.violations)  # though it is refused for them
        filed = works and report.cache_file is not None
        sound = filed and (report.damage is not None or not report.busy)
        _note_damage(told, report.damage, sound=sound, anew=report.built)
    _keep(state_dir, before, known)


def record_proofs(state_dir: str | None, proofs: Sequence[Proof]) -> None:
    """Note the damage that ``recall rebuild`` found, and what it made anew or found to be sound."""
    if state_dir is None or not _concerns(state_dir, proofs):
        return
    before = read(state_dir)
    known = {name: dict(each) for name, each in before.items()}
    for proof in proofs:
        told = known.setdefault(db.identity(proof.root), {})
        sound = proof.rebuilt or proof.equivalent
        _note_damage(told, proof.damage, sound=sound, anew=sound)
    _keep(state_dir, before, known)


def _concerns(state_dir: str, told: Sequence[Report] | Sequence[Proof]) -> bool:
    """Tell whether there is something to note, or to forget."""
    news = any(each.failure or each.damage for each in told)
    return news or os.path.exists(os.path.join(state_dir, FILE))


def found(state_dir: str | None, damaged: Mapping[str, tuple[str, bool]]) -> Known:
    """Note what ``recall status`` found damaged, and return all that is known.

    ``damaged`` has, by a root's identity, what was wrong and whether the file is still there.
    """
    before = read(state_dir)
    known = {name: dict(each) for name, each in before.items()}
    for name, (message, kept) in damaged.items():
        told = known.setdefault(name, {})
        told["damage"] = _once_more(told.get("damage"), message, repaired=False, kept=kept)
    if state_dir is not None:
        _keep(state_dir, before, known)
    return known


def found_sound(state_dir: str | None, names: Iterable[str]) -> None:
    """Note of caches, by their roots' identities, that all their pages were read and are whole."""
    before = read(state_dir)
    known = {name: dict(each) for name, each in before.items()}
    for name in names:
        _note_damage(known.setdefault(name, {}), None, sound=True, anew=True)
    if state_dir is not None:
        _keep(state_dir, before, known)


def unread(state_dir: str | None) -> str | None:
    """Return why what is kept can't be read, None if it can, or if nothing is kept."""
    if state_dir is None:
        return None
    try:
        known = _content(state_dir)
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        return getattr(error, "strerror", None) or str(error)
    except (ValueError, RecursionError):
        known = None
    is_ours = isinstance(known, dict) and all(
        isinstance(each, dict) and _cleaned(each).keys() == each.keys() for each in known.values()
    )
    return None if is_ours else "it is not what recall has written"


def _content(state_dir: str) -> object:
    import json

    return json.loads(state.read(state_dir, FILE, _MAX_BYTES))


def read(state_dir: str | None) -> Known:
    """Return what is known of each root by its identity; nothing from a file that is not ours."""
    if state_dir is None:
        return {}
    try:
        known = _content(state_dir)
    except (OSError, ValueError, RecursionError, Unreadable):
        return {}
    if not isinstance(known, dict):
        return {}
    cleaned = {name: _cleaned(each) for name, each in known.items()}
    return {name: each for name, each in cleaned.items() if each}


def _keep(state_dir: str, before: Known, known: Known) -> None:
    known = {name: each for name, each in known.items() if each}
    if known == before:
        return
    from recall.envelope import encode

    try:
        state.write(state_dir, FILE, encode(known))
    except OSError:
        return


def _note_failure(told: dict[str, Fields], report: Report) -> None:
    error = report.failure
    if error is not None:
        told["failure"] = {
            "when": time.time(),
            "message": error.message,
            "where": error.where,
            "hint": error.hint,
        }
    elif not report.busy:
        told.pop("failure", None)


def _note_damage(told: dict[str, Fields], message: str | None, *, sound: bool, anew: bool) -> None:
    """Note what was damaged, if anything, or that what was damaged before is repaired.

    ``sound`` says that a file answers now, ``anew`` that it was made just now. A damaged file that
    could not be deleted may answer well where it is not damaged.
    """
    before = told.get("damage")
    if message is not None:
        told["damage"] = _once_more(before, message, repaired=sound, kept=not sound)
    elif before and not before["repaired"] and sound:
        told["damage"] = {**before, "repaired": anew or not before["kept"]}


def _once_more(before: Fields | None, message: str, *, repaired: bool, kept: bool) -> Fields:
    """Note damage; what is not repaired yet was not damaged once more, only looked at again."""
    now = time.time()
    count = before["count"] if before else 0
    known = int(bool(before and not before["repaired"]))
    return {
        "when": now,
        "message": message,
        "count": (count if isinstance(count, int) else 0) + 1 - known,
        "since": (before and before["since"]) or now,
        "repaired": repaired,
        "kept": kept,
    }


def _cleaned(told: object) -> dict[str, Fields]:
    """Return what is known of one root, without what no version of ours has written."""
    kept: dict[str, Fields] = {}
    if not isinstance(told, dict):
        return kept
    failure, damage = told.get("failure"), told.get("damage")
    if isinstance(failure, dict) and isinstance(failure.get("message"), str):
        kept["failure"] = {
            "when": _moment(failure.get("when")),
            "message": failure["message"],
            "where": _text(failure.get("where")),
            "hint": _text(failure.get("hint")),
        }
    if isinstance(damage, dict) and isinstance(damage.get("message"), str):
        count = damage.get("count")
        kept["damage"] = {
            "when": _moment(damage.get("when")),
            "message": damage["message"],
            "count": count if isinstance(count, int) and count is not True and count > 0 else 1,
            "since": _moment(damage.get("since")),
            "repaired": damage.get("repaired") is True,
            "kept": damage.get("kept") is True,
        }
    return kept


def _moment(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < _LAST_MOMENT else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
