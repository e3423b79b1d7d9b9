"""Local memory over Markdown notes: ``from recall import Recall``.

Importing this package imports nothing else; ``Recall`` and ``Card`` are loaded when first asked
for, because the prompt hook and the command line pay for every import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.card import Card
    from recall.service import Recall

__version__ = "0.1.0"
__all__ = ["Card", "Recall", "__version__"]


def __getattr__(name: str) -> object:
    """Load a public class on first use; anything else is the usual AttributeError."""
    value: object
    if name == "Recall":
        from recall.service import Recall

        value = Recall
    elif name == "Card":
        from recall.card import Card

        value = Card
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
