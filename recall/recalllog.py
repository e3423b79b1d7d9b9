"""The recall log: what the prompt hook decided at each prompt, and why (``spec/recall-log.md``).

Local, bounded, 0600, and by default without a word of what was asked: a prompt is a keyed hash, so
that equal ones can be told and none can be guessed. One line of JSON a prompt, appended in one
write. Of two files the older is deleted when the newer one is full.
"""

from __future__ import annotations

import os
import time

from index_cache.digests import KEY_BYTES, hashed
from recall import quickjson, state
from recall.files import Unreadable, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recall.card import Card

    Fields = dict[str, object]

FILE = "recall-log.jsonl"
OLDER = "recall-log.1.jsonl"
KEY_FILE = "recall-log.key"
MAX_BYTES = 512 * 1024  # of each of the two files
MAX_TEXT = 2000  # characters of a prompt, where they are asked for
LONGEST = 64 * 1024  # characters of a prompt in which private spans are looked for
MAX_LINE = 16 * 1024  # bytes
MAX_WORD = 64  # characters of a host's name or a reason
SPOKE, SILENT = "spoke", "silent"
_SLACK = 64 * 1024  # what hooks may append while another one rotates
_SHORT = 8  # bytes of a session's hash


def record(
    state_dir: str | None,
    *,
    host: str,
    spoke: bool,
    why: str,
    prompt: str,
    session: str | None = None,
    cards: Sequence[Card] = (),
    roots: Sequence[str] = (),
    ms: float = 0.0,
    tokens: int = 0,
    with_text: bool = False,
    now: float | None = None,
) -> str | None:
    """Append what was decided at one prompt; return None, or why that was not possible.

    ``why`` is a few words. ``cards`` are those that were shown, ``roots`` the names of what was
    searched, ``ms`` how long it took, ``tokens`` the estimate of what was said. ``with_text`` adds
    the prompt without its private spans (``[hook] log_prompts``). Never raises.
    """
    if state_dir is None:
        return "no home directory is known"
    fields: Fields = {
        "t": round(time.time() if now is None else now, 3),
        "host": host[:MAX_WORD],
        "decision": SPOKE if spoke else SILENT,
        "why": why[:MAX_WORD],
        "roots": list(roots),
        "cards": [
            {"id": card.id, "root": card.root, "path": card.path, "file": card.abs_path}
            for card in cards
        ],
        "ms": round(ms, 1),
        "tokens": tokens,
    }
    try:
        key = _key(state_dir)
        fields["prompt"] = None if key is None else hashed(prompt, key)
        fields["session"] = hashed(session, key, _SHORT) if session and key else None
        if with_text:
            fields["text"] = _text(prompt)
        _append(state_dir, _line(fields))
    except (OSError, Unreadable, ValueError) as error:
        return reason_of(error)
    return None


def _key(state_dir: str) -> bytes | None:
    """Return the key of the hashes, made if there is none that serves; None if that fails."""
    key = _kept_key(state_dir)
    if key is not None:
        return key
    # Of several that make the first key at once the last one counts; the others' hash of this one
    # prompt is then equal to none.
    try:
        state.write(state_dir, KEY_FILE, os.urandom(KEY_BYTES), sync=False)
    except OSError:
        return None
    return _kept_key(state_dir)


def _kept_key(state_dir: str) -> bytes | None:
    try:
        key = state.read(state_dir, KEY_FILE, KEY_BYTES)
    except (OSError, Unreadable):
        return None
    return key if len(key) == KEY_BYTES else None


def _text(prompt: str) -> str | None:
    """Return a prompt as it may be kept, None if it is too long to be sure of its private spans."""
    if len(prompt) > LONGEST:
        return None
    from index_cache.privacy import strip

    text = strip(prompt)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _line(fields: Fields) -> bytes:
    # ASCII alone: whatever a name holds, it can't break a line or a terminal.
    line = quickjson.dumps(fields).encode("ascii")
    for name in ("text", "roots", "cards"):
        if len(line) >= MAX_LINE and fields.get(name):
            fields[name] = None if name == "text" else []
            line = quickjson.dumps(fields).encode("ascii")
    return line + b"\n"


def _append(state_dir: str, line: bytes) -> None:
    descriptor = state.open_to_append(state_dir, FILE)
    try:
        if os.fstat(descriptor).st_size + len(line) > MAX_BYTES and _rotate(state_dir, descriptor):
            os.close(descriptor)
            descriptor = state.open_to_append(state_dir, FILE)
        state.append_to(descriptor, line)
    finally:
        os.close(descriptor)


def _rotate(state_dir: str, descriptor: int) -> bool:
    """Make the full file the older one; return whether this process did.

    Only who holds the lock of the file that has the name now may rename it: else two that find it
    full at once would rename twice, and the second time what was begun just then. Nobody waits for
    the lock; who doesn't get it appends to the file as it is.
    """
    from index_cache import locks

    path = os.path.join(state_dir, FILE)
    mine = os.fstat(descriptor)
    try:
        is_held = locks.take(descriptor)
    except OSError:
        is_held = False
    # More does not come from a moment of rotating: this file system has no locks.
    if not is_held and mine.st_size <= MAX_BYTES + _SLACK:
        return False
    try:
        now = os.lstat(path)
        if (now.st_dev, now.st_ino) == (mine.st_dev, mine.st_ino):
            os.rename(path, os.path.join(state_dir, OLDER))
    except FileNotFoundError:
        pass
    return True
