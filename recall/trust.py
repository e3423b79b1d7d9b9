"""Trusting a project's configuration file to name directories outside the project.

A cloned repository may bring a ``.recall.toml``. Until the person trusts it, it names directories
inside the repository only. Trust holds for these bytes of this file and for the directories that
its entries led to at that moment: an edit asks again, and so does a link that leads elsewhere
since.
"""

from __future__ import annotations

import os

from index_cache.errors import ConfigInvalid, InvalidInput, NotFound
from recall.configfile import read_config
from recall.grants import Grants, load_grants, record_file
from recall.writes import refuse_foreign, unwritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def trust(file: str, state_dir: str | None, environ: Mapping[str, str] | None = None) -> list[str]:
    """Trust ``file`` as it is now; return the directories outside its project that it may name.

    Raises ``NotFound`` when there is no such file, ``ConfigInvalid`` when it or the place of the
    record is unusable, ``InvalidInput`` when the file is not ours, and what ``unwritten`` returns
    when the record can't be written.
    """
    try:
        owner = os.stat(file).st_uid
        config = read_config(file, os.environ if environ is None else environ)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound("there is no configuration file to trust", where=file) from error
    except PermissionError as error:
        raise ConfigInvalid("the configuration can't be read", where=file) from error
    if owner not in {os.geteuid(), 0}:
        raise InvalidInput(
            f"the file belongs to another user (uid {owner}), who could change it",
            where=file,
            hint="use a copy of your own",
        )
    directories = sorted({entry.path for entry in config.outside()})

    def record(grants: Grants) -> bool:
        grants.trust(file, config.content, directories)
        return True

    _change(state_dir, record)
    return directories


def distrust(file: str, state_dir: str | None) -> bool:
    """Take the trust in ``file`` back, whether or not it still exists; return if there was any."""
    return _change(state_dir, lambda grants: grants.forget(file))


def is_trusted(file: str, content_bytes: bytes, state_dir: str | None) -> bool:
    """Return whether the person has trusted ``file`` with exactly these bytes."""
    return load_grants(state_dir).directories(file, content_bytes) is not None


def _change(state_dir: str | None, edit: Callable[[Grants], bool]) -> bool:
    if state_dir is None:
        raise ConfigInvalid(
            "trust can't be remembered: no home directory is known",
            hint="set HOME or XDG_STATE_HOME to an absolute path",
        )
    from recall.replace import locked
    from recall.state import own

    refuse_foreign(record_file(state_dir))
    try:
        own(state_dir)
        with locked(state_dir):
            grants = load_grants(state_dir)
            changed = edit(grants)
            if changed:
                grants.save(state_dir)
    except OSError as error:
        raise unwritten("trust can't be recorded", record_file(state_dir), error) from error
    return changed
