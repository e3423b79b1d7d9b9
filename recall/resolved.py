"""The configuration for the prompt hook, without the time that reading it takes.

What ``config.load`` found is kept in the cache directory, with every question to the file system
that it depended on and the answer (``recall.looked``). While the answers are the same, so is the
configuration, and neither TOML nor what reads it is loaded. See ``spec/resolved.md``.
"""

from __future__ import annotations

import os
import time

from index_cache.digests import hashed
from index_cache.files import refuse_foreign_directory
from index_cache.model import Root, Rules
from recall import __version__, quickjson, state
from recall.dirs import cache_dir
from recall.files import Unreadable, reason_of
from recall.looked import Looked, ask
from recall.settings import HookSettings, SearchSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from recall.settings import Config

# All variables that config.load asks for; the caches' own decides where the result is kept.
VARIABLES = (
    "HOME",
    "RECALL_ROOTS",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "LOCUS_PALACE",
    "CORTEX_MEMORY_ROOT",
)
MAX_BYTES = 256 * 1024
MAX_KEPT = 1000
_FORMAT = 1
_DIRECTORY = "resolved"
_SUFFIX = ".json"
_OTHERS = 0o077
_HASH_BYTES = 16
_DAY = 86_400.0
_MONTH = 30 * _DAY


class Resolved:
    """What the prompt hook needs of a configuration.

    ``roots`` to search; ``hook`` and ``search`` settings; ``notices`` and ``left_out``, how many
    there are: ``recall roots list`` says which. ``from_cache``: nothing was read but the kept
    result. ``unkept`` says why it could not be kept for the next call, or is None.
    """

    __slots__ = ("from_cache", "hook", "left_out", "notices", "roots", "search", "unkept")

    def __init__(
        self,
        roots: tuple[Root, ...],
        hook: HookSettings,
        search: SearchSettings,
        *,
        notices: int = 0,
        left_out: int = 0,
        from_cache: bool = False,
        unkept: str | None = None,
    ) -> None:
        self.roots = roots
        self.hook = hook
        self.search = search
        self.notices = notices
        self.left_out = left_out
        self.from_cache = from_cache
        self.unkept = unkept


def load(cwd: str, environ: Mapping[str, str]) -> Resolved:
    """Return the configuration that holds in ``cwd``, as ``config.load`` gives it.

    Roots must be configured: the current repository is no last resort here, and where nothing
    names any there are none. Raises what ``config.load`` raises else; nothing is kept then.
    """
    directory = cache_dir(environ)
    made_for = _made_for(cwd, environ)
    if directory is not None and os.path.isabs(cwd):
        kept = _kept(directory, made_for)
        if kept is not None:
            return kept
    from recall import config
    from recall.configfile import NothingConfigured

    clock_ns = time.time_ns()
    looked = Looked()
    if "HOME" not in environ:
        looked.own_home()
    try:
        made = config.load(cwd, environ, fallback=False, looked=looked)
    except NothingConfigured:
        made = config.Config((), SearchSettings(), HookSettings())
    resolved = Resolved(
        made.roots,
        made.hook,
        made.search,
        notices=len(made.notices),
        left_out=len(made.left_out),
    )
    if directory is None:
        resolved.unkept = "no home directory is known"
    elif not os.path.isabs(cwd):
        resolved.unkept = "the working directory is not an absolute path"
    elif not looked.steady or looked.is_suspect(clock_ns):
        resolved.unkept = "a configuration file was changed just now"
    else:
        resolved.unkept = _keep(directory, made_for, _encoded(made_for, looked, made))
    return resolved


def sweep(cache_dir: str | None, now: float | None = None) -> int:
    """Delete what was not used for 30 days and the oldest of too many; return how many files.

    ``now`` is in seconds since the epoch. What can't be deleted stays, and so do files of others.
    """
    if cache_dir is None:
        return 0
    from recall import sweeping  # no prompt needs it

    directory = os.path.join(cache_dir, _DIRECTORY)
    try:
        refuse_foreign_directory(cache_dir)
        refuse_foreign_directory(directory)
        return sweeping.sweep(
            directory, _SUFFIX, 2 * _HASH_BYTES, expiry=_MONTH, most=MAX_KEPT, now=now
        )
    except OSError:
        return 0


def _made_for(cwd: str, environ: Mapping[str, str]) -> list[object]:
    """Return what a kept result is for, as JSON gives it back.

    The user is part of it: sudo may leave HOME as it is. So is the version, whose defaults it has.
    """
    variables = [environ.get(name) for name in VARIABLES]
    return [_FORMAT, __version__, os.geteuid(), cwd, variables]


def _name(made_for: list[object]) -> str:
    return f"{_DIRECTORY}/{hashed(quickjson.dumps(made_for), size=_HASH_BYTES)}{_SUFFIX}"


def _kept(directory: str, made_for: list[object]) -> Resolved | None:
    """Return the kept result if it still holds. Anything odd is as if there were none."""
    name = _name(made_for)
    try:
        data, st = state.read_end(directory, name, MAX_BYTES)
        ours = os.lstat(os.path.join(directory, _DIRECTORY))
    except (OSError, Unreadable, ValueError):
        return None
    # Ours alone: what others could have written might name any directory.
    if (st.st_mode | ours.st_mode) & _OTHERS or st.st_size != len(data):
        return None
    digest, _, text = data.partition(b"\n")
    if digest != hashed(text).encode():  # a flipped bit could uncover what is private
        return None
    try:
        resolved = _decoded(quickjson.loads(text.decode()), made_for)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if resolved is not None:
        _used(os.path.join(directory, name), st)
    return resolved


def _encoded(made_for: list[object], looked: Looked, made: Config) -> bytes:
    value = {
        "made_for": made_for,
        "looked": [[*question, answer] for question, answer in looked.answers.items()],
        "roots": [[root.name, root.path, *root.rules.as_key()] for root in made.roots],
        "hook": {key: getattr(made.hook, key) for key in HookSettings.__slots__},
        "search": {key: getattr(made.search, key) for key in SearchSettings.__slots__},
        "notices": len(made.notices),
        "left_out": len(made.left_out),
    }
    text = quickjson.dumps(value).encode("ascii")
    return hashed(text).encode() + b"\n" + text


def _decoded(kept: Any, made_for: list[object]) -> Resolved | None:  # noqa: ANN401 - from JSON
    """Return a kept result, or None if it is for something else or an answer has changed."""
    if kept["made_for"] != made_for:
        return None
    if not all(ask(kind, name) == answer for kind, name, answer in kept["looked"]):
        return None
    hook, search = HookSettings(), SearchSettings()
    for settings, values in ((hook, kept["hook"]), (search, kept["search"])):
        for key in settings.__slots__:
            setattr(settings, key, values[key])
    return Resolved(
        tuple(_root(*each) for each in kept["roots"]),
        hook,
        search,
        notices=int(kept["notices"]),
        left_out=int(kept["left_out"]),
        from_cache=True,
    )


def _root(name: str, path: str, *rules: Any) -> Root:  # noqa: ANN401 - as Rules.as_key has them
    include, exclude, private, gitignore, max_file_bytes, max_files, *others = rules
    elsewhere = [each for each in others if not isinstance(each, str)]
    return Root(
        name,
        path,
        Rules(
            tuple(include),
            tuple(exclude),
            private=tuple(private),
            gitignore=gitignore,
            max_file_bytes=max_file_bytes,
            max_files=max_files,
            elsewhere=tuple((directory, tuple(globs)) for directory, globs in elsewhere),
            jsonl="jsonl" in others,
            strict="strict" in others,
        ),
    )


def _keep(directory: str, made_for: list[object], data: bytes) -> str | None:
    """Keep a result for the next call. Return None, or why that was not possible."""
    from recall.replace import replace

    if len(data) > MAX_BYTES:
        return f"it is larger than {MAX_BYTES} bytes"
    name = _name(made_for)
    try:
        refuse_foreign_directory(directory)
        state.own(os.path.join(directory, _DIRECTORY))
        # Not synced: a file that a power cut emptied is made anew.
        replace(os.path.join(directory, name), data, mode=0o600, follow=False, sync=False)
    except (OSError, ValueError) as error:
        return reason_of(error)
    return None


def _used(path: str, st: os.stat_result) -> None:
    """Mark a kept result as used, once a day, so that the sweep leaves it."""
    if abs(time.time() - st.st_mtime) > _DAY:
        try:
            os.utime(path, follow_symlinks=False)
        except OSError:
            return  # a read-only file system, where nothing is swept either
