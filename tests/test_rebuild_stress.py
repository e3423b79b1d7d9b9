"""A cache survives kills, crowds and rebuilds in their midst, and its answers never show it."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from stateful_support import Content, ask
from stress_support import (
    Later,
    Worker,
    Yard,
    die_at_commit,
    die_at_write,
    faults,
    kill_at,
    rebuild_and_tell,
    seeded,
    stop_at_first_note,
    undisturbed,
    unpack_real_notes,
)

from index_cache import locks, search
from index_cache.errors import CacheBusy
from index_cache.rebuild import fresh_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stress_support import Answers

REAL_NOTES = 2_000
ONE_BATCH = 2_000  # files
MOST_WAIT = 50  # ms
QUERIES = (
    "kubernetes pod scheduling",
    "rename a git branch",
    "search recursively in files",
    "telemetry collector pipeline",
    "runbook alert openshift",
    "vim buffer",
    "容器 集群",
    "ファイル を表示",
    "zephyrine",
    "zephyrine docker image",
)


# -- SIGKILL at any moment, over real notes


class News:
    """Real notes with a cache that does not know the latest changes yet.

    ``restore`` puts it back; ``before`` and ``after`` are its answers, and those of a fresh one.
    """

    def __init__(self, yard: Yard) -> None:
        self.yard = yard
        yard.refresh()
        change(yard)
        self.restore = yard.keep()
        self.before = yard.answers(QUERIES)
        shutil.rmtree(yard.cache)
        yard.refresh()
        self.after = yard.answers(QUERIES)
        assert all(self.after)
        assert self.before != self.after


def change(yard: Yard) -> None:
    """Change a quarter of the notes: new text, other names, gone, and as many new ones."""
    for number, path in enumerate(sorted(yard.notes.rglob("*.md"))[::4]):
        match number % 4:
            case 0:
                path.write_bytes(path.read_bytes() + b"\n\nzephyrine, and once more zephyrine\n")
            case 1:
                path.rename(path.with_name(f"renamed-{number}.md"))
            case 2:
                path.unlink()
            case _:
                yard.write(f"new/{number}.md", f"# New {number}\n\nzephyrine docker image\n")


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory, long_count: Callable[[int], int]) -> News:
    yard = Yard(tmp_path_factory.mktemp("real"), Later())
    unpack_real_notes(yard.notes, max(REAL_NOTES // 4, long_count(REAL_NOTES)), 1_500)
    return News(yard)


@pytest.mark.parametrize("command", ["refresh", "rebuild"])
def test_C7_a_kill_at_any_moment_costs_work_and_nothing_else(
    news: News, command: str, long_count: Callable[[int], int]
) -> None:
    chance, seed = seeded()
    kills = tries = 0
    wanted = long_count(100)
    batches = (ONE_BATCH, 64)
    spans = {batch: usual_spans(news, command, batch) for batch in batches}
    while kills < wanted:
        tries += 1
        # Half of the moments while it has the lock: a rebuild has it for a small part of its time.
        batch, locked = batches[tries % 2], tries // 2 % 2 == 1
        first, second = spans[batch]
        delay = chance.uniform(0, second if locked else first + second)
        news.restore()
        if kill_at(news.yard, command, batch, delay, locked=locked):
            kills += 1
            try:
                check_after_kill(news, command, kills, mixed=batch != ONE_BATCH)
            except BaseException as error:
                error.add_note(f"{seed}: kill {kills}, {delay:.4f} s, {batch=}, {locked=}")
                raise
        assert tries < 4 * wanted + 10, "it is done before it can be killed"
    news.yard.check()


def usual_spans(news: News, command: str, batch: int) -> tuple[float, float]:
    """Return how long a command takes until it has the lock, and from then on, in seconds."""
    news.restore()
    spans = undisturbed(news.yard, command, batch)
    news.yard.check_nothing_is_left()
    assert news.yard.answers(QUERIES) == news.after
    return spans


def check_after_kill(news: News, command: str, number: int, *, mixed: bool) -> None:
    """Fail unless answers are right at once, and nothing of a kill is left in the end."""
    yard = news.yard
    yard.check_no_lock()
    answers = yard.answers(QUERIES)
    if command == "rebuild" or not mixed:
        assert answers in (news.before, news.after)
    else:
        yard.check_nothing_is_left()
    if number % (5 if command == "refresh" else 10) == 0:
        # What a killed refresh has not come to is pending; nothing that is there is wrong.
        assert faults(yard.verify()) == []
    if command == "refresh" or number % 3 == 0:
        yard.refresh()
        assert yard.answers(QUERIES) == news.after
    if command == "rebuild" or number % 10 == 0:
        assert faults(yard.rebuild()) == []
        yard.check_nothing_is_left()
        assert yard.answers(QUERIES) == news.after


# -- SIGKILL at each commit, and at each write of the swap


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    yard = Yard(tmp_path, Later())
    for number in range(24):
        yard.write(f"{number}.md", f"# Note {number}\n\nkestrel word{number}\n")
    return yard


def some_news(yard: Yard) -> None:
    """Begin with a cache to which some notes are news."""
    yard.refresh()
    yard.write("3.md", "# Note 3\n\nkestrel word3 word7 once again\n")
    yard.write("new.md", "# New\n\nkestrel word7 again and again\n")
    (yard.notes / "4.md").unlink()


def no_cache(yard: Yard) -> None:
    """Begin with no cache at all."""
    assert not os.path.exists(yard.cache)


def damaged_cache(yard: Yard) -> None:
    """Begin with a cache of which every page but the first is damaged."""
    yard.refresh()
    with open(yard.file, "r+b") as out:
        out.seek(4096)
        out.write(b"\xa5" * (os.stat(yard.file).st_size - 4096))


SMALL_QUERIES = ("kestrel", "word3 word7 again", "word4")


@pytest.mark.parametrize("begin", [some_news, no_cache, damaged_cache])
@pytest.mark.parametrize("die", [die_at_commit, die_at_write])
def test_C7_a_kill_at_each_step_of_a_rebuild_leaves_the_old_cache_or_the_new(
    yard: Yard,
    begin: Callable[[Yard], None],
    die: Callable[..., None],
    long_count: Callable[[int], int],
) -> None:
    begin(yard)
    restore = yard.keep()
    # With no cache, or a damaged one, a search makes one: the answers are the new ones.
    before = yard.answers(SMALL_QUERIES)
    yard.refresh()
    after = yard.answers(SMALL_QUERIES)
    assert (before != after) == (begin is some_news)
    # Of the writes of a swap, each or every third is torn; of commits there are but a few.
    number, every = 0, 3 if die is die_at_write and long_count(10) < 10 else 1
    seen: list[Answers] = []
    left_over = 0
    while True:
        restore()
        if not killed(Worker(die, yard, number)):
            break
        yard.check_no_lock()
        left_over += os.path.exists(fresh_path(yard.file))
        seen.append(yard.answers(SMALL_QUERIES))
        assert seen[-1] in (before, after), f"at step {number}"
        if number // every % 2:
            yard.refresh()
            assert yard.answers(SMALL_QUERIES) == after
        assert yard.rebuild().rebuilt
        yard.check_nothing_is_left()
        yard.check()
        number += every
    assert left_over > 0
    assert number >= (30 if die is die_at_write else 6), "too few points were hit"
    if begin is some_news:
        assert seen[0] == before
        assert after in seen or die is die_at_commit  # its last commit comes before the swap


def killed(worker: Worker) -> bool:
    """Wait for a process that is to kill itself; False if it came to its end."""
    status = worker.end()
    assert status in (0, -9)
    return status != 0


# -- rebuilds beside others


def test_C1_of_two_rebuilds_one_is_refused_or_waits(yard: Yard) -> None:
    some_news(yard)
    before = yard.answers(SMALL_QUERIES)
    first = Worker(stop_at_first_note, yard, "rebuild")
    first.expect("reads")
    with pytest.raises(CacheBusy, match="is rebuilding") as caught:
        yard.rebuild(wait=0)
    assert caught.value.exit_status == 6
    assert yard.answers(SMALL_QUERIES) == before
    yard.refresh()  # nor does a rebuild keep a refresh waiting
    second = Worker(rebuild_and_tell, yard)
    second.expect("waits")
    first.pipe.send("go on")
    first.expect([])
    second.expect([])
    assert (first.end(), second.end()) == (0, 0)
    yard.check_nothing_is_left()
    yard.check()


def test_C1_a_rebuild_waits_for_a_refresh_and_takes_in_what_it_missed(yard: Yard) -> None:
    some_news(yard)
    refreshing = Worker(stop_at_first_note, yard, "refresh")
    refreshing.expect("reads")
    before = yard.answers(SMALL_QUERIES)
    with pytest.raises(CacheBusy):
        yard.rebuild(wait=0)
    assert not os.path.exists(fresh_path(yard.file))
    rebuilding = Worker(rebuild_and_tell, yard)
    rebuilding.expect("waits")  # its fresh cache is ready
    assert yard.answers(SMALL_QUERIES) == before
    yard.write("late.md", "# Late\n\nkestrel word4\n")
    refreshing.pipe.send("go on")
    refreshing.expect([])
    rebuilding.expect([])
    assert (refreshing.end(), rebuilding.end()) == (0, 0)
    assert yard.answers(["word4"])[0][0][0] == "late.md"
    yard.check_nothing_is_left()
    yard.check()


def test_C1_who_reads_keeps_the_old_view_to_the_end_of_a_read(yard: Yard) -> None:
    some_news(yard)
    query = SMALL_QUERIES[1]
    with closing(yard.store()) as reader:
        reader.begin_reading()
        before, content = ask([reader], query), Content(reader)
        assert yard.rebuild().rebuilt
        with closing(yard.store()) as other:
            after = ask([other], query)
        assert ask([reader], query) == before != after
        assert Content(reader).differences(content) == {}
        reader.end_reading()
        assert ask([reader], query) == after
    yard.refresh()
    yard.check()


def test_C1_a_search_sees_one_cache_though_a_rebuild_ends_in_its_midst(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    some_news(yard)
    count = search.count
    with yard.recall() as recall:
        before = recall.answer("word7", refresh=False)

        def after_a_rebuild(*arguments: Any) -> int:
            monkeypatch.setattr(search, "count", count)
            assert yard.rebuild().rebuilt
            return count(*arguments)

        monkeypatch.setattr(search, "count", after_a_rebuild)
        during = recall.answer("word7", refresh=False)
        after = recall.answer("word7", refresh=False)
    assert (before.total, during.total, after.total) == (1, 1, 3)


def test_C1_a_refresh_that_looked_before_a_rebuild_looks_again(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what came back in between would be missing in its scan, and be taken for deleted."""
    some_news(yard)
    acquire = locks.WriterLock.acquire

    def after_a_rebuild(lock: locks.WriterLock, wait: float) -> bool:
        monkeypatch.setattr(locks.WriterLock, "acquire", acquire)
        yard.write("4.md", "# Four\n\nkestrel word4\n")
        assert yard.rebuild().rebuilt
        return acquire(lock, wait)

    monkeypatch.setattr(locks.WriterLock, "acquire", after_a_rebuild)
    yard.refresh()
    yard.check()
