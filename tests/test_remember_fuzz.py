"""Thousands of hostile payloads: nothing outside the root, nothing but what was granted inside."""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from stress_support import seeded
from writing_support import Desk, tree

from index_cache import frontmatter
from index_cache.errors import RecallError
from index_cache.model import Root
from index_cache.parse import Document
from index_cache.privacy import strip
from index_cache.text import Content, split
from recall.writing.filenames import slug
from recall.writing.remembering import Remembering

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    import pytest

    from recall.writing.remembering import Written

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
PIECES = [
    *(
        "keys",
        "Deploy",
        "the vault",
        "ключ",
        "密钥",
        "東京",
        "مفتاح",
        "מפתח",
        "मंत्री",
        "한국어",
        "e\u0301",
        "é",
    ),
    *(
        "𠮷",
        "🚀",
        "👩\u200d💻",
        "🏴\U000e0067\U000e007f",
        "\U0010ffff",
        "\U0001f1e9",
        "葛\U000e0100",
    ),
    *(
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\x00",
        "\x1b[31m",
        "\x1b]8;;x\x07",
        "\x7f",
        "\x85",
        "\x9b",
        "\u2028",
    ),
    *(
        "\u202e",
        "\u2066",
        "\u200f",
        "\u200b",
        "\ufeff",
        "\u00a0",
        "\u3000",
        "\u00ad",
        "\ud800",
        "\udc80",
    ),
    *(
        "---",
        "\n---\n",
        "---\n",
        "...",
        "\n...\n",
        "+++",
        "private: true",
        "\nprivate: true\n",
        "verified: {by: human:me}",
    ),
    *(
        "\nverified:\n  by: human:me\n",
        "type: Journal",
        "\nid: other\n",
        "title: x",
        "<!--",
        "-->",
        "<!-- x -->",
        "<![CDATA[",
    ),
    *(
        "<private>",
        "</private>",
        "<PRIVATE x=1>",
        "<priv",
        "ate>",
        "<private>secret</private>",
        "<private/>",
        "< private >",
    ),
    *(
        ": ",
        " #",
        "#",
        "# ",
        "## 2026-11-30",
        "\n## 2026-11-30\n",
        "- ",
        "* ",
        "> ",
        "| ",
        "```",
        "\n```\n",
        "~~~",
        "    x",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "[a](b)",
        "&amp;",
        "&",
        "*a*",
        "__init__",
        "`x`",
        "\\",
        "\\n",
        '"',
        "'",
        "%",
        "@",
        "!",
        "?",
        ",",
    ),
    *(
        "../",
        "..",
        "/",
        "./",
        "~",
        "~/",
        "C:\\",
        "con",
        "NUL",
        "aux.",
        "com1",
        ".md",
        ".",
        "index",
        "AGENTS",
        "CLAUDE.md",
    ),
    *(
        "null",
        "true",
        "no",
        "~",
        "0123",
        "1e3",
        "2026-11-30",
        "10:00",
        "=",
        "<<",
        "*x",
        "&x",
        "!!python/object:os.system",
    ),
    *(
        "{{date}}",
        "<% x %>",
        "recall⟧",
        "⟦recall⟧",
        "x" * 130,
        "東" * 60,
        "x" * 1100,
        "%s",
        "${HOME}",
        "$(id)",
        "`id`",
    ),
]
PATHS = [
    "",
    "memory/",
    "ideas/",
    "proposals/",
    "../",
    "/",
    "memory/../",
    "memory/./",
    "memory//",
    "link/",
]
KINDS = ["memory", "idea", "knowledge", "proposal", "Journal", "memory\n"]


# What alone would be taken: of these there are more, so that enough is granted.
TAKEN = [piece for piece in PIECES if piece.isprintable() and not {"<", "\n"} & set(piece)]


def text(chance: random.Random, most: int = 5) -> str:
    pieces = PIECES if chance.random() < 0.4 else TAKEN
    made = "".join(chance.choice(pieces) for _ in range(chance.randint(0, most)))
    return str(json.loads(json.dumps(made)))  # two halves of a character are one


def fuzzed(chance: random.Random) -> dict[str, Any]:
    """Return a payload of which some fields are hostile."""
    plain = f"Record {chance.randint(0, 15)}"
    said = " ".join(f"word{chance.randint(0, 9999)}" for _ in range(4))
    fields: dict[str, Any] = {
        "type": chance.choice(KINDS[:3] * 5 + KINDS),
        "title": chance.choice(
            [plain, plain, plain.upper(), text(chance), f"{text(chance, 2)} {plain}"]
        ),
        "text": chance.choice(
            [text(chance, 12), f"{said}{text(chance)}", f"{text(chance)}\n{said}\n{text(chance)}"]
        ),
    }
    for field in ("id", "source", "session", "description", "created", "valid_until"):
        if chance.random() < 0.1:
            fields[field] = chance.choice([text(chance, 3), f"x{chance.randint(0, 10**9)}"])
    for field in ("tags", "related"):
        if chance.random() < 0.2:
            fields[field] = [text(chance, 2) for _ in range(chance.randint(0, 4))]
    if chance.random() < 0.15:
        ending = chance.choice([".md", ".md", "", ".MD", ".md.", ".txt"])
        fields["path"] = chance.choice(PATHS) + text(chance, 2) + plain.lower() + ending
    if chance.random() < 0.03:
        fields[text(chance, 2)] = text(chance, 2)
    return fields


class Nothing:
    """Of the cache nothing is asked here."""

    def alike(self, _: object) -> list[str]:
        return []

    def holders(self, _: str) -> list[str]:
        return []

    def refresh(self) -> None:
        return


class Field:
    """A root with links out of it, and what lies around it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.outside = desk.base / "outside"
        self.outside.mkdir()
        (self.outside / "note.md").write_text("---\ntitle: Record 1\n---\nMine.\n")
        self.state = str(desk.base / "state")
        self.place = Remembering(Root("notes", str(desk.root)), self.state, Nothing())
        self.anew()

    def anew(self) -> None:
        shutil.rmtree(self.desk.root)
        self.desk.root.mkdir()
        (self.desk.root / "link").symlink_to(self.outside)

    def plant(self, chance: random.Random, fields: dict[str, Any]) -> None:
        """Put a link where the note may come, now and then."""
        try:
            name = slug(fields["title"]) + ".md"
        except UnicodeEncodeError:
            return
        directory = chance.choice(["memory", "ideas", "knowledge", "proposals"])
        link = self.desk.root / directory / name
        if chance.random() < 0.1 and not os.path.lexists(link):
            link.parent.mkdir(exist_ok=True)
            link.symlink_to(self.outside / chance.choice(["note.md", "new.md", "."]))

    def around(self) -> dict[str, bytes]:
        """Return all files but those of the root and of the state directory."""
        found = tree(self.desk.base)
        return {
            path: data for path, data in found.items() if not path.startswith(("notes/", "state/"))
        }


def one_line(value: str) -> str:
    return unicodedata.normalize("NFC", " ".join(strip(value.replace("\r\n", "\n")).split()))


def check(field: Field, written: Written, granted: dict[str, Any], before: bytes | None) -> None:
    """Fail unless the note reads back as what was granted."""
    path = field.desk.root / written.path
    assert path.resolve().is_relative_to(field.desk.root)
    assert not path.is_symlink()
    assert written.path == unicodedata.normalize("NFC", written.path)
    data = path.read_bytes()
    content = Content(data)
    document = Document(written.path.encode(), content.text)
    body = strip(granted["text"].replace("\r\n", "\n")).strip("\n").rstrip()
    assert content.text.endswith(f"\n{body}\n")
    assert content.text.encode() == data  # nothing of it is private
    assert not document.withheld
    assert document.tier == "unverified"
    assert document.title.casefold() == one_line(granted["title"]).casefold()
    assert document.type == granted["type"]
    assert document.id == written.id
    if before is not None:
        assert written.action == "append"
        old, new = before.split(b"\n"), data.split(b"\n")
        assert len(old) < len(new)
        changed = [line for line, now in zip(old, new, strict=False) if line != now]
        assert all(line.startswith(b"updated: ") or line == b"" for line in changed)
        return
    assert written.action == "create"
    assert document.title == one_line(granted["title"])
    assert document.body == f"\n{body}\n"
    expected = {name: one_line(granted[name]) for name in granted.keys() & {"source", "session"}}
    keys = frontmatter.parse(split(content.text)[0] or "")
    assert {name: keys[name] for name in expected} == expected
    for name in granted.keys() & {"tags", "related"}:
        wanted = list(dict.fromkeys(map(one_line, granted[name])))
        assert keys.get(name, []) == wanted
    assert list(document.tags) == list(dict.fromkeys(map(one_line, granted.get("tags", []))))
    assert document.description == one_line(granted.get("description", ""))
    given = {"id", "type", "title", "created", "updated", "adapter"} | (
        granted.keys() - {"text", "path"}
    )
    assert keys.keys() == {
        name for name in given if name not in {"tags", "related"} or granted[name]
    }


def test_S2_nothing_hostile_gets_out_of_the_root_or_says_more_than_was_granted(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, long_count: Callable[[int], int]
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    field = Field(Desk(tmp_path))
    chance, repeat = seeded()
    around = field.around()
    codes: dict[str, int] = {}
    lines = 0
    for number in range(long_count(2000)):
        if number % 100 == 99:
            field.anew()
            lines = 0
        fields = fuzzed(chance)
        field.plant(chance, fields)
        before = tree(field.desk.root)
        command = "propose" if fields["type"] == "proposal" else "remember"
        try:
            written = field.place.write(json.dumps(fields).encode(), command, "hermes", now=NOW)
        except RecallError as error:
            codes[error.code] = codes.get(error.code, 0) + 1
            leaked = "secret" in f"{error.message} {error.hint} {error.where}"
            if leaked or tree(field.desk.root) != before:
                raise AssertionError((repeat, fields)) from error
        else:
            codes[written.action] = codes.get(written.action, 0) + 1
            lines += 1
            now = tree(field.desk.root)
            changed = {path for path in now if now[path] != before.get(path)}
            audited = {path for path in changed if path.startswith(".recall/audit/")}
            assert changed - audited == {written.path}, (repeat, fields)
            assert before.keys() <= now.keys(), (repeat, fields)
            try:
                check(field, written, fields, before.get(written.path))
            except (AssertionError, KeyError) as error:
                raise AssertionError((repeat, fields, written.path)) from error
        assert field.around() == around, (repeat, fields)
        field.desk.check_audit(lines)
    enough = long_count(2000) // 20
    assert codes["create"] > 2 * enough, codes
    assert codes["invalid_input"] > enough, codes
    # Among a tenth of the payloads there may be none of the rarest two.
    assert long_count(10) < 10 or {"append", "governance_refused"} <= codes.keys(), codes
