"""What the evidence about files, clocks and disks comes to; pure. ``spec/health.md`` lists it."""

from __future__ import annotations

import re
import time

from recall.health.findings import CRITICAL, DAY, MIB, WARN, Finding, edit, past
from recall.notice import shell_quoted
from recall.output import number, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recall.health.evidence import Evidence, Exposed, Place
    from recall.health.thresholds import Thresholds

_OTHERS_WRITE = 0o022
# A file, with line and column if they are known.
_PLACE = re.compile(r"(.+?)(?::([0-9]+))?(?::[0-9]+)?")
_NAMES = {"cache": "caches", "state": "what recall remembers of itself"}


def of_configuration(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield what is wrong with the configuration, and with the thresholds in it."""
    if evidence.invalid is not None:
        where = evidence.invalid.where or evidence.file or ""
        place = _PLACE.fullmatch(where)
        is_file = place is not None and "/" in place[1]
        yield Finding(
            "config_invalid",
            CRITICAL,
            f"the configuration can't be used: {evidence.invalid.message}",
            file=where or None,
            hint=edit(place[1], place[2]) if place and is_file else f"printenv {where}",
        )
    for wrong in thresholds.wrong:
        yield Finding(
            "threshold_invalid",
            CRITICAL,
            f"{wrong.key} must be {wrong.wants}; until then the usual one holds",
            measured=(wrong.shown, wrong.limit, None),
            file=evidence.file,
            hint=edit(evidence.file, wrong.line),
        )


def of_places(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield what is wrong with the directories of recall's own and with what lies in them."""
    for place in evidence.places:
        yield from _usable(place)
    for each in evidence.exposed:
        yield _exposed(each)
    yield from _logs(evidence, thresholds)
    yield from _clock(evidence)


def of_unread(evidence: Evidence) -> Iterator[Finding]:
    """Yield the files of evidence that say nothing: to be gone before there can be new ones."""
    for unread in evidence.unread:
        if evidence.hides(unread.path):
            continue  # the directory is at fault, which is told
        yield Finding(
            "evidence_unreadable",
            WARN,
            f"it can't be read, and so proves nothing: {unread.reason}",
            file=unread.path,
            hint=f"rm -rf {shell_quoted(unread.path)}",
        )


def _usable(place: Place) -> Iterator[Finding]:
    variable = f"XDG_{place.what.upper()}_HOME"
    if place.path is None or place.fault is not None:
        why = "no home directory is known" if place.path is None else place.fault
        yield Finding(
            f"{place.what}_unusable",
            WARN,
            f"there is no place for {_NAMES[place.what]}: {why}",
            file=place.path,
            hint=f"export {variable}=DIR",
        )
    elif place.remote:
        yield Finding(
            "cache_remote",
            WARN,
            "the caches are on a network file system, where they are slow and locks may fail",
            file=place.path,
            hint=f"export {variable}=DIR",
        )


def of_room(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield which disk is nearly full: the cause of much that else goes wrong."""
    seen: set[int | None] = set()
    for place in evidence.places:
        if place.free is None or place.path is None or place.device in seen:
            continue
        seen.add(place.device)
        if place.free / MIB < thresholds["free_mib"]:
            yield Finding(
                "disk_low",
                CRITICAL if place.free < MIB else WARN,
                f"{size(place.free)} are left for {_NAMES[place.what]}",
                measured=(place.free / MIB, thresholds["free_mib"], "MiB"),
                file=place.path,
                hint=f"df -h {shell_quoted(place.path)}",
            )


def _exposed(each: Exposed) -> Finding:
    quoted = shell_quoted(each.top)
    more = "" if each.count == 1 else f", the first of {each.count:,}"
    if each.what == "config":
        return Finding(
            "config_exposed",
            CRITICAL,
            "everybody can write what names the directories that are read",
            measured=(f"{each.mode:04o}", "not writable by others", None),
            file=each.path,
            hint=f"chmod o-w {quoted}",
        )
    return Finding(
        f"{each.what}_exposed",
        CRITICAL if each.mode & _OTHERS_WRITE else WARN,
        f"others may get at {_NAMES[each.what]}{more}",
        measured=(f"{each.mode:04o}", "0700, files 0600", None),
        file=each.path,
        hint=f"chmod -R go= {quoted}",
    )


def _logs(evidence: Evidence, thresholds: Thresholds) -> Iterator[Finding]:
    for place in evidence.places:
        if place.what == "state" and place.size / MIB > thresholds["log_mib"] and place.path:
            yield Finding(
                "log_large",
                WARN,
                f"the log and what lies beside it take {size(place.size)}",
                measured=(place.size / MIB, thresholds["log_mib"], "MiB"),
                file=place.path,
                hint=f"du -a {shell_quoted(place.path)}",
            )
    every = "rm -f " + " ".join(shell_quoted(log.path) for log in evidence.logs)
    # The older half is as old as its owner's prompts are few; what counts is that it goes on.
    latest = max(evidence.logs, key=lambda log: log.modified, default=None)
    days = 0.0 if latest is None else (evidence.now - latest.modified) / DAY
    if latest is not None and days > thresholds["log_days"]:
        yield Finding(
            "log_old",
            WARN,
            f"all that the log holds is older than {days:,.0f} days",
            measured=(days, thresholds["log_days"], "days"),
            file=latest.path,
            hint=every,
        )
    if evidence.bad_lines and evidence.logs:
        yield Finding(
            "log_damaged",
            WARN,
            f"{number(evidence.bad_lines, 'line')} of the log can't be read",
            measured=(evidence.bad_lines, 0, "lines"),
            file=evidence.logs[0].path,
            hint=every,
        )


def _clock(evidence: Evidence) -> Iterator[Finding]:
    """Yield what is dated in the future, one for each kind and root, with the furthest."""
    kinds: dict[tuple[str, str | None], list[int]] = {}
    for at, each in enumerate(evidence.dated):
        if past(each.when, evidence.now) is None:
            kinds.setdefault((each.what, each.root), []).append(at)
    for (what, root), ats in kinds.items():
        first = max((evidence.dated[at] for at in ats), key=lambda each: each.when)
        more = "" if len(ats) == 1 else f" ({len(ats):,} of them)"
        yield Finding(
            "clock_future",
            WARN,
            f"{what} is dated in the future{more}, and so proves nothing; is the clock right?",
            measured=(_iso(first.when), _iso(evidence.now), "time"),
            root=root,
            file=first.file,
            hint=first.hint,
        )


def _iso(when: float) -> str:
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
    except (OverflowError, OSError, ValueError):
        return "beyond all calendars"
