"""What the evidence about roots and their caches comes to; pure. ``spec/health.md`` lists it."""

from __future__ import annotations

from recall import proofs
from recall.health.findings import CRITICAL, DAY, HOUR, NOTHING, WARN, Finding, past
from recall.notice import shell_quoted
from recall.output import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recall.health.evidence import Evidence, RootEvidence
    from recall.health.findings import Measured
    from recall.health.thresholds import Thresholds

# How the reasons begin for which somebody should do something; what was excluded is meant to be.
ACTED_ON = ("not text", "unreadable", "beyond the root's limit", "only its first")


def of_roots(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield what is wrong with the roots, each after the other, and with all of them together."""
    if not evidence.roots and not evidence.missing and evidence.invalid is None:
        yield Finding(
            "roots_missing",
            WARN,
            "no root is named, so nothing is remembered",
            hint="recall roots discover ~",
        )
    for each in evidence.missing:
        own = each.source == evidence.file
        yield Finding(
            "root_unavailable",
            WARN if evidence.roots else CRITICAL,
            f"{each.path} {each.reason}; mount or create it, or correct it in {each.source}",
            root=each.name,
            file=each.path,
            hint=f"recall roots remove {shell_quoted(each.name)}" if own else "recall roots list",
        )
    unusable = any(place.what == "cache" and place.fault for place in evidence.places)
    for root in evidence.roots:
        # What can't be looked at may be whole: the reason for that is the one to be mended.
        if root.built or not unusable:
            yield from _refreshed(root, evidence.now, thresholds)
        if root.trouble is not None and not unusable:  # which tells why, for all of them
            why = f"its cache can't be read now: {root.trouble}"
            yield _about(root, "cache_unreadable", why, "refresh")
        yield from _cache(root, evidence.now)
        if root.proof is not None or not evidence.is_blind:
            yield from _proven(root, evidence.now, thresholds)
        yield from _left_out(root)
    pending = sum(root.proposals for root in evidence.roots)
    if pending > thresholds["proposals"]:
        yield Finding(
            "proposals_backlog",
            WARN,
            f"{number(pending, 'proposal')} wait for a decision",
            measured=(pending, thresholds["proposals"], "proposals"),
            hint='recall search "type:proposal"',
        )


def _about(
    root: RootEvidence,
    code: str,
    message: str,
    words: str,
    *,
    level: str = WARN,
    measured: Measured = NOTHING,
    file: str | None = None,
) -> Finding:
    """Return a finding about a root; ``words`` are those of the command that helps."""
    hint = f"recall {words} --root {shell_quoted(root.word or root.name)}"
    where = file or root.cache or root.path
    return Finding(code, level, message, hint=hint, measured=measured, root=root.name, file=where)


def _refreshed(root: RootEvidence, now: float, thresholds: Thresholds) -> Iterator[Finding]:
    if root.trouble is not None:
        return  # then nothing of it is known
    failure, last = root.failure, past(root.refreshed, now)
    if failure is not None and (last is None or failure.when is None or failure.when >= last):
        then = "" if failure.hint is None else f"; {failure.hint}"
        why = f"the last refresh failed: {failure.message}{then}"
        yield _about(root, "refresh_failed", why, "refresh", file=failure.where or root.path)
    if not root.built:
        if root.damage is None:
            why = "it was never indexed to the end"
            yield _about(root, "refresh_missing", why, "refresh", file=root.path)
    elif root.refreshed is None:
        why = "when it was last refreshed is not known"
        yield _about(root, "refresh_missing", why, "refresh")
    elif last is not None:
        yield from _aged(root, now - last, thresholds)


def _aged(root: RootEvidence, age: float, thresholds: Thresholds) -> Iterator[Finding]:
    days, hours = age / DAY, age / HOUR
    if days > thresholds["index_days"]:
        why = f"its cache has not met its notes for {days:,.0f} days: nothing refreshes it"
        measured: Measured = (days, thresholds["index_days"], "days")
        yield _about(root, "index_old", why, "refresh", measured=measured)
    elif hours > thresholds["refresh_hours"]:
        why = f"its last refresh was {hours:,.0f} hours ago"
        measured = (hours, thresholds["refresh_hours"], "hours")
        yield _about(root, "refresh_old", why, "refresh", measured=measured)


def _cache(root: RootEvidence, now: float) -> Iterator[Finding]:
    damage, proof = root.damage, root.proof
    if damage is None:
        return
    often = "" if damage.count == 1 else f"; {damage.count:,} times so far"
    measured: Measured = (damage.count, 0, "times")
    equal = proof is not None and proof.result == proofs.EQUAL
    proven = past(proof.when, now) if proof is not None and equal else None
    if not damage.repaired:
        why = f"its cache is damaged: {damage.message}{often}"
        yield _about(root, "cache_damaged", why, "rebuild", level=CRITICAL, measured=measured)
    elif proven is None or damage.when is None or damage.when > proven:
        why = (
            f"its cache was damaged ({damage.message}), and was not proven since it is repaired"
            f"{often}; a disk may be failing"
        )
        yield _about(root, "cache_repaired", why, "rebuild --check", measured=measured)


def _proven(root: RootEvidence, now: float, thresholds: Thresholds) -> Iterator[Finding]:
    shown = root.proof
    if not root.built:
        return
    if shown is None or shown.result in {proofs.MISSING, proofs.DAMAGED}:
        if root.damage is not None:
            return  # which asks for a proof itself, or for a new cache
        why = "its cache was never compared with its notes in full"
        yield _about(root, "proof_missing", why, "rebuild --check")
        return
    when = past(shown.when, now)
    if when is None:
        return  # it proves nothing, and is told as dated in the future
    counted = ", ".join(f"{count:,} {kind}" for kind, count in sorted(shown.counts.items()))
    if shown.result == proofs.BAD:
        why = f"its cache was compared with its notes and is wrong: {counted or 'its digest'}"
        measured: Measured = (shown.counts.get("wrong", 0), 0, "places")
        yield _about(root, "proof_wrong", why, "rebuild", level=CRITICAL, measured=measured)
    elif shown.result == proofs.FAILED:
        why = f"its cache could not be compared with its notes: {shown.message or 'no reason kept'}"
        yield _about(root, "proof_failed", why, "rebuild --check")
    elif shown.result == proofs.STALE and not _is_newer(root, when, now):
        why = f"its cache was compared with its notes and was not up to date: {counted}"
        measured = (sum(shown.counts.values()), 0, "places")
        yield _about(root, "proof_stale", why, "refresh", measured=measured)
    elif (now - when) / DAY > thresholds["proof_days"]:
        days = (now - when) / DAY
        why = f"its cache was last compared with its notes {days:,.0f} days ago"
        measured = (days, thresholds["proof_days"], "days")
        yield _about(root, "proof_old", why, "rebuild --check", measured=measured)


def _is_newer(root: RootEvidence, when: float, now: float) -> bool:
    """Tell whether a refresh came after ``when``: it has mended what only was not up to date."""
    last = past(root.refreshed, now)
    return last is not None and last > when


def _left_out(root: RootEvidence) -> Iterator[Finding]:
    words = "status --skipped"
    for reason, count in sorted(root.skipped.items()):
        if reason.startswith(ACTED_ON):
            why = f"{number(count, 'file')} left out, or not wholly indexed: {reason}"
            measured: Measured = (count, 0, "files")
            yield _about(root, "files_skipped", why, words, measured=measured, file=root.path)
    for reason, count in sorted(root.unavailable.items()):
        why = f"{count:,} that could not be looked at: {reason}"
        measured = (count, 0, "files")
        yield _about(root, "files_unavailable", why, words, measured=measured, file=root.path)
