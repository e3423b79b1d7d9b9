"""Putting the prompt hook into a host's settings file, and taking it out again.

Nothing else in the file changes, and it is written as a whole or not at all. What was there before
is kept in the state directory (``recall.installed``); a file that is as it was left is put back to
the byte, another one loses what was added and nothing else. See ``spec/install.md``.
"""

from __future__ import annotations

import os
from contextlib import suppress

from index_cache.errors import ConfigInvalid, RecallError, RootUnavailable, WriteRefused
from recall import hookedit, installed
from recall.files import Unreadable, read_small
from recall.jsonedit import Broken, Document, Unsafe
from recall.project import is_inside
from recall.writes import refuse_foreign, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from recall.hookedit import Found
    from recall.hostfiles import Place

MAX_BYTES = 1024 * 1024  # of a settings file
MAX_CALLS = 64  # of the hook; each that is taken out has the whole file checked
_BOM = b"\xef\xbb\xbf"
_UNTOUCHED = "nothing was changed"
INSTALLED, UPDATED, ALREADY = "installed", "updated", "already installed"
REMOVED, RESTORED, DELETED, ABSENT = "removed", "restored", "deleted", "not installed"


class Settings:
    """A settings file as it was read: ``target`` is its real path, ``data`` None if there is none.

    ``found`` are the calls of the hook in it.
    """

    __slots__ = ("bom", "data", "document", "found", "place", "target")

    def __init__(self, place: Place, target: str, data: bytes | None) -> None:
        self.place = place
        self.target = target
        self.data = data
        content = data or b""
        self.bom = _BOM if content.startswith(_BOM) else b""
        self.document = Document(content[len(self.bom) :].decode("utf-8"))
        self.found: list[Found] = hookedit.found(self.document)


class Change:
    """What an edit does to a settings file, done or not: ``after`` is None for no file.

    ``action`` is one of this module's words; ``left`` are calls of the hook that somebody wrote in
    a form of their own, which stay.
    """

    __slots__ = ("action", "after", "left", "settings")

    def __init__(
        self, settings: Settings, action: str, after: bytes | None, left: list[Found]
    ) -> None:
        self.settings = settings
        self.action = action
        self.after = after
        self.left = left

    @property
    def changed(self) -> bool:
        """Return whether there is anything to write."""
        return self.after != self.settings.data


def read(place: Place) -> Settings:
    """Read the settings file at ``place`` and check that the hook has a place in it.

    Raises ConfigInvalid with line and column for a file that is not what its host reads,
    WriteRefused for one that is not the person's.
    """
    file = place.file
    target = os.path.realpath(file)
    if place.inside is not None and not is_inside(target, os.path.realpath(place.inside)):
        raise WriteRefused(
            f"the settings file is a link that leads out of the project: {target}",
            where=file,
            hint="install it for yourself (--scope user), or edit that file",
        )
    try:
        data: bytes | None = read_small(target, MAX_BYTES)
    except FileNotFoundError:
        _refuse_dangling(file)
        data = None
    except Unreadable as reason:
        raise _unusable(file, str(reason)) from reason
    _refuse_foreign(file, target)
    try:
        settings = Settings(place, target, data)
        hookedit.check(settings.document, place.host.events)
    except UnicodeDecodeError as error:
        raise _unusable(file, "it is not UTF-8") from error
    except Broken as broken:
        raise _wrong(file, broken) from broken
    except hookedit.Misshapen as error:
        text = (data or b"").removeprefix(_BOM).decode("utf-8")
        raise _wrong(file, Broken(error.message, text, error.position)) from error
    return settings


def install(place: Place, command: str, state_dir: str, *, dry_run: bool = False) -> Change:
    """Have the host call ``command`` at its events; with ``dry_run`` only say what would change.

    Raises what ``read`` and ``unwritten`` do, and RootUnavailable when the file changes meanwhile.
    """
    settings = read(place)  # what is refused leaves nothing in the state directory
    change = _installation(settings, command)
    if change.changed:
        refuse_foreign(settings.target)
        refuse_foreign(installed.path_of(state_dir, settings.target))
    if dry_run:
        return change
    with installed.alone(state_dir, settings.target) as is_alone:
        change = _installation(read(place), command)
        if change.changed and change.after is not None:
            _put(change.settings, change.after, state_dir)
        if is_alone:
            _sweep_records(state_dir, settings.target)
        return change


def _installation(settings: Settings, command: str) -> Change:
    host = settings.place.host
    before = settings.document.text
    least = host.least_timeout
    after = _edited(
        settings, lambda: hookedit.with_hook(before, host.events, host.group, command, least)
    )
    left = [each for each in settings.found if not each.call.exact and each.event in host.events]
    if after == before and settings.data is not None:
        return Change(settings, ALREADY, settings.data, left)
    ours = any(each.call.exact and each.event in host.events for each in settings.found)
    data = settings.bom + after.encode("utf-8")
    if len(data) > MAX_BYTES:  # then it could not be read again, to take the hook out
        raise ConfigInvalid(
            f"the settings file would be larger than {MAX_BYTES} bytes",
            where=settings.place.file,
            hint=f"make it smaller in an editor; {_UNTOUCHED}",
        )
    return Change(settings, UPDATED if ours else INSTALLED, data, left)


def _put(settings: Settings, data: bytes, state_dir: str) -> None:
    """Write the file, with a record of what was there; without the file there is no new record."""
    old = installed.read(state_dir, settings.target)
    record = _record(settings, old, data)
    try:
        installed.keep(state_dir, settings.target, record)
    except OSError as error:
        where = installed.path_of(state_dir, settings.target)
        what = "that there were no settings" if settings.data is None else "what was there before"
        raise unwritten(f"{what} can't be kept", where, error) from error
    try:
        _write(settings, data)
    except BaseException:
        with suppress(RecallError, OSError):
            if _now(settings) != data:  # interrupted when it was done, it counts
                _take_back(settings, record, old, state_dir)
        raise


def _take_back(
    settings: Settings, record: installed.Record, old: installed.Record | None, state_dir: str
) -> None:
    if settings.data is None:
        _remove_made(record)
    if old is None:
        installed.forget(state_dir, settings.target)
    else:
        installed.keep(state_dir, settings.target, old)


def uninstall(place: Place, state_dir: str, *, dry_run: bool = False) -> Change:
    """Have the host no longer call the hook; with ``dry_run`` only say what would change.

    Raises as ``install`` does.
    """
    settings = read(place)
    change = _removal(settings, installed.read(state_dir, settings.target))
    if dry_run or not (change.changed or installed.has_any(state_dir)):
        return change
    with installed.alone(state_dir, settings.target) as is_alone:
        settings = read(place)
        record = installed.read(state_dir, settings.target)
        change = _removal(settings, record)
        if change.action == DELETED:
            _delete(settings)
        elif change.changed and change.after is not None:
            _write(settings, change.after)
        if settings.data is None or change.action == DELETED:
            _remove_made(record)
        installed.forget(state_dir, settings.target)
        if is_alone:
            _sweep_records(state_dir, settings.target)
    return change


def _sweep_records(state_dir: str, target: str) -> None:
    """Delete the records of other files than ``target`` that nothing can be put back for.

    A file that was moved, became a link or lost the hook by another hand is no longer the one that
    its record, which may hold secrets, was kept for.
    """
    for file, record in installed.every(state_dir):
        if file == target or _may_be_ours(file):
            continue
        if not os.path.lexists(file):
            _remove_made(record)
        installed.forget(state_dir, file)


def _may_be_ours(file: str) -> bool:
    """Tell whether the hook is in a settings file, or nobody can say now that it is not."""
    if os.path.realpath(file) != file:
        return False
    try:
        text = read_small(file, MAX_BYTES).removeprefix(_BOM).decode("utf-8")
        return any(each.call.exact for each in hookedit.found(Document(text)))
    except FileNotFoundError:
        return False
    except (Unreadable, Broken, UnicodeDecodeError):
        return True


def _removal(settings: Settings, record: installed.Record | None) -> Change:
    data = settings.data
    left = [each for each in settings.found if not each.call.exact]
    if data is None or not any(each.call.exact for each in settings.found):
        return Change(settings, ABSENT, data, left)
    before = None
    if record is not None:
        as_left = record.wrote == installed.digest(data)
        if record.before is None and as_left:
            return Change(settings, DELETED, None, [])
        before = _parsed(record.before)
        if as_left and before is not None and not hookedit.found(before):
            return Change(settings, RESTORED, record.before, [])
    text = settings.document.text
    after = _edited(settings, lambda: hookedit.without_hook(text, before))
    if record is not None and record.before is None and after.strip() == "{}":
        return Change(settings, DELETED, None, [])
    return Change(settings, REMOVED, settings.bom + after.encode("utf-8"), left)


def _record(settings: Settings, old: installed.Record | None, data: bytes) -> installed.Record:
    """Return what to keep: what was there before the first install of ours, if that is known."""
    wrote = installed.digest(data)
    if old is not None and settings.data is not None and settings.found:
        as_left = old.wrote == installed.digest(settings.data)
        # Edited since: then nothing may be put back whole, but what was empty is still known.
        return installed.Record(old.before, wrote if as_left else "", old.made)
    made: list[str] = []
    if old is not None and old.before is None and settings.data is None:
        made += old.made  # by an install that was killed before it wrote the file
    directory = os.path.dirname(settings.target)
    missing: list[str] = []
    while not os.path.lexists(directory):
        missing.insert(0, directory)
        directory = os.path.dirname(directory)
    made += [each for each in missing if each not in made]
    return installed.Record(settings.data, wrote, made)


def _parsed(data: bytes | None) -> Document | None:
    try:
        return None if data is None else Document(data.removeprefix(_BOM).decode("utf-8"))
    except (Broken, UnicodeDecodeError):
        return None


def _edited(settings: Settings, edit: Callable[[], str]) -> str:
    calls = sum(each.call.exact for each in settings.found)
    if calls > MAX_CALLS:
        raise ConfigInvalid(
            f"the hook is called {calls} times there, more than {MAX_CALLS}",
            where=settings.place.file,
            hint=f"take most of them out in an editor; {_UNTOUCHED}",
        )
    try:
        return edit()
    except (Unsafe, Broken) as error:
        path = error.path if isinstance(error, Unsafe) else ()
        at = Broken("", settings.document.text, hookedit.place_of(settings.document, path))
        raise ConfigInvalid(
            "the settings are written in a way that can't be edited without touching other entries",
            where=f"{settings.place.file}:{at.line}:{at.column}",
            hint=f"edit what stands there by hand; {_UNTOUCHED}",
        ) from error


def _write(settings: Settings, data: bytes) -> None:
    from recall.replace import locked, replace

    directory = os.path.dirname(settings.target)
    try:
        os.makedirs(directory, exist_ok=True)
        with locked(directory):
            _refuse_moved(settings)
            # A host takes no lock: a write of its own is seen if it comes before the last look.
            replace(settings.target, data, last_look=lambda: _refuse_moved(settings))
    except OSError as error:
        raise unwritten("the settings can't be written", settings.place.file, error) from error


def _delete(settings: Settings) -> None:
    from recall.replace import locked

    try:
        with locked(os.path.dirname(settings.target)):
            _refuse_moved(settings)
            os.unlink(settings.target)
    except OSError as error:
        raise unwritten("the settings can't be deleted", settings.place.file, error) from error


def _remove_made(record: installed.Record | None) -> None:
    """Remove the directories that were made for the file, as long as nothing else is in them."""
    for directory in reversed(record.made if record is not None else []):
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            continue  # not yet made when something failed
        except OSError:
            return


def _refuse_moved(settings: Settings) -> None:
    """Raise RootUnavailable if somebody has written the file since it was read."""
    if _now(settings) != settings.data:
        raise RootUnavailable(
            "the settings were changed by somebody else at the same time",
            where=settings.place.file,
            hint=f"run it again; {_UNTOUCHED}",
        )


def _now(settings: Settings) -> bytes | None:
    try:
        return read_small(settings.target, MAX_BYTES)
    except FileNotFoundError:
        return None
    except Unreadable as reason:
        raise _unusable(settings.place.file, str(reason)) from reason


def _refuse_foreign(file: str, target: str) -> None:
    try:
        owner = os.stat(target).st_uid
    except OSError:
        return
    if owner != os.geteuid():
        raise WriteRefused(
            "the settings file belongs to somebody else",
            where=file,
            hint=f"run it as the person whose settings they are; {_UNTOUCHED}",
        )


def _refuse_dangling(file: str) -> None:
    """Raise ConfigInvalid if a link on the way leads to nothing, which nobody asked us to make."""
    path = file
    while path != os.path.dirname(path):
        if os.path.islink(path) and not os.path.exists(path):
            which = "it" if path == file else path
            why = f"{which} is a link to {os.path.realpath(path)}, which is not there"
            raise _unusable(file, why)
        path = os.path.dirname(path)


def _unusable(file: str, why: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"the settings file can't be used: {why}", where=file, hint=f"look at it; {_UNTOUCHED}"
    )


def _wrong(file: str, broken: Broken) -> ConfigInvalid:
    return ConfigInvalid(
        f"the settings file can't be edited: {broken.message}",
        where=f"{file}:{broken.line}:{broken.column}",
        hint=f"correct it in an editor; {_UNTOUCHED}",
    )
