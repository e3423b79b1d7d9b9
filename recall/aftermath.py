"""What is kept of a call of the hook, once its answer is out: ledger, log, faults, refresh.

Nothing here is waited for by the answer, nothing raises, and each part is done whatever becomes of
the others. See ``spec/hook.md``.
"""

from __future__ import annotations

import os
import time

from recall import background, hosts, ledger, pausing, recalllog
from recall.call import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.call import Call
    from recall.card import Card


# What hookfault keeps of the hook; to load that at each prompt for nothing would take .1 ms.
FAULT_FILE = "hook.fault"


def keep(call: Call, block: str, cards: Sequence[Card], why: str) -> None:
    """Keep what was answered, ``cards`` in a ``block``, and ask for a refresh of the roots."""
    _begin(call, "noting what was shown")
    _note_shown(call, cards)
    _begin(call, "the log")
    _log(call, block, cards, why)
    _begin(call, "damaged caches")
    if call.views is not None:
        call.views.keep_places(call.state_dir)
        if call.cache_dir is not None:
            _condemn(call)
    _begin(call, "the refresh")
    found = call.resolved
    if found is not None and found.roots and found.hook.enabled:
        asked = background.ask(call.cwd, call.environ, found.roots, found.hook.refresh_interval)
        if asked.startswith("unavailable"):
            message = f"no refresh could be started: {asked}"
            from recall import hookfault

            hookfault.note(call.state_dir, message, part=hookfault.REFRESH)
    _begin(call, "noting faults")
    _tell(call)


def _begin(call: Call, part: str) -> None:
    """Say what it is at, should that not end."""
    call.marks.append((part, time.perf_counter()))


def _note_shown(call: Call, cards: Sequence[Card]) -> None:
    event = call.event
    if call.forgets:
        fault = ledger.forget(call.state_dir, event.session)
    elif call.recalling is not None:
        noted = call.recalling.noted[: len(cards)]
        fault = ledger.note(call.state_dir, event.session, noted)
    else:
        return
    if fault is not None:
        call.faults.append(
            _fault(call, f"what was shown can't be noted: {fault}", ledger.DIRECTORY)
        )


def _log(call: Call, block: str, cards: Sequence[Card], why: str) -> None:
    found = call.resolved
    if found is None or not found.hook.log or not call.looked_up:
        return
    fault = recalllog.record(
        call.state_dir,
        host=call.event.host or "unknown",
        spoke=bool(cards),
        why=why,
        prompt=call.event.prompt,
        session=call.event.session,
        cards=cards,
        roots=[root.name for root in found.roots],
        ms=(time.perf_counter() - call.started) * 1000,
        tokens=hosts.estimated_tokens(block),
        with_text=found.hook.log_prompts,
    )
    if fault is not None:
        call.faults.append(
            _fault(call, f"the recall log can't be written: {fault}", recalllog.FILE)
        )


def _fault(call: Call, message: str, name: str) -> Fault:
    """Return the fault of what lies under a name in the state directory."""
    where = None if call.state_dir is None else os.path.join(call.state_dir, name)
    return Fault(message, where)


def _condemn(call: Call) -> None:
    """Delete caches that proved to be damaged, and note that: the refresh makes them anew."""
    from recall.views import DAMAGED

    assert call.views is not None  # noqa: S101 - for the type
    if not any(view.state == DAMAGED for view in call.views.all):
        return
    from index_cache import db
    from recall import failures

    told = call.views.condemn(call.cache_dir or "")
    failures.found(
        call.state_dir,
        {
            view.identity: (db.reason(view.trouble or Exception()), not deleted)
            for view, deleted in told
        },
    )


def _tell(call: Call) -> None:
    """Note the first fault, or that all is well."""
    if pausing.is_off(call.environ):
        return
    known = call.state_dir is not None and os.path.lexists(os.path.join(call.state_dir, FAULT_FILE))
    if not call.faults and not known:
        return
    from recall import hookfault

    if call.faults:
        fault = call.faults[0]
        hookfault.note(call.state_dir, fault.message, where=fault.where, hint=fault.hint)
    elif call.looked_up:
        hookfault.worked(call.state_dir)
