"""The reader of ``recall search`` without click, against click; and what a search imports."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.cli.answer import Asked
from recall.cli.quick import asked_for
from recall.cli.search import command

OPTIONS = ["--root", "--group", "--type", "--include", "--under", "-k", "--budget", "--wait"]
FLAGS = ["--json", "--explain", "--no-refresh", "--help", "-h", "--bogus", "--", "-", "-x", "---"]
VALUES = ["", "journal", "notes", "./x", "0", "3", "007", "1000", "1001", "4096", "1e3", "-1", "٣"]
VALUES += ["1_0", " 3", "nan", "a=b", "=", "99999999999"]
TOKENS = st.one_of(
    st.sampled_from([*OPTIONS, *FLAGS, *VALUES]),
    st.builds("{}={}".format, st.sampled_from([*OPTIONS, *FLAGS]), st.sampled_from(VALUES)),
    st.builds("{}{}".format, st.sampled_from(["-k", "--js", "--roo"]), st.sampled_from(VALUES)),
    st.text(max_size=4),
)


def by_click(arguments: list[str]) -> dict[str, Any] | None:
    try:
        return command.make_context("search", list(arguments)).params
    except (click.ClickException, click.exceptions.Exit):
        return None


def fields(asked: Asked) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in Asked.__slots__}


@given(st.lists(TOKENS, max_size=6))
def test_what_is_read_quickly_is_what_click_reads(arguments: list[str]) -> None:
    asked = asked_for(arguments)
    if asked is not None:
        assert fields(asked) == by_click(arguments)


@given(
    st.permutations(
        [
            ["--root", "a"],
            ["--root=b"],
            ["--group", "g"],
            ["-k", "5"],
            ["--type", "T"],
            ["--json"],
            ["--wait", "2"],
        ]
    ),
    st.lists(st.text("abc ", min_size=1), max_size=3),
)
def test_common_forms_are_read_quickly(options: list[list[str]], words: list[str]) -> None:
    arguments = [*words, *(part for option in options for part in option)]
    asked = asked_for(arguments)
    assert asked is not None
    assert fields(asked) == by_click(arguments)


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["-k", "x"], ["-k"], ["-k", "0"], ["--bogus"], ["--include", "x"], ["--budget=1"]],
)
def test_help_and_errors_are_left_to_click(arguments: list[str]) -> None:
    assert asked_for(arguments) is None
