"""What is indexed and what is shown agrees with the files, whatever happened to them."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from stateful_support import (
    DISK,
    SECOND,
    START,
    Content,
    FakeFileSystem,
    Place,
    assert_same,
    entries,
    fields,
    fresh,
    update,
)

from index_cache import files, ingest, reader, verify
from index_cache.errors import RootUnavailable
from index_cache.refresh import open_store, refresh
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def filled(place: Place) -> Place:
    """Three notes, one of them in a mounted directory, indexed long ago."""
    place.write("a.md", "# Alpha\n\nkestrel one\n")
    place.write("sub/b.md", "# Bravo\n\nkestrel two\n")
    os.makedirs(place.path("mnt"))
    place.fs.mount(place.path("mnt"), 77)
    place.write("mnt/c.md", "# Carol\n\nkestrel six\n")
    place.settle()
    return place


ALL = ["a.md", "mnt/c.md", "sub/b.md"]


# -- which files are opened


def test_a_second_refresh_opens_no_note(place: Place) -> None:
    for number in range(40):
        place.write(f"{number % 4}/{number}.md", f"# Note {number}\n")
    place.fs.forward(10 * SECOND)
    place.refresh()
    assert len(place.fs.opened) == 40
    place.fs.opened.clear()
    report = place.refresh()
    assert place.fs.opened == []
    assert (report.unchanged, report.added, report.changed, report.removed) == (40, 0, 0, 0)


def test_one_edit_opens_one_note(filled: Place) -> None:
    filled.write("sub/b.md", "# Bravo\n\nkestrel three\n")
    filled.fs.forward(10 * SECOND)
    filled.fs.opened.clear()
    report = filled.refresh()
    assert filled.fs.opened == [filled.path("sub/b.md")]
    assert (report.unchanged, report.added, report.changed, report.removed) == (2, 0, 1, 0)
    filled.check()


def test_young_notes_are_opened_until_their_times_prove_something(place: Place) -> None:
    place.write("a.md", "# Alpha\n")
    opened = []
    for _ in range(5):
        place.refresh()
        opened.append(len(place.fs.opened))
        place.fs.opened.clear()
        place.fs.forward(SECOND)
    # At 0, 1 and 2 seconds an edit could still hide; the refresh at 3 seconds reads a last time.
    assert opened == [1, 1, 1, 1, 0]


# -- D1: times that lie


def same_size_in_the_same_tick(place: Place) -> None:
    place.write("new.md", "# Delta\n")
    place.refresh()
    before = files.signature(place.fs.stat(place.path("new.md")))
    place.write("new.md", "# Gamma\n")
    assert files.signature(place.fs.stat(place.path("new.md"))) == before


def touch_with_a_reference(place: Place) -> None:
    mtime = place.fs.mtime(place.path("a.md"))
    place.write("a.md", "# Gamma\n\nkestrel one\n")
    place.fs.touch(place.path("a.md"), mtime)


def checkout_that_restores_old_times(place: Place) -> None:
    place.fs.delete(place.path("a.md"))
    place.write("a.md", "# Gamma\n\nkestrel one\n")
    place.fs.touch(place.path("a.md"), START - 3600 * SECOND)


def clock_set_back(place: Place) -> None:
    place.fs.set_back(3600 * SECOND)
    place.write("a.md", "# Gamma\n\nkestrel one\n")


def two_edits_around_a_refresh_after_the_clock_was_set_back(place: Place) -> None:
    place.fs.set_back(3600 * SECOND)
    place.write("a.md", "# Delta\n\nkestrel one\n")
    place.refresh()
    place.write("a.md", "# Gamma\n\nkestrel one\n")


def modified_in_the_far_future(place: Place) -> None:
    future = START + 10**9 * SECOND
    place.fs.touch(place.path("a.md"), future)
    place.settle()
    place.write("a.md", "# Gamma\n\nkestrel one\n")
    place.fs.touch(place.path("a.md"), future)


def modified_before_1970(place: Place) -> None:
    place.write("a.md", "# Gamma\n\nkestrel one\n")
    place.fs.touch(place.path("a.md"), -5 * SECOND)


@pytest.mark.parametrize("wait", [0, 3600 * SECOND])
@pytest.mark.parametrize(
    "edit",
    [
        same_size_in_the_same_tick,
        touch_with_a_reference,
        checkout_that_restores_old_times,
        clock_set_back,
        two_edits_around_a_refresh_after_the_clock_was_set_back,
        modified_in_the_far_future,
        modified_before_1970,
    ],
)
def test_D1_an_edit_is_seen_whatever_the_times_say(
    edit: Callable[[Place], None], wait: int, filled: Place
) -> None:
    edit(filled)
    filled.fs.forward(wait)
    filled.refresh()
    filled.check()
    assert "Gamma" in filled.titles("gamma")


def test_D1_touched_notes_are_read_but_not_indexed_again(filled: Place) -> None:
    with closing(filled.store()) as store:
        generation = store.generation
        filled.fs.touch(filled.path("a.md"), START + 5)
        report = update(store, filled.fs)
        assert (report.changed, report.unchanged) == (0, 3)
        assert store.generation == generation + 1
        assert entries(store)[b"a.md"][0] == files.signature(filled.fs.stat(filled.path("a.md")))


# -- D2: names


def test_D2_rename(filled: Place) -> None:
    filled.fs.rename(filled.path("a.md"), filled.path("z.md"))
    report = filled.refresh()
    assert (report.added, report.removed) == (1, 1)
    assert filled.paths() == ["mnt/c.md", "sub/b.md", "z.md"]
    filled.check()


def test_D2_case_only_rename(filled: Place) -> None:
    filled.fs.rename(filled.path("a.md"), filled.path("A.MD"))
    filled.refresh()
    assert filled.paths() == ["A.MD", "mnt/c.md", "sub/b.md"]
    assert [card.path for card in filled.answer("alpha").cards] == ["A.MD"]
    filled.check()


def test_D2_case_only_rename_of_a_directory(filled: Place) -> None:
    os.rename(filled.path("sub"), filled.path("Sub"))
    filled.refresh()
    assert filled.paths() == ["Sub/b.md", "a.md", "mnt/c.md"]
    filled.check()


def test_D2_replace_by_rename(filled: Place) -> None:
    mtime = filled.fs.mtime(filled.path("a.md"))
    filled.write("a.md.tmp", "# Gamma\n\nkestrel one\n")
    filled.fs.touch(filled.path("a.md.tmp"), mtime)
    filled.fs.rename(filled.path("a.md.tmp"), filled.path("a.md"))
    filled.refresh()
    assert filled.titles("gamma alpha") == ["Gamma"]
    filled.check()


def test_D2_two_notes_exchange_their_names(filled: Place) -> None:
    for old, new in (("a.md", "x"), ("sub/b.md", "a.md"), ("x", "sub/b.md")):
        filled.fs.rename(filled.path(old), filled.path(new))
    filled.refresh()
    assert [card.path for card in filled.answer("alpha").cards] == ["sub/b.md"]
    filled.check()


@pytest.mark.parametrize("wait", [0, 10 * SECOND])
def test_D2_delete_and_recreate_with_the_same_inode(filled: Place, wait: int) -> None:
    filled.write("d.md", "# Delta\n")
    filled.refresh()
    inode = filled.fs.stat(filled.path("d.md")).st_ino
    filled.fs.forward(wait)
    filled.fs.delete(filled.path("d.md"))
    filled.write("d.md", "# Gamma\n")
    assert filled.fs.stat(filled.path("d.md")).st_ino == inode
    filled.refresh()
    assert filled.titles("gamma delta") == ["Gamma"]
    filled.check()


def test_D2_a_directory_in_the_place_of_a_note(filled: Place) -> None:
    filled.fs.delete(filled.path("a.md"))
    filled.write("a.md/b.md", "# Gamma\n")
    filled.refresh()
    assert filled.paths() == ["a.md/b.md", "mnt/c.md", "sub/b.md"]
    filled.check()


# -- D3: what can't be seen stays


def deny_directory(place: Place) -> None:
    place.fs.deny(place.path("sub"))


def unmount(place: Place) -> None:
    place.fs.unmount(place.path("mnt"))


def empty_root(place: Place) -> None:
    for name in ALL:
        place.fs.delete(place.path(name))


@pytest.mark.parametrize(
    ("happens", "marked", "pruned"),
    [
        (deny_directory, "sub/", ["a.md", "mnt/c.md"]),
        (unmount, "mnt/", ["a.md", "sub/b.md"]),
        (empty_root, "", []),
    ],
)
def test_D3_rows_of_what_is_not_seen_stay_and_are_marked_until_pruned(
    happens: Callable[[Place], None], marked: str, pruned: list[str], filled: Place
) -> None:
    happens(filled)
    for _ in range(2):
        report = filled.refresh()
        assert [each.path for each in report.unavailable] == [marked.encode()]
        assert report.removed == 0
        assert filled.paths() == ALL
    with filled.recall() as recall:
        (state,) = recall.status()
    assert [each.path for each in state.unavailable] == [marked.encode()]
    report = filled.refresh(prune=True)
    assert filled.paths() == pruned
    assert report.removed == len(ALL) - len(pruned)
    assert bool(report.unavailable) == (happens is deny_directory)


def test_D3_what_comes_back_is_found_again(filled: Place) -> None:
    filled.fs.unmount(filled.path("mnt"))
    filled.fs.deny(filled.path("sub"))
    filled.refresh()
    filled.fs.mount(filled.path("mnt"), 78)
    filled.fs.permit(filled.path("sub"))
    report = filled.refresh()
    assert report.unavailable == ()
    assert filled.paths() == ALL
    filled.check()


def test_D3_a_root_that_can_not_be_listed_keeps_its_rows(filled: Place) -> None:
    filled.fs.deny(filled.path())
    for prune in (False, True):
        with pytest.raises(RootUnavailable):
            filled.refresh(prune=prune)
    assert filled.paths() == ALL
    answer = filled.answer("kestrel", refresh=True)
    assert isinstance(answer.reports[0].failure, RootUnavailable)
    # The old view is there, but no card shows what can't be checked.
    assert (answer.total, answer.cards) == (0, [])


def test_D3_a_root_that_is_gone_keeps_its_rows(filled: Place) -> None:
    os.rename(filled.path(), filled.path() + b".away")
    with pytest.raises(RootUnavailable):
        filled.refresh(prune=True)
    os.rename(filled.path() + b".away", filled.path())
    assert filled.paths() == ALL


def test_D3_a_file_whose_state_can_not_be_read_keeps_its_row(filled: Place) -> None:
    """A directory that may be listed but not entered."""

    class NoEntry(FakeFileSystem):
        def stat(self, path: bytes) -> files.StatResult:
            if path.startswith(filled.path("sub/")):
                raise PermissionError(13, "Permission denied")
            return super().stat(path)

    fs = NoEntry()
    fs.__dict__.update(filled.fs.__dict__)
    with closing(filled.store()) as store:
        report = update(store, fs)
    assert [each.path for each in report.unavailable] == [b"sub/b.md"]
    assert filled.paths() == ALL


def test_D3_notes_deleted_for_good_go_when_others_are_left(filled: Place) -> None:
    filled.fs.delete(filled.path("mnt/c.md"))
    filled.fs.delete(filled.path("a.md"))
    report = filled.refresh()
    assert (report.removed, report.unavailable) == (2, ())
    filled.check()


def test_D3_an_unreadable_note_loses_its_text_alone(filled: Place) -> None:
    filled.fs.deny(filled.path("a.md"))
    report = filled.refresh()
    assert [each.path for each in report.skipped] == [b"a.md"]
    assert filled.paths() == ["mnt/c.md", "sub/b.md"]
    filled.check()
    filled.fs.permit(filled.path("a.md"))
    filled.refresh()
    assert filled.paths() == ALL
    filled.check()


def test_D3_a_mount_of_which_a_killed_refresh_saw_a_part(filled: Place) -> None:
    """Two devices in one directory's rows: it is lost only if it is on neither."""
    filled.write("mnt/d.md", "# Delta\n")
    filled.settle()
    filled.fs.mount(filled.path("mnt"), 78)
    with closing(filled.store()) as store:
        signature = files.signature(filled.fs.stat(filled.path("mnt/d.md")))
        with store.connection:
            store.connection.execute(
                "UPDATE entry SET signature = ? WHERE path = ?", (signature, b"mnt/d.md")
            )
        assert {fields(row[0])[4] for row in entries(store).values()} == {DISK, 77, 78}
    filled.fs.unmount(filled.path("mnt"))
    filled.refresh()
    assert filled.paths() == ["a.md", "mnt/c.md", "mnt/d.md", "sub/b.md"]
    filled.fs.mount(filled.path("mnt"), 78)
    for name in ("mnt/c.md", "mnt/d.md"):
        filled.fs.delete(filled.path(name))
    filled.refresh()
    assert filled.paths() == ["a.md", "sub/b.md"]


# -- D4: cards are checked when they are shown; none of these searches refreshes first


def test_D4_a_deleted_note_is_not_shown(filled: Place) -> None:
    filled.fs.delete(filled.path("a.md"))
    assert sorted(filled.titles("kestrel")) == ["Bravo", "Carol"]


def test_D4_an_edited_note_is_shown_as_it_is(filled: Place) -> None:
    filled.write("a.md", "---\ntype: Decision\n---\n# Novel title\n\nThe kestrel moved.\n")
    card = next(c for c in filled.answer("kestrel").cards if c.path == "a.md")
    assert (card.title, card.type, card.summary) == (
        "Novel title",
        "Decision",
        "The kestrel moved.",
    )


def test_D4_a_note_that_no_longer_matches_is_not_shown(filled: Place) -> None:
    filled.write("a.md", "# Alpha\n\nnothing of the kind\n")
    assert sorted(filled.titles("kestrel")) == ["Bravo", "Carol"]


def test_D4_an_edit_in_the_tick_of_the_refresh_is_shown(place: Place) -> None:
    place.write("a.md", "# Alpha\n\nkestrel\n")
    place.refresh()
    place.write("a.md", "# Gamma\n\nkestrel\n")
    assert place.titles("kestrel") == ["Gamma"]


def test_D4_a_note_that_is_now_of_another_type_is_not_shown_for_the_old(filled: Place) -> None:
    filled.write("a.md", "---\ntype: Decision\n---\n# Alpha\n\nkestrel\n")
    filled.settle()
    assert filled.titles("kestrel", types=["decision"]) == ["Alpha"]
    filled.write("a.md", "---\ntype: Idea\n---\n# Alpha\n\nkestrel\n")
    assert filled.titles("kestrel", types=["decision"]) == []
    filled.write("a.md", "---\ntype: Journal\n---\n# Alpha\n\nkestrel\n")
    assert sorted(filled.titles("kestrel")) == ["Bravo", "Carol"]
    assert "Alpha" in filled.titles("kestrel", include_journal=True)


def test_D4_what_can_not_be_checked_is_not_shown(filled: Place) -> None:
    filled.fs.deny(filled.path("a.md"))
    filled.fs.deny(filled.path("sub"))
    filled.fs.unmount(filled.path("mnt"))
    answer = filled.answer("kestrel")
    assert (answer.total, answer.cards) == (0, [])


def test_D4_a_directory_that_became_a_link_out_of_the_root_shows_nothing(filled: Place) -> None:
    outside = filled.top / "outside"
    outside.mkdir()
    (outside / "b.md").write_text("# Secret\n\nkestrel secret\n")
    os.rename(filled.path("sub"), filled.path() + b".sub")
    os.symlink(outside, filled.path("sub"))
    assert sorted(filled.titles("kestrel")) == ["Alpha", "Carol"]
    filled.refresh()
    assert filled.paths() == ["a.md", "mnt/c.md"]


def test_D4_dropped_cards_make_room_for_others(place: Place) -> None:
    for number in range(60):
        place.write(f"{number:02}.md", f"# Note {number}\n\nkestrel\n")
    place.settle()
    for number in range(50):
        place.fs.delete(place.path(f"{number:02}.md"))
    assert len(place.titles("kestrel", k=10)) == 10


def test_D4_a_copy_stands_in_for_the_note_that_is_gone(filled: Place) -> None:
    for name in ("copy.md", "copy2.md"):
        filled.write(name, "# Alpha\n\nkestrel one\n")
    filled.settle()
    # Equal texts tie, and the later one leads.
    (card,) = filled.answer("alpha").cards
    assert (card.path, len(card.copies)) == ("copy.md", 2)
    filled.fs.delete(filled.path("a.md"))
    filled.fs.delete(filled.path("copy.md"))
    (card,) = filled.answer("alpha").cards
    assert (card.path, card.copies) == ("copy2.md", ())
    filled.write("copy.md", "# Alpha\n\nkestrel one\n")
    filled.settle()
    (card,) = filled.answer("alpha").cards
    assert card.path == "copy.md"
    assert card.copies == (os.fsdecode(filled.path("copy2.md")),)
    # What was edited since is a note of its own, not a copy.
    filled.write("copy2.md", "# Alpha again\n\nkestrel\n")
    cards = filled.answer("alpha").cards
    assert [(each.title, each.copies) for each in cards] == [("Alpha", ()), ("Alpha again", ())]


def test_C8_no_hit_is_an_answer_not_damage(filled: Place) -> None:
    before = os.stat(filled.cache_file)
    filled.fs.opened.clear()
    for refresh_first in (False, True):
        answer = filled.answer("zyzzyva", refresh=refresh_first)
        assert (answer.total, answer.cards) == (0, [])
        assert [report.failure for report in answer.reports] == [None]
    assert filled.fs.opened == []
    after = os.stat(filled.cache_file)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_C8_a_root_without_notes_is_an_answer(place: Place) -> None:
    answer = place.answer("kestrel", refresh=True)
    assert [report.failure for report in answer.reports] == [None]
    inode = os.stat(place.cache_file).st_ino
    answer = place.answer("kestrel", refresh=True)
    assert (answer.total, answer.cards) == (0, [])
    assert not answer.reports[0].built
    assert os.stat(place.cache_file).st_ino == inode


# -- what happens between the scan and the reading


def test_a_note_that_changes_while_it_is_read_is_read_again(filled: Place) -> None:
    class Moving(FakeFileSystem):
        moves = 1

        def fstat(self, descriptor: int) -> files.StatResult:
            if self.moves and os.fstat(descriptor).st_size:
                self.moves -= 1
                before = super().fstat(descriptor)
                filled.write("a.md", f"# Gamma\n\nkestrel {self.moves}, longer than before\n")
                return before
            return super().fstat(descriptor)

    fs = Moving()
    fs.__dict__.update(filled.fs.__dict__)
    filled.write("a.md", "# Delta\n\nkestrel\n")
    with closing(filled.store()) as store:
        update(store, fs)
    assert filled.titles("gamma delta") == ["Gamma"]
    filled.check()


def test_a_note_that_never_keeps_still_keeps_its_row_until_it_does(filled: Place) -> None:
    class Restless(FakeFileSystem):
        def fstat(self, descriptor: int) -> files.StatResult:
            result = super().fstat(descriptor)
            filled.fs.forward(SECOND)
            filled.fs.touch(filled.path("a.md"))
            return result

    filled.write("a.md", "# Gamma\n\nkestrel one\n")
    restless = Restless()
    restless.__dict__.update(filled.fs.__dict__)
    with closing(filled.store()) as store:
        before = entries(store)
        report = update(store, restless)
        assert [each.path for each in report.unavailable] == [b"a.md"]
        assert entries(store) == before
    report = filled.refresh()
    assert report.unavailable == ()
    assert filled.titles("gamma alpha") == ["Gamma"]
    filled.check()


def test_a_fifo_in_the_place_of_a_note_blocks_nothing(filled: Place) -> None:
    def replace(path: bytes) -> None:
        filled.fs.before_read = lambda _: None
        filled.fs.delete(path)
        os.mkfifo(path)

    filled.write("a.md", "# Gamma\n")
    filled.fs.before_read = replace
    report = filled.refresh()
    assert [each.path for each in report.unavailable] == [b"a.md"]
    report = filled.refresh()
    assert [(each.path, each.reason) for each in report.skipped] == [
        (b"a.md", "not a regular file")
    ]
    assert filled.paths() == ["mnt/c.md", "sub/b.md"]
    filled.check()


def test_a_link_in_the_place_of_a_note_is_not_followed(filled: Place) -> None:
    secret = filled.top / "secret.md"
    secret.write_text("# Secret\n")

    def replace(path: bytes) -> None:
        filled.fs.before_read = lambda _: None
        filled.fs.delete(path)
        os.symlink(secret, path)

    filled.write("a.md", "# Gamma\n")
    filled.fs.before_read = replace
    filled.refresh()
    assert filled.titles("secret") == []
    filled.refresh()
    assert filled.paths() == ["mnt/c.md", "sub/b.md"]
    filled.check()


def test_a_note_deleted_between_scan_and_reading_is_gone_after_the_next_refresh(
    filled: Place,
) -> None:
    def delete(path: bytes) -> None:
        filled.fs.before_read = lambda _: None
        filled.fs.delete(path)

    filled.write("a.md", "# Gamma\n")
    filled.write("new.md", "# Novel\n")
    filled.fs.before_read = delete
    filled.refresh()
    filled.refresh()
    assert filled.paths() == ["mnt/c.md", "new.md", "sub/b.md"]
    filled.check()


def test_a_directory_deleted_during_the_scan_is_gone(filled: Place) -> None:
    def delete(path: bytes) -> None:
        if path == filled.path():
            filled.fs.delete(filled.path("sub/b.md"))
            os.rmdir(filled.path("sub"))

    filled.fs.after_scandir = delete
    filled.refresh()
    filled.fs.after_scandir = lambda _: None
    assert filled.paths() == ["a.md", "mnt/c.md"]
    filled.check()


# -- two writers


def test_a_scan_older_than_another_writers_does_not_undo_it(filled: Place) -> None:
    """A note appears after our scan and before another process's, which then writes first."""
    filled.write("sub/b.md", "# Gamma\n")

    def others_turn(path: bytes) -> None:
        if path == filled.path("sub"):  # the last directory of our scan
            filled.fs.after_scandir = lambda _: None
            filled.write("new.md", "# Novel\n")
            assert filled.refresh().added == 1

    with closing(filled.store()) as store:
        filled.fs.after_scandir = others_turn
        report = update(store, filled.fs)
        assert report.removed == 0
        assert b"new.md" in Content(store).documents
    filled.check()


def test_another_writer_may_finish_while_we_wait_for_the_lock(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from index_cache.locks import WriterLock

    acquire = WriterLock.acquire

    def after_another(lock: WriterLock, wait: float) -> bool:
        monkeypatch.setattr(WriterLock, "acquire", acquire)
        filled.write("new.md", "# Novel\n")
        filled.fs.delete(filled.path("a.md"))
        filled.refresh()
        return acquire(lock, wait)

    filled.write("sub/b.md", "# Gamma\n")
    with closing(filled.store()) as store:
        monkeypatch.setattr(WriterLock, "acquire", after_another)
        report = refresh(store, filled.fs)
    assert (report.added, report.changed, report.removed) == (0, 0, 0)
    filled.check()


def test_two_open_caches_of_one_root_agree(filled: Place) -> None:
    """Writers that keep their connections open take turns."""
    with closing(filled.store()) as one, closing(filled.store()) as two:
        for number in range(6):
            filled.write(f"{number}.md", f"# Note {number}\n")
            filled.fs.delete(filled.path(f"{number - 1}.md" if number else "a.md"))
            update((one, two)[number % 2], filled.fs)
            with closing(fresh(filled.root, filled.fs)) as rebuilt:
                assert_same(one, rebuilt)
                assert_same(two, rebuilt)


def test_a_root_under_two_names_shares_one_cache(filled: Place) -> None:
    from index_cache.model import Root

    other = Root("other", filled.root.path, filled.root.rules)
    filled.fs.opened.clear()
    with closing(open_store(other, filled.cache, 0)) as store:
        update(store, filled.fs)
        assert filled.fs.opened == []
        assert store.path == filled.cache_file


# -- other versions of the parsers


def test_notes_are_read_again_when_the_parsers_have_changed(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.settle()
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)
    assert filled.answer("alpha", refresh=True).reports[0].changed == 0
    report = filled.refresh()
    assert report.changed == report.documents > 0
    filled.fs.opened.clear()
    assert filled.refresh().changed == 0
    assert filled.fs.opened == []
    filled.check()


def test_a_search_that_has_to_write_reads_them_again_too(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.settle()
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)
    filled.write("new.md", "# Novel\n")
    (report,) = filled.answer("novel", refresh=True).reports
    assert (report.added, report.changed) == (1, report.documents - 1)


def test_a_killed_reading_by_other_parsers_is_done_again(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.settle()
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Store, "set_notes", killed)
        with pytest.raises(Killed):
            filled.refresh()
    report = filled.refresh()
    assert report.changed == report.documents > 0


def test_rows_that_could_not_be_read_again_are_read_when_they_can_be(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.settle()
    filled.settle()
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)
    filled.fs.deny(filled.path("sub"))
    assert filled.refresh().changed == 2
    filled.fs.permit(filled.path("sub"))
    report = filled.refresh()
    assert report.changed == report.documents == 3
    assert filled.refresh().changed == 0


def test_a_suspect_that_has_to_be_parsed_tells_of_other_parsers(
    filled: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.write("a.md", "# Alpha\n\nkestrel one more\n")
    filled.refresh()  # in the tick of the edit: it is suspect
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)
    filled.write("a.md", "# Alpha\n\nkestrel two more\n")
    (report,) = filled.answer("kestrel", refresh=True).reports
    assert report.changed == report.documents == 3


def test_rows_of_other_parsers_are_pending(filled: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.settle()
    filled.settle()
    with closing(filled.store()) as store:
        store.connection.execute("UPDATE document SET title = 'Stale'")
    monkeypatch.setattr(reader, "parsers", lambda: "PyYAML 99")
    monkeypatch.setattr(ingest, "parsers", reader.parsers)
    monkeypatch.setattr(verify, "parsers", reader.parsers)
    (proof,) = filled.recall().rebuild(only_check=True)
    assert {each.kind for each in proof.differences} == {verify.PENDING}
    filled.refresh()
    (proof,) = filled.recall().rebuild(only_check=True)
    assert proof.equivalent
