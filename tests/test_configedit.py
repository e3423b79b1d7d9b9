"""Editing a person's configuration changes one root and no other byte."""

from __future__ import annotations

import errno
import os
import stat
import threading
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound, RootUnavailable
from recall import replace, trust
from recall.config import load
from recall.configedit import add_root, remove_root, with_root, without_root
from recall.rootnames import name_fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[roots]\nb = "/y"\n'),
        ("# hi\n", '# hi\n\n[roots]\nb = "/y"\n'),
        ("# hi\n\n", '# hi\n\n[roots]\nb = "/y"\n'),
        ("[search]\nk = 1", '[search]\nk = 1\n\n[roots]\nb = "/y"\n'),
        (
            '[roots]\na = "x" # c\n# tail\n\n# about search\n[search]\n',
            '[roots]\na = "x" # c\nb = "/y"\n# tail\n\n# about search\n[search]\n',
        ),
        ("[roots]\n\n[search]\n", '[roots]\nb = "/y"\n\n[search]\n'),
        ('[ "roots" ] # mine\n', '[ "roots" ] # mine\nb = "/y"\n'),
        ('[roots]\r\na = "x"\r\n', '[roots]\r\na = "x"\r\nb = "/y"\r\n'),
        ('[roots]\na = "x"', '[roots]\na = "x"\nb = "/y"\n'),
        ("roots = { a = 'x' }\nk = 1\n", "roots = { a = 'x', b = \"/y\" }\nk = 1\n"),
        ("roots={} # {none}\n", 'roots={ b = "/y"} # {none}\n'),
        ("roots.a = 'x'\ninherit = true\n", "roots.a = 'x'\nroots.b = \"/y\"\ninherit = true\n"),
        ("[roots.a]\npath = 'x'\n", "[roots.a]\npath = 'x'\n\n[roots]\nb = \"/y\"\n"),
        (
            "x = '''\n[roots]\n'''\n[roots]\na = [\n  'x',\n]\n",
            "x = '''\n[roots]\n'''\n[roots]\na = [\n  'x',\n]\nb = \"/y\"\n",
        ),
        ("x = nan\n[roots]\n", 'x = nan\n[roots]\nb = "/y"\n'),
    ],
)
def test_new_root_goes_where_one_would_write_it(before: str, after: str) -> None:
    assert with_root(before, "b", "/y", "file") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[roots]\nb = "/y"\n', "[roots]\n"),
        (
            '[roots]\n# one\na = "x"\n# two\nb = "/y" # gone\n# three\n',
            '[roots]\n# one\na = "x"\n# two\n# three\n',
        ),
        ("[roots]\n'b' = { path = 'x', exclude = [\n  'y',\n] }\nc = 'z'\n", "[roots]\nc = 'z'\n"),
        (
            "[roots.b]\npath = 'x'\nexclude = ['y']\n\n# about k\n[search]\n",
            "\n# about k\n[search]\n",
        ),
        ("[roots.a]\npath = 'x'\n[ roots . b ]\npath = 'y'\n", "[roots.a]\npath = 'x'\n"),
        ("roots = { a = 'x', b = 'y' }\n", "roots = { a = 'x' }\n"),
        ("roots = { b = 'y', c = ['a', 'b'] } # c\n", "roots = { c = ['a', 'b'] } # c\n"),
        ("roots = { b = { path = 'y', exclude = ['a', '}'] } }\n", "roots = { }\n"),
        ("roots.b.path = 'x'\nroots.b.exclude = []\nk = 1\n", "k = 1\n"),
        ("[roots]\nab = 'x'\nb = 'y'\nbc = 'z'\n", "[roots]\nab = 'x'\nbc = 'z'\n"),
        ("[search]\nb = 1\n[roots]\nb = 'y'\n", "[search]\nb = 1\n[roots]\n"),
    ],
)
def test_old_root_leaves_everything_else(before: str, after: str) -> None:
    assert without_root(before, "b", "file") == after


def test_table_in_two_places_is_left_to_an_editor() -> None:
    text = "[roots.b]\npath = 'x'\n[search]\nk = 1\n[roots.b.odd]\ny = 1\n"
    with pytest.raises(InvalidInput, match="touching other entries"):
        without_root(text, "b", "file")


NAMES = st.one_of(
    st.sampled_from(
        [
            "a",
            "b",
            "one",
            "three",
            "sub",
            "u",
            "v",
            "roots",
            "path",
            "search",
            "x.y",
            'q"q',
            "it's",
            "日本",
            "a b",
            "#",
            "a]",
        ]
    ),
    st.text(min_size=1, max_size=8).filter(lambda name: name_fault(name) is None),
)
PATHS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
ASIDE = st.lists(
    st.sampled_from(["", "# a comment", "#[roots]", "  # indented = 'x'", "\t"]), max_size=3
)
TABLES = st.sampled_from(
    [
        "[search]\nk = 3 # few",
        "[hook]\ntext = '''\n[roots]\na = \"x\"\n'''\nat = [\n  1,\n  # two\n  [2],\n]",
        '["odd table"]\nroots.a = 1\nb = nan',
        "[[list]]\na = 'x'\n[[list]]\na = 'y'",
    ]
)
ENTRIES = st.sampled_from(
    [
        "one = '~/one' # first",
        '  two = { path = "2", exclude = [\'a\', "b"] }',
        "\"three\" = { path = 'x', include = [\n 'y', # why\n] }",
    ]
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """Compose a valid file in which a header of roots stands anywhere, or nowhere."""
    blocks = draw(st.lists(TABLES, max_size=4, unique=True))
    style = draw(st.sampled_from(["none", "header", "header", "inline", "dotted"]))
    top = draw(st.sampled_from(["", "inherit = true\n"]))
    if style == "inline":
        top += draw(st.sampled_from(["roots={}", "roots = { u = 'x', v = ['}'] } # {, }"])) + "\n"
    elif style == "dotted":
        top += "roots.u = 'x' # why\nroots . v.path = 'y'\n"
    elif style == "header":
        entries = "\n".join(
            line for entry in draw(st.lists(ENTRIES, unique=True)) for line in [entry, *draw(ASIDE)]
        )
        blocks.insert(draw(st.integers(0, len(blocks))), f"[roots]\n{entries}")
    if style in {"none", "header"} and draw(st.booleans()):
        blocks.append("[roots.sub]\npath = 'sub'\n# inside\nexclude = []")
    lines = [*draw(ASIDE)]
    for block in blocks:
        lines += [block, *draw(ASIDE)]
    text = top + "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def roots_of(text: str) -> dict[str, object]:
    roots = tomllib.loads(text).get("roots", {})
    assert isinstance(roots, dict)
    return roots


def rest_of(text: str) -> dict[str, object]:
    return {
        key: value for key, value in tomllib.loads(text, parse_float=str).items() if key != "roots"
    }


def is_one_insertion(shorter: str, longer: str) -> bool:
    return any(
        longer == shorter[:at] + longer[at : at + len(longer) - len(shorter)] + shorter[at:]
        for at in range(len(shorter) + 1)
    )


@given(files(), st.lists(st.tuples(NAMES, PATHS), max_size=6))
def test_any_sequence_of_edits_keeps_every_other_byte(
    text: str, steps: list[tuple[str, str]]
) -> None:
    expected = roots_of(text)
    rest = rest_of(text)
    for name, path in steps:
        if name in expected:
            edited = without_root(text, name, "file")
            del expected[name]
            assert is_one_insertion(edited, text)
        else:
            edited = with_root(text, name, path, "file")
            expected[name] = path
            assert is_one_insertion(text, edited)
        assert roots_of(edited) == expected
        assert rest_of(edited) == rest
        text = edited


@given(files(), NAMES, PATHS)
def test_adding_and_removing_restores_the_file(text: str, name: str, path: str) -> None:
    if name in roots_of(text):
        return
    restored = without_root(with_root(text, name, path, "file"), name, "file")
    if text.endswith("\n") and roots_of(text).keys() - {"sub"}:
        assert restored == text
    # What adding had to supply stays: a newline at the end, a header.
    assert restored.startswith(text)
    assert restored[len(text) :].split() in ([], ["[roots]"])


# Files


class Place:
    """A configuration file that is not there yet, and a directory of notes."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.file = base / "home/.config/recall/config.toml"
        self.notes = base / "my notes"
        self.notes.mkdir()

    def write(self, content: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(content)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def test_missing_file_is_created_with_its_directories_and_loads(place: Place) -> None:
    assert add_root(str(place.file), "notes", str(place.notes))
    assert place.file.read_text() == f'[roots]\nnotes = "{place.notes}"\n'
    assert stat.S_IMODE(place.file.parent.stat().st_mode) == 0o700
    environ = {"HOME": str(place.base / "home")}
    (root,) = load(str(place.base), environ, fallback=False).roots
    assert (root.name, root.path) == ("notes", str(place.notes))


def test_same_root_again_changes_nothing(place: Place) -> None:
    place.write(b'[roots]\nnotes = "~/../my notes"\n')
    environ = {"HOME": str(place.base / "home")}
    before = place.file.stat().st_ino
    assert not add_root(str(place.file), "notes", str(place.notes), environ)
    assert place.file.stat().st_ino == before


def test_other_directory_under_a_taken_name_is_refused(place: Place) -> None:
    place.write(b'[roots]\n"my notes" = "/elsewhere"\n')
    with pytest.raises(InvalidInput, match="/elsewhere") as caught:
        add_root(str(place.file), "my notes", str(place.notes))
    assert caught.value.hint == "recall roots remove 'my notes'"


@pytest.mark.parametrize("name", ["", "a/b", "..", "~a", "-a", " a", "a\x1b", "a\u202e", "a" * 101])
def test_name_that_can_not_be_one_is_refused(place: Place, name: str) -> None:
    with pytest.raises(InvalidInput):
        add_root(str(place.file), name, str(place.notes))
    assert not place.file.parent.exists()


def test_directory_that_is_not_there_is_not_found(place: Place) -> None:
    with pytest.raises(NotFound) as caught:
        add_root(str(place.file), "x", str(place.base / "not here"))
    assert caught.value.hint == f"mkdir -p '{place.base}/not here'"
    with pytest.raises(InvalidInput):
        add_root(str(place.file), "x", "")
    assert not place.file.parent.exists()


def test_directory_that_is_not_utf8_is_refused(place: Place) -> None:
    directory = os.fsencode(place.base) + b"/\xff"
    try:
        os.mkdir(directory)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    with pytest.raises(InvalidInput, match="UTF-8"):
        add_root(str(place.file), "x", os.fsdecode(directory))


@pytest.mark.parametrize(
    ("directory", "written"), [(".", "."), ("a/b", "a/b"), ("~x", "./~x"), ("../my notes", None)]
)
def test_project_file_names_its_own_directories_relatively(
    place: Place, directory: str, written: str | None
) -> None:
    project = place.base / "project"
    (project / directory).mkdir(parents=True, exist_ok=True)
    file = project / ".recall.toml"
    add_root(str(file), "x", str(project / directory))
    assert roots_of(file.read_text()) == {"x": written or str(place.notes)}


def test_byte_order_mark_mode_and_link_stay(place: Place) -> None:
    place.write(b"\xef\xbb\xbf# mine\r\n")
    target = place.base / "dotfiles.toml"
    place.file.rename(target)
    target.chmod(0o640)
    place.file.symlink_to(target)
    add_root(str(place.file), "notes", str(place.notes))
    assert place.file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert target.read_bytes().startswith(b"\xef\xbb\xbf# mine\r\n\r\n[roots]\r\nnotes = ")
    remove_root(str(place.file), "notes")
    assert target.read_bytes() == b"\xef\xbb\xbf# mine\r\n\r\n[roots]\r\n"


def test_removing_what_is_not_there_is_not_found_and_creates_nothing(place: Place) -> None:
    with pytest.raises(NotFound):
        remove_root(str(place.file), "notes")
    assert not place.file.parent.exists()
    place.write(b'[roots]\nnotes = "x"\n')
    with pytest.raises(NotFound, match='did you mean "notes"'):
        remove_root(str(place.file), "note")


@pytest.mark.parametrize("content", [b"[roots", b"\xff", b"roots = 3\n"])
def test_broken_file_is_not_touched(place: Place, content: bytes) -> None:
    place.write(content)
    with pytest.raises(ConfigInvalid):
        add_root(str(place.file), "notes", str(place.notes))
    assert place.file.read_bytes() == content
    assert os.listdir(place.file.parent) == ["config.toml"]


def test_directory_in_the_place_of_the_file(place: Place) -> None:
    place.file.mkdir(parents=True)
    with pytest.raises(ConfigInvalid, match="directory"):
        add_root(str(place.file), "notes", str(place.notes))


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_failing_write_leaves_the_old_file_and_no_other(
    place: Place, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(b"# mine\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr(replace, "_take_over", full)
    else:
        monkeypatch.setattr(os, step, full)
    with pytest.raises(RootUnavailable, match="No space left"):
        add_root(str(place.file), "notes", str(place.notes))
    assert place.file.read_bytes() == b"# mine\n"
    assert os.listdir(place.file.parent) == ["config.toml"]


def test_directory_that_can_not_be_made_is_a_clear_error(place: Place) -> None:
    (place.base / "home").write_text("in the way")
    with pytest.raises(InvalidInput, match="can't be written"):
        add_root(str(place.file), "notes", str(place.notes))


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_file_that_may_not_be_written_is_unavailable_with_a_hint(
    place: Place, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    add_root(str(place.file), "old", str(place.base))
    before = place.file.read_bytes()

    def refused(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(replace, "replace", refused)
    state = str(place.base / "state")
    edits: list[Callable[[], object]] = [
        lambda: add_root(str(place.file), "notes", str(place.notes)),
        lambda: remove_root(str(place.file), "old"),
        lambda: trust.trust(str(place.file), state, {"HOME": str(place.base)}),
    ]
    for edit in edits:
        with pytest.raises(RootUnavailable, match=os.strerror(code)) as caught:
            edit()
        assert caught.value.exit_status == 6
        assert caught.value.where
        assert (caught.value.hint or "").startswith("ls -ld ")
    assert place.file.read_bytes() == before


def test_a_file_is_no_directory(place: Place) -> None:
    note = place.notes / "keys.md"
    note.write_text("# Keys\n")
    with pytest.raises(NotFound) as caught:
        add_root(str(place.file), "a", str(note))
    assert caught.value.message == "a root is a directory, and this is a file"
    assert str(place.notes) in (caught.value.hint or "")


def test_edits_at_once_lose_none(place: Place) -> None:
    names = [f"n{number}" for number in range(8)]
    barrier = threading.Barrier(len(names))

    def run(name: str) -> None:
        barrier.wait()
        (place.notes / name).mkdir()
        add_root(str(place.file), name, str(place.notes / name))

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(roots_of(place.file.read_text())) == names
