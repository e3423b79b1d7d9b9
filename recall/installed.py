"""What was in a settings file before the hook was installed, so that it can be put back.

One file in the state directory for each settings file: ``installed/HASH``, 0600 as all there, for
settings may hold secrets. It is written before the settings file is, so that there is no moment at
which the old bytes are nowhere; it is deleted once they are back.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress

from index_cache.digests import hashed
from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTORY = "installed"
_DIGITS = 32  # of a record's name
_HEX = frozenset("0123456789abcdef")
_MAX_BYTES = 4 * 1024 * 1024


class Record:
    """``before`` is what the file held, None if there was none; ``wrote`` the digest of ours.

    ``made`` are the directories that were made for it, the outermost first.
    """

    __slots__ = ("before", "made", "wrote")

    def __init__(self, before: bytes | None, wrote: str, made: list[str]) -> None:
        self.before = before
        self.wrote = wrote
        self.made = made


def has_any(state_dir: str) -> bool:
    """Return whether there may be records."""
    return os.path.isdir(os.path.join(state_dir, _DIRECTORY))


@contextmanager
def alone(state_dir: str, target: str) -> Iterator[bool]:
    """Let nobody else install or uninstall for this person meanwhile, and clear away first.

    What killed ones left of records and beside ``target``, the settings file, goes. Gives whether
    there is a lock. Where the state directory can't be had, there is none: who then writes a record
    is told. Raises RootUnavailable when another process keeps it too long.
    """
    from recall.leftovers import sweep
    from recall.replace import locked

    directory = os.path.join(state_dir, _DIRECTORY)
    with ExitStack() as stack:
        is_alone = False
        with suppress(OSError):
            state.own(state_dir)
            state.own(directory)
            is_alone = stack.enter_context(locked(directory))
            if is_alone:
                sweep(directory, _is_name)
        with suppress(OSError), locked(os.path.dirname(target)) as is_held:
            if is_held:
                sweep(os.path.dirname(target), os.path.basename(target).__eq__)
        yield is_alone


def digest(data: bytes) -> str:
    """Return the digest by which the file is known again."""
    return hashed(data, size=32)


def path_of(state_dir: str, file: str) -> str:
    """Return where the record of a settings file (its real path) is kept."""
    return os.path.join(state_dir, _name(file))


def read(state_dir: str, file: str) -> Record | None:
    """Return the record of a settings file, None if there is none that can be used."""
    found = _read(state_dir, _name(file))
    return found[1] if found is not None and found[0] == file else None


def every(state_dir: str) -> list[tuple[str, Record]]:
    """Return all records that can be read, each with the settings file that it is of."""
    try:
        names = sorted(filter(_is_name, os.listdir(os.path.join(state_dir, _DIRECTORY))))
    except OSError:
        return []
    found = [_read(state_dir, f"{_DIRECTORY}/{name}") for name in names]
    return [each for each in found if each is not None]


def _read(state_dir: str, name: str) -> tuple[str, Record] | None:
    import base64
    import json

    try:
        fields = json.loads(state.read(state_dir, name, _MAX_BYTES))
        file, before = str(fields["file"]), fields["before"]
        made = [str(each) for each in fields["made"]]
        if name != _name(file):
            return None
        kept = None if before is None else base64.b64decode(before, validate=True)
        return file, Record(kept, str(fields["wrote"]), made)
    except (OSError, Unreadable, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep(state_dir: str, file: str, record: Record) -> None:
    """Keep the record of a settings file. Raises OSError."""
    import base64
    import json

    before = None if record.before is None else base64.b64encode(record.before).decode("ascii")
    fields = {"file": file, "before": before, "wrote": record.wrote, "made": record.made}
    state.write(state_dir, _name(file), json.dumps(fields, indent=1).encode("ascii") + b"\n")


def forget(state_dir: str, file: str) -> None:
    """Delete the record of a settings file; one that can't be deleted does no harm."""
    try:
        os.unlink(path_of(state_dir, file))
    except OSError:
        return


def _is_name(name: str) -> bool:
    return len(name) == _DIGITS and _HEX.issuperset(name)


def _name(file: str) -> str:
    return f"{_DIRECTORY}/{hashed(os.fsencode(file))}"
