"""What ``docs/records.md`` shows is run, and prints what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from docs_support import ROOT, blocks, machine, paste
from hook_support import settle

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/records.md"


def test_the_page_does_what_it_says(home: Path) -> None:
    programs = machine(home)
    printed = ""
    compared = 0
    for marker, language, text in blocks(PAGE):
        if marker == "run":
            assert language == "sh"
            done = paste(text, home, programs)
            assert (done.returncode, done.stderr) == (0, ""), text
            printed = done.stdout
        elif marker == "printed":
            assert printed == text
            compared += 1
        else:
            assert language == "python"
            program = subprocess.run(
                [sys.executable, "-c", text],
                cwd=home,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert program.returncode == 0, program.stderr
            assert program.stdout.startswith("One cache file per root A root is the unit")
    assert compared >= 6
    made = json.loads((home / "decisions.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in made["records"]] == ["d-1", "d-2", "e-2"]
    settle()


def test_links_lead_somewhere_and_lines_can_be_pasted() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert ((ROOT / PAGE).parent / target).exists(), target
    for _, language, block in blocks(PAGE):
        if language == "sh":
            assert not [line for line in block.splitlines() if line.startswith("#")]
