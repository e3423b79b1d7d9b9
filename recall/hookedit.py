"""What to write into a host's settings, and what to take out of them; pure.

The hook stands in a group of its own at the end of an event's list, so that the places of others,
by which hosts remember what was trusted, stay what they are.
"""

from __future__ import annotations

from contextlib import suppress

from recall.hookcommand import understood
from recall.jsonedit import Document, Number, Unsafe, created, inserted, removed, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recall.hookcommand import Call
    from recall.jsonedit import Path

    Group = Callable[[str], dict[str, object]]

_HOOKS = "hooks"
_OURS_ALONE = {_HOOKS, "matcher"}
_WRITTEN = {"name", "type", "command", "timeout"}
_GROUP_DEPTH = len((_HOOKS, "event", 0, _HOOKS))


class Misshapen(Exception):
    """The settings are JSON, but hooks in them are not what hosts read; at ``position``."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class Found:
    """One call of the hook: at which event and at which place in its list.

    ``runs`` tells whether hosts run it: they run what has the type ``command``, and nothing else.
    """

    __slots__ = ("call", "command", "event", "group", "handler", "matcher", "runs", "timeout")

    def __init__(self, event: str, place: tuple[int, int], call: Call, fields: object) -> None:
        self.event = event
        self.group, self.handler = place
        self.call = call
        self.command = _text(fields, "command") or ""
        self.timeout = fields.get("timeout") if isinstance(fields, dict) else None
        self.matcher: str | None = None
        self.runs = _text(fields, "type") == "command"

    @property
    def path(self) -> Path:
        """Return the steps to it from the top of the settings."""
        return (_HOOKS, self.event, self.group, _HOOKS, self.handler)


def check(document: Document, events: Sequence[str]) -> None:
    """Raise Misshapen if there is no place for hooks of these events."""
    if document.is_empty:
        return
    if not isinstance(document.value, dict):
        raise Misshapen("the settings are no object", document.start)
    if _HOOKS not in document.value:
        return
    hooks = document.value[_HOOKS]
    if not isinstance(hooks, dict):
        raise Misshapen('"hooks" is no object', document.element((_HOOKS,)).first)
    for event in events:
        if event in hooks and not isinstance(hooks[event], list):
            place = document.element((_HOOKS, event)).first
            raise Misshapen(f'"{event}" is no list of hooks', place)


def found(document: Document) -> list[Found]:
    """Return all calls of the hook, whoever wrote them and at whatever event."""
    return [each for each in named(document) if each.runs]


def named(document: Document) -> list[Found]:
    """Return all hooks that have the hook's command, those among them that no host runs too."""
    hooks = document.value.get(_HOOKS) if isinstance(document.value, dict) else None
    calls: list[Found] = []
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            handlers = group.get(_HOOKS) if isinstance(group, dict) else None
            for place, handler in enumerate(handlers if isinstance(handlers, list) else ()):
                call = understood(_text(handler, "command"))
                if call is not None:
                    each = Found(event, (number, place), call, handler)
                    each.matcher = _text(group, "matcher")
                    calls.append(each)
    return calls


def with_hook(text: str, events: Sequence[str], group: Group, command: str, least: float) -> str:
    """Return the settings with the hook at each of ``events``, called by ``command``.

    ``group`` makes what stands in an event's list; ``least`` is the shortest timeout that will do,
    in the host's unit. What calls the hook already stays where it is, an older form of ours with
    the new command in it and, where nobody else wrote anything into its group, without a timeout
    that is too short. Raises Unsafe, Broken.
    """
    document = Document(text)
    missing = [event for event in events if event not in {each.event for each in found(document)}]
    new = {event: [group(command)] for event in missing}
    if document.is_empty:
        return created(document, {_HOOKS: new})
    if _HOOKS not in _members(document, ()):
        return inserted(document, (), _HOOKS, new)
    for event in missing:
        document = Document(text)
        if event in _members(document, (_HOOKS,)):
            text = inserted(document, (_HOOKS, event), None, group(command))
        else:
            text = inserted(document, (_HOOKS,), event, [group(command)])
    return _renewed(text, events, group, command, least)


def _renewed(text: str, events: Sequence[str], group: Group, command: str, least: float) -> str:
    """Put ``command`` in the place of older forms; where there are two at one event, keep one."""
    for event in events:
        exact = [each for each in found(Document(text)) if each.event == event and each.call.exact]
        for spare in reversed(exact[1:]):
            text = _without(Document(text), spare, None)
        if exact and exact[0].command != command:
            text = replaced(Document(text), (*exact[0].path, "command"), command)
        if exact and is_mended(Document(text), exact[0], least):
            text = replaced(Document(text), (*exact[0].path, "timeout"), _timeout_of(group))
    return text


def place_of(document: Document, path: Path) -> int:
    """Return where the value at ``path`` begins, or as much of the path as is there."""
    while path:
        try:
            document.at(path)
        except (KeyError, IndexError, TypeError):
            path = path[:-1]
        else:
            return document.element(path).first
    return document.start


def _timeout_of(group: Group) -> int:
    handlers = group("")[_HOOKS]
    value = handlers[0]["timeout"] if isinstance(handlers, list) else 0
    return int(value)


def is_hasty(each: Found, least: float) -> bool:
    """Tell whether its timeout is shorter than ``least``, in the host's unit, or no number."""
    if each.timeout is None:
        return False  # then hosts take one of their own, which is longer than ours
    return not isinstance(each.timeout, Number) or float(each.timeout) < least


def is_mended(document: Document, each: Found, least: float) -> bool:
    """Tell whether an install puts its timeout right: too short, and all around it is ours."""
    return each.call.exact and is_hasty(each, least) and _is_as_installed(document, each)


def _is_as_installed(document: Document, each: Found) -> bool:
    """Tell whether it stands in a group as an install writes one: then nobody else's is in it."""
    group = document.at(each.path[:3])
    handler = document.at(each.path)
    return (
        isinstance(group, dict)
        and isinstance(handler, dict)
        and group.keys() == {_HOOKS}
        and group[_HOOKS] == [handler]
        and handler.keys() <= _WRITTEN
    )


def without_hook(text: str, before: Document | None = None) -> str:
    """Return the settings without any call of the hook that is in a form of ours.

    What has become empty goes too, unless it was there in ``before``, the settings as they were
    when the hook was installed; and the comments between the braces of what goes, which are about
    it. Raises Unsafe, Broken.
    """
    while True:
        document = Document(text)
        exact = [each for each in found(document) if each.call.exact]
        if not exact:
            return text
        text = _without(document, exact[-1], before)


def _without(document: Document, each: Found, before: Document | None) -> str:
    path: list[str | int] = list(each.path)
    paths = [list(path)]
    while len(path) > 1:
        above = document.at(path[:-1])
        if not isinstance(above, (dict, list)) or not _is_gone(path, above):
            break
        if _kept(before, path[:-1]) is not None:
            break
        path.pop()
        # A group goes as a whole or keeps its "hooks", for hosts refuse one without.
        if len(path) != _GROUP_DEPTH:
            paths.append(list(path))
    # As much as is empty then; less of it where a comment that somebody wrote stands in it.
    while len(paths) > 1:
        highest = paths.pop()
        with suppress(Unsafe):
            return removed(document, highest, _kept(before, highest[:-1]), each.path)
    return removed(document, paths[0], _kept(before, paths[0][:-1]), each.path)


def _is_gone(path: list[str | int], above: dict[str, object] | list[object]) -> bool:
    """Tell whether nothing would be left above what is taken out."""
    if len(path) == _GROUP_DEPTH:
        return isinstance(above, dict) and above.keys() <= _OURS_ALONE
    return len(above) == 1


def _kept(before: Document | None, path: list[str | int]) -> str | None:
    """Return what stood between the brackets at ``path``, None for none or not empty."""
    if before is None or before.is_empty:
        return None
    try:
        value = before.at(path)
    except (KeyError, IndexError, TypeError):
        return None
    if value not in ({}, []):
        return None
    element = before.element(path)
    return before.text[element.start + 1 : element.end - 1]


def _members(document: Document, path: Path) -> dict[str, object]:
    value = document.at(path)
    return value if isinstance(value, dict) else {}


def _text(fields: object, name: str) -> str | None:
    value = fields.get(name) if isinstance(fields, dict) else None
    return value if isinstance(value, str) else None
