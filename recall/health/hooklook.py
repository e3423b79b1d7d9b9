"""What is known of the prompt hook: where it is installed, its runs, and what went wrong."""

from __future__ import annotations

import os
import time

from recall import background, dirs, hookfault, hookstatus, logreading, pausing, recalllog
from recall import installed as records
from recall.call import LATE
from recall.files import Unreadable
from recall.health.evidence import Failure, HookEvidence, Installed, Run, Unread
from recall.health.findings import edit
from recall.hostfiles import HOST_FILES, PROJECT, SCOPES
from recall.hosttrust import UNTRUSTED
from recall.notice import shell_quoted
from recall.settings import HookSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.hookstatus import Installation
    from recall.logreading import Entry
    from recall.settings import Config


def look(
    cwd: str,
    environ: Mapping[str, str],
    settings: Config | None,
    program: Sequence[str],
    unread: list[Unread],
) -> tuple[HookEvidence, int]:
    """Return what is known of the hook, and how many lines of its log could not be read.

    What of it can't be read is added to ``unread``.
    """
    state_dir = dirs.state_dir(environ)
    made = HookSettings() if settings is None else settings.hook
    entries, bad = _entries(state_dir, unread)
    for part in (hookfault.HOOK, hookfault.REFRESH):
        why = hookfault.unread(state_dir, part)
        if why is not None and state_dir is not None:
            unread.append(Unread(os.path.join(state_dir, part + hookfault.SUFFIX), why))
    why = pausing.fault(state_dir)
    if why is not None and state_dir is not None:
        unread.append(Unread(pausing.pause_file(state_dir), why))
    found = hookstatus.installations(tuple(HOST_FILES), SCOPES, environ, cwd, program)
    installed = [_installed(each) for each in found if each.installed]
    if not installed:
        installed = _in_projects(state_dir, environ, program)
    hook = HookEvidence(
        wanted=made.enabled and settings is not None and bool(settings.roots),
        logged=made.log,
        paused=pausing.paused(state_dir, time.time()),
        installed=tuple(installed),
        unread=tuple(
            Failure(each.fault.message, each.fault.where or each.file, each.fault.hint)
            for each in found
            if each.fault is not None and each.exists
        ),
        runs=tuple(Run(each.host, each.when, each.ms, each.why == LATE) for each in entries),
        asked=_asked(state_dir),
        fault=hookfault.read(state_dir),
        refresh_fault=hookfault.read(state_dir, hookfault.REFRESH),
    )
    return hook, bad


def is_log(path: str) -> bool:
    """Tell whether a file of the state directory is one of the recall log's."""
    return os.path.basename(path) in {recalllog.FILE, recalllog.OLDER}


def _entries(state_dir: str | None, unread: list[Unread]) -> tuple[list[Entry], int]:
    try:
        return logreading.read(state_dir)
    except Unreadable as error:
        unread.append(Unread(os.path.join(state_dir or "", recalllog.FILE), str(error)))
        return [], 0


def _in_projects(
    state_dir: str | None, environ: Mapping[str, str], program: Sequence[str]
) -> list[Installed]:
    """Return what was installed for single projects, wherever they are, as it was noted then."""
    made: list[Installed] = []
    for file, _ in [] if state_dir is None else records.every(state_dir):
        for host in HOST_FILES.values():
            top = file.removesuffix(f"/{host.project}")
            if top in {file, ""}:
                continue
            found = hookstatus.installations((host.name,), (PROJECT,), environ, top, program)
            made += [
                _installed(each, f"cd {shell_quoted(top)} && ")
                for each in found
                if each.installed and each.file and os.path.realpath(each.file) == file
            ]
    return made


def _installed(one: Installation, first: str = "") -> Installed:
    idle = [each.message for each in (*one.unread, *one.idle)]
    absent = f"it is not called at {', '.join(one.absent)}" if one.absent else None
    if one.off is not None:
        idle.append(f"{one.off[1].message} in {one.off[0]}")
    if one.trust == UNTRUSTED and one.why is not None:
        idle.append(one.why)
    scope = f" --scope {PROJECT}" if one.scope == PROJECT else ""
    install = f"{first}recall hook install --host {one.host}{scope}"
    if one.shared or one.own_gone:  # which install leaves as it is
        install = edit(one.file)
    return Installed(
        one.host, one.file, install, tuple(one.gone), tuple(dict.fromkeys(idle)), absent
    )


def _asked(state_dir: str | None) -> float | None:
    """Return when a hook last asked for a refresh: each does, or finds that it is too soon."""
    if state_dir is None:
        return None
    last = None
    try:
        with os.scandir(os.path.join(state_dir, background.DIRECTORY)) as entries:
            for entry in entries:
                if entry.name.endswith((background.LOCK, background.REQUEST)):
                    at = entry.stat(follow_symlinks=False).st_mtime
                    last = at if last is None else max(last, at)
    except OSError:
        return last
    return last
