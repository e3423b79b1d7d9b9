"""A report of ``recall bench`` as one page: no script, and nothing that has to be loaded."""

from __future__ import annotations

from html import escape

from recall.bench import figures, plots, table
from recall.bench.metrics import MEASURES
from recall.output import plain, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from recall.bench.figures import Record

WORST = 20
_FOUND = 3  # documents that were found instead
_QUERY = 300  # bytes
_PATH = 200
_STYLE = """
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1c1e21; --faint: #b9bdc2;
  --line: #dfe2e5; --first: #1f6fb4; --second: #c4601c; --third: #3a8a4d; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e4e6e8; --faint: #5d646c;
  --line: #2e3338; --first: #6cb2f0; --second: #f0a060; --third: #7fcf92; } }
body { background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif;
  margin: 0 auto; max-width: 60rem; padding: 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
figure { margin: 0; } figure svg { height: auto; max-width: 100%; width: 46rem; }
svg text { font-family: system-ui, sans-serif !important; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right;
  vertical-align: top; }
th:first-child, td:first-child, .text td, .text th { text-align: left; }
td { white-space: nowrap; }
.text td { overflow-wrap: anywhere; white-space: normal; } .text td:first-child { width: 40%; }
figcaption { font-size: .9rem; margin: .3rem 0 1rem; }
.text td.figure { text-align: right; white-space: nowrap; }
.text { min-width: 38rem; }
ol, ul { margin: 0; padding-left: 1.3rem; } code { overflow-wrap: anywhere; }
dl { display: grid; gap: .1rem 1rem; grid-template-columns: max-content 1fr; font-size: .9rem; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { display: block; } dt { font-weight: 600; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(report: Mapping[str, Any]) -> str:
    """Return the page. Raises InvalidInput when matplotlib is not installed."""
    plots.demand()
    title = f"recall bench: {plain(report['labels']['file'])}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _facts(report),
        *_section("Quality", _quality(report)),
        *_section("Latency", _latency(report)),
        *_section("Token cost", _tokens(report)),
        *_section("Worst queries", _worst(report["queries"])),
        *_section("Spoke, and should not have", _false(report["queries"])),
        *_section("Compared", _compared(report.get("compare"))),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _section(title: str, body: str) -> Iterable[str]:
    if body:
        yield f"<section>\n<h2>{escape(title)}</h2>\n{body}\n</section>"


def _figure(svg: str, caption: str) -> str:
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f"<figure>\n{svg}<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Return a table of cells that are HTML already."""
    heads = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="wide"><table class="{kind}"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _cell(value: str, kind: str = "") -> str:
    return f'<td class="{kind}">{escape(value)}</td>' if kind else f"<td>{escape(value)}</td>"


def _facts(report: Mapping[str, Any]) -> str:
    corpus, labels, cost = report["corpus"], report["labels"], report["cost"]
    facts = {
        "labels": f"{labels['count']:,} ({labels['digest']})",
        "notes": f"{corpus['documents']:,} ({corpus['digest']})",
        "command": plain(report["command"]),
        "recall": f"{report['recall']}, {report['time']}",
        "caches": size(cost["cache_bytes"]),
        "peak memory": size(cost["peak_memory_bytes"]),
    }
    items = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"<dl>{items}</dl>"


def _quality(report: Mapping[str, Any]) -> str:
    rows = [("all", report["summary"])]
    rows += [(each["category"] or "(none)", each) for each in report["categories"]]
    if len(report["categories"]) == 1:
        del rows[1:]
    by_category = _table(
        ["category", "queries", *table.HEADS],
        (
            [
                _cell(plain(name)),
                _cell(f"{row['judged']:,}"),
                *(_cell(table.percent(row[each])) for each in MEASURES),
            ]
            for name, row in rows
        ),
    )
    summary = report["summary"]
    if not summary["judged"]:
        return by_category
    left = sum(bool(each["judged"]) for each in report["categories"]) - plots.CATEGORIES
    more = f"; {left:,} smaller categories are in the table alone" if left > 0 else ""
    caption = f"Quality by category, with the number of queries{more}."
    return _figure(plots.quality(report["categories"]), caption) + by_category


def _latency(report: Mapping[str, Any]) -> str:
    found = report["latency"]
    caption = (
        f"Share of {found['samples']} samples that took at most so long: a search that looks at"
        " the files first, and the prompt hook, both without the start of the program."
    )
    return _figure(plots.latency(found), caption)


def _tokens(report: Mapping[str, Any]) -> str:
    spoke = report["summary"]["injected"]["spoke"]
    caption = (
        f"What the hook would put beside a prompt, and reading on; it spoke at {spoke:,} of"
        f" {report['summary']['queries']:,} queries, and the others count as 0."
    )
    return _figure(plots.tokens(report["queries"]), caption)


def _worst(records: Sequence[Record]) -> str:
    worst = figures.worst(records, WORST)
    if not worst:
        return "<p>None: each query had the best possible answer.</p>"
    rows = []
    for record in worst:
        found = [name for name in record["run"] if record["grades"].get(name, 0) <= 0][:_FOUND]
        wanted = [name for name, grade in record["grades"].items() if grade > 0]
        ranks = {name: at for at, name in enumerate(record["run"], 1)}
        rows.append(
            [
                _cell(plain(record["query"], _QUERY)),
                _cell(f"{record['measures']['ndcg_at_10']:.2f}", "figure"),
                f"<td>{_list(found) or 'nothing'}</td>",
                f"<td>{_list(wanted[:_FOUND], ranks)}</td>",
            ]
        )
    return _table(["query", "nDCG@10", "found instead", "right"], rows, "text")


def _list(names: Iterable[str], ranks: Mapping[str, int] | None = None) -> str:
    items = [f"<li><code>{escape(visible(n, _PATH))}</code>{_place(n, ranks)}</li>" for n in names]
    kind = "ol" if ranks is None else "ul"
    return f"<{kind}>{''.join(items)}</{kind}>" if items else ""


def _place(name: str, ranks: Mapping[str, int] | None) -> str:
    if ranks is None:
        return ""
    return f", rank {ranks[name]}" if name in ranks else ", not found"


def _false(records: Sequence[Record]) -> str:
    rows = [
        [_cell(plain(each["query"], _QUERY)), f"<td>{_list(each['hook']['cards'])}</td>"]
        for each in figures.false_recalls(records)[:WORST]
    ]
    return _table(["query", "shown"], rows, "text") if rows else ""


def _compared(compared: Mapping[str, Any] | None) -> str:
    if not compared:
        return ""
    lines = escape("\n".join(table.comparison(compared)))
    return f'<div class="wide"><pre>{lines}</pre></div>'
