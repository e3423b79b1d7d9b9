"""Damage of a cache, wherever it is met: told, remembered, repaired; a lock is none."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from cli_support import recall as run
from cli_support import valid_envelope

from index_cache import db, locks, search
from index_cache.errors import CacheBusy, RootUnavailable
from index_cache.model import Root
from index_cache.refresh import Report
from index_cache.store import Store
from recall import Recall, caches, failures

if TYPE_CHECKING:
    from collections.abc import Callable

    from index_cache.search import Statistics
    from recall.searching import Answer

NAMES = ("one", "two", "three")
QUERY = "kestrel word3"
QUOTED = "hunter2"


class Place:
    """Three roots of notes under one directory, with their caches and the state beside them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for name in NAMES:
            (top / name).mkdir()
            for number in range(30):
                (top / name / f"{number}.md").write_text(
                    f"# Note {number} of {name}\n\nkestrel word{number} {'padding ' * 40}\n"
                )
        home = Path(os.environ["HOME"])
        self.cache = home / ".cache" / "recall"
        self.state = home / ".local" / "state" / "recall"
        self.record = self.state / "failures.json"

    def recall(self, *names: str) -> Recall:
        return Recall([self.top / name for name in names or NAMES])

    def ask(self, *names: str, refresh: bool = True, wait: float = 30.0) -> Answer:
        with self.recall(*names) as recall:
            return recall.answer(QUERY, refresh=refresh, wait=wait)

    def file(self, name: str) -> Path:
        (found,) = self.cache.glob(f"{name}-*.db")
        return found

    def damage_of(self, name: str) -> Any:
        """Return what is remembered of a root's cache, as ``recall status --json`` has it."""
        done = run("status", "--json", "--root", str(self.top / name), cwd=self.top)
        return done.data()["roots"][0]["last_damage"]

    def remembered(self) -> list[dict[str, object]]:
        known = failures.read(str(self.state)).values()
        return [each["damage"] for each in known if "damage" in each]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.ask()
    return place


def shown(answer: Answer) -> list[tuple[str, str, float]]:
    return [(card.root, card.path, card.score) for card in answer.cards]


def edit(file: Path, *statements: str) -> None:
    """Change a cache as the program itself would, so that no page's checksum is wrong."""
    connection, _ = db.connect(str(file))
    with closing(connection):
        for statement in statements:
            connection.execute(statement)


def lose_a_table(file: Path) -> None:
    edit(file, "DROP TABLE document")


def tear_the_postings(file: Path) -> None:
    """Leave everything readable but what a search looks up."""
    edit(file, "UPDATE fts_data SET block = x'00000000ff' WHERE id > 10")


def cut(file: Path) -> None:
    os.truncate(file, 5000)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def overwrite(file: Path) -> None:
    file.write_bytes(b"this is no database" * 1000)


def zero_the_middle(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[4096 : len(data) // 2] = bytes(len(data) // 2 - 4096)
    file.write_bytes(data)


DAMAGE = pytest.mark.parametrize(
    "damage", [lose_a_table, tear_the_postings, cut, empty, overwrite, zero_the_middle]
)


def bad_search(monkeypatch: pytest.MonkeyPatch, bad: Path, times: int = 1000) -> list[str]:
    """Let searches find damage in a cache file whatever is in it; return what they asked."""
    asked: list[str] = []
    real = search.statistics

    def statistics(store: Store, terms: Any) -> Statistics:
        if store.path is not None:
            asked.append(store.path)
        if store.path == str(bad) and asked.count(str(bad)) <= times:
            raise db.Damaged("page 7 belies its checksum", store.path)
        return real(store, terms)

    monkeypatch.setattr(search, "statistics", statistics)
    return asked


# -- met by a search


@DAMAGE
@pytest.mark.parametrize("refresh", [True, False])
def test_C4_damage_is_repaired_told_and_remembered(
    damage: Callable[[Path], None], refresh: bool, place: Place
) -> None:
    before = shown(place.ask())
    damage(place.file("two"))
    answer = place.ask(refresh=refresh)
    assert shown(answer) == before
    one, two, three = answer.reports
    assert (one.damage, three.damage, one.notices, three.notices) == (None, None, (), ())
    assert two.damage
    assert two.failure is None
    assert two.notices == (f"its cache was damaged ({two.damage}) and has been made anew",)
    (kept,) = place.remembered()
    assert (kept["message"], kept["count"], kept["repaired"]) == (two.damage, 1, True)
    with closing(apsw.Connection(str(place.file("two")))) as connection:
        assert connection.pragma("integrity_check") == "ok"
    again = place.ask(refresh=refresh)
    assert shown(again) == before
    assert [report.damage for report in again.reports] == [None] * 3


def test_C4_two_damaged_roots_of_three_are_both_repaired(place: Place) -> None:
    before = shown(place.ask())
    sound = place.file("two").stat().st_ino
    for name in ("one", "three"):
        tear_the_postings(place.file(name))
    answer = place.ask()
    assert shown(answer) == before
    assert [report.damage is not None for report in answer.reports] == [True, False, True]
    assert place.file("two").stat().st_ino == sound
    assert len(place.remembered()) == 2


def test_C4_only_the_file_that_is_named_is_made_anew(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a look at every page of all files."""
    monkeypatch.setattr("recall.opened.OpenRoot.fault", pytest.fail)
    asked = bad_search(monkeypatch, place.file("two"))
    files = {name: place.file(name).stat().st_ino for name in ("one", "three")}
    answer = place.ask()
    assert [report.damage is not None for report in answer.reports] == [False, True, False]
    assert {name: place.file(name).stat().st_ino for name in files} == files
    assert asked


def test_C4_a_search_of_the_library_is_repaired_too(place: Place) -> None:
    with place.recall() as recall:
        before = [(card.path, card.score) for card in recall.search(QUERY)]
        tear_the_postings(place.file("one"))
        assert [(card.path, card.score) for card in recall.search(QUERY)] == before


def test_C4_damage_that_comes_back_is_answered_from_memory(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(place.ask())
    file = place.file("two")
    with monkeypatch.context() as bad:
        asked = bad_search(bad, file)
        answer = place.ask()
    assert shown(answer) == before
    assert asked.count(str(file)) == 2
    report = answer.reports[1]
    assert (report.failure, report.cache_file) == (None, None)
    damaged, memory = report.notices
    why = "page 7 belies its checksum"
    assert damaged == f"its cache was damaged ({why}) and could not be made anew"
    assert memory.startswith(f"no cache can be kept in {place.cache}: it is damaged as soon as ")
    assert not file.exists()
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, False)
    place.ask()
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, True)


@pytest.mark.parametrize("insist", [True, False])
def test_C4_damage_that_comes_back_in_a_refresh_ends_in_memory(
    insist: bool, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Store.signatures
    tried: list[str] = []

    def signatures(store: Store) -> dict[bytes, bytes]:
        if store.path is not None and "two-" in store.path:
            tried.append(store.path)
            raise apsw.CorruptError("database disk image is malformed")
        return real(store)

    monkeypatch.setattr(Store, "signatures", signatures)
    with place.recall() as recall:
        reports = recall.refresh() if insist else recall.answer(QUERY).reports
    assert len(tried) == 2
    assert [report.documents for report in reports] == [30] * 3
    assert [report.cache_file is None for report in reports] == [False, True, False]
    assert reports[1].damage == "database disk image is malformed"


def test_C4_trouble_that_is_in_no_file_is_not_blamed_on_one(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {name: place.file(name).stat().st_ino for name in NAMES}

    def fail(*_: object) -> None:
        raise db.Damaged("our own fault")

    monkeypatch.setattr(search, "count", fail)
    with pytest.raises(db.Damaged):
        place.ask()
    assert {name: place.file(name).stat().st_ino for name in NAMES} == files
    assert not place.record.exists()


@pytest.mark.parametrize(
    ("trouble", "told"),
    [(apsw.BusyError("locked"), CacheBusy), (apsw.IOError("disk I/O error"), RootUnavailable)],
)
def test_C1_trouble_in_a_search_is_told_and_is_no_damage(
    trouble: apsw.Error, told: type[Exception], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise trouble

    monkeypatch.setattr(search, "count", fail)
    with pytest.raises(told):
        place.ask()
    assert not place.record.exists()


def test_C1_a_file_that_another_process_has_replaced_is_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place.file("two")
    real = search.statistics
    theirs: list[int] = []

    def statistics(store: Store, terms: Any) -> Statistics:
        if store.path == str(file) and not theirs:
            db.discard(str(file))
            theirs.append(0)
            with place.recall("two") as other:
                other.refresh()
            theirs[0] = file.stat().st_ino
            raise db.Damaged("database disk image is malformed", store.path)
        return real(store, terms)

    monkeypatch.setattr(search, "statistics", statistics)
    answer = place.ask()
    assert answer.reports[1].cache_file == str(file)
    assert not answer.reports[1].built
    assert file.stat().st_ino == theirs[0]


def test_C1_a_repair_waits_for_the_writer_and_costs_only_its_root(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place.file("two")
    bad_search(monkeypatch, file, times=2)
    before = file.stat().st_ino
    with locks.WriterLock(str(file)) as lock:
        assert lock.acquire(0)
        answer = place.ask(wait=0)
    assert isinstance(answer.reports[1].failure, CacheBusy)
    assert {card.root for card in answer.cards} == {"one", "three"}
    assert file.stat().st_ino == before
    (kept,) = place.remembered()
    assert kept["repaired"] is False
    answer = place.ask()
    assert {card.root for card in answer.cards} == set(NAMES)
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, True)


def test_C5_a_damaged_file_that_can_not_be_deleted_is_answered_from_memory(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(place.ask())
    file = place.file("two")

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    for damage in (tear_the_postings, overwrite):
        damage(file)
        for _ in range(2):
            with monkeypatch.context() as bad:
                bad.setattr(db, "discard", refuse)
                answer = place.ask()
            assert shown(answer) == before
            report = answer.reports[1]
            assert (report.failure, report.cache_file) == (None, None)
            assert "Permission denied" in report.notices[1]
        (kept,) = place.remembered()
        assert (kept["count"], kept["repaired"]) == (1, False)
        place.ask()
        assert place.remembered()[0]["repaired"] is True
        place.record.unlink()


# -- what is no damage


def test_C1_locked_is_not_damage(place: Place) -> None:
    file = place.file("two")
    before = file.stat().st_ino
    with closing(apsw.Connection(str(file))) as other:
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE meta SET value = value")
        answer = place.ask(wait=0)
        with place.recall() as recall:
            states = recall.status()
        done = run("status", "--root", str(place.top / "two"))
        other.execute("COMMIT")
    assert {card.root for card in answer.cards} == {"one", "three"}
    assert isinstance(answer.reports[1].failure, CacheBusy)
    assert [state.damage for state in states] == [None] * 3
    assert (done.status, "its cache can't be read now: " in done.stderr) == (0, True)
    assert "not indexed yet" not in done.stdout
    assert file.stat().st_ino == before
    assert place.remembered() == []


def test_C8_no_hits_and_a_healthy_search_write_no_record(place: Place) -> None:
    with place.recall() as recall:
        assert recall.answer("zzyzx").total == 0
        assert recall.answer(QUERY, refresh=False).cards
        recall.refresh()
        assert [state.damage for state in recall.status()] == [None] * 3
    assert not place.state.exists()


# -- the other commands


def test_C4_refresh_repairs_and_says_so(place: Place) -> None:
    lose_a_table(place.file("two"))
    done = run("refresh", "--root", str(place.top / "two"))
    assert (done.status, done.stdout[:36]) == (0, "two: 30 notes: 30 added, 0 changed, ")
    (why,) = [kept["message"] for kept in place.remembered()]
    assert done.stderr == (f"warning: two: its cache was damaged ({why}) and has been made anew\n")
    lose_a_table(place.file("two"))
    data = run("refresh", "--json", "--root", str(place.top / "two")).data()
    assert [notice["message"][:26] for notice in data["notices"]] == ["two: its cache was damaged"]


def test_C4_search_says_what_it_repaired(place: Place) -> None:
    lose_a_table(place.file("two"))
    done = run("search", "--no-refresh", "--root", str(place.top / "two"), "-k", "1", "word7")
    assert (done.status, done.stdout.splitlines()[0]) == (0, "1. Note 7 of two")
    (why,) = [kept["message"] for kept in place.remembered()]
    assert done.stderr == (f"warning: two: its cache was damaged ({why}) and has been made anew\n")


def test_H6_status_shows_the_last_damage_for_good(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    lose_a_table(place.file("two"))
    place.ask()
    place.ask()
    first = place.damage_of("two")
    (why,) = [kept["message"] for kept in place.remembered()]
    assert (first["message"], first["count"], first["repaired"]) == (why, 1, True)
    assert first["when"] == first["since"]
    clock = first["when"].replace("T", " ").rstrip("Z")
    done = run("status", "--root", str(place.top / "two"))
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.endswith(f"  last damage: {clock}; {why}; repaired\n")
    assert place.damage_of("one") is None
    lose_a_table(place.file("two"))
    place.ask()
    assert place.damage_of("two")["count"] == 2
    done = run("status", "--root", str(place.top / "two"))
    assert f"; 2 times since {clock}; repaired\n" in done.stdout


@DAMAGE
def test_C4_status_sets_a_damaged_cache_aside(
    damage: Callable[[Path], None], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    if damage is tear_the_postings:
        return  # nothing that status reads
    monkeypatch.setenv("TZ", "UTC")
    damage(place.file("two"))
    root = place.top / "two"
    done = run("status", "--root", str(root))
    assert not list(place.cache.glob("two-*.db"))
    (kept,) = place.remembered()
    why, when = kept["message"], kept["when"]
    assert isinstance(when, float)
    said = f"its cache is damaged ({why}) and has been deleted; the next search makes it anew"
    assert done.status == 0
    assert done.stderr == f"warning: two: {said}\nhint: recall refresh\n"
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"two: {root}", f"  {said}"]
    assert lines[2].startswith("  last damage: ")
    assert lines[2].endswith(f"; {why}; recall rebuild repairs it")
    assert len(lines) == 3
    again = run("status", "--json", "--root", str(root)).data()
    assert again["notices"] == []
    (state,) = again["roots"]
    assert (state["built"], state["last_failure"]) == (False, None)
    assert (state["last_damage"]["count"], state["last_damage"]["repaired"]) == (1, False)
    place.ask(refresh=False)
    assert place.damage_of("two")["repaired"] is True


def test_C4_status_in_json_says_what_it_set_aside(place: Place) -> None:
    cut(place.file("two"))
    data = run("status", "--json", "--root", str(place.top / "two")).data()
    (notice,) = data["notices"]
    assert "has been deleted" in notice["message"]
    assert data["roots"][0]["last_damage"]["repaired"] is False


def test_C5_status_says_of_a_damaged_cache_that_it_can_not_be_deleted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place.file("two")
    lose_a_table(file)
    with locks.WriterLock(str(file)) as lock, place.recall() as recall:
        assert lock.acquire(0)
        state = recall.status()[1]
    assert state.damage
    assert state.kept == "another process is writing it"

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(db, "discard", refuse)
    with place.recall() as recall:
        state = recall.status()[1]
    assert state.damage
    assert state.kept == "Permission denied"
    assert file.exists()
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, False)


def test_C4_what_rebuild_finds_damaged_is_remembered(place: Place) -> None:
    arguments = ["--root", str(place.top / "two")]
    lose_a_table(place.file("two"))
    assert run("rebuild", "--check", *arguments).status == 2
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, False)
    assert run("rebuild", *arguments).status == 0
    (kept,) = place.remembered()
    assert (kept["count"], kept["repaired"]) == (1, True)
    # What status has set aside, rebuild makes anew.
    lose_a_table(place.file("two"))
    run("status", *arguments)
    assert place.remembered()[0]["repaired"] is False
    run("rebuild", *arguments)
    assert (place.remembered()[0]["count"], place.remembered()[0]["repaired"]) == (2, True)


LIKE_OURS = f"-{'0' * 16}-{'0' * 16}.db"  # how names of caches end


@DAMAGE
def test_C4_caches_are_listed_and_pruned_whatever_is_in_them(
    damage: Callable[[Path], None], place: Place
) -> None:
    damage(place.file("two"))
    odd = os.path.join(os.fsencode(place.cache), b"caf\xe9" + LIKE_OURS.encode())
    with open(odd, "wb") as stream:
        stream.write(b"x")
    os.mkfifo(place.cache / f"fifo{LIKE_OURS}")
    (place.cache / f"link{LIKE_OURS}").symlink_to("/dev/zero")
    listed = run("cache", "list")
    assert (listed.status, listed.stderr, listed.stdout.count("last used")) == (0, "", 6)
    assert run("cache", "list", "--json").status == 0
    pruned = run("cache", "prune", "--all")
    assert (pruned.status, pruned.stderr) == (0, "")
    assert pruned.stdout.startswith("deleted 6 cache files, ")
    assert not list(place.cache.glob("*.db"))


def test_a_file_that_can_not_be_deleted_stops_neither_the_others_nor_a_refresh(
    place: Place,
) -> None:
    name = f"a{LIKE_OURS}"
    (place.cache / name / "something").mkdir(parents=True)
    with place.recall() as recall:
        assert [report.failure for report in recall.refresh()] == [None] * 3
    done = run("cache", "prune", "--all")
    assert done.status == 6
    assert done.stderr.startswith("error: the cache can't be deleted: ")
    assert [path.name for path in place.cache.glob("*.db")] == [name]
    assert caches.list_caches(str(place.cache))[0].root_path is None


# -- the record


GARBAGE = [
    b"",
    b"\xff\xfe",
    b"[" * 100_000,
    b"[]",
    b"7",
    b'{"a": 1, "b": {"damage": 3, "failure": []}}',
    b'{"a": {"damage": {"message": 1}}, "b": {"failure": {"when": NaN}}}',
    b"x" * (2 * 1024 * 1024),
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_a_record_of_anything_costs_nothing(garbage: bytes, place: Place) -> None:
    place.state.mkdir(parents=True, mode=0o700)
    place.record.write_bytes(garbage)
    place.record.chmod(0o600)
    assert place.damage_of("two") is None
    lose_a_table(place.file("two"))
    assert len(place.ask().cards) == 3
    assert place.damage_of("two")["count"] == 1
    assert stat.S_IMODE(place.record.stat().st_mode) == 0o600


def test_values_of_any_kind_in_the_record_are_still_valid_json(place: Place) -> None:
    lose_a_table(place.file("two"))
    place.ask()
    (name,) = failures.read(str(place.state))
    for value in ("1e999", "NaN", "-1", "true", '"x"', "[]", "null", "1e300", '"\\ud800"'):
        fields = ", ".join(f'"{key}": {value}' for key in ("when", "since", "count", "repaired"))
        text = f'"message": "m", "where": {value}, "hint": {value}'
        place.record.write_text(
            f'{{"{name}": {{"damage": {{"message": "m", {fields}}},'
            f' "failure": {{{text}, "when": {value}}}}}}}'
        )
        damage = place.damage_of("two")
        assert (damage["message"], damage["count"]) == ("m", 1)
        assert run("status", "--root", str(place.top / "two")).status == 0


def test_a_record_in_a_foreign_place_is_neither_read_nor_written(
    place: Place, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    place.state.mkdir(parents=True)
    place.record.symlink_to(other)
    lose_a_table(place.file("two"))
    assert place.ask().reports[1].damage
    assert other.read_text() == "{}"
    assert place.damage_of("two")["count"] == 1


def test_without_a_place_for_the_record_the_answer_is_the_same(place: Place) -> None:
    place.state.parent.mkdir(parents=True)
    place.state.write_text("in the way")
    lose_a_table(place.file("two"))
    answer = place.ask()
    assert answer.reports[1].damage
    assert len({card.root for card in answer.cards}) == 3
    lose_a_table(place.file("two"))
    # What status finds itself it shows all the same.
    assert place.damage_of("two")["count"] == 1
    assert place.state.read_text() == "in the way"


def test_failures_are_forgotten_and_damage_is_not(place: Place) -> None:
    lose_a_table(place.file("two"))
    place.ask()
    with place.recall() as recall:
        (place.top / "two").rename(place.top / "away")
        recall._opened[1].close()
        recall.refresh()
        failed = recall.status()[1]
        (place.top / "away").rename(place.top / "two")
        recall.refresh()
        well = recall.status()[1]
    assert failed.last_failure is not None
    assert failed.last_damage is not None
    assert well.last_failure is None
    assert well.last_damage == failed.last_damage


def test_a_damaged_file_that_was_kept_is_repaired_only_when_it_is_made_anew(
    place: Place,
) -> None:
    """Until then a search may answer well from the parts that are not damaged."""
    root = Root("two", str(place.top / "two"))
    state = str(place.state)
    for kept in (True, False):
        failures.found(state, {db.identity(root): ("malformed", kept)})
        report = Report(root, str(place.file("two")))
        failures.record(state, [report])
        assert place.remembered()[0]["repaired"] is not kept
        report.built = True
        failures.record(state, [report])
        assert place.remembered()[0]["repaired"] is True


def note_often(state: str, root: Root, times: int) -> None:
    for _ in range(times):
        report = Report(root)
        report.damage = "malformed"
        failures.record(state, [report])


def test_records_of_processes_at_once_are_whole_at_any_moment(
    place: Place, long_count: Callable[[int], int]
) -> None:
    times = long_count(200)
    roots = [Root(name, str(place.top / name)) for name in NAMES]
    fork = multiprocessing.get_context("fork")
    workers = [
        fork.Process(target=note_often, args=(str(place.state), root, times)) for root in roots
    ]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        if place.record.exists():
            assert json.loads(place.record.read_bytes())
        workers[0].join(0.005)
    assert [worker.exitcode for worker in workers] == [0] * 3
    assert place.remembered()
    assert os.listdir(place.state) == ["failures.json"]


# -- S3: what is private stays where it is


def schema_of_notes(file: Path) -> None:
    """Make SQLite quote text of the file in what it says."""
    edit(
        file,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_schema SET sql = 'CREATE {QUOTED}', name = '{QUOTED}'",  # noqa: S608
    )


def test_S3_what_is_said_of_damage_quotes_nothing_of_the_file(place: Place) -> None:
    file = place.file("two")
    schema_of_notes(file)
    with pytest.raises(apsw.Error, match=QUOTED):
        edit(file, "SELECT 1 FROM meta")
    done = run("search", "--json", "--root", str(place.top / "two"), "word7")
    assert "its cache was damaged (malformed database schema) and" in done.stdout
    assert QUOTED not in done.stdout + place.record.read_text()
    bad = b"caf\xe9 " + QUOTED.encode()
    with pytest.raises(UnicodeDecodeError) as caught:
        bad.decode()
    assert db.reason(caught.value) == "a text in it is no UTF-8"
    wrapped = db.Damaged(str(caught.value), "x.db")
    wrapped.__cause__ = caught.value
    assert db.reason(wrapped) == "a text in it is no UTF-8"
    assert db.reason(db.Damaged("it is empty (in our words)")) == "it is empty (in our words)"
    assert db.reason(apsw.IOError("not an error")) == "disk I/O error"


def test_the_envelope_of_every_command_is_valid_after_damage(place: Place) -> None:
    arguments = ["--root", str(place.top / "two"), "--json"]
    for command in (["search", "word7"], ["refresh"], ["status"], ["refresh", "--prune"]):
        zero_the_middle(place.file("two"))
        envelope = valid_envelope(run(*command, *arguments).raw)
        assert envelope["ok"]
        assert json.dumps(envelope["data"]["notices"]).count("damaged") == 1
        place.ask()
