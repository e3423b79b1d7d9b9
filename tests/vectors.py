"""The vectors of ``spec/vectors``: what the pages say, as examples that a test can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parent.parent / "spec" / "vectors"


def load(name: str) -> Any:
    """Return the vectors of one file."""
    return json.loads((DIRECTORY / name).read_text(encoding="utf-8"))


def named(vector: dict[str, Any]) -> str:
    """Return a vector's name, for ``pytest.mark.parametrize``."""
    return str(vector["name"])
