"""One run of ``recall bench``: labels and roots to a report (``spec/bench.md``)."""

from __future__ import annotations

import os
import time

from index_cache.errors import InvalidInput, RootUnavailable
from recall import __version__, dirs
from recall.bench import corpus, figures, labels
from recall.bench.probe import Probe
from recall.bench.processes import in_processes
from recall.nesting import below
from recall.notice import Notice, shell_quoted
from recall.output import number
from recall.service import Recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from index_cache.ingest import Progress
    from index_cache.refresh import Report as Refreshed
    from recall.bench.corpus import Corpus
    from recall.bench.labels import Label, Labels
    from recall.settings import Config

    Report = dict[str, Any]
    Tell = Callable[[int, int], None]  # queries asked, of so many

FORMAT = "recall-bench/1"
SAMPLES = 25
CHUNK = 50  # labels that a process is given at a time
_ENOUGH = 2 * CHUNK  # labels for which another process is worth its start
_MOST_JOBS = 4
_FIRST = 3  # names that a notice has


class Bench:
    """What is measured: questions to some roots.

    ``path`` names the file of labels, ``data`` is its content. ``settings`` are what
    ``config.load`` found, ``environ`` stands for the environment, and ``command`` is told in the
    report. After the run ``notices`` are to be said, and so is what ``refreshes`` tell. Raises
    InvalidInput when the labels can't be used.
    """

    def __init__(
        self,
        path: str,
        data: bytes,
        settings: Config,
        *,
        cwd: str,
        environ: Mapping[str, str],
        command: str = "",
    ) -> None:
        self.notices: list[Notice] = []
        self.refreshes: list[Refreshed] = []
        self._path = path
        self._settings = settings
        self._cwd = cwd
        self._environ = environ
        self._command = command
        self._digest = _sha256(data)
        found = labels.parse(data)
        self._labels = labels.demand(found, path)
        if found.unknown:
            names = ", ".join(sorted(found.unknown)[:_FIRST])
            self._note(f"labels have fields that mean nothing here: {names}")

    def run(
        self, *, jobs: int | None = None, progress: Progress | None = None, tell: Tell | None = None
    ) -> Report:
        """Refresh the caches, ask everything and return the report.

        ``jobs`` is how many processes ask; by default one for few labels, else one a core, up to
        four.
        Raises the error of the first root that can't be searched, and InvalidInput for labels
        whose scope or documents can't be told.
        """
        started = time.perf_counter()
        held, self.refreshes = refreshed(
            self._settings, self._cwd, self._environ, progress, digests=True
        )
        self._check(held)
        asking = Asking(self._settings, self._cwd, dict(self._environ))
        with Probe(self._settings, held, self._cwd, self._environ) as probe:
            latency = _latency(probe, self._labels)
        records, used = _ask(asking, held, self._labels, jobs or _cores(self._labels), tell)
        self._look_again(held)
        drafts = sum(label.draft for label in self._labels)
        if drafts:
            self._note(
                f"{number(drafts, 'label')} {'is a draft' if drafts == 1 else 'are drafts'}: "
                "a score over what nobody has corrected says little",
                f"correct them in {shell_quoted(self._path)}, and take out draft and why",
            )
        return {
            "format": FORMAT,
            "recall": __version__,
            "command": self._command,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "labels": {
                "file": labels.shown(self._path),
                "digest": self._digest,
                "count": len(self._labels),
                "drafts": drafts,
            },
            "corpus": {
                "digest": held.digest(),
                "documents": len(held.documents),
                "roots": [
                    {"name": name, "digest": digest, "documents": count}
                    for name, digest, count in held.roots
                ],
            },
            "settings": {
                "sensitivity": self._settings.hook.sensitivity,
                "max_cards": self._settings.hook.max_cards,
                "include_journal": self._settings.search.include_journal,
            },
            "summary": figures.figures(records),
            "categories": figures.by_category(records),
            "latency": latency,
            "cost": {
                "cache_bytes": held.cache_bytes,
                "peak_memory_bytes": peak_memory(),
                "seconds": round(time.perf_counter() - started, 3),
                "jobs": used,
            },
            "queries": records,
        }

    def _check(self, held: Corpus) -> None:
        unclear = _unclear(self._labels, held, self._settings, self._cwd)
        hint = f"recall bench check --labels {shell_quoted(self._path)}"
        if unclear:
            first = unclear[0]
            told = f": {', '.join(first.similar)}" if first.similar else ""
            raise InvalidInput(first.message + told, where=f"{self._path}:{first.line}", hint=hint)
        names = list(dict.fromkeys(each.name for each in _gone(self._labels, held)))
        if names:
            listed = ", ".join(names[:_FIRST]) + (", …" if len(names) > _FIRST else "")
            many = "document that is" if len(names) == 1 else "documents that are"
            count = "counts" if len(names) == 1 else "count"
            self._note(
                f"labels name {len(names):,} {many} not there and {count} as not found: {listed}",
                hint,
            )

    def _look_again(self, held: Corpus) -> None:
        """Say so when the notes have changed since the labels were looked up in them."""
        now, _ = refreshed(self._settings, self._cwd, self._environ, None, digests=False)
        if now.contents() != held.contents():
            self._note(
                "notes have changed while the questions were asked:"
                " the figures are of neither state",
                "run it again",
            )

    def _note(self, message: str, hint: str | None = None) -> None:
        self.notices.append(Notice(message, hint))


class Asking:
    """What another process needs to ask questions by itself."""

    def __init__(self, settings: Config, cwd: str, environ: dict[str, str]) -> None:
        self.settings = settings
        self.cwd = cwd
        self.environ = environ

    def __call__(self, chunk: Sequence[Label]) -> list[dict[str, object]]:
        """Return the records of some labels."""
        cache_dir = place_of_caches(self.environ)
        held = corpus.read(cache_dir, self.settings.roots, digests=False)
        return self.records(held, chunk)

    def records(self, held: Corpus, chunk: Sequence[Label]) -> list[dict[str, object]]:
        """Return the records of some labels, the documents being known."""
        with Probe(self.settings, held, self.cwd, self.environ) as probe:
            return [probe.ask(label) for label in chunk]


def place_of_caches(environ: Mapping[str, str]) -> str:
    """Return the directory of the caches. Raises InvalidInput when there is no home for it."""
    found = dirs.cache_dir(environ)
    if found is None:
        raise InvalidInput(
            "there is no place for caches: no home directory can be found",
            hint="set HOME to an absolute path",
        )
    return found


def refreshed(
    settings: Config,
    cwd: str,
    environ: Mapping[str, str],
    progress: Progress | None,
    *,
    digests: bool,
) -> tuple[Corpus, list[Refreshed]]:
    """Bring the caches up to date; return their documents, and what happened in each root.

    With ``digests`` the roots have theirs. Raises the failure of the first root whose cache could
    not be refreshed.
    """
    cache_dir = place_of_caches(environ)
    with Recall(settings.roots, cwd=cwd, environ=environ) as recall:
        reports = recall.refresh(progress=progress)
        for report in reports:
            if report.failure is not None:
                raise report.failure
        roots = recall.roots
    if not os.access(cache_dir, os.W_OK):
        raise RootUnavailable(
            "the caches can't be kept, and without them nothing can be measured",
            where=cache_dir,
            hint="set XDG_CACHE_HOME to a directory that can be written to",
        )
    return corpus.read(cache_dir, roots, digests=digests), reports


class Fault:
    """What is wrong with a label: ``kind`` is ``invalid``, ``gone``, ``ambiguous`` or ``scope``.

    ``name`` is that of the document or the scope, ``similar`` are places of files of that name.
    """

    def __init__(
        self,
        line: int,
        id: str,
        kind: str,
        message: str,
        name: str = "",
        similar: Sequence[str] = (),
    ) -> None:
        self.line = line
        self.id = id
        self.kind = kind
        self.message = message
        self.name = name
        self.similar = list(similar)


def faults(found: Labels, held: Corpus, settings: Config, cwd: str) -> list[Fault]:
    """Return all that is wrong with some labels, by line."""
    invalid = [Fault(each.line, "", "invalid", each.message) for each in found.problems]
    if not found.labels and not invalid:
        invalid = [Fault(1, "", "invalid", "there are no labels in it")]
    known = _unclear(found.labels, held, settings, cwd) + _gone(found.labels, held)
    return sorted([*invalid, *known], key=lambda each: each.line)


def _gone(found: Sequence[Label], held: Corpus) -> list[Fault]:
    """Return each name that no document has, for each label that has it."""
    similar: dict[str, list[str]] = {}
    missing = []
    for label in found:
        for name in label.names():
            if not held.keys(name):
                if name not in similar:
                    similar[name] = held.similar(name)
                told = f'no document has the name "{name}"'
                missing.append(Fault(label.line, label.id, "gone", told, name, similar[name]))
    return missing


def _unclear(found: Sequence[Label], held: Corpus, settings: Config, cwd: str) -> list[Fault]:
    """Return names of several documents, and scopes that are nowhere."""
    unclear: list[Fault] = []
    scopes: dict[str, bool] = dict.fromkeys((root.name for root in settings.roots), True)
    for label in found:
        for name in label.names():
            keys = held.keys(name)
            if len(keys) > 1:
                told = f'"{name}" is the name of {len(keys)} documents'
                unclear.append(Fault(label.line, label.id, "ambiguous", told, name, keys[:_FIRST]))
        scope = label.scope
        if scope is None:
            continue
        if scope not in scopes:
            scopes[scope] = any(below(root, scope, cwd) is not None for root in settings.roots)
        if not scopes[scope]:
            told = f'the scope "{scope}" is no root, and no path in one'
            unclear.append(Fault(label.line, label.id, "scope", told, scope))
    return unclear


def peak_memory() -> int:
    """Return the largest resident size of this process and those it has waited for, in bytes."""
    import resource
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    waited_for = unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(_own_peak(unit), waited_for)


def _own_peak(unit: int) -> int:
    """Return the largest resident size of this process, in bytes.

    On Linux what getrusage says of it begins with the size of the process that started it.
    """
    import resource

    try:
        with open("/proc/self/status", "rb") as file:
            (line,) = (each for each in file if each.startswith(b"VmHWM:"))
        return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _cores(found: Sequence[Label]) -> int:
    return min(_MOST_JOBS, os.cpu_count() or 1) if len(found) >= _ENOUGH else 1


def _latency(probe: Probe, found: Sequence[Label]) -> dict[str, object]:
    picked = [found[at * len(found) // SAMPLES] for at in range(SAMPLES)]
    search: list[float] = []
    hook: list[float] = []
    for number_, label in enumerate([picked[0], *picked]):
        started = time.perf_counter()
        probe.search(label, refresh=True)
        between = time.perf_counter()
        probe.hook(label, anew=True)
        if number_:  # the first pays for what is loaded once
            search.append(round(1000 * (between - started), 3))
            hook.append(round(1000 * (time.perf_counter() - between), 3))
    return {
        "samples": SAMPLES,
        "search": figures.times(search),
        "hook": figures.times(hook),
    }


def _ask(
    asking: Asking, held: Corpus, found: Sequence[Label], jobs: int, tell: Tell | None
) -> tuple[list[dict[str, object]], int]:
    """Return the records of all labels in their order, and how many processes asked."""
    chunks = [found[at : at + CHUNK] for at in range(0, len(found), CHUNK)]
    jobs = min(jobs, len(chunks))
    records: list[dict[str, object]] = []
    parts = (
        in_processes(asking, chunks, jobs)
        if jobs > 1
        else (asking.records(held, chunk) for chunk in chunks)
    )
    for part in parts:
        records += part
        if tell is not None:
            tell(len(records), len(found))
    return records, jobs
