"""Every command under ``env -i``: an answer or a clear error, and nothing made in odd places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_support import Result, valid_envelope
from schedule_support import tree

from recall.cli import COMMANDS, SUBCOMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# A login as the user database would have it, for a process without any variable; none for "".
# Where the package is has to be said as well.
PROGRAM = """
import os, pwd, sys
sys.path[:0] = [{root!r}]
home = {home!r}
home = None if home is None else os.fsdecode(home)

def found(*_):
    if home is None:
        raise KeyError("no such user")
    return pwd.struct_passwd(("me", "x", os.getuid(), os.getgid(), "", home, "/bin/sh"))

pwd.getpwuid = pwd.getpwnam = found
sys.argv[0] = "recall"
from recall.cli import main
sys.exit(main(sys.argv[1:]))
"""
ROOT = str(Path(__file__).parent.parent)
RECORD = '{"type": "memory", "title": "Kestrel", "text": "It hovers."}'
# Harmless arguments of each; what would call a scheduler of this machine only says what it would.
ARGUMENTS: dict[str, list[list[str]]] = {
    "search": [["kestrel"], ["kestrel", "--root", "./notes"]],
    "timeline": [["--anchor", "2026-01-01"], ["--anchor", "x", "--root", "./notes"]],
    "get": [["x"], ["x", "--root", "./notes"]],
    "export": [["x", "--root", "./notes"], ["x", "--out", "/dev/null/x"]],
    "health": [[], ["--deep", "--root", "./notes"]],
    "remember": [
        ["-"],
        ["{}", "--adapter", "codex", "--allow-write", "--root", "./notes"],
        [RECORD, "--adapter", "codex", "--allow-write"],
    ],
    "propose": [["-", "--root", "./notes"], [RECORD, "--adapter", "claude", "--allow-write"]],
    "proposals list": [[], ["--root", "./notes"]],
    "proposals show": [["x"], ["x", "--root", "./notes"]],
    "proposals accept": [["x", "--root", "./notes"]],
    "proposals reject": [["x", "--root", "./notes", "--reason", "no"]],
    "audit": [[], ["--root", "./notes"]],
    "bench init": [[], ["--root", "./notes"]],
    "bench check": [["--labels", "-", "--root", "./notes"], ["--labels", "no.jsonl"]],
    "refresh": [[], ["--root", "./notes"], ["--prune"]],
    "rebuild": [[], ["--check", "--root", "./notes"]],
    "status": [[], ["--skipped"], ["--root", "./notes"]],
    "hook": [["--host", "text"], ["--explain", "--host", "text"], []],
    "hook install": [["--host", "claude", "--dry-run"], ["--host", "gemini"]],
    "hook uninstall": [["--host", "claude"]],
    "hook status": [[]],
    "log": [[], ["--summary"]],
    "pause": [[], ["1h"]],
    "resume": [[]],
    "roots list": [[]],
    "roots add": [["mine", "./notes"], ["home", "~"]],
    "roots remove": [["mine"]],
    "roots adopt": [["--dry-run"], []],
    "roots discover": [["./notes", "--dry-run"], ["."], ["./notes", "--yes"]],
    "cache list": [[]],
    "cache prune": [[], ["--all"]],
    "trust": [[], ["--revoke"]],
    "schedule print": [["--kind", "cron"], ["--kind", "systemd"], ["--kind", "launchd"]],
    "schedule install": [["--dry-run", "--kind", "systemd"], ["--dry-run", "--kind", "launchd"]],
    "schedule remove": [["--dry-run", "--kind", "systemd"], ["--dry-run", "--kind", "launchd"]],
    "schedule status": [[]],
    "schedule run": [[], ["--quiet", "--root", "./notes"]],
    "completion": [["bash"], ["zsh"], ["fish"]],
}
EVERY = [
    *(name for name in COMMANDS if name not in SUBCOMMANDS or name == "hook"),
    *(f"{name} {sub}" for name, subs in SUBCOMMANDS.items() for sub in subs),
]
WRITERS = {
    *("refresh", "pause", "roots add", "roots discover", "schedule run", "hook install"),
    *("remember", "propose"),
}
# What would appear in "/" if a path without its home were taken.
ODD = {".cache", ".config", ".local", ".gemini", ".claude", "recall", "schedule", "~"}
# Variables that are as bad as none, or worse.
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "env -i": {},
    "LANG=C": {"LANG": "C", "LC_ALL": "C"},
    "no such locale": {"LC_ALL": "xx_YY.nonsense", "PATH": ""},
    "relative": {"HOME": "here", "XDG_CACHE_HOME": "c", "XDG_STATE_HOME": "./s", "PATH": ".:bin"},
    "tilde": {"HOME": "~", "XDG_CONFIG_HOME": "~/c", "XDG_CACHE_HOME": "~", "XDG_STATE_HOME": "~x"},
    "empty": dict.fromkeys(("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LANG"), ""),
    "nowhere": {"HOME": "/dev/null/home"},
    "a file": {"HOME": "/dev/null"},
}


def run(words: list[str], home: Path | None, cwd: Path, environ: Mapping[str, str]) -> Result:
    """Run a command where the user database knows ``home``, or nobody."""
    program = PROGRAM.format(root=ROOT, home=None if home is None else os.fsencode(home))
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words],
        cwd=cwd,
        env=dict(environ),
        input=b"where is the kestrel feeder?",
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def places(*tops: Path) -> set[str]:
    """Return all that is below some directories, and what of ours is at the top of the machine."""
    found = {str(path) for top in tops for path in top.rglob("*")}
    return found | ODD.intersection(os.listdir("/"))


def is_told(done: Result) -> None:
    """Fail unless a command answered, or failed with one clear error."""
    assert "Traceback" not in done.stderr, done.stderr
    assert "a fault in recall itself" not in done.stderr + done.stdout
    assert done.status in (0, 2, 3, 4, 5, 6), done.stderr
    if done.status:
        assert done.stderr.count("error: ") == 1, done.stderr


def test_no_command_is_forgotten() -> None:
    assert set(ARGUMENTS) == set(EVERY)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with notes whose names and texts are not ASCII."""
    notes = tmp_path / "here" / "notes"
    notes.mkdir(parents=True)
    (notes / "größe.md").write_text("# Größe des Kestrel 🎉\n\nEin ノート.\n", encoding="utf-8")
    return tmp_path / "here"


@pytest.mark.parametrize("name", EVERY)
def test_C5_every_command_in_a_bare_environment(
    name: str, here: Path, tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    """With a home that the user database knows, which counts only where HOME is not set.

    Of the environments each command meets the first and one other, those that write meet all of
    them, and under stress all do.
    """
    others = list(ENVIRONMENTS)[1:]
    first = EVERY.index(name) % len(others)
    count = len(others) if name in WRITERS else min(len(others), long_count(10))
    for environment in ["env -i", *(others + others)[first : first + count]]:
        home = tmp_path / environment.replace(" ", "-")
        home.mkdir()
        environ = ENVIRONMENTS[environment]
        before = places(here)
        for words in ARGUMENTS[name]:
            is_told(run([*name.split(), *words], home, here, environ))
        assert places(here) == before, environment
        made = {path.name for path in home.iterdir()}
        counts = "HOME" not in environ
        assert made <= ({".cache", ".config", ".local", ".gemini"} if counts else set())


@pytest.mark.parametrize("name", EVERY)
def test_C5_every_command_without_any_home(name: str, here: Path, tmp_path: Path) -> None:
    """As in a container that runs under a number that nobody has."""
    before = places(here, tmp_path)
    for words in ARGUMENTS[name]:
        done = run([*name.split(), *words], None, here, {})
        is_told(done)
        if name not in ("hook", "completion"):
            answer = run([*name.split(), *words, "--json"], None, here, {})
            assert answer.stderr == ""
            envelope = valid_envelope(answer.raw)
            assert envelope["ok"] is (answer.status == 0)
            assert answer.status == done.status
    assert places(here, tmp_path) == before


def test_C5_what_means_something_works_without_any_variable(here: Path, tmp_path: Path) -> None:
    home = tmp_path / "login"
    home.mkdir()
    assert run(["roots", "add", "mine", "./notes"], home, here, {}).status == 0
    for words in (["refresh"], ["rebuild", "--check"], ["schedule", "run"], ["status"]):
        done = run(words, home, here, {})
        assert (done.status, done.stderr) == (0, ""), words
    found = json.loads(run(["search", "kestrel", "--json"], home, here, {}).raw)
    assert [card["title"] for card in found["data"]["items"]] == ["Größe des Kestrel 🎉"]
    # Without any home it still answers, from memory.
    done = run(["search", "kestrel", "--root", "./notes"], None, here, {})
    assert done.status == 0
    assert "Kestrel" in done.stdout
    assert {name.partition("/")[0] for name in tree(home)} == {".cache", ".config", ".local"}


@pytest.mark.parametrize("name", EVERY)
def test_C5_a_c_locale_costs_no_command_its_answer(name: str, here: Path, tmp_path: Path) -> None:
    """Python may take ASCII for the streams; what can't be shown is shown as something else."""
    home = tmp_path / "größe"
    home.mkdir()
    environ = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    run(["roots", "add", "größe", "./notes"], home, here, environ)
    for words in ARGUMENTS[name]:
        is_told(run([*name.split(), *words], home, here, environ))
