"""Moving in: the roots that other programs' configuration names.

``.locus.toml``, ``LOCUS_PALACE`` and ``CORTEX_MEMORY_ROOT`` are asked in this order, where nothing
of ours names a root, each for itself: the first that names a directory that can be read counts.
They are not ours: what is wrong with them is told and never stops anything.
A ``.locus.toml`` may come with a repository, so it names directories inside its own only.
"""

from __future__ import annotations

import os

from recall.configfile import MAX_CONFIG_BYTES, Entry, listed
from recall.dirs import expand_home, home_hint
from recall.files import Unreadable, directory_fault, read_small
from recall.notice import Notice, shell_quoted
from recall.project import find_above, is_inside
from recall.rootnames import base_name, unique
from recall.settings import LeftOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recall.files import DirectoryFault
    from recall.looked import Looked

FILE = ".locus.toml"
VARIABLES = ("LOCUS_PALACE", "CORTEX_MEMORY_ROOT")
_LONGEST_NAME = 50  # characters of one that is made of a directory's
_OUTSIDE = f"outside the directory of {FILE}, which may come from anyone"


class Others:
    """What other programs name, each place once.

    ``source`` is the first that names a directory that can be read, ``entries`` are its roots, and
    ``passed_over`` those of the sources after it. Where no source does, it is None, and ``entries``
    are all that are named. ``refused`` are roots that a file may not
    name, ``unusable`` those of sources that name no directory that can be read, while another
    does; ``left_out`` says so of both. ``faults`` tell what could not be used.
    """

    __slots__ = ("entries", "faults", "passed_over", "refused", "source", "unusable")

    def __init__(self) -> None:
        self.source: str | None = None
        self.entries: list[Entry] = []
        self.passed_over: list[Entry] = []
        self.refused: list[Entry] = []
        self.unusable: list[LeftOut] = []
        self.faults: list[Notice] = []

    @property
    def left_out(self) -> list[LeftOut]:
        """The refused and the unusable roots, as a configuration lists them."""
        refused = [LeftOut(e.name, e.path, _OUTSIDE, e.source) for e in self.refused]
        return [*refused, *self.unusable]

    def notices(self) -> list[Notice]:
        """Return what is said of it where it is read for want of a configuration of ours."""
        made = list(self.faults)
        if self.entries and self.source is None:
            sources = dict.fromkeys(entry.source for entry in self.entries)
            made.append(
                Notice(
                    "recall's own configuration names no root, and nothing that "
                    f"{' or '.join(sources)} names can be read",
                    "recall roots add NAME DIR",
                )
            )
        elif self.source is not None:
            made.append(
                Notice(
                    f"roots are taken from {self.source}, as recall's own configuration names none",
                    "recall roots adopt",
                )
            )
        return made

    def choose(self, sources: Sequence[tuple[str, list[Entry]]], looked: Looked | None) -> None:
        """Find the one of the sources, each with its roots, that counts."""
        told: set[str] = set()
        bad: list[tuple[Entry, DirectoryFault]] = []
        for source, entries in sources:
            new = [entry for entry in entries if entry.path not in told]
            told.update(entry.path for entry in new)
            if self.source is not None:
                self.passed_over += new
                continue
            faults = [_fault(entry, looked) for entry in entries]
            if None in faults:
                self.source, self.entries = source, entries
            else:
                pairs = zip(entries, faults, strict=True)
                bad += [(entry, fault) for entry, fault in pairs if fault and entry in new]
        taken = {entry.name for entry in self.entries}
        for entry, _ in bad:
            entry.name = unique(entry.name, taken)
        if self.source is None:  # whoever uses them says what is wrong with each
            self.entries = [entry for entry, _ in bad]
            return
        for entry, fault in bad:
            self.faults.append(unusable(entry, fault))
            self.unusable.append(
                LeftOut(entry.name, entry.path, fault.reason, entry.source, gone=fault.missing)
            )


def look(cwd: str, environ: Mapping[str, str], looked: Looked | None = None) -> Others:
    """Return what other programs' configuration names for a person in ``cwd``.

    ``looked`` notes all that decides. Raises nothing for what is wrong with it.
    """
    others = Others()
    sources: list[tuple[str, list[Entry]]] = []
    file = find_above(cwd, FILE, others.faults, looked)
    if file is not None:
        sources.append((file, _read(file, environ, others, looked)))
    for name in VARIABLES:
        value = environ.get(name, "")
        if value:
            entry = _entry(value, cwd, name, environ, looked)
            if entry is None:
                others.faults.append(_homeless(name, value))
            else:
                sources.append((name, [entry]))
    others.choose(sources, looked)
    return others


def unusable(entry: Entry, fault: DirectoryFault) -> Notice:
    """Return what is said of a root whose directory can't be read."""
    correct = "correct or unset" if entry.source in VARIABLES else "correct"
    return Notice(
        f"{entry.source}: {entry.path} is not used: it {fault.reason}",
        f"create or mount the directory, or {correct} {entry.source}",
    )


def _fault(entry: Entry, looked: Looked | None) -> DirectoryFault | None:
    if looked:
        looked.root(entry.path)
    return directory_fault(entry.path)


def _read(
    file: str, environ: Mapping[str, str], others: Others, looked: Looked | None
) -> list[Entry]:
    """Return the roots that a file names and may name; note the others, and what is wrong."""
    directory = os.path.realpath(os.path.dirname(file))
    taken: set[str] = set()
    entries: dict[str, Entry] = {}
    try:
        written = _written(file)
    except ValueError as fault:
        others.faults.append(Notice(f"{file}: no root is taken from it: {fault}"))
        return []
    for value in written:
        entry = _entry(value, directory, file, environ, looked)
        if entry is None:
            others.faults.append(_homeless(file, value))
        elif entry.path not in entries:  # else it is another way to write the same place
            entry.name = unique(entry.name, taken)
            entries[entry.path] = entry
    inside = [entry for entry in entries.values() if is_inside(entry.path, directory)]
    others.refused = [entry for entry in entries.values() if entry not in inside]
    if others.refused:
        first = others.refused[0]
        others.faults.append(
            Notice(
                f"{file} may not name directories outside its own; "
                f"left out: {listed(others.refused)}",
                f"recall roots add {shell_quoted(first.name)} {shell_quoted(first.path)}",
            )
        )
    return inside


def _written(file: str) -> list[str]:
    """Return the directories that a file names. Raises ``ValueError`` with what is wrong."""
    import tomllib

    try:
        tables = tomllib.loads(read_small(file, MAX_CONFIG_BYTES).decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise ValueError("it is a link that leads nowhere") from error
    except Unreadable as reason:
        raise ValueError(f"it can't be read: {reason}") from reason
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"it is not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    table = tables.get("recall", {})
    if not isinstance(table, dict):
        raise ValueError("recall is no table")  # noqa: TRY004 - a fault of the file, not of ours
    roots = table.get("roots", [])
    fine = isinstance(roots, list) and all(
        isinstance(each, str) and each and "\0" not in each for each in roots
    )
    if not fine:
        raise ValueError("recall.roots is no list of directories")
    return list(roots)


def _entry(
    value: str,
    base: str,
    source: str,
    environ: Mapping[str, str],
    looked: Looked | None,
) -> Entry | None:
    """Return the root at ``value``, relative to ``base``; None if it begins with no known home."""
    if looked:
        looked.tilde(value)
    expanded = expand_home(value, environ)
    if expanded is None:
        return None
    path = os.path.join(base, expanded)
    if looked:
        looked.real(path)
    path = os.path.realpath(path)
    return Entry(derived_name(path), path, source, written=value)


def derived_name(path: str) -> str:
    """Return a root's name made of its directory's: one that ``name_fault`` has nothing against."""
    kept = "".join(char if char.isprintable() else "-" for char in base_name(path))
    return kept[:_LONGEST_NAME].strip("~- ") or "notes"


def _homeless(source: str, value: str) -> Notice:
    return Notice(f'{source}: no home directory is known for "{value}"', home_hint(value))
