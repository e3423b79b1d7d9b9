"""Which root an agent's record is written to: one that the person named, and no other.

A project's file may come from a stranger: neither its ``[remember]`` nor the names of its roots
decide where something is written. See "Root" in ``spec/writing.md``.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid, WriteRefused
from index_cache.model import Root
from recall import config, told, variable
from recall.configfile import ConfigFile, Entry, listed, read_config
from recall.dirs import config_file, expand_home
from recall.notice import Notice, shell_quoted
from recall.project import find_project_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Target:
    """The root to write to, with all rules that hold in it, and what is to be said."""

    __slots__ = ("notices", "root")

    def __init__(self, root: Root, notices: tuple[Notice, ...] = ()) -> None:
        self.root = root
        self.notices = notices


def find(value: str | None, cwd: str, environ: Mapping[str, str]) -> Target:
    """Return the root that ``value`` (of ``--root``) names, or else the person's configuration.

    Raises what ``config.load`` does, ConfigInvalid when no root is named or several could be
    meant, WriteRefused for the name of a project's root.
    """
    return _Finding(cwd, environ).target(value)


class _Finding:
    def __init__(self, cwd: str, environ: Mapping[str, str]) -> None:
        self._cwd = cwd
        self._environ = environ
        self._file = config_file(environ)
        self._own = self._read(self._file)
        self._entries = {} if self._own is None else {e.name: e for e in self._own.entries}

    def _read(self, file: str | None) -> ConfigFile | None:
        if file is None:
            return None
        try:
            return read_config(file, self._environ)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def target(self, value: str | None) -> Target:
        project = self._read(find_project_file(self._cwd, []))
        notices: tuple[Notice, ...] = ()
        if project is not None and project.remember is not None:
            notices = (
                Notice(f"{project.file}: [remember] has no effect here, only in your own file"),
            )
        return Target(self._configured() if value is None else self._named(value), notices)

    def _configured(self) -> Root:
        value = None if self._own is None else self._own.remember
        if self._own is not None and value is not None:
            if value in self._entries:
                return self._entry(self._entries[value])
            written = expand_home(value, self._environ)
            path = os.path.join(self._own.directory, written or value)
            if not os.path.isdir(path):
                raise ConfigInvalid(
                    "remember.root is neither a root of this file nor a directory",
                    where=self._own.file,
                    hint="recall roots list shows the names",
                )
            return self._named(os.path.abspath(path))
        if len(self._entries) == 1:
            return self._entry(*self._entries.values())
        if not self._entries:
            given = self._of_variable()
            if len(given) == 1:
                return given[0]
        raise self._unclear()

    def _of_variable(self) -> list[Root]:
        """Return the roots that ``RECALL_ROOTS`` names."""
        try:
            found = config.load(self._cwd, self._environ, fallback=False, demand=False)
        except ConfigInvalid:
            return []
        return [each for each in found.roots if found.origins[each.name] == variable.NAME]

    def _unclear(self) -> ConfigInvalid:
        may = told.here(self._cwd, self._environ)
        entries = [each for each in self._entries.values() if may is None or may.has(each)]
        several = f"; there are {listed(entries)}" if entries else ""
        example = f', or root = "NAME" under [remember] in {self._file}' if self._file else ""
        return ConfigInvalid(
            f"no root is named to write to{several}", hint=f"name it with --root NAME|DIR{example}"
        )

    def _named(self, value: str) -> Root:
        if value in self._entries:
            return self._entry(self._entries[value])
        found = config.load(self._cwd, self._environ, (value,), fallback=False)
        (root,) = found.roots
        origin = found.origins[root.name]
        if origin == "--root":
            return self._with_rules(root)
        if origin == variable.NAME:
            return root
        raise WriteRefused(
            f'"{value}" is a root of {origin}: a project can\'t say where something is written',
            where=root.path,
            hint=f"name its directory: --root {shell_quoted(root.path)}",
        )

    def _with_rules(self, root: Root) -> Root:
        """Return a directory's root with the rules that it has where it is configured."""
        for entry in self._entries.values():
            if entry.path == root.path:
                return self._entry(entry)
        try:
            known = config.load(self._cwd, self._environ, fallback=False, demand=False).roots
        except ConfigInvalid:
            return root
        return next((each for each in known if each.path == root.path), root)

    def _entry(self, entry: Entry) -> Root:
        """Return a root of the person's own file, whatever a project calls by that name."""
        found = config.load(self._cwd, self._environ, (entry.path,), fallback=False).roots[0]
        own = (entry.path, entry.rules.private)
        others = tuple(each for each in found.rules.elsewhere if each != own)
        return Root(
            entry.name, entry.path, entry.rules.withholding(others) if others else entry.rules
        )
