"""What a prompt that gets cards imports: these modules and no other, since each costs time (H1).

When this test fails, a module is on that path that was not, or one is no more: put the former into
the list with its reason only if the answer needs it, and take the latter out.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import hook_run_support as run
import pytest
from stress_support import Later

from recall import config, resolved
from recall.service import Recall

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# By what they are needed for. Ours, the dependencies' and the standard library's.
ALWAYS: Mapping[str, str] = {
    "the process and its deadline": "recall recall.hook recall.deadline gc",
    "the event and what is quiet": "recall.call recall.hosts recall.quiet recall.block recall.card",
    "what holds here": """
        recall.resolved recall.looked recall.settings recall.project recall.dirs
        recall.pausing""",
    "the files of ours": "recall.state recall.files recall.ledger recall.looks",
    "what is said is harmless": "recall.output",
    "the caches and their directories": """
        recall.views
        index_cache index_cache.model index_cache.files
        index_cache.db index_cache.checksums index_cache.schema index_cache.store
        index_cache.weigher index_cache.guard index_cache.peek index_cache.directories""",
    "the question and its hits": """
        recall.recalling recall.asked recall.query recall.rank recall.gate recall.topic
        recall.chatter recall.slots recall.filling index_cache.analyze
        recall.wording recall.relevance
        index_cache.search index_cache.candidates index_cache.search index_cache.filters""",
    "notes asked for by name": "recall.named recall.naming",
    "the cards": "recall.dress recall.fresh",
    "what is kept of the answer": """
        recall.aftermath recall.background recall.recalllog""",
    "SQLite": "apsw",
    "stems": "Stemmer cython_runtime",
    "the lock of the refresh": "index_cache.locks fcntl",
    "scores": "math",
    "JSON": "recall.quickjson _json",
    "what apsw itself imports": """
        collections collections.abc _collections io itertools keyword operator _operator reprlib""",
    "digests": "index_cache.digests _blake2",
    "letters": "unicodedata",
    "small parts": "__future__ zlib",
}
# What is more when a card shows a line of the note, because that has no description.
FROM_THE_BODY: Mapping[str, str] = {
    "the line that answers": """
        recall.summary index_cache.blocks index_cache.text index_cache.privacy index_cache.taghints
        _sha256 _sha2""",
    "Markdown": """
        index_cache.markdown index_cache.pulldown pyromark._pyromark""",
}


def names(*groups: Mapping[str, str]) -> set[str]:
    return {name for group in groups for words in group.values() for name in words.split()}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    notes.mkdir()
    described = "---\ntitle: Quabvexil\ndescription: All of quabvexil.\n---\nIt is quabvexil.\n"
    (notes / "described.md").write_text(described, encoding="utf-8")
    (notes / "plain.md").write_text("# Qudfvexil\n\nHere is qudfvexil. And more.\n", "utf-8")
    for number in range(9):
        (notes / f"other-{number}.md").write_text(f"# Other {number}\n\nNothing.\n", "utf-8")
    run.configure({"notes": notes})
    roots = config.load(str(tmp_path), os.environ, fallback=False).roots
    with Recall(roots, cwd=str(tmp_path), fs=Later()) as recall:
        recall.refresh()
    run.no_refresh(tmp_path)
    clock = time.time_ns
    with pytest.MonkeyPatch.context() as patch:  # else the file is too young for its result
        patch.setattr(time, "time_ns", lambda: clock() + 3600 * 10**9)
        resolved.load(str(tmp_path), os.environ)
    # The first one makes the key of the log and the directory of the ledger.
    run.prompt("quabvexil", tmp_path, session="first")
    return tmp_path


def imported(top: Path, word: str) -> set[str]:
    """Return what a prompt that gets the card of one note has imported by its end."""
    done = subprocess.run(
        run.command(before=run.TELL_IMPORTS + run.PATIENT),
        input=run.event("claude", f"where is {word}?", top, f"s-{word}"),
        capture_output=True,
        timeout=run.GUARD,
        cwd=top,
        check=False,
    )
    assert done.returncode == 0
    (card,) = run.read(run.block_in("claude", done.stdout))
    assert word in card["summary"].casefold()
    # Of compiled modules the name of what compiled them, with its version.
    return {name for name in done.stderr.decode().split() if not name.startswith("_cython_")}


def is_ours(name: str) -> bool:
    """Tell whether a module is on the path of each Python: those below ours differ."""
    return name.partition(".")[0] in {"recall", "index_cache"}


def check(found: set[str], allowed: set[str]) -> None:
    more, fewer = (
        " ".join(sorted(found - allowed)),
        " ".join(sorted(filter(is_ours, allowed - found))),
    )
    assert not more, f"not on the list: {more}"
    assert not fewer, f"no longer imported: {fewer}"


def test_H1_a_card_with_a_description_imports_no_more_than_it_needs(top: Path) -> None:
    check(imported(top, "quabvexil"), names(ALWAYS))


def test_H1_a_card_from_the_body_imports_no_more_than_it_needs(top: Path) -> None:
    check(imported(top, "qudfvexil"), names(ALWAYS, FROM_THE_BODY))


def test_it_is_seen_when_a_note_that_changed_is_parsed(top: Path) -> None:
    """The parsers are needed then, and only then."""
    note = top / "notes" / "described.md"
    text = note.read_text(encoding="utf-8").replace("All of", "Everything about")
    note.write_text(text, encoding="utf-8")
    found = imported(top, "quabvexil")
    assert {"yaml", "index_cache.parse", "index_cache.frontmatter"} <= found
    with pytest.raises(AssertionError, match="not on the list"):
        check(found, names(ALWAYS))


def test_it_is_seen_when_a_note_appeared(top: Path) -> None:
    (top / "notes" / "new.md").write_text("# New\n\nHere is qughvexil.\n", encoding="utf-8")
    assert {"yaml", "index_cache.beside"} <= imported(top, "qughvexil")


def test_it_is_seen_when_the_configuration_is_read(top: Path) -> None:
    run.configure({"notes": top / "notes"}, max_cards=2)
    assert {"tomllib", "recall.config"} <= imported(top, "quabvexil")


def test_silence_imports_no_database(top: Path) -> None:
    """A slash command does not get as far as the notes."""
    done = subprocess.run(
        run.command(before=run.TELL_IMPORTS + run.PATIENT),
        input=run.event("claude", "/clear", top),
        capture_output=True,
        timeout=run.GUARD,
        cwd=top,
        check=True,
    )
    assert done.stdout == b""
    found = set(done.stderr.decode().split())
    assert "recall.quiet" in found
    assert not {name for name in found if name.startswith("apsw") or name == "yaml"}
