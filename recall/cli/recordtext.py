"""Records as text for people, and as the fields of a JSON answer."""

from __future__ import annotations

import os

from recall.card import BETWEEN, INDENT, PATH_BYTES, TITLE_BYTES, shown_path
from recall.cli.fields import report_fields
from recall.consult import records
from recall.output import number, plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from index_cache.refresh import Report
    from recall.consult.readout import Expansion, Timeline
    from recall.consult.records import Record

whole = records.whole
_FACT_BYTES = 120
_NAMED = 5  # entries that lead nowhere
_LINE_BYTES = 400


def reports(found: Iterable[Report]) -> list[dict[str, object]]:
    """Return what happened in each root."""
    return [*map(report_fields, found)]


def full(record: Record) -> str:
    """Return a whole record for people: a line of facts, then its text, indented."""
    text = "" if record.text is None else record.text.content.strip("\n")
    lines = "".join(f"{INDENT}{visible(line)}".rstrip() + "\n" for line in text.split("\n"))
    return f"{_facts(record)}\n{lines}"


def timeline(made: Timeline) -> str:
    """Return a timeline for people; the anchor stands out."""
    lines = []
    for record in made.items:
        is_anchor = record.id == made.anchor or (
            made.anchor is None and record.created_at == made.at
        )
        when = records.iso(record.created_at or 0)
        lines.append(f"{'* ' if is_anchor else '  '}{when}{BETWEEN}{_facts(record, dated=False)}\n")
        lines.append(f"{INDENT} {plain(record.title, TITLE_BYTES)}\n")
    total = made.before + made.at_anchor + made.after
    if made.truncated:
        lines.append(f"{len(made.items):,} of {total:,}: {made.before:,} before, ")
        lines.append(f"{made.after:,} after; --before and --after show more\n")
    if made.undated:
        lines.append(f"{made.undated:,} without a date that can be read\n")
    return "".join(lines)


def cards(found: Sequence[tuple[Record, float]], total: int, first: int) -> str:
    """Return cards for people, numbered from ``first`` on."""
    lines = [
        f"{number}. {_facts(record)}{BETWEEN}{_tokens(record)}\n"
        for number, (record, _) in enumerate(found, first)
    ]
    return "".join([*lines, more(len(found), total, first)])


def more(shown: int, total: int, first: int) -> str:
    """Return the last line of a page, "" for the last page."""
    rest = total - (first - 1 + shown)
    return f"{rest:,} more: raise --page\n" if rest > 0 and shown else ""


def expansion(made: Expansion, *, content: bool) -> str:
    """Return the records around one for people."""
    lines = []
    for record, depth in made.nodes:
        lines.append(f"{depth} · {_facts(record)}{BETWEEN}{_tokens(record)}\n")
        if content:
            lines.append(full(record).split("\n", 1)[1])
    if made.truncated:
        lines.append("there are more: raise --max-nodes or --max-tokens\n")
    if made.not_valid:
        lines.append(f"{number(made.not_valid, 'record')} not shown: not valid now\n")
    if made.unresolved:
        named = [f"{text} (of {record_id})" for record_id, text in made.unresolved[:_NAMED]]
        more = len(made.unresolved) - len(named)
        lines.append(f"lead to no record, or to several: {visible(', '.join(named), _LINE_BYTES)}")
        lines.append(f" and {more:,} more\n" if more else "\n")
    return "".join(lines)


def expansion_fields(made: Expansion, *, content: bool) -> dict[str, object]:
    """Return the records around one."""
    nodes = []
    for record, depth in made.nodes:
        node = {**records.card(record, None), "depth": depth, "valid": record.valid}
        if content:
            node["content"] = "" if record.text is None else record.text.content
        nodes.append(node)
    return {
        "nodes": nodes,
        "truncated": made.truncated,
        "not_valid": made.not_valid,
        "unresolved": [{"id": id_, "text": text} for id_, text in made.unresolved],
    }


def _facts(record: Record, *, dated: bool = True) -> str:
    path = visible(shown_path(record.abs_path, os.getcwd()), PATH_BYTES)
    facts = [
        visible(record.id, _FACT_BYTES),
        visible(record.type, _FACT_BYTES),
        plain(record.created.replace("·", " "), _FACT_BYTES) if dated else "",
        path if record.line is None else f"{path}:{record.line}",
        "" if record.valid else "not valid now",
    ]
    return BETWEEN.join(filter(None, facts))


def _tokens(record: Record) -> str:
    return f"{0 if record.text is None else record.text.tokens:,} tokens"
