"""What ``docs/hooks.md`` and the hook's part of other pages show is run, or compared."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall
from docs_support import ROOT, blocks, machine, paste
from hook_support import NOTES, configure, index, settle, write
from schedule_support import Machine

from recall.call import LATE, NO_CACHE, NO_ROOM, UNCONFIGURED
from recall.filling import GATE, GONE, SHOWN
from recall.hook import FAILED, UNREAD
from recall.hookcommand import command_line, understood
from recall.hostfiles import HOST_FILES, UNFIT
from recall.recalling import CARDS, NOBODYS, NOTHING
from recall.views import BUSY, DAMAGED, REFUSED, UNUSABLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = "docs/hooks.md"
STARTED = "docs/getting-started.md"
PARTS = ("In an agent", "What the prompt hook did")
PROGRAM = "/home/me/.recall-venv/bin/recall-hook"
GOLDEN = ROOT / "tests" / "golden" / "hook"
CARD = "1. Rotate the deploy keys\n"


@pytest.fixture
def programs(home: Path) -> Iterator[Path]:
    """A home with notes and a project, and the directory of its programs."""
    write(home / "notes", NOTES)
    (home / "shop" / ".git").mkdir(parents=True)
    yield machine(home)
    settle()


def marked(page: str = PAGE) -> dict[str, str]:
    """Return the blocks of a page that have a marker of their own, by it."""
    return {marker: text for marker, _, text in blocks(page) if not marker.startswith("run")}


def undated(text: str) -> str:
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", "DATE", text)


def test_every_block_is_run_or_compared() -> None:
    """A marker that no test here knows would be a block that nobody looks at."""
    kinds = {"sh": "run", "json": "settings sent answered", "text": "rule line", "toml": "config"}
    for marker, language, _ in [*blocks(PAGE), *blocks(STARTED, *PARTS)]:
        assert marker.partition(":")[0] in kinds[language].split()
    for name in HOST_FILES:
        assert {f"settings: {name}", f"sent: {name}"} <= set(marked())
    assert sum(language == "sh" for _, language, _ in blocks(PAGE)) >= 10


@pytest.mark.parametrize("page", [PAGE, STARTED])
def test_the_commands_do_what_they_say(home: Path, programs: Path, page: str) -> None:
    found = blocks(PAGE) if page == PAGE else [*blocks(STARTED, *PARTS)]
    if page == STARTED:
        configure(home, f'[roots]\nnotes = "{home}/notes"\n')
        index()
    printed: dict[str, str] = {}
    for marker, language, text in found:
        if language == "sh":
            done = paste(text, home / "shop", programs)
            assert (done.returncode, done.stderr) == (0, ""), text
            printed[marker] = printed.get(marker, "") + done.stdout
    if page == STARTED:
        assert "installed: Claude Code: " in printed["run"]
        return
    assert '\n+  "hooks": {\n' in printed["run"] or "+++ " in printed["run"]
    assert "deleted: Claude Code: " in printed["run"]
    assert printed["run"].count(CARD) == 3  # explained twice, and as text
    for name in HOST_FILES:
        assert "installed: " in printed[f"run: {name}"]
        assert CARD in printed[f"run: {name}"]
    assert re.search(r"additionalContext \([1-9]\d* chars\)", printed["run: claude"])


@pytest.mark.parametrize("host", HOST_FILES)
def test_settings_are_what_is_installed(home: Path, host: str) -> None:
    done = recall("hook", "install", "--host", host, "--dry-run", "--json").data()
    added = [line[1:] for line in done["diff"].splitlines() if line.startswith("+")][1:]
    shown = marked()[f"settings: {host}"]
    expected = command_line([PROGRAM], host, HOST_FILES[host].silence)
    found = set(re.findall(r'"command": (".*")', "\n".join(added)))
    (command,) = map(json.loads, found)
    call = understood(command)
    assert call is not None
    assert call.exact
    assert os.path.exists(call.program[0])
    assert shown == "\n".join(added).replace(json.dumps(command), json.dumps(expected)) + "\n"
    assert not (home / f".{host}").exists()


@pytest.mark.parametrize("host", HOST_FILES)
def test_inputs_are_what_hosts_sent(host: str) -> None:
    golden = json.loads((GOLDEN / host / "real-prompt.in").read_bytes())
    assert json.loads(marked()[f"sent: {host}"]) == golden


@pytest.mark.parametrize("host", HOST_FILES)
def test_the_answer_is_what_is_printed(home: Path, programs: Path, host: str) -> None:
    configure(home, f'[roots]\nnotes = "{home}/notes"\n')
    index()
    sent = marked()[f"sent: {host}"]
    done = paste(f"recall-hook <<'EOF'\n{sent}EOF", home, programs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    answer: Any = json.loads(undated(done.stdout.replace(str(home), "/home/me")))
    shown = json.loads(undated(marked()["answered: claude"]))
    shown["hookSpecificOutput"]["hookEventName"] = HOST_FILES[host].events[0]
    assert answer == shown


def test_the_line_at_a_sessions_start(home: Path, programs: Path) -> None:
    said = marked()
    setting = said["config"]
    assert tomllib.loads(setting) == {"hook": {"session_line": True}}
    configure(home, f'{setting}[roots]\nnotes = "{home}/notes"\n')
    index()
    start = GOLDEN / "codex" / "real-start.in"
    done = paste(f"recall-hook < '{start}'", home, programs)
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == said["line"]


def test_what_cant_be_installed_is_told_as_the_page_does() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    for name, (message, hint) in UNFIT.items():
        event = re.search(r"its (\w+) hook", message)
        assert event
        assert f"`{event[1]}`" in page, name
        assert hint.endswith("recall search QUESTION")
        assert "MCP" in hint
    assert "recall search QUESTION" in marked()["rule"]


def test_the_readme_installs_it(home: Path, programs: Path) -> None:
    done = paste(marked("README.md")["install"], home, programs)
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / ".claude" / "settings.json").exists()


def test_after_uninstalling_nothing_is_left(home: Path, programs: Path) -> None:
    """All that the page tells a person to do on the way in, then what it says for the way out."""
    venv = home / ".recall-venv" / "bin"
    venv.mkdir(parents=True)
    for name in ("recall", "recall-hook"):
        (programs / name).rename(venv / name)
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{ "model": "opus", }\n', encoding="utf-8")
    environ = {name: each for name, each in os.environ.items() if not name.startswith("XDG_")}
    schedulers = Machine(home.parent / f"{home.name}-machine")
    schedulers.add("crontab")
    schedulers.crontab = b"0 5 * * * mine"
    environ["PATH"] = f"{schedulers.programs}{os.pathsep}{environ['PATH']}"
    linked = home / ".local" / "bin"
    before = tree(home) - {"/.recall-venv/bin/recall", "/.recall-venv/bin/recall-hook"}
    (link,) = re.findall(r"(?m)^ln -s .*$", blocks(STARTED, "Install")[0][2])
    way_in = f"mkdir -p ~/.local/bin\n{link}\nrecall roots add notes ~/notes\nrecall refresh\n"
    assert paste(way_in, home, linked, environ).returncode == 0
    for _, language, text in blocks(STARTED, *PARTS):
        if language == "sh":
            assert paste(text, home, linked, environ).returncode == 0
    assert paste("recall schedule install --kind cron", home, linked, environ).returncode == 0
    assert tree(home) > before
    (out,) = [text for marker, _, text in blocks(STARTED, "Uninstall") if marker == "uninstall"]
    done = paste(out, home, linked, environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert tree(home) == before
    assert settings.read_text(encoding="utf-8") == '{ "model": "opus", }\n'
    assert schedulers.crontab == b"0 5 * * * mine"


def tree(top: Path) -> set[str]:
    """Return the paths of all files below a directory."""
    return {
        os.path.join(directory, name).removeprefix(str(top))
        for directory, _, names in os.walk(top)
        for name in names
    }


def test_one_place_to_install_in_all_pages() -> None:
    for page in ("README.md", STARTED, PAGE):
        text = (ROOT / page).read_text(encoding="utf-8")
        places = set(re.findall(r"[\w./~-]*venv(?=/bin/recall)", text))
        assert places <= {"~/.recall-venv", "/home/me/.recall-venv"}, page
        assert places


def test_every_reason_in_the_log_is_explained() -> None:
    text = (ROOT / STARTED).read_text(encoding="utf-8")
    table = text.partition("| reason in the log |")[2].partition("\n\n")[0]
    reasons = {CARDS, GATE, NOTHING, SHOWN, NOBODYS, GONE, NO_ROOM, UNCONFIGURED}
    reasons |= {NO_CACHE, BUSY, DAMAGED, UNUSABLE, REFUSED, LATE, FAILED, UNREAD}
    first = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert set(re.findall(r"`(.+?)`", "".join(first))) == reasons


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        STARTED,
        PAGE,
        "docs/configuration.md",
        "docs/cron.md",
        "docs/health.md",
        "docs/remembering.md",
    ],
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        if ":" in name:
            continue
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        if anchor:
            titles = re.findall(r"(?m)^#+ (.+)$", file.read_text(encoding="utf-8"))
            slugs = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in slugs, target


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/getting-started.md",
        "docs/hooks.md",
        "docs/cron.md",
        "docs/health.md",
        "docs/remembering.md",
    ],
)
def test_no_line_that_is_pasted_has_a_comment(page: str) -> None:
    """For an interactive zsh it is none: its words would be arguments, those of rm among them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    assert not [line for block in blocks for line in block.splitlines() if " #" in f" {line}"]
