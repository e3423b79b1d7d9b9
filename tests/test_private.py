"""What is private stays out of every answer, list and file, and leaves when it becomes private."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from index_cache import db
from index_cache.files import FileSystem
from index_cache.model import Root, Rules
from index_cache.store import Store
from recall import Recall, state
from recall.files import Unreadable

if TYPE_CHECKING:
    from pathlib import Path

WORD = "xylophonist"
INNER = b"ylophonis"  # terms are compressed by prefix: look for what is inside a word


def write(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    directory = tmp_path / "notes"
    write(directory, "open.md", "# Kestrel\n\nAll may read of the kestrel.\n")
    return directory


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def holds(directory: Path, word: bytes = INNER) -> list[str]:
    return [
        str(path)
        for path in directory.rglob("*")
        if path.is_file() and word in path.read_bytes().lower()
    ]


def paths(recall: Recall, query: str) -> list[str]:
    return [card.path for card in recall.answer(query).cards]


@pytest.mark.parametrize(
    "text",
    [
        f"# Kestrel\n\nkestrel <private>{WORD}</private> end\n",
        f"# Kestrel <private>{WORD}</private>\n\nkestrel\n",
        f"---\ntitle: Kestrel <PRIVATE >{WORD}</Private>\n---\nkestrel\n",
        f"---\ntitle: <private>{WORD}</private>\ndescription: kestrel\n---\n",
        f"---\ntags: [kestrel, <private>{WORD}</private>]\n---\nkestrel\n",
        f"kestrel\n\n```\n<private>\n{WORD}\n</private>\n```\n",
        f"kestrel [link](<private>{WORD}</private>)\n",
        f"kestrel\n\n<private>{WORD}\n",
        f"kestrel ＜private＞{WORD}\n",
        f'kestrel "\\u003cprivate\\u003e{WORD}"\n',
        f'---\ntitle: "<pri\\_vate> {WORD}"\n---\nkestrel\n',
    ],
)
def test_a_private_span_is_nowhere_and_the_rest_is_found(
    text: str, notes: Path, cache: Path
) -> None:
    write(notes, "note.md", text)
    with Recall([notes], cache_dir=str(cache)) as recall:
        answer = recall.answer("kestrel", explain=True)
        assert "note.md" in [card.path for card in answer.cards]
        for card in answer.cards:
            shown = {name: getattr(card, name) for name in card.__slots__}
            assert WORD not in json.dumps(shown)
        assert paths(recall, WORD) == []
    assert holds(cache) == []


def test_the_lines_after_a_span_keep_their_numbers(notes: Path, cache: Path) -> None:
    write(notes, "note.md", f"# A\n\n<private>\n{WORD}\n</private>\n\nThe osprey dives.\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        (card,) = recall.search("osprey")
    assert (card.summary, card.line) == ("The osprey dives.", 7)


def test_a_digest_tells_nothing_of_what_is_private(notes: Path, cache: Path) -> None:
    digests = set()
    for word in (WORD, "other"):
        write(notes, "note.md", f"kestrel <private>{word}</private>\n")
        with Recall([notes], cache_dir=str(cache)) as recall:
            recall.answer("kestrel")
            store = recall._opened[0].store
            assert store is not None
            digests.add(store.known([b"note.md"])[b"note.md"][1].digest)
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("head", "withheld"),
    [
        ("---\nprivate: true\n---\n", True),
        ('---\nPrivate: "Yes"\n---\n', True),
        ("---\nprivate: {{template}}\n---\n", True),
        ("---\nprivate: [ops]\n---\n", True),
        ("---\ntitle: a: b\n\tprivate: 1\nprivate: on\n---\n", True),
        ("---\ntitle: never closed\nprivate: true\n", True),
        ("---\nprivate: false\n---\n", False),
        ("---\nprivate:\n---\n", False),
        ("---\nprivate: No\n---\n", False),
        ("---\ntitle: private\n---\n", False),
        ("private: true\n", False),
    ],
)
def test_a_note_withholds_itself(head: str, withheld: bool, notes: Path, cache: Path) -> None:
    write(notes, "hidden-name.md", f"{head}{WORD}\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        (report,) = recall.refresh()
        assert paths(recall, WORD) == ([] if withheld else ["hidden-name.md"])
        (status,) = recall.status()
    assert (report.withheld, status.withheld) == (withheld, withheld)
    for lists in (report.skipped, report.unavailable, status.skipped, status.unavailable):
        assert [each for each in lists if b"hidden" in each.path] == []
    assert bool(holds(cache)) != withheld


def test_globs_withhold_files_and_directories_that_are_never_named(
    notes: Path, cache: Path
) -> None:
    write(notes, "diary/day.md", WORD)
    write(notes, "diary/deep/link-target.md", WORD)
    (notes / "diary" / "link.md").symlink_to("day.md")
    write(notes, "diary/day.sync-conflict-20260101-101010-ABCDEFG.md", WORD)
    write(notes, "a.secret.md", WORD)
    root = Root("n", str(notes), Rules(private=("diary/", "*.secret.md")))
    with Recall([root], cache_dir=str(cache)) as recall:
        (report,) = recall.refresh()
        assert paths(recall, WORD) == []
    assert (report.documents, report.withheld, report.skipped) == (1, 2, ())
    assert holds(cache) == []
    assert holds(cache, b"diary/day") == []


def test_what_could_name_a_withheld_note_does_not(notes: Path, cache: Path) -> None:
    head = "---\nprivate: true\n---\n"
    write(notes, "hidden.md", head + "x" * 500)
    write(notes, "hidden (ada's conflicted copy 2026-01-01).md", WORD)

    class Locked(FileSystem):
        locked = False

        def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
            if self.locked and path.endswith(b"hidden.md"):
                raise PermissionError(13, "Permission denied")
            return super().read(path, limit)

    fs = Locked()
    root = Root("n", str(notes), Rules(max_file_bytes=100))
    with Recall([root], cache_dir=str(cache), fs=fs) as recall:
        (report,) = recall.refresh()
        assert (report.skipped, report.withheld) == ((), 1)
        fs.locked = True
        os.utime(notes / "hidden.md", (1, 1))
        (report,) = recall.refresh()
        assert (report.skipped, report.unavailable, report.withheld) == ((), (), 1)


@pytest.mark.parametrize("how", ["span", "frontmatter", "glob"])
def test_making_a_note_private_later_removes_it(how: str, notes: Path, cache: Path) -> None:
    note = write(notes, "note.md", f"# Osprey\n\n{WORD} osprey\n")
    for number in range(30):
        write(notes, f"more-{number}.md", f"# More {number}\n\nfilling {number}x osprey\n")
    rules = Rules()
    with Recall([Root("n", str(notes), rules)], cache_dir=str(cache)) as recall:
        assert paths(recall, WORD) == ["note.md"]
    assert holds(cache) != []
    if how == "span":
        note.write_text(f"# Osprey\n\n<private>{WORD}</private> osprey\n", encoding="utf-8")
    elif how == "frontmatter":
        note.write_text(f"---\nprivate: true\n---\n{WORD}\n", encoding="utf-8")
    else:
        rules = Rules(private=("note.md",))
    with Recall([Root("n", str(notes), rules)], cache_dir=str(cache)) as recall:
        (report,) = recall.refresh(compact=True)
        assert report.failure is None
        assert paths(recall, WORD) == []
        # With the cache still open, so that no closing checkpoint helps.
        assert holds(cache.parent) == [str(note)]


def test_a_later_search_compacts_by_itself(
    notes: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = write(notes, "note.md", f"# Osprey\n\n{WORD}\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, WORD) == ["note.md"]
        note.unlink()
        assert paths(recall, WORD) == []
    assert holds(cache) != []
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 13 * 3600)
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, "kestrel") == ["open.md"]
    assert holds(cache) == []


def test_an_edited_card_is_shown_without_what_is_private_now(notes: Path, cache: Path) -> None:
    note = write(notes, "note.md", f"# Osprey\n\nThe {WORD} osprey.\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, "osprey") == ["note.md"]
        note.write_text(f"# Osprey\n\nThe <private>{WORD}</private> osprey.\n")
        (card,) = recall.answer("osprey", refresh=False).cards
        assert WORD not in card.summary
        note.write_text(f"---\nprivate: true\n---\nThe {WORD} osprey.\n")
        assert recall.answer("osprey", refresh=False).cards == []


def test_no_command_says_a_private_word(
    notes: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    write(notes, "a.md", f"---\ntitle: [\nx: <private>{WORD}</private>\n---\nkestrel\n")
    write(notes, f"{WORD}.md", "---\nprivate: true\n---\nkestrel\n")
    for command in ("search kestrel --root .", "refresh --root .", "status --root . --skipped"):
        for more in ([], ["--json"]):
            done = subprocess.run(
                [sys.executable, "-m", "recall", *command.split(), *more],
                capture_output=True,
                check=True,
            )
            said: Any = done.stdout + done.stderr
            assert WORD.encode() not in said
            if command.startswith("refresh") and not more:
                assert b"1 withheld" in said
    logs = [path for path in holds(home) if not path.endswith((".db", ".db-wal"))]
    assert logs == []


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_S3_files_are_the_persons_alone_whatever_the_umask(
    umask: int, notes: Path, cache: Path
) -> None:
    before = os.umask(umask)
    try:
        with Recall([notes], cache_dir=str(cache)) as recall:
            assert paths(recall, "kestrel") == ["open.md"]
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in cache.iterdir()}
    assert modes == {0o600}


def test_S3_a_symlink_in_place_of_the_cache_directory_is_refused(
    notes: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    with Recall([notes], cache_dir=str(tmp_path / "link")) as recall:
        answer = recall.answer("kestrel")
    assert [card.path for card in answer.cards] == ["open.md"]
    assert "symlink" in answer.reports[0].notices[0]
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_S3_another_persons_directory_or_file_is_refused(notes: Path, cache: Path) -> None:
    with Recall([notes], cache_dir=str(cache)) as recall:
        recall.refresh()
    (file,) = cache.glob("*.db")
    os.chown(file, 12345, 12345)
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, "kestrel") == ["open.md"]
    assert file.stat().st_uid == os.geteuid()  # made anew
    os.chown(cache, 12345, 12345)
    with Recall([notes], cache_dir=str(cache)) as recall:
        answer = recall.answer("kestrel")
    assert "somebody else" in answer.reports[0].notices[0]
    with pytest.raises(PermissionError):
        db.refuse_foreign_directory(str(cache))


def test_F5_a_directory_that_became_a_symlink_after_the_scan_is_not_read(
    notes: Path, cache: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    write(outside, "secret.md", f"# Kestrel\n\n{WORD}\n")
    write(notes, "sub/secret.md", "# Kestrel\n\nharmless\n")

    class Swapped(FileSystem):
        def is_below(self, directory: bytes, top: bytes) -> bool:
            sub = notes / "sub"
            if not sub.is_symlink():
                sub.rename(tmp_path / "moved")
                sub.symlink_to(outside)
            return super().is_below(directory, top)

    with Recall([notes], cache_dir=str(cache), fs=Swapped()) as recall:
        recall.refresh()
        assert paths(recall, WORD) == []
    assert holds(cache) == []


@pytest.mark.parametrize("umask", [0, 0o777])
def test_S3_the_state_is_the_persons_alone_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    directory = str(tmp_path / "a" / "state")
    before = os.umask(umask)
    try:
        state.write(directory, "x.json", b"{}")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(f"{directory}/x.json").st_mode) == 0o600
    os.chmod(directory, 0o750)  # noqa: S103 - what must be mended
    state.write(directory, "x.json", b"[]")
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    assert state.read(directory, "x.json", 10) == b"[]"


def test_S3_a_symlink_in_the_state_is_refused_not_followed(tmp_path: Path) -> None:
    elsewhere = write(tmp_path, "elsewhere.json", "theirs")
    directory = tmp_path / "state"
    state.write(str(directory), "x.json", b"{}")
    (directory / "x.json").unlink()
    (directory / "x.json").symlink_to(elsewhere)
    with pytest.raises(Unreadable):
        state.read(str(directory), "x.json", 10)
    state.write(str(directory), "x.json", b"{}")
    assert elsewhere.read_text(encoding="utf-8") == "theirs"
    assert state.read(str(directory), "x.json", 10) == b"{}"
    link = tmp_path / "link"
    link.symlink_to(directory)
    with pytest.raises(OSError, match="symlink"):
        state.write(str(link), "x.json", b"[]")
    with pytest.raises(Unreadable):
        state.read(str(link), "x.json", 10)


@pytest.mark.parametrize(
    "roots",
    [
        [("n", (), ()), ("n/team", ("hr/",), ())],
        [("n", ("team/hr/",), ()), ("n/team", (), ())],
        [("n", ("team/hr/*.md",), ()), ("n", (), ("team/*",))],
        [("n", ("hr/",), ()), ("n/team/hr", (), ())],
    ],
)
def test_what_one_root_withholds_no_other_root_shows(
    roots: list[tuple[str, tuple[str, ...], tuple[str, ...]]], tmp_path: Path, cache: Path
) -> None:
    write(tmp_path, "n/team/hr/pay.md", f"# Kestrel {WORD}\n")
    write(tmp_path, "n/team/open.md", "# Kestrel open\n")
    given = [
        Root(f"r{number}", str(tmp_path / path), Rules(private=private, exclude=exclude))
        for number, (path, private, exclude) in enumerate(roots)
    ]
    for order in (given, given[::-1]):
        with Recall(order, cache_dir=str(cache)) as recall:
            recall.refresh()
            assert paths(recall, WORD) == []
            assert [path for path in paths(recall, "kestrel") if "pay" in path] == []
            assert len(paths(recall, "kestrel open")) == 1
    assert holds(cache) == []


def test_conflict_copies_of_what_a_glob_withholds_are_withheld_too(
    notes: Path, cache: Path
) -> None:
    write(notes, "plan.md", WORD)
    write(notes, "plan (Bob's conflicted copy 2024-01-01).md", WORD)
    write(notes, "plan.sync-conflict-20240101-101010-ABCDEFG.md", WORD)
    root = Root("n", str(notes), Rules(private=("plan.md",)))
    with Recall([root], cache_dir=str(cache)) as recall:
        (report,) = recall.refresh()
        assert (report.skipped, report.withheld) == ((), 3)
        (notes / "plan.md").unlink()
        recall.refresh()
        assert paths(recall, WORD) == []
    assert holds(cache) == []


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: x\nprivate:true\n---\n",
        "---\ntitle: x\n  private: true\n---\n",
        "---\ntitle: [\n  private: true\n---\n",
        "---\nprivate: true\nprivate: false\n---\n",
        "---\nPrivate: yes\nprivate:\n---\n",
        "---\n" + "".join(f"k{n}: v\n" for n in range(1100)) + "private: true\n---\n",
        "---\n" + "x: y\n" * 300 + "private: true\n",
        "---yaml\nprivate: true\n---\n",
        "--- # meta\nprivate: true\n---\n",
        "%YAML 1.2\n---\nprivate: true\n---\n",
        "+++\nprivate = true\n+++\n",
        "---\rprivate: true\r---\r",
        "\u200b---\npri\u200bvate: true\n---\n",
        "---\nｐrivate： true\n---\n",
    ],
)
def test_a_badly_written_private_withholds_as_well(head: str, notes: Path, cache: Path) -> None:
    write(notes, "x.md", f"{head}{WORD}\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, WORD) == []
    assert holds(cache) == []


@pytest.mark.parametrize(
    "tag", [b"<pri\xffvate>", b"<private\xff>", b"<pri\xe2\x80vate>", b"<private\xe2\x80>"]
)
def test_bytes_that_are_no_text_hide_no_tag(tag: bytes, notes: Path, cache: Path) -> None:
    (notes / "x.md").write_bytes(b"kestrel caf\xe9 " + tag + WORD.encode())
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert "x.md" in paths(recall, "café")
        assert paths(recall, WORD) == []
    assert holds(cache) == []


def test_a_glob_withholds_a_name_in_either_spelling(notes: Path, cache: Path) -> None:
    write(notes, unicodedata.normalize("NFD", "Übér/x.md"), WORD)
    root = Root("n", str(notes), Rules(private=(unicodedata.normalize("NFC", "Übér/"),)))
    with Recall([root], cache_dir=str(cache)) as recall:
        assert paths(recall, WORD) == []
    assert holds(cache) == []


def test_compacting_that_was_killed_is_taken_up_again(
    notes: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = write(notes, "note.md", f"# Osprey\n\n{WORD}\n")
    with Recall([notes], cache_dir=str(cache)) as recall:
        recall.refresh()
        note.unlink()
        with monkeypatch.context() as patch:
            patch.setattr(Store, "checkpoint", _killed)
            with pytest.raises(KeyboardInterrupt):
                recall.refresh(compact=True)
    with Recall([notes], cache_dir=str(cache)) as recall:
        assert paths(recall, "kestrel") == ["open.md"]
    assert holds(cache) == []


def _killed(_: Store) -> bool:
    raise KeyboardInterrupt


class Swapping(FileSystem):
    """Replaces a note before the read of its line for a card, as an editor might at that moment.

    The two before that read are for its grams, and the look at it: so young a file is not trusted
    by its times.
    """

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text: str | None = text
        self.reads = 0

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        self.reads += path == os.fsencode(self.path)
        if self.text is not None and self.reads == 3:
            self.path.write_text(self.text, encoding="utf-8")
            self.text = None
        return super().read(path, limit)


@pytest.mark.parametrize(
    "text", ["---\nprivate: true\n---\nThe otter has a SECRET.\n", "# Other\n\nThe otter SECRET.\n"]
)
def test_what_became_private_between_the_look_and_the_card_is_in_none(
    tmp_path: Path, text: str
) -> None:
    note = tmp_path.resolve() / "notes" / "otter.md"
    note.parent.mkdir()
    note.write_text("# Otter\n\nIntroduction.\n\nThe otter is fed at noon.\n", encoding="utf-8")
    fs = Swapping(note, text)
    with Recall(str(note.parent), cache_dir=str(tmp_path / "cache"), fs=fs) as recall:
        recall.refresh()
        fs.reads = 0
        (card,) = recall.answer("otter fed", refresh=False).cards
    assert fs.text is None
    assert (card.title, card.summary, card.line) == ("Otter", "Introduction.", None)
