"""What a conversation was shown, so that no card is shown twice (``spec/ledger.md``).

One small file a conversation, in ``shown/`` of the state directory: hooks of different
conversations never meet, and those of one only append lines, each call in one write, so that none
loses what another wrote. Whatever is wrong with a file, it costs at most a card shown twice.
Nothing here raises, and nothing waits for a lock or for the disk.
"""

from __future__ import annotations

import os
import time

from index_cache.digests import hashed
from recall import state
from recall.files import Unreadable, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

EXPIRY = 7 * 86_400.0  # seconds after the last card
MAX_ENTRIES = 500  # in one conversation; of more the newest count
MAX_CONVERSATIONS = 200
DIRECTORY = "shown"

_SUFFIX = ".shown"
_DIGITS = 32  # of each hash
_LINE = 2 * _DIGITS + 1  # bytes: document, blank, content
_MAX_BYTES = MAX_ENTRIES * (_LINE + 1)
_KEPT = MAX_ENTRIES * 4 // 5  # when a file has grown too long, so that it is not cut at each prompt
_NEWLINE = 10
_HEX = frozenset(b"0123456789abcdef")


class Seen:
    """What one conversation was shown: for each document the content it had last.

    ``data`` are the lines of its file. They are searched, not parsed: a prompt asks for a few
    documents of up to 500.
    """

    __slots__ = ("_data",)

    def __init__(self, data: bytes = b"") -> None:
        self._data = data

    def has(self, key: str, digest: bytes | str) -> bool:
        """Tell whether the document was shown, and with this content when it was last."""
        data, name = self._data, _hash(key) + b" "
        at = data.rfind(name)
        while at >= 0:
            end = at + _LINE
            content = data[at + len(name) : end]
            alone = (at == 0 or data[at - 1] == _NEWLINE) and data[end : end + 1] == b"\n"
            if alone and _is_hash(content):
                return content == _hash(digest)
            at = data.rfind(name, 0, at + len(name) - 1)
        return False

    def __len__(self) -> int:
        return len(_parsed(self._data))


def document(root: str, path: bytes) -> str:
    """Return the key of a document: its root's identity and its path in it."""
    return f"{root}/{path.decode('utf-8', 'surrogateescape')}"


def forgets(source: str) -> bool:
    """Tell whether a session that starts for this reason no longer has what it was shown.

    Only a resumed one has. A reason that is not known counts as a new beginning: that costs a card
    shown twice, the other would cost cards that never come.
    """
    return source != "resume"


def seen(state_dir: str | None, session: str | None, now: float | None = None) -> Seen:
    """Return what a conversation was shown; nothing without a session or a readable file."""
    if state_dir is None or not session:
        return Seen()
    try:
        data, st = state.read_end(state_dir, _name(session), _MAX_BYTES)
    except (OSError, Unreadable):
        return Seen()
    return Seen() if _is_expired(st.st_mtime, now) else Seen(data)


def note(
    state_dir: str | None,
    session: str | None,
    entries: Iterable[tuple[str, bytes | str]],
    now: float | None = None,
) -> str | None:
    """Note what a conversation is shown: keys of documents, each with its content's digest.

    Return None, or why it could not be noted.
    """
    lines = b"".join(b"%s %s\n" % (_hash(key), _hash(digest)) for key, digest in entries)
    if state_dir is None or not session or not lines:
        return None
    name = _name(session)
    try:
        _begin_anew(os.path.join(state_dir, name), now)
        if state.append(state_dir, name, lines) > _MAX_BYTES:
            _shorten(state_dir, name)
    except (OSError, Unreadable) as error:
        return reason_of(error)
    return None


def forget(state_dir: str | None, session: str | None) -> str | None:
    """Forget what a conversation was shown. Return None, or why that was not possible."""
    if state_dir is None or not session:
        return None
    try:
        os.unlink(os.path.join(state_dir, _name(session)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return reason_of(error)
    return None


def sweep(state_dir: str | None, now: float | None = None) -> int:
    """Delete what has expired and the oldest of too many conversations; return how many files.

    For the refresh that runs beside the hook: it lists a directory. Files of others stay.
    """
    if state_dir is None:
        return 0
    from recall import sweeping  # no prompt needs it

    directory = os.path.join(state_dir, DIRECTORY)
    try:
        return sweeping.sweep(
            directory, _SUFFIX, _DIGITS, expiry=EXPIRY, most=MAX_CONVERSATIONS, now=now
        )
    except OSError:
        return 0


def _name(session: str) -> str:
    # An id may hold anything; its hash is a file's name on any system.
    return f"{DIRECTORY}/{hashed(session)}{_SUFFIX}"


def _hash(value: str | bytes) -> bytes:
    return hashed(value).encode("ascii")


def _is_hash(value: bytes) -> bool:
    return len(value) == _DIGITS and _HEX.issuperset(value)


def _parsed(data: bytes) -> dict[bytes, bytes]:
    """Return contents by document; a line that is torn, or not ours, is passed over."""
    contents: dict[bytes, bytes] = {}
    # Behind the last newline there is at most the beginning of a line.
    for line in data.split(b"\n")[:-1]:
        key, _, digest = line.partition(b" ")
        if _is_hash(key) and _is_hash(digest):
            contents.pop(key, None)  # the order is that of the last time
            contents[key] = digest
    return contents


def _is_expired(touched: float, now: float | None) -> bool:
    # Either way: a time far ahead comes from a clock that was wrong, and would never expire.
    return abs((time.time() if now is None else now) - touched) > EXPIRY


def _begin_anew(path: str, now: float | None) -> None:
    """Delete a file that has expired, before new lines make the old ones look young."""
    try:
        if _is_expired(os.lstat(path).st_mtime, now):
            os.unlink(path)
    except (FileNotFoundError, NotADirectoryError):
        return


def _shorten(state_dir: str, name: str) -> None:
    """Keep the newest lines. What another hook appends meanwhile may be lost: shown twice."""
    data, _ = state.read_end(state_dir, name, _MAX_BYTES)
    newest = list(_parsed(data).items())[-_KEPT:]
    state.write(state_dir, name, b"".join(b"%s %s\n" % item for item in newest), sync=False)
