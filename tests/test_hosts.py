"""What hosts send and accept, byte for byte: ``golden/hook`` has an input and an output for each.

``NAME.in`` is standard input, ``NAME.event.json`` what is understood of it, ``NAME.out`` standard
output when the block is ``block.txt``. Inputs in ``unusable`` come from no known host.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_support import ANY_TEXT

from recall import quiet
from recall.hosts import HOSTS, Cap, cap, estimated_tokens, parse, render, utf16_length

GOLDEN = Path(__file__).parent / "golden" / "hook"
INPUTS = sorted(GOLDEN.glob("*/*.in"))
BLOCK = (GOLDEN / "block.txt").read_bytes().decode("utf-8")
FIELDS = ("host", "name", "session", "cwd", "prompt", "source", "agent", "problem")
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=6,
)


def case(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def forced(path: Path) -> str | None:
    return "text" if path.parent.name == "text" else None


def sent(**fields: Any) -> bytes:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/", "prompt": "keys"}
    return json.dumps({**event, **fields}).encode()


def test_there_are_golden_files_of_every_host() -> None:
    assert {path.parent.name for path in INPUTS} == {*HOSTS, "unusable"}
    assert len(INPUTS) > 60


@pytest.mark.parametrize("path", INPUTS, ids=case)
def test_H3_golden_inputs_are_understood(path: Path) -> None:
    event = parse(path.read_bytes(), forced(path))
    expected = json.loads(path.with_suffix(".event.json").read_bytes())
    assert {field: getattr(event, field) for field in FIELDS} == expected


@pytest.mark.parametrize("path", INPUTS, ids=case)
def test_H3_golden_outputs_are_printed(path: Path) -> None:
    event = parse(path.read_bytes(), forced(path))
    block = "" if quiet.reason(event, {}, enabled=True) else BLOCK
    assert render(event.host, event.name, block) == path.with_suffix(".out").read_bytes()


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("unusable/*.in")), ids=case)
def test_H3_a_host_that_is_named_gets_its_own_silence(path: Path, host: str) -> None:
    event = parse(path.read_bytes(), host)
    assert event.host == host
    if host != "text":
        assert event.problem or event.prompt == "keys"
    assert render(host, event.name, "") == (b"{}\n" if host == "gemini" else b"")


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("unit", ["key ", "🔑", "密钥", "\x00", "\n"])
def test_H3_a_prompt_of_a_megabyte_arrives_whole(host: str, unit: str) -> None:
    fields = json.loads((GOLDEN / host / "plain.in").read_bytes())
    fields["prompt"] = unit * (1024 * 1024 // len(unit.encode()))
    for escape in (True, False):
        event = parse(json.dumps(fields, ensure_ascii=escape).encode())
        assert (event.host, event.problem) == (host, None)
        assert event.prompt == fields["prompt"]


@given(st.binary(), st.sampled_from([None, *HOSTS, "other"]))
def test_H3_any_bytes_are_an_event(data: bytes, host: str | None) -> None:
    event = parse(data, host)
    assert event.host == (host if host in HOSTS else None)
    assert event.problem or host == "text"
    event.prompt.encode()


@given(st.dictionaries(st.sampled_from([*json.loads(sent()), "source", "agent_id"]), ANY_JSON))
def test_H3_any_fields_are_an_event(fields: dict[str, object]) -> None:
    for data in (json.dumps(fields).encode(), sent(**fields)):
        event = parse(data)
        assert event.problem is None or event.prompt == ""
        for text in (event.prompt, event.name, event.problem or "", event.session or ""):
            text.encode()
        assert event.cwd is None or event.cwd.startswith("/")
        assert render(event.host, event.name, "") in {b"", b"{}\n"}


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
@pytest.mark.parametrize(("begin", "middle", "end"), [("[", "", "]"), ('{"a":', "1", "}")])
def test_H3_deep_nesting_is_a_problem_at_most(
    depth: int, begin: str, middle: str, end: str
) -> None:
    nest = begin * depth + middle + end * depth
    for host in (None, "gemini"):
        assert parse(nest.encode(), host).problem
        event = parse(sent()[:-1] + b', "transcript_path": ' + nest.encode() + b"}", host)
        assert event.problem or event.prompt == "keys"


def test_a_host_that_does_not_exist_is_named() -> None:
    assert parse(sent(), "emacs").problem == (
        "there is no host 'emacs'; claude, codex, gemini, text are"
    )


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({}, "claude"),
        ({"prompt_id": "p", "model": "m"}, "claude"),
        ({"turn_id": "t", "model": "m"}, "codex"),
        ({"turn_id": "t", "timestamp": "2026"}, "codex"),
        ({"transcript_path": "/home/ann/.codex/sessions/r.jsonl"}, "codex"),
        ({"transcript_path": "C:\\Users\\ann\\.codex\\r.jsonl"}, "codex"),
        ({"model": "m", "transcript_path": None}, "codex"),
        ({"model": "m", "transcript_path": "/home/ann/.claude/p/t.jsonl"}, "claude"),
        ({"hook_event_name": "SessionStart", "timestamp": "2026"}, "gemini"),
        ({"hook_event_name": "BeforeAgent"}, "gemini"),
        ({"hook_event_name": "AfterAgent", "timestamp": "2026"}, "gemini"),
        ({"hook_event_name": "Stop"}, None),
    ],
)
def test_hosts_are_recognised(fields: dict[str, object], host: str | None) -> None:
    assert parse(sent(**fields)).host == host
    assert parse(sent(**fields), "codex").host == "codex"


def test_a_prompt_alone_is_enough_when_the_host_is_named() -> None:
    event = parse(b'{"prompt": "keys"}', "gemini")
    assert (event.name, event.prompt, event.problem) == ("BeforeAgent", "keys", None)
    assert parse(b'{"prompt": "keys"}').problem == "hook_event_name is missing"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cwd", "relative"),
        ("cwd", ""),
        ("cwd", "/a\x00b"),
        ("cwd", "/\ud800"),
        ("cwd", ["/"]),
        ("session", ""),
        ("session", " "),
        ("session", 7),
        ("session", "x" * 513),
        ("source", "later"),
    ],
)
def test_fields_of_no_use_count_as_not_sent(field: str, value: object) -> None:
    name = {"session": "session_id"}.get(field, field)
    data = sent(hook_event_name="SessionStart", **{name: value})
    assert getattr(parse(data), field) is None
    assert parse(data).problem is None


def test_half_a_surrogate_pair_is_replaced_where_text_is_kept() -> None:
    event = parse(sent(prompt="a\ud800", session_id="\udcff", agent_id="\ud83d"))
    assert (event.prompt, event.session, event.agent) == ("a\ufffd", "\ufffd", "\ufffd")
    assert parse(sent(hook_event_name="\ud800")).name == "\ufffd"


@given(ANY_TEXT)
def test_what_hosts_get_is_one_ascii_object_with_the_block(text: str) -> None:
    block = "⟦" + text
    for host, name in (("claude", "UserPromptSubmit"), ("gemini", "BeforeAgent")):
        data = render(host, name, block)
        assert data.isascii()
        assert data.count(b"\n") == 1
        assert data.endswith(b"\n")
        assert json.loads(data) == {
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": block}
        }


def test_H2_caps_are_those_of_the_hosts_and_can_be_set() -> None:
    for host in ("claude", "gemini", "text", None):
        assert (cap(host).characters, cap(host).tokens) == (9_000, None)
    assert (cap("codex").characters, cap("codex").tokens) == (None, 2_000)
    assert (cap("codex", tokens=50).tokens, cap("claude", characters=70).characters) == (50, 70)
    assert cap("codex", characters=10).characters == 10
    assert Cap().fits("x" * 1_000_000)
    assert Cap(3).fits("abc")
    assert not Cap(3).fits("ab🔑")  # four units of UTF-16
    assert Cap(tokens=1).fits("abc")
    assert not Cap(tokens=1).fits("abcd")


@given(ANY_TEXT)
def test_lengths_and_estimates_take_any_text(text: str) -> None:
    assert utf16_length(text) == len(text) + sum(char > "\uffff" for char in text)
    assert len(text) / 3 <= estimated_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))


# What o200k_base makes of these, counted once.
COUNTED = [
    ("The deploy keys live in the vault and are rotated each quarter by the on-call engineer.", 18),
    (
        "unverified · 2026-03-01 · /home/ann/projects/infra/docs/runbooks/rotate-deploy-keys.md:12",
        30,
    ),
    ("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", 33),
    ("550e8400-e29b-41d4-a716-446655440000", 18),
    ("部署密钥存放在保险库中，每个季度由值班工程师轮换一次。", 21),
    ("デプロイキーは保管庫にあり、四半期ごとに当番のエンジニアが更新します。", 29),
    ("배포 키는 금고에 있으며 분기마다 당직 엔지니어가 교체합니다.", 22),
    ("㐀㐁㐂㐃㐄㐅㐆㐇", 24),
    ("𠀀𠀁𠀂𠀃𠀄𠀅", 18),
    ("😀🎉🚀🔥👍✅❌📝🙏💡", 15),
    ("👩‍💻👨‍👩‍👧‍👦🏳️‍🌈🧑🏽‍🚒", 30),
    ("🇩🇪🇫🇷🇯🇵🇧🇷", 16),
    ("!@#$%^&*()_+{}|:<>?-=[];,./~`", 19),
    ("የማሰማራት ቁልፎች በካዝና ውስጥ ይኖራሉ", 46),
    ("Ключи развёртывания хранятся в сейфе и меняются каждый квартал.", 22),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_estimates_are_hardly_ever_too_small(text: str, tokens: int) -> None:
    assert 0.9 * tokens <= estimated_tokens(text) <= 5 * tokens
