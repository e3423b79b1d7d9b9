"""The jobs of ours that schedulers have, and what these lack to run; nothing is changed."""

from __future__ import annotations

import os

from index_cache.errors import InvalidInput, WriteRefused
from recall import scripts
from recall.scheduling import job
from recall.scheduling.job import KINDS
from recall.scheduling.schedulers import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def jobs(environ: Mapping[str, str]) -> list[tuple[str, bytes]] | None:
    """Return the texts of ours that some scheduler has, each with its kind; runs no scheduler.

    None if that can't be told; a file of somebody else's is none of ours. A crontab is read by its
    own program, as there is no other way.
    """
    found: list[tuple[str, bytes]] = []
    is_known = True
    for kind in KINDS:
        one = look(kind, environ, ask=False)
        if one.error is not None and not isinstance(one.error, InvalidInput | WriteRefused):
            is_known = False
        found += [(kind, text) for text in one.texts]
    return found if found or is_known else None


def gone(texts: Iterable[tuple[str, bytes]]) -> tuple[str, ...]:
    """Return the programs that texts of ours start and that are not there.

    Of a script that is there it may be the interpreter.
    """
    missing = []
    for kind, text in texts:
        program = job.program_in(kind, text)
        if program is None:
            continue
        lacks = program if not os.access(program, os.X_OK) else scripts.interpreter_gone(program)
        if lacks is not None and lacks not in missing:
            missing.append(lacks)
    return tuple(missing)


def installed(environ: Mapping[str, str]) -> list[str]:
    """Return the kinds of scheduler that have something of ours."""
    return list(dict.fromkeys(kind for kind, _ in jobs(environ) or []))
