"""What the evidence about the prompt hook comes to; pure. ``spec/health.md`` lists it."""

from __future__ import annotations

from recall.health.findings import CRITICAL, DAY, WARN, Finding, past
from recall.hostfiles import HOST_FILES
from recall.logsummary import percentile
from recall.output import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recall.health.evidence import Evidence, HookEvidence, Run
    from recall.health.thresholds import Thresholds
    from recall.hookfault import Fault

WINDOW = 7 * DAY  # seconds that deadlines and times are looked back at
FEWEST = 20  # runs, below which the 95th percentile is just the slowest of them
_STATUS = "recall hook status"


def of_hook(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield what is wrong with the prompt hook: nothing where it is not wanted."""
    hook, now = evidence.hook, evidence.now
    if hook.wanted:
        yield from _installed(hook, now)
        if hook.paused is None and not evidence.is_blind:
            yield from _ran(hook, now, thresholds)
        if hook.paused is not None and hook.paused - now > WINDOW:
            yield Finding(
                "hook_paused",
                WARN,
                "the prompt hook is paused for more than a week, or until it is resumed",
                hint="recall resume",
            )
        yield from _timely(recent(hook.runs, now), thresholds)
        yield from _failed("hook_failed", "the prompt hook", hook.fault, thresholds)
        beside = "the refresh beside the prompt hook"
        yield from _failed("hook_refresh_failed", beside, hook.refresh_fault, thresholds)


def recent(runs: Sequence[Run], now: float) -> list[Run]:
    """Return the runs of the last days; those from the future are none of these."""
    return [run for run in runs if (past(run.when, now) or 0) > now - WINDOW]


def _installed(hook: HookEvidence, now: float) -> Iterator[Finding]:
    # A host whose settings nobody here knows shows by its runs, if they are not some tried by hand.
    others = [run for run in recent(hook.runs, now) if run.host not in HOST_FILES]
    if not hook.installed and not hook.unread and len(others) < FEWEST:
        yield Finding(
            "hook_missing",
            WARN,
            "the prompt hook is installed nowhere that recall knows of, so no agent is reminded",
            hint="recall hook install --host claude",
        )
    for each in hook.installed:
        if each.gone:
            yield Finding(
                "hook_gone",
                CRITICAL,
                f"{each.host} calls a program that is not there: {', '.join(each.gone)}",
                measured=(len(each.gone), 0, "programs"),
                file=each.file,
                hint=each.install,
            )
        told = [(why, f"{_STATUS} --host {each.host}") for why in each.idle]
        told += [] if each.absent is None else [(each.absent, each.install)]
        for why, hint in told:
            yield Finding(
                "hook_idle",
                WARN,
                f"{each.host} does not run the prompt hook as it should: {why}",
                file=each.file,
                hint=hint,
            )
    for failure in hook.unread:
        yield Finding(
            "hook_unread",
            WARN,
            f"whether the prompt hook is installed can't be told: {failure.message}",
            file=failure.where,
            hint=_STATUS,
        )


def _ran(hook: HookEvidence, now: float, thresholds: Thresholds) -> Iterator[Finding]:
    able = dict.fromkeys(
        each.host for each in hook.installed if not (each.gone or each.idle or each.absent)
    )
    last: dict[str, float] = {}
    for run in hook.runs:
        if past(run.when, now) is not None:
            last[run.host] = max(run.when, last.get(run.host, 0.0))
    asked = past(hook.asked, now)
    if not hook.logged and asked is not None:
        last = dict.fromkeys(able, asked)
    for host in able:
        if host not in last:
            yield Finding(
                "hook_never_ran",
                WARN,
                f"the prompt hook is installed in {host}, and no run of it is known: say something"
                " to it, and trust the hook if it asks",
                hint=f"{_STATUS} --host {host}",
            )
    latest = max((last[host] for host in able if host in last), default=None)
    if latest is not None and (now - latest) / DAY > thresholds["hook_days"]:
        days = (now - latest) / DAY
        yield Finding(
            "hook_quiet",
            WARN,
            f"the prompt hook last ran {days:,.0f} days ago",
            measured=(days, thresholds["hook_days"], "days"),
            hint=_STATUS,
        )


def _timely(runs: Sequence[Run], thresholds: Thresholds) -> Iterator[Finding]:
    late = sum(run.late for run in runs)
    share = 100 * late / len(runs) if runs else 0.0
    # One alone is a cold disk.
    if late > 1 and share > thresholds["deadline_percent"]:
        yield Finding(
            "hook_late",
            WARN,
            f"the prompt hook reached its deadline in {late:,} of {number(len(runs), 'run')}",
            measured=(share, thresholds["deadline_percent"], "percent"),
            hint="recall log --summary --since 7d",
        )
    p95 = percentile(sorted(run.ms for run in runs), 95) if len(runs) >= FEWEST else None
    if p95 is not None and p95 > thresholds["p95_ms"]:
        yield Finding(
            "hook_slow",
            WARN,
            f"of 20 prompts the slowest waits {p95:,.0f} ms for the prompt hook",
            measured=(p95, thresholds["p95_ms"], "ms"),
            hint="recall log --summary --since 7d",
        )


def _failed(code: str, what: str, fault: Fault | None, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield a failure after which it has not worked: since then it would be over."""
    if fault is None or fault.worked is not None:
        return
    often = fault.count >= thresholds["hook_failures"]
    yield Finding(
        code,
        CRITICAL if often else WARN,
        f"{what} fails: {fault.message}",
        measured=(fault.count, thresholds["hook_failures"], "times"),
        file=fault.where,
        hint=_STATUS if code == "hook_failed" else "recall refresh",
    )
