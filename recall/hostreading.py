"""Whether a host reads a settings file as it stands, and runs what is in it; pure.

We take comments and trailing commas as people write them. Not every host does, and one that does
not tells nobody: it goes on without the file, or does not start. Nor does it tell of hooks that are
switched off, or that can't run as they are written.
"""

from __future__ import annotations

from recall.hookedit import found as calls_in
from recall.hookedit import is_hasty, is_mended
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
_EDIT = "in an editor; recall leaves it as it is"


class Complaint:
    """What is wrong in ``line`` (from 1) of a host's settings, and what to do about it."""

    __slots__ = ("hint", "line", "message")

    def __init__(self, message: str, line: int, hint: str) -> None:
        self.message = message
        self.line = line
        self.hint = hint


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
    running = {each.event for each in calls if runs(host, each)}
    told: list[Complaint] = []
    for each in calls:
        if not each.runs:
            faults = [_of_type(host, document, each, running)]
        elif each.event not in host.events:
            faults = [_of_event(host, each)]
        else:
            faults = [*_of_matcher(host, each), *_of_timeout(host, document, each)]
        for key, what, hint in faults:
            path = _existing(document, each, key)
            line = line_of(document.text, document.element(path).first)
            told.append(Complaint(what, line, hint))
    return told


def runs(host: HostFiles, each: Found) -> bool:
    """Return whether the host runs a call, at an event that the hook answers."""
    return each.runs and each.event in host.events


# Each fault of a call: the key that it lies in, "" for the call itself, what it is, what to do.
_Fault = tuple[str, str, str]


def _of_type(host: HostFiles, document: Document, each: Found, running: set[str]) -> _Fault:
    fields = document.at(each.path)
    kind = fields.get("type") if isinstance(fields, dict) else None
    why = f'it is of type "{kind}", not "command"' if isinstance(kind, str) else "it has no type"
    is_wanted = each.event in host.events and each.event not in running
    hint = 'give it "type": "command"' if is_wanted else "take it out if it is not wanted"
    what = f"an entry with the hook's command at {each.event} is not run: {why}"
    return "type", what, f"{hint}, {_EDIT}"


def _of_event(host: HostFiles, each: Found) -> _Fault:
    known = " and ".join(host.events)
    what = f"the hook is called at {each.event}, and answers at {known} alone"
    if each.call.exact:
        return "", what, "take it out there, in an editor; recall hook uninstall takes it out too"
    return "", what, f"take it out there, {_EDIT}"


def _of_timeout(host: HostFiles, document: Document, each: Found) -> list[_Fault]:
    if not is_hasty(each, host.least_timeout):
        return []
    what = (
        f"the timeout of the hook at {each.event} is {timeout_words(host, each)}, with which it may"
        " be ended before it answers"
    )
    if is_mended(document, each, host.least_timeout):
        hint = f"install the hook again: that makes it {host.timeout} {host.unit}"
    else:
        hint = f"make it {host.timeout} ({host.unit}), {_EDIT}"
    return [("timeout", what, hint)]


def timeout_words(host: HostFiles, each: Found) -> str:
    """Return the timeout of a call that has one, for people."""
    return f"{each.timeout} {host.unit}" if isinstance(each.timeout, Number) else "no number"


def _of_matcher(host: HostFiles, each: Found) -> list[_Fault]:
    if each.matcher in (None, "", "*"):
        return []
    said, hint = f'the matcher "{each.matcher}" at {each.event}', f"take the matcher out, {_EDIT}"
    if each.event != SESSION_START:
        # None of the hosts of today looks at it there, but the person meant something by it.
        return [("matcher", f"{said} has nothing to match: the hook may run always or never", hint)]
    sources = _SOURCES[:-1] if host.name == GEMINI else _SOURCES  # which does not tell of that
    missed = [source for source in sources if not _matches(host, str(each.matcher), source)]
    if not missed:
        return []
    at = "" if len(missed) == len(sources) else f" at {', '.join(missed)}"
    return [("matcher", f"{said} keeps the hook from running{at}", hint)]


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


def _existing(document: Document, each: Found, key: str) -> Path:
    """Return the path of a key of a call, or of its group; of the entry itself without it."""
    for path in ((*each.path, key), (*each.path[:3], key)):
        try:
            document.at(path)
        except (KeyError, IndexError, TypeError):
            continue
        return path
    return each.path
