"""A prompt that names a note asks for it: by path, file's name, id or whole title."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import ANYTHING, WORDING, Fields, row
from text_support import ANY_TEXT
from vectors import load, named

from index_cache.lookup import by_name
from index_cache.model import Hit, Root
from index_cache.store import Store
from recall import naming
from recall.named import MOST_ALIKE, Asked, names, pieces
from recall.recalling import may_name

if TYPE_CHECKING:
    from collections.abc import Mapping

VECTORS = load("named.json")
NOTES = Root("notes", "/home/me/notes")


def cache(notes: Mapping[bytes, Mapping[str, str]]) -> Store:
    """Return a cache of notes by path, each with an id and a title."""
    made = Store.create(NOTES, None)
    rows = []
    for number, (path, note) in enumerate(notes.items(), 1):
        one = row(number, note.get("id", f"none {number}"), Fields(title=note.get("title", "")))
        one.entry.path = path
        one.entry.digest = number.to_bytes(32, "big")
        rows.append(one)
    made.write(rows)
    return made


def asked(
    prompt: str, notes: Mapping[bytes, Mapping[str, str]], cwd: str | None = None
) -> list[bytes]:
    """Return what a prompt asks for, as the hook finds it: looked up, or found by a search."""
    of = cache(notes)
    prompted = Asked(prompt, WORDING, cwd)
    wanted = prompted.wanted(NOTES)
    looked_up = by_name(of, ANYTHING, [*wanted.paths], [*wanted.names], [*wanted.ids], 20)
    everything = by_name(of, ANYTHING, [*notes], [], [], len(notes))
    chosen = prompted.choose(everything, [NOTES])
    assert chosen == [hit for hit in everything if hit.path in {each.path for each in chosen}]
    untitled = [each.path for each in chosen if not prompted._has_title(each.title)]
    assert {*untitled} <= {hit.path for hit in looked_up}  # what is asked for can be looked up
    return [hit.path for hit in chosen]


def paths(*written: str) -> dict[bytes, dict[str, str]]:
    return {each.encode("utf-8", "surrogateescape"): {} for each in written}


@pytest.mark.parametrize("vector", VECTORS["pieces"], ids=named)
def test_vectors_of_pieces(vector: dict[str, Any]) -> None:
    found = pieces(vector["prompt"])
    if "has" in vector:
        assert {*vector["has"]} <= {*found}
    else:
        assert sorted(found) == sorted(vector["pieces"])


@pytest.mark.parametrize("vector", VECTORS["asked"], ids=named)
def test_vectors_of_what_is_asked_for(vector: dict[str, Any]) -> None:
    notes = {path.encode(): note for path, note in vector["notes"].items()}
    found = asked(vector["prompt"], notes, vector.get("cwd"))
    assert [path.decode() for path in found] == vector["asked"]


@pytest.mark.parametrize("vector", VECTORS["only"], ids=named)
def test_vectors_of_prompts_that_are_only_names(vector: dict[str, Any]) -> None:
    assert Asked(vector["prompt"], WORDING).is_only_names() is vector["only"]


@pytest.mark.parametrize(
    "written",
    [
        *("`{}`", '"{}"', "'{}'", "“{}”", "«{}»", "({})", "[{}]", "<{}>", "**{}**", "_{}_", "@{}"),
        *(
            "{}.",
            "{},",
            "{}:",
            "{}?",
            "{}!",
            "{};",
            "{}…",
            "{}:12",
            "{}:12:5",
            "{}:12-20",
            "{}#L12",
        ),
        *("{}#a-heading", "{}?plain=1", "{}(12)", "./{}", "[x]({})", "[x]({}#y)", "（{}）", "{}。"),
        *("看{}吧", "path={}", "{}'s", "x,{},y", "/{}", "file:///home/me/notes/{}", '@"{}"'),
    ],
)
def test_however_a_path_is_written(written: str) -> None:
    notes = paths("docs/keys.md", "other/keys.md")
    assert asked(f"what of {written.format('docs/keys.md')} now", notes) == [b"docs/keys.md"]


@pytest.mark.parametrize("path", ["docs/a b.md", "a b/c.md", "docs/it's 1, {x}.md"])
@pytest.mark.parametrize("written", ["`{}`", '"{}"', "[x]({})", "<{}>", "“{}”", "[[{}]]"])
def test_a_path_with_blanks(path: str, written: str) -> None:
    assert asked(f"what of {written.format(path)} now", paths(path)) == [path.encode()]


def test_S1_paths_of_any_form() -> None:
    composed, taken_apart = (unicodedata.normalize(form, "docs/é.md") for form in ("NFC", "NFD"))
    for on_disk in (composed, taken_apart):
        for typed in (composed, taken_apart):
            assert asked(typed, paths(on_disk)) == [on_disk.encode()]
    assert asked("docs/caf\\xe9.md", {b"docs/caf\xe9.md": {}}) == [b"docs/caf\xe9.md"]
    assert asked("docs/caf\udce9.md", {b"docs/caf\xe9.md": {}}) == [b"docs/caf\xe9.md"]
    assert asked("two\nlines.md", paths("docs/two\nlines.md")) == []


def test_wildcards_are_letters() -> None:
    notes = paths("docs/abc.md", "docs/a%c.md", "docs/a_c.md", "docs/[abc].md", "docs/*.md")
    assert asked("a%c.md", notes) == [b"docs/a%c.md"]
    assert asked("docs/a_c.md", notes) == [b"docs/a_c.md"]
    assert asked("docs/[abc].md", notes) == [b"docs/[abc].md"]
    assert asked("`docs/*.md`", notes) == [b"docs/*.md"]


def test_only_paths_within_the_root() -> None:
    notes = paths("keys.md", "a/keys.md")
    assert asked("/home/me/notes/../notes/a/../keys.md", notes) == [b"keys.md"]
    assert asked("/home/me/other/a.md ../keys.md ../../etc/keys.md", notes) == []
    assert asked("~/notes/a/keys.md", notes) == [b"a/keys.md"]
    assert asked("/home/me/notesa/keys.md", notes) == []
    assert asked("../other/keys.md", notes, "/home/me/other") == []
    assert asked("xyz/keys.md", paths("z/keys.md", "keys.md"), "/home/me/notes/..") == []
    assert asked("./keys.md", notes) == [b"keys.md"]
    assert asked("./keys.md", notes, "/home/me/notes/a") == [b"a/keys.md", b"keys.md"]


def test_what_many_go_by_is_the_name_of_none() -> None:
    few = paths(*(f"{number}/one-2.md" for number in range(MOST_ALIKE)))
    many = paths(*(f"{number}/one-2.md" for number in range(MOST_ALIKE + 1)))
    assert len(asked("one-2.md", few)) == MOST_ALIKE
    assert asked("one-2.md", many) == []
    assert asked("one-2.md, I mean 3/one-2.md", many) == [b"3/one-2.md"]
    assert asked("one-2.md", many | paths("one-2.md")) == [b"one-2.md"]
    assert asked("keys.md", paths("keys.md", "a/keys.md")) == [b"keys.md"]


def test_copies_of_one_text_are_not_many() -> None:
    hits = [hit(path=b"%d/one-2.md" % number, digest=b"same" * 8) for number in range(9)]
    assert Asked("one-2.md", WORDING).choose(hits, [NOTES]) == hits


def hit(path: bytes = b"a.md", digest: bytes = bytes(32), title: str = "", own: str = "") -> Hit:
    texts = ("", "", "", "", "en", "", "", "", "unverified", "")
    return Hit(0, 0, [], [], path, bytes(40), 0, 0, digest, own, title, *texts, None, None)


@pytest.mark.parametrize(
    ("title", "prompt"),
    [
        ("Rotate the vault keys", "rotate  THE\nvault-keys!"),
        ("vault_rotation: how-to", "the vault rotation how to, please"),
        ("Ärger mit Prokura", "arger mit prokura"),
        ("DEC-0054", "see dec-0054."),
        ("Ｖａｕｌｔ ｒｏｔａｔｉｏｎ", "vault rotation"),
        ("Ротация ключей хранилища", "что такое «ротация ключей хранилища»?"),
    ],
)
def test_a_title_is_the_same_in_any_dress(title: str, prompt: str) -> None:
    assert names(prompt, hit(title=title), NOTES, None, WORDING)


@pytest.mark.parametrize(
    "title",
    ["", "!", "...", "Deploy", "How it works", "The", "Run the tests", "keys", "Vault", "C", "v2"],
)
def test_a_title_that_tells_little_is_no_name(title: str) -> None:
    assert not names(f"well, {title} it is", hit(title=title), NOTES, None, WORDING)


def test_the_last_words_of_a_long_prompt_count() -> None:
    pasted = "at frame/one.py:12 in thing\n" * 4_000  # 100 KB
    prompt = f"docs/a.md {pasted} what of docs/b.md and the vault rotation"
    assert asked(prompt, paths("docs/a.md", "docs/b.md")) == [b"docs/a.md", b"docs/b.md"]


def test_a_title_in_a_prompt_about_more_is_no_name() -> None:
    note = hit(title="Vault rotation")
    assert names("and the vault rotation, please?", note, NOTES, None, WORDING)
    assert not names("the vault rotation fails with a timeout", note, NOTES, None, WORDING)


BIG = [
    *(
        "x" * 100_000,
        "'\"`“" * 25_000,
        "[" * 100_000,
        "[[" * 50_000,
        "](" * 50_000,
        ".md:" * 25_000,
    ),
    *("../" * 33_000, "` x.md" * 17_000, "\\ " * 50_000, "a-1 " * 25_000, "%41/" * 25_000),
    " ".join(f"ID-{number}" for number in range(20_000)),
    " ".join(f"src/a{number}/b.md:12" for number in range(5_000)),
    ",".join(f"a-{number}" for number in range(90)),  # one stretch
    " ".join(f"word{number}" for number in range(10_000)),
    "请看docs/x.md的内容 " * 7_000,
    "\0" * 100_000,
]


@pytest.mark.parametrize("prompt", BIG, ids=range(len(BIG)))
def test_Q1_the_work_is_bounded(prompt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    names_of = naming._names

    def counted(chunk: str) -> Any:
        looked_at.append(len(chunk))
        return names_of(chunk)

    monkeypatch.setattr(naming, "_names", counted)
    prompted = Asked(prompt, WORDING, "/home/me")
    wanted = prompted.wanted(NOTES)
    prompted.is_only_names()
    # That many at the front, that many at the back, and what stands between marks.
    assert sum(looked_at) <= naming.LOOKED_AT + len(naming._CLOSERS) * 50 * naming.LONGEST
    assert len(looked_at) <= naming.LOOKED_AT // 2 + len(naming._CLOSERS) * 50
    assert len(prompted.pieces) <= naming.MOST
    assert max(map(len, prompted.pieces), default=0) <= naming.LONGEST
    assert len(wanted.paths) + len(wanted.names) + len(wanted.ids) < 40 * naming.MOST


def test_Q1_few_stretches_between_marks_are_looked_at() -> None:
    assert len(list(naming._enclosed("` an x.md" * 1_000))) <= naming._MOST_ENCLOSED


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.none() | st.just("/home/me/notes/x"))
def test_any_text_is_a_prompt(prompt: str, title: str, own: str, cwd: str | None) -> None:
    prompted = Asked(prompt, WORDING, cwd)
    prompted.is_only_names()
    prompted.asks_for(hit(title=title.replace("\0", ""), own=own), NOTES)
    wanted = prompted.wanted(NOTES)
    assert all(b"\0" not in each and each for each in (*wanted.paths, *wanted.names))
    assert all(0 < len(each) <= naming.LONGEST for each in prompted.pieces)


PLAIN = st.lists(
    st.sampled_from(
        ["vault", "Rotation", "keys?", "(deploy)", "it's", "read-only", "v1.2", "Über", "[[Keys]]"]
    ),
    max_size=6,
).map(" ".join)


@given(PLAIN, PLAIN)
def test_what_names_nothing_is_told_without_looking_closer(prompt: str, title: str) -> None:
    prompted = Asked(prompt, WORDING)
    if not may_name(prompt, [title]):
        assert not prompted.pieces
        assert not prompted.asks_for(hit(title=title), NOTES)
        assert not prompted.is_only_names()


@given(
    st.lists(
        st.sampled_from(["a", "b c", "é", "[x]", "..", "%41", "研", "it's", "-1", "(2)"]),
        min_size=1,
        max_size=4,
    )
)
def test_a_path_in_backticks_is_asked_for(parts: list[str]) -> None:
    path = "/".join([*(part.replace("..", "d") for part in parts), "page x.md"])
    assert path.encode() in asked(f"so: `{path}`!", paths(path))
