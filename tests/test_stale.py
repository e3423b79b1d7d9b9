"""Is a note past its time? As the vectors say, and never an error."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vectors import load

from recall.stale import stale_reason


@pytest.mark.parametrize(
    "vector", load("stale.json"), ids=lambda each: f"{each['status']} {each['stale_after']}"
)
def test_vectors(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", vector["zone"])
    time.tzset()
    try:
        now = datetime.fromisoformat(vector["now"]).timestamp()
        assert stale_reason(vector["status"], vector["stale_after"], now) == vector["reason"]
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text(max_size=20), st.text("0123456789-:TZ+W. ", max_size=32), st.floats(0, 1e11))
def test_any_text_is_no_error(status: str, stale_after: str, now: float) -> None:
    reason = stale_reason(status, stale_after, now)
    assert reason in {None, "deprecated", f"stale since {stale_after}"}
