"""BLAKE2b for names and ids, SHA-256 for contents, neither by way of hashlib where that costs.

hashlib loads OpenSSL, 2 ms of every prompt. For contents that is five times as fast, 6 µs a note:
who goes through many notes imports it, and one who looks at three does not.
"""

from __future__ import annotations

import sys

try:
    # The module that hashlib takes it from.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another implementation of Python
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Hash(Protocol):
        """As much of hashlib's objects as is used."""

        def digest(self) -> bytes:
            """Return the 32 bytes."""

        def hexdigest(self) -> str:
            """Return them as 64 hex digits."""


KEY_BYTES = 32

# What hashlib itself falls back on without OpenSSL.
_BUILT_IN = "_sha2" if sys.version_info >= (3, 12) else "_sha256"


def hashed(text: str | bytes, key: bytes = b"", size: int = 16) -> str:
    """Return ``2 * size`` hex digits of BLAKE2b; without its ``key`` a text can't be guessed."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=size, key=key).hexdigest()


def sha256(data: bytes) -> Hash:
    """Return the SHA-256 of some bytes."""
    loaded = sys.modules.get("hashlib")
    make: Callable[[bytes], Hash] = loaded.sha256 if loaded else _built_in()
    return make(data)


def _built_in() -> Callable[[bytes], Hash]:
    try:
        found: Callable[[bytes], Hash] = __import__(_BUILT_IN).sha256
    except ImportError:  # pragma: no cover - another Python's insides
        from hashlib import sha256 as found
    return found
