"""Where the prompt hook is installed, whether it can run there, and when it last did."""

from __future__ import annotations

import os

from index_cache.errors import RecallError
from recall import hookcommand, hosttrust, installing, recalllog
from recall.hostfiles import HOST_FILES, SCOPES, place
from recall.hostreading import complaints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recall.hookedit import Found
    from recall.hostreading import Complaint
    from recall.recalllog import Entry


class Installation:
    """One settings file of one host, and what is in it of ours.

    ``file`` is None where its place is not known; ``fault`` why it can't be read. ``events`` are
    those at which the hook is called, ``missing`` those at which it should be and is not. ``gone``
    are the programs that are named and can't be run; ``elsewhere`` tells whether what is named
    belongs to another installation than this one, None if it can't be said. ``unread`` is what
    keeps the host from reading the file.
    """

    __slots__ = (
        "commands",
        "elsewhere",
        "events",
        "exists",
        "fault",
        "file",
        "gone",
        "host",
        "missing",
        "own_form",
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
        self.missing: list[str] = []
        self.commands: list[str] = []
        self.gone: list[str] = []
        self.elsewhere: bool | None = None
        self.own_form = False
        self.trust: str | None = None
        self.why: str | None = None
        self.unread: list[Complaint] = []


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
    hosts: Sequence[str], environ: Mapping[str, str], cwd: str, program: Sequence[str]
) -> list[Installation]:
    """Return what is installed for each host and scope; ``program`` is this installation's own.

    A file that can't be read, or whose place is not known, is a fault of that one alone.
    """
    found = []
    for name in hosts:
        for scope in SCOPES:
            one = Installation(name, scope)
            found.append(one)
            try:
                where = place(HOST_FILES[name], scope, environ, cwd)
                one.file = where.file
                one.exists = os.path.lexists(where.file)
                _look(one, installing.read(where), environ, cwd, program)
            except RecallError as error:
                one.fault = error
    return found


def _look(
    one: Installation,
    settings: installing.Settings,
    environ: Mapping[str, str],
    cwd: str,
    program: Sequence[str],
) -> None:
    calls: list[Found] = settings.found
    one.events = list(dict.fromkeys(each.event for each in calls))
    if not calls:
        return
    one.missing = [each for each in settings.place.host.events if each not in one.events]
    one.commands = list(dict.fromkeys(each.command for each in calls))
    one.own_form = any(not each.call.exact for each in calls)
    programs = [each.call.program for each in calls]
    one.gone = list(dict.fromkeys(p[0] for p in programs if not hookcommand.is_there(p)))
    one.elsewhere = any(each != list(program) for each in programs)
    one.unread = complaints(settings.place.host, settings.document, mark=bool(settings.bom))
    one.trust, one.why = hosttrust.trust(settings, environ, cwd)
