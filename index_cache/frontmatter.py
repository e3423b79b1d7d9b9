"""What the metadata block at the head of a note says.

Every scalar stays the text that the author typed (``no``, ``0123``, ``10:00``): only libyaml's node
tree is used, nothing is resolved or constructed, so tags can't run anything, and what aliases grow
to has a bound. A block that YAML refuses (templates, tabs, ``title: a: b``) is read key by key.
See ``spec/canonical-view.md``.
"""

from __future__ import annotations

import re

import yaml

from index_cache.text import KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Value = str | list["Value"] | dict[str, "Value"]

_MAX_NESTED = 500
_DEEP = re.compile(rf"(?:[-?:][ \t]+){{{_MAX_NESTED}}}| {{{_MAX_NESTED}}}")
MAX_YAML = 128 * 1024  # characters; a longer block is read line by line
_MAX_DEPTH = 4
_MAX_ITEMS = 1_000
_MAX_GROWN = 4 * MAX_YAML  # characters and nodes that a block may become by its aliases
_MAX_TRIES = 200  # keys of a refused block that YAML is asked about one by one


# libyaml's parser, 15 times as fast, or PyYAML's own where it was built without it.
_BASE: Any = yaml.cyaml.CParser if yaml.__with_libyaml__ else yaml.Loader  # type: ignore[attr-defined]


class _Nodes(_BASE):  # type: ignore[misc]
    """YAML to nodes, and no further: the tags that a resolver would find are of no use here."""

    def resolve(self, *_: object) -> str:
        """Return one and the same tag for everything."""
        return "tag:yaml.org,2002:str"

    def descend_resolver(self, *_: object) -> None:
        """Keep no place in the tree: ``resolve`` needs none."""

    def ascend_resolver(self) -> None:
        """Keep no place in the tree: ``resolve`` needs none."""


_STRUCTURE = frozenset("[{\"'|>&*!")  # what a value begins with that YAML knows better than a line


class _TooMuch(Exception):
    """A block's aliases make more of it than any metadata needs."""


_LINE = re.compile(rf"(?P<indent>[ \t]*)(?P<key>{KEY})[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)\Z")


def parse(block: str) -> dict[str, Value]:
    """Return the block's keys, in lower case, with their values; of equal keys the last counts.

    The values of a mapping below the key ``a`` appear as ``a.b`` too.
    """
    found = _by_yaml(block) or _by_key(block)
    for key, value in list(found.items()):
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", below) for inner, below in value.items())
    return found


def refusal(block: str) -> int | None:
    """Return the line of a block (from 0) at which YAML refuses it, None for what is read as YAML.

    A block that has nothing but comments says nothing, and is not refused.
    """
    if _by_yaml(block) is not None:
        return None
    if len(block) > MAX_YAML or _is_deep(block):
        return 0
    try:
        node = _Nodes(block).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return mark.line if mark is not None else 0
    except (yaml.YAMLError, UnicodeError):
        return 0
    return None if node is None else 0


def _is_deep(block: str) -> bool:
    """Tell whether a block may nest so deeply that libyaml before 0.2.6 overflows the stack."""
    return block.count("[") + block.count("{") > _MAX_NESTED or bool(_DEEP.search(block))


def _by_yaml(block: str) -> dict[str, Value] | None:
    """Return what YAML makes of a block; None when it is no mapping to YAML."""
    if len(block) > MAX_YAML or _is_deep(block):
        return None
    try:
        node = _Nodes(block).get_single_node()
    except (yaml.YAMLError, UnicodeError):
        return None
    if not isinstance(node, yaml.MappingNode):
        return None
    try:
        found = _Plain(block).value(node, 0)
    except _TooMuch:
        return None
    return found if isinstance(found, dict) else None


class _Plain:
    """Turns the nodes of one block into plain values."""

    def __init__(self, block: str) -> None:
        self._block = block
        self._left = _MAX_GROWN

    def value(self, node: yaml.Node, depth: int) -> Value:
        """Return a node's value. Raises _TooMuch."""
        if depth < _MAX_DEPTH and isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value[:_MAX_ITEMS]]
        if depth < _MAX_DEPTH and isinstance(node, yaml.MappingNode):
            pairs = node.value[:_MAX_ITEMS]
            if all(isinstance(key, yaml.ScalarNode) for key, _ in pairs):
                return {key.value.lower(): self.value(value, depth + 1) for key, value in pairs}
        if isinstance(node, yaml.ScalarNode):
            text = str(node.value)
        else:
            # A template such as {{date}} is, to YAML, a mapping with a mapping for a key.
            text = self._block[node.start_mark.index : node.end_mark.index].strip()
        self._left -= len(text) + 1
        if self._left < 0:
            raise _TooMuch
        return text


def _by_key(block: str) -> dict[str, Value]:
    """Read the keys of a block that is no YAML as a whole, each by itself."""
    found: dict[str, Value] = {}
    tries = _MAX_TRIES if len(block) <= MAX_YAML else 0
    for key, head, below in _keys(block):
        alone = None
        if tries and (below or head[:1] in _STRUCTURE):
            tries -= 1
            lines = [f"x: {head}", *(f" {line.expandtabs(2)}" for line in below)]
            alone = _by_yaml("\n".join(lines) + "\n")
        found[key] = alone["x"] if alone and len(alone) == 1 else _value(head, below)
    return found


def _keys(block: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each ``key: value`` line of a block with the lines that belong to it."""
    lines = block.splitlines()
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    key, head, below = "", "", list[str]()
    for line in (each.removeprefix(indent) for each in lines):
        match = _LINE.match(line)
        if match and (not match["indent"] or _is_tabbed(match["indent"], head)):
            if key:
                yield key, head, below
            key, head, below = _unquote(match["key"]).lower(), (match["value"] or "").strip(), []
        elif line.strip():
            below.append(line)
    if key:
        yield key, head, below


def _is_tabbed(indent: str, head: str) -> bool:
    """Tell whether a key was put behind tabs though the key above it is complete."""
    return bool(head) and head[:1] not in _STRUCTURE and not indent.strip("\t")


def _value(head: str, below: list[str]) -> Value:
    """Return what a key's own line and the lines below it say, without YAML."""
    lines = [line.strip() for line in below]
    if head[:1] in (">", "|") and len(head) <= len(">-2"):
        return ("\n" if head[0] == "|" else " ").join(lines)
    if head.startswith("[") and head.endswith("]"):
        return [_unquote(item) for item in head[1:-1].split(",") if item.strip()]
    if head or not lines:
        return " ".join([_unquote(head), *lines]) if lines else _unquote(head)
    if all(line.startswith("-") for line in lines):
        return [_unquote(line[1:]) for line in lines]
    pairs = [match for match in map(_LINE.match, lines) if match]
    if pairs:
        return {_unquote(m["key"]).lower(): _unquote(m["value"] or "") for m in pairs}
    return " ".join(lines)


def _unquote(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
