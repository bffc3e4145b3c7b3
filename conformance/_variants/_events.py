"""From a body to its events and back, so that a variant edits payloads and no bytes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from ._framing import only_line_feeds
from ._variant import Edit


@dataclass(slots=True)
class Event:
    """One event of a body.

    Attributes:
        payload: Decoded; bytes where it is no JSON.
        name: As its ``event`` line says, or None without one.
    """

    payload: Any
    name: bytes | None = None

    @property
    def type(self) -> str:
        """The payload's ``type``, or empty."""
        value = self.payload.get("type") if isinstance(self.payload, dict) else None
        return value if isinstance(value, str) else ""

    def part(self, key: str) -> dict[str, Any]:
        """Return an object inside the payload, to be edited; an empty one where there is none."""
        value = self.payload.get(key) if isinstance(self.payload, dict) else None
        return value if isinstance(value, dict) else {}


EventsEdit: TypeAlias = Callable[[list[Event]], list[Event] | None]


def typed(payload: dict[str, Any]) -> Event:
    """Return an event that is named for the ``type`` of its payload."""
    return Event(payload, payload["type"].encode())


def edited(edit: EventsEdit) -> Edit:
    """Return a function that edits the events of a body; what it leaves alone does not fit."""

    def apply(body: bytes) -> bytes | None:
        events = _events(body)
        if events is None:
            return None
        changed = edit(copy.deepcopy(events))
        if changed is None or changed == events:
            return None
        return b"".join(map(_written, changed))

    return apply


def _events(body: bytes) -> list[Event] | None:
    """Return events of at most a name and one ``data`` line, or None for anything else."""
    if not only_line_feeds(body):
        return None
    events: list[Event] = []
    for text in body[:-2].split(b"\n\n"):
        *names, data = text.split(b"\n")
        if len(names) > 1 or not data.startswith(b"data: "):
            return None
        if not all(name.startswith(b"event: ") for name in names):
            return None
        name = names[0].removeprefix(b"event: ") if names else None
        events.append(Event(_decoded(data.removeprefix(b"data: ")), name))
    return events


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:  # the terminal marker of some wires
        return data


def _written(event: Event) -> bytes:
    data: bytes = event.payload
    if not isinstance(event.payload, bytes):
        data = json.dumps(event.payload, separators=(",", ":")).encode()
    name = b"" if event.name is None else b"event: " + event.name + b"\n"
    return name + b"data: " + data + b"\n\n"


def between(events: Iterable[Event], filling: Event) -> list[Event]:
    """Return the events with ``filling`` behind each of them but the last."""
    pairs = [event for own in events for event in (own, filling)]
    return pairs[:-1]


def objects(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """Yield the payloads that are objects."""
    yield from (event.payload for event in events if isinstance(event.payload, dict))


def set_nulls(target: dict[str, Any], *keys: str) -> None:
    """Give ``target`` a null for each key that it lacks."""
    for key in keys:
        target.setdefault(key, None)
