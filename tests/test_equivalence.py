"""The digests of ``spec/equivalence.md``, and that two sides which differ are told apart."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import unicodedata
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import vectors
from hypothesis import given
from hypothesis import strategies as st

from index_cache import schema
from index_cache.analyze import Analyzer
from index_cache.equivalence import (
    COLUMNS,
    Leaf,
    Side,
    Vocabulary,
    differences,
    digest,
    terms_digest,
    tree,
)
from index_cache.files import FileSystem
from index_cache.model import Root, Rules
from index_cache.refresh import refresh
from index_cache.store import Store
from index_cache.verify import check

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = vectors.load("equivalence.json")
ANALYZER = Analyzer()


@pytest.mark.parametrize("vector", VECTORS["digests"], ids=lambda each: str(each["items"]))
def test_digests(vector: dict[str, Any]) -> None:
    assert digest(*(item.encode() for item in vector["items"])).hex() == vector["digest"]


@pytest.mark.parametrize("vector", VECTORS["trees"], ids=vectors.named)
def test_trees(vector: dict[str, Any]) -> None:
    documents = {path.encode(): bytes.fromhex(each) for path, each in vector["documents"].items()}
    found = {path.decode(): each.hex() for path, each in tree(documents).items()}
    assert found == vector["directories"]


@pytest.mark.parametrize("vector", VECTORS["terms"], ids=lambda each: str(len(each["counts"])))
def test_terms(vector: dict[str, Any]) -> None:
    lines = ["\t".join(map(str, each)) + "\n" for each in vector["counts"]]
    assert terms_digest(lines).hex() == vector["digest"]


def write(top: Path, files: dict[str, str]) -> Root:
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(text.encode())
    return Root("notes", str(top.resolve()), Rules(gitignore=False))


def digests(root: Root) -> tuple[str | None, dict[str, str] | None]:
    """Return the canonical digests, of which a cache in memory must have the same."""
    with closing(Store.create(root, None)) as store:
        refresh(store, FileSystem())
        proof = check(root, store, FileSystem(), deep=True)
    assert proof.equivalent, proof.differences
    assert proof.deep is not None
    assert proof.deep["canonical_digest"] == proof.deep["cache_digest"]
    return proof.canonical_digest, proof.deep


@pytest.mark.parametrize("vector", VECTORS["roots"], ids=vectors.named)
def test_roots(vector: dict[str, Any], tmp_path: Path) -> None:
    plain, deep = digests(write(tmp_path, vector["files"]))
    assert plain == vector["canonical"]
    assert deep is not None
    assert deep["canonical_digest"] == vector["deep"]


def test_names_as_nfd_and_as_nfc_give_one_digest(tmp_path: Path) -> None:
    files = {"rückblick/über.md": "text\n", "é.md": "# Other\n"}
    found = {
        digests(
            write(
                tmp_path / form,
                {unicodedata.normalize(form, path): text for path, text in files.items()},
            )
        )[0]
        for form in ("NFC", "NFD")
    }
    assert len(found) == 1


def test_times_and_places_are_no_part_of_it(tmp_path: Path) -> None:
    files = {"a.md": "one\n", "b/c.md": "# two\n"}
    here, there = write(tmp_path / "here", files), write(tmp_path / "else/where", files)
    os.utime(os.path.join(there.path, "a.md"), (1, 1))
    assert digests(here) == digests(there)


SCRIPT = """
import sys
from index_cache.files import FileSystem
from index_cache.model import Root, Rules
from index_cache.verify import check
root = Root("notes", sys.argv[1], Rules(gitignore=False))
print(check(root, None, FileSystem(), deep=False).canonical_digest)
"""


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Apia", "PYTHONHASHSEED": "2"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONHASHSEED": "3"},
    ],
    ids=lambda env: env["LC_ALL"],
)
def test_locale_zone_and_hash_seed_are_no_part_of_it(tmp_path: Path, env: dict[str, str]) -> None:
    root = write(tmp_path, {"Istanbul/ıi.md": "# İSTANBUL ıi\n", "a.md": "one two\n"})
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, root.path],
        env={**os.environ, **env},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == digests(root)[0]


def test_a_name_that_is_not_utf8_has_a_digest(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.md": "one\n"})
    before = digests(root)
    with open(os.path.join(os.fsencode(root.path), b"\xff\xe9.md"), "wb") as file:
        file.write(b"two\n")
    assert digests(root) != before


def test_directories_may_be_deep(tmp_path: Path) -> None:
    del tmp_path
    path = b"/".join([b"d"] * 3_000) + b"/a.md"
    assert len(tree({path: hashlib.sha256(b"").digest()})) == 3_001


WORDS = st.lists(st.sampled_from(["a", "b", "foo-bar", "x.y", "Äpfel", "东西", "...", "C++"]))


@given(st.lists(st.tuples(WORDS, WORDS), max_size=5), st.integers(0, 5))
def test_a_vocabulary_counts_as_one_would_by_hand(
    documents: list[tuple[list[str], list[str]]], parted: int
) -> None:
    halves = Vocabulary(), Vocabulary()
    expected: dict[tuple[str, int], list[int]] = {}
    for number, fields in enumerate(documents):
        texts = [" ".join(words) for words in fields] + [""] * (len(schema.FIELDS) - 2)
        halves[number >= parted].add([ANALYZER.pieces(text) for text in texts])
        for field, text in enumerate(texts):
            terms = ANALYZER.terms(text)
            for term in set(terms):
                counted = expected.setdefault((term, field), [0, 0])
                counted[0] += 1
                counted[1] += terms.count(term)
    whole, other = halves
    whole.update(other)
    assert whole.counts() == {key: tuple(counts) for key, counts in expected.items()}
    assert set(whole.lines()) == {
        f"{term}\t{schema.FIELDS[field]}\t{documents}\t{occurrences}\n"
        for (term, field), (documents, occurrences) in expected.items()
    }
    rare = {term for (term, _), (documents, _) in expected.items() if documents == 1}
    assert whole.rare(1) == sorted(rare)


def leaf(content: bytes = b"c" * 32, *, changed: str = "") -> Leaf:
    made = Leaf(b"signature", None)
    made.fill(content, ["x" * (name == changed) for name in COLUMNS], range(1, 8))
    return made


def side(**leaves: Leaf) -> Side:
    return Side({path.encode(): each for path, each in leaves.items()}, b"")


def test_what_differs_is_named() -> None:
    assert differences(side(a=leaf()), side(a=leaf())) == {}
    assert differences(side(a=leaf()), side()) == {b"a": ["missing"]}
    assert differences(side(), side(a=leaf())) == {b"a": ["extra"]}
    assert differences(side(a=leaf()), side(a=leaf(b"d" * 32))) == {b"a": ["content"]}
    for name in COLUMNS:
        assert differences(side(a=leaf()), side(a=leaf(changed=name))) == {b"a": [name]}
    longer = leaf()
    longer.fill(b"c" * 32, [""] * len(COLUMNS), [1, 2, 3, 4, 5, 6, 8])
    assert differences(side(a=leaf()), side(a=longer)) == {b"a": ["terms of body"]}
    assert side(a=leaf()).digest() != side(a=longer).digest()


def test_terms_in_another_order_differ_once_the_postings_are_read() -> None:
    mine, theirs = leaf(), leaf()
    mine.texts = bytes(32 * len(schema.FIELDS))
    assert differences(side(a=mine), side(a=theirs)) == {}
    theirs.texts = bytes(32) + b"\1" * 32 + mine.texts[64:]
    assert differences(side(a=mine), side(a=theirs)) == {b"a": ["terms of aliases"]}
    assert side(a=mine).digest() == side(a=theirs).digest()
    assert side(a=mine).deep_digest() != side(a=theirs).deep_digest()


def test_files_without_a_document_differ_by_their_problem() -> None:
    def bad(problem: str) -> Leaf:
        return Leaf(b"signature", problem)

    assert differences(side(a=bad("not text")), side(a=bad("not text"))) == {}
    assert differences(side(a=bad("not text")), side(a=bad("unreadable"))) == {b"a": ["problem"]}
    assert differences(side(a=bad("not text")), side(a=leaf())) == {b"a": ["extra"]}
    assert differences(side(a=leaf()), side(a=bad("not text"))) == {b"a": ["missing"]}
    assert side(a=bad("not text")).digest() == side().digest()
