"""Calls that go on, end wrongly or swallow it where their caller stops them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any, Final

import anyio
from typing_extensions import override

from adapter_sdk import (
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    codes,
)

from .._altering import Passing, items_of, recoded, streaming
from .._good import Good
from .._mutant import Mutant


def _ended(code: str, message: str) -> Finish:
    kind = "aborted" if code == codes.ABORTED else "error"
    return Finish(FinishReason(kind, LlmFailure(message=message, code=code, status=200)))


class _SendsFirst(Good):
    """Looks at a signal that was set before the call only once the answer has come."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        late = abort is not None and abort.aborted
        return super().stream(request, None if late else abort)


class _LooksOnceBeforeItSends(Good):
    """Looks at its signal in ``stream`` and not before it sends."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _Late(lambda signal: Good.stream(self, request, signal), abort)


class _Late(Passing):
    def __init__(self, new_source: Any, abort: AbortSignal | None) -> None:
        self.set_at_first = abort is not None and abort.aborted
        super().__init__(None)
        self.new_source, self.abort = new_source, abort

    @override
    async def receive(self) -> Chunk:
        if self.source is None:
            late = self.abort is not None and self.abort.aborted and not self.set_at_first
            self.source = self.new_source(None if late else self.abort)
        return await super().receive()

    @override
    async def aclose(self) -> None:
        if self.source is not None:
            await super().aclose()


class _AbortIsUnread(Passing):
    """Goes on in mid stream although it was aborted."""

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if failure is not None and failure.code == codes.ABORTED and failure.status == 200:
            await anyio.sleep_forever()
        return chunk


class _TieIsATimeout(Passing):
    """Lets the limit win where the abort comes at the same instant."""

    def __init__(self, source: Any, idle_s: float) -> None:
        super().__init__(source)
        self.idle_s = idle_s

    @override
    async def receive(self) -> Chunk:
        begun = anyio.current_time()
        chunk = await super().receive()
        waited_s = anyio.current_time() - begun
        failure = chunk.failure if isinstance(chunk, Finish) else None
        aborted = failure is not None and failure.code == codes.ABORTED
        # To a thousandth: a virtual clock adds up floats.
        if aborted and waited_s >= 0.999 * self.idle_s:
            return _ended(codes.TIMEOUT, "no event and no comment")
        return chunk


class _LateAbortWins(Passing):
    """Gives its caller one and a half idle limits more to abort what has timed out."""

    def __init__(self, source: Any, adapter: Any, abort: AbortSignal | None) -> None:
        super().__init__(source)
        self.idle_s, self.abort = adapter.idle_timeout, abort

    @override
    async def receive(self) -> Chunk:
        chunk = await super().receive()
        failure = chunk.failure if isinstance(chunk, Finish) else None
        if self.abort is None or failure is None or failure.code != codes.TIMEOUT:
            return chunk
        await anyio.sleep(1.5 * self.idle_s)
        return _ended(codes.ABORTED, "aborted") if self.abort.aborted else chunk


class _TakesLateAborts(Good):
    """Lets an abort win that comes after the timeout."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _LateAbortWins(super().stream(request, abort), self, abort)


# ---- cancellation ------------------------------------------------------------------------


class _CancellationIsAFailure(Passing):
    """Ends a cancelled wait for text with a failure."""

    @override
    async def receive(self) -> Chunk:
        try:
            return await super().receive()
        except asyncio.CancelledError:
            return _ended(codes.ABORTED, "cancelled")


class _CatchesEverything(Good):
    """Takes every BaseException of its transport for an error of a library."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        try:
            async with contextlib.aclosing(items_of(super().exchange(request))) as source:
                async for item in source:
                    yield item
        except (Exception, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:  # why: the fault of this mutant, trio's Cancelled
            raise RuntimeError(f"the transport said: {error}") from error


class _ClosesUnshielded(Passing):
    """Takes some turns of the loop to close, where a second cancellation breaks it off."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self.asking: asyncio.Task[Chunk] | None = None

    @override
    async def receive(self) -> Chunk:
        asking = self.asking = asyncio.get_running_loop().create_task(self._ask())
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            for _ in range(6):
                await asyncio.sleep(0)
            asking.cancel()
            await self.source.aclose()
            raise

    async def _ask(self) -> Chunk:
        try:
            return await super().receive()
        except StopAsyncIteration as end:  # a task cannot carry it
            raise _EndOfStreamError from end

    @override
    async def __anext__(self) -> Chunk:
        try:
            return await super().__anext__()
        except _EndOfStreamError:
            raise StopAsyncIteration from None

    @override
    async def aclose(self) -> None:
        if self.asking is None or self.asking.done():
            await super().aclose()


class _EndOfStreamError(Exception):
    """The end of an inner stream, where ``StopAsyncIteration`` cannot go."""


MUTANTS: Final = (
    Mutant(
        name="abort-before-the-call-is-unread",
        broken="Sends its request although the signal was set before the call.",
        factory=_SendsFirst,
        trips={
            "abort/before_the_call": "HTTP requests: expected 0, got 1",
            "abort/signal_set_before_the_call": "before stream()",
        },
    ),
    Mutant(
        name="abort-before-the-first-chunk-is-unread",
        broken="Sends its request although the signal was set before the first chunk.",
        factory=_LooksOnceBeforeItSends,
        trips={"abort/signal_set_before_the_call": "after stream()"},
    ),
    Mutant(
        name="abort-in-mid-stream-is-unread",
        broken="Goes on in mid stream although it was aborted.",
        factory=streaming(lambda adapter, source: _AbortIsUnread(source)),
        trips={
            "abort": "no end within",
            "abort-or-timeout": "no end within",
            "state_isolation/abort_of_a_neighbour": "expected an end",
            "connection_released/every_ending_frees_the_connection": "expected an end",
        },
    ),
    Mutant(
        name="abort-before-the-headers-is-the-networks",
        broken="Reports an abort that comes before the headers as TRANSPORT.",
        factory=recoded(
            lambda f: f.code == codes.ABORTED and "stopped it" in f.message and f.status is None,
            codes.TRANSPORT,
        ),
        trips={"abort": "expected ABORTED, got TRANSPORT"},
    ),
    Mutant(
        name="abort-is-a-timeout",
        broken="Reports an abort in mid stream as TIMEOUT.",
        factory=recoded(
            lambda f: f.code == codes.ABORTED and "stopped it" in f.message and f.status == 200,
            codes.TIMEOUT,
        ),
        trips={
            "abort": "expected ABORTED, got TIMEOUT",
            "abort-or-timeout": "expected ABORTED, got TIMEOUT",
        },
    ),
    Mutant(
        name="a-tie-is-a-timeout",
        broken="Lets the limit win where the abort comes at the same instant.",
        factory=streaming(lambda adapter, source: _TieIsATimeout(source, adapter.idle_timeout)),
        trips={"abort-or-timeout": "expected ABORTED, got TIMEOUT"},
    ),
    Mutant(
        name="a-late-abort-wins",
        broken="Lets an abort win that comes after the timeout.",
        factory=_TakesLateAborts,
        trips={"abort-or-timeout": "expected TIMEOUT, got ABORTED"},
    ),
    Mutant(
        name="cancellation-is-a-failure",
        broken="Ends with a failure where its task is cancelled.",
        factory=streaming(lambda adapter, source: _CancellationIsAFailure(source)),
        trips={
            "native-cancellation": "outcome: expected cancelled, got failure ABORTED",
            "connection_released/cancelled_calls_leave_the_pool_free": "without an exception",
            "connection_released/every_ending_frees_the_connection": "expected cancelled",
        },
    ),
    Mutant(
        name="base-exceptions-are-unknown",
        broken="Reports a BaseException of its transport as UNKNOWN.",
        factory=_CatchesEverything,
        trips={
            "native_cancellation/base_exception_of_the_transport": "catch Exception, not",
        },
    ),
    Mutant(
        name="closing-can-be-cancelled",
        broken="Closes its connection where a second cancellation breaks that off.",
        factory=streaming(lambda adapter, source: _ClosesUnshielded(source)),
        trips={"native_cancellation/cancelled_twice": "cancelled twice"},
    ),
)
