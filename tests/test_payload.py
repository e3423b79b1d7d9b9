"""What may be handed over to be remembered, and the names of files that come from titles."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
import vectors
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import GovernanceRefused, InvalidInput, RecallError
from recall.writing import payload, recordtext
from recall.writing.filenames import (
    NAME_BYTES,
    SLUG_BYTES,
    checked_path,
    fold,
    free,
    is_reserved,
    slug,
)
from recall.writing.recordtext import Note

if TYPE_CHECKING:
    from collections.abc import Callable

WRITING = vectors.load("writing.json")
LEAST = {"type": "memory", "title": "T", "text": "x"}


def encoded(fields: Any) -> bytes:
    return fields.encode() if isinstance(fields, str) else json.dumps(fields).encode()


def read(**fields: Any) -> payload.Record:
    return payload.read(encoded({**LEAST, **fields}), "remember")


@pytest.mark.parametrize("vector", WRITING["payloads"], ids=vectors.named)
def test_payloads(vector: dict[str, Any]) -> None:
    if vector["code"] is None:
        payload.read(encoded(vector["payload"]), vector["command"])
        return
    with pytest.raises(RecallError) as caught:
        payload.read(encoded(vector["payload"]), vector["command"])
    assert (caught.value.code, caught.value.where) == (vector["code"], vector["where"])


def lines(field: str) -> Callable[[int], dict[str, Any]]:
    return lambda size: {field: "é" * (size // 2) + "x" * (size % 2)}


def item(field: str) -> Callable[[int], dict[str, Any]]:
    return lambda size: {field: ["x" * size]}


def items(field: str) -> Callable[[int], dict[str, Any]]:
    return lambda count: {field: [f"x{number}" for number in range(count)]}


def path(size: int) -> dict[str, Any]:
    return {"path": "memory/" + "x/" * ((size - 11) // 2) + "x" * ((size - 11) % 2 + 1) + ".md"}


LIMITS: dict[str, tuple[Callable[[int], dict[str, Any]], int]] = {
    "text": (lines("text"), 65_536),
    **{each: (lines(each), 1_024) for each in ("title", "source", "session", "description")},
    "id": (lambda size: {"id": "x" * size}, 1_024),
    "tag": (item("tags"), 1_024),
    "link": (item("related"), 1_024),
    "other link": (item("links"), 1_024),
    "tags": (items("tags"), 64),
    "related": (items("related"), 64),
    "links": (items("links"), 64),
    "path": (path, 4_096),
}


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_is_the_last_that_is_taken(name: str) -> None:
    make, limit = LIMITS[name]
    for below in (limit - 1, limit):
        read(**make(below))
    with pytest.raises(InvalidInput, match=r"longer than|more than"):
        read(**make(limit + 1))


def test_the_limit_of_the_whole() -> None:
    assert payload.MAX_PAYLOAD == 262_144
    least = encoded(LEAST)
    for size in (payload.MAX_PAYLOAD - 1, payload.MAX_PAYLOAD):
        payload.read(least.ljust(size), "remember")
    with pytest.raises(InvalidInput, match="262,144 bytes"):
        payload.read(least.ljust(payload.MAX_PAYLOAD + 1), "remember")


@pytest.mark.parametrize("data", [b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000, b"", b"1e999"])
def test_no_bytes_are_a_fault_of_ours(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        payload.read(data, "remember")


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "a <private>hunter2"},
        {"title": "<private>hunter2</private>"},
        {"id": "a <private>hunter2</private> b"},
        {"tags": ["<PRIVATE >hunter2"]},
        {"<private>hunter2</private>": 1},
        {"type": "<private>hunter2</private>"},
        {"created": "<private>hunter2</private>"},
        {"path": "<private>hunter2</private>../x"},
    ],
)
def test_private_text_is_in_no_record_and_no_error(fields: dict[str, Any]) -> None:
    try:
        record = read(**fields)
    except RecallError as error:
        said = f"{error.message} {error.where} {error.hint}"
    else:
        said = " ".join(str(getattr(record, name)) for name in record.__slots__)
        assert record.stripped
    assert "hunter2" not in said


def test_what_is_left_of_nothing_is_refused_as_such() -> None:
    for field in ("title", "text", "source", "description", "id"):
        with pytest.raises(GovernanceRefused):
            read(**{field: " <private>x</private> "})


HIDDEN = [
    *("a <?php x ?> b", "a <!x> b", "<![CDATA[x]]>", "<!DOCTYPE html>", "<!-- x -->"),
    *("[//]: # (x)", "[x]: <> (y)", "a\n\n> [x]: /y 'z'", "- [x\ny]:\n /z", "[^1]: x y z"),
    *("[a `b]: /url`", "[](#x)", "[ ](x 'y')", "<template>x</template>", "<script>x"),
    *(
        "a <span hidden>x</span>",
        "a <b hidden>x</b>",
        "a <b\nhidden>x",
        "<p>\n`<script>`",
        "a <id>",
    ),
    *("<b>\n`<i x>`", "> - <b>\n`x`", "\\`<script>`", "`a\n<script>`", "``<script>`", "<script"),
    *("- ```\n\n<script>", "  ```\n<script>\n```", "```\n```\n<script>", "``` `x`\n<script>"),
    *("| `a | <script>` |", "a </div> b", "~~~\n~~~\n<p>", "a <x/> b", "a <B HIDDEN> b"),
]
SEEN = [
    *("a < b and c > d", "Vec<String, X>", "<https://x.org/y>", "see <a@x.org>", "H<sub>2</sub>O"),
    *(
        "`<script>`",
        "use ``a ` <p x>`` so",
        "```html\n<p hidden>\n[x]: y\n```",
        "~~~\n<?x?>\n```\n~~~",
    ),
    *(
        "```\n<script>",
        "a<br>b<br/>\nc<br />",
        "[x](y 'z')",
        "![](x.png)",
        "- [ ] x\n- [x] y",
        "a[1]: x",
    ),
    *(
        "[INFO]: it ran well",
        "x <- y",
        "1 <2",
        "a<b, c",
        "`a`<b>c</b>`<x y>`",
        "press <kbd>Q</kbd>",
    ),
]


@pytest.mark.parametrize("text", HIDDEN)
def test_S2_what_readers_do_not_see_is_refused(text: str) -> None:
    for around in ("{}", "One.\n\n{}", "{}\n\nTwo."):
        with pytest.raises(InvalidInput, match="see") as caught:
            read(text=around.format(text))
        assert caught.value.where == "text"


@pytest.mark.parametrize("text", SEEN)
def test_what_readers_see_is_taken(text: str) -> None:
    assert read(text=text).text == text


@pytest.mark.parametrize("plane", range(17))
def test_noncharacters_of_every_plane_are_refused(plane: int) -> None:
    for last in (0xFFFE, 0xFFFF):
        with pytest.raises(InvalidInput, match="not seen"):
            read(text=f"a{chr(plane * 0x10000 + last)}b")
    if plane:
        assert read(text=f"a{chr(plane * 0x10000 + 0xFFFD)}b").text  # no noncharacter


@pytest.mark.parametrize("char", ["\u2800", "\u3164", "\U0001d159", "\u200b", "\u00a0"])
def test_what_shows_nothing_is_nothing(char: str) -> None:
    for field in ("text", "title"):
        with pytest.raises(InvalidInput, match="nothing of it can be seen"):
            read(**{field: char * 3})
    assert read(text=f"{char}x").text


def test_a_private_span_over_two_fields_fails_closed() -> None:
    for fields in (
        {"title": "A <private>x", "text": "hunter2</private> z"},
        {"tags": ["a <private>x", "hunter2</PRIVATE >"]},
        {"source": "hunter2 < / private> x"},
    ):
        with pytest.raises(GovernanceRefused, match="did not begin in it") as caught:
            read(**fields)
        assert "hunter2" not in f"{caught.value.message} {caught.value.hint}"
    assert read(text="a <private>b <private>c</private></private>d").text == "a d"


def test_a_mark_of_byte_order_is_named() -> None:
    with pytest.raises(InvalidInput, match="BOM"):
        payload.read(b"\xef\xbb\xbf" + encoded(LEAST), "remember")


# -- names


@pytest.mark.parametrize("vector", WRITING["names"], ids=lambda vector: str(vector[0])[:20])
def test_names(vector: list[str]) -> None:
    title, name = vector
    assert slug(title) + ".md" == name


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_any_title_gives_a_name_that_every_system_takes(title: str) -> None:
    name = slug(title)
    assert name
    assert len(name.encode()) <= SLUG_BYTES + len("-note")
    assert len(f"{name}-999999.md".encode()) <= NAME_BYTES
    assert not set(name) & set('/\\<>:"|?*. \0')
    assert name == unicodedata.normalize("NFC", name)
    assert not is_reserved(name)
    assert name[0] != "-" != name[-1]
    assert not unicodedata.combining(name[0])
    # A name that is asked for by path is judged as one that a title gives.
    if name.isprintable():
        checked_path(f"memory/{name}.md", "memory")


def test_names_that_are_taken_get_a_number() -> None:
    taken = {fold(name) for name in ("A.md", "a-2.md", "E\u0301.md", "STRASSE.md")}
    assert free("a", taken) == "a-3.md"
    assert free("é", taken) == "é-2.md"
    assert free("straße", taken) == "straße-2.md"
    assert free("b", taken) == "b.md"


@pytest.mark.parametrize(
    "name",
    ["Copilot-Instructions", "CLAUDE.local", "agents.override", "x.instructions", "a.prompt"],
)
def test_files_that_agents_obey_are_no_notes(name: str) -> None:
    with pytest.raises(InvalidInput, match="kept for a file"):
        checked_path(f"memory/{name}.md", "memory")


# -- new notes

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
TITLES = [
    *("Use `git rebase`", "__init__ order", "a & b &amp; c", "[x](y) [[z]]", "<b>", "*", "a*b*"),
    *("C:\\dir", "x: y # z", "'single' \\ \"double\"", "{{date}}", "~~no~~", "- x", "# x", "> x"),
    *("!![x](y)", "no", "2026-11-30", "0123", "~", "null", "@a", "%b", "&x", "*x", "🚀", "密钥"),
]


@pytest.mark.parametrize("title", TITLES)
def test_titles_read_back_as_they_are_whatever_markdown_or_yaml_they_look_like(title: str) -> None:
    record = read(title=title, description=title, tags=[title], source=title)
    record.id = "r-1"
    note = Note("x.md", recordtext.new_note(record, "claude", NOW), "/x.md")
    assert note.document.title == note.document.description == title
    assert note.document.tags == (title,)
    assert note.keys()["source"] == title


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_spelled", lambda text, _: text),
        ("scalar", lambda _: "x"),
        ("_is_time", lambda _: True),
        ("_PLAIN", re.compile(r"[^`]*")),
        ("stamp", lambda _: "2026\nprivate: yes"),
    ],
)
def test_what_would_read_back_otherwise_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, broken: Any
) -> None:
    record = read(title="`x`: y", source='"x"')
    record.id = "r-1"
    recordtext.new_note(record, "claude", NOW)
    monkeypatch.setattr(recordtext, name, broken)
    with pytest.raises(InvalidInput, match="read back"):
        recordtext.new_note(record, "claude", NOW)


# -- appending


@pytest.mark.parametrize("vector", WRITING["appends"], ids=vectors.named)
def test_appends(vector: dict[str, Any]) -> None:
    note = Note("x.md", vector["before"].encode(), "/x.md")
    now = datetime.fromisoformat(vector["now"])
    if vector["after"] is None:
        with pytest.raises(InvalidInput, match="can't be changed"):
            note.appended(vector["text"], now)
        return
    assert note.appended(vector["text"], now).decode() == vector["after"]


@pytest.mark.parametrize("data", [b"\xff\xfea\0", b"caf\xe9", b"\0" * 100])
def test_what_is_not_utf_8_is_not_changed(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        Note("x.md", data, "/x.md").appended("x", NOW)
