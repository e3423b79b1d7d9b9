"""The record of what the person has trusted: which file, with which bytes, for which directories.

Kept in the state directory, because it can't be derived from anything. A record that can't be
read grants nothing.
"""

from __future__ import annotations

import os

from recall import state
from recall.files import Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from recall.looked import Looked

_VERSION = 1
_NAME = "trust.json"
_MAX_BYTES = 16 * 1024 * 1024


class Grants:
    """The trusted files. ``complaint`` says why the record could not be read, or is None."""

    __slots__ = ("_files", "complaint")

    def __init__(self, files: dict[str, object], complaint: str | None = None) -> None:
        self._files = files
        self.complaint = complaint

    def directories(self, file: str, content: bytes) -> frozenset[str] | None:
        """Return what ``file`` may name outside its project, or None if it is not trusted as is."""
        record = self._files.get(_key(file))
        if not isinstance(record, dict) or record.get("sha256") != _digest(content):
            return None
        directories = record.get("directories")
        if not isinstance(directories, list):
            return frozenset()
        return frozenset(item for item in directories if isinstance(item, str))

    def trust(self, file: str, content: bytes, directories: Iterable[str]) -> None:
        """Record that ``file``, with exactly these bytes, may name ``directories``."""
        self._files[_key(file)] = {
            "sha256": _digest(content),
            "directories": sorted(set(directories)),
        }

    def forget(self, file: str) -> bool:
        """Take the trust in ``file`` back; return whether there was any."""
        return self._files.pop(_key(file), None) is not None

    def save(self, state_dir: str) -> None:
        """Write the record, 0600 in a 0700 directory. Raises ``OSError``."""
        import json

        data = json.dumps({"version": _VERSION, "files": self._files}, indent=1, sort_keys=True)
        state.write(state_dir, _NAME, data.encode("ascii") + b"\n")


def record_file(state_dir: str) -> str:
    """Return the path of the record in ``state_dir``."""
    return os.path.join(state_dir, _NAME)


def load_grants(state_dir: str | None, looked: Looked | None = None) -> Grants:
    """Return what is trusted; nothing when there is no state directory or no readable record.

    ``looked`` notes all that decides.
    """
    import json

    if state_dir is None:
        return Grants({})
    path = record_file(state_dir)
    if looked:
        looked.entry(state_dir)
        looked.entry(path)
        looked.file(path)
    try:
        record = json.loads(state.read(state_dir, _NAME, _MAX_BYTES))
    except FileNotFoundError:
        return Grants({})
    except Unreadable as reason:
        return Grants({}, f"nothing is trusted, because {path} can't be read: {reason}")
    except (ValueError, RecursionError):
        record = None
    files = record.get("files") if isinstance(record, dict) else None
    if not isinstance(record, dict) or record.get("version") != _VERSION:
        files = None
    if not isinstance(files, dict):
        return Grants({}, f"nothing is trusted, because {path} is damaged")
    return Grants(files)


def _key(file: str) -> str:
    # The directory decides what relative entries mean, so it is made real; the file itself is
    # not: a link in another directory to a trusted file is another file.
    directory, name = os.path.split(os.path.abspath(file))
    return os.path.join(os.path.realpath(directory), name)


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
