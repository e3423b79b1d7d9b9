"""Which roots a search reads, and its settings: from flags, files, environment or repository.

The order, and what each source may say, is described in ``docs/configuration.md``. Finding and
reading are ``recall.project`` and ``recall.configfile``; this module decides between them.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound, RootUnavailable
from index_cache.model import Root, Rules
from recall.configfile import MEANT_ROOTS, ConfigFile, Entry, NothingConfigured, listed, read_config
from recall.dirs import config_file, expand_home, state_dir
from recall.files import directory_fault
from recall.hooksettings import combined, without_effect
from recall.notice import Notice, shell_quoted
from recall.project import find_project_file, find_repository, is_inside
from recall.rootnames import base_name, nearest, unique
from recall.settings import Config, LeftOut, SearchSettings, search_settings
from recall.withhold import shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from index_cache.errors import RecallError
    from recall.adopting import Others
    from recall.files import DirectoryFault
    from recall.isolation import Apart
    from recall.looked import Looked
    from recall.settings import HookSettings
    from recall.withhold import Withheld

__all__ = ["Config", "LeftOut", "Notice", "SearchSettings", "load"]

_TOP_LEVEL_NOTES = Rules(include=("/*.md", "/*.markdown"))


def load(
    cwd: str,
    environ: Mapping[str, str],
    names: Sequence[str] = (),
    *,
    groups: Sequence[str] = (),
    fallback: bool,
    demand: bool = True,
    looked: Looked | None = None,
) -> Config:
    """Return the configuration that holds in ``cwd``.

    ``names`` are the values of ``--root``: configured names, else directories; ``groups`` those of
    ``--group``, whose roots are added. ``fallback`` allows the current repository's ``docs`` and
    top-level notes when nothing else is configured.
    Raises ``ConfigInvalid`` for a wrong file and when nothing is configured, ``NotFound`` for a
    named root or directory that is not there, ``RootUnavailable`` when no root can be read.
    Without ``demand`` roots are configured if they are named anywhere: when none can be searched
    there are no ``roots``, and ``left_out`` has them all. ``looked`` notes all that decides where
    there are neither ``names`` nor ``groups`` nor ``fallback``.
    """
    loading = _Loading(cwd, environ, looked)
    if groups or not names or not all(map(_is_directory_flag, names)):
        loading.read_files()
        loading.isolate()
    if names or groups:
        entries = loading.named(names, groups)
    else:
        entries = loading.entries or (loading.repository() if fallback else [])
    return loading.finish(entries, demand=demand)


def apart(cwd: str, environ: Mapping[str, str]) -> Apart | None:
    """Return what isolation found in ``cwd``, None where it holds not. Raises ConfigInvalid."""
    (loading := _Loading(cwd, environ, None)).read_files()
    return loading.isolate()


def _is_directory_flag(value: str) -> bool:
    return value.startswith(("./", "../", "/", "~")) or value in {".", ".."}


class _Loading:
    """The state of one ``load``: what was read so far and what has to be said about it."""

    __slots__ = (
        "adopted",
        "aside",
        "complaint",
        "cwd",
        "entries",
        "environ",
        "files",
        "left_out",
        "looked",
        "notices",
        "outdone",
        "refused",
    )

    def __init__(self, cwd: str, environ: Mapping[str, str], looked: Looked | None) -> None:
        self.cwd = cwd
        self.looked = looked
        self.environ = environ
        self.files: list[ConfigFile] = []
        self.entries: list[Entry] = []
        self.refused: list[Entry] = []
        self.outdone: list[Entry] = []
        self.aside: list[Entry] = []
        self.adopted: Others | None = None
        self.left_out: list[LeftOut] = []
        self.notices: list[Notice] = []
        self.complaint: str | None = None

    def read_files(self) -> None:
        """Read the project's file and the person's own; if they name no root, what else may."""
        project = find_project_file(self.cwd, self.notices, self.looked)
        if project is not None:
            self._take(self._read(project))
            self._refuse(self.files[0])
        if all(file.inherit for file in self.files):
            self._read_own()
        if not self.entries and not self.refused:
            from recall import variable

            self.entries = list(variable.entries(self.cwd, self.environ, self.looked))
            if not self.entries and all(file.inherit for file in self.files):
                self._read_others()

    def _read_own(self) -> None:
        own = config_file(self.environ)
        if own is None:
            return
        if self.looked:
            self.looked.entry(own)  # be it a link that leads nowhere
            self.looked.file(own)
        try:
            os.lstat(own)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            # Another user's home, kept by sudo or a container: no reason not to answer.
            self.notices.append(Notice(f"{own} is not read: {error.strerror}"))
            return
        file = self._read(own)
        if not file.inherit:
            file.notices.append(Notice(f"{own}: inherit has no effect here, only in a project"))
            file.inherit = True
        self._take(file)

    def _read_others(self) -> None:
        """Take what other programs' configuration names."""
        from recall import adopting

        self.adopted = others = adopting.look(self.cwd, self.environ, self.looked)
        self.entries = others.entries
        self.left_out += others.left_out
        self.notices += others.notices()

    def _read(self, file: str) -> ConfigFile:
        try:
            return read_config(file, self.environ, self.looked)
        except FileNotFoundError as error:
            raise ConfigInvalid(
                "the configuration can't be read: it is a link that leads nowhere", where=file
            ) from error
        except ConfigInvalid as error:
            from recall import isolation

            asked = any(each.isolate for each in self.files)
            raise isolation.hushed(error, file, self.cwd, self.environ, asked=asked) from None

    def _take(self, file: ConfigFile) -> None:
        self.files.append(file)
        self.notices += file.notices
        for entry in file.entries:
            self.notices += entry.notices
        mine = {entry.name: entry for entry in self.entries}
        for entry in file.entries:
            first = mine.get(entry.name)
            if first is None:
                self.entries.append(entry)
            elif first.path != entry.path:
                told = Notice(
                    f'root "{entry.name}" is {first.path}, as {first.source} says; '
                    f"{entry.path} of {entry.source} is not searched",
                    "give one of them another name",
                )
                self.notices.append(told)
                entry.notices.append(told)
                self.outdone.append(entry)

    def _refuse(self, file: ConfigFile) -> None:
        """Drop what a project's file may not name yet, before it could hide the person's own."""
        outside = file.outside()
        if not outside:
            return
        from recall.grants import load_grants

        grants = load_grants(state_dir(self.environ), self.looked)
        if grants.complaint:  # that trusts nothing, so the next notice says what to do
            self.notices.append(Notice(grants.complaint))
        self.complaint = grants.complaint
        allowed = grants.directories(file.file, file.content) or frozenset()
        self.refused = [entry for entry in outside if entry.path not in allowed]
        self.entries = [entry for entry in self.entries if entry not in self.refused]
        if self.refused:
            self.notices.append(
                Notice(
                    f"{file.file} is not trusted to name directories outside its project; "
                    f"left out: {listed(self.refused)}",
                    "recall trust",
                )
            )
        reason = "outside the project, whose file is not trusted"
        self.left_out += [LeftOut(e.name, e.path, reason, e.source) for e in self.refused]

    def isolate(self) -> Apart | None:
        """Set aside the roots of other projects, if asked to; None outside of any project."""
        read = all(file.inherit for file in self.files)  # both files, as far as they are there
        if not any(file.isolate for file in (self.files if read else self._everything().values())):
            return None
        from recall import isolation

        found = isolation.Apart(self.cwd, self.environ, self.looked)
        found.divide(self.entries, self.outdone, self.adopted)
        self.entries, self.aside = found.mine, found.aside
        self.notices = [notice for notice in self.notices if notice not in found.unsaid]
        if found.silent:
            self.left_out = []
        return found if found.is_in_a_project() else None

    def named(self, names: Sequence[str], groups: Sequence[str]) -> list[Entry]:
        """Return the roots that the flags name: of those set aside, too, as they are asked for."""
        every = [*self.entries, *self.aside]
        configured = {entry.name: entry for entry in every}
        taken = set(names) & set(configured)
        chosen: list[Entry] = []
        for name in names:
            entry = None if _is_directory_flag(name) else configured.get(name)
            if entry is None:
                if name in {refused.name for refused in self.refused}:
                    raise self._not_trusted()
                entry = self._directory(name, taken)
            if entry not in chosen:
                chosen.append(entry)
        if groups:
            from recall import grouping

            for group in groups:
                if any(group in refused.groups for refused in self.refused):
                    raise self._not_trusted()
                found = grouping.members(group, every, self.entries)
                chosen += [entry for entry in found if entry not in chosen]
        self.notices += [n for each in self.aside if each in chosen for n in each.notices]
        return chosen

    def _directory(self, value: str, taken: set[str]) -> Entry:
        if not value or "\0" in value:
            raise InvalidInput("--root needs a name or a directory", where=f"--root {value!r}")
        flag = _is_directory_flag(value)
        expanded = expand_home(value, self.environ)
        if expanded is None:
            raise NotFound(f'no home directory is known for "{value}"', where=f"--root {value}")
        path = os.path.join(self.cwd, expanded)
        fault = directory_fault(path)
        if fault is None:
            return Entry(
                unique(base_name(path), taken), os.path.realpath(path), "--root", written=value
            )
        if fault.missing:
            what = "directory" if flag else "root and no directory"
            near = None if flag else nearest(value, (entry.name for entry in self.entries))
            raise NotFound(
                f'there is no {what} "{value}"' + (f'; did you mean "{near}"?' if near else ""),
                where=path,
                hint=None if flag else "recall roots list",
            )
        raise RootUnavailable(f'the root "{value}" {fault.reason}', where=path)

    def repository(self) -> list[Entry]:
        """Return the ``docs`` directory and the top-level notes of the current repository."""
        top = find_repository(self.cwd, self.notices)
        if top is None:
            return []
        entries = []
        docs = os.path.join(top, "docs")
        if os.path.isdir(docs):
            if is_inside(os.path.realpath(docs), top):
                entries.append(Entry("docs", os.path.realpath(docs), top))
            else:
                self.notices.append(
                    Notice(
                        f"{docs} is left out: it leads out of the repository",
                        f"recall search --root {shell_quoted(docs)} QUERY",
                    )
                )
        name = unique(base_name(top), {entry.name for entry in entries})
        return [*entries, Entry(name, top, top, rules=_TOP_LEVEL_NOTES)]

    def finish(self, entries: list[Entry], *, demand: bool) -> Config:
        """Return the configuration with those of ``entries`` that can be read, each once."""
        if not entries and (demand or not self.left_out):
            raise self._not_trusted() if self.refused else self._nothing()
        present: list[Entry] = []
        for entry in entries:
            if self.looked:
                self.looked.root(entry.path)
            fault = directory_fault(entry.path)
            # Without a strict root that is not there nothing may be answered: it stays, and fails.
            if fault is not None and not (entry.rules.strict and demand):
                self._leave_out(entry, fault)
            elif not any((e.path, e.rules) == (entry.path, entry.rules) for e in present):
                present.append(entry)
        if not present and demand:
            raise RootUnavailable(
                self._with_notices("none of the roots can be read"),
                where=entries[0].path,
                hint="mount or create the directories, or correct the configuration",
            )
        settings: dict[str, int | float | bool] = {}
        for file in reversed(self.files):  # the project's settings over the person's own
            settings |= file.search
        everything = self._everything()
        hook = self._hook(everything)
        roots = [Root(entry.name, entry.path, entry.rules) for entry in present]
        return Config(
            shared(roots, _withheld(everything)),
            search_settings(settings),
            hook,
            tuple(self.notices),
            sources=tuple(file.file for file in self.files),
            origins={entry.name: entry.source for entry in present},
            groups={entry.name: entry.groups for entry in present if entry.groups},
            left_out=tuple(self.left_out),
            aside=len(self.aside),
        )

    def _everything(self) -> dict[str, ConfigFile]:
        """Return the project's file and the person's own, also where they name no root here."""
        files = {file.file: file for file in self.files}
        for path in (find_project_file(self.cwd, [], self.looked), config_file(self.environ)):
            if path is None or path in files:
                continue
            if self.looked:
                self.looked.file(path)
            if os.path.exists(path):
                files[path] = self._read(path)
        return files

    def _hook(self, files: dict[str, ConfigFile]) -> HookSettings:
        """Return what holds for the hook: the person's own settings hold without ``inherit``."""
        own = files.get(config_file(self.environ) or "")
        project = next((file for file in files.values() if file is not own), None)
        if project is None:
            return combined(own.hook if own else {}, {})
        for key in without_effect(project.hook):
            notice = Notice(f"{project.file}: hook.{key} has no effect here, only in your own file")
            self.notices.append(notice)
        return combined(own.hook if own else {}, project.hook)

    def _leave_out(self, entry: Entry, fault: DirectoryFault) -> None:
        notice = Notice(
            f'root "{entry.name}" is left out: {entry.path} {fault.reason}',
            f"mount or create the directory, or correct it in {entry.source}",
        )
        self.left_out.append(
            LeftOut(entry.name, entry.path, fault.reason, entry.source, notice, gone=fault.missing)
        )
        self.notices.append(notice)

    def _not_trusted(self) -> RecallError:
        message = (
            f"the project's file is not trusted to name directories outside the project: "
            f"{listed(self.refused)}"
        )
        return ConfigInvalid(
            f"{message}; {self.complaint}" if self.complaint else message,
            where=self.refused[0].source,
            hint="recall trust",
        )

    def _nothing(self) -> RecallError:
        from recall import unconfigured

        hint = unconfigured.hint(self.cwd, self.environ, self.files)
        for notice in self.notices:
            if notice.hint == MEANT_ROOTS:
                hint = notice.hint
        message = self._with_notices(unconfigured.MINE if self.aside else unconfigured.NOTHING)
        return NothingConfigured(message, hint=hint)

    def _with_notices(self, message: str) -> str:
        # An error is all that is shown, and what was passed over is often its reason.
        return "; ".join([message, *(notice.message for notice in self.notices)])


def _withheld(files: dict[str, ConfigFile]) -> list[Withheld]:
    """Return what any root withholds that is configured here, whether it is searched or not."""
    entries = (entry for file in files.values() for entry in file.entries)
    return [(each.path, each.rules.private) for each in entries if each.rules.private]
