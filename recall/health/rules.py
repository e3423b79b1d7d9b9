"""All rules together: what the evidence comes to, worst first; pure."""

from __future__ import annotations

from recall.health.findings import LEVELS
from recall.health.hookrules import of_hook
from recall.health.placerules import of_configuration, of_places, of_room, of_unread
from recall.health.rootrules import of_roots
from recall.health.schedulerules import of_schedule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.health.evidence import Evidence
    from recall.health.findings import Finding
    from recall.health.thresholds import Thresholds


def judge(evidence: Evidence, thresholds: Thresholds) -> list[Finding]:
    """Return what is not as it should be; the worst first, else by subject."""
    found = [
        *of_configuration(evidence, thresholds),
        *of_room(evidence, thresholds),
        *of_unread(evidence),
        *of_roots(evidence, thresholds),
        *of_hook(evidence, thresholds),
        *of_schedule(evidence, thresholds),
        *of_places(evidence, thresholds),
    ]
    return sorted(found, key=lambda each: -LEVELS.index(each.level))
