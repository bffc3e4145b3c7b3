"""Limits in time that do not run, run on the wrong thing, or end a call in the wrong way."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final

import anyio
from typing_extensions import override

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    TextBlock,
    TextDelta,
    codes,
)

from .._altering import Passing, items_of, receiving, recoded, streaming
from .._good import Good
from .._mutant import Mutant


def _timed_out(message: str) -> Finish:
    failure = LlmFailure(message=message, code=codes.TIMEOUT, status=200)
    return Finish(FinishReason("error", failure))


def _is_silence(failure: LlmFailure) -> bool:
    return failure.code == codes.TIMEOUT and "the idle limit" in failure.message


class _GoesOnWaiting(Passing):
    """Does not end where ``when`` holds for the failure."""

    def __init__(self, source: Any, when: Callable[[LlmFailure], bool]) -> None:
        super().__init__(source)
        self.when = when

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        if isinstance(chunk, Finish) and chunk.failure is not None and self.when(chunk.failure):
            await anyio.sleep_forever()
        return chunk


def _waiting_on(when: Callable[[LlmFailure], bool]) -> type[Good]:
    return streaming(lambda adapter, source: _GoesOnWaiting(source, when))


class _TimedStream(Passing):
    """Ends with TIMEOUT where ``spent`` has added up to more than ``idles`` idle limits."""

    idles = 1.0

    def __init__(self, source: Any, idle_s: float) -> None:
        super().__init__(source)
        self.limit_s = self.idles * idle_s
        self.spent_s = 0.0
        self.over = False

    @override
    async def receive(self) -> Chunk:
        if self.over:
            raise StopAsyncIteration
        begun = anyio.current_time()
        with anyio.move_on_after(max(0.0, self.limit_s - self.spent_s)) as limit:
            chunk = await super().receive()
        if limit.cancelled_caught:
            await self.source.aclose()
            self.over = True
            return _timed_out("the call takes too long")
        self.spent_s = self.now_spent_s(anyio.current_time() - begun)
        return chunk

    def now_spent_s(self, waited_s: float) -> float:
        """Return what counts after a wait that brought a chunk."""
        return self.spent_s + waited_s


class _TotalTimeout(_TimedStream):
    """Adds up all its waits."""

    idles = 1.5


class _OnlyChunksRearm(_TimedStream):
    """Forgets its waits when a chunk comes, and not for anything else."""

    idles = 1.3

    @override
    def now_spent_s(self, waited_s: float) -> float:
        return 0.0


class _PausesCount(Passing):
    """Counts the time between two reads as silence."""

    def __init__(self, source: Any, idle_s: float) -> None:
        super().__init__(source)
        self.idle_s = idle_s
        self.left_at: float | None = None

    @override
    async def __anext__(self) -> Chunk:
        now = anyio.current_time()
        if self.left_at is not None and now - self.left_at > 1.2 * self.idle_s:
            self.left_at = None
            await self.source.aclose()
            return _timed_out("nobody came for the next chunk")
        chunk = await super().__anext__()
        self.left_at = anyio.current_time()
        return chunk


class _FinishIsEnoughAtTheLimit(Passing):
    """Takes silence behind a finish reason for a good end."""

    def __init__(self, source: Any, adapter: Any) -> None:
        super().__init__(source)
        self.adapter = adapter
        self.text: list[TextDelta] = []

    @override
    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, TextDelta):
            self.text.append(chunk)
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is None or not _is_silence(failure) or not self.adapter.finished:
            return (chunk,)
        whole = TextBlock("".join(delta.text for delta in self.text))
        return (BlockEnd(self.text[0].index, whole), Finish(STOP))


class _NotesFinishes(Good):
    """Notes whether a finish reason came and no marker."""

    finished = False

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        self.finished = False
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if isinstance(item, bytes):
                    self.finished = b'"finish_reason":"stop"}]}\n\n' in item
                yield item

    @override
    def stream(self, request: LlmRequest, abort: Any = None) -> Any:
        return _FinishIsEnoughAtTheLimit(super().stream(request, abort), self)


class _ForgetsReasoning(Passing):
    """Reports silence behind reasoning alone as a closed stream."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.reasoning = self.text = False

    @override
    def edit(self, chunk: Chunk) -> Iterable[Chunk]:
        if isinstance(chunk, BlockStart):
            self.reasoning = self.reasoning or chunk.block_type == "reasoning"
            self.text = self.text or chunk.block_type == "text"
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is None or not _is_silence(failure) or self.text or not self.reasoning:
            return (chunk,)
        closed = dataclasses.replace(failure, code=codes.STREAM_CLOSED)
        return (Finish(FinishReason("error", closed)),)


class _NoProgressLimit(Good):
    """Has no progress limit, although it declares one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "progress_timeout": None})


class _WaitsForItsTransport(Good):
    """Waits for its transport to end before it tells of ``code``."""

    code = codes.TIMEOUT
    transport_over: anyio.Event | None = None

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        over = self.transport_over = anyio.Event()
        try:
            async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                async for item in source:
                    yield item
        finally:
            over.set()

    @override
    def stream(self, request: LlmRequest, abort: Any = None) -> Any:
        return _AfterTheTransport(super().stream(request, abort), self)


class _AfterTheTransport(Passing):
    def __init__(self, source: Any, adapter: _WaitsForItsTransport) -> None:
        super().__init__(source)
        self.adapter = adapter

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        over = self.adapter.transport_over
        if failure is not None and failure.code == self.adapter.code and over is not None:
            await over.wait()
        return chunk


class _AbortWaitsForItsTransport(_WaitsForItsTransport):
    """Waits for its transport where it is aborted."""

    code = codes.ABORTED


MUTANTS: Final = (
    Mutant(
        name="no-limit-before-the-headers",
        broken="Has no limit while it waits for the headers.",
        factory=_waiting_on(lambda f: _is_silence(f) and f.status is None),
        trips={
            "idle_timeout/peer_accepts_sends_nothing_not_even_headers": "no end within",
            "idle_timeout/transport_that_is_shielded": "a call of this check: expected an end",
            "single_attempt/headers_that_never_come": "a call of this check: expected an end",
        },
    ),
    Mutant(
        name="no-limit-behind-text",
        broken="Has no limit once the headers have come.",
        factory=_waiting_on(lambda f: _is_silence(f) and f.status == 200),
        trips={
            "idle-timeout": "no end within",
            "abort-or-timeout": "no end within",
            "request-id-after-headers": "no end within",
            "connection_released/every_ending_frees_the_connection": "expected an end",
            "state_isolation/timeout_of_a_neighbour": "expected an end",
            "sse_framing/every_byte_offset": "expected an end",
        },
    ),
    Mutant(
        name="silence-behind-the-finish-is-success",
        broken="Takes silence between finish reason and marker for a good end.",
        factory=_NotesFinishes,
        trips={
            "idle-timeout": "outcome: expected failure, got success",
            "sse-framing": "expected TIMEOUT, got success",
        },
    ),
    Mutant(
        name="silence-behind-reasoning-is-a-closed-stream",
        broken="Reports silence behind reasoning as STREAM_CLOSED.",
        factory=streaming(lambda adapter, source: _ForgetsReasoning(source)),
        trips={"idle-timeout": "expected TIMEOUT, got STREAM_CLOSED"},
    ),
    Mutant(
        name="silence-before-the-headers-is-the-networks",
        broken="Reports headers that never come as TRANSPORT.",
        factory=recoded(lambda f: _is_silence(f) and f.status is None, codes.TRANSPORT),
        trips={"idle-timeout": "expected TIMEOUT, got TRANSPORT"},
    ),
    Mutant(
        name="a-limit-asks-its-transport-to-end",
        broken="Waits for its transport where a limit has run out.",
        factory=_WaitsForItsTransport,
        trips={
            "idle_timeout/transport_that_is_shielded": "end the caller's wait itself",
            "idle_timeout/transport_that_is_stuck_in_a_thread": "end the caller's wait itself",
        },
    ),
    Mutant(
        name="an-abort-asks-its-transport-to-end",
        broken="Waits for its transport where it is aborted.",
        factory=_AbortWaitsForItsTransport,
        trips={"abort/transport_that_ignores_cancellation": "end the caller's wait itself"},
    ),
    Mutant(
        name="the-idle-limit-is-a-total-one",
        broken="Adds up its waits instead of beginning again at each event.",
        factory=streaming(lambda adapter, source: _TotalTimeout(source, adapter.idle_timeout)),
        trips={
            "idle-rearm": "outcome: expected success, got failure TIMEOUT",
            "state_isolation/timeout_of_a_neighbour": "TIMEOUT",
        },
    ),
    Mutant(
        name="only-content-rearms",
        broken="Begins its idle limit again for text and not for comments or empty events.",
        factory=streaming(lambda adapter, source: _OnlyChunksRearm(source, adapter.idle_timeout)),
        trips={"idle-rearm": "outcome: expected success, got failure TIMEOUT"},
    ),
    Mutant(
        name="bare-colons-are-silence",
        broken="Begins its idle limit again for comments with a text only.",
        factory=receiving(lambda: lambda data: re.sub(rb"(?m)^:\n\n", b"", data), status=200),
        trips={"idle-rearm": "outcome: expected success, got failure TIMEOUT"},
    ),
    Mutant(
        name="a-slow-consumer-is-silence",
        broken="Counts the time between two reads of its consumer as silence.",
        factory=streaming(lambda adapter, source: _PausesCount(source, adapter.idle_timeout)),
        trips={"idle-consumer-pause": "outcome: expected success, got failure TIMEOUT"},
    ),
    Mutant(
        name="no-progress-limit",
        broken="Declares a progress limit and has none.",
        factory=_NoProgressLimit,
        trips={"progress-timeout": "no end within"},
    ),
    Mutant(
        name="no-progress-is-unknown",
        broken="Reports a call without progress as UNKNOWN.",
        factory=recoded(
            lambda f: f.code == codes.TIMEOUT and "the progress limit" in f.message, codes.UNKNOWN
        ),
        trips={"progress-timeout": "expected TIMEOUT, got UNKNOWN"},
    ),
)
