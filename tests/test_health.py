"""``recall health``: each fault is found, with its measure and its place, and gone when mended."""

# The codes of reported faults (C5, H6, S1) are written as they are.

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from cli_support import recall, valid_envelope
from disk_support import failing
from health_support import DAY, Place, build, put_back, within
from rights_support import bound_by_modes
from schedule_support import Machine

from index_cache import db, locks, mounts
from index_cache.store import Store
from recall import failures, hookfault, recalllog
from recall.cli import main
from recall.health import gathering, thresholds
from recall.scheduling import job

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path]:
    """Where the installation is, and where it is kept."""
    top = tmp_path_factory.mktemp("health")
    return Place(top / "here"), top / "kept"


@pytest.fixture
def sound(kept: tuple[Place, Path], monkeypatch: pytest.MonkeyPatch) -> Place:
    """Give an installation on which all is well."""
    place, copy = kept
    for name, value in place.environ.items():
        monkeypatch.setenv(name, value)
    os.chdir(copy.parent)
    if copy.exists():
        put_back(copy, place)
    else:
        build(place)
        shutil.copytree(place.top, copy, symlinks=True)
    monkeypatch.chdir(place.home)
    return place


def test_a_sound_installation_gives_not_one_finding(sound: Place) -> None:
    sound.settle()
    data = sound.health("--deep")
    assert (data["findings"], data["deep"]) == ([], True)
    (root,) = data["roots"]
    assert (root["name"], root["documents"], root["proposals"]) == ("notes", 3, 0)
    assert root["last_proof"]["result"] == "equal"
    assert root["pages"]["checked"] == root["pages"]["of"] > 0
    assert data["hook"]["hosts"] == ["claude"]
    assert (data["hook"]["wanted"], data["hook"]["runs"]) == (True, 1)
    done = recall("health", cwd=sound.home)
    assert (done.status, done.stdout, done.stderr) == (0, "ok: 1 root, 3 notes, 0 findings\n", "")
    assert recall("health", "--quiet", cwd=sound.home).stdout == ""


def test_a_run_of_the_real_hook_leaves_all_well(sound: Place) -> None:
    sound.log.unlink()
    sound.prompt()
    data = sound.health()
    assert data["findings"] == []
    assert data["hook"]["runs"] == 1


# -- configuration


def test_config_invalid(sound: Place) -> None:
    text = sound.config.read_text()
    sound.config.write_text("[roots]\nnotes = \n")
    found = sound.found("config_invalid")
    assert (found["level"], found["file"]) == ("critical", f"{sound.config}:2:9")
    assert found["hint"] == f"${{EDITOR:-vi}} +2 {sound.config}"
    sound.config.write_text(text)
    sound.settle()


WRONG = {
    "nan": "nan",
    "inf": "inf",
    "-inf": "-inf",
    "0": "0",
    "-0.0": "-0.0",
    "-1": "-1",
    "true": "True",
    '"10"': "10",
    "[1]": "[1]",
    "{a = 1}": "{'a': 1}",
    "1979-05-27": "1979-05-27",
    "1" + "0" * 400: "1" + "0" * 38 + "…",
}


@pytest.mark.parametrize("key", list(thresholds.USUAL))
def test_threshold_invalid_of_each_key(sound: Place, key: str) -> None:
    sound.configure(f"\n[health]\n{key} = nan\n")
    found = sound.found("threshold_invalid")
    assert found["message"].startswith(f"health.{key} must be a finite number above 0")
    assert (found["value"], found["file"]) == ("nan", str(sound.config))


@pytest.mark.parametrize("value", list(WRONG))
def test_threshold_invalid(sound: Place, value: str) -> None:
    text = sound.config.read_text()
    line = text.count("\n") + 3
    sound.configure(f"\n[health]\nproof_days = {value}\n")
    found = sound.found("threshold_invalid")
    assert (found["level"], found["threshold"]) == ("critical", "finite, above 0")
    assert found["value"] == WRONG[value]
    assert found["hint"] == f"${{EDITOR:-vi}} +{line} {sound.config}"
    # No other command minds.
    assert recall("refresh", cwd=sound.home).stderr == ""
    sound.config.write_text(text + "\n[health]\nproof_days = 2.5\n")
    sound.settle()


def test_threshold_invalid_for_the_table_itself(sound: Place) -> None:
    text = sound.config.read_text()
    sound.config.write_text("health = 5\n" + text)
    assert sound.found("threshold_invalid")["value"] == "5"


def test_a_threshold_of_the_person_counts_and_one_of_a_project_does_not(sound: Place) -> None:
    project = sound.home / ".recall.toml"
    project.write_text("[health]\nproof_days = nan\nrefresh_hours = 0.000001\n")
    data = sound.health()
    assert data["findings"] == []
    assert data["notices"] == [
        {"message": f"{project}: health has no effect here, only in your own file", "hint": None}
    ]
    project.unlink()
    sound.configure("\n[health]\nrefresh_hours = 1e-9\nrefesh_hours = 1\n")
    data = sound.health()
    assert [each["code"] for each in data["findings"]] == ["refresh_old"]
    assert data["findings"][0]["threshold"] == 1e-9
    assert data["thresholds"]["refresh_hours"] == 1e-9
    (notice,) = data["notices"]
    assert notice["hint"] == "did you mean health.refresh_hours?"


# -- roots


def test_roots_missing(sound: Place) -> None:
    text = sound.config.read_text()
    sound.config.write_text("")
    assert sound.found("roots_missing")["level"] == "warn"
    sound.config.write_text(text)
    sound.settle()


def test_root_unavailable(sound: Place) -> None:
    away = sound.top / "away"
    sound.notes.rename(away)
    found = sound.found("root_unavailable")
    assert (found["level"], found["root"]) == ("critical", "notes")
    assert found["file"] == str(sound.notes)
    other = sound.top / "other"
    other.mkdir()
    sound.configure(f'other = "{other}"\n')
    assert sound.found("root_unavailable", only=False)["level"] == "warn"
    sound.run("roots", "remove", "other")
    away.rename(sound.notes)
    sound.settle()


def test_files_skipped(sound: Place) -> None:
    sound.write("bad.md", b"\0" * 100)
    sound.write("deep/node_modules/x.md", "# left out\n")
    (sound.notes / "link.md").symlink_to("keys.md")
    sound.run("refresh")
    found = sound.found("files_skipped")
    assert (found["level"], found["root"], found["file"]) == ("warn", "notes", str(sound.notes))
    assert (found["value"], found["threshold"], found["unit"]) == (1, 0, "files")
    assert "not text" in found["message"]
    assert "bad.md" in sound.run(*found["hint"].split()[1:])
    assert sound.health()["roots"][0]["skipped_by_reason"]["symlink"] == 1
    (sound.notes / "bad.md").unlink()
    sound.run("refresh")
    sound.settle()


@pytest.mark.parametrize("rule", ["max_files = 2", "max_file_bytes = 20"])
def test_files_skipped_beyond_a_limit(sound: Place, rule: str) -> None:
    sound.config.write_text(f'[roots.notes]\npath = "{sound.notes}"\n{rule}\n')
    sound.run("refresh")
    found = sound.found("files_skipped", only=False)
    assert found["value"] == (1 if "files" in rule else 3)


def test_files_unavailable(sound: Place) -> None:
    away = sound.top / "away"
    away.mkdir()
    for path in list(sound.notes.iterdir()):
        path.rename(away / path.name)
    sound.run("refresh")
    found = sound.found("files_unavailable")
    assert (found["level"], found["value"], found["root"]) == ("warn", 1, "notes")
    for path in list(away.iterdir()):
        path.rename(sound.notes / path.name)
    sound.run("refresh")
    sound.settle()


def test_proposals_backlog(sound: Place) -> None:
    for number in range(12):
        kind, status = ("Proposal", "Pending") if number else ("proposal", "accepted")
        sound.write(f"p{number}.md", f"---\ntype: {kind}\nstatus: {status}\n---\n# One {number}\n")
    sound.write("no.md", "---\ntype: note\nstatus: pending\n---\nA proposal about proposals.\n")
    sound.run("refresh")
    found = sound.found("proposals_backlog")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 11, 10)
    sound.write("p1.md", "---\ntype: proposal\nstatus: declined\n---\n# Done\n")
    sound.run("refresh")
    sound.settle()


# -- refreshes


def test_refresh_missing(sound: Place) -> None:
    sound.run("cache", "prune", "--all")
    found = sound.found("refresh_missing")
    assert (found["level"], found["root"]) == ("warn", "notes")
    sound.mend(found)
    sound.mend(sound.found("proof_missing"))  # of the new one
    sound.settle()


def test_refresh_missing_without_the_file_that_dates_it(sound: Place) -> None:
    sound.lock.unlink()
    found = sound.found("refresh_missing")
    assert found["file"] == str(sound.cache)
    sound.mend(found)
    sound.settle()


def test_refresh_failed(sound: Place) -> None:
    told = {"when": time.time(), "message": "the disk is full", "where": None, "hint": None}
    file = sound.state / failures.FILE
    file.write_text(json.dumps({db.identity(sound.root): {"failure": told}}))
    file.chmod(0o600)
    found = sound.found("refresh_failed")
    assert (found["level"], found["root"]) == ("warn", "notes")
    assert "the disk is full" in found["message"]
    sound.mend(found)
    sound.settle()


def test_an_old_failure_does_not_outweigh_a_newer_refresh(sound: Place) -> None:
    told = {"when": time.time() - 5, "message": "old", "where": None, "hint": None}
    file = sound.state / failures.FILE
    file.write_text(json.dumps({db.identity(sound.root): {"failure": told}}))
    file.chmod(0o600)
    os.utime(sound.lock)
    sound.settle()
    os.utime(sound.lock, (0, time.time() - 60))
    sound.found("refresh_failed")


@pytest.mark.parametrize(
    ("code", "days", "value", "limit"),
    [("refresh_old", 3, 72, 48), ("index_old", 8, 8, 7)],
)
def test_refresh_old_and_index_old(
    sound: Place, code: str, days: int, value: float, limit: float
) -> None:
    when = time.time() - days * DAY
    os.utime(sound.lock, (when, when))
    found = sound.found(code)
    assert (found["level"], found["root"], found["file"]) == ("warn", "notes", str(sound.cache))
    assert (found["value"], found["threshold"]) == (value, limit)
    sound.mend(found)
    sound.settle()


def test_root_unavailable_says_what_forgets_it(sound: Place) -> None:
    sound.configure(f'gone = "{sound.top}/gone"\n')
    sound.mend(sound.found("root_unavailable"))
    sound.settle()


def test_roots_missing_says_what_finds_some(sound: Place) -> None:
    sound.run("roots", "remove", "notes")
    assert sound.found("roots_missing")["hint"] == "recall roots discover ~"


def test_refresh_failed_says_what_the_failure_did(sound: Place) -> None:
    told = {"when": time.time(), "message": "refused", "where": None, "hint": "give it an id"}
    file = sound.state / failures.FILE
    file.write_text(json.dumps({db.identity(sound.root): {"failure": told}}))
    file.chmod(0o600)
    assert sound.found("refresh_failed")["message"].endswith(": refused; give it an id")


def test_threshold_invalid_where_the_table_is_none(sound: Place) -> None:
    sound.config.write_text("health = 3\n" + sound.config.read_text())
    found = sound.found("threshold_invalid")
    assert found["message"].startswith("health must be a table, [health];")
    assert found["threshold"] == "a table"


# -- proofs


def test_proof_missing(sound: Place) -> None:
    sound.proof.unlink()
    found = sound.found("proof_missing")
    assert (found["level"], found["root"], found["file"]) == ("warn", "notes", str(sound.cache))
    sound.mend(found)
    sound.settle()


def test_proof_missing_of_the_cache_of_this_version(sound: Place) -> None:
    sound.edit_proof(cache="notes-0123456789abcdef-0123456789abcdef.db")
    sound.found("proof_missing")


def test_proof_missing_of_a_file_in_another_directory(
    sound: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found wrong here stays so, whatever is equal elsewhere."""
    elsewhere = sound.top / "elsewhere"
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere))
    sound.run("refresh")
    sound.run("rebuild", "--check")
    sound.settle()
    monkeypatch.setenv("XDG_CACHE_HOME", sound.environ["XDG_CACHE_HOME"])
    found = sound.found("proof_missing")
    assert found["file"] == str(sound.cache)
    # A copy has the same mark, and is another file all the same.
    shutil.copytree(elsewhere / "recall", sound.caches, dirs_exist_ok=True)
    sound.mend(sound.found("proof_missing"))
    sound.settle()


def test_proof_missing_of_a_new_file_in_the_place_of_the_old(sound: Place) -> None:
    sound.run("cache", "prune", "--all")
    sound.run("refresh")
    sound.mend(sound.found("proof_missing"))
    sound.settle()
    sound.run("rebuild")  # which proves what it swaps in
    sound.settle()


def test_the_proof_of_a_cache_without_a_mark_is_of_its_file(sound: Place) -> None:
    with closing(Store(sound.root, str(sound.cache))) as store:
        store.connection.execute("DELETE FROM meta WHERE key = 'made'")
        store.checkpoint()
    sound.mend(sound.found("proof_missing"))
    sound.settle()


def test_proof_old(sound: Place) -> None:
    sound.edit_proof(when=time.time() - 15 * DAY)
    found = sound.found("proof_old")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 15, 14)
    sound.mend(found)
    sound.settle()


def test_proof_failed(sound: Place) -> None:
    with locks.WriterLock(str(sound.cache)) as lock:
        assert lock.acquire(0)
        sound.run("rebuild", "--wait", "0", status=6)
    found = sound.found("proof_failed")
    assert (found["level"], found["root"]) == ("warn", "notes")
    sound.mend(found)
    sound.settle()


def test_proof_stale(sound: Place) -> None:
    sound.write("keys.md", "# Other keys\n")
    sound.run("rebuild", "--check", status=2)
    found = sound.found("proof_stale")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 1, 0)
    assert "1 pending" in found["message"]
    sound.mend(found)
    sound.settle()


def test_proof_wrong(sound: Place) -> None:
    with closing(Store(sound.root, str(sound.cache))) as store:
        store.connection.execute("UPDATE document SET title = 'forged' WHERE id = 1")
        store.checkpoint()
    sound.run("rebuild", "--check", status=2)
    found = sound.found("proof_wrong")
    assert (found["level"], found["value"], found["threshold"]) == ("critical", 1, 0)
    assert (found["root"], found["file"]) == ("notes", str(sound.cache))
    sound.run("refresh")  # which does not mend it
    sound.found("proof_wrong")
    sound.mend(found)
    sound.settle()


# -- caches


def test_cache_damaged(sound: Place) -> None:
    sound.damage()
    found = sound.found("cache_damaged")
    assert (found["level"], found["value"]) == ("critical", 1)
    assert (found["root"], found["file"]) == ("notes", str(sound.cache))
    again = sound.found("cache_damaged")
    assert again["value"] == 1  # not once more: it was looked at again
    sound.mend(found)
    sound.settle()


def test_cache_damaged_is_remembered_until_a_full_look(
    sound: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The next look is at other pages, and an old success outweighs no newer failure."""
    for number in range(300):
        text = " ".join(f"w{number * 31 % 97}x{n * number}" for n in range(90))
        sound.write(f"{number}.md", text)
    sound.run("refresh")
    monkeypatch.setattr(gathering, "PAGES", 1)
    monkeypatch.setattr(gathering, "LEAST_PAGES", 8)
    monkeypatch.chdir(sound.home)
    total = os.path.getsize(sound.cache) // db.PAGE
    whole = sound.cache.read_bytes()
    sound.damage(total - 3)
    told: list[list[str]] = []
    for _ in range(2 * total // 8):
        main(["health", "--json"])
        data = valid_envelope(capsys.readouterr().out.encode())["data"]
        told.append([each["code"] for each in data["findings"]])
        assert data["roots"][0]["pages"] in ({"checked": 8, "of": total}, {"checked": 0, "of": 0})
    first = told.index(["cache_damaged"])
    assert 0 < first < total // 8 + 1
    assert all(codes == [] for codes in told[:first])
    assert all(codes == ["cache_damaged"] for codes in told[first:])
    sound.cache.write_bytes(whole)
    sound.found("cache_damaged")
    assert [each["code"] for each in sound.health("--deep")["findings"]] == ["cache_repaired"]
    sound.mend(sound.found("cache_repaired"))
    sound.settle()


def test_a_page_that_the_wal_may_have_anew_is_not_judged(sound: Place) -> None:
    """A crash in the midst of a checkpoint leaves such pages, and SQLite never reads them."""
    for number in range(300):
        text = " ".join(f"w{number * 31 % 97}x{n * number}" for n in range(90))
        sound.write(f"{number}.md", text)
    sound.run("refresh")
    with closing(Store(sound.root, str(sound.cache))) as store:
        store.connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")
        total = os.path.getsize(sound.cache) // db.PAGE
        sound.damage(total - 3)
        data = sound.health()
        assert data["findings"] == []
        assert data["roots"][0]["pages"] == {"checked": total - 3, "of": total}
        store.checkpoint()
        sound.found("cache_damaged")


def test_cache_damaged_where_only_all_pages_together_show_it(sound: Place) -> None:
    """Rows that are gone belie no checksum: their index tells, which --deep compares."""
    with closing(Store(sound.root, str(sound.cache))) as store:
        store.connection.execute("PRAGMA writable_schema = ON")
        store.connection.execute("PRAGMA ignore_check_constraints = ON")
        (page,) = next(
            store.connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", ("meta",))
        )
        assert page
        store.connection.execute("UPDATE meta SET value = x'00' WHERE key = 'skipped'")
        store.checkpoint()
    assert sound.found("cache_damaged", "--deep")["level"] == "critical"


@pytest.mark.parametrize("number", [2, 3, 5, 8, 13])
def test_C6_a_full_disk_at_the_first_build_is_no_damage(sound: Place, number: int) -> None:
    sound.run("cache", "prune", "--all")
    with failing(number, apsw.FullError, dead=True):
        assert within("refresh")[0] == 6
    codes = [each["code"] for each in sound.health()["findings"]]
    assert codes == ["refresh_failed", "refresh_missing"]
    sound.run("refresh")
    sound.mend(sound.found("proof_missing"))
    sound.settle()


def test_cache_repaired(sound: Place) -> None:
    sound.damage()
    sound.found("cache_damaged")
    sound.run("cache", "prune", "--all")
    sound.run("refresh")
    found = sound.found("cache_repaired")
    assert (found["level"], found["value"], found["root"]) == ("warn", 1, "notes")
    sound.mend(found)
    sound.settle()


def test_a_check_that_finds_equality_settles_damage(sound: Place) -> None:
    whole = sound.cache.read_bytes()
    sound.damage()
    sound.run("rebuild", "--check", status=2)
    sound.found("cache_damaged")
    sound.cache.write_bytes(whole)
    sound.found("cache_damaged")
    sound.run("rebuild", "--check")
    sound.settle()


def test_cache_unreadable(sound: Place) -> None:
    connection, _ = db.connect(str(sound.cache))
    with closing(connection):
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        found = sound.found("cache_unreadable")
        assert (found["level"], found["root"]) == ("warn", "notes")
        assert found["file"] == str(sound.cache)
        connection.execute("ROLLBACK")
    sound.settle()


@pytest.mark.parametrize("mode", [0, 0o400, 0o200])
def test_cache_unreadable_without_its_owners_rights(sound: Place, mode: int) -> None:
    """Health mends nothing, not even a mode."""
    sound.cache.chmod(mode)
    found = sound.found("cache_unreadable")
    assert f"{mode:04o}" in found["message"]
    assert sound.cache.stat().st_mode & 0o777 == mode
    sound.mend(found)
    sound.settle()


# -- the hook


def test_hook_missing(sound: Place) -> None:
    sound.settings.unlink()
    found = sound.found("hook_missing")
    assert found["level"] == "warn"
    sound.mend(found)
    sound.settle()


def test_hook_missing_is_not_said_of_a_project_that_has_it(sound: Place) -> None:
    """Its install was noted, wherever one asks; what stands there is judged like any other."""
    sound.settings.unlink()
    project = sound.top / "project"
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    sound.run("hook", "install", "--host", "claude", "--scope", "project")
    os.chdir(sound.home)
    sound.settle()
    assert sound.health()["hook"]["hosts"] == ["claude"]
    file = project / ".claude" / "settings.local.json"
    settings = json.loads(file.read_text())
    del settings["hooks"]["SessionStart"]
    file.write_text(json.dumps(settings))
    found = sound.found("hook_idle")
    assert (found["file"], found["hint"].split(" && ")[0]) == (str(file), f"cd {project}")
    sound.mend(found)
    sound.settle()
    file.write_text("{}")
    sound.found("hook_missing")


def test_hook_missing_is_not_said_where_it_cant_be_told(sound: Place) -> None:
    sound.settings.write_text("{")
    sound.found("hook_unread")


def test_hook_idle_at_an_event(sound: Place) -> None:
    settings = json.loads(sound.settings.read_text())
    del settings["hooks"]["SessionStart"]
    sound.settings.write_text(json.dumps(settings))
    found = sound.found("hook_idle")
    assert found["hint"] == "recall hook install --host claude"
    sound.mend(found)
    sound.settle()


def test_hook_gone(sound: Place) -> None:
    text = sound.settings.read_text()
    words = json.loads(text)["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    program = words.split()[0]
    sound.settings.write_text(text.replace(program, "/no/such/recall-hook"))
    found = sound.found("hook_gone")
    assert (found["level"], found["file"]) == ("critical", str(sound.settings))
    assert (found["value"], found["threshold"]) == (1, 0)
    assert "/no/such/recall-hook" in found["message"]
    sound.mend(found)
    sound.settle()


def test_hook_idle(sound: Place) -> None:
    text = sound.settings.read_text()
    sound.settings.write_text(json.dumps({"disableAllHooks": True, **json.loads(text)}))
    found = sound.found("hook_idle")
    assert (found["level"], found["file"]) == ("warn", str(sound.settings))
    assert "disableAllHooks" in found["message"]
    sound.settings.write_text(text)
    sound.settle()


def test_hook_unread(sound: Place) -> None:
    other = sound.home / ".gemini" / "settings.json"
    other.parent.mkdir()
    other.write_text('{"hooks": ')
    found = sound.found("hook_unread")
    assert found["level"] == "warn"
    assert found["file"].startswith(str(other))
    other.unlink()
    sound.settle()


def test_hook_never_ran(sound: Place) -> None:
    sound.log.unlink()
    found = sound.found("hook_never_ran")
    assert found["level"] == "warn"
    assert "claude" in found["message"]
    sound.prompt()
    sound.settle()


def test_a_hook_whose_runs_are_not_logged_has_left_other_traces(sound: Place) -> None:
    sound.log.unlink()
    sound.configure("\n[hook]\nlog = false\n")
    sound.found("hook_never_ran")
    sound.prompt()
    sound.settle()
    assert sound.health()["hook"]["last_ran"] is None


def test_a_hook_that_is_switched_off_is_not_asked_for(sound: Place) -> None:
    sound.settings.unlink()
    sound.log.unlink()
    sound.configure("\n[hook]\nenabled = false\n")
    sound.settle()


def test_hook_paused(sound: Place) -> None:
    sound.run("pause", "1h")
    sound.log.unlink()
    sound.settle()
    sound.run("pause")
    found = sound.found("hook_paused")
    assert found["level"] == "warn"
    sound.mend(found)
    sound.found("hook_never_ran")


def test_a_host_of_the_persons_own_is_one(sound: Place) -> None:
    sound.settings.unlink()
    sound.lines(*[{"host": "text"}] * 19)
    sound.found("hook_missing")
    sound.lines({"host": "text"})
    sound.settle()


def test_hook_quiet(sound: Place) -> None:
    sound.log.write_text("")
    sound.lines({"t": time.time() - 15 * DAY})
    found = sound.found("hook_quiet")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 15, 14)
    sound.prompt()
    sound.settle()


def test_H6_hook_failed(sound: Place) -> None:
    state = str(sound.state)
    hookfault.note(state, "the log can't be written", where="/x")
    found = sound.found("hook_failed")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 1, 3)
    assert found["file"] == "/x"
    for _ in range(2):
        hookfault.note(state, "the log can't be written", where="/x")
    found = sound.found("hook_failed")
    assert (found["level"], found["value"]) == ("critical", 3)
    assert "the log can't be written" in found["message"]
    sound.prompt()  # which works
    sound.settle()


def test_H6_what_is_switched_off_has_not_failed(sound: Place) -> None:
    for part in (hookfault.HOOK, hookfault.REFRESH):
        for _ in range(3):
            hookfault.note(str(sound.state), "it can't be read", part=part)
    sound.configure("\n[hook]\nenabled = false\n")
    sound.settle()


def test_H6_hook_refresh_failed(sound: Place) -> None:
    state = str(sound.state)
    for _ in range(3):
        hookfault.note(state, "no refresh could be started", part=hookfault.REFRESH)
    found = sound.found("hook_refresh_failed")
    assert (found["level"], found["value"], found["threshold"]) == ("critical", 3, 3)
    sound.run("refresh", "--root", "notes")  # which are perhaps not all
    sound.found("hook_refresh_failed")
    away = sound.notes.rename(sound.top / "away")
    sound.run("refresh", status=6)
    away.rename(sound.notes)
    assert "hook_refresh_failed" in {each["code"] for each in sound.health()["findings"]}
    sound.mend(found)
    sound.settle()


def test_hook_late(sound: Place) -> None:
    sound.lines({"why": "deadline", "ms": 100})
    sound.settle()  # one alone
    sound.lines({"why": "deadline", "ms": 100})
    found = sound.found("hook_late")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 66.7, 5)
    sound.lines(*[{}] * 40)
    sound.settle()


def test_hook_slow(sound: Place) -> None:
    sound.lines(*[{"ms": 300}] * 18)
    sound.settle()  # too few to tell
    sound.lines({"ms": 300})
    found = sound.found("hook_slow")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 300, 200)
    assert found["unit"] == "ms"
    sound.lines(*[{}] * 400)
    sound.settle()


# -- the schedule


@pytest.fixture
def machine(sound: Place, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a cron of its own, and with all other programs."""
    machine = Machine(sound.top / "machine")
    machine.add("crontab")
    environ = machine.environ()
    monkeypatch.setenv("PATH", f"{environ.pop('PATH')}:{os.environ['PATH']}")
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return machine


def ran(place: Place, ago: float, failed: int) -> Path:
    """Let a scheduled run have ended so many seconds ago; return where that is kept."""
    file = place.state / "schedule" / "run.json"
    file.parent.mkdir(0o700, exist_ok=True)
    at = time.time() - ago
    last = {"begun": at - 1, "ended": at, "status": failed, "message": "the disk is full"}
    file.write_text(json.dumps({"begun": at - 1, "failed": failed, "last": last}))
    file.chmod(0o600)
    return file


@pytest.mark.parametrize("kind", ["cron", "systemd"])
def test_schedule_failed_and_schedule_old(sound: Place, machine: Machine, kind: str) -> None:
    machine.add("systemctl")
    sound.run("schedule", "install", "--kind", kind)
    file = ran(sound, 60, 2)
    found = sound.found("schedule_failed")
    assert (found["level"], found["value"], found["file"]) == ("warn", 2, str(file))
    assert "the disk is full" in found["message"]
    ran(sound, 9 * DAY, 0)
    found = sound.found("schedule_old")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 9, 8)
    assert found["message"] == "the last scheduled run was 9 days ago"
    ran(sound, 60, 0)
    sound.settle()
    ran(sound, 60, -3)  # which no run has written
    sound.settle()
    file.write_text("{")
    assert sound.found("evidence_unreadable")["file"] == str(file)


def test_without_a_schedule_nothing_is_said_of_its_runs(sound: Place, machine: Machine) -> None:
    sound.run("schedule", "install", "--kind", "cron")
    for ago, failed in ((9 * DAY, 0), (60, 2)):
        ran(sound, ago, failed)
        assert len(sound.health()["findings"]) == 1
    sound.run("schedule", "remove")
    sound.settle()
    ran(sound, 9 * DAY, 0)
    sound.settle()
    machine.tell("crontab", "forbidden")  # so nobody knows
    sound.found("schedule_old")
    (machine.programs / "crontab").unlink()


def test_schedule_gone(sound: Place, machine: Machine) -> None:
    """The program is there, and what it is run by is not."""
    sound.run("schedule", "install", "--kind", "cron")
    ran(sound, 60, 0)
    sound.settle()
    program = sound.top / "bin" / "recall"
    program.parent.mkdir()
    program.write_text(f"#!{sound.top}/no/python\n")
    program.chmod(0o755)
    what = job.Job([str(program), *job.RUN], {}, job.timing("1d", None))
    machine.crontab = job.cron_line(what) + b"\n"
    found = sound.found("schedule_gone")
    assert (found["level"], found["value"]) == ("warn", 1)
    assert found["file"] == f"{sound.top}/no/python"
    status = json.loads(recall("schedule", "status", "--json", cwd=sound.home).stdout)
    assert status["data"]["schedulers"][0]["program_gone"] == f"{sound.top}/no/python"
    sound.mend(found)
    sound.settle()


# -- files, clock and disk


def test_log_large(sound: Place) -> None:
    os.truncate(sound.log, 300 * 1024 * 1024)  # of which the end is read
    found = sound.found("log_large", only=False)
    assert (found["level"], found["threshold"], found["unit"]) == ("warn", 256, "MiB")
    assert found["value"] >= 300
    assert found["file"] == str(sound.state)
    sound.log.unlink()
    sound.prompt()
    sound.settle()


def test_log_old(sound: Place) -> None:
    old = sound.state / recalllog.OLDER
    shutil.copy(sound.log, old)
    when = time.time() - 31 * DAY
    os.utime(old, (when, when))
    sound.settle()  # a half that is full, of somebody who asks little
    sound.configure("\n[hook]\nenabled = false\n")
    os.utime(sound.log, (when + 60, when + 60))
    found = sound.found("log_old")
    assert (found["level"], found["value"], found["threshold"]) == ("warn", 31, 30)
    assert found["file"] == str(sound.log)
    sound.mend(found)
    sound.settle()
    assert not old.exists()


def test_log_damaged(sound: Place) -> None:
    with sound.log.open("a") as file:
        file.write("garbage\n{}\n")
    found = sound.found("log_damaged")
    assert (found["level"], found["value"]) == ("warn", 2)
    assert found["file"] == str(sound.log)
    sound.mend(found)
    sound.prompt()
    sound.settle()


@pytest.mark.parametrize("content", [b"", b"garbage \xff\x00", b"[]", b"[" * 100_000, b"0" * 2**21])
@pytest.mark.parametrize("name", [failures.FILE, "hook.fault", "refresh.fault", "pause", "proof"])
def test_evidence_unreadable(sound: Place, name: str, content: bytes) -> None:
    file = sound.proof if name == "proof" else sound.state / name
    file.write_bytes(content)
    file.chmod(0o600)
    found = sound.found("evidence_unreadable", only=name != "proof")
    assert (found["level"], found["file"]) == ("warn", str(file))
    assert sound.health()["findings"][0] == found  # what is to be done first
    sound.mend(found)
    if name == "proof":
        sound.mend(sound.found("proof_missing"))
    sound.settle()


@pytest.mark.parametrize(
    "content", ['{"begun": NaN}', '{"x": 5}', '{"x": {"since": NaN}}', '{"x": {"failure": 7}}']
)
def test_evidence_unreadable_for_what_looks_like_ours(sound: Place, content: str) -> None:
    file = sound.state / failures.FILE
    file.write_text(content)
    file.chmod(0o600)
    assert sound.found("evidence_unreadable")["file"] == str(file)


def test_evidence_unreadable_for_a_directory_in_its_place(sound: Place) -> None:
    (sound.state / failures.FILE).mkdir(0o700)
    (sound.state / failures.FILE / "x").touch(0o600)
    sound.mend(sound.found("evidence_unreadable"))
    sound.settle()


@pytest.mark.parametrize("name", [failures.FILE, recalllog.FILE])
def test_S3_evidence_unreadable_for_a_link_in_its_place(sound: Place, name: str) -> None:
    (sound.state / name).unlink(missing_ok=True)
    target = sound.top / "elsewhere"
    target.write_text("{}")
    (sound.state / name).symlink_to(target)
    found = sound.found("evidence_unreadable", only=False)
    assert found["file"] == str(sound.state / name)
    sound.mend(found)
    assert target.exists()


@pytest.mark.parametrize(
    ("what", "mode", "level"),
    [
        ("cache", 0o755, "warn"),
        ("cache", 0o770, "critical"),
        ("state", 0o710, "warn"),
        ("state", 0o777, "critical"),
    ],
)
def test_S3_cache_exposed_and_state_exposed(sound: Place, what: str, mode: int, level: str) -> None:
    directory = sound.caches if what == "cache" else sound.state
    directory.chmod(mode)
    found = sound.found(f"{what}_exposed")
    assert (found["level"], found["file"], found["value"]) == (level, str(directory), f"{mode:04o}")
    sound.mend(found)
    sound.settle()


@pytest.mark.parametrize("what", ["cache", "state"])
def test_S3_a_file_that_others_can_read(sound: Place, what: str) -> None:
    file = sound.cache if what == "cache" else sound.log
    file.chmod(0o644)
    found = sound.found(f"{what}_exposed")
    assert (found["level"], found["file"], found["value"]) == ("warn", str(file), "0644")
    sound.mend(found)
    sound.settle()


@pytest.mark.parametrize("directory", [False, True])
def test_config_exposed(sound: Place, directory: bool) -> None:
    path = sound.config.parent if directory else sound.config
    path.chmod(path.stat().st_mode | 0o002)
    found = sound.found("config_exposed")
    assert (found["level"], found["file"]) == ("critical", str(path))
    sound.mend(found)
    sound.settle()


@pytest.mark.parametrize("what", ["cache", "state"])
def test_cache_unusable_and_state_unusable(sound: Place, what: str) -> None:
    directory = sound.caches if what == "cache" else sound.state
    away = sound.top / "away"
    directory.rename(away)
    directory.write_text("a file in its place")
    found = sound.found(f"{what}_unusable", only=False)
    assert (found["level"], found["file"]) == ("warn", str(directory))
    directory.unlink()
    directory.symlink_to(away)
    assert sound.found(f"{what}_unusable", only=False)["file"] == str(directory)
    directory.unlink()
    away.rename(directory)
    sound.settle()


def test_a_state_directory_that_cant_be_read_is_one_finding(sound: Place) -> None:
    ran(sound, 60, 2)
    away = sound.state.rename(sound.top / "away")
    sound.state.write_text("a file in its place")
    sound.found("state_unusable")
    sound.state.unlink()
    away.rename(sound.state)


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_cache_directory_that_is_none_is_one_finding(sound: Place, what: str) -> None:
    away = sound.caches.rename(sound.top / "away")
    sound.caches.symlink_to(away) if what == "link" else sound.caches.touch()
    sound.found("cache_unusable")
    sound.caches.unlink()
    away.rename(sound.caches)


def test_a_cache_directory_that_cant_be_read_is_one_finding(sound: Place) -> None:
    sound.caches.chmod(0)
    try:
        with bound_by_modes():
            sound.found("cache_unusable")
    finally:
        sound.caches.chmod(0o700)
    sound.settle()


def test_cache_remote(
    sound: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"1 1 0:1 / {sound.home} rw - nfs4 server:/home rw\n")
    monkeypatch.setattr(mounts, "_MOUNTS", str(table))
    monkeypatch.chdir(sound.home)
    assert main(["health", "--json"]) == 0
    (found,) = valid_envelope(capsys.readouterr().out.encode())["data"]["findings"]
    assert (found["code"], found["level"], found["file"]) == (
        "cache_remote",
        "warn",
        str(sound.caches),
    )
    table.write_text(f"1 1 0:1 / {sound.home} rw - ext4 /dev/sda rw\n")
    assert main(["health", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_disk_low(sound: Place) -> None:
    sound.configure("\n[health]\nfree_mib = 1e12\n")
    found = sound.found("disk_low")
    assert (found["level"], found["threshold"], found["unit"]) == ("warn", 1e12, "MiB")
    assert (found["file"], found["value"] > 0) == (str(sound.caches), True)


@pytest.mark.parametrize("what", ["configuration", "evidence", "refresh", "proof"])
def test_D1_clock_future(sound: Place, what: str) -> None:
    ahead = time.time() + 2 * DAY
    files = {"configuration": sound.config, "evidence": sound.log, "refresh": sound.lock}
    if what == "proof":
        sound.edit_proof(when=ahead)
    else:
        os.utime(files[what], (ahead, ahead))
    found = sound.found("clock_future")
    assert found["level"] == "warn"
    assert found["value"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ahead))
    assert found["threshold"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    assert found["root"] == ("notes" if what in {"refresh", "proof"} else None)
    sound.mend(found)
    sound.settle()


def test_D1_clock_future_of_a_run(sound: Place) -> None:
    sound.log.write_text("")
    sound.lines({"t": time.time() + 2 * DAY})
    found = sound.found("clock_future", only=False)
    sound.found("hook_never_ran", only=False)  # it proves nothing
    sound.mend(found)
    sound.lines({})
    sound.log.chmod(0o600)
    sound.settle()


def test_D1_clock_future_of_a_failure_and_of_a_scheduled_run(
    sound: Place, machine: Machine
) -> None:
    assert machine.crontab is None
    ahead = time.time() + 2 * DAY
    hookfault.note(str(sound.state), "it can't be read", now=ahead)
    found = sound.found("clock_future", only=False)
    assert found["file"] == str(sound.state / "hook.fault")
    sound.mend(found)
    sound.settle()
    file = ran(sound, -2 * DAY, 0)
    found = sound.found("clock_future")
    assert found["file"] == str(file)
    sound.mend(found)
    sound.settle()


# -- the whole


def test_only_the_roots_that_are_named(sound: Place) -> None:
    other = sound.top / "other"
    other.mkdir()
    (other / "x.md").write_text("# X\n")
    sound.configure(f'other = "{other}"\n')
    assert [each["root"] for each in sound.health()["findings"]] == ["other"]
    assert sound.health("--root", "notes")["findings"] == []
    (found,) = sound.health("--root", str(other))["findings"]
    assert found["hint"] == f"recall refresh --root {other}"
    assert recall("health", "--root", "nothing", cwd=sound.home).status == 3


def test_many_of_one_kind_are_told_as_one_to_people(sound: Place) -> None:
    lines = []
    for number in range(5):
        (sound.top / f"d{number}").mkdir()
        lines.append(f'd{number} = "{sound.top}/d{number}"\n')
    sound.configure("".join(lines))
    done = recall("health", cwd=sound.home)
    assert done.status == 0
    assert done.stdout.splitlines() == [
        "warn: 6 roots, 3 notes, 5 findings",
        "warn refresh_missing: d0: it was never indexed to the end",
        f"  at {sound.top}/d0",
        "  and 4 more like this: d1, d2, d3, d4 (--json lists them)",
        "  do: recall refresh",
    ]


def test_what_is_critical_is_the_error_and_comes_first(sound: Place) -> None:
    sound.settings.unlink()
    sound.damage()
    done = recall("health", "--quiet", cwd=sound.home)
    assert done.status == 2
    lines = done.stdout.splitlines()
    assert lines[0] == "critical: 1 root, 0 notes, 2 findings"
    assert lines[1].startswith("critical cache_damaged: notes: ")
    error = "error: 1 finding critical: notes: its cache is damaged: "
    assert done.stderr.startswith(error)
    assert recall("health", "--json", cwd=sound.home).error()["code"] == "check_failed"


def test_S1_names_from_anywhere_drive_no_terminal(sound: Place) -> None:
    odd = sound.top / "odd\x1b[31m\nname"
    odd.mkdir()
    done = recall("health", "--root", str(odd), cwd=sound.home)
    assert "\x1b" not in done.stdout
    assert done.stdout.count("\n") == 4


def test_no_text_of_notes_or_prompts_is_told(sound: Place) -> None:
    sound.configure("\n[hook]\nlog_prompts = true\n")
    sound.write("secret.md", "# t\n\n<private>zebra-one</private>\n")
    sound.write("hidden.md", "---\nprivate: true\ntype: zebra-two\n---\nzebra-three\n")
    sound.write("zebra-four.md", b"\0" * 50)
    sound.run("refresh")
    sound.prompt("where do the deploy keys of zebra-five live?")
    sound.damage()
    told = json.dumps(sound.health("--deep")) + recall("health", cwd=sound.home).stdout
    assert "zebra" not in told


def test_C5_without_a_home_it_says_so(tmp_path: Path) -> None:
    bare = {"HOME": "relative", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "~", "XDG_STATE_HOME": ""}
    done = recall("health", "--json", cwd=tmp_path, env=bare)
    findings = valid_envelope(done.raw)["data"]["findings"]
    codes = [each["code"] for each in findings]
    assert codes == ["roots_missing", "cache_unusable", "state_unusable"]
    assert list(tmp_path.iterdir()) == []


def test_C5_with_nothing_but_a_home_in_the_environment(sound: Place) -> None:
    path = os.environ.get("PYTHONPATH")
    done = subprocess.run(
        [sys.executable, "-m", "recall", "health"],
        env={"HOME": str(sound.home), **({} if path is None else {"PYTHONPATH": path})},
        cwd="/",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        b"ok: 1 root, 3 notes, 0 findings\n",
        b"",
    )


def test_nothing_of_the_persons_is_changed(sound: Place, files_of: Callable[[Path], Any]) -> None:
    before = files_of(sound.home), files_of(sound.notes)
    sound.health()
    sound.health("--deep")
    assert (files_of(sound.home), files_of(sound.notes)) == before


@pytest.fixture
def files_of() -> Callable[[Path], Any]:
    def state(top: Path) -> dict[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes(), path.stat().st_mode)
            for path in top.rglob("*")
            if path.is_file() and not path.name.endswith(("-shm", "-wal"))
        }

    return state
