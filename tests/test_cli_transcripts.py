"""Searching, refreshing and caches as transcripts: real notes, real processes, exact answers."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_support import recall, valid_envelope

NOTES = {
    "keys.md": (
        "---\ntitle: Rotate the deploy keys\ntype: Runbook\ntags: [ops, security]\n"
        "description: How deploy keys are rotated.\nmodified: 2026-03-01\n"
        "verified:\n  - by: human:ann\n    at: 2026-03-01\n---\n"
        "Keys live in the vault. Rotate each quarter.\n"
    ),
    "sub/sqlite.md": "# Why SQLite\n\nBecause one file per root is a unit of everything.\n",
    "sub/old.md": (
        "---\ntitle: Old vault\ntype: Note\nstatus: deprecated\nmodified: 2020-01-01\n---\n"
        "The vault was a spreadsheet.\n"
    ),
    "diary.md": "---\ntitle: Diary\ntype: Journal\n---\nToday I opened the vault.\n",
}


QUERIES = [
    *("don't", "a/b", "20.04", "POL-358", "x::y", '"', "AND", "NEAR(", "*", "^", "", " "),
    *("vault OR", "title:vault", "-vault", "\u0300", "\udcff", "😀", "{a b}", "--json"),
    *("(" * 300, "a" * 100_000),
]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    for name, text in NOTES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    return root


def paths(*arguments: str, **options: Any) -> list[str]:
    return [
        item["path"] for item in recall("search", "--json", *arguments, **options).data()["items"]
    ]


def test_a_search_builds_and_answers(notes: Path) -> None:
    done = recall("search", "deploy", "keys")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        "1. Rotate the deploy keys\n"
        "   human-reviewed · 2026-03-01 · notes/keys.md\n"
        "   > How deploy keys are rotated.\n"
    )
    (notes / "keys.md").unlink()
    assert recall("search", "deploy", "keys").stdout == ""


def test_a_card_has_the_fields_of_the_design(notes: Path) -> None:
    data = recall("search", "deploy keys", "--json").data()
    assert (data["query"], data["total"]) == ("deploy keys", 1)
    card = data["items"][0]
    assert card["root"] == "notes"
    assert card["path"] == "keys.md"
    assert card["abs_path"] == str(notes / "keys.md")
    assert card["title"] == "Rotate the deploy keys"
    assert (card["type"], card["tier"]) == ("Runbook", "human-reviewed")
    assert card["modified"].startswith("2026-03-01")
    assert card["stale"] is None
    assert card["summary"] == "How deploy keys are rotated."
    assert card["tags"] == ["ops", "security"]
    assert card["score"] > 0
    assert [root["name"] for root in data["roots"]] == ["notes"]


def test_nothing_found_is_silence(notes: Path) -> None:
    del notes
    done = recall("search", "zebra")
    assert (done.status, done.stdout, done.stderr) == (0, "", "")
    assert recall("search", "zebra", "--json").data()["items"] == []


def test_the_query_comes_from_stdin(notes: Path) -> None:
    del notes
    expected = recall("search", "deploy keys").stdout
    assert expected
    assert recall("search", "-", stdin=b"deploy keys\n").stdout == expected
    assert recall("search", stdin=b"deploy keys").stdout == expected
    assert recall("search", stdin=b"").status == 0
    assert recall("search", "-", stdin=b"\xff\xfe\x00 deploy keys").stdout == expected


def test_stale_notes_say_so(notes: Path) -> None:
    del notes
    done = recall("search", "spreadsheet")
    assert "   STALE: " in done.stdout
    assert "deprecated" in recall("search", "spreadsheet", "--json").data()["items"][0]["stale"]


def test_filters(notes: Path) -> None:
    del notes
    assert set(paths("vault")) == {"keys.md", "sub/old.md"}
    assert set(paths("vault", "--include", "journal")) == {"keys.md", "sub/old.md", "diary.md"}
    assert paths("vault", "--type", "Note") == ["sub/old.md"]
    assert set(paths("vault", "--type", "Note", "--type", "Runbook")) == {"keys.md", "sub/old.md"}
    assert paths("vault", "--under", "sub") == ["sub/old.md"]
    assert len(paths("vault", "-k", "1")) == 1


def test_what_k_leaves_out_is_said(notes: Path) -> None:
    del notes
    assert recall("search", "vault", "-k", "1").stdout.endswith("\n1 more: raise -k\n")


def test_roots_are_named_or_directories(notes: Path, tmp_path: Path) -> None:
    assert paths("sqlite", "--root", "notes") == ["sub/sqlite.md"]
    assert paths("sqlite", "--root", str(notes / "sub")) == ["sqlite.md"]
    assert paths("sqlite", "--root", "./notes", "--root", "notes", cwd=tmp_path)
    done = recall("search", "x", "--root", "nots")
    assert (done.status, done.stdout) == (3, "")
    assert recall("search", "x", "--root", "nots", "--json").error()["code"] == "not_found"


def test_explanations_name_terms(notes: Path) -> None:
    del notes
    item = recall("search", "deploy keys", "--explain", "--json").data()["items"][0]
    assert item["explain"]
    assert "   score: " in recall("search", "deploy keys", "--explain").stdout


@pytest.mark.parametrize(
    "query",
    QUERIES,
)
def test_any_text_is_a_query(notes: Path, query: str) -> None:
    del notes
    done = recall("search", "--json", "--", os.fsencode(query))
    assert done.status == 0
    valid_envelope(done.raw)


def test_a_note_can_not_forge_a_card_or_drive_the_terminal(notes: Path) -> None:
    (notes / "evil\n2. Forged.md").write_text(
        '---\ntitle: "quokka\\n2. Forged\\x1b]0;owned\\x07\\u202e"\n'
        'description: "\\x1b[2Jfirst\\n3. Forged\\nhuman-reviewed"\n---\nquokka\n',
        encoding="utf-8",
    )
    done = recall("search", "quokka")
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("   ")] == [lines[0]]
    assert lines[1].startswith("   unverified · ")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)
    item = recall("search", "quokka", "--json").data()["items"][0]
    assert item["path"] == "evil\n2. Forged.md"


def test_refresh_counts_and_status_remembers(notes: Path) -> None:
    (notes / "binary.md").write_bytes(b"\x00\x01\x02" * 100)
    first = recall("refresh", "--json").data()["roots"][0]
    assert (first["documents"], first["changed"], first["removed"]) == (4, 0, 0)
    assert [entry["path"] for entry in first["skipped"]] == ["binary.md"]
    (notes / "keys.md").write_text("# Other keys\n", encoding="utf-8")
    (notes / "diary.md").unlink()
    second = recall("refresh", "--json").data()["roots"][0]
    assert (second["added"], second["changed"], second["removed"]) == (0, 1, 1)
    assert second["documents"] == 3
    text = recall("refresh")
    assert text.stdout.startswith("notes: 3 notes: 0 added, 0 changed, 0 removed, ")
    assert text.stderr == ""
    assert recall("refresh", "--quiet", "--compact", "--prune").stdout == ""
    state = recall("status", "--json").data()["roots"][0]
    assert (state["documents"], state["built"], state["last_failure"]) == (3, True, None)
    assert "skipped" not in state
    assert sum(state["skipped_by_reason"].values()) == 1
    listed = recall("status", "--skipped", "--json").data()["roots"][0]
    assert [entry["path"] for entry in listed["skipped"]] == ["binary.md"]
    shown = recall("status", "--skipped").stdout
    assert shown.startswith(f"notes: {notes}\n  3 notes, ")
    assert "  skipped: binary.md: " in shown


def test_status_before_anything_is_built(notes: Path) -> None:
    del notes
    state = recall("status", "--json").data()["roots"][0]
    assert (state["built"], state["documents"], state["last_refresh"]) == (False, 0, None)
    assert "not indexed yet" in recall("status").stdout


def test_caches_are_listed_pruned_and_private(notes: Path, home: Path) -> None:
    directory = home / ".cache" / "recall"
    assert recall("cache", "list", "--json").data()["caches"] == []
    recall("refresh")
    (entry,) = recall("cache", "list", "--json").data()["caches"]
    assert (entry["root_path"], entry["current"]) == (str(notes), True)
    assert Path(entry["path"]).parent == directory
    # With what SQLite keeps beside it.
    assert entry["bytes"] >= Path(entry["path"]).stat().st_size
    assert stat.S_IMODE(Path(entry["path"]).stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert str(notes) in recall("cache", "list").stdout
    assert recall("cache", "prune").stdout == "deleted 0 cache files, 0 B\n"
    removed = recall("cache", "prune", "--all", "--json").data()["removed"]
    assert [cache["path"] for cache in removed] == [entry["path"]]
    assert not Path(entry["path"]).exists()
    assert paths("vault")


def test_removing_a_root_can_purge_its_cache(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECALL_ROOTS")
    recall("roots", "add", "n", str(notes))
    recall("refresh")
    (entry,) = recall("cache", "list", "--json").data()["caches"]
    purged = recall("roots", "remove", "n", "--purge", "--json").data()["purged"]
    assert purged == [entry["path"]]
    assert not Path(entry["path"]).exists()
    assert (notes / "keys.md").exists()


def test_a_missing_root_costs_only_itself(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECALL_ROOTS", f"notes={notes}:gone={tmp_path / 'gone'}")
    done = recall("search", "deploy keys")
    assert done.status == 0
    assert done.stdout.startswith("1. Rotate the deploy keys\n")
    assert done.stderr.startswith("warning: ")
    data = recall("search", "deploy keys", "--json").data()
    assert data["notices"]


def test_an_empty_environment_is_enough(notes: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recall", "search", "--root", str(notes), "deploy keys"],
        env={"HOME": os.environ["HOME"]},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"1. Rotate the deploy keys\n")


def test_no_refresh_answers_from_what_is_there(notes: Path) -> None:
    recall("refresh")
    (notes / "new.md").write_text("# Quokka\n\nA quokka is new.\n", encoding="utf-8")
    assert paths("quokka", "--no-refresh") == []
    assert paths("quokka") == ["new.md"]


# What a warm search may import beyond what the interpreter brings: each costs every search.
ALLOWED = {
    *("index_cache", "recall", "apsw", "Stemmer", "cython_runtime"),
    *("__future__", "collections", "copyreg", "enum", "functools", "itertools", "keyword"),
    *("operator", "re", "reprlib", "types", "_collections", "_functools", "_operator", "_sre"),
    *("_blake2", "_sha2", "_sha256", "json", "_json", "struct", "_struct"),
    *("encodings", "errno", "fcntl", "marshal", "math", "unicodedata", "zlib"),
    *("io", "_types"),  # loaded with the interpreter before 3.14
}
# As a search an hour from now, when no file is so young that it has to be read to be trusted.
SEARCH_LATER = """
import sys, time
base = set(sys.modules)
now = time.time_ns
time.time_ns = lambda: now() + 3600 * 10**9
time.time = lambda: time.time_ns() / 1e9
sys.argv[0] = "recall"
from recall.cli import main
status = main()
print(*sorted(set(sys.modules) - base), sep="\\n", file=sys.stderr)
sys.exit(status)
"""


def test_a_warm_search_imports_no_more_than_it_needs(notes: Path) -> None:
    (notes / "sub/old.md").unlink()  # without a description its body would be parsed
    command = [sys.executable, "-c", SEARCH_LATER, "search", "vault", "--json"]
    subprocess.run(command, capture_output=True, check=True, timeout=60)
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert len(valid_envelope(done.stdout)["data"]["items"]) == 1
    names = set(done.stderr.decode().split())
    assert {"recall.service", "index_cache.search"} <= names
    tops = {name.partition(".")[0] for name in names}
    assert {name for name in tops - ALLOWED if not name.startswith("_cython_")} == set()
