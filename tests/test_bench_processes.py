"""The processes that ask questions end with the one that waits for them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from index_cache.errors import InvalidInput
from recall.bench.running import _in_processes

if TYPE_CHECKING:
    from pathlib import Path

LONG = 60  # seconds that a busy machine may take
PROGRAM = """
import os, signal, sys
sys.path.insert(0, {tests!r})
import test_bench_processes as mine
from recall.bench.running import _in_processes

if __name__ == "__main__":
    for pid in _in_processes(mine.who, [[1]], 1):
        print(pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def who(_: object) -> list[dict[str, object]]:
    return [{"pid": os.getpid()}]


def wrong(_: object) -> list[dict[str, object]]:
    raise InvalidInput("no", where="there", hint="this")


def lost(_: object) -> list[dict[str, object]]:
    os._exit(3)


def test_a_killed_bench_leaves_nobody_behind(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PROGRAM.format(tests=os.path.dirname(__file__)))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, timeout=LONG, check=False, text=True
    )
    pid = int("".join(filter(str.isdigit, done.stdout)))
    until = time.monotonic() + LONG
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < until:
        time.sleep(0.01)
    if not os.path.isdir("/proc/self"):
        pytest.skip("no /proc to see a process in")
    assert not os.path.exists(f"/proc/{pid}")


def test_an_error_of_ours_comes_back_whole() -> None:
    with pytest.raises(InvalidInput) as raised:
        list(_in_processes(wrong, [[]], 1))  # type: ignore[arg-type]
    assert (raised.value.where, raised.value.hint) == ("there", "this")


def test_a_process_that_is_lost_is_told() -> None:
    with pytest.raises(Exception, match="ended from outside") as raised:
        list(_in_processes(lost, [[]], 1))  # type: ignore[arg-type]
    assert getattr(raised.value, "hint", None) == "try again with --jobs 1"
