"""``recall bench``: measure what recall finds, misses, injects and costs."""

from __future__ import annotations

import os
import sys

import click

from index_cache.errors import InvalidInput, NotFound, RecallError, RootUnavailable
from recall.cli import bench_check, bench_init, completing
from recall.cli.common import Console, Progress, progress_on, working_directory, write_text
from recall.cli.options import (
    SETTINGS,
    StrictGroup,
    examples,
    group_option,
    json_option,
    root_option,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recall.bench.running import Bench
    from recall.config import Config

_MAX_OLD = 512 * 1024 * 1024  # bytes of a report that is compared with
_MAX_JOBS = 64


class _Asking(Progress):
    SAYS = "asking {what}: {done:,} of {total:,}"


class _Wanted:
    """The files that are to be written, and the report that is compared with."""

    def __init__(
        self,
        *,
        compare: str | None,
        save: str | None,
        html: str | None,
        run: str | None,
        qrels: str | None,
    ) -> None:
        self.compare = compare
        self.save = save
        self.html = html
        self.run = run
        self.qrels = qrels
        self.old: dict[str, Any] | None = None

    def check(self) -> None:
        """Find out what can be known of them before the work. Raises what is wrong."""
        from recall import outfiles

        named = [path for path in (self.html, self.run, self.qrels) if path is not None]
        for path in named:
            outfiles.refuse_existing(path)
        if len({os.path.realpath(path) for path in named}) < len(named):
            raise InvalidInput("two outputs have one name", hint="give each a name of its own")
        if self.save is not None:
            outfiles.refuse_directory(self.save)
        if self.html is not None:
            from recall.bench import plots

            plots.demand()
        if self.compare is not None:
            from recall.bench import compare

            self.old = compare.load(_read(self.compare), self.compare)


@click.group(
    cls=StrictGroup,
    invoke_without_command=True,
    context_settings=SETTINGS,
    epilog=examples(
        "recall bench init --out labels.jsonl",
        "recall bench --labels labels.jsonl --save reports",
        "recall bench --labels labels.jsonl --compare reports/labels-v0.1.0-1.json",
        "recall bench --labels labels.jsonl --html report.html --json",
    ),
)
@click.option(
    "--labels",
    metavar="FILE",
    shell_complete=completing.a_file,
    help="Questions with the notes that answer them, one JSON object a line; - is stdin.",
)
@root_option
@group_option
@click.option(
    "--compare",
    metavar="OLD.json",
    shell_complete=completing.a_file,
    help="Show what has moved since that report, and whether it is more than chance.",
)
@click.option(
    "--save",
    metavar="DIR",
    shell_complete=completing.a_directory,
    help="Keep the report in DIR, as LABELS-vVERSION-N.json with the next N.",
)
@click.option("--html", metavar="FILE", help="Write a page with plots.  [needs recall[bench]]")
@click.option("--trec-run", "run", metavar="FILE", help="Write what was found, as trec_eval reads.")
@click.option("--trec-qrels", "qrels", metavar="FILE", help="Write the labels as trec_eval reads.")
@click.option(
    "--jobs",
    type=click.IntRange(1, _MAX_JOBS),
    metavar="N",
    help="Ask in N processes.  [default: one a core, at most 4; 1 for less than 100 labels]",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    labels: str | None,
    names: tuple[str, ...],
    groups: tuple[str, ...],
    compare: str | None,
    save: str | None,
    html: str | None,
    run: str | None,
    qrels: str | None,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Measure what is found, against labels of your own.

    Each label is asked as "recall search" would, and as the prompt hook would, which keeps nothing
    of it. Shown are hit@1, 3 and 5, Recall, MRR and nDCG by category; false recall, which is how
    often the hook would have spoken where nothing is relevant; what is injected, and the time it
    takes. "init" drafts labels from your notes, "check" finds those whose notes are gone.

    \b
    A label:
      {"query": "how do we rotate keys?", "relevant": ["ops/keys.md"], "category": "ops"}
    relevant is a list of paths or ids, {"ops/keys.md": 3} with grades, or [] if no note answers.
    Also: id, irrelevant, order, scope, provenance. No file is ever overwritten.
    """  # noqa: D301 - click's mark for lines that stay as they are
    given = (labels, compare, save, html, run, qrels, jobs)
    if context.invoked_subcommand is not None:
        if as_json or names or groups or any(each is not None for each in given):
            raise InvalidInput(
                f"options come after {context.invoked_subcommand}",
                hint=f"recall bench {context.invoked_subcommand} --help",
            )
        return 0
    if labels is None:
        if as_json or names or groups or any(each is not None for each in given):
            raise InvalidInput(
                "--labels names the file of questions", hint="recall bench init --out FILE"
            )
        write_text(f"{context.get_help()}\n")
        return 0
    wanted = _Wanted(compare=compare, save=save, html=html, run=run, qrels=qrels)
    return _bench(labels, (names, groups), wanted, jobs, as_json=as_json)


command.add_command(bench_init.command, "init")
command.add_command(bench_check.command, "check")


def _bench(
    file: str,
    roots: tuple[tuple[str, ...], tuple[str, ...]],
    wanted: _Wanted,
    jobs: int | None,
    *,
    as_json: bool,
) -> int:
    from recall import config
    from recall.bench import labels, running, table
    from recall.notice import shell_quoted

    wanted.check()
    cwd = working_directory()
    console = Console("bench", as_json=as_json)
    data = labels.read(file)
    names, groups = roots
    settings = config.load(cwd, os.environ, names, groups=groups, fallback=True)
    console.note_all(settings.notices)
    line = " ".join(["recall", *map(shell_quoted, sys.argv[1:])])
    bench = running.Bench(file, data, settings, cwd=cwd, environ=os.environ, command=line)
    report = _run(bench, settings, jobs)
    console.note_reports(bench.refreshes)
    report["compare"] = None
    if wanted.old is not None:
        from recall.bench import compare

        report["compare"] = compare.compare(wanted.old, report)
    console.note_all(bench.notices)
    report["files"] = []
    failure = None
    try:
        _write(report, wanted, file, bench)
    except RecallError as error:
        failure = error  # what was measured is shown all the same
    return console.finish(lambda: report, lambda _: table.text(report), failure)


def _run(bench: Bench, settings: Config, jobs: int | None) -> dict[str, Any]:
    what = ", ".join(root.name for root in settings.roots)
    with progress_on(sys.stderr) as indexing, progress_on(sys.stderr, _Asking) as asking:
        return bench.run(
            jobs=jobs,
            progress=indexing,
            tell=None if asking is None else lambda done, of: asking(what, done, of),
        )


def _write(report: dict[str, Any], wanted: _Wanted, file: str, bench: Bench) -> None:
    """Write the files that are wanted, and put their names into the report."""
    from recall import __version__, outfiles
    from recall.bench import trec

    files: list[str] = report["files"]
    if wanted.html is not None:
        from recall.bench import webpage

        outfiles.create(wanted.html, webpage.page(report).encode("utf-8", "replace"))
        files.append(wanted.html)
    for path, make in ((wanted.run, trec.run), (wanted.qrels, trec.qrels)):
        if path is not None:
            outfiles.create(path, make(report["queries"]).encode("utf-8", "backslashreplace"))
            files.append(path)
    if wanted.save is not None:
        from recall.envelope import encode, success

        notices = [{"message": each.message, "hint": each.hint} for each in bench.notices]
        kept = encode(success("bench", {**report, "files": files, "notices": notices}))
        files.append(outfiles.save(wanted.save, file, __version__, kept))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MAX_OLD + 1)
    except FileNotFoundError as error:
        raise NotFound(
            "there is no such report", where=path, hint="recall bench --labels FILE --save DIR"
        ) from error
    except (IsADirectoryError, ValueError) as error:
        raise InvalidInput("a report is a file", where=path) from error
    except OSError as error:
        told = f"the report can't be read: {error.strerror or error}"
        raise RootUnavailable(told, where=path) from error
    if len(data) > _MAX_OLD:
        raise InvalidInput("that is too large for a report", where=path)
    return data
