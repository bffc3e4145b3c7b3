"""The fault server's memory: one lock, one clock, and a condition to wait on.

Connections write from their threads, the test reads from its own. What is read is
a snapshot, never a live list.
"""

from __future__ import annotations

from threading import Condition
from time import monotonic
from typing import TYPE_CHECKING

from ._seen import (
    NOT_REQUESTED,
    ConnectionState,
    Delivery,
    Event,
    EventKind,
    SeenConnection,
    SeenRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._request_parser import ParsedRequest


class Journal:
    """Requests, connections and deliveries of one server."""

    def __init__(self, exchanges: int) -> None:
        self._changed = Condition()
        self._requests: list[SeenRequest] = []
        self._connections: list[ConnectionLog] = []
        self._deliveries = [NOT_REQUESTED] * exchanges

    def open_connection(self) -> ConnectionLog:
        """Start the log of a connection that was just accepted."""
        with self._changed:
            log = ConnectionLog(len(self._connections) + 1, self._changed)
            self._connections.append(log)
        log.record("accepted")
        return log

    def take_turn(self, request: ParsedRequest, log: ConnectionLog) -> int:
        """Keep ``request`` and return its number over all connections, from 0."""
        with self._changed:
            turn = len(self._requests)
            log.record(
                "request-received",
                f"{request.method} {request.target}, {len(request.body)} bytes of body",
                state="serving",
            )
            self._requests.append(
                SeenRequest(
                    request.method,
                    request.target,
                    request.headers,
                    request.body,
                    log.last_at_s,
                    log.number,
                )
            )
            return turn

    def report(self, turn: int, delivery: Delivery) -> None:
        """State how far exchange ``turn`` has come."""
        with self._changed:
            self._deliveries[turn] = delivery
            self._changed.notify_all()

    def delivery(self, turn: int, *, within_s: float) -> Delivery:
        """Return how far exchange ``turn`` came, at the latest after ``within_s``."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._deliveries[turn].state not in ("not-requested", "in-progress"),
                within_s,
            )
            return self._deliveries[turn]

    def wait_while_any(
        self, unwanted: Callable[[SeenConnection], bool], timeout_s: float
    ) -> list[SeenConnection]:
        """Wait until no connection is ``unwanted``; return those that still are."""
        with self._changed:
            self._changed.wait_for(lambda: not any(map(unwanted, self.connections())), timeout_s)
            return list(filter(unwanted, self.connections()))

    def wait_for_requests(self, count: int, timeout_s: float) -> bool:
        """Wait until ``count`` requests have come; return whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= count, timeout_s)

    def requests(self) -> list[SeenRequest]:
        """Return every request so far, in order."""
        with self._changed:
            return list(self._requests)

    def connections(self) -> list[SeenConnection]:
        """Return every connection so far, as it stands."""
        with self._changed:
            return [log.snapshot() for log in self._connections]


class ConnectionLog:
    """The events of one connection, written by its thread alone."""

    def __init__(self, number: int, changed: Condition) -> None:
        self.number = number
        self.last_at_s = 0.0
        self._changed = changed
        self._state: ConnectionState = "waiting"
        self._events: list[Event] = []

    def record(
        self,
        kind: EventKind,
        detail: str = "",
        *,
        sent_bytes: int = 0,
        state: ConnectionState | None = None,
    ) -> None:
        """Keep what just happened and, where it changes, the state after it."""
        with self._changed:
            self.last_at_s = monotonic()
            self._events.append(Event(self.last_at_s, kind, detail, sent_bytes))
            self._state = state or self._state
            self._changed.notify_all()

    def next_request_began(self) -> None:
        """Note that an idle connection is in use again."""
        with self._changed:
            self._state = "waiting"

    def snapshot(self) -> SeenConnection:
        """Return it as it stands; the caller holds the lock."""
        return SeenConnection(self.number, self._state, tuple(self._events))
