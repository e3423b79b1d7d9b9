"""One call of the prompt hook: from what a host sent to what it is answered, and to what is kept.

Nothing is printed here, and ``consider`` keeps nothing: ``recall hook --explain`` goes the same
way, and stops there. See ``spec/hook.md``.
"""

from __future__ import annotations

import os
import time

from index_cache.files import refuse_directory
from recall import block, dirs, hosts, ledger, pausing, project, quiet, resolved
from recall.settings import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recall.card import Card
    from recall.recalling import Recalling
    from recall.resolved import Resolved
    from recall.views import Views

UNCONFIGURED, PAUSED, LATE = "not configured", "paused", "deadline"
NO_ROOM = "no room for a card"
NO_CACHE, NO_PLACE = "no cache yet", "unusable"


class Fault:
    """Something that cost a prompt its recall, or what is kept of it, in words for a person."""

    __slots__ = ("hint", "message", "where")

    def __init__(self, message: str, where: str | None = None, hint: str | None = None) -> None:
        self.message = message
        self.where = where
        self.hint = hint


class Call:
    """One call of the hook.

    ``host`` is the one that was named, if any, ``environ`` the environment, ``started`` when the
    process did (``time.perf_counter``). ``why`` says in the log's words what came of it, ``marks``
    when each part of the work began, ``faults`` what went wrong. ``looked_up`` says that the
    prompt got as far as the notes, ``forgets`` that the conversation begins anew. ``said`` is what
    there is to say at the start of a session, ``line`` the same as a model gets it. ``thorough``
    asks of each root whether it has a cache where there is none at all.
    """

    def __init__(
        self,
        host: str | None,
        environ: Mapping[str, str],
        started: float,
        *,
        thorough: bool = False,
    ) -> None:
        self.environ = environ
        self.started = started
        self.event = hosts.Event(host, problem="no input")
        self.state_dir = dirs.state_dir(environ)
        self.cache_dir = dirs.cache_dir(environ)
        self.cwd = "/"
        self.why = "no input"
        self.looked_up = False
        self.forgets = False
        self.faults: list[Fault] = []
        self.marks: list[tuple[str, float]] = [("start", started)]
        self.resolved: Resolved | None = None
        self.views: Views | None = None
        self.recalling: Recalling | None = None
        self.seen = ledger.Seen()
        self.until: float | None = None  # of a pause
        self.said = self.line = ""
        self._host = host
        self._thorough = thorough

    def consider(self, data: bytes, moved: Callable[[float], None]) -> None:
        """Find out what to say to an event. ``moved`` is told the deadline, once it is known.

        Raises what the configuration raises, and faults of ours.
        """
        self._mark("event")
        self.event = hosts.parse(data, self._host)
        self.cwd = self.event.cwd or _working_directory()
        self.why = quiet.reason(self.event, self.environ, enabled=True) or ""
        if self.why:
            if self.event.problem is not None and self.why == self.event.problem:
                self.faults.append(
                    Fault(
                        f"what the host sent can't be used: {self.event.problem}",
                        hint="recall hook --explain shows how an event is read",
                    )
                )
            return
        # Also in a pause: what was shown before it is gone from the conversation all the same.
        self.forgets = not self.event.has_prompt and ledger.forgets(self.event.source or "")
        self.until = pausing.paused(self.state_dir, time.time())
        if self.until is not None:
            self.why = PAUSED
            return
        self._mark("configuration")
        self.resolved = resolved.load(self.cwd, self.environ)
        moved(self.started + self.resolved.hook.deadline_ms / 1000)
        if not self.resolved.hook.enabled:
            self.why = quiet.reason(self.event, self.environ, enabled=False) or ""
            return
        if not self.resolved.roots:
            self.why = UNCONFIGURED
        elif self.event.has_prompt:
            self._recall(self.resolved)
        else:
            self.why = "a session starts"
            if self.resolved.hook.session_line:
                self._greet(self.resolved)

    def _greet(self, found: Resolved) -> None:
        """Say that it is on, with what the caches count."""
        from recall import sessionline, unvouched

        if self.event.source not in sessionline.SOURCES:
            return
        counts: list[tuple[str | None, int]] = []
        every = [root.name for root in found.roots]
        # None in the place of a name that a stranger's repository chose.
        shown = dict.fromkeys(every) | {
            name: name for name in set(every) - unvouched.names(every, self.cwd, self.environ)
        }
        waiting, failing = [shown[name] for name in every], []
        if self._thorough or self._has_caches():
            from recall.views import BUSY, REFUSED, UNUSABLE, Views

            self._mark("caches")
            self.views = Views(found.roots, [False] * len(found.roots))
            known = sessionline.counted(self.views, self.cache_dir or "")
            counts = [(shown[view.root.name], count) for view, count in known]
            rest = [view for view in self.views.all if not view.stores]
            not_now = (BUSY, UNUSABLE, REFUSED)
            failing = [shown[view.root.name] for view in rest if view.state in not_now]
            waiting = [shown[view.root.name] for view in rest if view.state not in not_now]
        self.said = sessionline.words(counts, waiting, failing, self.cap)
        self.line = sessionline.line(self.said)
        self._mark("end")

    def _recall(self, found: Resolved) -> None:
        self.looked_up = True
        if not (self._thorough or self._has_caches()):
            self.why = NO_CACHE if self._has_place() else NO_PLACE
            return
        # Here, since what is quiet, and the first call ever, need no database.
        from index_cache import db
        from index_cache.files import FileSystem
        from recall.recalling import Recalling
        from recall.views import UNUSABLE, Views

        self._mark("ledger")
        self.seen = ledger.seen(self.state_dir, self.event.session)
        self._mark("caches")
        fs = FileSystem()
        self.views = Views(found.roots, project.near(self.cwd, found.roots))
        self.views.open(self.cache_dir, self.state_dir, fs)
        self._mark("search")
        self.recalling = Recalling(self.event.prompt, self.views, fs)
        self.recalling.run(
            self.seen,
            self.cwd,
            found.hook.max_cards,
            LEVELS[found.hook.sensitivity],
            journal=found.search.include_journal,
        )
        self.why = self._silenced() or self.recalling.why
        for view in self.views.all:
            if view.state == UNUSABLE and view.trouble is not None:
                told = db.unusable(view.root, view.trouble, None, 0)
                self.faults.append(Fault(told.message, told.where, told.hint))
            elif view.refused is not None:
                why = view.refused
                self.faults.append(Fault(why.message, why.where, why.hint))
        self._mark("end")

    def _has_caches(self) -> bool:
        """Tell whether there is any cache of any root."""
        try:
            return any(name.endswith(".db") for name in os.listdir(self.cache_dir or ""))
        except OSError:
            return False

    def _has_place(self) -> bool:
        """Tell whether a cache can be kept at all; a fault if not: it is no matter of waiting."""
        try:
            if self.cache_dir is not None:
                refuse_directory(self.cache_dir)
        except OSError as error:
            hint = "name another directory in XDG_CACHE_HOME"
            told = f"no cache can be kept: {error.strerror or error}"
            self.faults.append(Fault(told, self.cache_dir, hint))
            return False
        return True

    def _silenced(self) -> str | None:
        """Return why no cache at all could answer, None if one did."""
        from recall.views import ANSWERS, BUSY, DAMAGED, REFUSED, UNUSABLE

        assert self.views is not None  # noqa: S101 - for the type
        states = {view.state for view in self.views.all}
        if ANSWERS in states:
            return None
        known = (DAMAGED, UNUSABLE, REFUSED, BUSY)
        return next((state for state in known if state in states), NO_CACHE)

    def _mark(self, part: str) -> None:
        self.marks.append((part, time.perf_counter()))

    @property
    def cap(self) -> hosts.Cap:
        """How much one answer may have: what the host takes, or the settings say."""
        cap = hosts.cap(self.event.host)
        if self.resolved is None:
            return cap
        settings = self.resolved.hook
        characters = settings.cap_for(hosts.CLAUDE_CHARACTERS)
        if cap.tokens is None:
            return hosts.cap(self.event.host, characters=characters)
        # Codex counts tokens: as many of its own as the settings have of Claude's characters.
        tokens = characters * hosts.CODEX_TOKENS // hosts.CLAUDE_CHARACTERS
        return hosts.cap(self.event.host, tokens=tokens)

    def answer(self) -> tuple[bytes, str, list[Card]]:
        """Return what to print with the cards that there are so far, the block in it, and these.

        At the start of a session the block is a line, without cards.
        """
        if self.line:
            event = self.event
            return hosts.greet(event.host, event.name, self.said, self.line), self.line, []
        cards = [] if self.recalling is None else list(self.recalling.cards)
        text, count = block.fit(cards, self.cap, base=self.cwd)
        if cards and not count:
            self.why = NO_ROOM
        return hosts.render(self.event.host, self.event.name, text), text, cards[:count]


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone: the person's own roots answer, from nowhere in particular
        return "/"
