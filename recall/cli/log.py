"""``recall log``: what the prompt hook showed, and why it spoke or kept silent."""

from __future__ import annotations

import os
import time

import click

from index_cache.errors import RecallError, RootUnavailable
from recall.cli.common import Console, required, working_directory
from recall.cli.fields import entry_fields, local, summary_fields
from recall.cli.options import Strict, examples, json_option
from recall.output import number, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recall.logreading import Entry
    from recall.logsummary import Summary

_TEXT = 200  # bytes of a prompt in a line
_REASONS = 8  # in a line


@click.command(cls=Strict, epilog=examples("recall log", "recall log --summary --since 7d"))
@click.option(
    "-n",
    "count",
    type=click.IntRange(1, 100_000),
    default=20,
    metavar="N",
    help="How many of the latest entries.  [default: 20]",
)
@click.option("--summary", "as_summary", is_flag=True, help="Sum all entries up instead.")
@click.option("--since", metavar="DURATION", help="Only what is younger: 90s, 30m, 1h or 7d.")
@json_option
def command(*, count: int, as_summary: bool, since: str | None, as_json: bool) -> int:
    """Show what the prompt hook said, and why.

    The latest prompts, newest last: when, whether it spoke and why, the notes that it showed, how
    long it took. The log is yours alone and has no text of a prompt unless [hook] log_prompts says
    so; [hook] log = false ends it. Where isolate = true holds, only what was asked of roots that
    are searched there is shown, and no text.
    """
    from recall import dirs, logreading, recalllog, told
    from recall.durations import seconds_of
    from recall.files import Unreadable

    console = Console("log", as_json=as_json)
    begin = None if since is None else time.time() - seconds_of(since, "--since")
    state_dir = required(dirs.state_dir(os.environ), "a log")
    try:
        entries, bad = logreading.read(state_dir)
    except Unreadable as error:
        where = os.path.join(state_dir, recalllog.FILE)
        raise RootUnavailable(f"the log can't be read: {error}", where=where) from error
    if bad:
        console.note(f"{number(bad, 'line')} of the log can't be read and {_are(bad)} passed over")
    entries = [entry for entry in entries if begin is None or entry.when >= begin]
    may = told.here(working_directory(), os.environ)
    shown = entries if may is None else [entry for entry in entries if may.saw(entry)]
    aside = len(entries) - len(shown)
    end = f"isolate sets {number(aside, 'entry', 'entries')} of other projects aside here\n"
    if as_summary:
        return _summed(console, shown, aside, end if aside else "")
    latest = shown[-count:]
    # Which project a prompt was asked in, the log does not know.
    spoken = may is None
    return console.finish(
        lambda: {
            "entries": [entry_fields(entry, spoken=spoken) for entry in latest],
            "summary": None,
            "aside": aside,
        },
        lambda _: (
            ("".join(_lines(entry, spoken=spoken) for entry in latest) or "nothing is logged\n")
            + (end if aside else "")
        ),
    )


def _summed(console: Console, entries: list[Entry], aside: int, end: str) -> int:
    from recall.logsummary import Summary

    summary = Summary(entries, _documents(console))
    return console.finish(
        lambda: {"entries": None, "summary": summary_fields(summary), "aside": aside},
        lambda _: _text(summary) + end,
    )


def _documents(console: Console) -> Mapping[str, tuple[str, str]] | None:
    """Return the documents of the configured roots; None, and say why, if they are not known."""
    from recall import config, dirs
    from recall.recallable import documents

    try:
        settings = config.load(working_directory(), os.environ, fallback=False, demand=False)
    except RecallError as error:
        console.note(f"what was never recalled is not known: {error.message}", error.hint)
        return None
    console.note_all(settings.notices)
    found, unknown = documents(dirs.cache_dir(os.environ), settings.roots)
    for root, why in unknown:
        console.note(f"{root.name}: its notes are not counted: {why}", "recall refresh")
    return found


def _lines(entry: Entry, *, spoken: bool) -> str:
    parts = [
        local(entry.when),
        f"{entry.decision}: {visible(entry.why)}",
        *([number(len(entry.cards), "card")] if entry.cards else []),
        *([f"~{number(entry.tokens, 'token')}"] if entry.tokens else []),
        f"{entry.ms:.0f} ms",
        visible(entry.host),
    ]
    lines = [" · ".join(parts)]
    if spoken and entry.text is not None:
        lines.append(f"  prompt: {visible(entry.text, _TEXT)}")
    lines += [f"  {visible(root)}: {visible(path)}" for _, root, path, _ in entry.cards]
    return "\n".join(lines) + "\n"


def _text(summary: Summary) -> str:
    if summary.since is None or summary.p50 is None or summary.p95 is None:
        lines = ["nothing is logged"]
    else:
        share = 100 * summary.spoke / summary.prompts
        prompts = number(summary.prompts, "prompt")
        lines = [
            f"since {local(summary.since)}: {prompts}, spoke at {summary.spoke:,} ({share:.0f} %)",
            f"  time: p50 {summary.p50:.0f} ms, p95 {summary.p95:.0f} ms",
            f"  said: ~{number(summary.tokens, 'token')}",
        ]
    for decision, whys in summary.reasons.items():
        shown = [f"{visible(why)} {count:,}" for why, count in list(whys.items())[:_REASONS]]
        more = len(whys) - len(shown)
        lines.append(f"  {decision}: {', '.join(shown)}" + (f" and {more} more" if more else ""))
    if summary.most:
        lines.append("most recalled:")
        lines += [f"  {n:,}: {visible(root)}: {visible(path)}" for root, path, n in summary.most]
    if summary.never is not None and summary.known:
        lines.append(_never(summary.known, summary.never))
    return "\n".join(lines) + "\n"


def _never(known: int, never: list[tuple[str, str]]) -> str:
    from recall.logsummary import FIRST

    lines = [f"never recalled: {len(never):,} of {number(known, 'note')}"]
    lines += [f"  {visible(root)}: {visible(path)}" for root, path in never[:FIRST]]
    if len(never) > FIRST:
        lines.append(f"  and {len(never) - FIRST:,} more")
    return "\n".join(lines)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
