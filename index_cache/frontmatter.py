"""What the metadata block at the head of a note says.

Every scalar stays the text that the author typed (``no``, ``0123``, ``10:00``): only libyaml's node
tree is used, nothing is resolved or constructed, so tags can't run anything and aliases can't grow.
A block that YAML refuses (templates, tabs, ``title: a: b``) is read line by line instead.
See ``spec/canonical-view.md``.
"""

from __future__ import annotations

import re

import yaml

from index_cache.text import KEY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Value = str | list["Value"] | dict[str, "Value"]

MAX_YAML = 128 * 1024  # characters; a longer block is read line by line
_MAX_DEPTH = 4
_MAX_ITEMS = 1_000


# libyaml's parser, 15 times as fast, or PyYAML's own where it was built without it.
_BASE: Any = yaml.cyaml.CParser if yaml.__with_libyaml__ else yaml.Loader


class _Nodes(_BASE):
    """YAML to nodes, and no further: the tags that a resolver would find are of no use here."""

    def resolve(self, kind: object, value: object, implicit: object) -> str:
        """Return one and the same tag for everything."""
        return "tag:yaml.org,2002:str"

    def descend_resolver(self, parent: object, index: object) -> None:
        """Keep no place in the tree: ``resolve`` needs none."""

    def ascend_resolver(self) -> None:
        """Keep no place in the tree: ``resolve`` needs none."""


_LINE = re.compile(rf"(?P<indent>[ \t]*)(?P<key>{KEY})[ \t]*:(?:[ \t]+(?P<value>.*)|[ \t]*)\Z")


def parse(block: str) -> dict[str, Value]:
    """Return the block's keys, in lower case, with their values; of equal keys the last counts.

    The values of a mapping below the key ``a`` appear as ``a.b`` too.
    """
    found = _by_yaml(block) or _by_line_dedented(block)
    for key, value in list(found.items()):
        if isinstance(value, dict):
            found.update((f"{key}.{inner}", below) for inner, below in value.items())
    return found


def _by_yaml(block: str) -> dict[str, Value] | None:
    """Return what YAML makes of a block; None when it is no mapping to YAML."""
    if len(block) > MAX_YAML:
        return None
    try:
        node = _Nodes(block).get_single_node()
    except (yaml.YAMLError, UnicodeError):
        return None
    found = _plain(node, block, 0) if isinstance(node, yaml.MappingNode) else None
    return found if isinstance(found, dict) else None


def _by_line_dedented(block: str) -> dict[str, Value]:
    lines = block.splitlines()
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return _by_line([line.removeprefix(indent) for line in lines])


def _plain(node: yaml.Node, block: str, depth: int) -> Value:
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if depth < _MAX_DEPTH and isinstance(node, yaml.SequenceNode):
        return [_plain(item, block, depth + 1) for item in node.value[:_MAX_ITEMS]]
    if depth < _MAX_DEPTH and isinstance(node, yaml.MappingNode):
        pairs = node.value[:_MAX_ITEMS]
        if all(isinstance(key, yaml.ScalarNode) for key, _ in pairs):
            return {key.value.lower(): _plain(value, block, depth + 1) for key, value in pairs}
    # A template such as {{date}} is, to YAML, a mapping with a mapping for a key: keep its text.
    return block[node.start_mark.index : node.end_mark.index].strip()


def _by_line(lines: list[str]) -> dict[str, Value]:
    """Read ``key: value`` lines, with the lists, mappings and block texts indented below them."""
    found: dict[str, Value] = {}
    key = ""
    below: list[str] = []
    head = ""

    def close() -> None:
        if key:
            found[key] = _value(head, below)

    for line in lines:
        match = _LINE.match(line)
        if match and not match["indent"]:
            close()
            key, head, below = _unquote(match["key"]).lower(), match["value"] or "", []
        elif line.strip():
            below.append(line)
    close()
    return found


def _value(head: str, below: list[str]) -> Value:
    head = head.strip()
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

