"""The command line by which a host calls the prompt hook: writing one, and knowing one again; pure.

It must stay the same from version to version, since a host may ask the person anew for a command
that changed, and do no harm when the program is gone: then it is silent and ends with 0.
"""

from __future__ import annotations

import os
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "recall-hook"
# Whatever fails (no program, no interpreter for it, no package) is kept from the host.
_QUIET = ("2>/dev/null", "||")
# Hosts put variables of theirs in the place of any $NAME, quoted or not, before a shell sees it.
_DOLLAR = "`printf '\\044'`"
_MODULES = (["-m", "recall", "hook"], ["-m", "recall.hook"])


class Call:
    """What a command says: ``program`` are the words before the options.

    ``exact`` if it is a form of ours, as this or another version or its documentation has it;
    otherwise somebody made one of their own.
    """

    __slots__ = ("exact", "program")

    def __init__(self, program: Sequence[str], *, exact: bool) -> None:
        self.program = list(program)
        self.exact = exact


def program_words(executable: str, argv0: str, *, isolated: bool) -> list[str]:
    """Return the words that start the hook of the installation that is running.

    ``executable`` is the interpreter, ``argv0`` the program's own path, ``isolated`` whether the
    interpreter belongs to a virtual environment. Links are kept as they are: they outlive what
    they point to. Where there is no program, the interpreter runs the package.
    """
    beside = [executable] if isolated else [os.path.abspath(argv0), executable]
    for path in beside:
        program = os.path.join(os.path.dirname(path), PROGRAM)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return [program]
    return [executable, "-P", "-m", "recall", "hook"]


def command_line(program: Sequence[str], host: str, silence: str = "") -> str:
    """Return the command that calls ``program`` for ``host``, for any shell that knows ``||``.

    ``silence`` is what the host wants to read when there is nothing to say.
    """
    otherwise = f"echo {shlex.quote(silence)}" if silence else "true"
    return " ".join([*map(_quoted, program), "--host", host, *_QUIET, otherwise])


def understood(command: object) -> Call | None:
    """Return what a command of a settings file says, None if it does not call the hook."""
    if not isinstance(command, str) or "recall" not in command:
        return None
    try:
        words = [word.replace(_DOLLAR, "$") for word in shlex.split(command)]
    except ValueError:
        return None
    for program, rest in _splits(words):
        if _is_tail(rest):
            return Call(program, exact=True)
    at = next((at for at, word in enumerate(words) if os.path.basename(word) == PROGRAM), None)
    return None if at is None else Call([words[at]], exact=False)


def is_there(program: Sequence[str]) -> bool:
    """Return whether the program that a command names exists and may be run."""
    return os.path.isfile(program[0]) and os.access(program[0], os.X_OK)


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
    if name.startswith("python"):
        start = 2 if words[1:2] == ["-P"] else 1
        return [
            (words[: start + len(module)], words[start + len(module) :])
            for module in _MODULES
            if words[start : start + len(module)] == module
        ]
    return []


def _is_tail(words: list[str]) -> bool:
    rest = words[2:] if words[:1] == ["--host"] and words[1:] else words
    return not rest or (tuple(rest[:2]) == _QUIET and rest[2:] in (["true"], ["echo", "{}"]))
