"""What a look at directories alone tells, and what it leaves to a refresh."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from stateful_support import SECOND, FakeFileSystem, Place, ask, fresh

from index_cache import beside, directories, keeping, packing, peek
from index_cache.db import Damaged
from index_cache.directories import SIGNATURE_BYTES, UNKNOWN, unpack
from index_cache.files import FileSystem, signature
from index_cache.model import Root, Rules
from index_cache.refresh import Options, open_store, refresh
from index_cache.scan import look
from index_cache.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from index_cache.files import DirEntry

TREE = ("top.md", "sub/a.md", "sub/b.md", "sub/deep/c.md", "other/d.md", "mnt/e.md")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a root with some notes that a refresh has seen long after they were written."""
    place = Place(tmp_path)
    for each in TREE:
        place.write(each, f"# {each}\n\nzebra {each.replace('/', ' ')}\n")
    place.settle()
    return place


def seen(place: Place, start: int = 0) -> peek.Peek:
    place.fs.opened.clear()
    with closing(place.store()) as store:
        found = peek.peek(place.root, store, place.fs, 1000, start)
    assert place.fs.opened == []
    return found


def told(found: peek.Peek) -> tuple[set[str], set[str], str | None]:
    return (
        {os.fsdecode(path) for path in found.appeared},
        {os.fsdecode(path) for path in found.vanished},
        found.sweep_due,
    )


def test_a_quiet_root_lists_no_directory(place: Place) -> None:
    found = seen(place)
    assert told(found) == (set(), set(), None)
    assert (found.complete, found.looked, found.listed) == (True, 5, 0)


def test_names_that_come_and_go_are_told_and_only_their_directory_is_listed(place: Place) -> None:
    place.write("sub/new.md", "# New")
    place.fs.delete(place.path("sub/a.md"))
    found = seen(place)
    assert told(found) == ({"sub/new.md"}, {"sub/a.md"}, None)
    assert found.listed == 1


def test_an_edit_in_place_and_names_of_other_files_are_nothing(place: Place) -> None:
    place.write("sub/a.md", "# Other text")
    place.write("sub/a.txt", "no note")
    assert told(seen(place)) == (set(), set(), None)


def test_a_refresh_forgets_what_changed_without_a_note(place: Place) -> None:
    place.write("sub/a.txt", "no note")
    place.settle()
    assert seen(place).listed == 0


@pytest.mark.parametrize("granularity", [SECOND // 100, SECOND, 2 * SECOND])
def test_D1_a_name_in_the_tick_of_the_refresh_is_seen(tmp_path: Path, granularity: int) -> None:
    place = Place(tmp_path, granularity)
    place.write("sub/a.md", "# One")
    place.refresh()
    before = signature(place.fs.stat(place.path("sub")))
    place.write("sub/b.md", "# Two")
    assert signature(place.fs.stat(place.path("sub"))) == before
    place.fs.forward(3600 * SECOND)
    assert told(seen(place)) == ({"sub/b.md"}, set(), None)


def test_D1_a_suspect_directory_is_settled_by_the_next_refresh(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("sub/a.md", "# One")
    place.refresh()
    assert seen(place).listed == 2
    place.settle()
    assert seen(place).listed == 0


def test_D1_a_clock_set_back_hides_no_name(place: Place) -> None:
    place.fs.set_back(3600 * SECOND)
    place.write("sub/b2.md", "# Back")
    assert told(seen(place)) == ({"sub/b2.md"}, set(), None)


class _Between(FakeFileSystem):
    """Writes a note between a directory's stat and its listing, or after the listing.

    The clock that stamps is an hour behind then, so that nothing looks young.
    """

    def __init__(self, path: bytes, *, listed: bool) -> None:
        super().__init__()
        self.late, self.listed = path, listed

    def scandir(self, path: bytes) -> Sequence[DirEntry]:
        here = path.rstrip(b"/") == os.path.dirname(self.late) and not os.path.exists(self.late)
        found = super().scandir(path) if here and self.listed else None
        if here:
            self.set_back(3600 * SECOND)
            self.write(self.late, b"# Late")
        return super().scandir(path) if found is None else found


@pytest.mark.parametrize("listed", [False, True])
def test_D1_a_name_that_comes_during_the_scan_is_seen(tmp_path: Path, listed: bool) -> None:
    place = Place(tmp_path)
    place.write("sub/a.md", "# One")
    place.fs.forward(10 * SECOND)
    late = _Between(place.path("sub/late.md"), listed=listed)
    late.__dict__.update({k: v for k, v in vars(place.fs).items() if k not in vars(late)})
    late._directories, late._nodes, late.time = (
        place.fs._directories,
        place.fs._nodes,
        place.fs.time,
    )
    place.fs = late
    place.refresh()
    place.fs.forward(10 * SECOND)
    assert told(seen(place)) == ({"sub/late.md"} if listed else set(), set(), None)


def test_D2_renames(place: Place) -> None:
    place.fs.rename(place.path("sub/a.md"), place.path("other/a.md"))
    assert told(seen(place)) == ({"other/a.md"}, {"sub/a.md"}, None)
    place.settle()
    place.fs.rename(place.path("sub/b.md"), place.path("sub/B.md"))
    assert told(seen(place)) == ({"sub/B.md"}, {"sub/b.md"}, None)


def test_D2_replacing_and_recreating_bring_no_name(place: Place) -> None:
    place.write("sub/x.tmp", "# Replaced")
    place.fs.rename(place.path("sub/x.tmp"), place.path("sub/a.md"))
    place.fs.delete(place.path("sub/b.md"))
    place.write("sub/b.md", "# Again")
    assert told(seen(place)) == (set(), set(), None)


def test_D2_a_directory_renamed_is_for_a_refresh(place: Place) -> None:
    place.fs.rename_directory(place.path("sub"), place.path("moved"))
    appeared, vanished, why = told(seen(place))
    assert (appeared, vanished) == (set(), set())
    assert why


def test_D3_what_is_not_mounted_has_not_vanished(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.make_directories(place.path("mnt"))
    place.fs.mount(place.path("mnt"), 7)
    place.write("mnt/e.md", "# Mounted")
    place.write("a.md", "# Not")
    place.settle()
    place.fs.unmount(place.path("mnt"))
    appeared, vanished, why = told(seen(place))
    assert (appeared, vanished) == (set(), set())
    assert why
    place.settle()
    assert told(seen(place)) == (set(), set(), None)


def test_D3_an_unreadable_or_emptied_directory_is_for_a_refresh(place: Place) -> None:
    place.fs.deny(place.path("sub"))
    assert told(seen(place))[:2] == (set(), set())
    assert seen(place).sweep_due
    place.fs.permit(place.path("sub"))
    place.settle()
    assert seen(place).sweep_due is None
    place.fs.delete(place.path("other/d.md"))
    assert told(seen(place))[:2] == (set(), set())
    assert seen(place).sweep_due


def test_D3_notes_that_are_not_mounted_are_none_that_is_left(tmp_path: Path) -> None:
    """Found by the state machine: the look missed that a scan keeps the last note's row."""
    place = Place(tmp_path)
    place.make_directories(place.path("mnt"))
    place.fs.mount(place.path("mnt"), 7)
    place.write("mnt/e.md", "# Mounted")
    place.write("a.md", "# Not")
    place.settle()
    place.fs.unmount(place.path("mnt"))
    place.settle()
    place.fs.delete(place.path("a.md"))
    no_notes = "the root shows no notes: not mounted, or all deleted"
    assert told(seen(place)) == (set(), set(), no_notes)
    place.write("b.md", "# One is there")
    assert told(seen(place)) == ({"b.md"}, {"a.md"}, None)


@pytest.mark.parametrize("name", ["new.md", "top.md"])
def test_D3_the_first_note_after_all_had_gone_is_for_a_refresh(place: Place, name: str) -> None:
    """Found by the state machine: the look missed the notes of directories that are as they were.

    A refresh that sees no note at all keeps all rows; one that sees one note drops the others.
    """
    for each in TREE:
        place.fs.delete(place.path(each))
    place.settle()
    assert told(seen(place)) == (set(), set(), None)
    place.write(name, "# One is there")
    assert seen(place).sweep_due == "the root showed no notes at the last refresh"
    place.settle()
    assert place.paths() == [name]
    assert told(seen(place)) == (set(), set(), None)


class _Killed(BaseException):
    """What ends a refresh at once."""


@pytest.mark.parametrize("insist", [False, True])
def test_C7_a_refresh_that_was_cut_short_leaves_its_directories_to_the_next(
    place: Place, monkeypatch: pytest.MonkeyPatch, insist: bool
) -> None:
    """Rows of a directory that no look knows of: it could go, and they would stay unnoticed."""
    place.write("new/n.md", "# New")
    with monkeypatch.context() as patch, closing(place.store()) as store:
        patch.setattr(keeping, "keep", mock.Mock(side_effect=_Killed))
        with pytest.raises(_Killed):
            refresh(store, place.fs, Options(insist=insist))
    assert "new/n.md" in place.paths()
    place.fs.delete(place.path("new/n.md"))
    place.fs.remove_directory(place.path("new"))
    cut_short = "a refresh is at work, or was cut short"
    assert told(seen(place)) == (set(), set(), cut_short)
    with closing(place.store()) as store:
        refresh(store, place.fs)  # a search's does not look at directories
    assert seen(place).sweep_due == cut_short
    place.settle()
    assert told(seen(place)) == (set(), set(), None)


def test_C7_a_refresh_that_was_cut_short_at_its_very_end_is_made_good(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("sub/n.md", "# New")
    place.fs.forward(10 * SECOND)
    with monkeypatch.context() as patch, closing(place.store()) as store:
        patch.setattr(keeping, "keep", mock.Mock(side_effect=_Killed))
        with pytest.raises(_Killed):
            refresh(store, place.fs, Options(insist=True))
    place.refresh()  # which has no row to write
    assert told(seen(place)) == (set(), set(), None)
    assert seen(place).listed == 0


def test_D1_a_note_that_was_away_when_it_was_to_be_read_is_seen(tmp_path: Path) -> None:
    """Its directory is as the scan saw it, but the refresh has made no row of it."""
    place = Place(tmp_path)
    place.make_directories(place.path("mnt"))
    place.fs.mount(place.path("mnt"), 7)
    place.write("a.md", "# Not")
    place.write("mnt/e.md", "# Mounted")
    place.fs.forward(10 * SECOND)
    place.fs.before_read = lambda _: place.fs.unmount(place.path("mnt"))
    place.refresh()
    assert place.paths() == ["a.md"]
    place.fs.mount(place.path("mnt"), 7)
    assert told(seen(place)) == ({"mnt/e.md"}, set(), None)


def test_D3_a_root_that_shows_no_note_has_lost_none(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("a.md", "# One")
    place.write("a.txt", "stays")
    place.settle()
    place.fs.delete(place.path("a.md"))
    appeared, vanished, why = told(seen(place))
    assert (appeared, vanished) == (set(), set())
    assert why
    place.settle()
    assert (seen(place).listed, *told(seen(place))) == (0, set(), set(), None)


def test_a_file_that_could_not_be_read_is_looked_for_again(place: Place) -> None:
    def fail(path: bytes) -> None:
        if path.endswith(b"broken.md"):
            raise OSError(5, "Input/output error")

    place.write("sub/broken.md", "# Broken")
    place.fs.before_read = fail
    place.settle()
    assert told(seen(place)) == ({"sub/broken.md"}, set(), None)


def test_a_new_directory_is_for_a_refresh_but_not_one_that_is_skipped(place: Place) -> None:
    place.write("sub/node_modules/x.md", "# Skipped")
    place.write("sub/.hidden/x.md", "# Skipped")
    assert told(seen(place)) == (set(), set(), None)
    place.write("sub/fresh/x.md", "# New")
    assert seen(place).sweep_due == "there is a new directory"


def test_a_directory_that_becomes_a_virtual_environment_is_for_a_refresh(place: Place) -> None:
    place.write("sub/pyvenv.cfg", "")
    place.write("sub/z.md", "# New")
    assert told(seen(place)) == (set(), set(), "a directory has become a virtual environment")
    place.settle()
    place.write("sub/y.md", "# New")
    assert told(seen(place)) == (set(), set(), None)
    place.fs.delete(place.path("sub/pyvenv.cfg"))
    assert told(seen(place))[0] == {"sub/a.md", "sub/b.md", "sub/y.md", "sub/z.md"}


def test_symlinks_lead_nowhere(place: Place) -> None:
    outside = place.top / "outside" / "deep"
    outside.mkdir(parents=True)
    (outside / "secret.md").write_text("# Secret")
    place.fs.link(bytes(outside / "secret.md"), place.path("sub/link.md"))
    assert told(seen(place)) == (set(), set(), None)
    place.fs.rename_directory(place.path("sub"), bytes(place.top / "away"))
    place.fs.link(bytes(outside.parent), place.path("sub"))
    appeared, vanished, why = told(seen(place))
    assert (appeared, vanished) == (set(), set())
    assert why


def test_the_rules_of_the_root_count(tmp_path: Path) -> None:
    place = Place(tmp_path)
    rules = Rules(("*.md",), ("drafts",), private=("*secret*",), gitignore=False)
    place.root = Root("notes", place.root.path, rules)
    place.write("a.md", "# One")
    place.write("drafts/x.md", "# Draft")
    place.settle()
    for name in ("b.md", "b.markdown", "my-secret.md", "drafts/y.md", "b.txt"):
        place.write(name, "# New")
    assert told(seen(place)) == ({"b.md"}, set(), None)


def test_conflict_copies_are_judged_by_the_names_beside_them(place: Place) -> None:
    copy = "sub/a.sync-conflict-20260101-000000-ABC.md"
    place.write(copy, "# Copy")
    assert told(seen(place)) == (set(), set(), None)
    place.fs.delete(place.path("sub/a.md"))
    assert told(seen(place)) == ({copy}, {"sub/a.md"}, None)
    place.settle()
    place.write("sub/a.md", "# Back")
    assert told(seen(place)) == ({"sub/a.md"}, {copy}, None)


def test_beyond_the_limit_of_files_a_refresh_decides(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.root = Root("notes", place.root.path, Rules(gitignore=False, max_files=2))
    for name in ("a.md", "b.md"):
        place.write(name, "# One")
    place.settle()
    place.write("c.md", "# Three")
    assert told(seen(place)) == (set(), set(), "the root has as many files as it may have")


def write_in_three_directories(place: Place) -> None:
    for path in ("new.md", "sub/deep/new.md", "mnt/new.md"):
        place.write(path, "# New")


def test_a_small_budget_goes_on_where_it_stopped(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peek, "_STRIDE", 1)
    write_in_three_directories(place)
    appeared: set[bytes] = set()
    at = 0
    with closing(place.store()) as store:
        for _ in range(3):  # 5 directories, 2 each
            ticks = iter(range(1000))
            found = peek.peek(place.root, store, place.fs, 2, at, lambda: next(ticks))  # noqa: B023
            assert (found.looked, found.complete) == (2, False)
            at = found.next
            appeared |= found.appeared.keys()
    assert appeared == {b"new.md", b"sub/deep/new.md", b"mnt/new.md"}
    assert at == 1


def test_a_look_that_goes_on_finds_what_one_look_does(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peek, "_STRIDE", 1)
    write_in_three_directories(place)
    with closing(place.store()) as store:
        look = peek.Look(place.root, store, place.fs, 2)
        turns = 0
        while not look.is_over:
            look.go_on(0)
            turns += 1
            assert look.found.looked == turns
        assert turns == 5
        look.go_on(1000)
        found = look.finish()
        whole = peek.peek(place.root, store, place.fs, 1000)
    assert found.complete
    assert (found.appeared, found.listed) == (whole.appeared, whole.listed)
    assert len(found.appeared) == 3


def test_a_start_of_another_time_is_a_start(place: Place) -> None:
    assert seen(place, start=7_000_003).complete


def test_a_search_keeps_the_rows_and_casts_doubt_on_the_directories(place: Place) -> None:
    with closing(place.store()) as store:
        before = store.meta("directories")
        refresh(store, place.fs)
        assert store.meta("directories") == before
        place.write("sub/new.md", "# New")
        refresh(store, place.fs)
        kept = unpack(store.meta("directories"))
        assert kept.paths == unpack(before).paths
        at = kept.paths.index(b"sub/") * SIGNATURE_BYTES
        assert kept.signatures[at : at + SIGNATURE_BYTES] == UNKNOWN
    assert told(seen(place)) == (set(), set(), None)
    place.fs.delete(place.path("sub/new.md"))
    assert told(seen(place)) == (set(), {"sub/new.md"}, None)


@pytest.mark.parametrize("value", [b"", b"\x00", 7, b"[\x00\x00\x00\x00", None])
def test_C4_a_list_of_directories_that_is_none_is_damage(place: Place, value: object) -> None:
    with closing(place.store()) as store:
        if value is None:
            store.connection.execute("DELETE FROM meta WHERE key = 'directories'")
            assert peek.peek(place.root, store, place.fs, 1).sweep_due
        else:
            store.set_meta("directories", value)  # type: ignore[arg-type]
            with pytest.raises(Damaged):
                peek.peek(place.root, store, place.fs, 1)


def test_the_same_view_has_the_same_bytes(place: Place) -> None:
    first = packing.pack(look(place.root, place.fs))
    place.fs.forward(SECOND)
    assert packing.pack(look(place.root, place.fs)) == first
    assert first is not None
    assert directories.unpack(first).paths == [b"", b"mnt/", b"other/", b"sub/", b"sub/deep/"]


@pytest.mark.parametrize("most", [0, 1, 1000])
def test_names_in_a_directory_itself_lie_in_its_gaps(
    place: Place, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(directories, "_MOST_GAPS", most)
    for name in ("sub-.md", "sub0.md", "sub/deep-.md", "sub/deep0.md", "sub/deep/x.md", "zz.md"):
        place.write(name, "# More")
    with closing(place.store()) as store:
        refresh(store, place.fs)  # which knows no new directory
    place.fs.delete(place.path("sub/deep0.md"))
    place.fs.delete(place.path("sub0.md"))
    appeared, vanished, due = told(seen(place))
    assert (appeared, vanished) == (set(), {"sub0.md", "sub/deep0.md"})
    # Where the gaps are too many it can't be told what lies in none.
    assert (due is not None) == (most < 2)


# -- read beside the cache


def test_D4_what_appeared_is_found_as_if_a_refresh_had_been(place: Place) -> None:
    place.write("sub/new.md", "---\ntags: [zebra]\n---\n# Zebra crossing\n\nnew zebra stripes\n")
    place.write("top2.md", "# Plain\n\nnothing of the kind\n")
    place.write("bad.md", "\0" * 100)
    place.write("own.md", "---\nprivate: true\n---\n# Own\n")
    with closing(place.store()) as store:
        store.begin_reading()
        found = peek.peek(place.root, store, place.fs, 1)
        extra = beside.beside(place.root, place.fs, beside.choose(found.appeared))
        assert extra is not None
        with closing(extra), closing(fresh(place.root, place.fs)) as whole:
            for text in ("zebra stripes", "new crossing", "deep c", "nothing"):
                both = [(hit[0], *hit[2:]) for hit in ask([store, extra], text)]
                assert both == [(hit[0], *hit[2:]) for hit in ask([whole], text)]
            assert extra.documents() + store.documents() == whole.documents()
        store.end_reading()
    assert place.paths() == sorted(TREE)


def test_D4_a_file_that_goes_before_it_is_read_is_not_there(place: Place) -> None:
    place.write("new.md", "# New")
    found = seen(place)
    place.fs.delete(place.path("new.md"))
    assert beside.beside(place.root, place.fs, beside.choose(found.appeared)) is None


def test_only_a_few_new_files_are_read_and_the_newest_first(place: Place) -> None:
    for number in range(30):
        place.write(f"new{number:02}.md", "# New")
        place.fs.forward(SECOND)
    chosen = beside.choose(seen(place).appeared)
    assert chosen == [b"new%02d.md" % number for number in range(29, 9, -1)]
    place.write("huge.md", "x" * (beside.MOST_BYTES + 1))
    assert beside.choose(seen(place).appeared) == []


# -- git


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)


class Repository:
    """A root in a repository, with real files and times."""

    def __init__(self, top: Path, below: str = "notes") -> None:
        self.top = top.resolve() / "repo"
        self.notes = self.top / below
        self.notes.mkdir(parents=True)
        git(self.top, "init", "-q")
        self.root = Root("notes", str(self.notes))
        self.cache = str(top / "cache")
        self.fs: FileSystem = _Later()

    def write(self, name: str, text: str = "# Note\n") -> None:
        path = self.notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def refresh(self) -> None:
        with closing(open_store(self.root, self.cache, 0)) as store:
            refresh(store, self.fs, Options(insist=True))

    def seen(self) -> tuple[set[str], set[str], str | None]:
        with closing(open_store(self.root, self.cache, 0)) as store:
            return told(peek.peek(self.root, store, self.fs, 1000))


class _Later(FileSystem):
    """All times are old enough."""

    def now_ns(self) -> int:
        return super().now_ns() + 60 * SECOND


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = Repository(tmp_path)
    (made.top / ".gitignore").write_text("# build\n\n*.log\n/target/\n!keep.log\n")
    made.write("a.md")
    made.refresh()
    return made


def test_what_git_can_not_ignore_appears_at_once(repository: Repository) -> None:
    assert repository.seen() == (set(), set(), None)
    repository.write("b.md")
    assert repository.seen() == ({"b.md"}, set(), None)


@pytest.mark.parametrize("line", ["b.md", "notes/", "B*", "*.m?", "x/**", "[ab].md", "\\b.md"])
def test_what_git_might_ignore_is_kept_back(repository: Repository, line: str) -> None:
    (repository.top / ".gitignore").write_text(f"nothing\n{line}\n")
    git(repository.top, "add", "-f", "notes/a.md")
    repository.refresh()
    repository.write("b.md")
    assert repository.seen() == (set(), set(), "there is a new file that git may ignore")


def test_what_git_ignores_stays_ignored(repository: Repository) -> None:
    (repository.top / ".gitignore").write_text("b.md\nbuild/\n")
    repository.write("b.md")
    repository.write("build/x.md")
    repository.refresh()
    repository.write("c.md")
    assert repository.seen() == ({"c.md"}, set(), None)


@pytest.mark.parametrize(
    "where",
    [
        "repo/.gitignore",
        "repo/.git/info/exclude",
        "home/.config/git/ignore",
        "repo/notes/.gitignore",
    ],
)
def test_an_ignore_file_that_changes_comes_or_goes_is_for_a_refresh(
    repository: Repository, tmp_path: Path, where: str
) -> None:
    path = tmp_path / where
    path.parent.mkdir(parents=True, exist_ok=True)
    for text in ("one.md\n", "one.md\ntwo.md\n", None):
        path.unlink(missing_ok=True) if text is None else path.write_text(text)
        assert repository.seen()[2]
        repository.refresh()
        assert repository.seen() == (set(), set(), None)


def test_the_excludes_file_that_the_person_names_is_watched(
    repository: Repository, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles"
    real.write_text("x.md\n")
    (tmp_path / "home" / ".ignored").symlink_to(real)
    git(repository.top, "config", "core.excludesFile", "~/.ignored")
    repository.refresh()
    repository.write("x.md")
    assert repository.seen()[2] == "there is a new file that git may ignore"
    real.write_text("other\n")
    assert repository.seen()[2] == "a file that tells git what to ignore has changed"


def test_an_ignored_root_was_named_on_purpose(repository: Repository) -> None:
    (repository.top / ".gitignore").write_text("notes/\n")
    repository.refresh()
    repository.write("b.md")
    assert repository.seen() == ({"b.md"}, set(), None)
    (repository.top / ".gitignore").write_text("b.md\n")
    assert repository.seen()[2]


def test_a_worktree_shares_the_excludes_of_its_repository(
    repository: Repository, tmp_path: Path
) -> None:
    git(repository.top, "add", ".")
    git(repository.top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    tree = tmp_path.resolve() / "tree"
    git(repository.top, "worktree", "add", "-q", str(tree))
    repository.root = Root("notes", str(tree / "notes"))
    repository.refresh()
    with (repository.top / ".git" / "info" / "exclude").open("a") as file:
        file.write("z.md\n")
    assert repository.seen()[2]


def test_a_root_that_becomes_a_repository_is_for_a_refresh(tmp_path: Path) -> None:
    place = tmp_path.resolve() / "plain"
    place.mkdir()
    (place / "a.md").write_text("# A")
    root = Root("plain", str(place))
    with closing(Store.create(root, None)) as store:
        refresh(store, _Later())
        assert peek.peek(root, store, _Later(), 1).sweep_due is None
        (place / ".git").mkdir()
        assert peek.peek(root, store, _Later(), 1).sweep_due


def test_D1_an_ignore_file_too_young_to_trust_is_for_a_refresh(repository: Repository) -> None:
    (repository.top / ".gitignore").write_text("x.md\n")
    later, repository.fs = repository.fs, FileSystem()
    repository.refresh()
    assert repository.seen()[2] == "a file that tells git what to ignore has changed"
    repository.fs = later
    repository.refresh()
    assert repository.seen()[2] is None
