"""Values as the fields of a JSON answer (``spec/schema``), and what texts share with them."""

from __future__ import annotations

import os
import time

from recall.envelope import error_fields
from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index_cache.model import Skipped
    from index_cache.refresh import Report
    from index_cache.strict import Violation
    from recall.caches import CacheFile
    from recall.config import LeftOut
    from recall.duplicates import Duplicate
    from recall.hookfault import Fault
    from recall.logreading import Entry
    from recall.logsummary import Summary
    from recall.rootstatus import RootStatus

MOST_VIOLATIONS = 20  # of a strict root that are shown unless all are asked for


def report_fields(report: Report) -> dict[str, object]:
    """Return what happened in one root, counts alone."""
    return {
        "name": report.root.name,
        "path": report.root.path,
        "documents": report.documents,
        "added": report.added,
        "changed": report.changed,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "skipped": len(report.skipped),
        "withheld": report.withheld,
        "unavailable": len(report.unavailable),
        "seconds": round(report.seconds, 6),
        "busy": report.busy,
        "built": report.built,
        "error": None if report.failure is None else error_fields(report.failure),
    }


def refreshed_fields(report: Report) -> dict[str, object]:
    """Return what happened in one root, with what was skipped and why."""
    return {
        **report_fields(report),
        "cache_file": report.cache_file,
        "skipped": skipped_fields(report.skipped),
        "unavailable": skipped_fields(report.unavailable),
        "pruned": False,
    }


def pruned_fields(left: LeftOut, documents: int) -> dict[str, object]:
    """Return a root whose directory is gone, and whose notes have been forgotten."""
    from index_cache.model import Root
    from index_cache.refresh import Report

    report = Report(Root(left.name, left.path))
    report.removed = documents
    return {**refreshed_fields(report), "pruned": True}


def status_fields(status: RootStatus, *, skipped: bool) -> dict[str, object]:
    """Return the state of one root, with the list of what was skipped if asked for."""
    fields: dict[str, object] = {
        "name": status.root.name,
        "path": status.root.path,
        "documents": status.documents,
        "built": status.built,
        "cache_file": status.cache_file,
        "cache_bytes": status.cache_bytes,
        "text_bytes": status.text_bytes,
        "withheld": status.withheld,
        "last_refresh": moment(status.last_refresh),
        "last_failure": _failure_fields(status.last_failure),
        "last_damage": _damage_fields(status.last_damage),
        "skipped_by_reason": by_reason(status.skipped),
        "unavailable_by_reason": by_reason(status.unavailable),
        "violations": _violations_fields(status.violations, every=skipped),
    }
    if skipped:
        fields["skipped"] = skipped_fields(status.skipped)
        fields["unavailable"] = skipped_fields(status.unavailable)
    return fields


def _violations_fields(
    violations: Sequence[Violation] | None, *, every: bool
) -> dict[str, object] | None:
    if violations is None:
        return None
    from index_cache.strict import by_kind

    shown = violations if every else violations[:MOST_VIOLATIONS]
    return {
        "count": len(violations),
        "by_kind": by_kind(violations),
        "items": [
            {
                "path": None if each.path is None else os.fsdecode(each.path) or ".",
                "line": each.line,
                "kind": each.kind,
                "reason": each.reason,
            }
            for each in shown
        ],
    }


def violation_text(violation: Violation) -> str:
    """Return a violation for people, on one line."""
    if violation.path is None:
        return visible(violation.reason)
    place = visible(os.fsdecode(violation.path) or ".")
    line = "" if violation.line is None else f":{violation.line}"
    return f"{place}{line}: {violation.kind}: {visible(violation.reason)}"


def left_out_fields(left: LeftOut, documents: int | None = None) -> dict[str, object]:
    """Return one root that is configured but not searched.

    ``documents`` is how many of its notes are kept, None if nobody has counted.
    """
    counted = {} if documents is None else {"documents": documents}
    return {
        "name": left.name,
        "path": left.path,
        "source": left.source,
        "reason": left.reason,
        **counted,
    }


def duplicate_fields(several: Duplicate) -> dict[str, object]:
    """Return one id that several records have."""
    return {
        "id": several.id,
        "records": [
            {"root": root, "path": path, "line": line or None}
            for root, path, line in several.places
        ],
    }


def cache_fields(cache: CacheFile) -> dict[str, object]:
    """Return one cache file."""
    return {
        "path": cache.path,
        "root_path": cache.root_path,
        "bytes": cache.bytes,
        "last_used": moment(cache.last_used),
        "current": cache.current,
    }


def skipped_fields(skipped: Iterable[Skipped]) -> list[dict[str, str]]:
    """Return what was left out, each with its reason; the root itself is ``.``."""
    return [{"path": os.fsdecode(entry.path) or ".", "reason": entry.reason} for entry in skipped]


def skipped_path(entry: Skipped) -> str:
    """Return the relative path of what was left out for people, odd characters escaped."""
    return visible(os.fsdecode(entry.path) or ".")


def by_reason(skipped: Iterable[Skipped]) -> dict[str, int]:
    """Return how often each reason occurs, most frequent first."""
    counts: dict[str, int] = {}
    for entry in skipped:
        counts[entry.reason] = counts.get(entry.reason, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def moment(epoch: float | None) -> str | None:
    """Return a time as ISO 8601 in UTC, to the second."""
    if epoch is None:
        return None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def local(epoch: object) -> str:
    """Return a time for people, in their own zone; ``never`` for None."""
    if not isinstance(epoch, (int, float)):
        return "never"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch))


def paused_until(until: float) -> str:
    """Return until when the hook is paused, in words."""
    if until == float("inf"):
        return 'paused until "recall resume"'
    return f"paused until {local(until)}; recall resume ends it"


def paused_fields(until: float | None) -> dict[str, object] | None:
    """Return a pause; None without one, and no time for one that only ``resume`` ends."""
    if until is None:
        return None
    return {"until": None if until == float("inf") else moment(until)}


def fault_fields(fault: Fault | None) -> dict[str, object] | None:
    """Return what went wrong with the prompt hook, None if nothing did."""
    if fault is None:
        return None
    return {
        "when": moment(fault.when),
        "message": fault.message,
        "where": fault.where,
        "hint": fault.hint,
        "count": fault.count,
        "since": moment(fault.since),
        "worked": moment(fault.worked),
    }


def fault_text(fault: Fault) -> str:
    """Return why the prompt hook failed, when and how often, in words, without the hint."""
    where = "" if fault.where is None else f" ({fault.where})"
    often = "" if fault.count == 1 else f"{fault.count:,} times since {local(fault.since)}, last "
    again = "" if fault.worked is None else f"; it worked again {local(fault.worked)}"
    return f"{fault.message}{where}; {often}{local(fault.when)}{again}"


def entry_fields(entry: Entry, *, spoken: bool = True) -> dict[str, object]:
    """Return one line of the recall log, ``spoken`` with the prompt's text if it has one."""
    return {
        "when": moment(entry.when),
        "host": entry.host,
        "decision": entry.decision,
        "why": entry.why,
        "cards": [
            {"id": id_, "root": root, "path": path, "abs_path": file}
            for id_, root, path, file in entry.cards
        ],
        "roots": entry.roots,
        "ms": entry.ms,
        "tokens": entry.tokens,
        "prompt": entry.prompt,
        "session": entry.session,
        "text": entry.text if spoken else None,
    }


def summary_fields(summary: Summary) -> dict[str, object]:
    """Return a recall log as a whole; of what was never recalled only the first few."""
    from recall.logsummary import FIRST

    return {
        "since": moment(summary.since),
        "last": moment(summary.last),
        "prompts": summary.prompts,
        "spoke": summary.spoke,
        "tokens": summary.tokens,
        "p50_ms": summary.p50,
        "p95_ms": summary.p95,
        "reasons": summary.reasons,
        "most_recalled": [
            {"root": root, "path": path, "count": count} for root, path, count in summary.most
        ],
        "documents": summary.known,
        "never_recalled": None if summary.never is None else len(summary.never),
        "never_recalled_first": [
            {"root": root, "path": path} for root, path in (summary.never or [])[:FIRST]
        ],
    }


def _failure_fields(failure: dict[str, object] | None) -> dict[str, object] | None:
    if failure is None:
        return None
    when = failure.get("when")
    return {
        "when": moment(when) if isinstance(when, (int, float)) else None,
        "message": failure.get("message"),
        "where": failure.get("where"),
        "hint": failure.get("hint"),
    }


def _damage_fields(damage: dict[str, object] | None) -> dict[str, object] | None:
    if damage is None:
        return None
    when, since = damage.get("when"), damage.get("since")
    return {
        "when": moment(when) if isinstance(when, (int, float)) else None,
        "message": damage.get("message"),
        "count": damage.get("count"),
        "since": moment(since) if isinstance(since, (int, float)) else None,
        "repaired": damage.get("repaired"),
    }
