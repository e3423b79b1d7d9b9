"""Bytes to Document: any bytes, each field from its sources."""

from __future__ import annotations

from typing import Any

import pytest
from cost_support import steps
from hypothesis import given
from hypothesis import strategies as st
from vectors import load, named

from index_cache.markdown import EXCERPT_LENGTH
from index_cache.parse import TIERS, Document
from index_cache.text import Content, NotText


def parse(path: bytes, data: bytes) -> Document:
    return Document(path, Content(data).text)


@pytest.mark.parametrize("vector", load("text.json"), ids=named)
def test_F1_text_vectors(vector: dict[str, Any]) -> None:
    data = bytes.fromhex(vector["hex"])
    if vector["text"] is None:
        with pytest.raises(NotText, match=r"^not text: "):
            Content(data)
    else:
        content = Content(data)
        assert (content.text, content.guessed) == (vector["text"], not vector["utf8"])


@pytest.mark.parametrize("vector", load("documents.json"), ids=named)
def test_document_vectors(vector: dict[str, Any]) -> None:
    document = parse(vector["path"].encode(), vector["text"].encode())
    for field, wanted in vector["document"].items():
        got = getattr(document, field)
        assert (list(got) if isinstance(got, tuple) else got) == wanted, field


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_F1_the_encoding_makes_no_difference(encoding: str) -> None:
    text = "---\ntitle: Schlüssel\n---\n# Größe\n\n日本語\n"
    document = parse(b"n.md", text.encode(encoding))
    assert (document.title, document.excerpt) == ("Schlüssel", "日本語")
    assert document.body == "# Größe\n\n日本語\n"


def test_a_name_that_is_not_utf8_gives_an_escaped_title() -> None:
    assert parse(b"caf\xe9.md", b"").title == "caf\\xe9"


def test_F1_a_file_cut_off_in_a_character_is_utf8_all_the_same() -> None:
    text = "日本語 " * 1000
    data = text.encode()
    for end in range(len(data) - 8, len(data)):
        assert not Content(data[:end]).guessed
        assert text.startswith(Content(data[:end]).text)


ALIKE = {
    "blanks": b" " * 8_000_000,
    "blank lines": b"\n" * 8_000_000,
    "one line": b"word " * 1_600_000,
    "brackets": b"[" * 1_000_000,
    "links": b"[](" * 300_000,
    "emphasis": b"*a _b " * 200_000,
    "quotes": b"> " * 300_000,
    "headings": b"# a\n" * 500_000,
    "ticks": b"`a``b" * 200_000,
    "comments": b"a <!-- " * 150_000,
    "entities": b"&amp" * 300_000,
    "an underscored title": b"---\ntitle: " + b"_a*" * 40_000 + b"\n---\n",
}


@pytest.mark.parametrize("data", ALIKE.values(), ids=ALIKE)
def test_F1_no_bytes_take_more_than_a_moment(data: bytes) -> None:
    _, cost = steps(lambda: parse(b"n.md", data))
    assert cost < 60 * len(data)


NAMES = st.binary(max_size=20).filter(lambda name: not {0, 47} & set(name))
HEADS = st.sampled_from(
    [b"", b"---\n", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"---\na: {{x}}\n"]
)


@given(
    st.tuples(HEADS, st.binary(max_size=200) | st.text(max_size=80).map(str.encode)).map(b"".join),
    NAMES,
)
def test_F1_any_bytes_are_a_document_or_not_text(data: bytes, name: bytes) -> None:
    try:
        document = parse(name + b".md", data)
    except NotText:
        return
    assert document.title
    assert document.tier in TIERS
    assert len(document.excerpt) <= EXCERPT_LENGTH + 1
    for field in document.__slots__:
        value = getattr(document, field)
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str):
                text.encode("utf-8")  # no lone surrogates
                assert "\0" not in text
                assert field == "body" or "\n" not in text
