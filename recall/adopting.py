"""Moving in: the roots that other programs' configuration names.

``.locus.toml``, ``LOCUS_PALACE`` and ``CORTEX_MEMORY_ROOT`` are asked in this order, where nothing
of ours names a root. They are not ours: what is wrong with them is told and never stops anything.
A ``.locus.toml`` may come with a repository, so it names directories inside its own only.
"""

from __future__ import annotations

import os

from recall.configfile import MAX_CONFIG_BYTES, Entry, base_name, listed, unique
from recall.dirs import expand_home
from recall.files import Unreadable, read_small
from recall.notice import Notice, shell_quoted
from recall.project import find_above, is_inside
from recall.settings import LeftOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recall.looked import Looked

FILE = ".locus.toml"
VARIABLES = ("LOCUS_PALACE", "CORTEX_MEMORY_ROOT")
_LONGEST_NAME = 50  # characters of one that is made of a directory's
_OUTSIDE = f"outside the directory of {FILE}, which may come from anyone"


class Others:
    """What other programs name.

    ``source`` is the first that names a root, ``entries`` are its roots, and ``passed_over`` those
    of the sources after it. ``refused`` are roots that a file may not name, as ``left_out`` says.
    ``faults`` tell what could not be used.
    """

    __slots__ = ("entries", "faults", "passed_over", "refused", "source")

    def __init__(self) -> None:
        self.source: str | None = None
        self.entries: list[Entry] = []
        self.passed_over: list[Entry] = []
        self.refused: list[Entry] = []
        self.faults: list[Notice] = []

    @property
    def left_out(self) -> list[LeftOut]:
        """The refused roots, as a configuration lists them."""
        return [LeftOut(e.name, e.path, _OUTSIDE, e.source) for e in self.refused]

    def notices(self) -> list[Notice]:
        """Return what is said of it where it is read for want of a configuration of ours."""
        made = list(self.faults)
        if self.source is not None:
            made.append(
                Notice(
                    f"roots are taken from {self.source}, as recall's own configuration names none",
                    "recall roots adopt",
                )
            )
        return made

    def take(self, source: str, entries: list[Entry]) -> None:
        """Note the roots of one source; those of the first count."""
        if not entries:
            return
        if self.source is None:
            self.source, self.entries = source, entries
            return
        known = {entry.path for entry in self.entries}
        self.passed_over += [entry for entry in entries if entry.path not in known]


def look(cwd: str, environ: Mapping[str, str], looked: Looked | None = None) -> Others:
    """Return what other programs' configuration names for a person in ``cwd``.

    ``looked`` notes all that decides. Raises nothing for what is wrong with it.
    """
    others = Others()
    file = find_above(cwd, FILE, others.faults, looked)
    if file is not None:
        _read(file, environ, others, looked)
    for name in VARIABLES:
        value = environ.get(name, "")
        if value:
            entry = _entry(value, cwd, name, environ, set(), looked)
            if entry is None:
                others.faults.append(_homeless(name, value))
            else:
                others.take(name, [entry])
    return others


def _read(file: str, environ: Mapping[str, str], others: Others, looked: Looked | None) -> None:
    directory = os.path.realpath(os.path.dirname(file))
    taken: set[str] = set()
    entries: list[Entry] = []
    try:
        written = _written(file)
    except ValueError as fault:
        others.faults.append(Notice(f"{file}: no root is taken from it: {fault}"))
        return
    for value in written:
        entry = _entry(value, directory, file, environ, taken, looked)
        if entry is None:
            others.faults.append(_homeless(file, value))
        else:
            entries.append(entry)
    inside = [entry for entry in entries if is_inside(entry.path, directory)]
    others.refused = [entry for entry in entries if entry not in inside]
    if others.refused:
        first = others.refused[0]
        others.faults.append(
            Notice(
                f"{file} may not name directories outside its own; "
                f"left out: {listed(others.refused)}",
                f"recall roots add {shell_quoted(first.name)} {shell_quoted(first.path)}",
            )
        )
    others.take(file, inside)


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
    taken: set[str],
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
    return Entry(unique(derived_name(path), taken), path, source, written=value)


def derived_name(path: str) -> str:
    """Return a root's name made of its directory's: one that ``name_fault`` has nothing against."""
    kept = "".join(char if char.isprintable() else "-" for char in base_name(path))
    return kept[:_LONGEST_NAME].strip("~- ") or "notes"


def _homeless(source: str, value: str) -> Notice:
    return Notice(
        f'{source}: no home directory is known for "{value}"', "set HOME, or write the whole path"
    )
