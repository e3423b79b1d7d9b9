"""What an install and an uninstall tell of hooks in a host's settings that look like ours; pure.

What an install could not have written is somebody's, and stays: the person is told of it.
"""

from __future__ import annotations

from recall.hookedit import found, is_hasty, named
from recall.hostreading import Complaint, idle, timeout_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.hostfiles import HostFiles
    from recall.jsonedit import Document


def after_install(host: HostFiles, document: Document) -> list[Complaint]:
    """Return what is odd about calls of the hook in settings that have just been edited."""
    return idle(host, document, named(document))


def after_uninstall(host: HostFiles, document: Document) -> list[Complaint]:
    """Return what is left, though it has the hook's command, because no host runs it."""
    left = idle(host, document, [each for each in named(document) if not each.runs])
    hint = "take it out if it is not wanted, in an editor"
    return [Complaint(each.message, each.line, hint) for each in left]


def mended(host: HostFiles, before: Document, after: Document) -> list[str]:
    """Return what an install has put right in what an install wrote."""
    short = {
        each.event: timeout_words(host, each)
        for each in reversed(found(before))
        if each.call.exact and each.event in host.events and is_hasty(each, host.least_timeout)
    }
    for each in found(after):
        if is_hasty(each, host.least_timeout):
            short.pop(each.event, None)
    return [
        f"the timeout at {event} is {host.timeout} {host.unit} now: it was {time}"
        for event, time in short.items()
    ]
