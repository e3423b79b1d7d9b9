"""Whether a strict root may be answered from, as its cache has it. See ``spec/strict.md``.

What is read here a refresh has kept; no file is looked at.
"""

from __future__ import annotations

import marshal

from index_cache import ids, strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from index_cache.ids import Place
    from index_cache.model import Skipped
    from index_cache.store import Store
    from index_cache.strict import RootRefused, Violation


def violations(
    store: Store,
    skipped: Iterable[Skipped] | None = None,
    unavailable: Iterable[Skipped] | None = None,
) -> list[Violation]:
    """Return the violations of a strict root whose cache has a view, sorted.

    ``skipped`` and ``unavailable`` are what a scan has just seen, None for what the last refresh
    kept. Raises Damaged.
    """
    found = strict.seen(
        store.notes("skipped") if skipped is None else skipped,
        store.notes("unavailable") if unavailable is None else unavailable,
    )
    for each in store.problems():
        found += strict.parsed(each.path, each.reason)
    found += strict.repeated(_repeated(store))
    found += strict.too_many_records(store.documents(), store.root.rules.max_records)
    return strict.public(found, store.withheld())


def keep(store: Store) -> None:
    """Keep which ids occur twice; the caller is in the last transaction of a refresh."""
    store.set_meta("repeated", marshal.dumps(_counted(store)))
    store.set_meta("repeated_of", store.generation)


def across(stores: Sequence[Store]) -> dict[int, RootRefused]:
    """Return the refusals of the strict roots that share ids, by the numbers of their ``stores``.

    One file that lies in several of them is no duplicate of itself, and ids that are made of
    relative paths tell nothing between roots.
    """
    told: dict[int, list[Violation]] = {}
    for places in ids.duplicates(stores).values():
        for place in places:
            others = [each for each in places if each.root != place.root]
            if others:
                why = f"its id is that of {_named(others[0], stores)} as well"
                violation = strict.Violation(place.path, place.line or None, "duplicate", why)
                told.setdefault(place.root, []).append(violation)
    refused = {}
    for number, found in told.items():
        root = stores[number].root
        error = strict.refusal(root, sorted(found, key=strict.Violation.as_key))
        if error is not None:
            refused[number] = error
    return refused


def _named(place: Place, stores: Sequence[Store]) -> str:
    shown = strict.shown(place.path, place.line or None)
    return f"{shown} in root {stores[place.root].root.name}"


def _repeated(store: Store) -> list[list[tuple[bytes, int]]]:
    """Return where ids are that occur twice: what was kept, if the rows are those still."""
    kept = store.meta("repeated")
    if kept is None or store.number("repeated_of") != store.generation:
        return _counted(store)
    try:
        loaded: Any = marshal.loads(kept)  # type: ignore[arg-type]  # noqa: S302 - ours
        return [[(bytes(path), int(line)) for path, line in places] for places in loaded]
    except (TypeError, ValueError, EOFError, MemoryError) as error:
        raise store.damaged("its list of repeated ids can't be read") from error


def _counted(store: Store) -> list[list[tuple[bytes, int]]]:
    return [
        [(place.path, place.line) for place in places]
        for places in ids.duplicates([store]).values()
    ]
