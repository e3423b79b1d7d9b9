"""What a search has besides its best cards: filters, pages, cards of records, expansions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading_support import configure, fill, note, refused, said

from index_cache.errors import InvalidInput
from index_cache.filters import Filter, Lifecycle
from recall import background
from recall.consult.expanding import Seen, expand
from recall.consult.wish import Wish
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

NAMES = ["a", "b", "c", "e", "f"]


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Records with sources, sessions and dates, all of the vault."""
    made = tmp_path / "notes"
    made.mkdir()
    lines = [
        {"id": f"r{number:02}", "content": "Of the vault.", "source": "log", "title": "Row"}
        for number in range(25)
    ]
    fill(
        made,
        {
            "a.md": note(id="a", source="cli", session="s1", created="2026-03-01", related=["b"]),
            "b.md": note(id="b", source="web", created="2026-03-02T12:00:00Z", related=["c", "a"]),
            "c.md": note("The vault. " * 40, id="c", session="s1", created="1970-01-01"),
            "e.md": note(id="e", source="cli", created="soon", related=["c", "f", "nowhere"]),
            "f.md": note(id="f", source="CLI", created="2026-03-03", valid_from="2999-01-01"),
            "rows.jsonl": "".join(json.dumps(each) + "\n" for each in lines),
        },
    )
    configure(home, made)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(background, "ask", lambda *_, **__: "recent")
    return made


def search(*arguments: str) -> dict[str, Any]:
    data: dict[str, Any] = said("search", *arguments, "--json").data()
    return data


def found(*arguments: str) -> list[str]:
    told = search("vault", "--page-size", "100", *arguments)
    assert told["total"] == len(told["items"])
    return sorted(each["id"] for each in told["items"] if each["id"] in NAMES)


# -- filters


@pytest.mark.usefixtures("root")
def test_sources_and_sessions_are_exact() -> None:
    assert found("--source", "cli") == ["a", "e"]
    assert found("--source", "cli", "--source", "web") == ["a", "b", "e"]
    assert found("--session", "s1") == ["a", "c"]
    assert found("--session", "s1", "--source", "cli") == ["a"]
    assert found("--session", "s") == []
    assert found("--source", "\udcff", "--source", "web") == ["b"]
    assert found("--source", "\ud800") == []
    assert search("vault", "-k", "5", "--source", "web")["total"] == 1
    assert found("--session", "s1", "--type", "Decision") == []


@pytest.mark.parametrize("option", ["--source", "--session", "--type"])
@pytest.mark.parametrize("command", [["search", "vault"], ["timeline", "--anchor", "a"]])
@pytest.mark.usefixtures("root")
def test_an_empty_filter_is_refused(command: list[str], option: str) -> None:
    for text in ("", " "):
        assert option in refused(*command, option, "x", option, text)


@pytest.mark.usefixtures("root")
def test_from_and_to_are_inclusive() -> None:
    assert found("--from", "1970-01-01") == ["a", "b", "c"]
    assert found("--from", "1970-01-01T00:00:00.000001") == ["a", "b"]
    assert found("--to", "1970-01-01T00:00:00") == ["c"]
    assert found("--to", "1969-12-31T23:59:59") == []
    assert found("--from", "2026-03-02T12:00:00") == ["b"]
    assert found("--from", "2026-03-02T14:00:00+02:00", "--to", "2026-03-02T12:00:00Z") == ["b"]
    assert found("--to", "2026-03-02") == ["a", "b", "c"]  # all of that day
    assert found("--to", "2026-03-02T00:00:00") == ["a", "c"]
    assert found("--from", "2026-03", "--to", "2026-03") == ["a", "b"]
    assert found("--to", "2026-02") == ["c"]


def test_edited_since_it_was_indexed_it_is_judged_by_what_it_says(root: Path) -> None:
    assert found("--source", "cli") == ["a", "e"]
    fill(root, {"a.md": note("Now of the vault.\n", id="a", source="other", created="2026-03-01")})
    told = search("vault", "--source", "cli", "--no-refresh", "--cards")
    assert [each["id"] for each in told["items"]] == ["e"]


@pytest.mark.parametrize("option", ["--from", "--to"])
@pytest.mark.usefixtures("root")
def test_a_time_must_be_one(option: str) -> None:
    for text in ("", "soon", "2026-13-01", "30d", "2026-03-01T25:00", "\udcff", "9" * 5000):
        assert option in refused("search", "vault", option, text)
    assert option in refused("search", "vault", option, "0001-01-01T00:00+14:00")
    for text in ("0001-01-01T00:00", "9999-12-31", "20260301", "2026-03-01 10:00", "2026-03"):
        assert said("search", "vault", option, text).status == 0


TEXTS = st.sampled_from(["", "a", "A", "b", "\ud800"])
MOMENTS = st.none() | st.integers(0, 1)


@given(
    st.none() | st.lists(TEXTS, max_size=2),
    st.none() | st.just(["a"]),
    st.tuples(MOMENTS, MOMENTS),
    st.tuples(st.sampled_from(["", "a", "A", "b"]), st.sampled_from(["", "a"]), MOMENTS),
)
def test_sql_and_python_say_the_same(
    sources: list[str] | None,
    sessions: list[str] | None,
    times: tuple[int | None, int | None],
    record: tuple[str, str, int | None],
) -> None:
    limits = Lifecycle(sources, sessions, *times)
    wanted = Filter(journal=True, proposal=True)
    wanted.lifecycle = limits
    clauses, values = wanted.sql()
    select = f"SELECT 1{clauses} FROM (SELECT ? AS source, ? AS session, ? AS created_at) AS d"  # noqa: S608
    rows = apsw.Connection(":memory:").execute(
        select.replace("1 AND", "1 =1 AND", 1), (*values, *record)
    )
    ((said_so,),) = rows
    assert bool(said_so) == limits.admits(*record)
    assert bool(limits) == bool(clauses)


# -- what has no meaning


REFUSED = [
    (["vault", "--page", "1", "-k", "3"], "-k has no meaning beside --page"),
    (["vault", "--page-size", "1", "-k", "3"], "-k has no meaning beside --page-size"),
    (["vault", "--cards", "-k", "3"], "-k has no meaning beside --cards"),
    (["vault", "--cards", "--budget", "300"], "--budget has no meaning beside --cards"),
    (["vault", "--page", "1", "--budget", "300"], "--budget has no meaning beside --page"),
    (["vault", "--expand", "a", "--budget", "300"], "--budget has no meaning beside --expand"),
    (["vault", "--cards", "--explain"], "--explain has no meaning beside --cards"),
    (["vault", "--max-nodes", "3"], "--max-nodes goes with --expand"),
    (["vault", "--max-tokens", "3"], "--max-tokens goes with --expand"),
    (["vault", "--expand", ""], "--expand is empty"),
    (["vault", "--from", "2026-03-02", "--to", "2026-03-01"], "--from is after --to"),
    (["--expand", "a", "--page", "1"], "--page has no meaning without a QUERY"),
    (["--expand", "a", "--type", "x"], "--type has no meaning without a QUERY"),
    (["--expand", "a", "--from", "1970-01-01"], "--from has no meaning without a QUERY"),
    (["--expand", "a", "--recency", "1"], "--recency has no meaning without a QUERY"),
    (["--expand", "a", "--explain"], "--explain has no meaning without a QUERY"),
    (["--expand", "a", "-k", "1"], "-k has no meaning without a QUERY"),
    (["vault", "--page", "0"], "--page"),
    (["vault", "--page", "-1"], "--page"),
    (["vault", "--page", "9" * 5000], "--page"),
    (["vault", "--page-size", "0"], "--page-size"),
    (["vault", "--page-size", "101"], "--page-size"),
    (["vault", "--expand", "a", "--max-nodes", "0"], "--max-nodes"),
    (["vault", "--expand", "a", "--max-nodes", "101"], "--max-nodes"),
    (["vault", "--expand", "a", "--max-tokens", "0"], "--max-tokens"),
    (["vault", "--expand", "a", "--max-tokens", "50001"], "--max-tokens"),
    (["vault", "--recency", "-0.1"], "--recency"),
    (["vault", "--recency", "inf"], "--recency"),
    (["vault", "--source"], "--source"),
    (["vault", "--source", "--cards"], "--source"),
    (["vault", "--cards", "--cards"], "--cards"),
    (["vault", "--page", "1", "--page", "2"], "--page"),
]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_has_no_meaning_is_refused(arguments: list[str], message: str) -> None:
    assert message in refused("search", *arguments)


@pytest.mark.usefixtures("root")
def test_at_the_limits() -> None:
    for arguments in (
        ["--page", "1"],
        ["--page", "9" * 30],
        ["--page-size", "1"],
        ["--page-size", "100"],
        ["--expand", "a", "--max-nodes", "1", "--max-tokens", "1"],
        ["--expand", "a", "--max-nodes", "100", "--max-tokens", "50000"],
        ["--recency", "0"],
        ["--recency", "1e308"],
    ):
        assert search("vault", *arguments)["total"] > 0


# -- pages


@pytest.mark.usefixtures("root")
def test_a_page_is_10_and_the_total_is_exact() -> None:
    told = search("vault", "--page", "1")
    assert (told["page"], told["page_size"], told["pages"], told["total"]) == (1, 10, 3, 29)
    assert len(told["items"]) == 10
    assert len(search("vault", "--page", "3")["items"]) == 9
    last = search("vault", "--page", "4")
    assert (last["items"], last["total"], last["pages"]) == ([], 29, 3)
    assert search("nothing-like-it", "--page", "1")["pages"] == 0
    assert "page" not in search("vault")
    text = said("search", "vault", "--page", "2").stdout
    assert text.endswith("9 more: raise --page\n")
    assert "more" not in said("search", "vault", "--page", "3").stdout.splitlines()[-1]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("query", ["vault", "row vault", "type:x vault", "not:row", '"the vault"'])
def test_pages_are_one_list(query: str) -> None:
    whole = search(query, "--page-size", "100")
    assert whole["total"] == len(whole["items"])
    scores = [(-each["score"], each["id"]) for each in whole["items"]]
    if any(each["score"] for each in whole["items"]):
        assert scores == sorted(scores)
    for size in (1, 2, 3, 7, 10, 28, 29, 30):
        pages = []
        for number in range(1, -(-whole["total"] // size) + 2):
            told = search(query, "--page", str(number), "--page-size", str(size))
            assert told["total"] == whole["total"]
            pages += told["items"]
        assert pages == whole["items"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.lists(st.sampled_from(["vault", "vault key", "key", "vault vault"]), max_size=30),
    st.integers(1, 8),
)
def test_concatenated_pages_are_the_list_with_all_its_ties(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int
) -> None:
    top = tmp_path_factory.mktemp("pages")
    fill(top, {f"{n % 3}/n{n}.md": note(text, id=f"n{n % 7}-{n}") for n, text in enumerate(texts)})
    top.mkdir(exist_ok=True)
    expected = sorted(f"n{n % 7}-{n}" for n, text in enumerate(texts) if "vault" in text)
    with Recall(top, cache_dir=str(top / ".cache")) as recall:
        cards, page = [], 1
        while True:
            answer = recall.answer("vault", wish=Wish(page=page, page_size=size))
            assert answer.total == len(expected)
            if not answer.cards:
                break
            cards += answer.cards
            page += 1
    assert sorted(card.id for card in cards) == expected
    assert [(-card.score, card.id) for card in cards] == sorted(
        (-card.score, card.id) for card in cards
    )


def test_a_page_of_the_library_is_bounded() -> None:
    for wrong in ({"page": 0}, {"page": 1, "page_size": 101}, {"max_nodes": 0}, {"max_tokens": 0}):
        with pytest.raises(InvalidInput):
            Wish(**wrong)  # type: ignore[arg-type]


# -- cards


@pytest.mark.usefixtures("root")
def test_a_card_has_nothing_of_a_body() -> None:
    told = search("vault", "--cards", "--page-size", "100")
    assert "ault" not in json.dumps(told["items"])
    (card,) = [each for each in told["items"] if each["id"] == "a"]
    assert card == {
        "id": "a",
        "type": None,
        "created": "2026-03-01",
        "updated": None,
        "provenance": {
            "source": "cli",
            "session": "s1",
            "root": "notes",
            "path": "a.md",
            "line": None,
        },
        "score": card["score"],
        "est_tokens": 3,
    }
    assert card["score"] > 0
    (line,) = [each for each in told["items"] if each["id"] == "r03"]
    assert (line["provenance"]["line"], line["est_tokens"]) == (4, 4)
    assert "ault" not in said("search", "vault", "--cards").stdout


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2)])
def test_tokens_are_characters_by_four(root: Path, characters: int, tokens: int) -> None:
    fill(root, {"x.md": note("ä" * characters, id="x", title="Unique kestrel")})
    (card,) = search("kestrel", "--cards")["items"]
    assert card["est_tokens"] == tokens


# -- expansions


def around(*arguments: str) -> dict[str, Any]:
    expansion: dict[str, Any] = search(*arguments)["expansion"]
    return expansion


def nodes(told: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["id"], each["depth"]) for each in told["nodes"]]


@pytest.mark.usefixtures("root")
def test_the_records_around_one() -> None:
    told = around("--expand", "a")
    assert nodes(told) == [("a", 0), ("b", 1), ("c", 2)]
    assert told["nodes"][0]["content"] == "The vault.\n"
    assert (told["truncated"], told["unresolved"]) == (False, [])
    assert nodes(around("--expand", "a", "--cards")) == nodes(told)
    assert "ault" not in json.dumps(around("--expand", "a", "--cards"))
    both = search("row", "--expand", "a", "--page", "1")
    assert (both["total"], nodes(both["expansion"])) == (25, nodes(told))
    assert search("vault")["items"]
    assert "expansion" not in search("vault")
    assert search("vault", "--page", "1")["expansion"] is None


@pytest.mark.usefixtures("root")
def test_without_a_query_nothing_is_searched_for_nor_read() -> None:
    done = said("search", "--expand", "a", "--json", stdin=b"vault")
    assert (done.data()["total"], done.data()["query"]) == (0, "")
    done = said("search", "-", "--expand", "a", "--json", stdin=b"vault")
    assert done.data()["total"] > 0


@pytest.mark.usefixtures("root")
def test_the_limits_of_an_expansion() -> None:
    assert around("--expand", "a", "--max-nodes", "3")["truncated"] is False
    told = around("--expand", "a", "--max-nodes", "2")
    assert (nodes(told), told["truncated"]) == ([("a", 0), ("b", 1)], True)
    # 3 + 3 + 110 tokens.
    assert around("--expand", "a", "--max-tokens", "116")["truncated"] is False
    told = around("--expand", "a", "--max-tokens", "115")
    assert (nodes(told), told["truncated"]) == ([("a", 0), ("b", 1)], True)
    told = around("--expand", "c", "--max-tokens", "50")
    assert (nodes(told), told["truncated"]) == ([], True)


def test_a_record_that_is_too_large_is_skipped_and_followed(root: Path) -> None:
    fill(root, {"c.md": note("The vault. " * 40, id="c", related=["g"]), "g.md": note(id="g")})
    told = around("--expand", "a", "--max-tokens", "50")
    assert (nodes(told), told["truncated"]) == ([("a", 0), ("b", 1), ("g", 3)], True)


@pytest.mark.usefixtures("root")
def test_what_is_not_valid_is_counted_but_for_the_one_that_is_named() -> None:
    told = around("--expand", "e")
    assert nodes(told) == [("e", 0), ("c", 1)]
    assert (told["not_valid"], told["truncated"]) == (1, False)
    assert told["unresolved"] == [{"id": "e", "text": "nowhere"}]
    told = around("--expand", "f")
    assert (nodes(told), told["nodes"][0]["valid"]) == ([("f", 0)], False)


def test_an_expansion_for_people(root: Path) -> None:
    fill(root, {"a.md": note("1. forged\n", id="a", related=["b"])})
    told = said("search", "--expand", "a", "--max-nodes", "1").stdout
    assert told == (
        "0 · a · notes/a.md · 3 tokens\n   1. forged\n"
        "there are more: raise --max-nodes or --max-tokens\n"
    )
    assert "forged" not in said("search", "--expand", "a", "--cards").stdout
    told = said("search", "--expand", "e").stdout
    assert told.endswith(
        "1 record not shown: not valid now\nlead to no record, or to several: nowhere (of e)\n"
    )


@pytest.mark.usefixtures("root")
def test_a_hint_names_what_helps() -> None:
    hint = said("search", "vault", "--before", "2026-03-01", "--json").error()
    assert "--source" not in hint["message"]
    assert hint["hint"].startswith("--from TIME and --to TIME, or after: and before: in QUERY; ")
    hint = said("search", "--expand", "e", "--budget", "500", "--json").error()
    assert "--max-tokens" in hint["hint"]
    assert "--page-size" not in hint["hint"]
    for command in (["search", "vault"], ["get", "a"], ["refresh"]):
        assert "3,600" in refused(*command, "--wait", "3601")
        assert said(*command, "--wait", "3600").status == 0


@pytest.mark.usefixtures("root")
def test_around_a_record_that_is_not_there() -> None:
    done = said("search", "vault", "--expand", "nix", "--json")
    assert (done.status, done.error()["code"]) == (3, "not_found")


KEYS = st.integers(0, 7)
GRAPHS = st.dictionaries(
    KEYS,
    st.tuples(st.integers(0, 6), st.lists(KEYS, max_size=5), st.booleans()),
    min_size=1,
)


def naive(
    graph: Mapping[int, tuple[int, list[int], bool]],
    start: int,
    max_nodes: int,
    max_tokens: int,
) -> tuple[list[tuple[int, int]], bool, int]:
    """Say what an expansion is, layer by layer: all that is reached, then what fits."""
    reached: list[tuple[int, int]] = []
    seen = {start}
    layer, depth, not_valid = [start], 0, 0
    while layer:
        following = []
        for key in layer:
            if key in graph and (graph[key][2] or key == start):
                reached.append((key, depth))
                for each in graph[key][1]:
                    if each not in seen:
                        seen.add(each)
                        following.append(each)
        layer, depth = following, depth + 1
    taken: list[tuple[int, int]] = []
    for key, depth in reached:
        tokens = sum(graph[each][0] for each, _ in taken)
        if len(taken) < max_nodes and tokens + graph[key][0] <= max_tokens:
            taken.append((key, depth))
    not_valid = sum(key in graph and not graph[key][2] and key != start for key in seen)
    return taken, len(taken) < len(reached), not_valid


@given(GRAPHS, KEYS, st.integers(1, 9), st.integers(1, 30))
def test_an_expansion_is_breadth_first(
    graph: dict[int, tuple[int, list[int], bool]], start: int, max_nodes: int, max_tokens: int
) -> None:
    def look(key: Any) -> Seen | None:
        if key not in graph:
            return None
        tokens, related, valid = graph[key]
        return Seen(tokens, related, valid=valid)  # type: ignore[arg-type]

    way = expand(start, look, max_nodes, max_tokens)  # type: ignore[arg-type]
    taken, truncated, not_valid = naive(graph, start, max_nodes, max_tokens)
    found: list[Any] = way.nodes  # numbers stand for places here
    assert (found, way.truncated) == (taken, truncated)
    if not truncated:
        assert way.not_valid == not_valid


def test_an_expansion_ends(long_count: Callable[[int], int]) -> None:
    most = long_count(1000)
    looked: list[Any] = []

    def look(key: Any) -> Seen:
        looked.append(key)
        return Seen(9, [key + 1], valid=True)

    way = expand(0, look, 10, 5, most)  # type: ignore[arg-type]
    assert (len(looked), way.nodes, way.truncated) == (most, [], True)

    def ends(key: Any) -> Seen:
        return Seen(1, [key + 1] if key < most - 1 else [], valid=True)

    assert not expand(0, ends, most, most, most).truncated  # type: ignore[arg-type]
