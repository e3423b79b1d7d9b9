"""What testers with fresh eyes found in searches and the hook, each as a test of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from index_cache.candidates import candidates
from index_cache.filters import Filter
from recall import Recall, gate
from recall.asked import Question

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from index_cache.model import Hit
    from index_cache.store import Store


def notes(directory: Path, texts: Mapping[str, str]) -> Recall:
    for name, text in texts.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text, "utf-8")
    return Recall([directory])


def found(recall: Recall, query: str) -> list[str]:
    answered = recall.answer(query, operators=True)
    return [card.path for card in answered.cards]


def test_R1_two_threes_in_a_row_are_no_word_of_thai(tmp_path: Path) -> None:
    thai = "การสำรองข้อมูลเป็นงานที่ทำทุกคืน และเก็บไว้สามสิบวัน"
    others = {f"{n}.md": f"# Note {n}\n\nplain text number {n}\n" for n in range(40)}
    with notes(tmp_path, {"backup.md": f"# สำรองข้อมูล\n\n{thai}\n", **others}) as recall:
        recall.search("x")
        store = recall._opened[0].view
        assert store is not None

        def speaks(prompt: str) -> bool:
            asked = Question(prompt, [store], recall._analyzers)
            hits = recall_hits(asked, store)
            decided = gate.decide(prompt, asked.wording, asked.terms, asked.whole, hits)
            return any(each.speak for each in decided)

        assert not speaks("พรุ่งนี้อากาศเป็นอย่างไร")
        assert speaks("สำรองข้อมูลอย่างไร")


def recall_hits(asked: Question, store: Store) -> list[Hit]:
    return candidates([store], [Filter()], asked.parts, asked.whole, asked.terms, 8)
