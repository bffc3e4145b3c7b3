"""One good answer per dialect, for checks that need a call to succeed. Facts as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
        deltas: Events that bring the text, one piece each; the first with those before it.
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
    evidence: Mapping[str, int] = field(default_factory=dict)

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


def _event(payload: Any, *, name: str | None = None) -> bytes:
    text = payload if isinstance(payload, str) else _json(payload)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def _typed(payload: dict[str, Any]) -> bytes:
    """Return an event that is named for the ``type`` of its payload."""
    return _event(payload, name=payload["type"])


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

_ANTHROPIC_ERRORS: Final = {
    "RATE_LIMIT": {"type": "rate_limit_error", "message": "slow down"},
    "AUTH": {"type": "authentication_error", "message": "who are you"},
    "CONTEXT_WINDOW_EXCEEDED": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 9 tokens > 5 maximum",
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


def _openai_responses(pieces: Sequence[str]) -> GoodStream:
    part = {"type": "output_text", "text": "".join(pieces), "annotations": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    item = {"type": "message", "id": "msg_1", "role": "assistant"}
    begun = {**item, "status": "in_progress", "content": []}
    ended = {**item, "status": "completed", "content": [part]}
    response = {"id": "resp_1", "object": "response", "model": "m"}
    running = {**response, "status": "in_progress", "output": []}
    opening = (
        _typed({"type": "response.created", "response": running}),
        _typed({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        _typed({"type": "response.content_part.added", **place, "part": {**part, "text": ""}}),
    )
    texts = [
        _typed({"type": "response.output_text.delta", **place, "delta": piece}) for piece in pieces
    ]
    return GoodStream(
        deltas=(b"".join((*opening, texts[0])), *texts[1:]),
        closing=(
            _typed({"type": "response.output_text.done", **place, "text": part["text"]}),
            _typed({"type": "response.content_part.done", **place, "part": part}),
            _typed({"type": "response.output_item.done", "output_index": 0, "item": ended}),
        ),
        terminal=_typed(
            {
                "type": "response.completed",
                "response": {**response, "status": "completed", "output": [ended]},
            }
        ),
        pieces=tuple(pieces),
        errors=tuple(
            WireError(
                code=code,
                body=_json({"error": error}).encode(),
                frame=_typed({"type": "error", "error": error}),
            )
            for code, error in _OPENAI_ERRORS.items()
        ),
    )


def _anthropic_messages(pieces: Sequence[str]) -> GoodStream:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    opening = (
        _typed(
            {
                "type": "message_start",
                "message": {**message, "usage": {"input_tokens": 1, "output_tokens": 1}},
            }
        ),
        _typed(
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            }
        ),
    )
    texts = [
        _typed(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
        )
        for piece in pieces
    ]
    return GoodStream(
        deltas=(b"".join((*opening, texts[0])), *texts[1:]),
        closing=(
            _typed({"type": "content_block_stop", "index": 0}),
            _typed(
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn"},
                    "usage": {"output_tokens": 2},
                }
            ),
        ),
        terminal=_typed({"type": "message_stop"}),
        pieces=tuple(pieces),
        errors=tuple(
            WireError(
                code=code,
                body=_json({"type": "error", "error": error}).encode(),
                frame=_typed({"type": "error", "error": error}),
            )
            for code, error in _ANTHROPIC_ERRORS.items()
        ),
    )


GOOD_STREAMS: Final[Mapping[str, Callable[[Sequence[str]], GoodStream]]] = {
    "anthropic-messages": _anthropic_messages,
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
}


def good_stream(dialects: Sequence[str], pieces: Sequence[str] = TWO_PIECES) -> GoodStream | None:
    """Return a good answer in the first of ``dialects`` that the kit can write, or None."""
    for dialect in dialects:
        if dialect in GOOD_STREAMS:
            return GOOD_STREAMS[dialect](pieces)
    return None
