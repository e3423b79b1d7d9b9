"""The recall log: what is kept of each prompt, how it is bounded, and what it shows."""

# The codes of reported faults (C5, C6, S1) are written as they are.

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import signal
import stat
import tempfile
import time
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall
from hypothesis import given
from hypothesis import strategies as st

from recall import logreading, recalllog, state
from recall.card import Card
from recall.logsummary import Summary, percentile

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.synchronize import Barrier
    from pathlib import Path

NOW = 1_800_000_000.0


@pytest.fixture
def where(home: Path) -> str:
    return str(home / ".local" / "state" / "recall")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    monkeypatch.setenv("TZ", "UTC")
    return root


def card(path: str, root: str = "notes", base: str = "/notes") -> Card:
    return Card(
        id=f"path:{path}",
        root=root,
        path=path,
        abs_path=f"{base}/{path}",
        title="a title that is not logged",
        type="",
        tier="unverified",
        modified="",
        stale=None,
        summary="a summary that is not logged",
        score=1.0,
    )


def log(where: str, prompt: str = "how do we rotate keys", **fields: Any) -> str | None:
    values: dict[str, Any] = {"host": "claude", "spoke": False, "why": "no-match", "now": NOW}
    return recalllog.record(where, prompt=prompt, **{**values, **fields})


def content(where: str, name: str = recalllog.FILE) -> bytes:
    with open(os.path.join(where, name), "rb") as stream:
        return stream.read()


def entries(where: str) -> list[logreading.Entry]:
    return logreading.read(where)[0]


# What is kept


def test_an_entry_has_what_was_decided_and_why(where: str) -> None:
    cards = [card("runbooks/keys.md"), card("b.md", "wiki", "/wiki")]
    said: dict[str, Any] = {"spoke": True, "why": "match", "roots": ["notes", "wiki"]}
    assert log(where, session="abc", cards=cards, ms=41.26, tokens=210, **said) is None
    (entry,) = entries(where)
    assert (entry.when, entry.host, entry.decision) == (NOW, "claude", "spoke")
    assert (entry.why, entry.ms, entry.tokens) == ("match", 41.3, 210)
    assert entry.roots == ["notes", "wiki"]
    assert entry.cards == [
        ("path:runbooks/keys.md", "notes", "runbooks/keys.md", "/notes/runbooks/keys.md"),
        ("path:b.md", "wiki", "b.md", "/wiki/b.md"),
    ]
    assert entry.text is None
    assert re.fullmatch("[0-9a-f]{32}", entry.prompt or "")
    assert re.fullmatch("[0-9a-f]{16}", entry.session or "")


def test_no_word_of_a_prompt_or_a_card_is_kept(where: str) -> None:
    log(where, "the secret plan", session="my-session", spoke=True, cards=[card("a.md")])
    kept = content(where)
    for word in (b"secret", b"plan", b"my-session", b"title", b"summary"):
        assert word not in kept


def test_equal_prompts_can_be_told_but_not_guessed(where: str, tmp_path: Path) -> None:
    for prompt in ("one", "two", "one"):
        log(where, prompt)
    first, second, third = (entry.prompt for entry in entries(where))
    assert first == third != second
    other = str(tmp_path / "elsewhere")
    log(other, "one")
    assert entries(other)[0].prompt != first  # another key
    assert stat.S_IMODE(os.stat(os.path.join(where, recalllog.KEY_FILE)).st_mode) == 0o600


def test_prompts_are_kept_only_when_asked_for_and_without_private_spans(where: str) -> None:
    log(where, "keys <private>of the vault</private> rotate", with_text=True)
    log(where, "x" * 5000, with_text=True)
    log(where, "an <private>unclosed " + "y" * 70_000, with_text=True)
    texts = [entry.text for entry in entries(where)]
    assert texts[0] == "keys  rotate"
    assert texts[1] == "x" * (recalllog.MAX_TEXT - 1) + "…"
    assert texts[2] is None  # too long to be sure
    assert b"vault" not in content(where)


@pytest.mark.parametrize("prompt", ["", "\0", "\ud800\udcff", "日本\n\u2028", "x" * 1_000_000])
def test_any_prompt_is_one_line(where: str, prompt: str) -> None:
    assert log(where, prompt, session=prompt, with_text=True, host=prompt, why=prompt) is None
    assert log(where) is None
    assert content(where).count(b"\n") == 2
    assert content(where).isascii()
    assert len(entries(where)) == 2


def test_a_line_is_bounded_whatever_is_in_it(where: str) -> None:
    deep = [card("日" * 4000 + f"{n}.md") for n in range(10)]
    log(where, "p" * 5000, cards=deep, spoke=True, roots=["r" * 100] * 900, with_text=True)
    assert len(content(where)) <= recalllog.MAX_LINE
    assert entries(where)[0].decision == "spoke"


def test_no_home_is_said() -> None:
    assert recalllog.record(None, host="h", spoke=False, why="w", prompt="p")
    assert logreading.read(None) == ([], 0)


@pytest.mark.parametrize("umask", [0, 0o777])
def test_C5_files_are_private_whatever_the_umask(where: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        log(where)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(where).st_mode) == 0o700
    for name in os.listdir(where):
        assert stat.S_IMODE(os.stat(os.path.join(where, name)).st_mode) == 0o600


# Bounds and many at once


def fill(where: str, size: int, name: str = recalllog.FILE) -> None:
    """Put a log of some size there, of lines that say who they are."""
    line = b'{"t":1,"decision":"silent","why":"%07d"}\n'
    count = size // len(line % 0)
    state.write(where, name, b"".join(line % n for n in range(count)), sync=False)


def test_the_log_is_rotated_and_the_older_file_goes(where: str) -> None:
    fill(where, recalllog.MAX_BYTES)
    log(where, why="first")
    assert [entry.why for entry in entries(where)][-2:] == ["0011914", "first"]
    assert os.path.getsize(os.path.join(where, recalllog.FILE)) < 1000
    fill(where, recalllog.MAX_BYTES)
    log(where, why="second")
    assert [entry.why for entry in entries(where)].count("first") == 0
    total = sum(os.path.getsize(os.path.join(where, name)) for name in os.listdir(where))
    assert total <= 2 * recalllog.MAX_BYTES + 1000
    assert sorted(os.listdir(where)) == sorted(
        [recalllog.FILE, recalllog.OLDER, recalllog.KEY_FILE]
    )


def hook(where: str, barrier: Barrier, number: int, rounds: int) -> None:
    barrier.wait(30)
    for each in range(rounds):
        if log(where, why=f"{number}-{each}", cards=[card("a.md")]) is not None:
            os._exit(1)
    os._exit(0)


def at_once(where: str, rounds: int, count: int = 20) -> list[int | None]:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count)
    arguments = [(where, barrier, number, rounds) for number in range(count)]
    processes = [context.Process(target=hook, args=each) for each in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    return [process.exitcode for process in processes]


def test_twenty_hooks_at_once_lose_no_line(where: str, long_count: Callable[[int], int]) -> None:
    rounds = long_count(50)
    assert at_once(where, rounds) == [0] * 20
    found, bad = logreading.read(where)
    assert bad == 0
    assert sorted(e.why for e in found) == sorted(
        f"{n}-{r}" for n in range(20) for r in range(rounds)
    )


def test_twenty_hooks_that_rotate_at_once_rotate_once(where: str) -> None:
    """Two renames would throw away the full file, or what was begun just then."""
    fill(where, recalllog.MAX_BYTES - 50)
    assert at_once(where, 3) == [0] * 20
    found, bad = logreading.read(where)
    assert bad == 0
    assert found[0].why == "0000000"
    assert {e.why for e in found} >= {f"{n}-{r}" for n in range(20) for r in range(3)}


def test_who_finds_the_file_renamed_meanwhile_does_not_rename_again(where: str) -> None:
    fill(where, recalllog.MAX_BYTES)
    late = state.open_to_append(where, recalllog.FILE)
    log(where, why="first")  # by another hook, which rotates
    try:
        assert recalllog._rotate(where, late)
    finally:
        os.close(late)
    found = [entry.why for entry in entries(where)]
    assert (found[0], found[-1]) == ("0000000", "first")


def test_who_finds_another_one_rotating_appends(where: str) -> None:
    import fcntl

    fill(where, recalllog.MAX_BYTES)
    other = state.open_to_append(where, recalllog.FILE)
    fcntl.flock(other, fcntl.LOCK_EX)
    try:
        assert log(where, why="meanwhile") is None
        assert not os.path.exists(os.path.join(where, recalllog.OLDER))
    finally:
        os.close(other)
    assert entries(where)[-1].why == "meanwhile"
    log(where, why="after")
    assert os.path.exists(os.path.join(where, recalllog.OLDER))
    assert [entry.why for entry in entries(where)][-2:] == ["meanwhile", "after"]


def test_what_is_rotated_while_it_is_read_is_read_once(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(where, why="one")
    whole = state.read_end

    def rotated(state_dir: str, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        found = whole(state_dir, name, limit)
        if name == recalllog.FILE:
            os.rename(os.path.join(where, name), os.path.join(where, recalllog.OLDER))
        return found

    monkeypatch.setattr(state, "read_end", rotated)
    assert [entry.why for entry in entries(where)] == ["one"]


def test_without_locks_the_log_is_bounded_all_the_same(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def none(descriptor: int, operation: int) -> None:
        del descriptor, operation
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    fill(where, recalllog.MAX_BYTES)
    for _ in range(600):
        log(where, cards=[card("a.md")])
    assert os.path.getsize(os.path.join(where, recalllog.FILE)) < recalllog.MAX_BYTES
    assert len(entries(where)) > 10_000


# Files that are damaged, foreign or out of reach


BAD_LINES = [
    *(b"{", b"[]", b"3", b"null", b"\xff\xfe", b"\0\0\0", b"[" * 100_000, b"{}", b'{"t":1}'),
    *(b'{"t":"1","decision":"spoke"}', b'{"t":1,"decision":"sang"}', b'{"t":1,"decision":[]}'),
    *(b'{"t":NaN,"decision":"spoke"}', b'{"t":1e999,"decision":"spoke"}'),
    *(b'{"t":-1,"decision":"spoke"}', b'{"t":1e15,"decision":"spoke"}', b"9" * 5000),
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_line_that_is_not_ours_costs_nothing_but_itself(
    where: str, notes: Path, line: bytes
) -> None:
    del notes
    log(where, why="before")
    with open(os.path.join(where, recalllog.FILE), "ab") as stream:
        stream.write(line)  # torn: without its newline
    assert log(where, why="after") is None
    found, bad = logreading.read(where)
    assert ([entry.why for entry in found], bad) == (["before", "after"], 1)
    done = recall("log")
    assert (done.status, done.stdout.count("\n")) == (0, 2)
    assert done.stderr == "warning: 1 line of the log can't be read and is passed over\n"
    assert "can't be read" in recall("log", "--json").data()["notices"][0]["message"]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
NAMES = ["host", "why", "roots", "cards", "ms", "tokens", "prompt", "session", "text"]


@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_values_of_any_kind_are_taken_for_what_they_are(fields: dict[str, Any]) -> None:
    from cli_support import check

    from recall.cli.fields import entry_fields, summary_fields

    line = json.dumps({"t": NOW, "decision": "spoke", **fields}).encode()
    with tempfile.TemporaryDirectory() as where:
        state.write(where, recalllog.FILE, line + b"\n", sync=False)
        (entry,) = entries(where)
    shown = {"entries": [entry_fields(entry)], "summary": None, "aside": 0, "notices": []}
    check(shown, "log.json")
    summary = summary_fields(Summary([entry], {}))
    check({"entries": None, "summary": summary, "aside": 0, "notices": []}, "log.json")


@pytest.mark.parametrize("name", [recalllog.FILE, recalllog.OLDER])
@pytest.mark.parametrize("kind", ["directory", "fifo", "symlink"])
def test_what_is_not_a_file_of_ours_is_said_and_not_written(
    where: str, tmp_path: Path, kind: str, name: str
) -> None:
    os.makedirs(where)
    other = tmp_path / "other"
    other.write_bytes(b"mine\n")
    path = os.path.join(where, name)
    if kind == "directory":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        os.symlink(other, path)
    assert bool(log(where)) is (name == recalllog.FILE)
    done = recall("log")
    assert done.status == 6
    assert done.stderr.startswith("error: the log can't be read: ")
    assert recall("log", "--json").error()["code"] == "root_unavailable"
    assert other.read_bytes() == b"mine\n"


@pytest.mark.parametrize("kind", ["short", "long", "directory", "symlink"])
def test_a_key_that_does_not_serve_is_made_anew_or_done_without(
    where: str, tmp_path: Path, kind: str
) -> None:
    log(where)
    path = os.path.join(where, recalllog.KEY_FILE)
    os.unlink(path)
    other = tmp_path / "other"
    other.write_bytes(b"k" * 32)
    if os.geteuid() == 0:  # what is made in a link's place is ours all the same
        os.chown(other, 12345, 12345)
    if kind == "directory":
        os.mkdir(path)
    elif kind == "symlink":
        os.symlink(other, path)
    else:
        with open(path, "wb") as stream:
            stream.write(b"k" * (3 if kind == "short" else 33))
    assert [log(where, session="s"), log(where, session="s")] == [None, None]
    _, second, third = entries(where)
    assert second.prompt == third.prompt
    assert (second.prompt is None) is (kind == "directory")
    assert (second.session is None) is (kind == "directory")
    assert other.read_bytes() == b"k" * 32


def test_a_state_directory_that_is_a_file_hurts_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert log(str(tmp_path / "file"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_somebody_elses_file_is_neither_read_nor_written(where: str) -> None:
    log(where)
    os.chown(os.path.join(where, recalllog.FILE), 12345, 12345)
    size = len(content(where))
    assert log(where)
    assert len(content(where)) == size
    assert recall("log").status == 6


def limited(where: str) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250, 250))
    os._exit(0 if log(where) is None and log(where) else 1)


def test_C6_a_full_disk_costs_only_what_did_not_fit(where: str) -> None:
    process = multiprocessing.get_context("fork").Process(target=limited, args=(where,))
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert len(content(where)) == 250
    assert log(where, why="after") is None
    found, bad = logreading.read(where)
    assert ([entry.why for entry in found], bad) == (["no-match", "after"], 1)


# The command


def test_the_log_as_text(where: str, notes: Path) -> None:
    del notes
    assert recall("log").stdout == "nothing is logged\n"
    log(where, ms=12.4)
    log(where, spoke=True, why="match", cards=[card("a.md"), card("b c.md")], tokens=1210, ms=41)
    log(where, "two\nlines", why="chore", with_text=True, ms=1)
    done = recall("log")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        "2027-01-15 08:00:00 · silent: no-match · 12 ms · claude\n"
        "2027-01-15 08:00:00 · spoke: match · 2 cards · ~1,210 tokens · 41 ms · claude\n"
        "  notes: a.md\n"
        "  notes: b c.md\n"
        "2027-01-15 08:00:00 · silent: chore · 1 ms · claude\n"
        "  prompt: two\\nlines\n"
    )
    assert recall("log", "-n", "1").stdout.splitlines()[1:] == ["  prompt: two\\nlines"]
    data = recall("log", "--json", "-n", "2").data()
    assert [entry["why"] for entry in data["entries"]] == ["match", "chore"]
    assert data["entries"][0]["cards"][1] == {
        "id": "path:b c.md",
        "root": "notes",
        "path": "b c.md",
        "abs_path": "/notes/b c.md",
    }


def test_S1_a_name_can_not_forge_a_line_or_drive_the_terminal(where: str, notes: Path) -> None:
    del notes
    evil = "x\n2027 · spoke\x1b]0;owned\x07\u202e.md"
    log(where, evil, cards=[card(evil, root=evil)], spoke=True, why=evil, host=evil, with_text=True)
    for arguments in (["log"], ["log", "--summary"]):
        shown = recall(*arguments).stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
        assert not re.search(r"(?m)^2027 · spoke", shown)
    assert len(recall("log").stdout.splitlines()) == 3
    assert recall("log", "--json").data()["entries"][0]["cards"][0]["path"] == evil


def test_since_leaves_out_what_is_older(where: str, notes: Path) -> None:
    del notes
    now = time.time()
    log(where, why="old", now=now - 8 * 86_400)
    log(where, why="young", now=now - 6 * 86_400)
    assert [e["why"] for e in recall("log", "--since", "7d", "--json").data()["entries"]] == [
        "young"
    ]
    assert recall("log", "--summary", "--since", "7d", "--json").data()["summary"]["prompts"] == 1
    done = recall("log", "--since", "a week")
    assert done.status == 4
    assert "90s, 30m, 1h or 2d" in done.stderr


def test_the_summary(where: str, notes: Path) -> None:
    for name in ("a.md", "b.md", "sub/c.md"):
        (notes / name).parent.mkdir(exist_ok=True)
        (notes / name).write_text(f"# {name}\n", encoding="utf-8")
    (notes / "diary.md").write_text("---\ntype: Journal\n---\nx\n", encoding="utf-8")
    (notes / "secret.md").write_text("---\nprivate: true\n---\nx\n", encoding="utf-8")
    recall("refresh")
    base = str(notes)
    for n in range(96):
        log(where, ms=n + 1, now=NOW + n, why="no-match" if n % 2 else "chore")
    said: dict[str, Any] = {"spoke": True, "why": "match", "tokens": 100, "now": NOW + 100}
    log(where, ms=97, cards=[card("a.md", base=base), card("gone.md", base=base)], **said)
    for n in range(3):
        log(where, ms=98 + n, cards=[card("a.md", base=base)], **said)
    done = recall("log", "--summary")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        "since 2027-01-15 08:00:00: 100 prompts, spoke at 4 (4 %)\n"
        "  time: p50 50 ms, p95 95 ms\n"
        "  said: ~400 tokens\n"
        "  silent: chore 48, no-match 48\n"
        "  spoke: match 4\n"
        "most recalled:\n"
        "  4: notes: a.md\n"
        "  1: notes: gone.md\n"
        "never recalled: 2 of 3 notes\n"
        "  notes: b.md\n"
        "  notes: sub/c.md\n"
    )
    data = recall("log", "--summary", "--json").data()["summary"]
    assert (data["prompts"], data["spoke"], data["tokens"]) == (100, 4, 400)
    assert (data["p50_ms"], data["p95_ms"]) == (50, 95)
    assert (data["since"], data["last"]) == ("2027-01-15T08:00:00Z", "2027-01-15T08:01:40Z")
    assert data["reasons"] == {"silent": {"chore": 48, "no-match": 48}, "spoke": {"match": 4}}
    assert (data["documents"], data["never_recalled"]) == (3, 2)
    assert data["never_recalled_first"][0] == {"root": "notes", "path": "b.md"}
    assert "secret" not in recall("log", "--summary", "--json").stdout


def test_only_the_first_of_many_never_recalled_are_listed(where: str, notes: Path) -> None:
    for n in range(12):
        (notes / f"{n:02}.md").write_text("x", encoding="utf-8")
    recall("refresh")
    log(where)
    assert recall("log", "--summary").stdout.endswith(
        "never recalled: 12 of 12 notes\n"
        + "".join(f"  notes: {n:02}.md\n" for n in range(5))
        + "  and 7 more\n"
    )
    data = recall("log", "--summary", "--json").data()["summary"]
    assert data["never_recalled"] == 12
    assert len(data["never_recalled_first"]) == 5


def test_a_summary_of_nothing(notes: Path) -> None:
    del notes
    recall("refresh")
    assert recall("log", "--summary").stdout == "nothing is logged\n"
    data = recall("log", "--summary", "--json").data()["summary"]
    assert (data["prompts"], data["since"], data["p95_ms"]) == (0, None, None)


def test_what_is_not_known_is_said_and_the_rest_is_told(
    where: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "a.md").write_text("x", encoding="utf-8")
    log(where)
    done = recall("log", "--summary")
    assert done.status == 0
    assert "notes: its notes are not counted: it is not indexed yet" in done.stderr
    monkeypatch.delenv("RECALL_ROOTS")
    done = recall("log", "--summary")
    assert done.status == 0
    assert done.stdout.splitlines()[0].endswith(": 1 prompt, spoke at 0 (0 %)")
    assert "what was never recalled is not known: no directory" in done.stderr
    data = recall("log", "--summary", "--json").data()
    assert data["summary"]["never_recalled"] is None


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(1, 100))
def test_percentiles_are_values_that_so_many_do_not_exceed(values: list[float], p: int) -> None:
    ordered = sorted(values)
    found = percentile(ordered, p)
    assert found in values
    assert sum(v <= found for v in values) * 100 >= p * len(values)
    smaller = [v for v in ordered if v < found]
    assert len(smaller) * 100 < p * len(values)
