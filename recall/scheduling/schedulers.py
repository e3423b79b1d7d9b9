"""What can start the job on this machine: cron, systemd, launchd; putting it there, looking at it.

Who has what is asked of the machine's own programs. All that changes anything is done under a lock
on the home directory, so that two installs leave one job.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager, suppress

from index_cache.errors import InvalidInput, RecallError, RootUnavailable, WriteRefused
from recall import dirs
from recall.notice import Notice, shell_quoted
from recall.replace import locked
from recall.scheduling import crontab, job, jobfiles, programs
from recall.scheduling.crontabs import Crontab
from recall.scheduling.job import CRON, LABEL, LAUNCHD, SERVICE, SYSTEMD, TIMER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recall.scheduling.job import Job

    Environ = Mapping[str, str]

PROGRAMS = {CRON: "crontab", SYSTEMD: "systemctl", LAUNCHD: "launchctl"}
INSTALLED, UPDATED, ALREADY = "installed", "updated", "already installed"
REMOVED, ABSENT = "removed", "not installed"
YOUR_CRONTAB = "your crontab"
_TO_START = [["daemon-reload"], ["enable", "--now", TIMER]]


class Change:
    """What was done, or would be: ``edits`` have a name and the bytes before and after.

    ``then`` are commands that are left to the person, ``notices`` what else is to be said.
    """

    __slots__ = ("action", "edits", "kind", "notices", "then")

    def __init__(
        self, kind: str, action: str, edits: list[tuple[str, bytes | None, bytes | None]]
    ) -> None:
        self.kind = kind
        self.action = action
        self.edits = [each for each in edits if each[1] != each[2]]
        self.then: list[str] = []
        self.notices: list[Notice] = []


class Found:
    """What one scheduler has: ``texts`` of ours, and the names of those changed by hand.

    ``program`` is its own, None if the machine lacks it. ``active`` says whether the job is
    started there, None if that can't be told; ``error`` why nothing can.
    """

    __slots__ = ("active", "changed", "error", "kind", "others", "program", "texts", "where")

    def __init__(self, kind: str, program: str | None) -> None:
        self.kind = kind
        self.program = program
        self.where: list[str] = []
        self.texts: list[bytes] = []
        self.changed: list[str] = []
        self.others: list[bytes] = []
        self.active: bool | None = None
        self.error: RecallError | None = None


@contextmanager
def alone(environ: Environ) -> Iterator[None]:
    """Let no other install or removal of this person go on meanwhile.

    Raises RootUnavailable when another process keeps the lock too long.
    """
    home = dirs.home_dir(environ)
    with ExitStack() as stack:
        with suppress(OSError):
            if home is not None:
                stack.enter_context(locked(home))
        yield


def default_kind(environ: Environ, platform: str = sys.platform) -> str:
    """Return which scheduler to use. Raises RootUnavailable where there is none."""
    has = {kind for kind, name in PROGRAMS.items() if programs.find(name, environ)}
    order = [LAUNCHD, CRON] if platform == "darwin" else [CRON, SYSTEMD]
    if SYSTEMD in has and _manager(environ) is not None:
        order.insert(0, SYSTEMD)
    for kind in order:
        if kind in has:
            return kind
    raise RootUnavailable(
        "this machine has neither cron nor systemd nor launchd in PATH",
        hint="install cron, or have whatever starts jobs here run: recall schedule run --quiet",
    )


def _manager(environ: Environ) -> str | None:
    """Return the run-time directory in which the person's own systemd listens, None if it isn't."""
    directory = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return directory if os.path.exists(os.path.join(directory, "systemd", "private")) else None


def paths(kind: str, environ: Environ) -> list[str]:
    """Return the files of a job. Raises InvalidInput without a home."""
    if kind == SYSTEMD:
        above, names = dirs.config_home(environ), [SERVICE, TIMER]
        below = "systemd/user"
    else:
        above, names = dirs.home_dir(environ), [f"{LABEL}.plist"]
        below = "Library/LaunchAgents"
    if above is None:
        raise InvalidInput(
            "there is no place for the job: no home directory can be found",
            hint="set HOME to an absolute path",
        )
    return [os.path.join(above, below, name) for name in names]


def rendered(kind: str, what: Job, environ: Environ) -> dict[str, bytes]:
    """Return the texts of a job, each by the name of its file, or by that of the crontab.

    Raises InvalidInput for a path that can't be written there.
    """
    job.check(what, kind)
    if kind == CRON:
        return {YOUR_CRONTAB: job.cron_line(what) + b"\n"}
    if kind == SYSTEMD:
        texts = job.systemd_units(what)
        return {path: texts[os.path.basename(path)] for path in paths(kind, environ)}
    return {paths(kind, environ)[0]: job.launchd_plist(what)}


def install(
    kind: str, what: Job, environ: Environ, *, force: bool = False, dry_run: bool = False
) -> Change:
    """Have a scheduler start the job, once; with ``dry_run`` only say what would change.

    Raises WriteRefused for what somebody changed by hand, unless ``force`` says that it may go, and
    for files of others; RootUnavailable and InvalidInput for what can't be written.
    """
    texts = rendered(kind, what, environ)
    if kind == CRON:
        return _in_crontab(
            lambda data: crontab.put(data, what), environ, force=force, dry_run=dry_run
        )
    with alone(environ):
        before = jobfiles.read(texts)
        _refuse_changed(jobfiles.changed_by_hand(before), force=force)
        found = any(data is not None for data in before.values())
        action = ALREADY if before == texts else UPDATED if found else INSTALLED
        change = Change(kind, action, [(path, before[path], texts[path]) for path in texts])
        if not dry_run:
            jobfiles.put(before, texts)
            _start(change, environ)
        return change


def remove(kind: str, environ: Environ, *, force: bool = False, dry_run: bool = False) -> Change:
    """Have a scheduler no longer start the job. Raises as ``install`` does."""
    if kind == CRON:
        return _in_crontab(crontab.cut, environ, force=force, dry_run=dry_run)
    with alone(environ):
        before = jobfiles.read(paths(kind, environ))
        _refuse_changed(jobfiles.changed_by_hand(before), force=force)
        found = any(data is not None for data in before.values())
        change = Change(
            kind, REMOVED if found else ABSENT, [(path, before[path], None) for path in before]
        )
        if found and not dry_run:
            _stop(change, list(before), environ)
        return change


def _in_crontab(
    edit: Callable[[bytes | None], bytes | None], environ: Environ, *, force: bool, dry_run: bool
) -> Change:
    table = Crontab(environ)

    def allowed(data: bytes | None) -> bytes | None:
        lines = [each.line for each in crontab.entries(data) if not each.intact]
        _refuse_changed(lines, force=force)
        return edit(data)

    if dry_run:
        before = table.read()
        planned = after = allowed(before)
    else:
        with alone(environ):
            before, after = table.change(allowed)
        planned = edit(before)
    had, has = (bool(crontab.entries(data)) for data in (before, after))
    if has:
        action = ALREADY if before == after else UPDATED if had else INSTALLED
    else:
        action = REMOVED if had else ABSENT
    change = Change(CRON, action, [(YOUR_CRONTAB, before, after)])
    if planned != after:
        change.notices.append(
            Notice("crontab takes no last line without an end; it has one more byte than it had")
        )
    change.notices += [
        Notice(
            f"another line of your crontab does the same work: {os.fsdecode(line)}",
            "one is enough: crontab -e",
        )
        for line in crontab.others(after)
        if has
    ]
    return change


def _refuse_changed(changed: list[str] | list[bytes], *, force: bool) -> None:
    if not changed or force:
        return
    first = changed[0]
    raise WriteRefused(
        "what recall scheduled was changed by hand since, so it stays as it is",
        where=os.fsdecode(first),
        hint="--force does it all the same, and what was changed is lost; nothing was changed yet",
    )


def _start(change: Change, environ: Environ) -> None:
    file = change.edits[0][0] if change.edits else paths(change.kind, environ)[0]
    if change.kind == SYSTEMD:
        again = [["restart", TIMER]] if change.action == UPDATED else []
        commands = [*_TO_START, *again]
        _control(change, [["systemctl", "--user", *each] for each in commands], environ)
        return
    domain = f"gui/{os.getuid()}"
    program = programs.find(PROGRAMS[LAUNCHD], environ)
    if program is not None and change.action != INSTALLED:
        if change.action == ALREADY and _is_active(LAUNCHD, program, environ):
            return
        with suppress(RecallError):  # it need not have been started
            programs.run([program, "bootout", f"{domain}/{LABEL}"], environ)
    _control(change, [["launchctl", "bootstrap", domain, file]], environ)


def starting(kind: str, environ: Environ) -> str:
    """Return the command by which a job whose files are there is started, for a person to type."""
    if kind == SYSTEMD:
        commands = [["systemctl", "--user", *each] for each in _TO_START]
    else:
        file = paths(kind, environ)[0]
        commands = [["launchctl", "bootstrap", f"gui/{os.getuid()}", file]]
    return _typed(commands)


def _typed(commands: list[list[str]]) -> str:
    return " && ".join(" ".join(map(shell_quoted, each)) for each in commands)


def _stop(change: Change, files: list[str], environ: Environ) -> None:
    directory = os.path.dirname(files[0])
    before = {path: data for path, data, _ in change.edits}
    if change.kind == SYSTEMD:
        _control(change, [["systemctl", "--user", "disable", "--now", TIMER]], environ)
        jobfiles.put(before, dict.fromkeys(before))
        wants = os.path.join(directory, "timers.target.wants")
        link = os.path.join(wants, TIMER)
        with suppress(OSError):  # of an enabling that could not be taken back
            if os.path.islink(link):
                os.unlink(link)
        if not change.then:
            _control(change, [["systemctl", "--user", "daemon-reload"]], environ)
        jobfiles.sweep([wants])
        jobfiles.sweep([directory, os.path.dirname(directory)])
        return
    _control(change, [["launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}"]], environ)
    jobfiles.put(before, dict.fromkeys(before))


def _control(change: Change, commands: list[list[str]], environ: Environ) -> None:
    """Run commands of the scheduler's program, or leave them to the person, with the reason."""
    program = programs.find(commands[0][0], environ)
    left = list(commands)
    why = None if program else f"{commands[0][0]} is not in PATH"
    while left and program is not None:
        try:
            done = programs.run([program, *left[0][1:]], _reachable(environ))
        except RootUnavailable as error:
            why = error.message
            break
        if done.status != 0:
            why = done.said or f"{commands[0][0]} ended with {done.status}"
            break
        left.pop(0)
    if why is not None:
        line = _typed(left)
        change.then.append(line)
        change.notices.append(Notice(f"the scheduler was not told: {why}", line))


def _reachable(environ: Environ) -> Environ:
    """Return an environment in which systemctl finds the person's own systemd, if it runs."""
    directory = None if environ.get("XDG_RUNTIME_DIR") else _manager(environ)
    return environ if directory is None else {**environ, "XDG_RUNTIME_DIR": directory}


def look(kind: str, environ: Environ, *, ask: bool = True) -> Found:
    """Return what a scheduler has of ours. Raises nothing: what can't be told is its ``error``.

    Without ``ask`` no scheduler is run to tell whether files count; ``crontab`` is in any case, as
    there is no other way to read one.
    """
    found = Found(kind, programs.find(PROGRAMS[kind], environ))
    try:
        if kind == CRON:
            _read_crontab(found, environ)
        else:
            _read_files(found, environ)
    except RecallError as error:
        found.error = error
    if ask and kind != CRON:
        _ask(found, environ)
    return found


def _read_crontab(found: Found, environ: Environ) -> None:
    """Note what a crontab has of ours. Raises RootUnavailable where it can't be read."""
    if found.program is None:
        return
    data = Crontab(environ).read()
    ours = crontab.entries(data)
    found.where = [YOUR_CRONTAB] if ours else []
    found.texts = [each.line for each in ours]
    found.changed = [os.fsdecode(each.line) for each in ours if not each.intact]
    found.active = any(each.active for each in ours) if ours else None
    found.others = crontab.others(data)


def _read_files(found: Found, environ: Environ) -> None:
    """Note what is there of ours; raise what is wrong with the first file that is not."""
    there: dict[str, bytes | None] = {}
    wrong: RecallError | None = None
    for path in paths(found.kind, environ):
        try:
            there |= jobfiles.read([path])
        except RecallError as error:
            wrong = wrong or error
    found.where = [path for path, data in there.items() if data is not None]
    found.texts = [data for data in there.values() if data is not None]
    found.changed = jobfiles.changed_by_hand(there)
    if wrong is not None:
        raise wrong


def _ask(found: Found, environ: Environ) -> None:
    if found.where and found.program is not None:
        found.active = _is_active(found.kind, found.program, environ)


def _is_active(kind: str, program: str, environ: Environ) -> bool | None:
    try:
        if kind == LAUNCHD:
            done = programs.run([program, "print", f"gui/{os.getuid()}/{LABEL}"], environ)
            return done.status == 0
        done = programs.run([program, "--user", "is-active", TIMER], _reachable(environ))
    except RootUnavailable:
        return None
    said = done.out.strip()
    return said == b"active" if said else None
