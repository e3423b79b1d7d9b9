"""``isolate = true``: in a project nothing of other projects is read, shown, logged or said."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import hook_run_support as run
import pytest
from cli_support import recall
from hook_support import hook, index, start, state_directory, write
from writing_support import LEAST

from index_cache.errors import ConfigInvalid, NotFound
from recall import config, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping

WORD = "quabvexil"
OTHER = "globex"  # the name of the other project: it may be nowhere
OWN = """isolate = true
[hook]
deadline_ms = 10000
session_line = true
[roots]
acme = "{top}/home/clients/acme/docs"
globex = "{top}/home/clients/globex"
notes = {{ path = "{top}/home/notes", shared = true }}
"""


class Desk:
    """A home with two clients' repositories and notes that are shared."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top = top
        self.home = top / "home"
        self.acme = self.home / "clients" / "acme"
        self.globex = self.home / "clients" / "globex"
        for name, place in (
            ("acme", self.acme / "docs"),
            ("globex", self.globex),
            ("notes", self.home / "notes"),
        ):
            write(place, {f"{name}.md": f"# Of {name}\n\nAll about {WORD}, as {name} has it.\n"})
            write(place, {f"more-{n}.md": f"# More {n}\n\nNothing at all.\n" for n in range(9)})
        (self.acme / ".git").mkdir()
        (self.globex / ".git").mkdir()
        monkeypatch.setenv("HOME", str(self.home))
        for name in list(os.environ):
            if name.startswith("XDG_"):
                monkeypatch.delenv(name)
        self.file = self.home / ".config" / "recall" / "config.toml"
        self.own(OWN)

    def own(self, text: str) -> None:
        write(self.file.parent, {self.file.name: text.format(top=self.top)})

    def project(self, text: str, place: Path | None = None) -> None:
        write(place or self.acme, {".recall.toml": text.format(top=self.top)})

    def names(self, cwd: Path, *names: str, groups: tuple[str, ...] = ()) -> set[str]:
        made = config.load(str(cwd), os.environ, names, groups=groups, fallback=False, demand=False)
        return {root.name for root in made.roots}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path.resolve(), monkeypatch)


# Which project


def test_in_a_project_its_roots_and_what_is_shared(desk: Desk) -> None:
    deep = desk.acme / "src" / "deep"
    deep.mkdir(parents=True)
    (desk.top / "way").symlink_to(deep)
    for cwd in (desk.acme, desk.acme / "docs", deep, desk.top / "way"):
        assert desk.names(cwd) == {"acme", "notes"}
    assert desk.names(desk.globex) == {"globex", "notes"}


def test_in_no_project_everything(desk: Desk) -> None:
    every = {"acme", "globex", "notes"}
    (desk.home / ".git").mkdir()  # of dotfiles
    for cwd in (desk.home, desk.top, Path("/"), desk.home / "clients"):
        assert desk.names(cwd) == every
    desk.own(OWN.replace("isolate = true", "isolate = false"))
    assert desk.names(desk.acme) == every


def test_in_a_root_without_a_repository_that_root(desk: Desk) -> None:
    desk.own(OWN.replace(", shared = true", "") + 'everything = "{top}/home"\n')
    assert desk.names(desk.home / "notes") == {"notes"}
    (desk.home / ".git").mkdir()  # of dotfiles: not a project that takes in all
    assert desk.names(desk.home / "notes") == {"notes"}
    assert "everything" not in desk.names(desk.acme)


def test_in_a_repository_without_roots_only_what_is_shared(desk: Desk) -> None:
    new = desk.home / "clients" / "new"
    (new / ".git").mkdir(parents=True)
    assert desk.names(new) == {"notes"}
    (desk.globex / "vendor" / "lib" / ".git").mkdir(parents=True)  # a submodule
    assert desk.names(desk.globex / "vendor" / "lib") == {"globex", "notes"}
    desk.own(OWN.replace(", shared = true", ""))
    said = recall("search", WORD, "--json", cwd=new)
    assert said.data()["items"] == []  # as anywhere without roots: the repository's own notes
    error = recall("refresh", "--json", cwd=new).error()
    assert (error["code"], OTHER in json.dumps(error)) == ("config_invalid", False)
    assert "isolate" in error["message"]


def test_one_root_over_many_repositories_is_a_unit(desk: Desk) -> None:
    desk.own('isolate = true\n[roots]\nclients = "{top}/home/clients"\nx = "{top}/home/notes"\n')
    assert desk.names(desk.acme) == {"clients"}


def test_a_worktree_is_of_its_project(desk: Desk) -> None:
    run_git = ["git", "-c", "user.email=a@b", "-c", "user.name=a"]
    (desk.acme / ".git").rmdir()
    for arguments in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(desk.home / "elsewhere")],
    ):
        subprocess.run([*run_git, "-C", str(desk.acme), *arguments], check=True)
    assert desk.names(desk.home / "elsewhere") == {"acme", "notes"}
    desk.project('[roots]\nmine = "docs"\n')
    assert desk.names(desk.home / "elsewhere") == {"mine", "notes"}


# Who may say so


def test_a_project_may_turn_it_on_and_not_off(desk: Desk) -> None:
    desk.project("isolate = false\n")
    assert desk.names(desk.acme) == {"acme", "notes"}
    desk.own(OWN.replace("isolate = true", ""))
    desk.project("isolate = true\n")
    assert desk.names(desk.acme) == {"acme", "notes"}
    assert desk.names(desk.globex) == {"acme", "globex", "notes"}


def test_a_project_can_not_widen_it(desk: Desk) -> None:
    desk.project(
        'isolate = false\n[roots]\nmine = "docs"\n'
        'out = {{ path = "{top}/home/clients/globex", shared = true }}\n'
    )
    assert desk.names(desk.acme) == {"mine", "notes"}
    recall("trust", cwd=desk.acme)
    assert desk.names(desk.acme) == {"mine", "out", "notes"}  # as the person now says
    # A file above is not that of the project, which has roots of its own.
    (desk.acme / ".recall.toml").unlink()
    desk.project('[roots]\nall = "."\ntheirs = "globex"\n', desk.home / "clients")
    assert desk.names(desk.acme) == {"acme", "notes"}


def test_without_inherit_the_persons_isolation_holds(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.project("inherit = false\n")
    monkeypatch.setenv("RECALL_ROOTS", f"globex={desk.globex}:own={desk.acme}/docs")
    assert desk.names(desk.acme) == {"own"}


def test_variables_and_other_programs_are_isolated_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.own("isolate = true\n")
    monkeypatch.setenv("LOCUS_PALACE", str(desk.globex))
    assert desk.names(desk.globex) == {"globex"}
    for place in (desk.globex, desk.top / "globex-that-is-gone"):
        monkeypatch.setenv("LOCUS_PALACE", str(place))
        said = recall("search", WORD, cwd=desk.acme)
        assert (said.status, OTHER in said.stdout + said.stderr) == (0, False)
        assert desk.names(desk.home) == ({"globex"} if place == desk.globex else set())


def test_what_another_program_may_not_name_is_not_said(desk: Desk) -> None:
    write(desk.acme, {".locus.toml": '[recall]\nroots = ["docs", "../globex"]\n'})
    for isolate, said in (("isolate = false\n", True), ("isolate = true\n", False)):
        desk.own(isolate)
        for command in (["search", WORD], ["roots", "list"], ["status"]):
            done = recall(*command, cwd=desk.acme)
            assert done.status == 0
            assert (OTHER in done.stdout + done.stderr) is said
        assert desk.names(desk.acme) == {"docs"}


def test_flags_reach_what_they_name(desk: Desk) -> None:
    assert desk.names(desk.acme, "globex") == {"globex"}
    assert desk.names(desk.acme, str(desk.globex)) == {"globex"}
    desk.own(
        OWN.replace('globex"', 'globex", groups = ["g"] }}').replace(
            'globex = "', 'globex = {{ path = "'
        )
    )
    assert desk.names(desk.acme, groups=("g",)) == {"globex"}


# Nothing tells of others


def everything_under(directory: Path) -> str:
    """Return all that the files of a directory hold, and their names."""
    texts = [f"{file} {file.read_bytes()!r}" for file in directory.rglob("*") if file.is_file()]
    return "\n".join(texts)


def test_cards_log_and_session_line(desk: Desk) -> None:
    for cwd in (desk.acme, desk.globex, desk.home):
        index(str(cwd))
        run.no_refresh(cwd)
    said = hook(run.event("claude", f"where is {WORD}?", desk.acme, "s"), cwd=desk.acme)
    assert set(said.titles) == {"Of acme", "Of notes"}
    (entry,) = (
        json.loads(line)
        for line in Path(state_directory(), "recall-log.jsonl").read_text("utf-8").splitlines()
    )
    assert set(entry["roots"]) == {"acme", "notes"}
    greeting = hook(start("startup", cwd=str(desk.acme)), cwd=desk.acme)
    assert b"20 notes in 2 roots (acme, notes)" in greeting.stdout
    assert OTHER.encode() not in said.stdout + said.stderr + greeting.stdout
    assert OTHER not in everything_under(Path(state_directory()))
    # It is there where it belongs: the assertions can fail.
    there = hook(run.event("claude", f"where is {WORD}?", desk.home, "t"), cwd=desk.home)
    assert "Of globex" in there.titles


def test_searches_and_what_they_write(desk: Desk) -> None:
    said = recall("search", WORD, "--json", cwd=desk.acme)
    assert {item["root"] for item in said.data()["items"]} == {"acme", "notes"}
    assert OTHER.encode() not in said.raw
    data = recall("refresh", "--json", cwd=desk.acme).data()
    assert [each["name"] for each in data["roots"]] == ["acme", "notes"]


# What is odd about the other project's root: each is told where that is searched, and only there.
ODD: Mapping[str, str] = {
    "an unknown key": 'globex = {{ path = "{top}/home/clients/globex", exclud = ["a"] }}',
    "a directory that is missing": 'globex = "{top}/home/clients/globex-moved"',
    "a name used twice": 'docs = "{top}/home/clients/globex"',
}


@pytest.mark.parametrize("what", ODD)
def test_notices_and_errors_of_others_are_not_said(desk: Desk, what: str) -> None:
    old = 'globex = "{top}/home/clients/globex"'
    desk.own(
        OWN.replace(old, ODD[what]).replace("acme =", "docs =" if "twice" in what else "acme =")
    )
    if "twice" in what:
        desk.own(OWN.replace(old, ODD[what]))
        desk.project('[roots]\ndocs = "docs"\n')
    for command in (["search", WORD], ["refresh"], ["roots", "list"], ["status"]):
        said = recall(*command, cwd=desk.acme)
        assert said.status == 0, said.stderr
        assert OTHER not in said.stdout + said.stderr
        if "twice" not in what:
            assert OTHER in recall(*command, cwd=desk.home).stderr


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (OWN + "globex-2 = 3\n", 9),
        (OWN + 'globex-2 = {{ path = "~globex/x" }}\n', 9),
        (OWN + '[roots.globex-2]\npath = "x"\n[roots.globex-2]\n', 11),  # what TOML refuses
    ],
)
def test_an_error_of_the_persons_own_file_has_only_its_line(
    desk: Desk, text: str, line: int
) -> None:
    desk.own(text)
    for cwd in (desk.acme, desk.home / "notes", desk.home / "clients"):
        with pytest.raises(ConfigInvalid) as caught:
            config.load(str(cwd), os.environ, fallback=False)
        error = caught.value
        assert OTHER not in f"{error.message} {error.hint}"
        assert str(error.where).startswith(f"{desk.file}:{line}")
    said = hook(run.event("claude", WORD, desk.acme, "s"), cwd=desk.acme)
    assert said.block == ""
    assert OTHER not in everything_under(Path(state_directory()))
    with pytest.raises(ConfigInvalid, match="globex"):
        config.load(str(desk.home), os.environ, fallback=False)
    # So with the project's word alone.
    desk.own(text.replace("isolate = true", ""))
    desk.project("isolate = true\n")
    with pytest.raises(ConfigInvalid) as caught:
        config.load(str(desk.acme), os.environ, fallback=False)
    assert OTHER not in caught.value.message


def test_no_name_of_others_is_suggested(desk: Desk) -> None:
    desk.own(
        OWN.replace(
            'globex = "{top}/home/clients/globex"',
            'globex = {{ path = "{top}/home/clients/globex", groups = ["globexes"] }}',
        )
    )
    for names, groups in ((("globe",), ()), ((), ("globexe",))):
        with pytest.raises(NotFound) as caught:
            desk.names(desk.acme, *names, groups=groups)
        assert "did you mean" not in caught.value.message
    variables = {"_RECALL_COMPLETE": "bash_complete", "COMP_CWORD": "3"}
    for option in ("--root", "--group"):
        words = {**variables, "COMP_WORDS": f"recall\nsearch\n{option}\n"}
        assert OTHER not in recall(env=words, cwd=desk.acme).stdout
        assert OTHER in recall(env=words, cwd=desk.home).stdout


def test_the_list_says_how_many_are_aside(desk: Desk) -> None:
    said = recall("roots", "list", cwd=desk.acme)
    assert said.stdout == (
        f"acme: {desk.acme}/docs\nnotes: {desk.home}/notes\n"
        "isolate sets 1 root of other projects aside here\n"
    )
    assert recall("roots", "list", "--json", cwd=desk.acme).data()["aside"] == 1
    assert recall("roots", "list", "--json", cwd=desk.home).data()["aside"] == 0


def test_the_hook_notices_when_the_project_becomes_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept configuration depends on all that isolation asks of the disk."""
    place = desk.home / "clients" / "new"
    place.mkdir()
    import time

    clock = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: clock() + 3600 * 10**9)

    def names() -> tuple[set[str], bool]:
        made = resolved.load(str(place), os.environ)
        return {root.name for root in made.roots}, made.from_cache

    every = {"acme", "globex", "notes"}
    assert names() == (every, False)
    assert names() == (every, True)
    (place / ".git").mkdir()
    assert names() == ({"notes"}, False)
    assert names() == ({"notes"}, True)
    (place / ".git").rmdir()
    assert names() == (every, False)


# What is kept, or administered, as a whole


def searched_everywhere(desk: Desk) -> None:
    """Ask the same in both projects and in the home, so that log and caches know of all."""
    for cwd in (desk.acme, desk.globex, desk.home):
        index(str(cwd))
        run.no_refresh(cwd)
        hook(run.event("claude", f"where is {WORD}?", cwd, str(cwd)), cwd=cwd)


def test_the_log_shows_what_was_asked_of_roots_that_are_searched_here(desk: Desk) -> None:
    desk.own(OWN.replace("session_line", "log_prompts = true\nsession_line"))
    searched_everywhere(desk)
    there = recall("log", "--json", cwd=desk.home).data()
    assert (len(there["entries"]), there["aside"]) == (3, 0)
    assert all(WORD in entry["text"] for entry in there["entries"])
    here = recall("log", "--json", cwd=desk.acme).data()
    assert [set(entry["roots"]) for entry in here["entries"]] == [{"acme", "notes"}]
    assert [entry["text"] for entry in here["entries"]] == [None]  # it may be of any project
    assert here["aside"] == 2
    summary = recall("log", "--summary", "--json", cwd=desk.acme).data()
    assert (summary["summary"]["prompts"], summary["aside"]) == (1, 2)
    for options in ([], ["--summary"]):
        said = recall("log", *options, cwd=desk.acme)
        assert said.stdout.endswith("isolate sets 2 entries of other projects aside here\n")
        assert OTHER not in said.stdout + said.stderr
        assert f"{OTHER}.md" in recall("log", *options, cwd=desk.home).stdout
    # So too when the other project is configured no more, and so is not set aside.
    desk.own(OWN.replace('globex = "{top}/home/clients/globex"\n', ""))
    assert recall("log", "--json", cwd=desk.acme).data()["aside"] == 2


def test_a_root_of_the_same_name_in_another_project_is_another_root(desk: Desk) -> None:
    desk.own("isolate = true\n[hook]\ndeadline_ms = 10000\n")
    for place, root in ((desk.acme, "docs"), (desk.globex, ".")):
        desk.project(f'[roots]\nmine = "{root}"\n', place)
        index(str(place))
        run.no_refresh(place)
        hook(run.event("claude", f"where is {WORD}?", place, str(place)), cwd=place)
    data = recall("log", "--json", cwd=desk.acme).data()
    assert data["aside"] == 1
    assert [[card["path"] for card in each["cards"]] for each in data["entries"]] == [["acme.md"]]


def test_caches_of_others_are_counted_and_not_listed(desk: Desk) -> None:
    searched_everywhere(desk)
    data = recall("cache", "list", "--json", cwd=desk.acme).data()
    assert {each["root_path"] for each in data["caches"]} == {
        f"{desk.acme}/docs",
        f"{desk.home}/notes",
    }
    assert data["aside"] == 1
    said = recall("cache", "list", cwd=desk.acme)
    assert said.stdout.endswith("isolate sets 1 cache file of other projects aside here\n")
    assert OTHER not in said.stdout
    assert OTHER in recall("cache", "list", cwd=desk.home).stdout
    removed = recall("cache", "prune", "--all", "--json", cwd=desk.acme)
    assert (len(removed.data()["removed"]), removed.data()["aside"]) == (2, 1)
    assert OTHER.encode() not in removed.raw


def test_what_was_kept_of_runs_elsewhere_is_told_without_its_words(desk: Desk) -> None:
    from recall import hookfault

    searched_everywhere(desk)
    desk.own(OWN.replace("clients/globex", "clients/globex-gone"))
    assert recall("schedule", "run", cwd=desk.home).status == 6
    for part in (hookfault.HOOK, hookfault.REFRESH):
        hookfault.note(
            state_directory(), "globex is odd", where="/globex", hint="globex", part=part
        )
    for command in (["health"], ["schedule", "status"], ["status"]):
        for options in ([], ["--json"]):
            said = recall(*command, *options, cwd=desk.acme)
            assert OTHER not in said.stdout + said.stderr
            assert "isolate keeps them from this one" in said.stdout + said.stderr
            there = recall(*command, *options, cwd=desk.home)
            assert OTHER in there.stdout + there.stderr


@pytest.mark.parametrize("verb", ["print", "install"])
def test_a_job_for_all_roots_is_planned_without_their_words(desk: Desk, verb: str) -> None:
    desk.own(OWN.replace("clients/globex", "clients/globex-gone"))
    more = ["--dry-run"] if verb == "install" else []
    command = ["schedule", verb, "--kind", "cron", *more]
    said = recall(*command, cwd=desk.acme)
    assert OTHER not in said.stdout + said.stderr
    assert "warning: the job would have 1 warning: " in said.stderr
    assert "globex-gone" in recall(*command, cwd=desk.home).stderr
    desk.own('isolate = true\n[roots]\nglobex = "{top}/globex-gone"\n')
    said = recall(*command, cwd=desk.acme)
    assert OTHER not in said.stdout + said.stderr
    assert "the job finds nothing to do" in said.stderr


def test_commands_that_edit_offer_no_name_of_others(desk: Desk) -> None:
    assert '"globex"' in recall("roots", "remove", "globe", cwd=desk.home).stderr
    said = recall("roots", "remove", "globe", cwd=desk.acme)
    assert (said.status, OTHER in said.stderr) == (3, False)
    assert '"acme"' in recall("roots", "remove", "acm", cwd=desk.acme).stderr
    words = {
        "_RECALL_COMPLETE": "bash_complete",
        "COMP_CWORD": "3",
        "COMP_WORDS": "recall\nroots\nremove\n",
    }
    assert OTHER not in recall(env=words, cwd=desk.acme).stdout
    assert "acme" in recall(env=words, cwd=desk.acme).stdout
    assert OTHER in recall(env=words, cwd=desk.home).stdout
    assert recall("roots", "remove", "globex", cwd=desk.acme).status == 0  # it was named


def test_discover_tells_no_root_of_others(desk: Desk) -> None:
    data = recall("roots", "discover", "..", "--json", cwd=desk.acme).data()
    assert [each["roots"] for each in data["configured"]] == [["acme"]]
    assert data["aside"] == 1
    said = recall("roots", "discover", "..", cwd=desk.acme)
    assert OTHER not in said.stdout + said.stderr
    assert "isolate sets 1 place of other projects aside here\n" in said.stdout
    assert OTHER in recall("roots", "discover", "..", cwd=desk.home / "clients").stdout


@pytest.mark.parametrize(
    "command",
    [["remember", "--adapter", "claude", "--allow-write", "-"], ["audit"], ["proposals", "list"]],
)
def test_where_no_root_is_named_to_write_to_no_other_one_is_offered(
    desk: Desk, command: list[str]
) -> None:
    said = recall(*command, cwd=desk.acme, stdin=json.dumps(LEAST).encode())
    assert "no root is named to write to" in said.stderr
    assert "acme" in said.stderr
    assert OTHER not in said.stderr


def test_a_wrong_file_keeps_log_and_caches_apart(desk: Desk) -> None:
    searched_everywhere(desk)
    desk.own(OWN + "globex-2 = 3\n")
    for command in (
        ["log"],
        ["log", "--summary"],
        ["cache", "list"],
        ["roots", "remove", "x"],
        ["roots", "add", "x", "."],
        ["roots", "discover", "."],
        ["health"],
    ):
        said = recall(*command, cwd=desk.acme)
        assert OTHER not in said.stdout + said.stderr
    assert recall("log", "--json", cwd=desk.acme).data()["entries"] == []
    assert len(recall("log", "--json", cwd=desk.home).data()["entries"]) == 3
    assert OTHER in recall("roots", "remove", "x", cwd=desk.home).stderr
    desk.own((OWN + "globex-2 = 3\n").replace("isolate = true", ""))
    assert len(recall("log", "--json", cwd=desk.acme).data()["entries"]) == 3
