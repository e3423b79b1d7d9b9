"""What is installed from the package index, and what a test does where there is none.

``.ci/run`` sets ``RECALL_ONLINE=1``, having installed from the index itself: then nothing is
skipped for the want of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

_OFFLINE = ("No matching distribution", "ConnectionError", "NewConnectionError", "Max retries")
# Read here: each test's environment is cleared of what begins like this.
_MUST = os.environ.get("RECALL_ONLINE") == "1"
# How this machine reaches the index.
_WAYS = ("PIP_", "UV_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")


def succeed(done: subprocess.CompletedProcess[str]) -> None:
    """Fail unless a command that needs the index went well; skip where there is no index."""
    if done.returncode and not _MUST and any(word in done.stderr for word in _OFFLINE):
        pytest.skip("the package index can't be reached, so nothing can be installed")
    assert done.returncode == 0, done.stdout + done.stderr


def environment(home: Path, *programs: Path) -> dict[str, str]:
    """Return the environment of a person with this home, and these directories on the PATH."""
    ways = {name: value for name, value in os.environ.items() if name.upper().startswith(_WAYS)}
    path = os.pathsep.join([*map(str, programs), "/usr/bin", "/bin"])
    return {**ways, "HOME": str(home), "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
