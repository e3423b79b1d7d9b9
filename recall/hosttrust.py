"""Whether a host runs an installed hook, as far as its own files tell; reads only.

Hosts keep this in ways of their own that change between versions: what is not found where a
version of today keeps it is *unknown*, never a yes.
"""

from __future__ import annotations

import json
import os

from index_cache.errors import RecallError
from recall.files import Unreadable, read_small
from recall.hostfiles import PROJECT, USER, place
from recall.hostreading import named_off, switch, switched_off, unread
from recall.hosts import CLAUDE, CODEX
from recall.installing import MAX_BYTES
from recall.jsonedit import Broken, Document, Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.hookedit import Found
    from recall.hostreading import Complaint
    from recall.installing import Settings

TRUSTED, UNTRUSTED, OFF, UNKNOWN = "trusted", "untrusted", "off", "unknown"
_MAX_BYTES = 32 * 1024 * 1024  # Claude Code keeps histories in the same file
_USUAL_TIMEOUT = 600  # seconds, what Codex takes when a hook names none
_MOST_DIGITS = 20  # of a timeout that Codex reads
_MARK = "\ufeff"

Trust = tuple[str, str]


def off(settings: Settings, environ: Mapping[str, str], cwd: str) -> tuple[str, Complaint] | None:
    """Return which of a host's files switches off the calls in ``settings``, and how it does.

    Hosts merge the person's settings and the project's: the last file that says whether hooks run
    decides, and a hook that one of them names is off. A file that the host can't read says nothing.
    ``cwd`` is in the project that is meant. None if they are not switched off.
    """
    host = settings.place.host
    files: list[tuple[str, Document]] = []
    for file in _merged(settings, environ, cwd):
        own = file == settings.place.file
        document, mark = (settings.document, bool(settings.bom)) if own else _document(file)
        if document is not None and not unread(host, document, mark=mark):
            files.append((file, document))
    commands = [each.command for each in settings.found]
    for file, document in reversed(files):
        said = switch(host, document)
        complaint = switched_off(host, document, commands)
        if said is not None and not said[0] and complaint is not None:
            return file, complaint
        if said is not None:
            break
    for file, document in files:
        complaint = named_off(host, document, commands)
        if complaint is not None:
            return file, complaint
    return None


def _merged(settings: Settings, environ: Mapping[str, str], cwd: str) -> list[str]:
    """Return the files of a host, in the order in which the later overrides the earlier."""
    host, own = settings.place.host, settings.place
    files = []
    for scope in (USER, PROJECT):
        try:
            where = own if scope == own.scope else place(host, scope, environ, cwd)
        except RecallError:
            continue  # it has been told of that one already
        if host.shared is not None and where.inside is not None:
            files.append(os.path.join(where.inside, host.shared))
        files.append(where.file)
    return list(dict.fromkeys(files))


def _document(file: str) -> tuple[Document | None, bool]:
    try:
        text = read_small(file, MAX_BYTES).decode("utf-8")
        return Document(text.removeprefix(_MARK)), text.startswith(_MARK)
    except (OSError, Unreadable, Broken, UnicodeDecodeError):
        return None, False


def trust(
    settings: Settings,
    environ: Mapping[str, str],
    cwd: str,
    switched: tuple[str, Complaint] | None,
) -> Trust:
    """Return whether the host runs the calls that are in ``settings``, and why we think so.

    ``cwd`` is where the person stands: some hosts trust directories, not hooks. ``switched`` is
    what ``off`` has returned.
    """
    name = settings.place.host.name
    if switched is not None:
        file, complaint = switched
        return OFF, f"it is switched off in {file}, line {complaint.line}"
    if name == CLAUDE:
        return _claude(settings, environ, cwd)
    if name == CODEX:
        return _codex(settings, environ)
    return _gemini(settings, environ, cwd)


def _claude(settings: Settings, environ: Mapping[str, str], cwd: str) -> Trust:
    host = settings.place.host
    home = host.directory(environ)
    if not environ.get(host.variable):
        home = os.path.dirname(home)
    projects = _value(_json(os.path.join(home, ".claude.json")), "projects")
    for directory in _upwards(cwd):
        accepted = _value(_value(projects, directory), "hasTrustDialogAccepted")
        if accepted is True:
            return TRUSTED, f"Claude Code was told to trust {directory}"
    return UNKNOWN, "Claude Code runs hooks in directories that it was told to trust; it asks"


def _codex(settings: Settings, environ: Mapping[str, str]) -> Trust:
    place = settings.place
    config = _toml(os.path.join(place.host.directory(environ), "config.toml"))
    features = _value(config, "features")
    if False in (_value(features, "hooks"), _value(features, "codex_hooks")):
        return OFF, "hooks are switched off under [features] in Codex's config.toml"
    if place.inside is not None:
        level = _value(_value(_value(config, "projects"), place.inside), "trust_level")
        if level != "trusted":
            return UNTRUSTED, "Codex runs a project's hooks once it was told to trust the project"
    kept = _value(_value(config, "hooks"), "state")
    states = [_codex_hook(settings, kept, each) for each in settings.found]
    for state in (OFF, UNTRUSTED, UNKNOWN, TRUSTED):
        for each, why in states:
            if each == state:
                return each, why
    return UNKNOWN, "there is nothing to trust"


def _codex_hook(settings: Settings, kept: object, each: Found) -> Trust:
    event = "".join(f"_{char.lower()}" if char.isupper() else char for char in each.event)
    event = event.lstrip("_")
    records = [
        _value(kept, f"{file}:{event}:{each.group}:{each.handler}")
        for file in (settings.place.file, settings.target)
    ]
    record = next((record for record in records if record is not None), None)
    if _value(record, "enabled") is False:
        return OFF, f"it is switched off in Codex for {each.event}; /hooks there changes that"
    trusted = _value(record, "trusted_hash")
    if trusted is None:
        return UNTRUSTED, "Codex was not told to trust it yet: it asks, or in /hooks there"
    if trusted == codex_hash(event, each):
        return TRUSTED, "Codex was told to trust it"
    return UNKNOWN, "Codex was told to trust what stood there, which may have been another command"


def codex_hash(event: str, each: Found) -> str:
    """Return the digest by which Codex knows a hook: of its sorted, compact JSON."""
    import hashlib

    timeout = each.timeout
    is_whole = isinstance(timeout, Number) and timeout.isdigit() and len(timeout) <= _MOST_DIGITS
    seconds = int(str(timeout)) if is_whole else _USUAL_TIMEOUT
    handler = {
        "async": False,
        "command": each.command,
        "timeout": max(seconds, 1),
        "type": "command",
    }
    identity: dict[str, object] = {"event_name": event, "hooks": [handler]}
    if each.matcher is not None and event == "session_start":
        identity["matcher"] = each.matcher
    text = json.dumps(identity, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _gemini(settings: Settings, environ: Mapping[str, str], cwd: str) -> Trust:
    if settings.place.inside is None:
        return TRUSTED, "Gemini CLI runs what is in your own settings"
    file = os.path.join(settings.place.host.directory(environ), "trustedFolders.json")
    folders = _json(file)
    for directory in _upwards(cwd):
        rule = _value(folders, directory)
        if rule == "DO_NOT_TRUST":
            return UNTRUSTED, f"Gemini CLI was told not to trust {directory}"
        if rule in ("TRUST_FOLDER", "TRUST_PARENT"):
            return TRUSTED, f"Gemini CLI was told to trust {directory}"
    return UNKNOWN, "Gemini CLI warns of a project's hooks, and may ask to trust the folder"


def _value(table: object, key: str) -> object:
    return table.get(key) if isinstance(table, dict) else None


def _upwards(directory: str) -> Sequence[str]:
    places = [directory]
    while os.path.dirname(places[-1]) != places[-1]:
        places.append(os.path.dirname(places[-1]))
    return places


def _json(file: str) -> object:
    try:
        return Document(read_small(file, _MAX_BYTES).decode("utf-8", "replace")).value
    except (OSError, Unreadable, Broken):
        return None


def _toml(file: str) -> object:
    import tomllib

    try:
        return tomllib.loads(read_small(file, _MAX_BYTES).decode("utf-8", "replace"))
    except (OSError, Unreadable, ValueError, RecursionError):
        return None
