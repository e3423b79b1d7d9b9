"""Prove the caches of some roots, or make them anew, with what went wrong in each."""

from __future__ import annotations

import os

import apsw

from index_cache import db, strict
from index_cache.errors import RecallError, RootUnavailable
from index_cache.rebuild import rebuild
from index_cache.refresh import existing
from index_cache.scan import missing
from index_cache.verify import Proof, check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from index_cache.files import FileSystem
    from index_cache.ingest import Progress
    from index_cache.model import Root


class Request:
    """What is asked for: ``only_check`` writes nothing, ``deep`` reads every posting.

    ``wait`` is how many seconds to wait for another writer.
    """

    __slots__ = ("deep", "only_check", "progress", "wait")

    def __init__(
        self, *, only_check: bool, deep: bool, wait: float, progress: Progress | None
    ) -> None:
        self.only_check = only_check
        self.deep = deep
        self.wait = wait
        self.progress = progress


def prove(root: Root, directory: str | None, fs: FileSystem, request: Request) -> Proof:
    """Return the proof of one root's cache in ``directory``, or why there is none."""
    path = None if directory is None else db.cache_path(directory, root)
    try:
        if not os.path.isdir(root.path):
            raise missing(root)
        if directory is not None:
            db.refuse_name(directory)
        if request.only_check:
            return _checked(root, path, fs, request)
        if directory is None:
            raise RootUnavailable(
                "there is no place for caches: no home directory can be found",
                hint="set HOME to an absolute path",
            )
        return rebuild(
            root, directory, fs, deep=request.deep, wait=request.wait, progress=request.progress
        )
    except RecallError as error:
        failure: RecallError = error
    except (apsw.Error, OSError) as error:
        failure = db.unusable(root, error, path, request.wait)
    proof = Proof(root, path)
    proof.failure = failure
    if root.rules.strict and isinstance(failure, RootUnavailable) and failure.where == root.path:
        proof.failure = strict.unavailable(root, failure)
    return proof


def _checked(root: Root, path: str | None, fs: FileSystem, request: Request) -> Proof:
    """Check a cache as it is; one that can't be read is not made anew here."""
    store, damage = None, None
    try:
        if path is not None:
            store = existing(root, path, request.wait)
        if store is None or store.built:
            return check(root, store, fs, deep=request.deep, progress=request.progress)
    except apsw.CantOpenError:
        pass  # there is none
    except db.TROUBLE as error:
        if not db.is_damage(error):
            raise
        damage = db.reason(error)
    finally:
        if store is not None:
            store.close()
    proof = check(root, None, fs, deep=request.deep, progress=request.progress)
    proof.damage = damage
    return proof
