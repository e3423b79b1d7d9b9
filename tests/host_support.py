"""The programs that the prompt hook is for, as people run them, in an environment of their own.

Each is installed by npm from its package, asks a stand-in (``model_support``) instead of its model,
has an invented key, and a home that the test throws away. Nothing that it would fetch elsewhere
leaves this machine: the stand-in is its proxy too.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from model_support import Anthropic, GenerateContent, Responses

if TYPE_CHECKING:
    from typing import Self

    from model_support import Model, StandIn

ROOT = Path(__file__).parent.parent
INSTALL_SECONDS, RUN_SECONDS, END_SECONDS = 300, 90, 10
KEY = "invented"
# Gemini CLI blocks the turn at any status but 0 and 1, so at that of a program that is gone too.
COMMAND = "{program} --host {host} 2>/dev/null || true"
# Keeps what it is sent, and what the hook says to that; a host reads neither.
PROGRAM = """#!/bin/sh
kept={kept}/$(date +%s%N)-$$
cat > "$kept.in"
PYTHONPATH={root} {python} -c 'from recall.hook import main; main()' "$@" \
    < "$kept.in" > "$kept.out" 2> "$kept.err"
status=$?
echo $status > "$kept.status"
cat "$kept.out"
exit $status
"""


class Ran:
    """What a run of a host left: its status, and its stdout and stderr."""

    def __init__(self, status: int, stdout: str, stderr: str) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr


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
    timeout: int  # 10 seconds, in the host's own unit
    others: str  # settings that a person has already

    def __init__(self, packages: Path, home: Path, stand_in: StandIn) -> None:
        self.program = packages / self.name / "node_modules" / ".bin" / self.name
        self.home = home
        self.stand_in = stand_in
        self.project = home / "project"
        self.kept = home / "kept"
        self.hook = home / "with space" / "recall-hook"
        self.path = home / self.settings
        for directory in (self.project / ".git", self.kept, self.hook.parent, self.path.parent):
            directory.mkdir(parents=True)
        values = {"kept": self.kept, "root": ROOT, "python": sys.executable}
        quoted = {name: shlex.quote(str(value)) for name, value in values.items()}
        self.hook.write_text(PROGRAM.format(**quoted), encoding="utf-8")
        self.hook.chmod(0o755)
        self.path.write_text(self.others, encoding="utf-8")
        self.prepare()

    def prepare(self) -> None:
        """Write what the host needs besides its settings file."""

    def environment(self) -> dict[str, str]:
        """Return the whole environment of a run: nothing of the machine's own but its programs."""
        ours = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        proxy = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.stand_in.url)
        proxy["NO_PROXY"] = "127.0.0.1,localhost"
        proxy |= {name.lower(): value for name, value in proxy.items()}
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **ours, **proxy}

    def command(self, prompt: str, *, resume: bool) -> list[str]:
        """Return the arguments for one answer; ``resume`` goes on with the last conversation."""
        raise NotImplementedError

    def install(self) -> None:
        """Enter the hook in the settings."""
        command = COMMAND.format(program=shlex.quote(str(self.hook)), host=self.name)
        entry = {"type": "command", "command": command, "timeout": self.timeout}
        fields = json.loads(self.path.read_bytes())
        hooks = fields.setdefault("hooks", {})
        for event in (self.event, "SessionStart"):
            hooks.setdefault(event, []).append({"hooks": [entry]})
        self.path.write_text(json.dumps(fields, indent=4), encoding="utf-8")

    def uninstall(self) -> None:
        """Take the hook out of the settings again."""
        self.path.write_text(self.others, encoding="utf-8")

    def trust(self) -> None:
        """Do what a person does at the host's question whether the hook may run, if it asks."""

    def version(self) -> str:
        """Return what the program says of its version."""
        return self._run([str(self.program), "--version"]).stdout.strip()

    def ask(self, prompt: str, *, resume: bool = False) -> list[tuple[str, str]]:
        """Return role and text of all that the model is sent when a person asks ``prompt``."""
        seen = len(self.stand_in.asked(self.model))
        ran = self._run([str(self.program), *self.command(prompt, resume=resume)])
        told = f"{ran.stdout}\n{ran.stderr}\n{self.stand_in.requests}"
        assert ran.status == 0, told
        sent = self.stand_in.asked(self.model)[seen:]
        assert len(sent) == 1, told
        return self.model.texts(sent[0])

    def inputs(self) -> list[bytes]:
        """Return what the hook was sent, oldest first; all of it was answered as hosts want it."""
        names = sorted(path.stem for path in self.kept.glob("*.in"))
        for name in names:
            assert (self.kept / f"{name}.status").read_text() == "0\n"
            assert (self.kept / f"{name}.err").read_text() == ""
        return [(self.kept / f"{name}.in").read_bytes() for name in names]

    def _run(self, arguments: list[str]) -> Ran:
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
        return Ran(process.returncode, stdout, stderr)


class Claude(Host):
    """Claude Code."""

    name = "claude"
    package = "@anthropic-ai/claude-code"
    model = Anthropic()
    role = "system"
    settings = ".claude/settings.json"
    event = "UserPromptSubmit"
    timeout = 10
    others = '{\n    "cleanupPeriodDays": 30,\n    "hooks": {"Stop": []}\n}\n'

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
    timeout = 10
    others = '{"hooks": {"Stop": []}}'

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
        with _AppServer(self) as server:
            hooks = server.hooks()
            assert [hook["trustStatus"] for hook in hooks] == ["untrusted"] * 2
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
            server.call("config/batchWrite", edits=[edit])
            assert [hook["trustStatus"] for hook in server.hooks()] == ["trusted"] * 2


class Gemini(Host):
    """Gemini CLI."""

    name = "gemini"
    package = "@google/gemini-cli"
    model = GenerateContent()
    role = "user"
    settings = ".gemini/settings.json"
    event = "BeforeAgent"
    timeout = 10_000
    # Without a model it asks another one first which to take, with all that the request holds.
    others = """{
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-flash"}
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


class _AppServer:
    """Codex's own service: JSON-RPC over standard input and output, while the context is open."""

    def __init__(self, host: Codex) -> None:
        self._project = str(host.project)
        self._count = 0
        self._process = subprocess.Popen(
            [str(host.program), "app-server"],
            cwd=host.project,
            env=host.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        self.call("initialize", clientInfo={"name": "recall-tests", "version": "1"})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        finally:
            kill_group(self._process)

    def hooks(self) -> list[Any]:
        """Return the hooks that it finds in the project."""
        (found,) = self.call("hooks/list", cwds=[self._project])["data"]
        assert (found["warnings"], found["errors"]) == ([], [])
        hooks: list[Any] = found["hooks"]
        return hooks

    def call(self, method: str, **params: object) -> Any:
        """Return what a call answers."""
        self._count += 1
        self._send({"id": self._count, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self._count:
                assert "result" in answer, answer
                return answer["result"]
        raise AssertionError(f"no answer to {method}")

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def kill_group(process: subprocess.Popen[str]) -> None:
    """End a process that leads a group, with all that it left in that."""
    with contextlib.suppress(ProcessLookupError):  # the whole group may have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def have(kind: type[Host], packages: Path) -> None:
    """Install a host below ``packages`` if it is not there; skip the test where that can't be."""
    directory = packages / kind.name
    if (directory / "node_modules" / ".bin" / kind.name).exists():
        return
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not installed, so {kind.package} can't be had")
    directory.mkdir(parents=True, exist_ok=True)
    options = ("--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1")
    done = subprocess.run(
        ["npm", "install", "--prefix", str(directory), *options, kind.package],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode:
        shutil.rmtree(directory, ignore_errors=True)
        said = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        pytest.skip(f"{kind.package} can't be had: {' '.join(said[:3]) or done.stderr[-300:]}")
