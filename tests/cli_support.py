"""Running ``recall`` as people do, and checking what it says against the published schemas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

SCHEMAS = Path(__file__).parent.parent / "spec" / "schema"
# Under ``data`` of which schema each command answers.
DATA_SCHEMA = {
    "search": "search.json",
    "timeline": "timeline.json",
    "get": "get.json",
    "export": "export.json",
    "refresh": "refresh.json",
    "rebuild": "rebuild.json",
    "status": "status.json",
    "bench": "bench.json#/$defs/run",
    "bench init": "bench.json#/$defs/init",
    "bench check": "bench.json#/$defs/check",
    "health": "health.json",
    "log": "log.json",
    "hook": "hook.json",
    "hook install": "hook-install.json#/$defs/oneOrMore",
    "hook uninstall": "hook-install.json#/$defs/oneOrMore",
    "hook status": "hook-install.json#/$defs/status",
    "pause": "pause.json",
    "resume": "pause.json",
    "remember": "remember.json",
    "propose": "remember.json",
    "proposals list": "proposals.json#/$defs/list",
    "proposals show": "proposals.json#/$defs/show",
    "proposals accept": "proposals.json#/$defs/settled",
    "proposals reject": "proposals.json#/$defs/settled",
    "audit": "audit.json",
    "roots list": "roots.json#/$defs/list",
    "roots add": "roots.json#/$defs/add",
    "roots remove": "roots.json#/$defs/remove",
    "roots adopt": "roots.json#/$defs/adopt",
    "roots discover": "roots.json#/$defs/discover",
    "cache list": "cache.json#/$defs/list",
    "cache prune": "cache.json#/$defs/prune",
    "trust": "trust.json",
    "schedule print": "schedule.json#/$defs/print",
    "schedule install": "schedule.json#/$defs/install",
    "schedule remove": "schedule.json#/$defs/remove",
    "schedule status": "schedule.json#/$defs/status",
    "schedule run": "schedule.json#/$defs/run",
    "completion": "completion.json",
}


class Result:
    """What a run left: its status, its stdout and its stderr as text."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes) -> None:
        self.status = status
        self.raw = stdout
        self.stdout = stdout.decode("utf-8")
        self.stderr = stderr.decode("utf-8")

    def data(self) -> Any:
        """Return ``data`` of a valid envelope that says all went well."""
        envelope = valid_envelope(self.raw)
        assert envelope["ok"], envelope
        assert self.status == 0
        assert self.stderr == ""
        return envelope["data"]

    def error(self) -> Any:
        """Return ``error`` of a valid envelope that says what went wrong."""
        envelope = valid_envelope(self.raw)
        assert not envelope["ok"]
        assert self.stderr == ""
        return envelope["error"]


def recall(
    *arguments: str | bytes,
    cwd: Path | str | None = None,
    stdin: bytes | None = None,
    env: dict[str, str] | None = None,
    timeout: float = 60,
) -> Result:
    """Run ``python -m recall`` in a process of its own and wait for it."""
    done = subprocess.run(
        [sys.executable, "-m", "recall", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@cache
def _registry() -> Registry[Any]:
    return Registry().with_resources(
        (path.name, Resource.from_contents(json.loads(path.read_text(encoding="utf-8"))))
        for path in SCHEMAS.glob("*.json")
    )


def check(value: object, schema: str) -> None:
    """Fail unless ``value`` is what the published ``schema`` describes."""
    Draft202012Validator({"$ref": schema}, registry=_registry()).validate(value)


def valid_envelope(output: bytes) -> dict[str, Any]:
    """Return the one envelope that ``output`` consists of, checked against the schemas."""
    assert output.count(b"\n") == 1
    assert output.endswith(b"}\n")
    envelope: dict[str, Any] = json.loads(output)
    check(envelope, "envelope.json")
    if envelope["data"] is not None:
        check(envelope["data"], DATA_SCHEMA[envelope["command"]])
    return envelope
