"""What health is judged by, as plain values; times are in seconds since the epoch, None: unknown.

A missing value means that there is no evidence, never that all is well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recall.hookfault import Fault
    from recall.proofs import Shown


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a refresh or the configuration failed."""

    message: str
    where: str | None = None
    hint: str | None = None
    when: float | None = None


@dataclass(frozen=True, slots=True)
class Damage:
    """The last damage of a cache: ``count`` times since ``since``, ``repaired`` or not."""

    message: str
    when: float | None = None
    count: int = 1
    since: float | None = None
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class RootEvidence:
    """One root that can be searched.

    ``word`` is what ``--root`` takes for it. ``refreshed`` is when its cache was last found fresh,
    ``mark`` tells its cache from another in its place, ``trouble`` why it can't be read now.
    ``pages`` of its ``all_pages`` were looked at.
    ``skipped`` and ``unavailable`` count by reason, ``proposals`` those that are pending.
    """

    name: str
    path: str
    word: str = ""
    cache: str | None = None
    mark: str | None = None
    built: bool = False
    documents: int = 0
    refreshed: float | None = None
    failure: Failure | None = None
    damage: Damage | None = None
    trouble: str | None = None
    proof: Shown | None = None
    pages: int = 0
    all_pages: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    unavailable: Mapping[str, int] = field(default_factory=dict)
    proposals: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """A configured root whose directory is missing or can't be read."""

    name: str
    path: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A settings file of a host from which the hook is called.

    ``gone`` are programs that are called there and can't be run, ``idle`` says what else keeps
    calls from running, ``absent`` where it is not called at all. ``install`` is the command that
    mends what is gone or absent.
    """

    host: str
    file: str | None
    install: str
    gone: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    absent: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the hook, from its log; ``late`` if it reached its deadline."""

    host: str
    when: float
    ms: float = 0.0
    late: bool = False


@dataclass(frozen=True, slots=True)
class HookEvidence:
    """The prompt hook: ``wanted`` unless it is switched off, or has no root to answer from.

    ``paused`` is until when it is, infinite if only ``recall resume`` ends that.
    ``asked`` is when it last asked for a refresh, the only trace of a hook whose runs are not
    ``logged``. ``fault`` and ``refresh_fault`` are what last went wrong with it and beside it.
    """

    wanted: bool = True
    logged: bool = True
    paused: float | None = None
    installed: tuple[Installed, ...] = ()
    unread: tuple[Failure, ...] = ()
    runs: tuple[Run, ...] = ()
    asked: float | None = None
    fault: Fault | None = None
    refresh_fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """The scheduled runs: when the latest ``begun`` and ``ended``; ``failed`` since one did not.

    ``message`` is why the last one failed, ``file`` where all that is kept. ``wanted`` says that
    a scheduler has a job of ours, or that this can't be told; ``gone`` are programs that it lacks.
    """

    file: str
    wanted: bool = True
    gone: tuple[str, ...] = ()
    begun: float | None = None
    ended: float | None = None
    failed: int = 0
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of recall's own: ``what`` is ``cache`` or ``state``.

    ``path`` is None without a home. ``fault`` is why it can't be used, ``free`` the bytes left on
    its ``device``, ``size`` the bytes in it (of the state directory alone).
    """

    what: str
    path: str | None
    fault: str | None = None
    remote: bool = False
    device: int | None = None
    free: int | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Exposed:
    """Files or directories of one ``what`` that others may read or write.

    ``path`` is the first of ``count``, ``mode`` its own with what others may write of any, and
    ``top`` the directory that all lie in.
    """

    what: str
    path: str
    mode: int
    top: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Dated:
    """Evidence with the time that it bears; ``hint`` is the command that dates it anew."""

    what: str
    file: str
    when: float
    hint: str
    root: str | None = None


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file of the recall log."""

    path: str
    modified: float


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of evidence that says nothing, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it. ``invalid`` is why the configuration can't be used, ``file`` the person's own.

    ``bad_lines`` of the log could not be read.
    """

    now: float
    file: str | None = None
    invalid: Failure | None = None
    roots: tuple[RootEvidence, ...] = ()
    missing: tuple[Missing, ...] = ()
    hook: HookEvidence = field(default_factory=HookEvidence)
    schedule: Schedule | None = None
    places: tuple[Place, ...] = ()
    exposed: tuple[Exposed, ...] = ()
    dated: tuple[Dated, ...] = ()
    logs: tuple[LogFile, ...] = ()
    bad_lines: int = 0
    unread: tuple[Unread, ...] = ()

    @property
    def is_blind(self) -> bool:
        """Whether the state directory can't be used nor read: then what is missing says nothing."""
        return any(self.hides(each.path) for each in self.unread)

    def hides(self, path: str) -> bool:
        """Tell whether a file lies in a state directory that can't be used."""
        return any(
            place.what == "state" and place.path and place.fault and path.startswith(place.path)
            for place in self.places
        )
