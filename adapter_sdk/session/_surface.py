"""The messages of a log. They come from surface events alone, whatever else it holds."""

from __future__ import annotations

from collections.abc import Iterable

from .._messages import Message
from ._event import Event
from ._message_json import message_from_json


class Surface:
    """The messages that the surface events so far amount to.

    ``append`` puts the event's message at the end. ``replace`` puts it in place of the messages
    of the events that it cites, which stand next to each other.
    """

    __slots__ = ("_checked", "_entries", "_places")

    def __init__(self) -> None:
        # A replaced message leaves a hole, so that the places of the others stay.
        self._entries: list[tuple[int, Message] | None] = []
        self._places: dict[int, int] = {}
        self._checked: tuple[Event, Message] | None = None

    @property
    def entries(self) -> tuple[tuple[int, Message], ...]:
        """Each message with the number of the event that put it there, oldest first."""
        return tuple(entry for entry in self._entries if entry is not None)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""
        return tuple(entry[1] for entry in self._entries if entry is not None)

    def problem(self, event: Event) -> str | None:
        """Return what is wrong with ``event`` as the next one, or None. Changes nothing."""
        if event.surface_op is None:
            return None
        try:
            message = message_from_json(event.data.get("message"))
        except ValueError as error:
            return str(error)
        self._checked = (event, message)
        return self._misplaced(event) if event.surface_op == "replace" else None

    def _misplaced(self, event: Event) -> str | None:
        if event.source_event_seqs is None:
            return "a replacement cites the events whose messages it replaces"
        places = [self._places.get(seq) for seq in event.source_event_seqs]
        found = sorted(place for place in places if place is not None)
        if len(found) < len(places):
            return "a replacement cites an event that has no message here any more"
        between = self._entries[found[0] : found[-1] + 1]
        if sum(entry is not None for entry in between) != len(found):
            return "a replacement cites messages that do not stand next to each other"
        return None

    def take(self, event: Event) -> None:
        """Take the next event, of which ``problem`` said None."""
        if event.surface_op is None:
            return
        checked = self._checked
        if checked is None or checked[0] is not event:
            message = message_from_json(event.data.get("message"))
        else:
            message = checked[1]
        self._checked = None
        if event.surface_op == "append":
            place = len(self._entries)
            self._entries.append(None)
        else:
            replaced = [self._places.pop(seq) for seq in event.source_event_seqs or ()]
            for old in replaced:
                self._entries[old] = None
            place = min(replaced)
        self._entries[place] = (event.seq, message)
        self._places[event.seq] = place


def derive_messages(events: Iterable[Event]) -> tuple[Message, ...]:
    """Return the messages of a log, oldest first.

    Chunks, retries and whatever else is no surface event leave no trace in them.

    Raises:
        ValueError: A surface event without a message, or a replacement of what is not there.
    """
    surface = Surface()
    for event in events:
        if event.surface_op is not None:
            problem = surface.problem(event)
            if problem is not None:
                raise ValueError(f"event {event.seq}: {problem}")
            surface.take(event)
    return surface.messages
