"""The kept configuration is always what reading it anew would give, and nobody else's doing."""

# The codes of reported faults (C5, S4) are written as they are.

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from index_cache.digests import hashed
from index_cache.errors import RecallError
from recall import config, configfile, dirs, looked, resolved, trust
from recall.configfile import NothingConfigured
from recall.settings import HookSettings, SearchSettings

LATER_NS = 10_000_000_000

TEXTS = (
    '[roots]\ndocs = "docs"\n[search]\nk = 3\n',
    '[roots]\ndocs = "docs"\n[search]\nk = 4\n',
    '[roots]\nlink = "link"\n',
    '[roots]\nnotes = { path = "~/notes", private = ["hr/"] }\n',
    '[roots]\nteam = { path = "~/notes/team", private = ["x.md"], exclude = ["y/"] }\n',
    'inherit = false\n[roots]\ndocs = "docs"\n[hook]\nmax_cards = 1\ncap = 600\n',
    '[hook]\nenabled = false\nsensitivity = "low"\nunknown = 1\n',
    '[roots]\nuser = "~nobody-that-there-is"\n',
    "[roots\n",
    'isolate = true\n[roots]\nnotes = { path = "~/notes", shared = true }\ndocs = "docs"\n',
    'isolate = true\n[roots]\nteam = "~/notes/team"\ntop = "~/notes"\nall = "~"\n',
    "",
)
FILES = (
    "home/.config/recall/config.toml",
    "elsewhere/recall/config.toml",
    "src/.recall.toml",
    "src/repo/.recall.toml",
    "main/.recall.toml",
    "wt/.git",
    "main/.git/worktrees/wt/gitdir",
    "main/.git/worktrees/wt/commondir",
    "home/.local/state/recall/trust.json",
    "src/.locus.toml",
    "src/repo/.locus.toml",
)
LOCUS_TEXTS = (
    '[recall]\nroots = ["docs"]\n',
    '[recall]\nroots = ["link", "~/notes"]\n',
    '[recall]\nroots = ["~nobody-that-there-is/x", "."]\n',
    '[recall]\nroots = "docs"\n',
    "[recall\n",
    "",
)
DIRECTORIES = ("home/notes", "home/notes/team", "src/repo/docs", "src/docs", "main/docs")
CWDS = ("src/repo/deep/er", "way/repo", "wt", "src")


def outcome(made: config.Config | resolved.Resolved) -> object:
    notices, left_out = made.notices, made.left_out
    return (
        made.roots,
        [getattr(made.hook, key) for key in HookSettings.__slots__],
        [getattr(made.search, key) for key in SearchSettings.__slots__],
        len(notices) if isinstance(notices, tuple) else notices,
        len(left_out) if isinstance(left_out, tuple) else left_out,
    )


def fresh(cwd: str, environ: Mapping[str, str]) -> object:
    try:
        return outcome(config.load(cwd, environ, fallback=False))
    except NothingConfigured:  # for the hook that is a result like any other
        return outcome(config.Config((), SearchSettings(), HookSettings()))
    except RecallError as error:
        return type(error), str(error)


def from_kept(cwd: str, environ: Mapping[str, str]) -> tuple[object, resolved.Resolved | None]:
    try:
        found = resolved.load(cwd, environ)
    except RecallError as error:
        return (type(error), str(error)), None
    return outcome(found), found


class World:
    """A home, projects and a linked worktree, in a directory of their own."""

    def __init__(self, base: str) -> None:
        self.base = os.path.realpath(base)
        self.environ = {"HOME": self.path("home")}
        for name in (*DIRECTORIES, *CWDS[:1], "wt", "other/docs", "main/.git/worktrees/wt"):
            os.makedirs(self.path(name), exist_ok=True)
        os.symlink(self.path("src"), self.path("way"))
        os.symlink("docs", self.path("src/repo/link"))
        self.write("wt/.git", f"gitdir: {self.path('main/.git/worktrees/wt')}\n")
        self.write("main/.git/worktrees/wt/gitdir", self.path("wt/.git") + "\n")
        self.write("main/.git/worktrees/wt/commondir", "../..\n")
        self.write(FILES[0], TEXTS[3])

    def path(self, name: str) -> str:
        return os.path.join(self.base, name)

    def write(self, name: str, text: str) -> str:
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def tick(self) -> None:
        """Wait for the next tick of the clock that stamps files: 10 ms at most."""
        probe = self.write("probe", "")
        before = os.stat(probe).st_ctime_ns
        while os.stat(probe).st_ctime_ns == before:
            os.utime(probe)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all files be older than the loading, so that nothing is suspect."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + LATER_NS)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(str(tmp_path))


@pytest.fixture
def kept(world: World, request: pytest.FixtureRequest) -> str:
    """Return the path of the kept result for ``src/repo``."""
    request.getfixturevalue("later")
    world.write("src/repo/.recall.toml", TEXTS[0])
    assert not load(world).from_cache
    assert load(world).from_cache
    directory = world.path("home/.cache/recall/resolved")
    (name,) = os.listdir(directory)
    return os.path.join(directory, name)


def load(world: World, cwd: str = "src/repo") -> resolved.Resolved:
    return resolved.load(world.path(cwd), world.environ)


class Edits(RuleBasedStateMachine):
    """Whatever happens to the files, the kept result is what reading them anew gives."""

    @initialize()
    def begin(self) -> None:
        self.directory = tempfile.mkdtemp()
        self.world = World(self.directory)
        self.world.write("src/repo/.recall.toml", TEXTS[2])
        self.world.write("main/.recall.toml", TEXTS[0])
        self.patch = pytest.MonkeyPatch()
        now = time.time_ns
        self.patch.setattr(time, "time_ns", lambda: now() + LATER_NS)

    def teardown(self) -> None:
        self.patch.undo()
        for top, _, _ in os.walk(self.directory):
            os.chmod(top, 0o700)
        shutil.rmtree(self.directory)

    @rule(name=st.sampled_from(FILES[:5]), text=st.sampled_from(TEXTS), how=st.integers(0, 2))
    def edit(self, name: str, text: str, how: int) -> None:
        """Write in place, in place with the old times, or by a rename."""
        path = self.world.path(name)
        try:
            old = os.stat(path)
        except OSError:
            old = None
        if how == 2:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.replace(self.world.write("new", text), path)
            return
        try:
            self.world.write(name, text)
        except OSError:
            return  # a link that leads nowhere, or no permission
        if old is not None and how == 1:
            os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    @rule(
        name=st.sampled_from((FILES[2], *FILES[9:])),
        text=st.sampled_from(LOCUS_TEXTS),
        linked=st.booleans(),
    )
    def move_in(self, name: str, text: str, *, linked: bool) -> None:
        """Take all that is ours away, so that what other programs say decides."""
        for ours in FILES[:5]:
            self.delete(ours)
        self.world.environ.pop("RECALL_ROOTS", None)
        if linked:
            self.replace_by_symlink(name, text)
        else:
            self.edit(name, text, 2)

    @rule(name=st.sampled_from(FILES))
    def delete(self, name: str) -> None:
        if os.path.lexists(self.world.path(name)):
            os.unlink(self.world.path(name))

    @rule(name=st.sampled_from(FILES), mode=st.sampled_from((0o000, 0o600, 0o644)))
    def chmod(self, name: str, mode: int) -> None:
        if os.path.exists(self.world.path(name)):
            os.chmod(self.world.path(name), mode)

    @rule(name=st.sampled_from(FILES[:6]), text=st.sampled_from((None, *TEXTS)))
    def replace_by_symlink(self, name: str, text: str | None) -> None:
        self.delete(name)
        path = self.world.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        target = self.world.path(f"stash-{name.replace('/', '-')}")
        if text is not None:
            os.replace(self.world.write("new", text), target)
        os.symlink(target, path)

    @rule(
        name=st.sampled_from((*FILES[:6], *FILES[9:])),
        text=st.sampled_from((*TEXTS, *LOCUS_TEXTS)),
    )
    def edit_what_a_link_leads_to(self, name: str, text: str) -> None:
        target = self.world.path(f"stash-{name.replace('/', '-')}")
        if os.path.islink(self.world.path(name)):
            os.replace(self.world.write("new", text), target)

    @rule(name=st.sampled_from(FILES[5:8]), text=st.sampled_from(("", "gitdir: /x\n", "../..\n")))
    def break_git(self, name: str, text: str) -> None:
        os.makedirs(os.path.dirname(self.world.path(name)), exist_ok=True)
        os.replace(self.world.write("new", text), self.world.path(name))

    @rule()
    def mend_git(self) -> None:
        entry = self.world.path("main/.git/worktrees/wt")
        for name, text in zip(
            FILES[5:8],
            (f"gitdir: {entry}\n", self.world.path("wt/.git") + "\n", "../..\n"),
            strict=True,
        ):
            self.break_git(name, text)

    @rule(name=st.sampled_from(FILES[2:5]), yes=st.booleans())
    def decide_trust(self, name: str, yes: bool) -> None:
        state_dir = dirs.state_dir(self.world.environ)
        try:
            if yes:
                trust.trust(self.world.path(name), state_dir, self.world.environ)
            else:
                trust.distrust(self.world.path(name), state_dir)
        except RecallError:
            pass  # there is no such file, or it is wrong

    @rule(name=st.sampled_from(DIRECTORIES), there=st.booleans())
    def root_directory(self, name: str, there: bool) -> None:
        path = self.world.path(name)
        if there:
            os.makedirs(path, exist_ok=True)
        elif os.path.isdir(path):
            shutil.rmtree(path)

    @rule(to=st.sampled_from(("docs", "deep", "../../home/notes", "nowhere", "link")))
    def lead_elsewhere(self, to: str) -> None:
        link = self.world.path("src/repo/link")
        if os.path.lexists(link):
            os.unlink(link)
        if os.path.isdir(os.path.dirname(link)):
            os.symlink(to, link)

    @rule()
    def exchange_repositories(self) -> None:
        """Put another repository into the place of one."""
        for old, new in (("src/repo", "away"), ("other", "src/repo"), ("away", "other")):
            os.rename(self.world.path(old), self.world.path(new))

    @rule(
        name=st.sampled_from(resolved.VARIABLES[1:]),
        value=st.sampled_from((None, "", "elsewhere", "home/notes:x=src/docs")),
    )
    def environment(self, name: str, value: str | None) -> None:
        self.world.environ.pop(name, None)
        if value is not None:
            self.world.environ[name] = value and self.world.path(value)

    @invariant()
    def same(self) -> None:
        if not hasattr(self, "world"):
            return
        self.world.tick()
        for name in CWDS:
            cwd = self.world.path(name)
            expected = fresh(cwd, self.world.environ)
            first, found = from_kept(cwd, self.world.environ)
            assert first == expected
            if found is not None:
                assert found.unkept is None
                second, again = from_kept(cwd, self.world.environ)
                assert second == expected
                assert again is not None
                assert again.from_cache
        self.world.tick()


TestEdits = Edits.TestCase
TestEdits.settings = settings(stateful_step_count=20)


@pytest.mark.usefixtures("later")
def test_every_question_to_the_disk_is_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("wt/.recall.toml", TEXTS[2] + f'out = "{world.path("elsewhere")}"\n')
    world.write("main/.recall.toml", TEXTS[0])
    world.environ["RECALL_ROOTS"] = "~/notes"
    asked: set[str] = set()
    for name in ("lstat", "stat", "readlink", "open", "access", "listdir", "scandir"):
        monkeypatch.setattr(os, name, _noting(getattr(os, name), asked))
    for cwd in ("src/repo/deep/er", "way/repo", "wt", "main", "wt/gone", "src/repo"):
        if cwd == "wt/gone":  # now the main worktree's file decides
            os.unlink(world.path("wt/.recall.toml"))
        if cwd == "src/repo":  # now nothing of ours does
            os.unlink(world.path(FILES[0]))
            world.environ.update({"RECALL_ROOTS": "", "CORTEX_MEMORY_ROOT": "~/notes/team"})
            world.write("src/.locus.toml", LOCUS_TEXTS[1].replace("link", "repo/link"))
        noted = looked.Looked()
        asked.clear()
        config.load(world.path(cwd), world.environ, fallback=False, looked=noted)
        loading = {path for path in asked if not path.endswith((".py", ".pyc"))}
        asked.clear()
        for question in noted.answers:
            looked.ask(*question)
        mine = {path for path in loading if path.startswith(world.base)}
        assert len(mine) > 5
        assert not mine - asked


def _noting(function: Callable[..., object], asked: set[str]) -> Callable[..., object]:
    def noting(path: object, *args: object, **kwargs: object) -> object:
        if isinstance(path, str):
            asked.add(path)
        return function(path, *args, **kwargs)

    return noting


class Asked(Mapping[str, str]):
    """An environment that notes which variables are asked for."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self.environ[name]

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all variables are looked at")

    def __len__(self) -> int:
        return len(self.environ)


def test_the_variables_are_all_that_are_asked_for(world: World) -> None:
    asked = set()
    state_dir = dirs.state_dir(world.environ)
    file = world.write("src/repo/.recall.toml", '[roots]\nout = "../../elsewhere"\n')
    trust.trust(file, state_dir, world.environ)
    os.makedirs(world.path("elsewhere"))
    palace = {"LOCUS_PALACE": "~/notes"}
    for added in ({}, {"RECALL_ROOTS": "~/notes"}, palace):
        for cwd in (world.path("src/repo"), world.path("main")):
            noting = Asked({**world.environ, **added})
            assert config.load(cwd, noting, fallback=False).roots
            asked |= noting.asked
        os.replace(world.write("new", ""), world.path(FILES[0]))
    assert asked == set(resolved.VARIABLES)


@pytest.mark.parametrize("name", resolved.VARIABLES)
def test_another_environment_has_its_own(world: World, kept: str, name: str) -> None:
    world.environ[name] = world.path("home/") if name == "HOME" else world.path("new-place")
    assert not load(world).from_cache
    assert load(world).from_cache
    assert len(os.listdir(os.path.dirname(kept))) == 2


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("name", [FILES[0], "src/repo/.recall.toml"])
def test_C5_an_edit_of_what_a_link_leads_to_is_seen(world: World, name: str) -> None:
    path = world.path(name)
    if os.path.exists(path):
        os.unlink(path)
    os.symlink(world.path("dotfiles"), path)
    for text, k in ((TEXTS[0], 3), (TEXTS[1], 4)):
        os.makedirs(world.path("home/.config/recall/docs"), exist_ok=True)
        os.replace(world.write("new", text), world.path("dotfiles"))
        assert load(world).search.k == k
        assert load(world).from_cache


def test_C5_an_edit_in_the_same_tick_is_seen(world: World) -> None:
    for number in range(20):
        world.write("src/repo/.recall.toml", TEXTS[number % 2])
        found = load(world)
        assert found.search.k == 3 + number % 2
        assert found.unkept == "a configuration file was changed just now"
    assert not os.path.exists(world.path("home/.cache"))


@pytest.mark.usefixtures("later")
def test_an_edit_while_it_is_read_is_seen_at_the_next_call(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = world.write("src/repo/.recall.toml", TEXTS[0])
    real = configfile.read_config

    def edited(
        path: str, environ: Mapping[str, str], noted: looked.Looked
    ) -> configfile.ConfigFile:
        result = real(path, environ, noted)
        if path == file:
            world.tick()
            world.write("src/repo/.recall.toml", TEXTS[1])
            world.tick()
        return result

    with monkeypatch.context() as patch:
        patch.setattr(config, "read_config", edited)
        assert load(world).search.k == 3
    assert load(world).search.k == 4


@pytest.mark.usefixtures("later")
def test_a_home_of_the_user_database(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = {None: world.path("home"), "ann": world.path("ann")}
    monkeypatch.setattr(dirs, "home_of", homes.get)
    monkeypatch.setattr(looked, "home_of", homes.get)
    world.environ = {"XDG_CACHE_HOME": world.path("cache")}
    os.replace(world.write("new", '[roots]\nann = "~ann"\n'), world.path(FILES[0]))
    for user, place in (("ann", "ann"), ("ann", "ann2"), (None, "other")):
        homes[user] = world.path(place)
        os.makedirs(world.path(place), exist_ok=True)
        world.write(f"other/{FILES[0].removeprefix('home/')}", '[roots]\nother = "~"\n')
        found = load(world)
        assert [root.path for root in found.roots] == [world.path(place)]
        assert not found.from_cache
        assert load(world).from_cache


@pytest.mark.usefixtures("later")
def test_a_home_in_the_variable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = {"ann": world.path("ann")}
    monkeypatch.setattr(dirs, "home_of", homes.get)
    monkeypatch.setattr(looked, "home_of", homes.get)
    world.environ["RECALL_ROOTS"] = "~ann"
    os.replace(world.write("new", ""), world.path(FILES[0]))
    os.unlink(world.path("main/.git/worktrees/wt/gitdir"))
    for place in ("ann", "ann2"):
        homes["ann"] = world.path(place)
        os.mkdir(world.path(place))
        assert [root.path for root in load(world).roots] == [world.path(place)]
        assert load(world).from_cache


@pytest.mark.usefixtures("later")
def test_a_file_of_our_own_that_appears_beside_inherit_false(world: World) -> None:
    world.write("src/repo/.recall.toml", TEXTS[5])
    os.unlink(world.path(FILES[0]))
    assert load(world).hook.enabled
    assert load(world).from_cache
    world.write(FILES[0], TEXTS[6])
    assert not load(world).hook.enabled


@pytest.mark.usefixtures("later")
def test_a_file_of_our_own_that_appears_while_all_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("src/repo/.recall.toml", TEXTS[0])
    own = world.path(FILES[0])
    os.rename(own, world.path("own"))
    real = config._Loading._everything

    def appearing(self: config._Loading) -> dict[str, configfile.ConfigFile]:
        os.rename(world.path("own"), own)
        return real(self)

    with monkeypatch.context() as patch:
        patch.setattr(config._Loading, "_everything", appearing)
        assert load(world).unkept == "a configuration file was changed just now"
    assert [root.name for root in load(world).roots] == ["docs", "notes"]


@pytest.mark.usefixtures("later")
def test_errors_are_those_of_the_configuration(world: World) -> None:
    world.write("src/repo/.recall.toml", TEXTS[8])
    for _ in range(2):
        with pytest.raises(RecallError) as caught:
            load(world)
        with pytest.raises(RecallError) as expected:
            config.load(world.path("src/repo"), world.environ, fallback=False)
        assert str(caught.value) == str(expected.value)
    assert not os.path.exists(world.path("home/.cache"))


@pytest.mark.usefixtures("later")
def test_private_globs_of_all_sorts_are_kept_as_they_are(world: World) -> None:
    world.write("src/repo/.recall.toml", '[roots]\ndocs = { path = ".", private = ["a/", "é*"] }\n')
    world.write(FILES[0], '[roots]\nx = { path = "~/../src/repo/docs", private = ["b"] }\n')
    first, again = load(world), load(world)
    assert again.from_cache
    assert first.roots == again.roots
    assert any(root.rules.elsewhere for root in again.roots)
    assert all(
        hash(one) == hash(other) for one, other in zip(first.roots, again.roots, strict=True)
    )


@pytest.mark.usefixtures("later")
def test_a_name_that_is_no_utf8(world: World) -> None:
    name = "src/\udcff"
    os.mkdir(world.path(name))
    world.write(f"{name}/.recall.toml", '[roots]\nhere = "."\n')
    first, again = load(world, name), load(world, name)
    assert again.from_cache
    assert first.roots[0].path == again.roots[0].path == world.path(name)


LIGHT = """
import json, os, sys, stat
base = set(sys.modules)
from recall import resolved
found = resolved.load(sys.argv[1], os.environ)
print(found.from_cache, *sorted(set(sys.modules) - base))
"""
ALLOWED = {
    "__future__",
    "_blake2",
    "index_cache",
    "index_cache.digests",
    "index_cache.files",
    "index_cache.model",
    "recall",
    "recall.dirs",
    "recall.files",
    "recall.looked",
    "recall.quickjson",
    "recall.resolved",
    "recall.settings",
    "recall.state",
    "unicodedata",
}


def test_a_kept_result_needs_no_toml(world: World, kept: str) -> None:
    def modules() -> list[str]:
        return subprocess.run(
            [sys.executable, "-c", LIGHT, world.path("src/repo")],
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
            env={**world.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout.split()

    hit, *light = modules()
    assert hit == "True"
    assert set(light) <= ALLOWED
    assert {"recall.resolved", "recall.looked"} <= set(light)
    os.unlink(kept)
    hit, *heavy = modules()
    assert hit == "False"
    assert {"tomllib", "recall.config"} <= set(heavy)


def test_whatever_is_odd_in_the_file_is_as_if_it_were_not_there(world: World, kept: str) -> None:
    sound = Path(kept).read_bytes()
    damaged = [sound[:length] for length in range(0, len(sound), 97)]
    damaged += [
        sound[:place] + bytes([sound[place] ^ 1 << place % 8]) + sound[place + 1 :]
        for place in range(0, len(sound), 41)
    ]
    damaged += [sound + b" ", sound * 2, b" " * (resolved.MAX_BYTES + 1), b"\n", b"\0"]
    for data in damaged:
        Path(kept).write_bytes(data)
        assert not load(world).from_cache
        assert Path(kept).read_bytes() == sound
    for text in ("[]", "null", "1", "{}", '{"made_for": 1}', "[" * 100_000):
        Path(kept).write_bytes(hashed(text).encode() + b"\n" + text.encode())
        assert not load(world).from_cache
    assert load(world).from_cache


def test_each_missing_part_is_as_if_there_were_nothing(world: World, kept: str) -> None:
    sound = json.loads(Path(kept).read_bytes().partition(b"\n")[2])
    for key in sound:
        odd = [{**sound, key: [[]]}, {name: sound[name] for name in sound if name != key}]
        if not isinstance(sound[key], int):
            odd.append({**sound, key: 1})
        for value in odd:
            text = json.dumps(value)
            Path(kept).write_bytes(hashed(text).encode() + b"\n" + text.encode())
            assert not load(world).from_cache, value
    assert load(world).from_cache


def test_S4_a_file_that_others_could_have_written_is_not_used(world: World, kept: str) -> None:
    directory = os.path.dirname(kept)
    os.chmod(kept, 0o660)
    assert not load(world).from_cache
    assert os.stat(kept).st_mode & 0o777 == 0o600
    os.chmod(directory, 0o770)  # noqa: S103 - that it is not used
    assert not load(world).from_cache
    assert os.stat(directory).st_mode & 0o777 == 0o700
    os.rename(kept, world.path("moved"))
    os.symlink(world.path("moved"), kept)
    assert not load(world).from_cache
    assert not os.path.islink(kept)
    os.unlink(kept)
    os.mkfifo(kept)
    assert not load(world).from_cache
    assert load(world).from_cache


def test_S4_a_directory_that_is_not_ours_is_neither_read_nor_written(
    world: World, kept: str
) -> None:
    directory = os.path.dirname(kept)
    os.rename(directory, world.path("moved"))
    os.symlink(world.path("moved"), directory)
    before = os.stat(world.path("moved")).st_mtime_ns
    found = load(world)
    assert not found.from_cache
    assert found.unkept == "it is a symlink, or no directory"
    assert os.stat(world.path("moved")).st_mtime_ns == before
    assert resolved.sweep(world.path("home/.cache/recall"), time.time() + 10**8) == 0
    os.unlink(directory)
    Path(directory).touch()
    found = load(world)
    assert found.roots
    assert found.unkept
    assert not found.from_cache


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_S4_another_users_file_is_not_used(world: World, kept: str) -> None:
    os.chown(kept, 12345, 12345)
    assert not load(world).from_cache
    assert load(world).from_cache
    os.chown(os.path.dirname(kept), 12345, 12345)
    found = load(world)
    assert not found.from_cache
    assert found.unkept == "it belongs to somebody else"


@pytest.mark.usefixtures("kept")
def test_S4_another_user_with_the_same_home_has_their_own(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [root.name for root in load(world).roots] == ["docs", "notes"]
    real_uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: real_uid + 1)
    assert not load(world).from_cache  # sudo -E: the same HOME, another person


def test_a_kept_result_of_another_directory_is_not_used(world: World, kept: str) -> None:
    load(world, "src")
    (other,) = {entry.path for entry in os.scandir(os.path.dirname(kept))} - {kept}
    shutil.copyfile(kept, other)
    assert [root.name for root in load(world, "src").roots] == ["notes"]


@pytest.mark.usefixtures("later")
def test_without_a_place_for_it_all_works_the_same(world: World) -> None:
    world.environ["RECALL_ROOTS"] = world.path("src")
    del world.environ["HOME"]
    world.environ |= {"HOME": "relative"}
    found = load(world)
    assert [root.path for root in found.roots] == [world.path("src")]
    assert found.unkept == "no home directory is known"
    world.environ["HOME"] = world.path("home")
    found = resolved.load("src", world.environ)
    assert found.unkept == "the working directory is not an absolute path"


@pytest.mark.usefixtures("later")
def test_what_is_too_long_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolved, "MAX_BYTES", 100)
    assert load(world).unkept == "it is larger than 100 bytes"
    assert not load(world).from_cache


def test_files_are_swept_when_they_were_not_used_for_a_month(world: World, kept: str) -> None:
    cache_dir, day, now = world.path("home/.cache/recall"), 86_400, time.time()
    directory = os.path.dirname(kept)
    Path(directory, "mine").touch()
    Path(f"{kept}.1-aa.tmp").touch()
    assert resolved.sweep(cache_dir, now + 29 * day) == 1  # the temporary file
    os.utime(kept, (now - 29 * day,) * 2)
    assert load(world).from_cache  # used again
    assert resolved.sweep(cache_dir, now + 29 * day) == 0
    assert resolved.sweep(cache_dir, now + 31 * day) == 1
    assert os.listdir(directory) == ["mine"]
    assert resolved.sweep(None) == resolved.sweep(world.path("nowhere")) == 0


def test_the_oldest_of_too_many_are_swept(
    world: World, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(world, "src")
    os.utime(kept, (time.time() - 100,) * 2)
    monkeypatch.setattr(resolved, "MAX_KEPT", 1)
    assert resolved.sweep(world.path("home/.cache/recall")) == 1
    assert not os.path.exists(kept)


@pytest.mark.usefixtures("later")
def test_a_link_in_the_variable_that_leads_elsewhere_is_seen(world: World) -> None:
    os.unlink(world.path(FILES[0]))
    world.environ["RECALL_ROOTS"] = world.path("link")
    for target in ("src", "other"):
        os.symlink(target, world.path("new"))
        os.replace(world.path("new"), world.path("link"))
        assert [root.path for root in load(world).roots] == [world.path(target)]
        assert load(world).from_cache


def test_S4_a_cache_directory_that_is_a_link_is_not_used(world: World, kept: str) -> None:
    cache_dir = world.path("home/.cache/recall")
    os.rename(cache_dir, world.path("moved"))
    os.symlink(world.path("moved"), cache_dir)
    sound = Path(kept).read_bytes()
    Path(kept).write_bytes(b"")
    found = load(world)
    assert not found.from_cache
    assert found.unkept == "it is a symlink, or no directory"
    Path(kept).write_bytes(sound)
    assert not load(world).from_cache


def test_a_result_is_for_one_user_and_one_version(
    world: World, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load(world).from_cache
    monkeypatch.setattr(resolved, "__version__", "0.0.0")
    assert not load(world).from_cache
    before = resolved._made_for("/", {})
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    assert resolved._made_for("/", {}) != before
    assert len(os.listdir(os.path.dirname(kept))) == 2
