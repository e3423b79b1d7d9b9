"""Timelines against a naive model, and that nothing anyone types or writes makes a traceback."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import check
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reading_support import configure, fill, in_nfc, note, said

from index_cache.errors import RecallError
from index_cache.filters import Lifecycle
from index_cache.model import Root, Rules
from recall import background
from recall.service import Recall

if TYPE_CHECKING:
    from pathlib import Path

SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
TIMES = [
    *("2026-03-01", "2026-03-01T00:00:00Z", "2026-03-01T01:00+01:00", "2026-03-02"),
    *("1969-12-31T23:59:59", "2026-03-01T00:00:00.000001", "soon", "", "9999-12-31T23:59:59-14:00"),
]
RECORDS = st.lists(
    st.tuples(
        st.sampled_from(TIMES),
        st.sampled_from(["Note", "decision", "Journal"]),
        st.sampled_from(["", "cli", "web"]),
        st.booleans(),  # a line, or a note
        st.integers(0, 1),  # of which root
    ),
    max_size=14,
)


def instant(text: str) -> int | None:
    """Read a time without any code of ours."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    try:
        time.astimezone(UTC)
    except OverflowError:  # in no year of four digits
        return None
    return (since.days * 86400 + since.seconds) * 10**6 + since.microseconds


def id_of(number: int) -> str:
    return ["ä", "Z", "a", "é", "b"][number % 5] + str(number)


def write(top: Path, records: list[tuple[str, str, str, bool, int]]) -> list[Root]:
    lines: dict[int, list[str]] = {0: [], 1: []}
    for number, (created, kind, source, is_line, root) in enumerate(records):
        fields = {"id": id_of(number), "created": created, "type": kind, "source": source}
        if is_line:
            lines[root].append(json.dumps({**fields, "text": f"Text {number}."}) + "\n")
        else:
            fill(top / f"r{root}", {f"n{number}.md": note(f"Text {number}.\n", **fields)})
    for root, rows in lines.items():
        fill(top / f"r{root}", {"rows.jsonl": "".join(rows)})
    return [Root(f"r{n}", str(top / f"r{n}"), Rules(jsonl=True)) for n in (0, 1)]


@SLOW
@given(
    RECORDS,
    st.integers(0, 13) | st.sampled_from([each for each in TIMES if instant(each) is not None]),
    st.integers(0, 4),
    st.integers(0, 4),
    st.sampled_from([None, "Note", "Decision"]),
    st.sampled_from([None, ["cli"], ["cli", "web"]]),
)
def test_a_timeline_is_what_a_naive_one_is(  # noqa: PLR0917 - what is drawn
    tmp_path_factory: pytest.TempPathFactory,
    records: list[tuple[str, str, str, bool, int]],
    anchor: int | str,
    before: int,
    after: int,
    kind: str | None,
    sources: list[str] | None,
) -> None:
    top = tmp_path_factory.mktemp("timeline")
    roots = write(top, records)
    dated = [
        (at, id_of(number), created)
        for number, (created, *_) in enumerate(records)
        if (at := instant(created)) is not None
    ]
    passing = {
        id_of(number)
        for number, (_, kind_, source, _, _) in enumerate(records)
        if (kind is None or kind_.lower() == kind.lower())
        and (sources is None or source in sources)
    }
    wanted = id_of(anchor) if isinstance(anchor, int) else anchor
    with Recall(roots, cache_dir=str(top / "cache")) as recall:

        def ask() -> Any:
            return recall.timeline(wanted, before, after, kind, Lifecycle(sources) or None)

        if isinstance(anchor, int):
            own = [each for each in dated if each[1] == wanted]
            if not own:
                with pytest.raises(RecallError) as refused:
                    ask()
                known = anchor < len(records)
                assert refused.value.code == ("invalid_input" if known else "not_found")
                return
            place = own[0][:2]
            first = [each for each in dated if each[:2] < place and each[1] in passing]
            behind = [each for each in dated if each[:2] > place and each[1] in passing]
            middle = own
        else:
            at = instant(wanted) or 0
            first = [each for each in dated if each[0] < at and each[1] in passing]
            behind = [each for each in dated if each[0] > at and each[1] in passing]
            middle = [each for each in dated if each[0] == at and each[1] in passing]
        told = ask()
    shown = sorted(first)[len(first) - min(before, len(first)) :] + sorted(middle)
    shown += sorted(behind)[:after]
    assert [each.id for each in told.items] == [each[1] for each in shown]
    assert (told.before, told.at_anchor, told.after) == (len(first), len(middle), len(behind))
    assert told.truncated == (len(shown) < len(first) + len(middle) + len(behind))
    assert told.undated == len(passing - {each[1] for each in dated})


# -- nothing makes a traceback

WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            *("a", "b", "path:0123456789abcdef", "2026-03-01", "0001-01-01T00:00+14:00"),
            *("9999-12-31T23:59:59-14:00", "-", "--", "=", "\udcff", "\ud800", "\0", "1e9", "nan"),
            *("--json", "--root", "notes", "--anchor", "--before", "--after", "0", "100", "101"),
            *("--type", "--source", "--session", "--from", "--to", "--page", "--page-size", "-k"),
            *("--cards", "--expand", "--max-nodes", "--max-tokens", "--recency", "--no-refresh"),
            *("--wait", "--explain", "--budget", "vault", "--under", "--include", "journal"),
        ]
    ),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture
def root(place: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = place / "notes"
    fill(
        made,
        {
            "a.md": note("The vault.\n", id="a", created="2026-03-01", related=["b", "a", "[[c"]),
            "b.md": note("The vault.\n", id="b", created="0001-01-01T00:00+14:00"),
            "c.md": note("The vault.\n", created="9999-12-31T23:59:59.999999-14:00"),
            "rows.jsonl": '{"id": "j", "text": "The vault."}\nnot json\n',
        },
    )
    (place / "out").mkdir(exist_ok=True)
    configure(home, made)
    monkeypatch.chdir(place)
    monkeypatch.setattr(background, "ask", lambda *_, **__: "recent")
    return made


def no_traceback(*arguments: str) -> None:
    """Fail unless a command ends with an answer or an error of ours."""
    done = said(*arguments)
    assert done.status in {0, 3, 4, 5, 6}, (arguments, done.stderr)
    assert "Traceback" not in done.stderr
    assert (done.status == 0) or done.stderr or done.stdout
    if "--json" in arguments[: arguments.index("--") if "--" in arguments else None]:
        envelope = json.loads(done.raw) if done.raw.startswith(b'{"schema":"recall/v1"') else None
        if envelope is not None:
            check(envelope, "envelope.json")


@SLOW
@given(
    st.sampled_from(["timeline", "get", "export", "search"]),
    st.lists(WORDS, max_size=5),
    st.booleans(),
)
@example("search", ["--root", "\ud800"], False)
@example("export", ["--root", "\ud800", "a"], True)
@pytest.mark.usefixtures("root")
def test_no_arguments_make_a_traceback(command: str, words: list[str], as_json: bool) -> None:
    no_traceback(command, *(["--json"] if as_json else []), *words)


@SLOW
@given(st.text(max_size=20), st.text(max_size=20))
@pytest.mark.usefixtures("root")
def test_no_id_and_no_time_makes_a_traceback(id_: str, time: str) -> None:
    no_traceback("get", "--json", "--", id_)
    no_traceback("timeline", f"--anchor={time}", "--json")
    no_traceback("search", f"--from={time}", f"--expand={id_}", "--json", "vault")
    if "\0" not in id_:
        (where,) = {os.path.join("out", "x" + id_.replace("/", "") + "y")}
        no_traceback("export", "a", f"--out={where}", "--json")


SCALARS = st.one_of(
    st.text(max_size=10), st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        ["id", "created", "updated", "source", "session", "related", "valid_from", "title", "x"]
    )
    | st.text(max_size=4),
    VALUES,
    max_size=6,
)


@SLOW
@given(FIELDS, FIELDS, st.binary(max_size=60), st.text(max_size=30))
def test_no_file_makes_a_traceback_and_each_is_given_by_its_id(
    tmp_path_factory: pytest.TempPathFactory,
    block: dict[str, Any],
    line: dict[str, Any],
    data: bytes,
    text: str,
) -> None:
    top = tmp_path_factory.mktemp("files")
    fill(
        top,
        {
            "note.md": f"---\n{json.dumps(block)}\n---\n".encode() + text.encode(errors="replace"),
            "any.md": data,
            "rows.jsonl": json.dumps({**line, "text": text}).encode() + b"\n" + data,
        },
    )
    with Recall([Root("r", str(top), Rules(jsonl=True))], cache_dir=str(top / "c")) as recall:
        answer = recall.timeline("2026-03-01", 100, 100)
        seen = {in_nfc(each.id) for each in answer.items}
        ids = seen | {card.id for card in recall.search("a e i o u 1 2 3", 100)}
        for each in ids:
            try:
                (record,) = recall.get(each)
            except RecallError as error:
                assert error.code == "integrity_error"  # noqa: PT017 - two of them have it
            else:
                assert record.id == each
                assert record.text is not None
                json.dumps(record.text.content).encode()
