"""What the fault server saw and did, as plain values on one monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from typing_extensions import override

EventKind: TypeAlias = Literal[
    "accepted",
    "request-received",
    "bad-request",
    "continue-sent",
    "interim-sent",
    "head-sent",
    "step-sent",
    "body-end-sent",
    "idle",
    "holding",
    "fin-sent",
    "rst-sent",
    "peer-closed",
    "peer-reset",
    "server-closed",
]

ConnectionState: TypeAlias = Literal["waiting", "serving", "idle", "half-closed", "closed"]
"""Where a connection stands.

- ``waiting``: no whole request yet.
- ``serving``: an answer is under way, or held.
- ``idle``: the answer is whole and the connection can be used again.
- ``half-closed``: FIN sent, the peer has not closed.
- ``closed``: by the peer (FIN or RST) or by RST from here.
"""

Peer: TypeAlias = Literal["closed", "reset", "open"]

_PEER_BY_EVENT: Final[dict[EventKind, Peer]] = {"peer-closed": "closed", "peer-reset": "reset"}
_RELEASED: Final = frozenset[ConnectionState]({"idle", "closed"})


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened on a connection.

    Args:
        at_s: ``time.monotonic()`` just after it happened, in seconds.
        kind: What happened.
        detail: More, for people; may be empty.
        sent_bytes: Bytes of the script written by it; the framing of chunks is not counted.

    """

    at_s: float
    kind: EventKind
    detail: str = ""
    sent_bytes: int = 0

    @override
    def __str__(self) -> str:
        text = self.kind.replace("-", " ")
        if self.detail:
            text += f": {self.detail}"
        if self.sent_bytes:
            text += f" ({self.sent_bytes} bytes)"
        return text


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request, whole, as it came.

    Args:
        method: As sent.
        target: Path and query, as sent.
        headers: Names and values in order, spelled as sent; Latin-1.
        body: Without any chunking.
        at_s: When its last byte was read, ``time.monotonic()`` in seconds.
        connection: The number of its connection, from 1.

    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    at_s: float
    connection: int

    def header(self, name: str) -> str | None:
        """Return the first value of ``name``, whatever its case; None if absent."""
        wanted = name.lower()
        return next((value for own, value in self.headers if own.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class SeenConnection:
    """A connection as it stood when it was asked for.

    Args:
        number: From 1, in the order of acceptance.
        state: See ``ConnectionState``.
        events: Everything so far, in order.

    """

    number: int
    state: ConnectionState
    events: tuple[Event, ...]

    @property
    def peer(self) -> Peer:
        """How the peer's side ended, if it has."""
        return next(
            (_PEER_BY_EVENT[event.kind] for event in self.events if event.kind in _PEER_BY_EVENT),
            "open",
        )

    @property
    def is_released(self) -> bool:
        """Whether nobody waits for anything on it: closed, or idle and reusable."""
        return self.state in _RELEASED


@dataclass(frozen=True, slots=True)
class Delivery:
    """Whether a scripted exchange went out; true in a boolean context if it did.

    Args:
        state: ``delivered``: every step written and the ending performed (an endless
            Repeat: one whole round written). ``not-requested``: no request reached it.
            ``in-progress``. ``peer-left``: the peer closed or reset first.
            ``server-stopped``: the server was stopped first.
        reason: The same for people, with the step.

    """

    state: Literal["delivered", "not-requested", "in-progress", "peer-left", "server-stopped"]
    reason: str

    def __bool__(self) -> bool:
        return self.state == "delivered"


DELIVERED: Final = Delivery("delivered", "every step was written and the ending performed")
NOT_REQUESTED: Final = Delivery("not-requested", "no request reached this exchange")
