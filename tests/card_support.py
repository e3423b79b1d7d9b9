"""A card as most tests of what is said of one have it."""

from __future__ import annotations

from typing import Any

from recall.card import Card


def card(**fields: Any) -> Card:
    """Return a card, with some fields as they are given."""
    base: dict[str, Any] = {
        "id": "notes:keys.md",
        "root": "notes",
        "path": "keys.md",
        "abs_path": "/home/ann/notes/keys.md",
        "title": "Rotate the deploy keys",
        "type": "Runbook",
        "tier": "human-reviewed",
        "modified": "2026-03-01T10:00:00Z",
        "stale": None,
        "summary": "Keys live in the vault.",
        "score": 1.5,
    }
    return Card(**{**base, **fields})
