"""``recall bench check``: find labels that can't be used, or whose documents are gone."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import CheckFailed, InvalidInput
from recall.cli import completing
from recall.cli.common import Console, progress_on, working_directory
from recall.cli.options import Strict, examples, group_option, json_option, root_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.bench.labels import Labels
    from recall.bench.running import Fault


@click.command(cls=Strict, epilog=examples("recall bench check --labels labels.jsonl"))
@click.option(
    "--labels",
    metavar="FILE",
    shell_complete=completing.a_file,
    help="The labels to look at.",
)
@root_option
@group_option
@json_option
def command(
    *, labels: str | None, names: tuple[str, ...], groups: tuple[str, ...], as_json: bool
) -> int:
    """Find labels that are wrong, or whose documents are gone.

    Lists every line that is no label, every document that is no longer there, with where it may
    have moved, every name that several documents have, and every scope that is nowhere. Exit 0
    when there is none, else 2.
    """
    from recall import config
    from recall.bench import labels as labels_
    from recall.bench import running

    if labels is None:
        raise InvalidInput(
            "--labels names the file to look at", hint="recall bench check --labels FILE"
        )
    cwd = working_directory()
    console = Console("bench check", as_json=as_json)
    found = labels_.parse(labels_.read(labels))
    settings = config.load(cwd, os.environ, names, groups=groups, fallback=True)
    console.note_all(settings.notices)
    with progress_on(sys.stderr) as progress:
        held, reports = running.refreshed(settings, cwd, os.environ, progress, digests=False)
    console.note_reports(reports)
    faults = running.faults(found, held, settings, cwd)
    error = None
    if faults:
        error = CheckFailed(
            f"{len(faults):,} thing{'' if len(faults) == 1 else 's'} wrong with the labels",
            where=labels,
            hint="correct the lines that are listed, or take them out",
        )
    return console.finish(
        lambda: _fields(found, faults), lambda _: _text(labels, found, faults), error
    )


def _fields(found: Labels, faults: list[Fault]) -> dict[str, object]:
    return {
        "labels": len(found.labels),
        "drafts": sum(label.draft for label in found.labels),
        "faults": [
            {
                "line": each.line,
                "id": each.id,
                "kind": each.kind,
                "message": each.message,
                "name": each.name,
                "similar": each.similar,
            }
            for each in faults
        ],
    }


def _text(file: str, found: Labels, faults: list[Fault]) -> str:
    from recall.output import number, visible

    lines = []
    for each in faults:
        label = f" ({visible(each.id)})" if each.id else ""
        lines.append(f"{visible(file)}:{each.line}{label}: {visible(each.message)}")
        if each.similar:
            lines.append(f"  of that name: {', '.join(map(visible, each.similar))}")
    if not faults:
        drafts = sum(label.draft for label in found.labels)
        more = f", {drafts:,} of them drafts" if drafts else ""
        lines.append(f"{number(len(found.labels), 'label')}{more}: all documents are there")
    return "\n".join(lines) + "\n"
