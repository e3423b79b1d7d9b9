"""``recall bench`` as people run it."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from bench_support import KESTREL, KEYS, LABELS, labels, root
from cli_support import check, recall, valid_envelope

from index_cache.errors import RootUnavailable
from recall.hosts import estimated_tokens
from recall.service import Recall

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = root(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={directory}")
    return directory


def bench(directory: Path, lines: list[dict[str, Any]], *options: str) -> Any:
    """Return the report over some labels, and how each query went by its id."""
    path = labels(directory, lines, "some.jsonl")
    report = recall("bench", "--labels", str(path), "--json", *options).data()
    return report, {each["id"]: each for each in report["queries"]}


def tree(directory: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_a_report_as_text(notes: Path, tmp_path: Path) -> None:
    del notes
    labels(tmp_path, LABELS)
    done = recall("bench", "--labels", "l.jsonl")
    assert (done.status, done.stderr) == (0, "")
    shown = re.sub(r"[0-9a-f]{64}", "DIGEST", done.stdout)
    shown = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", shown)
    shown = re.sub(r"[\d.]+ ms", "N ms", shown)
    shown = re.sub(r"[\d.]+ (KiB|MiB)", "SIZE", shown)
    shown = re.sub(r"[\d.]+ s in", "N s in", shown)
    assert shown == (
        "3 labels of l.jsonl over 5 notes (notes)\n"
        "  labels DIGEST\n"
        "  corpus DIGEST\n"
        "  recall 0.1.0, TIME\n"
        "\n"
        "category  queries  hit@1  hit@3  hit@5    R@5   R@10  MRR@10  nDCG@10\n"
        "all             2  100.0  100.0  100.0   75.0   75.0   100.0     88.0\n"
        "(none)          0      -      -      -      -      -       -        -\n"
        "ops             1  100.0  100.0  100.0  100.0  100.0   100.0    100.0\n"
        "why             1  100.0  100.0  100.0   50.0   50.0   100.0     76.0\n"
        "\n"
        "false recall: the hook would have spoken at 0 of 1 query with nothing relevant (0.0 %)\n"
        "injected, a query: 25 tokens with all first documents in full\n"
        "injected, a query: 104 tokens with cards and the first document\n"
        "  the cards alone 79; 2 cards at 2 of 3 queries\n"
        "search: p50 N ms, p95 N ms (25 samples)\n"
        "hook: p50 N ms, p95 N ms (25 samples)\n"
        "caches SIZE, peak memory SIZE, N s in 1 process\n"
        "\n"
        "worst:\n"
        "  sqlite: does sqlite checkpoint the write-ahead log?\n"
        "    found notes:sub/sqlite.md; missed notes:keys.md\n"
    )


def test_a_report_has_what_the_page_says(notes: Path, tmp_path: Path) -> None:
    report, found = bench(tmp_path, LABELS)
    assert report["labels"]["file"] == "some.jsonl"
    assert report["labels"]["count"] == 3
    assert report["command"] == (
        f"recall bench --labels {tmp_path / 'some.jsonl'} --json"  # as it was typed
    )
    assert report["latency"]["samples"] == len(report["latency"]["hook"]["ms"]) == 25
    assert report["cost"]["cache_bytes"] > 0
    assert report["cost"]["peak_memory_bytes"] > 1_000_000
    assert [each["category"] for each in report["categories"]] == ["", "ops", "why"]
    assert found["sqlite"]["grades"] == {"notes:sub/sqlite.md": 2, "notes:keys.md": 1}
    assert found["bread"]["measures"] is None
    (proof,) = recall("rebuild", "--check", "--json").data()["roots"]
    assert report["corpus"]["roots"] == [
        {"name": "notes", "digest": proof["canonical_digest"], "documents": 5}
    ]
    (notes / "new.md").write_text("# New\n")
    other, _ = bench(tmp_path, LABELS)
    assert other["corpus"]["digest"] != report["corpus"]["digest"]
    assert other["labels"]["digest"] == report["labels"]["digest"]


def test_it_finds_what_a_search_finds(notes: Path, tmp_path: Path) -> None:
    queries = ["keys", "the kestrel", "tokens weekly", "vault OR dawn", '"log by" not:sqlite']
    lines: list[dict[str, Any]] = [
        {"id": query, "query": query, "relevant": ["keys.md"]} for query in queries
    ]
    _, found = bench(tmp_path, lines)
    with Recall(notes) as searching:
        for query in queries:
            cards = searching.search(query)
            # A copy stands for the first of those that are equal.
            paths = [card.path.replace("kestrel.md", "copy/feeder.md") for card in cards]
            assert found[query]["run"] == [f"notes:{path}" for path in paths]
    assert any(found[query]["run"] for query in queries)


def test_it_injects_what_the_hook_shows_and_keeps_none_of_it(
    notes: Path, tmp_path: Path, home: Path
) -> None:
    prompts = ["where do the deploy keys live?", "how long does bread rise?", "/compact", "thanks!"]
    lines: list[dict[str, Any]] = [
        {"id": prompt, "query": prompt, "relevant": []} for prompt in prompts
    ]
    before = tree(notes)
    report, found = bench(tmp_path, lines)
    assert tree(notes) == before
    state = home / ".local" / "state"
    assert not [name for name in tree(state) if "ledger" in name or "log" in name]
    for prompt in prompts:
        shown = recall("hook", "--explain", "--json", "--host", "text", stdin=prompt.encode())
        data = shown.data()
        mine = found[prompt]["hook"]
        assert (bool(mine["cards"]), mine["why"]) == (data["spoke"], data["why"])
        assert mine["block_tokens"] == data["tokens"]
    assert report["summary"]["false_recall"] == {"queries": 4, "spoke": 1, "share": 0.25}
    done = recall("bench", "--labels", str(tmp_path / "some.jsonl"))
    assert "spoke, and should not have:\n  where do the deploy keys live?" in done.stdout


def test_tokens_are_of_the_cards_and_of_the_notes_in_full(notes: Path, tmp_path: Path) -> None:
    query = "rotate deploy keys, and the kestrel feeder pellets at dawn"
    _, found = bench(tmp_path, [KEYS | {"query": query}])
    hook = found["keys"]["hook"]
    assert sorted(hook["cards"]) == ["notes:copy/feeder.md", "notes:keys.md"]
    full = {
        name: estimated_tokens((notes / name.partition(":")[2]).read_text())
        for name in hook["cards"]
    }
    assert hook["full_tokens"] == sum(full.values())
    assert hook["cards_tokens"] == hook["block_tokens"] + full[hook["cards"][0]]


def test_a_document_has_several_names_and_copies_are_one(notes: Path, tmp_path: Path) -> None:
    names = ["K-1", "keys.md", "./keys.md", "notes:keys.md", str(notes / "keys.md")]
    for name in names:
        _, found = bench(tmp_path, [KEYS | {"relevant": [name]}])
        assert found["keys"]["measures"]["hit_at_1"] == 1, name
        assert found["keys"]["grades"] == {"notes:keys.md": 1}
    for name in ("kestrel.md", "copy/feeder.md"):
        _, found = bench(tmp_path, [KESTREL | {"relevant": [name]}])
        assert found["kestrel"]["measures"]["recall_at_5"] == 1, name
    both = {"relevant": {"kestrel.md": 1, "copy/feeder.md": 3}}
    _, found = bench(tmp_path, [KESTREL | both])
    assert list(found["kestrel"]["grades"].values()) == [3]


def test_a_document_that_is_gone_counts_as_not_found(notes: Path, tmp_path: Path) -> None:
    (notes / "sub" / "sqlite.md").rename(notes / "sqlite.md")
    labels(tmp_path, LABELS)
    report, found = bench(tmp_path, LABELS)
    assert found["sqlite"]["measures"]["hit_at_1"] == 0
    assert [notice["message"] for notice in report["notices"]] == [
        "labels name 1 document that is not there and counts as not found: sub/sqlite.md"
    ]
    done = recall("bench", "check", "--labels", "l.jsonl")
    assert done.status == 2
    assert done.stdout == (
        'l.jsonl:2 (sqlite): no document has the name "sub/sqlite.md"\n'
        "  of that name: notes:sqlite.md\n"
    )
    assert done.stderr == (
        "error: 1 thing wrong with the labels\nwhere: l.jsonl\n"
        "hint: correct the lines that are listed, or take them out\n"
    )


def test_what_must_not_come_up_and_what_must_come_first(notes: Path, tmp_path: Path) -> None:
    del notes
    line = KEYS | {
        "query": "deploy keys or the kestrel feeder pellets",
        "irrelevant": ["kestrel.md"],
        "order": [["kestrel.md", "keys.md"], ["keys.md", "sub/sqlite.md"], ["gone.md", "keys.md"]],
    }
    report, found = bench(tmp_path, [line])
    run = found["keys"]["run"]
    assert sorted(run) == ["notes:copy/feeder.md", "notes:keys.md"]
    assert found["keys"]["unwanted"] == ["notes:copy/feeder.md"]
    # The second pair is kept in either order; the third never is.
    kept = 1 + (run[0] == "notes:copy/feeder.md")
    assert found["keys"]["order"] == {"pairs": 3, "kept": kept}
    assert report["summary"]["unwanted"]["found"] == 1
    done = recall("bench", "--labels", str(tmp_path / "some.jsonl"))
    assert re.search(r"pair order: \d of 3 pairs kept", done.stdout)
    assert "unwanted: of 1 query with irrelevant documents 1 found one" in done.stdout


def test_a_scope_is_a_root_or_a_path(notes: Path, tmp_path: Path) -> None:
    del notes
    line = {"id": "x", "query": "sqlite keys tokens", "relevant": ["sub/sqlite.md"]}
    _, found = bench(tmp_path, [line | {"scope": "sub"}])
    assert found["x"]["run"]
    assert all(name.startswith("notes:sub/") for name in found["x"]["run"])
    _, found = bench(tmp_path, [line | {"scope": "notes"}])
    assert "notes:keys.md" in found["x"]["run"]
    path = labels(tmp_path, [line | {"scope": "nowhere"}])
    error = recall("bench", "--labels", str(path), "--json").error()
    assert error == {
        "code": "invalid_input",
        "message": 'the scope "nowhere" is no root, and no path in one',
        "where": f"{path}:1",
        "hint": f"recall bench check --labels {path}",
    }


def test_a_name_of_several_documents_is_an_error(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "keys.md").write_text("# Other keys\n")
    monkeypatch.setenv("RECALL_ROOTS", f"notes={notes}:other={other}")
    path = labels(tmp_path, [KEYS])
    error = recall("bench", "--labels", str(path), "--json").error()
    assert error["message"] == (
        '"keys.md" is the name of 2 documents: notes:keys.md, other:keys.md'
    )
    done = recall("bench", "check", "--labels", str(path), "--json")
    envelope = valid_envelope(done.raw)
    assert done.status == 2
    assert [each["kind"] for each in envelope["data"]["faults"]] == ["ambiguous"]
    _, found = bench(tmp_path, [KEYS | {"relevant": ["other:keys.md"]}])
    assert found["keys"]["grades"] == {"other:keys.md": 1}


def test_check_lists_all_that_is_wrong(notes: Path, tmp_path: Path) -> None:
    del notes
    lines = [
        json.dumps(KEYS),
        "{}",
        json.dumps(KEYS),
        json.dumps(KEYS | {"id": "x", "relevant": ["gone.md"], "scope": "no"}),
    ]
    (tmp_path / "l.jsonl").write_text("\n".join(lines))
    done = recall("bench", "check", "--labels", "l.jsonl")
    assert done.status == 2
    assert done.stdout == (
        "l.jsonl:2: it has no query\n"
        'l.jsonl:3: the id "keys" is in line 1 already\n'
        'l.jsonl:4 (x): the scope "no" is no root, and no path in one\n'
        'l.jsonl:4 (x): no document has the name "gone.md"\n'
    )
    labels(tmp_path, LABELS)
    done = recall("bench", "check", "--labels", "l.jsonl")
    assert (done.status, done.stdout) == (0, "3 labels: all documents are there\n")
    (tmp_path / "l.jsonl").write_text("")
    assert recall("bench", "check", "--labels", "l.jsonl").status == 2


def test_wrong_labels_ask_nothing(notes: Path, tmp_path: Path) -> None:
    del notes
    (tmp_path / "l.jsonl").write_text(json.dumps(KEYS) + "\n[]\n")
    done = recall("bench", "--labels", "l.jsonl")
    assert (done.status, done.stdout) == (4, "")
    assert done.stderr == (
        "error: a label is an object: {...}\nwhere: l.jsonl:2\n"
        "hint: recall bench check --labels l.jsonl lists all that is wrong\n"
    )
    assert recall("bench", "--labels", "none.jsonl").status == 3


def test_files_are_written_once(notes: Path, tmp_path: Path) -> None:
    del notes
    labels(tmp_path, LABELS)
    options = ("--trec-run", "r.txt", "--trec-qrels", "q.txt", "--save", ".")
    done = recall("bench", "--labels", "l.jsonl", *options)
    assert done.status == 0
    assert done.stdout.endswith("wrote r.txt\nwrote q.txt\nwrote ./l-v0.1.0-1.json\n")
    assert (tmp_path / "q.txt").read_text() == (
        "keys 0 notes:keys.md 1\nsqlite 0 notes:sub/sqlite.md 2\nsqlite 0 notes:keys.md 1\n"
    )
    assert (tmp_path / "r.txt").read_text().startswith("keys Q0 notes:keys.md 1 10 recall\n")
    saved = json.loads((tmp_path / "l-v0.1.0-1.json").read_text())
    check(saved, "envelope.json")
    check(saved["data"], "bench.json#/$defs/run")
    before = tree(tmp_path)
    done = recall("bench", "--labels", "l.jsonl", *options)
    assert (done.status, done.stdout) == (4, "")
    assert done.stderr == (
        "error: that file exists, and nothing is ever overwritten\nwhere: r.txt\n"
        "hint: r-2.txt is free\n"
    )
    assert tree(tmp_path) == before
    assert recall("bench", "--labels", "l.jsonl", "--save", ".").status == 0
    assert (tmp_path / "l-v0.1.0-2.json").exists()
    both = recall("bench", "--labels", "l.jsonl", "--trec-run", "x", "--trec-qrels", "./x")
    assert "two outputs have one name" in both.stderr
    assert recall("bench", "--labels", "l.jsonl", "--save", "nowhere").status == 3


def test_a_change_for_the_worse_is_seen(notes: Path, tmp_path: Path) -> None:
    labels(tmp_path, LABELS)
    assert recall("bench", "--labels", "l.jsonl", "--save", ".").status == 0
    (notes / "sub" / "sqlite.md").unlink()
    done = recall("bench", "--labels", "l.jsonl", "--compare", "l-v0.1.0-1.json")
    assert done.status == 0
    assert "against 0.1.0 of " in done.stdout
    assert "  the notes have changed as well\n" in done.stdout
    assert "  worse:\n    sqlite: rank 1 -> rank 1 (nDCG -0.38): does sqlite" in done.stdout
    report = recall("bench", "--labels", "l.jsonl", "--compare", "l-v0.1.0-1.json", "--json").data()
    assert report["compare"]["measures"]["ndcg_at_10"]["down"] == 1
    (tmp_path / "bad.json").write_text("{}")
    error = recall("bench", "--labels", "l.jsonl", "--compare", "bad.json", "--json").error()
    assert (error["code"], error["where"]) == ("invalid_input", "bad.json")
    assert recall("bench", "--labels", "l.jsonl", "--compare", "no.json").status == 3


def test_several_processes_find_what_one_finds(notes: Path, tmp_path: Path) -> None:
    del notes
    lines: list[dict[str, Any]] = [
        KEYS | {"id": f"{number}", "query": f"deploy keys {number}"} for number in range(120)
    ]
    one, _ = bench(tmp_path, lines, "--jobs", "1")
    two, _ = bench(tmp_path, lines, "--jobs", "2")
    assert (one["cost"]["jobs"], two["cost"]["jobs"]) == (1, 2)
    for report in (one, two):
        for each in report["queries"]:
            del each["ms"]
    assert one["queries"] == two["queries"]
    assert one["summary"] == two["summary"]


def test_drafts_and_strange_fields_are_told(notes: Path, tmp_path: Path) -> None:
    del notes
    labels(tmp_path, [KEYS | {"draft": True, "forbidden": []}])
    done = recall("bench", "--labels", "l.jsonl")
    assert done.status == 0
    assert done.stderr == (
        "warning: labels have fields that mean nothing here: forbidden\n"
        "warning: 1 label is a draft: a score over what nobody has corrected says little\n"
        "hint: correct them in l.jsonl, and take out draft and why\n"
    )


def test_without_labels_there_is_help_or_a_hint(notes: Path) -> None:
    del notes
    assert recall("bench").stdout.startswith("Usage: recall bench")
    done = recall("bench", "--json")
    assert (done.error()["code"], done.status) == ("invalid_input", 4)
    done = recall("bench", "--save", ".", "check")
    assert "options come after check" in done.stderr
    assert recall("bench", "check").status == 4


def test_a_root_that_fails_is_no_score(notes: Path, tmp_path: Path) -> None:
    labels(tmp_path, LABELS)
    os.rename(notes, tmp_path / "away")
    done = recall("bench", "--labels", "l.jsonl")
    assert done.status in {3, 6}
    assert done.stdout == ""


def test_private_text_is_in_no_report(notes: Path, tmp_path: Path) -> None:
    (notes / "secret.md").write_text(
        "# Deploy keys elsewhere\n\nThe deploy keys <private>zebra-hunter</private> live here.\n"
    )
    (notes / "whole.md").write_text("---\nprivate: true\n---\n# Deploy keys of zebra-hunter\n")
    labels(tmp_path, [KEYS])
    done = recall("bench", "--labels", "l.jsonl", "--json")
    assert b"zebra" not in done.raw
    assert b"whole.md" not in done.raw
    assert b"zebra" not in recall("bench", "init").raw


def test_html_without_matplotlib_is_refused_before_the_work(notes: Path, tmp_path: Path) -> None:
    del notes
    labels(tmp_path, LABELS)
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "sitecustomize.py").write_text("import sys; sys.modules['matplotlib'] = None\n")
    environ = {"PYTHONPATH": f"{blocked}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = recall("bench", "--labels", "l.jsonl", "--html", "p.html", "--json", env=environ)
    error = done.error()
    assert error["message"] == "--html needs matplotlib, which is not installed"
    assert error["hint"].endswith(" -m pip install matplotlib, or leave --html out")
    assert not (tmp_path / "p.html").exists()


def test_html_is_written(notes: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (recall[bench])")
    del notes
    labels(tmp_path, LABELS)
    done = recall("bench", "--labels", "l.jsonl", "--html", "p.html")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.endswith("wrote p.html\n")
    assert (tmp_path / "p.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_document_has_the_names_that_lead_to_it(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(notes)
    for name in (str(tmp_path / "link/keys.md"), "sub/../keys.md", ".//keys.md"):
        _, found = bench(tmp_path, [KEYS | {"relevant": [name]}])
        assert list(found["keys"]["grades"]) == ["notes:keys.md"], name


def test_a_label_that_follows_its_note_is_the_same_question(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    labels(tmp_path, [KEYS], "some.jsonl")
    assert recall("bench", "--labels", "some.jsonl", "--save", "r").status == 0
    (notes / "keys.md").rename(notes / "sub/moved.md")
    report, _ = bench(
        tmp_path,
        [KEYS | {"relevant": ["sub/moved.md"]}],
        *("--compare", "r/some-v0.1.0-1.json"),
    )
    assert (report["compare"]["compared"], report["compare"]["moved"]) == (1, [])


def test_what_was_measured_is_shown_though_it_cannot_be_written(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from recall import outfiles
    from recall.cli import main

    del notes
    labels(tmp_path, [KEYS])

    def full(path: str, _: bytes) -> None:
        raise RootUnavailable("the file can't be written: No space left on device", where=path)

    monkeypatch.setattr(outfiles, "create", full)
    assert main(["bench", "--labels", "l.jsonl", "--trec-run", "run"]) == 6
    shown = capfd.readouterr()
    assert shown.out.startswith("1 label of l.jsonl")
    assert "No space left on device" in shown.err


def test_a_directory_that_cannot_be_written_to_is_refused_before_the_work(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recall import outfiles

    del notes
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    for refused in (outfiles.refuse_directory, lambda path: outfiles.refuse_existing(f"{path}/x")):
        with pytest.raises(RootUnavailable) as raised:
            refused(str(tmp_path))
        assert raised.value.where == str(tmp_path)


def test_notes_that_change_meanwhile_are_told(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recall import config
    from recall.bench import running

    ask = running.Asking.records

    def change(self: running.Asking, *rest: Any) -> list[dict[str, object]]:
        (notes / "keys.md").unlink(missing_ok=True)
        return ask(self, *rest)

    data = json.dumps(KEYS).encode()
    settings = config.load(str(tmp_path), os.environ, (), fallback=False)

    def notices() -> list[str]:
        made = running.Bench("l", data, settings, cwd=str(tmp_path), environ=os.environ)
        made.run()
        return [each.message for each in made.notices]

    assert notices() == []
    monkeypatch.setattr(running.Asking, "records", change)
    assert notices() == [
        "notes have changed while the questions were asked: the figures are of neither state"
    ]


def test_labels_come_from_standard_input_too(notes: Path) -> None:
    del notes
    done = recall("bench", "--labels", "-", "--json", stdin=json.dumps(KEYS).encode())
    assert done.data()["labels"]["count"] == 1


def test_records_are_documents_with_their_line(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    lines = [{"id": "k1", "text": "Deploy keys rotate in spring."}, {"text": "Kestrels hover."}]
    (notes / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / ".recall.toml").write_text("[roots]\nnotes = { path = 'notes', jsonl = true }\n")
    path = labels(
        tmp_path,
        [
            {"id": "a", "query": "when do deploy keys rotate", "relevant": ["k1"]},
            {"id": "b", "query": "kestrels", "relevant": ["log.jsonl:2"]},
        ],
    )
    report = recall("bench", "--labels", str(path), "--json", cwd=tmp_path).data()
    assert report["corpus"]["documents"] == 2
    assert [each["run"] for each in report["queries"]] == [
        ["notes:log.jsonl:1"],
        ["notes:log.jsonl:2"],
    ]
    assert report["summary"]["hit_at_1"] == 1
