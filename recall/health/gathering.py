"""Gathers the evidence: what is kept of the past, and a bounded look at what is there.

It walks no root and reads no note, so it takes no longer for many of them; it mends nothing. What
it keeps is where the look at each cache's pages goes on, and what damage it found.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial

from index_cache import db
from index_cache.errors import ConfigInvalid
from recall import config, dirs, failures, hookfault, looks, proofs, recalllog, told
from recall.configfile import NothingConfigured
from recall.files import Unreadable
from recall.health import cachelook, hooklook, places, schedulelook, thresholds
from recall.health.evidence import (
    Damage,
    Dated,
    Evidence,
    Failure,
    HookEvidence,
    LogFile,
    Missing,
    RootEvidence,
    Schedule,
    Unread,
)
from recall.notice import shell_quoted
from recall.project import find_project_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from index_cache.model import Root
    from recall.health.places import Look
    from recall.health.thresholds import Thresholds
    from recall.notice import Notice
    from recall.settings import Config

PAGES = 4096  # of all caches together that are looked at each time (16 MiB)
LEAST_PAGES = 32  # of one of them


class Gathered:
    """The evidence, the thresholds to judge it by, and what is to be said besides."""

    __slots__ = ("evidence", "notices", "thresholds")

    def __init__(
        self, evidence: Evidence, thresholds: Thresholds, notices: Sequence[Notice]
    ) -> None:
        self.evidence = evidence
        self.thresholds = thresholds
        self.notices = notices


class Request:
    """What is asked: the roots' ``names`` and ``groups`` (none: all), ``deep`` for all their pages.

    ``program`` are the words that start this installation's hook.
    """

    __slots__ = ("deep", "groups", "names", "program")

    def __init__(
        self, names: Sequence[str], groups: Sequence[str], program: Sequence[str], *, deep: bool
    ) -> None:
        self.names = names
        self.groups = groups
        self.program = program
        self.deep = deep


def gather(cwd: str, environ: Mapping[str, str], request: Request) -> Gathered:
    """Return the evidence for a person in ``cwd``.

    Raises what ``config.load`` does for names that are none, and for those alone.
    """
    now = time.time()
    own = dirs.config_file(environ)
    measures = thresholds.read(own)
    settings, invalid = _settings(cwd, environ, request)
    state_dir, cache_dir = dirs.state_dir(environ), dirs.cache_dir(environ)
    # First: what follows may make files and directories of its own.
    state_look, cache_look = places.Look(state_dir), places.Look(cache_dir)
    unread: list[Unread] = []
    roots = _roots(settings, cache_dir, state_dir, unread, deep=request.deep)
    hook, bad_lines = hooklook.look(cwd, environ, settings, request.program, unread)
    schedule = schedulelook.look(state_dir, environ, unread)
    if told.here(cwd, environ):
        hook, schedule = _wordless(hook, schedule, state_dir)
    evidence = Evidence(
        now,
        file=own,
        invalid=invalid,
        roots=tuple(roots),
        missing=_missing(settings),
        hook=hook,
        schedule=schedule,
        places=(
            places.place("cache", cache_dir, cache_look),
            places.place("state", state_dir, state_look),
        ),
        exposed=(
            *places.exposed("cache", cache_dir, cache_look),
            *places.exposed("state", state_dir, state_look),
            *places.exposed_configuration(own),
        ),
        dated=(
            *_dated_roots(roots),
            *_dated_files(own, state_look),
            *_dated_within(state_dir, hook, schedule),
        ),
        logs=tuple(LogFile(path, at) for path, _, at in state_look.files if hooklook.is_log(path)),
        bad_lines=bad_lines,
        unread=tuple(unread),
    )
    notices = [] if settings is None else _unsaid(settings)
    notices += [*measures.notices, *thresholds.of_project(find_project_file(cwd, []))]
    return Gathered(evidence, measures, notices)


def _settings(
    cwd: str, environ: Mapping[str, str], request: Request
) -> tuple[Config | None, Failure | None]:
    try:
        load = partial(config.load, groups=request.groups, fallback=False, demand=False)
        return load(cwd, environ, request.names), None
    except NothingConfigured:
        return None, None
    except ConfigInvalid as error:
        return None, Failure(error.message, error.where, error.hint)


def _wordless(
    hook: HookEvidence, schedule: Schedule | None, state_dir: str | None
) -> tuple[HookEvidence, Schedule | None]:
    """Return what was kept of runs anywhere without their words, which may name other projects."""
    fault = told.fault_here(state_dir, hookfault.HOOK)
    beside = told.fault_here(state_dir, hookfault.REFRESH)
    if schedule is not None and schedule.message is not None:
        schedule = replace(schedule, message=told.NOT_HERE)
    return replace(hook, fault=fault, refresh_fault=beside), schedule


def _unsaid(settings: Config) -> list[Notice]:
    """Return the notices that are no finding."""
    missing = [left.notice for left in settings.left_out]
    return [notice for notice in settings.notices if notice not in missing]


def _missing(settings: Config | None) -> tuple[Missing, ...]:
    return tuple(
        Missing(left.name, left.path, left.reason, left.source)
        for left in (() if settings is None else settings.left_out)
        if left.notice is not None
    )


def _roots(
    settings: Config | None,
    cache_dir: str | None,
    state_dir: str | None,
    unread: list[Unread],
    *,
    deep: bool,
) -> list[RootEvidence]:
    """Return what is known of each root, and note what was found of its cache."""
    if settings is None or not settings.roots:
        return []
    count = max(LEAST_PAGES, PAGES // len(settings.roots))
    seen: dict[str, tuple[Root, cachelook.Seen]] = {}
    starts = looks.starts(state_dir, looks.PAGES)
    go_on: dict[str, int] = {}
    for root in settings.roots:
        name = db.identity(root)
        seen[name] = root, cachelook.look(root, cache_dir, starts.get(name, 0), count, deep=deep)
        if seen[name][1].evidence.all_pages > count:
            go_on[name] = seen[name][1].next
    looks.keep(state_dir, go_on, looks.PAGES)
    known = _known(state_dir, seen, unread, deep=deep)
    return [
        replace(
            each.evidence,
            word=root.path if settings.origins.get(root.name) == "--root" else root.name,
            failure=_failure(known.get(name, {}).get("failure")),
            damage=_damage(known.get(name, {}).get("damage"), each.damage),
            proof=_proof(state_dir, name, each.evidence, unread),
        )
        for name, (root, each) in seen.items()
    ]


def _known(
    state_dir: str | None,
    seen: Mapping[str, tuple[Root, cachelook.Seen]],
    unread: list[Unread],
    *,
    deep: bool,
) -> failures.Known:
    """Return what is known of failures and damage, with what was found just now."""
    why = failures.unread(state_dir)
    if why is not None and state_dir is not None:
        unread.append(Unread(os.path.join(state_dir, failures.FILE), why))
    damaged = {name: (each.damage, True) for name, (_, each) in seen.items() if each.damage}
    sound = [name for name, (_, each) in seen.items() if deep and each.evidence.all_pages]
    if sound:
        failures.found_sound(state_dir, sound)
    # Noted as still there: the next look is at other pages, and would find nothing.
    return failures.found(state_dir, damaged) if damaged else failures.read(state_dir)


def _failure(fields: failures.Fields | None) -> Failure | None:
    if fields is None:
        return None
    return Failure(
        str(fields["message"]), _text(fields["where"]), _text(fields["hint"]), _at(fields["when"])
    )


def _damage(fields: failures.Fields | None, found: str | None) -> Damage | None:
    """Return the damage that is noted; what was found and could not be noted counts as well."""
    if fields is None or (found is not None and fields["repaired"]):
        return None if found is None else Damage(found)
    count = fields["count"]
    return Damage(
        str(fields["message"]),
        _at(fields["when"]),
        count if isinstance(count, int) else 1,
        _at(fields["since"]),
        repaired=fields["repaired"] is True,
    )


def _proof(
    state_dir: str | None, name: str, root: RootEvidence, unread: list[Unread]
) -> proofs.Shown | None:
    """Return what the last proof has shown, unless it was of another file than is used now."""
    try:
        shown = proofs.read(state_dir, name)
    except Unreadable as error:
        if state_dir is not None:
            unread.append(Unread(os.path.join(state_dir, proofs.name_of(name)), str(error)))
        return None
    return shown if shown is not None and shown.is_of(root.cache, root.mark) else None


def _dated_roots(roots: Sequence[RootEvidence]) -> list[Dated]:
    found = []
    for root in roots:
        word = shell_quoted(root.word or root.name)
        refresh, check = f"recall refresh --root {word}", f"recall rebuild --check --root {word}"
        if root.refreshed is not None:
            file = root.cache or root.path
            found.append(Dated("its last refresh", file, root.refreshed, refresh, root.name))
        if root.proof is not None:
            file = root.cache or root.path
            found.append(Dated("its last proof", file, root.proof.when, check, root.name))
    return found


def _dated_files(own: str | None, look: Look) -> list[Dated]:
    """Return when the person's own file and those of the state directory were last written."""
    found = [
        Dated("evidence", path, at, f"touch {shell_quoted(path)}") for path, _, at in look.files
    ]
    if own is not None:
        try:
            at = os.stat(own).st_mtime
            found.append(Dated("the configuration", own, at, f"touch {shell_quoted(own)}"))
        except OSError:
            pass
    return found


def _dated_within(
    state_dir: str | None, hook: HookEvidence, schedule: Schedule | None
) -> list[Dated]:
    """Return the times that are told in the log and in other files, whenever those were written."""
    if state_dir is None:
        return []
    log, older = (os.path.join(state_dir, name) for name in (recalllog.FILE, recalllog.OLDER))
    away = f"rm -f {shell_quoted(log)} {shell_quoted(older)}"
    found = [Dated("a run of the prompt hook", log, run.when, away) for run in hook.runs]
    faults = {hookfault.HOOK: hook.fault, hookfault.REFRESH: hook.refresh_fault}
    for part, fault in faults.items():
        if fault is not None:
            file = os.path.join(state_dir, part + hookfault.SUFFIX)
            found.append(Dated("a failure", file, fault.when, f"rm -f {shell_quoted(file)}"))
    if schedule is not None:
        times = [at for at in (schedule.begun, schedule.ended) if at is not None]
        again = "recall schedule run"
        found += [Dated("a scheduled run", schedule.file, at, again) for at in times]
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _at(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
