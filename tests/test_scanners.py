"""What is found by hand, to spare a search the 5 ms of ``re``, is what a pattern would find."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from index_cache import analyze, db, digests, taghints
from index_cache.model import Root
from index_cache.text import _FIRST_LINE, split
from recall import summary
from recall.output import plain


def mixes(*pieces: str, size: int = 14) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=size).map("".join)


# The patterns of spec/query-and-ranking.md, over classes of characters.
WORD = r"[aA0]+"
RUN = re.compile(
    rf"(?P<lead>(?<![aA0._-])[.@](?=[aA]))?(?P<word>{WORD}(?:[-_./:@#+]{{1,2}}{WORD})*)"
    rf"(?P<tail>\+\+|(?<![aA0][aA0])\#)?(?![aA0])"
    r"|(?P<grams>c+|k+|t+)"
)
PART = re.compile(r"A+0*(?![a0])|A?[a0]+|A")
CLASSES = {
    "日": "c",
    "か": "c",
    "한": "k",
    "ไ": "t",
    "é": "a",
    "É": "A",
    "٣": "0",
    "(": " ",
    "→": " ",
}


def expected(chunk: str) -> list[tuple[str, ...]]:
    classes = "".join(
        CLASSES.get(c) or ("0" if c.isdigit() else "A" if c.isupper() else c) for c in chunk
    ).replace("b", "a")
    runs: list[tuple[str, ...]] = []
    for run in RUN.finditer(classes):
        at = run.start("word")
        if run["grams"]:
            runs.append((run["grams"][0], chunk[run.start() : run.end()]))
            continue
        parts = [chunk[at + p.start() : at + p.end()] for p in PART.finditer(run["word"])]
        whole = [chunk[run.start() : run.end()]]
        runs.append(tuple((whole if len(parts) > 1 or run["lead"] or run["tail"] else []) + parts))
    return runs


@given(mixes(*"aabAB09._-/:@#+", *CLASSES) | mixes(*"aA0.#+@"))
def test_Q2_the_terms_of_a_chunk(chunk: str) -> None:
    analyzer = analyze.Analyzer()
    wanted: list[str] = []
    for kind, *rest in expected(chunk):
        if kind in ("c", "k", "t"):
            wanted += analyze._grams(rest[0], 3 if kind == "t" else 2)
            wanted += rest[0][-1] if kind != "t" and len(rest[0]) > 1 else ""
        else:
            wanted += (form for each in (kind, *rest) for form in analyzer._forms(each))
    assert analyzer.chunk_by_class(chunk).split() == wanted


OPEN = re.compile(r"(?:[ \t]*\r?\n)*+---[ \t]*\r?\n")
CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
BLOCKS = (
    "---",
    "...",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "key",
    ":",
    "a-b_",
    "#x",
    "é",
    "{",
    "'q'",
    "1",
)


@example("\r\n---\r\nkey: 1\r\n--- \r\nbody")
@example("---\nkey: 1\n---\r")
@given(mixes(*BLOCKS) | mixes(*BLOCKS).map("---\n".__add__))
def test_F1_where_a_block_is(text: str) -> None:
    wanted: tuple[str | None, int] = (None, 0)
    opened = OPEN.match(text)
    if opened and (closed := CLOSE.search(text, opened.end())):
        block = text[opened.end() : closed.start()]
        if re.match(_FIRST_LINE, block):
            wanted = (block, closed.end())
    assert split(text) == wanted


END = re.compile(r"[.!?…][\"')\]”’»]*\s+|[。！？।][\"”’」』）》]*\s*")


@given(mixes(*"ab .!?…\"')。！」 \n\u3000।X", "Dr.", "e.g. "))
def test_where_a_sentence_may_end(text: str) -> None:
    assert list(summary._stops(text)) == [match.span() for match in END.finditer(text)]


TAGS = mixes(
    *("<", "p", "R", "i", "1", "|", "v", "a", "t", "e", "&", "lt;", "&LT", "#60", "#x3C", "amp;"),
    *("%", "25", "3c", "%3C", "%u003c", "%EF%BC%9C", "\\", "u003c", "\\x3C", "\\74", "\\074"),
    *("‹", "＜", "か", "é", "ρ", " ", "\n", "/", "\0", ">", "private", "İ", "ſ", "K"),
)


@given(TAGS)
@example("%253c")
@example("%2525EF%25BC%259C")
@example("&amp;#60;")
@example("&AMP;amp;lt;p")
@example("\\074")
@example("<\t/ P R1vate")
def test_no_tag_is_missed_for_want_of_a_look(text: str) -> None:
    found = (
        taghints._may_be_bare(text),
        taghints._has(text, "&", taghints._IN_HTML),
        taghints._has(text, "\\", taghints._IN_JSON),
        taghints._has(text, "%", taghints._IN_URL),
    )
    patterns = (taghints._BARE, taghints._HTML, taghints._JSON, taghints._URL)
    for may, pattern in zip(found, patterns, strict=True):
        assert may or not taghints._finds(pattern, text), pattern


@given(st.text("ab-_. é0日\u0660\0", min_size=1, max_size=60))
def test_the_name_of_a_cache(name: str) -> None:
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name)[:40].strip("-") or "root"
    assert db.cache_path("/c", Root("r", f"/{name}")).startswith(f"/c/{slug}-")


@given(mixes("no", " ", '"', "'", "(", "`", "such table", ": "))
def test_what_sqlite_quotes_is_left_out(message: str) -> None:
    wanted = re.split(r"""["'(`]""", message, maxsplit=1)[0].strip() or "Exception"
    assert db.reason(Exception(message)) == wanted


@given(mixes(*"ab\t\n\x85\xa0\u2028\u3000\x1c\x1f", "é"))
def test_white_space_of_any_kind_is_a_blank(text: str) -> None:
    assert plain(text) == " ".join(text.split())


@pytest.mark.parametrize("loaded", [True, False])
def test_both_ways_to_a_digest(loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not loaded:
        monkeypatch.delitem(sys.modules, "hashlib")
    for data in (b"", b"abc", bytes(range(256)) * 100):
        assert digests.sha256(data).digest() == hashlib.sha256(data).digest()
        assert digests.sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


WITHOUT = """
import sys
from index_cache import analyze, db, schema, text
from index_cache.model import Root
from recall import output, summary
content = text.Content(b"---\\ntitle: a\\n---\\nA <b>note</b> &amp; C:\\\\tmp, 50 %. It ends.\\n")
content.digest, schema.fingerprint(), db.identity(Root("r", "/r"))
begin = text.split(content.text)[1]
list(summary._sentences(content.text[begin:]))
analyze.Analyzer().terms("don't HTTPServer-v1.2 c++ 東京 .env ชาว 한국어")
output.plain("a\\xa0title\\n of two lines")
print(*sys.modules)
"""


def test_an_ordinary_note_needs_neither_re_nor_openssl() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, check=True, timeout=60
    )
    loaded = set(done.stdout.decode().split())
    assert "index_cache.analyze" in loaded
    assert not {"re", "hashlib", "functools", "json", "enum"}.intersection(loaded)
