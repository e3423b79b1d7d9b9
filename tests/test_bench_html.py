"""The page: whole, harmless, and nothing in it has to be loaded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from bench_support import record, report

from recall.bench import webpage

if TYPE_CHECKING:
    from collections.abc import Sequence

NASTY = "<script>alert(1)</script> & $x^2$ \"'> ]]> \u202e 日本語"
VOID = {"meta", "br", "hr", "img", "link", "input"}


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (recall[bench])")


class Page(HTMLParser):
    """Collects what a page is made of; an end tag without its beginning fails."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(found: str) -> Page:
    page = Page()
    page.feed(found)
    page.close()
    assert page.open == []
    return page


def records() -> list[dict[str, Any]]:
    made = [
        record("1", ["r:wrong.md", "r:a.md"], {"r:a.md": 1}, cards=["r:wrong.md"], tokens=120),
        record("2", ["r:a.md"], {"r:a.md": 1, f"r:{NASTY}.md": 3}),
        record("3", ["r:a.md"], {}, cards=["r:a.md"], tokens=80),
    ]
    for each, category in zip(made, ("one", NASTY, ""), strict=True):
        each["category"] = category
        each["query"] += f" {NASTY}"
    return made


def test_the_page_has_its_parts_and_is_well_formed() -> None:
    page = parsed(webpage.page(report(records())))
    assert page.tags.count("svg") == 3
    for heading in ("Quality", "Latency", "Token cost", "Worst queries"):
        assert heading in page.text
    assert "r:wrong.md" in page.text
    assert "Spoke, and should not have" in page.text


def test_nothing_is_loaded_and_nothing_runs() -> None:
    found = webpage.page(report(records()))
    page = parsed(found)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags)
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in {"href", "src", "xlink:href"}:
            assert value.startswith("#")
    assert not re.search(r"https?:|//|@import", found.split("</style>")[1])
    assert not re.search(r"url\((?!#)", found)
    assert "default-src 'none'" in found
    assert "<script" not in found
    assert NASTY.split(" &", maxsplit=1)[0] in page.text


def test_it_serves_light_and_dark_by_the_same_drawing() -> None:
    found = webpage.page(report(records()))
    assert "prefers-color-scheme: dark" in found
    svg = "".join(re.findall(r"<svg.*?</svg>", found, re.DOTALL))
    assert not re.findall(r"(?:fill|stroke): ?#[0-9a-f]+", svg)
    assert {"--ink", "--first", "--second", "--third"} <= set(re.findall(r"--\w+", svg))


def test_the_same_report_gives_the_same_page() -> None:
    assert webpage.page(report(records())) == webpage.page(report(records()))


def test_pages_of_hardly_anything() -> None:
    silent = report([record("1", [], {})])
    assert "Worst queries" in parsed(webpage.page(silent)).text
    perfect = report([record("1", ["a"], {"a": 1})])
    assert "the best possible answer" in parsed(webpage.page(perfect)).text


def test_of_many_categories_the_largest_are_drawn() -> None:
    made = [record(str(n), ["a"], {"a": 1}) for n in range(40)]
    for number, each in enumerate(made):
        each["category"] = f"category {number}"
    text = parsed(webpage.page(report(made))).text
    assert "16 smaller categories are in the table alone" in text
