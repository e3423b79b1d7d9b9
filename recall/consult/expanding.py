"""The records around one: breadth first over what they are related to, within limits; pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from index_cache.ids import Place

MAX_NODES, NODES = 100, 10
MAX_TOKENS, TOKENS = 50_000, 2_000
LOOKED_AT = 1_000  # records, which bounds the time: each is a file that is read


class Seen:
    """What a record is, as far as the way through it goes: tokens, valid now, relations."""

    __slots__ = ("related", "tokens", "valid")

    def __init__(self, tokens: int, related: Sequence[Place], *, valid: bool) -> None:
        self.tokens = tokens
        self.related = related
        self.valid = valid


class Way:
    """The way that was gone: ``nodes``, each with its depth; see ``spec/reading.md``."""

    __slots__ = ("nodes", "not_valid", "truncated")

    def __init__(self) -> None:
        self.nodes: list[tuple[Place, int]] = []
        self.not_valid = 0
        self.truncated = False


def expand(
    start: Place,
    look: Callable[[Place], Seen | None],
    max_nodes: int,
    max_tokens: int,
    most: int = LOOKED_AT,
) -> Way:
    """Return the way from a record along its relations.

    ``look`` tells what a record is, None if it is gone. ``most`` are looked at.
    """
    way = Way()
    left = max_tokens
    depths = {start: 0}
    queue = [start]
    for number, key in enumerate(queue):
        if number == most:
            way.truncated = True
            break
        seen = look(key)
        if seen is None:
            continue
        if not seen.valid and key != start:
            way.not_valid += 1
            continue
        if len(way.nodes) == max_nodes:
            way.truncated = True
            break
        if seen.tokens > left:
            way.truncated = True
        else:
            left -= seen.tokens
            way.nodes.append((key, depths[key]))
        for each in seen.related:
            if each not in depths:
                depths[each] = depths[key] + 1
                queue.append(each)
    return way
