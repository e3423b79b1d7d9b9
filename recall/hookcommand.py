"""The command line by which a host calls the prompt hook: writing one, and knowing one again; pure.

It must stay the same from version to version, since a host may ask the person anew for a command
that changed, and do no harm when the program is gone: then it is silent and ends with 0.
"""

from __future__ import annotations

import os
import shlex

from recall.shellwords import MAX_LINE, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = "recall-hook"
# Whatever fails (no program, no interpreter for it, no package) is kept from the host.
_QUIET = ("2>/dev/null", "||")
# Hosts put variables of theirs in the place of any $NAME, quoted or not, before a shell sees it.
_DOLLAR = "`printf '\\044'`"
_MODULES = (["recall", "hook"], ["recall.hook"])
# What follows the program's name in a form of ours.
_PLAIN = (["hook"], *([*path, "-m", *module] for module in _MODULES for path in ([], ["-P"])))
# What people ask of it, not hosts.
_FOR_PEOPLE = frozenset({"--help", "-h", "--explain", "--json", "--version"})
_SUBCOMMANDS = ("install", "uninstall", "status")


class Call:
    """What a command says: ``program`` are the words before the options.

    ``exact`` if it is a form of ours, as this or another version or its documentation has it;
    otherwise somebody made one of their own. Of such a one ``program`` is empty where nobody can
    tell from the command which program its words mean.
    """

    __slots__ = ("exact", "program")

    def __init__(self, program: Sequence[str], *, exact: bool) -> None:
        self.program = list(program)
        self.exact = exact


def program_words(executable: str, argv0: str, *, isolated: bool, name: str = PROGRAM) -> list[str]:
    """Return the words that start the hook of the installation that is running, or ``recall``.

    ``name`` is the program's. ``executable`` is the interpreter, ``argv0`` the program's own path,
    ``isolated`` whether the interpreter belongs to a virtual environment. Links are kept as they
    are: they outlive what they point to. Where there is no program, the interpreter runs the
    package.
    """
    beside = [executable] if isolated else [os.path.abspath(argv0), executable]
    for path in beside:
        program = os.path.join(os.path.dirname(path), name)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return [program]
    return [executable, "-P", "-m", "recall", *(["hook"] if name == PROGRAM else [])]


def command_line(program: Sequence[str], host: str, silence: str = "") -> str:
    """Return the command that calls ``program`` for ``host``, for any shell that knows ``||``.

    ``silence`` is what the host wants to read when there is nothing to say.
    """
    otherwise = f"echo {shlex.quote(silence)}" if silence else "true"
    return " ".join([*map(_quoted, program), "--host", host, *_QUIET, otherwise])


def understood(command: object) -> Call | None:
    """Return what a command of a settings file says, None if it does not call the hook.

    It need not be all that the command does: a shell, a time limit or other commands may be around.
    One of more than ``MAX_LINE`` characters is not looked at.
    """
    if not isinstance(command, str) or "recall" not in command or len(command) > MAX_LINE:
        return None
    for program, rest in _splits(_words(command)):
        if _is_tail(rest) and (len(program) == 1 or program[1:] in _PLAIN):
            return Call(program, exact=True)
    for each in started(command):
        words = [word.replace(_DOLLAR, "$") for word in each.words]
        for program, rest in _splits(words):
            if _is_for_hosts(rest):
                known = each.found or os.path.isabs(program[0])
                return Call(program if known else (), exact=False)
    return None


def place_of(program: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Return the path that a shell runs for ``program``, None if there is none to run.

    A path that begins with the home directory is one, and a bare name is looked for in PATH.
    """
    import shutil

    name = _at_home(program[0], environ)
    return shutil.which(name, path=environ.get("PATH", os.defpath))


def directory_of(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return where the installation is that ``program`` belongs to: its directory of programs.

    A link to a program is followed, one to an interpreter is not: a virtual environment's leads
    out of it.
    """
    path = place_of(program, environ) or _at_home(program[0], environ)
    if os.path.basename(program[0]) in (PROGRAM, "recall"):
        path = os.path.realpath(path)
    return os.path.realpath(os.path.dirname(path))


def is_told(program: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Return whether what ``program`` means can be told here at all.

    It can't if a variable is in it, or if it depends on where the host stands.
    """
    if not program:
        return False
    name = _at_home(program[0], environ)
    if "$" in name and not os.path.isfile(name):
        return False
    return os.path.isabs(name) or "/" not in name


def _at_home(name: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME")
    for start in ("~/", "$HOME/", "${HOME}/"):
        if home and name.startswith(start):
            return os.path.join(home, name[len(start) :])
    return name


def _words(command: str) -> list[str]:
    try:
        return [word.replace(_DOLLAR, "$") for word in shlex.split(command)]
    except ValueError:
        return []


def _quoted(word: str) -> str:
    return f'"{_DOLLAR}"'.join(shlex.quote(part) if part else "" for part in word.split("$"))


def _splits(words: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return the ways to tell a program of ours from what follows it."""
    if not words:
        return []
    name = os.path.basename(words[0])
    if name == PROGRAM:
        return [(words[:1], words[1:])]
    if name == "recall" and words[1:2] == ["hook"]:
        return [(words[:2], words[2:])]
    if name.startswith(("python", "pypy")):
        return _of_python(words)
    return []


def _of_python(words: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return where the hook's module, or its program, ends among what an interpreter is given."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        option, rest = words[at], words[at + 1 :]
        if not option.startswith("--") and option.endswith("m"):
            return [
                (words[: at + 1 + len(module)], rest[len(module) :])
                for module in _MODULES
                if rest[: len(module)] == module
            ]
        at += 2 if option in ("-X", "-W") else 1
    if at < len(words) and os.path.basename(words[at]) == PROGRAM:
        return [(words[: at + 1], words[at + 1 :])]
    return []


def _is_for_hosts(rest: list[str]) -> bool:
    """Tell whether what follows the program is what hosts call, not what people do."""
    return _FOR_PEOPLE.isdisjoint(rest) and (rest[:1] or [""])[0] not in _SUBCOMMANDS


def _is_tail(words: list[str]) -> bool:
    rest = words[2:] if words[:1] == ["--host"] and words[1:] else words
    return not rest or (tuple(rest[:2]) == _QUIET and rest[2:] in (["true"], ["echo", "{}"]))
