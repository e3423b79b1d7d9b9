"""A report of ``recall bench`` as text for people; pure."""

from __future__ import annotations

from recall.bench import figures
from recall.bench.metrics import MEASURES
from recall.output import number, plain, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from recall.bench.figures import Record

HEADS = ("hit@1", "hit@3", "hit@5", "R@5", "R@10", "MRR@10", "nDCG@10")
WORST = 5
MOVED = 10  # queries on either side of a comparison
_QUERY = 72  # bytes of a query in a line
_NAME = 30  # bytes of a category
_PATH = 100  # bytes of a document


def text(report: Mapping[str, Any]) -> str:
    """Return the whole report."""
    lines = [*_head(report), "", *table(report), "", *_costs(report)]
    lines += _bad(report["queries"])
    if report.get("compare"):
        lines += ["", *comparison(report["compare"])]
    lines += [f"wrote {visible(path)}" for path in report.get("files", ())]
    return "\n".join(lines) + "\n"


def _head(report: Mapping[str, Any]) -> list[str]:
    corpus, labels = report["corpus"], report["labels"]
    roots = ", ".join(visible(root["name"]) for root in corpus["roots"])
    notes = number(corpus["documents"], "note")
    return [
        f"{number(labels['count'], 'label')} of {visible(labels['file'])} over {notes} ({roots})",
        f"  labels {labels['digest']}",
        f"  corpus {corpus['digest']}",
        f"  recall {report['recall']}, {report['time']}",
    ]


def table(report: Mapping[str, Any]) -> list[str]:
    """Return the measures of all queries, and by category if there are several, as a table."""
    rows = [("all", report["summary"])]
    if len(report["categories"]) > 1:
        rows += [(each["category"] or "(none)", each) for each in report["categories"]]
    cells = [
        [plain(name, _NAME), f"{row['judged']:,}", *(percent(row[each]) for each in MEASURES)]
        for name, row in rows
    ]
    return _aligned([["category", "queries", *HEADS], *cells])


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in cells
    ]


def percent(share: float | None) -> str:
    """Return a share as people read it."""
    return "-" if share is None else f"{100 * share:.1f}"


def _costs(report: Mapping[str, Any]) -> list[str]:
    summary, cost, latency = report["summary"], report["cost"], report["latency"]
    order, false, unwanted = summary["order"], summary["false_recall"], summary["unwanted"]
    injected = summary["injected"]
    lines = []
    if order["pairs"]:
        kept = f"{order['kept']:,} of {order['pairs']:,} pairs kept"
        lines.append(f"pair order: {kept} ({percent(order['share'])} %)")
    if false["queries"]:
        of = _queries(false["queries"])
        spoke = f"the hook would have spoken at {false['spoke']:,} of {of} with nothing relevant"
        lines.append(f"false recall: {spoke} ({percent(false['share'])} %)")
    else:
        lines.append("false recall: not measured, since no label says that nothing is relevant")
    if unwanted["queries"]:
        lines.append(
            f"unwanted: of {_queries(unwanted['queries'])} with irrelevant documents"
            f" {unwanted['found']:,} found one, and at {unwanted['injected']:,} the hook would have"
            " shown one"
        )
    for name in ("full", "cards"):
        what = "all first documents in full" if name == "full" else "cards and the first document"
        lines.append(
            f"injected, a query: {injected[name + '_tokens'] or 0:,.0f} tokens with {what}"
        )
    cards = number(injected["cards"], "card")
    lines.append(
        f"  the cards alone {injected['block_tokens'] or 0:,.0f}; {cards} at {injected['spoke']:,}"
        f" of {summary['queries']:,} queries"
    )
    for name in ("search", "hook"):
        found = latency[name]
        lines.append(
            f"{name}: p50 {found['p50']:.1f} ms, p95 {found['p95']:.1f} ms"
            f" ({latency['samples']} samples)"
        )
    processes = "1 process" if cost["jobs"] == 1 else f"{cost['jobs']:,} processes"
    lines.append(
        f"caches {size(cost['cache_bytes'])}, peak memory {size(cost['peak_memory_bytes'])},"
        f" {cost['seconds']:.1f} s in {processes}"
    )
    return lines


def _bad(records: Sequence[Record]) -> list[str]:
    lines = []
    worst = figures.worst(records, WORST)
    if worst:
        lines += ["", "worst:"]
    for record in worst:
        lines.append(f"  {visible(record['id'], _NAME)}: {plain(record['query'], _QUERY)}")
        found = ", ".join(visible(name, _PATH) for name in record["run"][:1]) or "nothing"
        missed = figures.missed(record)
        wanted = visible(missed[0], _PATH) if missed else "all, but further down"
        lines.append(f"    found {found}; {'missed ' if missed else ''}{wanted}")
    false = figures.false_recalls(records)
    if false:
        lines += ["", "spoke, and should not have:"]
    for record in false[:WORST]:
        lines.append(f"  {visible(record['id'], _NAME)}: {plain(record['query'], _QUERY)}")
        lines.append(f"    {visible(record['hook']['cards'][0], _PATH)}")
    return lines


def comparison(compared: Mapping[str, Any]) -> list[str]:
    """Return what has moved since an older report."""
    old = compared["old"]
    when = f"{plain(old['recall'], _NAME)} of {plain(old['time'], _NAME)}"
    both = f"{_queries(compared['compared'])} in both"
    left = f"{compared['gone']:,} of its own and {compared['left_out']:,} new ones left out"
    lines = [f"against {when}: {both}, {left}"]
    if not old["same_corpus"]:
        lines.append("  the notes have changed as well")
    if not compared["compared"]:
        return lines
    rows = [["", "old", "new", "change", "better", "worse", "p"]]
    for name, row in compared["measures"].items():
        if not row["queries"]:
            continue
        scale, digits = (1, 0) if name == "cards_tokens" else (100, 1)
        before, now = (round(scale * row[when], digits) for when in ("old", "new"))
        rows.append(
            [
                LONG.get(name, name),
                f"{before:,.{digits}f}",
                f"{now:,.{digits}f}",
                # Of what is shown, or 76 and 76 may be one apart.
                f"{now - before:+,.{digits}f}",
                *_ups(name, row),
                p_text(row["p"]),
            ]
        )
    lines += [f"  {line}" for line in _aligned(rows)]
    lines.append("  p: paired randomisation test, two-sided")
    moved = compared["moved"]
    return [
        *lines,
        *_moves("worse", [m for m in moved if m["by"] < 0]),
        *_moves("better", [m for m in reversed(moved) if m["by"] > 0]),
    ]


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"


LONG = dict(zip(MEASURES, HEADS, strict=True)) | {
    "false_recall": "false recall",
    "cards_tokens": "tokens (cards)",
}
_LESS_IS_BETTER = ("false_recall", "cards_tokens")


def _ups(name: str, row: Mapping[str, Any]) -> list[str]:
    """Return at how many queries a measure got better and worse; of some less is better."""
    better, worse = row["up"], row["down"]
    if name in _LESS_IS_BETTER:
        better, worse = worse, better
    return [f"{better:,}", f"{worse:,}"]


def p_text(p: float | None) -> str:
    """Return a p-value as people read it."""
    least = 0.0001
    return "-" if p is None else f"< {least}" if p < least else f"{p:.4f}"


def _moves(what: str, moved: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    if not moved:
        return
    more = f" (of {len(moved):,})" if len(moved) > MOVED else ""
    yield f"  {what}{more}:"
    for each in moved[:MOVED]:
        ranks = f"{_rank(each['old_rank'])} -> {_rank(each['new_rank'])}"
        ranks += f" (nDCG {each['by']:+.2f})"
        if not each["judged"]:
            ranks = "spoke" if what == "worse" else "silent now"
        yield f"    {visible(each['id'], _NAME)}: {ranks}: {plain(each['query'], _QUERY)}"


def _rank(rank: int | None) -> str:
    return "not found" if rank is None else f"rank {rank}"
