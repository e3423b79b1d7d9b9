"""The commands over a service that does as it is told: answers, failures and interruptions."""

from __future__ import annotations

import io
import re
import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import pytest
from cli_support import SCHEMAS, check, valid_envelope

import index_cache.errors
from index_cache.errors import CacheBusy, InvalidInput, RecallError, RootUnavailable
from index_cache.model import Root, Skipped
from recall.card import Card
from recall.cli import main
from recall.cli.common import Progress, pace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SPEC = SCHEMAS.parent
ERRORS = [
    value
    for value in vars(index_cache.errors).values()
    if isinstance(value, type) and issubclass(value, RecallError)
]


def table() -> dict[str, int]:
    page = (SPEC / "exit-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", page, re.MULTILINE)
    return {code: int(status) for status, codes in rows for code in codes.split(", ") if code}


def a_card(**fields: Any) -> Card:
    base: dict[str, Any] = {
        "id": "n:a.md",
        "root": "n",
        "path": "a.md",
        "abs_path": "/n/a.md",
        "title": "Alpha",
        "type": "",
        "tier": "unverified",
        "modified": "2026-01-01",
        "stale": None,
        "summary": "About alpha.",
        "score": 1.0,
    }
    return Card(**{**base, **fields})


def a_report(name: str = "n", **fields: Any) -> SimpleNamespace:
    base: dict[str, Any] = {
        "root": Root(name, f"/{name}"),
        "cache_file": "/c/n.db",
        "added": 1,
        "changed": 0,
        "removed": 0,
        "unchanged": 2,
        "documents": 3,
        "skipped": (),
        "unavailable": (),
        "withheld": 0,
        "notices": (),
        "seconds": 0.01,
        "busy": False,
        "built": False,
        "failure": None,
    }
    return SimpleNamespace(**{**base, **fields})


class Service:
    """What the commands call, in place of the real one."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.cards: list[Card] = []
        self.total = 0
        self.reports: list[SimpleNamespace] = []
        self.notices: list[str] = []
        self.raises: BaseException | None = None

    def _called(self, **values: Any) -> None:
        self.calls.append(values)
        if self.raises is not None:
            raise self.raises

    def answer(self, query: str, **options: Any) -> SimpleNamespace:
        self._called(query=query, **options)
        return SimpleNamespace(
            query=query,
            total=self.total or len(self.cards),
            not_valid=0,
            cards=self.cards,
            reports=self.reports,
            notices=self.notices,
            operators=None,
        )

    def refresh(self, **options: Any) -> list[SimpleNamespace]:
        self._called(**options)
        return self.reports

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Service:
    fake = Service()
    module = ModuleType("recall.service")
    module.Recall = lambda *_, **__: fake  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "recall.service", module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_ROOTS", f"n={tmp_path}")
    return fake


Run = SimpleNamespace


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Run]:
    def runner(*arguments: str) -> Run:
        status = main(arguments)
        out, err = capfdbinary.readouterr()
        return Run(status=status, raw=out, out=out.decode(), err=err.decode())

    return runner


def test_the_table_of_the_spec_holds_for_every_error() -> None:
    documented = table()
    assert {error.code: error.exit_status for error in ERRORS}.items() <= documented.items()
    check_codes = re.findall(r'"(\w+)"', (SCHEMAS / "error.json").read_text(encoding="utf-8"))
    assert set(documented) <= set(check_codes)


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_an_envelope_and_a_status(
    error: type[RecallError], service: Service, run: Callable[..., Run]
) -> None:
    service.raises = error("it broke\x1b[2J", where="/n/a.md:3", hint="mend it")
    done = run("search", "--json", "x")
    envelope = valid_envelope(done.raw)
    assert done.status == table()[error.code]
    assert envelope["error"]["code"] == error.code
    assert (envelope["command"], envelope["data"], done.err) == ("search", None, "")
    told = run("search", "x")
    assert told.status == done.status
    assert told.out == ""
    assert told.err == "error: it broke\\x1b[2J\nwhere: /n/a.md:3\nhint: mend it\n"


def test_search_answers_in_text(service: Service, run: Callable[..., Run]) -> None:
    service.cards = [a_card()]
    service.total = 4
    done = run("search", "what", "is", "alpha")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        "1. Alpha\n   unverified · 2026-01-01 · /n/a.md\n   > About alpha.\n3 more: raise -k\n"
    )
    assert service.calls[0]["query"] == "what is alpha"


def test_search_hands_its_options_on(service: Service, run: Callable[..., Run]) -> None:
    options = "--type A --type B --include journal --under sub --explain --no-refresh --wait 1.5"
    run("search", "x", "-k", "3", "--recency", "0.5", *options.split())
    call = service.calls[0]
    assert (call["k"], call["types"], call["under"]) == (3, ["A", "B"], "sub")
    assert (call["include_journal"], call["explain"], call["refresh"]) == (True, True, False)
    assert (call["wait"], call["recency"]) == (1.5, 0.5)
    run("search", "x")
    call = service.calls[1]
    assert (call["k"], call["types"], call["under"], call["wait"]) == (10, None, None, 30.0)
    assert (call["include_journal"], call["explain"], call["refresh"]) == (False, False, True)
    assert call["recency"] == 0


@pytest.mark.parametrize("weight", ["-0.1", "inf", "nan", "much"])
def test_a_recency_that_is_no_weight_is_refused(
    service: Service, run: Callable[..., Run], weight: str
) -> None:
    done = run("search", "x", "--recency", weight)
    assert done.status == 4
    assert "--recency" in done.err
    assert service.calls == []


def test_settings_of_the_configuration_are_the_defaults(
    service: Service, run: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / ".recall.toml").write_text(
        '[roots]\nn = "."\n[search]\nk = 2\nwait = 4\ninclude_journal = true\nbudget = 256\n'
    )
    service.cards = [a_card(summary="long " * 20), a_card(), a_card()]
    done = run("search", "x")
    call = service.calls[0]
    assert (call["k"], call["wait"], call["include_journal"]) == (2, 4, True)
    assert len(done.out.encode()) <= 256
    assert done.out.endswith("more: raise --budget\n")


def test_no_hits_is_silence_and_success(service: Service, run: Callable[..., Run]) -> None:
    done = run("search", "nothing")
    assert (done.status, done.out, done.err) == (0, "", "")
    data = valid_envelope(run("search", "nothing", "--json").raw)["data"]
    assert (data["items"], data["total"]) == ([], 0)
    assert len(service.calls) == 2


def test_search_in_json_keeps_every_field_and_the_budget(
    service: Service, run: Callable[..., Run]
) -> None:
    service.cards = [a_card(title=f"T{n}", explain={"terms": ["x"]}) for n in range(9)]
    service.reports = [a_report(skipped=(Skipped(b"b\xff.md", "not text"),))]
    whole = valid_envelope(run("search", "x", "--json").raw)["data"]
    assert len(whole["items"]) == 9
    assert whole["omitted"] == 0
    assert whole["roots"][0]["skipped"] == 1
    part = valid_envelope(run("search", "x", "--json", "--budget", "900").raw)["data"]
    assert 0 < len(part["items"]) < 9
    assert part["items"] == whole["items"][: len(part["items"])]
    assert part["omitted"] == 9 - len(part["items"])


def test_a_root_that_fails_costs_its_own_notes_only(
    service: Service, run: Callable[..., Run]
) -> None:
    failure = RootUnavailable("its directory is gone", hint="mount it")
    service.reports = [a_report("n"), a_report("m", failure=failure)]
    service.cards = [a_card()]
    done = run("search", "x")
    assert done.status == 0
    assert done.out.startswith("1. Alpha\n")
    assert done.err == "warning: m: its directory is gone\nhint: mount it\n"
    data = valid_envelope(run("search", "x", "--json").raw)["data"]
    assert data["notices"] == [{"message": "m: its directory is gone", "hint": "mount it"}]
    assert data["roots"][1]["error"]["code"] == "root_unavailable"


def test_silence_is_no_answer_when_every_root_failed(
    service: Service, run: Callable[..., Run]
) -> None:
    service.reports = [a_report(failure=CacheBusy("another process is building it"))]
    done = run("search", "x")
    assert (done.status, done.out) == (6, "")
    assert done.err == "error: another process is building it\n"
    envelope = valid_envelope(run("search", "x", "--json").raw)
    assert envelope["error"]["code"] == "cache_busy"
    assert envelope["data"]["items"] == []


def test_refresh_says_what_it_did(service: Service, run: Callable[..., Run]) -> None:
    service.reports = [
        a_report(
            skipped=(Skipped(b"x\n.md", "not text"), Skipped(b"y.md", "not text")),
            unavailable=(Skipped(b"sub", "permission denied"),),
        ),
        a_report("m", busy=True),
    ]
    done = run("refresh", "--prune", "--compact", "--wait", "2")
    assert done.status == 0
    assert done.out == (
        "n: 3 notes: 1 added, 0 changed, 0 removed, 2 unchanged, 2 skipped in 0.01 s\n"
        "  skipped 2: not text\n"
        "  kept as it was: sub: permission denied\n"
        "m: another process is refreshing it; 3 notes\n"
    )
    call = service.calls[0]
    assert (call["prune"], call["compact"], call["wait"]) == (True, True, 2.0)
    data = valid_envelope(run("refresh", "--json").raw)["data"]
    assert data["roots"][0]["skipped"][0] == {"path": "x\n.md", "reason": "not text"}
    assert run("refresh", "--quiet").out == ""


def test_refresh_ends_with_the_first_failure_and_reports_the_rest(
    service: Service, run: Callable[..., Run]
) -> None:
    service.reports = [a_report("m", failure=RootUnavailable("gone")), a_report()]
    done = run("refresh", "--quiet")
    assert (done.status, done.out, done.err) == (6, "", "error: gone\n")
    envelope = valid_envelope(run("refresh", "--json").raw)
    assert [root["name"] for root in envelope["data"]["roots"]] == ["m", "n"]
    assert envelope["error"]["message"] == "gone"


def test_refresh_fails_for_a_missing_root_after_refreshing_the_others(
    service: Service,
    run: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    gone, lost = tmp_path / "gone", tmp_path / "lost"
    monkeypatch.setenv("RECALL_ROOTS", f"n={tmp_path}:gone={gone}:lost={lost}")
    service.reports = [a_report()]
    done = run("refresh")
    assert (done.status, len(service.calls)) == (6, 1)
    assert done.out.startswith("n: 3 notes: ")
    said = [line for line in done.err.splitlines() if not line.startswith("hint: ")]
    assert said == [
        f'warning: root "lost" is left out: {lost} does not exist',
        f'error: root "gone" is left out: {gone} does not exist',
    ]
    envelope = valid_envelope(run("refresh", "--json").raw)
    assert envelope["error"]["code"] == "root_unavailable"
    assert [root["name"] for root in envelope["data"]["roots"]] == ["n"]
    assert len(envelope["data"]["notices"]) == 1
    service.reports = [a_report(failure=CacheBusy("busy"))]
    done = run("refresh", "--quiet")
    assert done.err.splitlines()[-1] == "error: busy"
    assert done.err.count("warning: ") == 2
    assert run("refresh", "--root", "n", "--quiet").err == "error: busy\n"


def test_a_root_that_is_not_trusted_is_no_failure_of_refresh(
    service: Service, run: Callable[..., Run], tmp_path: Path
) -> None:
    (tmp_path / ".recall.toml").write_text('[roots]\nn = "."\nout = "/"\n')
    service.reports = [a_report()]
    done = run("refresh", "--quiet")
    assert (done.status, done.out) == (0, "")
    assert done.err.startswith("warning: ")


@pytest.mark.parametrize("command", [["search", "x"], ["refresh", "--quiet"]])
def test_what_could_not_be_looked_at_is_said_once_for_each_root(
    service: Service, run: Callable[..., Run], command: list[str]
) -> None:
    service.reports = [
        a_report(unavailable=(Skipped(b"sub/", "denied"), Skipped(b"x.md", "denied"))),
        a_report("m", unavailable=(Skipped(b"", "the root shows no notes"),)),
        a_report("o"),
    ]
    done = run(*command)
    assert (done.status, done.out) == (0, "")
    assert done.err == (
        "warning: n: 2 directories or files could not be looked at, the first: sub/: denied\n"
        "hint: recall status --skipped\n"
        "warning: m: 1 directory or file could not be looked at: .: the root shows no notes\n"
        "hint: recall status --skipped\n"
    )
    done = run(*command, "--json")
    assert done.err == ""
    assert len(valid_envelope(done.raw)["data"]["notices"]) == 2


def test_the_root_itself_is_shown_as_a_dot(service: Service, run: Callable[..., Run]) -> None:
    service.reports = [a_report(unavailable=(Skipped(b"", "the root shows no notes"),))]
    assert "\n  kept as it was: .: the root shows no notes\n" in run("refresh").out
    data = valid_envelope(run("refresh", "--json").raw)["data"]
    assert data["roots"][0]["unavailable"][0]["path"] == "."


def test_notices_are_said_once_on_stderr_or_in_the_data(
    service: Service, run: Callable[..., Run]
) -> None:
    service.notices = ["git is missing", "git is missing"]
    assert run("search", "x").err == "warning: git is missing\n"
    done = run("search", "x", "--json")
    assert done.err == ""
    assert valid_envelope(done.raw)["data"]["notices"] == [
        {"message": "git is missing", "hint": None}
    ]


def test_a_fault_of_ours_is_one_line(
    service: Service, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    service.raises = ZeroDivisionError("by\nzero")
    done = run("search", "x")
    assert (done.status, done.out) == (1, "")
    error, hint = done.err.splitlines()
    assert error == "error: a fault in recall itself: ZeroDivisionError: by\\nzero"
    assert "RECALL_DEBUG=1" in hint
    assert valid_envelope(run("search", "--json", "x").raw)["error"]["code"] == "internal_error"
    monkeypatch.setenv("RECALL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["search", "x"])


def test_too_little_memory_is_no_fault_of_ours(service: Service, run: Callable[..., Run]) -> None:
    service.raises = MemoryError()
    done = run("search", "x")
    assert (done.status, done.out) == (6, "")
    assert done.err.splitlines()[0] == "error: there is not enough memory"
    assert valid_envelope(run("search", "--json", "x").raw)["error"]["code"] == "root_unavailable"


def test_an_interruption_is_130_and_silent(service: Service, run: Callable[..., Run]) -> None:
    service.raises = KeyboardInterrupt()
    done = run("search", "x")
    assert (done.status, done.out, done.err) == (130, "", "")


def test_a_file_name_that_is_no_utf8_stays_valid_json(
    service: Service, run: Callable[..., Run]
) -> None:
    service.cards = [a_card(title="\x9b31m\u202e", summary="\udcff\ud800")]
    item = valid_envelope(run("search", "x", "--json").raw)["data"]["items"][0]
    assert (item["title"], item["summary"]) == ("\x9b31m\u202e", "\\xff\ufffd")


def test_progress_waits_for_a_second_and_cleans_up() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = Progress(stream, clock=lambda: now[0])
    progress("n", 1, 10)
    progress.close()
    assert stream.getvalue() == ""
    now[0] = 1.5
    progress("n\x1b[2J", 5, 10)
    progress("n", 6, 10)
    told = "indexing n\\x1b[2J: 5 of 10 files, 3 a second, 2 s left"
    assert stream.getvalue() == f"\r\x1b[K{told}"
    progress.close()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_the_rate_is_that_of_the_root_at_hand() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = Progress(stream, clock=lambda: now[0])
    now[0] = 100.0
    progress("a", 1_000, 1_000)
    now[0] = 102.0
    progress("b", 1_000, 101_000)
    assert stream.getvalue().endswith("b: 1,000 of 101,000 files, 500 a second, 3 min left")
    assert pace(0, 10, 1.0) == pace(5, 10, 0.0) == ""


def test_the_schemas_are_schemas_and_refuse_what_is_wrong() -> None:
    import json

    from jsonschema import Draft202012Validator, ValidationError

    for path in SCHEMAS.glob("*.json"):
        Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))
    good = {"schema": "recall/v1", "ok": True, "command": "search", "data": {}, "error": None}
    check(good, "envelope.json")
    for change in ({"more": 1}, {"ok": False}, {"data": None}, {"schema": "v0"}):
        with pytest.raises(ValidationError):
            check({**good, **change}, "envelope.json")
    error = {"code": InvalidInput.code, "message": "m", "where": None, "hint": None}
    check({**good, "ok": False, "data": None, "error": error}, "envelope.json")
