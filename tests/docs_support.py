"""What documents tell a person to paste, and a machine on which that can be done.

A block's marker stands before it: ``<!-- run -->`` for commands, ``<!-- run: HOST -->`` for those
that need a host's program. Here hosts are stand-ins, which call the hooks in their settings as the
programs do and take the options that the documents use, and no other.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^(?:<!-- (.+?) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SHIM = '#!/bin/sh\nexec "{python}" -m recall {words}"$@"\n'
_HOST = '''#!{python}
"""A host: calls the hooks in its settings with what it would send for a prompt."""
import json, os, subprocess, sys

name = os.path.basename(sys.argv[0])
words = sys.argv[1:]
flags = {{"claude": (), "gemini": ("--debug", "--skip-trust"),
         "codex": ("--skip-git-repo-check", "--dangerously-bypass-hook-trust")}}[name]
values = {{"claude": ("--debug-file", "-p"), "gemini": ("-p",), "codex": ()}}[name]
given = {{}}
if name == "codex":
    assert words.pop(0) == "exec"
    given["-p"] = words.pop()
while words:
    word = words.pop(0)
    assert word in flags or word in values, word
    given[word] = words.pop(0) if word in values else True
event = "BeforeAgent" if name == "gemini" else "UserPromptSubmit"
file = "hooks.json" if name == "codex" else "settings.json"
with open(os.path.expanduser(f"~/.{{name}}/{{file}}")) as opened:
    hooks = json.load(opened)["hooks"][event]
fields = {{"hook_event_name": event, "cwd": os.getcwd(), "prompt": given["-p"], "session_id": name}}
for group in hooks:
    for hook in group["hooks"]:
        done = subprocess.run(hook["command"], shell=True, input=json.dumps(fields), text=True,
                              stdout=subprocess.PIPE, check=True)
        text = ""
        if done.stdout.strip() not in ("", "{{}}"):
            text = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
        if "--debug-file" in given:
            with open(given["--debug-file"], "a") as log:
                log.write(f"hook provided additionalContext ({{len(text)}} chars)\\n")
        print(text)
'''


def blocks(page: str, *sections: str) -> list[tuple[str, str, str]]:
    """Return marker, language and text of each fenced block of a page, or of some sections."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if sections:
        parts = {part.split("\n", 1)[0]: part for part in text.split("\n## ")[1:]}
        text = "\n".join(f"## {parts[section]}" for section in sections)
    return _BLOCK.findall(text)


def machine(home: Path) -> Path:
    """Put programs into ``home``, and return the directory that is to be on the PATH."""
    directory = home / "bin"
    directory.mkdir()
    shims = {"recall": "", "recall-hook": "hook "}
    texts = {name: _SHIM.format(python=sys.executable, words=each) for name, each in shims.items()}
    host = _HOST.format(python=sys.executable)
    for name, text in {**texts, "claude": host, "codex": host, "gemini": host}.items():
        (directory / name).write_text(text, encoding="utf-8")
        (directory / name).chmod(0o755)
    return directory


def paste(
    command: str, where: Path, programs: Path, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run commands as a person pastes them, and stop at the first that fails."""
    environ = dict(os.environ) if environ is None else environ
    path = f"{programs}{os.pathsep}{environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=where,
        env={**environ, "PATH": path, "PYTHONPATH": str(ROOT), "RECALL_DEADLINE_MS": "10000"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
