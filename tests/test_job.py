"""What is written for cron, systemd and launchd, read back by what stands in for each."""

from __future__ import annotations

import os
import plistlib
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import vectors
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import InvalidInput
from recall.scheduling import carried, crontab, job
from recall.scheduling.job import KINDS, RUN, SERVICE, TIMER, Job, timing

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = vectors.load("schedule.json")
DAILY = timing("1d", None)
# What a path may be: no control characters, no lone surrogates but those of bytes.
PATHS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
    min_size=1,
    max_size=20,
) | st.text(st.sampled_from("%$\\'\"` ;#&<>é\udcff"), min_size=1, max_size=12)


def vixie(command: bytes) -> bytes:
    """Return what cron gives to the shell: up to a bare ``%``, and ``%`` for each ``\\%``."""
    out = bytearray()
    escaped = False
    for byte in command:
        if escaped:
            if byte == ord("%"):
                out.pop()
            escaped = False
        elif byte == ord("\\"):
            escaped = True
        elif byte == ord("%"):
            break
        out.append(byte)
    return bytes(out)


def by_shell(command: bytes) -> list[bytes]:
    """Return the words that a shell makes of a command, the variable A first."""
    program = b'f() { printf \'%s\\0\' "$A" "$@"; }; A=; ' + command
    done = subprocess.run(["/bin/sh", "-c", program], capture_output=True, check=True)
    return done.stdout.split(b"\0")[:-1]


def by_systemd(line: str, *, dollars: bool) -> list[str]:
    """Return the words of a line of a unit's file, as systemd.service(5) and .unit(5) say."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', line)
    texts = [
        re.sub(r"\\(.)", r"\1", quoted) if quoted or not bare else bare for quoted, bare in words
    ]
    texts = [re.sub("%%", "%", each) for each in texts]
    return [re.sub(r"\$\$", "$", each) for each in texts] if dollars else texts


def refuse_specifiers(line: str) -> None:
    assert not re.search(r"%(?!%)", line.replace("%%", ""))


@pytest.mark.parametrize("vector", VECTORS["words"], ids=vectors.named)
def test_words_are_quoted_for_each(vector: dict[str, str]) -> None:
    word = vector["word"]
    what = Job(["/x/recall", word], {"NAME": word}, DAILY)
    line = job.cron_line(what).decode()
    assert line.startswith(f"30 12 * * * NAME={vector['cron']} /x/recall {vector['cron']} # ")
    service = job.systemd_units(what)[SERVICE].decode()
    assert f"\nEnvironment={vector['systemd_variable']}\n" in service
    assert f"\nExecStart=/x/recall {vector['systemd']}\n" in service
    assert f"<string>{vector['launchd']}</string>" in job.launchd_plist(what).decode()


@pytest.mark.parametrize("vector", VECTORS["words"], ids=vectors.named)
def test_quoted_words_are_read_as_they_were(vector: dict[str, str]) -> None:
    word = vector["word"]
    data = os.fsencode(f"A={vector['cron']} f x {vector['cron']}")
    for given_to_shell in (vixie(data), data):  # cron's, and one that knows no %
        assert by_shell(given_to_shell) == [word.encode(), b"x", word.encode()]
    refuse_specifiers(vector["systemd"])
    assert by_systemd(vector["systemd"], dollars=True) == [word]
    assert by_systemd(vector["systemd_variable"], dollars=False) == [f"NAME={word}"]


@given(word=PATHS, value=PATHS)
def test_any_path_survives_a_crontab(word: str, value: str) -> None:
    line = job.cron_line(Job([f"/{word}", *RUN], {"A": value}, DAILY))
    assert job.program_in(job.CRON, line) == f"/{word}"
    command = vixie(line.split(b" ", 5)[5])
    assert (
        command
        == os.fsencode(
            f"A={shlex.quote(value) if '%' not in value else _plain(value)} {_plain('/' + word)} "
        )
        + command[command.index(b"schedule run") :]
    )
    (entry,) = crontab.entries(b"x\n" + line + b"\n")
    assert (entry.intact, entry.active, entry.line) == (True, True, line)


def _plain(word: str) -> str:
    return "%".join(shlex.quote(part) if part else "" for part in word.split("%"))


@given(word=PATHS.filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_any_path_survives_files(word: str) -> None:
    words = [f"/{word}", *RUN, "--root", word]
    what = Job(words, {"A": word}, DAILY)
    service = job.systemd_units(what)[SERVICE]
    lines = service.decode().split("\n")
    (start,) = [line.removeprefix("ExecStart=") for line in lines if line.startswith("ExecStart=")]
    (variable,) = [line for line in lines if line.startswith("Environment=")]
    refuse_specifiers(start)
    said = by_systemd(start, dollars=False)
    if said[0] == "/bin/sh":
        assert by_systemd(start, dollars=True) == ["/bin/sh", "-c", 'exec "$0" "$@"', *words]
    else:
        assert [said[0], *by_systemd(start, dollars=True)[1:]] == words
        assert not set("\"'\\") & set(said[0])
    assert by_systemd(variable.removeprefix("Environment="), dollars=False) == [f"A={word}"]
    plist = job.launchd_plist(what)
    fields = plistlib.loads(plist)
    assert fields["ProgramArguments"] == words
    assert fields["EnvironmentVariables"] == {"A": word}
    for kind, text in ((job.SYSTEMD, service), (job.LAUNCHD, plist)):
        assert job.is_intact(text)
        assert job.program_in(kind, text) == f"/{word}"


@pytest.mark.parametrize("vector", VECTORS["timings"], ids=lambda each: str(each["every"]))
def test_times_are_said_alike(vector: dict[str, Any]) -> None:
    when = timing(vector["every"], vector["at"])
    told = {name: vector[name] for name in ("words", "cron", "systemd", "launchd")}
    assert told == {
        "words": when.words,
        "cron": when.cron(),
        "systemd": when.on_calendar(),
        "launchd": when.intervals(),
    }


@pytest.mark.parametrize("vector", VECTORS["lines"], ids=vectors.named)
def test_lines_of_a_crontab(vector: dict[str, Any]) -> None:
    what = Job(vector["command"], vector["variables"], timing(vector["every"], None))
    line = job.cron_line(what, vector["made"])
    assert line.decode() == vector["line"]
    assert job.is_intact(line, last=True)
    for at in range(len(line)):
        other = bytes([*line[:at], line[at] ^ 1, *line[at + 1 :]])
        assert not job.is_intact(other, last=True), at


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("char", ["\n", "\r", "\0", "\x1b", "\x7f", "\uffff"])
def test_control_characters_are_refused(kind: str, char: str) -> None:
    for what in (
        Job([f"/a{char}b", *RUN], {}, DAILY),
        Job(["/recall", *RUN], {"XDG_STATE_HOME": f"/{char}"}, DAILY),
    ):
        with pytest.raises(InvalidInput, match="control character"):
            job.check(what, kind)


def test_bytes_that_are_not_utf8_go_into_a_crontab_alone() -> None:
    what = Job([os.fsdecode(b"/caf\xe9/recall"), *RUN], {}, DAILY)
    job.check(what, job.CRON)
    assert b" '/caf\xe9/recall' schedule run" in job.cron_line(what)
    for kind in (job.SYSTEMD, job.LAUNCHD):
        with pytest.raises(InvalidInput, match="not UTF-8"):
            job.check(what, kind)


def test_a_line_that_some_cron_would_cut_is_refused() -> None:
    with pytest.raises(InvalidInput, match="longer than"):
        job.cron_line(Job(["/recall", *RUN, "--root", "/" + "x" * 1000], {}, DAILY))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
@pytest.mark.parametrize("name", ["a b", "a$HOME", "a%h", "é;#", "o'neil", 'a"b', "a\\b", "@:+!"])
def test_systemd_itself_finds_the_program(tmp_path: Path, name: str) -> None:
    program = tmp_path / name / "recall"
    program.parent.mkdir()
    units = job.systemd_units(Job([str(program), *RUN, "--root", "$A %n"], {"B": "%x"}, DAILY))
    (tmp_path / "units").mkdir()
    for file, data in units.items():
        (tmp_path / "units" / file).write_bytes(data)

    def verified() -> str:
        done = subprocess.run(
            ["systemd-analyze", "verify", "--user", str(tmp_path / "units" / SERVICE)],
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr

    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    first = verified()
    if "Failed to" in first:  # where systemd-analyze itself can't run
        pytest.skip(first)
    assert first == ""
    program.unlink()
    if not set(name) & set("\"'\\"):  # which a shell starts
        assert f"{program} is not executable" in verified()
    when = re.search("OnCalendar=(.*)", units[TIMER].decode())
    assert when
    assert subprocess.run(["systemd-analyze", "calendar", when[1]], check=False).returncode == 0


def test_only_variables_that_matter_are_carried() -> None:
    def of(**environ: str) -> dict[str, str]:
        return carried.variables(environ, "/srv", "/home/me", "/usr/bin/git")

    assert of(HOME="/home/me", LANG="de_DE.UTF-8", EDITOR="vi", RECALL_OFF="1") == {}
    assert of() == {}
    assert of(HOME="relative", XDG_STATE_HOME="~/x", XDG_CACHE_HOME="") == {}
    assert of(HOME="/other") == {"HOME": "/other"}
    assert of(HOME="/home/me", XDG_CONFIG_HOME="/home/me/.config/") == {}
    assert of(HOME="/home/me", XDG_CONFIG_HOME="/data/c") == {"XDG_CONFIG_HOME": "/data/c"}
    assert of(RECALL_ROOTS="n=notes:/abs::~/x:a=~b") == {
        "RECALL_ROOTS": "n=/srv/notes:/abs:~/x:a=~b"
    }
    assert of(LOCUS_PALACE="here", CORTEX_MEMORY_ROOT="/c") == {
        "LOCUS_PALACE": "/srv/here",
        "CORTEX_MEMORY_ROOT": "/c",
    }
    found = carried.variables(
        {"RECALL_ROOTS": "x"}, "/w", "/h", "/opt/b/git", only_directories=True
    )
    assert found == {"PATH": "/opt/b/git:/usr/bin:/bin".replace("/git:", ":")}
