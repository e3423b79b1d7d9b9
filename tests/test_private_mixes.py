"""Generated mixes of tags, look-alikes, scripts and fences, from their files to the cache."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from privacy_support import Maker

from recall import Recall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NUMBERED = re.compile(r"(\d{6})w")
UNIQUE = re.compile(r"\d{12}w")


def test_no_private_word_is_in_a_cache_and_no_public_word_is_not(
    tmp_path: Path, long_count: Callable[[int], int]
) -> None:
    notes, cache = tmp_path / "notes", tmp_path / "cache"
    private: set[str] = set()
    public: dict[bytes, set[str]] = {}
    for seed in range(long_count(20_000)):

        def own(text: str, seed: int = seed) -> str:
            """Make the words of a mix differ from those of all other mixes."""
            return NUMBERED.sub(rf"{seed:06}\1w", text)

        mix = Maker(seed).mix()
        private.update(word for each in mix.private for word in UNIQUE.findall(own(each)))
        name = f"{seed % 100:02}/{seed}.md"
        public[name.encode()] = {w for each in mix.public for w in UNIQUE.findall(own(each))}
        path = notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # A line in front, so that no mix is a metadata block, of which only some keys are indexed.
        path.write_bytes(f"A mix.\n\n{own(mix.text)}".encode("utf-8", "surrogatepass"))
    with Recall([notes], cache_dir=str(cache)) as recall:
        (report,) = recall.refresh()
        # With many controls and bytes that are no UTF-8 a mix may pass for a binary file.
        assert all(each.reason.startswith(("not text", "indexed")) for each in report.skipped)
        for each in report.skipped:
            if each.reason.startswith("not text"):
                del public[each.path]
        assert report.documents == len(public) > long_count(20_000) * 0.99
        recall.answer("anything", refresh=False)
        store = recall._opened[0].store
        assert store is not None
        terms = {term for (term,) in store.connection.execute("SELECT term FROM vocabulary")}
        found = {word for term in terms for word in UNIQUE.findall(term)}
        assert private & found == set()
        assert set().union(*public.values()) - found == set()
    assert min(len(private), sum(map(len, public.values()))) > long_count(20_000)
    for file in cache.iterdir():
        assert private & set(UNIQUE.findall(file.read_bytes().decode("latin-1"))) == set()
