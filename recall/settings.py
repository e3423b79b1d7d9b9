"""What a configuration says, as plain values."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root
    from recall.notice import Notice


# Quietest first, each with the gate's own number; spec/gate.md says what each costs and buys.
LEVELS = {"low": 0.25, "normal": 0.5, "high": 0.75}
SENSITIVITIES = tuple(LEVELS)
HOOK_FLAGS = ("enabled", "log", "log_prompts", "session_line")
# Lowest and highest value. Below these a value could only be a slip; above them the host would
# have given up, or cut what it is given.
HOOK_BOUNDS = {
    "deadline_ms": (20, 10_000),
    "refresh_interval": (2, 86_400),
    "max_cards": (1, 10),
    "cap": (500, 100_000),
}
HOOK_FRACTIONS = ("refresh_interval",)
HOOK_KEYS = (*HOOK_FLAGS, *HOOK_BOUNDS, "sensitivity")


class SearchSettings:
    """What ``[search]`` sets.

    ``k`` is how many cards at most, ``budget`` how many bytes of text, ``include_journal`` whether
    journals answer, ``wait`` how many seconds a search waits for a first build.
    """

    __slots__ = ("budget", "include_journal", "k", "wait")

    def __init__(
        self,
        k: int = 10,
        budget: int = 4096,
        *,
        include_journal: bool = False,
        wait: float = 30.0,
    ) -> None:
        self.k = k
        self.budget = budget
        self.include_journal = include_journal
        self.wait = wait


class HookSettings:
    """What holds for the prompt hook.

    ``enabled``: whether it says anything. ``log``: whether the recall log is kept, ``log_prompts``:
    with the prompts. ``session_line``: whether it says at a session's start that it is on.
    ``deadline_ms``: when it prints what it has. ``refresh_interval``: how many
    seconds at least lie between two refreshes that it starts. ``max_cards`` in one answer, ``cap``:
    characters of one answer, None for what the host takes; ``project_cap``: what a project's file
    bounds it to, likewise. ``sensitivity``: one of ``SENSITIVITIES``.
    """

    __slots__ = (*HOOK_KEYS, "project_cap")

    def __init__(self) -> None:
        self.enabled = True
        self.log = True
        self.log_prompts = False
        self.session_line = False
        self.deadline_ms = 250
        self.refresh_interval: float = 2.0
        self.max_cards = 3
        self.cap: int | None = None
        self.project_cap: int | None = None
        self.sensitivity = "normal"

    def cap_for(self, host: int) -> int:
        """Return how many characters one answer may have where the host takes ``host``.

        The person may go beyond that, since hosts change; a project's file may not.
        """
        cap = host if self.cap is None else self.cap
        return cap if self.project_cap is None else min(cap, self.project_cap)


def search_settings(values: dict[str, int | float | bool]) -> SearchSettings:
    """Return the settings of searches, those of ``values`` and the usual ones for the rest."""
    settings = SearchSettings()
    for key, value in values.items():
        setattr(settings, key, value)
    return settings


class LeftOut:
    """A configured root that is not searched, with the reason in words.

    ``notice`` is what is said of it when its directory is missing or can't be read; None when it
    is the trust that is missing, or another program's configuration that names it. ``gone`` says
    that there is no such directory: it was deleted, or is not mounted.
    """

    __slots__ = ("gone", "name", "notice", "path", "reason", "source")

    def __init__(
        self,
        name: str,
        path: str,
        reason: str,
        source: str,
        notice: Notice | None = None,
        *,
        gone: bool = False,
    ) -> None:
        self.gone = gone
        self.name = name
        self.path = path
        self.reason = reason
        self.source = source
        self.notice = notice


class Config:
    """What ``load`` found.

    ``roots`` to search; ``search`` settings; ``hook``, those of the prompt hook; ``notices`` to
    be said; ``sources``, the files that were read; ``origins``, where each root is
    configured (a file, ``RECALL_ROOTS``, ``--root`` or the repository), by name, and ``groups``
    those of which it is; ``left_out``; ``aside``, how many roots of other projects are set aside.
    """

    __slots__ = (
        "aside",
        "groups",
        "hook",
        "left_out",
        "notices",
        "origins",
        "roots",
        "search",
        "sources",
    )

    def __init__(
        self,
        roots: tuple[Root, ...],
        search: SearchSettings,
        hook: HookSettings,
        notices: tuple[Notice, ...] = (),
        *,
        sources: tuple[str, ...] = (),
        origins: dict[str, str] | None = None,
        groups: dict[str, tuple[str, ...]] | None = None,
        left_out: tuple[LeftOut, ...] = (),
        aside: int = 0,
    ) -> None:
        self.roots = roots
        self.search = search
        self.hook = hook
        self.notices = notices
        self.sources = sources
        self.origins = origins or {}
        self.groups = groups or {}
        self.left_out = left_out
        self.aside = aside
