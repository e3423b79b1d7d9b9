"""Every number behind what the hook says to one event: for ``recall hook --explain``; pure."""

from __future__ import annotations

from index_cache import files
from recall import hosts
from recall.call import UNCONFIGURED
from recall.output import number, plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.call import Call
    from recall.gate import Decision
    from recall.recalling import Recalling
    from recall.slots import Judged
    from recall.views import View

_TEXT = 200  # bytes of a title or a name in a line


def fields(call: Call, block: str) -> dict[str, object]:
    """Return all of it as ``spec/schema/hook.json`` describes it."""
    event, found = call.event, call.resolved
    return {
        "host": event.host,
        "event": event.name,
        "session": event.session is not None,
        "cwd": call.cwd,
        "spoke": bool(block),
        "why": call.why,
        "faults": [
            {"message": each.message, "where": each.where, "hint": each.hint}
            for each in call.faults
        ],
        "ms": _parts(call),
        "configuration": None
        if found is None
        else {
            "kept": found.from_cache,
            "unkept": found.unkept,
            "deadline_ms": found.hook.deadline_ms,
            "sensitivity": found.hook.sensitivity,
            "max_cards": found.hook.max_cards,
        },
        "roots": [] if call.views is None else list(map(_root, call.views.all)),
        "documents": _documents(call.recalling),
        "terms": _terms(call.recalling),
        "hits": [] if call.recalling is None else list(map(_hit, call.recalling.judged)),
        "tokens": hosts.estimated_tokens(block),
        "block": block,
    }


def _parts(call: Call) -> dict[str, float]:
    """Return the milliseconds of each part of the work."""
    ends = call.marks[1:]
    return {
        begun: round((end - start) * 1000, 2)
        for (begun, start), (_, end) in zip(call.marks, ends, strict=False)
    }


def _root(view: View) -> dict[str, object]:
    seen = view.peek
    return {
        "name": view.root.name,
        "path": view.root.path,
        "near": view.near,
        "state": view.state,
        "directories": None
        if seen is None
        else {
            "looked_at": seen.looked,
            "listed": seen.listed,
            "all": seen.complete,
            "appeared": len(seen.appeared),
            "vanished": len(seen.vanished),
            "read": view.chosen,
            "for_the_refresh": seen.sweep_due,
        },
    }


def _documents(recalling: Recalling | None) -> int:
    asked = None if recalling is None else recalling.question
    return 0 if asked is None else asked.whole.documents


def _terms(recalling: Recalling | None) -> list[dict[str, object]]:
    """Return the terms of the prompt, the rarest first; those that no note has come last."""
    asked = None if recalling is None else recalling.question
    if asked is None:
        return []
    searched = set(asked.terms)
    known = asked.whole.frequency
    return [
        {
            "term": term,
            "notes": known.get(term, 0),
            "weight": round(asked.whole.idf(term), 3) if term in known else None,
            "searched": term in searched,
        }
        for term in sorted(asked.looked_up, key=lambda term: (known.get(term) or 1 << 60, term))
    ]


def _hit(judged: Judged) -> dict[str, object]:
    hit = judged.hit
    return {
        "root": judged.root_name,
        "path": files.display(hit.path),
        "title": hit.title,
        "score": round(hit.score, 3),
        "near": judged.near,
        "named": judged.named,
        "shown_before": judged.known,
        "edited": hit.edited,
        "gate": None if judged.decision is None else _gate(judged.decision),
        "shown": judged.shown,
        "why_not": judged.fate or None,
    }


def _gate(decision: Decision) -> dict[str, object]:
    return {
        "speak": decision.speak,
        "score": round(decision.score, 3),
        "bar": decision.bar,
        "matched": decision.matched,
        "reasons": [
            {"what": what, "value": value, "adds": adds} for what, value, adds in decision.reasons
        ],
    }


def text(call: Call, block: str) -> str:
    """Return it as lines for a person."""
    event, found = call.event, call.resolved
    host, cwd = event.host or "unknown host", visible(call.cwd, _TEXT)
    name = f" {visible(event.name, _TEXT)}" if event.name else ""
    session = "with" if event.session else "without"
    lines = [
        f"{'spoke' if block else 'silent'}: {plain(call.why, _TEXT)}",
        f"event: {host}{name}, {session} a session, in {cwd}",
    ]
    if call.why == UNCONFIGURED:
        lines.append("hint: recall roots add notes ~/notes")
    lines += [f"fault: {plain(each.message, _TEXT)}" for each in call.faults]
    if found is not None:
        kept = "as kept" if found.from_cache else "read anew"
        lines.append(
            f"configuration ({kept}): sensitivity {found.hook.sensitivity}, at most"
            f" {number(found.hook.max_cards, 'card')}, {found.hook.deadline_ms} ms"
        )
    if call.views is not None:
        lines += map(_root_line, call.views.all)
    lines += _terms_lines(call.recalling)
    for position, judged in enumerate(call.recalling.judged if call.recalling else (), 1):
        lines += _hit_lines(position, judged)
    lines.append("ms: " + ", ".join(f"{part} {ms}" for part, ms in _parts(call).items()))
    if block:
        lines += [f"about {number(hosts.estimated_tokens(block), 'token')}:", "", block.rstrip()]
    return "\n".join(lines) + "\n"


def _root_line(view: View) -> str:
    line = f"root {visible(view.root.name, _TEXT)}: {view.state}"
    if view.near:
        line += ", of this project"
    seen = view.peek
    if seen is not None:
        line += f", directories looked at: {seen.looked:,}"
        line += "" if seen.complete else " (the rest next time)"
        line += f", {len(seen.appeared)} new and {len(seen.vanished)} gone"
        line += f"; left to the refresh: {seen.sweep_due}" if seen.sweep_due else ""
    return line


def _terms_lines(recalling: Recalling | None) -> list[str]:
    terms = _terms(recalling)
    if not terms:
        return []
    searched, left = (
        ", ".join(
            f"{plain(str(each['term']), _TEXT)} {each['notes']:,}"
            for each in terms
            if each["searched"] is wanted
        )
        for wanted in (True, False)
    )
    lines = [f"searched, with how many of {_documents(recalling):,} notes have it: {searched}"]
    return [*lines, f"not searched: {left}"] if left else lines


def _hit_lines(position: int, judged: Judged) -> list[str]:
    hit, decision = judged.hit, judged.decision
    marks = [
        "shown" if judged.shown else judged.fate or "not shown",
        *(["of this project"] if judged.near else []),
        *(["asked for by name"] if judged.named else []),
        *(["edited since the last refresh"] if hit.edited else []),
    ]
    place = f"{judged.root_name}:{files.display(hit.path)}"
    place += f":{hit.line}" if hit.line else ""
    lines = [
        f"{position}. {plain(hit.title, _TEXT)} ({visible(place, _TEXT)}): {', '.join(marks)}",
    ]
    if decision is not None:
        sign = ">=" if decision.score >= decision.bar else "<"
        matched = plain(", ".join(decision.matched), _TEXT) or "nothing"
        lines.append(f"   bm25 {hit.score:.2f}; gate {decision.score:.2f} {sign} {decision.bar:g}")
        lines.append(f"   has {matched}")
        lines.append(f"   {', '.join(_reason(*each) for each in decision.reasons)}")
    return lines


def _reason(what: str, value: float | str, adds: float | str) -> str:
    if isinstance(value, str) or isinstance(adds, str):
        return f"{what} {plain(str(value), _TEXT)} -> {adds}"
    return f"{what} {value:.4g} {adds:+.2f}"
