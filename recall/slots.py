"""Which notes get the few places of an answer: pure. See "Places" in ``spec/hook.md``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.model import Hit
    from recall.gate import Decision


class Judged:
    """A hit, and what speaks for showing it.

    ``root`` is the identity of its root, ``root_name`` its name, ``near`` says that it belongs to
    the project that the person stands in, ``decision`` is the gate's, ``named`` that the prompt
    asks for it by name, ``known`` that the conversation was shown it with this text. ``shown`` says
    that it got a card, ``fate`` in words why it got none.
    """

    __slots__ = (
        "_refused",
        "decision",
        "fate",
        "hit",
        "known",
        "named",
        "near",
        "root",
        "root_name",
        "shown",
    )

    def __init__(self, hit: Hit, root_name: str, root: str, *, near: bool, known: bool) -> None:
        self.hit = hit
        self.root_name = root_name
        self.root = root
        self.near = near
        self.known = known
        self.named = False
        self.decision: Decision | None = None
        self.shown = False
        self.fate = ""
        self._refused = False

    @property
    def is_wanted(self) -> bool:
        """Whether it deserves a card, if there is room and its file says what was not shown yet."""
        speaks = self.decision is not None and self.decision.speak
        return self.named or (speaks and not self._refused)

    def refuse_but(self, rule: str, why: str) -> None:
        """Give it no card unless the gate decided by this rule; ``why`` is its fate then."""
        if self.is_wanted and (self.decision is None or self.decision.by != rule):
            self._refused, self.fate = True, why


def shortlist(
    ordered: Sequence[Hit], best: int, others: int, root_of: Callable[[Hit], str]
) -> list[Hit]:
    """Return the ``best`` first hits, and the first one of each other root, ``others`` at most."""
    chosen = list(ordered[:best])
    seen = set(map(root_of, chosen))
    for hit in ordered[best:]:
        if others and root_of(hit) not in seen:
            seen.add(root_of(hit))
            chosen.append(hit)
            others -= 1
    return chosen


def next_of(pool: Sequence[Judged], shown: Sequence[Judged], places: int) -> Judged:
    """Return which of the pool, best first, is to be shown next.

    The last of several places goes to another root, if all before it went to one and another has
    something: a giant root does not drown a small one. What is asked for by name comes first.
    """
    first = pool[0]
    if len(shown) == places - 1 and len(shown) > 0 and not first.named:
        taken = {each.root for each in shown}
        if len(taken) == 1:
            return next((each for each in pool if each.root not in taken), first)
    return first
