"""The sum of what speaks for a note, in searches of real notes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import recall as run
from hypothesis import given, settings
from hypothesis import strategies as st

from index_cache.errors import InvalidInput
from index_cache.files import FileSystem
from index_cache.model import Root
from recall import Recall, reading, relevance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.card import Card

OTHERS = {f"{letter}x.md": f"# Garden\n\nTulips grow by {letter}x.\n" for letter in "klmnqrwz"}


def write(directory: Path, notes: Mapping[str, str]) -> Path:
    for name, text in notes.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory.resolve()


def cards(
    roots: Sequence[Path], top: Path, query: str, cwd: Path | None = None, **options: Any
) -> list[Card]:
    # Who stands above the roots has them all near.
    (top / "elsewhere").mkdir(exist_ok=True)
    with Recall(roots, cache_dir=str(top / "cache"), cwd=str(cwd or top / "elsewhere")) as recall:
        return recall.answer(query, explain=True, **options).cards


def found(top: Path, notes: Mapping[str, str], query: str, **options: Any) -> list[Card]:
    """Search some notes among others."""
    return cards([write(top / "notes", {**OTHERS, **notes})], top, query, **options)


def paths(found: Sequence[Card]) -> list[str]:
    return [card.path for card in found]


def parts(card: Card) -> dict[str, float]:
    assert card.explain is not None
    told = card.explain["parts"]
    assert isinstance(told, dict)
    return told


def head(text: str, **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\n{lines}---\n{text}\n"


VARIED = {
    "vault.md": head("# Vault keys\n\nThe vault has keys.", modified="2026-01-01"),
    "old.md": head("# Old vault keys\n\nThe vault had keys.", status="superseded"),
    "seen.md": head("# Vault\n\nKeys of the vault.", verified="{by: human:ann}"),
    "keys/vault.md": head("# Store\n\nWhere keys are.", aliases="Vault keys"),
    "de.md": head("# Schlüssel\n\nDer Tresor (vault) der Schlüssel.", lang="de"),
}


@pytest.mark.parametrize("recency", [0.0, 0.5])
def test_a_score_is_the_sum_of_its_parts(tmp_path: Path, recency: float) -> None:
    told = found(tmp_path, VARIED, "vault keys", recency=recency)
    assert {*VARIED} <= {*paths(told)}
    for card in told:
        assert card.score == pytest.approx(sum(parts(card).values()), abs=1e-9)
        assert all(parts(card).values())
        assert {*parts(card)} <= {
            *("bm25", "passage", "title", "precision", "path", "grams"),
            *relevance.SHARES,
        }
    met = {part for card in told for part in parts(card)}
    assert met >= {"bm25", "passage", "title", "precision", "path", "grams", "tier", "stale"}
    assert "near" not in met
    assert ("recency" in met) == bool(recency)


def test_json_tells_the_parts(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {**OTHERS, **VARIED})
    command = ("search", "vault keys", "--json", "--explain", "--recency", "0.5")
    items = run(*command, "--root", str(notes), cwd=notes).data()["items"]
    assert len(items) >= len(VARIED)
    for item in items:
        told = item["explain"]["parts"]
        assert item["score"] == pytest.approx(sum(told.values()), abs=0.01)
        assert {"near", "recency"} <= {*told}
        said = sum(value for part, value in told.items() if part not in relevance.SHARES)
        assert told["near"] == pytest.approx(relevance.NEAR * said, rel=0.01)


def test_an_edited_note_has_the_sum_of_its_parts_too(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", {**OTHERS, **VARIED})
    with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
        recall.refresh()
        write(root, {"vault.md": "# Vault\n\nNo more words of it, but vault keys.\n"})
        told = recall.answer("vault keys", refresh=False, explain=True).cards
    (edited,) = [card for card in told if card.path == "vault.md"]
    assert edited.explain is not None
    assert edited.explain["flags"]
    assert edited.score == pytest.approx(sum(parts(edited).values()), abs=1e-9)


@pytest.mark.parametrize("kind", ["Journal", "Note"])
def test_an_edited_note_scores_as_it_will_once_it_is_indexed(tmp_path: Path, kind: str) -> None:
    def written(word: str) -> dict[str, str]:
        return {"vault.md": head(f"# Vault keys\n\nThe vault has keys, {word}.", type=kind)}

    root = write(tmp_path / "notes", {**OTHERS, **VARIED, **written("here")})
    with Recall([root], cache_dir=str(tmp_path / "cache")) as recall:
        recall.refresh()
        write(root, written("fine"))
        edited, indexed = (
            recall.answer("vault keys", refresh=refresh, explain=True, include_journal=True).cards
            for refresh in (False, True)
        )
    assert edited[0].path == indexed[0].path == "vault.md"
    assert edited[0].explain is not None
    assert edited[0].explain["flags"]
    # What its grams say stays, too: they are those of the file as it was looked into.
    assert parts(edited[0])["grams"] > 0
    assert parts(edited[0]) == pytest.approx(parts(indexed[0]), abs=1e-9)


# -- standing


def test_near_roots_have_their_share(tmp_path: Path) -> None:
    note = "# Vault keys\n\nThe keys are in the vault, {}.\n"
    far = write(tmp_path / "a", {**OTHERS, "vault.md": note.format("one")})
    near = write(tmp_path / "b", {**OTHERS, "vault.md": note.format("two")})
    beside = cards([far, near], tmp_path, "vault keys")
    assert [card.root for card in beside] == ["a", "b"]
    assert beside[0].score == pytest.approx(beside[1].score)
    within = cards([far, near], tmp_path, "vault keys", cwd=near)
    assert [card.root for card in within] == ["b", "a"]
    assert within[0].score == pytest.approx(beside[1].score * (1 + relevance.NEAR))
    assert within[1].score == pytest.approx(beside[0].score)


def test_a_near_note_does_not_outweigh_a_better_one(tmp_path: Path) -> None:
    far = write(tmp_path / "a", {**OTHERS, "vault.md": "# Vault keys\n\nKeys of the vault.\n"})
    near = write(tmp_path / "b", {**OTHERS, "log.md": "# Log\n\nWe met by the vault.\n"})
    told = cards([far, near], tmp_path, "vault keys", cwd=near)
    assert [card.root for card in told] == ["a", "b"]


@pytest.mark.parametrize(
    "standing",
    [
        *({"status": each} for each in ("deprecated", "superseded", "Withdrawn", "archived")),
        {"stale_after": "2020-01-01"},
    ],
)
def test_a_note_that_holds_no_more_goes_behind_one_that_does(
    tmp_path: Path, standing: dict[str, str]
) -> None:
    text = "# Vault keys\n\nKeys of the vault"
    notes = {
        "a.md": head(f"{text}, one.", **standing, modified="2026-02-01"),
        "b.md": head(f"{text}, two.", modified="2020-01-01"),
    }
    told = found(tmp_path, notes, "vault keys")
    assert paths(told) == ["b.md", "a.md"]
    assert told[1].score == pytest.approx(told[0].score * (1 - relevance.STALE), rel=0.02)
    assert told[1].stale
    assert told[0].stale is None


def test_a_stale_note_is_still_before_one_about_something_else(tmp_path: Path) -> None:
    notes = {
        "a.md": head("# Vault keys\n\nKeys of the vault.", status="superseded"),
        "b.md": "# Log\n\nWe met by the vault.\n",
    }
    assert paths(found(tmp_path, notes, "vault keys")) == ["a.md", "b.md"]


def test_recency_decides_among_equals_and_outweighs_nothing_more_than_its_share(
    tmp_path: Path,
) -> None:
    equals = {
        "new.md": head("# Vault keys\n\nKeys of the vault, one.", modified="2026-11-01"),
        "old.md": head("# Vault keys\n\nKeys of the vault, two.", modified="2020-01-01"),
        "less.md": head("# Log\n\nWe met by the vault.", modified="2099-01-01"),
    }
    without = found(tmp_path, equals, "vault keys")
    assert {card.path: card.score for card in without}["less.md"] < without[1].score / 2
    scores = {card.path: card.score for card in without}
    for recency, grows in ((0.1, 0.1), (1.0, 1.0), (4.0, 1.75), (1e300, 2.0)):
        told = found(tmp_path, equals, "vault keys", recency=recency)
        assert paths(told) == ["new.md", "old.md", "less.md"]
        for card in told:
            grown = card.score / scores[card.path]
            assert 1 - 1e-9 <= grown <= 1 + grows + 1e-9
        assert told[2].score == pytest.approx(scores["less.md"] * (1 + grows))


@pytest.mark.parametrize("recency", [-0.1, float("inf"), float("nan")])
def test_a_recency_that_is_no_weight_is_refused(tmp_path: Path, recency: float) -> None:
    with pytest.raises(InvalidInput, match="recency must be a finite number"):
        found(tmp_path, {}, "vault", recency=recency)


# -- names


def test_an_alias_is_found_and_counts_as_a_title(tmp_path: Path) -> None:
    notes = {
        "alias.md": head("# Store\n\nSome words of it.", aliases="[Vault keys, Tresor]"),
        "title.md": "# Vault keys\n\nSome words of it.\n",
        "body.md": "# Other\n\nSome words of the vault keys.\n",
    }
    told = {card.path: card for card in found(tmp_path, notes, "vault keys")}
    assert list(told)[2] == "body.md"
    for part in ("title", "precision"):
        assert parts(told["alias.md"])[part] == pytest.approx(parts(told["title.md"])[part])
        assert part not in parts(told["body.md"])
    assert paths(found(tmp_path, notes, "tresor")) == ["alias.md"]


def test_an_alias_that_is_an_address_is_none(tmp_path: Path) -> None:
    notes = {"a.md": head("# Store\n\nText.", aliases="[/old/quokka/, '@scope/quoll']")}
    assert paths(found(tmp_path, notes, "quokka")) == []
    assert paths(found(tmp_path, notes, "quoll")) == ["a.md"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("DEC-0054", "adr/DEC-0054-rotate.md"),
        ("dec 0054", "adr/DEC-0054-rotate.md"),
        ("quokka", "Quokka/notes.md"),
        ("sécurité", "securite/a.md"),
        ("日本", "日本語/a.md"),
    ],
)
def test_Q2_a_note_is_found_by_words_of_its_path_alone(
    tmp_path: Path, query: str, path: str
) -> None:
    told = found(tmp_path, {path: "# Something else\n\nNo word of that.\n"}, query)
    assert paths(told) == [path]
    assert parts(told[0])["path"] > 0


def test_Q7_the_suffix_of_a_name_is_no_word(tmp_path: Path) -> None:
    assert paths(found(tmp_path, {"a.md": "# A\n\nquokka\n"}, "md")) == []


# -- long prompts, and orders


ENGLISH_TALK = (
    "we talked about plans for summer with friends who came over late "
    "and everybody agreed that weather had been rather pleasant lately "
)
GERMAN_TALK = (
    "wir sprachen über Pläne für Sommer mit Freunden die spät kamen "
    "und alle fanden dass das Wetter zuletzt recht angenehm gewesen war "
)


@pytest.mark.parametrize(
    ("talk", "question", "answer"),
    [
        (
            ENGLISH_TALK,
            "So how do we rotate the signing certificates?",
            "# Rotating certificates\n\nSigning certificates are rotated by the vault.\n",
        ),
        (
            GERMAN_TALK,
            "Wie erneuern wir denn die abgelaufenen Zertifikate?",
            "# Zertifikat erneuern\n\nEin abgelaufenes Zertifikat wird im Tresor erneuert.\n",
        ),
    ],
    ids=["en", "de"],
)
def test_Q4_a_topic_behind_three_thousand_words_is_found(
    tmp_path: Path, talk: str, question: str, answer: str
) -> None:
    words = talk.split()
    prompt = f"{' '.join((talk * 200).split()[:3_000])}. {question}"
    assert len(prompt.split()) >= 3_000
    notes = {
        f"talk-{number}.md": f"# Talk {number}\n\n{' '.join(words[number:] * 4)}.\n"
        for number in range(len(words))
    }
    told = found(tmp_path, {**notes, "answer.md": answer}, prompt)
    assert "answer.md" in paths(told)[:3]


WORDS = ("vault", "keys", "garden", "Schlüssel", "日本語", "DEC-0054", "running")
NOTES = st.dictionaries(
    st.sampled_from([f"{d}{n}.md" for d in ("", "a/", "vault/") for n in ("x", "y", "keys")]),
    st.tuples(
        st.sampled_from(["", "lang: de\n", "aliases: vault\n", "status: superseded\n"]),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
    ).map(lambda each: f"---\nx: y\n{each[0]}---\n# {each[1]}\n\n{each[1]}\n"),
    min_size=1,
    max_size=8,
)


@settings(max_examples=25)
@given(NOTES, st.randoms(use_true_random=False), st.lists(st.sampled_from(WORDS), min_size=1))
def test_the_order_in_which_files_were_indexed_makes_no_difference(
    notes: dict[str, str], rng: Any, words: list[str]
) -> None:
    query = " ".join(words)
    names = sorted(notes)
    rng.shuffle(names)
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory).resolve()
        root = top / "notes"
        root.mkdir()
        with Recall([root], cache_dir=str(top / "one")) as recall:
            for name in names:
                write(root, {name: notes[name]})
                os.utime(root / name, (1_700_000_000, 1_700_000_000))
                recall.refresh()
            piecemeal = [(c.path, c.score, c.copies) for c in recall.search(query, k=50)]
        with Recall([root], cache_dir=str(top / "other")) as recall:
            at_once = [(c.path, c.score, c.copies) for c in recall.search(query, k=50)]
    assert piecemeal == at_once


def test_the_same_ones_of_many_that_tie_are_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "READ", 3)
    notes = {f"n{number}.md": f"# Vault\n\nvault {number}x\n" for number in range(9)}
    one = write(tmp_path / "one" / "notes", notes)
    other = tmp_path / "other" / "notes"
    with Recall([other], cache_dir=str(tmp_path / "cache")) as recall:
        for name in sorted(notes, reverse=True):
            write(other, {name: notes[name]})
            recall.refresh()
    for root in (one, other):
        for name in notes:
            os.utime(root / name, (1_700_000_000, 1_700_000_000))
    told = [
        [(card.path, card.score) for card in cards([root], tmp_path, "vault")]
        for root in (one, other)
    ]
    assert told[0] == told[1]
    assert [path for path, _ in told[0][:3]] == ["n0.md", "n1.md", "n2.md"]


class Opened(FileSystem):
    """Files, and which were read."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def read(self, path: bytes, limit: int) -> tuple[bytes, bytes]:
        self.paths.append(os.fsdecode(path))
        return super().read(path, limit)


def test_S1_what_lies_elsewhere_by_now_is_not_looked_into(tmp_path: Path) -> None:
    root = write(tmp_path / "notes", {**OTHERS, "in/a.md": "# Vault\n\nThe vault.\n"})
    elsewhere = write(tmp_path / "outside", {"a.md": "# Vault\n\nThe vault.\n"})
    cache = str(tmp_path / "cache")
    with Recall([Root("notes", str(root))], cache_dir=cache) as recall:
        assert paths(recall.search("vault")) == ["in/a.md"]
    (root / "in" / "a.md").unlink()
    (root / "in").rmdir()
    (root / "in").symlink_to(elsewhere)
    fs = Opened()
    with Recall([Root("notes", str(root))], cache_dir=cache, fs=fs) as recall:
        assert recall.answer("vault", refresh=False).cards == []
    assert fs.paths == []
