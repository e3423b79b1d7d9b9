"""What a search answers: nothing but the searched documents may decide it."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from index_cache import candidates
from index_cache.analyze import Analyzer
from index_cache.model import Root, Rules
from index_cache.store import Store
from recall import Recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


def write(directory: Path, notes: Mapping[str, str]) -> Path:
    for name, text in notes.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory


def found(
    roots: Iterable[Root | Path], cache: Path, query: str, k: int = 10
) -> list[tuple[str, str, float]]:
    with Recall(roots, cache_dir=str(cache)) as recall:
        return [(card.root, card.path, card.score) for card in recall.search(query, k)]


def test_the_order_of_edits_decides_nothing_among_more_ties_than_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_CANDIDATES", 20)
    names = [f"n{number:03d}.md" for number in range(100)]
    # Same length and counts, different bytes: all tie and none is a copy.
    texts = {name: f"# Kestrel\n\nkestrel {name[1:4]}x\n" for name in names}
    first = write(tmp_path / "a" / "notes", texts)
    second = tmp_path / "b" / "notes"
    shuffled = random.Random(3).sample(names, len(names))  # noqa: S311 - an order, not a secret
    cache = tmp_path / "cache"
    for part in shuffled[:50], shuffled[50:]:
        write(second, {each: texts[each] for each in part})
        with Recall([second], cache_dir=str(cache)) as recall:
            recall.refresh()
    for directory in (first, second):
        for name in names:
            os.utime(directory / name, (1_700_000_000, 1_700_000_000))
    answers = [found([each], cache, "kestrel", 7) for each in (first, second)]
    assert answers[0] == answers[1]
    assert [path for _, path, _ in answers[0]] == names[:7]


def test_a_term_common_in_one_root_and_rare_in_all_hides_nothing(tmp_path: Path) -> None:
    here = {f"d{number}.md": f"disk {number}\n" * 3 for number in range(60)}
    here["best.md"] = "disk alert and a good many words around it " + "filling " * 40
    elsewhere = {f"o{number}.md": f"other {number}\n" for number in range(400)}
    here, elsewhere = (
        {f"{name}/{path}": text for path, text in notes.items()}  # their paths are words of theirs
        for name, notes in (("here", here), ("elsewhere", elsewhere))
    )
    roots = [write(tmp_path / "here", here), write(tmp_path / "elsewhere", elsewhere)]
    one = write(tmp_path / "one", here | elsewhere)
    cache = tmp_path / "cache"
    apart = [(path, score) for _, path, score in found(roots, cache, "disk alert")]
    together = [(path, score) for _, path, score in found([one], cache, "disk alert")]
    assert [score for _, score in apart] == pytest.approx([s for _, s in together], abs=1e-9)
    assert {path for path, score in apart if score > apart[-1][1]} == {
        path for path, score in together if score > together[-1][1]
    }


def test_Q4_a_topic_within_a_paste_of_identifiers_is_found(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# How we deploy\n", "b.md": "# Else\n"})
    paste = [f"some_long_identifier_{number}::call" for number in range(4_000)]
    paste.insert(2_500, "deploy")
    ((_, path, _),) = found([notes], tmp_path / "cache", " ".join(paste))
    assert path == "a.md"


@pytest.mark.parametrize("scheme", ["data", "Data", "DATA"])
def test_a_data_uri_has_no_terms_in_any_case_and_metadata_has(scheme: str) -> None:
    analyzer = Analyzer()
    uri = f"![x]({scheme}:image/png;base64,iVBORw0KGgoAAAANSUhEUg==) then"
    assert analyzer.terms(uri) == ["x", "then"]
    assert analyzer.terms(f"{scheme}:text/plain,kestrel data:image/png;base64,QUJD") == []
    assert "bar" in analyzer.terms("metadata:foo/bar,baz")


def test_one_directory_under_two_names_counts_once(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# Kestrel\n", "b.md": "# Other\n"})
    roots = [Root("one", str(notes)), Root("two", str(notes))]
    with Recall(roots, cache_dir=str(tmp_path / "cache")) as recall:
        answer = recall.answer("kestrel")
    assert answer.total == 1
    assert [(card.root, card.copies) for card in answer.cards] == [("one", ())]


def test_two_sets_of_rules_over_one_directory_show_a_file_once(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# Kestrel\n", "b.md": "# Other\n"})
    roots = [Root("all", str(notes)), Root("some", str(notes), Rules(include=("a.md",)))]
    with Recall(roots, cache_dir=str(tmp_path / "cache")) as recall:
        (card,) = recall.search("kestrel")
    assert (card.path, card.copies) == ("a.md", ())


def test_C4_a_symlink_in_the_place_of_a_cache_is_replaced_not_followed(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# Kestrel\n"})
    cache = tmp_path / "cache"
    before = found([notes], cache, "kestrel")
    (file,) = cache.glob("*.db")
    elsewhere = tmp_path / "elsewhere.db"
    file.rename(elsewhere)
    old = elsewhere.read_bytes()
    file.symlink_to(elsewhere)
    (notes / "a.md").write_text("# Kestrel again\n")
    (card,) = found([notes], cache, "kestrel")
    assert card[:2] == before[0][:2]
    assert not file.is_symlink()
    assert elsewhere.read_bytes() == old


@pytest.mark.parametrize("year", [1600, 2300, 9999])
def test_D1_a_time_that_no_signature_holds_costs_nothing(
    year: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# Kestrel\n", "b.md": "# Kestrel too\n"})
    seconds = (year - 1970) * 31_556_952
    try:
        os.utime(notes / "a.md", (seconds, seconds))
    except OSError:
        pytest.skip("this file system keeps no such times")
    monkeypatch.chdir(tmp_path)
    paths = [path for _, path, _ in found([notes], tmp_path / "cache", "kestrel")]
    assert sorted(paths) == ["a.md", "b.md"]
    assert paths == [path for _, path, _ in found([notes], tmp_path / "cache", "kestrel")]


def test_a_single_directory_or_type_is_one_not_its_letters(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {"a.md": "---\ntype: Note\n---\n# Kestrel\n"})
    with Recall(str(notes), cache_dir=str(tmp_path / "cache")) as recall:
        assert [root.path for root in recall.roots] == [str(notes)]
        assert [card.path for card in recall.search("kestrel", types="note")] == ["a.md"]
    with Recall(notes, cache_dir=str(tmp_path / "cache")) as recall:
        assert len(recall.search("kestrel")) == 1


def test_Q2_an_identifier_is_found_whole_in_any_case(tmp_path: Path) -> None:
    text = "See getUserName and OvertimeService.\n"
    notes = write(tmp_path / "notes", {"a.md": text, "b.md": "# Else\n", "c.md": "# More\n"})
    for query in ("getUserName", "getusername", "GETUSERNAME", "overtimeservice", "user name"):
        assert [path for _, path, _ in found([notes], tmp_path / "cache", query)] == ["a.md"]


def test_the_total_counts_what_can_be_shown_once_all_is(tmp_path: Path) -> None:
    notes = write(tmp_path / "notes", {f"{number}.md": "# Kestrel\n" for number in range(5)})
    write(notes, {"other.md": "# Kestrel and more\n"})
    with Recall(notes, cache_dir=str(tmp_path / "cache")) as recall:
        answer = recall.answer("kestrel", 10)
        assert (answer.total, [len(card.copies) for card in answer.cards]) == (2, [4, 0])
        (notes / "other.md").unlink()
        answer = recall.answer("kestrel", 10, refresh=False)
        assert (answer.total, len(answer.cards)) == (1, 1)


def test_a_directory_that_is_missing_leaves_no_cache(tmp_path: Path) -> None:
    with Recall(tmp_path / "gone", cache_dir=str(tmp_path / "cache")) as recall:
        (report,) = recall.answer("kestrel").reports
    assert report.failure is not None
    assert not (tmp_path / "cache").exists()


def test_C6_a_full_disk_at_a_first_build_costs_the_cache_not_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = write(tmp_path / "notes", {"a.md": "# Kestrel\n"})
    real = Store.write

    def full(store: Store, *args: Any) -> None:
        if store.path is not None:
            raise apsw.FullError("database or disk is full")
        real(store, *args)

    monkeypatch.setattr(Store, "write", full)
    with Recall(notes, cache_dir=str(tmp_path / "cache")) as recall:
        answer = recall.answer("kestrel")
        assert [card.path for card in answer.cards] == ["a.md"]
        assert "full" in answer.reports[0].notices[0]
    with Recall(notes, cache_dir=str(tmp_path / "cache")) as recall:
        (report,) = recall.refresh()
        assert report.failure is not None


def test_the_last_failure_is_forgotten_once_the_root_is_well(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    cache = str(tmp_path / "cache")
    for there in (False, True):
        if there:
            write(notes, {"a.md": "# Kestrel\n"})
        with Recall([Root("n", str(notes))], cache_dir=cache) as recall:
            recall.refresh()
            (status,) = recall.status()
            assert (status.last_failure is None) == there


def test_a_date_that_is_none_wins_no_tie(tmp_path: Path) -> None:
    head = "---\nmodified: {}\n---\n# Kestrel {}\n"
    dates = {"a": "zzz", "b": "2026-01-02", "c": "yesterday", "d": "2026-03-01"}
    notes = write(tmp_path / "n", {f"{k}.md": head.format(v, k + "x") for k, v in dates.items()})
    paths = [path for _, path, _ in found([notes], tmp_path / "cache", "kestrel")]
    assert paths == ["d.md", "b.md", "a.md", "c.md"]
