"""Moving in from other programs: what they name is read, told, adopted, and never trusted more."""

# The codes of reported faults (C5, S4) are written as they are.

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli_support import Result, recall

from index_cache.errors import RootUnavailable
from recall import config, configedit, configfile, rootnames
from recall.configfile import NothingConfigured

VARIABLES = ("LOCUS_PALACE", "CORTEX_MEMORY_ROOT")


class Place:
    """A home with a palace and a project, which is where ``load`` runs."""

    def __init__(self, base: Path, home: Path) -> None:
        self.base = base
        self.own = home / ".config" / "recall" / "config.toml"
        self.environ = {"HOME": str(home)}
        self.palace = self.make("my palace")
        self.project = self.make("project")
        self.locus = self.project / ".locus.toml"
        (self.palace / "note.md").write_text("# Zebra\n\nStripes of a zebra.\n")

    def make(self, name: str) -> Path:
        path = self.base / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def load(
        self, others: dict[str, str] | None = None, *, fallback: bool = False, **environ: str
    ) -> config.Config:
        environ = self.environ | (others or {}) | environ
        return config.load(str(self.project), environ, fallback=fallback)

    def run(self, *arguments: str, **environ: object) -> Result:
        env = {name: str(value) for name, value in environ.items()}
        return recall(*arguments, cwd=self.project, env=env)


@pytest.fixture
def place(tmp_path: Path, home: Path) -> Place:
    return Place(tmp_path.resolve(), home)


def found(made: config.Config) -> dict[str, str]:
    return {root.name: root.path for root in made.roots}


def said(made: config.Config) -> list[str]:
    return [notice.message for notice in made.notices]


# What is read, and when


def test_the_file_then_the_palace_then_cortex(place: Place) -> None:
    docs, cortex = place.make("project/docs"), place.make("cortex")
    variables = {"LOCUS_PALACE": str(place.palace), "CORTEX_MEMORY_ROOT": str(cortex)}
    place.locus.write_text('[recall]\nroots = ["docs"]\n')
    made = place.load(variables)
    assert found(made) == {"docs": str(docs)}
    assert made.origins == {"docs": str(place.locus)}
    place.locus.write_text("[recall]\nk = 3\n[other]\nroots = 3\n")  # names none, and is right
    assert found(place.load(variables)) == {"my palace": str(place.palace)}
    made = place.load(CORTEX_MEMORY_ROOT=str(cortex))
    assert found(made) == {"cortex": str(cortex)}
    (notice,) = made.notices
    assert notice.message.startswith("roots are taken from CORTEX_MEMORY_ROOT, ")
    assert notice.hint == "recall roots adopt"


@pytest.mark.parametrize("variable", VARIABLES)
def test_ours_come_first_and_then_nothing_is_said(place: Place, variable: str) -> None:
    docs = place.make("project/docs")
    place.locus.write_text("[recall\n")
    others = {variable: str(place.palace)}
    made = place.load(others, RECALL_ROOTS=str(docs))
    assert (found(made), said(made)) == ({"docs": str(docs)}, [])
    place.own.parent.mkdir(parents=True)
    place.own.write_text("[search]\nk = 3\n")  # settings alone name no root
    made = place.load(others)
    assert (found(made), made.search.k) == ({"my palace": str(place.palace)}, 3)
    place.own.write_text(f'[roots]\nmine = "{docs}"\n')
    made = place.load(others)
    assert (found(made), said(made)) == ({"mine": str(docs)}, [])
    place.own.unlink()
    (place.project / ".recall.toml").write_text('[roots]\ndocs = "docs"\n')
    made = place.load(others)
    assert (found(made), said(made)) == ({"docs": str(docs)}, [])
    (place.project / ".recall.toml").write_text("inherit = false\n")
    with pytest.raises(NothingConfigured):
        place.load(others)


def test_they_come_before_the_repository(place: Place) -> None:
    place.make("project/.git")
    assert place.load(fallback=True).origins == {"project": str(place.project)}
    made = place.load(fallback=True, LOCUS_PALACE=str(place.palace))
    assert found(made) == {"my palace": str(place.palace)}


def test_entries_start_from_the_file_and_the_tilde_is_home(place: Place) -> None:
    deep = place.make("project/deep/er")
    notes = place.make("project/notes")
    file = Path(place.environ["HOME"]) / ".locus.toml"
    file.write_text('[recall]\nroots = ["~/a/notes", "b/notes"]\n')
    place.locus.write_text('[recall]\nroots = ["notes", "./deep/../deep", "."]\n')
    names = found(config.load(str(deep), place.environ, fallback=False))
    project = str(place.project)
    assert names == {"notes": str(notes), "deep": f"{project}/deep", "project": project}
    for name in "ab":
        Path(place.environ["HOME"], name, "notes").mkdir(parents=True)
    names = found(config.load(place.environ["HOME"], place.environ, fallback=False))
    home = os.path.realpath(place.environ["HOME"])
    assert names == {"notes": f"{home}/a/notes", "notes-2": f"{home}/b/notes"}


def test_the_hook_uses_them(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCUS_PALACE", str(place.palace))
    # A busy machine may need more than the usual deadline.
    monkeypatch.setenv("RECALL_DEADLINE_MS", "10000")
    monkeypatch.chdir(place.project)
    assert recall("refresh").status == 0
    done = recall("hook", "--host", "text", stdin=b"what about the stripes of a zebra")
    assert (done.status, done.stderr) == (0, "")
    assert "note.md" in done.stdout


# What is wrong or hostile there


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[recall\n", "it is not valid TOML"),
        (b"recall = 3\n", "recall is no table"),
        (b"recall = [1]\n", "recall is no table"),
        (b'[recall]\nroots = "docs"\n', "recall.roots is no list of directories"),
        (b'[recall]\nroots = ["docs", 1]\n', "recall.roots is no list of directories"),
        (b'[recall]\nroots = ["docs", ""]\n', "recall.roots is no list of directories"),
        (b'[recall]\nroots = ["docs", "a\\u0000b"]\n', "recall.roots is no list of directories"),
        (b"[recall]\nroots = { docs = 1 }\n", "recall.roots is no list of directories"),
        (b'[recall]\nroots = ["\xff"]\n', "it is not UTF-8"),
        (b"x = " + b"[" * 100_000, "it is nested too deeply"),
        (b"#" * (configfile.MAX_CONFIG_BYTES + 1), "it can't be read: it is larger than"),
        (None, "it can't be read: it is a directory"),
        ("fifo", "it can't be read: it is not a regular file"),
        ("link", "it is a link that leads nowhere"),
    ],
)
def test_a_file_that_is_wrong_is_told_and_gives_nothing(
    place: Place, content: bytes | str | None, reason: str
) -> None:
    place.make("project/docs")
    if content is None:
        place.locus.mkdir()
    elif content == "fifo":
        os.mkfifo(place.locus)
    elif isinstance(content, str):
        place.locus.symlink_to("nowhere")
    else:
        place.locus.write_bytes(content)
    made = place.load(LOCUS_PALACE=str(place.palace))
    assert found(made) == {"my palace": str(place.palace)}
    assert said(made)[0].startswith(f"{place.locus}: no root is taken from it: {reason}")
    with pytest.raises(NothingConfigured, match="no root is taken from it"):
        place.load()


@pytest.mark.parametrize("written", ["{out}", "../out", "~/out", "link", "docs/../../out", "/"])
def test_S4_a_file_of_a_repository_names_nothing_outside(place: Place, written: str) -> None:
    home = place.make("home")
    out, docs = place.make("out"), place.make("project/docs")
    place.make("home/out")
    place.environ["HOME"] = str(home)
    (place.project / "link").symlink_to(out)
    place.locus.write_text(f'[recall]\nroots = ["docs", "{written.format(out=out)}"]\n')
    made = place.load()
    assert found(made) == {"docs": str(docs)}
    (left,) = made.left_out
    assert left.path in {str(out), str(home / "out"), "/"}
    assert "may not name directories outside its own" in said(made)[0]
    # Alone it names nothing, and what comes after it counts.
    place.locus.write_text(f'[recall]\nroots = ["{written.format(out=out)}"]\n')
    made = place.load(LOCUS_PALACE=str(place.palace))
    assert found(made) == {"my palace": str(place.palace)}
    with pytest.raises(NothingConfigured, match="may not name directories outside"):
        place.load()
    listed = config.load(str(place.project), place.environ, fallback=False, demand=False)
    assert [each.path for each in listed.left_out] == [left.path]


def test_S4_adopting_follows_no_link_later(place: Place) -> None:
    docs, out = place.make("project/docs"), place.make("out")
    link = place.project / "link"
    link.symlink_to("docs")
    place.locus.write_text('[recall]\nroots = ["link", "../out"]\n')
    done = place.run("roots", "adopt")
    assert done.status == 0
    assert done.stdout.startswith(f"added: docs: {docs}\n")
    assert f"hint: recall roots add out {out}\n" in done.stderr
    link.unlink()
    link.symlink_to(out)
    assert found(place.load()) == {"docs": str(docs)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_S4_another_users_file_is_passed_over(place: Place) -> None:
    place.make("project/docs")
    place.locus.write_text('[recall]\nroots = ["docs"]\n')
    os.chown(place.locus, 12345, 12345)
    with pytest.raises(NothingConfigured, match="is ignored: it belongs to another user"):
        place.load()


def test_no_home_is_told(place: Place) -> None:
    docs = place.make("project/docs")
    place.locus.write_text('[recall]\nroots = ["~nobody-that-there-is/x", "docs"]\n')
    made = place.load()
    assert found(made) == {"docs": str(docs)}
    assert 'no home directory is known for "~nobody-that-there-is/x"' in said(made)[0]
    made = place.load(HOME="", LOCUS_PALACE="~/x")
    assert 'LOCUS_PALACE: no home directory is known for "~/x"' in said(made)[1]


def test_a_directory_that_is_gone_is_left_out(place: Place) -> None:
    with pytest.raises(RootUnavailable, match="/gone does not exist"):
        place.load(LOCUS_PALACE=str(place.base / "gone"))


@pytest.mark.parametrize("wrong", ["gone", "file", "~nobody-that-there-is/x"])
def test_what_can_not_be_read_hides_nothing_that_can(place: Place, wrong: str) -> None:
    cortex = place.make("x/gone")  # whose name is that of the one that is gone
    place.make("docs")
    (place.base / "file").write_text("no directory")
    palace = wrong if wrong.startswith("~") else str(place.base / wrong)
    variables = {"LOCUS_PALACE": palace, "CORTEX_MEMORY_ROOT": str(cortex)}
    place.locus.write_text('[recall]\nroots = ["missing"]\n')
    made = place.load(variables)
    assert found(made) == {"gone": str(cortex)}
    told = said(made)
    assert f"{place.locus}: {place.project}/missing is not used: it does not exist" in told
    assert [each for each in told if each.startswith("LOCUS_PALACE: ")]
    assert told[-1].startswith("roots are taken from CORTEX_MEMORY_ROOT, ")
    assert all(notice.hint for notice in made.notices)
    assert all(left.name != "gone" for left in made.left_out)
    done = place.run("refresh", **variables)
    assert done.status == 0  # it stops nothing
    assert "CORTEX_MEMORY_ROOT" in done.stderr
    done = place.run("roots", "adopt", **variables)
    assert done.status == 0
    assert done.stdout.startswith(f"added: gone: {cortex}\n")
    assert done.stderr.count("warning: LOCUS_PALACE: ") == 1
    assert done.stderr.count("warning: ") == 2


def test_where_nothing_can_be_read_each_place_is_told(place: Place) -> None:
    one, two = str(place.base / "a" / "gone"), str(place.base / "b" / "gone")
    variables = {"LOCUS_PALACE": one, "CORTEX_MEMORY_ROOT": two}
    with pytest.raises(RootUnavailable) as caught:
        place.load(variables)
    for part in (one, two, "nothing that LOCUS_PALACE or CORTEX_MEMORY_ROOT names can be read"):
        assert part in caught.value.message
    assert "roots are taken from" not in caught.value.message
    listed = config.load(
        str(place.project), place.environ | variables, fallback=False, demand=False
    )
    assert [(left.name, left.path) for left in listed.left_out] == [("gone", one), ("gone-2", two)]


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_hook_hears_of_a_directory_that_comes_and_goes(place: Place, variable: str) -> None:
    """What is kept of the configuration depends on it, be the source the first or not."""
    from recall import resolved

    palace = place.base / "palace"
    environ = place.environ | {variable: str(palace), "XDG_STATE_HOME": str(place.make("state"))}
    other = next(each for each in VARIABLES if each != variable)
    environ[other] = str(place.make("good"))
    first = {"LOCUS_PALACE": "palace", "CORTEX_MEMORY_ROOT": "good"}[variable]

    def names() -> list[str]:
        return [root.name for root in resolved.load(str(place.project), environ).roots]

    for _ in range(2):
        assert names() == ["good"]
    palace.mkdir()
    for _ in range(2):
        assert names() == [first]
    palace.rmdir()
    assert names() == ["good"]


# Adopting


def test_what_is_read_is_adopted_once(place: Place) -> None:
    before = place.run("roots", "list", LOCUS_PALACE=place.palace)
    assert before.stdout == f"my palace: {place.palace}\n"
    assert before.stderr.endswith("\nhint: recall roots adopt\n")
    tried = place.run("roots", "adopt", "--dry-run", LOCUS_PALACE=place.palace)
    assert (tried.status, tried.stderr) == (0, "")
    assert tried.stdout == f"would add: my palace: {place.palace}\n"
    assert not place.own.parent.exists()
    done = place.run("roots", "adopt", LOCUS_PALACE=place.palace)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout == (
        f"added: my palace: {place.palace}\n"
        f"from now on {place.own} counts, and LOCUS_PALACE is not read\n"
    )
    content = place.own.read_bytes()
    assert content == f'[roots]\n"my palace" = "{place.palace}"\n'.encode()
    again = place.run("roots", "adopt", LOCUS_PALACE=place.palace)
    assert (again.status, again.stderr) == (0, "")
    assert again.stdout == f"nothing to adopt: {place.own} has every root of LOCUS_PALACE\n"
    assert place.own.read_bytes() == content
    after = place.run("roots", "list", LOCUS_PALACE=place.palace)
    assert (after.stdout, after.stderr) == (before.stdout, "")


def test_only_what_is_missing_is_added_and_every_byte_stays(place: Place) -> None:
    one, two = place.make("project/one"), place.make("project/a/docs")
    three = place.make("project/b/docs")
    place.locus.write_text('[recall]\nroots = ["one", "a/docs", "b/docs", "gone"]\n')
    place.own.parent.mkdir(parents=True)
    old = (
        f'# mine\r\n[roots]\r\nfirst = {{ path = "{one}" }} # kept\r\ndocs = "~"\r\n\r\n[hook]\r\n'
    )
    place.own.write_bytes(old.encode())
    data = place.run("roots", "adopt", "--json").data()
    assert data["source"] == str(place.locus)
    assert data["file"] == str(place.own)
    assert data["roots"] == [
        {"name": "first", "path": str(one), "added": False},
        {"name": "docs-2", "path": str(two), "added": True},
        {"name": "docs-3", "path": str(three), "added": True},
    ]
    assert [each["message"] for each in data["notices"]] == [
        f"{place.locus}: {place.project}/gone is not used: it does not exist"
    ]
    new = f'docs-2 = "{two}"\r\ndocs-3 = "{three}"\r\n'
    assert place.own.read_bytes() == old.replace("\r\n\r\n", f"\r\n{new}\r\n").encode()
    for name in ("docs-2", "docs-3"):
        configedit.remove_root(str(place.own), name)
    assert place.own.read_bytes() == old.encode()


def test_a_place_that_is_named_twice_is_told_once(place: Place) -> None:
    docs, out = place.make("project/docs"), place.make("out")
    (place.project / "link").symlink_to("docs")
    names = '["docs", "./docs", "link", "gone", "./gone", "docs/../docs", "../out", "../out/"]'
    place.locus.write_text(f"[recall]\nroots = {names}\n")
    variables = {"LOCUS_PALACE": out, "CORTEX_MEMORY_ROOT": out}
    made = place.load({name: str(value) for name, value in variables.items()})
    assert found(made) == {"docs": str(docs)}
    assert [left.path for left in made.left_out] == [str(out), f"{place.project}/gone"]
    tried = place.run("roots", "adopt", "--dry-run", **variables)
    assert tried.stdout == f"would add: docs: {docs}\n"
    assert tried.stderr.count("/gone is not used") == 1
    assert tried.stderr.count(" names ") == 1
    assert f"LOCUS_PALACE names {out}, which is not adopted" in tried.stderr
    assert place.run("roots", "adopt", **variables).stdout.startswith(f"added: docs: {docs}\nfrom")


def test_what_comes_later_is_named(place: Place) -> None:
    cortex = place.make("cor'tex")
    done = place.run("roots", "adopt", LOCUS_PALACE=place.palace, CORTEX_MEMORY_ROOT=cortex)
    assert done.status == 0
    assert done.stderr == (
        f"warning: CORTEX_MEMORY_ROOT names {cortex}, which is not adopted: LOCUS_PALACE comes "
        f"before it\nhint: recall roots add 'cor'\"'\"'tex' '{place.base}/cor'\"'\"'tex'\n"
    )


def test_nothing_to_adopt_is_not_found(place: Place) -> None:
    done = place.run("roots", "adopt")
    assert (done.status, done.stdout) == (3, "")
    assert done.stderr.startswith("error: nothing to adopt: ")
    assert "hint: recall roots add NAME DIR\n" in done.stderr
    place.locus.write_text("[recall\n")
    error = place.run("roots", "adopt", "--json", LOCUS_PALACE=place.base / "gone").error()
    assert error["code"] == "not_found"
    assert "is not valid TOML" in error["message"]
    assert "gone is not used: it does not exist" in error["message"]
    assert not place.own.parent.exists()


def test_what_can_not_be_written_changes_nothing(place: Place) -> None:
    place.own.parent.mkdir(parents=True)
    place.own.write_text("[roots\n")
    for option in ("--json", "--dry-run"):
        done = place.run("roots", "adopt", option, LOCUS_PALACE=place.palace)
        assert done.status == 4
    place.own.unlink()
    odd = place.base / os.fsdecode(b"\xff")
    odd.mkdir()
    done = place.run("roots", "adopt", LOCUS_PALACE=odd)
    assert done.status == 4
    assert "can't hold a path that is not UTF-8" in done.stderr
    assert not place.own.exists()


@pytest.mark.parametrize("name", ["~x", "-x", " x ", "a\x1b[2Jb", "a\nb", "x" * 200, "~", "'"])
def test_names_are_made_of_any_directory(place: Place, name: str) -> None:
    directory = place.make(name)
    done = place.run("roots", "adopt", LOCUS_PALACE=directory)
    assert (done.status, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    (made,) = place.load().roots
    assert made.path == str(directory)
    assert rootnames.name_fault(made.name) is None
