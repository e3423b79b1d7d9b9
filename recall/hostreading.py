"""Whether a host reads a settings file as it stands, and runs what is in it; pure.

We take comments and trailing commas as people write them. Not every host does, and one that does
not tells nobody: it goes on without the file, or does not start. Nor does it tell of hooks that are
switched off, or that can't run as they are written.
"""

from __future__ import annotations

from recall.hookedit import found as calls_in
from recall.hosts import CLAUDE, GEMINI, SESSION_START
from recall.jsonedit import Number, line_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recall.hookedit import Found
    from recall.hostfiles import HostFiles
    from recall.jsonedit import Document, Path

COMMENT, COMMA, MARK, EMPTY = "comment", "comma", "mark", "empty"

# The key by which all hooks of a host are switched off, and the value that does it; newest first.
_SWITCHES: dict[str, tuple[tuple[Path, bool], ...]] = {
    CLAUDE: ((("disableAllHooks",), True),),
    GEMINI: ((("hooksConfig", "enabled"), False), (("hooks", "enabled"), False)),
}
_NAMED_OFF = (("hooksConfig", "disabled"), ("hooks", "disabled"))  # lists of hooks, in Gemini CLI
_OUR_NAME = "recall"
_SOURCES = ("startup", "resume", "clear", "compact")  # by which sessions start
_MAX_MATCHER = 200  # characters; what is longer is not looked at
_USUAL_TIMEOUT = 15  # seconds, what is installed
LEAST_TIMEOUT = 2  # seconds; the hook's own deadline and the start of its interpreter, with room
_EDIT = "in an editor; recall leaves it as it is"


class Complaint:
    """What a host minds in ``line`` (from 1) of its settings, and what to do about it."""

    __slots__ = ("hint", "line", "message")

    def __init__(self, message: str, line: int, hint: str) -> None:
        self.message = message
        self.line = line
        self.hint = hint


def complaints(host: HostFiles, document: Document, *, mark: bool) -> list[Complaint]:
    """Return what keeps the hooks in settings of ``host`` from running, all of them alike.

    ``mark`` says that the file begins with a byte order mark.
    """
    off = switched_off(host, document)
    return [*unread(host, document, mark=mark), *([] if off is None else [off])]


def unread(host: HostFiles, document: Document, *, mark: bool) -> list[Complaint]:
    """Return what ``host`` minds in its settings, so that it does not read them at all."""
    found: list[tuple[str, int, str]] = []
    text = document.text
    if mark and MARK in host.minds:
        found.append(("a byte order mark", 1, "save it as UTF-8 without one"))
    if document.is_empty and EMPTY in host.minds:
        found.append(("nothing but blanks and comments", 1, "write {} into it, or delete it"))
    if document.comments and COMMENT in host.minds:
        line = line_of(text, min(document.comments)[0])
        found.append((_all("a comment", len(document.comments)), line, "take comments out"))
    if document.trailing and COMMA in host.minds:
        line = line_of(text, min(document.trailing))
        what = _all("a comma behind the last element", len(document.trailing))
        found.append((what, line, "take such commas out"))
    members = document.value if isinstance(document.value, dict) else {}
    for key in members if host.keys is not None else ():
        if key not in (host.keys or ()):
            line = line_of(text, document.element((key,)).first)
            known = " and ".join(f'"{each}"' for each in host.keys or ())
            found.append((f'the key "{key}"', line, f"leave only {known} at the top"))
    return [
        Complaint(
            f"{host.title} {host.then}: it has {what} in line {line}",
            line,
            f"{hint}, {_EDIT}",
        )
        for what, line, hint in found
    ]


def _all(what: str, count: int) -> str:
    return what if count == 1 else f"{what} (one of {count:,})"


def switch(host: HostFiles, document: Document) -> tuple[bool, Path] | None:
    """Return whether a file lets hooks run at all, and the key that says so; None for none."""
    for path, off in _SWITCHES.get(host.name, ()):
        value = _at(document, path)
        if isinstance(value, bool):
            return value is not off, path
    return None


def switched_off(
    host: HostFiles, document: Document, commands: Iterable[str] | None = None
) -> Complaint | None:
    """Return what switches the hook off in this one file of ``host``, None if nothing does.

    ``commands`` are those that are meant, by default the calls of the hook in this file. What
    another of the host's files says is not looked at.
    """
    said = switch(host, document)
    if said is not None and not said[0]:
        value = "true" if _at(document, said[1]) else "false"
        return _off(host, document, said[1], f"is {value}", "change that")
    return named_off(host, document, commands)


def named_off(
    host: HostFiles, document: Document, commands: Iterable[str] | None = None
) -> Complaint | None:
    """Return what switches off the hook by its name, as ``switched_off`` does."""
    if commands is None:
        commands = [each.command for each in calls_in(document)]
    names = {_OUR_NAME, *commands}
    for path in _NAMED_OFF if host.name == GEMINI else ():
        value = _at(document, path)
        for name in value if isinstance(value, list) else ():
            if isinstance(name, str) and name in names:
                return _off(host, document, path, "has its name", "take it out there")
    return None


def _off(host: HostFiles, document: Document, path: Path, what: str, hint: str) -> Complaint:
    line = line_of(document.text, document.element(path).first)
    key = ".".join(map(str, path))
    message = f'{host.title} does not run the hook: "{key}" {what} in line {line}'
    return Complaint(message, line, f"{hint}, {_EDIT}")


def _at(document: Document, path: Path) -> object:
    value: object = document.value
    for step in path:
        value = value.get(str(step)) if isinstance(value, dict) else None
    return value


def idle(host: HostFiles, document: Document, calls: Sequence[Found]) -> list[Complaint]:
    """Return what keeps single calls of the hook from running, or from being of any use."""
    told: list[Complaint] = []
    for each in calls:
        for key, what, hint in _idle(host, document, each):
            path = _existing(document, each, key)
            line = line_of(document.text, document.element(path).first)
            told.append(Complaint(what, line, f"{hint}, {_EDIT}"))
    return told


def runs(host: HostFiles, each: Found) -> bool:
    """Return whether the host runs a call, at an event that the hook answers."""
    return each.runs and each.event in host.events


def _idle(host: HostFiles, document: Document, each: Found) -> list[tuple[str, str, str]]:
    """Return for each fault of a call the key that it lies in, what it is, and what to do."""
    at = f"at {each.event}"
    if each.event not in host.events:
        known = " and ".join(host.events)
        return [("", f"the hook is called {at}, and answers at {known} alone", "take it out there")]
    if not each.runs:
        fields = document.at(each.path)
        kind = fields.get("type") if isinstance(fields, dict) else None
        what = f'is of type "{kind}"' if isinstance(kind, str) else "has no type"
        what = f'the hook is not run {at}: its entry {what}, not "command"'
        return [("type", what, 'give it "type": "command"')]
    faults = []
    if each.matcher not in (None, "", "*"):
        faults += _of_matcher(host, each, str(each.matcher))
    if each.timeout is not None:
        seconds = _seconds(host, each.timeout)
        if seconds is None or seconds < LEAST_TIMEOUT:
            unit = "ms" if host.per_second > 1 else "s"
            what = "no number" if seconds is None else f"{each.timeout} {unit}"
            what = f"the timeout of the hook {at} is {what}, which may end it before it answers"
            faults.append(("timeout", what, f"give it {_USUAL_TIMEOUT * host.per_second} ({unit})"))
    return faults


def _of_matcher(host: HostFiles, each: Found, matcher: str) -> list[tuple[str, str, str]]:
    said, hint = f'the matcher "{matcher}" at {each.event}', "take the matcher out"
    if each.event != SESSION_START:
        # None of the hosts of today looks at it there, but the person meant something by it.
        return [("matcher", f"{said} has nothing to match: the hook may run always or never", hint)]
    sources = _SOURCES[:-1] if host.name == GEMINI else _SOURCES  # which does not tell of that
    missed = [source for source in sources if not _matches(host, matcher, source)]
    if not missed:
        return []
    if len(missed) == len(sources):
        return [("matcher", f"{said} keeps the hook from running", hint)]
    return [("matcher", f"{said} keeps the hook from running at {', '.join(missed)}", hint)]


def _matches(host: HostFiles, matcher: str, source: str) -> bool:
    if host.name == GEMINI:
        return matcher.strip() in ("", "*", source)
    import re
    import warnings

    if len(matcher) > _MAX_MATCHER:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.search(matcher, source) is not None
    except (re.error, OverflowError, RecursionError):
        return False


def _seconds(host: HostFiles, timeout: object) -> float | None:
    try:
        return float(timeout) / host.per_second if isinstance(timeout, Number) else None
    except ValueError:
        return None


def _existing(document: Document, each: Found, key: str) -> Path:
    """Return the path of a key of a call, or of its group; of the entry itself without it."""
    for path in ((*each.path, key), (*each.path[:3], key)):
        try:
            document.at(path)
        except (KeyError, IndexError, TypeError):
            continue
        return path
    return each.path
