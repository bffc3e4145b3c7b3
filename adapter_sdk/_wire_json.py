"""Read JSON as it comes over a wire."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any


def _from_json(data: bytes | str, *, allow_partial: bool = False) -> Any:
    """Stands for the fast parser until it is first needed: its import takes a third of ours."""
    load_parser()
    return _from_json(data, allow_partial=allow_partial)


@functools.cache
def load_parser() -> None:
    """Import the fast parser now, where no limit runs."""
    from pydantic_core import from_json

    parser: Callable[..., Any] = from_json
    globals()["_from_json"] = parser


def parse_json(data: bytes | str) -> Any:
    """Return the decoded value. Bytes are UTF-8; invalid ones become U+FFFD.

    NaN and the infinities are read as floats. An escaped lone surrogate stays one in the
    result: a caller that shows text joins and replaces them (``SurrogateJoiner``).

    Raises:
        ValueError: Not one JSON value, nested too deep, or an integer of more digits than the
            interpreter takes. The message never repeats the data.
    """
    try:
        # Two to four times as fast as ``json``, but it refuses invalid UTF-8, lone surrogates
        # and depths above two hundred.
        return _from_json(data)
    except (ValueError, TypeError):  # TypeError: a str that UTF-8 cannot carry
        pass
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} at character {error.pos}") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ValueError("no JSON: a number that is too long") from error
    except RecursionError as error:
        raise ValueError("no JSON: nested too deep") from error


def parse_cut_json(data: bytes) -> Any:
    """Return what can be read of a JSON value that was cut short or has something behind it.

    Unfinished strings and numbers are left out: half a word is no evidence.

    Raises:
        ValueError: Not even the beginning of a JSON value.
    """
    text = data.decode("utf-8", "replace")
    end = max(text.rfind(mark) for mark in '[]{}:,"') + 1
    return _from_json(text[:end], allow_partial=True)
