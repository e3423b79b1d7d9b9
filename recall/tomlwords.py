"""Spelling names and values as TOML, by tomlkit; pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Value = str | list[str] | dict[str, "Value"]


def key(name: str) -> str:
    """Return a name as a key, in quotes where it needs them."""
    import tomlkit

    return tomlkit.key(name).as_string()


def string(text: str) -> str:
    """Return a text in quotes."""
    import tomlkit

    return tomlkit.string(text).as_string()


def pairs(table: Mapping[str, Value]) -> list[str]:
    """Return a table's keys and values, each on one line."""
    return [f"{key(name)} = {_spelled(value)}" for name, value in table.items()]


def _spelled(value: Value) -> str:
    if isinstance(value, str):
        return string(value)
    if isinstance(value, dict):
        return f"{{ {', '.join(pairs(value))} }}"
    return f"[{', '.join(map(string, value))}]"
