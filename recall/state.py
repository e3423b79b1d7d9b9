"""The files of the state directory: the person's own, and nobody else's.

The directory is 0700 and its files 0600 whatever the umask. A symlink, or what belongs to another
person, is refused in either's place: it could be read, or be made to say things, by others.
"""

from __future__ import annotations

import os

from index_cache import db
from recall.files import Unreadable, read_small

_DIRECTORY = 0o700
_FILE = 0o600


def read(state_dir: str, name: str, limit: int) -> bytes:
    """Return the bytes of a state file of at most ``limit`` bytes.

    Raises FileNotFoundError when there is none, Unreadable for anything that is not the person's.
    """
    path = os.path.join(state_dir, name)
    try:
        db.refuse_foreign_directory(state_dir)
        st = os.lstat(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    if st.st_uid != os.geteuid() or os.path.islink(path):
        raise Unreadable("it is a symlink, or belongs to somebody else")
    return read_small(path, limit)


def write(state_dir: str, name: str, data: bytes) -> None:
    """Replace a state file atomically, its directory made and closed to others first.

    Raises OSError; then nothing was changed.
    """
    from recall.replace import replace

    own(state_dir)
    replace(os.path.join(state_dir, name), data, mode=_FILE, follow=False)


def own(state_dir: str) -> None:
    """Make the state directory, or close it to others. Raises OSError if it is not the person's."""
    from recall.replace import make_private

    db.refuse_foreign_directory(state_dir)
    make_private(state_dir)
    if os.stat(state_dir).st_mode & 0o077:
        os.chmod(state_dir, _DIRECTORY)
