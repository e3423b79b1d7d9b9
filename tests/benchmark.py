# ruff: noqa: S311, S608, T201 - invented notes, a fixed statement, and a report to read
"""How long things take, as ratios of whole processes measured in one run.

``python tests/benchmark.py [NOTES [ROOTS]]`` writes NOTES notes (10,000) into a temporary directory
and times, in turn with the least that the same work can cost here: a first build, a refresh after
one edit, a search, and a prompt that gets cards. With ROOTS (1; at most 50) each of that many
directories with a fiftieth of the notes is a root, and nothing else is. Each line is the median of
the ratios pair by pair; the floors are an interpreter that imports apsw, the same with a walk and a
stat of every note, and the same with all notes put into a plain FTS5 table. Nothing here is
asserted: machines are noisy, ratios less so.
"""

from __future__ import annotations

import bisect
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RECALL = [str(Path(sys.executable).with_name("recall"))]
HOOK = [str(Path(sys.executable).with_name("recall-hook"))]
IMPORT = "import apsw"
WALK = """
import apsw, os, sys
stack, found = [sys.argv[1]], []
while stack:
    with os.scandir(stack.pop()) as listing:
        for each in listing:
            if each.name.endswith(".md"):
                found.append((each.path, each.stat(follow_symlinks=False)))
            elif each.is_dir(follow_symlinks=False):
                stack.append(each.path)
"""
BUILD = (
    WALK
    + """
db = apsw.Connection(sys.argv[2])
db.pragma("journal_mode", "wal")
db.pragma("synchronous", "normal")
db.execute("CREATE VIRTUAL TABLE f USING fts5(body, tokenize='porter unicode61',"
           " content='', contentless_delete=1)")
db.execute("INSERT INTO f(f, rank) VALUES ('hashsize', 67108864)")
with db:
    for number, (path, _) in enumerate(found, 1):
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
        db.execute("INSERT INTO f(rowid, body) VALUES (?, ?)", (number, text))
"""
)


def write_notes(directory: Path, count: int) -> list[str]:
    """Write notes whose words follow Zipf's law; return the words, the most frequent first."""
    rng = random.Random(1)
    letters = "bcdfghklmnprstvw"
    sounds = [c + v for c in letters for v in ("a", "e", "i", "o", "u", "an", "er")]
    words = list(dict.fromkeys("".join(rng.choices(sounds, k=3)) for _ in range(60_000)))
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))

    def text(length: int) -> str:
        chosen = (words[bisect.bisect(weights, rng.random() * weights[-1])] for _ in range(length))
        return " ".join(chosen)

    for number in range(count):
        folder = directory / f"area-{number % 50:02d}" / f"topic-{number % max(1, count // 20)}"
        folder.mkdir(parents=True, exist_ok=True)
        head = f"---\ntitle: {text(4)}\ndescription: {text(12)}\ntags: [{text(1)}]\n---\n"
        body = "\n\n".join(text(60) for _ in range(max(1, int(rng.lognormvariate(1.6, 0.7)))))
        (folder / f"note-{number:06d}.md").write_text(f"{head}\n# {text(4)}\n\n{body}\n")
    return words


def once(command: list[str], data: bytes = b"") -> float:
    """Run a command to its end and return how long it took, in seconds."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, input=data)
    return time.perf_counter() - start


def ratio(
    name: str,
    pairs: int,
    ours: list[str],
    floor: list[str],
    prepare: object = None,
    *,
    data: bytes = b"",
) -> None:
    """Time two commands in turn and print the median ratio; the first pair does not count."""
    ratios = []
    took = []
    for turn in range(pairs + 1):
        if callable(prepare):
            prepare()
        a, b = once(ours, data), once(floor)
        if turn:
            ratios.append(a / b)
            took.append(a * 1000)
    print(f"{name:32s} {statistics.median(ratios):5.2f} x   ({statistics.median(took):.0f} ms)")


def main() -> None:
    """Measure everything once."""
    count, number, *_ = [*map(int, sys.argv[1:]), *(10_000, 1)[len(sys.argv) - 1 :]]
    # The hook leaves a refresh behind, which may still be writing at the end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        notes, cache = Path(scratch, "notes"), Path(scratch, "cache")
        for name in ("CACHE", "CONFIG", "STATE"):
            os.environ[f"XDG_{name}_HOME"] = str(cache)
        os.environ["RECALL_DEADLINE_MS"] = "10000"  # what a busy machine cuts off is not timed
        words = write_notes(notes, count)
        roots = sorted(notes.iterdir())[:number] if number > 1 else [notes]
        configure(cache, roots)
        table = str(Path(scratch, "floor.db"))

        def forget() -> None:
            for each in (cache / "recall").glob("*.db*"):
                each.unlink()
            Path(table).unlink(missing_ok=True)

        def edit() -> None:
            with next(roots[0].rglob("*.md")).open("a") as file:
                file.write("One more line.\n")

        python = [sys.executable, "-c"]
        build = [*RECALL, "refresh", "--quiet"]
        print(f"{count:,} notes, roots: {len(roots)}; times of ours in brackets")
        ratio("first build / plain FTS5", 3, build, [*python, BUILD, str(notes), table], forget)
        ratio("refresh after an edit / walk", 11, build, [*python, WALK, str(notes)], edit)
        query = [words[900], words[4_000], words[20_000]]
        ask = [*RECALL, "search", "--json", "--", *query]
        ratio("search / import apsw", 21, ask, [*python, IMPORT])
        prompt(roots[0], notes)


def configure(state: Path, roots: list[Path]) -> None:
    """Let these be the person's roots."""
    config = state / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    lines = (f'r{number} = "{root}"\n' for number, root in enumerate(roots))
    config.write_text("[roots]\n" + "".join(lines))


def prompt(root: Path, cwd: Path) -> None:
    """Time the prompt hook: a prompt that gets cards, from a few words of a note."""
    note = next(root.rglob("*.md")).read_text()
    words = note.partition("description: ")[2].split()[:5]
    event = {"hook_event_name": "UserPromptSubmit", "cwd": str(cwd), "prompt": " ".join(words)}
    data = json.dumps(event).encode()
    once([*RECALL, "refresh", "--quiet"])
    time.sleep(2.1)  # until then the files are too young to be trusted
    once(HOOK, data)
    said = subprocess.run(HOOK, input=data, check=True, capture_output=True).stdout
    if not said:
        sys.exit("the hook is silent: that would time silence")
    ratio("prompt, cards / import apsw", 21, HOOK, [sys.executable, "-c", IMPORT], data=data)


if __name__ == "__main__":
    main()
