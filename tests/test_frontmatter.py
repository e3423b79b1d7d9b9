"""The metadata block: found where there is one, read as it was typed, never at any cost."""

from __future__ import annotations

from typing import Any

import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st
from vectors import load, named

from index_cache import frontmatter
from index_cache.text import decode, split


def read(text: str) -> tuple[dict[str, Any] | None, str]:
    """Return a note's metadata, None without a block, and its body."""
    text = decode(text.encode())[0]
    block, begin = split(text)
    if block is None:
        return None, text[begin:]
    return dict(frontmatter.parse(block)) if block else {}, text[begin:]


@pytest.mark.parametrize("vector", load("frontmatter.json"), ids=named)
def test_F1_F2_vectors(vector: dict[str, Any]) -> None:
    assert read(vector["text"]) == (vector["meta"], vector["body"])


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_F1_a_refused_block_costs_the_refused_key_alone(ending: str) -> None:
    lines = ["---", "id: 0123", "title: a: b: c", "status: {", "tags: [x, 'y, z']", "---", "Body"]
    meta, body = read(ending.join(lines))
    assert meta == {"id": "0123", "title": "a: b: c", "status": "{", "tags": ["x", "y, z"]}
    assert body == "Body"


def test_a_long_block_is_read_line_by_line() -> None:
    lines = [f"key{'x' * (number % 7)} {number}: value" for number in range(20_000)]
    block = "\n".join([*lines, "title: Keys", "tags: [a, b]"])
    assert len(block) > frontmatter.MAX_YAML
    found = frontmatter.parse(block)
    assert found["title"] == "Keys"
    assert found["tags"] == ["a", "b"]


def test_yaml_without_libyaml_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    names = ("resolve", "descend_resolver", "ascend_resolver")
    methods = {name: getattr(frontmatter._Nodes, name) for name in names}
    monkeypatch.setattr(frontmatter, "_Nodes", type("_Nodes", (yaml.Loader,), methods))
    for vector in load("frontmatter.json"):
        assert read(vector["text"]) == (vector["meta"], vector["body"]), vector["name"]


GROWING = {
    "aliases of aliases": "a: &a [{x}]\nb: &b [{a}]\nc: [{b}]\n".format(
        x=",".join(["x"] * 1000), a=",".join(["*a"] * 1000), b=",".join(["*b"] * 1000)
    ),
    "aliases of a long text": f"a: &a {'x' * 50_000}\nb: [{','.join(['*a'] * 1000)}]\n",
    "aliases of something deep": f"a: &a {'[' * 40_000}{']' * 40_000}\nb: [[[{'*a,' * 1000}]]]\n",
    "an alias of itself": "a: &a [*a, *a, *a]\n",
    "brackets never closed": "a: " + "[" * 100_000,
    "braces never closed": "{a: " * 30_000,
    "dashes": "- " * 60_000,
    "many refused keys": "a: [\n" * 25_000,
    "one refused key, long": "a: [\n" + "  b\n" * 30_000,
}


@pytest.mark.parametrize("block", GROWING.values(), ids=GROWING)
def test_F1_no_block_takes_more_than_a_moment(block: str) -> None:
    found, cost = steps(lambda: frontmatter.parse(block))
    assert cost < 100 * frontmatter.MAX_YAML
    assert len(repr(found)) < 40 * frontmatter.MAX_YAML


UNCLOSED = {
    "a key and blanks": "---\na" + " " * 1_000_000 + "\n---\n",
    "blank lines": "\n" * 2_000_000,
    "blanks": " " * 2_000_000,
    "comments": "---\n" + "# x\n\n" * 300_000 + "!\n---\n",
    "words": "---\n" + "word " * 300_000 + "\n---\n",
    "dashes": "---\n" + "--- x\n" * 300_000,
}


@pytest.mark.parametrize("text", UNCLOSED.values(), ids=UNCLOSED)
def test_F1_finding_the_block_takes_linear_time(text: str) -> None:
    found, cost = steps(lambda: split(text))
    assert found == (None, 0)
    assert cost < 25 * len(text)


BITS = ["---\n", "a: ", "b", "\n", "  ", "\t", "- ", "[", "]", "{", "}", "&x ", "*x", '"', "'"]
BITS += ["|\n", ">\n", "#", "!", "{{x}}", "<% %>", ": ", ", ", "...\n", "\r\n", "é", "\ufeff", "%"]


@given(st.lists(st.sampled_from(BITS), max_size=40).map("".join) | st.text(max_size=80))
def test_any_text_has_a_body_and_metadata_of_plain_values(text: str) -> None:
    block, begin = split(text)
    assert 0 <= begin <= len(text)
    if block is None:
        assert begin == 0
    else:
        assert block in text[:begin]
        assert_plain(frontmatter.parse(block))
    assert_plain(frontmatter.parse(text))


def assert_plain(value: object) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str)
            assert_plain(inner)
    elif isinstance(value, list):
        for inner in value:
            assert_plain(inner)
    else:
        assert isinstance(value, str)
