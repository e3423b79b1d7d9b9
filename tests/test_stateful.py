"""Whatever happens to two roots, an incremental cache and a fresh one are the same.

Each machine plays edits, clocks, permissions, mounts, refreshes and kills against real files whose
times come from a coarse clock. After each refresh the rows and the answers must be those of a cache
that was built from nothing.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from stateful_support import (
    SECOND,
    FakeFileSystem,
    Remembered,
    RememberedFileSystem,
    ask,
    assert_same,
    entries,
    fields,
    fresh,
    make_root,
    remove_tree,
    update,
)

from index_cache import files, ingest
from index_cache.analyze import Analyzer
from index_cache.errors import RootUnavailable
from index_cache.jsonl import Lines
from index_cache.model import Root, Rules
from index_cache.parse import Document
from index_cache.refresh import open_store
from index_cache.store import Store
from index_cache.text import Content as Public
from recall.service import Recall

if TYPE_CHECKING:
    from index_cache.files import FileSystem

ANALYZER = Analyzer()
MOUNT = b"mnt"
DIRECTORIES = (b"", b"sub", b"sub/deep", MOUNT)
NAMES = (b"a.md", b"A.md", b"b.MD", b"c.markdown", b"d.jsonl")
PATHS = tuple(os.path.join(directory, name) for directory in DIRECTORIES for name in NAMES)

# All of one length, so that edits within one size are frequent.
# One has another stem in German.
WORDS = ("alpha", "bravo", "delta", "gamma", "omega", "sigma", "tagen")
LANGUAGES = ("de", "en", "fr", "xx", "ru")
QUERIES = (
    "alpha bravo",
    "gamma",
    "what of delta and omega?",
    "sigma alpha note deploy",
    "tagen sigma",
)

TICK = 10_000_000
MS = 1_000_000
PERIODS = st.sampled_from([MS, TICK, SECOND // 2, SECOND, 2 * SECOND, 3 * SECOND, 3600 * SECOND])
SHORT = st.sampled_from([0, MS, 4 * MS, 2 * TICK, SECOND // 2, SECOND])

numbers = st.integers(0, 1)
directories = st.sampled_from(DIRECTORIES)
paths = st.sampled_from(PATHS)
words = st.sampled_from(WORDS)
indices = st.integers(0, 7)
texts = st.lists(words, min_size=1, max_size=5)


class Killed(BaseException):
    """The process ends here."""


def note(chosen: list[str]) -> bytes:
    """Return a note; most have a heading, some metadata, and some of these a language."""
    first, *rest = chosen
    body = " ".join([*rest, first])
    if len(rest) == 1:
        return f"{body}\n".encode()
    head = f"---\ntype: {first}\ntags: [deploy]\n---\n" if len(rest) == 2 else ""
    if len(rest) > 2:
        language = LANGUAGES[WORDS.index(first) % len(LANGUAGES)]
        head = f"---\naliases: [{rest[0]} {rest[1]}, {rest[2]}]\nlang: {language}\n---\n"
    return f"{head}# {first} note\n\n{body}\n".encode()


def lines(chosen: list[str]) -> bytes:
    """Return a file of records; some have ids, which may be those of others, and some are none."""
    made = []
    for number, word in enumerate(chosen):
        fields = {"text": f"{word} {chosen[number - 1]}", "lang": LANGUAGES[number]}
        if number % 2:
            fields |= {"id": word, "valid_until": "2000-01-01" if word == "alpha" else word}
        made.append(word if len(chosen) > 3 and number == 1 else json.dumps(fields))
    return "\n".join(made).encode() + b"\n" * (len(chosen) % 2)


def is_lines(path: bytes) -> bool:
    return path.endswith(b".jsonl")


class Machine(RuleBasedStateMachine):
    """Two roots, their caches, and what is known of them."""

    granularity: ClassVar[int] = SECOND

    def __init__(self) -> None:
        super().__init__()
        # A root's path is canonical, as the program makes it.
        self.top = Path(os.path.realpath(tempfile.mkdtemp()))
        self.cache = str(self.top / "cache")
        self.fs = FakeFileSystem(self.granularity)
        self.roots = [make_root(self.top, name, jsonl=True) for name in ("one", "two")]
        self.written: dict[object, bytes] = {}  # by their SHA-256, or by what is said of records
        self.devices = 100
        for root in self.roots:
            for directory in DIRECTORIES:
                os.makedirs(self.path(root, directory), exist_ok=True)
            self.fs.mount(self.path(root, MOUNT), self.new_device())
        self.stores = [open_store(root, self.cache, 0) for root in self.roots]

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        remove_tree(str(self.top))

    # -- helpers

    def new_device(self) -> int:
        self.devices += 1
        return self.devices

    @staticmethod
    def path(root: Root, relative: bytes) -> bytes:
        return os.path.join(os.fsencode(root.path), relative).rstrip(b"/")

    def on_disk(self, root: Root) -> list[bytes]:
        """Return the files that are there, seen or not."""
        return [path for path in PATHS if os.path.exists(self.path(root, path))]

    def mounted(self, root: Root) -> bool:
        return self.path(root, MOUNT) not in self.fs.unmounted

    def writable(self, root: Root, path: bytes) -> bool:
        return self.mounted(root) or not path.startswith(MOUNT)

    def pick(self, number: int, index: int) -> tuple[Root, bytes] | None:
        """Return one of the files that can be changed now, if there is any."""
        root = self.roots[number]
        found = [path for path in self.on_disk(root) if self.writable(root, path)]
        return (root, found[index % len(found)]) if found else None

    def data(self, chosen: list[str], path: bytes) -> bytes:
        return self.known(lines(chosen) if is_lines(path) else note(chosen))

    def known(self, data: bytes) -> bytes:
        """Remember what was written, to build a cache from what one saw long ago."""
        self.written[sha256(data).digest()] = data
        # A line has no end behind it, or has: the same records, but files of another size.
        self.written[records(fresh_of(data)), len(data)] = data
        return data

    def content(self, root: Root, path: bytes) -> bytes:
        return Path(os.fsdecode(self.path(root, path))).read_bytes()

    # -- files

    @initialize(chosen=st.lists(st.tuples(numbers, paths, texts), min_size=3, max_size=10))
    def begin(self, chosen: list[tuple[int, bytes, list[str]]]) -> None:
        for number, path, text in chosen:
            self.fs.write(self.path(self.roots[number], path), self.data(text, path))

    @rule(number=numbers, path=paths, text=texts)
    def write(self, number: int, path: bytes, text: list[str]) -> None:
        root = self.roots[number]
        if self.writable(root, path):
            self.fs.write(self.path(root, path), self.data(text, path))

    @rule(number=numbers, index=indices, word=words)
    def edit_without_size_change(self, number: int, index: int, word: str) -> None:
        picked = self.pick(number, index)
        if picked:
            self.exchange_word(*picked, word)

    def exchange_word(self, root: Root, path: bytes, word: str) -> None:
        """Put another word in the place of a note's last; all words are of one length."""
        old = self.content(root, path)
        last = max(WORDS, key=lambda each: old.rfind(each.encode()))
        if last.encode() not in old:
            return  # all lines were removed, or the words broken
        if word == last:
            word = WORDS[WORDS.index(last) - 1]
        new = word.encode().join(old.rsplit(last.encode(), 1))
        assert len(new) == len(old)
        assert new != old
        self.fs.write(self.path(root, path), self.known(new))

    @rule(
        number=numbers,
        index=indices,
        word=words,
        pauses=st.tuples(SHORT, SHORT, SHORT),
        old_times=st.booleans(),
    )
    def edit_before_and_after_a_refresh(
        self, number: int, index: int, word: str, pauses: tuple[int, int, int], old_times: bool
    ) -> None:
        """Edit, refresh and edit, perhaps in one tick, perhaps restoring the modification time."""
        picked = self.pick(number, index)
        if not picked:
            return
        path = self.path(*picked)
        before = self.fs.mtime(path)
        self.fs.forward(pauses[0])
        for pause in pauses[1:]:
            self.exchange_word(*picked, word)
            if old_times:
                self.fs.touch(path, before)
            self.fs.forward(pause)
            self.refresh_both()

    @rule(number=numbers, index=indices, text=texts)
    def replace_by_rename(self, number: int, index: int, text: list[str]) -> None:
        picked = self.pick(number, index)
        if picked:
            path = self.path(*picked)
            self.fs.write(path + b".tmp", self.data(text, path))
            self.fs.rename(path + b".tmp", path)

    @rule(number=numbers, index=indices)
    def touch(self, number: int, index: int) -> None:
        picked = self.pick(number, index)
        if picked:
            self.fs.touch(self.path(*picked))

    @rule(number=numbers, index=indices, other=indices)
    def touch_as_another(self, number: int, index: int, other: int) -> None:
        picked, model = self.pick(number, index), self.pick(1 - number, other)
        if picked and model:
            self.fs.touch(self.path(*picked), self.fs.mtime(self.path(*model)))

    @rule(number=numbers, index=indices, word=words)
    def edit_with_old_times(self, number: int, index: int, word: str) -> None:
        picked = self.pick(number, index)
        if picked:
            path = self.path(*picked)
            before = self.fs.mtime(path)
            self.fs.write(path, self.data([word, word, word], path))
            self.fs.touch(path, before)

    @rule(number=numbers, index=indices, language=st.sampled_from(LANGUAGES))
    def change_language(self, number: int, index: int, language: str) -> None:
        """Give a note another language, and so other terms of the same text."""
        picked = self.pick(number, index)
        if picked:
            old = self.content(*picked)
            new = re.sub(rb"(?m)^lang: ..$", f"lang: {language}".encode(), old)
            self.fs.write(self.path(*picked), self.known(new))

    @rule(
        number=numbers,
        index=indices,
        edit=st.sampled_from(["append", "remove", "move", "break", "again"]),
        at=indices,
        text=texts,
    )
    def edit_lines(self, number: int, index: int, edit: str, at: int, text: list[str]) -> None:
        root = self.roots[number]
        found = [each for each in self.on_disk(root) if is_lines(each)]
        found = [each for each in found if self.writable(root, each)]
        if not found:
            return
        path = found[index % len(found)]
        old = self.content(root, path).split(b"\n")
        at %= len(old)
        if edit == "append":
            old += lines(text).split(b"\n")
        elif edit == "remove":
            del old[at]
        elif edit == "move":
            old.insert(0, old.pop(at))
        elif edit == "break":
            old[at] = old[at][:-1]
        else:
            old.insert(at, old[-1])
        self.fs.write(self.path(root, path), self.known(b"\n".join(old)))

    @rule(number=numbers, index=indices, new=paths)
    def rename(self, number: int, index: int, new: bytes) -> None:
        picked = self.pick(number, index)
        if picked and picked[1] != new and self.writable(picked[0], new):
            self.fs.rename(self.path(*picked), self.path(picked[0], new))

    @rule(number=numbers, directory=directories)
    def rename_case_only(self, number: int, directory: bytes) -> None:
        root = self.roots[number]
        old, new = (os.path.join(directory, name) for name in NAMES[:2])
        if self.writable(root, old) and os.path.exists(self.path(root, old)):
            self.fs.rename(self.path(root, old), self.path(root, new))

    @rule(number=numbers, index=indices)
    def exchange(self, number: int, index: int) -> None:
        """Exchange two files of a root by three renames."""
        first, second = self.pick(number, index), self.pick(number, index + 1)
        if first and second and first != second:
            spare = self.path(first[0], b"spare")
            self.fs.rename(self.path(*first), spare)
            self.fs.rename(self.path(*second), self.path(*first))
            self.fs.rename(spare, self.path(*second))

    @rule(number=numbers, index=indices)
    def delete(self, number: int, index: int) -> None:
        picked = self.pick(number, index)
        if picked:
            self.fs.delete(self.path(*picked))

    @rule(number=numbers, index=indices, text=texts)
    def recreate(self, number: int, index: int, text: list[str]) -> None:
        picked = self.pick(number, index)
        if picked:
            self.fs.delete(self.path(*picked))
            self.fs.write(self.path(*picked), self.data(text, picked[1]))

    @rule(number=numbers, directory=directories)
    def delete_directory(self, number: int, directory: bytes) -> None:
        root = self.roots[number]
        for path in self.on_disk(root):
            if path.startswith(directory) and self.writable(root, path):
                self.fs.delete(self.path(root, path))

    # -- permissions, mounts, clocks

    @rule(number=numbers, index=indices)
    def chmod_file(self, number: int, index: int) -> None:
        picked = self.pick(number, index)
        if picked:
            self.chmod(self.path(*picked))

    @rule(number=numbers, directory=directories)
    def chmod_directory(self, number: int, directory: bytes) -> None:
        self.chmod(self.path(self.roots[number], directory))

    def chmod(self, path: bytes) -> None:
        if path in self.fs.denied:
            self.fs.permit(path)
        else:
            self.fs.deny(path)

    @precondition(lambda self: self.fs.denied)
    @rule()
    def chmod_all_back(self) -> None:
        for path in sorted(self.fs.denied):
            self.fs.permit(path)

    @rule(number=numbers)
    def unmount_or_mount(self, number: int) -> None:
        directory = self.path(self.roots[number], MOUNT)
        if directory in self.fs.unmounted:
            self.fs.mount(directory, self.new_device())
        else:
            self.fs.unmount(directory)

    @rule(period=PERIODS)
    def wait(self, period: int) -> None:
        self.fs.forward(period)

    @rule(period=PERIODS)
    def set_clock_back(self, period: int) -> None:
        self.fs.set_back(period)

    # -- the program

    @rule()
    def refresh(self) -> None:
        self.refresh_both()

    @rule()
    def refresh_with_prune(self) -> None:
        self.refresh_both(prune=True)

    @rule()
    def refresh_with_compact(self) -> None:
        self.refresh_both(compact=True)

    @rule()
    def wait_and_refresh_twice(self) -> None:
        """What is old enough to be trusted is not opened a second time."""
        self.fs.forward(3 * SECOND)
        self.refresh_both()
        young = self.fs.time - files.GRANULARITY_NS
        for root, store in zip(self.roots, self.stores, strict=True):
            if self.path(root, b"") in self.fs.denied:
                continue
            self.fs.opened.clear()
            update(store, self.fs)
            for path in self.fs.opened:
                times = fields(files.signature(self.fs.stat(path)))
                assert max(times[:2]) >= young, f"{path!r} was opened again"

    @rule(
        number=numbers,
        count=st.integers(1, 6),
        where=st.sampled_from(["read", "write"]),
        again=st.booleans(),
    )
    def kill(self, number: int, count: int, where: str, again: bool) -> None:
        """End the program at its n-th reading of a file, or in the midst of its n-th writing."""
        left = count

        def pass_one(_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Killed

        set_meta = Store.set_meta

        def set_meta_or_die(store: Store, key: str, value: str | float | bytes) -> None:
            pass_one(key)
            set_meta(store, key, value)

        store = self.stores[number]
        try:
            if where == "read":
                self.fs.before_read = pass_one
                update(store, self.fs)
            else:
                with mock.patch.object(Store, "set_meta", set_meta_or_die):
                    update(store, self.fs)
        except (Killed, RootUnavailable):
            pass
        finally:
            self.fs.before_read = lambda _: None
        store.close()
        self.stores[number] = open_store(self.roots[number], self.cache, 0)
        if again:
            self.refresh_both()

    @rule()
    def restart(self) -> None:
        for number, store in enumerate(self.stores):
            store.close()
            self.stores[number] = open_store(self.roots[number], self.cache, 0)

    @rule(text=st.sampled_from(QUERIES))
    def search_without_refresh(self, text: str) -> None:
        """No card is stale, however old the cache."""
        if not all(store.built for store in self.stores):
            return
        home = {"HOME": str(self.top)}
        with Recall(self.roots, cache_dir=self.cache, environ=home, fs=self.fs) as recall:
            answer = recall.answer(text, refresh=False)
        wanted = set(ANALYZER.terms(text))
        for card in answer.cards:
            root = next(root for root in self.roots if root.name == card.root)
            path = os.fsencode(card.path)
            assert self.writable(root, path)
            data = self.content(root, path)
            if is_lines(path):
                read = Lines(data)
                line = next(each for each in read.found if each.number == card.line)
                document = Document.of_record(path, read.fields(line))
            else:
                document = Document(path, Public(data).text)
            assert card.title == document.title
            text = " ".join((document.title, document.body, document.type, *document.tags))
            assert wanted.intersection(ANALYZER.terms(f"{text} {' '.join(document.aliases)}"))
            assert card.summary in " ".join(document.body.split())

    # -- what must hold

    def refresh_both(self, *, prune: bool = False, compact: bool = False) -> None:
        rebuilt = [self.refresh_one(number, prune=prune, compact=compact) for number in range(2)]
        if all(store.built for store in self.stores):
            for text in QUERIES:
                assert ask(self.stores, text) == ask(rebuilt, text)
        for store in rebuilt:
            store.close()

    def refresh_one(self, number: int, *, prune: bool, compact: bool) -> Store:
        """Refresh a root, and return a cache that was built from nothing and holds the same."""
        root, store = self.roots[number], self.stores[number]
        before = entries(store)
        if self.path(root, b"") in self.fs.denied:
            with pytest.raises(RootUnavailable):
                update(store, self.fs, prune=prune, compact=compact)
            kept = set(before)
            seen = []
        else:
            report = update(store, self.fs, prune=prune, compact=compact)
            seen = self.seen(root)
            kept = self.kept(root, before, prune=prune)
            assert bool(kept) <= bool(report.unavailable)
        held = entries(store)
        assert held.keys() == kept | set(seen)
        assert {path: held[path] for path in kept} == {path: before[path] for path in kept}
        fs: FileSystem = self.fs
        if kept or not seen:
            # What can't be seen now is built from what was seen last.
            known = {path: self.remember(store, path, *row) for path, row in held.items()}
            fs = RememberedFileSystem(root.path, known, self.fs.time)
        rebuilt = fresh(root, fs)
        assert_same(store, rebuilt)
        for path in seen:
            if self.path(root, path) not in self.fs.denied and not is_lines(path):
                assert held[path][1] == sha256(self.content(root, path)).digest()
        return rebuilt

    def remember(
        self,
        store: Store,
        path: bytes,
        signature: bytes,
        digest: bytes | None,
        problem: str | None,
    ) -> Remembered:
        if is_lines(path) and not str(problem).startswith("unreadable"):
            size = files.size(signature)
            return Remembered(fields(signature), self.written[records(store, path), size])
        if digest is None:
            assert problem
            return Remembered(fields(signature), None)
        return Remembered(fields(signature), self.written[digest])

    def seen(self, root: Root) -> list[bytes]:
        """Return the files that a scan can see now."""
        return [
            path
            for path in self.on_disk(root)
            if self.writable(root, path) and not self.below_denied(root, path)
        ]

    def below_denied(self, root: Root, path: bytes) -> bool:
        parts = path.split(b"/")[:-1]
        above = [b"/".join(parts[: depth + 1]) for depth in range(len(parts))]
        return any(self.path(root, each) in self.fs.denied for each in above)

    def kept(
        self,
        root: Root,
        before: dict[bytes, tuple[bytes, bytes | None, str | None]],
        *,
        prune: bool,
    ) -> set[bytes]:
        """Return the files that are not seen, but from whose absence nothing follows."""
        seen = self.seen(root)
        gone = before.keys() - set(seen)
        if prune or not seen:
            return set() if prune else set(gone)
        kept = {path for path in gone if self.below_denied(root, path)}
        lost = {path for path in gone if path.startswith(MOUNT + b"/")}
        mount = self.path(root, MOUNT)
        if lost and not any(path.startswith(MOUNT + b"/") for path in seen):
            device = self.fs.stat(mount).st_dev
            if all(fields(before[path][0])[4] != device for path in lost):
                kept |= lost
        return kept


def fresh_of(data: bytes) -> Store:
    """Return a cache of one file of records."""
    root = Root("r", "/r", Rules(gitignore=False, jsonl=True))
    seen = {b"x.jsonl": Remembered((0, 0, len(data), 1, 1), data)}
    return fresh(root, RememberedFileSystem("/r", seen, 0))


def records(store: Store, path: bytes = b"x.jsonl") -> object:
    """Return what a cache says of a file of records."""
    ((number, problem),) = store.connection.execute(
        "SELECT id, problem FROM entry WHERE path = ?", (path,)
    )
    found = store.records(number)
    return problem, frozenset((key, tuple(r.line for r in same)) for key, same in found.items())


class CoarseMachine(Machine):
    granularity = 2 * SECOND


class FineMachine(Machine):
    granularity = TICK


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "_BATCH_FILES", 2)


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(FineMachine, id="10ms"),
        pytest.param(Machine, id="1s"),
        pytest.param(CoarseMachine, id="2s"),
    ],
)
def test_incremental_equals_fresh(machine: type[Machine]) -> None:
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=30, print_blob=True))


def never(_: bytes, __: int) -> bool:
    """The guard that takes every signature for proof."""
    return False


@pytest.mark.parametrize("granularity", [TICK, SECOND, 2 * SECOND])
def test_racy_guard_sees_an_edit_in_the_tick_of_a_refresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, granularity: int
) -> None:
    def play(name: str) -> tuple[Store, Store]:
        root = make_root(tmp_path, name)
        fs = FakeFileSystem(granularity)
        path = os.path.join(os.fsencode(root.path), b"a.md")
        fs.write(path, b"alpha\n")
        store = fresh(root, fs)
        before = fs.stat(path)
        fs.write(path, b"bravo\n")
        assert files.signature(fs.stat(path)) == files.signature(before)
        fs.forward(SECOND * 3600)
        update(store, fs)
        return store, fresh(root, fs)

    assert_same(*play("guarded"))
    monkeypatch.setattr(files, "is_suspect", never)
    incremental, rebuilt = play("unguarded")
    with pytest.raises(AssertionError):
        assert_same(incremental, rebuilt)


def test_machine_finds_what_the_racy_guard_prevents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "is_suspect", never)
    unguarded = settings(
        max_examples=500,
        stateful_step_count=30,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Machine, settings=unguarded)
