"""Where the prompt hook is installed, whether it can run there, and when it last did."""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid, RecallError
from recall import hookcommand, hostreading, hosttrust, installing, recalllog, scripts
from recall.hookedit import named
from recall.hostfiles import HOST_FILES, PROJECT, SCOPES, place, shared_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recall.hookedit import Found
    from recall.hostfiles import HostFiles, Place
    from recall.hostreading import Complaint
    from recall.logreading import Entry


class Installation:
    """One settings file of one host, and what is in it of ours.

    ``file`` is None where its place is not known; ``fault`` why it can't be read. ``events`` are
    those at which the hook is called, ``called`` how often at each, ``missing`` those at which it
    should be and is not, ``absent`` those of them at which nothing of ours stands. ``gone`` are the
    programs that are called there and can't be run, ``own_gone`` those of them in a form of
    somebody's own, ``broken`` scripts with the interpreter that they lack; ``own_forms`` are
    commands that somebody wrote. ``shared`` says that it is a project's file which others have too
    and into which nothing is installed; ``elsewhere`` tells whether what is called belongs to
    another installation than this one, None if it can't be said. ``unread`` is what keeps the host
    from reading the file, ``idle`` what keeps single calls from running, ``off`` in which of the
    host's files hooks are switched off, and how.
    """

    __slots__ = (
        "absent",
        "broken",
        "called",
        "commands",
        "elsewhere",
        "events",
        "exists",
        "fault",
        "file",
        "gone",
        "host",
        "idle",
        "missing",
        "off",
        "own_forms",
        "own_gone",
        "scope",
        "shared",
        "trust",
        "unread",
        "why",
    )

    def __init__(self, host: str, scope: str, *, shared: bool = False) -> None:
        self.host = host
        self.scope = scope
        self.shared = shared
        self.file: str | None = None
        self.exists = False
        self.fault: RecallError | None = None
        self.events: list[str] = []
        self.called: dict[str, int] = {}
        self.missing: list[str] = []
        self.absent: list[str] = []
        self.commands: list[str] = []
        self.gone: list[str] = []
        self.own_gone: list[str] = []
        self.broken: list[tuple[str, str]] = []
        self.elsewhere: bool | None = None
        self.own_forms: list[str] = []
        self.trust: str | None = None
        self.why: str | None = None
        self.unread: list[Complaint] = []
        self.idle: list[Complaint] = []
        self.off: tuple[str, Complaint] | None = None

    @property
    def installed(self) -> bool:
        """Return whether a call of the hook stands in the file, though it may never run."""
        return bool(self.commands)


class Runs:
    """When a host's hook last ran, spoke, reached its deadline and failed, as the log has it."""

    __slots__ = ("failed", "host", "late", "ran", "spoke")

    def __init__(self, host: str, entries: Iterable[Entry], late: str, failed: str) -> None:
        self.host = host
        self.ran = self.spoke = self.late = self.failed = None
        for entry in entries:
            if entry.host != host:
                continue
            self.ran = entry.when
            if entry.decision == recalllog.SPOKE:
                self.spoke = entry.when
            if entry.why == late:
                self.late = entry.when
            if entry.why == failed:
                self.failed = entry.when


def installations(
    hosts: Sequence[str],
    scopes: Sequence[str],
    environ: Mapping[str, str],
    cwd: str,
    program: Sequence[str],
) -> list[Installation]:
    """Return what is installed for each host and scope; ``program`` is this installation's own.

    A file that can't be read, or whose place is not known, is a fault of that one alone. One that
    is the person's and the project's is there once. The file of a project that its others share is
    there if the hook is in it, or if it can't be read.
    """
    found: list[Installation] = []
    for name in hosts:
        for scope in scopes:
            for shared in (True, False) if scope == PROJECT else (False,):
                one = Installation(name, scope, shared=shared)
                try:
                    where = _place(one, environ, cwd)
                    if where is None or any(_is_same(where.file, each.file) for each in found):
                        continue
                    one.file = where.file
                    one.exists = os.path.lexists(where.file)
                    _look(one, installing.read(where), environ, cwd, program)
                except RecallError as error:
                    one.fault = error
                if one.installed or not shared or isinstance(one.fault, ConfigInvalid):
                    found.append(one)
    return found


def _place(one: Installation, environ: Mapping[str, str], cwd: str) -> Place | None:
    host = HOST_FILES[one.host]
    if one.shared:
        return shared_place(host, environ, cwd)
    return place(host, one.scope, environ, cwd)


def elsewhere(
    target: str, host: HostFiles, environ: Mapping[str, str], cwd: str
) -> list[tuple[installing.Settings, bool]]:
    """Return the other files than ``target`` from which ``host`` calls the hook.

    Each with whether it is a project's that others share. What can't be read is left out: status
    tells of it.
    """
    found: list[tuple[installing.Settings, bool]] = []
    for scope, shared in (*[(scope, False) for scope in SCOPES], (PROJECT, True)):
        try:
            where = shared_place(host, environ, cwd) if shared else place(host, scope, environ, cwd)
            settings = None if where is None else installing.read(where)
        except RecallError:
            continue
        known = [target, *(each.target for each, _ in found)]
        if settings is not None and settings.found and settings.target not in known:
            found.append((settings, shared))
    return found


def is_whole(settings: installing.Settings, environ: Mapping[str, str]) -> bool:
    """Return whether the host calls a hook that is there at each of its events from a file."""
    host = settings.place.host
    calls = [each for each in settings.found if hostreading.runs(host, each)]
    programs = [each.call.program for each in calls]
    paths = [
        hookcommand.place_of(each, environ)
        for each in programs
        if hookcommand.is_told(each, environ)
    ]
    can_run = all(path is not None and not scripts.interpreter_gone(path) for path in paths)
    return can_run and {each.event for each in calls} == set(host.events)


def doubled(found: Sequence[Installation]) -> list[tuple[str, list[str], list[Installation]]]:
    """Return each host that calls the hook more than once, at which events, and from where."""
    told = []
    for host in dict.fromkeys(one.host for one in found):
        ones = [one for one in found if one.host == host and not one.unread]
        known = dict.fromkeys(event for one in ones for event in one.events)
        events = [each for each in known if sum(one.called.get(each, 0) for one in ones) > 1]
        if events:
            told.append((host, events, [one for one in ones if set(events) & set(one.events)]))
    return told


def _is_same(file: str, other: str | None) -> bool:
    return other is not None and os.path.realpath(file) == os.path.realpath(other)


def _look(
    one: Installation,
    settings: installing.Settings,
    environ: Mapping[str, str],
    cwd: str,
    program: Sequence[str],
) -> None:
    host, document = settings.place.host, settings.document
    calls = named(document)
    if not calls:
        return
    running = [each for each in calls if hostreading.runs(host, each)]
    for each in running:
        one.called[each.event] = one.called.get(each.event, 0) + 1
    one.events = list(one.called)
    one.missing = [each for each in host.events if each not in one.events]
    standing = {each.event for each in calls}
    one.absent = [each for each in one.missing if each not in standing]
    one.commands = list(dict.fromkeys(each.command for each in calls))
    own = [each.command for each in calls if not each.call.exact]
    one.own_forms = list(dict.fromkeys(own))
    _programs(one, running, environ, program)
    one.unread = hostreading.unread(host, document, mark=bool(settings.bom))
    one.idle = hostreading.idle(host, document, calls)
    one.off = hosttrust.off(settings, environ, cwd)
    one.trust, one.why = hosttrust.trust(settings, environ, cwd, one.off)


def _programs(
    one: Installation, calls: Sequence[Found], environ: Mapping[str, str], program: Sequence[str]
) -> None:
    told = [each.call for each in calls if hookcommand.is_told(each.call.program, environ)]
    gone = []
    for each in told:
        path = hookcommand.place_of(each.program, environ)
        lacks = None if path is None else scripts.interpreter_gone(path)
        if path is None or lacks is not None:
            gone.append(each)
        if lacks is not None and (each.program[0], lacks) not in one.broken:
            one.broken.append((each.program[0], lacks))
    one.gone = list(dict.fromkeys(each.program[0] for each in gone))
    ours = {each.program[0] for each in gone if each.exact}
    one.own_gone = [each for each in one.gone if each not in ours]
    if told:
        here = hookcommand.directory_of(program, environ)
        one.elsewhere = any(
            hookcommand.directory_of(each.program, environ) != here for each in told
        )
