# ruff: noqa: T201 - a report to read
"""recall beside other tools, on the same notes and questions: the tables of ``docs/comparison.md``.

``python tests/comparison.py PLACE --offtopic FILE SET...`` installs what registries provide into
the directory PLACE (robo-cortex from PyPI, @tobilu/qmd, ripgrep and a node from npm; what is there
already stays) and asks each tool the questions of each SET, a directory with ``docs/`` and
``queries.jsonl`` (one object a line with ``query`` and ``relevant``, paths below docs). Printed are
the time of a first index (given up after 300 s), of one more after an edit of one note, of a
question (medians of whole processes), the size of what the tool keeps, how often the first answer
is right, and at how many of the prompts of FILE (one a line), which no note is about, something is
answered.

Each tool is asked as its own documentation has it: ``recall search`` and, for prompts, the prompt
hook; ``qmd search`` (its other searches need models from elsewhere); ``robo-cortex retrieve``, each
note being one memory, of which it keeps 500 characters; ripgrep for any word of the question that
has four letters, files with most lines first.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

RECALL = str(Path(sys.executable).with_name("recall"))
HOOK = str(Path(sys.executable).with_name("recall-hook"))
TIMED = 15  # questions whose time is taken
DEPTH = 5
HEADS = (
    "",
    "first index, s",
    "after an edit, s",
    "a question, ms",
    "keeps, MB",
    "first is right, %",
    "among five, %",
    "off topic",
)
_OLD = 2.5  # seconds
_STATEMENT, _WHY = 500, 300  # characters that robo-cortex takes


class TooLong(Exception):
    """A command has taken more than its time."""


class Tool:
    """One tool over the notes of one set; ``home`` is a directory of its own."""

    name = ""
    patience = 300.0  # seconds that one command may take

    def __init__(self, place: Path, docs: Path, home: Path) -> None:
        self.place = place
        self.docs = docs
        self.home = home
        names = ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        node = str(place / "node_modules/node/bin")
        self.environ = {**os.environ, **dict.fromkeys(names, str(home))}
        self.environ["PATH"] = f"{node}:{self.environ['PATH']}"
        self.environ["RECALL_DEADLINE_MS"] = "10000"  # what a busy machine cuts off is no silence

    def run(self, command: list[str], data: str = "", *, ok: tuple[int, ...] = (0,)) -> str:
        """Run a command in the tool's own home and return what it prints."""
        try:
            done = subprocess.run(
                command,
                input=data.encode(),
                env=self.environ,
                cwd=self.home,
                capture_output=True,
                check=False,
                timeout=self.patience,
            )
        except subprocess.TimeoutExpired as error:
            raise TooLong from error
        if done.returncode not in ok:
            raise SystemExit(f"{command}: {done.returncode}: {done.stderr.decode()[:500]}")
        return done.stdout.decode("utf-8", "replace")

    def build(self) -> None:
        """Make the index of all notes."""

    def update(self) -> None:
        """Bring the index up to date."""
        self.build()

    def ask(self, query: str) -> list[str]:
        """Return the paths of what is found, the best first."""
        raise NotImplementedError

    def answers(self, prompt: str) -> bool:
        """Tell whether anything is answered at a prompt."""
        return bool(self.ask(prompt))

    def size(self) -> int:
        """Return the bytes of what the tool keeps."""
        files = [each for each in self.home.rglob("*") if each.is_file()]
        return sum(each.stat().st_size for each in files)


class Recall(Tool):
    """This project."""

    name = "recall"

    def build(self) -> None:
        """Refresh, as the program does before each search anyway."""
        config = self.home / "recall/config.toml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f'[roots]\nnotes = "{self.docs}"\n')
        self.run([RECALL, "refresh", "--quiet"])

    def ask(self, query: str) -> list[str]:
        """Ask ``recall search``."""
        found = self.run([RECALL, "search", "--json", "-k", str(DEPTH), "--literal", "--", query])
        return [item["path"] for item in json.loads(found)["data"]["items"]]

    def answers(self, prompt: str) -> bool:
        """Ask the prompt hook, each prompt in a conversation of its own."""
        event = {"hook_event_name": "UserPromptSubmit", "cwd": str(self.home), "prompt": prompt}
        event["session_id"] = str(time.monotonic_ns())
        return self.run([HOOK], json.dumps(event)).strip() not in {"", "{}"}


class Qmd(Tool):
    """@tobilu/qmd: SQLite FTS5, and models for what is not measured here."""

    name = "qmd search"

    def build(self) -> None:
        """Add the notes as a collection."""
        self.run(self._qmd("collection", "add", str(self.docs), "--name", "notes"))

    def update(self) -> None:
        """Look at the notes again."""
        self.run(self._qmd("update"))

    def ask(self, query: str) -> list[str]:
        """Ask its full-text search."""
        # What it prints of nothing found may be no JSON.
        found = self.run(self._qmd("search", query, "--json", "-n", str(DEPTH)), ok=(0, 1))
        items = json.loads(found) if found.strip().startswith("[") else []
        return [item["file"].removeprefix("qmd://notes/") for item in items]

    def _qmd(self, *words: str) -> list[str]:
        return [str(self.place / "node_modules/.bin/qmd"), *words]


class RoboCortex(Tool):
    """robo-cortex: memories of a repository, kept in SQLite and scored in Python."""

    name = "robo-cortex retrieve"

    def build(self) -> None:
        """Record each note as a memory."""
        git = ["git", "-c", "user.name=x", "-c", "user.email=x", "-C", str(self.home)]
        self.run([*git, "init", "-q"])
        self.run([*git, "commit", "-q", "--allow-empty", "-m", "x"])
        self.run([self._cortex, "init"])
        self.ids: dict[str, str] = {}
        self._record(sorted(self.docs.rglob("*.md")))

    def update(self) -> None:
        """Record the one that has changed once more."""
        self._record([max(self.docs.rglob("*.md"), key=lambda path: path.stat().st_mtime_ns)])

    def _record(self, paths: list[Path]) -> None:
        """Record some notes: their text without the metadata, as much as is taken."""
        lines = []
        for path in paths:
            text = path.read_text("utf-8", "replace")
            text = " ".join(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).split())
            memory = {"type": "fact", "scope": "repo", "confidence": "high"}
            memory |= {"statement": text[:_STATEMENT] or path.stem}
            memory |= {"why_it_matters": text[_STATEMENT : _STATEMENT + _WHY] or "-"}
            lines.append(json.dumps(memory))
        told = json.loads(self.run([self._cortex, "record", "--batch", "--json"], "\n".join(lines)))
        names = (str(path.relative_to(self.docs)) for path in paths)
        self.ids |= dict(zip(told["created_ids"], names, strict=True))

    def ask(self, query: str) -> list[str]:
        """Ask for what belongs to a task."""
        # A task without a word is an error to it: 1.
        words = [self._cortex, "retrieve", "--json", "--task", query[:2000]]
        found = self.run(words, ok=(0, 1)) or '{"data": []}'
        return [self.ids[item["id"]] for item in json.loads(found)["data"][:DEPTH]]

    @property
    def _cortex(self) -> str:
        return str(self.place / "venv/bin/robo-cortex")


class Ripgrep(Tool):
    """ripgrep: no index, no ranking of its own."""

    name = "ripgrep"

    def ask(self, query: str) -> list[str]:
        """Look for any longer word; the file with most lines first, then by path."""
        words = [re.escape(word) for word in re.findall(r"\w{4,}", query)] or [re.escape(query)]
        program = next(iter(self.place.glob("node_modules/@vscode/ripgrep*/bin/rg")))
        found = self.run(
            [str(program), "-c", "-i", "-e", "|".join(words), "--sort", "path", str(self.docs)],
            ok=(0, 1),
        )
        counted = [line.rpartition(":") for line in found.splitlines()]
        counted.sort(key=lambda each: -int(each[2]))
        return [os.path.relpath(path, self.docs) for path, _, _ in counted[:DEPTH]]


TOOLS = (Recall, Qmd, RoboCortex, Ripgrep)


def install(place: Path) -> list[str]:
    """Install what is missing, and return the names and versions of all."""
    place.mkdir(parents=True, exist_ok=True)
    if not (place / "venv").exists():
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        pip = [str(place / "venv/bin/python"), "-m", "pip", "install", "-q", "robo-cortex"]
        subprocess.run(pip, check=True)
    if not (place / "package.json").exists():
        # qmd needs a node of its own, newer than most systems have.
        npm = ["npm", "install", "--no-fund", "--no-audit", "--silent", "--prefix", str(place)]
        (place / "package.json").write_text("{}")
        subprocess.run([*npm, "node@24"], check=True)
        path = f"{place / 'node_modules/node/bin'}:{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path}
        packages = ["@tobilu/qmd@latest", "@vscode/ripgrep"]
        subprocess.run([*npm, *packages], check=True, env=environ)
    versions = []
    for name in ("@tobilu/qmd", "@vscode/ripgrep", "node"):
        told = json.loads((place / "node_modules" / name / "package.json").read_text())
        versions.append(f"{name} {told['version']}")
    pip = [str(place / "venv/bin/python"), "-m", "pip", "show", "robo-cortex"]
    shown = subprocess.run(pip, check=True, capture_output=True, text=True).stdout
    versions.append("robo-cortex " + shown.partition("Version: ")[2].split()[0])
    return versions


def timed(work: Any) -> float:
    """Return how many seconds a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(tool: Tool, questions: list[dict[str, Any]], prompts: list[str]) -> str:
    """Return one tool's line of the table of one set."""
    try:
        cells = measured(tool, questions, prompts)
    except TooLong:
        cells = [f"over {tool.patience:.0f}"] + ["" for _ in HEADS[2:]]
    return f"| {' | '.join([tool.name, *cells])} |"


def measured(tool: Tool, questions: list[dict[str, Any]], prompts: list[str]) -> list[str]:
    """Measure one tool over one set, and return what the table says of it."""
    first = timed(tool.build)
    note = next(iter(sorted(tool.docs.rglob("*.md"))))
    kept = note.read_bytes()
    note.write_bytes(kept + b"\nOne more line.\n")
    again = timed(tool.update)
    note.write_bytes(kept)
    # Notes are most often older than this: until then ours are read again at each question.
    time.sleep(_OLD)
    tool.update()
    size = tool.size()
    took = [timed(partial(tool.ask, each["query"])) for each in questions[:TIMED]]
    found = [tool.ask(each["query"]) for each in questions]
    right = [set(each["relevant"]) for each in questions]
    pairs = list(zip(found, right, strict=True))
    hit = 100 * statistics.mean(bool(paths and paths[0] in known) for paths, known in pairs)
    five = 100 * statistics.mean(bool(known & set(paths)) for paths, known in pairs)
    spoke = sum(tool.answers(prompt) for prompt in prompts)
    return [
        f"{first:.2f}",
        f"{again:.2f}",
        f"{1000 * statistics.median(took):.0f}",
        f"{size / 1e6:.1f}",
        f"{hit:.1f}",
        f"{five:.1f}",
        f"{spoke} of {len(prompts)}",
    ]


def main() -> None:
    """Read the arguments, install and print a table a set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", type=Path, metavar="PLACE")
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--offtopic", type=Path, required=True, metavar="FILE")
    parser.add_argument("--limit", type=int, default=200, help="questions a set")
    given = parser.parse_args()
    place = given.place.resolve()
    print(", ".join(install(place)))
    prompts = [line for line in given.offtopic.read_text("utf-8").splitlines() if line.strip()]
    for each in given.sets:
        lines = (each / "queries.jsonl").read_text("utf-8").splitlines()[: given.limit]
        questions = [json.loads(line) for line in lines]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            docs = Path(scratch, "docs")
            shutil.copytree(each / "docs", docs)
            notes = sum(1 for _ in docs.rglob("*.md"))
            print(f"\n{each.name}: {notes:,} notes, {len(questions)} questions\n")
            print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
            for kind in TOOLS:
                home = Path(scratch, kind.__name__)
                home.mkdir()
                print(row(kind(place, docs, home), questions, prompts), flush=True)


if __name__ == "__main__":
    main()
