"""Adding roots to a configuration file, and taking them out, without touching anything else.

tomlkit's documents do not keep that promise (they write LF into CRLF files, put a new entry behind
the comment of the next table, lose a space in inline tables), so tomlkit spells the new line only.
An edit is one insertion or one cut at the place that reads best; places are guessed from how the
lines begin, and a guess counts only if the file then says exactly what it said before plus or minus
that one root.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound
from recall import tomlwords
from recall.configfile import MAX_CONFIG_BYTES, decode, parse
from recall.dirs import expand_home
from recall.files import Unreadable, directory_fault, read_small
from recall.notice import shell_quoted
from recall.project import PROJECT_FILE, is_inside
from recall.rootnames import name_fault, nearest, unique
from recall.writes import refuse_foreign, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from recall.tomlwords import Value

    Rules = Mapping[str, Sequence[str]]  # what is said of a root beside its path

_BOM = b"\xef\xbb\xbf"
_MAX_ENTRY_LINES = 1000
_MAX_INLINE_LENGTH = 1000


def add_root(
    file: str, name: str, directory: str, environ: Mapping[str, str] | None = None
) -> bool:
    """Add ``directory`` as the root ``name`` to ``file``, which is created when missing.

    In a project's file a directory of the project is written relative to it, any other as an
    absolute path. Returns False when the file says so already.
    Raises ``InvalidInput`` for a name or directory that can't be used, or is another root's,
    ``NotFound`` for a missing directory, ``ConfigInvalid`` for a broken file, and what
    ``unwritten`` returns for a file that can't be written.
    """
    if fault := name_fault(name):
        raise InvalidInput(f'"{name}" can\'t be the name of a root: {fault}', hint="choose another")
    written = _written(file, directory)

    def edit(text: str) -> str | None:
        roots = _roots(text, file)
        path = os.path.realpath(directory)
        if name not in roots:
            _refuse_twin(roots, path, file, environ)
            return with_root(text, name, written, file)
        if _place(roots[name], file, environ) == path:
            return None
        old = _path(roots[name])
        raise InvalidInput(
            f'there is a root "{name}" already: {old}',
            where=file,
            hint=f"recall roots remove {shell_quoted(name)}",
        )

    return _rewrite(file, edit)


def _refuse_twin(
    roots: Mapping[str, object], path: str, file: str, environ: Mapping[str, str] | None
) -> None:
    """Raise InvalidInput when a root has all of a directory already: only one would be searched."""
    # One with rules of its own may be meant to be beside it.
    plain = (each for each in roots.values() if not isinstance(each, dict) or len(each) == 1)
    if any(_place(each, file, environ) == path for each in plain):
        raise InvalidInput(
            f"{path} is a root already, by another name", where=file, hint="recall roots list"
        )


def add_missing(
    file: str,
    wanted: Sequence[tuple[str, str]],
    environ: Mapping[str, str] | None = None,
    *,
    rules: Mapping[str, Rules] | None = None,
    write: bool = True,
) -> list[tuple[str, str, bool]]:
    """Add directories to ``file``, which is created when missing, in one step: all or none.

    ``wanted`` are names, to which a number is added where they are taken, and directories;
    ``rules`` keys, each with a list, that are written beside some of these. Returns the name of
    each, its directory, and whether it was not there before; else it has the name that it has
    there. Without ``write`` the file stays as it is. Raises what ``add_root`` does.
    """
    more = rules or {}
    made: list[tuple[str, str, bool]] = []

    def edit(text: str) -> str | None:
        roots = _roots(text, file)
        taken = set(roots)
        new_roots: dict[str, Value] = {}
        there = {_place(value, file, environ): name for name, value in reversed(roots.items())}
        for name, directory in wanted:
            path = os.path.realpath(directory)
            if path in there:
                made.append((there[path], directory, False))
                continue
            there[path] = new = unique(name, taken)
            new_roots[new] = _value(_written(file, directory), more.get(directory))
            made.append((new, directory, True))
        return with_roots(text, new_roots, file) if new_roots else None

    if write:
        _rewrite(file, edit)
    else:
        edit(decode(_content(os.path.realpath(file), file), file))
    return made


def lines_of(roots: Sequence[tuple[str, str]], rules: Mapping[str, Rules]) -> list[str]:
    """Return the lines that ``add_missing`` writes for roots: their names and directories."""
    return tomlwords.pairs({name: _value(path, rules.get(path)) for name, path in roots})


def remove_root(file: str, name: str, told: Container[str] | None = None) -> None:
    """Take the root ``name`` out of ``file``; ``told`` may be offered as the nearest name.

    After ``add_root`` that restores the file byte for byte, but for what adding had to supply: a
    missing file, a ``[roots]`` header, the newline at the end of the last line.
    Raises ``NotFound`` when the file has no such root, ``ConfigInvalid`` when it is broken, and
    what ``unwritten`` returns when it can't be written.
    """

    def edit(text: str) -> str:
        roots = _roots(text, file)
        if name not in roots:
            raise _no_such(name, (each for each in roots if told is None or each in told), file)
        return without_root(text, name, file)

    if not os.path.lexists(file):
        raise _no_such(name, (), file)
    _rewrite(file, edit)


def with_root(text: str, name: str, path: str, file: str) -> str:
    """Return the configuration ``text`` of ``file`` with one root more, by one insertion."""
    return with_roots(text, {name: path}, file)


def with_roots(text: str, roots: Mapping[str, Value], file: str) -> str:
    """Return the configuration ``text`` of ``file`` with more roots, by one insertion."""
    wanted = _tables(text)
    _roots_of(wanted).update(roots)
    pairs = tomlwords.pairs(roots)
    for candidate in _insertions(text, pairs):
        if _says(candidate, wanted):
            return candidate
    raise _by_hand(file, f"write it under [roots]: {pairs[0]}")


def without_root(text: str, name: str, file: str) -> str:
    """Return the configuration ``text`` of ``file`` with one root less, by one cut."""
    wanted = _tables(text)
    del _roots_of(wanted)[name]
    for candidate in _cuts(text, name):
        if _says(candidate, wanted):
            return candidate
    raise _by_hand(file, f'take the root "{name}" out of the file in an editor')


def _insertions(text: str, pairs: Sequence[str]) -> Iterator[str]:
    lines = _lines(text)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"

    def after(index: int, before: str = "", lead: str = "") -> str:
        new = "".join(f"{before}{pair}{end}" for pair in pairs)
        head = "".join(lines[: index + 1])
        gap = "" if head.endswith("\n") or not head else end
        return f"{head}{gap}{lead}{new}{''.join(lines[index + 1 :])}"

    for header in (at for at, line in enumerate(lines) if _is_header(line)):
        last = header + 1
        while last < len(lines) and not lines[last].lstrip().startswith("["):
            last += 1
        # Behind the last entry, not behind the comments that introduce the next table.
        for at in range(last - 1, header - 1, -1):
            if lines[at].strip() and not lines[at].lstrip().startswith("#"):
                yield after(at)
    for at in range(len(lines) - 1, -1, -1):
        if "".join(lines[at].split()).startswith("roots."):
            yield after(at, "roots.")
    gap = end if lines and lines[-1].strip() else ""
    yield after(len(lines), lead=f"{gap}[roots]{end}")
    yield from _inline_insertions(lines, ", ".join(pairs))


def _cuts(text: str, name: str) -> Iterator[str]:
    lines = _lines(text)
    yield from _inline_cuts(lines)
    spellings = [
        "".join(word.split())
        for word in (name, tomlwords.key(name), tomlwords.string(name), f"'{name}'")
    ]
    keys = tuple(before + word for word in spellings for before in ("", "roots."))
    headers = [f".{word}]" for word in spellings]
    for first, line in enumerate(lines):
        code = "".join(line.split())
        # A root may be called "#", but a comment is never the beginning of one.
        if not code or code.startswith("#"):
            continue
        is_header = code.startswith("[") and any(header in code for header in headers)
        if not is_header and not code.startswith(keys):
            continue
        for end in range(first + 1, min(len(lines), first + _MAX_ENTRY_LINES) + 1):
            yield "".join(lines[:first] + lines[end:])


def _inline_insertions(lines: list[str], pair: str) -> Iterator[str]:
    for number, line in _inline_tables(lines):
        for at in range(len(line) - 1, -1, -1):
            if line[at] == "}":
                head = line[:at].rstrip()
                comma = "" if head.endswith("{") else ","
                new = f"{head}{comma} {pair}{line[len(head) :]}"
                yield "".join([*lines[:number], new, *lines[number + 1 :]])


def _inline_cuts(lines: list[str]) -> Iterator[str]:
    for number, line in _inline_tables(lines):
        places = set()
        for at, char in enumerate(line):
            if char in "{,":
                places.add(at + 1)
            if char in ",}":
                places |= {at, len(line[:at].rstrip())}
        for start in sorted(places):
            for end in sorted(place for place in places if place > start):
                new = line[:start] + line[end:]
                yield "".join([*lines[:number], new, *lines[number + 1 :]])


def _inline_tables(lines: list[str]) -> list[tuple[int, str]]:
    """Return the lines of ``roots = { … }``, short enough to try every place in them."""
    return [
        (number, line)
        for number, line in enumerate(lines)
        if line.lstrip().startswith("roots") and "{" in line and len(line) < _MAX_INLINE_LENGTH
    ]


def _is_header(line: str) -> bool:
    head = line.partition("#")[0].strip()
    return head.startswith("[") and head.strip("[] \t").strip("\"'") == "roots"


def _lines(text: str) -> list[str]:
    # Not splitlines(): TOML's lines end in LF or CRLF only.
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _tables(text: str) -> dict[str, object]:
    import tomllib

    # As text, because nan is not equal to itself and the tables are compared.
    return tomllib.loads(text, parse_float=str)


def _roots(text: str, file: str) -> dict[str, object]:
    parse(text, file)
    roots = _tables(text).get("roots", {})
    if not isinstance(roots, dict):
        raise ConfigInvalid("roots must be a table", where=file, hint="write it as [roots]")
    return roots


def _roots_of(tables: dict[str, object]) -> dict[str, object]:
    roots = tables.setdefault("roots", {})
    return roots if isinstance(roots, dict) else {}


def _says(text: str, wanted: dict[str, object]) -> bool:
    try:
        tables = _tables(text)
    except (ValueError, RecursionError):
        return False
    # A table that lost its last root may be there empty or not at all.
    _roots_of(tables)
    return tables == wanted


def _value(path: str, more: Rules | None) -> Value:
    """Return what is written for a root: its path alone, if nothing else is to be said."""
    value: dict[str, Value] = {"path": path}
    value |= {key: list(each) for key, each in (more or {}).items() if each}
    return value if len(value) > 1 else path


def _written(file: str, directory: str) -> str:
    if not directory or "\0" in directory:
        raise InvalidInput("a root needs a directory")
    path = os.path.abspath(directory)
    fault = directory_fault(path)
    if fault is not None and fault.missing and os.path.exists(path):
        raise NotFound(
            "a root is a directory, and this is a file",
            where=path,
            hint=f"name the directory that holds it: {shell_quoted(os.path.dirname(path))}",
        )
    if fault is not None:
        raise (NotFound if fault.missing else InvalidInput)(
            f"the directory {fault.reason}",
            where=path,
            hint=f"mkdir -p {shell_quoted(path)}" if fault.reason == "does not exist" else None,
        )
    try:
        path.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "a TOML file can't hold a path that is not UTF-8",
            where=path,
            hint="rename the directory, or name it with --root or RECALL_ROOTS",
        ) from error
    project = os.path.realpath(os.path.dirname(file))
    if os.path.basename(file) == PROJECT_FILE and is_inside(os.path.realpath(path), project):
        relative = os.path.relpath(os.path.realpath(path), project)
        return f"./{relative}" if relative.startswith("~") else relative
    return path


def _path(value: object) -> object:
    return value.get("path") if isinstance(value, dict) else value


def _place(value: object, file: str, environ: Mapping[str, str] | None) -> str | None:
    """Return the directory of the root that ``value`` of a file configures, None if it is none."""
    old = _path(value)
    if not isinstance(old, str):
        return None
    expanded = expand_home(old, os.environ if environ is None else environ)
    if expanded is None or "\0" in expanded:
        return None
    return os.path.realpath(os.path.join(os.path.realpath(os.path.dirname(file)), expanded))


def _no_such(name: str, roots: Iterable[str], file: str) -> NotFound:
    near = nearest(name, roots)
    return NotFound(
        f'there is no root "{name}"' + (f'; did you mean "{near}"?' if near else ""),
        where=file,
        hint="recall roots list",
    )


def _by_hand(file: str, hint: str) -> InvalidInput:
    return InvalidInput(
        "the file is written in a way that can't be edited without touching other entries",
        where=file,
        hint=hint,
    )


def _rewrite(file: str, edit: Callable[[str], str | None]) -> bool:
    from recall.replace import locked, make_private, replace

    target = os.path.realpath(file)
    refuse_foreign(target)
    try:
        make_private(os.path.dirname(target))
        with locked(os.path.dirname(target)):
            content = _content(target, file)
            text = edit(decode(content, file))
            if text is not None:
                bom = _BOM if content.startswith(_BOM) else b""
                replace(target, _small(bom + text.encode("utf-8"), file))
    except OSError as error:
        raise unwritten("the configuration can't be written", file, error) from error
    return text is not None


def _small(content: bytes, file: str) -> bytes:
    if len(content) > MAX_CONFIG_BYTES:
        raise InvalidInput(
            f"with that the file would be larger than {MAX_CONFIG_BYTES:,} bytes, and not be read",
            where=file,
            hint="one root around several directories takes one line",
        )
    return content


def _content(target: str, file: str) -> bytes:
    try:
        return read_small(target, MAX_CONFIG_BYTES)
    except FileNotFoundError:
        return b""
    except Unreadable as reason:
        raise ConfigInvalid(f"the configuration can't be read: {reason}", where=file) from reason
