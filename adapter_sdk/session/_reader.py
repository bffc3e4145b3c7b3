"""Follow a log: its messages, and what is open in it."""

from __future__ import annotations

from collections.abc import Sequence

from .._messages import Message
from ._event import Event
from ._progress import OutOfOrder, Progress
from ._surface import Surface


class LogReader:
    """What a log amounts to now. Each event is read once, however often one asks.

    Args:
        events: The log's own, which grow; see ``SessionLog.events``.

    Raises:
        ValueError: From the properties: an event is out of order.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = events
        self._read = 0
        self._surface = Surface()
        self._progress = Progress()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""
        self._catch_up()
        return self._surface.messages

    @property
    def entries(self) -> tuple[tuple[int, Message], ...]:
        """Each message with the number of the event that put it there, oldest first."""
        self._catch_up()
        return self._surface.entries

    @property
    def progress(self) -> Progress:
        """Which turn, step, attempt and tool calls are open."""
        self._catch_up()
        return self._progress

    def _catch_up(self) -> None:
        events = self._events
        # By index: ``islice`` would walk over all that was read before.
        for index in range(self._read, len(events)):
            event = events[index]
            problem = self._surface.problem(event) or next(
                iter(self._progress.problems(event)), None
            )
            if problem is not None:
                raise OutOfOrder(f"event {event.seq}: {problem}")
            self._surface.take(event)
            self._progress.take(event)
            self._read = index + 1
