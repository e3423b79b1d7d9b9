"""What may not be written: file modes that bind root as well, and a read-only file system."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_VERSION_3 = 0x20080522  # capset(2)
_PR_GET_SECUREBITS, _PR_SET_SECUREBITS = 27, 28  # prctl(2)
_SECBIT_NO_SETUID_FIXUP = 1 << 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def bound_by_modes() -> Iterator[None]:
    """Do without root's rights in this thread for a while; whoever has none is bound anyway.

    The user stays the same. Another would be refused the interpreter itself where that lies below
    root's home. Programs that are run meanwhile have the rights again.
    """
    if os.geteuid() != 0:
        yield
        return
    if not sys.platform.startswith("linux"):
        raise OSError("root's rights can be laid down on Linux only: run the tests as a user")
    header = _Header(_VERSION_3, 0)
    sets = (_Sets * 2)()  # of 32 rights each
    _call("capget", ctypes.byref(header), sets)
    kept = [each.effective for each in sets]
    bits = _call("prctl", _PR_GET_SECUREBITS, 0, 0, 0, 0)
    # Else access(2), which SQLite asks, goes by the rights that could be taken up again.
    _call("prctl", _PR_SET_SECUREBITS, bits | _SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    for each in sets:
        each.effective = 0
    _call("capset", ctypes.byref(header), sets)
    try:
        yield
    finally:
        for each, effective in zip(sets, kept, strict=True):
            each.effective = effective
        _call("capset", ctypes.byref(header), sets)
        _call("prctl", _PR_SET_SECUREBITS, bits, 0, 0, 0)


def _call(name: str, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    answer: int = getattr(libc, name)(*arguments)
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return answer


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``os.open`` refuse to write, as on a read-only file system, until the test is over."""
    whole = os.open

    def opened(path: str, flags: int, *rest: int, **more: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return whole(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opened)
