"""JSON as the package json reads and writes it, without importing that: it needs ``re``, 5 ms.

Nothing of the work is done here. The package itself leaves it to the same compiled module; what is
wrong goes to the package, for its errors.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BLANK = " \t\n\r"  # what JSON allows around a value
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


class _Plain:
    """What ``json.JSONDecoder()`` is to the scanner that it makes."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    array_hook = None  # asked for from Python 3.15 on
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__
    memo: dict[str, str] = {}  # noqa: RUF012 - the compiled scanner has its own


def _refused(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _encoder() -> make_encoder:
    return make_encoder(
        markers={},
        default=_refused,
        encoder=encode_basestring_ascii,
        indent=None,
        key_separator=":",
        item_separator=",",
        sort_keys=False,
        skipkeys=False,
        allow_nan=False,
    )


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    _scan: Callable[[str, int], tuple[object, int]] | None = make_scanner(
        _Plain()  # type: ignore[arg-type] # whatever has these attributes
    )
    _encoder()
except (ImportError, AttributeError, TypeError):  # pragma: no cover - another Python's insides
    _scan = None


def loads(text: str) -> object:
    """Return the value that a JSON text holds; all that ``json.loads`` does with a ``str``.

    Raises ``json.JSONDecodeError``, ValueError for an integer of too many digits, RecursionError.
    """
    if _scan is not None:
        try:
            value, end = _scan(text, len(text) - len(text.lstrip(_BLANK)))
        except (StopIteration, SystemError):
            # SystemError: where it would raise the package's error, which is not loaded.
            end = -1
        if end >= 0 and not text[end:].strip(_BLANK):
            return value
    import json  # there is something wrong, and it says what

    loaded: object = json.loads(text)
    return loaded


def dumps(value: object) -> str:
    """Return ``value`` as ASCII JSON without blanks: ``json.dumps`` with ``allow_nan=False``.

    Raises TypeError for what JSON can't say, ValueError for a float that is no number.
    """
    if _scan is None:  # pragma: no cover - another Python's insides
        import json

        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    # Made anew: it remembers what it is within, even after an error.
    return "".join(_encoder()(value, 0))


def quoted(text: str) -> str:
    """Return ``text`` as a JSON string, ASCII alone."""
    if _scan is None:  # pragma: no cover - another Python's insides
        import json

        return json.dumps(text)
    return encode_basestring_ascii(text)
