"""What a line of shell runs, as far as its words tell; pure.

People write hooks by hand, and wrap them: ``sh -c '…'``, ``timeout 2 …``, ``cd x && …``. This is no
shell: variables, functions and what is read from files stay unknown. It never raises.
"""

from __future__ import annotations

import os
import re
import shlex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_LINE = 16 * 1024
_DEPTH = 5  # of shells within shells
_MOST_TEXTS = 8  # that begin on one line and are looked for
_BREAKS = frozenset(";|&()\n`")
_REDIRECTING = frozenset("0123456789&<> \t")
_PLAIN, _SINGLE, _DOUBLE = "", "'", '"'
# The start of a text in the line itself, "<<EOF", and the word that ends it; "<<<" is none.
_HERE = re.compile(r"""<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.!%+,:@^-]+))(?![<\w])""")
# What stands before a command and says nothing of it.
_RESERVED = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"})
_SHELL_VALUES = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
# Programs that run another: options that take the next word, and how many words come before it.
_WRAPPERS: dict[str, tuple[frozenset[str], int]] = {
    "builtin": (frozenset(), 0),
    "caffeinate": (frozenset({"-t", "-w"}), 0),
    "chronic": (frozenset(), 0),
    "command": (frozenset(), 0),
    "doas": (frozenset({"-u", "-C"}), 0),
    "env": (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    "exec": (frozenset({"-a"}), 0),
    "flock": (frozenset({"-w", "--timeout", "-E"}), 1),
    "gtimeout": (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "nice": (frozenset({"-n", "--adjustment"}), 0),
    "nohup": (frozenset(), 0),
    "setsid": (frozenset(), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "sudo": (frozenset({"-u", "-g", "-h", "-C", "-D", "-p"}), 0),
    "taskset": (frozenset(), 1),
    "time": (frozenset({"-f", "-o"}), 0),
    "timeout": (frozenset({"-k", "--kill-after", "-s", "--signal"}), 1),
    "xargs": (frozenset({"-I", "-n", "-P", "-L", "-d", "-a"}), 0),
}
# Those that look for it in an environment of their own: the word behind their name, if any, and
# options that take the next word.
_UV = frozenset(
    {
        *("-p", "--python", "--project", "--directory", "--with", "--with-editable", "--from"),
        *("--with-requirements", "--extra", "--group", "--only-group", "--no-group", "--package"),
        *("--env-file", "--index", "--default-index", "-c"),
    }
)
_RUNNERS: dict[str, tuple[tuple[tuple[str, ...], ...], frozenset[str]]] = {
    "conda": ((("run",),), frozenset({"-n", "--name", "-p", "--prefix", "--cwd"})),
    "hatch": ((("run",),), frozenset({"-e", "--env"})),
    "mamba": ((("run",),), frozenset({"-n", "--name", "-p", "--prefix"})),
    "micromamba": ((("run",),), frozenset({"-n", "--name", "-p", "--prefix"})),
    "mise": ((("exec",), ("x",)), frozenset({"-C", "--cd"})),
    "pdm": ((("run",),), frozenset({"-p", "--project"})),
    "pipenv": ((("run",),), frozenset()),
    "pipx": ((("run",),), frozenset({"--spec", "--python"})),
    "poetry": ((("run",),), frozenset({"-C", "--directory", "-P", "--project"})),
    "rye": ((("run",),), frozenset({"--pyproject"})),
    "uv": ((("run",), ("tool", "run")), _UV),
    "uvx": (((),), _UV),
}
# Options behind which these take a line of shell.
_LINES = {"env": ("-S", "--split-string"), "flock": ("-c", "--command")}


class Started:
    """A program that a line starts: ``words`` are its name and its arguments.

    ``found`` says that its name means what it does where the line itself is run: not another
    environment's, a login shell's or that of a changed PATH.
    """

    __slots__ = ("found", "words")

    def __init__(self, words: Sequence[str], *, found: bool) -> None:
        self.words = list(words)
        self.found = found


def started(line: str) -> list[Started]:
    """Return the programs that ``line`` starts, and behind each what that starts in its turn.

    Of a line of more than ``MAX_LINE`` characters none.
    """
    return list(_of_line(line, _DEPTH, found=True)) if len(line) <= MAX_LINE else []


def _of_line(line: str, depth: int, *, found: bool) -> Iterator[Started]:
    for simple in simple_commands(line):
        try:
            words = shlex.split(simple)
        except ValueError:
            continue  # a quote that does not end: no shell runs that
        words = _without_redirections(words)
        yield from _of_words(words, depth, found=found)
        # What these do to the environment, nobody can tell from here.
        if words[:1] and words[0] in (".", "source", "eval", "export"):
            found = False


def _of_words(words: list[str], depth: int, *, found: bool) -> Iterator[Started]:
    while words:
        while words and (words[0] in _RESERVED or _is_assignment(words[0])):
            found = found and not words[0].startswith("PATH=")
            words = words[1:]
        if not words:
            return
        yield Started(words, found=found)
        name = os.path.basename(words[0])
        if name in _SHELLS or name == "eval":
            yield from _of_shell(name, words[1:], depth, found=found)
            return
        if name == "command" and words[1:] and words[1] in ("-v", "-V"):
            return
        words, inside = _wrapped(name, words[1:])
        found = found and not inside
        if words[:1] and words[0] in _LINES.get(name, ()):
            yield from _nested(words[1:2], depth, found=found)
            return


def _of_shell(name: str, words: list[str], depth: int, *, found: bool) -> Iterator[Started]:
    if name == "eval":
        yield from _nested([" ".join(words)], depth, found=found)
        return
    command = False
    while words and words[0][:1] in ("-", "+") and words[0] != "--":
        option = words[0]
        short = option.startswith("-") and not option.startswith("--")
        command = command or (short and "c" in option)
        # A login or interactive shell reads files that may change the PATH.
        if option == "--login" or (short and ("l" in option or "i" in option)):
            found = False
        words = words[2:] if option in _SHELL_VALUES else words[1:]
    words = words[1:] if words[:1] == ["--"] else words
    if command:
        yield from _nested(words[:1], depth, found=found)
    elif words:
        yield Started(words, found=found)  # a script, by its path


def _nested(lines: list[str], depth: int, *, found: bool) -> Iterator[Started]:
    for line in lines if depth else ():
        yield from _of_line(line, depth - 1, found=found)


def _wrapped(name: str, words: list[str]) -> tuple[list[str], bool]:
    """Return what a program that runs others runs, and whether in another environment."""
    if name in _WRAPPERS:
        values, before = _WRAPPERS[name]
        lines = _LINES.get(name, ())
        return _behind_options(_behind_options(words, values, lines)[before:], values, lines), False
    forms, values = _RUNNERS.get(name, ((), frozenset()))
    if () not in forms:
        words = _behind_options(words, values)
    for form in forms:
        if tuple(words[: len(form)]) == form:
            words = words[len(form) :]
            left = _behind_options(words, values)
            options = words[: len(words) - len(left)]
            module = options[-1:] and options[-1] in ("-m", "--module")
            return ["python", "-m", *left] if module else left, True
    return [], False


def _behind_options(
    words: list[str], values: frozenset[str], stop: Sequence[str] = ()
) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in stop:
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in values else 1
    return words[at:]


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier() and name.isascii()


def _without_redirections(words: list[str]) -> list[str]:
    left: list[str] = []
    at = 0
    while at < len(words):
        bare = words[at].lstrip("0123456789&")
        if bare[:1] in ("<", ">") and bare:
            at += 1 if bare.strip("<>|&") else 2
        else:
            left.append(words[at])
            at += 1
    return left


def simple_commands(line: str) -> list[str]:
    """Return the commands of a line without what is between them, quotes and all.

    What a ``$( )`` runs is one of its own, in double quotes too; a comment is none, nor is a text
    that a command reads from the lines behind it.
    """
    commands: list[list[str]] = [[]]
    texts: list[tuple[bool, str]] = []  # that begin on the next line
    state, above = _PLAIN, 0  # above: in how many $( ) within double quotes
    at = 0
    while at < len(line):
        char, step = line[at], 1
        if char == "\\" and state != _SINGLE:
            char, step = line[at : at + 2], 2
            commands[-1].append(char)
        elif state == _DOUBLE and line.startswith("$(", at):
            commands[-1].append(_DOUBLE)
            commands.append([])
            state, above, step = _PLAIN, above + 1, 2
        elif state == _PLAIN and char == "#" and _begins_word(commands[-1]):
            end = line.find("\n", at)
            step = (len(line) if end < 0 else end) - at
        elif state == _PLAIN and char in _BREAKS and not _in_redirection(line, at):
            commands.append([])
            step = _behind_texts(line, at, texts)
            if char == ")" and above:
                state, above = _DOUBLE, above - 1
                commands[-1].append(_DOUBLE)
        else:
            texts += [] if state or len(texts) >= _MOST_TEXTS else _here(line, at)
            if not state and char in "<>" and line[at - 1 : at] not in _REDIRECTING:
                commands[-1].append(" ")  # a name ends here, without a blank too
            commands[-1].append(char)
            if not state and char in (_SINGLE, _DOUBLE):
                state = char
            elif char == state:
                state = _PLAIN
        at += step
    return [text for each in commands if (text := "".join(each).strip())]


def _here(line: str, at: int) -> list[tuple[bool, str]]:
    """Return the end of the text that a ``<<`` here begins: whether after tabs too, and the word.

    None if that never comes: then it may be a number that is shifted.
    """
    found = _HERE.match(line, at)
    if found is None or line[at - 1 : at] == "<":
        return []
    text = (bool(found[1]), found[2] or found[3] or found[4])
    start = line.find("\n", found.end())
    return [text] if start >= 0 and _behind_texts(line, start, [text]) > 1 else []


def _behind_texts(line: str, at: int, texts: list[tuple[bool, str]]) -> int:
    """Return how far it is from a break at ``at`` to behind it, and behind the ``texts`` there.

    They begin at the end of a line, one after the other, and are done with then.
    """
    place = at + 1
    while texts and line[at] == "\n":
        tabs, word = texts.pop(0)
        before = r"^\t*" if tabs else "^"
        found = re.compile(f"{before}{re.escape(word)}$", re.MULTILINE).search(line, place)
        place = found.end() if found else place
    return place - at


def _begins_word(command: list[str]) -> bool:
    return not command or command[-1].isspace()


def _in_redirection(line: str, at: int) -> bool:
    """Tell whether the ``&`` or ``|`` here belongs to ``>&``, ``<&``, ``&>`` or ``>|``."""
    before, after = line[at - 1 : at] if at else "", line[at + 1 : at + 2]
    if line[at] == "&":
        return before in ("<", ">") or (after == ">" and before != "&")
    return line[at] == "|" and before == ">"
