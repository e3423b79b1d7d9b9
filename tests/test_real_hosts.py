"""The hook in the programs that it is for: what their models are sent, and what they send us.

Only in ``.ci/stress``, since three programs of some 750 MB are installed. ``RECALL_HOSTS`` names a
directory where they stay; else it is a temporary one.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from docs_support import blocks as blocks_of
from docs_support import machine, paste
from hook_support import (
    CLOSING,
    NOTES,
    OPENING,
    configure,
    index,
    log_lines,
    no_fault,
    paths,
    settle,
    write,
)
from host_support import HOSTS, Codex, Gemini, Host, missing
from model_support import StandIn

from recall import hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = os.environ.get("RECALL_HOSTS")
pytestmark = pytest.mark.skipif(
    os.environ.get("RECALL_STRESS") != "1",
    reason="real hosts are installed and run only under RECALL_STRESS=1 (.ci/stress)",
)
KEYS = "where do the deploy keys live in the vault?"
AGAIN = "once more: where do the deploy keys live in the vault?"
OFF_TOPIC = "thanks, go on"
GOLDEN = Path(__file__).parent / "golden" / "hook"


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the programs are."""
    if KEPT:
        yield Path(KEPT)
        return
    directory = tmp_path_factory.mktemp("hosts")
    yield directory
    shutil.rmtree(directory)  # pytest would keep the last three


@pytest.fixture(params=HOSTS, ids=lambda kind: kind.name)
def host(request: pytest.FixtureRequest, packages: Path, home: Path) -> Iterator[Host]:
    """A host with its stand-in, and a person's notes, indexed."""
    kind: type[Host] = request.param
    why = missing(kind.name, kind.package, packages)
    if why is not None:
        pytest.skip(why)
    write(home / "notes", NOTES)
    configure(home, f'[roots]\nnotes = "{home}/notes"\n[hook]\ndeadline_ms = 10000\n')
    index()
    with StandIn() as stand_in:
        yield kind(packages, home, stand_in)
        settle()


def blocks(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return role and text of what holds something of ours."""
    return [(role, text) for role, text in texts if "recall⟧" in text]


def fields(data: bytes) -> dict[str, type]:
    """Return the kinds of what an input holds, by name."""
    return {name: type(value) for name, value in json.loads(data).items()}


def asked(texts: list[tuple[str, str]], prompt: str) -> int:
    """Return where a prompt is among what was sent."""
    (place,) = [place for place, (_, text) in enumerate(texts) if text == prompt]
    return place


def test_H3_a_card_reaches_the_model_and_uninstall_ends_that(host: Host) -> None:
    before = host.path.read_bytes()
    assert blocks(host.ask(KEYS)) == []
    host.install()
    host.trust()
    status = host.status()
    assert (status["installed"], status["trust"]) == (True, host.trusted)
    seen = len(host.inputs())
    texts = host.ask(KEYS)
    ((role, text),) = blocks(texts)
    assert role == host.role
    assert texts.index((role, text)) > asked(texts, KEYS)
    assert text.count("⟦") == 2
    block = text[text.index(OPENING) : text.index(CLOSING.rstrip("\n"))]
    assert "\n1. Rotate the deploy keys\n" in block
    assert f" {host.home}/notes/keys.md:3\n" in block
    assert "The deploy keys live in the vault, one quarter each.\n" in block
    assert blocks(host.ask(OFF_TOPIC)) == []
    assert [line["decision"] for line in log_lines()] == ["spoke", "silent"]
    assert no_fault()

    events = [hosts.parse(data) for data in host.inputs()[seen:]]
    assert [event.name for event in events] == ["SessionStart", host.event] * 2
    assert [event.source for event in events] == ["startup", None] * 2
    assert [event.prompt for event in events] == ["", KEYS, "", OFF_TOPIC]
    sessions = [event.session for event in events]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    for event in events:
        assert (event.host, event.problem, event.agent) == (host.name, None, None)
        assert event.session
        assert event.cwd == os.path.realpath(host.project)

    host.uninstall()
    assert host.path.read_bytes() == before
    assert blocks(host.ask(KEYS)) == []
    assert len(log_lines()) == 2


def test_H5_a_conversation_that_goes_on_holds_each_card_once(host: Host) -> None:
    host.install()
    host.trust()
    first = blocks(host.ask(KEYS))
    texts = host.ask(AGAIN, resume=True)
    assert blocks(texts) == first  # the host keeps what it was told, so once is enough
    assert asked(texts, KEYS) < texts.index(first[0]) < asked(texts, AGAIN)
    _, _, start, prompt = (hosts.parse(data) for data in host.inputs())
    assert (start.source, prompt.session) == ("resume", start.session)
    shown = [line for line in log_lines() if line["cards"]]
    assert [paths(line) for line in shown] == [["keys.md"]]


def test_H3_a_hook_whose_program_is_gone_costs_nothing_else(host: Host) -> None:
    host.install()
    host.lose()
    host.trust()
    texts = host.ask(KEYS)  # which fails if the model is not asked
    assert blocks(texts) == []
    assert asked(texts, KEYS)
    assert log_lines() == []


def test_the_line_at_a_sessions_start_is_there_once(host: Host) -> None:
    hook = "[hook]\ndeadline_ms = 10000\nsession_line = true\n"
    configure(host.home, f'[roots]\nnotes = "{host.home}/notes"\n{hook}')
    host.install()
    host.trust()
    line = "recall is on: 5 notes in 1 root (notes)."
    for resume in (False, True):
        texts = host.ask(OFF_TOPIC, resume=resume)
        if isinstance(host, Gemini):  # which shows it to the person
            assert blocks(texts) == []
            assert (line in host.stderr) == (not resume)
        else:
            ((_, text),) = blocks(texts)
            assert text.count(line) == 1
        assert asked(texts[:-1] if resume else texts, OFF_TOPIC)
    assert no_fault()


@pytest.mark.parametrize("host", [Gemini], ids=["gemini"], indirect=True)
def test_what_others_say_at_a_sessions_start_hides_no_prompt(host: Host) -> None:
    """Gemini CLI without a terminal sends it to hooks as the beginning of the first prompt."""
    context = {"hookEventName": "SessionStart", "additionalContext": "Mind the <gap>."}
    settings = json.loads(
        "\n".join(line.split(" //")[0] for line in host.path.read_text().split("\n"))
    )
    said = {"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': context})}'"}
    settings["hooks"]["SessionStart"].append({"hooks": [said]})
    host.path.write_text(json.dumps(settings))
    host.install()
    texts = host.ask(KEYS)
    assert any("Rotate the deploy keys" in text for _, text in blocks(texts))
    assert hosts.parse(host.inputs()[-1]).prompt == KEYS
    golden = (GOLDEN / "gemini" / "real-context.in").read_bytes()
    prompts = [
        json.loads(data)["prompt"].rpartition(">")[0] for data in (host.inputs()[-1], golden)
    ]
    assert prompts[0] == prompts[1]


def test_the_documented_commands_run(host: Host) -> None:
    programs = machine(host.home)
    (programs / host.name).unlink()
    (programs / host.name).symlink_to(host.program)
    for marker, _, text in blocks_of("docs/hooks.md"):
        if marker == f"run: {host.name}":
            done = paste(text, host.project, programs, host.environment())
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            told = done.stdout + done.stderr
    if isinstance(host, Codex):
        assert "hook: UserPromptSubmit Completed" in told
    elif isinstance(host, Gemini):
        assert "BeforeAgent" in told
    else:
        assert "additionalContext (" in told
    (sent,) = host.stand_in.asked(host.model)
    assert blocks(host.model.texts(sent))


@pytest.mark.parametrize("host", [Codex], ids=["codex"], indirect=True)
def test_codex_runs_no_hook_that_nobody_trusted(host: Host) -> None:
    host.install()
    assert blocks(host.ask(KEYS)) == []
    assert host.inputs() == []
    host.trust()
    assert blocks(host.ask(KEYS))


def test_what_a_host_sends_is_what_its_golden_files_hold(host: Host) -> None:
    host.install()
    host.trust()
    host.ask(KEYS)
    for data, name in zip(host.inputs(), ("real-start", "real-prompt"), strict=True):
        golden = (GOLDEN / host.name / f"{name}.in").read_bytes()
        assert fields(data) == fields(golden), host.version()
        assert data.endswith(b"\n") == golden.endswith(b"\n")
