"""The audit of a root: which machine this is, and what all machines' files say.

One file a machine, so that machines that synchronise a root don't write to one file.
"""

from __future__ import annotations

import os

from index_cache.errors import IntegrityError, InvalidInput, RecallError, RootUnavailable
from recall import state
from recall.files import Unreadable, reason_of
from recall.replace import locked
from recall.writes import refuse_foreign, unwritten
from recall.writing import auditchain
from recall.writing.auditchain import Broken
from recall.writing.within import Tree
from recall.writing.writejournal import AUDIT, SUFFIX, audit_file, read_pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recall.writing.auditchain import Fields

MACHINE_FILE = "machine"
_DIGITS = 16  # of a machine's id, hexadecimal
_MOST = 64 * 1024  # bytes of its file that are looked at
_ANEW = "move the file away: a new id is made, and the audit goes on in a file of its own"
_HEX = frozenset("0123456789abcdef")


class MachineAudit:
    """One machine's file: its lines that hold, the first that does not, and what is begun.

    ``file`` is absolute; ``pending`` is the path of a note whose line is still to come.
    """

    __slots__ = ("broken", "file", "lines", "machine", "pending")

    def __init__(self, machine: str, file: str) -> None:
        self.machine = machine
        self.file = file
        self.lines: list[Fields] = []
        self.broken: Broken | None = None
        self.pending: str | None = None


def machine_id(state_dir: str | None) -> str:
    """Return this machine's id, made by chance when first asked for: no name of it is told.

    Raises InvalidInput without a state directory, RootUnavailable when it can't be kept there,
    IntegrityError for a file that has none: a new chain begins only when a person says so.
    """
    if state_dir is None:
        raise InvalidInput(
            "there is no place for this machine's id: no home directory can be found",
            hint="set HOME to an absolute path",
        )
    file = os.path.join(state_dir, MACHINE_FILE)
    try:
        known = _known(state_dir)
        if known is not None:
            return known
        refuse_foreign(file)
        state.own(state_dir)
        with locked(state_dir):
            known = _known(state_dir)
            if known is None:
                known = os.urandom(_DIGITS // 2).hex()
                state.write(state_dir, MACHINE_FILE, known.encode() + b"\n")
    except Unreadable as error:
        raise RootUnavailable(
            f"this machine's id can't be read: {reason_of(error)}", where=file, hint=_ANEW
        ) from error
    except OSError as error:
        raise unwritten("this machine's id can't be kept", file, error) from error
    return known


def _known(state_dir: str) -> str | None:
    try:
        data = state.read(state_dir, MACHINE_FILE, _MOST)
    except FileNotFoundError:
        return None
    text = data.decode("ascii", "replace").strip()
    if len(text) == _DIGITS and _HEX.issuperset(text):
        return text
    raise IntegrityError(
        "this machine's id is damaged", where=os.path.join(state_dir, MACHINE_FILE), hint=_ANEW
    )


def read(path: str) -> list[MachineAudit]:
    """Return what the audit files of the root at ``path`` say, by machine; writes nothing.

    What is no file, or can't be read, hides none of the others: it does not hold. Raises
    RootUnavailable when there is no reading at all, WriteRefused for a directory that is a symlink.
    """
    try:
        tree = Tree(path)
    except OSError as error:
        raise RootUnavailable(f"the root can't be read: {error.strerror}", where=path) from error
    try:
        names = sorted(name for name in tree.names(AUDIT) if name.endswith(SUFFIX))
        return [_machine(tree, name.removesuffix(SUFFIX)) for name in names]
    except OSError as error:
        raise RootUnavailable(
            f"the audit can't be read: {error.strerror}", where=tree.where(AUDIT)
        ) from error
    finally:
        tree.close()


def _machine(tree: Tree, machine: str) -> MachineAudit:
    found = MachineAudit(machine, tree.where(audit_file(machine)))
    try:
        pending = read_pending(tree, machine)
    except (OSError, RecallError):
        pending = None  # the next writer will say so
    line = b"" if pending is None else str(pending["line"]).encode("ascii")
    try:
        data = tree.read(audit_file(machine)) or b""
    except (OSError, RecallError) as error:
        found.broken = Broken(None, _why(error))
        return found
    if pending is not None and not data.endswith(line):
        found.pending = pending["path"]
    found.lines, found.broken = auditchain.verify(data, machine, pending=line)
    return found


def _why(error: OSError | RecallError) -> str:
    if isinstance(error, RecallError):
        return error.message
    return f"it can't be read: {error.strerror or error}"
