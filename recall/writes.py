"""Writing where something may be in the way: what is said when it fails, what is refused before."""

from __future__ import annotations

import errno
import os

from index_cache.errors import InvalidInput, RootUnavailable, WriteRefused
from recall.notice import shell_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.errors import RecallError

_UNTOUCHED = "nothing was changed"


def unwritten(message: str, file: str, error: OSError) -> RecallError:
    """Return what to say of a file that can't be written.

    ``RootUnavailable`` where permissions, the mount or the disk forbid it for now, as nothing that
    was asked is wrong; ``InvalidInput`` where its place can't be one.
    """
    text = f"{message}: {error.strerror or error}"
    above = existing_above(os.path.realpath(file))
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        hint = f"ls -ld {shell_quoted(above)} shows who may; {_UNTOUCHED}"
        return RootUnavailable(text, where=file, hint=hint)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return RootUnavailable(text, where=file, hint=f"free some space; {_UNTOUCHED}")
    if not os.path.isdir(above):
        hint = f"{above} is no directory: move it away; {_UNTOUCHED}"
        return InvalidInput(text, where=file, hint=hint)
    return InvalidInput(text, where=file)


def existing_above(path: str) -> str:
    """Return the nearest directory on the way to ``path`` that is there, or what is in its way."""
    above = os.path.dirname(path)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return above


def refuse_foreign(file: str) -> None:
    """Raise WriteRefused where root would make ``file`` in a directory of somebody else.

    In a home that sudo or a container kept, it would be in its owner's way. Anybody else but root
    can write only where they were let.
    """
    if os.geteuid() != 0 or os.path.exists(file):
        return
    above = existing_above(os.path.realpath(file))
    try:
        owner = os.stat(above).st_uid
    except OSError:
        return  # the write fails too, and says why
    if owner != 0:
        raise WriteRefused(
            f"{above} belongs to somebody else, who could not change what root makes there",
            where=file,
            hint=f"run it as that person, or with a HOME of your own; {_UNTOUCHED}",
        )
