"""What evidence comes to, by the vectors; and evidence that is anything at all."""

from __future__ import annotations

import ast
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
import vectors
from cli_support import valid_envelope
from health_support import Place, build, within
from hypothesis import given
from hypothesis import strategies as st
from rights_support import bound_by_modes

import recall.health
from recall import failures, proofs
from recall.cli import COMMANDS, main
from recall.health import evidence as values
from recall.health import thresholds
from recall.health.findings import LEVELS, overall
from recall.health.rules import judge
from recall.hookfault import Fault

SPEC = Path(__file__).parent.parent / "spec"
VECTORS = vectors.load("health.json")
# What a field of the evidence is made of.
MADE_OF = {
    "roots": values.RootEvidence,
    "missing": values.Missing,
    "hook": values.HookEvidence,
    "installed": values.Installed,
    "runs": values.Run,
    "places": values.Place,
    "exposed": values.Exposed,
    "dated": values.Dated,
    "logs": values.LogFile,
    "schedule": values.Schedule,
    "failure": values.Failure,
    "invalid": values.Failure,
    "damage": values.Damage,
    "proof": proofs.Shown,
    "fault": Fault,
    "refresh_fault": Fault,
}


def made(kind: Any, fields: dict[str, Any]) -> Any:
    """Return evidence as a vector has it."""
    taken = {}
    for name, value in fields.items():
        of = MADE_OF.get(name)
        if name == "unread":
            of = values.Failure if kind is values.HookEvidence else values.Unread
        if of is not None and isinstance(value, list):
            taken[name] = tuple(made(of, each) for each in value)
        elif of is not None and value is not None:
            taken[name] = made(of, value)
        else:
            taken[name] = tuple(value) if isinstance(value, list) else value
    return kind(**taken)


def judged(vector: dict[str, Any]) -> list[Any]:
    measures = thresholds.taken(vector.get("thresholds", {}))
    return judge(made(values.Evidence, vector["evidence"]), measures)


@pytest.mark.parametrize("vector", VECTORS, ids=vectors.named)
def test_vectors(vector: dict[str, Any]) -> None:
    found = [[e.code, e.level, e.value, e.threshold] for e in judged(vector)]
    assert found == vector["findings"]


def test_the_page_has_every_code_with_its_levels() -> None:
    told = {}
    page = (SPEC / "health.md").read_text(encoding="utf-8").partition("## Thresholds")[0]
    for row in re.findall(r"(?m)^\| (`.+)$", page):
        cells = row.split(" | ")
        for code in re.findall(r"`(\w+)`", cells[0]):
            told[code] = cells[1]
    in_code: set[str] = set()
    for path in Path(recall.health.__path__[0]).glob("*rules.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                in_code.add(node.value)
    spelled = {code for code in told if code in in_code}
    assert set(told) - spelled == {
        *("cache_exposed", "state_exposed", "cache_unusable", "state_unusable")
    }
    schema = json.loads((SPEC / "schema" / "health.json").read_text(encoding="utf-8"))
    assert set(schema["$defs"]["finding"]["properties"]["code"]["enum"]) == set(told)
    seen = {(code, level) for vector in VECTORS for code, level, _, _ in vector["findings"]}
    assert {code for code, _ in seen} == set(told)
    for code, level in seen:
        assert level in told[code] or told[code] == "the same", code


def test_the_pages_have_every_threshold() -> None:
    for page in ("spec/health.md", "docs/configuration.md"):
        text = (SPEC.parent / page).read_text(encoding="utf-8")
        for key, usual in thresholds.USUAL.items():
            (row,) = (line for line in text.split("\n") if line.startswith(f"| `{key}` |"))
            assert f" {usual:g} " in row


def test_every_hint_is_a_command() -> None:
    for vector in VECTORS:
        for finding in judged(vector):
            words = finding.hint.split()
            if words[0] == "recall":
                assert words[1] in {*COMMANDS, "schedule"}
            elif finding.code not in {"clock_future", "hook_gone"}:  # the vector's own
                assert words[0] in {"${EDITOR:-vi}", "chmod", "rm", "du", "df", "export"}


def test_the_level_is_the_highest() -> None:
    for vector in VECTORS:
        found = judged(vector)
        assert overall(found) == max((e.level for e in found), key=LEVELS.index, default="ok")
        assert [e.level for e in found] == sorted(
            (e.level for e in found), key=lambda level: -LEVELS.index(level)
        )


NUMBERS = st.one_of(
    st.integers(), st.floats(), st.booleans(), st.text(), st.none(), st.lists(st.none())
)


@given(st.dictionaries(st.sampled_from([*thresholds.USUAL, "x"]), NUMBERS) | NUMBERS)
def test_any_threshold_is_taken_or_found(table: object) -> None:
    made_of = thresholds.taken(table)
    assert all(0 < made_of[key] < float("inf") for key in thresholds.USUAL)
    given_keys = table if isinstance(table, dict) else {}
    wrong = {each.key for each in made_of.wrong}
    for key in set(given_keys) & set(thresholds.USUAL):
        assert (f"health.{key}" in wrong) != (made_of[key] is given_keys[key])


# -- evidence that is anything at all


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("any") / "here")


@pytest.fixture
def place(installation: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name, value in installation.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RECALL_DEBUG", "1")  # a fault of ours would be raised
    if not installation.home.exists():
        build(installation)
    monkeypatch.chdir(installation.home)
    return installation


# Whole and cut pieces of what is there, and other things.
NUMBER = st.sampled_from(["0", "-1", "1e999", "NaN", "9" * 400, "true", "null", '"x"', "[]", "{}"])
PIECES = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda n: f'{{"when": {n}, "result": "equal"}}'.encode(), NUMBER),
    st.builds(lambda n: f'{{"t": {n}, "decision": "spoke", "ms": {n}}}\n'.encode(), NUMBER),
    st.builds(lambda n: f'{{"begun": {n}, "failed": {n}, "last": {n}}}'.encode(), NUMBER),
    st.builds(lambda n: f'{{"begun": 1, "failed": 2, "last": {{"ended": {n}}}}}'.encode(), NUMBER),
    st.builds(lambda n: f"{n} {n} {n} {n}\na\nb\nc\n".encode(), NUMBER),
    st.builds(lambda n: f"1 2 3 {n}\na\nb\nc\n".encode(), NUMBER),
    st.just(b"[" * 5000),
    st.just(b'{"a":' * 5000),
)
FILES = ("failures.json", "hook.fault", "refresh.fault", "recall-log.jsonl", "pause", "proof")
MORE = ("schedule/run.json", "recall-log.1.jsonl", "pages", "config")


def told(capsys: pytest.CaptureFixture[str]) -> Any:
    status = main(["health", "--json"])
    envelope = valid_envelope(capsys.readouterr().out.encode())
    data = envelope["data"]
    assert status == (2 if data["level"] == "critical" else 0)
    return data


@pytest.mark.parametrize("name", [*FILES, *MORE])
def test_any_bytes_are_told_and_raise_nothing(
    place: Place, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    special = {"proof": place.proof, "config": place.config}
    special["pages"] = place.state / "pages" / place.proof.stem
    file = special.get(name, place.state / name)
    file.parent.mkdir(exist_ok=True, mode=0o700)
    before = file.read_bytes() if file.exists() else None

    @given(PIECES)
    def check(data: bytes) -> None:
        file.write_bytes(data)
        file.chmod(0o600)
        told(capsys)

    try:
        check()
    finally:
        if before is None:
            file.unlink(missing_ok=True)
        else:
            file.write_bytes(before)


@given(
    st.dictionaries(
        st.sampled_from(["failure", "damage"]),
        NUMBERS
        | st.dictionaries(
            st.sampled_from(
                ["when", "message", "count", "since", "repaired", "kept", "where", "hint"]
            ),
            NUMBERS,
        ),
    )
)
def test_any_record_of_failures(known: dict[str, Any]) -> None:
    from recall.health.gathering import _damage, _failure

    cleaned = failures._cleaned(json.loads(json.dumps(known)))
    failure, damage = _failure(cleaned.get("failure")), _damage(cleaned.get("damage"), None)
    root = values.RootEvidence("r", "/r", built=True, failure=failure, damage=damage)
    judge(values.Evidence(time.time(), roots=(root,)), thresholds.taken({}))


@pytest.mark.parametrize("kind", ["directory", "fifo", "huge", "link"])
@pytest.mark.parametrize("name", FILES)
def test_anything_in_the_place_of_a_file(
    place: Place, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = place.proof if name == "proof" else place.state / name
    away = file.with_name("away")
    if file.exists():
        file.rename(away)
    if kind == "directory":
        file.mkdir(mode=0o700)
    elif kind == "fifo":
        os.mkfifo(file, 0o600)
    elif kind == "huge":
        file.touch(0o600)
        os.truncate(file, 10**9)
    else:
        file.symlink_to("/dev/zero")
    try:
        found = [each["file"] for each in told(capsys)["findings"]]
    finally:
        file.rmdir() if kind == "directory" else file.unlink()
        if away.exists():
            away.rename(file)
    if name != "pause":
        assert str(file) in found or kind == "huge"


def test_C5_a_home_that_can_only_be_read(place: Place) -> None:
    every = [place.top, *place.top.rglob("*")]
    modes = {path: path.stat().st_mode for path in every}
    for path in every:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        with bound_by_modes():
            status, answer = within("health", "--json")
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    codes = [each["code"] for each in valid_envelope(answer)["data"]["findings"]]
    assert (status, codes) == (0, ["cache_unusable", "state_unusable"])
