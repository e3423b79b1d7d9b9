"""What of recall's own keeps the prompt hook silent, wherever it is installed."""

from __future__ import annotations

from recall import config, pausing
from recall.configfile import NothingConfigured, read_config
from recall.dirs import config_file, state_dir
from recall.hooksettings import combined
from recall.notice import Notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.settings import HookSettings

NO_ROOT = Notice("no root is named here yet, so the hook says nothing", "recall roots add NAME DIR")


class HeldBack:
    """``reasons`` why the hook says nothing; ``logs`` whether its runs are logged.

    ``until`` is when a pause ends, in seconds since the epoch, None without one.
    """

    __slots__ = ("logs", "reasons", "until")

    def __init__(self) -> None:
        self.reasons: list[Notice] = []
        self.logs = True
        self.until: float | None = None


def look(cwd: str, environ: Mapping[str, str], now: float) -> HeldBack:
    """Return what keeps the hook silent for a person in ``cwd``.

    ``now`` is in seconds since the epoch. Raises what ``config.load`` does for a configuration that
    can't be used.
    """
    found = HeldBack()
    if pausing.is_off(environ):
        what = f"{pausing.OFF} is set here: the hook says nothing with it"
        found.reasons.append(Notice(what, f"unset {pausing.OFF}"))
    found.until = pausing.paused(state_dir(environ), now)
    hook, files, has_roots = _loaded(cwd, environ)
    found.logs = hook.log
    if not hook.enabled:
        what = "the prompt hook is switched off: enabled = false under [hook]"
        found.reasons.append(Notice(what, f"edit {' or '.join(files)}"))
    if not has_roots:
        found.reasons.append(NO_ROOT)
    return found


def _loaded(cwd: str, environ: Mapping[str, str]) -> tuple[HookSettings, Sequence[str], bool]:
    """Return what holds for the hook, the files that say so, and whether there are roots."""
    try:
        made = config.load(cwd, environ, fallback=False, demand=False)
    except NothingConfigured:
        own = config_file(environ)
        try:
            settings = {} if own is None else read_config(own, environ).hook
        except OSError:
            settings = {}
        return combined(settings, {}), [own or ""], False
    return made.hook, made.sources, bool(made.roots)
