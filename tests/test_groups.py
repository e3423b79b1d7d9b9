"""Groups of roots: what ``--group`` names, alone and beside ``--root``, and what is refused."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from cli_support import recall
from hook_support import configure, write

from index_cache.errors import ConfigInvalid, NotFound
from recall import Recall, config

if TYPE_CHECKING:
    from pathlib import Path

WORD = "quabvexil"


@pytest.fixture
def top(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three roots, each with one note; two of them are of the group "work"."""
    for name in ("shop", "infra", "diary"):
        write(tmp_path / name, {f"{name}.md": f"# {name}\n\nAll about {WORD} in {name}.\n"})
    configure(
        home,
        f"""[roots]
shop = {{ path = "{tmp_path}/shop", groups = ["work", "sales", "work"] }}
infra = {{ path = "{tmp_path}/infra", groups = ["work"] }}
diary = "{tmp_path}/diary"
""",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(top: Path, *flags: str, groups: tuple[str, ...] = ()) -> list[str]:
    made = config.load(str(top), os.environ, flags, groups=groups, fallback=False)
    return [root.name for root in made.roots]


@pytest.mark.parametrize(
    ("flags", "groups", "expected"),
    [
        ((), ("work",), ["shop", "infra"]),
        ((), ("sales", "work"), ["shop", "infra"]),
        (("diary",), ("sales",), ["diary", "shop"]),
        (("shop",), ("work",), ["shop", "infra"]),
        (("./diary",), ("sales",), ["diary", "shop"]),
        ((), (), ["shop", "infra", "diary"]),
    ],
)
def test_flags_name_the_union(
    top: Path, flags: tuple[str, ...], groups: tuple[str, ...], expected: list[str]
) -> None:
    assert names(top, *flags, groups=groups) == expected


@pytest.mark.usefixtures("top")
def test_every_command_with_roots_takes_groups() -> None:
    for command in (["search", WORD], ["refresh"], ["rebuild"], ["status"]):
        data = recall(*command, "--group", "work", "--json").data()
        assert [each["name"] for each in data["roots"]] == ["shop", "infra"], command
        data = recall(*command, "--root", "diary", "--group=sales", "--json").data()
        assert [each["name"] for each in data["roots"]] == ["diary", "shop"], command
        error = recall(*command, "--group", "wrok", "--json").error()
        assert error["code"] == "not_found"
    items = recall("search", WORD, "--group", "sales", "--json").data()["items"]
    assert [item["root"] for item in items] == ["shop"]


def test_the_benchmark_takes_groups(top: Path) -> None:
    labels = top / "labels.jsonl"
    labels.write_text('{"query": "quabvexil", "relevant": ["shop.md"]}\n', encoding="utf-8")
    for command in (["bench"], ["bench", "check"]):
        asked = [*command, "--labels", str(labels), "--json"]
        assert recall(*asked, "--group", "wrok").error()["code"] == "not_found"
        assert recall(*asked, "--group", "sales").status == 0
    assert recall("bench", "check", "--labels", str(labels), "--root", "diary").status == 2
    assert recall("bench", "init", "--group", "wrok").status == 3
    assert recall("bench", "--group", "work", "check", "--labels", str(labels)).status == 4


@pytest.mark.usefixtures("top")
def test_an_unknown_group_is_told_with_the_nearest() -> None:
    said = recall("search", WORD, "--group", "wrok")
    assert (said.status, said.stdout) == (3, "")
    assert said.stderr == (
        'error: no root is of a group "wrok"; did you mean "work"?\n'
        "where: --group wrok\n"
        "hint: recall roots list\n"
    )
    assert recall("search", WORD, "--group", "").status == 4
    assert recall("search", WORD, "--group").status == 4
    odd = recall("search", WORD, "--group", "\x1b[2Jwork")
    assert odd.status == 3
    assert "\x1b" not in odd.stderr


def test_a_group_of_roots_that_are_not_there(top: Path) -> None:
    (top / "infra" / "infra.md").unlink()
    (top / "infra").rmdir()
    said = recall("search", WORD, "--group", "work")
    assert said.status == 0
    assert 'root "infra" is left out' in said.stderr
    data = recall("status", "--group", "work", "--json").data()
    assert [each["name"] for each in data["left_out"]] == ["infra"]
    assert recall("status", "--group", "sales", "--json").data()["left_out"] == []


def test_a_group_of_a_project_that_is_not_trusted(top: Path) -> None:
    write(
        top / "project",
        {".recall.toml": f'[roots]\nout = {{ path = "{top}/diary", groups = ["theirs"] }}\n'},
    )
    error = recall("search", WORD, "--group", "theirs", "--json", cwd=top / "project").error()
    assert (error["code"], error["hint"]) == ("config_invalid", "recall trust")


def test_the_list_shows_groups(top: Path) -> None:
    assert recall("roots", "list").stdout == (
        f"shop: {top}/shop [work, sales]\ninfra: {top}/infra [work]\ndiary: {top}/diary\n"
    )
    data = recall("roots", "list", "--json").data()
    assert [each["groups"] for each in data["roots"]] == [["work", "sales"], ["work"], []]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"work"', "roots.a.groups must be a list of names"),
        ("[1]", "roots.a.groups must be a list of names"),
        ('["~w"]', 'roots.a.groups has "~w", which is no name: it may not begin'),
        ('[""]', "which is no name"),
    ],
)
def test_what_is_no_group_is_told_with_its_line(
    tmp_path: Path, home: Path, value: str, message: str
) -> None:
    configure(home, f'[roots.a]\npath = "{tmp_path}"\ngroups = {value}\n')
    with pytest.raises(ConfigInvalid) as caught:
        config.load(str(tmp_path), os.environ, fallback=False)
    assert message in caught.value.message
    assert str(caught.value.where).endswith("config.toml:3")


def test_a_library_user_names_groups(top: Path) -> None:
    with Recall(groups="work") as found:
        assert {card.root for card in found.search(WORD)} == {"shop", "infra"}
    with Recall([top / "diary"], groups=["sales"]) as found:
        assert [root.name for root in found.roots] == ["diary", "shop"]
    with pytest.raises(NotFound):
        Recall(groups=["nothing"])


def test_completion_offers_the_groups(top: Path) -> None:
    variables = {
        "_RECALL_COMPLETE": "bash_complete",
        "COMP_WORDS": "recall\nsearch\n--group\n",
        "COMP_CWORD": "3",
    }
    offered = recall(env=variables, cwd=top).stdout
    assert {line.rpartition(",")[2].strip() for line in offered.splitlines()} == {"sales", "work"}
