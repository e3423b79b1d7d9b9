"""Searches narrowed by operators: against a naive filter, in several roots, and on files."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall
from hypothesis import given
from hypothesis import strategies as st
from search_support import ANALYZER, found, row, terms_of
from test_cli_terminal import on_terminal

from index_cache import candidates, files, scan, search
from index_cache.filters import Filter
from index_cache.model import Root
from index_cache.rows import Entry, Row
from index_cache.store import Store
from recall import Recall, asked, operators, rank
from recall.narrowing import listed as all_listed
from recall.operators import passes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = ("ash", "birch", "cedar", "dogwood", "elmTree")
TAGS = ("one", "two words", "One")
TYPES = ("", "Note", "note", "Journal")
TIMES = ("", "2026-03-05", "2026-03-05T10:00:00Z", "2026-03", "2025-12-31 23:59", "last week")
BOUNDS = (None, "2026", "2026-03", "2026-03-05", "2026-03-05T10:00:00")
NAMES = ("a.md", "d/a.md", "d/e/b.md", "f/b.md", "c.md", "d.md")
MTIMES = tuple(int(datetime(2026, 3, day, tzinfo=UTC).timestamp()) for day in (4, 5, 6))

TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
PHRASE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join)


class Note:
    def __init__(self, **fields: Any) -> None:
        self.title: str = fields["title"]
        self.body: str = fields["body"]
        self.tags: list[str] = fields["tags"]
        self.type: str = fields["type"]
        self.modified: str = fields["modified"]
        self.signature = scan._SIGNATURE.pack(fields["mtime"] * 10**9, 0, 1, 1, 1)

    def row(self, number: int, path: str) -> Row:
        texts = {"title": self.title, "body": self.body, "type": self.type}
        made = row(number, path, {**texts, "tags": "\n".join(self.tags)})
        entry = Entry(path.encode(), self.signature, made.entry.digest, suspect=False)
        document = [*(made.document or ())]
        document[2:5] = "", self.type, "\n".join(self.tags)
        document[9] = self.modified
        return Row(number, entry, tuple(document), made.terms, replaces=False)

    def has(self, phrase: tuple[str, ...]) -> bool:
        size = len(phrase)
        for text in (self.title, self.body, self.type, " ".join(self.tags)):
            terms = ANALYZER.terms(text)
            if any(tuple(terms[at : at + size]) == phrase for at in range(len(terms))):
                return True
        return False


NOTES = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(
        Note,
        title=TEXT,
        body=TEXT,
        tags=st.lists(st.sampled_from(TAGS), unique=True, max_size=2),
        type=st.sampled_from(TYPES),
        modified=st.sampled_from(TIMES),
        mtime=st.sampled_from(MTIMES),
    ),
    min_size=1,
)


def is_wanted(note: Note, path: str, wanted: dict[str, Any]) -> bool:
    types = wanted["types"]
    kind = note.type.lower()
    time = note.modified if note.modified[:2] == "20" else rank.utc(files.mtime_ns(note.signature))
    after, before = wanted["after"], wanted["before"]
    return (
        (kind in types if types is not None else wanted["journal"] or kind != "journal")
        and all(tag in [each.lower() for each in note.tags] for tag in wanted["tags"])
        and path.startswith(wanted["below"])
        and passes(time, after, before)
        and all(map(note.has, wanted["phrases"]))
        and not any(map(note.has, wanted["excluded"]))
    )


PHRASES = st.lists(PHRASE.map(lambda text: tuple(ANALYZER.terms(text))), max_size=2)
WANTED = st.fixed_dictionaries(
    {
        "types": st.sampled_from([None, [], ["note"], ["journal", "note"]]),
        "journal": st.booleans(),
        "tags": st.lists(st.sampled_from(["one", "two words"]), max_size=2),
        "below": st.sampled_from(["", "d/", "d/e/", "f/"]),
        "after": st.sampled_from(BOUNDS),
        "before": st.sampled_from(BOUNDS),
        "phrases": PHRASES,
        "excluded": PHRASES,
    }
)


def filter_of(wanted: dict[str, Any]) -> Filter:
    after, before = wanted["after"], wanted["before"]
    below = wanted["below"].encode()
    return Filter(
        wanted["types"],
        journal=wanted["journal"],
        tags=[tag.upper() for tag in wanted["tags"]],
        path=(lambda path: path.startswith(below)) if below else None,
        time=(lambda modified, sig: passes(rank.when(modified, sig), after, before)),
        phrases=[[phrase] for phrase in wanted["phrases"]],
        excluded=wanted["excluded"],
    )


def stored(notes: dict[str, Note]) -> Store:
    made = Store.create(Root("r", "/r"), None)
    made.write([note.row(n, path) for n, (path, note) in enumerate(notes.items(), 1)])
    return made


def test_Q7_a_phrase_does_not_hide_what_else_a_note_has() -> None:
    """FTS5 loses terms of (a OR b) AND phrase where NOT stands around it, as for journals."""
    notes = {
        path: Note(title="", body=body, tags=[], type="", modified="", mtime=1_772_582_400)
        for path, body in (("a.md", "ash"), ("d/a.md", "ash ash birch"))
    }
    terms = terms_of("ash birch")
    (plain, *_), (hit,) = (
        found([stored(notes)], terms, filters=[part])
        for part in (Filter(), Filter(phrases=[[("ash", "ash")]]))
    )
    assert (hit.path, hit.bm25, hit.occurrences) == (plain.path, plain.bm25, plain.occurrences)


@given(NOTES, NOTES, WANTED, st.lists(st.sampled_from(WORDS), unique=True, min_size=1))
def test_sql_filters_as_a_loop_over_the_notes_would(
    one: dict[str, Note], other: dict[str, Note], wanted: dict[str, Any], words: list[str]
) -> None:
    stores = [stored(one), stored(other)]
    part = filter_of(wanted)
    terms = terms_of(" ".join(words))
    expected = {
        (number, path.encode())
        for number, notes in enumerate((one, other))
        for path, note in notes.items()
        if is_wanted(note, path, wanted)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_FIRST_PASS", 1)  # else so few notes are one pass
        unfiltered = {(hit.root, hit.path): hit for hit in found(stores, terms)}
        hits = found(stores, terms, filters=[part, part])
    # With one pass: of several, one may end with as many as are wanted, and none of the best.
    best = found(stores, terms, 2, filters=[part, part])
    assert {(hit.root, hit.path) for hit in hits} == expected & set(unfiltered)
    assert sum(search.count(each, terms, part) for each in stores) == len(hits)
    for hit in hits:
        plain = unfiltered[hit.root, hit.path]
        assert (hit.bm25, hit.occurrences) == (plain.bm25, plain.occurrences)
    assert [hit.bm25 for hit in best[:2]] == [hit.bm25 for hit in hits[:2]]
    unphrased = {**wanted, "phrases": []}
    listed = {
        (number, path.encode()): note
        for number, notes in enumerate((one, other))
        for path, note in notes.items()
        if is_wanted(note, path, unphrased)
    }
    filters = [filter_of(unphrased)] * 2
    total, _, first = all_listed(stores, filters)
    places = [(hit.root, hit.path) for hit in first(total)]
    assert sorted(places) == sorted(listed)
    times = [rank.when(listed[place].modified, listed[place].signature) for place in places]
    assert times == sorted(times, reverse=True)
    assert total == len(places)
    assert [(hit.root, hit.path) for hit in first(3)] == places[:3]


@given(NOTES, WANTED)
def test_what_is_read_again_is_judged_as_sql_judges(
    notes: dict[str, Note], wanted: dict[str, Any]
) -> None:
    part = filter_of({**wanted, "below": ""})
    for note in notes.values():
        fields = [ANALYZER.terms(t) for t in (note.title, note.body, note.type, *note.tags)]
        admitted = part.admits_now(
            note.type, "\n".join(note.tags), note.modified, note.signature
        ) and part.admits_words(fields)
        if len(note.tags) < 2:  # two of them are one field
            assert admitted == is_wanted(note, "", {**wanted, "below": ""})


FILES = {
    "keys.md": "---\ntags: [release, ops]\ntype: Runbook\nmodified: 2026-03-05\n---\n"
    "# Rotate\nThe deploy keys live in the vault.\n",
    "docs/old.md": "---\ntags: [Release]\ntype: Note\nmodified: 2025-01-01\n---\n"
    "# Keys of old\nWe deploy legacy keys from a vault.\n",
    "docs/adr/one.md": "---\ntags: [two words]\ntype: Decision\nmodified: 2026-04-01\n---\n"
    "# To be or not to be\nWhy the vault.\n",
    "diary.md": "---\ntype: Journal\nmodified: 2026-11-01\n---\n# Diary\nThe vault, again.\n",
}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    team = tmp_path / "team"
    team.mkdir()
    (team / "vault.md").write_text("# A vault of the team\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}{os.pathsep}team={team}")
    return root


@pytest.fixture
def paths(notes: Path) -> Callable[..., list[str]]:
    def of(query: str, k: int = 10, **options: Any) -> list[str]:
        with Recall(cwd=str(notes)) as each:
            answer = each.answer(query, k, operators=True, **options)
        assert answer.total == len(answer.cards) or len(answer.cards) == k
        return [card.path for card in answer.cards]

    return of


KEYS, OLD, ADR, DIARY, TEAM = *FILES, "vault.md"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"deploy keys"', {KEYS}),
        ('"Deploy KEY" vault', {KEYS}),
        ('vault "deploy keys" "legacy keys"', set()),
        ('"to be or not"', {ADR}),
        ('vault "to be"', {ADR}),
        ('"vault"', {KEYS, OLD, ADR, TEAM}),
        ('"nowhere is this"', set()),
        ("vault not:legacy", {KEYS, ADR, TEAM}),
        ('vault not:"deploy keys"', {OLD, ADR, TEAM}),
        ("vault not:nowhere", {KEYS, OLD, ADR, TEAM}),
        ("vault not:legacy not:deploy", {ADR, TEAM}),
        ("vault tag:release", {KEYS, OLD}),
        ("vault tag:release tag:OPS", {KEYS}),
        ('vault tag:"two words"', {ADR}),
        ("vault type:runbook type:Decision", {KEYS, ADR}),
        ("vault type:journal", {DIARY}),
        ("vault root:team", {TEAM}),
        ("vault root:team root:notes", {KEYS, OLD, ADR, TEAM}),
        ("vault path:docs", {OLD, ADR}),
        ("vault path:docs/*.md path:keys.md", {OLD, KEYS}),
        ("vault before:2026", {OLD}),
        ("vault root:notes after:2026-03 before:2026-04", {KEYS}),
        ("vault root:notes after:2026-03-05", {KEYS, ADR}),
        ("vault nowhere:x type:zzyzx tag:zzyzx", {KEYS, OLD, ADR, TEAM}),
        ("zzyzx tag:release", set()),
    ],
)
def test_operators_narrow_an_answer(
    query: str, expected: set[str], paths: Callable[..., list[str]]
) -> None:
    assert set(paths(query)) == expected


@pytest.mark.parametrize(
    ("phrase", "found"),
    [
        ("東京 大阪", ["two.md"]),
        ("大阪 の話", ["two.md"]),
        ("重跑gen-itgc后", ["glued.md"]),
        ("gen-itgc后", ["glued.md"]),
        ("東京", ["long.md", "two.md"]),
        ("大阪", ["two.md"]),
        ("京都", ["long.md"]),
        ("La sécurité serveur", ["french.md"]),
        ("東京 の話", []),
    ],
)
def test_Q5_a_phrase_may_go_from_one_script_into_another(
    tmp_path: Path, phrase: str, found: list[str]
) -> None:
    texts = {
        "two.md": "東京 大阪 の話\n",
        "glued.md": "重跑gen-itgc后\n",
        "long.md": "東京都\n",
        "french.md": "---\nlang: fr\n---\nLa sécurité serveur\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with Recall([tmp_path], cache_dir=str(tmp_path / "cache")) as each:
        cards = each.answer(f'"{phrase}"', operators=True).cards
    assert sorted(card.path for card in cards) == found


def test_without_words_all_that_passes_is_listed_the_latest_first(
    notes: Path, paths: Callable[..., list[str]]
) -> None:
    assert paths("tag:release") == [KEYS, OLD]
    assert paths("root:notes not:legacy") == [ADR, KEYS]
    assert paths("root:notes") == [ADR, KEYS, OLD]
    assert paths("root:notes", 2) == [ADR, KEYS]
    assert paths("root:notes", include_journal=True) == [DIARY, ADR, KEYS, OLD]
    assert paths("tag:release", types=["Note"]) == [OLD]
    assert paths("type:note", types=["Runbook"]) == []
    assert paths("tag:release", under="docs") == [OLD]
    os.unlink(notes / KEYS)
    assert paths("tag:release", refresh=False) == [OLD]


def test_recent_notes_are_found_by_the_time_of_their_files(
    notes: Path, paths: Callable[..., list[str]]
) -> None:
    week_ago = datetime.now(tz=UTC).timestamp() - 7 * 86_400
    (notes / "new.md").write_text("# Vault, new\n")
    (notes / "week.md").write_text("---\nmodified: some day\n---\n# Vault, a week old\n")
    os.utime(notes / "week.md", (week_ago, week_ago))
    assert paths("root:notes after:3d") == ["new.md"]
    assert paths("root:notes vault after:2w before:3d") == ["week.md"]
    assert paths("root:notes after:2w") == ["new.md", "week.md"]
    os.utime(notes / "week.md")  # the cache has not seen that
    assert paths("root:notes vault before:3d after:2w", refresh=False) == []


def test_an_edited_note_is_judged_by_what_it_says_now(
    notes: Path, paths: Callable[..., list[str]]
) -> None:
    assert set(paths("vault tag:release")) == {KEYS, OLD}
    (notes / KEYS).write_text("---\ntags: [ops]\n---\nThe deploy of keys, in the vault.\n")
    assert paths("vault tag:release", refresh=False) == [OLD]
    assert paths("tag:release", refresh=False) == [OLD]
    assert paths('"deploy keys"', refresh=False) == []
    assert paths("vault root:notes not:deploy", refresh=False) == [ADR]
    assert paths("root:notes tag:ops", refresh=False) == [KEYS]
    (notes / ADR).write_text("# To be\nWhy the deploy vault.\n")
    assert paths("vault root:notes not:deploy", refresh=False) == []


def test_a_phrase_is_found_where_its_words_are_dropped_from_the_search(tmp_path: Path) -> None:
    root = tmp_path / "n"
    root.mkdir()
    for number in range(30):
        (root / f"{number}.md").write_text(f"common words {number}, some of them\n")
    (root / "x.md").write_text("words common, rare\n")
    with Recall([root], cwd=str(tmp_path)) as each:
        answer = each.answer('rare "common words"', 50, operators=True)
        assert answer.total == len(answer.cards) == 30
        answer = each.answer('rare "common words"', 3, operators=True)
        assert (answer.total, len(answer.cards)) == (30, 3)


def test_H1_without_a_sign_of_one_operators_are_not_loaded() -> None:
    assert {sign.rstrip(":") for sign in asked.SIGNS} == {'"', *operators.KEYS}


def test_the_program_says_what_it_understood(notes: Path) -> None:
    del notes
    data = recall("search", "--json", "vault", '"deploy keys"', "tag:release", "tag:no").data()
    assert [item["path"] for item in data["items"]] == [KEYS]
    assert data["query"] == 'vault "deploy keys" tag:release tag:no'
    assert data["operators"] == {
        "text": "vault deploy keys  tag:no",
        "phrases": ["deploy keys"],
        "without": [],
        "tags": ["release"],
        "types": [],
        "roots": [],
        "paths": [],
        "after": None,
        "before": None,
    }
    assert recall("search", "--json", "vault").data()["operators"] is None
    listed = recall("search", "--json", "--explain", "tag:release", "after:2026").data()
    assert [item["path"] for item in listed["items"]] == [KEYS]
    assert json.dumps(listed["items"][0]["explain"]["terms"]) == "[]"


@pytest.mark.parametrize("text", ["legacy not:legacy", 'legacy "keys of rare"', "legacy tag:ops"])
def test_Q1_text_that_was_not_typed_is_text(text: str, notes: Path) -> None:
    del notes
    assert recall("search", "--json", text).data()["items"] == []
    for arguments, stdin in (
        (["--literal", text], None),
        (["-"], text.encode()),
        ([], text.encode()),
    ):
        data = recall("search", "--json", *arguments, stdin=stdin).data()
        assert OLD in {item["path"] for item in data["items"]}
        assert data["operators"] is None
    with Recall() as each:
        assert OLD in {card.path for card in each.search(text)}
        assert each.answer(text).operators is None


def test_words_of_phrases_are_marked_and_excluded_ones_are_not(notes: Path) -> None:
    (notes / "live.md").write_text("# The live vault of the keys\n")
    status, shown = on_terminal("search", 'vault "of the" not:deploy')
    assert status == 0
    for word in ("vault", "of", "the"):
        assert f"4m{word}\x1b[0m" in shown
    assert "4mkeys" not in shown
    assert "4mlive" not in shown
