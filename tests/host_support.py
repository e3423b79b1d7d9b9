"""The programs that the prompt hook is for, as people run them, in an environment of their own.

Each is installed by npm from its package, asks a stand-in (``model_support``) instead of its model,
has an invented key, and a home that the test throws away. Nothing that it would fetch elsewhere
leaves this machine: the stand-in is its proxy too.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli_support import recall
from model_support import Anthropic, GenerateContent, Responses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from model_support import Model, StandIn

ROOT = Path(__file__).parent.parent
ENVIRONMENT = dict(os.environ)  # that of the person who runs the tests, and has configured npm
INSTALL_SECONDS, RUN_SECONDS = 300, 90
KEY = "invented"
# A hook that the person has already, which says nothing and keeps what it is sent.
OTHER = 'cat > "$HOME/kept/$(date +%s%N)-$$"; echo {}'


class Host:
    """A host, installed below ``packages``, with its home and its stand-in.

    ``role`` is whose words the block is among in a request to ``model``.
    """

    name: str
    package: str
    model: Model
    role: str
    settings: str  # below the home
    event: str
    trusted = "trusted"  # what is said of the hook when it runs
    others: str  # the settings that the person has already, with ``OTHER`` at both events

    def __init__(self, packages: Path, home: Path, stand_in: StandIn) -> None:
        self.program = packages / self.name / "node_modules" / ".bin" / self.name
        self.home = home
        self.stand_in = stand_in
        self.stderr = ""  # of the last answer
        self.project = home / "project"
        self.kept = home / "kept"
        self.path = home / self.settings
        for directory in (self.project / ".git", self.kept, self.path.parent):
            directory.mkdir(parents=True)
        hooks = {event: [{"hooks": [self.other()]}] for event in (self.event, "SessionStart")}
        text = self.others.replace("HOOKS", json.dumps(hooks, indent=4))
        self.path.write_text(text, encoding="utf-8")
        self.prepare()

    def other(self) -> dict[str, Any]:
        """Return the person's own hook, as the host wants it."""
        return {"type": "command", "command": OTHER}

    def prepare(self) -> None:
        """Write what the host needs besides its settings file."""

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a run: nothing of the machine's own but its programs."""
        ours = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        proxy = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.stand_in.url)
        proxy["NO_PROXY"] = "127.0.0.1,localhost"
        proxy |= {name.lower(): value for name, value in proxy.items()}
        path = os.environ.get("PATH", os.defpath)
        ours |= {"PATH": path, "HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        return {"LANG": "C.UTF-8", **ours, **proxy}

    def command(self, prompt: str, *, resume: bool) -> list[str]:
        """Return the arguments for one answer; ``resume`` goes on with the last conversation."""
        raise NotImplementedError

    def install(self) -> None:
        """Install the hook as people do."""
        assert self._recall("install")["action"] == "installed"

    def uninstall(self) -> None:
        """Take the hook out as people do."""
        assert self._recall("uninstall")["action"] == "restored"

    def status(self) -> dict[str, Any]:
        """Return what is said of the hook in the person's settings."""
        found = self._recall("status")["installations"]
        (status,) = (each for each in found if each["scope"] == "user")
        assert status["file"] == str(self.path)
        assert isinstance(status, dict)
        return status

    def lose(self) -> None:
        """Have the settings name a program that is gone, as after it was removed."""
        (command,) = set(self.status()["commands"])
        program = command.split(" ", 1)[0]
        text = self.path.read_text(encoding="utf-8")
        assert text.count(program) == 2
        self.path.write_text(text.replace(program, f"{program}-gone"), encoding="utf-8")

    def _recall(self, command: str) -> Any:
        done = recall("hook", command, "--host", self.name, "--json", cwd=self.project)
        envelope = json.loads(done.raw)
        assert envelope["ok"], envelope
        return envelope["data"]

    def trust(self) -> None:
        """Do what a person does at the host's question whether the hook may run, if it asks."""

    def version(self) -> str:
        """Return what the program says of its version."""
        return self._run([str(self.program), "--version"]).stdout.strip()

    def ask(self, prompt: str, *, resume: bool = False) -> list[tuple[str, str]]:
        """Return role and text of all that the model is sent when a person asks ``prompt``."""
        seen = len(self.stand_in.asked(self.model))
        ran = self._run([str(self.program), *self.command(prompt, resume=resume)])
        self.stderr = ran.stderr
        told = f"{ran.stdout}\n{ran.stderr}\n{self.stand_in.requests}"
        assert ran.returncode == 0, told
        sent = self.stand_in.asked(self.model)[seen:]
        assert len(sent) == 1, told
        return self.model.texts(sent[0])

    def inputs(self) -> list[bytes]:
        """Return what hooks were sent, oldest first."""
        return [path.read_bytes() for path in sorted(self.kept.iterdir())]

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        process = subprocess.Popen(
            arguments,
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=RUN_SECONDS)
        finally:
            kill_group(process)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)


class Claude(Host):
    """Claude Code: without a terminal it runs hooks in a directory that nobody trusted yet."""

    name = "claude"
    trusted = "unknown"
    package = "@anthropic-ai/claude-code"
    model = Anthropic()
    role = "system"
    settings = ".claude/settings.json"
    event = "UserPromptSubmit"
    others = '{\n    "cleanupPeriodDays": 30,\n    "hooks": HOOKS\n}\n'

    def environment(self) -> dict[str, str]:
        """Add the stand-in, and what keeps it from asking anybody else."""
        quiet = ["DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"]
        quiet += ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
        model = {"ANTHROPIC_BASE_URL": self.stand_in.url, "ANTHROPIC_API_KEY": KEY}
        return {**super().environment(), **model, **dict.fromkeys(quiet, "1")}

    def command(self, prompt: str, *, resume: bool) -> list[str]:
        """Print one answer."""
        return [*(["--continue"] if resume else []), "-p", prompt]


class Codex(Host):
    """Codex CLI: what it may run is asked of the person first."""

    name = "codex"
    package = "@openai/codex"
    model = Responses()
    role = "developer"
    settings = ".codex/hooks.json"
    event = "UserPromptSubmit"
    others = '{"hooks": HOOKS}'

    def prepare(self) -> None:
        """Name the stand-in as the provider of a model."""
        self.path.with_name("config.toml").write_text(
            f"""
model = "{KEY}"
model_provider = "stand-in"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
[model_providers.stand-in]
name = "stand-in"
base_url = "{self.stand_in.url}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
""",
            encoding="utf-8",
        )

    def environment(self) -> dict[str, str]:
        """Add the key of the provider."""
        return {**super().environment(), "STAND_IN_KEY": KEY}

    def command(self, prompt: str, *, resume: bool) -> list[str]:
        """Print one answer."""
        again = ["resume", "--last"] if resume else []
        return ["exec", *again, "--skip-git-repo-check", prompt]

    def trust(self) -> None:
        """Trust each hook as it is now, by the calls of the program's own question."""
        with _app_server(self) as server:
            hooks = server.hooks()
            assert [hook["trustStatus"] for hook in hooks] == ["untrusted"] * 4
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
            server.call("config/batchWrite", edits=[edit])
            assert [hook["trustStatus"] for hook in server.hooks()] == ["trusted"] * 4


class Gemini(Host):
    """Gemini CLI."""

    name = "gemini"
    package = "@google/gemini-cli"
    model = GenerateContent()
    role = "user"
    settings = ".gemini/settings.json"
    event = "BeforeAgent"
    # Without a model it asks another one first which to take, with all that the request holds.
    others = """{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-flash"}, // the one that costs least
  "hooks": HOOKS
}
"""

    def environment(self) -> dict[str, str]:
        """Add the stand-in, and that the project's directory is trusted."""
        model = {"GOOGLE_GEMINI_BASE_URL": self.stand_in.url, "GEMINI_API_KEY": KEY}
        return {**super().environment(), **model, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def command(self, prompt: str, *, resume: bool) -> list[str]:
        """Print one answer."""
        return [*(["--resume", "latest"] if resume else []), "-p", prompt]


HOSTS: tuple[type[Host], ...] = (Claude, Codex, Gemini)


@contextlib.contextmanager
def _app_server(host: Codex) -> Iterator[_AppServer]:
    """Run Codex's own service while the context is open, for as long as a run may take."""
    process = subprocess.Popen(
        [str(host.program), "app-server"],
        cwd=host.project,
        env=host.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    end = threading.Timer(RUN_SECONDS, process.kill)
    end.start()
    try:
        server = _AppServer(process, str(host.project))
        server.call("initialize", clientInfo={"name": "recall-tests", "version": "1"})
        yield server
    finally:
        end.cancel()
        kill_group(process)


class _AppServer:
    """JSON-RPC over the standard input and output of a process."""

    def __init__(self, process: subprocess.Popen[str], project: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._project = project
        self._count = 0

    def hooks(self) -> list[Any]:
        """Return the hooks that it finds in the project."""
        (found,) = self.call("hooks/list", cwds=[self._project])["data"]
        assert (found["warnings"], found["errors"]) == ([], [])
        hooks: list[Any] = found["hooks"]
        return hooks

    def call(self, method: str, **params: object) -> Any:
        """Return what a call answers."""
        self._count += 1
        request = {"id": self._count, "method": method, "params": params}
        self._stdin.write(json.dumps(request) + "\n")
        self._stdin.flush()
        for line in self._stdout:
            answer = json.loads(line)
            if answer.get("id") == self._count:
                assert "result" in answer, answer
                return answer["result"]
        raise AssertionError(f"no answer to {method}")


def kill_group(process: subprocess.Popen[str]) -> None:
    """End a process that leads a group, with all that it left in that."""
    with contextlib.suppress(ProcessLookupError):  # the whole group may have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@cache
def missing(name: str, package: str, packages: Path) -> str | None:
    """Install a host below ``packages`` if it is not there; return why that can't be, if so."""
    directory = packages / name
    if (directory / "node_modules" / ".bin" / name).exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return f"npm is not installed, so {package} can't be had"
    directory.mkdir(parents=True, exist_ok=True)
    options = ("--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1")
    process = subprocess.Popen(
        [npm, "install", "--prefix", str(directory), *options, package],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        said = f"npm error: not done after {INSTALL_SECONDS} s"
    finally:
        kill_group(process)
    if process.returncode == 0:
        return None
    shutil.rmtree(directory)
    errors = [line for line in said.splitlines() if line.startswith("npm error")]
    return f"{package} can't be had: {' '.join(errors[:3]) or said[-300:]}"
