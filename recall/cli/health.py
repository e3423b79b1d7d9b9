"""``recall health``: whether all is well, by evidence."""

from __future__ import annotations

import os

import click

from index_cache.errors import CheckFailed, InvalidInput
from recall.cli.common import Console, working_directory
from recall.cli.fields import moment
from recall.cli.hook_change import this_program
from recall.cli.options import (
    Strict,
    examples,
    group_option,
    json_option,
    quiet_option,
    root_option,
)
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.health.evidence import Evidence, HookEvidence, RootEvidence
    from recall.health.findings import Finding
    from recall.terminal import Look

_NAMED = 5  # roots that such a text names
_LISTED = 3  # findings of one kind in a text; of more, the first


@click.command(cls=Strict, epilog=examples("recall health", "recall health --root notes --deep"))
@root_option
@group_option
@click.option("--deep", is_flag=True, help="Read every page of the caches, not a part of them.")
@quiet_option
@json_option
def command(
    *, names: tuple[str, ...], groups: tuple[str, ...], deep: bool, quiet: bool, as_json: bool
) -> int:
    """Tell whether all is well, and what to do if not.

    Judges what is known of refreshes, proofs, caches, roots, the prompt hook and its log, files,
    clock and disk. The latest evidence counts, and where there is none that is a warning. Each
    finding ends with a command. It reads no note, and a part of each cache at a time.

    Exit 0 for ok and warn, 2 when a finding is critical. What is measured by what is set under
    [health] in your configuration.
    """
    from recall.health.findings import CRITICAL, overall
    from recall.health.gathering import Request, gather
    from recall.health.rules import judge

    console = Console("health", as_json=as_json)
    gathered = gather(
        working_directory(), os.environ, Request(names, groups, _program(), deep=deep)
    )
    console.note_all(gathered.notices)
    evidence = gathered.evidence
    findings = judge(evidence, gathered.thresholds)
    level = overall(findings)
    worst = sum(each.level == CRITICAL for each in findings)
    error = None
    if worst:
        first = next(each for each in findings if each.level == CRITICAL)
        said = f"{number(worst, 'finding')} critical: {_said(first)}"
        error = CheckFailed(said, where=first.file, hint=first.hint)
    return console.finish(
        lambda: {
            "level": level,
            "deep": deep,
            "findings": list(map(_fields, findings)),
            "roots": list(map(_root_fields, evidence.roots)),
            "hook": _hook_fields(evidence.hook, evidence.now),
            "thresholds": dict(gathered.thresholds.values),
        },
        lambda look: "" if quiet and not findings else _text(level, findings, evidence, look),
        error,
    )


def _program() -> list[str]:
    """Return the words that start this installation's hook; where they have no path, its name."""
    try:
        return this_program()
    except InvalidInput:
        return ["recall-hook"]


def _said(finding: Finding) -> str:
    return finding.message if finding.root is None else f"{finding.root}: {finding.message}"


def _text(level: str, findings: Sequence[Finding], evidence: Evidence, look: Look) -> str:
    notes = sum(root.documents for root in evidence.roots)
    counted = (len(evidence.roots), "root"), (notes, "note"), (len(findings), "finding")
    told = ", ".join(number(count, noun) for count, noun in counted)
    lines = [f"{look.paint('title', level)}: {told}"]
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for each in findings:
        kinds.setdefault((each.level, each.code), []).append(each)
    for ones in kinds.values():
        if len(ones) > _LISTED:
            lines += _crowd(ones)
            continue
        for each in ones:
            lines += _lines(each)
    return "\n".join(lines) + "\n"


def _crowd(ones: Sequence[Finding]) -> list[str]:
    """Return what is said of many findings of one kind: the first, and what is to be done of all.

    What helps a root, without ``--root`` helps all of them.
    """
    *first, do = _lines(ones[0])
    names = [each.root for each in ones[1:] if each.root is not None]
    told = ": " + ", ".join(map(visible, names[:_NAMED])) if names else ""
    more = ", …" if len(names) > _NAMED else ""
    also = f"  and {len(ones) - 1:,} more like this{told}{more} (--json lists them)"
    return [*first, also, do.partition(" --root ")[0] if names else do]


def _lines(finding: Finding) -> list[str]:
    lines = [f"{finding.level} {finding.code}: {visible(_said(finding))}"]
    if finding.value is not None:
        limit = "" if finding.threshold is None else f" (threshold {_shown(finding.threshold)})"
        lines.append(f"  {_shown(finding.value)}{_unit(finding)}{limit}")
    if finding.file is not None:
        lines.append(f"  at {visible(finding.file)}")
    return [*lines, f"  do: {visible(finding.hint)}"]


def _shown(value: float | str) -> str:
    return visible(value) if isinstance(value, str) else f"{value:,}"


def _unit(finding: Finding) -> str:
    if finding.unit is None or isinstance(finding.value, str):
        return ""
    return f" {finding.unit.removesuffix('s') if finding.value == 1 else finding.unit}"


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "level": finding.level,
        "message": finding.message,
        "value": finding.value,
        "threshold": finding.threshold,
        "unit": finding.unit,
        "root": finding.root,
        "file": finding.file,
        "hint": finding.hint,
    }


def _root_fields(root: RootEvidence) -> dict[str, object]:
    shown = root.proof
    proof = None if shown is None else {"when": moment(shown.when), "result": shown.result}
    return {
        "name": root.name,
        "path": root.path,
        "documents": root.documents,
        "last_refresh": moment(root.refreshed),
        "last_proof": proof,
        "pages": {"checked": root.pages, "of": root.all_pages},
        "skipped_by_reason": dict(root.skipped),
        "unavailable_by_reason": dict(root.unavailable),
        "proposals": root.proposals,
    }


def _hook_fields(hook: HookEvidence, now: float) -> dict[str, object]:
    from recall.health.hookrules import recent
    from recall.logsummary import percentile

    runs = recent(hook.runs, now)
    return {
        "wanted": hook.wanted,
        "hosts": sorted({each.host for each in hook.installed}),
        "last_ran": moment(max((run.when for run in hook.runs), default=None)),
        "runs": len(runs),
        "late": sum(run.late for run in runs),
        "p95_ms": percentile(sorted(run.ms for run in runs), 95),
    }
