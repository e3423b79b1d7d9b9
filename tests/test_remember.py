"""``recall remember``: what is granted, where it is written, what is refused, what stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import valid_envelope
from writing_support import LEAST, Desk, tree

from index_cache import gitignore
from index_cache.errors import (
    CacheBusy,
    GovernanceRefused,
    IntegrityError,
    InvalidInput,
    NotFound,
    RootUnavailable,
    WriteRefused,
)
from index_cache.model import Root, Rules
from recall.replace import locked
from recall.service import Recall
from recall.writing import writejournal
from recall.writing.within import Tree

if TYPE_CHECKING:
    from pathlib import Path

LONG = "Rotate the keys each quarter; they live in the vault and nowhere else at all."

MORE = (
    "We rotate the keys of the build machines every 90 days, and Ada keeps a list of those that "
    "are out; the vault has them all, under ops, with the names of the people who may ask for them."
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# -- grants


@pytest.mark.parametrize("command", ["remember", "propose"])
@pytest.mark.parametrize(
    "grants", [(), ("--adapter", "claude"), ("--allow-write",)], ids=["none", "agent", "write"]
)
def test_without_both_grants_nothing_is_written_anywhere(
    desk: Desk, command: str, grants: tuple[str, ...]
) -> None:
    before = {str(path) for path in desk.base.rglob("*")}
    done = desk.run(command, *grants, "--root", str(desk.root), "--json", json.dumps(LEAST))
    assert done.status == 5
    assert done.error()["code"] == "write_refused"
    # Nor is the payload looked at, nor the root.
    assert desk.run(command, *grants, "--json").error()["code"] == "write_refused"
    done = desk.run(command, *grants, "--root", "nowhere", "{")
    assert (done.status, done.stdout) == (5, "")
    assert {str(path) for path in desk.base.rglob("*")} == before


def test_an_adapter_that_is_not_known(desk: Desk) -> None:
    done = desk.granted(None, "--adapter", "gpt")
    assert (done.status, done.error()["code"]) == (4, "invalid_input")
    assert desk.notes() == {}


def test_granted_it_is_written_and_found(desk: Desk) -> None:
    data = desk.granted().data()
    assert data["path"] == "memory/deploy-keys.md"
    assert data["abs_path"] == str(desk.root / "memory/deploy-keys.md")
    assert (data["action"], data["type"], data["audit"]["n"]) == ("create", "memory", 1)
    document = desk.document(data["path"])
    assert (document.id, document.title, document.tier) == (data["id"], "Deploy keys", "unverified")
    assert document.created == document.updated == document.modified
    assert desk.found("vault") == {"memory/deploy-keys.md"}
    desk.check_audit(1)


def test_the_payload_from_standard_input(desk: Desk) -> None:
    words = ("--adapter", "codex", "--allow-write", "--root", str(desk.root), "-")
    done = desk.run("remember", *words, stdin=json.dumps(LEAST).encode())
    assert done.stdout.startswith("written: memory/deploy-keys.md\n  id r-")
    done = desk.run("remember", *words, "--json", stdin=b" " * 262_145)
    assert (done.status, done.error()["message"]) == (4, "the payload is longer than 262,144 bytes")
    done = desk.run("remember", *words, "--json")
    assert done.status == 4


def test_no_payload_at_all(desk: Desk) -> None:
    done = desk.run("remember", "--adapter", "claude", "--allow-write", "--json")
    assert (done.status, done.error()["code"]) == (4, "invalid_input")
    assert "no payload" in done.error()["message"]
    assert "recall remember" in done.error()["hint"]


def test_private_spans_reach_neither_note_nor_audit_nor_cache_nor_message(desk: Desk) -> None:
    fields = {
        **LEAST,
        "text": "In <private>hunter2</private> the vault.",
        "tags": ["a<private>hunter2"],
    }
    data = desk.granted(fields).data()
    assert data["stripped"]
    assert data["notices"]
    only = {**LEAST, "title": "B", "text": "<private>hunter2"}
    done = desk.granted(only)
    assert (done.status, done.error()["code"]) == (5, "governance_refused")
    odd = {**LEAST, "title": "C", "odd<private>hunter2": 1, "text": "\x1b<private>hunter2"}
    said = [done.stdout, desk.granted(odd).stdout, json.dumps(data)]
    assert "hunter2" not in "".join(said)
    assert not [path for path, data in tree(desk.base).items() if b"hunter2" in data]
    desk.check_audit(1)


# -- an existing title


def test_an_existing_title_is_appended_to_and_nothing_else_changes(desk: Desk) -> None:
    (desk.root / "memory").mkdir()
    note = desk.root / "memory" / "Deploy-Keys.md"
    old = b"\xef\xbb\xbf---\r\ntype: Memory # kind\r\ntitle: DEPLOY keys\r\n"
    old += b"updated: 2020-01-01\r\nodd: [a,\r\n b]\r\n---\r\nOne"
    note.write_bytes(old)
    note.chmod(0o640)
    written = desk.remember(tags=["x"], text="Two\nlines")
    assert (written.action, written.path, written.dropped) == (
        *("append", "memory/Deploy-Keys.md"),
        ("tags",),
    )
    today = datetime.now(UTC).strftime("%Y-%m-%d").encode()
    section = b"\r\n\r\n## %s\r\n\r\nTwo\r\nlines\r\n" % today
    assert note.read_bytes() == old.replace(b"2020-01-01", today) + section
    assert note.stat().st_mode & 0o777 == 0o640
    assert list(desk.notes()) == ["memory/Deploy-Keys.md"]
    assert desk.found("lines") == {"memory/Deploy-Keys.md"}
    desk.check_audit(1)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("verified: {by: 'human:ada'}", "human-reviewed"),
        ("verified: [{by: ci}]", "machine-confirmed"),
        ("status: Deprecated", "deprecated"),
        ("stale_after: 2020-01-01", "stale since 2020-01-01"),
        ("valid_until: 2020-01-01", "no longer valid"),
    ],
)
@pytest.mark.parametrize("path", ["", "memory/deploy-keys.md"])
def test_an_agent_adds_nothing_to_what_others_vouch_for_or_is_over(
    desk: Desk, line: str, why: str, path: str
) -> None:
    (desk.root / "memory").mkdir()
    note = desk.root / "memory" / "deploy-keys.md"
    old = f"---\ntitle: Deploy keys\n{line}\n---\nOne\n"
    note.write_text(old)
    for force in (False, True):
        with pytest.raises(GovernanceRefused, match=why) as caught:
            desk.remember({"path": path} if path else {}, force=force)
        assert caught.value.where == str(note)
        assert "propose" in (caught.value.hint or "")
    assert desk.notes() == {"memory/deploy-keys.md": old.encode()}
    desk.check_audit(0)


@pytest.mark.parametrize("line", ["verified: true", "status: draft", "valid_until: 2999-01-01"])
def test_an_agent_adds_to_a_note_that_is_merely_there(desk: Desk, line: str) -> None:
    (desk.root / "memory").mkdir()
    (desk.root / "memory" / "x.md").write_text(f"---\ntitle: Deploy keys\n{line}\n---\nOne\n")
    assert desk.remember().action == "append"


def test_a_title_is_found_whatever_the_file_is_called(desk: Desk) -> None:
    (desk.root / "memory").mkdir()
    (desk.root / "memory" / "2020-old.md").write_text("---\ntitle: Deploy keys\n---\nOne\n")
    assert desk.remember().path == "memory/2020-old.md"


@pytest.mark.parametrize(
    "old",
    [
        "---\ntype: Journal\ntitle: Deploy keys\n---\nOne\n",
        "---\ntype: memory\ntitle: Other\n---\nOne\n",
        "---\ntype: memory\ntitle: Deploy keys\nprivate: true\n---\nOne\n",
        "caf\udce9",
        "",
    ],
    ids=["another type", "another title", "a private one", "no UTF-8", "empty"],
)
def test_other_notes_of_that_name_are_left_alone(desk: Desk, old: str) -> None:
    (desk.root / "memory").mkdir()
    note = desk.root / "memory" / "DEPLOY-keys.md"
    note.write_bytes(old.encode("utf-8", "surrogateescape"))
    assert desk.remember().path == "memory/deploy-keys-2.md"
    assert note.read_bytes() == old.encode("utf-8", "surrogateescape")
    # And the second time that one is found.
    assert desk.remember(text="More of it.").path == "memory/deploy-keys-2.md"


def test_what_can_not_be_appended_to_is_refused(desk: Desk) -> None:
    (desk.root / "memory").mkdir()
    note = desk.root / "memory" / "deploy-keys.md"
    note.write_text("---\ntitle: Deploy keys\n---\n```\nopen\n")
    with pytest.raises(InvalidInput, match="can't be changed") as caught:
        desk.remember()
    assert caught.value.where == str(note)
    assert note.read_text() == "---\ntitle: Deploy keys\n---\n```\nopen\n"
    desk.check_audit(0)


@pytest.mark.parametrize("name", ["deploy-keys.md", "other.md"])
def test_a_note_of_this_title_that_is_not_utf_8_is_no_reason_for_another(
    desk: Desk, name: str
) -> None:
    (desk.root / "memory").mkdir()
    note = desk.root / "memory" / name
    note.write_bytes(b"---\ntitle: Deploy keys\n---\ncaf\xe9\n")
    with pytest.raises(InvalidInput, match="it is not UTF-8") as caught:
        desk.remember()
    assert caught.value.where == str(note)
    assert list(desk.notes()) == [f"memory/{name}"]


def test_types_have_their_own_directories_and_titles(desk: Desk) -> None:
    paths = [desk.remember(type=kind, force=True).path for kind in ("memory", "idea", "knowledge")]
    assert paths == ["memory/deploy-keys.md", "ideas/deploy-keys.md", "knowledge/deploy-keys.md"]
    assert desk.propose(text="Something else.").path == "proposals/deploy-keys.md"


def test_an_id_that_another_note_has(desk: Desk) -> None:
    assert desk.remember(id="dec-1").id == "dec-1"
    with pytest.raises(InvalidInput, match="has this id"):
        desk.remember(id="DEC-1", title="Other", text="Not the same at all.")
    assert desk.remember(id="dec-1", text="More of that.").action == "append"
    assert desk.remember(id="dec-2", text="A third thing.").path == "memory/deploy-keys-2.md"


def test_a_path_that_was_asked_for(desk: Desk) -> None:
    path = "memory/deep/er/Keys and locks.md"
    assert desk.remember(path=path).path == path
    assert desk.remember(path=path, text="More of it.").action == "append"
    with pytest.raises(InvalidInput, match="another note has this path"):
        desk.remember(path=path, title="Other", text="Not the same at all.")
    with pytest.raises(WriteRefused):
        desk.remember(path=f"{path}/below.md", title="Z", text="A file is no directory.")
    desk.check_audit(2)


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("memory/p.md", "memory/P.md"),
        ("memory/caf\u0065\u0301.md", "memory/caf\u00e9.md"),
        ("Memory/p.md", "memory/p.md"),
        ("memory/Deep/p.md", "memory/deep/P.md"),
    ],
)
def test_a_path_that_differs_in_case_or_composition_is_taken(
    desk: Desk, there: str, asked: str
) -> None:
    note = desk.root / there
    note.parent.mkdir(parents=True)
    note.write_text("# Another thing\n")
    with pytest.raises(InvalidInput, match="another note has this path") as caught:
        desk.remember(path=asked)
    assert caught.value.where == str(note)
    note.write_text("# Deploy keys\n")
    assert desk.remember(path=asked).path == there
    assert list(desk.notes()) == [there]


def test_a_directory_that_is_there_in_another_case_is_the_types_own(desk: Desk) -> None:
    for name in ("MEMORY", "Proposals", "Knowledge"):
        (desk.root / name).mkdir()
    assert desk.remember().path == "MEMORY/deploy-keys.md"
    assert desk.remember(text="More of it.").action == "append"
    id = desk.propose(title="B", text="Another thing.").id
    done = desk.run("proposals", "accept", id, "--root", str(desk.root), "--json").data()
    assert done["path"] == "Knowledge/b.md"
    assert sorted(path.name for path in desk.root.glob("[!.]*")) == [
        *("Knowledge", "MEMORY"),
        "Proposals",
    ]


def test_in_a_locale_without_unicode_names_are_the_same(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")):
        monkeypatch.setenv(name, value)
    (desk.root / "memory").mkdir()
    (desk.root / "memory" / "d\u00e9j\u00e0.md").write_text("# D\u00e9j\u00e0\n")
    fields = {**LEAST, "title": "\u9375\u306e\u66f4\u65b0", "id": "\u00e9-1"}
    assert desk.granted(fields).data()["path"] == "memory/\u9375\u306e\u66f4\u65b0.md"
    assert desk.granted({**fields, "text": "More of it."}).data()["action"] == "append"
    data = desk.granted({**LEAST, "title": "D\u00e9j\u00e0", "text": "Seen before."}).data()
    assert (data["action"], data["path"]) == ("append", "memory/d\u00e9j\u00e0.md")
    proposal = {"title": "\u00dcber", "text": "All of that.", "id": "\u00e9-2"}
    desk.granted(proposal, command="propose").data()
    words = ("--root", str(desk.root), "--json")
    data = desk.run("proposals", "accept", "\u00e9-2", *words).data()
    assert data["path"] == "knowledge/\u00fcber.md"
    assert set(desk.notes()) == {
        "memory/\u9375\u306e\u66f4\u65b0.md",
        "memory/d\u00e9j\u00e0.md",
        "knowledge/\u00fcber.md",
    }
    desk.check_audit(5)


# -- what is known already


def test_what_is_nearly_known_is_named_and_needs_force(desk: Desk) -> None:
    first = desk.remember(text=LONG)
    again = {**LEAST, "type": "idea", "title": "Other", "text": LONG.replace("at all", "though")}
    done = desk.granted(again)
    error = done.error()
    assert (done.status, error["code"]) == (5, "governance_refused")
    assert error["message"].startswith(first.id)
    assert error["where"] == str(desk.root / first.path)
    assert "--force" in error["hint"]
    assert desk.granted(again, "--force").data()["path"] == "ideas/other.md"
    desk.check_audit(2)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (LONG, LONG, True),
        (LONG, LONG.upper(), True),
        (f"# More\n\n{LONG}\n\n" + "Other words entirely. " * 50, LONG, True),
        (LONG, LONG.replace("quarter", "month"), False),
        (LONG, "Rotate the keys each quarter.", False),
        (LONG, "The vault has keys; rotate it nowhere each quarter, and live else.", False),
        (LONG, LONG + " Except for those of the build machines, which Ada keeps.", False),
        ("密钥每季度轮换一次，存放在保险库中。", "密钥每季度轮换一次，存放在保险库中", True),
        ("密钥每季度轮换一次，存放在保险库中。", "证书由运维团队每年更新，无需人工操作。", False),
        ("密钥每季度轮换一次，存放在保险库中。", "密钥每季度轮换一次存放在保险库中", True),
        ("密钥每季度轮换一次，存放在保险库中。", "密钥每季度不轮换一次，存放在保险库中。", False),
        (
            "Die Schlüssel für Prüfungen liegen im Büro.",
            "Die Schluessel fuer Pruefungen liegen im Buero",
            True,
        ),
        (MORE, MORE.replace("rotate", "do not rotate"), False),
        (MORE.replace("rotate", "don't rotate"), MORE, False),
        (MORE, MORE.replace("90", "30"), False),
        (f"# A\n\n{MORE}\n\n" + "Other words entirely. " * 50, MORE.replace("90", "30"), False),
        (MORE, MORE.replace("of the build", "for the build"), True),
        ("Ja.", "Nein.", False),
    ],
)
def test_how_near_is_near(desk: Desk, old: str, new: str, expected: bool) -> None:
    desk.remember(title="First", text=old)
    if expected:
        with pytest.raises(GovernanceRefused, match="nearly the same"):
            desk.remember(title="Second", text=new)
    else:
        desk.remember(title="Second", text=new)


def test_the_same_again_is_known_and_so_is_a_proposal_and_what_no_cache_has(desk: Desk) -> None:
    desk.propose(title="P", text=LONG)
    for path in (desk.home / ".cache" / "recall").iterdir():
        path.unlink()
    with pytest.raises(
        GovernanceRefused, match=r"^the proposal r-\w+, which is pending, says nearly"
    ):
        desk.remember(text=LONG)
    desk.remember()
    with pytest.raises(GovernanceRefused, match="nearly the same"):
        desk.remember()
    desk.check_audit(2)


def test_without_a_cache_directory_it_works_all_the_same(desk: Desk) -> None:
    desk.remember(text=LONG)
    (desk.base / "file").write_bytes(b"")
    desk.environ["XDG_CACHE_HOME"] = str(desk.base / "file")
    with pytest.raises(GovernanceRefused, match="nearly the same"):
        desk.remember(title="Other", text=LONG)
    desk.remember(title="Other", text="Something else.")


# -- which root


def test_no_root_by_hidden_default(desk: Desk) -> None:
    words = ("remember", "--adapter", "claude", "--allow-write", "--json", json.dumps(LEAST))
    (desk.base / "docs").mkdir()
    (desk.base / ".git").mkdir()
    done = desk.run(*words)
    assert (done.status, done.error()["code"]) == (4, "config_invalid")
    assert "--root" in done.error()["hint"]
    config = desk.home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    other = desk.base / "other"
    other.mkdir()
    config.write_text(f'[roots]\nnotes = "{desk.root}"\nother = "{other}"\n')
    done = desk.run(*words)
    assert (done.status, done.error()["code"]) == (4, "config_invalid")
    assert "other" in done.error()["message"]
    assert desk.run(*words, "--root", "other").data()["root"] == "other"
    config.write_text(config.read_text() + '[remember]\nroot = "notes"\n')
    assert desk.run(*words).data()["root"] == "notes"
    config.write_text(f'[roots]\nother = "{other}"\n[remember]\nroot = "{desk.root}"\n')
    assert desk.run(*words, "--force").data()["path"] == "memory/deploy-keys.md"
    config.write_text(f'[roots]\nnotes = "{desk.root}"\n')
    done = desk.run(*words)
    assert done.error()["code"] == "governance_refused"  # it is that root: it knows it
    for wrong in ('root = "gone"', "root = 1", 'root = ""'):
        config.write_text(f"[remember]\n{wrong}\n")
        done = desk.run(*words)
        assert (done.status, done.error()["code"]) == (4, "config_invalid")


def test_S4_a_strangers_file_chooses_nothing(desk: Desk) -> None:
    project = desk.base / "clone"
    (project / "docs").mkdir(parents=True)
    file = project / ".recall.toml"
    file.write_text('inherit = false\n[remember]\nroot = "notes"\n[roots]\nnotes = "docs"\n')
    words = ("remember", "--adapter", "claude", "--allow-write", "--json", json.dumps(LEAST))
    done = desk.run(*words, cwd=project)
    assert (done.status, done.error()["code"]) == (4, "config_invalid")
    done = desk.run(*words, "--root", "notes", cwd=project)
    assert (done.status, done.error()["code"]) == (5, "write_refused")
    assert desk.run("trust", cwd=project).status == 0
    assert desk.run(*words, "--root", "notes", cwd=project).status == 5
    config = desk.home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[roots]\nnotes = "{desk.root}"\n')
    for more in ((), ("--root", "notes")):
        data = desk.run(*words, "--force", *more, cwd=project).data()
        assert data["abs_path"].startswith(f"{desk.root}/")
        assert "no effect" in data["notices"][0]["message"]
    assert list((project / "docs").iterdir()) == []
    data = desk.run(*words, "--root", "./docs", cwd=project).data()
    assert data["abs_path"] == str(project / "docs" / "memory" / "deploy-keys.md")


def test_a_variable_names_the_root(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECALL_ROOTS", f"mine={desk.root}")
    words = ("remember", "--adapter", "claude", "--allow-write", "--json", json.dumps(LEAST))
    assert desk.run(*words).data()["root"] == "mine"
    assert desk.run(*words, "--root", "mine", "--force").data()["action"] == "append"


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (Rules(exclude=("memory/",)), "excluded"),
        (Rules(exclude=("deploy-*",)), "excluded"),
        (Rules(include=("/*.md",)), "not included"),
        (Rules(private=("memory/",)), "private"),
        (Rules(private=("*keys*",)), "private"),
        (Rules(max_file_bytes=40), "limit of 40 bytes"),
    ],
)
def test_what_the_roots_rules_would_not_index_is_refused(
    desk: Desk, rules: Rules, why: str
) -> None:
    root = Root("notes", str(desk.root), rules)
    with Recall([root], cwd=str(desk.base), environ=desk.environ) as opened:
        agent = opened.adapter("claude")
        with pytest.raises(GovernanceRefused, match=why):
            agent.remember(LEAST, allow_write=True)
    assert not (desk.root / "memory").exists()
    desk.check_audit()


def test_rules_of_a_configured_root_hold_for_its_directory(desk: Desk) -> None:
    config = desk.home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[roots.n]\npath = "{desk.root}"\nexclude = ["memory/"]\n')
    assert desk.granted().error()["code"] == "governance_refused"
    config.write_text(f'[roots.n]\npath = "{desk.base}"\nprivate = ["notes/memory/"]\n')
    assert desk.granted().error()["code"] == "governance_refused"
    assert desk.notes() == {}


def test_what_git_would_ignore_is_refused(desk: Desk) -> None:
    subprocess.run(["git", "init", "-q", desk.root], check=True)
    (desk.root / ".gitignore").write_text("ideas/\n*-secret.md\n")
    with pytest.raises(GovernanceRefused, match="ignored by git"):
        desk.remember(type="idea")
    with pytest.raises(GovernanceRefused, match="ignored by git"):
        desk.remember(title="A secret")
    assert desk.remember().action == "create"
    top = os.fsencode(desk.root)
    assert not gitignore.would_ignore(top, b"ideas/x.md", {b"PATH": b"/nowhere"})
    # A root that is itself ignored was named on purpose.
    inner = desk.root / "ideas"
    inner.mkdir()
    with Recall([inner], cwd=str(desk.base), environ=desk.environ) as opened:
        opened.adapter("claude").remember({**LEAST, "title": "A secret"}, allow_write=True)


# -- what is in the way


@pytest.mark.parametrize("place", ["memory", ".recall", ".recall/audit", ".recall/pending"])
def test_nothing_is_written_over_a_symlink(desk: Desk, place: str) -> None:
    outside = desk.base / "outside"
    outside.mkdir()
    link = desk.root / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(WriteRefused):
        desk.remember()
    assert list(outside.iterdir()) == []
    link.unlink()
    assert desk.remember().action == "create"
    desk.check_audit(1)


def test_a_note_that_is_a_symlink_is_neither_read_nor_followed(desk: Desk) -> None:
    outside = desk.base / "outside.md"
    outside.write_text("---\ntitle: Deploy keys\n---\nOne\n")
    (desk.root / "memory").mkdir()
    (desk.root / "memory" / "deploy-keys.md").symlink_to(outside)
    assert desk.remember().path == "memory/deploy-keys-2.md"
    os.mkfifo(desk.root / "memory" / "fifo.md")
    (desk.root / "memory" / "dir.md").mkdir()
    for path in ("memory/deploy-keys.md", "memory/fifo.md", "memory/dir.md"):
        with pytest.raises(WriteRefused, match="no file of ours") as caught:
            desk.remember(path=path, title="Fifo", text="Not waited for.")
        assert caught.value.where == str(desk.root / path)
    assert outside.read_text() == "---\ntitle: Deploy keys\n---\nOne\n"


def test_a_file_in_a_directorys_place(desk: Desk) -> None:
    (desk.root / "memory").write_bytes(b"mine")
    with pytest.raises(WriteRefused):
        desk.remember()
    assert (desk.root / "memory").read_bytes() == b"mine"


def test_a_root_that_is_gone(desk: Desk) -> None:
    desk.root.rmdir()
    assert (done := desk.granted()).status == 3, done.stdout
    with pytest.raises(NotFound):
        desk.remember()


def test_a_name_that_appears_just_then_is_left_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Tree.put

    def late(self: Tree, staged: str, path: str) -> None:
        monkeypatch.setattr(Tree, "put", real)
        (desk.root / path).parent.mkdir(exist_ok=True)
        (desk.root / path).write_bytes(b"mine")
        real(self, staged, path)

    monkeypatch.setattr(Tree, "put", late)
    assert desk.remember().path == "memory/deploy-keys-2.md"
    assert (desk.root / "memory" / "deploy-keys.md").read_bytes() == b"mine"
    desk.check_audit(1)


def test_a_note_that_is_edited_just_then_is_left_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.remember()
    note = desk.root / "memory" / "deploy-keys.md"
    real = writejournal._apply

    def late(*arguments: Any) -> None:
        note.write_bytes(b"edited")
        real(*arguments)

    monkeypatch.setattr(writejournal, "_apply", late)
    with pytest.raises(RootUnavailable, match="changed by somebody else"):
        desk.remember(text="More of it.")
    assert note.read_bytes() == b"edited"
    desk.check_audit(1)


def test_without_hard_links_and_on_another_file_system_it_works(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def fails(error: int) -> Any:
        def call(*_: object, **__: object) -> None:
            raise OSError(error, os.strerror(error))

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", fails(errno.EPERM))
        assert desk.remember().path == "memory/deploy-keys.md"
        (desk.root / "memory" / "b.md").write_bytes(b"# Mine\n")
        assert desk.remember(title="B", text="Other.").path == "memory/b-2.md"
    real = os.link

    def link(source: str, target: str, **options: Any) -> None:
        source_dir, target_dir = (os.stat(options[key]) for key in ("src_dir_fd", "dst_dir_fd"))
        if source_dir.st_ino != target_dir.st_ino:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real(source, target, **options)

    monkeypatch.setattr(os, "link", link)
    assert desk.remember(title="C", text="Another.").path == "memory/c.md"
    desk.check_audit()


@pytest.mark.parametrize("step", ["stage", "put", "append"])
def test_C6_a_full_disk_at_any_step(desk: Desk, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    import errno

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Tree, step, full)
        with pytest.raises(RootUnavailable) as caught:
            desk.remember()
    written = step == "append"
    assert ("the note is written" in caught.value.message) == written
    assert bool(desk.notes()) == written
    assert desk.remember(title="Other", text="Something else.").action == "create"
    desk.check_audit(1 + written)


@pytest.mark.parametrize("closed", ["memory", ".recall", "."])
@pytest.mark.parametrize("step", ["stage", "put"])
def test_what_may_not_be_written_is_named_and_nothing_is_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, step: str, closed: str
) -> None:
    import errno

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    place = desk.root / closed
    place.mkdir(exist_ok=True)
    before = sorted(desk.root.rglob("*"))
    monkeypatch.setattr(Tree, step, denied)
    monkeypatch.setattr(os, "access", lambda path, *_: str(path) != str(place))
    with pytest.raises(RootUnavailable) as caught:
        desk.remember()
    hint = caught.value.hint or ""
    assert f"ls -ld {place} " in hint
    assert "nothing was changed" in hint
    assert sorted(desk.root.rglob("*")) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has /dev/full")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_C6_an_answer_that_can_not_be_told_says_that_it_was_written(
    desk: Desk, more: tuple[str, ...]
) -> None:
    words = ("--adapter", "claude", "--allow-write", "--root", str(desk.root), *more)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "recall", "remember", *words, json.dumps(LEAST)],
            env={**os.environ, "HOME": str(desk.home)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    said = done.stderr.decode()
    assert (done.returncode, "is done" in said, "don't ask again" in said) == (6, True, True)
    assert str(desk.root / "memory" / "deploy-keys.md") in said
    desk.check_audit(1)


def test_a_root_that_is_being_written_is_waited_for_not_for_long(desk: Desk) -> None:
    with locked(str(desk.root)):
        done = desk.granted(None, "--wait", "0")
        assert (done.status, done.error()["code"]) == (6, "cache_busy")
        with desk.recall() as opened, pytest.raises(CacheBusy):
            opened.adapter("claude").remember(LEAST, allow_write=True, wait=0)
    assert desk.notes() == {}
    desk.granted().data()


def test_where_a_file_system_has_no_locks_the_state_directory_has(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from collections.abc import Iterator

    @contextmanager
    def none(*_: object) -> Iterator[bool]:
        yield False

    monkeypatch.setattr(writejournal, "locked", none)
    assert desk.remember().action == "create"
    state = str(desk.home / ".local" / "state" / "recall")
    again = writejournal.writing(str(desk.root), state, 0)
    with writejournal.writing(str(desk.root), state, 0), pytest.raises(CacheBusy), again:
        pass
    desk.check_audit(1)


def test_an_audit_that_was_tampered_with_stops_the_writer(desk: Desk) -> None:
    desk.remember()
    (file,) = (desk.root / ".recall" / "audit").iterdir()
    good = file.read_bytes()
    for bad in (good[:-1], good.replace(b"claude", b"person"), good + b"x\n", b"\n"):
        file.write_bytes(bad)
        with pytest.raises(IntegrityError):
            desk.remember(title="B", text="Other.")
        assert list(desk.notes()) == ["memory/deploy-keys.md"]
    file.rename(file.with_suffix(".kept"))
    assert desk.remember(title="B", text="Other.").line["n"] == 1


def test_a_forged_note_of_what_was_begun_does_nothing(desk: Desk) -> None:
    desk.remember()
    (file,) = (desk.root / ".recall" / "audit").iterdir()
    outside = desk.base / "outside.md"
    outside.write_bytes(b"x")
    pending = desk.root / ".recall" / "pending" / file.with_suffix(".json").name
    line = file.read_text()
    forged = {"staged": "../outside.tmp", "path": "memory/deploy-keys.md", "before": None}
    forged |= {"after": "0" * 64, "remove": "memory/deploy-keys.md", "removed": None, "line": line}
    for data in (b"", b"{", b"[]", json.dumps(forged).encode(), b"x" * 70_000):
        pending.write_bytes(data)
        with pytest.raises((IntegrityError, WriteRefused)):
            desk.remember(title="B", text="Other.")
    assert list(desk.notes()) == ["memory/deploy-keys.md"]
    assert outside.exists()


def test_without_a_home_there_is_a_clear_error(desk: Desk) -> None:
    desk.environ["HOME"] = "relative"
    with pytest.raises(InvalidInput, match="no home directory"):
        desk.remember()
    assert tree(desk.root) == {}


# -- many at once

CROWD = """
import sys
from recall.service import Recall
base, number, title = sys.argv[1:]
environ = {"HOME": base + "/home"}
with Recall([base + "/notes"], cwd=base, environ=environ) as recall:
    agent = recall.adapter("subagent")
    sys.stdin.read()
    text = f"Number {number}: " + " ".join(f"w{number}x{each}" for each in range(20))
    agent.remember({"type": "memory", "title": title, "text": text}, allow_write=True, wait=120)
"""


@pytest.mark.parametrize("title", ["Note {}", "One title"])
def test_C2_twenty_at_once_are_twenty_records_and_twenty_lines(desk: Desk, title: str) -> None:
    start, go = os.pipe()
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", CROWD, str(desk.base), str(number), title.format(number)],
            stdin=start,
            stderr=subprocess.PIPE,
        )
        for number in range(20)
    ]
    os.close(start)
    os.close(go)
    for each in crowd:
        _, err = each.communicate(timeout=300)
        assert (each.returncode, err) == (0, b""), err.decode()
    notes = desk.notes()
    assert len(notes) == (1 if title == "One title" else 20)
    text = b"".join(notes.values()).decode()
    assert all(f"Number {number}: w{number}x0 " in text for number in range(20))
    desk.check_audit(20)
    assert len(os.listdir(desk.root / ".recall" / "audit")) == 1


def test_errors_are_one_envelope_each(desk: Desk) -> None:
    for payload in ("{", "[]", '{"type": "memory"}', '{"title": "\\ud800"}', "\x1b"):
        words = ("--adapter", "claude", "--allow-write", "--root", str(desk.root), "--json")
        done = desk.run("remember", *words, payload)
        assert (done.status, done.error()["code"]) == (4, "invalid_input")
        assert "\\u001b" not in done.stdout
        valid_envelope(done.raw)
