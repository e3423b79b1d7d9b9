"""Where the roots come from, in which order, and what a wrong or hostile source does."""

# The codes of reported faults (C5, S4) are written as they are.

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound, RootUnavailable
from index_cache.model import MAX_FILE_BYTES, MAX_FILES
from recall import configfile, dirs, settings
from recall.config import Config, load
from recall.notice import shell_quoted

OWN = ".config/recall/config.toml"


class Place:
    """A home with a project in it; ``load`` runs in the project unless told otherwise."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = self.make("home")
        self.project = self.make("home/project")
        self.environ = {"HOME": str(self.home)}

    def make(self, path: str) -> Path:
        directory = self.base / path
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.base / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def own(self, text: str | bytes) -> Path:
        return self.write(f"home/{OWN}", text)

    def project_file(self, text: str | bytes) -> Path:
        return self.write("home/project/.recall.toml", text)

    def load(self, *names: str, cwd: Path | None = None, fallback: bool = False) -> Config:
        return load(str(cwd or self.project), self.environ, names, fallback=fallback)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def found(config: Config) -> dict[str, str]:
    return {root.name: root.path for root in config.roots}


def hook(config: Config) -> tuple[object, ...]:
    return tuple(getattr(config.hook, key) for key in settings.HOOK_KEYS)


def said(config: Config) -> str:
    return "\n".join(notice.message for notice in config.notices)


# The --root flags


@pytest.mark.parametrize(
    "flag", ["./notes", "{project}/notes", "~/project/notes", "../project/notes"]
)
def test_path_flag_is_a_directory_and_files_give_no_roots(place: Place, flag: str) -> None:
    notes = place.make("home/project/notes")
    place.project_file("[search]\nk = 3\n[roots]\nother = '.'")
    place.own("[search]\nk = 4\n[roots]\nmine = '~'")
    config = place.load(flag.format(project=place.project))
    assert found(config) == {"notes": str(notes)}
    assert config.sources == ()
    assert config.search.k == 10


def test_private_globs_hold_however_a_directory_is_named(place: Place) -> None:
    notes = place.make("home/project/notes")
    place.make("home/project/notes/work")
    place.own('[roots.mine]\npath = "~/project/notes"\nprivate = ["work/hr/"]')
    for flag in ("./notes", str(notes), "./notes/work"):
        (root,) = place.load(flag).roots
        assert root.rules.elsewhere == ((str(notes), ("work/hr/",)),)
    place.project_file('inherit = false\n[roots]\nmine = "notes"')
    (root,) = place.load().roots
    assert root.rules.elsewhere == ((str(notes), ("work/hr/",)),)
    place.own("this is not TOML")
    with pytest.raises(ConfigInvalid):  # what is private is not known then
        place.load("./notes")


@pytest.mark.parametrize("glob", ["../hr", "~/hr", "!hr", "{hr,x}/", "hr\\\\", " hr", "hr "])
def test_a_private_glob_that_withholds_nothing_is_refused(place: Place, glob: str) -> None:
    place.own(f'[roots.mine]\npath = "~"\nprivate = ["{glob}"]')
    with pytest.raises(ConfigInvalid, match="would withhold nothing"):
        place.load()


@pytest.mark.parametrize(("flag", "inside"), [(".", "notes"), ("..", "project")])
def test_dots_are_directories(place: Place, flag: str, inside: str) -> None:
    config = place.load(flag, cwd=place.make("home/project/notes"))
    assert list(found(config)) == [inside]


def test_flag_is_a_configured_name_before_it_is_a_directory(place: Place) -> None:
    place.make("home/project/notes")
    other = place.make("home/other")
    place.own('[roots]\nnotes = "~/other"\nrest = "~/project"\n')
    assert found(place.load("notes")) == {"notes": str(other)}
    assert found(place.load("./notes")) == {"notes": str(place.project / "notes")}


def test_flag_that_is_no_name_is_a_directory(place: Place) -> None:
    notes = place.make("home/project/sub/notes")
    place.own('[roots]\nrest = "~/project"\n')
    config = place.load("sub/notes")
    assert found(config) == {"notes": str(notes)}
    assert config.origins == {"notes": "--root"}


def test_equal_base_names_are_numbered_and_a_configured_name_keeps_its_own(place: Place) -> None:
    for name in ("a", "b", "c"):
        place.make(f"home/project/{name}/notes")
    assert list(found(place.load("./a/notes", "./b/notes", "./c/notes"))) == [
        "notes",
        "notes-2",
        "notes-3",
    ]
    place.own('[roots]\nnotes = "~/project/b/notes"\n')
    config = place.load("./a/notes", "notes")
    assert found(config) == {
        "notes-2": str(place.project / "a/notes"),
        "notes": str(place.project / "b/notes"),
    }


def test_same_directory_twice_is_one_root(place: Place) -> None:
    place.make("home/project/notes")
    place.own('[roots]\nnotes = "~/project/notes"\n')
    assert list(found(place.load("./notes", "notes/", "notes"))) == ["notes-2"]


@pytest.mark.parametrize(
    "flag", ["./absent", "/absent/x", "~/absent", "absent", "~nobody-of-that-name"]
)
def test_flag_that_is_nothing_is_not_found(place: Place, flag: str) -> None:
    place.own('[roots]\nabsence = "~/project"\n')
    with pytest.raises(NotFound) as caught:
        place.load(flag)
    assert flag in caught.value.message
    assert ("absence" in caught.value.message) == (flag == "absent")


def test_flag_that_is_a_file_is_not_found(place: Place) -> None:
    place.write("home/project/note.md", "x")
    with pytest.raises(NotFound):
        place.load("./note.md")


@pytest.mark.parametrize("flag", ["", "./a\0b"])
def test_flag_that_can_be_nothing_is_invalid(place: Place, flag: str) -> None:
    with pytest.raises(InvalidInput):
        place.load(flag)


def test_root_path_is_free_of_links_but_its_name_is_what_was_typed(place: Place) -> None:
    target = place.make("elsewhere/x1")
    (place.project / "notes").symlink_to(target)
    assert found(place.load("./notes")) == {"notes": str(target)}


def test_configured_names_that_are_missing_leave_the_others(place: Place) -> None:
    place.own('[roots]\ngone = "~/gone"\nhere = "~/project"\n')
    config = place.load("gone", "here")
    assert list(found(config)) == ["here"]
    with pytest.raises(RootUnavailable):
        place.load("gone")


# The two files


def test_project_and_own_file_add_up(place: Place) -> None:
    docs, notes = place.make("home/project/docs"), place.make("home/notes")
    project_file = place.project_file('[roots]\ndocs = "docs"\n')
    own = place.own('[roots]\nnotes = "~/notes"\n')
    config = place.load()
    assert found(config) == {"docs": str(docs), "notes": str(notes)}
    assert config.sources == (str(project_file), str(own))
    assert config.origins == {"docs": str(project_file), "notes": str(own)}
    assert config.notices == ()


def test_inherit_false_leaves_the_own_file_out(place: Place) -> None:
    place.make("home/project/docs")
    place.make("home/notes")
    place.own('[roots]\nnotes = "~/notes"\n[search]\nk = 3\n')
    place.project_file('inherit = false\n[roots]\ndocs = "docs"\n')
    config = place.load()
    assert list(found(config)) == ["docs"]
    assert config.search.k == 10


def test_inherit_in_the_own_file_is_said_to_do_nothing(place: Place) -> None:
    place.own('inherit = false\n[roots]\nnotes = "~/project"\n')
    assert "inherit has no effect" in said(place.load())


@pytest.mark.parametrize("below", ["", "a", "a/b/c"])
def test_a_subdirectory_finds_its_project(place: Place, below: str) -> None:
    docs = place.make("home/project/docs")
    place.project_file('[roots]\ndocs = "docs"\n')
    assert found(place.load(cwd=place.make(f"home/project/{below}"))) == {"docs": str(docs)}


def test_the_nearest_project_file_is_the_only_one(place: Place) -> None:
    place.project_file('[roots]\nouter = "."\n')
    inner = place.make("home/project/inner")
    place.write("home/project/inner/.recall.toml", '[roots]\ninner = "."\n')
    assert list(found(place.load(cwd=inner))) == ["inner"]


def test_the_projects_root_wins_and_only_a_real_difference_is_said(place: Place) -> None:
    docs = place.make("home/project/docs")
    other = place.make("home/other")
    place.project_file('[roots]\ndocs = "docs"\n')
    place.own('[roots]\ndocs = "~/other"\n')
    config = place.load()
    assert found(config) == {"docs": str(docs)}
    assert str(docs) in said(config)
    assert str(other) in said(config)
    place.own('[roots]\ndocs = "~/project/docs"\n')
    assert place.load().notices == ()


def test_same_path_with_same_rules_once_with_other_rules_twice(place: Place) -> None:
    place.make("home/project/docs")
    place.project_file('[roots]\na = "docs"\n')
    place.own('[roots]\nb = "~/project/docs"\n')
    assert list(found(place.load())) == ["a"]
    place.own('[roots]\nb = { path = "~/project/docs", exclude = ["x"] }\n')
    assert list(found(place.load())) == ["a", "b"]


def test_every_key_is_taken(place: Place) -> None:
    notes = place.make("home/project/notes")
    place.own(
        """
        [roots.notes]
        path = "~/project/notes"
        include = ["/*.md"]
        exclude = ["drafts/", "*.tmp.md"]
        private = ["me/"]
        gitignore = false
        max_file_bytes = 100
        max_files = 7
        [search]
        k = 5
        budget = 1000
        include_journal = true
        wait = 1.5
        [hook]
        enabled = false
        log = false
        log_prompts = true
        session_line = true
        deadline_ms = 100
        refresh_interval = 2.5
        max_cards = 2
        cap = 4000
        sensitivity = "high"
        """
    )
    config = place.load()
    (root,) = config.roots
    assert (root.name, root.path) == ("notes", str(notes))
    assert root.rules.as_key() == (
        ("/*.md",),
        ("drafts/", "*.tmp.md"),
        ("me/",),
        False,
        100,
        7,
    )
    search = config.search
    assert (search.k, search.budget, search.include_journal, search.wait) == (5, 1000, True, 1.5)
    assert hook(config) == (False, False, True, True, 100, 2.5, 2, 4000, "high")


def test_defaults(place: Place) -> None:
    place.own('[roots]\nnotes = "~/project"\n')
    config = place.load()
    assert config.roots[0].rules.as_key() == ((), (), (), True, MAX_FILE_BYTES, MAX_FILES)
    search = config.search
    assert (search.k, search.budget, search.include_journal, search.wait) == (10, 4096, False, 30.0)
    assert hook(config) == (True, True, False, False, 250, 2.0, 3, None, "normal")


def test_the_projects_settings_go_over_the_own_ones_key_by_key(place: Place) -> None:
    place.own('[search]\nk = 3\nbudget = 999\n[roots]\nn = "~"\n')
    place.project_file("[search]\nk = 4\n")
    config = place.load()
    assert (config.search.k, config.search.budget) == (4, 999)


LOUD = """
[hook]
enabled = true
log = false
log_prompts = true
session_line = true
deadline_ms = 9000
refresh_interval = 2
max_cards = 9
cap = 90000
sensitivity = "high"
"""
QUIET = """
[hook]
enabled = false
log_prompts = false
session_line = false
deadline_ms = 50
refresh_interval = 60
max_cards = 1
cap = 600
sensitivity = "low"
"""


@pytest.mark.parametrize("inherit", ["", "inherit = false\n"])
@pytest.mark.parametrize("own", ["", "[hook]\nsensitivity = 'low'\nenabled = false\ncap = 700\n"])
def test_S4_a_project_can_not_make_the_hook_louder(place: Place, own: str, inherit: str) -> None:
    roots = '[roots]\nn = "."\n'
    place.own(own + '[roots]\nmine = "~"\n')
    before = place.load(cwd=place.home).hook
    place.project_file(inherit + roots + LOUD)
    config = place.load()
    assert hook(config) == tuple(getattr(before, key) for key in settings.HOOK_KEYS)
    assert config.hook.cap_for(9000) == before.cap_for(9000)
    assert {"hook.log has", "hook.log_prompts has", "hook.session_line has"} <= {
        " ".join(notice.message.split(": ")[1].split()[:2]) for notice in config.notices
    }


@pytest.mark.parametrize("inherit", ["", "inherit = false\n"])
def test_a_project_can_make_the_hook_quieter(place: Place, inherit: str) -> None:
    place.own('[hook]\nlog_prompts = true\nsession_line = true\ncap = 20000\n[roots]\nmine = "~"\n')
    assert place.load(cwd=place.home).hook.cap_for(9000) == 20_000
    place.project_file(inherit + '[roots]\nn = "."\n' + QUIET)
    config = place.load()
    assert hook(config) == (False, True, False, False, 50, 60, 1, 20_000, "low")
    assert config.hook.cap_for(9000) == 600
    assert config.notices == ()


def test_the_persons_own_hook_settings_hold_where_flags_name_directories(place: Place) -> None:
    place.own("[hook]\nenabled = false\n")
    assert not place.load("./").hook.enabled


def test_entries_start_from_their_own_file(place: Place) -> None:
    notes = place.make("home/.config/recall/notes")
    place.own('[roots]\nnotes = "notes"\n')
    assert found(place.load()) == {"notes": str(notes)}


def test_unknown_keys_are_said_with_the_nearest_known_and_do_no_harm(place: Place) -> None:
    own = place.own(
        '[roots]\nn = { path = "~", exlude = [] }\n[serach]\n[search]\nbudgte = 1\n'
        "[hook]\nenable = 1\n"
    )
    config = place.load()
    assert list(found(config)) == ["n"]
    hints = {
        notice.message.split("the key ")[1].split()[0]: notice.hint for notice in config.notices
    }
    assert hints == {
        "roots.n.exlude": "did you mean roots.n.exclude?",
        "serach": "did you mean search?",
        "search.budgte": "did you mean search.budget?",
        "hook.enable": "did you mean hook.enabled?",
    }
    assert f"{own}:5" in said(config)


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("inherit = 1", "inherit", 1),
        ("roots = 3", "roots", 1),
        ("hook = 3", "hook", 1),
        ("[hook]\nenabled = 1", "hook.enabled", 2),
        ("[hook]\nlog = 'no'", "hook.log", 2),
        ("[hook]\n\ndeadline_ms = 0", "hook.deadline_ms", 3),
        ("[hook]\ndeadline_ms = 250.5", "hook.deadline_ms", 2),
        ("[hook]\nrefresh_interval = 1", "hook.refresh_interval", 2),
        ("[hook]\nrefresh_interval = nan", "hook.refresh_interval", 2),
        ("[hook]\nmax_cards = 0", "hook.max_cards", 2),
        ("[hook]\ncap = 100", "hook.cap", 2),
        ("[hook]\nsensitivity = 'loud'", "hook.sensitivity", 2),
        ("[hook]\nsensitivity = []", "hook.sensitivity", 2),
        ("\nsearch = []", "search", 2),
        ("[search]\nk = true", "search.k", 2),
        ("[search]\nk = 0", "search.k", 2),
        ("[search]\nk = 1.0", "search.k", 2),
        ("[search]\nwait = nan", "search.wait", 2),
        ("[search]\nwait = -1", "search.wait", 2),
        ("[search]\n\nbudget = '4k'", "search.budget", 3),
        ("[search]\ninclude_journal = 'yes'", "search.include_journal", 2),
        ("[roots]\na = 3", "roots.a", 2),
        ("[roots]\na = {}", "roots.a", 2),
        ("[roots]\na = ''", "roots.a", 2),
        ('[roots]\na = "x\\u0000y"', "roots.a", 2),
        ("[roots]\na = { path = 'x', exclude = 'y' }", "roots.a.exclude", 2),
        ("[roots.a]\npath = 'x'\ninclude = [1]", "roots.a.include", 3),
        ("[roots.a]\npath = 'x'\ninclude = ['']", "roots.a.include", 3),
        ("[roots.a]\npath = 'x'\ngitignore = 'no'", "roots.a.gitignore", 3),
        ("[roots.a]\npath = 'x'\nmax_files = 0", "roots.a.max_files", 3),
        ("[roots.a]\npath = 'x'\nmax_file_bytes = '1M'", "roots.a.max_file_bytes", 3),
        ("[roots]\n'a/b' = 'x'", '"a/b"', 2),
        ("[roots]\n'~a' = 'x'", '"~a"', 2),
        ("[roots]\n'..' = 'x'", '".."', 2),
        ("[roots]\n'' = 'x'", '""', None),
        ('[roots]\n"a\\u202eb" = "x"', "name of a root", None),
    ],
)
def test_wrong_value_names_file_key_and_line(
    place: Place, text: str, key: str, line: int | None
) -> None:
    own = place.own(text)
    with pytest.raises(ConfigInvalid) as caught:
        place.load()
    assert key in caught.value.message
    if line is not None:
        assert caught.value.where == f"{own}:{line}"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[roots]\na = \n", ":2:5"),
        ("[roots]\na = 'x'\na = 'y'\n", ":3:8"),
        ("[roots", ":1"),
        ("x = " + "[" * 3000, ""),
        ("x = " + "9" * 5000, ":1"),
    ],
)
def test_broken_toml_has_its_place(place: Place, text: str, where: str) -> None:
    own = place.own(text)
    with pytest.raises(ConfigInvalid) as caught:
        place.load()
    assert caught.value.where == f"{own}{where}"


def test_bytes_that_are_not_utf8_have_their_line(place: Place) -> None:
    own = place.own(b"[roots]\na = '\xff'\n")
    with pytest.raises(ConfigInvalid, match="UTF-8") as caught:
        place.load()
    assert caught.value.where == f"{own}:2"


def test_byte_order_mark_and_crlf_are_read(place: Place) -> None:
    place.own(b'\xef\xbb\xbf[roots]\r\nnotes = "~/project"\r\n')
    assert list(found(place.load())) == ["notes"]


def test_directory_in_the_place_of_a_file(place: Place) -> None:
    place.make(f"home/{OWN}")
    with pytest.raises(ConfigInvalid, match="directory"):
        place.load()


def test_fifo_in_the_place_of_a_file_is_not_waited_for(place: Place) -> None:
    os.mkfifo(place.project / ".recall.toml")
    with pytest.raises(ConfigInvalid, match="not a regular file"):
        place.load()


def test_link_to_nowhere_is_said(place: Place) -> None:
    (place.project / ".recall.toml").symlink_to("absent")
    with pytest.raises(ConfigInvalid, match="leads nowhere"):
        place.load()


def test_huge_file_is_refused(place: Place) -> None:
    place.own("#" * (1024 * 1024 + 1))
    with pytest.raises(ConfigInvalid, match="larger"):
        place.load()


def test_file_without_permission(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    own = str(place.own('[roots]\nnotes = "~/project"\n'))
    real_open = os.open

    def denied(path: str, *args: int, **more: int) -> int:
        if path == own:
            raise PermissionError(13, "Permission denied")
        return real_open(path, *args, **more)

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(ConfigInvalid, match="Permission denied") as caught:
        place.load()
    assert caught.value.where == own


def test_C5_configuration_directory_of_someone_else_is_passed_over(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = place.make("home/project/docs")
    place.project_file('[roots]\ndocs = "docs"\n')
    own = str(place.home / OWN)
    real_lstat = os.lstat

    def denied(path: str, **options: int) -> os.stat_result:
        if path == own:
            raise PermissionError(13, "Permission denied")
        return real_lstat(path, **options)

    monkeypatch.setattr(os, "lstat", denied)
    config = place.load()
    assert found(config) == {"docs": str(docs)}
    assert own in said(config)


# Directories that are missing


def test_one_missing_root_does_not_fail_the_others(place: Place) -> None:
    place.write("home/file", "")
    place.own('[roots]\ngone = "~/gone"\nfile = "~/file"\nhere = "~/project"\n')
    config = place.load()
    assert list(found(config)) == ["here"]
    assert str(place.home / "gone") in said(config)
    assert [(left.name, left.reason) for left in config.left_out] == [
        ("gone", "does not exist"),
        ("file", "is not a directory"),
    ]
    assert all(notice.hint for notice in config.notices)


def test_unreadable_root_is_left_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = str(place.make("home/closed"))
    place.own('[roots]\nclosed = "~/closed"\nhere = "~/project"\n')
    real_access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != closed and real_access(path, mode))
    assert list(found(place.load())) == ["here"]
    with pytest.raises(RootUnavailable):
        place.load("~/closed")


def test_all_roots_missing_is_unavailable_and_says_which(place: Place) -> None:
    place.own('[roots]\none = "~/one"\ntwo = "~/two"\n')
    with pytest.raises(RootUnavailable) as caught:
        place.load()
    assert caught.value.exit_status == 6
    assert str(place.home / "one") in caught.value.message
    assert str(place.home / "two") in caught.value.message


# RECALL_ROOTS


def test_variable_gives_the_roots_when_no_file_does(place: Place) -> None:
    one, two, three = place.make("one"), place.make("home/two"), place.make("home/project/a=b")
    place.environ["RECALL_ROOTS"] = os.pathsep.join([str(one), "", "x=~/two", "./a=b", "x=~/two"])
    place.own("[search]\nk = 2\n")
    config = place.load()
    assert found(config) == {"one": str(one), "x": str(two), "a=b": str(three)}
    assert set(config.origins.values()) == {"RECALL_ROOTS"}
    assert config.search.k == 2
    assert list(found(place.load("x"))) == ["x"]


def test_variable_counts_for_nothing_when_a_file_names_roots(place: Place) -> None:
    place.environ["RECALL_ROOTS"] = str(place.make("one"))
    place.own('[roots]\nnotes = "~/project"\n')
    assert list(found(place.load())) == ["notes"]


def test_variable_with_missing_directories(place: Place) -> None:
    one = place.make("one")
    place.environ["RECALL_ROOTS"] = f"{one}{os.pathsep}/absent"
    config = place.load()
    assert list(found(config)) == ["one"]
    assert "/absent" in said(config)
    place.environ["RECALL_ROOTS"] = "/absent"
    with pytest.raises(RootUnavailable):
        place.load()


def test_C5_home_unknown_names_the_entry(place: Place) -> None:
    place.environ["HOME"] = ""
    place.project_file('[roots]\nnotes = "~/notes"\n')
    with pytest.raises(ConfigInvalid, match="~/notes") as caught:
        place.load()
    assert "roots.notes" in caught.value.message
    (place.project / ".recall.toml").unlink()
    place.environ["RECALL_ROOTS"] = "~/notes"
    with pytest.raises(ConfigInvalid, match=r"RECALL_ROOTS.*~/notes"):
        place.load()


# The current repository


def test_repository_gives_docs_and_top_level_notes_to_a_search_only(place: Place) -> None:
    docs = place.make("home/project/docs")
    place.make("home/project/.git")
    config = place.load(cwd=place.make("home/project/src/deep"), fallback=True)
    assert found(config) == {"docs": str(docs), "project": str(place.project)}
    assert config.roots[1].rules.include == ("/*.md", "/*.markdown")
    with pytest.raises(ConfigInvalid):
        place.load(fallback=False)


def test_repository_without_docs_and_with_a_git_file(place: Place) -> None:
    place.write("home/project/.git", "gitdir: /elsewhere\n")
    assert list(found(place.load(fallback=True))) == ["project"]


def test_repository_called_docs_gets_a_name_of_its_own(place: Place) -> None:
    place.make("home/docs/docs")
    place.make("home/docs/.git")
    assert list(found(place.load(cwd=place.home / "docs", fallback=True))) == ["docs", "docs-2"]


def test_repository_is_the_last_resort(place: Place) -> None:
    place.make("home/project/.git")
    place.environ["RECALL_ROOTS"] = str(place.make("one"))
    assert list(found(place.load(fallback=True))) == ["one"]


def test_S4_docs_that_lead_out_of_the_repository_are_left_out(place: Place) -> None:
    place.make("home/project/.git")
    (place.project / "docs").symlink_to(place.make("home/private"))
    config = place.load(fallback=True)
    assert list(found(config)) == ["project"]
    assert "leads out" in said(config)


# Nothing


@pytest.mark.parametrize(
    ("directory", "name"),
    [("my notes", "my-notes"), ("it's", "it-s"), ("-x-", "x"), ("ünï", "ünï"), (". .", "notes")],
)
def test_nothing_configured_hints_a_command_that_works(
    place: Place, directory: str, name: str
) -> None:
    cwd = place.make(f"home/{directory}")
    with pytest.raises(ConfigInvalid) as caught:
        place.load(cwd=cwd)
    assert caught.value.exit_status == 4
    words = subprocess.run(
        ["bash", "-c", f'printf "%s\\0" {caught.value.hint}'], capture_output=True, check=True
    ).stdout.split(b"\0")[:-1]
    assert words == [b"recall", b"roots", b"add", name.encode(), os.fsencode(cwd)]


def test_nothing_configured_hints_no_command_that_would_not_help(place: Place) -> None:
    file = place.project_file("inherit = false\n")
    with pytest.raises(ConfigInvalid) as caught:
        place.load()
    assert caught.value.hint == f'write project = "." under [roots] in {file}'
    file.unlink()
    place.environ["HOME"] = ""
    with pytest.raises(ConfigInvalid) as caught:
        place.load()
    assert "--root" in (caught.value.hint or "")


def hint_of_nothing(place: Place, cwd: Path | None = None) -> str:
    with pytest.raises(ConfigInvalid) as caught:
        place.load(cwd=cwd)
    return caught.value.hint or ""


def test_nothing_configured_after_inherit_in_the_own_file_names_the_directory(place: Place) -> None:
    place.own("inherit = false\n")
    assert hint_of_nothing(place) == f"recall roots add project {place.project}"
    place.project_file("[search]\nk = 3\n")
    assert hint_of_nothing(place) == f"recall roots add project {place.project}"


def test_nothing_configured_below_a_project_hints_a_path_from_its_file(place: Place) -> None:
    file = place.project_file("inherit = false\n")
    below = place.make('home/project/a/my "b"')
    hint = hint_of_nothing(place, below)
    assert hint == f'write my--b = "a/my \\"b\\"" under [roots] in {file}'
    place.project_file('inherit = false\n[roots]\nb = "a/my \\"b\\""\n')
    assert found(place.load(cwd=below)) == {"b": str(below)}


@pytest.mark.parametrize("where", ["/", "{home}", "{base}", "{home}/link"])
def test_nothing_configured_never_hints_at_the_home_or_the_disk(place: Place, where: str) -> None:
    (place.home / "link").symlink_to(place.home)
    cwd = Path(where.format(home=place.home, base=place.base))
    assert hint_of_nothing(place, cwd) == "recall roots discover ~"
    place.make("home/notes")
    assert hint_of_nothing(place, cwd) == "recall roots add notes ~/notes"
    place.environ |= {"HOME": "relative", "XDG_CONFIG_HOME": str(place.home / ".config")}
    assert "--root" in hint_of_nothing(place, Path("/"))


def test_nothing_configured_in_a_home_that_is_a_project(place: Place) -> None:
    file = place.write("home/.recall.toml", "inherit = false\n")
    hint = hint_of_nothing(place, place.home)
    assert hint == f'write notes = "notes" under [roots] in {file}'


@pytest.mark.parametrize("text", ["Roots = 1\n", '[root]\nn = "."\n', '[ROOTS]\nn = "."\n'])
def test_nothing_configured_for_a_slip_of_the_key_hints_the_key(place: Place, text: str) -> None:
    place.own(text)
    assert hint_of_nothing(place) == "did you mean roots?"


def test_pasted_path_survives_being_made_harmless() -> None:
    path = "/a\x1b[2J'b\\\n\u202e\udcff"
    quoted = shell_quoted(path)
    assert quoted.isascii()
    assert quoted.isprintable()
    out = subprocess.run(["bash", "-c", f"printf %s {quoted}"], capture_output=True, check=True)
    assert out.stdout == os.fsencode(path)


# Other users' files, worktrees


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("kind", ["file", "link"])
def test_S4_other_users_file_is_passed_over_and_the_search_goes_on(place: Place, kind: str) -> None:
    outer = place.write("home/.recall.toml", '[roots]\nouter = "project"\n')
    planted = place.project / ".recall.toml"
    if kind == "file":
        planted.write_text('[roots]\nplanted = "."\n')
    else:
        planted.symlink_to(outer)
    os.lchown(planted, 54321, -1)
    config = place.load()
    assert list(found(config)) == ["outer"]
    assert f"{planted} is ignored" in said(config)


def test_S4_other_users_repository_is_no_fallback_and_the_error_says_why(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = place.make("home/project/.git")
    if os.getuid() == 0:
        os.chown(repository, 54321, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.raises(ConfigInvalid, match="another user"):
        place.load(fallback=True)


def git(directory: Path, *arguments: str) -> None:
    options = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(directory)]
    subprocess.run(["git", *options, *arguments], check=True, capture_output=True)


def worktree(place: Place, path: str = "elsewhere/tree") -> Path:
    git(place.project, "init", "-q")
    git(place.project, "commit", "-q", "--allow-empty", "-m", "x")
    git(place.project, "worktree", "add", "-q", "--detach", str(place.base / path))
    return place.base / path


def test_linked_worktree_finds_its_project_from_below(place: Place) -> None:
    docs = place.make("home/project/docs")
    file = place.project_file('[roots]\ndocs = "docs"\n')
    below = worktree(place) / "a/b"
    below.mkdir(parents=True)
    config = place.load(cwd=below)
    assert found(config) == {"docs": str(docs)}
    assert config.sources == (str(file),)


def test_linked_worktree_with_relative_links(place: Place) -> None:
    place.project_file('[roots]\ndocs = "."\n')
    tree = worktree(place)
    entry = place.project / ".git/worktrees/tree"
    (entry / "gitdir").write_text(os.path.relpath(tree / ".git", entry) + "\n")
    (tree / ".git").write_text(f"gitdir: {os.path.relpath(entry, tree)}\n")
    assert list(found(place.load(cwd=tree))) == ["docs"]


def test_linked_worktrees_own_file_goes_first(place: Place) -> None:
    place.project_file('[roots]\nmain = "."\n')
    tree = worktree(place)
    (tree / ".recall.toml").write_text('[roots]\nown = "."\n')
    assert found(place.load(cwd=tree)) == {"own": str(tree)}


def test_project_above_the_main_worktree_is_found_last(place: Place) -> None:
    place.write("home/.recall.toml", '[roots]\nabove = "project"\n')
    tree = worktree(place)
    assert list(found(place.load(cwd=tree))) == ["above"]
    place.write("elsewhere/.recall.toml", '[roots]\nnear = "."\n')
    assert list(found(place.load(cwd=tree))) == ["near"]


def test_S4_directory_that_claims_a_project_does_not_get_it(place: Place) -> None:
    place.project_file('[roots]\ndocs = "."\n')
    tree = worktree(place)
    entry = place.project / ".git/worktrees/tree"
    stranger = place.make("stranger")
    # It names the entry of another worktree.
    (stranger / ".git").write_text(f"gitdir: {entry}\n")
    with pytest.raises(ConfigInvalid):
        place.load(cwd=stranger)
    # It brings an entry of its own that names the project.
    forged = place.make("stranger/entry")
    (stranger / ".git").write_text("gitdir: entry\n")
    (forged / "gitdir").write_text(f"{stranger}/.git\n")
    (forged / "commondir").write_text(f"{place.project}/.git\n")
    with pytest.raises(ConfigInvalid):
        place.load(cwd=stranger)
    assert list(found(place.load(cwd=tree))) == ["docs"]


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: a\0b", b"\xff\xfe", b"gitdir: .."])
def test_git_file_of_any_content_is_harmless(place: Place, content: bytes) -> None:
    place.write("home/project/.git", content)
    place.project_file('[roots]\ndocs = "."\n')
    below = place.make("home/project/sub")
    place.write("home/project/sub/.git", content)
    assert list(found(place.load(cwd=below))) == ["docs"]


def test_bare_repository_has_no_main_worktree(place: Place) -> None:
    git(place.project, "init", "-q")
    git(place.project, "commit", "-q", "--allow-empty", "-m", "x")
    git(place.base, "clone", "-q", "--bare", str(place.project), str(place.make("srv") / "x.git"))
    place.write("srv/.recall.toml", '[roots]\nsrv = "."\n')
    tree = place.base / "tree"
    git(place.base / "srv/x.git", "worktree", "add", "-q", "--detach", str(tree))
    with pytest.raises(ConfigInvalid):
        place.load(cwd=tree)


# The page that teaches it


def test_the_page_shows_every_key_and_only_files_that_load(place: Place) -> None:
    page = (Path(__file__).parent.parent / "docs/configuration.md").read_text()
    for key in (*configfile.TOP_KEYS, *configfile.ROOT_KEYS, *configfile.SEARCH_KEYS):
        assert f"`{key}`" in page
    for bounds in (configfile.ROOT_BOUNDS, configfile.SEARCH_BOUNDS):
        for key, (low, high) in bounds.items():
            (row,) = (line for line in page.split("\n") if line.startswith(f"| `{key}`"))
            assert f"{low:,} to {high:,}" in row
    examples = page.split("```toml\n")[1:]
    assert len(examples) > 1
    for example in examples:
        place.own(example.partition("```")[0])
        file = configfile.read_config(str(place.home / OWN), place.environ)
        assert file.notices == []


# Base directories


ENVIRONMENTS = [
    {"HOME": "/h"},
    {"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/x"},
    {"HOME": "/h", "XDG_CACHE_HOME": "rel", "XDG_STATE_HOME": "~/s", "XDG_CONFIG_HOME": ""},
    {},
]


@pytest.mark.parametrize("environ", ENVIRONMENTS)
def test_C5_directories_are_those_of_the_xdg_library(environ: dict[str, str]) -> None:
    script = (
        "import xdg_base_dirs as x; "
        "print(x.xdg_cache_home(), x.xdg_state_home(), x.xdg_config_home())"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], env=environ, capture_output=True, check=True, text=True
    )
    cache, state, config = said.stdout.split()
    assert dirs.cache_dir(environ) == f"{cache}/recall"
    assert dirs.state_dir(environ) == f"{state}/recall"
    assert dirs.config_file(environ) == f"{config}/recall/config.toml"


@pytest.mark.parametrize("home", ["", "~", "rel/home", "."])
def test_C5_home_that_is_not_absolute_is_none(home: str) -> None:
    environ = {"HOME": home}
    assert dirs.cache_dir(environ) is None
    assert dirs.state_dir(environ) is None
    assert dirs.config_file(environ) is None
    assert dirs.expand_home("~/x", environ) is None
    assert dirs.cache_dir({**environ, "XDG_CACHE_HOME": "/c"}) == "/c/recall"


def test_C5_user_without_an_entry_has_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987654)
    assert dirs.home_dir({}) is None


def test_C5_nothing_is_created_by_loading(place: Place) -> None:
    before = sorted(place.base.rglob("*"))
    with pytest.raises(ConfigInvalid):
        place.load(fallback=True)
    assert sorted(place.base.rglob("*")) == before


def test_importing_it_imports_nothing_heavy() -> None:
    script = (
        f"import sys; sys.path[:] = {sys.path!r}; before = set(sys.modules); import recall.config; "
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    ).stdout.split()
    ours = ("recall", "index_cache")
    assert {name for name in loaded if not name.startswith(ours)} <= {"__future__", "stat", "_stat"}


def test_without_demand_roots_that_are_all_missing_are_told(place: Place) -> None:
    place.own('[roots]\none = "~/one"\n')
    outside = place.make("home/outside")
    place.project_file(f'[roots]\nout = "{outside}"\n')
    config = load(str(place.project), place.environ, fallback=False, demand=False)
    assert config.roots == ()
    assert [(left.name, left.notice is None) for left in config.left_out] == [
        ("out", True),
        ("one", False),
    ]
    (place.home / OWN).unlink()
    config = load(str(place.project), place.environ, fallback=False, demand=False)
    assert [left.name for left in config.left_out] == ["out"]
    place.project_file("")
    with pytest.raises(ConfigInvalid):
        load(str(place.project), place.environ, fallback=False, demand=False)


@pytest.mark.parametrize("inside", ["", 'docs = "docs"\n'])
def test_damaged_record_of_trust_is_said_with_one_hint(place: Place, inside: str) -> None:
    place.make("home/project/docs")
    place.project_file(f'[roots]\nout = "{place.home}"\n{inside}')
    record = place.write("home/.local/state/recall/trust.json", "not json")
    if not inside:
        with pytest.raises(ConfigInvalid) as caught:
            place.load()
        assert f"{record} is damaged" in caught.value.message
        assert caught.value.hint == "recall trust"
        return
    config = place.load()
    assert f"{record} is damaged" in said(config)
    assert [notice.hint for notice in config.notices if notice.hint] == ["recall trust"]
