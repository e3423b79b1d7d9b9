"""One configuration file: its bytes checked and turned into values.

What it may name is not decided here (see ``recall.config`` and ``recall.trust``), nor whether the
directories exist.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid
from index_cache.model import Rules
from recall import settings
from recall.dirs import expand_home, home_hint
from recall.files import Unreadable, read_small
from recall.notice import Notice
from recall.project import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recall.looked import Looked

MAX_CONFIG_BYTES = 1024 * 1024

TOP_KEYS = ("inherit", "roots", "search", "hook")
ROOT_KEYS = (
    "path",
    "include",
    "exclude",
    "private",
    "gitignore",
    "max_file_bytes",
    "max_files",
    "jsonl",
    "strict",
)
SEARCH_KEYS = ("k", "budget", "include_journal", "wait")
_LISTED = 5
MEANT_ROOTS = "did you mean roots?"
# Wide enough for any use; beyond them a value is a slip, and a stranger's file could ask for more
# work or output than the person wants.
ROOT_BOUNDS = {"max_file_bytes": (1, 1024**3), "max_files": (1, 10_000_000)}
SEARCH_BOUNDS = {"k": (1, 1000), "budget": (256, 1024**2), "wait": (0, 3600)}
_BOUNDS = {"roots": ROOT_BOUNDS, "search": SEARCH_BOUNDS, "hook": settings.HOOK_BOUNDS}
_FRACTIONS = {"wait", *settings.HOOK_FRACTIONS}


class NothingConfigured(ConfigInvalid):
    """No file and no variable names a directory of notes."""


class Entry:
    """A root as one source configures it: ``path`` is real and absolute, but may not exist.

    ``source`` is the file, ``RECALL_ROOTS``, ``--root`` or the repository it comes from;
    ``written`` is the directory as it stands there.
    """

    __slots__ = ("name", "path", "rules", "source", "written")

    def __init__(
        self, name: str, path: str, source: str, *, written: str = "", rules: Rules | None = None
    ) -> None:
        self.name = name
        self.path = path
        self.source = source
        self.written = written or path
        self.rules = rules or Rules()


class ConfigFile:
    """A configuration file that was read; ``directory`` (real) is what its entries start from."""

    __slots__ = (
        "content",
        "directory",
        "entries",
        "file",
        "hook",
        "inherit",
        "notices",
        "search",
    )

    def __init__(self, file: str, content: bytes) -> None:
        self.file = file
        self.content = content
        self.directory = os.path.realpath(os.path.dirname(file))
        self.inherit = True
        self.entries: list[Entry] = []
        self.search: dict[str, int | float | bool] = {}
        self.hook: dict[str, object] = {}
        self.notices: list[Notice] = []

    def outside(self) -> list[Entry]:
        """Return the entries whose directory is not inside this file's directory."""
        return [entry for entry in self.entries if not is_inside(entry.path, self.directory)]

    def spelled(self, directory: str) -> str:
        """Return ``directory`` as TOML text, as it would be written in this file."""
        import json

        real = os.path.realpath(directory)
        if is_inside(real, self.directory):
            relative = os.path.relpath(real, self.directory)
            directory = f"./{relative}" if relative.startswith("~") else relative
        return json.dumps(directory, ensure_ascii=False)


def read_config(file: str, environ: Mapping[str, str], looked: Looked | None = None) -> ConfigFile:
    """Read and check the configuration in ``file``; ``environ`` says what ``~`` means.

    ``looked`` notes all that decides.

    Raises ``FileNotFoundError`` when there is none, ``ConfigInvalid`` with the place for what is
    wrong. Keys that are not known become notices, so that a newer version's file still serves.
    """
    if looked:
        looked.file(file)
        looked.real(os.path.dirname(file))
    try:
        content = read_small(file, MAX_CONFIG_BYTES)
    except Unreadable as reason:
        raise ConfigInvalid(f"the configuration can't be read: {reason}", where=file) from reason
    return _Reader(ConfigFile(file, content), environ, looked).read()


def decode(content: bytes, file: str) -> str:
    """Return the text of a configuration file, without the byte-order mark that editors add."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigInvalid(
            "the configuration is not UTF-8", where=f"{file}:{line}", hint="save it as UTF-8"
        ) from error


def parse(text: str, file: str) -> dict[str, object]:
    """Return the tables of a configuration's text, or raise ``ConfigInvalid`` with its place."""
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError as error:
        reason, _, place = str(error).rpartition(" (at ")
        numbers = [part for part in place.rstrip(")").replace(",", "").split() if part.isdigit()]
        if len(numbers) != 2:  # noqa: PLR2004 - line and column; otherwise it ends too early
            numbers = [str(text.count("\n") + 1)]
        raise ConfigInvalid(
            f"the configuration is not valid TOML: {reason or error}",
            where=":".join([file, *numbers]),
            hint="correct it in an editor",
        ) from error
    except RecursionError as error:
        raise ConfigInvalid("the configuration is nested too deeply", where=file) from error


def name_fault(name: str) -> str | None:
    """Return why ``name`` can't be a root's name, or None if it can.

    A name has to be told from a directory and from an option on the command line, and shown
    safely.
    """
    if not name or len(name) > 100 or not name.isprintable():  # noqa: PLR2004 - a line's worth
        return "it must be 1 to 100 printable characters"
    if "/" in name or name in {".", ".."}:
        return "it would be taken for a directory"
    if name[0] in "~-" or name != name.strip():
        return "it may not begin with ~, - or a space, nor end with a space"
    return None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that ``word`` was probably meant to be, or None."""
    from difflib import get_close_matches

    spelled = {item.lower(): item for item in known}
    return next((spelled[n] for n in get_close_matches(word.lower(), list(spelled), n=1)), None)


def base_name(path: str) -> str:
    """Return what a root at ``path`` is called when nobody says."""
    return os.path.basename(os.path.abspath(path)) or "root"


def unique(name: str, taken: set[str]) -> str:
    """Return ``name``, with a number if it is one of ``taken``, to which it is added."""
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(candidate)
    return candidate


def listed(entries: list[Entry]) -> str:
    """Return the first few of some roots in one line, and how many more there are."""
    shown = [f"{entry.name} ({entry.path})" for entry in entries[:_LISTED]]
    more = len(entries) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


class _Reader:
    """Turns the tables of one file into a ``ConfigFile``."""

    __slots__ = ("config", "environ", "looked", "text")

    def __init__(
        self, config: ConfigFile, environ: Mapping[str, str], looked: Looked | None
    ) -> None:
        self.config = config
        self.environ = environ
        self.looked = looked
        self.text = decode(config.content, config.file)

    def read(self) -> ConfigFile:
        tables = parse(self.text, self.config.file)
        self._known(tables, TOP_KEYS, "")
        self.config.inherit = self._flag(tables.get("inherit", True), "inherit")
        self._hook(self._table(tables, "hook"))
        search = self._table(tables, "search")
        self._known(search, SEARCH_KEYS, "search.")
        for key in SEARCH_BOUNDS:
            if key in search:
                self.config.search[key] = self._number(search[key], f"search.{key}")
        if "include_journal" in search:
            journal = self._flag(search["include_journal"], "search.include_journal")
            self.config.search["include_journal"] = journal
        for name, value in self._table(tables, "roots").items():
            self.config.entries.append(self._root(name, value))
        return self.config

    def _hook(self, table: dict[str, object]) -> None:
        self._known(table, settings.HOOK_KEYS, "hook.")
        for key, value in table.items():
            name = f"hook.{key}"
            if key in settings.HOOK_FLAGS:
                self.config.hook[key] = self._flag(value, name)
            elif key in settings.HOOK_BOUNDS:
                self.config.hook[key] = self._number(value, name)
            elif key == "sensitivity":
                if value not in settings.SENSITIVITIES:
                    known = ", ".join(f'"{each}"' for each in settings.SENSITIVITIES)
                    raise self._wrong(f"{name} must be one of {known}", name)
                self.config.hook[key] = value

    def _root(self, name: str, value: object) -> Entry:
        key = f"roots.{name}"
        if fault := name_fault(name):
            raise self._wrong(f'"{name}" can\'t be the name of a root: {fault}', key)
        if isinstance(value, str):
            value = {"path": value}
        if not isinstance(value, dict):
            raise self._wrong(f"{key} must be a path or a table with a path", key)
        self._known(value, ROOT_KEYS, f"{key}.")
        written = value.get("path")
        if not isinstance(written, str) or not written or "\0" in written:
            raise self._wrong(f"{key} needs a path, in quotes", f"{key}.path")
        if self.looked:
            self.looked.tilde(written)
        expanded = expand_home(written, self.environ)
        if expanded is None:
            raise self._wrong(
                f'{key}: no home directory is known for "{written}"',
                key,
                hint=home_hint(written),
            )
        rules = Rules(
            self._globs(value, "include", key),
            self._globs(value, "exclude", key),
            private=self._private(value, key),
            gitignore=self._flag(value.get("gitignore", True), f"{key}.gitignore"),
            jsonl=self._flag(value.get("jsonl", False), f"{key}.jsonl"),
            strict=self._flag(value.get("strict", False), f"{key}.strict"),
            **{  # type: ignore[arg-type]  # the limits alone
                limit: int(self._number(value[limit], f"{key}.{limit}"))
                for limit in ROOT_BOUNDS
                if limit in value
            },
        )
        path = os.path.join(self.config.directory, expanded)
        if self.looked:
            self.looked.real(path)
        path = os.path.realpath(path)
        return Entry(name, path, self.config.file, written=written, rules=rules)

    def _table(self, tables: dict[str, object], key: str) -> dict[str, object]:
        value = tables.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(f"{key} must be a table", key, hint=f"write it as [{key}]")
        return value

    def _flag(self, value: object, key: str) -> bool:
        if not isinstance(value, bool):
            raise self._wrong(f"{key} must be true or false", key)
        return value

    def _number(self, value: object, key: str) -> int | float:
        name = key.rpartition(".")[2]
        low, high = _BOUNDS[key.partition(".")[0]][name]
        kinds, kind = ((int, float), "number") if name in _FRACTIONS else ((int,), "whole number")
        # bool is an int to Python, and nan compares false with both bounds.
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            raise self._wrong(f"{key} must be a {kind} from {low} to {high}", key)
        return value

    def _globs(self, table: dict[str, object], name: str, key: str) -> tuple[str, ...]:
        value = table.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise self._wrong(
                f"{key}.{name} must be a list of globs",
                f"{key}.{name}",
                hint=f'{name} = ["drafts/", "*.tmp.md"]',
            )
        return tuple(value)

    def _private(self, table: dict[str, object], key: str) -> tuple[str, ...]:
        """Return the private globs; one that can't mean what it seems to is refused."""
        globs = self._globs(table, "private", key)
        for glob in globs:
            plain = glob.removeprefix("./")
            odd = plain != plain.strip() or plain.startswith(("~", "!")) or set(plain) & set("{}\\")
            if odd or ".." in plain.split("/"):
                raise self._wrong(
                    f'{key}.private: "{glob}" would withhold nothing',
                    f"{key}.private",
                    hint='globs are relative to the root: private = ["hr/", "*.secret.md"]',
                )
        return tuple(glob.removeprefix("./") for glob in globs)

    def _known(self, table: dict[str, object], known: tuple[str, ...], prefix: str) -> None:
        for key in table:
            if key not in known:
                near = nearest(key, known)
                self.config.notices.append(
                    Notice(
                        f"{self._where(prefix + key)}: the key {prefix}{key} is not known "
                        "and has no effect",
                        f"did you mean {prefix}{near}?" if near else None,
                    )
                )

    def _wrong(self, message: str, key: str, hint: str | None = None) -> ConfigInvalid:
        return ConfigInvalid(message, where=self._where(key), hint=hint)

    def _where(self, key: str) -> str:
        line = _line_of(self.text, key)
        return f"{self.config.file}:{line}" if line else self.config.file


def _line_of(text: str, key: str) -> int | None:
    """Return the line on which ``key`` (dotted) is set, as far as the lines' beginnings tell."""
    table, best, length = "", None, 0
    for number, line in enumerate(text.splitlines(), 1):
        head = line.split("#")[0].replace('"', "").replace("'", "").strip()
        if head.startswith("["):
            here = table = head.strip("[] ")
        elif "=" in head:
            here = f"{table}.{head.split('=')[0].strip()}".removeprefix(".")
        else:
            continue
        # A key inside an inline table stands on the line of the longest part of it that is there.
        if (key == here or key.startswith(f"{here}.")) and len(here) > length:
            best, length = number, len(here)
    return best
