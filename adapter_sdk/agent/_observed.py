"""A log that tells somebody of each event, once it is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import Json
from ..session import Event, SessionLog


class ObservedLog:
    """A ``SessionLog`` around another one; ``on_event`` is called after each append.

    What ``on_event`` raises reaches whoever appended: the event is stored all the same.
    """

    def __init__(self, log: SessionLog, on_event: Callable[[Event], None]) -> None:
        self._log = log
        self._on_event = on_event

    @property
    def events(self) -> Sequence[Event]:
        """See ``SessionLog``."""
        return self._log.events

    def append(
        self,
        type: str,  # noqa: A002 - why: the event's own word
        data: Mapping[str, Json],
        /,
        *,
        surface_op: str | None = None,
        source_event_seqs: Iterable[int] | None = None,
    ) -> Event:
        """See ``SessionLog``."""
        event = self._log.append(
            type, data, surface_op=surface_op, source_event_seqs=source_event_seqs
        )
        self._on_event(event)
        return event

    def close(self) -> None:
        """See ``SessionLog``."""
        self._log.close()
