"""``recall status``: roots, caches, and what was skipped."""

from __future__ import annotations

import os
import time

import click

from recall.cli.common import Console, working_directory
from recall.cli.fields import by_reason, left_out_fields, skipped_path, status_fields
from recall.cli.options import examples, json_option, root_option
from recall.output import number, size, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.config import LeftOut
    from recall.rootstatus import RootStatus


@click.command(epilog=examples("recall status", "recall status --skipped"))
@root_option
@click.option("--skipped", is_flag=True, help="List every skipped file with its reason.")
@json_option
def command(*, names: tuple[str, ...], skipped: bool, as_json: bool) -> int:
    """Show roots, caches and what was skipped.

    For each root: its notes, its cache file and size, the last refresh and the last failure. A root
    whose directory is missing, or that a project's file may not name yet, is shown as left out.
    """
    from recall import config

    cwd = working_directory()
    console = Console("status", as_json=as_json)
    settings = config.load(cwd, os.environ, names, fallback=False, demand=False)
    left_out = [left for left in settings.left_out if not names or left.name in names]
    console.note_all(settings.notices)
    from recall.service import Recall

    with Recall(settings.roots, cwd=cwd, environ=os.environ) as recall:
        states = recall.status()
    return console.finish(
        lambda: {
            "roots": [status_fields(state, skipped=skipped) for state in states],
            "left_out": [left_out_fields(left) for left in left_out],
            "config": list(settings.sources),
        },
        lambda _: "".join(
            [
                *(_lines(state, skipped=skipped) for state in states),
                *(_left_out(left) for left in left_out),
            ]
        ),
    )


def _left_out(left: LeftOut) -> str:
    return f"{visible(left.name)}: {visible(left.path)}\n  left out: {visible(left.reason)}\n"


def _lines(state: RootStatus, *, skipped: bool) -> str:
    lines = [f"{visible(state.root.name)}: {visible(state.root.path)}"]
    if state.built:
        lines.append(
            f"  {number(state.documents, 'note')}, {size(state.text_bytes)} of text, "
            f"cache {size(state.cache_bytes)}"
        )
        if state.withheld:
            lines.append(f"  withheld as private: {state.withheld:,}")
        lines.append(f"  cache file: {visible(state.cache_file or 'in memory')}")
        lines.append(f"  last refresh: {_local(state.last_refresh)}")
    else:
        lines.append("  not indexed yet; the next search or recall refresh does it")
    if state.last_failure is not None:
        lines.append(f"  last failure: {_failure(state.last_failure)}")
    for kind, entries in (("skipped", state.skipped), ("unavailable", state.unavailable)):
        if skipped:
            lines += [f"  {kind}: {skipped_path(item)}: {visible(item.reason)}" for item in entries]
        else:
            lines += [f"  {kind} {n:,}: {visible(why)}" for why, n in by_reason(entries).items()]
    return "\n".join(lines) + "\n"


def _local(epoch: object) -> str:
    if not isinstance(epoch, (int, float)):
        return "never"
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(epoch))


def _failure(failure: dict[str, object]) -> str:
    parts = [_local(failure.get("when")), visible(str(failure.get("message", "")))]
    if failure.get("where"):
        parts.append(visible(str(failure["where"])))
    if failure.get("hint"):
        parts.append(f"hint: {visible(str(failure['hint']))}")
    return "; ".join(parts)
