"""What a call costs in steps of a plain loop: a bound that a slow machine keeps as well.

A call that takes its input's length squared costs thousands of steps a character, one that is
linear a few, so bounds may be generous; seconds would only tell how fast the machine is today.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Found = TypeVar("Found")

_STEPS = 100_000


def steps(call: Callable[[], Found], *, repeat: int = 1) -> tuple[Found, float]:
    """Return what a call returns and the CPU time that it took, in steps of a loop.

    Of several calls the fastest counts. The loop runs right after, so both meet the same machine.
    """
    found, took = min((timed(call) for _ in range(repeat)), key=lambda each: each[1])
    _, loop = min((timed(_loop) for _ in range(5)), key=lambda each: each[1])
    return found, took * _STEPS / loop


def timed(call: Callable[[], Found]) -> tuple[Found, float]:
    """Return what a call returns and the CPU time that it took, in seconds."""
    begun = time.process_time()
    found = call()
    return found, time.process_time() - begun


def _loop() -> int:
    total = 0
    for number in range(_STEPS):
        total += number
    return total
