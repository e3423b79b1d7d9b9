"""What the evidence about scheduled runs comes to; pure. ``spec/health.md`` lists it."""

from __future__ import annotations

from recall.health.findings import DAY, HOUR, WARN, Finding, past
from recall.output import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recall.health.evidence import Evidence
    from recall.health.thresholds import Thresholds

STUCK = DAY  # seconds in which a run ends


def of_schedule(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield what is wrong with the scheduled runs; nothing where none ever ran, or is to run."""
    schedule, now = evidence.schedule, evidence.now
    if schedule is None or not schedule.wanted:
        return
    for program in schedule.gone:
        yield Finding(
            "schedule_gone",
            WARN,
            f"the scheduled job can't run: {program} is not there",
            measured=(len(schedule.gone), 0, "programs"),
            file=program,
            hint="recall schedule install",
        )
    begun, ended = past(schedule.begun, now), past(schedule.ended, now)
    if begun is not None and (ended is None or begun > ended) and now - begun > STUCK:
        hours = (now - begun) / HOUR
        yield Finding(
            "schedule_failed",
            WARN,
            f"a scheduled run began {hours:,.0f} hours ago and did not end",
            measured=(hours, STUCK / HOUR, "hours"),
            file=schedule.file,
            hint="recall schedule run",
        )
    elif schedule.failed:
        often = number(schedule.failed, "time")
        yield Finding(
            "schedule_failed",
            WARN,
            f"the scheduled run failed {often}: {schedule.message or 'it does not say why'}",
            measured=(schedule.failed, 0, "times"),
            file=schedule.file,
            hint="recall schedule run",
        )
    latest = max((at for at in (begun, ended) if at is not None), default=None)
    if latest is None or (now - latest) / DAY > thresholds["schedule_days"]:
        days = None if latest is None else (now - latest) / DAY
        told = "there were scheduled runs, and when the last one was is not known"
        yield Finding(
            "schedule_old",
            WARN,
            told if days is None else f"the last scheduled run was {days:,.0f} days ago",
            measured=(days, thresholds["schedule_days"], "days"),
            file=schedule.file,
            hint="recall schedule status",
        )
