"""The wheel and the sdist, built and installed outside the checkout, and what is said of that."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from typing import TYPE_CHECKING

import pytest
from docs_support import ROOT, blocks
from registry_support import environment, succeed

from index_cache.locks import WriterLock
from recall import __version__

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

STARTED = "docs/getting-started.md"
PACKAGES = ("recall", "index_cache")
SOURCES = ("tests", "spec", "docs", "man", ".ci")
MAN = ("recall.1", "recall-hook.1")
NOTE = "---\ndescription: Ask ops for a new quabvexil.\n---\n# Keys\n\nA quabvexil opens it.\n"
_PATIENCE = 600.0  # seconds for another worker that builds
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class Built:
    """A place outside the checkout with the wheel, the sdist, and what built them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.dist = base / "dist"
        self.tools = base / "tools"

    @property
    def wheel(self) -> Path:
        return self.dist / f"recall-{__version__}-py3-none-any.whl"

    @property
    def sdist(self) -> Path:
        return self.dist / f"recall-{__version__}.tar.gz"

    def make(self) -> None:
        """Build both with what ``pyproject.toml`` requires, and nothing else."""
        self.home.mkdir(parents=True)
        requires = PROJECT["build-system"]["requires"]
        self.venv("tools")
        succeed(self.run("pip", "install", "-q", *requires, programs=self.tools / "bin"))
        self.build(ROOT, self.dist, "sdist", "wheel")

    def build(self, source: Path, target: Path, *kinds: str) -> None:
        wanted = [word for kind in kinds for word in ("-t", kind)]
        words = ["hatchling", "build", "-d", str(target), *wanted]
        succeed(self.run(*words, programs=self.tools / "bin", cwd=source))

    def venv(self, name: str) -> Path:
        """Make an empty virtual environment; return the directory of its programs."""
        where = self.base / name
        subprocess.run([sys.executable, "-m", "venv", str(where)], check=True)
        return where / "bin"

    def run(
        self, *words: str, programs: Path, cwd: Path | None = None, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as a person does who has nothing of the checkout."""
        return subprocess.run(
            [programs / words[0], *words[1:]],
            cwd=cwd or self.home,
            env={**environment(self.home, programs), **more},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build once for all workers."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = Built(base / "distribution")
    done = made.base / "done"
    with WriterLock(str(base / "distribution.db")) as lock:
        assert lock.acquire(_PATIENCE)
        if not done.exists():
            shutil.rmtree(made.base, ignore_errors=True)
            made.make()
            done.touch()
    return made


def files_below(*directories: str) -> set[str]:
    """Return the checkout's files below these, as paths from its top."""
    return {
        str(path.relative_to(ROOT))
        for directory in directories
        for path in (ROOT / directory).rglob("*")
        if path.is_file() and not {"__pycache__", ".hypothesis"} & set(path.parts)
    }


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as opened:
        return message_from_bytes(opened.read(f"recall-{__version__}.dist-info/METADATA"))


def test_the_wheel_has_the_program_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as opened:
        names = set(opened.namelist())
    about = f"recall-{__version__}.dist-info"
    pages = {f"recall-{__version__}.data/data/share/man/man1/{name}" for name in MAN}
    assert {name for name in names if name.startswith(PACKAGES[1] + "/")} == files_below(
        PACKAGES[1]
    )
    assert {name for name in names if name.startswith("recall/")} == files_below("recall")
    rest = {name for name in names if name.partition("/")[0] not in PACKAGES}
    parts = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    assert rest == pages | {f"{about}/{name}" for name in parts}
    assert {"recall/py.typed", "index_cache/py.typed"} <= names


def test_the_sdist_has_all_that_tests_and_builds_need(built: Built) -> None:
    top = f"recall-{__version__}/"
    with tarfile.open(built.sdist) as opened:
        names = {name.removeprefix(top) for name in opened.getnames() if name.startswith(top)}
    single = {"LICENSE", "README.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert names == files_below(*PACKAGES, *SOURCES) | single


def unpack(sdist: Path, directory: Path) -> None:
    with tarfile.open(sdist) as opened:
        if hasattr(tarfile, "data_filter"):  # since 3.11.4; without one 3.12 warns
            opened.extraction_filter = tarfile.data_filter
        opened.extractall(directory)  # noqa: S202 - our own archive


def test_the_sdist_builds_the_same_wheel(built: Built, tmp_path: Path) -> None:
    unpack(built.sdist, tmp_path)
    built.build(tmp_path / f"recall-{__version__}", tmp_path / "again", "wheel")
    assert (tmp_path / "again" / built.wheel.name).read_bytes() == built.wheel.read_bytes()


def test_what_the_metadata_say(built: Built) -> None:
    said = metadata(built.wheel)
    assert (said["Name"], said["Version"]) == ("recall", __version__)
    assert (said["License-Expression"], said["License-File"]) == ("Apache-2.0", "LICENSE")
    assert said["Description-Content-Type"] == "text/markdown"
    assert said.get_payload(decode=True) == (ROOT / "README.md").read_bytes()
    runtime = [each for each in said.get_all("Requires-Dist", []) if "extra ==" not in each]
    wanted = PROJECT["project"]["dependencies"]
    assert sorted(map(name_of, runtime)) == sorted(map(name_of, wanted))
    # An address that nobody has set up would be a stranger's.
    assert said.get_all("Project-URL") is None


def name_of(requirement: str) -> str:
    return re.split(r"[<>=;\s]", requirement, maxsplit=1)[0].lower()


def test_the_versions_of_python_are_the_same_everywhere(built: Built) -> None:
    said = metadata(built.wheel)
    minor = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    found = [minor.fullmatch(each) for each in said.get_all("Classifier", [])]
    versions = [each[1] for each in found if each]
    assert said["Requires-Python"] == f">={versions[0]}"
    assert f"Python {versions[0]} to {versions[-1]}" in (ROOT / STARTED).read_text(encoding="utf-8")
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{versions[0].replace('.', '')}"
    assert PROJECT["tool"]["mypy"]["python_version"] == versions[0]


def test_the_wheel_works_where_the_checkout_is_not(built: Built, tmp_path: Path) -> None:
    programs = built.venv(f"user-{tmp_path.name}")
    succeed(built.run("pip", "install", "-q", str(built.wheel), programs=programs))
    succeed(built.run("pip", "check", programs=programs))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "keys.md").write_text(NOTE, encoding="utf-8")

    def run(*words: str, stdin: str = "") -> str:
        more = {"RECALL_ROOTS": f"notes={notes}", "RECALL_DEADLINE_MS": "10000"}
        done = built.run(*words, programs=programs, cwd=tmp_path, stdin=stdin, **more)
        assert (done.returncode, done.stderr) == (0, ""), words
        return done.stdout

    assert run("recall", "--version") == f"recall {__version__}\n"
    where = run("python", "-c", "import recall, index_cache; print(recall.__file__)")
    assert where.startswith(str(programs.parent))
    assert run("recall", "search", "quabvexil").startswith("1. Keys\n")
    card = "> Ask ops for a new quabvexil."
    assert card in run("recall-hook", "--host", "text", stdin="where is the quabvexil?")
    assert card in run("recall", "hook", "--host", "text", stdin="where is the quabvexil?")
    assert run("python", "-m", "recall", "status", "--json").startswith('{"schema":')
    assert "recall" in run("recall", "completion", "bash")
    for name in MAN:
        page = programs.parent / "share" / "man" / "man1" / name
        assert page.read_bytes() == (ROOT / "man" / name).read_bytes()


@pytest.mark.parametrize("tool", ["uv", "pipx"])
def test_the_tools_install_it_as_the_page_says(built: Built, tmp_path: Path, tool: str) -> None:
    """Each line of the block, pasted in a checkout."""
    programs = built.venv(f"{tool}-{tmp_path.name}")
    # Of pipx's two ways to install the one that needs nothing else.
    succeed(built.run("pip", "install", "-q", tool, programs=programs))
    copy, home = tmp_path / "recall", tmp_path / "home"
    home.mkdir()
    unpack(built.sdist, tmp_path)
    (tmp_path / f"recall-{__version__}").rename(copy)
    (text,) = [text for marker, _, text in blocks(STARTED, "Install") if marker == f"with {tool}"]
    linked = home / ".local" / "bin"
    said = []
    for line in text.splitlines():
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=copy,
            env=environment(home, linked, programs),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        succeed(done)
        said.append(done.stdout)
    assert f"recall {__version__}" in said[0]
    assert said[-1].strip() == f"recall {__version__}"
    assert (linked / "recall-hook").exists()
