"""The common forms of ``recall search``, read without click.

Importing click takes 20 ms, more than an answer does, and a search is run for every prompt. This
reader takes only what click would take in the same way (a test compares the two on generated
arguments); for all else, help and errors included, it returns None and click decides.
"""

from __future__ import annotations

from recall.cli.answer import MAX_BUDGET, MAX_K, MAX_WAIT, MIN_BUDGET, Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAGS = {
    "--json": "as_json",
    "--explain": "explain",
    "--no-refresh": "no_refresh",
    "--literal": "literal",
}
_REPEATED = {
    "--root": "names",
    "--group": "groups",
    "--type": "types",
    "--include": "include",
}
_NUMBERS = {
    "-k": ("k", 1, MAX_K),
    "--budget": ("budget", MIN_BUDGET, MAX_BUDGET),
    "--wait": ("wait", 0, MAX_WAIT),
}
_MAX_DIGITS = 9


def asked_for(arguments: Sequence[str]) -> Asked | None:
    """Return what the arguments after ``search`` ask for, or None if click has to say."""
    asked = Asked()
    rest = list(arguments)
    words: list[str] = []
    names: list[str] = []
    while rest:
        word = rest.pop(0)
        if word in _FLAGS:
            names.append(word)
            setattr(asked, _FLAGS[word], True)
        elif word == "-" or not word.startswith("-"):
            words.append(word)
        elif word == "--":
            words += rest
            break
        else:
            name, equals, value = word.partition("=")
            if not equals:
                if not rest or rest[0].startswith("-"):
                    return None
                value = rest.pop(0)
            elif not name.startswith("--"):
                return None
            if not _take(asked, name, value):
                return None
            names.append(name)
    asked.words = tuple(words)
    return asked if all(map(_REPEATED.__contains__, _repeated(names))) else None


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name in names if names.count(name) > 1]


def _take(asked: Asked, name: str, value: str) -> bool:
    """Store one option's value; return whether click would certainly take it too."""
    if name in _REPEATED:
        field = _REPEATED[name]
        setattr(asked, field, (*getattr(asked, field), value))
        if field == "types" and not value.strip():
            return False
        return field != "include" or value in {"journal", "proposal"}
    if name == "--under":
        asked.under = value
        return True
    # Plain digits only; whatever else Python reads as a number is for click to judge.
    plain = value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS
    if name not in _NUMBERS or not plain:
        return False
    field, low, high = _NUMBERS[name]
    number = int(value)
    setattr(asked, field, float(number) if field == "wait" else number)
    return low <= number <= high
