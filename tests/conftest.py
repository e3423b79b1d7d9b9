"""What every test has: its own home, and counts that fit the occasion.

``HYPOTHESIS_PROFILE`` chooses the profile: ``ci`` (the default) runs a tenth of the long counts,
``stress`` all of them. ``RECALL_STRESS=1`` means the latter.
"""

from __future__ import annotations

import os
import signal
from itertools import count
from typing import TYPE_CHECKING

import disk_support  # noqa: F401 - the disk of every test, below all that opens a cache
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

STRESS_EXAMPLES = 500

# No deadline: a slow machine is not a fault of the code under test.
settings.register_profile(
    "stress",
    max_examples=STRESS_EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("stress"), max_examples=STRESS_EXAMPLES // 10)


def _profile() -> str:
    if os.environ.get("RECALL_STRESS") == "1":
        return "stress"
    return os.environ.get("HYPOTHESIS_PROFILE", "ci")


settings.load_profile(_profile())

# Behind nohup, or in the background of a script, interrupts are ignored, and so by all programs
# that the tests start: those that interrupt them would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def long_count() -> Callable[[int], int]:
    """Return ``count(n)``: n under stress, a tenth of it otherwise, for loops of our own."""
    if _profile() == "stress":
        return lambda full: full
    return lambda full: max(1, full // 10)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give one new directory after the other: mktemp would list all of them for each."""
    above = tmp_path_factory.mktemp("homes")
    return (above / str(number) for number in count())


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own and take away what the person's environment says."""
    directory = next(homes)
    directory.mkdir()
    for name in list(os.environ):
        if name.startswith(("RECALL_", "XDG_", "GIT_")) or name in {
            "NO_COLOR",
            "FORCE_COLOR",
            "COLUMNS",
            "LOCUS_PALACE",
            "CORTEX_MEMORY_ROOT",
        }:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("XDG_CACHE_HOME", str(directory / ".cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(directory / ".config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(directory / ".local" / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(directory / ".local" / "share"))
    # The machine's own git configuration must not decide a test.
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return directory


@pytest.fixture
def notes(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the one root that is configured: a few notes, no cache yet."""
    from hook_support import NOTES, configure, write  # few tests need all that it imports

    root = tmp_path / "notes"
    write(root, NOTES)
    configure(home)
    monkeypatch.setenv("RECALL_ROOTS", f"notes={root}")
    return root
