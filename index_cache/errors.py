"""Errors that reach a person, each with its code, its exit status and what to do next.

One class per error code of ``spec/exit-codes.md``. The message says what happened, ``where`` says
in which root, file and line, ``hint`` is the next step. Nothing here formats for a terminal.
"""

from __future__ import annotations


class RecallError(Exception):
    """A fault that is told to the person; the base of all of them, itself a fault of ours.

    Parameters: ``message`` what happened; ``where`` the root, path or line concerned, if any;
    ``hint`` what to do next, if anything helps.
    """

    code = "internal_error"
    exit_status = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class CheckFailed(RecallError):
    """A check ran, and what it checks does not hold."""

    code = "check_failed"
    exit_status = 2


class NotFound(RecallError):
    """An id, a root or a directory that was named was not found."""

    code = "not_found"
    exit_status = 3


class InvalidInput(RecallError):
    """An argument or an option can't be used as given."""

    code = "invalid_input"
    exit_status = 4


class ConfigInvalid(RecallError):
    """A configuration file or variable is wrong, or there is no configuration at all."""

    code = "config_invalid"
    exit_status = 4


class IntegrityError(RecallError):
    """Canonical data is not what it has to be: a strict root's, or an id that several have."""

    code = "integrity_error"
    exit_status = 4


class WriteRefused(RecallError):
    """A write was not granted: what is in the file's place is not ours to change."""

    code = "write_refused"
    exit_status = 5


class CacheBusy(RecallError):
    """Another process is building this root's cache, and there is no earlier view."""

    code = "cache_busy"
    exit_status = 6


class RootUnavailable(RecallError):
    """A root can't be read at the moment: unmounted, unreadable, or gone for now."""

    code = "root_unavailable"
    exit_status = 6
