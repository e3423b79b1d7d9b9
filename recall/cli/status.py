"""``recall status``: roots, caches, and what was skipped."""

from __future__ import annotations

import os
import time

import click

from index_cache.errors import RecallError
from recall.cli.common import Console, working_directory
from recall.cli.fields import (
    MOST_VIOLATIONS,
    by_reason,
    duplicate_fields,
    fault_fields,
    fault_text,
    left_out_fields,
    local,
    paused_fields,
    paused_until,
    skipped_path,
    status_fields,
    violation_text,
)
from recall.cli.options import Strict, examples, group_option, json_option, root_option
from recall.output import number, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from index_cache.strict import Violation
    from recall.config import Config, LeftOut
    from recall.duplicates import Duplicate
    from recall.hookfault import Fault
    from recall.rootstatus import RootStatus

_MOST_LISTED = 20


@click.command(cls=Strict, epilog=examples("recall status", "recall status --skipped"))
@root_option
@group_option
@click.option("--skipped", is_flag=True, help="List every skipped file with its reason.")
@json_option
def command(
    *, names: tuple[str, ...], groups: tuple[str, ...], skipped: bool, as_json: bool
) -> int:
    """Show roots, caches and what was skipped.

    Whether the prompt hook is paused, and what last went wrong with it; for each root its notes,
    its cache file and size, the last refresh, the last failure and the last damage of its cache;
    one that is damaged now is deleted, and the next search makes it anew. A root whose directory is
    missing, or that a project's file may not name yet, is shown as left out. Of a strict root that
    is refused it is told why. Ids that several records have are named with their files. The first
    two are shown even if the configuration can't be used.
    """
    from recall import dirs

    console = Console("status", as_json=as_json)
    state_dir = dirs.state_dir(os.environ)
    until = _pause(console, state_dir)
    faults = _faults(console, state_dir)
    states: list[RootStatus] = []
    several: list[Duplicate] = []
    settings, error = None, None
    try:
        settings = _settings(console, names, groups)
        states, several = _states(console, settings)
    except RecallError as failed:
        error = failed
    left = () if settings is None else settings.left_out
    left_out = [each for each in left if _is_meant(each, names, groups)]
    directory = dirs.cache_dir(os.environ)
    documents = [_kept(directory, each) for each in left_out]
    return console.finish(
        lambda: {
            "roots": [status_fields(state, skipped=skipped) for state in states],
            "duplicates": list(map(duplicate_fields, several)),
            "left_out": list(map(left_out_fields, left_out, documents)),
            "config": [] if settings is None else list(settings.sources),
            "paused": paused_fields(until),
            **{name: fault_fields(fault) for name, fault in faults.items()},
        },
        lambda _: "".join(
            [
                *([] if until is None else [f"the prompt hook is {paused_until(until)}\n"]),
                *(_lines(state, skipped=skipped) for state in states),
                *map(_left_out, left_out, documents),
                *_duplicates(several),
            ]
        ),
        error,
    )


def _is_meant(left: LeftOut, names: tuple[str, ...], groups: tuple[str, ...]) -> bool:
    if not (names or groups):
        return True
    # With flags only what they name has been looked at, so that a directory's fault is about it.
    return left.name in names or (bool(groups) and left.notice is not None)


def _settings(console: Console, names: tuple[str, ...], groups: tuple[str, ...]) -> Config:
    """Return the configuration, and say what is odd about it. Raises what loading it raises."""
    from recall import config

    settings = config.load(
        working_directory(), os.environ, names, groups=groups, fallback=False, demand=False
    )
    console.note_all(settings.notices)
    return settings


def _states(console: Console, settings: Config) -> tuple[list[RootStatus], list[Duplicate]]:
    """Return the states of the roots' caches, saying what is wrong, and the ids of several."""
    from recall.service import Recall

    with Recall(settings.roots, cwd=working_directory(), environ=os.environ) as recall:
        states = recall.status()
        several = recall.duplicates()
    for state in states:
        if state.damage is not None:
            hint = "recall refresh" if state.kept is None else None
            console.note(f"{state.root.name}: {_damaged(state)}", hint)
        if state.trouble is not None:
            console.note(f"{state.root.name}: {_troubled(state)}")
    return states, several


def _pause(console: Console, state_dir: str | None) -> float | None:
    """Return until when the hook is paused, and say if that can't be told."""
    from recall import pausing

    fault = pausing.fault(state_dir)
    if fault is not None:
        console.note(f"whether the prompt hook is paused can't be told: {fault}", "recall resume")
    return pausing.paused(state_dir, time.time())


def _faults(console: Console, state_dir: str | None) -> dict[str, Fault | None]:
    """Return, by field, what went wrong with the prompt hook and its refresh, and say it."""
    from recall import hookfault, told

    read = told.fault_here if told.here(working_directory(), os.environ) else hookfault.read
    faults = {
        "hook_failure": read(state_dir, hookfault.HOOK),
        "hook_refresh_failure": read(state_dir, hookfault.REFRESH),
    }
    names = ("the prompt hook", "the refresh beside the prompt hook")
    for what, fault in zip(names, faults.values(), strict=True):
        if fault is not None and not hookfault.is_over(fault, time.time()):
            console.note(f"{what} failed: {fault_text(fault)}", fault.hint)
    return faults


def _kept(directory: str | None, left: LeftOut) -> int:
    """Return how many notes the caches still have of a root that is not searched."""
    from recall import caches

    if directory is None:
        return 0
    try:
        documents, _ = caches.kept(directory, left.path)
    except OSError:
        return 0
    return documents


def _left_out(left: LeftOut, documents: int) -> str:
    lines = [
        f"{visible(left.name)}: {visible(left.path)}",
        f"  left out: {visible(left.reason)}",
    ]
    if documents:
        forget = "; recall refresh --prune forgets them" if left.gone else ""
        lines.append(f"  {number(documents, 'note')} kept{forget}")
    return "\n".join(lines) + "\n"


def _duplicates(several: Sequence[Duplicate]) -> list[str]:
    """Return a line for each id that several records have, but for what is too much to read."""
    lines = [f"id {visible(each.id)} is that of several: {_places(each)}" for each in several]
    if len(lines) > _MOST_LISTED:
        more = number(len(lines) - _MOST_LISTED, "id")
        lines[_MOST_LISTED:] = [f"{more} more that several have; recall status --json has all"]
    return [f"{line}\n" for line in lines]


def _places(several: Duplicate) -> str:
    places = several.places[:_MOST_LISTED]
    told = [f"{root}:{path}" + (f":{line}" if line else "") for root, path, line in places]
    more = len(several.places) - len(told)
    return visible(", ".join(told)) + (f" and {more:,} more" if more else "")


def _damaged(state: RootStatus) -> str:
    then = (
        "has been deleted; the next search makes it anew"
        if state.kept is None
        else f"can't be deleted: {state.kept}; until it can, searches read the notes themselves"
    )
    return f"its cache is damaged ({state.damage}) and {then}"


def _troubled(state: RootStatus) -> str:
    return f"its cache can't be read now: {state.trouble}"


def _lines(state: RootStatus, *, skipped: bool) -> str:
    lines = [f"{visible(state.root.name)}: {visible(state.root.path)}"]
    if state.built:
        lines.append(
            f"  {number(state.documents, 'note')}, {size(state.text_bytes)} of text, "
            f"cache {size(state.cache_bytes)}"
        )
        if state.withheld:
            lines.append(f"  withheld as private: {state.withheld:,}")
        lines.append(f"  cache file: {visible(state.cache_file or 'in memory')}")
        lines.append(f"  last refresh: {local(state.last_refresh)}")
    elif state.trouble is not None:
        lines.append(f"  {visible(_troubled(state))}")
    elif state.damage is not None:
        lines.append(f"  {visible(_damaged(state))}")
    else:
        lines.append("  not indexed yet; the next search or recall refresh does it")
    if state.last_failure is not None:
        lines.append(f"  last failure: {_failure(state.last_failure)}")
    if state.last_damage is not None:
        lines.append(f"  last damage: {_damage(state.last_damage)}")
    if state.violations:
        lines += _refused(state.violations, every=skipped)
    for kind, entries in (("skipped", state.skipped), ("unavailable", state.unavailable)):
        if skipped:
            lines += [f"  {kind}: {skipped_path(item)}: {visible(item.reason)}" for item in entries]
        else:
            lines += [f"  {kind} {n:,}: {visible(why)}" for why, n in by_reason(entries).items()]
    return "\n".join(lines) + "\n"


def _refused(violations: Sequence[Violation], *, every: bool) -> list[str]:
    shown = violations if every else violations[:MOST_VIOLATIONS]
    lines = [f"  refused, since it is strict: {number(len(violations), 'violation')}"]
    lines += [f"  violation: {violation_text(each)}" for each in shown]
    if len(shown) < len(violations):
        lines.append(f"  {len(violations) - len(shown):,} more: recall status --skipped")
    return lines


def _failure(failure: dict[str, object]) -> str:
    parts = [local(failure.get("when")), visible(str(failure.get("message", "")))]
    if failure.get("where"):
        parts.append(visible(str(failure["where"])))
    if failure.get("hint"):
        parts.append(f"hint: {visible(str(failure['hint']))}")
    return "; ".join(parts)


def _damage(damage: dict[str, object]) -> str:
    parts = [local(damage.get("when")), visible(str(damage.get("message", "")))]
    count = damage.get("count")
    if isinstance(count, int) and count > 1:
        parts.append(f"{count:,} times since {local(damage.get('since'))}")
    parts.append("repaired" if damage.get("repaired") else "recall rebuild repairs it")
    return "; ".join(parts)
