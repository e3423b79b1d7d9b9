"""What a conversation was shown: once, unless it changed; whatever the files hold."""

# The codes of reported faults (H5, C5, C6) are written as they are.

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rights_support import read_only

from recall import ledger, state

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.synchronize import Barrier
    from pathlib import Path

DAY = 86_400.0
KEY = ledger.document("0123456789abcdef", b"runbooks/keys.md")


@pytest.fixture
def where(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "recall")


def file_of(where: str, session: str = "s") -> str:
    return os.path.join(where, ledger._name(session))


def test_H5_a_card_is_shown_once_in_a_conversation(where: str) -> None:
    assert not ledger.seen(where, "s").has(KEY, b"one")
    assert ledger.note(where, "s", [(KEY, b"one")]) is None
    assert ledger.seen(where, "s").has(KEY, b"one")
    assert not ledger.seen(where, "other").has(KEY, b"one")
    assert not ledger.seen(where, "s").has(ledger.document("fedcba", b"runbooks/keys.md"), b"one")


def test_H5_a_changed_note_is_shown_again_and_so_is_one_that_was_changed_back(where: str) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    assert not ledger.seen(where, "s").has(KEY, b"two")
    ledger.note(where, "s", [(KEY, b"two")])
    assert ledger.seen(where, "s").has(KEY, b"two")
    # What the conversation has last is "two".
    assert not ledger.seen(where, "s").has(KEY, b"one")
    assert len(ledger.seen(where, "s")) == 1


@pytest.mark.parametrize(
    ("source", "gone"),
    [("startup", True), ("clear", True), ("compact", True), ("resume", False), ("new one", True)],
)
def test_H5_what_is_compacted_may_be_shown_again(where: str, source: str, gone: bool) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    ledger.note(where, "other", [(KEY, b"one")])
    if ledger.forgets(source):
        assert ledger.forget(where, "s") is None
    assert ledger.seen(where, "s").has(KEY, b"one") is not gone
    assert ledger.seen(where, "other").has(KEY, b"one")
    assert ledger.forget(where, "never heard of") is None


@pytest.mark.parametrize("session", [None, ""])
def test_without_a_session_there_is_no_ledger(where: str, session: str | None) -> None:
    assert ledger.note(where, session, [(KEY, b"one")]) is None
    assert len(ledger.seen(where, session)) == 0
    assert ledger.forget(where, session) is None
    assert not os.path.exists(where)
    assert ledger.note(None, "s", [(KEY, b"one")]) is None
    assert len(ledger.seen(None, "s")) == 0
    assert ledger.sweep(None) == 0


def test_nothing_shown_writes_nothing(where: str) -> None:
    ledger.note(where, "s", [])
    assert not os.path.exists(where)


@pytest.mark.parametrize("session", ["../../x", "a/b", "\0", "\ud800", "x" * 100_000, "日本", "\n"])
def test_any_id_is_one_file_of_ours(where: str, session: str) -> None:
    assert ledger.note(where, session, [(KEY, b"one")]) is None
    assert ledger.seen(where, session).has(KEY, b"one")
    assert len(os.listdir(os.path.join(where, "shown"))) == 1


@pytest.mark.parametrize("umask", [0, 0o777])
def test_C5_files_are_private_whatever_the_umask(where: str, umask: int) -> None:
    before = os.umask(umask)
    try:
        ledger.note(where, "s", [(KEY, b"one")])
    finally:
        os.umask(before)
    for directory in (where, os.path.join(where, "shown")):
        assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(file_of(where)).st_mode) == 0o600


def test_nothing_in_a_file_tells_what_was_shown(where: str) -> None:
    ledger.note(where, "my-session", [(KEY, b"one")])
    with open(file_of(where, "my-session"), "rb") as stream:
        data = stream.read()
    assert b"keys" not in data
    assert "my-session" not in file_of(where, "my-session")


# Expiry and bounds


@pytest.mark.parametrize(("days", "there"), [(0, True), (6.9, True), (7.1, False), (-8, False)])
def test_a_silent_conversation_expires(where: str, days: float, there: bool) -> None:
    now = time.time() + days * DAY
    ledger.note(where, "s", [(KEY, b"one")])
    assert ledger.seen(where, "s", now).has(KEY, b"one") is there
    # New lines don't make old ones young again.
    ledger.note(where, "s", [("other", b"x")], now)
    assert ledger.seen(where, "s").has(KEY, b"one") is there
    assert ledger.seen(where, "s").has("other", b"x")


def test_a_long_conversation_keeps_the_newest(where: str) -> None:
    count = ledger.MAX_ENTRIES + 50
    for number in range(count):
        ledger.note(where, "s", [(f"d{number}", b"x")])
        assert os.path.getsize(file_of(where)) <= ledger._MAX_BYTES
    seen = ledger.seen(where, "s")
    assert ledger._KEPT <= len(seen) <= ledger.MAX_ENTRIES
    assert all(seen.has(f"d{n}", b"x") for n in range(count - ledger._KEPT, count))
    assert not seen.has("d0", b"x")


def test_more_entries_at_once_than_a_file_may_have(where: str) -> None:
    ledger.note(where, "s", [(f"d{n}", b"x") for n in range(3 * ledger.MAX_ENTRIES)])
    assert os.path.getsize(file_of(where)) <= ledger._MAX_BYTES
    assert ledger.seen(where, "s").has(f"d{3 * ledger.MAX_ENTRIES - 1}", b"x")


def test_a_document_that_is_shown_again_and_again_pushes_none_out(where: str) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    for number in range(ledger.MAX_ENTRIES - 50):
        ledger.note(where, "s", [("changing", b"%d" % number)])
    assert ledger.seen(where, "s").has(KEY, b"one")


def test_sweeping_deletes_what_expired_what_is_too_much_and_leftovers(where: str) -> None:
    now = time.time()
    total = ledger.MAX_CONVERSATIONS + 3
    for number in range(total):
        ledger.note(where, f"s{number}", [(KEY, b"one")])
        os.utime(file_of(where, f"s{number}"), (now - number, now - number))
    os.utime(file_of(where, "s0"), (now - 8 * DAY, now - 8 * DAY))
    leftover = f"{file_of(where, 's1')}.1-00.tmp"
    young = f"{file_of(where, 's1')}.2-00.tmp"
    foreign = os.path.join(where, "shown", "mine.txt")
    directory = file_of(where, "directory")
    for path in (leftover, young, foreign):
        with open(path, "w", encoding="ascii"):
            pass
    os.utime(leftover, (now - 4000, now - 4000))
    os.utime(foreign, (0, 0))
    os.mkdir(directory)
    assert ledger.sweep(where, now) == 5
    left = {f"s{n}" for n in range(total) if os.path.exists(file_of(where, f"s{n}"))}
    # The directory is the youngest "conversation", and can't be deleted.
    assert left == {f"s{n}" for n in range(1, ledger.MAX_CONVERSATIONS)}
    assert [os.path.exists(p) for p in (leftover, young, foreign)] == [False, True, True]
    assert ledger.sweep(where, now) == 0


def test_sweeping_nothing(where: str) -> None:
    assert ledger.sweep(where) == 0


# Files that are damaged, foreign or out of reach


GARBAGE = [
    *(
        b"",
        b"\n\n",
        b"\0" * 5000,
        b"\xff" * 66,
        b"{}",
        b"a" * 32,
        b"x" * 200_000,
        b" " * 65 + b"\n",
    ),
    *(b"A" * 32 + b" " + b"A" * 32 + b"\n", b"a" * 32 + b" " + b"b" * 32, b"\xe2\x80\xa8" * 30),
]


@pytest.mark.parametrize("data", GARBAGE)
def test_garbage_costs_nothing_but_itself(where: str, data: bytes) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    with open(file_of(where), "ab") as stream:
        stream.write(data)
    seen = ledger.seen(where, "s")
    assert seen.has(KEY, b"one") or len(data) > ledger._MAX_BYTES
    assert len(seen) <= 1
    assert ledger.note(where, "s", [("more", b"two")]) is None
    assert ledger.seen(where, "s").has("more", b"two")


@pytest.mark.parametrize(
    "form", [b"x%s\n", b" %s\n", b"%sx\n", b"%s \n", b"%s\r\n", b"%s", b"%s\0"]
)
def test_a_line_of_another_shape_says_nothing(where: str, form: bytes) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    state.write(where, ledger._name("s"), form % lines([(KEY, b"two")]).rstrip(), sync=False)
    assert not ledger.seen(where, "s").has(KEY, b"two")
    older = lines([(KEY, b"one")])
    torn = form % lines([(KEY, b"two")]).rstrip()
    state.write(where, ledger._name("s"), older + torn, sync=False)
    assert ledger.seen(where, "s").has(KEY, b"one")  # the last line that says something


def lines(entries: list[tuple[str, bytes]]) -> bytes:
    return b"".join(b"%s %s\n" % (ledger._hash(k), ledger._hash(d)) for k, d in entries)


ENTRIES = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from([b"1", b"2", b"3"])))


@given(st.data(), ENTRIES)
def test_H5_never_seen_what_was_not_noted(
    data: st.DataObject, entries: list[tuple[str, bytes]]
) -> None:
    """However a file of ours is cut, torn and mixed with garbage."""
    whole = lines(entries)
    pieces = data.draw(
        st.lists(
            st.one_of(
                st.binary(max_size=80),
                st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))).map(
                    lambda cut: whole[min(cut) : max(cut)]
                ),
            ),
            max_size=6,
        )
    )
    with tempfile.TemporaryDirectory() as where:
        state.write(where, ledger._name("s"), b"".join(pieces), sync=False)
        for entry in entries[:2]:
            ledger.note(where, "s", [entry])
        seen = ledger.seen(where, "s")
    table = ledger._parsed(seen._data)
    noted = set(entries)
    for key in "abcdef":
        for digest in (b"1", b"2", b"3"):
            assert not seen.has(key, digest) or (key, digest) in noted
            same = table.get(ledger._hash(key)) == ledger._hash(digest)
            assert seen.has(key, digest) is same
    for key, digest in dict(entries[:2]).items():
        assert seen.has(key, digest)


@given(st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=4)), max_size=30))
def test_the_ledger_is_a_table_of_what_was_last(entries: list[tuple[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as where:
        for entry in entries:
            ledger.note(where, "s", [entry])
        seen = ledger.seen(where, "s")
    last = dict(entries)
    assert len(seen) == len(last)
    for key, digest in entries:
        assert seen.has(key, digest) is (last[key] == digest)


def make_symlink(path: str) -> None:
    target = f"{path}.target"
    with open(target, "wb") as stream:
        stream.write(lines([(KEY, b"one")]))
    os.symlink(target, path)


@pytest.mark.parametrize("make", [make_symlink, os.mkdir, os.mkfifo])
def test_what_is_not_a_file_of_ours_is_neither_read_nor_written(
    where: str, make: Callable[[str], None]
) -> None:
    state.own(where)
    state.own(os.path.join(where, "shown"))
    make(file_of(where))
    assert not ledger.seen(where, "s").has(KEY, b"one")
    assert ledger.note(where, "s", [("a", b"b")])
    if make is make_symlink:
        assert os.path.getsize(f"{file_of(where)}.target") == len(lines([(KEY, b"one")]))


@pytest.mark.parametrize("name", ["state", "shown"])
def test_a_directory_that_is_a_link_is_refused(where: str, tmp_path: Path, name: str) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    directory = where if name == "state" else os.path.join(where, "shown")
    os.rename(directory, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", directory)
    assert len(ledger.seen(where, "s")) == 0
    assert ledger.note(where, "s", [("a", b"b")])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_somebody_elses_file_is_not_believed(where: str) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    os.chown(file_of(where), 12345, 12345)
    assert len(ledger.seen(where, "s")) == 0
    assert ledger.note(where, "s", [("a", b"b")])


def test_a_state_directory_that_is_a_file_hurts_nobody(tmp_path: Path) -> None:
    where = str(tmp_path / "file")
    (tmp_path / "file").write_bytes(b"")
    assert len(ledger.seen(where, "s")) == 0
    assert ledger.note(where, "s", [(KEY, b"one")])
    assert ledger.forget(where, "s") is None
    assert ledger.sweep(where) == 0


def test_C5_a_directory_that_can_not_be_written_hurts_nobody(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.note(where, "s", [(KEY, b"one")])
    read_only(monkeypatch)
    assert "Read-only" in str(ledger.note(where, "s", [("a", b"b")]))
    assert ledger.seen(where, "s").has(KEY, b"one")


def limited(where: str, size: int) -> None:
    """Note much in a process whose files may not grow beyond some bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    noted = [ledger.note(where, "s", [(f"d{n}", b"x")]) for n in range(4)]
    os._exit(0 if noted[0] is None and noted[-1] else 1)


def test_C6_a_full_disk_costs_only_what_did_not_fit(where: str) -> None:
    process = multiprocessing.get_context("fork").Process(target=limited, args=(where, 100))
    process.start()
    process.join(30)
    assert process.exitcode == 0
    assert os.path.getsize(file_of(where)) == 100
    assert ledger.note(where, "s", [("after", b"x")]) is None
    seen = ledger.seen(where, "s")
    assert [seen.has(f"d{n}", b"x") for n in range(4)] == [True, False, False, False]
    assert seen.has("after", b"x")


# Many at once


def hook(where: str, barrier: Barrier, number: int, rounds: int, *, same: bool) -> None:
    session = "s" if same else f"s{number}"
    barrier.wait(30)
    for each in range(rounds):
        ledger.seen(where, session)
        if ledger.note(where, session, [(f"{number}-{each}", b"x")]) is not None:
            os._exit(1)
    os._exit(0)


def at_once(where: str, rounds: int, *, same: bool, count: int = 20) -> list[int | None]:
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count)
    processes = [
        context.Process(target=hook, args=(where, barrier, n, rounds), kwargs={"same": same})
        for n in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    return [process.exitcode for process in processes]


def test_H5_twenty_hooks_at_once_lose_nothing(where: str) -> None:
    """Neither those of one conversation nor those of twenty."""
    rounds = ledger._KEPT // 20  # few enough that nothing is shortened
    assert at_once(where, rounds, same=True) == [0] * 20
    seen = ledger.seen(where, "s")
    assert all(seen.has(f"{n}-{each}", b"x") for n in range(20) for each in range(rounds))
    assert at_once(where, 3, same=False) == [0] * 20
    for number in range(20):
        seen = ledger.seen(where, f"s{number}")
        assert [seen.has(f"{number}-{each}", b"x") for each in range(3)] == [True] * 3


def test_hooks_that_shorten_a_file_at_once_leave_a_sound_one(
    where: str, long_count: Callable[[int], int]
) -> None:
    rounds = max(60, long_count(400))
    assert at_once(where, rounds, same=True) == [0] * 20
    with open(file_of(where), "rb") as stream:
        kept = stream.read().split(b"\n")
    assert all(len(line) == ledger._LINE for line in kept[:-1])
    assert 0 < len(ledger.seen(where, "s")) <= ledger.MAX_ENTRIES
    shown = os.listdir(os.path.join(where, "shown"))
    assert shown == [os.path.basename(file_of(where))]


LIGHT = """
import sys
base = set(sys.modules)
from recall import ledger, pausing
ledger.note(sys.argv[1], "s", [("a", b"b")])
assert ledger.seen(sys.argv[1], "s").has("a", b"b")
pausing.paused(sys.argv[1], 0)
print(*sorted(set(sys.modules) - base))
"""


def test_the_ledger_imports_next_to_nothing(where: str) -> None:
    state.own(where)
    state.own(os.path.join(where, "shown"))
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, where], capture_output=True, check=True, text=True, timeout=60
    )
    others = {name.partition(".")[0] for name in done.stdout.split()}
    assert others <= {"__future__", "_blake2", "unicodedata", "recall", "index_cache"}
    assert "recall.ledger" in done.stdout.split()
    assert "index_cache.db" not in done.stdout.split()
