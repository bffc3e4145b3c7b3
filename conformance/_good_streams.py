"""One good answer per dialect, for checks that need a call to succeed. Facts as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapter_sdk.testing import Ending, Exchange, Pause, Send, Step

EVENT_STREAM: Final = (("content-type", "text/event-stream"),)

TWO_PIECES: Final = ("one ", "two")


@dataclass(frozen=True, slots=True, kw_only=True)
class WireError:
    """One error as its dialect says it, in both places.

    Attributes:
        code: What it is, whatever the status around it.
        body: As the body of an HTTP error.
        frame: As an event inside a stream.
    """

    code: str
    body: bytes
    frame: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodStream:
    """A whole answer, event by event.

    Attributes:
        deltas: Events that bring the text, one piece each.
        closing: Events after the text, before the terminal marker.
        terminal: The event that ends the call.
        pieces: The text that the deltas bring.
        errors: Errors that name themselves.
        evidence: How many events prove a good end, by the declared terminal; all of them
            for a terminal that is not here.
    """

    deltas: tuple[bytes, ...]
    closing: tuple[bytes, ...]
    terminal: bytes
    pieces: tuple[str, ...]
    errors: tuple[WireError, ...]
    evidence: Mapping[str, int]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)

    @property
    def events(self) -> tuple[bytes, ...]:
        """All events in order."""
        return (*self.deltas, *self.closing, self.terminal)

    @property
    def body(self) -> bytes:
        """All bytes."""
        return b"".join(self.events)

    def proven_after(self, terminal: str) -> int:
        """Return the number of bytes after which a good end is proven."""
        return len(b"".join(self.events[: self.evidence.get(terminal, len(self.events))]))

    def answer(
        self, ending: Ending = "eof", *, events: int | None = None, every_s: float = 0.0
    ) -> Exchange:
        """Return an exchange that sends the first ``events`` of it, each in its own write.

        Args:
            ending: What comes behind them.
            events: How many; None sends all.
            every_s: Seconds of silence before each event.
        """
        pause: tuple[Step, ...] = (Pause(every_s),) if every_s else ()
        steps = tuple(part for event in self.events[:events] for part in (*pause, Send(event)))
        return Exchange(200, EVENT_STREAM, steps=steps, ending=ending)


def _event(payload: Any) -> bytes:
    text = payload if isinstance(payload, str) else _json(payload)
    return f"data: {text}\n\n".encode()


def _json(value: Any) -> str:
    # Characters as they are, so that a stream can be cut inside one.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# What each says of itself decides over a status 429 and over the 200 of a stream alike.
_OPENAI_ERRORS: Final = {
    "RATE_LIMIT": {"message": "slow down", "type": "rate_limit_error", "code": None},
    "QUOTA": {"message": "no more", "type": "insufficient_quota", "code": "insufficient_quota"},
    "CONTEXT_WINDOW_EXCEEDED": {
        "message": "too much",
        "type": "invalid_request_error",
        "code": "context_length_exceeded",
    },
}


def _openai_chat(pieces: Sequence[str]) -> GoodStream:
    def chunk(delta: Any, finish: str | None) -> bytes:
        return _event(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
        )

    return GoodStream(
        deltas=tuple(chunk({"content": piece}, None) for piece in pieces),
        closing=(chunk({}, "stop"),),
        terminal=_event("[DONE]"),
        pieces=tuple(pieces),
        errors=tuple(
            WireError(
                code=code, body=_json({"error": error}).encode(), frame=_event({"error": error})
            )
            for code, error in _OPENAI_ERRORS.items()
        ),
        evidence={"finish-reason": len(pieces) + 1},
    )


GOOD_STREAMS: Final[Mapping[str, Callable[[Sequence[str]], GoodStream]]] = {
    "openai-chat": _openai_chat
}


def good_stream(dialects: Sequence[str], pieces: Sequence[str] = TWO_PIECES) -> GoodStream | None:
    """Return a good answer in the first of ``dialects`` that the kit can write, or None."""
    for dialect in dialects:
        if dialect in GOOD_STREAMS:
            return GOOD_STREAMS[dialect](pieces)
    return None
