"""Ends that are taken for others: truncation, resets, markers and what follows them."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import (
    Chunk,
    Finish,
    InBandError,
    LlmRequest,
    Translator,
    codes,
)

from .._altering import (
    Altered,
    decoded,
    items_of,
    receiving,
    recoded,
    succeeding,
    translating,
)
from .._good import Good
from .._mutant import Mutant


class _EndsTheLastEvent(Good):
    """Treats the end of the body as the blank line that the last event lacks."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        streaming = False
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status"):
                    kinds = " ".join(item.values("content-type")).lower()
                    coded = item.values("content-encoding")
                    streaming = item.status == 200 and "event-stream" in kinds and not coded
                yield item
        if streaming:
            yield b"\n\n"


class _ReadsLengthFirst(Good):
    """Reads a body with a Content-Length whole before it looks into it."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        held: bytes | None = None
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status") and item.values("content-length"):
                    held = b""
                if isinstance(item, bytes) and held is not None:
                    held += item
                else:
                    yield item
        if held:
            yield held


class _WaitsForTheClose(Altered):
    """Holds the end back until the body has ended."""

    def __init__(self, inner: Translator) -> None:
        super().__init__(inner)
        self.held: list[Chunk] = []

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if self.held:
            return ()
        chunks = list(self.inner.event(name, data))
        if any(isinstance(chunk, Finish) for chunk in chunks):
            self.held, chunks = chunks, []
        return chunks

    @override
    def close(self) -> Iterable[Chunk]:
        return self.held or self.inner.close()


def _marker_last(data: bytes) -> bytes:
    marker = b"data: [DONE]\n\n"
    if data.count(marker) == 0 or data.endswith(marker):
        return data
    return data.replace(marker, b"") + marker


class _ReadsOn(_WaitsForTheClose):
    """Reads what follows the marker into the result, while it waits for the close."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        payload = decoded(data)
        if self.held and payload is not None and "error" in payload:
            raise InBandError(payload)
        return super().event(name, data)


MUTANTS: Final = (
    Mutant(
        name="clean-end-is-success",
        broken="Takes a clean end without any finish reason for a whole answer.",
        factory=succeeding(
            lambda f: f.code == codes.STREAM_CLOSED and f.message.endswith("without [DONE]")
        ),
        trips={
            "terminal-evidence": "outcome: expected failure, got success",
            "sse-utf8": "outcome: expected failure, got success",
            "tool-calls-not-dispatchable": "outcome: expected failure, got success",
            "chunk-grammar": "left open by a good finish",
            "sse-framing": "expected STREAM_CLOSED, got success",
        },
    ),
    Mutant(
        name="finish-reason-is-enough",
        broken="Takes a finish reason for the end although it declares the marker.",
        factory=succeeding(lambda f: "without [DONE] after finish reason" in f.message),
        trips={
            "terminal-evidence": "outcome: expected failure, got success",
            "chunk-grammar": "left open by a good finish",
            "sse-framing": "expected STREAM_CLOSED, got success",
        },
    ),
    Mutant(
        name="marker-is-enough",
        broken="Takes the marker for the end although no finish reason came.",
        factory=succeeding(lambda f: "came without a finish reason" in f.message),
        trips={
            "terminal-evidence": "outcome: expected failure, got success",
            "chunk-grammar": "left open by a good finish",
        },
    ),
    Mutant(
        name="last-event-needs-no-blank-line",
        broken="Dispatches the last event without its blank line.",
        factory=_EndsTheLastEvent,
        trips={
            "terminal-evidence": "outcome: expected failure, got success",
            "sse-framing": "expected STREAM_CLOSED, got MALFORMED_RESPONSE",
            "sse-utf8": "expected STREAM_CLOSED, got MALFORMED_RESPONSE",
        },
    ),
    Mutant(
        name="cut-is-a-clean-end",
        broken="Reports a connection that breaks in mid body as STREAM_CLOSED.",
        factory=recoded(
            lambda f: f.code == codes.TRANSPORT and "RemoteProtocolError" in f.message,
            codes.STREAM_CLOSED,
        ),
        trips={
            "truncation-transport": "expected TRANSPORT, got STREAM_CLOSED",
            "single-attempt": "expected TRANSPORT, got",
            "sse-framing": "expected TRANSPORT, got STREAM_CLOSED",
            "foreign-exceptions": "got failure STREAM_CLOSED",
            "content-encoding": "expected TRANSPORT, got STREAM_CLOSED",
            "request-id-after-headers": "expected TRANSPORT, got STREAM_CLOSED",
        },
    ),
    Mutant(
        name="reset-is-unknown",
        broken="Does not know what a reset connection is.",
        factory=recoded(
            lambda f: f.code == codes.TRANSPORT and "ReadError" in f.message, codes.UNKNOWN
        ),
        trips={
            "truncation-transport": "expected TRANSPORT, got UNKNOWN",
            "single-attempt": "got failure UNKNOWN",
            "sse-framing": "expected TRANSPORT, got UNKNOWN",
            "foreign-exceptions": "got failure UNKNOWN",
        },
    ),
    Mutant(
        name="refused-is-the-servers-fault",
        broken="Reports a refused connection as SERVER.",
        factory=recoded(
            lambda f: f.code == codes.TRANSPORT and "ConnectError" in f.message, codes.SERVER
        ),
        trips={
            "truncation-transport": "expected TRANSPORT, got SERVER",
            "single_attempt/refused_connection": "got failure SERVER",
            "foreign-exceptions": "got failure SERVER",
        },
    ),
    Mutant(
        name="what-arrived-is-lost",
        broken="Reads a body with a Content-Length whole before it looks into it.",
        factory=_ReadsLengthFirst,
        trips={"truncation-transport": "partial_text: expected 'a', got ''"},
    ),
    Mutant(
        name="waits-for-the-close",
        broken="Waits for the end of the body behind the marker.",
        factory=translating(_WaitsForTheClose),
        trips={
            "terminal-stops": "outcome: expected success",
            "sse-framing": "expected success, got",
            "connection-released": "expected success, got failure TIMEOUT",
        },
    ),
    Mutant(
        name="reads-behind-the-marker",
        broken="Reads text that follows the marker into the result.",
        factory=receiving(lambda: _marker_last),
        trips={"terminal-stops": "late"},
    ),
    Mutant(
        name="late-error-fails-the-call",
        broken="Fails a complete call for an error behind the marker.",
        factory=translating(_ReadsOn),
        trips={
            "terminal-stops": "outcome: expected success, got failure",
            "sse-framing": "expected success, got",
            "connection-released": "expected success, got failure TIMEOUT",
        },
    ),
)
