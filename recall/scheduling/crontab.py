"""Our line in a crontab: found, put in, taken out again; pure.

The rest of a crontab is bytes of somebody's: no encoding, no line end of it is anything to us.
See ``spec/schedule.md``.
"""

from __future__ import annotations

import re

from recall.scheduling.job import cron_line, is_intact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.scheduling.job import Job

# What was made for our line, and goes with it: the end of the line before, the crontab itself.
NEWLINE, CRONTAB = "+newline", "+crontab"

_LINE = re.compile(rb"[^\n]*# recall-schedule [0-9a-f]{8}(?![0-9a-f])([^\n]*)")
_OTHER = re.compile(
    rb"(?m)^[ \t]*[^#\s][^\n]*\brecall(?:[\"' \t]+)(?:refresh|rebuild|schedule run)\b"
)


_SETTING = re.compile(rb"""(?m)^[ \t]*["']?([A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*=""")


class Entry:
    """A line of ours: the bytes from ``start`` to ``end``, of which ``line`` has no line end.

    ``intact`` says that it is as it was written, ``active`` that it is no comment, ``made`` what
    was made for it.
    """

    __slots__ = ("active", "end", "intact", "line", "made", "start")

    def __init__(self, data: bytes, found: re.Match[bytes]) -> None:
        self.start = found.start()
        self.end = min(found.end() + 1, len(data))
        self.line = found[0].rstrip(b" \t\r")
        self.intact = is_intact(self.line, last=True)
        self.active = not self.line.lstrip(b" \t").startswith(b"#")
        words = found[1].decode("ascii", "replace").split()
        self.made = [word for word in words if word in {NEWLINE, CRONTAB}]


def entries(data: bytes | None) -> list[Entry]:
    """Return the lines of ours, in order."""
    content = data or b""
    return [Entry(content, found) for found in _LINE.finditer(content)]


def others(data: bytes | None) -> list[bytes]:
    """Return the lines of somebody's own that call recall for the same work."""
    ours = {each.line for each in entries(data)}
    lines = [line.rstrip(b" \t\r") for line in (data or b"").split(b"\n")]
    return [line for line in lines if line not in ours and _OTHER.match(line)]


def settings(data: bytes) -> list[str]:
    """Return the names of the variables that a crontab sets, which all lines below it are given."""
    return [name.decode("ascii") for name in _SETTING.findall(data)]


def put(data: bytes | None, job: Job) -> bytes:
    """Return a crontab with our line once: where the first of ours is, else at the end.

    ``data`` is None where there is no crontab. Raises InvalidInput as ``job.cron_line`` does.
    """
    content = data or b""
    found = entries(content)
    job = job.among(settings(content[: found[0].start] if found else content))
    if found:
        line = cron_line(job, found[0].made)
        for each in reversed(found[1:]):
            content = _without(content, each)
        if line == found[0].line:
            return content
        end = found[0].end - content[: found[0].end].endswith(b"\n")
        return content[: found[0].start] + line + content[end:]
    if data is None:
        return cron_line(job, [CRONTAB]) + b"\n"
    if content and not content.endswith(b"\n"):
        return content + b"\n" + cron_line(job, [NEWLINE]) + b"\n"
    return content + cron_line(job) + b"\n"


def cut(data: bytes | None) -> bytes | None:
    """Return a crontab without lines of ours, None if then none is to be there."""
    if data is None:
        return None
    found = entries(data)
    for each in reversed(found):
        data = _without(data, each)
    return None if not data and any(CRONTAB in each.made for each in found) else data


def _without(data: bytes, entry: Entry) -> bytes:
    # What was written behind it since needs the line end.
    is_last = entry.end == len(data)
    start = entry.start - (NEWLINE in entry.made and is_last and entry.start > 0)
    return data[:start] + data[entry.end :]
