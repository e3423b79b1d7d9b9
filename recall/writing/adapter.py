"""What one agent may do with some roots: search them, and write where a call says so itself."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from index_cache.errors import InvalidInput, RecallError
from index_cache.filters import Filter
from index_cache.lookup import by_name
from recall import dirs
from recall.writing import writetarget
from recall.writing.filenames import decoded
from recall.writing.remembering import Remembering, check_grant, known_adapter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NoReturn, Self

    from index_cache.model import Root
    from recall.card import Card
    from recall.rootstatus import RootStatus
    from recall.searching import Answer
    from recall.service import Recall
    from recall.writing.payload import Record
    from recall.writing.remembering import Written

_LOOKED_AT = 20  # hits that may be what is to be written
_ASKED = 4_000  # characters of a record's text that are searched for


class _Parts(NamedTuple):
    """What an adapter is made of: ``chosen`` says that the roots were given, not found."""

    recall: Recall
    name: str
    cwd: str
    environ: Mapping[str, str]
    chosen: bool


class Adapter(_Parts):
    """One agent's way to a ``Recall``: reads, and writes only what a call itself grants.

    Frozen, as only a tuple is: no attribute can be set by any means, and no class made of it, so
    that no grant outlives its call and no name but its own is in the audit.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        raise TypeError("an adapter is final")

    def __new__(
        cls, recall: Recall, name: str, cwd: str, environ: Mapping[str, str], *, chosen: bool
    ) -> Self:
        """Return that of the agent ``name``. Raises InvalidInput for one that is not known."""
        return super().__new__(cls, recall, known_adapter(name), cwd, environ, chosen)

    def __setattr__(self, key: str, value: object) -> NoReturn:
        raise AttributeError("an adapter is frozen: what may be written is said with each call")

    def __delattr__(self, key: str) -> NoReturn:
        raise AttributeError("an adapter is frozen")

    def search(
        self,
        query: str,
        k: int = 10,
        types: Iterable[str] | str | None = None,
        under: str | None = None,
    ) -> list[Card]:
        """Return what ``Recall.search`` does."""
        return self.recall.search(query, k, types, under)

    def answer(
        self,
        query: str,
        k: int = 10,
        types: Iterable[str] | str | None = None,
        under: str | None = None,
    ) -> Answer:
        """Return what ``Recall.answer`` does."""
        return self.recall.answer(query, k, types, under)

    def status(self) -> list[RootStatus]:
        """Return what ``Recall.status`` does."""
        return self.recall.status()

    def remember(
        self,
        payload: Mapping[str, object] | bytes,
        *,
        allow_write: object = False,
        root: str | None = None,
        force: bool = False,
        wait: float = 30.0,
    ) -> Written:
        """Write a memory, an idea or knowledge; only if ``allow_write`` is True itself.

        ``payload`` is JSON, or its fields (``spec/writing.md``). ``root`` names the root to write
        to, one of those that were searched; without it that is the only one of them, if they were
        given and not found in the configuration, else the configured one. ``force`` writes what is
        nearly known already; ``wait`` is how many seconds another writer is waited for. Raises
        WriteRefused without a grant, and what ``Remembering.write`` raises.
        """
        return self._write("remember", payload, allow_write, root, force=force, wait=wait)

    def propose(
        self,
        payload: Mapping[str, object] | bytes,
        *,
        allow_write: object = False,
        root: str | None = None,
        force: bool = False,
        wait: float = 30.0,
    ) -> Written:
        """Write a proposal, as ``remember`` writes the rest."""
        return self._write("propose", payload, allow_write, root, force=force, wait=wait)

    def _write(
        self,
        command: str,
        payload: Mapping[str, object] | bytes,
        allow_write: object,
        root: str | None,
        *,
        force: bool,
        wait: float,
    ) -> Written:
        name = check_grant(command, self.name, allow_write=allow_write)
        data = payload if isinstance(payload, bytes) else _encoded(payload)
        target = self._target(root)
        state_dir = dirs.state_dir(self.environ)
        with self.recall.only(target) as recall:
            place = Remembering(target, state_dir, Known(recall, wait), wait)
            return place.write(data, command, name, force=force)

    def _target(self, name: str | None) -> Root:
        roots = self.recall.roots
        if not self.chosen and (name is None or any(root.name == name for root in roots)):
            # A project's file may have named some of them: it says nothing of where is written.
            found = writetarget.find(name, self.cwd, self.environ).root
            return next((root for root in roots if root.path == found.path), found)
        fit = [root for root in roots if name in {None, root.name}]
        if len(fit) == 1:
            return fit[0]
        raise InvalidInput(
            "no root is named to write to" if fit else "there is no such root",
            where="root",
            hint=f"root is one of {', '.join(root.name for root in roots)}",
        )


class Known:
    """The notes of one root, by the cache of a ``Recall`` that searches it alone."""

    def __init__(self, recall: Recall, wait: float) -> None:
        self._recall = recall
        self._wait = wait

    def alike(self, record: Record) -> list[str]:
        """Return paths of notes that may say what a record says, or have its title."""
        found = []
        for number, query in enumerate((record.text[:_ASKED], record.title)):
            answer = self._answer(query, refresh=not number)
            found += [card.path for card in answer.cards]
            found += [path for card in answer.cards for path in card.copies]
        return list(dict.fromkeys(found))

    def _answer(self, query: str, *, refresh: bool) -> Answer:
        answer = self._recall.answer(
            query,
            _LOOKED_AT,
            include_journal=True,
            include_proposal=True,
            refresh=refresh,
            wait=self._wait,
        )
        for report in answer.reports:
            if report.failure is not None:
                raise report.failure
        return answer

    def holders_now(self, id: str) -> list[str]:
        """Return what ``holders`` does once all files have been looked at."""
        self._answer("", refresh=True)
        return self.holders(id)

    def holders(self, id: str) -> list[str]:
        """Return the paths of the notes that have an id."""
        everything = Filter(journal=True, proposal=True)
        return [
            decoded(hit.path)
            for store in self._recall.views()
            for hit in by_name(store, everything, [], [], [id], _LOOKED_AT)
        ]

    def refresh(self) -> None:
        """Take in what was written."""
        take_in(self._recall)


def take_in(recall: Recall) -> None:
    """Bring the caches up to date with what was just written.

    Unless somebody else is at it or they can't be read: then the next search does, and says so.
    """
    with suppress(RecallError):
        recall.answer("", 1, wait=0)


def _encoded(payload: Mapping[str, object]) -> bytes:
    import json

    try:
        return json.dumps(payload, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("the payload can't be said in JSON", where="payload") from None
