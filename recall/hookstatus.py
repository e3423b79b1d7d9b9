"""Where the prompt hook is installed, whether it can run there, and when it last did."""

from __future__ import annotations

import os

from index_cache.errors import RecallError
from recall import hookcommand, hostreading, hosttrust, installing, recalllog
from recall.hookedit import named
from recall.hostfiles import HOST_FILES, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recall.hookedit import Found
    from recall.hostreading import Complaint
    from recall.recalllog import Entry


class Installation:
    """One settings file of one host, and what is in it of ours.

    ``file`` is None where its place is not known; ``fault`` why it can't be read. ``events`` are
    those at which the hook is called, ``called`` how often at each, ``missing`` those at which it
    should be and is not, ``absent`` those of them at which nothing of ours stands. ``gone`` are the
    programs that are called there and can't be run, ``own_gone`` those of them in a form of
    somebody's own; ``elsewhere`` tells whether what is called belongs to another installation than
    this one, None if it can't be said. ``unread`` is what keeps the host from reading the file,
    ``idle`` what keeps single calls from running, ``off`` in which of the host's files hooks are
    switched off, and how.
    """

    __slots__ = (
        "absent",
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
        "own_form",
        "own_gone",
        "scope",
        "trust",
        "unread",
        "why",
    )

    def __init__(self, host: str, scope: str) -> None:
        self.host = host
        self.scope = scope
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
        self.elsewhere: bool | None = None
        self.own_form = False
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
    is the person's and the project's is there once.
    """
    found: list[Installation] = []
    for name in hosts:
        for scope in scopes:
            one = Installation(name, scope)
            try:
                where = place(HOST_FILES[name], scope, environ, cwd)
                one.file = where.file
                if any(_is_same(one.file, each.file) for each in found):
                    continue
                one.exists = os.path.lexists(where.file)
                _look(one, installing.read(where), environ, cwd, program)
            except RecallError as error:
                one.fault = error
            found.append(one)
    return found


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
    one.own_form = any(not each.call.exact for each in calls)
    _programs(one, running, environ, program)
    one.unread = hostreading.unread(host, document, mark=bool(settings.bom))
    one.idle = hostreading.idle(host, document, calls)
    one.off = hosttrust.off(settings, environ, cwd)
    one.trust, one.why = hosttrust.trust(settings, environ, cwd, one.off)


def _programs(
    one: Installation, calls: Sequence[Found], environ: Mapping[str, str], program: Sequence[str]
) -> None:
    told = [each.call for each in calls if hookcommand.is_told(each.call.program, environ)]
    gone = [each for each in told if hookcommand.place_of(each.program, environ) is None]
    one.gone = list(dict.fromkeys(each.program[0] for each in gone))
    ours = {each.program[0] for each in gone if each.exact}
    one.own_gone = [each for each in one.gone if each not in ours]
    if told:
        here = hookcommand.directory_of(program, environ)
        one.elsewhere = any(
            hookcommand.directory_of(each.program, environ) != here for each in told
        )
