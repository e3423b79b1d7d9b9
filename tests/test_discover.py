"""``recall roots discover``: what is proposed and why, what is written, and odd trees."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall, valid_envelope
from health_support import within
from hook_support import write
from vectors import load, named

from index_cache import files
from recall import config, configedit, discovering, places
from recall.configfile import read_config
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recall.discovering import Discovery

GIT = ["git", "-c", "user.email=a@b", "-c", "user.name=a"]


def git(where: Path, *arguments: str) -> None:
    subprocess.run([*GIT, "-C", str(where), *arguments], check=True, capture_output=True)


def repository(where: Path, notes: Sequence[str] = (), code: int = 9) -> Path:
    """Make a repository with notes and files of code, without running git."""
    (where / ".git").mkdir(parents=True)
    (where / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (where / ".git" / "objects").mkdir()
    (where / ".git" / "refs").mkdir()
    write(where, {f"src/{n}.py": "pass\n" for n in range(code)})
    write(where, {name: f"# {name}\n" for name in notes})
    return where


def found(
    *tops: Path,
    depth: int = 8,
    seconds: float = 60,
    fs: files.FileSystem | None = None,
    home: str | None = None,
) -> Discovery:
    return discovering.discover(
        [os.fsencode(top) for top in tops],
        [],
        fs or files.FileSystem(),
        depth=depth,
        seconds=seconds,
        home=home,
    )


def proposed(*tops: Path, **options: Any) -> dict[str, tuple[str, ...]]:
    """Return the includes of what is proposed, by name."""
    return {each.name: each.include for each in found(*tops, **options).proposals}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path.resolve() / "top"


# What is proposed


def test_a_repository_is_one_root_with_what_of_it_are_notes(top: Path) -> None:
    repository(
        top / "shop",
        [
            "README.md",
            "docs/a.md",
            "docs/adr/1.md",
            "services/api/Runbooks/r.markdown",
            ".agent/memory/m.md",
            "src/readme.md",
            "docs/node_modules/x/y.md",
            "vendor/lib/docs/z.md",
            "third_party/docs/z.md",
        ],
    )
    (proposal,) = found(top).proposals
    assert (proposal.name, proposal.kind, proposal.path) == ("shop", "repository", f"{top}/shop")
    assert proposal.include == (
        "/*.md",
        "/.agent/memory/**",
        "/docs/**",
        "/services/api/Runbooks/**",
    )
    assert set(proposal.why) == {
        ("decision records", "docs/adr", 1),
        ("documentation", "docs", 1),
        ("runbooks", "services/api/Runbooks", 1),
        ("agent memory", ".agent/memory", 1),
        ("notes at the top", "", 1),
    }
    assert proposal.notes == 5


@pytest.mark.parametrize(
    "directory",
    ["docs", "doc/adr", "adr", "decisions", "docs/decisions", "rfcs", "runbooks", "KNOWLEDGE"],
)
def test_each_name_of_notes_makes_a_root(top: Path, directory: str) -> None:
    repository(top / "r", [f"{directory}/a.md"])
    assert proposed(top) == {"r": (f"/{directory.partition('/')[0]}/**",)}


@pytest.mark.parametrize("name", [name for name, below in places.KEPT.items() if below[0][0]])
def test_what_an_agent_keeps_is_found_in_a_repository_and_outside(top: Path, name: bytes) -> None:
    for below, glob in places.KEPT[name]:
        where = f"{name.decode()}/{below.decode()}" + ("/p/memory" if glob else "")
        repository(top / "r", [f"{where}/MEMORY.md"])
        write(top / "home", {f"{where}/MEMORY.md": "# M\n"})
        one, other = sorted(found(top).proposals, key=lambda each: each.path)
        assert one.path == f"{top}/home/{name.decode()}/{below.decode()}"
        assert (one.kind, one.notes, other.notes) == ("memory", 1, 1)
        assert other.path == f"{top}/r"
        subprocess.run(["rm", "-r", str(top)], check=True)


def test_memory_that_git_ignores_is_a_root_of_its_own(top: Path) -> None:
    shop = repository(top / "shop", ["docs/a.md", ".agent/memory/m.md", "build/docs/b.md"])
    write(shop, {".gitignore": ".agent\nbuild\n"})
    subprocess.run(["rm", "-r", str(shop / ".git")], check=True)
    git(top, "init", "-q", "shop")
    assert proposed(top) == {"shop-memory": (), "shop": ("/docs/**",)}
    only = repository(top / "only", ["docs/a.md"])
    write(only, {".gitignore": "docs\n"})
    subprocess.run(["rm", "-r", str(only / ".git")], check=True)
    git(top, "init", "-q", "only")
    assert (f"{top}/only", discovering.IGNORED) in found(top).passed_over


def test_a_repository_of_notes_and_a_vault_are_whole(top: Path) -> None:
    repository(top / "kb", ["a.md", "x/b.md", "x/c.md", "vendor/d.md"], code=1)
    repository(top / "vault", ["a.md", ".obsidian/x.md"])
    write(top / "logs", {"logseq/config.edn": "", "logseq/bak/b.md": "b", "pages/a.md": "a"})
    made = {each.name: each for each in found(top).proposals}
    assert {name: (each.kind, each.notes) for name, each in made.items()} == {
        "kb": ("repository", 3),
        "vault": ("vault", 1),
        "logs": ("vault", 1),
    }
    assert all(each.include == () for each in made.values())
    assert made["kb"].exclude == ("vendor/",)
    assert made["logs"].exclude == ("/logseq/",)


def test_plain_directories_of_notes(top: Path) -> None:
    write(top / "notes", {"deep/er/a.md": "a"})
    write(top / "Papers", {f"{n}.md": "a" for n in range(3)} | {"sub/x.md": "x"})
    write(top / "few", {"a.md": "a", "README.md": "r", "CHANGELOG.md": "c"})
    write(top / "work", {f"{n}.md": "a" for n in range(3)})
    repository(top / "work" / "shop", ["docs/a.md"])
    made = {each.name: (each.kind, each.include, each.notes) for each in found(top).proposals}
    assert made == {
        "notes": ("notes", (), 1),
        "Papers": ("notes", (), 4),
        "work": ("notes", ("/*.md",), 3),
        "shop": ("repository", ("/docs/**",), 1),
    }


def test_a_readme_alone_is_no_reason(top: Path) -> None:
    repository(top / "a", ["README.md", "CONTRIBUTING.md", "AGENTS.md"])
    repository(top / "b")
    repository(top / "c", ["README.md"])
    (top / "c" / "docs").mkdir()
    assert found(top).proposals == []
    assert found(top).passed_over == [
        (f"{top}/a", discovering.ONLY_COMMUNITY),
        (f"{top}/b", discovering.NO_NOTES),
        (f"{top}/c", discovering.ONLY_COMMUNITY),
    ]


def test_many_directories_of_docs_become_one_glob(top: Path) -> None:
    names = [f"packages/{n}/docs/a.md" for n in range(discovering.MOST_INCLUDES + 1)]
    notes = [*names, "vendor/x/docs/a.md", ".agent/memory/m.md", "p/ADR/1.md"]
    repository(top / "mono", notes, code=99)
    (proposal,) = found(top).proposals
    assert proposal.include == ("ADR/", "docs/", "/.agent/memory/**")
    assert proposal.exclude == ("vendor/",)
    assert proposal.notes == len(names) + 2


def test_worktrees_and_submodules_once(top: Path) -> None:
    top.mkdir()
    (top / "shop").mkdir()
    git(top / "shop", "init", "-q")
    write(top / "shop", {"docs/a.md": "a", "x.py": ""})
    write(top / "lib", {"docs/a.md": "a", "x.py": ""})
    git(top / "lib", "init", "-q")
    for name in ("lib", "shop"):
        git(top / name, "add", ".")
        git(top / name, "commit", "-qm", "x")
    allowed = ["-c", "protocol.file.allow=always"]
    git(top / "shop", *allowed, "submodule", "add", "-q", str(top / "lib"), "libs/lib")
    git(top / "shop", "worktree", "add", "-q", str(top / "a-worktree"))
    git(top, "clone", "-q", "--bare", str(top / "lib"), "bare.git")
    for name in ("z", "main", "b"):
        git(top / "bare.git", "worktree", "add", "-q", "--detach", str(top / "trees" / name))
    result = found(top)
    assert [each.path for each in result.proposals] == [
        f"{top}/lib",
        f"{top}/shop",
        f"{top}/trees/main",
    ]
    assert sorted(result.passed_over) == [
        (f"{top}/a-worktree", f"another worktree of {top}/shop"),
        (f"{top}/trees/b", f"another worktree of {top}/trees/main"),
        (f"{top}/trees/z", f"another worktree of {top}/trees/main"),
    ]
    assert result.survey.submodules == 1


def test_names_are_unique_in_whatever_case(top: Path) -> None:
    for name in ("a/api", "b/Api", "c/API", "c/x/API", "b/x/Api"):
        repository(top / name, ["docs/a.md"])
    write(top / "loose" / "docs", {"a.md": "a"})
    write(top / "docs", {"a.md": "a"})
    names = list(proposed(top))
    assert names == ["api", "b-Api", "x-Api", "c-API", "x-API-2", "docs", "loose-docs"]
    assert len({name.casefold() for name in names}) == 7


# Directories of notes side by side


def spelt(pattern: str) -> list[str]:
    """Return the paths that a pattern with ``{a,b}`` stands for."""
    head, brace, rest = pattern.partition("{")
    if not brace:
        return [pattern]
    choices, _, tail = rest.partition("}")
    return [f"{head}{each}{more}" for each in choices.split(",") for more in spelt(tail)]


@pytest.mark.parametrize("vector", load("discover.json"), ids=named)
def test_vectors(top: Path, vector: dict[str, Any]) -> None:
    top.mkdir()
    for name in vector["repositories"]:
        repository(top / name, code=0)
    for name in (*vector["notes"], *vector["others"]):
        write(top, dict.fromkeys(spelt(name), "# N\n"))
    home = None if vector.get("home") is None else os.path.normpath(top / vector["home"])
    made = found(top, home=home).proposals
    roots = {os.path.normpath(top / each): globs for each, globs in vector["roots"].items()}
    assert {each.path: list(each.include) for each in made} == roots
    assert sum(each.notes for each in made) <= sum(len(spelt(each)) for each in vector["notes"])


def test_a_later_directory_beside_them_is_indexed(top: Path) -> None:
    for year in (2024, 2025, 2026):
        write(top / "X" / str(year), {f"{n}.md": "a" for n in range(4)})
    (added,) = recall("roots", "discover", str(top), "--yes", "--json").data()["proposals"]
    assert (added["name"], added["notes"]) == ("X", 12)
    write(top / "X" / "2027", {"quabvexil.md": "# Quabvexil\n"})
    (item,) = recall("search", "quabvexil", "--json").data()["items"]
    assert item["path"] == "2027/quabvexil.md"
    assert recall("roots", "discover", str(top), "--json").data()["proposals"] == []


def test_roots_of_an_earlier_time_are_enough(top: Path, home: Path) -> None:
    for year in (2024, 2025):
        write(top / "X" / str(year), {f"{n}.md": "a" for n in range(4)})
    lines = [f'{year} = "{top}/X/{year}"\n' for year in (2024, 2025)]
    write(home / ".config/recall", {"config.toml": "[roots]\n" + "".join(lines)})
    data = recall("roots", "discover", str(top), "--json").data()
    assert data["proposals"] == []
    assert data["configured"] == [{"path": f"{top}/X", "roots": ["2024", "2025"]}]


def test_vendored_directories_are_not_taken_in(top: Path) -> None:
    for year in (2024, 2025):
        write(top / str(year), {f"{n}.md": "a" for n in range(3)})
    write(top / "2024" / "vendor" / "lib", {"a.md": "a"})
    (proposal,) = found(top).proposals
    assert (proposal.exclude, proposal.notes) == (("vendor/",), 6)


def test_what_time_did_not_allow_to_see_is_not_taken_in(top: Path) -> None:
    for name in "abc":
        write(top / name, {f"{n}.md": "a" for n in range(3)})
    repository(top / "later", ["docs/a.md"])
    ticks = iter([0.0] * 5 + [9.0])  # to begin, and for the top, a, b and c

    def clock() -> float:
        return next(ticks, 0.0)

    result = discovering.discover(
        [os.fsencode(top)], [], files.FileSystem(), depth=8, seconds=5, clock=clock
    )
    assert result.survey.late
    assert [each.path for each in result.proposals] == [f"{top}/{name}" for name in "abc"]


def test_a_directory_in_another_one_is_a_part_of_that(top: Path) -> None:
    for name in ("a", "x/b", "x/c"):
        write(top / name, {f"{n}.md": "a" for n in range(3)})
    for tops in ((top, top / "x"), (top / "x", top)):
        assert [each.path for each in found(*tops).proposals] == [str(top)]


def test_many_roots_are_warned_of(top: Path) -> None:
    from recall.cli import roots_discover

    repository(top / "shop", ["docs/a.md"])
    count = roots_discover.MANY
    for number in range(count):
        write(top / f"d{number}", {f"{n}.md": "a" for n in range(3)})
    data = recall("roots", "discover", str(top), "--dry-run", "--json").data()
    assert len(data["proposals"]) == count + 1
    (notice,) = data["notices"]
    assert f"{count + 1} roots are proposed" in notice["message"]
    assert "every prompt" in notice["message"]
    assert "recall roots add NAME DIR" in notice["hint"]
    subprocess.run(["rm", "-r", str(top / "d0")], check=True)
    data = recall("roots", "discover", str(top), "--dry-run", "--json").data()
    assert (len(data["proposals"]), data["notices"]) == (count, [])


def test_signs_of_globs_in_a_name_stand_for_themselves(top: Path) -> None:
    shop = repository(top / "shop", ["x*y/docs/a.md", "p?/docs/b.md", "[q]/docs/c.md"], code=99)
    write(shop, {"xZZy/docs/README": ""})
    data = recall("roots", "discover", str(top), "--yes", "--json").data()
    write(shop, {f"{each}/docs/later.md": "later" for each in ("xZZy", "pp", "q", "x*y")})
    (report,) = recall("refresh", "--json").data()["roots"]
    assert (data["proposals"][0]["notes"], report["documents"]) == (3, 4)


# Odd trees


def test_loops_links_and_what_can_not_be_read_stop_nothing(top: Path) -> None:
    repository(top / "shop", ["docs/a.md"])
    (top / "shop" / "docs" / "up").symlink_to(top)
    (top / "loop").symlink_to(top)
    (top / "gone").symlink_to(top / "nowhere")
    outside = repository(top.parent / "outside", ["docs/a.md"])
    (top / "way-out").symlink_to(outside)
    (top / "links").mkdir()
    for number in range(3):
        (top / "links" / f"{number}.md").symlink_to(outside / "docs" / "a.md")
    os.mkfifo(top / "pipe.md")
    (top / "closed").mkdir()

    class Closed(files.FileSystem):
        def scandir(self, path: bytes) -> Sequence[files.DirEntry]:
            if path.endswith(b"/closed"):
                raise PermissionError(13, "Permission denied")
            return super().scandir(path)

    result = found(top, fs=Closed())
    assert [each.path for each in result.proposals] == [f"{top}/shop"]
    assert result.passed_over == []
    assert result.survey.unreadable == [(os.fsencode(top / "closed"), "Permission denied")]


def test_names_that_are_no_utf8(top: Path) -> None:
    top.mkdir()
    bad = Path(os.fsdecode(os.fsencode(top) + b"/caf\xe9"))
    try:
        bad.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    repository(bad, ["docs/a.md"])
    inner = Path(os.fsdecode(os.fsencode(top) + b"/shop/x\xff[1]/docs"))
    repository(top / "shop", ["docs/a.md"])
    write(inner, {"b.md": "b"})
    result = found(top)
    (proposal,) = result.proposals
    assert proposal.include == ("/docs/**", "/x?[[]1]/docs/**")
    assert proposal.notes == 2
    assert result.passed_over == [(str(bad), discovering.NOT_UTF8)]
    data = recall("roots", "discover", str(top), "--yes", "--json").data()
    assert [each["added"] for each in data["proposals"]] == [True]
    assert "\\xe9" in data["passed_over"][0]["path"]
    shown = recall("roots", "discover", str(top))
    assert "caf\\xe9" in shown.stdout


def test_depth_and_time_are_bounded_and_said(top: Path) -> None:
    repository(top / "a" / "b" / "c" / "shop", ["docs/a.md"])
    assert len(found(top, depth=5).proposals) == 1
    result = found(top, depth=3)
    assert (result.proposals, result.survey.deeper) == ([], 1)
    said = recall("roots", "discover", str(top), "--depth", "3")
    assert (
        "warning: 1 directory more than 3 deep: not looked at\nhint: raise --depth" in said.stderr
    )
    late = recall("roots", "discover", str(top), "--time", "0")
    assert late.status == 0
    assert "warning: the time of 0 s was over: after 0 directories" in late.stderr
    data = recall("roots", "discover", str(top), "--time", "0", "--json").data()
    assert (data["complete"], data["proposals"]) == (False, [])
    ticks = iter([0.0] * 7 + [9.0] * 99)  # time for the walk, and none to count
    survey = discovering.discover(
        [os.fsencode(top)], [], files.FileSystem(), depth=8, seconds=5, clock=lambda: next(ticks)
    )
    assert survey.proposals == []
    assert survey.survey.late


def test_a_thousand_repositories(top: Path, home: Path, long_count: Callable[[int], int]) -> None:
    count = long_count(1000)
    for number in range(count):
        repository(top / f"{number % 7}" / f"r{number // 7}", ["docs/a.md"], code=1)
    patient = ["--time", "600", "--yes", "--json"]
    data = recall("roots", "discover", str(top), *patient, timeout=600).data()
    assert len(data["proposals"]) == count
    assert all(each["added"] for each in data["proposals"])
    names = [each["name"] for each in data["proposals"]]
    assert len({name.casefold() for name in names}) == count
    roots = tomllib.loads((home / ".config/recall/config.toml").read_text())["roots"]
    assert set(roots) == set(names)


def test_names_that_would_drive_the_terminal(top: Path) -> None:
    repository(top / "a\x1b[2Jb\n", ["docs/a.md"])
    for options in ([], ["--dry-run"], ["--yes"], []):
        said = recall("roots", "discover", str(top), *options)
        assert said.status == 0
        assert "\x1b" not in said.stdout + said.stderr


# What is configured already


def test_the_number_said_is_the_number_indexed(top: Path) -> None:
    shop = repository(top / "shop", ["docs/a.md", "docs/b.md", "docs/x/c.md", "README.md", "i.md"])
    write(shop, {"docs/c.sync-conflict-20200101-000000-ABC.md": "c", "docs/c.md": "c"})
    write(top / "notes", {"a.md": "a", "venv/x.md": "x", ".hidden/x.md": "x"})
    data = recall("roots", "discover", str(top), "--yes", "--json").data()
    said = {each["name"]: each["notes"] for each in data["proposals"]}
    refreshed = recall("refresh", "--json").data()
    assert {each["name"]: each["documents"] for each in refreshed["roots"]} == said
    assert said == {"shop": 6, "notes": 1}


def test_a_second_run_proposes_nothing(top: Path, home: Path) -> None:
    for name in ("shop", "infra"):
        repository(top / name, ["docs/a.md", ".locus/m.md"])
    write(top / "notes", {"a.md": "a"})
    write(top / "home", {".claude/projects/p/memory/m.md": "m"})
    first = recall("roots", "discover", str(top), "--yes", "--json").data()
    assert len(first["proposals"]) == 4
    file = home / ".config/recall/config.toml"
    before = file.read_bytes()
    again = recall("roots", "discover", str(top), "--yes", "--json").data()
    assert again["proposals"] == []
    assert {each["path"] for each in again["configured"]} == {
        each["path"] for each in first["proposals"]
    }
    assert file.read_bytes() == before


def test_what_lies_in_a_configured_root_is_not_proposed(top: Path, home: Path) -> None:
    repository(top / "shop", ["docs/a.md"])
    repository(top / "infra", ["docs/a.md", "adr/b.md"])
    write(top / "notes", {"a.md": "a"})
    file = home / ".config/recall/config.toml"
    write(file.parent, {file.name: f'[roots]\nall = {{ path = "{top}", exclude = ["adr/"] }}\n'})
    data = recall("roots", "discover", str(top), "--json").data()
    assert [each["path"] for each in data["configured"]] == [f"{top}/notes", f"{top}/shop"]
    assert [each["name"] for each in data["proposals"]] == ["infra"]  # for what all leaves out
    write(file.parent, {file.name: f'[roots]\nd = "{top}/infra/docs"\nx = "{top}/infra/adr"\n'})
    data = recall("roots", "discover", str(top / "infra"), "--json").data()
    assert data["configured"] == [{"path": f"{top}/infra", "roots": ["d", "x"]}]


# Writing


@pytest.mark.parametrize(
    "text",
    [
        "",
        '# mine\r\n[roots] # here\r\n"my" = "/x" # c\r\n\r\n# hook\r\n[hook]\r\nlog = true\r\n',
        "roots = { a = '/x' }\n",
        "roots.a = '/x'\n[search]\nk = 3",
        "\ufeff[search]\nk = 3\n",
    ],
)
def test_every_other_byte_stays(top: Path, home: Path, text: str) -> None:
    repository(top / "shop", ["docs/a.md"])
    repository(top / "a", ["adr/a.md"])
    file = home / ".config/recall/config.toml"
    if text:
        write(file.parent, {file.name: text.encode()})
    dry = recall("roots", "discover", str(top), "--dry-run", "--group", "work")
    assert (dry.status, dry.stderr) == (0, "")
    if text:
        assert file.read_bytes() == text.encode()
    else:
        assert not file.exists()
    said = recall("roots", "discover", str(top), "--yes", "--group", "work", "--json").data()
    after = file.read_bytes().decode()
    assert len(said["proposals"]) == 2
    # What was there is there, in its order, and the new is one piece between.
    same = next((n for n in range(len(text)) if after[n] != text[n]), len(text))
    assert after.endswith(text[same:])
    old = tomllib.loads(text.removeprefix("\ufeff"))
    new = tomllib.loads(after.removeprefix("\ufeff"))
    wanted = tomllib.loads(dry.stdout)["roots"]
    assert new == {**old, "roots": {**old.get("roots", {}), **wanted}}
    assert all(value["groups"] == ["work"] for value in wanted.values())


def test_what_is_written_searches(top: Path) -> None:
    repository(top / "shop", ["docs/quabvexil.md"])
    repository(top / "infra", ["docs/quabvexil-too.md"])
    recall("roots", "discover", str(top / "shop"), "--yes", "--group", "work")
    recall("roots", "discover", str(top / "infra"), "--yes")
    items = recall("search", "quabvexil", "--group", "work", "--json").data()["items"]
    assert [item["root"] for item in items] == ["shop"]
    assert len(recall("search", "quabvexil", "--json").data()["items"]) == 2


def test_without_a_terminal_nothing_is_written_unasked(top: Path, home: Path) -> None:
    repository(top / "shop", ["docs/a.md"])
    for options in ([], ["--json"], ["--dry-run"], ["--dry-run", "--yes"]):
        assert recall("roots", "discover", str(top), *options).status == 0
    assert not (home / ".config").exists()
    said = recall("roots", "discover", str(top))
    assert said.stdout == (
        f"shop: {top}/shop\n"
        "  repository, 1 note, 12 B: documentation in docs 1\n"
        "1 root to add, with 1 note, 12 B\n"
    )
    assert said.stderr == (
        "warning: nothing is written yet\nhint: --yes writes them all, --dry-run shows how\n"
    )


def test_what_can_not_be_looked_at_has_its_code(top: Path) -> None:
    assert recall("roots", "discover", str(top)).status == 3
    top.mkdir()
    (top / "file").write_text("x")
    error = recall("roots", "discover", str(top / "file"), "--json").error()
    assert error == {
        "code": "not_found",
        "message": "DIR must be a directory, and this is a file",
        "where": str(top / "file"),
        "hint": f"name the directory that holds it: recall roots discover {top}",
    }
    assert recall("roots", "discover", f"{top / 'file'}/", "--json").error() == error
    # No file has that name, and no shell can type it: a caller in Python can.
    status, printed = within("roots", "discover", "--json", "\ud800")
    assert (status, valid_envelope(printed)["error"]["code"]) == (3, "not_found")
    assert recall("roots", "discover").status == 4
    assert recall("roots", "discover", "", "--json").error()["code"] == "invalid_input"
    for group in ("", "~x", "a/b"):
        assert recall("roots", "discover", str(top), "--group", group).status == 4
    assert recall("roots", "discover", str(top), "--depth", "-1").status == 4
    assert recall("roots", "discover", str(top), "--time", "nan").status == 4
    assert (
        recall("roots", "discover", str(top), env={"HOME": "x", "XDG_CONFIG_HOME": ""}).status == 4
    )


def test_a_broken_or_closed_configuration_is_told(
    top: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(top / "shop", ["docs/a.md"])
    file = home / ".config/recall/config.toml"
    write(file.parent, {file.name: "[roots\n"})
    assert recall("roots", "discover", str(top), "--json").error()["code"] == "config_invalid"
    write(file.parent, {file.name: "[roots]\n"})

    def read_only(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    from recall import replace
    from recall.cli import main

    monkeypatch.setattr(replace, "replace", read_only)
    assert main(["roots", "discover", str(top), "--yes"]) == 6
    assert file.read_text() == "[roots]\n"


def test_a_file_that_would_be_too_large_is_not_written(
    top: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(top / "shop", ["docs/a.md"])
    monkeypatch.setattr(configedit, "MAX_CONFIG_BYTES", 20)
    from recall.cli import main

    assert main(["roots", "discover", str(top), "--yes"]) == 4
    assert not (home / ".config/recall/config.toml").exists()


KILL = """
import os, signal, sys
from recall import replace
real, at = {}, int(sys.argv.pop(1))
count = 0

def killing(name):
    call = getattr(os, name)
    def wrapped(*args, **kwargs):
        global count
        count += 1
        if count > at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return wrapped

for name in ("open", "write", "fsync", "replace", "rename", "mkdir", "chmod", "fchmod"):
    setattr(os, name, killing(name))
from recall.cli import main
code = main(sys.argv[1:])
print(count, file=sys.stderr)
sys.exit(code)
"""


def test_killed_at_any_call_the_file_is_the_old_or_the_new_one(top: Path, home: Path) -> None:
    repository(top / "shop", ["docs/a.md"])
    repository(top / "infra", ["docs/a.md"])
    file = home / ".config/recall/config.toml"
    old = b"# mine\n[roots]\n"
    arguments = ["roots", "discover", str(top), "--yes"]

    def run(at: int) -> subprocess.CompletedProcess[bytes]:
        write(file.parent, {file.name: old})
        command = [sys.executable, "-c", KILL, str(at), *arguments]
        return subprocess.run(command, capture_output=True, check=False, timeout=60)

    whole = run(10**6)
    assert whole.returncode == 0
    new, calls = file.read_bytes(), int(whole.stderr.split()[-1])
    assert b"shop" in new
    assert b"infra" in new
    seen = set()
    for at in range(max(0, calls - 12), calls):
        assert run(at).returncode == -signal.SIGKILL
        assert file.read_bytes() in {old, new}
        seen.add(file.read_bytes())
    assert seen == {old, new}
    assert json.loads(recall("roots", "list", "--json").raw)["ok"]


# At a terminal


def answered(answers: str, *arguments: str) -> tuple[int, str]:
    """Run it at a terminal where a person answers; return its status and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "recall", "roots", "discover", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    rest = answers
    try:
        while block := os.read(ours, 65536):
            shown += block
            if shown.endswith(b"[y/n/a/q] ") and rest:
                if rest[0] == "\x03":
                    process.send_signal(signal.SIGINT)
                else:
                    os.write(ours, rest[0].encode() + (b"" if rest[0] == "\x04" else b"\n"))
                rest = rest[1:]
            elif shown.endswith(b"[y/n/a/q] "):
                process.kill()
    except OSError:
        pass  # Linux's way to say that the other end was closed
    finally:
        os.close(ours)
    return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ("yny", {"a", "c"}),
        ("na", {"b", "c"}),
        ("yq", {"a"}),
        ("n?y\x04", {"b"}),
        ("nnn", set()),
    ],
)
def test_a_person_is_asked_about_each(
    top: Path, home: Path, answers: str, expected: set[str]
) -> None:
    for name in "abc":
        repository(top / name, ["docs/a.md"])
    status, shown = answered(answers, str(top))
    assert status == 0, shown
    assert f"a: {top}/a\n  repository, 1 note" in shown
    assert "add it (1 of 3)? [y/n/a/q] " in shown
    assert ("y adds it, n does not" in shown) == ("?" in answers)
    file = home / ".config/recall/config.toml"
    entries = read_config(str(file), os.environ).entries if expected else []
    assert {entry.name for entry in entries} == expected
    assert file.exists() == bool(expected)


def test_at_an_interrupt_nothing_is_written(top: Path, home: Path) -> None:
    for name in "ab":
        repository(top / name, ["docs/a.md"])
    status, _ = answered("y\x03", str(top))
    assert status == 130
    assert not (home / ".config").exists()


INTERRUPTED = """
import os, signal, sys
from index_cache.files import FileSystem
at, listed, real = int(sys.argv.pop(1)), 0, FileSystem.scandir

def interrupting(self, path):
    global listed
    listed += 1
    if listed == at:
        os.kill(os.getpid(), signal.SIGINT)
    return real(self, path)

FileSystem.scandir = interrupting
from recall.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("at", [2, 9, 16])  # in the walk, at its end, where files are counted
@pytest.mark.parametrize("options", [["--yes"], ["--yes", "--json"]])
def test_an_interrupt_in_the_midst_of_it_writes_nothing(
    top: Path, home: Path, at: int, options: list[str]
) -> None:
    for name in "abc":
        repository(top / name, ["docs/a.md"])
    command = [sys.executable, "-c", INTERRUPTED, str(at), "roots", "discover", str(top), *options]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
    assert not (home / ".config").exists()
    assert (home / ".local").exists() is False


def test_json_asks_nothing(top: Path) -> None:
    repository(top / "a", ["docs/a.md"])
    status, shown = answered("", str(top), "--json")
    assert status == 0
    assert "[y/n/a/q]" not in shown


def test_progress_appears_after_a_second(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recall.cli import common, main

    repository(top / "a", ["docs/a.md"])
    monkeypatch.setattr(common, "is_terminal", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    assert main(["roots", "discover", str(top)]) == 0
    assert "looking" not in capsys.readouterr().err
    monkeypatch.setattr(common, "_PATIENCE", -1.0)
    monkeypatch.setattr(common, "_PACE", -1.0)
    assert main(["roots", "discover", str(top)]) == 0
    error = capsys.readouterr().err
    assert "looking: 1 directories" in error or "looking: " in error
    assert "counting: 0 of 1 places" in error
    assert error.rstrip().endswith("--dry-run shows how")


# One root more


def counts(roots: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Refresh; return how many files of each root were opened to be read."""
    opened: dict[str, int] = {}

    class Counting(files.FileSystem):
        def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
            name = next(n for n, p in roots.items() if path.startswith(os.fsencode(p) + b"/"))
            opened[name] = opened.get(name, 0) + 1
            return super().read(path, limit)

    made = config.load("/", os.environ, fallback=False).roots
    clock = time.time_ns
    with Recall(made, cwd="/", fs=Counting()) as found, monkeypatch.context() as patch:
        # Else what was just written is suspect.
        patch.setattr(time, "time_ns", lambda: clock() + 3600 * 10**9)
        reports = found.refresh()
    assert all(report.failure is None for report in reports)
    return opened


def test_one_root_beside_48_others_costs_that_root_only(
    top: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = {f"r{n}": top / f"r{n}" for n in range(48)}
    for path in roots.values():
        repository(path, ["docs/a.md", "docs/b.md"], code=3)
    recall("roots", "discover", str(top), "--yes")
    assert counts(roots, monkeypatch) == dict.fromkeys(roots, 2)
    assert counts(roots, monkeypatch) == {}
    caches = {path: path.stat().st_mtime_ns for path in (home / ".cache/recall").glob("*.db")}
    roots["new"] = repository(top / "new", [f"docs/{n}.md" for n in range(5)], code=6)
    recall("roots", "discover", str(top), "--yes")
    assert counts(roots, monkeypatch) == {"new": 5}
    assert len(caches) == 48
    assert {path: path.stat().st_mtime_ns for path in caches} == caches  # not written either
