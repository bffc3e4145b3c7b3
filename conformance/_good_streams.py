"""One good answer per dialect, for checks that need a call to succeed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

EVENT_STREAM: Final = (("content-type", "text/event-stream"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodStream:
    """A whole answer, event by event.

    Attributes:
        deltas: Events that bring the text, one piece each.
        closing: Events after the text, before the terminal marker.
        terminal: The event that ends the call.
        pieces: The text that the deltas bring.
        error_frame: An event that carries ``error_body`` inside the stream.
        error_body: The same error as the body of an HTTP 429.
    """

    deltas: tuple[bytes, ...]
    closing: tuple[bytes, ...]
    terminal: bytes
    pieces: tuple[str, ...]
    error_frame: bytes
    error_body: bytes

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.pieces)

    @property
    def events(self) -> tuple[bytes, ...]:
        """All events in order."""
        return (*self.deltas, *self.closing, self.terminal)


def _event(payload: Any, *, name: str | None = None) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
    line = f"event: {name}\n" if name else ""
    return f"{line}data: {text}\n\n".encode()


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

    error = {"error": {"message": "slow down", "type": "rate_limit_error", "code": None}}
    return GoodStream(
        deltas=tuple(chunk({"content": piece}, None) for piece in pieces),
        closing=(chunk({}, "stop"),),
        terminal=_event("[DONE]"),
        pieces=tuple(pieces),
        error_frame=_event(error),
        error_body=json.dumps(error).encode(),
    )


GOOD_STREAMS: Final = {"openai-chat": _openai_chat}


def good_stream(
    dialects: Sequence[str], pieces: Sequence[str] = ("one ", "two")
) -> GoodStream | None:
    """Return a good answer in the first of ``dialects`` that the kit can write, or None."""
    for dialect in dialects:
        if dialect in GOOD_STREAMS:
            return GOOD_STREAMS[dialect](pieces)
    return None
