"""Hooks in a host's settings that look like ours and do something else than an install's; pure.

What an install could not have written is somebody's, and stays: the person is told of it.
"""

from __future__ import annotations

from recall import hookedit
from recall.jsonedit import line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hookedit import Found
    from recall.hostfiles import HostFiles
    from recall.jsonedit import Document


class Remark:
    """What is to be said of a hook in ``line`` (from 1) of the settings, and what to do."""

    __slots__ = ("hint", "line", "message")

    def __init__(self, document: Document, each: Found, message: str, hint: str) -> None:
        self.line = line_of(document.text, document.element(each.path).first)
        self.message = message
        self.hint = hint


def after_install(host: HostFiles, document: Document) -> list[Remark]:
    """Return what is odd about calls of the hook in settings that have just been edited."""
    remarks = [_idle(document, each) for each in _not_run(document)]
    for each in hookedit.found(document):
        if each.event not in host.events:
            known = " and ".join(host.events)
            message = f"{each.event} calls the hook too, which answers at {known} alone"
            hint = "recall hook uninstall takes it out as well, or take it out"
            if not each.call.exact:
                hint = "take it out"
            remarks.append(Remark(document, each, message, hint))
            continue
        if hookedit.is_narrowed(each):
            message = f'{each.event} calls the hook only where the matcher "{each.matcher}" fits'
            remarks.append(Remark(document, each, message, "take the matcher out"))
        if hookedit.is_hasty(each, host.group):
            message = (
                f"{each.event} gives the hook {_time(host, each.timeout)}, which is too little"
            )
            wanted = hookedit.timeout_of(host.group)
            remarks.append(Remark(document, each, message, f'write "timeout": {wanted}'))
    return remarks


def after_uninstall(document: Document) -> list[Remark]:
    """Return what is left, though it has the hook's command."""
    return [_idle(document, each) for each in _not_run(document)]


def mended(host: HostFiles, before: Document, after: Document) -> list[str]:
    """Return what an install has put right in what an install wrote."""
    short = {
        each.event: _time(host, each.timeout)
        for each in reversed(hookedit.found(before))
        if each.call.exact and each.event in host.events and hookedit.is_hasty(each, host.group)
    }
    for each in hookedit.found(after):
        if hookedit.is_hasty(each, host.group):
            short.pop(each.event, None)
    wanted = _time(host, hookedit.timeout_of(host.group))
    return [f"{event} gave it {time}: it has {wanted} now" for event, time in short.items()]


def _not_run(document: Document) -> list[Found]:
    return [each for each in hookedit.named(document) if not each.runs]


def _idle(document: Document, each: Found) -> Remark:
    message = (
        f'{each.event} has a hook with this command that no host runs: its type is not "command"'
    )
    return Remark(document, each, message, "take it out if it is not wanted")


def _time(host: HostFiles, value: object) -> str:
    return f"{value} ms" if host.per_second > 1 else f"{value} s"
