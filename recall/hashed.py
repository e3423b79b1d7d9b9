"""Short digests of ids, for names of files and for logs that must not tell what was said."""

from __future__ import annotations

try:
    # hashlib would load OpenSSL, at 2 ms of every prompt; this is the module that it takes it from.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another implementation of Python
    from hashlib import blake2b

KEY_BYTES = 32


def hashed(text: str | bytes, key: bytes = b"", size: int = 16) -> str:
    """Return ``2 * size`` hex digits of BLAKE2b; without its ``key`` a text can't be guessed."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return blake2b(data, digest_size=size, key=key).hexdigest()
