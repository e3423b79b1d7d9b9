"""What ``docs/remembering.md`` shows is run, or compared."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from docs_support import ROOT, blocks, machine, paste

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/remembering.md"


def test_the_commands_do_what_they_say(home: Path) -> None:
    (home / "shop").mkdir()
    programs = machine(home)
    said = []
    for marker, language, text in blocks(PAGE):
        if marker == "run":
            done = paste(text, home / "shop", programs)
            assert done.returncode == 0, (text, done.stderr)
            assert done.stderr == "", text
            said.append(done.stdout)
            if "CI reads" in text:
                check_note(home)
        else:
            assert (marker, language) in {
                ("note", "markdown"),
                ("config", "toml"),
                ("snippet", "markdown"),
            }
    assert said[0].splitlines()[-2] == "written: memory/deploy-keys-live-in-the-vault.md"
    assert said[1].startswith("written: ideas/鍵の自動更新.md\n")
    assert said[2].startswith("added to: memory/deploy-keys-live-in-the-vault.md\n")
    assert "accepted: knowledge/rotate-keys-monthly.md\n" in said[3]
    assert "rejected: proposals/do-without-keys.md\n" in said[4]
    assert "rejected: We tried that in spring" in said[4]
    assert len(said[5].splitlines()) == 8
    assert said[5].endswith(": 7 lines, holds\n")


def check_note(home: Path) -> None:
    """Compare the note, as it was before the second call, with the one that is shown."""
    (shown,) = [text for marker, _, text in blocks(PAGE) if marker == "note"]
    text = (home / "notes/memory/deploy-keys-live-in-the-vault.md").read_text(encoding="utf-8")
    text = re.sub(r"r-[0-9a-f]{16}", "r-ID", re.sub(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", "NOW", text))
    first, _, second = text.partition("\n## ")
    assert first == shown
    assert second.endswith("\n\nSince today the CI reads them by itself.\n")


def test_the_setting_is_one() -> None:
    (config,) = [text for marker, _, text in blocks(PAGE) if marker == "config"]
    assert tomllib.loads(config) == {"remember": {"root": "notes"}}


def test_the_snippet_names_what_there_is() -> None:
    (snippet,) = [text for marker, _, text in blocks(PAGE) if marker == "snippet"]
    assert "--adapter claude --allow-write --root notes -" in snippet
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert "allow_write=True" in page
