"""Our way around the package json gives what the package gives, its errors included."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recall import quickjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXT = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z", "C", "Cs"]))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)
BLANKS = st.text(" \t\n\r\f\v\xa0\u2028\ufeff", max_size=3)
PIECES = st.sampled_from(
    [*'{}[],:"-10. \n\0é', "\\", "\\u", "\\ud83d", "d800", "e9", "NaN", "Infinity", "true", "nul"]
)


def outcome(load: Callable[[str], object], text: str) -> tuple[object, ...]:
    try:
        # As text, since no NaN equals another and 1 equals True.
        return ("value", repr(load(text)))
    except json.JSONDecodeError as error:
        return ("error", str(error), error.msg, error.pos, error.lineno, error.colno, error.doc)
    except (ValueError, RecursionError) as error:
        return ("error", type(error), str(error) if isinstance(error, ValueError) else "")


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES | TEXT) + text[at + draw(st.integers(0, 2)) :]
    return draw(BLANKS) + text + draw(BLANKS)


@given(mutated() | st.lists(PIECES).map("".join) | TEXT)
@example("")
@example(" ")
@example("\ufeff{}")
@example("{}\f")
@example("\xa01")
@example("[1] x")
@example('{"a": 1, "a": 2}')
@example('{"a":\n  nul}')
@example("[NaN, Infinity, -Infinity, -0, 1E400, 1.0]")
@example('["\\ud800", "\\ud83d\\ude00", "\x01"]')
@example("1" * 4300)
@example("1" * 4301)
@example("[" * 200_000)
@example('{"a":' * 200_000)
@example("[" * 500 + "]" * 500)
def test_any_text_is_read_as_json_reads_it(text: str) -> None:
    assert outcome(quickjson.loads, text) == outcome(json.loads, text)


@given(VALUES)
@example("\ud800\x00\u2028\x7f<é😀")
def test_any_value_is_written_as_json_writes_it(value: object) -> None:
    written = json.dumps(value, separators=(",", ":"), allow_nan=False)
    assert quickjson.dumps(value) == written
    assert quickjson.loads(written) == json.loads(written)  # halves of a pair become one


@given(TEXT)
def test_any_text_is_quoted_as_json_quotes_it(text: str) -> None:
    assert quickjson.quoted(text) == json.dumps(text)


def endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), {"a": [float("-inf")]}, b"", {1, 2}, {("a",): 1}, endless(), (1, {"a": None})],
)
def test_what_json_cannot_say_is_refused_alike(value: object) -> None:
    def told(dump: Callable[[object], str]) -> tuple[object, str]:
        try:
            return (str, dump(value))
        except (TypeError, ValueError) as error:
            return (type(error), str(error))

    def package(value: object) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    # Twice: an error leaves nothing behind.
    assert told(quickjson.dumps) == told(quickjson.dumps) == told(package)


def test_the_package_json_is_not_loaded() -> None:
    program = (
        "import sys; from recall import quickjson as q; "
        "assert q.dumps(q.loads(' [1.5, {\"a\": null}] ')) == '[1.5,{\"a\":null}]'; q.quoted('é'); "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, timeout=60
    )
    loaded = done.stdout.decode().split()
    assert "_json" in loaded
    assert not {"json", "re"}.intersection(loaded)


@pytest.fixture(params=["no module", "another signature", "another name"])
def without(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give the module as a Python gives it whose compiled module is another or none."""

    def refuse(*_: object) -> None:
        raise TypeError("7 arguments wanted")

    with monkeypatch.context() as patch:
        if request.param == "no module":
            patch.setitem(sys.modules, "_json", None)
        elif request.param == "another signature":
            patch.setattr("_json.make_encoder", refuse)
        else:
            patch.delattr("_json.make_scanner")
        yield importlib.reload(quickjson)
    importlib.reload(quickjson)


def test_without_the_compiled_module_the_package_does_it(without: Any) -> None:
    assert without._scan is None
    assert without.loads(' {"a": [1, NaN]}')["a"][0] == 1
    assert without.dumps({"é": (1.5, None)}) == '{"\\u00e9":[1.5,null]}'
    assert without.quoted("é\ud800") == '"\\u00e9\\ud800"'
    with pytest.raises(json.JSONDecodeError, match="Extra data"):
        without.loads("1 2")
    with pytest.raises(ValueError, match="not JSON compliant"):
        without.dumps(float("nan"))


@pytest.mark.parametrize("text", ['{"prompt": "cut', '{"a":', "[1, 2", '"\\ud8', "tru", '{"a" 1}'])
def test_what_is_cut_off_is_an_error_where_json_is_not_loaded_yet(text: str) -> None:
    program = (
        "import sys; from recall import quickjson\n"
        "assert 'json' not in sys.modules\n"
        "try: quickjson.loads(sys.argv[1])\n"
        "except ValueError as error: print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, text], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("JSONDecodeError\n", "")
