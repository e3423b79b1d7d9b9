"""What an edit of a person's file changes, as a unified diff that drives no terminal."""

from __future__ import annotations

from recall.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.terminal import Look

_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"


def unified(before: bytes | None, after: bytes | None, file: str, look: Look | None) -> str:
    """Return a unified diff, each line made harmless; coloured where ``look`` says so.

    ``before`` and ``after`` are None for no file.
    """
    from difflib import unified_diff

    lines = unified_diff(
        _lines(before),
        _lines(after),
        "/dev/null" if before is None else file,
        "/dev/null" if after is None else file,
        lineterm="",
    )
    return "".join(_shown(line, look) for line in lines)


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _shown(line: str, look: Look | None) -> str:
    text = visible(line.replace("\t", "    "))
    colour = {"+": _GREEN, "-": _RED}.get(line[:1]) if look is not None and look.colour else None
    return f"{colour}{text}{_PLAIN}\n" if colour else f"{text}\n"
