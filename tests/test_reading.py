"""The reading contract: limits, refusals, envelopes, freshness. See ``spec/reading.md``."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import SCHEMAS, check
from reading_support import configure, fill, note, refused, said, settle

from index_cache.errors import IntegrityError, InvalidInput, NotFound
from index_cache.files import FileSystem
from index_cache.model import Root, Rules
from index_cache.reader import place_id
from index_cache.store import Store
from recall import background, opened
from recall.cli import timeline
from recall.consult import expanding, readout, records, whole, wish
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOTES = {
    "a.md": note(
        "Alpha of the vault <private>hidden</private>.\n",
        id="a",
        title="Alpha",
        type="Decision",
        created="2026-03-01",
        source="cli",
        session="s1",
        related=["b", "[[gamma]]", "nowhere"],
    ),
    "b.md": note(
        "Beta of the vault.\n",
        id="b",
        title="Beta",
        created="2026-03-02T10:00:00+02:00",
        updated="2026-03-03",
        source="web",
        related="a",
        valid_until="2026-03-04",
    ),
    "sub/gamma.md": note("# Gamma\n\nOf the vault.\n", created="2026-03-01T00:00:00Z"),
    "undated.md": "# Undated\n\nOf the vault.\n",
    "diary.md": note("Of the vault.\n", id="d", type="Journal", created="2026-02-01"),
    "rows.jsonl": "".join(
        json.dumps(each) + "\n"
        for each in (
            {"id": "j1", "content": "One of the vault.", "created": "2026-03-05", "x": {"y": 1}},
            {"id": "j2", "text": "Two <private>p</private>.", "session": "s1", "created": "soon"},
        )
    ),
}


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root of notes and lines, refreshed, and nothing in it young."""
    made = tmp_path / "notes"
    fill(made, NOTES)
    settle(made)
    configure(home, made)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(background, "ask", lambda *_, **__: "recent")
    assert said("refresh").status == 0
    return made


def get(*ids: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = said("get", *ids, "--json").data()["items"]
    return items


# -- full text


def test_a_record_is_given_whole(root: Path) -> None:
    (found,) = get("a")
    assert found["content"] == "Alpha of the vault .\n"
    assert found["metadata"].startswith('id: "a"\n')
    assert found["metadata"].endswith("\n")
    assert "hidden" not in json.dumps(found)
    expected = {
        "id": "a",
        "root": "notes",
        "path": "a.md",
        "abs_path": str(root / "a.md"),
        "line": None,
        "type": "Decision",
        "title": "Alpha",
        "created": "2026-03-01",
        "updated": None,
        "source": "cli",
        "session": "s1",
        "valid": True,
        "est_tokens": 6,
    }
    assert expected.items() <= found.items()
    gamma = get_id(root, "sub/gamma.md")
    assert found["related"] == [
        {"text": "b", "id": "b"},
        {"text": "[[gamma]]", "id": gamma},
        {"text": "nowhere", "id": None},
    ]


def get_id(root: Path, path: str) -> str:
    with Recall(root) as recall:
        (card,) = [each for each in recall.search("vault", 100) if each.path == path]
    return card.id


@pytest.mark.usefixtures("root")
def test_a_line_is_given_whole() -> None:
    one, two = get("j1", "j2")
    assert (one["line"], one["content"], one["path"]) == (1, "One of the vault.", "rows.jsonl")
    assert json.loads(one["metadata"]) == {"id": "j1", "created": "2026-03-05", "x": {"y": 1}}
    assert (two["line"], two["content"], two["session"]) == (2, "Two .", "s1")
    assert json.loads(two["metadata"]) == {"id": "j2", "session": "s1", "created": "soon"}


@pytest.mark.usefixtures("root")
def test_a_record_without_a_type_has_null(tmp_path: Path) -> None:
    assert [each["type"] for each in get("a", "b", "j1")] == ["Decision", None, None]
    assert {each["id"]: each["type"] for each in around("b")["items"]}["b"] is None
    out = tmp_path / "b.json"
    assert said("export", "b", "--out", str(out)).status == 0
    assert json.loads(out.read_text(encoding="utf-8"))["records"][0]["type"] is None
    (node,) = said("search", "--expand", "b", "--max-nodes", "1", "--json").data()["expansion"][
        "nodes"
    ]
    assert node["type"] is None
    (card,) = said("search", "undated", "--json").data()["items"]
    assert card["type"] == ""  # as it was published


def test_nothing_of_the_metadata_of_a_line_is_cut(root: Path) -> None:
    deep: object = {"e": [1, 2.50, True, None, "end"], "f": {}, "g": []}
    for key in "dcba":
        deep = {key: [deep]}
    line = {"Id": "deep", "content": 7, "Text": "The text.", "x": deep, "many": [*range(1_500)]}
    text = json.dumps(line)[:-1] + ', "n": 0.10, "big": 1e999, "y": NaN, "k": 1, "k": 2}'
    (root / "deep.jsonl").write_text(text, encoding="utf-8")
    (found,) = get("deep")
    assert found["content"] == "The text."
    assert '"n":0.10,"big":1e999,"y":"NaN","k":1,"k":2}' in found["metadata"]
    told = json.loads(found["metadata"])
    expected = {key: value for key, value in line.items() if key != "Text"}
    assert told == expected | {"n": 0.1, "big": float("inf"), "y": "NaN", "k": 2}
    assert [*told][:3] == ["Id", "content", "x"]


def test_a_private_span_goes_on_in_the_fields_behind_it(root: Path) -> None:
    lines = [
        '{"id": "p1", "text": "Open <private>s", "note": "t", "x": ["u"], "session": "s9"}',
        '{"id": "p2", "x": {"a": ["open <private>", "t"], "b": "u"}, "text": "s</private> t"}',
        '{"id": "p3", "open <private>": "s", "text": "t"}',
        '{"id": "p4", "a": "b <private>s</private>", "text": "open"}',
        '{"id": "p5", "text": "a <private>s", "private": true}',
        '{"id": "p6", "title": "&lt;private>", "deep": [[[[[["<private>t"]]]]]], "text": "u"}',
        '{"id": "p7", "deep": [[[[[["open <private>t"]]]]]], "text": "u"}',
    ]
    (root / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = get("p1", "p2", "p3", "p4", "p6", "p7")
    assert [each["content"] for each in found] == ["Open ", "", "", "open", "", ""]
    assert found[0]["session"] is None
    assert [json.loads(each["metadata"]) for each in found] == [
        {"id": "p1"},
        {"id": "p2", "x": {"a": ["open "]}},
        {"id": "p3", "open ": None},
        {"id": "p4", "a": "b "},
        {"id": "p6", "title": ""},
        {"id": "p7", "deep": [[[[[["open "]]]]]]},
    ]
    assert said("get", "p5").status == 3
    assert said("search", "open", "--json").data()["total"] == 2


@pytest.mark.usefixtures("root")
def test_what_is_not_valid_is_given_and_says_so() -> None:
    (found,) = get("b")
    assert (found["valid"], found["valid_until"]) == (False, "2026-03-04")
    assert "not valid now" in said("get", "b").stdout.splitlines()[0]


@pytest.mark.parametrize(("more", "cut"), [(0, False), (1, True)])
def test_of_a_note_that_is_too_long_the_rest_is_said_to_be_missing(
    root: Path, more: int, cut: bool
) -> None:
    text = note("x" * 10, id="long")
    (root.parent / ".recall.toml").write_text(
        f'[roots]\nnotes = {{ path = "notes", max_file_bytes = {len(text)} }}\n'
    )
    fill(root, {"long.md": text + "y" * more})
    (found,) = get("long")
    assert (found["content"], found["cut"]) == ("x" * 10, cut)


def test_an_id_that_is_too_long_is_none_and_told(root: Path) -> None:
    most, over = "i" * 4_000, "i" * 4_001
    ids = [most, f"{over}a", f"{over}b"]
    fill(
        root, {"long.jsonl": "".join(json.dumps({"id": each, "text": "t"}) + "\n" for each in ids)}
    )
    fill(root, {"long.md": note(id=f"{over}c")})
    assert said("refresh").status == 0
    assert get(most)[0]["line"] == 1
    ids[1:] = [place_id(b"long.jsonl", 2), place_id(b"long.jsonl", 3), place_id(b"long.md", 0)]
    assert [each["id"] for each in get(*ids)] == ids
    done = said("get", over, f"{over}a", "--json")
    assert done.status == 3
    assert len(done.error()["message"]) < 600
    assert said("status", "--json").data()["duplicates"] == []
    (status,) = said("status", "--skipped", "--json").data()["roots"]
    told = {each["path"]: each["reason"] for each in status["skipped"]}
    what = "an id longer than 4,000 characters is replaced by that of its line on line"
    assert told["long.jsonl"] == f"{what} 2 and 1 more"
    assert told["long.md"].startswith("indexed, but its id is longer than 4,000 characters")
    before = (root / "long.jsonl").read_text(encoding="utf-8")
    fill(root, {"long.jsonl": "{}\n" + before})
    assert said("refresh").status == 0
    assert said("rebuild", "--check").status == 0
    (status,) = said("status", "--skipped", "--json").data()["roots"]
    told = {each["path"]: each["reason"] for each in status["skipped"]}
    assert told["long.jsonl"] == f"{what} 3 and 1 more"


def test_an_id_behind_the_end_of_what_is_read_is_hinted_at(root: Path, home: Path) -> None:
    assert "--skipped" not in said("get", "nix").stderr
    fill(root, {"long.jsonl": '{"id": "first"}\n' * 2 + '{"id": "behind"}\n'})
    config = home / ".config" / "recall" / "config.toml"
    config.write_text(f'[roots.notes]\npath = "{root}"\njsonl = true\nmax_file_bytes = 400\n')
    fill(root, {"long.jsonl": '{"text": "first"}\n' * 30 + '{"id": "behind"}\n'})
    done = said("get", "behind", "--json")
    assert done.status == 3
    assert "recall status --skipped" in done.error()["hint"]


@pytest.mark.usefixtures("root")
def test_ids_come_in_their_order_and_once() -> None:
    assert [each["id"] for each in get("j1", "a", "j1", "d", "a")] == ["j1", "a", "d"]


def test_text_of_a_note_never_begins_a_line_for_people(root: Path) -> None:
    fill(root, {"x.md": note("1. forged\n\x1b[2Jgone\nerror: x\n", id="x")})
    lines = said("get", "x").stdout.splitlines()
    assert lines[0] == "x · notes/x.md"
    assert lines[1:] == ["   1. forged", "   \\x1b[2Jgone", "   error: x"]


def test_no_id_is_given_by_halves(root: Path) -> None:
    done = said("get", "a", "nix", "--json")
    assert (done.status, done.error()["code"]) == (3, "not_found")
    assert '"nix"' in done.error()["message"]
    assert '"a"' not in done.error()["message"]
    assert said("get", "a", "nix").stdout == ""
    many = said("export", *(f"n{number}" for number in range(8)), "--json").error()
    assert '"n0", "n1", "n2", "n3", "n4" and 3 more' in many["message"]
    fill(root, {"twice.md": note(id="a")})
    done = said("get", "b", "a", "--json")
    assert (done.status, done.error()["code"]) == (4, "integrity_error")
    for name in ("a.md", "twice.md"):
        assert str(root / name) in done.error()["message"]
    assert said("export", "a", "--json").error()["code"] == "integrity_error"
    assert said("timeline", "--anchor", "a", "--json").error()["code"] == "integrity_error"
    assert said("search", "--expand", "a", "--json").error()["code"] == "integrity_error"


@pytest.mark.usefixtures("root")
def test_1_to_100_ids() -> None:
    hundred = ["a", "b"] * 50
    assert len(get(*hundred)) == 2
    for command in ("get", "export"):
        assert "101 ids" in refused(command, *hundred, "a")
        assert "empty" in refused(command, "a", "")
        assert "ID" in refused(command)
    with Recall() as recall, pytest.raises(InvalidInput):
        recall.get([])


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("odd", ["\udcff", "\ud800x", "x" * 100_000, "\0", "path:", "é", "' OR 1"])
def test_an_odd_id_is_nobodys(odd: str) -> None:
    for command in (["get", odd], ["export", odd], ["timeline", "--anchor", odd]):
        assert said(*command, "--json").error()["code"] == "not_found", command


def test_ids_are_compared_as_nfc(root: Path) -> None:
    fill(root, {"e.md": note(id="cafe\u0301")})
    assert [each["id"] for each in get("caf\u00e9")] == ["caf\u00e9"]
    assert [each["id"] for each in get("cafe\u0301", "caf\u00e9")] == ["caf\u00e9"]


def test_a_file_in_two_roots_is_one(root: Path, home: Path) -> None:
    configure(home, root, root / "sub")
    gamma = get_id(root, "sub/gamma.md")
    (found,) = said("get", gamma, "--json", "--root", "notes").data()["items"]
    assert found["path"] == "sub/gamma.md"
    inner = get_id(root / "sub", "gamma.md")
    (found,) = get(inner)
    assert (found["root"], found["path"]) == ("sub", "gamma.md")
    told = said("timeline", "--anchor", "2026-03-01", "--json").data()
    assert told["total"] == {"before": 1, "at": 2, "after": 2}


# -- freshness


def test_what_is_given_is_what_the_file_says_now(root: Path) -> None:
    fill(root, {"a.md": note("Another text.\n", id="a", title="New")})
    (found,) = get("a")
    assert (found["title"], found["content"]) == ("New", "Another text.\n")
    fill(root, {"b.md": note("Short.\n", id="b", created="2026-03-02T08:00:00Z")})
    (found,) = said("get", "b", "--no-refresh", "--json").data()["items"]
    assert (found["content"], found["valid"]) == ("Short.\n", True)


def test_an_id_that_was_typed_a_moment_ago_is_found(root: Path) -> None:
    fill(root, {"undated.md": note("Fresh.\n", id="fresh")})
    settle(root / "sub")
    assert said("get", "fresh", "--no-refresh").status == 3
    assert [each["content"] for each in get("fresh")] == ["Fresh.\n"]
    assert said("get", "a").status == 0
    fill(root, {"undated.md": note("Fresh.\n", id="other")})
    assert said("get", "fresh", "--no-refresh").status == 3
    assert said("get", "fresh").status == 3


def test_what_is_gone_is_not_found(root: Path) -> None:
    (root / "a.md").unlink()
    assert said("get", "a", "--no-refresh").status == 3
    assert said("get", "a").status == 3
    (root / "b.md").unlink()
    (root / "b.md").symlink_to(root / "undated.md")
    assert said("get", "b", "--no-refresh").status == 3


def test_what_is_gone_counts_no_more(root: Path) -> None:
    assert around("a", "--before", "0")["total"]["before"] == 1
    (root / "diary.md").unlink()
    told = around("a", "--before", "1", "--no-refresh")
    assert (told["total"]["before"], told["truncated"]) == (0, False)
    assert around("a", "--before", "0")["total"]["before"] == 0


def test_a_refresh_that_was_due_is_due_no_more(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a refresh that was cut short: of the directories nothing is known any more."""
    (cache,) = (home / ".cache" / "recall").glob("*.db")
    with closing(Store(Root("notes", str(root), Rules(jsonl=True)), str(cache))) as store:
        store.set_meta("directories_of", 10**6)
    refreshes: list[Store] = []
    refresh = opened.refresh  # type: ignore[attr-defined]

    def counting(store: Store, *given: Any) -> Any:
        refreshes.append(store)
        return refresh(store, *given)

    monkeypatch.setattr(opened, "refresh", counting)
    assert get("a")
    assert len(refreshes) == 1
    assert get("a")
    assert len(refreshes) == 1


def test_a_line_that_was_appended_is_found_at_once(root: Path) -> None:
    with open(root / "rows.jsonl", "a", encoding="utf-8") as rows:
        rows.write('{"id": "j3", "text": "Three.", "created": "2026-03-06"}\n')
    told = said("timeline", "--anchor", "2026-03-05", "--json").data()
    assert [each["id"] for each in told["items"]][-2:] == ["j1", "j3"]
    assert get("j3")[0]["line"] == 3


def test_a_duplicate_that_was_mended_a_moment_ago_is_none(root: Path) -> None:
    fill(root, {"twice.md": note(id="a")})
    assert said("get", "a").status == 4
    fill(root, {"twice.md": note(id="z")})
    assert said("get", "a", "--no-refresh").status == 4
    assert said("get", "a").status == 0


def test_a_warm_answer_opens_no_other_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    looked: list[bytes] = []
    later = time.time_ns() + 60 * 10**9
    monkeypatch.setattr(FileSystem, "now_ns", lambda _: later)
    assert said("refresh").status == 0  # nothing is young any more
    reads, stats = FileSystem.read, FileSystem.stat

    def counting(self: FileSystem, path: bytes, limit: int) -> tuple[bytes, bytes]:
        read.append(path)
        return reads(self, path, limit)

    def looking(self: FileSystem, path: bytes) -> Any:
        looked.append(path)
        return stats(self, path)

    monkeypatch.setattr(FileSystem, "read", counting)
    monkeypatch.setattr(FileSystem, "stat", looking)
    assert said("get", "a").status == 0
    assert [os.path.basename(path) for path in read] == [b"a.md"]
    assert os.fsencode(root / "undated.md") not in looked
    read.clear()
    refreshes: list[Store] = []
    monkeypatch.setattr(opened, "refresh", lambda store, *_: refreshes.append(store))
    assert said("timeline", "--anchor", "a").status == 0
    assert not read
    assert not refreshes
    assert os.fsencode(root / "undated.md") not in looked


@pytest.mark.parametrize("room", [0, whole.MOST_KEPT])
def test_a_file_is_read_once_for_all_of_its_records(
    root: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    ids = [f"r{number}" for number in range(40)]
    for name, part in (("x.jsonl", ids[::2]), ("y.jsonl", ids[1::2])):
        lines = [
            json.dumps(
                {"id": each, "text": f"Text of {each}.", "related": ids[int(each[1:]) + 1 :]}
            )
            for each in part
        ]
        (root / name).write_text("\n".join([*lines, '{"text": "same"}', '{"text": "same"}']))
    settle(root)
    assert said("refresh").status == 0
    read: list[bytes] = []
    reads = FileSystem.read

    def counting(self: FileSystem, path: bytes, limit: int) -> tuple[bytes, bytes]:
        read.append(os.path.basename(path))
        return reads(self, path, limit)

    monkeypatch.setattr(FileSystem, "read", counting)
    monkeypatch.setattr(whole, "MOST_KEPT", room)
    same = [place_id(b"x.jsonl", 22), place_id(b"x.jsonl", 21), place_id(b"y.jsonl", 22)]
    asked = [*reversed(ids), *same]
    found = get(*asked, "--no-refresh")
    assert [each["id"] for each in found] == asked
    assert [each["content"] for each in found[:40]] == [f"Text of {each}." for each in asked[:40]]
    assert [each["line"] for each in found[40:]] == [22, 21, 22]
    assert sorted(read) == [b"x.jsonl", b"y.jsonl"]
    if room:
        read.clear()
        options = ["--max-nodes", "40", "--no-refresh", "--json"]
        nodes = said("search", "--expand", "r0", *options).data()["expansion"]["nodes"]
        assert [each["id"] for each in nodes] == ids
        assert sorted(read) == [b"x.jsonl", b"y.jsonl"]


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("command", [["get", "a"], ["timeline", "--anchor", "a"]])
def test_an_old_cache_is_refreshed_behind_the_answer(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []
    monkeypatch.setattr(background, "ask", lambda *given, **_: asked.append(given[3]))
    from index_cache import locks

    now = time.time()
    monkeypatch.setattr(locks, "last_used", lambda _: now)
    monkeypatch.setattr("recall.consult.consulting.last_used", lambda _: now)
    assert said(*command).status == 0
    assert asked == []
    monkeypatch.setattr("recall.consult.consulting.last_used", lambda _: now - 60)
    assert said(*command, "--no-refresh").status == 0
    assert asked == []
    assert said(*command).status == 0
    assert asked == [2.0]


def test_a_timeline_is_right_about_what_was_edited(root: Path) -> None:
    fill(root, {"a.md": note("Moved.\n", id="a", created="2026-03-09")})
    told = said("timeline", "--anchor", "2026-03-01", "--json").data()
    assert [each["id"] for each in told["items"]][-1] == "a"
    assert told["total"] == {"before": 1, "at": 1, "after": 3}


def test_without_a_refresh_what_is_gone_does_not_count(root: Path) -> None:
    (root / "a.md").unlink()
    told = said("timeline", "--anchor", "2026-03-01", "--no-refresh", "--json").data()
    assert (told["total"]["at"], told["truncated"]) == (1, False)


@pytest.mark.usefixtures("root")
def test_there_is_no_cache_yet(home: Path) -> None:
    for name in os.listdir(home / ".cache" / "recall"):
        if name.endswith(".db"):
            os.unlink(home / ".cache" / "recall" / name)
    assert [each["id"] for each in get("a")] == ["a"]


@pytest.mark.usefixtures("root")
def test_a_damaged_cache_is_made_anew(home: Path) -> None:
    (cache,) = (home / ".cache" / "recall").glob("*.db")
    data = bytearray(cache.read_bytes())
    data[4096 * 3 + 100 : 4096 * 3 + 200] = bytes(100)
    cache.write_bytes(data)
    assert [each["id"] for each in get("a", "b", "j1")] == ["a", "b", "j1"]
    assert said("timeline", "--anchor", "a").status == 0


def test_a_root_that_is_gone_is_no_unknown_id(root: Path) -> None:
    import shutil

    shutil.rmtree(root)
    done = said("get", "a", "--json")
    assert done.error()["code"] == "root_unavailable"
    assert done.status == 6


# -- timelines


def ids(told: dict[str, Any]) -> list[str]:
    return [each["id"] for each in told["items"]]


def around(anchor: str, *options: str) -> dict[str, Any]:
    told: dict[str, Any] = said("timeline", "--anchor", anchor, "--json", *options).data()
    return told


def test_a_timeline_around_an_id_and_around_a_time(root: Path) -> None:
    gamma = get_id(root, "sub/gamma.md")
    told = around("a")
    assert told["anchor"] == {"id": "a", "at": "2026-03-01T00:00:00Z"}
    assert ids(told) == ["d", "a", gamma, "b", "j1"]
    assert told["total"] == {"before": 1, "at": 1, "after": 3}
    assert (told["truncated"], told["undated"]) == (False, 2)
    assert (
        told["items"][3] | {"valid": False, "created_at": "2026-03-02T08:00:00Z"}
        == told["items"][3]
    )
    told = around("2026-03-01T00:00:00")
    assert told["anchor"] == {"id": None, "at": "2026-03-01T00:00:00Z"}
    assert ids(told) == ["d", "a", gamma, "b", "j1"]
    assert told["total"] == {"before": 1, "at": 2, "after": 2}
    assert ids(around("2026-03-01T02:00:00+02:00")) == ids(told)


@pytest.mark.usefixtures("root")
def test_none_before_is_none_before() -> None:
    told = around("a", "--before", "0", "--after", "1")
    assert (ids(told)[0], len(ids(told)), told["truncated"]) == ("a", 2, True)
    told = around("a", "--before", "1", "--after", "0")
    assert (ids(told), told["truncated"]) == (["d", "a"], True)
    told = around("d", "--before", "0", "--after", "100")
    assert (ids(told)[0], told["truncated"]) == ("d", False)
    assert around("1999-01-01")["total"] == {"before": 0, "at": 0, "after": 5}


@pytest.mark.usefixtures("root")
def test_the_filters_of_a_timeline() -> None:
    assert ids(around("2026-03-01", "--type", "decision")) == ["a"]
    assert ids(around("2026-03-01", "--source", "web", "--source", "cli")) == ["a", "b"]
    assert ids(around("2026-03-01", "--session", "s1")) == ["a"]
    told = around("2026-03-01", "--session", "S1")
    assert (ids(told), told["undated"]) == ([], 0)
    # The anchor is there whatever the filters.
    assert ids(around("d", "--source", "web")) == ["d", "b"]
    assert around("2026-03-01", "--session", "s1")["undated"] == 1


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("option", ["--before", "--after"])
def test_0_to_100_before_and_after(option: str) -> None:
    for number in ("0", "100"):
        assert around("a", option, number)[option[2:]] == int(number)
    for number in ("-1", "101", "x", "1e1", ""):
        assert option in refused("timeline", "--anchor", "a", option, number)
    with Recall() as recall, pytest.raises(InvalidInput):
        recall.timeline("a", *((101, 5) if option == "--before" else (5, 101)))


@pytest.mark.usefixtures("root")
def test_what_is_no_anchor() -> None:
    assert "no created" in refused("timeline", "--anchor", "j2")
    done = said("timeline", "--anchor", "2026-13-01", "--json")
    assert (done.status, done.error()["code"]) == (3, "not_found")
    assert "--anchor" in refused("timeline")
    assert "empty" in refused("timeline", "--anchor", "")
    with Recall() as recall:
        with pytest.raises(NotFound):
            recall.timeline("nix")
        with pytest.raises(InvalidInput):
            recall.timeline("")
        assert [each.id for each in recall.timeline("b", 1, 1).items][1] == "b"
        assert [each.id for each in recall.get("b")] == ["b"]


def test_the_ends_of_time_are_told_as_they_are(root: Path) -> None:
    times = {
        "first": "0001-01-01T00:00:00Z",
        "early": "0001-01-01T00:00:00+14:00",
        "last": "9999-12-31T13:59:59.999999-10:00",
        "late": "9999-12-31T23:59:59-14:00",
    }
    fill(root, {f"{name}.md": note(id=name, created=time) for name, time in times.items()})
    assert said("refresh").status == 0
    told = around("first")
    assert (told["anchor"]["at"], ids(told)[0]) == ("0001-01-01T00:00:00Z", "first")
    told = around("last")
    assert (told["anchor"]["at"], ids(told)[-1]) == ("9999-12-31T23:59:59.999999Z", "last")
    assert told["undated"] == 4  # with those that no year of four digits has in UTC
    assert "no created" in refused("timeline", "--anchor", "late")


def test_an_id_that_looks_like_a_time_is_an_id(root: Path) -> None:
    fill(root, {"day.md": note(id="2026-03-01", created="2026-03-20")})
    assert around("2026-03-01")["anchor"] == {"id": "2026-03-01", "at": "2026-03-20T00:00:00Z"}


def test_of_the_very_instant_100_are_shown(root: Path) -> None:
    lines = [{"id": f"x{number:03}", "created": "2026-05-05"} for number in range(101)]
    fill(root, {"many.jsonl": "".join(json.dumps(each) + "\n" for each in lines)})
    told = around("2026-05-05", "--before", "1")
    assert ids(told)[1:] == [each["id"] for each in lines[:100]]
    assert told["total"] == {"before": 5, "at": 101, "after": 0}
    assert told["truncated"]
    (root / "many.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines[:100]))
    assert not around("2026-05-05", "--before", "5")["truncated"]


@pytest.mark.usefixtures("root")
def test_a_timeline_for_people() -> None:
    told = said("timeline", "--anchor", "b", "--before", "1").stdout
    assert re.sub("path:[0-9a-f]*", "path:HASH", told) == (
        "  2026-03-01T00:00:00Z · path:HASH · notes/sub/gamma.md\n    Gamma\n"
        "* 2026-03-02T08:00:00Z · b · notes/b.md · not valid now\n    Beta\n"
        "  2026-03-05T00:00:00Z · j1 · notes/rows.jsonl:1\n    One of the vault.\n"
        "3 of 5: 3 before, 1 after; --before and --after show more\n"
        "2 without a date that can be read\n"
    )


# -- exports


@pytest.mark.usefixtures("root")
def test_an_export_is_one_object_and_the_same_bytes(tmp_path: Path) -> None:
    done = said("export", "a", "j1")
    made = json.loads(done.raw)
    check(made, "export.json")
    assert (done.status, done.stderr) == (0, "")
    assert made["schema"] == "recall-export/v1"
    assert [each["id"] for each in made["records"]] == ["a", "j1"]
    assert said("export", "a", "j1").raw == done.raw
    data = said("export", "a", "j1", "--json").data()
    assert {key: data[key] for key in made} == made
    told = said("export", "a", "j1", "--out", "x.json", "--json").data()
    assert (tmp_path / "x.json").read_bytes() == done.raw
    assert (told["file"], told["bytes"], told["count"]) == (
        str(tmp_path / "x.json"),
        len(done.raw),
        2,
    )


@pytest.mark.usefixtures("root")
def test_an_export_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "notes", "."):
        done = said("export", "a", "--out", name, "--json")
        assert (done.status, done.error()["code"]) == (4, "invalid_input"), name
        assert done.error()["hint"]
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    done = said("export", "a", "--out", "no/x", "--json")
    assert (done.status, done.error()["code"]) == (3, "not_found")
    for name in ("", "a\0b"):
        assert "needs a name" in refused("export", "a", "--out", name)
    assert "ever overwritten" in refused("export", "a", "--out", "file")
    assert "no file" in refused("export", "a", "--out", "/dev/null")
    assert "/dev/null-2" not in said("export", "a", "--out", "/dev/null").stderr
    assert said("export", "a", "--out", "file\n").status == 0
    assert not [each for each in os.listdir(tmp_path) if each.endswith(".tmp")]


@pytest.mark.usefixtures("root")
def test_an_export_to_a_dash_is_put_out(tmp_path: Path) -> None:
    assert said("export", "a", "--out", "-").stdout == said("export", "a").stdout
    assert said("export", "a", "--out", "-", "--json").data()["count"] == 1
    assert not (tmp_path / "-").exists()


@pytest.mark.usefixtures("root")
def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = said("export", "a", "--out", "x.json", "--json")
    assert (done.status, done.error()["code"]) == (6, "root_unavailable")
    assert os.listdir(tmp_path) == ["notes"]


@pytest.mark.usefixtures("root")
def test_an_export_where_there_are_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert said("export", "a", "--out", "x.json").status == 0
    assert json.loads((tmp_path / "x.json").read_text())["count"] == 1
    assert sorted(os.listdir(tmp_path)) == ["notes", "x.json"]


def test_an_export_looks_at_all_files(root: Path) -> None:
    fill(root, {"undated.md": note("Late.\n", id="a", created="2026-01-01")})
    settle(root)
    assert said("export", "a", "--json").error()["code"] == "integrity_error"


# -- the library


def test_what_the_library_raises_and_returns(root: Path) -> None:
    fill(root, {"twice.md": note(id="b")})
    with Recall() as recall:
        with pytest.raises(IntegrityError):
            recall.get(["b"])
        with pytest.raises(NotFound):
            recall.get(["nix"])
        (found,) = recall.get("a")
        assert found.text is not None
        assert (found.text.content, found.text.tokens) == ("Alpha of the vault .\n", 6)
        assert found.related is not None
        assert [each.text for each in found.related] == ["b", "[[gamma]]", "nowhere"]
        told = recall.timeline("2026-03-01", 0, 0, types="Decision")
        assert [each.id for each in told.items] == ["a"]
        (root / "a.md").unlink()
        with pytest.raises(NotFound):  # within two seconds of the last look
            recall.get("a")


def test_one_command_after_another_stays_right(
    root: Path, long_count: Callable[[int], int]
) -> None:
    """What comes and goes between two of them is seen, and what is told is counted."""
    import random

    chance = random.Random(3)  # noqa: S311 - a test's
    here = {"a", "b", "d"}
    for number in range(long_count(200)):
        name = f"n{chance.randrange(12)}"
        if name in here:
            (root / f"{name}.md").unlink()
            here.remove(name)
        else:
            fill(root, {f"{name}.md": note(f"Text {number}.\n", id=name, created="2026-04-01")})
            here.add(name)
        told = around("2026-04-01")
        assert [each for each in ids(told) if each[0] == "n"] == sorted(
            each for each in here if each[0] == "n"
        )
        assert said("get", name).status == (0 if name in here else 3)


# -- the page


def test_the_page_says_the_limits() -> None:
    page = (SCHEMAS.parent / "reading.md").read_text(encoding="utf-8")
    for row in (
        f"| `--page-size N` | 1 to {wish.MAX_PAGE_SIZE}; {wish.PAGE_SIZE} |",
        f"| `--max-nodes N` | 1 to {expanding.MAX_NODES}; {expanding.NODES} |",
        f"| `--max-tokens N` | 1 to {expanding.MAX_TOKENS:,}; {expanding.TOKENS:,} |",
        f"(0 to {readout.MOST_AROUND}; {readout.AROUND} each)",
        f"the first {readout.MOST_AROUND} of them",
        f"because {expanding.LOOKED_AT:,} records have been looked at",
        f"\n1 to {readout.MOST_IDS} ids;",
        f'{{"schema": "{records.EXPORT}"',
    ):
        assert row in page, row
    defaults = {each.name: each.default for each in timeline.command.params}
    assert (defaults["before"], defaults["after"]) == (readout.AROUND, readout.AROUND)


def test_the_page_names_each_field() -> None:
    page = (SCHEMAS.parent / "reading.md").read_text(encoding="utf-8")
    for name, part in (("get.json", "record"), ("search.json", "record_card")):
        schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
        for field in schema["$defs"][part]["properties"]:
            assert f"`{field}`" in page, field


def test_what_a_timeline_leaves_out_is_in_none_of_its_counts(root: Path) -> None:
    before = said("timeline", "--anchor", "2020-01-01", "--json").data()
    fill(
        root,
        {
            "m.md": note(id="m", type="memory", created="2026-07-01"),
            "p.md": note(id="p", type="Proposal", created="2026-07-02"),
            "q.md": note(id="q", type="proposal"),
            "j.md": note(id="j", type="Journal", created="2026-07-03"),
        },
    )
    told = said("timeline", "--anchor", "2020-01-01", "--after", "100", "--json").data()
    assert told["total"]["after"] == before["total"]["after"] + 2
    assert told["undated"] == before["undated"]
    assert {"m", "j"} <= {each["id"] for each in told["items"]}
    assert "p" not in {each["id"] for each in told["items"]}
    asked = said("timeline", "--anchor", "2020-01-01", "--type", "proposal", "--json").data()
    assert (asked["total"]["after"], asked["undated"]) == (1, 1)
