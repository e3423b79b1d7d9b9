"""What a configuration was made from: the questions to the file system, and their answers.

Each question can be asked again, so that a kept result is known to hold without making it anew
(``recall.resolved``). A question is noted before the loading asks its own: a change between the
two is then found at the next call, never missed.
"""

from __future__ import annotations

import os
import stat

from index_cache.files import is_suspect, signature
from recall.dirs import home_of
from recall.files import directory_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Question = tuple[str, str]  # which question, and the path or user that it is about
    # As JSON gives it back: lists, no tuples.
    Answer = str | int | list[str | int] | None


class Looked:
    """The questions of one loading. ``steady``: none was answered in two ways."""

    __slots__ = ("answers", "steady")

    def __init__(self) -> None:
        self.answers: dict[Question, Answer] = {}
        self.steady = True

    def entry(self, path: str) -> None:
        """Note what is at ``path``, be it a symlink: whose it is, and its signature."""
        self._note("entry", path)

    def file(self, path: str) -> None:
        """Note the file that ``path`` leads to, whose bytes decide."""
        self._note("file", path)

    def real(self, path: str) -> None:
        """Note where the symlinks of ``path`` lead."""
        self._note("real", path)

    def root(self, path: str) -> None:
        """Note whether ``path`` can be searched, and which directory it is."""
        self._note("root", path)

    def own_home(self) -> None:
        """Note the home in the user database."""
        self._note("home", "")

    def tilde(self, path: str) -> None:
        """Note another user's home where ``path`` begins with it: ``~user``."""
        head = path.partition("/")[0]
        if head.startswith("~") and head != "~":
            self._note("home", head[1:])

    def is_suspect(self, clock_ns: int) -> bool:
        """Return whether an edit of a file could hide, its signature read at ``clock_ns`` or later.

        See ``spec/staleness.md``.
        """
        return any(
            is_suspect(bytes.fromhex(answer[-1]), clock_ns)
            for answer in self.answers.values()
            if isinstance(answer, list) and isinstance(answer[-1], str)
        )

    def _note(self, kind: str, name: str) -> None:
        answer = ask(kind, name)
        if self.answers.setdefault((kind, name), answer) != answer:
            self.steady = False


def ask(kind: str, name: str) -> Answer:
    """Return the answer to a question now. Raises ``KeyError`` for one that there is not."""
    question = _QUESTIONS[kind]
    try:
        return question(name)
    except OSError as error:
        return error.errno
    except ValueError:  # a NUL in it: nothing can be there
        return None


def _state(st: os.stat_result) -> Answer:
    # A directory's times and size change with what lies in it, which decides nothing here.
    if stat.S_ISDIR(st.st_mode):
        return [st.st_mode, st.st_uid]
    return [st.st_mode, st.st_uid, signature(st).hex()]


def _root(path: str) -> Answer:
    fault = directory_fault(path)
    if fault is not None:
        return fault.reason
    st = os.stat(path)
    return [st.st_dev, st.st_ino]


_QUESTIONS: dict[str, Callable[[str], Answer]] = {
    "entry": lambda path: _state(os.lstat(path)),
    "file": lambda path: _state(os.stat(path)),
    "real": os.path.realpath,
    "root": _root,
    "home": lambda user: home_of(user or None),
}
