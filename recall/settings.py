"""What a configuration says, as plain values."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.model import Root
    from recall.hooksettings import HookSettings
    from recall.notice import Notice


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
    configured (a file, ``RECALL_ROOTS``, ``--root`` or the repository), by name; ``left_out``.
    """

    __slots__ = ("hook", "left_out", "notices", "origins", "roots", "search", "sources")

    def __init__(
        self,
        roots: tuple[Root, ...],
        search: SearchSettings,
        hook: HookSettings,
        notices: tuple[Notice, ...] = (),
        *,
        sources: tuple[str, ...] = (),
        origins: dict[str, str] | None = None,
        left_out: tuple[LeftOut, ...] = (),
    ) -> None:
        self.roots = roots
        self.search = search
        self.hook = hook
        self.notices = notices
        self.sources = sources
        self.origins = origins or {}
        self.left_out = left_out
