"""The plots of a report as SVG to stand in a page, drawn by matplotlib.

It is an optional dependency (``pip install 'recall[bench]'``) and is imported here alone. Colours
are the page's, by name, so that one drawing serves light and dark. Nothing is global: no pyplot.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import warnings

from index_cache.errors import InvalidInput
from recall.bench.metrics import mean, percentile
from recall.notice import shell_quoted
from recall.output import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self

# What matplotlib is told, and what of the page stands for it.
INK, FAINT, FIRST, SECOND, THIRD = "#010101", "#020202", "#030303", "#040404", "#050505"
_NAMES = {INK: "ink", FAINT: "faint", FIRST: "first", SECOND: "second", THIRD: "third"}
_MEASURES = (
    ("hit_at_1", "hit@1", FIRST),
    ("recall_at_10", "Recall@10", SECOND),
    ("ndcg_at_10", "nDCG@10", THIRD),
)
CATEGORIES = 24  # the largest; more would be a page of bars
_LABEL = 36  # bytes of a category's name
_WIDTH = 7.5  # inches
_STYLE = {
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "font.size": 10,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "recall",  # the same drawing gives the same bytes
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def demand() -> None:
    """Raise InvalidInput when matplotlib is not there: before the work, not after it."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise InvalidInput(
            "--html needs matplotlib, which is not installed",
            hint=f"{shell_quoted(sys.executable)} -m pip install matplotlib, or leave --html out",
        )


def quality(categories: Sequence[Mapping[str, Any]]) -> str:
    """Return bars of how good the answers are, a group for each category."""
    judged = [each for each in categories if each["judged"]]
    judged = sorted(judged, key=lambda each: -each["judged"])[:CATEGORIES]
    judged.sort(key=lambda each: str(each["category"]), reverse=True)
    height = 0.26
    with _Drawing(0.9 + 0.95 * height * (len(_MEASURES) + 1) * max(1, len(judged))) as drawing:
        axes = drawing.axes
        for place, (name, label, colour) in enumerate(_MEASURES):
            at = [row + (1 - place) * height for row in range(len(judged))]
            axes.barh(at, [each[name] for each in judged], height, color=colour, label=label)
            for y, each in zip(at, judged, strict=True):
                axes.text(each[name] + 0.01, y, f"{each[name]:.2f}", va="center", fontsize=8)
        names = [plain(each["category"] or "(none)", _LABEL) for each in judged]
        counts = [f"{name} ({each['judged']:,})" for name, each in zip(names, judged, strict=True)]
        axes.set_yticks(range(len(judged)), counts, parse_math=False)
        axes.set_xlim(0, 1.08)
        axes.grid(axis="x")
        _legend(axes)
    return drawing.svg


def latency(found: Mapping[str, Any]) -> str:
    """Return the share of samples that took at most so long, for a search and for the hook."""
    with _Drawing(2.8) as drawing:
        axes = drawing.axes
        for name, colour, dashes in (("search", FIRST, "-"), ("hook", SECOND, "--")):
            times = sorted(found[name]["ms"])
            shares = [(at + 1) / len(times) for at in range(len(times))]
            label = f"{name}: p50 {found[name]['p50']:.0f} ms, p95 {found[name]['p95']:.0f} ms"
            axes.step([0, *times], [0, *shares], where="post", color=colour, ls=dashes, label=label)
        axes.set_xlabel("milliseconds")
        axes.set_ylabel("share of samples")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.02)
        axes.grid()
        _legend(axes)
    return drawing.svg


def tokens(records: Sequence[Mapping[str, Any]]) -> str:
    """Return what the hook's answers cost a query: the mean, and a mark at the 95th percentile."""
    kinds = (
        ("block_tokens", "cards alone"),
        ("cards_tokens", "cards, and the first\ndocument in full"),
        ("full_tokens", "all first documents\nin full"),
    )
    with _Drawing(2.4) as drawing:
        axes = drawing.axes
        for row, (name, _) in enumerate(kinds):
            values = [record["hook"][name] for record in records]
            middle, high = mean(values) or 0.0, percentile(values, 95) or 0.0
            axes.barh(row, middle, 0.5, color=FIRST, label=None if row else "mean")
            axes.plot(high, row, "|", ms=18, mew=2, color=SECOND, label=None if row else "p95")
            told = f"{middle:,.0f}; p95 {high:,.0f}"
            place = {"xytext": (8, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(told, (max(middle, high), row), **place)
        axes.set_yticks(range(len(kinds)), [label for _, label in kinds])
        axes.set_xlabel("estimated tokens a query")
        axes.margins(x=0.28)
        axes.set_xlim(left=0)
        axes.grid(axis="x")
        _legend(axes)
    return drawing.svg


def _legend(axes: Any) -> None:  # noqa: ANN401 - matplotlib may be missing, and with it its types
    """Name the colours in a row above the axes, where no line can run through it."""
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(_MEASURES))


class _Drawing:
    """One figure, of ``height`` inches: ``axes`` to draw on, then ``svg``."""

    def __init__(self, height: float) -> None:
        self.svg = ""
        self._height = height

    def __enter__(self) -> Self:
        # What it has to say of its fonts and caches is nobody's business here.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        self._style = rc_context(_STYLE)
        self._style.__enter__()
        self._figure = Figure(figsize=(_WIDTH, self._height), layout="constrained")
        self.axes: Any = self._figure.add_subplot()
        self.axes.set_axisbelow(True)
        self.axes.tick_params(length=0)
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        try:
            if kind is None:
                with warnings.catch_warnings():
                    # The browser's font has the letters that the one measured with lacks.
                    warnings.filterwarnings("ignore", message="Glyph .* missing")
                    self.svg = _inline(self._figure)
        finally:
            self._style.__exit__(None, None, None)


def _inline(figure: Any) -> str:  # noqa: ANN401 - matplotlib may be missing, and with it its types
    out = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(out, format="svg", transparent=True, metadata=nothing)
    svg = out.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # In a page they are not needed, and so no address at all is in it.
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for colour, name in _NAMES.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg
