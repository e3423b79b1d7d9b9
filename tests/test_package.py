"""The package as a library: what importing it costs, and what it gives."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import index_cache
import recall
import recall.card
import recall.service


def test_importing_recall_imports_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import recall; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    assert set(done.stdout.decode().split()) <= {"__future__", "recall"}


def test_public_names_are_loaded_when_asked_for() -> None:
    assert recall.Recall is recall.service.Recall
    assert recall.Card is recall.card.Card
    assert {"Card", "Recall", "__version__"} <= set(dir(recall))
    with pytest.raises(AttributeError, match="no attribute 'Recal'"):
        _ = getattr(recall, "Recal")  # noqa: B009 - mypy knows that there is none


@pytest.mark.parametrize("package", ["recall", "index_cache"])
def test_the_packages_say_that_they_are_typed(package: str) -> None:
    assert (files(package) / "py.typed").is_file()


def test_one_module_detaches() -> None:
    """As one takes locks and one asks the user database, which the import contracts see to."""
    call = re.compile(
        r"\bos\.(posix_spawnp?|setsid|setpgrp|setpgid|fork|forkpty)\(|start_new_session"
    )
    found = {
        path.name
        for package in (recall, index_cache)
        for path in Path(package.__path__[0]).rglob("*.py")
        if call.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"detach.py"}
