"""What git ignores below a root, asked of the real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from index_cache import gitignore
from index_cache.files import FileSystem, repository
from index_cache.gitignore import ask
from index_cache.model import Root, Rules
from index_cache.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments],
        cwd=directory,
        check=True,
        capture_output=True,
    )


def write(directory: Path, *names: str, text: str = "x\n") -> None:
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Make an empty repository."""
    directory = tmp_path / "repo"
    directory.mkdir()
    git(directory, "init", "--quiet")
    return directory


def documents(directory: Path, *, rules: Rules | None = None) -> tuple[list[str], list[str]]:
    """Return the paths that a scan takes in, and those that it leaves to git."""
    root = Root("r", str(directory), rules)
    found = scan(root, FileSystem(), lambda path: ask(path, dict(os.environb)))
    assert found.notices == []
    assert found.unavailable == []
    ignored = [each.path.decode() for each in found.skipped if each.reason == "ignored by git"]
    return sorted(path.decode() for path in found.entries), sorted(ignored)


@needs_git
def test_F4_nested_files_anchors_and_negations(repo: Path) -> None:
    write(repo, "a.md", "a.tmp.md", "build/b.md", "top.md", "d/top.md", "d/build/c.md")
    write(repo, "d/keep.tmp.md", "d/q/e.md", "d/deep.md", "e/deep.md", "d/.hidden.md")
    write(repo, ".gitignore", text="*.tmp.md\nbuild/\n/top.md\nd/deep.md\n")
    write(repo, "d/.gitignore", text="!keep.tmp.md\n/q/\n")
    assert documents(repo) == (
        ["a.md", "d/.hidden.md", "d/keep.tmp.md", "d/top.md", "e/deep.md"],
        ["a.tmp.md", "build/", "d/build/", "d/deep.md", "d/q/", "top.md"],
    )
    assert documents(repo / "d") == (
        [".hidden.md", "keep.tmp.md", "top.md"],
        ["build/", "deep.md", "q/"],
    )


@needs_git
def test_F4_info_exclude_and_the_persons_own_excludes(repo: Path, home: Path) -> None:
    write(repo, "a.md", "private.md", "mine.md", "d/mine.md")
    write(repo, ".git/info/exclude", text="private.md\n")
    write(home, ".config/git/ignore", text="mine.md\n")
    # Of a directory that holds nothing else git names the directory.
    assert documents(repo) == (["a.md"], ["d/", "mine.md", "private.md"])


@needs_git
def test_F4_what_git_tracks_is_not_ignored(repo: Path) -> None:
    write(repo, "a.md", "b.md")
    write(repo, ".gitignore", text="*.md\n")
    git(repo, "add", "--force", "a.md")
    assert documents(repo) == (["a.md"], ["b.md"])


@needs_git
@pytest.mark.parametrize("rule", ["mem/\n", "/mem\n", "mem\n", "*\n", "me*/\n"])
def test_F4_a_root_that_is_itself_ignored_is_not_filtered(repo: Path, rule: str) -> None:
    write(repo, "mem/a.md", "mem/d/b.md")
    write(repo, ".gitignore", text=rule)
    assert documents(repo)[0] == []
    assert documents(repo / "mem") == (["a.md", "d/b.md"], [])


@needs_git
@pytest.mark.parametrize("root", ["build", "build/x", "build/x/y", "build/x/y/z"])
def test_F4_a_root_at_any_depth_below_an_ignored_directory(repo: Path, root: str) -> None:
    write(repo, "build/x/y/z/n.md", f"{root}/a.md")
    write(repo, ".gitignore", text="build/\n")
    entries, ignored = documents(repo / root)
    assert "a.md" in entries
    assert ignored == []


@needs_git
def test_F4_git_as_a_file_in_a_worktree(repo: Path, tmp_path: Path) -> None:
    write(repo, "a.md", text="a\n")
    write(repo, ".gitignore", text="out/\n")
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "--message", "a")
    tree = tmp_path / "tree"
    git(repo, "worktree", "add", "--quiet", str(tree))
    assert (tree / ".git").is_file()
    write(tree, "out/b.md", "c.md")
    assert documents(tree) == (["a.md", "c.md"], ["out/"])


@needs_git
def test_F4_a_repository_inside_the_root_is_asked_nothing(repo: Path) -> None:
    write(repo, "a.log.md", "n/a.log.md", "n/z.md")
    write(repo, ".gitignore", text="*.log.md\n")
    git(repo / "n", "init", "--quiet")
    write(repo, "n/.gitignore", text="z.md\n")
    assert documents(repo) == (["n/a.log.md", "n/z.md"], ["a.log.md"])


@needs_git
def test_gitignore_switched_off_asks_nothing(repo: Path) -> None:
    write(repo, "a.md")
    write(repo, ".gitignore", text="a.md\n")
    root = Root("r", str(repo), Rules(gitignore=False))

    def never(_: bytes) -> gitignore.Ignored:
        raise AssertionError

    assert list(scan(root, FileSystem(), never).entries) == [b"a.md"]


@needs_git
def test_odd_names_are_those_that_the_scan_sees(repo: Path) -> None:
    names = [b"caf\xe9.md", b"new\nline.md", b'quo"te.md', b" blank .md", b"[a].md", b":(top).md"]
    top = os.fsencode(repo)
    for name in names:
        with open(os.path.join(top, name), "wb"):
            pass
    write(repo, ".gitignore", text="*.md\n")
    found = ask(top, dict(os.environb))
    assert set(names) <= found.paths
    odd = repo / ":(icase)[x]*"
    write(odd, "a.md", "b.txt.md")
    write(repo, ".gitignore", text="b.txt.md\n")
    assert documents(odd) == (["a.md"], ["b.txt.md"])


@needs_git
def test_F4_the_repositorys_configuration_runs_no_program(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    write(tmp_path, "script", text=f"#!/bin/sh\necho ran >> '{ran}'\nexit 0\n")
    script.chmod(0o755)
    write(repo, "a.md", "b.md", "out/c.md")
    write(repo, ".gitignore", text="out/\n")
    write(repo, ".gitattributes", text="* filter=evil diff=evil\n")
    git(repo, "add", ".")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "pager.ls-files",
        "core.editor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "credential.helper",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.external",
        "diff.evil.textconv",
    ):
        git(repo, "config", key, str(script))
    git(repo, "config", "alias.ls-files", f"!{script}")
    git(repo, "config", "core.fsmonitorHookVersion", "1")
    hooks = repo / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout"):
        shutil.copy(script, hooks / hook)
    git(repo, "config", "core.hooksPath", str(hooks))
    ran.unlink(missing_ok=True)  # git config itself may have run what it had just been told
    assert documents(repo) == (["a.md", "b.md"], ["out/"])
    assert not ran.exists()


@needs_git
def test_F4_the_script_would_have_run_without_the_precautions(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    write(tmp_path, "script", text=f"#!/bin/sh\necho ran >> '{ran}'\nexit 0\n")
    (tmp_path / "script").chmod(0o755)
    write(repo, "a.md")
    git(repo, "add", ".")
    git(repo, "config", "core.fsmonitor", str(tmp_path / "script"))
    careless = [each for each in gitignore._COMMAND if each != "core.fsmonitor=false"]
    at = gitignore._COMMAND.index("core.fsmonitor=false")
    monkeypatch.setattr(gitignore, "_COMMAND", [*careless[: at - 1], *careless[at:]])
    ask(os.fsencode(repo), dict(os.environb))
    assert ran.exists()


@needs_git
def test_asking_writes_nothing_to_the_repository(repo: Path) -> None:
    write(repo, "a.md", "out/b.md")
    write(repo, ".gitignore", text="out/\n")
    git(repo, "add", ".")
    os.utime(repo / "a.md", (1, 1))  # the index would like to be refreshed

    def state() -> dict[str, tuple[int, int]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in repo.rglob("*")
            if path.is_file()
        }

    before = state()
    assert documents(repo)[1] == ["out/"]
    assert state() == before


@needs_git
def test_variables_that_point_git_elsewhere_are_taken_away(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "a.md", "b.md")
    write(repo, ".gitignore", text="b.md\n")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert documents(repo) == (["a.md"], ["b.md"])


def test_outside_of_a_repository_nobody_is_asked(tmp_path: Path) -> None:
    assert repository(os.fsencode(tmp_path)) is None
    found = ask(os.fsencode(tmp_path), {b"PATH": b"/nonexistent"})
    assert (found.paths, found.notice) == (frozenset(), None)


def test_F4_without_git_all_is_taken_in_and_it_is_said(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path, "a.md")
    write(tmp_path, ".gitignore", text="a.md\n")
    empty = tmp_path / "bin"
    empty.mkdir()
    root = Root("r", str(tmp_path))
    found = scan(root, FileSystem(), lambda path: ask(path, {b"PATH": os.fsencode(empty)}))
    assert list(found.entries) == [b"a.md"]
    assert found.notices == ["git was not found: its ignore rules were not applied"]


@pytest.mark.parametrize(
    ("script", "notice"),
    [
        ("echo 'fatal: detected dubious ownership' >&2; exit 128", "dubious ownership"),
        ("exit 1", "no reason given"),
        ("kill -9 $$", "no reason given"),
        ("exec sleep 5", "git took over 0.2 s"),
    ],
)
def test_F4_git_failing_is_said_and_filters_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, notice: str
) -> None:
    monkeypatch.setattr(gitignore, "_TIMEOUT", 0.2)
    (tmp_path / ".git").mkdir()
    write(tmp_path, "bin/git", text=f"#!/bin/sh\nprintf 'a.md\\0'\n{script}\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    path = os.fsencode(tmp_path / "bin") + b":" + os.environb[b"PATH"]
    found = ask(os.fsencode(tmp_path), {b"PATH": path})
    assert found.paths == frozenset()
    assert found.notice is not None
    assert notice in found.notice


@pytest.mark.parametrize("entry", [b".", b"", b"bin"])
def test_no_git_of_the_current_directory_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: bytes
) -> None:
    (tmp_path / ".git").mkdir()
    for name in ("git", "bin/git"):
        write(tmp_path, name, text="#!/bin/sh\ntouch ran\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert ask(os.fsencode(tmp_path), {b"PATH": entry}).notice is not None
    assert not (tmp_path / "ran").exists()


@needs_git
def test_git_is_asked_once_a_scan(repo: Path, tmp_path: Path) -> None:
    real = shutil.which("git")
    write(
        tmp_path, "bin/git", text=f"#!/bin/sh\necho x >> '{tmp_path}/calls'\nexec {real} \"$@\"\n"
    )
    (tmp_path / "bin" / "git").chmod(0o755)
    write(repo, *(f"{d}/{n}.md" for d in "abc" for n in range(5)), "out/x.md")
    write(repo, ".gitignore", text="out/\n1.md\n")
    path = os.fsencode(tmp_path / "bin") + b":" + os.environb[b"PATH"]
    root = Root("r", str(repo))
    found = scan(root, FileSystem(), lambda top: ask(top, {**os.environb, b"PATH": path}))
    assert len(found.entries) == 12
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "x\n"
