"""JSON as it goes out: the same value gives the same characters."""

from __future__ import annotations

import json
import re
from typing import Any, Final

# One for all: ``json.dumps`` makes a new one for anything but its own defaults.
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def json_text(value: Any) -> str:
    """Return compact JSON: fixed separators, insertion order, no escapes beyond JSON's own.

    Lone surrogates, which UTF-8 cannot carry, become U+FFFD.

    Raises:
        ValueError: NaN, infinite, or not JSON at all.
    """
    try:
        text = _ENCODER.encode(value)
    except TypeError as error:  # a type that JSON does not have
        raise ValueError(str(error)) from error
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def json_bytes(value: Any) -> bytes:
    """Return ``json_text`` in UTF-8."""
    return json_text(value).encode()
