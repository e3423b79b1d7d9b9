"""One change of a root and its line in the audit: both are there, or neither, whatever happens.

What is about to be done is noted first, in a file of this machine's; who finds such a note, as its
writer was killed, sees by the staged file whether the change was made, and completes its line or
takes everything back. See "A write, step by step" in ``spec/writing.md``.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import ExitStack, contextmanager, suppress

from index_cache.digests import hashed
from index_cache.errors import (
    CacheBusy,
    IntegrityError,
    NotFound,
    RecallError,
    RootUnavailable,
    WriteRefused,
)
from index_cache.locks import WriterLock
from recall.leftovers import sweep
from recall.replace import locked, make_private
from recall.writing import auditchain
from recall.writing.within import Tree, digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Pending = dict[str, str | None]

DIRECTORY = ".recall"
AUDIT = f"{DIRECTORY}/audit"
PENDING = f"{DIRECTORY}/pending"
SUFFIX = ".jsonl"
MAX_PENDING = 64 * 1024  # bytes
_KEYS = {"staged", "path", "before", "after", "remove", "removed", "line"}
_BEFORE_NOW = "it was changed by somebody else just now"


class Change:
    """One file to be written. ``before`` is what it had, None for a new one.

    ``remove`` is a file that goes then, with the digest of what it has: a note moves so.
    ``fields`` are the audit's, without what follows from this.
    """

    __slots__ = ("before", "data", "fields", "path", "remove")

    def __init__(
        self,
        path: str,
        data: bytes,
        fields: Mapping[str, str],
        *,
        before: bytes | None = None,
        remove: tuple[str, str] | None = None,
    ) -> None:
        self.path = path
        self.data = data
        self.fields = fields
        self.before = None if before is None else digest(before)
        self.remove = remove


@contextmanager
def writing(path: str, state_dir: str, wait: float) -> Iterator[Tree]:
    """Open a root for its one writer. Raises CacheBusy, NotFound if it is gone, RootUnavailable.

    The lock is the root's directory itself; where its file system has none, a file in the state
    directory, which holds for the processes of this person.
    """
    with ExitStack() as stack:
        try:
            tree = Tree(path)
            stack.callback(tree.close)
            if not stack.enter_context(locked(path, wait, CacheBusy)):
                _lock_elsewhere(stack, path, state_dir, wait)
        except FileNotFoundError as error:
            raise NotFound(
                "the root is not there", where=path, hint="check that it exists and is mounted"
            ) from error
        except OSError as error:
            raise RootUnavailable(
                f"the root can't be opened and locked: {error.strerror}",
                where=path,
                hint="check that the directory exists and is mounted",
            ) from error
        yield tree


def _lock_elsewhere(stack: ExitStack, path: str, state_dir: str, wait: float) -> None:
    directory = os.path.join(state_dir, "locks")
    make_private(directory)
    lock = stack.enter_context(WriterLock(os.path.join(directory, hashed(path, size=8) + ".db")))
    if not lock.acquire(wait):
        raise CacheBusy(
            "another process writes to the root", where=path, hint="try again when it is done"
        )


def audit_file(machine: str) -> str:
    """Return the path of a machine's audit file."""
    return f"{AUDIT}/{machine}{SUFFIX}"


def pending_file(machine: str) -> str:
    """Return the path of the note of what a machine is doing."""
    return f"{PENDING}/{machine}.json"


def ours(machine: str) -> tuple[str, str]:
    """Return the paths of the files that a machine needs besides a note."""
    return audit_file(machine), pending_file(machine)


def commit(tree: Tree, machine: str, change: Change, now: str) -> Mapping[str, object]:
    """Make a change and its line in the audit; return the line's fields.

    The caller holds the lock, and has called ``settle``. Raises FileExistsError when a new file's
    name is taken, RootUnavailable when the file was changed by somebody else, OSError; then
    nothing was changed.
    """
    above = change.path.split("/")[:-1]
    places = ["/".join(above[: at + 1]) for at in range(len(above))]
    missing = [each for each in (DIRECTORY, PENDING, *places) if tree.inode(each) is None]
    try:
        return _tried(tree, machine, change, now)
    except (OSError, RecallError):
        for each in reversed(missing):
            tree.remove_empty(each)
        raise


def _tried(tree: Tree, machine: str, change: Change, now: str) -> Mapping[str, object]:
    name = _staged_name(machine, change.path)
    try:
        return _commit(tree, machine, change, now, f"{PENDING}/{name}")
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    # A directory of the root is another file system: there it is staged beside.
    above = change.path.rpartition("/")[0]
    return _commit(tree, machine, change, now, f"{above}/{name}")


def _staged_name(machine: str, path: str) -> str:
    short = path.rpartition("/")[2].encode("utf-8", "surrogateescape")[:180]
    name = short.decode("utf-8", "ignore")
    return f"{machine}-{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"


def _commit(
    tree: Tree, machine: str, change: Change, now: str, staged: str
) -> Mapping[str, object]:
    source, removed = change.remove or (None, None)
    fields = {
        "t": now,
        "machine": machine,
        "path": change.path,
        "from": source,
        "before": change.before,
        "after": digest(change.data),
        **change.fields,
    }
    line = auditchain.line(fields, _last(tree, machine))
    tree.stage(staged, change.data, like=change.path if change.before else None)
    pending = {key: each for key, each in fields.items() if key in _KEYS}
    pending |= {"staged": staged, "remove": source, "removed": removed, "line": line.decode()}
    failure = None
    try:
        _note(tree, machine, pending)
        _apply(tree, change, staged)
    except (OSError, RecallError) as error:
        failure = error
    done = _settled(tree, machine, change, failure)
    if failure is not None and not done:
        tree.remove(staged)
        raise failure
    return auditchain.parsed(line[:-1]) or {}


def _settled(tree: Tree, machine: str, change: Change, failure: Exception | None) -> bool:
    """Complete the change, or take back one that failed; return whether it was made."""
    try:
        return settle(tree, machine)
    except OSError as error:
        if failure is not None:
            raise failure from error
        raise RootUnavailable(
            f"the note is written, its line in the audit is not yet: {error.strerror}",
            where=tree.where(change.path),
            hint="the next write to this root completes it",
        ) from error


def _note(tree: Tree, machine: str, pending: Pending) -> None:
    file = pending_file(machine)
    staged = f"{file}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    tree.stage(staged, json.dumps(pending).encode("ascii"))
    tree.replace(staged, file)


def _apply(tree: Tree, change: Change, staged: str) -> None:
    known = change.remove or (change.path, change.before)
    if known[1] is not None and digest(tree.read(known[0]) or b"") != known[1]:
        raise RootUnavailable(
            _BEFORE_NOW, where=tree.where(known[0]), hint="try again; nothing was changed"
        )
    if change.before is None:
        tree.put(staged, change.path)
    else:
        tree.replace(staged, change.path)


def settle(tree: Tree, machine: str) -> bool:
    """Complete what this machine's last writer has begun, or take it back. The lock is held.

    Return whether there was something to complete. Raises OSError, and IntegrityError for an audit
    or a note of what was begun that is none of ours.
    """
    pending = read_pending(tree, machine)
    done = pending is not None and _is_done(tree, pending)
    if pending is not None:
        if done:
            _remove_source(tree, pending)
            _append(tree, machine, str(pending["line"]).encode("ascii"))
        tree.remove(str(pending["staged"]))
        tree.remove(pending_file(machine))
    with suppress(OSError, WriteRefused), tree.directory(PENDING):
        sweep(tree.where(PENDING), lambda name: name.startswith(machine))
    return done


def _is_done(tree: Tree, pending: Pending) -> bool:
    """Tell whether the file was written: then what was staged has its name, or is gone."""
    staged, path = str(pending["staged"]), str(pending["path"])
    there = tree.inode(path)
    at_stage = tree.inode(staged)
    if at_stage is not None:
        return at_stage == there
    if there is None:
        return False
    return pending["before"] is None or digest(tree.read(path) or b"") != pending["before"]


def _remove_source(tree: Tree, pending: Pending) -> None:
    source = pending["remove"]
    if source is None:
        return
    data = tree.read(source)
    if data is not None and digest(data) == pending["removed"]:
        tree.remove(source)


def _append(tree: Tree, machine: str, line: bytes) -> None:
    """Append a line, or the rest of it, unless it is there."""
    file = audit_file(machine)
    data = tree.read(file) or b""
    if data.endswith(line):
        return
    rest = data.rpartition(b"\n")[2]
    if rest and not line.startswith(rest):
        raise _damaged(tree, machine)
    tree.append(file, line[len(rest) :])


def _last(tree: Tree, machine: str) -> bytes | None:
    """Return the last line of a machine's audit, None for none. Raises IntegrityError."""
    data = tree.read(audit_file(machine)) or b""
    if not data:
        return None
    last = data[:-1].rpartition(b"\n")[2]
    if not data.endswith(b"\n") or not auditchain.holds(last):
        raise _damaged(tree, machine)
    return last


def _damaged(tree: Tree, machine: str) -> IntegrityError:
    return IntegrityError(
        "the end of this machine's audit is not what was written there",
        where=tree.where(audit_file(machine)),
        hint="recall audit names the line; under another name it is kept, and a new one begins",
    )


def read_pending(tree: Tree, machine: str) -> Pending | None:
    """Return the note of what a machine's writer has begun, None for none.

    Raises IntegrityError for one that no writer has written.
    """
    data = tree.read(pending_file(machine), MAX_PENDING)
    if data is None:
        return None
    try:
        pending = json.loads(data)
        known = _is_ours(pending, machine)
    except (ValueError, RecursionError):
        known = False
    if not known:
        raise IntegrityError(
            "it is no note of a write that was begun",
            where=tree.where(pending_file(machine)),
            hint="look at it and delete it; nothing was changed",
        )
    return pending  # type: ignore[no-any-return]


def _is_ours(pending: object, machine: str) -> bool:
    if not isinstance(pending, dict) or pending.keys() != _KEYS:
        return False
    if not all(isinstance(each, str | None) for each in pending.values()):
        return False
    line = pending["line"].encode("ascii")
    fields = auditchain.parsed(line[:-1])
    return (
        line.endswith(b"\n")
        and auditchain.holds(line[:-1])
        and fields is not None
        and fields["machine"] == machine
        and all(
            fields[key] == pending[other]
            for key, other in (
                ("path", "path"),
                ("before", "before"),
                ("after", "after"),
                ("from", "remove"),
            )
        )
        and _is_below(pending["path"])
        and _is_below(pending["remove"] or "x")
        and pending["staged"].endswith(".tmp")
        and _is_below(pending["staged"].removeprefix(f"{DIRECTORY}/"))
    )


def _is_below(path: str) -> bool:
    return all(name and not name.startswith(".") for name in path.split("/"))
