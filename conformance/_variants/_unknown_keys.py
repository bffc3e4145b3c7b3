"""Unknown keys in every object of a payload, whatever the dialect."""

from __future__ import annotations

import copy
from typing import Any, Final

from ._events import Event

# What is the model's own: a key in there would be an argument more.
_OPAQUE: Final = frozenset({"arguments", "input"})

_UNKNOWN: Final = {"list": [1, None, "x"], "text": "x", "type": "x"}


def with_unknown_keys(events: list[Event]) -> list[Event]:
    """Return the events with one more key in each object, deep ones too."""
    return [Event(_keyed(event.payload), event.name) for event in events]


def _keyed(value: Any) -> Any:
    if isinstance(value, list):
        return [_keyed(item) for item in value]
    if not isinstance(value, dict):
        return value
    own = {key: item if key in _OPAQUE else _keyed(item) for key, item in value.items()}
    return {**own, "x_unknown": copy.deepcopy(_UNKNOWN)}
