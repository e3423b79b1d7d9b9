"""An agent's way in, in process: frozen, and read-only but for the call that says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from writing_support import LEAST, Desk, tree

from index_cache.errors import ConfigInvalid, InvalidInput, WriteRefused
from recall.service import Recall
from recall.writing import adapter
from recall.writing.payload import ADAPTERS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


class Truthy:
    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "grant", [False, None, 1, 1.0, "true", "True", [True], Truthy(), {}, object()]
)
def test_nothing_but_true_is_a_grant(desk: Desk, grant: Any) -> None:
    before = tree(desk.base)
    with desk.recall() as opened:
        agent = opened.adapter("claude")
        for call in (agent.remember, agent.propose):
            with pytest.raises(WriteRefused):
                call(LEAST, allow_write=grant)
            with pytest.raises(WriteRefused):
                call(LEAST)
    assert tree(desk.base) == before


def test_a_grant_ends_with_its_call(desk: Desk) -> None:
    with desk.recall() as opened:
        agent = opened.adapter("hermes")
        agent.remember(LEAST, allow_write=True)
        with pytest.raises(WriteRefused):
            agent.remember({**LEAST, "text": "More of it."})
        assert [card.path for card in agent.search("vault")] == ["memory/deploy-keys.md"]
        assert agent.answer("vault").total == 1
        assert agent.status()[0].root.name == "notes"
    desk.check_audit(1)


def test_it_is_frozen(desk: Desk) -> None:
    with desk.recall() as opened:
        agent = opened.adapter("claude")
        for name in ("name", "recall", "allow_write", "remember"):
            with pytest.raises(AttributeError):
                setattr(agent, name, True)
        with pytest.raises(AttributeError):
            del agent.recall
        assert not hasattr(agent, "__dict__")
        with pytest.raises(TypeError):
            type("Own", (adapter.Adapter,), {})


class Alike(str):
    """A text that passes for any other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("claude")


def test_nobody_writes_under_another_name(desk: Desk) -> None:
    with desk.recall() as opened:
        with pytest.raises(InvalidInput):
            opened.adapter(Alike("evil"))
        agent = opened.adapter("claude")
        for name in ("name", "recall", "chosen", "environ", "__class__"):
            with pytest.raises((AttributeError, TypeError)):
                object.__setattr__(agent, name, Alike("evil"))
        forged = tuple.__new__(adapter.Adapter, (opened, Alike("evil"), "/", {}, True))
        with pytest.raises(InvalidInput):
            forged.remember(LEAST, allow_write=True)
        assert agent.remember(LEAST, allow_write=True).line["adapter"] == "claude"
    desk.check_audit(1)


@pytest.mark.parametrize("name", ["", "Claude", "gpt", "person"])
def test_adapters_are_these(desk: Desk, name: str) -> None:
    with desk.recall() as opened:
        with pytest.raises(InvalidInput):
            opened.adapter(name)
        assert [opened.adapter(each).name for each in ADAPTERS] == list(ADAPTERS)


def test_it_writes_to_the_root_that_was_given_or_named(desk: Desk) -> None:
    other = desk.base / "other"
    other.mkdir()
    with Recall([desk.root, other], cwd=str(desk.base), environ=desk.environ) as opened:
        agent = opened.adapter("codex")
        with pytest.raises(InvalidInput, match="no root is named"):
            agent.remember(LEAST, allow_write=True)
        with pytest.raises(InvalidInput, match="no such root"):
            agent.remember(LEAST, allow_write=True, root="third")
        agent.remember(LEAST, allow_write=True, root="other")
    assert (other / "memory" / "deploy-keys.md").exists()
    assert desk.notes() == {}


def test_S4_without_roots_of_its_own_only_the_persons_configuration_names_one(desk: Desk) -> None:
    project = desk.base / "clone"
    (project / "docs").mkdir(parents=True)
    (project / ".recall.toml").write_text('[roots]\ndocs = "docs"\n')
    with Recall(cwd=str(project), environ=desk.environ) as opened:
        agent = opened.adapter("claude")
        with pytest.raises(ConfigInvalid, match="no root is named"):
            agent.remember(LEAST, allow_write=True)
        with pytest.raises(WriteRefused, match="a project can't say"):
            agent.remember(LEAST, allow_write=True, root="docs")
    assert list((project / "docs").iterdir()) == []
    config = desk.home / ".config" / "recall" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[roots]\nnotes = "{desk.root}"\n')
    with Recall(cwd=str(project), environ=desk.environ) as opened:
        agent = opened.adapter("claude")
        agent.remember(LEAST, allow_write=True)
        agent.remember({**LEAST, "text": "More of it."}, allow_write=True, root="notes")
    assert list(desk.notes()) == ["memory/deploy-keys.md"]


@pytest.mark.parametrize("payload", [{"title": {1}}, {"title": float("nan")}, b"{", {1: 2}])
def test_what_is_no_payload(desk: Desk, payload: Any) -> None:
    with desk.recall() as opened, pytest.raises(InvalidInput):
        opened.adapter("claude").remember(payload, allow_write=True)
