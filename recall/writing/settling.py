"""Proposals: what an agent suggests, until a person takes it in as knowledge or turns it down.

See "Proposals" in ``spec/writing.md``.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime

from index_cache.errors import (
    GovernanceRefused,
    InvalidInput,
    NotFound,
    RootUnavailable,
    WriteRefused,
)
from index_cache.files import FileSystem
from index_cache.privacy import strip
from index_cache.reader import record_id
from index_cache.scan import look
from recall.writing.audit import machine_id
from recall.writing.filenames import decoded, encoded, fold, free, slug
from recall.writing.payload import DIRECTORIES, PROPOSAL, meant_line
from recall.writing.recordtext import Note, scalar, stamp
from recall.writing.remembering import TRIES, check_place
from recall.writing.within import Tree, digest
from recall.writing.writejournal import Change, commit, ours, settle, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from index_cache.model import Root

PENDING, REJECTED = "pending", "rejected"
PERSON = "person"  # who settles, in the audit
_DIRECTORY = DIRECTORIES[PROPOSAL]
_ACCEPTED = "knowledge"


class Proposal:
    """A note of type Proposal: ``status`` is pending or rejected, ``reason`` why the latter."""

    __slots__ = ("adapter", "created", "id", "note", "path", "reason", "status", "text", "title")

    def __init__(self, note: Note) -> None:
        document, keys = note.document, note.keys()
        self.note = note
        self.path = note.path
        self.id = record_id(encoded(note.path), document)
        self.title = document.title
        self.created = document.created
        self.text = document.body.strip("\n")
        self.status = REJECTED if document.status.lower() == REJECTED else PENDING
        reason, adapter = keys.get("reason"), keys.get("adapter")
        self.reason = reason if isinstance(reason, str) and self.status == REJECTED else None
        self.adapter = adapter if isinstance(adapter, str) else None


class Settled:
    """What a person decided: ``path`` is where the note is now, ``line`` the audit's fields.

    ``stripped`` says that private spans of the reason were left out.
    """

    __slots__ = ("action", "id", "line", "path", "stripped", "title")

    def __init__(self, action: str, proposal: Proposal, path: str) -> None:
        self.action = action
        self.id = proposal.id
        self.title = proposal.title
        self.path = path
        self.stripped = False
        self.line: Mapping[str, object] = {}


def listed(root: Root) -> list[Proposal]:
    """Return the proposals of a root, as its rules let them be found, oldest first.

    Raises RootUnavailable when it can't be read.
    """
    try:
        tree = Tree(root.path)
    except OSError as error:
        raise RootUnavailable(
            f"the root can't be read: {error.strerror}", where=root.path
        ) from error
    try:
        return _listed(root, tree)
    finally:
        tree.close()


def _listed(root: Root, tree: Tree) -> list[Proposal]:
    prefix = encoded(tree.spelled(_DIRECTORY)) + b"/"
    paths = look(root, FileSystem(), directories=False).entries
    found = []
    for path in sorted(path for path in paths if path.startswith(prefix)):
        try:
            name = decoded(path)
            data = tree.read(name)
            note = None if data is None else Note(name, data, tree.where(name))
        except (InvalidInput, WriteRefused, OSError):
            continue  # gone since, or no text: recall status --skipped lists that
        if note and _is_proposal(note) and not note.document.withheld:
            found.append(Proposal(note))
    return sorted(found, key=lambda each: (each.created, each.path))


def _is_proposal(note: Note) -> bool:
    """Tell whether a note is a proposal; so is one by hand whose type is a list of that alone."""
    type = note.keys().get("type")
    said = type[0] if isinstance(type, list) and len(type) == 1 else note.document.type
    return isinstance(said, str) and said.lower() == PROPOSAL


def find(root: Root, id: str) -> Proposal:
    """Return the proposal that has an id. Raises NotFound, and InvalidInput if several have it."""
    return _one(listed(root), id, root)


def _one(proposals: list[Proposal], id: str, root: Root) -> Proposal:
    fit = [each for each in proposals if each.id == id]
    if not fit:
        raise NotFound(
            "there is no proposal with this id", where=root.path, hint="recall proposals list"
        )
    if len(fit) > 1:
        paths = ", ".join(each.path for each in fit)
        raise InvalidInput(f"several proposals have this id: {paths}", where=root.path)
    return fit[0]


def accept(
    root: Root,
    state_dir: str | None,
    id: str,
    holders: Callable[[str], Iterable[str]],
    *,
    wait: float = 30.0,
    now: datetime | None = None,
) -> Settled:
    """Make a proposal knowledge: it moves to its place there, and keeps its id.

    ``holders`` tells the paths of all notes with an id. Raises NotFound, InvalidInput for an id
    that another note has, GovernanceRefused for one that was rejected, and what writing raises.
    """
    moment = now or datetime.now(UTC)
    machine = machine_id(state_dir)
    with _open(root, state_dir, machine, wait) as tree:
        proposal = _pending(_one(_listed(root, tree), id, root), tree)
        if proposal.note.document.id:
            _check_id(proposal, holders(proposal.id), tree)
        data = proposal.note.changed({"type": _ACCEPTED, "updated": stamp(moment)})
        directory = tree.spelled(DIRECTORIES[_ACCEPTED])
        taken = {fold(name) for name in tree.names(directory)}
        for _ in range(TRIES):
            path = f"{directory}/{free(slug(proposal.title), taken)}"
            check_place(root, path, len(data))
            settled = Settled("accept", proposal, path)
            source = (proposal.path, digest(proposal.note.data))
            change = Change(path, data, _fields(settled, _ACCEPTED), remove=source)
            try:
                settled.line = commit(tree, machine, change, stamp(moment))
            except FileExistsError:
                taken.add(fold(path.rpartition("/")[2]))
            else:
                return settled
    raise RootUnavailable("others take each name that is tried", hint="try again")


def reject(
    root: Root,
    state_dir: str | None,
    id: str,
    reason: str,
    *,
    wait: float = 30.0,
    now: datetime | None = None,
) -> Settled:
    """Turn a proposal down for good, for a reason that stays with it.

    Raises NotFound, InvalidInput and GovernanceRefused for the reason, GovernanceRefused for one
    that was rejected, and what writing raises.
    """
    said = meant_line(reason, "reason")
    moment = now or datetime.now(UTC)
    machine = machine_id(state_dir)
    with _open(root, state_dir, machine, wait) as tree:
        proposal = _pending(_one(_listed(root, tree), id, root), tree)
        values = {"status": REJECTED, "reason": scalar(said), "updated": stamp(moment)}
        data = proposal.note.changed(values)
        check_place(root, proposal.path, len(data))
        settled = Settled("reject", proposal, proposal.path)
        settled.stripped = strip(reason) != reason
        fields = _fields(settled, PROPOSAL)
        change = Change(proposal.path, data, fields, before=proposal.note.data)
        settled.line = commit(tree, machine, change, stamp(moment))
        return settled


@contextmanager
def _open(root: Root, state_dir: str | None, machine: str, wait: float) -> Iterator[Tree]:
    with writing(root.path, state_dir or "", wait) as tree:
        try:
            settle(tree, machine)
            yield tree
        except OSError as error:
            path = f"{tree.spelled(_DIRECTORY)}/note.md"  # one of those there
            other = f"{tree.spelled(DIRECTORIES[_ACCEPTED])}/note.md"
            raise tree.unwritten(path, error, other, *ours(machine)) from error


def _pending(proposal: Proposal, tree: Tree) -> Proposal:
    if proposal.status == REJECTED:
        raise GovernanceRefused(
            "the proposal was rejected, and that is final",
            where=tree.where(proposal.path),
            hint="propose it anew, for another reason",
        )
    return proposal


def _check_id(proposal: Proposal, holders: Iterable[str], tree: Tree) -> None:
    others = [path for path in holders if path != proposal.path]
    if others:
        raise InvalidInput(
            "another note has the proposal's id",
            where=tree.where(others[0]),
            hint="give one of the two another id; nothing was changed",
        )


def _fields(settled: Settled, type: str) -> dict[str, str]:
    return {
        "adapter": PERSON,
        "command": f"proposals {settled.action}",
        "action": settled.action,
        "id": settled.id,
        "type": type,
    }
