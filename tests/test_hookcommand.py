"""Commands that call the hook, as people write and wrap them, and commands that do not."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.hookcommand import is_told, place_of, understood
from recall.shellwords import MAX_LINE, simple_commands, started

if TYPE_CHECKING:
    from pathlib import Path

# Each with the program that it names, None for one that can't be told.
WRAPPED: dict[str, list[str] | None] = {
    'sh -c "recall-hook --host claude"': ["recall-hook"],
    "bash -c 'exec /x/recall-hook'": ["/x/recall-hook"],
    "bash -lc 'recall hook --host claude'": None,
    "bash --login -c 'recall hook'": None,
    "zsh -o pipefail -c 'cat | /x/recall hook'": ["/x/recall", "hook"],
    "sh -c \"sh -c 'recall-hook'\"": ["recall-hook"],
    "sh /x/recall-hook": ["/x/recall-hook"],
    "eval recall hook": ["recall", "hook"],
    "recall-hook;echo": ["recall-hook"],
    "recall-hook&": ["recall-hook"],
    "recall-hook|cat": ["recall-hook"],
    "recall-hook>/dev/null": ["recall-hook"],
    "recall-hook 2>&1 | tee /tmp/log": ["recall-hook"],
    "2>/dev/null recall-hook": ["recall-hook"],
    "</dev/stdin >&2 recall-hook": ["recall-hook"],
    "recall hook || true": ["recall", "hook"],
    "recall hook 2>/dev/null || exit 0": ["recall", "hook"],
    "cd x && recall hook": ["recall", "hook"],
    "cd /x && ./recall-hook": ["./recall-hook"],
    "cd /x\n/y/recall-hook # it's mine": ["/y/recall-hook"],
    "(recall-hook)": ["recall-hook"],
    "{ recall-hook; }": ["recall-hook"],
    "! recall-hook": ["recall-hook"],
    "if [ -x /x/recall-hook ]; then /x/recall-hook; fi": ["/x/recall-hook"],
    "test -x /x/recall-hook && exec /x/recall-hook": ["/x/recall-hook"],
    "command -v recall-hook >/dev/null && recall-hook": ["recall-hook"],
    'out="$(recall-hook --host claude)"; echo "$out"': ["recall-hook"],
    "echo $(recall-hook)": ["recall-hook"],
    "echo `recall-hook`": ["recall-hook"],
    "FOO=1 recall-hook": ["recall-hook"],
    "A=1 B='2 3' /x/recall-hook --host codex": ["/x/recall-hook"],
    "PATH=/x:$PATH recall-hook": None,
    "export PATH=/x; recall-hook": None,
    ". ~/.venv/bin/activate && recall-hook": None,
    "export A=1; /x/recall-hook": ["/x/recall-hook"],
    "env X=1 recall hook": ["recall", "hook"],
    "env -i -u A B=1 recall-hook": ["recall-hook"],
    "/usr/bin/env recall-hook": ["recall-hook"],
    "env -S 'A=1 recall hook'": ["recall", "hook"],
    "timeout 2 recall hook": ["recall", "hook"],
    "timeout -k 1 -s KILL 2s recall-hook": ["recall-hook"],
    "nice -n 10 timeout 2 env X=1 recall hook --host claude": ["recall", "hook"],
    "nohup recall-hook": ["recall-hook"],
    "time -p recall-hook": ["recall-hook"],
    "flock /tmp/lock recall-hook": ["recall-hook"],
    "flock -w 1 /tmp/lock -c 'recall hook'": ["recall", "hook"],
    "sudo -u me recall-hook": ["recall-hook"],
    "uv run recall hook": None,
    "uv run --project /x -q recall-hook --host claude": None,
    "uv --directory /x run -m recall hook": None,
    "uv run /x/bin/recall-hook": ["/x/bin/recall-hook"],
    "uv tool run --from recall recall-hook": None,
    "uvx recall hook": None,
    "pipx run recall hook": None,
    "poetry -C /x run recall hook": None,
    "conda run -n notes recall-hook": None,
    "/usr/bin/python -m recall hook": None,  # in a form of ours
    "/usr/bin/python -m recall hook; true": ["/usr/bin/python", "-m", "recall", "hook"],
    "python3.11 -I -X utf8 -m recall.hook": ["python3.11", "-I", "-X", "utf8", "-m", "recall.hook"],
    "python -Im recall hook": ["python", "-Im", "recall", "hook"],
    "python3 /x/recall-hook": ["python3", "/x/recall-hook"],
    "'/my notes/recall-hook' --host claude | cat": ["/my notes/recall-hook"],
    "~/bin/recall-hook | cat": ["~/bin/recall-hook"],
    "cat <<'EOF'\nx\nEOF\nrecall-hook": ["recall-hook"],
    "cat <<EOF | recall-hook\nx\nEOF": ["recall-hook"],
    "cat <<-E\n E\n\tE\nrecall-hook": ["recall-hook"],
    "cat <<<EOF\nrecall-hook\nEOF": ["recall-hook"],
    "echo '<<EOF'\nrecall-hook\nEOF": ["recall-hook"],
    "x=$((1<<2))\nrecall-hook\n": ["recall-hook"],
    "recall hook <<'EOF' || true\n{}\nEOF": ["recall", "hook"],
}
OTHERS = [
    *("echo recall-hook", "echo ';' recall-hook", "echo 'x; recall-hook'", 'echo "recall-hook"'),
    *("printf '%s' recall hook", "grep recall hook", "grep -r recall-hook .", "cat recall-hook"),
    *("recall hook status", "recall hook install --host claude", "recall hook uninstall"),
    *("recall hook --explain", "recall-hook --explain", "recall hook --help", "recall hook -h"),
    *("recall hooks", "recall status", "recall", "recall search hook", "recall log | grep hook"),
    *("my-recall-hook", "recall-hook.sh", "recall-hook-2", "/x/my-recall-hook --host claude"),
    *("/x/recall-hook/run", "cd /x/recall-hook && ls", "/x/recall-hook/bin/other"),
    *("# recall-hook", "true # recall-hook", "date # recall hook", "ls #; recall-hook"),
    *("sh -c 'echo recall-hook'", "bash -c '# recall-hook'", "bash script recall-hook"),
    *("timeout 2 echo recall-hook", "env X=recall-hook date", "X=recall-hook", "timeout recall"),
    *("command -v recall-hook", "which recall-hook", "test -x /x/recall-hook", "type recall-hook"),
    *("python -m recall", "python -m recall search hook", "python -c 'recall hook'"),
    *("python -m recall_hook", "python x.py recall-hook", "uv run echo recall-hook"),
    *("uv pip install recall", "uv add recall hook", "pip install recall-hook", "uv sync recall"),
    *("recall-hook'", '"recall-hook', "sh -c 'recall-hook", "'", '"', "$("),
    *("cat <<'EOF' >x\nrecall hook\nEOF", "cat <<EOF\nrecall-hook\nEOF\ndate", "cat <<E"),
    *(
        "cat <<-'E F' | cat\n\tx; recall-hook\n\tE F\n",
        "cat <<A <<B\nrecall-hook\nA\nrecall-hook\nB",
    ),
    *("cat <<\\EOF\n'\nrecall-hook\nEOF", 'echo "$(cat <<E\nrecall-hook\nE\n)"'),
    *("ssh host recall-hook", "for x in recall-hook; do date; done", "rm -f recall-hook"),
]


@pytest.mark.parametrize("command", WRAPPED)
def test_a_hook_that_somebody_wraps_is_seen_and_is_theirs(command: str) -> None:
    call = understood(command)
    assert call is not None
    if command == "/usr/bin/python -m recall hook":
        assert call.exact
        return
    assert not call.exact
    assert call.program == (WRAPPED[command] or [])


@pytest.mark.parametrize("command", OTHERS)
def test_what_only_speaks_of_it_is_not_the_hook(command: str) -> None:
    assert understood(command) is None


SHELL = st.text(alphabet="'\"\\$`()<>|&;# \n\t-=x{}!/~", max_size=12)
WORDS = st.sampled_from(
    [
        *("recall-hook", "recall", "hook", "sh", "bash", "-c", "-lc", "env", "timeout", "2", "uv"),
        *("run", "python", "-m", "cd", "eval", "-S", "--", "flock", "$("),
    ]
)


@given(
    st.lists(st.one_of(SHELL, WORDS, st.text(max_size=5)), max_size=25), st.sampled_from(["", " "])
)
def test_no_command_makes_it_raise(parts: list[str], between: str) -> None:
    for command in (between.join(parts), f"recall{between.join(parts)}recall-hook"):
        call = understood(command)
        assert call is None or call.exact in (True, False)
        assert all(each.words for each in started(command))
        assert all(each.strip() for each in simple_commands(command))
        if call is not None and not call.exact:
            assert "recall" in command


@given(st.text(alphabet="abc '\"\\;|&#()<>$\n", max_size=30))
def test_a_quoted_text_is_never_a_command(text: str) -> None:
    assert understood(f"echo {shlex.quote(text + ';recall-hook;')}") is None
    wrapped = understood(f"sh -c {shlex.quote('recall-hook;' + shlex.quote(text))}")
    assert wrapped is not None
    assert wrapped.program == ["recall-hook"]


def test_a_long_command_does_not_take_long() -> None:
    assert understood("env " * (MAX_LINE // 4 - 3) + "recall-hook") is not None
    assert understood("env " * MAX_LINE + "recall-hook") is None
    assert understood("sh -c " * 2000 + "recall-hook") is None
    assert understood("$(" * 8000 + "recall-hook") is not None


# Of these it depends on what is on this machine, or on the program, whether it is run.
_ELSEWHERE = re.compile(
    r"/x|/y|/my|~|uvx?\b|pipx|poetry|conda|sudo|python|ssh|pip|rm|-lc|login|-i |PATH"
    r"|--explain|--help|-h$|status|install"
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    "command", [each for each in (*WRAPPED, *OTHERS) if not _ELSEWHERE.search(each)]
)
def test_a_shell_agrees(tmp_path: Path, command: str) -> None:
    """Bash runs the program just where it is seen."""
    (tmp_path / "x").mkdir()
    ran = tmp_path / "ran"
    for name in ("recall-hook", "recall"):
        program = tmp_path / name
        hook = 'case "$1" in hook) ;; *) exit;; esac\n' if name == "recall" else ""
        program.write_text(f"#!/bin/sh\n{hook}echo >>'{ran}'\n")
        program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={"PATH": path, "HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert ran.exists() == (understood(command) is not None)


def test_a_bare_name_is_looked_for_as_a_shell_does(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "recall-hook"
    program.parent.mkdir()
    environ = {"PATH": f"/no/such:{program.parent}", "HOME": str(tmp_path)}
    names = ["recall-hook", str(program), "~/bin/recall-hook", "$HOME/bin/recall-hook"]
    for name in [*names, "${HOME}/bin/recall-hook"]:
        assert is_told([name], environ)
        assert place_of([name], environ) is None
    program.write_text("")
    assert place_of(names[:1], environ) is None  # it may not be run
    program.chmod(0o755)
    for name in names:
        assert place_of([name], environ) == str(program)
    assert place_of(["recall-hook"], {"PATH": "/no/such"}) is None
    for unknown in ([], ["./recall-hook"], ["$X/recall-hook"], ["venv/bin/recall-hook"]):
        assert not is_told(unknown, environ)
