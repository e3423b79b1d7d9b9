"""The scheduled job: when it runs, what, with which variables, and how that is written; pure.

A text of ours has a mark with a digest of all of it, so that it is known again whatever surrounds
it, and known to have been changed by hand. The formats and their quoting are in
``spec/schedule.md``, with examples in ``spec/vectors/schedule.json``.
"""

from __future__ import annotations

import os
import re
import shlex

from index_cache.digests import hashed
from index_cache.errors import InvalidInput
from recall.durations import seconds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CRON, SYSTEMD, LAUNCHD = "cron", "systemd", "launchd"
KINDS = (CRON, SYSTEMD, LAUNCHD)
SERVICE, TIMER = "recall-refresh.service", "recall-refresh.timer"
LABEL = "recall.refresh"
RUN = ("schedule", "run", "--quiet")
MINUTE = 17  # of the hour: on the full hour everybody else's jobs begin
MOST_OF_A_LINE = 998  # bytes of a crontab's command that every cron takes

_HOUR, _DAY, _WEEK = 60, 24 * 60, 7 * 24 * 60  # minutes
_LEAST = 5  # minutes between two runs
_MARK = re.compile(rb"recall-schedule ([0-9a-f]{8})(?![0-9a-f])")
_UNSEALED = b"0" * 8
_TITLE = "Bring the caches of recall up to date and check them"
_HEAD = f"""# recall-schedule {_UNSEALED.decode()}
# Made by "recall schedule install"; "recall schedule remove" deletes it."""
_QUOTES = frozenset("\"'\\")
_BY_SHELL = ["/bin/sh", "-c", 'exec "$0" "$@"']
_SPELLED = [word.replace("$", "$$") for word in _BY_SHELL]
_PLAIN = re.compile(r"[\w./:=@,+-]+", re.ASCII)


class Timing:
    """When the job runs: ``every`` so many minutes; ``at`` are hour and minute of a day's run."""

    __slots__ = ("at", "every")

    def __init__(self, every: int, at: tuple[int, int]) -> None:
        self.every = every
        self.at = at

    @property
    def words(self) -> str:
        """Return it for people."""
        hour, minute = self.at
        if self.every >= _DAY:
            day = "every day" if self.every == _DAY else "every Monday"
            return f"{day} at {hour:02}:{minute:02}"
        number, unit = divmod(self.every, _HOUR)[0], "hour"
        if self.every < _HOUR:
            number, unit = self.every, "minute"
        return f"every {unit}" if number == 1 else f"every {number} {unit}s"

    def cron(self) -> str:
        """Return the five fields of a crontab."""
        hour, minute = self.at
        if self.every < _HOUR:
            return f"*/{self.every} * * * *"
        if self.every < _DAY:
            hours = self.every // _HOUR
            return f"{MINUTE} {'*' if hours == 1 else f'*/{hours}'} * * *"
        return f"{minute} {hour} * * {'*' if self.every == _DAY else 1}"

    def on_calendar(self) -> str:
        """Return systemd's calendar event."""
        hour, minute = self.at
        if self.every < _HOUR:
            return f"*-*-* *:00/{self.every}:00"
        if self.every < _DAY:
            hours = self.every // _HOUR
            return f"*-*-* {'*' if hours == 1 else f'00/{hours}'}:{MINUTE}:00"
        day = "" if self.every == _DAY else "Mon "
        return f"{day}*-*-* {hour:02}:{minute:02}:00"

    def intervals(self) -> list[dict[str, int]]:
        """Return launchd's calendar intervals: unlike seconds they are made up for after sleep."""
        hour, minute = self.at
        if self.every < _HOUR:
            return [{"Minute": each} for each in range(0, _HOUR, self.every)]
        if self.every == _HOUR:
            return [{"Minute": MINUTE}]
        if self.every < _DAY:
            return [{"Hour": each, "Minute": MINUTE} for each in range(0, 24, self.every // _HOUR)]
        day = {} if self.every == _DAY else {"Weekday": 1}
        return [{**day, "Hour": hour, "Minute": minute}]


def timing(every: str, at: str | None) -> Timing:
    """Return when the job runs, as a person says it: ``15m``, ``6h``, ``1d``, ``7d``; ``12:30``.

    Raises InvalidInput for what can't be said in a crontab, and for a time of day with less than
    days.
    """
    seconds = seconds_of(every, "--every")
    minutes = seconds // 60
    is_even = (
        seconds % 60 == 0
        and minutes >= _LEAST
        and (
            _HOUR % minutes == 0
            or (minutes % _HOUR == 0 and _DAY % minutes == 0)
            or minutes == _WEEK
        )
    )
    if not is_even:
        raise InvalidInput(
            f'"{every}" does not divide an hour or a day evenly',
            where="--every",
            hint="one of 5m, 6m, 10m, 12m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 8h, 12h, 1d, 7d",
        )
    if at is not None and minutes < _DAY:
        raise InvalidInput(
            "a time of day goes with days", where="--at", hint=f"--every 1d --at {at}, or no --at"
        )
    return Timing(minutes, (12, 30) if at is None else _time_of_day(at))


def _time_of_day(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", text, re.ASCII)
    if found is None:
        raise InvalidInput(
            f'"{text[:40]}" is no time of day', where="--at", hint="write hour and minute: 12:30"
        )
    return int(found[1]), int(found[2])


class Job:
    """What is run: ``words`` are the program and its arguments, ``variables`` those it needs.

    ``usual`` are values of others that it needs only where a crontab would give them another.
    """

    __slots__ = ("timing", "usual", "variables", "words")

    def __init__(
        self,
        words: Sequence[str],
        variables: Mapping[str, str],
        timing: Timing,
        usual: Mapping[str, str] | None = None,
    ) -> None:
        self.words = list(words)
        self.variables = dict(variables)
        self.timing = timing
        self.usual = dict(usual or {})

    def among(self, names: Iterable[str]) -> Job:
        """Return the same job for a crontab that sets the variables of these names."""
        more = {name: self.usual[name] for name in names if name in self.usual}
        return Job(self.words, {**more, **self.variables}, self.timing, self.usual)


def check(job: Job, kind: str) -> None:
    """Raise InvalidInput where a path or a value can't be written in that format at all."""
    for text in [*job.words, *job.variables.values()]:
        # The last two have no place in XML.
        if any(char < " " or char in "\x7f\ufffe\uffff" for char in text):
            raise InvalidInput(
                "a path with a control character can't be scheduled", where=text, hint="rename it"
            )
        if kind != CRON and any("\ud800" <= char <= "\udfff" for char in text):
            raise InvalidInput(
                f"a file of {kind} can't hold a path that is not UTF-8",
                where=text,
                hint="rename it, or use --kind cron",
            )


def cron_line(job: Job, made: Sequence[str] = ()) -> bytes:
    """Return the line of a crontab, without its end.

    ``made`` are words on what was made for it, and goes with it again. Raises InvalidInput for one
    that is too long for some cron.
    """
    variables = [f"{name}={_for_cron(value)}" for name, value in sorted(job.variables.items())]
    command = " ".join([*variables, *map(_for_cron, job.words)])
    mark = " ".join([f"# recall-schedule {_UNSEALED.decode()}", *made])
    data = os.fsencode(f"{command} {mark}")
    if len(data) > MOST_OF_A_LINE:
        raise InvalidInput(
            f"the line would be longer than the {MOST_OF_A_LINE} bytes that a crontab can have",
            hint="name fewer roots, or put them into the configuration and name none",
        )
    return sealed(os.fsencode(job.timing.cron()) + b" " + data, last=True)


def _for_cron(word: str) -> str:
    r"""Quote for cron, then for sh. ``%`` ends the command, and ``\%`` outside of quotes is a sign.

    cron takes that backslash away, and those that know no ``%`` leave it to the shell.
    """
    if not word:
        return "''"
    return "\\%".join(shlex.quote(part) if part else "" for part in word.split("%"))


def systemd_units(job: Job) -> dict[str, bytes]:
    """Return the two units by the names of their files."""
    variables = "".join(
        f"Environment={_for_systemd(f'{name}={value}')}\n"
        for name, value in sorted(job.variables.items())
    )
    words = job.words
    if not _QUOTES.isdisjoint(words[0]):  # systemd runs no program that has one in its path
        words = [*_BY_SHELL, *words]
    program, *arguments = words
    # In what is run a variable is put in the place of $NAME, but not in the program's own path.
    command = [_for_systemd(program), *(_for_systemd(word, dollar="$$") for word in arguments)]
    service = (
        f"{_HEAD}\n[Unit]\nDescription={_TITLE}\n\n[Service]\nType=oneshot\nNice=10\n"
        f"{variables}ExecStart={' '.join(command)}\n"
    )
    timer = (
        f"{_HEAD}\n[Unit]\nDescription={_TITLE}\n\n[Timer]\n"
        f"OnCalendar={job.timing.on_calendar()}\nPersistent=true\n\n"
        "[Install]\nWantedBy=timers.target\n"
    )
    texts = {SERVICE: service, TIMER: timer}
    return {name: sealed(text.encode("utf-8")) for name, text in texts.items()}


def _for_systemd(word: str, dollar: str = "$") -> str:
    """Quote for a unit's file: specifiers begin with ``%``, escapes with a backslash."""
    text = word.replace("%", "%%").replace("$", dollar)
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def launchd_plist(job: Job) -> bytes:
    """Return the property list."""
    import plistlib

    fields: dict[str, object] = {"Label": LABEL, "ProgramArguments": job.words}
    if job.variables:
        fields["EnvironmentVariables"] = job.variables
    fields["StartCalendarInterval"] = job.timing.intervals()
    fields |= {"ProcessType": "Background", "LowPriorityIO": True, "Nice": 10}
    head, begin, rest = plistlib.dumps(fields, sort_keys=False).partition(b"<plist")
    said = _HEAD.replace("# ", "").encode("ascii")
    return sealed(head + b"<!-- " + said + b" -->\n" + begin + rest)


def program_in(kind: str, text: bytes) -> str | None:
    """Return the path of the program that a text of ours starts, None if it has none."""
    if kind == LAUNCHD:
        return _in_plist(text)
    lines = os.fsdecode(text).split("\n")
    if kind == SYSTEMD:
        commands = [line.removeprefix("ExecStart=") for line in lines if "ExecStart=" in line[:10]]
        words = [word.replace("%%", "%") for word in _words(commands[0])] if commands else []
        if words[: len(_BY_SHELL)] == _SPELLED:
            words = [word.replace("$$", "$") for word in words[len(_BY_SHELL) :]]
        return next(iter(words), None)
    # Behind the five fields come the variables.
    words = _words(" ".join(lines[0].split(" ")[5:]))
    return next((word for word in words if word.startswith("/")), None)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # somebody changed it
        return []


def _in_plist(text: bytes) -> str | None:
    import plistlib

    try:
        words = plistlib.loads(text)["ProgramArguments"]
        return str(words[0])
    except Exception:  # noqa: BLE001 - somebody changed it, and what all can be wrong is much
        return None


def sealed(data: bytes, *, last: bool = False) -> bytes:
    """Return a text with the digest of all the rest in its mark, the first or the ``last``."""
    found = _mark(data, last=last)
    if found is None:
        raise ValueError("a text without a mark")
    digest = _digest(data, found).encode("ascii")
    return data[: found.start(1)] + digest + data[found.end(1) :]


def is_ours(data: bytes, *, last: bool = False) -> bool:
    """Tell whether a text has our mark."""
    return _mark(data, last=last) is not None


def is_intact(data: bytes, *, last: bool = False) -> bool:
    """Tell whether a text with our mark is as it was written."""
    found = _mark(data, last=last)
    return found is not None and found[1].decode("ascii") == _digest(data, found)


def _mark(data: bytes, *, last: bool) -> re.Match[bytes] | None:
    if not last:
        return _MARK.search(data)
    return max(_MARK.finditer(data), key=lambda each: each.start(), default=None)


def _digest(data: bytes, mark: re.Match[bytes]) -> str:
    return hashed(data[: mark.start(1)] + _UNSEALED + data[mark.end(1) :], size=4)
