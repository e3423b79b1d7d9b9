"""Where each host keeps its hooks and how they are written there; nothing else knows.

What a host sends and accepts is in ``recall.hosts``, whether it trusts a hook in
``recall.hosttrust``.
"""

from __future__ import annotations

import os
from contextlib import suppress

from index_cache.errors import ConfigInvalid, InvalidInput, RecallError
from recall.dirs import home_dir
from recall.hostreading import COMMA, COMMENT, EMPTY, MARK
from recall.hosts import CLAUDE, CODEX, GEMINI, SESSION_START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

USER, PROJECT = "user", "project"
SCOPES = (USER, PROJECT)
# More than the longest deadline that can be configured (10 s) and what comes after an answer.
TIMEOUT = 15  # seconds
LEAST_TIMEOUT = 2  # seconds; the hook's own deadline and the start of its interpreter, with room


class HostFiles:
    """The files of one host.

    ``title`` is its name for people; ``events`` are those that the hook answers; ``variable``
    names the environment's directory for the person's files, ``below`` what then follows, and
    ``usual`` where they are without it; ``project`` is the file in a project, ``committed`` whether
    others get that too, and ``shared`` another one there that the host reads before it.
    ``per_second`` is the unit of timeouts, ``named`` whether a hook has a
    name, ``silence`` what the host wants to read for nothing, ``by_place`` whether it remembers
    trusted hooks by their places. ``restart`` says what to do when something was installed.
    ``minds`` are words of ``recall.hostreading`` for what may not be in the file, ``keys`` all that
    may stand at its top (None: any), ``then`` says what the host does with a file that has it.
    """

    __slots__ = (
        "below",
        "by_place",
        "committed",
        "events",
        "file",
        "keys",
        "minds",
        "name",
        "named",
        "per_second",
        "project",
        "restart",
        "shared",
        "silence",
        "then",
        "title",
        "usual",
        "variable",
    )

    def __init__(
        self,
        name: str,
        title: str,
        *,
        event: str,
        file: str,
        project: str,
        variable: str,
        usual: str,
        restart: str,
        minds: tuple[str, ...],
        then: str = "ignores the file as it stands, and the hook in it",
        keys: tuple[str, ...] | None = None,
        below: str = "",
        committed: bool = True,
        per_second: int = 1,
        named: bool = False,
        by_place: bool = False,
        silence: str = "",
        shared: str | None = None,
    ) -> None:
        self.name = name
        self.title = title
        self.events = (event, SESSION_START)
        self.file = file
        self.project = project
        self.variable = variable
        self.usual = usual
        self.below = below
        self.restart = restart
        self.minds = minds
        self.then = then
        self.keys = keys
        self.committed = committed
        self.per_second = per_second
        self.named = named
        self.by_place = by_place
        self.silence = silence
        self.shared = shared

    @property
    def timeout(self) -> int:
        """Return the timeout with which the hook is installed, in the host's unit."""
        return TIMEOUT * self.per_second

    @property
    def least_timeout(self) -> int:
        """Return the shortest timeout that the hook can live with, in the host's unit."""
        return LEAST_TIMEOUT * self.per_second

    @property
    def unit(self) -> str:
        """Return the unit of the host's timeouts."""
        return "s" if self.per_second == 1 else "ms"

    def group(self, command: str) -> dict[str, object]:
        """Return what is added to an event's list: a group of our own, with one hook."""
        handler: dict[str, object] = {"name": "recall"} if self.named else {}
        handler |= {"type": "command", "command": command, "timeout": self.timeout}
        return {"hooks": [handler]}

    def directory(self, environ: Mapping[str, str]) -> str:
        """Return the directory of the person's own files.

        Raises ConfigInvalid for a variable that is no absolute path, InvalidInput without a home.
        """
        value = environ.get(self.variable)
        if value:
            if not os.path.isabs(value):
                raise ConfigInvalid(
                    f"{self.variable} is not an absolute path: {value}",
                    hint=f"set it to one, as {self.title} needs it too",
                )
            return os.path.join(value, self.below) if self.below else value
        home = home_dir(environ)
        if home is None:
            raise InvalidInput(
                f"there is no place for the settings of {self.title}: no home directory can be"
                " found",
                hint="set HOME to an absolute path",
            )
        return os.path.join(home, self.usual)


HOST_FILES = {
    each.name: each
    for each in (
        HostFiles(
            CLAUDE,
            "Claude Code",
            event="UserPromptSubmit",
            file="settings.json",
            # Not settings.json, which is committed: nobody else should get a hook of ours.
            project=".claude/settings.local.json",
            committed=False,
            shared=".claude/settings.json",
            variable="CLAUDE_CONFIG_DIR",
            usual=".claude",
            minds=(COMMENT, COMMA),
            restart="start a new session of Claude Code; /hooks shows what it has loaded",
        ),
        HostFiles(
            CODEX,
            "Codex CLI",
            event="UserPromptSubmit",
            file="hooks.json",
            project=".codex/hooks.json",
            variable="CODEX_HOME",
            usual=".codex",
            minds=(COMMENT, COMMA, MARK, EMPTY),
            keys=("hooks", "description"),
            by_place=True,
            restart="start codex and trust the command when it asks, or in /hooks: until then it"
            " does not run",
        ),
        HostFiles(
            GEMINI,
            "Gemini CLI",
            event="BeforeAgent",
            file="settings.json",
            project=".gemini/settings.json",
            variable="GEMINI_CLI_HOME",
            below=".gemini",
            usual=".gemini",
            minds=(COMMA, MARK, EMPTY),
            then="does not start with the file as it stands",
            per_second=1000,
            named=True,
            silence="{}",
            restart="start a new session of Gemini CLI; /hooks panel shows what it has loaded",
        ),
    )
}

_ASK = "its agent to run, before it answers: recall search QUESTION"
# Hosts that people ask for and that can't add anything to a prompt.
UNFIT = {
    "cursor": (
        "Cursor can't be given notes at a prompt: its beforeSubmitPrompt hook injects nothing",
        f"it supports a session start hook, rules files and MCP: have a rules file tell {_ASK}",
    ),
    "copilot": (
        "Copilot can't be given notes at a prompt: its userPromptSubmitted hook is not listened to",
        f"it supports instructions files and MCP: have one of these tell {_ASK}",
    ),
}


class Place:
    """One settings file: of which host, for the person (``user``) or one ``project``.

    ``inside`` is the directory that the file may not leave through a link, None for any.
    """

    __slots__ = ("file", "host", "inside", "scope")

    def __init__(self, host: HostFiles, scope: str, file: str, inside: str | None) -> None:
        self.host = host
        self.scope = scope
        self.file = file
        self.inside = inside


def host_files(name: str) -> HostFiles:
    """Return the files of a host. Raises InvalidInput for one that can't have the hook."""
    known = HOST_FILES.get(name)
    if known is not None:
        return known
    if name in UNFIT:
        message, hint = UNFIT[name]
        raise InvalidInput(message, hint=hint)
    raise InvalidInput(
        f'there is no host "{name}" that the hook can be installed into',
        hint=f"one of {', '.join(HOST_FILES)}; any other that runs a command before a prompt can"
        " call: recall hook --host text",
    )


def place(host: HostFiles, scope: str, environ: Mapping[str, str], cwd: str) -> Place:
    """Return the file of a host in one scope; that of a project is in its repository's top.

    Where that is the person's own file, as in the home directory, it is a place of the scope
    ``user``: one file has one set of rules. Raises as ``HostFiles.directory`` does.
    """
    if scope == USER:
        return Place(host, scope, os.path.join(host.directory(environ), host.file), None)
    from recall.project import find_repository

    top = find_repository(cwd, []) or os.path.realpath(cwd)
    file = os.path.join(top, host.project)
    with suppress(RecallError):
        own = place(host, USER, environ, cwd)
        # Links above the host's directory alone: one in a project may have been put by others.
        above, name = os.path.split(os.path.dirname(own.file))
        if os.path.join(os.path.realpath(above), name, host.file) == file:
            return own
    return Place(host, scope, file, top)


def shared_place(host: HostFiles, environ: Mapping[str, str], cwd: str) -> Place | None:
    """Return the file of a project that the host reads besides that for ``place``; None for none.

    Others have it too, so nothing is ever installed there. Raises as ``place`` does.
    """
    own = place(host, PROJECT, environ, cwd)
    if host.shared is None or own.inside is None:
        return None
    return Place(host, PROJECT, os.path.join(own.inside, host.shared), own.inside)
