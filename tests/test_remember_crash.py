"""Writers killed at any step: the root is as before or as after, and the next one tidies up."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from writing_support import Desk

from recall.writing import writejournal

if TYPE_CHECKING:
    from pathlib import Path

CRASHES = """
import os, shutil, signal, sys
from datetime import UTC, datetime
from recall.writing import audit, settling
from recall.writing.remembering import Remembering
from index_cache.model import Root
import json
import fcntl, index_cache.reader, index_cache.gitignore, recall.leftovers, recall.writes

base, action = sys.argv[1:]
top, state = base + "/notes", base + "/state"
root = Root("notes", top)
NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
STEPS = ("open", "mkdir", "write", "fsync", "rename", "link", "unlink", "fchmod")
os.fsync = lambda _: None  # a kill is no power cut; waiting for a disk shows nothing here
real = {name: getattr(os, name) for name in STEPS}
left = 0

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def counted(name):
    def call(*arguments, **options):
        step()  # after the one before it
        return real[name](*arguments, **options)
    return call

class Known:  # of the cache nothing is asked here
    def alike(self, record): return []
    def holders(self, id): return []
    def refresh(self): return None

def write(title, text, type="memory", id="r-1"):
    fields = {"type": type, "title": title, "text": text, "id": id}
    command = "propose" if type == "proposal" else "remember"
    place = Remembering(root, state, Known())
    return place.write(json.dumps(fields).encode(), command, "claude", now=NOW)

def prepare():
    shutil.rmtree(top, ignore_errors=True)
    if os.path.exists(base + "/kept"):
        shutil.copytree(base + "/kept", top)
        return
    os.makedirs(top)
    write("First", "One.", id="r-0")
    if action == "append":
        write("Keys", "One.")
    elif action != "create":
        write("Keys", "One.", "proposal")
    shutil.copytree(top, base + "/kept")

def act():
    if action in ("create", "append"):
        write("Keys", "Two.")
    elif action == "accept":
        settling.accept(root, state, "r-1", lambda _: (), now=NOW)
    else:
        settling.reject(root, state, "r-1", "no", now=NOW)

def held():
    found = {}
    for directory, below, names in os.walk(top):
        below[:] = [name for name in below if name != ".recall"]
        for name in names:
            with open(os.path.join(directory, name), "rb") as stream:
                found[os.path.relpath(os.path.join(directory, name), top)] = stream.read()
    return found

def lines():
    (found,) = audit.read(top)
    assert found.broken is None, (count, found.broken.why)
    return [(line["action"], line["path"], line["id"]) for line in found.lines]

def check(before, after):
    now = held()
    if action == "accept" and now not in (before, after):
        # Two names can't change at once: for a moment the note is at both, and the old one is left
        # out of every answer. The next writer ends that.
        assert now == {**before, **after}, count
        return "between"
    assert now in (before, after), (count, now)
    return "after" if now == after else "before"

prepare()
before, some = held(), lines()
act()
after, all = held(), lines()
assert before != after and len(all) == len(some) + 1
count, seen, strays = 0, set(), 0
while True:
    prepare()
    count += 1
    child = os.fork()
    if not child:
        left = count
        for name in STEPS:
            setattr(os, name, counted(name))
        act()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    was = check(before, after)
    seen.add(was)
    strays += any(name.endswith(".tmp") for _, _, names in os.walk(top) for name in names)
    write("Next", "Three.", id="r-9")
    now = held()
    now.pop("memory/next.md")
    assert now == (before if was == "before" else after), count
    expected = some if was == "before" else all
    assert lines() == [*expected, ("create", "memory/next.md", "r-9")], (count, lines())
    files = [name for _, _, names in os.walk(top) for name in names]
    assert not [name for name in files if name.endswith((".tmp", ".json"))], (count, files)
    if status == 0:
        break
print(count, len(seen), strays)
"""


@pytest.mark.parametrize("action", ["create", "append", "accept", "reject"])
def test_C6_killed_at_any_step_the_root_is_as_before_or_after(tmp_path: Path, action: str) -> None:
    """And the audit has a line of it exactly if it was done, once the next writer has been."""
    done = subprocess.run(
        [sys.executable, "-c", CRASHES, str(tmp_path), action],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    steps, outcomes, strays = map(int, done.stdout.split())
    assert steps > 30
    assert outcomes == (3 if action == "accept" else 2)
    assert strays > 10  # enough of the kills left something to tidy up


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("new", [False, True])
def test_what_others_do_after_a_crash_is_not_taken_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, new: bool, late: bool
) -> None:
    """Ended right before or right after the change, then the note is written by hand."""
    desk = Desk(tmp_path)
    if not new:
        desk.remember()
    real = writejournal._apply

    def interrupted(*arguments: Any) -> None:
        if late:
            real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(writejournal, "_apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            desk.remember(text="Two.")
    note = desk.root / "memory" / "deploy-keys.md"
    assert note.exists() == (late or not new)
    note.parent.mkdir(exist_ok=True)
    note.write_bytes(b"By hand.\n")
    desk.remember(title="B", text="Another thing.")
    assert note.read_bytes() == b"By hand.\n"
    desk.check_audit((not new) + late + 1)


def test_a_write_that_was_cut_off_is_told_by_the_audit(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.remember()
    (file,) = (desk.root / ".recall" / "audit").iterdir()
    whole = file.read_bytes()
    desk.remember(title="B", text="Another thing.")
    line = file.read_bytes()[len(whole) :]
    # As if killed within the line: what was begun is noted.
    pending = {"staged": ".recall/pending/x.tmp", "path": "memory/b.md", "before": None}
    digest = line.split(b'"after":"')[1][:64].decode()
    pending |= {"after": digest, "remove": None, "removed": None, "line": line.decode()}
    note = desk.root / ".recall" / "pending" / f"{file.stem}.json"
    note.write_text(json.dumps(pending))
    for kept in (0, 1, len(line) // 2, len(line) - 1):
        file.write_bytes(whole + line[:kept])
        done = desk.run("audit", "--root", str(desk.root), "--json").data()
        assert done["machines"][0]["pending"] == "memory/b.md"
        assert "interrupted" in done["notices"][0]["message"]
        assert done["total"] == 1
    desk.remember(title="C", text="A third thing.")
    assert file.read_bytes().startswith(whole + line)
    desk.check_audit(3)
