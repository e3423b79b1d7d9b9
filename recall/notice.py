"""What is said beside an answer, and paths that can be pasted into a shell."""

from __future__ import annotations

_PRINTABLE_ASCII = range(0x20, 0x7F)


class Notice:
    """Something the person should know that stops nothing.

    ``message`` says what and where; ``hint`` is the next step, a command where one helps. Both
    may hold names from a stranger's file: whoever prints them makes them harmless.
    """

    __slots__ = ("hint", "message")

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Notice) and (self.message, self.hint) == (
            other.message,
            other.hint,
        )

    def __hash__(self) -> int:
        return hash((self.message, self.hint))

    def __repr__(self) -> str:
        return f"Notice({self.message!r}, {self.hint!r})"


def shell_quoted(text: str) -> str:
    r"""Return ``text`` as one word of a shell command, without a byte that a terminal would obey.

    What can't be printed is written the way bash, zsh and ksh read it (``$'\x1b'``), so that the
    command still means the same path after it was made harmless for showing.
    """
    if text.isprintable():
        import shlex

        return shlex.quote(text)
    import os

    escaped = "".join(
        chr(byte) if byte in _PRINTABLE_ASCII and byte not in b"\\'" else f"\\x{byte:02x}"
        for byte in os.fsencode(text)
    )
    return f"$'{escaped}'"
