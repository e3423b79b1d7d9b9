"""Which notes the prompt hook shows of several roots, and the prompts at which it shows none."""

# The codes of reported faults (R1, R2, R3) are written as they are.

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hook_support import (
    KESTREL,
    KEYS,
    NOTES,
    SQLITE,
    TITLE,
    about,
    considered,
    index,
    others,
    titles,
    write,
)

from recall.recalling import LOOKED_AT, ends_of

if TYPE_CHECKING:
    from pathlib import Path

TITLES = {
    KEYS: TITLE,
    KESTREL: "Kestrel feeder",
    SQLITE: "Why SQLite",
    "when do the refresh tokens of the billing portal expire?": "Refresh tokens",
}
ABOUT_NOTHING = [
    "thanks, that looks good",
    "run the tests again please",
    "continue",
    "yes, do it",
    "what is the capital of portugal?",
    "write a haiku about autumn leaves",
    "fix the failing build and commit",
    "explain monads to me like I am five",
    "why is the sky blue?",
    "how long do I boil an egg?",
    "can you refactor this function so that it is shorter?",
    "/srv/www/index.php",
    "TICKET-99999",
    "?",
    "😀",
    "ok",
    "bitte mach weiter",
    "是",
]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    write(root, NOTES)
    return root


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give a root of 2,000 notes about other things, with those of the small one, and its cache."""
    top = tmp_path_factory.mktemp("large")
    write(top / "notes", {**NOTES, **others(2_000)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(top / "cache"))
        use(patch, large=top / "notes")
        index()
    return top / "notes", top / "cache"


@pytest.fixture(scope="module")
def giant(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Give a generated root of 2,000 notes that all have the words of a prompt, and its cache."""
    top = tmp_path_factory.mktemp("giant")
    words = KESTREL.split()
    write(top / "notes", {f"{n}.md": about(words, n) for n in range(2_000)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(top / "cache"))
        use(patch, giant=top / "notes")
        index()
    return top / "notes", top / "cache"


def use(patch: pytest.MonkeyPatch, **roots: Path) -> None:
    patch.setenv("RECALL_ROOTS", ":".join(f"{name}={path}" for name, path in roots.items()))


# Silence, and R1


@pytest.mark.parametrize("prompt", ABOUT_NOTHING)
def test_prompts_about_nothing_get_nothing_in_a_small_root(
    small: Path, monkeypatch: pytest.MonkeyPatch, prompt: str
) -> None:
    use(monkeypatch, small=small)
    index()
    assert titles(prompt) == []


def test_R1_prompts_about_nothing_get_nothing_in_a_large_root(
    large: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = large
    use(monkeypatch, large=root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert [prompt for prompt in ABOUT_NOTHING if titles(prompt)] == []


def test_R1_a_right_note_is_shown_in_a_root_of_any_size(
    small: Path, large: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, small=small)
    index()
    for prompt, title in TITLES.items():
        assert titles(prompt) == [title]
    root, cache = large
    use(monkeypatch, large=root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    for prompt, title in TITLES.items():
        assert titles(prompt)[:1] == [title]


def test_R1_what_the_notes_lack_is_silence(
    small: Path, large: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word of the prompt is in a note, but the note is not about the question."""
    prompts = ["what does the vault of the bank of england weigh?", "who sang the dawn chorus?"]
    use(monkeypatch, small=small)
    index()
    assert [titles(prompt) for prompt in prompts] == [[], []]
    root, cache = large
    use(monkeypatch, large=root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert [titles(prompt) for prompt in prompts] == [[], []]


# R2: of several roots


def test_R2_a_giant_generated_root_does_not_drown_a_small_one(
    small: Path, giant: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = giant
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    use(monkeypatch, giant=root, small=small)
    index()
    _, cards = considered(KESTREL)
    assert "small" in [card.root for card in cards]
    assert len(cards) <= 3


def test_R2_the_projects_note_comes_first_though_another_scores_a_bit_higher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person stands in a repository that contains one of the roots."""
    project = tmp_path / "project"
    write(project / "docs", {"a.md": "# Kestrel feeder\n\nThe feeder drops pellets at dusk.\n"})
    write(tmp_path / "wiki", {"b.md": "# Kestrel feeder\n\nThe feeder drops pellets at dawn.\n"})
    write(tmp_path / "wiki", others(10))
    (project / ".git").mkdir()
    (project / "src").mkdir()
    use(monkeypatch, wiki=tmp_path / "wiki", docs=project / "docs")
    index()
    prompt = "when does the kestrel feeder drop pellets at dawn"
    _, away = considered(prompt, tmp_path)
    assert [card.root for card in away] == ["wiki", "docs"]
    assert away[0].score > away[1].score > away[0].score / 1.3
    for cwd in (project, project / "src", project / "docs"):
        assert [card.root for card in considered(prompt, cwd)[1]] == ["docs", "wiki"]


def test_R2_a_last_place_goes_to_another_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"{n}.md": f"# Kestrel feeder {n}\n\nKestrel pellets at dawn {n}.\n" for n in range(6)}
    write(tmp_path / "many", {**many, **others(30)})
    write(
        tmp_path / "one",
        {"x.md": "# Log of the year\n\nA kestrel took pellets from the feeder once, " * 3},
    )
    use(monkeypatch, many=tmp_path / "many", one=tmp_path / "one")
    index()
    assert [card.root for card in considered(KESTREL)[1]] == ["many", "many", "one"]


# Several paths with one text: R3


@pytest.mark.parametrize(
    "copy",
    [
        NOTES["keys.md"],
        NOTES["keys.md"].replace("\n", "\r\n"),
        "---\nid: other\n---\n" + NOTES["keys.md"],
        NOTES["keys.md"] + "\n\n  \n",
        "\ufeff" + NOTES["keys.md"],
    ],
    ids=["same", "line ends", "id", "blanks", "byte order mark"],
)
def test_R3_copies_fill_one_place_and_are_counted(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copy: str
) -> None:
    write(small, {"copies/first.md": copy, "copies/second.md": copy})
    write(tmp_path / "elsewhere", {"third.md": copy})
    write(small, others(20))
    use(monkeypatch, small=small, elsewhere=tmp_path / "elsewhere")
    index()
    call, (card,) = considered(KEYS)
    assert card.title == TITLE
    assert len(card.copies) == 3
    assert " · 3 more at other paths\n" in call.answer()[1]


def test_R3_copies_leave_the_other_places_free(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(small, {f"copies/{n}.md": NOTES["keys.md"] for n in range(4)})
    write(small, {"old.md": "# Deploy keys, once\n\nDeploy keys lived in a safe, not the vault.\n"})
    write(small, others(20))
    use(monkeypatch, small=small)
    index()
    assert sorted(titles(KEYS)) == ["Deploy keys, once", TITLE]


def test_R3_nested_roots_show_a_file_once_under_the_deepest(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, outer=small, inner=small / "sub")
    index()
    _, (card,) = considered(SQLITE)
    assert (card.root, card.path, card.copies) == ("inner", "sqlite.md", ())
    write(small, {"sub/merlin.md": "# Merlin perch\n\nThe merlin perch faces the quarry.\n"})
    _, (card,) = considered("which way does the merlin perch face?")
    assert (card.root, card.copies) == ("inner", ())
    assert os.path.samefile(card.abs_path, small / "sub" / "merlin.md")


@pytest.mark.parametrize(
    "pasted", ["at frame/one.py:12 in thing\n" * 40_000, "研" * 400_000, "x" * 900_000]
)
@pytest.mark.parametrize("last", [False, True])
def test_Q4_what_is_asked_beside_a_megabyte_of_paste_is_found(
    small: Path, monkeypatch: pytest.MonkeyPatch, pasted: str, last: bool
) -> None:
    use(monkeypatch, small=small)
    index()
    prompt = f"{pasted} {KEYS}" if last else f"{KEYS} {pasted}"
    assert titles(prompt) == [TITLE]


@pytest.mark.parametrize("before", ["", " " * 70_000, "\n" * 8_200])
@pytest.mark.parametrize("after", ["", "\t" * 70_000])
@pytest.mark.parametrize(
    "prompt",
    ["", "a b", "x" * 64_000, "y z " * 30_000, "x" * 70_000, f"a{' ' * 70_000}b", "é " * 20_000],
)
def test_of_a_long_prompt_both_ends_are_looked_at(prompt: str, before: str, after: str) -> None:
    looked_at = ends_of(f"{before}{prompt}{after}").strip()
    prompt = prompt.strip()
    assert looked_at == prompt or len(looked_at) <= LOOKED_AT + 1
    assert prompt.startswith(looked_at[:20].partition(" ")[0])
    assert prompt.endswith(looked_at[-2:].strip())
    assert bool(looked_at) == bool(prompt)


def test_a_nested_root_makes_no_note_disappear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = "how is the pump firmware flashed with stork in April near the tulips"
    outer, inner = tmp_path / "w", tmp_path / "w" / "proj"
    write(outer, {"top.md": "# Garden\n\nTulips bloom in April.\n"})
    write(inner, {"x.md": "# Pump firmware\n\nThe pump firmware is flashed with stork.\n"})
    use(monkeypatch, outer=outer)
    index()
    alone = titles(prompt)
    assert "Pump firmware" in alone
    use(monkeypatch, outer=outer, proj=inner)
    index()
    assert titles(prompt) == alone
    # One that appeared is in memory for both.
    write(inner, {"y.md": "# Heron\n\nThe heron valve opens at noon.\n"})
    call, cards = considered("when does the heron valve open at noon?")
    assert [card.title for card in cards] == ["Heron"]
    assert call.recalling is not None
    assert call.recalling.question is not None
    assert call.recalling.question.whole.documents == 3
