"""Proposals: never recalled as knowledge, and settled by a person, for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from writing_support import Desk

from index_cache.errors import GovernanceRefused, InvalidInput, NotFound, RootUnavailable
from index_cache.model import Root, Rules
from recall.writing import settling

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Result

TEXT = "Kestrels nest above the door."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def run(desk: Desk, *words: str) -> Result:
    return desk.run("proposals", *words, "--root", str(desk.root), "--json")


def test_a_proposal_is_not_recalled_until_it_is_accepted(desk: Desk) -> None:
    id = desk.propose(title="Kestrels", text=TEXT, tags=["birds"]).id
    assert desk.found("kestrels nest door") == set()
    asked = ("search", "--root", str(desk.root), "--json", "kestrels")
    for more in (("--include", "proposal"), ("--type", "Proposal")):
        (item,) = desk.run(*asked, *more).data()["items"]
        assert (item["path"], item["id"]) == ("proposals/kestrels.md", id)
    (listed,) = run(desk, "list").data()["proposals"]
    assert (listed["id"], listed["status"], listed["adapter"]) == (id, "pending", "codex")
    shown = run(desk, "show", id).data()
    assert (shown["text"], shown["title"]) == (TEXT, "Kestrels")
    before = (desk.root / "proposals" / "kestrels.md").read_bytes()
    done = run(desk, "accept", id).data()
    assert (done["action"], done["id"], done["path"]) == ("accept", id, "knowledge/kestrels.md")
    assert list(desk.notes()) == ["knowledge/kestrels.md"]
    assert desk.found("kestrels nest door") == {"knowledge/kestrels.md"}
    document = desk.document("knowledge/kestrels.md")
    assert (document.id, document.type, document.tags) == (id, "knowledge", ("birds",))
    after = desk.notes()["knowledge/kestrels.md"]
    differ = [
        line
        for line, now in zip(before.splitlines(), after.splitlines(), strict=True)
        if line != now and not line.startswith(b"updated: ")
    ]
    assert differ == [b"type: proposal"]
    assert run(desk, "list").data()["proposals"] == []
    entry = desk.run("audit", "--root", str(desk.root), "--json").data()["entries"][-1]
    assert (entry["adapter"], entry["from"], entry["action"]) == (
        *("person", "proposals/kestrels.md"),
        "accept",
    )
    desk.check_audit(2)


def test_a_rejected_one_stays_with_its_reason_for_good(desk: Desk) -> None:
    id = desk.propose(title="Kestrels", text=TEXT).id
    done = run(desk, "reject", id, "--reason", 'Seen: "no" # such <private>x</private> bird').data()
    assert (done["action"], done["path"]) == ("reject", "proposals/kestrels.md")
    assert "left out of the reason" in done["notices"][0]["message"]
    assert desk.found("kestrels") == set()
    assert run(desk, "list").data()["proposals"] == []
    (listed,) = run(desk, "list", "--all").data()["proposals"]
    assert (listed["status"], listed["reason"]) == ("rejected", 'Seen: "no" # such bird')
    for words in (("accept", id), ("reject", id, "--reason", "Again")):
        again = run(desk, *words)
        assert (again.status, again.error()["code"]) == (5, "governance_refused")
    asked = ("search", "--root", str(desk.root), "--include", "proposal", "kestrels")
    (item,) = desk.run(*asked, "--json").data()["items"]
    assert item["stale"] == "rejected"
    assert "STALE: rejected" in desk.run(*asked).stdout
    with pytest.raises(
        GovernanceRefused, match=r"the proposal .*, which was rejected, says nearly"
    ):
        desk.propose(title="Again", text=TEXT)
    # Nor is it added to: the title may be proposed anew.
    assert (
        desk.propose(title="Kestrels", text="For another reason.").path == "proposals/kestrels-2.md"
    )
    text = desk.run("proposals", "list", "--all", "--root", str(desk.root)).stdout
    assert 'rejected: Seen: "no" # such bird' in text
    desk.check_audit(3)


def test_the_records_around_one_have_no_proposal_that_nobody_asked_for(desk: Desk) -> None:
    desk.remember(id="m-1", related=["p-1"], created="2026-01-01")
    desk.propose(id="p-1", title="Kestrels", text=TEXT, related=["m-2"], created="2026-01-02")
    desk.remember(id="m-2", title="Nests", text="They are of twigs.", created="2026-01-03")

    def ids(*words: str) -> list[str]:
        data = desk.run(*words, "--root", str(desk.root), "--json").data()
        items = data["expansion"]["nodes"] if "--expand" in words else data["items"]
        return [each["id"] for each in items]

    around = ("search", "--expand", "m-1")
    assert ids(*around) == ids(*around, "vault") == ids(*around, "--include", "journal") == ["m-1"]
    shown = ["m-1", "p-1", "m-2"]
    assert ids(*around, "--include", "proposal") == shown
    assert ids(*around, "kestrels", "--type", "Proposal") == shown
    # Named by its id it is served.
    assert ids("search", "--expand", "p-1") == ["p-1", "m-2"]
    assert ids("get", "p-1") == ["p-1"]
    exported = desk.run("export", "p-1", "--root", str(desk.root), "--json").data()
    assert [each["id"] for each in exported["records"]] == ["p-1"]
    assert ids("timeline", "--anchor", "m-1") == ["m-1", "m-2"]
    assert ids("timeline", "--anchor", "m-1", "--type", "proposal") == ["m-1", "p-1"]
    assert ids("timeline", "--anchor", "p-1") == shown


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("", "invalid_input"),
        ("a\nb", "invalid_input"),
        ("\x1b", "invalid_input"),
        ("x" * 1025, "invalid_input"),
        ("<private>x", "governance_refused"),
    ],
)
def test_a_reason_is_needed(desk: Desk, reason: str, code: str) -> None:
    id = desk.propose(title="Kestrels", text=TEXT).id
    assert run(desk, "reject", id, "--reason", reason).error()["code"] == code
    assert run(desk, "reject", id).error()["code"] == "invalid_input"
    assert settling.listed(Root("n", str(desk.root)))[0].status == "pending"


def test_ids_that_none_or_several_have(desk: Desk) -> None:
    for words in (("show", "x"), ("accept", "x"), ("reject", "x", "--reason", "y")):
        done = run(desk, *words)
        assert (done.status, done.error()["code"]) == (3, "not_found")
    desk.remember(id="m-1")
    assert run(desk, "accept", "m-1").status == 3
    desk.propose(id="p-1", title="A", text=TEXT)
    (desk.root / "proposals" / "copy.md").write_bytes(desk.notes()["proposals/a.md"])
    with pytest.raises(InvalidInput, match="several"):
        settling.find(Root("n", str(desk.root)), "p-1")


def test_an_id_that_another_note_got_meanwhile(desk: Desk) -> None:
    desk.propose(id="p-1", title="A", text=TEXT)
    other = desk.root / "hand.md"
    other.write_text("---\nid: p-1\n---\n# By hand\n")
    done = run(desk, "accept", "p-1")
    assert (done.status, done.error()["code"]) == (4, "invalid_input")
    assert done.error()["where"] == str(other)
    assert set(desk.notes()) == {"hand.md", "proposals/a.md"}
    other.write_text("---\nid: p-2\n---\n# By hand\n")
    assert run(desk, "accept", "p-1").data()["path"] == "knowledge/a.md"


def test_a_directory_of_that_name_makes_no_proposal(desk: Desk) -> None:
    (desk.root / "proposals").mkdir()
    (desk.root / "proposals" / "kep.md").write_text("# Kestrel enhancement\n\nKestrels.\n")
    (desk.root / "hand.md").write_text("---\ntype: PROPOSAL\n---\n# By hand\n\nKestrels.\n")
    assert desk.found("kestrels") == {"proposals/kep.md"}
    assert run(desk, "list").data()["proposals"] == []


def test_one_by_hand_is_settled_too_and_keeps_what_it_says(desk: Desk) -> None:
    (desk.root / "proposals").mkdir()
    note = desk.root / "proposals" / "hand.md"
    note.write_bytes(
        b"\xef\xbb\xbf---\r\nType: 'Proposal' # mine\r\nstatus: draft\r\n"
        b"x: [1,\r\n 2]\r\n---\r\n# Hand\r\n"
    )
    (listed,) = settling.listed(Root("n", str(desk.root)))
    (desk.root / "knowledge").mkdir()
    (desk.root / "knowledge" / "HAND.md").write_text("# Other\n")
    done = run(desk, "accept", listed.id).data()
    assert done["path"] == "knowledge/hand-2.md"
    text = desk.notes()["knowledge/hand-2.md"].decode()
    assert text.startswith(
        "\ufeff---\r\nType: knowledge # mine\r\nstatus: draft\r\nx: [1,\r\n 2]\r\nupdated: "
    )
    assert text.endswith("Z\r\n---\r\n# Hand\r\n")
    assert (desk.root / "knowledge" / "HAND.md").read_text() == "# Other\n"


def test_one_whose_type_is_a_list_is_listed_and_settled(desk: Desk) -> None:
    (desk.root / "proposals").mkdir()
    note = desk.root / "proposals" / "hand.md"
    note.write_text("---\nid: p-1\ntype: [Proposal]\n---\n# Hand\n")
    (listed,) = run(desk, "list").data()["proposals"]
    assert listed["id"] == "p-1"
    assert run(desk, "accept", "p-1").data()["path"] == "knowledge/hand.md"
    assert desk.document("knowledge/hand.md").type == "knowledge"


def test_the_roots_rules_hold_for_settling(desk: Desk) -> None:
    id = desk.propose(title="Kestrels", text=TEXT).id
    state = str(desk.home / ".local" / "state" / "recall")
    closed = Root("n", str(desk.root), Rules(exclude=("knowledge/",)))
    with pytest.raises(GovernanceRefused, match="excluded"):
        settling.accept(closed, state, id, lambda _: ())
    hidden = Root("n", str(desk.root), Rules(private=("proposals/",)))
    assert settling.listed(hidden) == []
    with pytest.raises(NotFound):
        settling.accept(hidden, state, id, lambda _: ())
    assert list(desk.notes()) == ["proposals/kestrels.md"]


def test_one_that_is_edited_just_then_is_not_lost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recall.writing import writejournal

    id = desk.propose(title="Kestrels", text=TEXT).id
    note = desk.root / "proposals" / "kestrels.md"
    real = writejournal._apply

    def late(*arguments: object) -> None:
        note.write_bytes(note.read_bytes() + b"Edited.\n")
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(writejournal, "_apply", late)
    state = str(desk.home / ".local" / "state" / "recall")
    with pytest.raises(RootUnavailable, match="changed by somebody else"):
        settling.accept(Root("n", str(desk.root)), state, id, lambda _: ())
    assert note.read_bytes().endswith(b"Edited.\n")
    assert list(desk.notes()) == ["proposals/kestrels.md"]
    desk.check_audit(1)


def test_the_summary_of_the_log_and_the_sessions_line_count_no_proposals(desk: Desk) -> None:
    from recall.recallable import documents

    desk.propose(title="Kestrels", text=TEXT)
    desk.remember()
    with desk.recall() as opened:
        opened.refresh()
    root = Root("notes", str(desk.root))
    found, unknown = documents(str(desk.home / ".cache" / "recall"), [root])
    assert [path for _, path in found.values()] == ["memory/deploy-keys.md"]
    assert unknown == []
