"""Completion as shells ask for it, in real shells, and with all that can be wrong around it."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_support import recall

from recall import caches
from recall.cli import COMMANDS
from recall.cli.shells import SHELLS
from recall.config import load

NOTES = {
    "a.md": "---\ntype: Decision record\n---\nOne.\n",
    "b.md": "---\ntype: Décision\n---\nTwo.\n",
    "c.md": "---\ntype: Journal\n---\nThree.\n",
    "d.md": "---\ntype: decision $(touch owned)\n---\nFour.\n",
    "e.md": "# Without a type\n",
}


class Place:
    """Roots with types and odd names, and a directory to stand in."""

    def __init__(self, base: Path, home: Path) -> None:
        self.base = base
        self.home = home
        self.here = base / "here"
        for name in ("here/a directory", "notes", "other"):
            (base / name).mkdir(parents=True)
        for name, text in NOTES.items():
            (base / "notes" / name).write_text(text, encoding="utf-8")
        (base / "other" / "x.md").write_text("---\ntype: Runbook\n---\nFive.\n")
        self.config = home / ".config" / "recall" / "config.toml"
        self.config.parent.mkdir(parents=True)
        self.write(f'"my notes" = "{base}/notes"\nother = "{base}/other"\ngone = "{base}/gone"\n')

    def write(self, roots: str) -> None:
        self.config.write_text(f"[roots]\n{roots}", encoding="utf-8")

    def ask(self, *words: str, of: str = "bash", **environ: str) -> list[str]:
        """Return what a shell is told about the last of the words."""
        last = shlex.quote(words[-1]) if words[-1] else ""
        if of == "fish":  # which takes the quotes off the words before
            sent, at = ["recall", *words[:-1]], last
        else:
            sent, at = ["recall", *map(shlex.quote, words[:-1]), last], str(len(words))
        done = recall(
            cwd=self.here,
            env={
                "_RECALL_COMPLETE": f"{of}_complete",
                "COMP_WORDS": "\n".join(sent),
                "COMP_CWORD": at,
                **environ,
            },
        )
        assert (done.status, done.stderr) == (0, "")
        return list(filter(None, done.stdout.splitlines()))

    def plain(self, *words: str) -> list[str]:
        return [
            each.removeprefix("plain,").replace("\\ ", " ")
            for each in self.ask(*words)
            if each.startswith("plain,")
        ]


@pytest.fixture
def place(tmp_path: Path, home: Path) -> Place:
    return Place(tmp_path.resolve(), home)


def files(place: Place) -> set[str]:
    return {str(path) for path in (*place.base.rglob("*"), *place.home.rglob("*"))}


def test_commands_options_and_fixed_words(place: Place) -> None:
    assert place.plain("") == list(COMMANDS)
    assert place.plain("ro") == ["roots"]
    assert place.plain("--v") == ["--version"]
    assert place.plain("roots", "") == ["add", "adopt", "discover", "list", "remove"]
    assert place.plain("search", "--ex") == ["--expand", "--explain"]
    assert place.plain("search", "--include", "") == ["journal", "proposal"]
    assert place.plain("completion", "") == list(SHELLS)
    assert place.plain("hook", "install", "--host", "c") == ["claude", "codex"]
    assert place.plain("hook", "--host", "te") == ["text"]
    assert place.plain("search", "any", "") == []
    assert place.ask("trust", "x") == ["file,"]
    assert place.ask("roots", "add", "name", "./") == ["dir,"]
    help_of = place.ask("ro", of="zsh")
    assert help_of == ["plain", "roots", COMMANDS["roots"]]
    assert place.ask("ro", of="fish") == [f"plain,roots\t{COMMANDS['roots']}"]


def test_sources_and_sessions_of_records(place: Place) -> None:
    block = "---\nsource: the review\nsession: s-7\n---\nOne.\n"
    (place.base / "other" / "y.md").write_text(block, encoding="utf-8")
    assert recall("refresh", "--root", str(place.base / "other"), cwd=place.here).status == 0
    place.write(f'other = "{place.base}/other"\n')
    for command in ("search", "timeline"):
        assert place.plain(command, "--source", "") == ["the review"]
        assert place.plain(command, "--session", "S") == ["s-7"]
        assert place.plain(command, "--type", "r") == ["Runbook"]
    assert place.plain("timeline", "--root", "") == ["other"]
    assert place.ask("export", "a", "--out", "") == ["file,"]


@pytest.mark.parametrize("command", ["search", "refresh", "rebuild", "status"])
def test_roots_by_name_and_else_directories(place: Place, command: str) -> None:
    assert place.ask(command, "--root", "") == [
        *("plain,gone", "plain,my\\ notes", "plain,other", "dir,")
    ]
    assert place.ask(command, "--root", "o") == ["plain,other", "dir,"]
    assert place.ask(command, "--root", "./") == ["dir,"]
    assert place.ask(command, "--root", "zz") == ["dir,"]
    assert place.plain(command, "--root", "other", "--root", "MY") == ["my notes"]
    split = {"COMP_LINE": f"recall {command}  --root=o", "COMP_TEXT": "o"}
    assert place.ask(command, "--root", "=", "o", **split) == ["plain,other", "dir,"]
    for shell in ("zsh", "fish"):
        whole = place.ask(command, "--root=o", of=shell)
        assert whole == {
            "zsh": ["plain", "other", "_", "dir", "_"],  # the empty line between is left out here
            "fish": ["plain,--root=other", "dir,"],
        }.get(shell)


def test_in_another_case_only_if_none_is_spelled_so(place: Place) -> None:
    names = ("Alpha", "alpine", "Beta", "bEta2", "note")
    place.write("".join(f'{name} = "{place.base}/{name}"\n' for name in names))
    assert place.plain("search", "--root", "al") == ["alpine"]
    assert place.plain("search", "--root", "AL") == ["Alpha", "alpine"]
    assert place.plain("search", "--root", "NO") == ["note"]
    assert place.plain("roots", "remove", "b") == ["bEta2"]
    # bash would take "beta" away but for its first letter, so there is something else in the list.
    place.write(f'Beta = "{place.base}/1"\nBETA2 = "{place.base}/2"\n')
    assert place.ask("search", "--root", "beta") == ["plain,BETA2", "plain,Beta", "plain, ", "dir,"]
    assert place.ask("search", "--root", "B")[:2] == ["plain,BETA2", "plain,Beta"]


def test_a_root_to_remove_is_one_of_the_persons_own(place: Place) -> None:
    (place.here / ".recall.toml").write_text('[roots]\nproject = "."\n')
    assert "project" in place.plain("search", "--root", "")
    assert place.plain("roots", "remove", "") == ["gone", "my notes", "other"]


def test_types_are_those_that_the_caches_know(place: Place) -> None:
    before = files(place)
    assert place.plain("search", "--type", "") == []
    assert files(place) == before  # and none is built
    assert recall("refresh", cwd=place.here).status == 6  # for the one that is gone
    assert place.plain("search", "--type", "") == [
        *("Decision record", "Décision", "Journal", "Runbook")
    ]
    assert place.plain("search", "--type", "de") == ["Decision record"]
    assert place.plain("search", "--root", "other", "--type", "") == ["Runbook"]
    assert place.plain("search", "--root", "../other", "--type", "r") == ["Runbook"]
    assert place.plain("search", "--root", "nothing", "--type", "") == []


@pytest.mark.parametrize(
    "name", ["$(id)", "`id`", "a;b", "a|b", "a*", "[a]", "a'b", "a,b", "#a", "a:b", "a&b", "a\\b"]
)
def test_S9_nothing_that_a_shell_would_obey_is_offered(place: Place, name: str) -> None:
    place.write(f"{_toml(name)} = '.'\nfine = '/'\n")
    assert [root.name for root in load("/", {"HOME": str(place.home)}, fallback=False).roots] == [
        *(name, "fine")
    ]
    for shell in SHELLS:
        told = "\n".join(place.ask("search", "--root", "", of=shell))
        assert "fine" in told
        assert name not in told
    assert place.plain("roots", "remove", "") == ["fine"]


def _toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\") + '"'


@pytest.mark.parametrize("broken", ["[roots\n", "[roots]\na = 3\n", "\xff", '[roots]\n"" = "."\n'])
def test_a_broken_configuration_is_silence(place: Place, broken: str) -> None:
    place.config.write_text(broken, encoding="latin-1")
    assert place.ask("search", "--root", "") == ["dir,"]
    assert place.plain("search", "--type", "") == []
    assert place.plain("roots", "remove", "") == []
    assert place.plain("sea") == ["search"]


def test_a_damaged_cache_is_silence_and_stays(place: Place) -> None:
    recall("refresh", cwd=place.here)
    directory = place.home / ".cache" / "recall"
    for path in directory.glob("notes-*.db"):
        path.write_bytes(path.read_bytes()[:5000] + b"x" * 3192)
    kept = {path: path.read_bytes() for path in directory.glob("*.db")}
    assert place.plain("search", "--type", "") == ["Runbook"]
    assert {path: path.read_bytes() for path in directory.glob("*.db")} == kept


@pytest.mark.parametrize(
    "environ",
    [
        {"_RECALL_COMPLETE": "bash_complete", "COMP_WORDS": "recall search"},
        {"_RECALL_COMPLETE": "bash_complete", "COMP_WORDS": "", "COMP_CWORD": "x"},
        {"_RECALL_COMPLETE": "bash_complete", "COMP_CWORD": "1"},
        {"_RECALL_COMPLETE": "tcsh_complete", "COMP_WORDS": "recall ", "COMP_CWORD": "1"},
        {"_RECALL_COMPLETE": "", "COMP_WORDS": "recall ", "COMP_CWORD": "1"},
        {"_RECALL_COMPLETE": "fish_complete", "COMP_WORDS": "'", "COMP_CWORD": '"'},
        {"_RECALL_COMPLETE": "zsh_complete", "COMP_WORDS": "recall \udcff '", "COMP_CWORD": "9"},
        {"_RECALL_COMPLETE": "zsh_complete", "COMP_WORDS": "recall x y z", "COMP_CWORD": "3"},
        {"_RECALL_COMPLETE": "bash_complete", "COMP_WORDS": "recall\nhook\n-\n", "COMP_CWORD": "3"},
    ],
)
@pytest.mark.parametrize("debug", ["", "1"])
def test_odd_questions_are_silence(environ: dict[str, str], debug: str) -> None:
    done = recall(env={**environ, "RECALL_DEBUG": debug})
    assert done.stderr == ""
    assert done.status in {0, 1}


def test_without_home_or_directory_there_is_silence(place: Place, tmp_path: Path) -> None:
    nowhere = {"HOME": "x", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "XDG_STATE_HOME": ""}
    for words in (("--type", ""), ("--root", "")):
        assert [each for each in place.ask("search", *words, **nowhere) if each != "dir,"] == []
    gone = tmp_path / "leave"
    gone.mkdir()
    script = f'rmdir "{gone}" && exec {sys.executable} -P -m recall'
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=gone,
        env={
            **os.environ,
            "_RECALL_COMPLETE": "bash_complete",
            "COMP_WORDS": "recall\nsearch\n--type\n",
            "COMP_CWORD": "3",
        },
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == b""


def test_types_take_no_longer_than_they_may(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    recall("refresh", cwd=place.here)
    settings = load("/", {"HOME": str(place.home)}, fallback=False, demand=False)
    directory = str(place.home / ".cache" / "recall")
    assert len(caches.different(directory, settings.roots, 60, "type")) == 6
    monkeypatch.setattr(caches, "_STEPS", 1)
    assert caches.different(directory, settings.roots, -1, "type") == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_what_the_program_answers_with(shell: str) -> None:
    done = recall("completion", shell)
    assert (done.status, done.stderr) == (0, "")
    data = recall("completion", shell, "--json").data()
    assert (data["shell"], data["script"]) == (shell, done.stdout)
    assert done.stdout == recall(env={"_RECALL_COMPLETE": f"{shell}_source"}).stdout


def test_without_a_shell_the_choices_are_said_in_one_line() -> None:
    done = recall("completion")
    assert (done.status, done.stdout) == (4, "")
    assert done.stderr.startswith(
        "error: Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish\nhint: "
    )


# Real shells


@pytest.fixture
def program(place: Place) -> str:
    """Put ``recall`` on a PATH, return it; what it was called with is written to ``called``."""
    directory = place.base / "bin"
    directory.mkdir()
    path = directory / "recall"
    path.write_text(
        "#!/bin/sh\n"
        f"called={shlex.quote(str(place.base))}/called\n"
        '[ -n "$_RECALL_COMPLETE" ] || printf "%s\\n" "$@" > "$called"\n'
        f'exec {shlex.quote(sys.executable)} -m recall "$@"\n'
    )
    path.chmod(0o755)
    recall("refresh", cwd=place.here)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
OWN_TERMINAL = (  # without it fish does not start
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
LINE = {
    "bash": 'eval "$(recall completion bash 2>/dev/null)"',
    "zsh": 'eval "$(recall completion zsh 2>/dev/null)"',
    "fish": "command -q recall; and recall completion fish | source",
}
SETUP = {
    "bash": f'bind "set bell-style none"; {LINE["bash"]}',
    "zsh": f"autoload -U compinit; compinit -u -D; {LINE['zsh']}",
    "fish": LINE["fish"],
}


def a_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


LOOK_AGAIN = 0.005  # s


def is_done(place: Place, mark: str, shown: bytes) -> bool:
    if mark.startswith("~"):
        return mark[1:].encode() in shown
    file = place.base / mark
    return file.exists() and (mark != "called" or file.read_text().endswith("\n"))


def typed(shell: str, lines: dict[str, str], place: Place, path: str, setup: str = "") -> str:
    """Type into a shell on a terminal; return what stood there from the first line on.

    ``lines`` are what to type, each with the name of the file that appears when it is done, or a
    ``~`` and what is to be seen then. What ``recall`` was called with is in ``called``.
    """
    called = place.base / "called"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", OWN_TERMINAL, *START[shell]],
        cwd=place.here,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PATH": path, "TERM": "dumb" if shell == "fish" else "xterm"},
        start_new_session=True,
    )
    os.close(theirs)
    os.set_blocking(ours, False)
    shown = b""
    try:
        for mark, line in {"ready": f"{setup or SETUP[shell]}; touch ../ready\n", **lines}.items():
            called.unlink(missing_ok=True)  # what came before it wrote
            os.write(ours, line.encode())
            end = time.monotonic() + 30
            while not is_done(place, mark, shown):
                # A file may appear after all that is shown: looked for in any case now and then.
                if select.select([ours], [], [], LOOK_AGAIN)[0]:
                    shown += os.read(ours, 65536)
                assert time.monotonic() < end, f"{shell} took too long: {shown!r}"
                assert process.poll() is None
            with contextlib.suppress(OSError):  # what was written before it was done
                while True:
                    shown += os.read(ours, 65536)
            if mark == "ready" and not setup:
                shown = b""
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return shown.decode(errors="replace")


ANY_SHELL = pytest.mark.parametrize("shell", list(START))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("recall sear\t--root my\tx\n", ["search", "--root", "my notes", "x"]),
        ("recall search --root MY\tx\n", ["search", "--root", "my notes", "x"]),
        ("recall search --root=my\tx\n", ["search", "--root=my notes", "x"]),
        ("recall search --root=MY\\ \tx\n", ["search", "--root=my notes", "x"]),
        ('recall search --root="my n\tx\n', ["search", "--root=my notes", "x"]),
        ("recall search --root=./a\t\n", ["search", "--root=./a directory"]),
        ("recall search --root at@\tx\n", ["search", "--root", "at@x y", "x"]),
        ("recall search $(true 1) --root o\tx\n", ["search", "--root", "other", "x"]),
        ("recall search 'a b' it\\'s --root o\t\n", ["search", "a b", "it's", "--root", "other"]),
        ("recall search --type Decision\\ \tx\n", ["search", "--type", "Decision record", "x"]),
        ("recall hook install --scope=pr\tx\n", ["hook", "install", "--scope=project", "x"]),
        ("recall roots remove o\t--json\n", ["roots", "remove", "other", "--json"]),
        ("recall search x --root ./a\t\n", ["search", "x", "--root", "./a directory"]),
    ],
)
@ANY_SHELL
def test_a_key_completes_in_a_real_shell(
    shell: str, line: str, expected: list[str], place: Place, program: str
) -> None:
    a_shell(shell)
    with place.config.open("a", encoding="utf-8") as file:
        file.write(f'"at@x y" = "{place.base}/at"\n')
    typed(shell, {"called": line}, place, program)
    # Of a directory zsh takes its own slash away again.
    called = (place.base / "called").read_text().splitlines()
    assert [each.removesuffix("/") for each in called] == expected
    assert not (place.here / "owned").exists()


def test_zsh_takes_it_as_a_file_of_its_fpath(place: Place, program: str) -> None:
    a_shell("zsh")
    functions = place.base / "functions"
    functions.mkdir()
    (functions / "_recall").write_text(recall("completion", "zsh").stdout)
    setup = f"fpath=({shlex.quote(str(functions))} $fpath); autoload -U compinit; compinit -u -D"
    line = "recall search --root=MY\t\n"
    typed("zsh", {"called": line}, place, program, setup=setup)
    assert (place.base / "called").read_text().splitlines() == ["search", "--root=my notes"]
    for file in ("ready", "called"):
        (place.base / file).unlink()
    # A second time, when it is no longer being loaded.
    twice = {"first": f"{line.strip()}\t\x15touch ../first\n", "called": line}
    typed("zsh", twice, place, program, setup=setup)
    assert (place.base / "called").read_text().splitlines() == ["search", "--root=my notes"]


@ANY_SHELL
def test_no_letter_is_lost_where_names_differ_in_case(
    shell: str, place: Place, program: str
) -> None:
    a_shell(shell)
    place.write(f'Up-1 = "{place.base}/one"\nUP-2 = "{place.base}/two"\n')
    typed(shell, {"called": "recall search --root up\t\n"}, place, program)
    assert (place.base / "called").read_text().splitlines()[-1].lower().startswith("up")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_at_an_empty_word_names_and_directories_are_shown(
    shell: str, place: Place, program: str
) -> None:
    a_shell(shell)
    keys = "\t\t" if shell == "bash" else "\t"
    # zsh's directories are shown below the names; bash's follow where no name fits.
    last = "a\\ directory" if shell == "zsh" else "other"
    shown = typed(shell, {f"~{last}": f"recall search --root {keys}"}, place, program)
    assert "gone" in shown
    assert "other" in shown


@ANY_SHELL
def test_without_the_program_there_is_silence(shell: str, place: Place, program: str) -> None:
    """At a key, and at the start of a shell with the line that the help text gives."""
    a_shell(shell)
    with_it = Path(program.partition(os.pathsep)[0], "recall")
    elsewhere = [each for each in program.split(os.pathsep) if each != str(with_it.parent)]
    path = os.pathsep.join(
        [
            str(with_it.parent),
            *(each for each in elsewhere if not Path(each, "recall").exists()),
        ]
    )
    line = f"rm {shlex.quote(str(with_it))}; touch ../removed\n"
    keys = "recall search --root \t\x15\x15touch ../pressed\n"
    shown = typed(shell, {"removed": line, "pressed": keys}, place, path)
    silent(shown)
    os.unlink(place.base / "ready")
    os.unlink(place.base / "pressed")
    assert not with_it.exists()
    shown = typed(shell, {"pressed": keys}, place, path, setup=SETUP[shell])
    silent(shown)


def silent(shown: str) -> None:
    for complaint in ("not found", "No such", "nknown", "rror"):
        assert complaint not in shown


def test_the_help_text_and_the_documentation_have_the_lines_that_are_tested() -> None:
    told = " ".join(recall("completion", "--help").stdout.split())
    docs = Path(__file__).parent.parent / "docs" / "getting-started.md"
    for shell in SHELLS:
        assert LINE[shell] in told
        assert LINE[shell].replace("|", "\\|") in docs.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("recall sea", {"search"}),
        ("recall ro", {"roots"}),
        ("recall search --root m", {"my notes"}),
        ("recall search --root ", {"gone", "my notes", "other", "a directory/"}),
        (
            "recall search --root=",
            {f"--root={n}" for n in ("gone", "my notes", "other", "a directory/")},
        ),
        ("recall search --root=./a\\ d", {"--root=./a directory/"}),
        ("recall search --root ./", {"./a directory/"}),
        ("recall search --type ", {"Decision record", "Décision", "Journal", "Runbook"}),
        ("recall roots remove o", {"other"}),
    ],
)
def test_fish_is_offered_the_same(
    line: str, expected: set[str], place: Place, program: str
) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{SETUP['fish']}; complete -C {shlex.quote(line)}"],
        cwd=place.here,
        env={**os.environ, "PATH": program},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    if expected == {"roots"}:  # a comma is no end of a description
        assert done.stdout == f"roots\t{COMMANDS['roots']}\n"
    assert {each.partition("\t")[0] for each in done.stdout.splitlines()} == expected
