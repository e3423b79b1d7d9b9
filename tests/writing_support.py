"""A root that agents write to, and what is in it afterwards."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from cli_support import recall

from index_cache.parse import Document
from index_cache.text import Content
from recall.service import Recall
from recall.writing import audit

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Result

    from recall.writing.remembering import Written

LEAST: dict[str, Any] = {"type": "memory", "title": "Deploy keys", "text": "In the vault."}


class Desk:
    """A home, a root in it, and an agent."""

    def __init__(self, base: Path) -> None:
        self.base = base.resolve()
        self.root = self.base / "notes"
        self.root.mkdir()
        self.home = self.base / "home"
        self.home.mkdir()
        self.environ = {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def recall(self) -> Recall:
        return Recall([self.root], cwd=str(self.base), environ=self.environ)

    def remember(self, fields: dict[str, Any] | bytes | None = None, **more: Any) -> Written:
        """Write, granted; what is not said is that of ``LEAST``."""
        force = more.pop("force", False)
        given = fields if isinstance(fields, bytes) else {**LEAST, **(fields or {}), **more}
        with self.recall() as opened:
            return opened.adapter("claude").remember(given, allow_write=True, force=force)

    def propose(self, **fields: Any) -> Written:
        given = {**LEAST, "type": "proposal", **fields}
        with self.recall() as opened:
            return opened.adapter("codex").propose(given, allow_write=True)

    def found(self, query: str) -> set[str]:
        with self.recall() as opened:
            return {card.path for card in opened.search(query)}

    def run(self, *arguments: str, stdin: bytes | None = None, cwd: Path | None = None) -> Result:
        environ = {name: "" for name in os.environ if name.startswith("XDG_")}
        return recall(
            *arguments, cwd=cwd or self.base, stdin=stdin, env={**environ, "HOME": str(self.home)}
        )

    def granted(self, fields: Any = None, *more: str, command: str = "remember") -> Result:
        """Run the command with both grants, the root and ``--json``."""
        words = ("--adapter", "claude", "--allow-write", "--root", str(self.root), "--json")
        payload = json.dumps(LEAST if fields is None else fields)
        return self.run(command, *words, *more, payload)

    def notes(self) -> dict[str, bytes]:
        """Return the notes below the root, by path."""
        return {path: data for path, data in tree(self.root).items() if ".recall" not in path}

    def document(self, path: str) -> Document:
        data = (self.root / path).read_bytes()
        return Document(path.encode(), Content(data).text)

    def check_audit(self, count: int | None = None) -> None:
        """Fail unless every line holds, there are that many, and nothing is left over."""
        machines = audit.read(str(self.root))
        for each in machines:
            assert each.broken is None, each.broken.why
            assert each.pending is None
        assert count is None or sum(len(each.lines) for each in machines) == count
        left = [path for path in tree(self.root) if path.endswith(".tmp") or "pending/" in path]
        assert left == []


def tree(top: Path) -> dict[str, bytes]:
    """Return the files below a directory, by relative path."""
    return {
        str(path.relative_to(top)): path.read_bytes()
        for path in sorted(top.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
