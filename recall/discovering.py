"""Which roots could be made below some directories, what is in each, and why. See the spec.

``spec/discover.md`` has the rules. Nothing is written here.
"""

from __future__ import annotations

import os
import time
from itertools import chain, count

from index_cache.errors import RecallError
from index_cache.files import size
from index_cache.model import Root, Rules
from index_cache.scan import look
from recall import places
from recall.adopting import derived_name
from recall.project import is_inside
from recall.survey import ENOUGH, MEMORIES, REPOSITORY, Place, Spot, Survey

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from index_cache.files import FileSystem
    from recall.configfile import Entry

    Told = Callable[[str], None]

MOST_INCLUDES = 24
_PARENT = 30  # characters of a parent's name before a root's own
AT_THE_TOP, ALL = "notes at the top", "notes"
NOT_UTF8 = "its path is not UTF-8, which a configuration can't hold"
ONLY_COMMUNITY = "nothing but a README and its like"
NO_NOTES, IGNORED = "no notes", "git ignores all its notes"


class Proposal:
    """A root that could be made.

    ``notes`` are the files that belong to it, ``size`` their bytes; ``why`` says what they are,
    where (relative, "" for all of it), and how many.
    """

    __slots__ = ("exclude", "include", "kind", "name", "notes", "path", "size", "why")

    def __init__(self, root: Root, kind: str) -> None:
        self.name = root.name
        self.path = root.path
        self.kind = kind
        self.include = root.rules.include
        self.exclude = root.rules.exclude
        self.notes = self.size = 0
        self.why: list[tuple[str, str, int]] = []


class Discovery:
    """What came of it.

    ``configured`` are places with the names of the roots that have them, ``passed_over`` those that
    are not proposed, with the reason. ``survey`` has the numbers of the walk; ``uncounted`` are
    places for which there was no time.
    """

    __slots__ = ("configured", "passed_over", "proposals", "survey", "uncounted")

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.proposals: list[Proposal] = []
        self.configured: list[tuple[str, list[str]]] = []
        self.passed_over: list[tuple[str, str]] = []
        self.uncounted = 0


def discover(
    tops: Sequence[bytes],
    entries: Sequence[Entry],
    fs: FileSystem,
    *,
    depth: int,
    seconds: float,
    home: str | None = None,
    told: Told | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Discovery:
    """Return what could be roots below ``tops``, real and absolute paths.

    ``entries`` are the roots that are configured, ``depth`` is how many directories deep,
    ``seconds`` how long to look. Raises OSError for a top that can't be listed.
    """
    until = clock() + seconds

    def progress(directories: int, found: int) -> None:
        if told:
            told(f"looking: {directories:,} directories, {found:,} places")

    survey = Survey(
        fs, depth, lambda: clock() >= until, progress, None if home is None else os.fsencode(home)
    )
    found = Discovery(survey)
    for top in sorted(tops, key=len):  # one that lies in another is a part of that
        survey.walk(top)
    known = _Known(entries, fs)
    every = _once(survey.places(), found)
    for number, place in enumerate(every):
        if clock() >= until:
            survey.late = True
            found.uncounted = len(every) - number
            break
        if told:
            told(f"counting: {number:,} of {len(every):,} places")
        _consider(place, found, known, fs)
    _name(found.proposals, [entry.name for entry in entries], {*map(os.fsdecode, tops), home})
    return found


def _once(every: Sequence[Place], found: Discovery) -> list[Place]:
    """Return the places with one of each repository's worktrees."""
    chosen: dict[bytes, Place] = {}
    for place in sorted(every, key=_rank):
        chosen.setdefault(place.key, place)
    for place in every:
        first = chosen[place.key]
        if first is not place:
            why = f"another worktree of {os.fsdecode(first.path)}"
            found.passed_over.append((os.fsdecode(place.path), why))
    return [place for place in every if chosen[place.key] is place]


def _rank(place: Place) -> tuple[bool, bool, bytes]:
    usual = os.path.basename(place.path) in {b"main", b"master"}
    return place.linked, not usual, place.path


def _consider(place: Place, found: Discovery, known: _Known, fs: FileSystem) -> None:
    """Propose a place, or say why not; and apart from it the memory in it that git ignores."""
    path = os.fsdecode(place.path)
    if not _is_utf8(path):
        found.passed_over.append((path, NOT_UTF8))
        return
    if place.kind == REPOSITORY and not (place.own or place.spots or _is_of_notes(place)):
        why = ONLY_COMMUNITY if place.markdown else NO_NOTES
        found.passed_over.append((path, why))
        return
    spots = _outermost(place.spots)
    proposal, files = _counted(place, rules(place, spots), fs)
    within = _directories(files)
    used = [spot for spot in spots if spot.where in within]
    apart = [spot for spot in spots if spot.what == places.MEMORY and spot not in used]
    for spot in apart:
        memory = Place(os.path.join(place.path, spot.where), MEMORIES, glob=spot.glob, whole=True)
        if not _is_utf8(os.fsdecode(memory.path)):
            continue
        one, theirs = _counted(memory, rules(memory, []), fs)
        if theirs:
            one.name = f"{derived_name(path)}-memory"
            _add(one, theirs, found, known)
    if not files:
        found.passed_over.append((path, IGNORED if place.markdown else NO_NOTES))
        return
    if place.kind == REPOSITORY and not (place.own or used or _is_of_notes(place)):
        found.passed_over.append((path, ONLY_COMMUNITY))
        return
    if len(used) < len(spots):
        narrower = rules(place, used)
        proposal.include, proposal.exclude = narrower.include, narrower.exclude
    _add(proposal, files, found, known)


def _add(proposal: Proposal, files: Mapping[bytes, bytes], found: Discovery, known: _Known) -> None:
    names = known.having(proposal.path, files)
    if names:
        found.configured.append((proposal.path, names))
    else:
        found.proposals.append(proposal)


def _counted(place: Place, wanted: Rules, fs: FileSystem) -> tuple[Proposal, Mapping[bytes, bytes]]:
    """Return a root of these rules, counted as a refresh would, and its files."""
    path = os.fsdecode(place.path)
    root = Root(_own_name(path, place), path, wanted)
    try:
        files = look(root, fs, directories=False).entries
    except RecallError:
        files = {}  # gone meanwhile
    proposal = Proposal(root, place.kind)
    proposal.notes = len(files)
    proposal.size = sum(map(size, files.values()))
    proposal.why = _why(place, files)
    return proposal, files


def rules(place: Place, spots: Sequence[Spot]) -> Rules:
    """Return what of a place is to be indexed, ``spots`` being those that count."""
    vendored = tuple(f"{os.fsdecode(name)}/" for name in sorted(place.vendored))
    if place.glob:
        return Rules((f"/{place.glob}",))
    if place.whole and os.path.isdir(os.path.join(place.path, b"logseq")):
        vendored = ("/logseq/", *vendored)  # its own copies of notes
    if place.whole or _is_of_notes(place):
        return Rules(exclude=vendored)
    top = tuple(f"/*{os.fsdecode(suffix)}" for suffix in sorted(place.suffixes))
    globs = [_glob(spot) for spot in spots]
    if len(globs) <= MOST_INCLUDES:
        return Rules((*top, *globs))
    spelled = [_glob(spot) for spot in spots if b"/." in b"/" + spot.where]
    names = {os.path.basename(spot.where) for spot in spots if b"/." not in b"/" + spot.where}
    return Rules((*top, *(f"{_escaped(name)}/" for name in sorted(names)), *spelled), vendored)


def _is_of_notes(place: Place) -> bool:
    return (
        place.kind == REPOSITORY
        and place.own + place.markdown > 0
        and (place.markdown >= max(ENOUGH, place.others))
    )


def _outermost(spots: Iterable[Spot]) -> list[Spot]:
    """Return the spots that lie in no other one, by path."""
    kept: list[Spot] = []
    for spot in sorted(spots, key=lambda each: each.where):
        if not any(spot.where.startswith(each.where + b"/") for each in kept if not each.glob):
            kept.append(spot)
    return kept


def _glob(spot: Spot) -> str:
    return f"/{_escaped(spot.where)}/{spot.glob or '**'}"


def _escaped(path: bytes) -> str:
    """Return a glob for a path and no other; a byte that is no UTF-8 is one character of any kind.

    A file of TOML can't hold it.
    """
    return "".join(map(_one, os.fsdecode(path)))


def _one(char: str) -> str:
    return "?" if "\udc80" <= char <= "\udcff" else f"[{char}]" if char in "*?[" else char


def _directories(files: Iterable[bytes]) -> set[bytes]:
    """Return every directory on the way to some files."""
    found: set[bytes] = set()
    for path in files:
        directory = path.rpartition(b"/")[0]
        while directory and directory not in found:
            found.add(directory)
            directory = directory.rpartition(b"/")[0]
    return found


def _why(place: Place, files: Iterable[bytes]) -> list[tuple[str, str, int]]:
    """Return what the files are, by the deepest spot that each lies in."""
    spots = {spot.where: spot.what for spot in place.spots}
    counts: dict[tuple[str, bytes], int] = {}
    for path in files:
        directory = path.rpartition(b"/")[0]
        rest = ALL if place.whole or directory else AT_THE_TOP
        while directory and directory not in spots:
            directory = directory.rpartition(b"/")[0]
        what = spots.get(directory, rest), directory
        counts[what] = counts.get(what, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(what, os.fsdecode(where), count) for (what, where), count in ordered]


class _Known:
    """The roots that are configured, each scanned when something overlaps with it."""

    def __init__(self, entries: Sequence[Entry], fs: FileSystem) -> None:
        self._entries = entries
        self._fs = fs
        self._files: dict[str, set[bytes]] = {}

    def having(self, path: str, files: Iterable[bytes]) -> list[str]:
        """Return the names of the roots that have a directory, or all these files in it."""
        same = [entry.name for entry in self._entries if entry.path == path]
        if same:
            return same
        rest = {os.path.join(os.fsencode(path), each) for each in files}
        names = []
        for entry in self._entries:
            if is_inside(path, entry.path) or is_inside(entry.path, path):
                left = rest - self._of(entry)
                if len(left) < len(rest):
                    names.append(entry.name)
                    rest = left
        return [] if rest else names

    def _of(self, entry: Entry) -> set[bytes]:
        if entry.name not in self._files:
            try:
                found = look(Root(entry.name, entry.path, entry.rules), self._fs, directories=False)
                top = os.fsencode(entry.path)
                self._files[entry.name] = {os.path.join(top, path) for path in found.entries}
            except RecallError:
                self._files[entry.name] = set()
        return self._files[entry.name]


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _own_name(path: str, place: Place) -> str:
    """Return what a place is called by itself."""
    if place.kind != MEMORIES:
        return derived_name(path)
    hidden = [part for part in path.split("/")[-2:] if part.startswith(".")]
    if not hidden:
        return derived_name(path)
    name = derived_name(hidden[-1].lstrip("."))
    return name if "memory" in name else f"{name}-memory"


def _name(proposals: Sequence[Proposal], names: Iterable[str], bare: set[str | None]) -> None:
    """Give each proposal a name that no root has, in whatever case.

    ``bare`` are directories whose name says nothing about what is in them.
    """
    taken = {name.casefold() for name in names}
    for each in proposals:
        parent = os.path.dirname(each.path)
        longer = f"{derived_name(parent)[:_PARENT]}-{each.name}"
        prefer = places.says_nothing(each.name) and parent not in bare and parent != "/"
        wanted = [longer] if prefer else [each.name, longer]
        more = (f"{wanted[-1]}-{number}" for number in count(2))
        each.name = next(name for name in chain(wanted, more) if name.casefold() not in taken)
        taken.add(each.name.casefold())
