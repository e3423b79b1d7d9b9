"""Editing JSON by text, whatever its layout: nothing else changes, and it comes off again."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st

from recall import hookedit, jsonedit
from recall.jsonedit import Broken, Document, Unsafe, created, inserted, removed, replaced

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

EVENTS = ("UserPromptSubmit", "SessionStart")
COMMAND = "/opt/bin/recall-hook --host claude 2>/dev/null || true"
KEYS = st.one_of(
    st.sampled_from(["a", "hooks", "UserPromptSubmit", "SessionStart", "}", "//", '"', "é", ""]),
    st.text(max_size=4),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(["x", "// no", "/* no */", '\\"', "{", "]", ",", "\u2028", "🎉", "/"]),
    st.text(max_size=6),
)


def group(command: str) -> dict[str, object]:
    return {"hooks": [{"type": "command", "command": command, "timeout": 15}]}


class Layout:
    """How one document is written: each choice is drawn anew, but for what a file has one of."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.newline = draw(st.sampled_from(["\n", "\r\n", "\r"]))
        self.flat = draw(st.booleans())
        self.remarks = draw(st.booleans())
        self.trailing = draw(st.booleans())
        self.indent = draw(st.sampled_from(["  ", "    ", "\t", " ", ""]))

    def gap(self, depth: int) -> str:
        kinds = ["", " ", "line"]
        if self.remarks:
            kinds += ["block", "to the end"]
        kind = self.draw(st.sampled_from(kinds))
        if kind == "block":
            return ' /* {x", */ '
        if self.flat and kind in ("line", "to the end"):
            return ""
        line = self.newline + self.indent * depth
        return {"line": line, "to the end": f' // "y": [1{line}'}.get(kind, kind)

    def written(self, value: Any, depth: int = 0) -> str:
        if isinstance(value, dict):
            parts = [
                f"{self.gap(depth + 1)}{json.dumps(key, ensure_ascii=self.draw(st.booleans()))}"
                f"{self.gap(depth + 1)}:{self.gap(depth + 1)}{self.written(each, depth + 1)}"
                for key, each in value.items()
            ]
            return self.joined("{}", parts, depth)
        if isinstance(value, list):
            parts = [self.gap(depth + 1) + self.written(each, depth + 1) for each in value]
            return self.joined("[]", parts, depth)
        return json.dumps(value, ensure_ascii=self.draw(st.booleans()))

    def joined(self, ends: str, parts: list[str], depth: int) -> str:
        inner = (
            "".join(
                part + self.gap(depth) + ("," if more or (self.trailing and parts) else "")
                for more, part in zip([*[True] * (len(parts) - 1), False], parts, strict=True)
            )
            if parts
            else ""
        )
        return ends[0] + inner + self.gap(depth) + ends[1]


def values() -> st.SearchStrategy[Any]:
    return st.recursive(
        SCALARS,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)
        ),
        max_leaves=8,
    )


@st.composite
def settings(draw: DrawFn) -> tuple[str, Any]:
    """Return a document that a host may read, and what it means."""
    value = draw(st.dictionaries(KEYS.filter(lambda key: key != "hooks"), values(), max_size=3))
    if draw(st.booleans()):
        groups = st.lists(
            st.one_of(st.just(group("date")), values()).filter(
                lambda each: "recall" not in str(each)
            ),
            max_size=2,
        )
        hooks = st.dictionaries(st.sampled_from([*EVENTS, "Stop"]), groups, max_size=3)
        value["hooks"] = draw(hooks)
    layout = Layout(draw)
    return f"{layout.gap(0)}{layout.written(value)}{layout.gap(0)}", value


def plain(value: Any) -> Any:
    return Document(json.dumps(value)).value


@given(settings())
def test_any_layout_is_understood(case: tuple[str, Any]) -> None:
    text, value = case
    document = Document(text)
    assert document.value == plain(value)
    comments = [text[start:end] for start, end in document.comments]
    assert all(each.startswith(("//", "/*")) for each in comments)


@given(settings())
def test_the_hook_goes_in_and_comes_off(case: tuple[str, Any]) -> None:
    text, value = case
    before = Document(text)
    new = hookedit.with_hook(text, EVENTS, group, COMMAND, 2)
    after = Document(new)
    wanted = json.loads(json.dumps(value))
    for event in EVENTS:
        wanted.setdefault("hooks", {}).setdefault(event, []).append(group(COMMAND))
    assert after.value == plain(wanted)
    # Nothing that was there is gone: what is left of the new text holds the old one, in order.
    rest = iter(new)
    assert all(char in rest for char in text if not char.isspace())
    assert hookedit.with_hook(new, EVENTS, group, COMMAND, 2) == new
    old = hookedit.without_hook(new, before)
    assert Document(old).value == before.value
    assert old == text
    blind = hookedit.without_hook(new)
    hooks = value.get("hooks", {})
    assert Document(blind).value is not None
    if value and value.get("hooks") != {} and all(hooks.get(event, 1) != [] for event in EVENTS):
        assert blind == text


@given(settings())
def test_a_document_that_is_cut_off_is_refused_or_something_else(case: tuple[str, Any]) -> None:
    text, _ = case
    places: list[tuple[int, int, int]] = []
    for end in range(0, len(text), max(1, len(text) // 12)):
        try:
            document = Document(text[:end])
        except Broken as broken:
            lines = text[:end].replace("\r\n", "\n").replace("\r", "\n").split("\n")
            places.append((broken.line, broken.column, len(lines)))
        else:
            assert document.is_empty or document.end <= end
    assert all(1 <= line <= lines and column >= 1 for line, column, lines in places)


@given(st.text(alphabet='{}[],:"/*\\ \n\r1atrue', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        document = Document(text)
    except Broken:
        return
    assert document.is_empty or document.text == text
    blank = "".join(" " if at in document.trailing else char for at, char in enumerate(text))
    for start, end in reversed(document.comments):
        blank = blank[:start] + blank[end:]
    assert blank.strip() == "" or json.loads(blank) is not Document


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,,}',
        "{,}",
        "[,]",
        "[1,,]",
        '{"a",}',
        "{/*}",
        "/",
        "[1]]",
        '{"a": "\\x"}',
        "tru",
        "01",
    ],
)
def test_what_no_host_reads_is_refused(text: str) -> None:
    with pytest.raises(Broken):
        Document(text)


def test_places_are_those_of_the_file() -> None:
    with pytest.raises(Broken) as caught:
        Document('{\r\n  // one\r  /* two\n */ "a" 1}')
    assert (caught.value.line, caught.value.column) == (4, 9)


def test_an_edit_that_means_something_else_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document('{"a": [1, 2]}')
    with pytest.raises(Unsafe):
        inserted(document, (), "a", 3)
    with pytest.raises(Unsafe):
        inserted(document, ("a",), "key", 3)
    monkeypatch.setattr(jsonedit, "_cuts", lambda *_: iter(['{"a": [1, ]}', '{"a": []}', "{"]))
    assert removed(document, ("a", 1)) == '{"a": [1, ]}'
    with pytest.raises(Unsafe):
        removed(document, ("a", 0))


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("[1, 2, 3]", (0,), "[2, 3]"),
        ("[1, 2, 3]", (1,), "[1, 3]"),
        ("[1, 2, 3]", (2,), "[1, 2]"),
        ("[1, 2, 3,]", (2,), "[1, 2,]"),
        ("[ 1 ]", (0,), "[]"),
        ("[1, // one\n 2, /* two */ 3]", (1,), "[1, // one\n  /* two */ 3]"),
        ("[ /* a */ 1 /* b */ ]", (0,), "[ /* a */ /* b */ ]"),
        ('{"a": 1, "b": {"c": [4]}}', ("b", "c", 0), '{"a": 1, "b": {"c": []}}'),
        ('{"\\u0061": 1}', ("a",), "{}"),
    ],
)
def test_cuts(text: str, path: tuple[str | int, ...], expected: str) -> None:
    assert removed(Document(text), path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", "[1, 2]"),
        ("[1,3]", "[1,3,2]"),
        ("[\n\t1\n]", "[\n\t1,\n\t2\n]"),
        ("[\n\t1, // x\n]", "[\n\t1, // x\n\t2,\n]"),
        ("[\r\n 1 // x\r\n]", "[\r\n 1, // x\r\n 2\r\n]"),
        ("  []", "  [\n    2\n  ]"),
        ("[ // x\n]", "[ // x\n  2\n]"),
    ],
)
def test_insertions(text: str, expected: str) -> None:
    assert inserted(Document(text), (), None, 2) == expected


def test_a_value_replaced_leaves_what_is_around_it() -> None:
    text = '{ "a" : [ "x" /* y */ , 1 ] }'
    assert replaced(Document(text), ("a", 0), 'z"') == '{ "a" : [ "z\\"" /* y */ , 1 ] }'


def test_a_first_value_stands_behind_the_remarks() -> None:
    assert created(Document("// mine"), {"a": 1}) == '// mine\n{\n  "a": 1\n}\n'
    assert created(Document(""), {}) == "{}\n"


def tried(text: str) -> None:
    with suppress(Broken):
        Document(text)


@pytest.mark.parametrize(
    "text",
    ["/*a" * 300_000, '"' * 300_001, "[" * 300_000, '{"a": [' + "1," * 300_000 + "]}"],
    ids=len,
)
def test_what_a_text_costs_grows_with_its_length(text: str) -> None:
    _, cost = steps(lambda: tried(text))
    assert cost < 100 * len(text)
