"""The normalising boundary: whatever an adapter does, its caller sees chunks and one finish."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from typing import Any, Self

import anyio
import httpx
import pytest
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    TextDelta,
)

from .foreign_adapter import GOOD, HI, REQUEST, Foreign, chunks_of, failed, runtime_with

pytestmark = pytest.mark.anyio
FAILURE = LlmFailure(message="busy", code="SERVER", status=503)
ABORT = LlmFailure(message="stop", code="ABORTED")


class NoIterator:
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return [Finish(STOP)]


class NothingToClose:
    """Its stream is an iterator and no more: without ``aclose``."""

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> AsyncIterable[Chunk]:
        return Bare(iter(GOOD))


class Bare:
    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self.chunks = chunks

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        pytest.param(Foreign(tuple(GOOD)), GOOD, id="good"),
        pytest.param(NothingToClose(), GOOD, id="has-nothing-to-close"),
        pytest.param(
            Foreign((*HI, Finish(FinishReason("error", FAILURE)))),
            [*HI, Finish(FinishReason("error", FAILURE))],
            id="reports-a-failure",
        ),
        pytest.param(
            Foreign((*GOOD, TextDelta(0, "late"), Finish(STOP))),
            GOOD,
            id="goes-on-after-its-finish",
        ),
        pytest.param(Foreign((*GOOD, ValueError("late"))), GOOD, id="raises-after-its-finish"),
        pytest.param(
            Foreign(tuple(HI)),
            [*HI, failed("STREAM_CLOSED", "the adapter's stream ended without a finish")],
            id="ends-without-a-finish",
        ),
        pytest.param(
            Foreign(),
            [failed("STREAM_CLOSED", "the adapter's stream ended without a finish")],
            id="yields-nothing",
        ),
        pytest.param(
            Foreign(at_dispatch=KeyError("k")),
            [failed("UNKNOWN", "KeyError: 'k'")],
            id="raises-at-dispatch",
        ),
        pytest.param(
            Foreign(at_dispatch=LlmError(FAILURE)),
            [Finish(FinishReason("error", FAILURE))],
            id="raises-its-failure-at-dispatch",
        ),
        pytest.param(
            Foreign((*HI, LlmError(FAILURE))),
            [*HI, Finish(FinishReason("error", FAILURE))],
            id="raises-its-failure-in-between",
        ),
        pytest.param(
            Foreign((*HI, LlmError(ABORT))),
            [*HI, Finish(FinishReason("aborted", ABORT))],
            id="raises-an-abort",
        ),
        pytest.param(
            Foreign((*HI, ValueError("two\nlines\x00"))),
            [*HI, failed("UNKNOWN", "ValueError: two lines")],
            id="raises-what-nobody-knows",
        ),
        pytest.param(
            Foreign((*HI, httpx.ReadTimeout("slow"))),
            [*HI, failed("TIMEOUT", "the client's own read limit fired (ReadTimeout: slow)")],
            id="leaks-a-timeout-of-its-client",
        ),
        pytest.param(
            Foreign((ConnectionResetError(),)),
            [failed("TRANSPORT", "ConnectionResetError")],
            id="leaks-a-reset",
        ),
        pytest.param(
            Foreign((ExceptionGroup("g", [httpx.ConnectError("refused")]),)),
            [failed("TRANSPORT", "no connection to the provider (ConnectError: refused)")],
            id="leaks-a-group",
        ),
        pytest.param(
            NoIterator(),
            [failed("UNKNOWN", "TypeError: 'list' object is not an async iterable")],
            id="returns-no-stream",
        ),
    ],
)
async def test_what_an_adapter_does_becomes_chunks_and_one_finish(
    adapter: Any, expected: list[Chunk]
) -> None:
    assert await chunks_of(runtime_with(adapter).stream("example", REQUEST)) == expected
    for chunk in expected:
        if isinstance(chunk, Finish) and chunk.failure is not None:
            stored = json.loads(json.dumps(chunk.failure.to_json()))
            assert LlmFailure.from_json(stored) == chunk.failure


class Unusual(BaseException):
    pass


@pytest.mark.parametrize(
    ("steps", "closed"),
    [
        pytest.param(tuple(GOOD), 1, id="good"),
        pytest.param((*HI, ValueError("x")), 1, id="raises"),
        pytest.param((), 1, id="yields-nothing"),
    ],
)
async def test_the_adapters_stream_is_closed_at_the_end(
    steps: tuple[Chunk | BaseException, ...], closed: int
) -> None:
    adapter = Foreign(steps)
    await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert adapter.closed == closed


@pytest.mark.parametrize("error", [Unusual("x"), KeyboardInterrupt()])
@pytest.mark.parametrize("when", ["dispatch", "iteration"])
async def test_a_base_exception_stays_what_it_is(error: BaseException, when: str) -> None:
    adapter = Foreign(at_dispatch=error) if when == "dispatch" else Foreign((*HI, error))
    with pytest.raises(type(error)) as caught:
        await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert caught.value is error


async def test_an_error_of_cleaning_up_stays_an_exception() -> None:
    adapter = Foreign(tuple(GOOD), at_close=OSError("closing"))
    stream = runtime_with(adapter).stream("example", REQUEST)
    seen = [await anext(stream) for _ in GOOD]
    with pytest.raises(OSError, match="closing"):
        await anext(stream)
    assert seen == GOOD


async def test_cancellation_passes_through_and_closes_the_adapters_stream() -> None:
    class Silent(Foreign):
        @override
        async def _play(self) -> AsyncGenerator[Chunk, None]:
            try:
                await anyio.Event().wait()
                yield HI[0]
            finally:
                self.closed += 1

    adapter = Silent()
    with anyio.CancelScope() as scope:
        scope.deadline = anyio.current_time() + 0.01
        await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert (scope.cancelled_caught, adapter.closed) == (True, 1)
